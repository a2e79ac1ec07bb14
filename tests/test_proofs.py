"""What `make test` leaves to `make claims` was found to hold on the code that is there."""

from __future__ import annotations

import pytest

from tests.proofs import PROOFS, key, made_of, recorded


@pytest.mark.parametrize(("proof", "lesson"), PROOFS)
def test_it_was_proved_since_the_last_change(proof: str, lesson: str) -> None:
    name = key(proof, lesson)
    assert recorded().get(name) == made_of(proof, lesson), (
        f"{name}: not proved since the code changed. Run: make claims"
    )
