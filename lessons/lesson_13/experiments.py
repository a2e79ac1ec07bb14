"""Lesson 13's experiments: one small adder, four ingredients, and how far each of them takes it.

What the learner has written is passed in as `Tools`; the rest of the model is in `course.length_generalization`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product

import pandas as pd
import torch

from course import plots, seq2seq_fitting
from course.length_generalization.adder import Adder, Positions, Tools
from course.length_generalization.examining import LENGTHS as LENGTHS
from course.length_generalization.examining import right_by_length, write_answers
from course.length_generalization.letters import HINTS
from course.length_generalization.writing import SumWriting
from course.plots.picture import Picture
from course.tasks import addition

DIGITS = 5  # the longest numbers in training
SUMS = 20_000
STEPS = 1500
WINDOW = 3
SHORT = (5, 6, 7, 8, 10)


@dataclass(frozen=True)
class Recipe:
    """Which of the four ingredients an adder gets.

    >>> Recipe(reversed=True, window=True).name
    'reversed, window'
    """

    reversed: bool = False
    """Numbers and answer have their ones first."""
    hints: bool = False
    """A letter before each digit gives its place."""
    offsets: bool = False
    """Places are learned vectors in place of positions, and begin anywhere in training, as the letters do."""
    window: bool = False
    """Queries and keys are turned by places, and only nearby places are seen; nothing is learned for a position."""

    @property
    def name(self) -> str:
        """The ingredients, or "none of the four"."""
        names = ("reversed", "hints", "offsets", "window")
        return ", ".join(name for name in names if getattr(self, name)) or "none of the four"

    @property
    def writing(self) -> SumWriting:
        """How its sums are written; both numbers have as many digits as the longer one."""
        return SumWriting(self.reversed, self.reversed, self.hints, "padded")

    def model(self, seed: int = 0, tools: Tools | None = None) -> Adder:
        """A new adder; its first weights come from the seed, and the global random numbers are left undisturbed."""
        positions: Positions = "index"
        if self.window:
            positions = "place and rotary" if self.offsets else "rotary"
        elif self.offsets:
            positions = "place"
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return Adder(
                self.writing,
                positions=positions,
                offsets=self.offsets,
                window=WINDOW if self.window else None,
                seed=seed,
                tools=tools,
            )


RECIPES = tuple(Recipe(*which) for which in product((False, True), repeat=4))
"""All sixteen."""


def learnt_sums(seed: int = 0) -> list[addition.Pair]:
    """What every adder here learns from: in half of the sums both numbers have five digits, in the others one to five.

    Where a number is much shorter than the other, most of its digits are zeros in front, and there is little to learn.
    """
    mixed = addition.draw_pairs(seed, SUMS // 2, DIGITS)
    return mixed + addition.draw_pairs(seed + 5000, SUMS // 2, DIGITS, min_digits=DIGITS, exclude=mixed)


def train(
    model: Adder, pairs: Sequence[addition.Pair], *, steps: int = STEPS, seed: int = 0, name: str = "training"
) -> list[float]:
    """Teaches an adder these sums: the loss before each step."""
    source, target = model.writing.tensors(pairs)
    start = model.writing.alphabet.start_id
    return seq2seq_fitting.fit(
        model, source, target, start_id=start, steps=steps, learning_rate=3e-3, seed=seed, name=name
    )


@contextmanager
def with_the_courses_tools(model: Adder) -> Iterator[None]:
    """Long sums ask for large masks, thousands of times: the learner's function is right, and ours is quick."""
    kept, model.tools = model.tools, Tools()
    try:
        yield
    finally:
        model.tools = kept


def examined(
    model: Adder,
    learnt: Sequence[addition.Pair],
    lengths: Sequence[int],
    *,
    count: int = 50,
    carries: bool = False,
    seed: int = 0,
) -> dict[int, float]:
    """{digits: share of new sums that are right}; see `right_by_length`."""
    with with_the_courses_tools(model):
        return right_by_length(model, learnt, lengths=lengths, count=count, carries=carries, seed=seed)


def both_kinds(
    model: Adder, learnt: Sequence[addition.Pair], lengths: Sequence[int], *, count: int = 50, seed: int = 0
) -> dict[str, dict[int, float]]:
    """Random sums, and sums with a long carry."""
    return {
        name: examined(model, learnt, lengths, count=count, carries=carries, seed=seed)
        for name, carries in (("random sums", False), ("long carries", True))
    }


def lines(table: pd.DataFrame, recipes: Sequence[str], kind: str = "exact") -> dict[str, dict[int, float]]:
    """{recipe: {digits: share of right answers, the mean of both seeds}}; `kind` is "exact" or "long_carries"."""
    means = table.groupby(["line", "length"])[kind].mean()
    return {name: {int(length): float(share) for length, share in means[name].items()} for name in recipes}


def by_digits(found: Mapping[str, Mapping[int, float]], title: str) -> Picture:
    """The length plot for sums: one line a model, {digits: share right}. What training had seen is shaded.

    >>> by_digits({"mine": {5: 1.0, 6: 0.25}}, "Sums")
    Sums (exact match by digits of the numbers)
    mine: 1 at 5, 0.25 at 6
    trained on numbers of at most 5 digits
    """
    known = sorted({digits for line in found.values() for digits in line})
    picture = plots.curves(
        {name: [line.get(digits, float("nan")) for digits in known] for name, line in found.items()},
        x_names=[str(digits) for digits in known],
        title=title,
        x_label="digits of the numbers",
        y_label="exact match",
        y_limits=(-0.04, 1.06),
        legend=True,
    )
    axes = picture.figure.axes[0]
    end = sum(digits <= DIGITS for digits in known) - 0.5
    axes.axvspan(-0.5, end, color="#e9edf0", zorder=-1, linewidth=0)
    axes.set_xlim(-0.5, len(known) - 0.5)
    axes.text(-0.3, 0.5, "in training", rotation=90, va="center", ha="center", size=9, color="#5c616a", zorder=0)
    return Picture(picture.figure, f"{picture.text}\ntrained on numbers of at most {DIGITS} digits")


def as_grid(table: pd.DataFrame, kind: str) -> Picture:
    """All recipes, the one that gets furthest on top; a column for each length."""
    means = table.groupby(["line", "length"])[kind].mean().unstack()
    order = means.mean(axis=1).sort_values(ascending=False, kind="stable").index
    return plots.heatmap(
        means.loc[order].to_numpy(),
        list(order),
        [str(length) for length in means.columns],
        title={"exact": "Random sums right", "long_carries": "Long carries right"}[kind],
        columns="digits of the numbers",
        low=0,
        high=1,
    )


def met_in_training(positions: Callable[[int], torch.Tensor], rows: int, most: int) -> list[int]:
    """How often each of `most` positions occurs in so many rows; `positions(i)` are those of row i."""
    counts = torch.zeros(most, dtype=torch.long)
    for row in range(rows):
        counts += torch.bincount(positions(row).long(), minlength=most)[:most]
    return counts.tolist()


def letters_met(texts: Sequence[str]) -> dict[str, int]:
    """How often each of the first ten letters of places occurs in these texts."""
    return {letter: sum(text.count(letter) for text in texts) for letter in HINTS[:10]}


def on_paper(model: Adder, digits: int, seed: int = 7) -> str:
    """One long sum as it is written on paper, with the adder's answer; the first wrong digit is pointed at."""
    first, second = addition.draw_pairs(seed, 1, digits, min_digits=digits)[0]
    with with_the_courses_tools(model):
        said = write_answers(model, [(first, second)])[0]
    shown, right = "no number" if said is None else str(said), str(first + second)
    width = max(digits + 1, len(shown), len(right))
    verdict = "right" if said == first + second else f"wrong, it is\n {right:>{width}}"
    return f" {first:>{width}}\n+{second:>{width}}\n={shown:>{width}}\n{verdict}"
