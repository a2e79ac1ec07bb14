"""Mutants of the references that are as right as they are, and why. See `grader.audit`."""

from __future__ import annotations

EQUIVALENTS: dict[str, dict[str, str]] = {
    "rotary_embedding": {
        "angles = positions.unsqueeze(-1) * frequencies -> angles = positions.unsqueeze(1) * frequencies": (
            "positions has a single axis, so an axis added at the end is the one added at place 1"
        ),
    },
}
