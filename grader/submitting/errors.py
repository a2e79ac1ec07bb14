"""What `submit` says when nothing was handed in."""

from __future__ import annotations

from grader.errors import GraderError


class NotSubmitted(GraderError):
    """Nothing was handed in; the sentence says why. A notebook shows it without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]
