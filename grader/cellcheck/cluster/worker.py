"""What a worker of the cluster does: it says whether it may grade, and grades.

Learners' code runs in a fork of a warm process, walled in, as on one machine; the seed stays in this process. A worker
that can't build all the walls is refused: nobody sits beside it to read a warning.
"""

import json
import os
import platform
import threading
import time
from collections import deque
from dataclasses import replace
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version

import dask
from distributed import Scheduler, Worker, get_worker
from distributed.utils import sync

from cellcheck.batch import Job, Work, failure, grade_work
from cellcheck.cluster import messages
from cellcheck.cluster.messages import Order
from cellcheck.errors import GraderError
from cellcheck.gradebook.draft import Drafted, draft
from cellcheck.running import zygotes
from cellcheck.running.code import digest_of, packages_of
from cellcheck.running.handed_in import readable
from cellcheck.running.protection import missing_walls, say_missing
from cellcheck.running.result import Failure
from cellcheck.running.setting import setting_of

_DECISIVE = ("torch", "numpy", "distributed")
_runs: dict[int, str] = {}
"""By thread, the run it is grading for."""
_over: set[str] = set()
"""Runs that were stopped."""


def code_here(lesson: str | None) -> str:
    """A digest of the modules that judge.

    Raises:
        GraderError: when the lesson is not known here.
    """
    return digest_of(("cellcheck", *packages_of(lesson)))


def versions_here() -> dict[str, str]:
    """The versions of what a verdict may depend on, beside the course and the grader."""
    return {"Python": ".".join(platform.python_version_tuple()[:2]), **{name: _version(name) for name in _DECISIVE}}


def resource(code: str) -> str:
    """What a worker offers, in Dask's words, once it may grade with this code."""
    return f"cellcheck-{code[:16]}"


def get_ready(message: bytes) -> bytes:
    """Makes this worker one that may grade for an order; answers with the reason where it may not, as JSON.

    Dask gives the run's tasks to nobody else: not to a worker that came later, nor to one that takes the place of one
    that died, before it was asked too.
    """
    worker = get_worker()
    try:
        reason = _unfit(message, _hidden(worker.local_directory))
    except GraderError as error:
        reason = str(error)
    if not reason:
        code = json.loads(message)["code"]
        sync(worker.loop, worker.set_resources, **{resource(code): worker.state.nthreads})
        _look_at_stacks(worker, False)
    return json.dumps({"refused": reason}).encode()


def grade_some(order_message: bytes, works_message: bytes) -> bytes:
    """Grades some submissions, and drafts what is to be written of each; see `messages.answers`."""
    order = _order(order_message, get_worker().local_directory)
    thread = threading.get_ident()
    _runs[thread] = order.run
    try:
        return messages.of_answers([_answer(work, order) for work in messages.works(works_message)])
    finally:
        del _runs[thread]


def stop(run: str) -> None:
    """Ends what this worker does for a run, at once; what it does for others goes on."""
    _over.add(run)
    # Not here: this is where the worker speaks with the scheduler, and a process may take some time to end.
    threading.Thread(target=_end_work_for, args=(run,), daemon=True).start()


def _end_work_for(run: str) -> None:
    """Ends what is done for a run, and what was only about to begin."""
    while threads := {thread for thread, theirs in list(_runs.items()) if theirs == run}:
        zygotes.end_work_of(threads)
        time.sleep(0.05)


def keep_no_messages(dask_scheduler: Scheduler) -> None:
    """Runs where the scheduler is. For Dask's developers it keeps the last thousand messages to each worker.

    Those are submissions: as many as there are, in the memory of a process that nobody thinks of.
    """
    for stream in dask_scheduler.stream_comms.values():
        stream.recent_message_log = deque(maxlen=0)


def rest(dask_worker: Worker) -> None:
    """Ends the warm processes that nobody uses: they take memory that others may want."""
    _look_at_stacks(dask_worker, True)
    threading.Thread(target=zygotes.end_idle, daemon=True).start()


def _answer(work: Work, order: Order) -> Drafted | Failure:
    if order.run in _over:
        return Failure(work.name, "The run was stopped.")
    try:
        return _drafted(work, order.job)
    except Exception as error:  # must not cost the others their marks
        return failure(work.name, error)


def _drafted(work: Work, job: Job) -> Drafted:
    result = grade_work(work, job)
    assert job.assignment is not None
    return Drafted(result, draft(job.assignment, readable(work.notebooks), result))


def _unfit(message: bytes, hidden: tuple[str, ...]) -> str:
    """Why this worker may not grade; empty where it may.

    Raises:
        GraderError: when it doesn't know the lesson, or can't run submissions.
    """
    wanted = json.loads(message)
    differ = [
        f"{name} {there or 'is missing'} (here it is {wanted['versions'][name]})"
        for name, there in versions_here().items()
        if there != wanted["versions"][name]
    ]
    if differ:
        return f"it has {', '.join(differ)}: install the same versions there"
    if code_here(wanted["lesson"]) != wanted["code"]:
        return "its course or its grader is not the one here: install the same version there"
    missing = missing_walls(setting_of(wanted["lesson"], hidden))
    return say_missing(missing) if missing else ""


@lru_cache(maxsize=2)
def _order(message: bytes, folder: str) -> Order:
    order = Order.from_bytes(message)
    return replace(order, job=replace(order.job, hidden=_hidden(folder)))


def _look_at_stacks(worker: Worker, wanted: bool) -> None:
    """Dask looks at a worker's stack a hundred times a second, and keeps an hour of that: hundreds of megabytes."""
    looking = worker.periodic_callbacks.get("profile")
    if looking is not None and looking.is_running() != wanted:  # a worker's own settings may do without
        worker.loop.add_callback(looking.start if wanted else looking.stop)


def _hidden(folder: str) -> tuple[str, ...]:
    """Dask keeps what does not fit into memory in a folder: other people's work. And whoever has its key is trusted."""
    keys = [dask.config.get(f"distributed.comm.tls.{role}.key", None) for role in ("worker", "scheduler", "client")]
    return zygotes.in_sight([folder, *(os.path.expanduser(key) for key in keys if key)])


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""
