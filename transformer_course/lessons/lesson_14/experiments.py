"""Lesson 14's experiments: one small adder, four ingredients, and how far each of them takes it.

What the learner has written is passed in as `Tools`; the rest of the model is in
`transformer_course.length_generalization`.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import cast

import numpy as np
import pandas as pd
import torch

from transformer_course import plots, seq2seq_fitting
from transformer_course.length_generalization.adder import Adder, AdderLayer, Positions, Tools
from transformer_course.length_generalization.examining import LENGTHS as LENGTHS
from transformer_course.length_generalization.examining import right_by_length, write_answers
from transformer_course.length_generalization.letters import HINTS
from transformer_course.length_generalization.writing import SumWriting
from transformer_course.plots.picture import Picture
from transformer_course.tasks import addition

DIGITS = 5  # the longest numbers in training
SUMS = 20_000
STEPS = 1500
WINDOW = 3
SHORT = (5, 6, 7, 8, 10)
PARTS_LENGTHS = (5, 6, 7, 10, 20)


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


@dataclass(frozen=True)
class Told:
    """How an adder with reversed digits is told about places: what "offsets" and "window" are made of, each by itself.

    >>> Told(rotary=True, mask=True).name
    'rotary, mask'
    """

    vectors: bool = False
    """A learned vector is added for each place."""
    offset: bool = False
    """The table of these vectors is entered at a random row in training. Without vectors, it means nothing."""
    rotary: bool = False
    """Queries and keys are turned by places."""
    mask: bool = False
    """Only nearby places are seen."""

    @property
    def name(self) -> str:
        """The parts, or "nothing"."""
        names = ("vectors", "offset", "rotary", "mask")
        return ", ".join(name for name in names if getattr(self, name)) or "nothing"

    def model(self, seed: int = 0, tools: Tools | None = None) -> Adder:
        """A new adder, as `Recipe.model` makes it."""
        told = " and ".join(name for name, there in (("place", self.vectors), ("rotary", self.rotary)) if there)
        window = WINDOW if self.mask else None
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return Adder(
                Recipe(reversed=True).writing,
                positions=cast(Positions, told or "none"),
                offsets=self.offset,
                window=window,
                seed=seed,
                tools=tools,
            )


TOLD = (
    Told(rotary=True),
    Told(vectors=True, mask=True),
    Told(vectors=True, offset=True, mask=True),
    Told(vectors=True),
)
"""Those that are none of the sixteen recipes."""

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


def by_digits(lines: Mapping[str, Mapping[int, float]], title: str) -> Picture:
    """The length plot for sums: one line a model, {digits: share right}. What training had seen is shaded.

    >>> by_digits({"mine": {5: 1.0, 6: 0.25}}, "Sums")
    Sums (exact match by digits of the numbers)
    mine: 1 at 5, 0.25 at 6
    trained on numbers of at most 5 digits
    """
    known = sorted({digits for line in lines.values() for digits in line})
    picture = plots.curves(
        {name: [line.get(digits, float("nan")) for digits in known] for name, line in lines.items()},
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
    title = {"exact": "Random sums right", "long_carries": "Long carries right"}[kind]
    return shares_drawn(means.loc[order], title)


def shares_drawn(table: pd.DataFrame, title: str) -> Picture:
    """Shares of right answers: a row for each model, a column for each length."""
    lengths = [str(length) for length in table.columns]
    return plots.heatmap(
        table.to_numpy(), list(table.index), lengths, title=title, columns="digits of the numbers", low=0, high=1
    )


def used_in_training(positions: Callable[[int], torch.Tensor], rows: int, most: int) -> list[int]:
    """How often each of `most` positions occurs in so many rows; `positions(i)` are those of row i."""
    counts = torch.zeros(most, dtype=torch.long)
    for row in range(rows):
        counts += torch.bincount(positions(row).long(), minlength=most)[:most]
    return counts.tolist()


def letters_used(texts: Sequence[str]) -> dict[str, int]:
    """How often each of the first ten letters of places occurs in these texts."""
    return {letter: sum(text.count(letter) for text in texts) for letter in HINTS[:10]}


def on_paper(model: Adder, digits: int, seed: int = 7) -> str:
    """One long sum as it is written on paper, with the adder's answer; the first wrong digit is pointed at."""
    first, second = addition.draw_pairs(seed, 1, digits, min_digits=digits)[0]
    answer = write_answers(model, [(first, second)])[0]
    shown, right = "no number" if answer is None else str(answer), str(first + second)
    width = max(digits + 1, len(shown), len(right))
    verdict = "right" if answer == first + second else f"wrong, it is\n {right:>{width}}"
    return f" {first:>{width}}\n+{second:>{width}}\n={shown:>{width}}\n{verdict}"


def interval(share: float, count: int) -> tuple[float, float]:
    """Where the true share may well be, if so many sums were tried (Wilson's interval, 95 %).

    >>> [round(end, 2) for end in interval(0.9, 100)]
    [0.83, 0.94]
    """
    z = 1.96
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * (share * (1 - share) / count + z * z / (4 * count * count)) ** 0.5
    return middle - half, middle + half


def passes_through(pair: addition.Pair) -> int:
    """Through how many places in a row a carry passes: places whose two digits sum to 9.

    >>> passes_through((4999, 5001)), passes_through((999, 1)), passes_through((15, 17)), passes_through((12, 34))
    (3, 2, 0, 0)
    """
    width = len(str(max(pair)))
    first, second = (str(number).zfill(width)[::-1] for number in pair)
    longest = run = 0
    carry = False
    for one, other in zip(first, second, strict=True):
        total = int(one) + int(other)
        run = run + 1 if carry and total == 9 else 0
        longest = max(longest, run)
        carry = total > 9 or (carry and total == 9)
    return longest


def chains_in(pairs: Sequence[addition.Pair]) -> dict[int, int]:
    """How many of these sums have a carry that passes through 0, 1, 2 ... places in a row, at most."""
    return dict(sorted(Counter(map(passes_through, pairs)).items()))


def by_place(model: Adder, source: torch.Tensor, moved: torch.Tensor) -> torch.Tensor:
    """What `moved_by` has found, by places: 1 where a digit at place i (row i - 1) moves place j of the answer."""
    with torch.no_grad():
        read = model.encode(source)
        written = model.target_places(read, moved.shape[1])[0].tolist()
    places = read.places[0].tolist()
    table = torch.zeros(max(places), max(places) + 1)
    for token, place in enumerate(places):
        for step, answer in enumerate(written):
            if place and 1 <= answer <= max(places) + 1 and moved[token, step]:
                table[place - 1, answer - 1] = 1
    return table


def sight_drawn(table: torch.Tensor) -> Picture:
    """The table of `by_place` as a picture."""
    digits, answers = ([str(place + 1) for place in range(size)] for size in table.shape)
    title = "Changing a digit moves ..."
    return plots.heatmap(table, digits, answers, title=title, rows="place of the digit", columns="place of the answer")


def deepest(table: torch.Tensor) -> int:
    """How many places below its own a digit of the answer depends on, at most."""
    depths: list[int] = [answer - place for place, answer in table.nonzero().tolist()]
    return max(depths)


def parts_of_the_story(told: pd.DataFrame, recipes: pd.DataFrame) -> pd.DataFrame:
    """Random sums right, the mean of both seeds: each way of telling places by itself, and those of the recipes."""
    names = {
        "reversed": "index",
        "reversed, offsets": "vectors, offset",
        "reversed, window": "rotary, mask",
        "reversed, offsets, window": "vectors, offset, rotary, mask",
    }
    known = recipes[recipes["line"].isin(names)].replace({"line": names})
    both = pd.concat([told, known])
    means = both.groupby(["line", "length"])["exact"].mean().unstack()
    order = [
        "index",
        "vectors",
        "vectors, offset",
        "vectors, mask",
        "vectors, offset, mask",
        "rotary",
        "rotary, mask",
        "vectors, offset, rotary, mask",
    ]
    return means.loc[order, list(PARTS_LENGTHS)]


def sums_with_a_chain(
    digits: int, place: int, chain: int, carry: bool, count: int, seed: int = 0
) -> list[addition.Pair]:
    """Sums in which the `chain` places below `place` (the ones are place 1) have digits that sum to 9, so that a carry
    from below them, which is there or isn't, decides about the digit at `place`. No other place has such digits.
    """
    dice = random.Random(f"{digits} {place} {chain} {carry} {seed}")

    def two(low: int, high: int) -> tuple[int, int]:
        """Two digits from 1 on whose sum is from `low` to `high`, and not 9."""
        while True:
            one, other = dice.randint(1, 9), dice.randint(1, 9)
            if low <= one + other <= high and one + other != 9:
                return one, other

    pairs = []
    for _ in range(count):
        columns = [two(2, 18) for _ in range(digits)]
        for below in range(place - 1 - chain, place - 1):
            first = dice.randint(1, 8)
            columns[below] = (first, 9 - first)
        columns[place - 2 - chain] = two(10, 18) if carry else two(2, 8)
        first_number, second_number = (int("".join(str(column[i]) for column in reversed(columns))) for i in (0, 1))
        pairs.append((first_number, second_number))
    return pairs


def practice_sums(seed: int = 0) -> list[addition.Pair]:
    """Sums of five digits with one, two or three 9s in a row. In half of them a carry comes from below."""
    return [
        pair
        for place, chain in ((3, 1), (4, 2), (5, 3))
        for carry in (True, False)
        for pair in sums_with_a_chain(DIGITS, place, chain, carry, 1000, seed + 77)
    ]


def right_above_chains(model: Adder, digits: int, longest: int, *, count: int = 100, seed: int = 0) -> pd.DataFrame:
    """The share of sums in which the digit above a chain of 9s is right: a row for each length of the chain, and a
    column for sums with a carry from below the chain, and one for sums without.
    """
    place = longest + 2
    shares: dict[str, dict[int, float]] = {"a carry comes from below": {}, "no carry comes": {}}
    for chain in range(longest + 1):
        for name, carry in zip(shares, (True, False), strict=True):
            pairs = sums_with_a_chain(digits, place, chain, carry, count, seed)
            answers = write_answers(model, pairs)
            same = [_digit(one, place) == _digit(sum(pair), place) for one, pair in zip(answers, pairs, strict=True)]
            shares[name][chain] = sum(same) / count
    return pd.DataFrame(shares).rename_axis("places that sum to 9")


def _digit(number: int | None, place: int) -> int | None:
    return None if number is None else number // 10 ** (place - 1) % 10


def wrong_digits(model: Adder, pairs: Sequence[addition.Pair], title: str) -> Picture:
    """A row for each sum, a column for each place of the answer, the largest first: which digits are wrong, and where a
    carry passes through.
    """
    digits = max(len(str(number)) for pair in pairs for number in pair)
    shown = np.zeros((len(pairs), digits + 1))
    for row, (pair, answer) in enumerate(zip(pairs, write_answers(model, pairs), strict=True)):
        for place in range(1, digits + 2):
            passing = _digit(pair[0], place) + _digit(pair[1], place) == 9 and _carried(pair, place)  # type: ignore[operator]
            wrong = _digit(answer, place) != _digit(sum(pair), place)
            shown[row, digits + 1 - place] = 1 if wrong else 0.3 if passing else 0
    names = [str(place) for place in range(digits + 1, 0, -1)]
    picture = plots.heatmap(
        shown,
        [str(row + 1) for row in range(len(pairs))],
        names,
        title=title,
        rows="sum",
        columns="place",
        low=0,
        high=1,
    )
    where = [
        f"sum {row + 1}: {', '.join(names[i] for i in np.flatnonzero(line == 1))}" for row, line in enumerate(shown)
    ]
    wrong_only = [line for line in where if not line.endswith(": ")]
    return Picture(picture.figure, "\n".join([title, "wrong digits, by place:", *(wrong_only or ["none"])]))


def _carried(pair: addition.Pair, place: int) -> bool:
    """Whether a carry comes into this place."""
    unit: int = 10 ** (place - 1)
    return pair[0] % unit + pair[1] % unit >= unit


def where_it_looks(model: Adder, digits: int, seed: int = 7) -> Picture:
    """What the decoder looks at in a long sum, for each place that it writes: the mean of all heads, and the two digits
    of a place together.
    """
    pair = addition.draw_pairs(seed, 1, digits, min_digits=digits)[0]
    source, target = model.writing.tensors([pair])
    seen: list[torch.Tensor] = []
    model.eval()
    with torch.no_grad():
        read = model.encode(source)
        attention = cast(AdderLayer, model.decoder[-1]).cross_attention
        attention.notes = seen
        model.decode(target, read)
        attention.notes = None
    weights = seen[0][0].mean(dim=0)[: digits + 1]  # (places written, source_length)
    looked_at = torch.zeros(digits + 1, digits)
    for token, place in enumerate(read.places[0].tolist()):
        if place:
            looked_at[:, place - 1] += weights[:, token]
    order = range(digits + 1) if model.writing.least_first else range(digits, -1, -1)
    rows = [str(place + 1) for place in order]
    return plots.heatmap(
        looked_at,
        rows,
        [str(place + 1) for place in range(digits)],
        title="Where the decoder looks",
        rows="place that is written",
        columns="place in both numbers",
        low=0,
    )
