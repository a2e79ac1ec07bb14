"""A cluster on this machine: its scheduler here, its workers nannied processes."""

import socket
from collections.abc import Iterator
from functools import partial

import pytest
from distributed import Client, LocalCluster, Worker, WorkerPlugin

from cellcheck.cluster import worker as workers
from cellcheck.running import warming
from tests import warm, warm_zygotes
from tests.gradebook.conftest import alembic_is_asked_once

__all__ = ["alembic_is_asked_once"]


class StartsWarm(WorkerPlugin):
    """A worker's zygotes are forked where PyTorch is there already, as all zygotes in these tests are."""

    def __init__(self, mother: str) -> None:
        self.mother = mother

    def setup(self, worker: Worker) -> None:
        warming.start = partial(warm_zygotes.start, self.mother)
        workers.rest = nothing  # the next test needs them again


def nothing() -> None:
    """In place of what ends warm processes."""


@pytest.fixture(scope="session")
def cluster() -> Iterator[LocalCluster]:
    """Two workers with a thread each."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as workers,
        Client(workers, set_as_default=False) as client,
    ):
        client.register_plugin(StartsWarm(warm.MOTHER.ready()))
        yield workers


@pytest.fixture
def nobody() -> str:
    """An address at which nobody answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{free.getsockname()[1]}"
