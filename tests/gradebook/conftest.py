"""What every gradebook that is made here needs."""

from collections.abc import Iterator
from functools import cache

import pytest
from nbgrader import api

from cellcheck.gradebook.course import put_environment_on_path
from tests.gradebook.small_class import course, quick
from tests.postgres import Server, running

__all__ = ["course", "quick"]


@pytest.fixture(autouse=True, scope="session")
def alembic_is_asked_once() -> Iterator[None]:
    """nbgrader asks a process of its own for a version number, for each gradebook anew; it never changes."""
    put_environment_on_path()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "get_alembic_version", cache(api.get_alembic_version))
        yield


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A PostgreSQL server, started once."""
    with running() as server:
        yield server
