"""What `make test` leaves to `make claims`, which a nightly run starts.

`make test` runs the claims on their first seed, unless they take long. Of proofs that hold for hundreds of answers it
runs a sample: of a test marked `drawn(n)`, n cases, and other ones each time. `make claims` runs everything.
"""

import inspect
import random
import re
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from cellcheck.syllabus import lesson_names, load_lesson

ROOT = Path(__file__).resolve().parents[1]
MAIN = ("origin/main", "main")
A_LESSONS_OWN = re.compile(r"transformer_course/lessons/lesson_(\d\d)/|tests/marks/(\d\d)\.csv$")

later = pytest.mark.later
both_seeds = pytest.mark.parametrize("seed", [0, pytest.param(1, marks=later)])
both_seeds_later = pytest.mark.parametrize("seed", [pytest.param(seed, marks=later) for seed in (0, 1)])
"""For a claim whose model takes more than five processor seconds to train."""


def drawn(cases: int, *, changed_first: bool = False) -> pytest.MarkDecorator:
    """Of this test, `make test` runs so many cases; of the lessons that a change touches, if it touches any."""
    return pytest.mark.drawn(cases, changed_first=changed_first)


one_lesson = drawn(1, changed_first=True)
"""For a proof that takes long for every lesson: `make test` runs one of them, one that a change touches if there is."""


def left_out(items: Sequence[pytest.Item], sample: int) -> set[pytest.Item]:
    """The tests that `make test` leaves to the night. The same number leaves the same ones, whoever draws."""
    left = {item for item in items if item.get_closest_marker("later")}
    tests: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("drawn") and item not in left:
            tests[item.nodeid.partition("[")[0]].append(item)
    return left.union(*(_not_drawn(test, cases, sample) for test, cases in tests.items()))


def _not_drawn(test: str, cases: list[pytest.Item], sample: int) -> set[pytest.Item]:
    marker = cases[0].get_closest_marker("drawn")
    changed = [case for case in cases if marker.kwargs.get("changed_first") and _lesson_of(case) in changed_lessons()]
    urn = changed or cases
    # Tests of one file with the same cases draw the same ones: they share what is computed for them.
    places = random.Random(f"{sample} {test.partition('::')[0]}").sample(range(len(urn)), min(marker.args[0], len(urn)))
    return set(cases) - {urn[place] for place in places}


def _lesson_of(case: Any) -> str:
    return str(case.callspec.params["lesson"])


# --- what a change touches


@cache
def changed_lessons() -> list[str]:
    """The lessons that the last change touches: their own files, or a module of the library with one of their answers.

    None if there is no git to ask.
    """
    return lessons_with(changed_files(ROOT))


def lessons_with(files: Iterable[str]) -> list[str]:
    """The lessons that one of these files belongs to. Each file is named from the root of the repository."""
    changed = set(files)
    own = {match[1] or match[2] for file in changed if (match := A_LESSONS_OWN.match(file))}
    return [name for name in lesson_names() if name[:2] in own or _library_of(name) & changed]


def _library_of(lesson: str) -> set[str]:
    """The files of the library that define the right answers of a lesson."""
    files = {Path(inspect.getfile(exercise.references[0])) for exercise in load_lesson(lesson).exercises}
    return {file.relative_to(ROOT).as_posix() for file in files if file.is_relative_to(ROOT)}


def changed_files(root: Path) -> list[str]:
    """What differs from the commit where this branch left main; on main itself, from the commit before this one.

    What isn't committed yet counts, too. Where no commit is to be compared with, as in a clone of one commit, only that
    counts.
    """
    head = _git(root, "rev-parse", "HEAD")
    bases = [base for branch in MAIN for base in _git(root, "merge-base", "HEAD", branch) if [base] != head]
    base = (bases or _git(root, "rev-parse", "--verify", "--quiet", "HEAD~1") or ["HEAD"])[0]
    new = _git(root, "ls-files", "--others", "--exclude-standard")
    return [*_git(root, "diff", "--name-only", "--no-renames", base), *new]


def _git(root: Path, *words: str) -> list[str]:
    """The lines that git says; none when it refuses, or isn't there."""
    if shutil.which("git") is None:
        return []
    said = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    return said.stdout.split("\n")[:-1] if said.returncode == 0 else []
