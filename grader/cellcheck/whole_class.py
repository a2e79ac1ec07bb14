"""A whole class, from Python: what `cellcheck autograde` and `cellcheck leaderboard` do. docs/api.md shows how."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Collection, Generator, Iterable, Mapping
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from cellcheck.api import check_numbers, get_ready, hidden_seed
from cellcheck.errors import GraderError

if TYPE_CHECKING:
    from cellcheck.cluster.client import Cluster
    from cellcheck.gradebook.report import Progress, Report
    from cellcheck.leaderboard.contest_run import ContestRun
    from cellcheck.leaderboard.standings import Standings
    from cellcheck.running.limits import Limits


def autograde(
    course: str | os.PathLike[str],
    assignment: str,
    *,
    seed: int | None = None,
    jobs: int = 1,
    resume: bool = False,
    again: Collection[str] = (),
    cluster: str | None = None,
    limits: Limits | None = None,
    require_sandbox: bool = False,
    progress: Callable[[Progress], object] | None = None,
) -> Report:
    """Grades all that a class handed in: nbgrader's `submitted/` into its gradebook, `autograded/` and `feedback/`.

    Whatever stops it, Ctrl-C or an error, what has been graded is kept: call it again with `resume=True`.

    Args:
        course: the folder of an nbgrader course.
        assignment: a lesson, such as "01_my_topic" or "01", or the name of an assignment of your own in that course.
        seed: what the hidden cases are drawn from, 0 or more; a new one is drawn unless given.
        jobs: how many to grade at a time, each in a process of its own.
        resume: whether to leave as it is what an earlier run has graded, and go on with its seed. What was handed in
            anew since is graded.
        again: learners to grade again all the same, with `resume`.
        cluster: the address of a Dask cluster's scheduler, or its scheduler file, to grade there instead of here.
        limits: what a notebook may use. In an assignment of your own, a cell has the time that nbgrader gives, unless
            you say otherwise.
        require_sandbox: whether to refuse where a protection is missing. Otherwise there is a warning of the category
            `MissingProtection`. On a cluster, a worker that lacks one is never used.
        progress: is called with each piece of news, in this thread. What it raises stops the run.

    Raises:
        GraderError: when there is no such course or assignment, nobody has handed in, another grader is at work, a
            required protection is missing, `resume` meets another seed, or the run can't go on: no room on the disk, or
            no worker any more.
        ValueError: for a negative seed, fewer jobs than one, several on a cluster, which decides for itself, or `again`
            without `resume`, which grades everybody again.
    """
    check_numbers(seed, jobs)
    if again and not resume:
        raise ValueError("without resume, everybody is graded again: leave again out")
    if cluster is not None and jobs != 1:
        raise ValueError("jobs is for this machine; on a cluster, its workers' threads decide")
    get_ready(jobs if cluster is None else 0)
    from cellcheck.batch import Job
    from cellcheck.gradebook.autograde import autograde_assignment, plain_limits
    from cellcheck.gradebook.course import Course, find_assignment
    from cellcheck.gradebook.journal import Journal
    from cellcheck.gradebook.report import Progress
    from cellcheck.running.limits import Limits
    from cellcheck.running.protection import check_walls
    from cellcheck.running.setting import setting_of
    from cellcheck.running.zygotes import in_sight

    root = Path(course).resolve()
    name, lesson = find_assignment(root, assignment)
    opened = Course.open(root)
    hidden = in_sight(opened.folders())
    journal = Journal(root, name)
    if resume and seed is not None and journal.go_on() and journal.seed != seed:
        raise GraderError(
            f"Resuming goes on with the seed that the run began with, {journal.seed}: leave the seed out."
        )
    if cluster is None:
        check_walls(setting_of(name if lesson else None, hidden), require_sandbox)
    limits = limits or (Limits() if lesson else plain_limits(opened, name))
    job = Job(hidden_seed() if seed is None else seed, name, jobs, limits, hidden=hidden)
    tell = progress or (lambda news: None)
    with _on(cluster, lambda line: tell(Progress(notes=(line,)))) as grading:
        return autograde_assignment(
            opened, name, job, tell, plain=lesson is None, resume=resume, again=again, grading=grading
        )


def _on(address: str | None, say: Callable[[str], object]) -> AbstractContextManager[Cluster | None]:
    """Where to grade: a cluster, or this machine.

    Raises:
        GraderError: when there is no such cluster, or a package is missing.
    """
    if address is None:
        return nullcontext()
    try:
        from cellcheck.cluster.client import connected
    except ModuleNotFoundError as error:
        raise GraderError(
            f"A cluster needs the package {error.name}, which isn't installed: install the course with its extra "
            "`cluster`."
        ) from error
    return connected(address, say)


def score_entries(
    lesson: str,
    places: Iterable[str | os.PathLike[str]] = (),
    *,
    course: str | os.PathLike[str] = ".",
    seed: int | None = None,
    jobs: int = 1,
    table: str | os.PathLike[str] | None = None,
    resume: bool = False,
    require_sandbox: bool = False,
) -> Generator[Standings, None, None]:
    """Scores the models that a class handed in to a lesson's contest, and yields who comes where.

    The first standings come before anything is scored, then new ones as soon as an entry is; the last are final. An
    entry whose turn hasn't come has no place yet. Closing the generator ends the work.

    Args:
        lesson: a lesson with a contest.
        places: entries' own folders, or folders with one for each learner; the course's `submitted/` unless given.
        course: the folder of an nbgrader course. It need not be one where `places` are given.
        seed: what the hidden problems are drawn from; a new one is drawn unless given.
        jobs: how many to score at a time.
        table: a file that the standings are written to, as JSON, each time there are new ones.
        resume: whether to go on with what stands in `table`: what has a place there and hasn't changed keeps it.
        require_sandbox: as for `autograde`.

    Raises:
        GraderError: at once, when there is no such lesson, contest or place, no entry, a required protection is
            missing, or `table` can't be written or gone on with. Later, when `table` can't be written any more.
        ValueError: for a negative seed, fewer jobs than one, or `resume` without `table`.
    """
    if resume and table is None:
        raise ValueError("resume goes on with a table in a file: name it")
    check_numbers(seed, jobs)
    get_ready(jobs)
    from cellcheck.gradebook.course import Course
    from cellcheck.leaderboard.contest_run import ContestRun
    from cellcheck.leaderboard.earlier_run import earlier
    from cellcheck.leaderboard.entries import find_entries
    from cellcheck.leaderboard.find_contest import load_contest
    from cellcheck.running.protection import check_walls
    from cellcheck.running.zygotes import in_sight

    name, contest, setting = load_contest(lesson)
    root, file = Path(course).resolve(), None if table is None else Path(table)
    chosen = [Path(place) for place in places]
    opened = Course.open(root) if not chosen or Course.is_one(root) else None
    if not chosen:
        assert opened is not None
        chosen = [opened.submitted()]
    folders = find_entries(chosen, contest, name)
    if not folders:
        raise GraderError(
            f"There is no {contest.folder}/{contest.code} of {name} in {', '.join(map(str, chosen))}. "
            "Collect what was handed in, or name a folder with entries."
        )
    folders_of_course = opened.folders() if opened is not None else []
    setting = replace(setting, hidden=in_sight([*folders_of_course, *chosen]))
    check_walls(setting, require_sandbox)
    before = None
    if file is not None:
        if not os.access(file.parent, os.W_OK):  # rather than when all is done
            raise GraderError(f"{file} can't be written: name a file in a folder that you may write to.")
        before = earlier(file, name, contest) if resume else None
    if before is not None:
        if seed not in (None, before.seed):
            raise GraderError(f"The run in {file} began with seed {before.seed}: leave the seed out.")
        seed = before.seed
    # An entry sees what is drawn for its training, and has two minutes to find out from which seed: so it's a long one.
    seed = secrets.randbits(53) if seed is None else seed
    return _scored(folders, ContestRun(name, contest, setting, seed, jobs, before), file)


def _scored(folders: Mapping[str, Path], run: ContestRun, file: Path | None) -> Generator[Standings, None, None]:
    from cellcheck.leaderboard.contest_run import score_all
    from cellcheck.leaderboard.scoring import Outcome
    from cellcheck.leaderboard.standings import Standings

    waiting = {one: Outcome(one, refused="The run was stopped before its turn.") for one in folders}
    standings = Standings(run.lesson, run.contest, run.seed, waiting)
    try:
        yield standings
        with closing(score_all(folders, run)) as scored:
            for outcome in scored:
                standings = standings.with_one_more(outcome)
                scored_before = run.earlier is not None and outcome in run.earlier.outcomes.values()
                if file is not None and not scored_before:  # a power cut costs no more than what is being scored
                    _write(standings, file)
                yield standings
    finally:
        if file is not None:
            _write(standings, file)


def _write(standings: Standings, file: Path) -> None:
    """Writes the standings in one step: what was there stays until all of it is written.

    Raises:
        GraderError: when it can't be written.
    """
    import json

    from cellcheck.files import write_whole

    try:
        write_whole(file, json.dumps(standings.to_json(), indent=1) + "\n")
    except OSError as error:
        raise GraderError(f"{file} can't be written: {error.strerror}.") from error
