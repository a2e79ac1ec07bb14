"""What a run says while it grades a class, and what came of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from rich.console import Console
from rich.markup import escape

from cellcheck.batch import progress
from cellcheck.gradebook.course import Course
from cellcheck.gradebook.writer import Writer
from cellcheck.running.result import Failure, Result
from cellcheck.syllabus import load_lesson

_T = TypeVar("_T")


@dataclass(frozen=True)
class Progress:
    """News of a run that grades a class."""

    done: int = 0
    """How many submissions this run has graded, or found that it can't."""
    total: int = 0
    """How many it has to grade; 0 while that isn't known yet."""
    student: str = ""
    """Whose submission was just done; empty where the news is not about one."""
    outcome: Result | Failure | None = None
    """What came of it."""
    notes: tuple[str, ...] = ()
    """What a person should read of it: sentences, such as what had to be put right in a notebook."""


Tell = Callable[[Progress], object]


class Outcomes(Mapping[str, Result | Failure]):
    """What came of each learner's submission, in the order of their names. Results are read from the journal."""

    def __init__(self, graded: Iterable[str], results: Mapping[str, Result]) -> None:
        self.failures: dict[str, Failure] = {}
        self.graded = set(graded)
        self._results = results

    def __getitem__(self, student: str) -> Result | Failure:
        if student in self.failures:
            return self.failures[student]
        if student not in self.graded:
            raise KeyError(student)
        return self._results[student]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.graded | self.failures.keys()))

    def __len__(self) -> int:
        return len(self.graded | self.failures.keys())


@dataclass(frozen=True)
class Report:
    """What came of grading a class.

    The results of a class may be larger than the memory: each is read from the course's folder when you ask for it. A
    later run writes them anew, and a report of an earlier one can't be read any more.
    """

    assignment: str
    """The full name of the lesson, or of the assignment of your own."""
    seed: int | None
    """What the hidden cases were drawn from; None for an assignment of your own, which has none."""
    outcomes: Mapping[str, Result | Failure]
    """By learner, what came of the submission when it was graded: in this run, or in the one that it went on with."""
    failures: Mapping[str, Failure]
    """By learner, why there are no marks; empty when everybody was graded."""
    notes: tuple[str, ...]
    """What else a person should know: sentences, on learners in the gradebook who have handed nothing in, say."""
    _course: Course = field(repr=False)

    @property
    def ok(self) -> bool:
        """Whether everything that was handed in has been graded, whatever the marks."""
        return not self.failures

    def standing(self) -> Iterator[tuple[str, Result | Failure]]:
        """The outcomes by learner as the gradebook has them now: with the points and comments that people gave.

        Raises:
            GraderError: when the gradebook can't be read.
        """
        return as_they_stand(self._course, self.assignment, self.outcomes, plain=self.seed is None)


def as_they_stand(
    course: Course, name: str, outcomes: Mapping[str, Result | Failure], *, plain: bool = False
) -> Iterator[tuple[str, Result | Failure]]:
    """The outcomes by learner as the gradebook has them: with the points and comments that people gave."""
    with course.gradebook() as gradebook:
        writer = Writer(course, gradebook, name, None if plain else load_lesson(name))
        for students in parts(sorted(outcomes)):
            standing = {student: outcomes[student] for student in students}
            stand = writer.standing({student: out for student, out in standing.items() if isinstance(out, Result)})
            yield from (standing | stand).items()


def parts(things: Sequence[_T], size: int = 200) -> Iterator[Sequence[_T]]:
    """Some at a time: memory stays flat however many there are."""
    return (things[start : start + size] for start in range(0, len(things), size))


@contextmanager
def watching(console: Console, what: str) -> Iterator[Tell]:
    """Shows the news that the yielded function is told: the notes, and how far the run is."""
    with ExitStack() as shown:
        advance: Callable[[str], None] | None = None

        def tell(news: Progress) -> None:
            nonlocal advance
            for line in news.notes:
                console.print(escape(line), highlight=False, soft_wrap=True)
            if advance is None and news.total:
                advance = shown.enter_context(progress(console, what, news.total))
            if advance is not None and news.student:
                advance(news.student)

        yield tell
