"""Finding a lesson's contest, and saying what the process that its entries run in must know."""

from dataclasses import replace

from cellcheck.authoring.contest import Contest
from cellcheck.errors import GraderError
from cellcheck.running.setting import PLAIN, Setting
from cellcheck.syllabus import MissingPackage, find_lesson, lesson_names, library_of, load_lesson

WITHIN = "cellcheck.leaderboard.within"


def load_contest(name: str) -> tuple[str, Contest, Setting]:
    """A lesson's full name, its contest, and the setting that entries run in ("01" will do).

    Entries may use the whole library: unlike in a notebook that is graded, none of its symbols is blank.

    Raises:
        UnknownLesson: when there is no such lesson.
        GraderError: when it has no contest, or its folder is at fault.
    """
    syllabus, full = find_lesson(name)
    contest = contest_of(full)
    if contest is None:
        raise GraderError(f"Lesson {full} has no contest, so there is no table to make: name a lesson that has one.")
    return full, contest, entry_setting(str(syllabus.root), syllabus.package, library_of(load_lesson(full)))


def contest_of(name: str) -> Contest | None:
    """A lesson's contest, if it has one.

    Raises:
        UnknownLesson: when there is no such lesson.
        GraderError: when its contest.py is at fault.
    """
    syllabus, full = find_lesson(name)
    if not syllabus.has(full, "contest"):
        return None
    contest = getattr(syllabus.part(full, "contest"), "CONTEST", None)
    if not isinstance(contest, Contest):
        raise GraderError(
            f"{syllabus.place(full) / 'contest.py'} should define CONTEST, a cellcheck.authoring.contest.Contest."
        )
    return contest


def entry_folders() -> frozenset[str]:
    """What the folders are called that entries stand in, in all lessons here that have a contest."""
    folders = set()
    for name in lesson_names():
        try:
            contest = contest_of(name)
        except MissingPackage:  # nobody can score it here, but all the rest can be collected
            continue
        if contest is not None:
            folders.add(contest.folder)
    return frozenset(folders)


def entry_setting(root: str, lessons: str, library: tuple[str, ...]) -> Setting:
    """The setting of entries: a course's whole library, and of its lessons nothing."""
    return replace(PLAIN, root=root, lessons=lessons, probes=(WITHIN,), library=library)
