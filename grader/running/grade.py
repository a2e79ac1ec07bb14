"""Grading one submission: a pure function from (notebook bytes, lesson, seed) to a result.

It needs no gradebook and no course folder. Nothing of what it knows (seed, cases) is in the process that runs the
learner's code, and what that process says is looked at in a third one, which is as disposable.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache

from grader.checking.judge import MISSING, PASSED, PUBLIC_SEED, Verdict, drawn
from grader.checking.judge import without_score as zero
from grader.running.assignment import Assignment, steps, whole
from grader.running.blanks import sources
from grader.running.hearing import Hearing
from grader.running.intake import Unreadable, read_submission
from grader.running.limits import Limits
from grader.running.reader import read_apart
from grader.running.result import OwnResult, OwnTest, Result
from grader.running.session import Question, Session
from grader.running.setting import setting_of
from grader.running.walk import TOLD, Walk
from grader.syllabus import load_lesson


def grade(
    data: bytes,
    seed: int,
    *,
    lesson: str | None = None,
    name: str = "",
    files: Mapping[str, bytes] | None = None,
    own_tests: Iterable[OwnTest] = (),
    limits: Limits | None = None,
    hidden: Iterable[str] = (),
) -> Result:
    """Grades a notebook.

    Args:
        data: the notebook's bytes.
        seed: what the hidden cases are drawn from.
        lesson: its lesson, for a notebook that does not tell.
        name: what to call it in the result.
        files: other files of the submission by name, which the notebook may import or read.
        own_tests: test cells that aren't a `check`. Each runs in its own place, in the learner's process.
        limits: what it may use.
        hidden: folders and files that it must not see, beside the course's and the working folder.

    Raises:
        Unreadable: when there is nothing to grade.
    """
    start = time.monotonic()
    own_tests = tuple(own_tests)
    submission = read_submission(data, lesson, own_tests)
    found = submission.lesson
    setting = setting_of(found.name, hidden)
    with Session(setting, limits or Limits()) as session, Hearing(found.name, seed, hidden) as hearing:
        marks = Walk(session, found.exercises, hearing, _questions(found.name, seed), _sources(found.name))
        marks.go(submission.steps, files or {})
        words = marks
        if marks.left_to_say or own_tests:
            # That process has met hidden cases, so no word of it reaches a learner. A fresh one has not.
            public = _questions(found.name, PUBLIC_SEED)
            words = Walk(session, found.exercises, hearing, public, _sources(found.name), marks)
            words.go(submission.steps, files or {})
    verdicts = tuple(_verdict(exercise.symbol, marks, words) for exercise in found.exercises)
    repairs = (*submission.repairs, *words.troubles)
    own = _in_order(own_tests, words.own)
    return Result(name, found.name, verdicts, repairs, time.monotonic() - start, own, tuple(marks.took))


def grade_plain(
    notebooks: Mapping[str, bytes | Unreadable],
    assignment: Assignment,
    *,
    name: str = "",
    files: Mapping[str, bytes] | None = None,
    limits: Limits | None = None,
    hidden: Iterable[str] = (),
    needed: bool = True,
) -> Result:
    """Grades plain notebooks, each in a process of its own, in which its cells and tests run in order.

    Args:
        notebooks: what was handed in of an assignment's notebooks, by name. Of one that is not here, no test is passed.
        assignment: what they are notebooks of.
        name: what to call the submission in the result.
        files: other files of the submission, by path.
        limits: what each notebook may use.
        hidden: as in `grade`.
        needed: whether at least one notebook must be there.

    Raises:
        Unreadable: when there is nothing to grade.
    """
    start = time.monotonic()
    own: list[OwnResult] = []
    repairs: list[str] = []
    took: list[tuple[int, float]] = []
    graded = 0
    limits, setting = limits or Limits(), setting_of(None, hidden)
    limits = replace(limits, file_bytes=limits.file_bytes + sum(map(len, assignment.files.values())))
    several = assignment.several
    for title, source in assignment.notebooks.items():
        tests, where = assignment.tests(title), f"{title}: " if several else ""
        found = notebooks.get(title, Unreadable(f"There is no {title}.ipynb in what was handed in."))
        try:
            if isinstance(found, Unreadable):
                raise found
            cells, said = whole(read_apart("cells", found), source)
        except Unreadable as error:
            repairs.append(f"{where}{error}")
            own += [test.result(0.0, MISSING, str(error)) for test in tests]
            continue
        graded += 1
        with Session(setting, limits) as session:
            walk = Walk(session)
            walk.go(steps(cells, tests, assignment.skipped), {**(files or {}), **assignment.files})
        own += _in_order(tests, walk.own)
        repairs += [where + line for line in (*said, *walk.troubles)]
        took += walk.took
    if needed and not graded:
        raise Unreadable(" ".join(repairs))
    seconds = time.monotonic() - start
    # Where there are several notebooks, a cell's number would not say which cell it is.
    return Result(name, assignment.name, (), tuple(repairs), seconds, tuple(own), () if several else tuple(took))


def prepare(lesson: str, seed: int) -> None:
    """Draws a lesson's hidden cases and has a process see what is right there: the first submission would wait for it.

    Raises:
        UnknownLesson: when there is no such lesson.
        GraderError: when its folder is at fault.
    """
    found = load_lesson(lesson).name
    with Hearing(found, seed) as hearing:
        hearing.begin()
    _questions(found, seed)


def _in_order(tests: Iterable[OwnTest], results: Iterable[OwnResult]) -> tuple[OwnResult, ...]:
    """The results in the order of the tests: a learner may have moved cells."""
    by_name = {result.name: result for result in results}
    return tuple(by_name[test.name] for test in tests)


# Some versions of Python mix two threads up that parse at the same time: "AST constructor recursion depth mismatch"
# (python/cpython issue 106905). And whatever two threads prepare at once is prepared twice.
_PREPARING = threading.Lock()


def _questions(lesson: str, seed: int) -> dict[str, Question]:
    """By symbol, what learners' code is asked; made by whoever comes first, for a whole batch."""
    with _PREPARING:
        return _drawn(lesson, seed)


@lru_cache(maxsize=16)
def _drawn(lesson: str, seed: int) -> dict[str, Question]:
    return {e.symbol: Question.of(e.symbol, drawn(e, seed), seed) for e in load_lesson(lesson).exercises}


def _sources(lesson: str) -> dict[str, dict[str, str]]:
    with _PREPARING:
        return _texts(lesson)


@lru_cache(maxsize=16)
def _texts(lesson: str) -> dict[str, dict[str, str]]:
    return sources({e.symbol: e.references[0] for e in load_lesson(lesson).exercises})


def _verdict(symbol: str, marks: Walk, words: Walk) -> Verdict:
    """The mark of the hidden cases, in words that no process has said that has seen one."""
    verdict = marks.verdicts[symbol]
    if verdict.status == MISSING and symbol in marks.failures:
        exercise = next(e for e in marks.exercises if e.symbol == symbol)
        return zero(exercise, *words.failures.get(symbol, marks.failures[symbol]))
    if verdict.status in TOLD:
        verdict = without_hidden_cases(verdict, words.verdicts[symbol])
    return verdict


def without_hidden_cases(verdict: Verdict, public: Verdict) -> Verdict:
    """The hidden cases' verdict, in the words and with the evidence of the public ones, which the learner can see."""
    if public.status != PASSED:
        # Only the hidden cases may tell which mistake it is: what its author says to those who make it is no secret.
        message = public.message if public.advice else " ".join(filter(None, (verdict.advice, public.message)))
        diagnosis = verdict.diagnosis or public.diagnosis
        return replace(verdict, message=message, diagnosis=diagnosis, evidence=public.evidence)
    fails = " and ".join(aspect.name for aspect in verdict.aspects if not aspect.passed)
    message = f"{verdict.symbol} passes the notebook's own check, but not the hidden cases: {fails}."
    hint = verdict.advice or ("" if verdict.patients else "Does it work for every shape and every number?")
    return replace(verdict, message=" ".join(filter(None, (message, hint, verdict.patients))), evidence=None)
