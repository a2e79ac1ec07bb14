"""A process that grades: it takes work from the queue, one at a time, for as long as the service lives.

The engine's walls stand between it and what learners wrote, as everywhere: their code runs in one disposable process,
what it says is looked at in another, and a notebook is parsed in a third.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from traceback import format_tb
from types import FrameType

from sqlalchemy.exc import SQLAlchemyError

from cellcheck.errors import GraderError
from cellcheck.serving.queue import LEASE_SECONDS, Leased, Queue
from cellcheck.serving.store import DATABASE, open_store

REST_SECONDS = 0.5
"""How long an idle worker waits before it looks again."""
PARENT_SECONDS = 2.0


log = logging.getLogger("cellcheck.serving")


def main(place: str, name: str, parent: int, require_sandbox: bool) -> int:
    """Grades until it is told to stop by SIGTERM, or its parent is gone."""
    stopping = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        stopping.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the parent, which tells us
    threading.Thread(target=_end_with, args=(parent, stopping), daemon=True).start()
    queue = Queue(open_store(place), worker=name)
    while not stopping.is_set():
        work = queue.take()
        if work is None:
            stopping.wait(REST_SECONDS)
        else:
            grade_one(queue, work, require_sandbox=require_sandbox)
    return 0


def grade_one(queue: Queue, work: Leased, *, require_sandbox: bool) -> bool:
    """Grades what was leased, and writes what came of it; False where it has become somebody else's meanwhile."""
    from cellcheck.api import grade_notebook
    from cellcheck.gradebook.feedback import failure_page, page
    from cellcheck.running.intake import Unreadable, lesson_in

    over = threading.Event()
    threading.Thread(target=_keep, args=(queue, work, over), daemon=True).start()
    try:
        # What comes of it is written outside of `try`: that the database is away is no fault of the notebook's.
        its_own = lesson_in(work.notebook, work.lesson).name
        if its_own != work.lesson:  # said at once: grading the wrong one would take a minute
            raise Unreadable(f"This is a notebook of {its_own}, not of {work.lesson}. Hand in the right one.")
        result = grade_notebook(work.notebook, lesson=work.lesson, seed=work.seed, require_sandbox=require_sandbox)
        shown = page(result, work.who, answers=_answers(work))
    except Unreadable as error:
        message = str(error)
    except GraderError as error:  # of this machine, not of this notebook
        message = f"It could not be graded here: {error}"
    except Exception as error:  # must not cost the others their marks
        # What it says is for whoever runs the service, and even there without words that may be a learner's.
        log.error("the grader failed: %s\n%s", type(error).__name__, "".join(format_tb(error.__traceback__)))
        message = "The grader itself failed. Your instructor sees that too."
    else:
        return queue.finish(work, result.score, result.max_score, json.dumps(result.to_json()), shown)
    finally:
        over.set()
    return queue.fail(work, message, failure_page(work.lesson, work.who, message))


def _answers(work: Leased) -> Mapping[str, str]:
    """The code that was handed in, by exercise; the notebook is parsed in a process of its own."""
    from cellcheck.running.assignment import Assignment
    from cellcheck.running.intake import as_released
    from cellcheck.syllabus import load_lesson

    lesson = load_lesson(work.lesson)
    cells, _ = as_released(work.notebook, Assignment.of_lesson(lesson), lesson.name)
    symbols = {exercise.symbol for exercise in lesson.exercises}
    return {cell.grade_id: cell.source for cell in cells if cell.grade_id in symbols}


def _keep(queue: Queue, work: Leased, over: threading.Event) -> None:
    """Renews the lease for as long as this process is at it."""
    while not over.wait(LEASE_SECONDS / 4):
        try:
            if not queue.renew(work):
                return
        except SQLAlchemyError as error:  # it may be back before the lease runs out
            log.warning("the database: %s", type(error).__name__)


def _end_with(parent: int, stopping: threading.Event) -> None:
    """A worker whose service was killed must not go on alone: the next service starts its own."""
    while not stopping.is_set():
        if os.getppid() != parent:
            stopping.set()
        time.sleep(PARENT_SECONDS)


if __name__ == "__main__":
    # The database's address may hold a password, and everybody on a machine can read what a process was started with.
    sys.exit(main(os.environ[DATABASE], sys.argv[1], int(sys.argv[2]), sys.argv[3] == "sandbox"))
