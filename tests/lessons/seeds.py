"""Two seeds for each claim: `make test` measures the first, unless it takes long, and `make claims` both.

The second seed costs as much as everything else that a lesson's tests do, and so do the few claims for which many
models are trained. Both say something new only when the code has changed. So `make claims` writes down what it has
measured them on, and `make test` holds that against what is there now.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.building.origins import measured_from
from grader.repository import Repository

_later = pytest.mark.later
both_seeds = pytest.mark.parametrize("seed", [0, pytest.param(1, marks=_later)])
both_seeds_later = pytest.mark.parametrize("seed", [pytest.param(seed, marks=_later) for seed in (0, 1)])
"""For a claim that costs more than ten processor seconds by itself."""

HERE = Path(__file__).parent
RECORD = HERE / "measured.json"
CLAIMS = sorted(HERE.glob("lesson_*/test_claims.py"))


def measured_on(claims: Path) -> str:
    """What a lesson's claims are measured on now, as a digest."""
    return measured_from(Repository.find(HERE), claims)


def recorded() -> dict[str, str]:
    """What `make claims` last measured each lesson's claims on, by the lesson's folder."""
    return dict(json.loads(RECORD.read_text("utf-8"))) if RECORD.is_file() else {}


def record(claims: Path) -> None:
    """Writes down that all claims of a lesson hold with both seeds."""
    found = recorded() | {claims.parent.name: measured_on(claims)}
    RECORD.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", "utf-8")
