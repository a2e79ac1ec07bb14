"""What `make test` leaves to `make claims` was measured on the code that is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lessons.seeds import CLAIMS, measured_on, recorded


@pytest.mark.parametrize("claims", CLAIMS, ids=[path.parent.name for path in CLAIMS])
def test_it_was_measured_since_the_last_change(claims: Path) -> None:
    assert recorded().get(claims.parent.name) == measured_on(claims), (
        f"{claims.parent.name}: its claims were not all measured since the code changed. Run: make claims"
    )
