"""Runs the tests that are nearest to what has changed: `make quick`, an answer in some two minutes.

    python -m tests.quick [PATH ...]

Without a path, what differs from the last commit counts as changed, or else what the last commit changed. Nearest are
the tests that were changed themselves, those that import what was changed, and a changed exercise's marks. The rooms
where most of the time goes, and what is beyond a dozen files, are left to `make test`, which runs everything.
"""

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from tests.conftest import FIRST

ROOT = Path(__file__).parents[1]
MOST = 12  # files
ALWAYS = "tests/test_architecture.py"
SLOW = tuple(room for room in FIRST if room != "tests/lessons/")
_EXERCISE = re.compile(r"transformer_course/lessons/lesson_(?P<lesson>\d\d)/(?P<symbol>\w+)\.(?:md|py)")


def main(paths: Sequence[str]) -> int:
    """The exit code of pytest: that of the first run that fails."""
    changed = list(paths) or list(_changed())
    near = nearest(changed)
    files = [test for test in near if test in changed or not test.startswith(SLOW)][:MOST]
    left = [test for test in near if test not in files]
    runs = [["--numprocesses", "2", "--dist", "loadfile", ALWAYS, *files]]
    runs += [[*marks_of(lesson), "-k", " or ".join(symbols)] for lesson, symbols in exercises(changed).items()]
    print(f"Of {len(changed)} changed files, the nearest tests are in {', '.join(files) or 'no file'}.", flush=True)
    for run in runs:
        if code := subprocess.run([sys.executable, "-m", "pytest", *run], cwd=ROOT, check=False).returncode:
            return code
    if left:
        print(f"Left to make test: {', '.join(left)}")
    return 0


def _changed() -> Iterator[str]:
    status = _git("status", "--porcelain", "--untracked-files=all", "--no-renames")
    yield from [line[3:] for line in status] or _git("diff", "--name-only", "--no-renames", "HEAD~1")


def _git(*command: str) -> list[str]:
    done = subprocess.run(["git", "-c", "core.quotePath=off", *command], cwd=ROOT, capture_output=True, check=True)
    return done.stdout.decode().splitlines()


def nearest(changed: Sequence[str]) -> list[str]:
    """The files of tests that import what was changed, or were changed themselves: the nearest first."""
    by_day = (path for path in sorted(ROOT.glob("tests/**/test_*.py")) if path.parent.name != "long")
    tests = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in by_day}
    modules = [_module(PurePosixPath(path)) for path in changed if path.endswith(".py") and path not in tests]
    patterns = [_imports(module) for module in modules]
    near = [test for test, source in tests.items() if any(pattern.search(source) for pattern in patterns)]
    rooms = {PurePosixPath(path).parent.name for path in changed}
    near.sort(key=lambda test: PurePosixPath(test).parent.name not in rooms)
    themselves = [path for path in changed if path in tests]
    return [*themselves, *(test for test in near if test not in {*themselves, ALWAYS})]


def importers(changed: Sequence[str]) -> list[str]:
    """The product's own modules that import what was changed."""
    patterns = [_imports(_module(PurePosixPath(path))) for path in changed if path.endswith(".py")]
    modules = [
        path
        for package in ("grader/cellcheck", "transformer_course")
        for path in sorted((ROOT / package).rglob("*.py"))
    ]
    return [
        str(path.relative_to(ROOT))
        for path in modules
        if any(pattern.search(path.read_text("utf-8")) for pattern in patterns)
    ]


def _module(path: PurePosixPath) -> str:
    parts = [*path.with_suffix("").parts]
    return ".".join(parts[1 if parts[0] == "grader" else 0 :]).removesuffix(".__init__")


def _imports(module: str) -> re.Pattern[str]:
    package, _, name = module.rpartition(".")
    line = rf"^\s*(?:import {re.escape(module)}\b|from {re.escape(module)} import "
    return re.compile(rf"{line}|from {re.escape(package)} import .*\b{re.escape(name)}\b)", re.MULTILINE)


def exercises(changed: Sequence[str]) -> dict[str, list[str]]:
    """The exercises whose files were changed, by lesson: "03", ["Linear"]."""
    by_lesson: dict[str, list[str]] = {}
    for path in changed:
        match = _EXERCISE.fullmatch(path)
        if match and (ROOT / path).with_suffix(".md").exists() and (ROOT / path).with_suffix(".py").exists():
            symbols = by_lesson.setdefault(match["lesson"], [])
            symbols.extend({match["symbol"]} - {*symbols})
    return by_lesson


def marks_of(lesson: str) -> list[str]:
    """All that is known of a lesson's marks, to choose from by an exercise's name."""
    return ["tests/lessons/test_marks.py", "tests/lessons/test_catalogue.py", "--lesson", lesson, "--numprocesses", "2"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
