"""Proofs that `make test` leaves to `make claims`, because they say nothing new until the code changes.

Each lesson has five. Its claims hold on a second seed. Its mistakes and its right answers get the same marks from every
seed, and so do answers that no catalogue lists. The audit finds each of the hundreds of changes that it makes to right
answers. Plain nbgrader gives the same marks.

Of plain assignments, nbgrader's marks are compared for a whole class, and a run is killed at many steps.

All of this costs several times as much as all other tests together. So `make test` runs the claims, mistakes and
answers on the first seed, unless they take long, and the audit and nbgrader for one lesson. `make claims` runs
everything and writes down what code it was; `make test` holds that against the code that is there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from grader.building.origins import graded_from, judged_from, measured_from
from grader.repository import Repository
from grader.syllabus import find_lesson, lesson_names

later = pytest.mark.later
both_seeds = pytest.mark.parametrize("seed", [0, pytest.param(1, marks=later)])
both_seeds_later = pytest.mark.parametrize("seed", [pytest.param(seed, marks=later) for seed in (0, 1)])
"""For a claim whose model takes more than five processor seconds to train."""

HERE = Path(__file__).parent
RECORD = HERE / "measured.json"
MARKS = frozenset({"proofs", "warm"})  # which tests run, and how fast
REPOSITORY = Repository.find(HERE)
AUTOGRADE = REPOSITORY.root / "grader" / "gradebook" / "autograde.py"  # the command calls it, and is not followed
NO_MARKS = frozenset({"cli", "learning", "sandbox", "submitting"})  # these give none; what walls change has other tests
TESTS = {
    "claims": "lessons/lesson_{number}/test_claims.py",
    "marks": "lessons/test_catalogue.py",
    "fairness": "lessons/test_fairness.py",
    "audit": "audit/test_audit.py",
    "nbgrader": "gradebook/test_equal_marks.py",
}
"""The file that holds each proof about a lesson."""
PLAIN = {"plain marks": "assignments/test_equal_marks.py", "plain class": "assignments/test_class.py"}
"""The file that holds each proof about plain assignments; they belong to no lesson."""
PROOFS = [*((proof, lesson[:2]) for lesson in lesson_names() for proof in TESTS), *((proof, "") for proof in PLAIN)]


def one_now(lessons: Sequence[str], now: int = 0) -> list[object]:
    """Parameters for a proof that takes long for every lesson: `make test` runs one of them."""
    return [lesson if i == now else pytest.param(lesson, marks=later) for i, lesson in enumerate(lessons)]


def proof_of(item: pytest.Item) -> tuple[str, str] | None:
    """The proof that a test is part of, and the number of its lesson, if it has one."""
    file = item.path.relative_to(HERE).as_posix()
    plain = [proof for proof, name in PLAIN.items() if file == name]
    if plain:
        return plain[0], ""
    folder = re.match(r"lessons/lesson_(\d\d)/", file)
    lesson = folder[1] if folder else getattr(item, "callspec", None) and item.callspec.params.get("lesson", "")[:2]
    proofs = [proof for proof, name in TESTS.items() if lesson and file == name.format(number=lesson)]
    return (proofs[0], lesson) if proofs else None


def made_of(proof: str, lesson: str) -> str:
    """The digest of all the code that a proof runs."""
    if proof in PLAIN:
        return graded_from(REPOSITORY, [HERE / PLAIN[proof], AUTOGRADE], MARKS | NO_MARKS)
    tests = HERE / TESTS[proof].format(number=lesson)
    if proof == "claims":
        return measured_from(REPOSITORY, tests, MARKS)
    others = {
        "fairness": [HERE / "lessons" / f"lesson_{lesson}" / "answers.py"],
        "nbgrader": [REPOSITORY.notebook(find_lesson(lesson)[1]), AUTOGRADE],
    }
    return judged_from(REPOSITORY, lesson, [tests, *others.get(proof, [])], MARKS)


def key(proof: str, lesson: str) -> str:
    """What a proof is called in the record."""
    return f"{lesson} {proof}".strip()


def recorded() -> dict[str, str]:
    """What each proof was last found to hold on."""
    return dict(json.loads(RECORD.read_text("utf-8"))) if RECORD.is_file() else {}


def record(proof: str, lesson: str) -> None:
    """Writes down that a proof holds."""
    found = recorded() | {key(proof, lesson): made_of(proof, lesson)}
    RECORD.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", "utf-8")
