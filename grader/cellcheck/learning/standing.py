"""Where a learner stands: the lessons in their folder, held against what they have solved."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from itertools import takewhile
from pathlib import Path

from cellcheck.learning import progress
from cellcheck.learning.offers import Offer, OfferedExercise, offers, released


@dataclass(frozen=True)
class LessonStanding:
    """How far a learner is with one lesson."""

    offer: Offer
    best: Mapping[str, float]
    notebook: Path | None
    """The learner's own notebook; None where there is none yet."""
    again: Mapping[str, float] = field(default_factory=dict)
    """What another try has earned, without help, by symbol."""
    ours: Collection[str] = ()
    """Where the learner went on with the course's own answer."""
    touched: date = date.min
    """When an exercise was last solved, or left to the course's own answer, as far as that is known."""

    @property
    def points(self) -> float:
        """What was earned; a record of an older course can't exceed what an exercise gives today."""
        return sum(self.earned(exercise) for exercise in self.offer.exercises)

    @property
    def done(self) -> int:
        """How many exercises have full marks."""
        return sum(self._full(exercise) for exercise in self.offer.exercises)

    @property
    def next(self) -> OfferedExercise | None:
        """What to go on with: what comes after the last that is settled, then what was passed over."""
        exercises = self.offer.exercises
        last = max((place for place, each in enumerate(exercises) if self._is_settled(each)), default=-1)
        return next(iter([*filter(self._is_open, exercises[last + 1 :]), *self.open]), None)

    @property
    def open(self) -> list[OfferedExercise]:
        """The exercises without full marks that the learner hasn't left to the course's own answer."""
        return [exercise for exercise in self.offer.exercises if self._is_open(exercise)]

    @property
    def tried_again(self) -> int:
        """How many exercises were tried another time, without help."""
        return sum(exercise.symbol in self.again for exercise in self.offer.exercises)

    @property
    def still_known(self) -> int:
        """How many of them had full marks."""
        return sum(self.again.get(each.symbol, -1.0) >= each.points - 1e-9 for each in self.offer.exercises)

    @property
    def begun(self) -> bool:
        """Whether anything was earned yet, or left to the course's own answer."""
        return self.points > 0 or bool(self.ours)

    def earned(self, exercise: OfferedExercise) -> float:
        """What an exercise gave."""
        return min(self.best.get(exercise.symbol, 0.0), exercise.points)

    def _is_settled(self, exercise: OfferedExercise) -> bool:
        return self._full(exercise) or exercise.symbol in self.ours

    def _is_open(self, exercise: OfferedExercise) -> bool:
        return not self._is_settled(exercise)

    def _full(self, exercise: OfferedExercise) -> bool:
        return self.earned(exercise) >= exercise.points - 1e-9


def standings(folder: Path) -> list[LessonStanding]:
    """Where the learner of this folder stands, lesson by lesson."""
    record = progress.record(folder)
    return [
        LessonStanding(
            offer,
            record.best.get(offer.name, {}),
            own_notebook(folder, offer.name),
            record.again.get(offer.name, {}),
            record.ours.get(offer.name, {}),
            max([date.min, *record.solved.get(offer.name, {}).values(), *record.ours.get(offer.name, {}).values()]),
        )
        for offer in offers()
    ]


def next_up(standings: Sequence[LessonStanding]) -> LessonStanding | None:
    """The lesson to go on with: the one that the learner was last at, then those after it, then what was passed over.

    None when nothing is left here.
    """
    here = [standing for standing in standings if standing.notebook is not None]
    begun = [(standing.touched, place) for place, standing in enumerate(here) if standing.begun]
    last = max(begun)[1] if begun else 0
    return next((standing for standing in [*here[last:], *here[:last]] if standing.next is not None), None)


def passed_over(
    standings: Sequence[LessonStanding], here: LessonStanding
) -> list[tuple[Offer, OfferedExercise, float]]:
    """What is still open in begun lessons before the exercise to go on with, and what it gave so far."""
    waiting = [
        (standing, exercise)
        for standing in standings
        if standing.begun or standing is here
        for exercise in standing.open
    ]
    before = takewhile(lambda each: each[1] is not here.next, waiting)
    return [(standing.offer, exercise, standing.earned(exercise)) for standing, exercise in before]


def own_notebook(folder: Path, lesson: str) -> Path | None:
    """The learner's notebook of a lesson: in the lesson's folder, or beside the others."""
    places = (folder / lesson / f"{lesson}.ipynb", folder / f"{lesson}.ipynb")
    return next((path for path in places if _is_file(path)), None)


def course_folder(start: Path) -> Path | None:
    """The folder with the learner's lessons, around or just below `start`; None when there is none.

    One that holds a record goes first: in the repository that is the learner's copy, not the release.
    """
    holding = [folder for folder in _around(start) if any(own_notebook(folder, name) for name in released())]
    return next((folder for folder in holding if _is_file(folder / progress.FILE)), next(iter(holding), None))


def _around(start: Path) -> Iterator[Path]:
    if start.name in released():
        yield start.parent
    yield start
    try:
        yield from sorted(path for path in start.iterdir() if path.is_dir() and not path.name.startswith("."))
    except OSError:
        return


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a folder that is not ours to look into
        return False
