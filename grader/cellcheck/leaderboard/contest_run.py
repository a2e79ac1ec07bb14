"""A whole class, one entry after the other or several at a time. What goes wrong with one costs that one only."""

import threading
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from cellcheck.authoring.contest import Contest
from cellcheck.errors import GraderError
from cellcheck.leaderboard.earlier_run import Earlier
from cellcheck.leaderboard.entries import read_entry
from cellcheck.leaderboard.entry_files import EntryRefused
from cellcheck.leaderboard.scoring import Outcome, score
from cellcheck.running import zygotes
from cellcheck.running.setting import Setting


@dataclass(frozen=True)
class ContestRun:
    """How a class is scored: the same for all of it."""

    lesson: str
    contest: Contest
    setting: Setting
    seed: int
    jobs: int = 1
    earlier: Earlier | None = None
    """What need not be scored again, unless it has changed."""


def score_all(folders: Mapping[str, Path], run: ContestRun) -> Generator[Outcome, None, None]:
    """Scores the entries in these folders, and yields what came of each as soon as it is known.

    What an earlier run found comes first. Whoever stops listening, by Ctrl-C, an error or `close()`, stops the work.
    """
    left = dict(folders)
    for name, folder in folders.items() if run.earlier is not None else ():
        outcome = _known(name, folder, run)
        if outcome is not None:
            del left[name]
            yield outcome
    workers: set[int] = set()

    def one(name: str, folder: Path) -> Outcome:
        workers.add(threading.get_ident())
        try:
            return score(read_entry(name, folder, run.contest), run.contest, run.setting, run.seed)
        except (EntryRefused, GraderError) as error:
            return Outcome(name, refused=str(error))
        except Exception as error:  # a fault of ours must not cost the others their places
            why = f"The grader itself failed ({type(error).__name__}: {error}). Please report it."
            return Outcome(name, refused=why)

    with ThreadPoolExecutor(run.jobs) as pool:
        try:
            for done in as_completed([pool.submit(one, name, folder) for name, folder in left.items()]):
                yield done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            zygotes.end_work_of(workers)  # what is being scored ends at once
            raise


def _known(name: str, folder: Path, run: ContestRun) -> Outcome | None:
    try:
        return run.earlier.of(name, read_entry(name, folder, run.contest).digest) if run.earlier is not None else None
    except EntryRefused:
        return None
