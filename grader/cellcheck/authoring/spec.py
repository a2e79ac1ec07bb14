"""An exercise is data: how to draw inputs, what is right, and which mistakes people make.

The check in the notebook, the grading on the server, the diagnosis, the partial credit and the tests of the
tests are all made from these descriptions. An exercise is two files named after its symbol: NAME.py has its `Trial`,
how it is tried, and may travel to the learner's process; NAME.md has all that knows answers, and never does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from cellcheck.authoring.calls import Probe
    from cellcheck.authoring.patients import Patient

# Plain data: None, bool, int, float, str, numpy arrays, torch tensors, and lists, tuples and dicts of those.
Value = Any
# What one probe saw, by name ("output", "gradients", "arguments", ...); {"error": {...}} when it raised.
Observation = dict[str, Value]
USUAL = frozenset({"usual"})
"""The tag of cases that have nothing special about them."""


@dataclass(frozen=True)
class Case:
    """One set of inputs, drawn from a seed.

    `label` finishes the sentence "It goes wrong ..." for the learner ("on a batch of one", "with two rows").
    `tags` let an aspect look at some cases only. The inputs travel to the learner's process. A `patient`, made anew
    each time, is what the symbol is tried on where the question is whether it is sound: it never travels.
    """

    label: str
    inputs: Mapping[str, Value]
    tags: frozenset[str] = USUAL
    patient: Callable[[], Patient] | None = None

    @classmethod
    def of(cls, label: str, /, *about: Aspect | str, **inputs: Value) -> Case:
        """A case with these inputs, in the order in which the function takes them; a usual one unless it has a tag.

        `about` are the aspects that look at it, or their tags.

        >>> Case.of("on an empty list", "empty", numbers=[])
        Case(label='on an empty list', inputs={'numbers': []}, tags=frozenset({'empty'}))
        """
        tags = (frozenset({one}) if isinstance(one, str) else one.tags for one in about)
        return cls(label, inputs, frozenset().union(*tags) or USUAL)


@dataclass(frozen=True)
class Aspect:
    """One thing that can be right or wrong by itself, and earns its share of the points.

    It holds when, in every case with all of `tags`, the observations under `keys` differ from the reference's in
    none of `kinds`. When no case passes a `core` aspect, the whole exercise earns nothing: a zero-filled tensor
    of the right shape isn't work. `meaning` is one sentence for learners that explains the name ("The result keeps
    the dtype of the arguments."): the card shows it on hover, and in text where the aspect fails. Where a
    core aspect fails, only the core's are in the text. An aspect that looks at values is `formal` all the same where
    these say how an answer is built: that a module has a bias is a matter of form.

    A `central` aspect is one without which the exercise is half done at most, whatever its weight: where it fails, half
    of the points are the most that can be earned. So an exercise may have more than one point: a layer's
    backward pass gives a gradient to whoever called it, and one to the weights.

    An aspect that weighs nothing only speaks: it says in words what another one takes the points for, or nobody does.
    It decides about no mark, and has no box on the card.
    """

    name: str
    keys: tuple[str, ...] = ("output",)
    kinds: frozenset[str] = frozenset({"error", "type", "shape", "dtype", "nan", "mask", "values"})
    weight: float = 1.0
    core: bool = False
    tags: frozenset[str] = frozenset()
    meaning: str = ""
    formal: bool = False
    central: bool = False

    @property
    def counts(self) -> bool:
        """Whether something hangs on it, so that it has a box on the card."""
        return self.weight > 0


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that people give, and what to tell them.

    `advice` is said to the learner as it stands: name what the result equals, then ask the question that leads
    on ("Your result is the sum of the squared errors. Which division turns a sum into a mean?").

    A `central` mistake misses what the exercise is there to teach. It costs at least half of the points.
    `reported_in` is where somebody made it in public: a project on GitHub and the number of an issue or a pull request,
    "karpathy/nanoGPT#240". Cards name the project, and not the number: the correction may stand there.
    """

    name: str
    implementation: Any
    advice: str
    central: bool = False
    reported_in: str = ""


@dataclass(frozen=True)
class Combination:
    """Mistakes that come together, or that come in an answer written differently."""

    mistakes: tuple[Mistake, ...]
    answer: Mistake
    """What does all of that; it has no advice of its own."""


Surprise = Callable[[tuple[Mistake, ...]], int | None]
"""How little mistakes that come together would explain: 0 when they may well be it, None when they can't be."""


def as_written(mistakes: tuple[Mistake, ...]) -> int:
    """No mistakes surprise more than others: combinations come in the order of the catalogue."""
    return 0


@dataclass(frozen=True, kw_only=True)
class Trial:
    """How an exercise is tried: the TRIAL of its NAME.py. It knows no answer, right or wrong."""

    module: str = ""
    """The module of the course's library in which the right answer stands: "transformer_course.positions"."""
    points: float
    cases: Callable[[np.random.Generator], list[Case]]
    aspects: tuple[Aspect, ...]
    probe: Probe | None = None
    """How the symbol is called on a case, where a plain call with the inputs in their order is not enough. A module
    with a probe travels to the learner's process."""
    canonical: Callable[[Observation, Case], Observation] = field(default=lambda observation, case: observation)
    """Keeps of an observation only what the contract fixes."""
    called: Mapping[str, str] = field(default_factory=dict)
    """What learners read for an observation's name: `{"output": "how often each token was drawn"}`, where the probe
    or the canonical form keeps something else than the result."""
    shown: Callable[[Case], Mapping[str, Value]] | None = None
    """What a card shows of a case's inputs, by name: `lambda case: {"probabilities": ..., "p": case.inputs["p"]}`.
    Unless given, those inputs that the symbol has parameters for: all others are the probe's own."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", float(self.points))  # nbgrader reads "2.0" where it may not read "2"


@dataclass(frozen=True, kw_only=True)
class Exercise(Trial):
    """All that is known about one symbol of one lesson: how it is tried, and the answers of its NAME.md.

    See the module docstring, and `cellcheck.authoring.catalogue`.
    """

    symbol: str
    references: Sequence[Any]
    """Right answers the contract allows; the first one is the symbol in the library that learners build."""
    mistakes: Sequence[Mistake] = ()
    variants: Mapping[str, Any] = field(default_factory=dict)
    """Right answers written unlike the reference, by a short name. Checks must accept every one."""
    honest: Mapping[str, Any] = field(default_factory=dict)
    """More of them, held back: nothing was tuned on these."""
    wrong: Mapping[str, Any] = field(default_factory=dict)
    """Wrong answers that are none of the mistakes, held back."""
    equivalents: Mapping[str, str] = field(default_factory=dict)
    """Mutants of the reference that are as right as it ("line -> line"), and why. See `cellcheck.audit`."""
    combinations: Callable[[Surprise], Iterable[Iterable[Combination]]] = lambda surprise: ()
    """What mistakes can make together, kind by kind, the least surprising first; each is made when it is asked for."""


@dataclass(frozen=True)
class Lesson:
    """One lesson: its exercises in the order they are met."""

    exercises: tuple[Exercise, ...]
    name: str = ""
    """"01_my_topic": taken from the file name of the lesson's text, and written nowhere else."""

    def __getitem__(self, symbol: str) -> Exercise:
        """The exercise of that symbol.

        Raises:
            KeyError: when the lesson has no such exercise.
        """
        for exercise in self.exercises:
            if exercise.symbol == symbol:
                return exercise
        raise KeyError(symbol)

    def before(self, symbol: str) -> tuple[Exercise, ...]:
        """The exercises that come before `symbol` in this lesson."""
        names = [exercise.symbol for exercise in self.exercises]
        return self.exercises[: names.index(symbol)]


def tagged(*tags: str) -> frozenset[str]:
    """The tags of a case: an aspect with one of them looks at this case."""
    return frozenset(tags)
