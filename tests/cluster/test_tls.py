"""A cluster whose machines know each other by certificates."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import dask
import pytest
import trustme
from distributed import LocalCluster, Security

from cellcheck.batch import Job
from cellcheck.cluster import client as clients
from cellcheck.cluster import worker
from cellcheck.cluster.client import connected
from cellcheck.demo.learners import Learner
from cellcheck.errors import GraderError
from cellcheck.gradebook.autograde import autograde_assignment
from cellcheck.gradebook.course import Course
from cellcheck.running.result import Result
from tests.gradebook.small_class import LESSON, REPOSITORY, SEED, hand_in, small_course


@dataclass(frozen=True)
class Papers:
    """Files that say who somebody is, and whom they trust."""

    folder: Path

    @property
    def settings(self) -> dict[str, object]:
        """Dask's settings for somebody who has them."""
        named = {"cert": str(self.folder / "certificate.pem"), "key": str(self.folder / "key.pem")}
        everybody = {
            f"{role}.{name}": path for role in ("scheduler", "worker", "client") for name, path in named.items()
        }
        tls = {"ca-file": str(self.folder / "authority.pem"), **everybody}
        return {f"distributed.comm.tls.{name}": path for name, path in tls.items()}


def papers(folder: Path) -> Papers:
    """Those of somebody whom only the holders of the same files trust."""
    folder.mkdir()
    authority = trustme.CA()
    own = authority.issue_cert("127.0.0.1", "localhost")
    authority.cert_pem.write_to_path(folder / "authority.pem")
    own.private_key_pem.write_to_path(folder / "key.pem")
    own.cert_chain_pems[0].write_to_path(folder / "certificate.pem")
    return Papers(folder)


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Papers:
    return papers(tmp_path_factory.mktemp("tls") / "ours")


@pytest.fixture(scope="module")
def cluster(ours: Papers) -> Iterator[LocalCluster]:
    with (
        dask.config.set(ours.settings),
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=False,
            protocol="tls",
            security=Security(),
            dashboard_address=":0",
        ) as workers,
    ):
        yield workers


@pytest.fixture
def course(tmp_path: Path) -> Course:
    course = small_course(tmp_path / "course")
    released = REPOSITORY.notebook(LESSON).read_text("utf-8")
    hand_in(course, "ada", Learner("ada", LESSON).hand_in(released).encode())
    return course


def test_who_has_the_certificates_grades(course: Course, ours: Papers, cluster: LocalCluster) -> None:
    assert cluster.scheduler_address.startswith("tls://")
    with dask.config.set(ours.settings), connected(cluster.scheduler_address, print) as grading:
        report = autograde_assignment(course, LESSON, Job(SEED, LESSON), lambda news: None, grading=grading)
    ada = report.outcomes["ada"]
    assert isinstance(ada, Result)
    assert ada.score == ada.max_score


@pytest.mark.parametrize("scheme", ["tls", "tcp"])
def test_nobody_else_does(scheme: str, tmp_path: Path, cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither with somebody else's certificates nor without any."""
    monkeypatch.setattr(clients, "ANSWER_SECONDS", 1.0)
    address = cluster.scheduler_address.replace("tls", scheme)
    with (
        dask.config.set(papers(tmp_path / "theirs").settings),
        pytest.raises(GraderError, match="do both sides use TLS, or neither"),
        connected(address, print),
    ):
        raise AssertionError("a stranger was let in")


def test_learners_code_does_not_see_the_key(ours: Papers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker.zygotes, "in_sight", lambda paths: tuple(paths))
    with dask.config.set(ours.settings):
        hidden = worker._hidden("/somewhere")
    assert set(hidden) == {"/somewhere", str(ours.folder / "key.pem")}
