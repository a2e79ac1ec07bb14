"""What crosses the network says all that grading needs, and not whose work it is."""

import json
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from distributed.scheduler import KilledWorker

from cellcheck.batch import Job, Work, take
from cellcheck.cluster import client, messages, worker
from cellcheck.cluster.messages import Order
from cellcheck.demo.learners import Learner
from cellcheck.errors import GraderError
from cellcheck.gradebook.draft import Drafted, draft
from cellcheck.gradebook.folders import Halt
from cellcheck.gradebook.writer import released_aside
from cellcheck.running.assignment import Assignment
from cellcheck.running.intake import Unreadable
from cellcheck.running.limits import Limits
from cellcheck.running.result import Failure
from cellcheck.syllabus import load_lesson
from tests.assignments import sources
from tests.gradebook.small_class import LESSON, REPOSITORY, small_course

RELEASED = REPOSITORY.notebook(LESSON).read_text("utf-8")


def order(job: Job) -> bytes:
    return Order("run 1", job, "code", {"Python": "3"}).to_bytes()


def of_lesson(tmp_path: Path) -> Job:
    """A lesson whose instructor has put a test beside the checks."""
    course = small_course(tmp_path / "course")
    course.ensure_assignment(LESSON)
    known = released_aside(course, LESSON)
    assignment = Assignment(LESSON, known.notebooks, load_lesson(LESSON), {"data.csv": b"\xff1"})
    return Job(7, LESSON, limits=Limits(cell_seconds=3.5), assignment=assignment)


def of_plain(tmp_path: Path) -> tuple[Job, Path]:
    """A plain assignment, and a submission of it."""
    root = tmp_path / "plain"
    root.mkdir()
    (root / "nbgrader_config.py").write_text(sources.CONFIG)
    sources.add(root, "intro", {"variables": sources.VARIABLES})
    from cellcheck.gradebook.course import Course

    course = Course.open(root)
    folder = course.submission("ada", "intro")
    folder.mkdir(parents=True)
    (folder / "variables.ipynb").write_bytes(sources.work(sources.VARIABLES, {"honour": "honest = True"}))
    (folder / "helper.py").write_bytes(b"x = 1")
    return Job(0, None, assignment=released_aside(course, "intro")), folder


def test_an_order_arrives_as_it_was(tmp_path: Path) -> None:
    for job in (of_lesson(tmp_path), of_plain(tmp_path)[0]):
        arrived = Order.from_bytes(order(job))
        assert arrived.job == job
        assert (arrived.run, arrived.code, arrived.versions) == ("run 1", "code", {"Python": "3"})


def test_works_arrive_without_names() -> None:
    sent = Work(
        "submitted/wanda/x.ipynb",
        {"one": b"{\x00\xff}", "two": Unreadable("It is empty.")},
        {"m\udcfcll/er.py": b"\x80"},
        frozenset({"one", "two"}),
    )
    message = messages.of_works([sent])
    assert b"wanda" not in message
    (arrived,) = messages.works(message)
    assert (arrived.name, arrived.files, arrived.titles) == ("", sent.files, sent.titles)
    assert arrived.notebooks["one"] == sent.notebooks["one"]
    assert str(arrived.notebooks["two"]) == "It is empty."


@pytest.mark.parametrize("kind", ["lesson", "plain"])
def test_a_worker_answers_what_this_process_would(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "get_worker", lambda: SimpleNamespace(local_directory=str(tmp_path / "dask")))
    if kind == "lesson":
        job = of_lesson(tmp_path)
        path = tmp_path / "ada.ipynb"
        path.write_text(Learner("ada", LESSON, begins=1).hand_in(RELEASED), "utf-8")
        notebooks: dict[str, bytes] = {LESSON: path.read_bytes()}
    else:
        job, path = of_plain(tmp_path)
        notebooks = {"variables": (path / "variables.ipynb").read_bytes()}
    work = take(path, job, {})
    half = Work("", dict.fromkeys(notebooks, b"{"), {}, frozenset(notebooks))
    message = worker.grade_some(order(job), messages.of_works([work, half]))
    answer, broken = messages.answers(message, [str(path), "broken"])
    assert isinstance(answer, Drafted)
    assert answer.result.notebook == str(path)
    assert isinstance(broken, Failure)
    assert broken.notebook == "broken"
    assert job.assignment is not None
    expected = draft(job.assignment, notebooks, answer.result)
    assert answer.draft.scores == expected.scores
    assert answer.draft.blank == expected.blank
    assert answer.draft.answers == expected.answers
    assert bool(answer.draft.answers)
    assert answer.draft.notebooks.keys() == expected.notebooks.keys()
    assert sum(score or 0.0 for score in answer.draft.scores.values()) == pytest.approx(answer.result.score)
    assert answer.result.score > 0


def test_an_answer_that_makes_no_sense_is_an_error() -> None:
    for message in (b"{", b"[]", b'[{"result": {}}]', b"[3]"):
        with pytest.raises(GraderError, match="makes no sense"):
            messages.answers(message, ["one"])


# --- this machine's side ------------------------------------------------------------------------------------------


def pieces(tmp_path: Path, count: int, size: int = 2) -> client._Pieces:
    paths = [tmp_path / f"{number}.ipynb" for number in range(count)]
    for path in paths:
        path.write_bytes(b"{" * size)
    return client._Pieces([*paths, tmp_path / "missing.ipynb"], Job(0, LESSON), lambda path: {})


def sizes(cut: client._Pieces, wanted: int) -> list[int]:
    lengths = []
    while piece := cut.next(wanted):
        lengths.append(len(piece))
    return lengths


def test_pieces_are_small_first_and_then_twenty(tmp_path: Path) -> None:
    cut = pieces(tmp_path, 500)
    lengths = sizes(cut, 1)
    assert sum(lengths) == 500
    assert lengths[:3] == [1, 1, 2]
    assert max(lengths) == client.TOGETHER
    assert [path.name for path, _ in cut.take_unread()] == ["missing.ipynb"]
    assert cut.take_unread() == []
    assert sizes(pieces(tmp_path, 12), 10) == [1] * 12  # nobody idles in a small class


def test_pieces_of_large_submissions_are_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "TOGETHER_BYTES", 1000)
    assert max(sizes(pieces(tmp_path, 40, 600), 1)) == 2


class Ended:
    """A cluster whose task has ended in some way."""

    def __init__(self) -> None:
        fake: Any = SimpleNamespace()
        self.cluster = client.Cluster(fake, "tcp://somewhere:1", print)

    def done(self, error: BaseException | bytes | None, piece: Any, cut: client._Pieces) -> list[client.Done]:
        future: Future[bytes] = Future()
        if error is None:
            future.cancel()
        elif isinstance(error, bytes):
            future.set_result(error)
        else:
            future.set_exception(error)
        return self.cluster._done(future, piece, cut)


def test_a_piece_that_kills_every_worker_is_cut_up_and_the_culprit_named(tmp_path: Path) -> None:
    cut = pieces(tmp_path, 300)
    while len(piece := cut.next(1)) < 3:
        pass
    killed = KilledWorker("task", SimpleNamespace(address="tcp://w:1"), 3)  # type: ignore[arg-type]
    assert Ended().done(killed, piece, cut) == []
    alone = [cut.next(1) for _ in piece]
    assert [path for one in alone for path, _ in one] == [path for path, _ in piece]
    assert {len(one) for one in alone} == {1}
    ((path, failed),) = Ended().done(killed, alone[0], cut)
    assert path == piece[0][0]
    assert isinstance(failed, Failure)
    assert "Every worker that graded this died over it" in failed.message


def test_a_connection_that_is_lost_stops_the_run_and_a_fault_costs_only_its_own(tmp_path: Path) -> None:
    cut = pieces(tmp_path, 3)
    piece = cut.next(1)
    with pytest.raises(Halt, match=r"tcp://somewhere:1 is lost\. What has been graded is kept: .* --resume"):
        Ended().done(None, piece, cut)
    for fault in (RuntimeError("odd"), b"nonsense"):
        ((_, failed),) = Ended().done(fault, piece, cut)
        assert isinstance(failed, Failure)
    sent: list[Mapping[str, Any]] = json.loads(messages.of_works([work for _, work in piece]))
    assert len(sent) == 1
