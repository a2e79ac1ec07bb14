"""What stands in the way of an import."""

from typing import Self

from cellcheck.errors import GraderError


class Unknown(GraderError):
    """A construct that would change marks if it were left out, or that isn't known here; nothing is written."""

    @classmethod
    def at(cls, where: int | str, what: str) -> Self:
        """Of a cell, counted from 1, or of a file."""
        return cls(f"Nothing was written: in {f'cell {where}' if isinstance(where, int) else where}, {what}.")
