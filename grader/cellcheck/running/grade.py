"""Grading one submission: a pure function from (notebook bytes, lesson, seed) to a result.

It needs no gradebook and no course folder. Nothing of what it knows (seed, cases) is in the process that runs the
learner's code, and what that process says is looked at in a third one, which is as disposable.
"""

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from cellcheck.authoring.spec import Lesson
from cellcheck.checking.judge import MISSING, PASSED, PUBLIC_SEED, Verdict, drawn
from cellcheck.checking.judge import without_score as zero
from cellcheck.running.assignment import Assignment
from cellcheck.running.blanks import sources
from cellcheck.running.cells import Cell
from cellcheck.running.hearing import Hearing
from cellcheck.running.intake import Unreadable, as_released, lesson_in, read_submission
from cellcheck.running.limits import Limits
from cellcheck.running.result import OwnResult, OwnTest, Result
from cellcheck.running.session import Question, Session
from cellcheck.running.setting import setting_of
from cellcheck.running.walk import TOLD, Walk
from cellcheck.syllabus import load_lesson


def grade(
    data: bytes,
    seed: int,
    *,
    lesson: str | None = None,
    name: str = "",
    files: Mapping[str, bytes] | None = None,
    limits: Limits | None = None,
    hidden: Iterable[str] = (),
) -> Result:
    """Grades a lesson's notebook; which lesson's, its cells tell.

    Args:
        data: the notebook's bytes.
        seed: what the hidden cases are drawn from.
        lesson: its lesson, for a notebook that does not tell.
        name: what to call it in the result.
        files: other files of the submission by name, which the notebook may import or read.
        limits: what it may use.
        hidden: folders and files that it must not see, beside the course's and the working folder.

    Raises:
        Unreadable: when there is nothing to grade.
    """
    its_lesson = lesson_in(data, lesson)
    assignment = Assignment.of_lesson(its_lesson)
    return grade_submission(
        {its_lesson.name: data}, assignment, seed, name=name, files=files, limits=limits, hidden=hidden
    )


def grade_submission(
    notebooks: Mapping[str, bytes | Unreadable],
    assignment: Assignment,
    seed: int = 0,
    *,
    name: str = "",
    files: Mapping[str, bytes] | None = None,
    limits: Limits | None = None,
    hidden: Iterable[str] = (),
) -> Result:
    """Grades what was handed in of an assignment, each notebook in a process of its own.

    Its cells run in order. A test that asks for an exercise is answered by a judge, and another one by its own cell,
    which runs beside the learner's code.

    Args:
        notebooks: by name. Of one that is not here, or can't be read, nothing is right.
        assignment: what they are notebooks of.
        seed: what the hidden cases are drawn from.
        name: what to call the submission in the result.
        files: other files of the submission, by path. The assignment's own go before them.
        limits: what each notebook may use.
        hidden: folders and files that they must not see, beside the course's and the working folder.

    Raises:
        Unreadable: when none of the notebooks can be read.
    """
    start = time.monotonic()
    limits = limits or Limits()
    files = {**(files or {}), **assignment.files}
    limits = replace(limits, file_bytes=limits.file_bytes + sum(map(len, files.values())))
    graded = [
        _notebook(assignment, title, _handed_in(notebooks, title), _Terms(seed, files, limits, tuple(hidden)))
        for title in assignment.notebooks
    ]
    repairs = tuple(line for part in graded for line in part.repairs)
    if not any(part.readable for part in graded):
        raise Unreadable(" ".join(repairs))
    return Result(
        name,
        assignment.name,
        tuple(verdict for part in graded for verdict in part.verdicts),
        repairs,
        time.monotonic() - start,
        tuple(test for part in graded for test in part.own_tests),
        # Where there are several notebooks, a cell's number would not say which cell it is.
        () if assignment.several else tuple(took for part in graded for took in part.took),
    )


@dataclass(frozen=True)
class _Terms:
    """What is the same for all notebooks of a submission."""

    seed: int
    files: Mapping[str, bytes]
    limits: Limits
    hidden: tuple[str, ...]


@dataclass(frozen=True)
class _Graded:
    """What came of one notebook."""

    verdicts: tuple[Verdict, ...]
    own_tests: tuple[OwnResult, ...]
    repairs: tuple[str, ...]
    took: tuple[tuple[int, float], ...] = ()
    readable: bool = True


def _handed_in(notebooks: Mapping[str, bytes | Unreadable], title: str) -> bytes | Unreadable:
    return notebooks.get(title, Unreadable(f"There is no {title}.ipynb in what was handed in."))


def _notebook(assignment: Assignment, title: str, data: bytes | Unreadable, terms: _Terms) -> _Graded:
    where = f"{title}: " if assignment.several else ""
    exercises, tests = assignment.exercises(title), assignment.tests(title)
    try:
        if isinstance(data, Unreadable):
            raise data
        cells, repairs = as_released(data, assignment, title)
    except Unreadable as error:
        message = str(error)
        verdicts = tuple(zero(exercise, MISSING, message) for exercise in exercises)
        own = tuple(test.result(0.0, MISSING, message) for test in tests)
        return _Graded(verdicts, own, (f"{where}{message}",), readable=False)
    steps = assignment.steps(title, cells)
    if assignment.lesson is not None and exercises:
        marks, words = _judged(assignment.lesson, steps, terms)
    else:
        with Session(setting_of(None, terms.hidden), terms.limits) as session:
            marks = words = Walk(session)
            marks.go(steps, terms.files)
    verdicts = tuple(_verdict(exercise.symbol, marks, words) for exercise in exercises)
    own_tests = {result.name: result for result in words.own}
    # In the order of the tests: a learner may have moved cells.
    own = tuple(own_tests[test.name] for test in tests)
    return _Graded(verdicts, own, tuple(where + line for line in (*repairs, *words.troubles)), tuple(marks.took))


def _judged(lesson: Lesson, steps: Sequence[Cell | str | OwnTest], terms: _Terms) -> tuple[Walk, Walk]:
    """The walk that gives the marks, and the one that gives the words."""
    name = lesson.name
    with (
        Session(setting_of(name, terms.hidden), terms.limits) as session,
        Hearing(name, terms.seed, terms.hidden) as hearing,
    ):
        marks = Walk(session, lesson.exercises, hearing, _questions(name, terms.seed), _sources(name))
        marks.go(steps, terms.files)
        if not marks.left_to_say and not marks.own:
            return marks, marks
        # That process has met hidden cases, so no word of it reaches a learner. A fresh one has not.
        words = Walk(session, lesson.exercises, hearing, _questions(name, PUBLIC_SEED), _sources(name), marks)
        words.go(steps, terms.files)
        return marks, words


def passes(data: bytes, lesson: str, symbol: str, limits: Limits | None = None) -> bool:
    """Whether a notebook's answer to one exercise passes on the public cases. Nothing else of it is asked for.

    Raises:
        Unreadable: when it isn't a notebook of this lesson.
    """
    plan = read_submission(data, lesson)
    steps = [step for step in plan.steps if isinstance(step, Cell) or step == symbol]
    steps = steps[: steps.index(symbol) + 1]
    name, exercises = plan.lesson.name, plan.lesson.exercises
    with Session(setting_of(name), limits or Limits()) as session, Hearing(name, PUBLIC_SEED) as hearing:
        walk = Walk(session, exercises, hearing, _questions(name, PUBLIC_SEED), _sources(name))
        walk.go(steps, {})
        return walk.verdicts[symbol].status == PASSED


def prepare(lesson: str, seed: int) -> None:
    """Draws a lesson's hidden cases and has a process see what is right there: the first submission would wait for it.

    Raises:
        UnknownLesson: when there is no such lesson.
        GraderError: when its folder is at fault.
    """
    lesson_name = load_lesson(lesson).name
    with Hearing(lesson_name, seed) as hearing:
        hearing.begin()
    _questions(lesson_name, seed)


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
