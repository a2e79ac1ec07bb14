"""The zip file: the scripts that the other system starts, the grader, the course, and the versions of all they need."""

import importlib.util
import json
import shlex
import sys
import zipfile
from collections.abc import Collection, Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, distributions
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from cellcheck.errors import GraderError
from cellcheck.packing.gradescope import ORDER
from cellcheck.syllabus import find_lesson, library_of, load_lesson

VERSIONS = ("3.13", "3.12", "3.11")
_CUDA = ("nvidia-", "cuda-", "triton")  # what PyTorch's CUDA build asks for
_TIME = (2020, 1, 1, 0, 0, 0)  # the same content makes the same file
_BESIDE = ("pyproject.toml", "nbgrader_config.py", "data")
_LEFT_OUT = frozenset({"__pycache__", ".ipynb_checkpoints"})


def for_gradescope(lesson: str, target: Path, seed: int, index: str | None = None) -> list[str]:
    """Writes the autograder of a lesson; returns the pinned versions in it.

    Args:
        lesson: its full name.
        target: the zip file.
        seed: what the hidden cases are drawn from: the same for everyone, and for each time that somebody hands in.
        index: the address of PyTorch's CPU wheels; without it, pip brings the large CUDA packages.

    Raises:
        GraderError: when something is missing, or the file can't be written.
    """
    syllabus, _ = find_lesson(lesson)
    course = syllabus.distribution or syllabus.project.get("name")
    pinned = pins(["cellcheck", *([course] if course else [])], cpu=index is not None)
    versions = [this := f"{sys.version_info[0]}.{sys.version_info[1]}", *(v for v in VERSIONS if v != this)]
    torch = next((pin for pin in pinned if pin.startswith("torch==")), "torch")
    texts = {
        "setup.sh": (_text("setup.sh", versions=versions, index=index and shlex.quote(index), torch=torch), 0o755),
        "run_autograder": (_text("run_autograder", lessons=syllabus.package.replace(".", "/")), 0o755),
        ORDER: (json.dumps({"lesson": lesson, "seed": seed}) + "\n", 0o600),
        "requirements.txt": ("\n".join(pinned) + "\n", 0o644),
    }
    packages = {"cellcheck", syllabus.package.split(".")[0], *library_of(load_lesson(lesson))}
    folders = [_folder(package) for package in sorted(packages)]
    folders += [path for name in _BESIDE if (path := syllabus.root / name).exists()]
    try:
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, (text, mode) in texts.items():
                _put(archive, name, text.encode(), mode)
            for folder in folders:
                for path in _files(folder):
                    _put(archive, f"course/{path.relative_to(folder.parent)}", path.read_bytes(), 0o644)
    except OSError as error:
        raise GraderError(f"{target} can't be written: {error.strerror}.") from error
    return pinned


def pins(ours: Collection[str], *, cpu: bool = False) -> list[str]:
    """The versions of everything that grading needs here, as pip reads them.

    Args:
        ours: the distributions that come along as folders, and so are not pinned themselves.
        cpu: without the CUDA packages, which PyTorch's CPU build does not need.

    Raises:
        GraderError: when the grader isn't installed, so that nothing says what it needs.
    """
    versions: dict[str, str] = {}
    asked: set[tuple[str, str]] = set()
    left = [(name, "") for name in ours] + [("cellcheck", "nbgrader")]
    if not list(distributions(name="cellcheck")):
        raise GraderError("The grader isn't installed here, so nothing says what it needs: pip install it.")
    while left:
        name, extra = left.pop()
        if (name, extra) in asked:
            continue
        asked.add((name, extra))
        try:
            there = distribution(name)
        except PackageNotFoundError:  # another system's, or not needed here
            continue
        if name not in ours:
            versions[canonicalize_name(name)] = there.version.split("+")[0]
        for line in there.requires or ():
            wanted = Requirement(line)
            if cpu and name == "torch" and wanted.name.startswith(_CUDA):
                continue
            if wanted.marker is None or wanted.marker.evaluate({"extra": extra}):
                left += [(wanted.name, part) for part in ("", *wanted.extras)]
    return [f"{name}=={version}" for name, version in sorted(versions.items())]


def _folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise GraderError(f"The package {package} isn't a folder, so it can't be put into a file.")
    return Path(next(iter(spec.submodule_search_locations)))


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    for file in sorted(path.rglob("*")):
        if file.is_file() and not file.is_symlink() and not _LEFT_OUT & set(file.parts):
            yield file


def _put(archive: zipfile.ZipFile, name: str, data: bytes, mode: int) -> None:
    entry = zipfile.ZipInfo(name, _TIME)
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)


def _text(name: str, **values: object) -> str:
    return _environment().get_template(f"{name}.jinja").render(**values)


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("cellcheck.packing", "."), undefined=StrictUndefined, keep_trailing_newline=True
    )
