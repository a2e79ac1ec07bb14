"""Finding a lesson's contest, and saying what the process that its entries run in must know."""

from __future__ import annotations

from dataclasses import replace

from grader.authoring.contest import Contest
from grader.errors import GraderError
from grader.running.setting import PLAIN, Setting
from grader.syllabus import MissingPackage, find_lesson, lesson_names, library_of, load_lesson

WITHIN = "grader.leaderboard.within"


def load_contest(name: str) -> tuple[str, Contest, Setting]:
    """A lesson's full name, its contest, and the setting that entries run in ("01" will do).

    Entries may use the whole library: unlike in a notebook that is graded, none of its symbols is blank.

    Raises:
        UnknownLesson: when there is no such lesson.
        GraderError: when it has no contest, or its folder is at fault.
    """
    syllabus, full = find_lesson(name)
    found = contest_of(full)
    if found is None:
        raise GraderError(f"Lesson {full} has no contest, so there is no table to make: name a lesson that has one.")
    return full, found, entry_setting(str(syllabus.root), syllabus.package, library_of(load_lesson(full)))


def contest_of(name: str) -> Contest | None:
    """A lesson's contest, if it has one.

    Raises:
        UnknownLesson: when there is no such lesson.
        GraderError: when its contest.py is at fault.
    """
    syllabus, full = find_lesson(name)
    if not syllabus.has(full, "contest"):
        return None
    found = getattr(syllabus.part(full, "contest"), "CONTEST", None)
    if not isinstance(found, Contest):
        raise GraderError(
            f"{syllabus.place(full) / 'contest.py'} should define CONTEST, a grader.authoring.contest.Contest."
        )
    return found


def entry_folders() -> frozenset[str]:
    """What the folders are called that entries stand in, in all lessons here that have a contest."""
    found = set()
    for name in lesson_names():
        try:
            contest = contest_of(name)
        except MissingPackage:  # nobody can score it here, but all the rest can be collected
            continue
        if contest is not None:
            found.add(contest.folder)
    return frozenset(found)


def entry_setting(root: str, lessons: str, library: tuple[str, ...]) -> Setting:
    """The setting of entries: a course's whole library, and of its lessons nothing."""
    return replace(PLAIN, root=root, lessons=lessons, probes=(WITHIN,), library=library)
