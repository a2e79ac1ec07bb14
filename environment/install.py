"""Installs the course and its engine into the Python that runs this.

Each file that pip takes must have its hash in requirements.txt.

    python environment/install.py grading tensorflow    # the extras of pyproject.toml that are wanted
    python environment/install.py --without-answers grading

Without answers, the two are copied and not linked to, and `cellcheck seal` takes the answers out of the copy.

PyTorch comes first and alone. With TORCH_INDEX in the environment it is taken from that index and from no other, so
that nobody else's higher version can take its place. What it asks for then depends on the build that came: only the
CUDA build brings CUDA's packages. Needs nothing but Python and pip.
"""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements.txt"
COURSE, ENGINE = ROOT, ROOT / "grader"
TORCH = "torch"
REFUSED = """\
pip could not install what requirements.txt pins: its words are above. If a hash differs, the file is not the one that
was tested: don't use it. If it is a build that you meant to use, such as another index's, "make lock" adds its hash."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_EXTRAS = re.compile(r"\[([^\]]*)\]")


@dataclass(frozen=True)
class Pin:
    """A package in requirements.txt: its lines, and the packages that ask for it."""

    lines: str
    askers: frozenset[str]


def pins(lock: str) -> dict[str, Pin]:
    """The packages of a requirements.txt, by name; `# via` below each names those that ask for it."""
    blocks = re.findall(r"^(?=\w).*\n(?:[ ].*\n)*", lock, re.MULTILINE)
    return {_name(block): Pin(block, frozenset(_askers(block))) for block in blocks}


def needed(lock: Mapping[str, Pin], wanted: Iterable[str], torch_asks_for: frozenset[str] = frozenset()) -> list[str]:
    """The wanted packages with all that they need, and that those need. PyTorch's needs are given, not looked up."""
    names: set[str] = set()
    waiting = list(wanted)
    while waiting:
        name = waiting.pop()
        if name in names:
            continue
        names.add(name)
        asked_for = torch_asks_for if name == TORCH else {other for other, pin in lock.items() if name in pin.askers}
        waiting += asked_for & lock.keys()
    return sorted(names)


def projects() -> tuple[dict[str, Any], ...]:
    """What the course's pyproject.toml says, and what that of its engine does."""
    return tuple(tomllib.loads((folder / "pyproject.toml").read_text("utf-8")) for folder in (COURSE, ENGINE))


def wanted(course: Mapping[str, Any], engine: Mapping[str, Any], extras: Iterable[str]) -> list[str]:
    """The requirements of the two: what builds them, what they need, and what the course's extras add.

    Where the course asks for its engine, as in "cellcheck[nbgrader]", that is what the engine asks for.
    """
    lines = [*course["build-system"]["requires"], *engine["build-system"]["requires"]]
    asked = list(course["project"]["dependencies"])
    asked += [line for extra in extras for line in course["project"]["optional-dependencies"][extra]]
    for line in asked:
        if _name(line) != engine["project"]["name"]:
            lines.append(line)
            continue
        lines += engine["project"].get("dependencies", [])
        for extra in ",".join(_EXTRAS.findall(line)).replace(" ", "").split(","):
            lines += engine["project"]["optional-dependencies"][extra] if extra else []
    return list(dict.fromkeys(lines))


def main(extras: list[str]) -> int:
    """Installs; returns the exit code of pip, or of sealing."""
    without_answers = "--without-answers" in extras
    extras = [extra for extra in extras if extra != "--without-answers"]
    lock = pins(LOCK.read_text("utf-8"))
    course, engine = projects()
    unknown = [extra for extra in extras if extra not in course["project"]["optional-dependencies"]]
    if unknown:
        known = ", ".join(course["project"]["optional-dependencies"])
        print(f"pyproject.toml has no extra {unknown[0]}. It has: {known}.", file=sys.stderr)
        return 2
    names = [_name(line) for line in wanted(course, engine, extras)]
    failed = (
        (TORCH in names and _torch(lock[TORCH], os.environ.get("TORCH_INDEX")))
        or _hashed([lock[name] for name in needed(lock, names, _torch_asks_for())])
        or _projects(without_answers)
    )
    if failed:
        print(REFUSED, file=sys.stderr)
    elif without_answers:
        return subprocess.call([sys.executable, "-m", "cellcheck", "seal"], cwd=tempfile.gettempdir())
    return int(failed)


def _projects(copied: bool) -> int:
    """The two projects, as they stand in this repository, or copies of them."""
    folders = [str(ENGINE), str(COURSE)]
    words = folders if copied else [word for folder in folders for word in ("--editable", folder)]
    return _pip("install", "--no-deps", "--no-build-isolation", *words)


def _torch(pin: Pin, index: str | None) -> int:
    """pip chooses the build as if there were no hashes, and then the hash of its choice is checked.

    In one step, it would prefer a file whose hash the index announces to one that lies on this machine.
    """
    version = pin.lines.split()[0]
    with tempfile.TemporaryDirectory() as folder:
        options = ["--index-url", index] if index else []
        return _pip("download", "--only-binary", ":all:", "--no-deps", *options, "--dest", folder, version) or _hashed(
            [pin], "--no-index", "--find-links", folder
        )


def _hashed(chosen: list[Pin], *options: str) -> int:
    """pip checks each file, builds nothing, and adds nothing by itself."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "requirements.txt")
        file.write_text("".join(pin.lines for pin in chosen), "utf-8")
        checked = ("--require-hashes", "--only-binary", ":all:", "--no-deps", "--requirement", str(file))
        return _pip("install", *checked, *options)


def _pip(*arguments: str) -> int:
    return subprocess.call([sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments])


def _torch_asks_for() -> frozenset[str]:
    """The names in the metadata of the PyTorch that is installed, read where pip has just put it."""
    reading = "from importlib.metadata import requires; print(*requires('torch') or (), sep='\\n')"
    answer = subprocess.run([sys.executable, "-c", reading], capture_output=True, text=True, check=False)
    return frozenset(_name(line) for line in answer.stdout.splitlines() if "extra ==" not in line)


def _name(line: str) -> str:
    """The name that a requirement begins with, in the form that all tools agree on."""
    return re.sub(r"[-_.]+", "-", _NAME.match(line)[0]).lower()  # type: ignore[index]


def _askers(block: str) -> list[str]:
    via = re.search(r"# via (.*)", block)
    return [_name(asker) for asker in via[1].split(", ") if _NAME.match(asker)] if via else []


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
