"""Which claims are measured, and what is written down about them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.lessons.seeds import CLAIMS, record


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--long", False):
        later = [item for item in items if item.get_closest_marker("later")]
        config.hook.pytest_deselected(items=later)
        items[:] = [item for item in items if item not in set(later)]


@pytest.fixture(scope="module", autouse=True)
def written_down(request: pytest.FixtureRequest) -> Iterator[None]:
    """When every claim of a lesson was measured with both seeds, and all of them hold."""
    failed = request.session.testsfailed
    yield
    options = request.config.option
    whole = options.long and not (options.keyword or options.markexpr) and "::" not in "".join(request.config.args)
    if request.path in CLAIMS and whole and request.session.testsfailed == failed:
        record(request.path)
