"""What `submit` says when nothing was handed in."""

from __future__ import annotations

from grader.errors import GraderError


class NotSubmitted(GraderError):
    """Nothing was handed in; the sentence says why."""
