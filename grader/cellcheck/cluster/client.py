"""This machine's side of a cluster: finds workers that may grade, sends them submissions, takes the answers in.

Nobody's result arrives twice. A submission is in one task at a time; a task comes to an end once, however often Dask
has begun it anew because a worker died; and grading is a pure function, so it does not matter which time counted.
"""

from __future__ import annotations

import json
import logging
import math
import re
import time
import uuid
import warnings
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import dask
from distributed import Client, Security
from distributed.scheduler import KilledWorker

from cellcheck.batch import Job, Work, failure, take
from cellcheck.cluster import messages, worker
from cellcheck.cluster.messages import Order
from cellcheck.errors import GraderError
from cellcheck.gradebook.draft import Drafted
from cellcheck.gradebook.folders import Halt
from cellcheck.plain import harmless
from cellcheck.running.result import Failure

TOGETHER = 20
"""Submissions in one task, at most: what a task costs Dask is then nothing beside them."""
TOGETHER_BYTES = 4 * 2**20
"""Bytes of what was handed in, about: the scheduler holds what waits in its memory."""
AHEAD = 1.5
"""Tasks in the cluster for each of its threads: some wait, so that nobody idles."""
ANSWER_SECONDS = 10.0  # until somebody answers at an address
WORKER_SECONDS = 60.0  # until there is a worker: those that died are started again within some seconds
TRIES = 4  # times that all workers may die while they have a submission
LOOK_SECONDS = 1.0  # between two looks at who is there
_THEIRS = ("distributed", "distributed.client", "tornado.application")
"""Who would report a worker's death with a traceback. Dask gives the second a level of its own."""
_NO_LOG = {"distributed.admin.low-level-log-length": 0}
"""Else the last thousand messages stay in memory, with what was handed in."""

Done = tuple[Path, Drafted | Failure]


@contextmanager
def connected(address: str, say: Callable[[str], object]) -> Iterator[Cluster]:
    """The cluster whose scheduler is at an address, or wrote the file of this name. It says which workers it can't use.

    Raises:
        GraderError: when nobody answers there.
    """
    for name in _THEIRS:
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters is said in a sentence
    address = _address(address)
    try:
        with warnings.catch_warnings(), dask.config.set(_NO_LOG):
            warnings.simplefilter("ignore")  # of versions that differ: each worker is asked
            client = Client(address, timeout=ANSWER_SECONDS, set_as_default=False)
    except OSError as error:  # a timeout is one
        raise GraderError(
            f"Nobody answers at {address}. Is a Dask scheduler running there, may this machine reach it, and do both "
            "sides use TLS, or neither?"
        ) from error
    cluster = Cluster(client, address, say)
    try:
        yield cluster
    finally:
        cluster.close()


def _address(text: str) -> str:
    """The address that a text is, or that stands in the scheduler's file of this name.

    Raises:
        GraderError: when it can't be one.
    """
    address = text
    if Path(text).is_file():
        try:
            address = str(json.loads(Path(text).read_text("utf-8"))["address"])
        except (OSError, ValueError, KeyError, TypeError):
            address = ""
    scheme, _, where = address.partition("://")
    if scheme not in ("tcp", "tls") or not re.fullmatch(r".+:\d+", where):
        raise GraderError(
            f"{text} is not the address of a Dask scheduler; one looks like tcp://HOST:8786 or tls://HOST:8786, or is "
            "the path of the file that dask scheduler --scheduler-file has written."
        )
    if scheme == "tls" and Security().get_connection_args("client").get("ssl_context") is None:
        raise GraderError(
            f"{text} is reached by TLS, but Dask knows of no certificates here: set distributed.comm.tls in its "
            "configuration."
        )
    return address


class Cluster:
    """A cluster to grade on; see `cellcheck.gradebook.autograde.Grading`."""

    def __init__(self, client: Client, address: str, say: Callable[[str], object]) -> None:
        self.client = client
        self.address = address
        self._say = say
        self._asked: dict[str, Future[bytes]] = {}  # by worker, those that haven't answered yet
        self._threads: dict[str, int] = {}  # of those that may grade
        self._refused: dict[str, str] = {}  # why others may not
        self._stranded = False  # whether all that might grade died: Dask then forgets to give their tasks to others
        self._losses: Counter[Path] = Counter()
        self._run = uuid.uuid4().hex

    def __call__(
        self, paths: Iterable[Path], job: Job, others: Callable[[Path], Mapping[str, bytes]]
    ) -> Generator[list[Done], None, None]:
        """Grades submissions on the cluster's workers; groups of what is done.

        Raises:
            GraderError: when there is no worker that may grade. A `Halt` when there is none any more.
        """
        lesson = None if job.assignment is None or job.assignment.lesson is None else job.assignment.lesson.name
        code = worker.code_here(lesson)
        order = Order(self._run, job, code, worker.versions_here()).to_bytes()
        executor = self.client.get_executor(pure=False, resources={worker.resource(code): 1})
        pieces = _Pieces(paths, job, others)
        running: dict[Future[bytes], list[tuple[Path, Work]]] = {}
        finished = False
        try:
            self._wait_for_workers(order)
            while True:
                self._look(order)
                while len(running) < self._wanted and (piece := pieces.next(self._wanted)):
                    works = messages.of_works([work for _, work in piece])
                    running[executor.submit(worker.grade_some, order, works)] = piece
                if pieces.unread:
                    yield pieces.take_unread()
                    continue
                if not running:
                    finished = True
                    return
                if not self._threads:
                    self._wait_for_workers(order)
                if self._stranded:
                    yield from self._recover(running, pieces)
                    continue
                ready = wait(running, LOOK_SECONDS, return_when=FIRST_COMPLETED).done
                group = [done for future in ready for done in self._done(future, running.pop(future), pieces)]
                if group:
                    yield group
        except OSError as error:
            raise self._lost() from error
        finally:
            if not finished:
                for future in running:
                    future.cancel()
                self._tell(worker.stop, self._run)

    @property
    def _wanted(self) -> int:
        """How many tasks the cluster should have."""
        return math.ceil(AHEAD * sum(self._threads.values()))

    def _done(self, future: Future[bytes], piece: list[tuple[Path, Work]], pieces: _Pieces) -> list[Done]:
        """What came of a task: an outcome for each of its submissions, or nothing yet where they have to go again."""
        names = [str(path) for path, _ in piece]
        try:
            answers = messages.answers(future.result(), names)
        except KilledWorker:
            if len(piece) > 1:  # whose fault it was, the next time will tell
                pieces.again(piece)
                return []
            answers = [_killer(piece[0][0])]
        except CancelledError as error:
            raise self._lost() from error
        except Exception as error:  # a fault of ours, which must not cost the others their marks
            answers = [failure(name, error) for name in names]
        return [(path, answer) for (path, _), answer in zip(piece, answers, strict=True)]

    def _recover(self, running: dict[Future[bytes], list[tuple[Path, Work]]], pieces: _Pieces) -> Iterator[list[Done]]:
        """Takes back what the workers had that are all gone, and has it graded anew, submission by submission.

        A submission may be what ended them: one that was there each time is not tried for ever.
        """
        self._stranded = False
        for future in [future for future in running if future.cancel()]:
            piece = running.pop(future)
            self._losses.update(path for path, _ in piece)
            lost = [(path, work) for path, work in piece if self._losses[path] >= TRIES]
            if lost:
                yield [(path, _killer(path)) for path, _ in lost]
            pieces.again([one for one in piece if one not in lost])

    def _look(self, order: bytes) -> None:
        """Sees who has come and who is gone, asks those who have come, and hears those who have answered."""
        there: dict[str, int] = self.client.nthreads()
        had_some = bool(self._threads)
        for workers in (self._threads, self._refused, self._asked):
            for gone in workers.keys() - there.keys():
                del workers[gone]
        self._stranded |= had_some and not self._threads
        for address in there.keys() - self._threads.keys() - self._refused.keys() - self._asked.keys():
            asking = self.client.get_executor(pure=False, workers=[address], allow_other_workers=False)
            self._asked[address] = asking.submit(worker.get_ready, order)
        had = len(self._threads)
        for address, future in list(self._asked.items()):
            if future.done():
                del self._asked[address]
                reason = _reason(future)
                if reason:
                    self._refused[address] = reason
                    self._say(f"The worker {harmless(address)} is not used: {reason.rstrip('.')}.")
                else:
                    self._threads[address] = there[address]
        if len(self._threads) > had:
            with suppress(Exception):  # it may not be allowed, or the grader isn't installed there
                self.client.run_on_scheduler(worker.keep_no_messages)

    def _wait_for_workers(self, order: bytes) -> None:
        """Waits until a worker may grade.

        Raises:
            GraderError: when all that are there may not, or none comes.
        """
        begun = bool(self._threads)
        end = time.monotonic() + WORKER_SECONDS
        while True:
            self._look(order)
            if self._threads:
                return
            if self._refused and not self._asked:
                raise GraderError(f"No worker of the cluster at {self.address} may grade; the lines above say why.")
            if time.monotonic() > end and not self._asked:
                break
            wait(list(self._asked.values()), LOOK_SECONDS) if self._asked else time.sleep(LOOK_SECONDS)
        if begun:
            raise Halt(f"The cluster at {self.address} has no workers any more")
        raise GraderError(f"The cluster at {self.address} has no workers: start some, with dask worker {self.address}.")

    def _lost(self) -> Halt:
        return Halt(f"The connection to the cluster at {self.address} is lost")

    def _tell(self, function: Callable[..., None], *arguments: str) -> None:
        """Has the workers that graded do something, if they can be reached."""
        with suppress(Exception):
            self.client.run(function, *arguments, workers=list(self._threads), on_error="ignore")

    def close(self) -> None:
        """Says goodbye."""
        self._tell(worker.rest)
        with suppress(Exception):
            self.client.close(timeout=ANSWER_SECONDS)


class _Pieces:
    """Submissions, cut into pieces for a task each: small ones first, so that a small class is spread over all."""

    def __init__(self, paths: Iterable[Path], job: Job, others: Callable[[Path], Mapping[str, bytes]]) -> None:
        self._paths = iter(paths)
        self._job, self._others = job, others
        self._sent = 0
        self._again: deque[list[tuple[Path, Work]]] = deque()
        self.unread: list[Done] = []
        """Submissions that can't be read: nobody needs to grade them."""

    def next(self, wanted: int) -> list[tuple[Path, Work]]:
        """The next piece, while the cluster wants so many; empty when there is none left."""
        if self._again:
            return self._again.popleft()
        most = min(TOGETHER, 1 + self._sent // max(1, 2 * wanted))
        self._sent += 1
        piece: list[tuple[Path, Work]] = []
        size = 0
        while len(piece) < most and size < TOGETHER_BYTES and (path := next(self._paths, None)) is not None:
            try:
                work = take(path, self._job, self._others(path))
            except Exception as error:  # must not cost the others their marks
                self.unread.append((path, failure(str(path), error)))
                continue
            piece.append((path, replace(work, name="")))
            size += sum(map(len, (*work.files.values(), *_read(work))))
        return piece

    def again(self, piece: list[tuple[Path, Work]]) -> None:
        """Sends the submissions of a piece once more, each in a piece of its own."""
        self._again.extend([one] for one in piece)

    def take_unread(self) -> list[Done]:
        """Those that can't be read, once."""
        unread, self.unread = self.unread, []
        return unread


def _killer(path: Path) -> Failure:
    return Failure(str(path), "Every worker that graded this died over it. Try cellcheck grade on it.")


def _read(work: Work) -> Iterator[bytes]:
    return (data for data in work.notebooks.values() if isinstance(data, bytes))


def _reason(future: Future[bytes]) -> str:
    """Why a worker may not grade; empty where it may."""
    try:
        return str(json.loads(future.result())["refused"])
    except ModuleNotFoundError as error:
        return f"{error.name} isn't installed there: install the course with its extras grading and cluster"
    except CancelledError:
        return "it went away"
    except Exception as error:  # whatever stops it
        return f"it can't get ready ({type(error).__name__}: {harmless(str(error))})"
