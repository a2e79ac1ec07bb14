"""What `make test` leaves to `make claims` was found to hold on the code that is there."""

from __future__ import annotations

import pytest

from tests.proofs import PROOFS, made_of, recorded


@pytest.mark.parametrize(("proof", "lesson"), PROOFS)
def test_it_was_proved_since_the_last_change(proof: str, lesson: str) -> None:
    assert recorded().get(f"{lesson} {proof}") == made_of(proof, lesson), (
        f"lesson {lesson}, {proof}: not proved since the code changed. Run: make claims"
    )
