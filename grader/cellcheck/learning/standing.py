"""Where a learner stands: the lessons in their folder, held against what they have solved."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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

    @property
    def points(self) -> float:
        """What was earned; a record of an older course can't exceed what an exercise gives today."""
        return sum(self._earned(exercise) for exercise in self.offer.exercises)

    @property
    def done(self) -> int:
        """How many exercises have full marks."""
        return sum(self._full(exercise) for exercise in self.offer.exercises)

    @property
    def next(self) -> OfferedExercise | None:
        """The first exercise without full marks; None when all are done."""
        return next((exercise for exercise in self.offer.exercises if not self._full(exercise)), None)

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
        """Whether anything was earned yet."""
        return self.points > 0

    def _earned(self, exercise: OfferedExercise) -> float:
        return min(self.best.get(exercise.symbol, 0.0), exercise.points)

    def _full(self, exercise: OfferedExercise) -> bool:
        return self._earned(exercise) >= exercise.points - 1e-9


def standings(folder: Path) -> list[LessonStanding]:
    """Where the learner of this folder stands, lesson by lesson."""
    known = progress.record(folder)
    return [
        LessonStanding(
            offer,
            known.best.get(offer.name, {}),
            own_notebook(folder, offer.name),
            known.again.get(offer.name, {}),
        )
        for offer in offers()
    ]


def next_up(standings: Sequence[LessonStanding]) -> LessonStanding | None:
    """The lesson to go on with: one that is begun, else the first that is not done; None when none is here."""
    open_ones = [standing for standing in standings if standing.notebook is not None and standing.next is not None]
    return next((standing for standing in open_ones if standing.begun), next(iter(open_ones), None))


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
