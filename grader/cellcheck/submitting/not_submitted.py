"""What `submit` says when nothing was handed in."""

from cellcheck.errors import GraderError


class NotSubmitted(GraderError):
    """Nothing was handed in; the sentence says why."""
