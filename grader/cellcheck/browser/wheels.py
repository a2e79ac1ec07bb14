"""Wheels for Python in the browser: of what is developed here, and of what is installed here."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from importlib.metadata import distribution
from pathlib import Path

_TIME = (2020, 2, 2, 0, 0, 0)
"""Of every file in a wheel, so that the same files make the same wheel."""


class NotPure(ValueError):
    """A package that is made for this machine."""


@dataclass(frozen=True)
class Wheel:
    """A wheel of pure Python, as bytes."""

    name: str
    version: str
    data: bytes
    depends: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()

    @property
    def file_name(self) -> str:
        """What pip would call it."""
        return f"{self.name.replace('-', '_')}-{self.version}-py3-none-any.whl"

    @property
    def sha256(self) -> str:
        """Its hash."""
        return hashlib.sha256(self.data).hexdigest()

    @property
    def entry(self) -> dict[str, object]:
        """The wheel in Pyodide's list of packages."""
        return {
            "depends": list(self.depends),
            "file_name": self.file_name,
            "imports": list(self.imports),
            "install_dir": "site",
            "name": self.name,
            "package_type": "package",
            "sha256": self.sha256,
            "unvendored_tests": False,
            "version": self.version,
        }


def built(root: Path, depends: Iterable[str], imports: Iterable[str], without: Iterable[str] = ()) -> Wheel:
    """The wheel of a project that is developed here; without the files that a browser has no use for."""
    from hatchling.builders.wheel import WheelBuilder

    with tempfile.TemporaryDirectory() as folder:
        (path,) = map(Path, WheelBuilder(str(root)).build(directory=folder, versions=["standard"]))
        with zipfile.ZipFile(path) as archive:
            files = {
                name: archive.read(name)
                for name in archive.namelist()
                if not any(fnmatch(name, pattern) for pattern in without)
            }
    name, version = path.stem.split("-")[:2]
    return Wheel(name.replace("_", "-"), version, packed(files), tuple(depends), tuple(imports))


def of_installed(name: str) -> Wheel:
    """The wheel that a package of pure Python was installed from, made again from its files.

    Raises:
        NotPure: when some of it is not Python.
    """
    installed = distribution(name)
    files = {}
    for file in installed.files or ():
        if ".." in file.parts or "__pycache__" in file.parts or file.name in ("INSTALLER", "REQUESTED"):
            continue
        if file.suffix in (".so", ".pyd", ".dylib"):
            raise NotPure(f"{name} is not pure Python: it holds {file}.")
        files[file.as_posix()] = Path(str(file.locate())).read_bytes()
    tops = {path.split("/")[0].removesuffix(".py") for path in files if not path.split("/")[0].endswith("-info")}
    return Wheel(name, installed.version, packed(files), imports=tuple(sorted(tops)))


def packed(files: Mapping[str, bytes]) -> bytes:
    """A wheel of these files, with a new record; the same bytes for the same files."""
    (record,) = [name for name in files if name.endswith(".dist-info/RECORD")]
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    for name, data in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        writer.writerow([name, "", ""] if name == record else [name, f"sha256={digest}", len(data)])
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted({**files, record: lines.getvalue().encode()}.items()):
            info = zipfile.ZipInfo(name, _TIME)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return out.getvalue()
