"""Two seeds for each claim: `make test` measures the first, `make claims` both.

The second costs as much as everything else that a lesson's tests do, and says something new only when the code has
changed. So `make claims` writes down what the second seed was measured on, and `make test` holds it against what is
there now.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.building.origins import measured_from
from grader.repository import Repository

second_seed = pytest.mark.second_seed
both_seeds = pytest.mark.parametrize("seed", [0, pytest.param(1, marks=second_seed)])

HERE = Path(__file__).parent
RECORD = HERE / "second_seeds.json"
CLAIMS = sorted(HERE.glob("lesson_*/test_claims.py"))


def measured_on(claims: Path) -> str:
    """What a lesson's claims are measured on now, as a digest."""
    return measured_from(Repository.find(HERE), claims)


def recorded() -> dict[str, str]:
    """What each lesson's second seed was measured on, by the lesson's folder."""
    return dict(json.loads(RECORD.read_text("utf-8"))) if RECORD.is_file() else {}


def record(claims: Path) -> None:
    """Writes down that all claims of a lesson hold with the second seed."""
    found = recorded() | {claims.parent.name: measured_on(claims)}
    RECORD.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", "utf-8")
