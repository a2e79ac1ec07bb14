"""As in `tests/gradebook/`."""

from tests.gradebook.conftest import alembic_is_asked_once

__all__ = ["alembic_is_asked_once"]
