"""`windowed_mask`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course.length_generalization.positions import windowed_mask
from grader.authoring import draw
from grader.authoring.aspects import USUAL, untouched, values
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, tagged
from lessons.aspects import special


def _places(generator: np.random.Generator) -> list[Case]:
    n, window, less = draw.dims(generator, 3, 3, 8)
    window = min(window, 5)

    def case(label: str, tag: str, positions: torch.Tensor, window: int) -> Case:
        return Case(label, {"positions": positions, "window": window}, tagged(tag) if tag else USUAL)

    def shuffled(low: int, high: int, count: int) -> torch.Tensor:
        """Different positions in no order: some of them are neighbours, and both ends are among them."""
        while True:
            drawn = torch.from_numpy(generator.permutation(np.arange(low, high + 1))[:count].copy())
            rising = bool((drawn.diff() > 0).all())
            near = (drawn.unsqueeze(1) - drawn).abs()
            if not rising and {low, high} <= set(drawn.tolist()) and (near == 1).any() and (near == 2).any():
                return drawn

    upwards = torch.arange(n + 6)
    return [
        case("on places in order", "", upwards, window),
        case("on places in reverse order", "", upwards.flip(0) + 1, 2),
        case("on places in no order", "", shuffled(0, 11, 8), 3),
        case("on places with gaps", "", 3 * torch.arange(less + 2), 4),
        case("on the places of a sum", "twice", torch.tensor([3, 2, 1, 0, 4, 3, 2, 1]), 2),
        case("where all places are the same", "twice", torch.full((less,), 2), 2),
        case("with a window of one", "narrow", torch.tensor([2, 1, 0, 2, 1, 3, 4]), 1),
        case("with a window wider than the row", "wide", upwards, 3 * n + 30),
        case("with a single token", "one", torch.tensor([5]), 2),
        case("with negative places", "negative", shuffled(-6, 5, 8), 3),
        case("with places far from 0", "negative", shuffled(200, 211, 8), 3),
        case("with places that are not contiguous", "strided", draw.strided(shuffled(0, 9, 7)), 3),
    ]


Distance = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def _near(
    allowed: Callable[[torch.Tensor, int], torch.Tensor] = lambda ahead, window: ahead.abs() < window,
    told: Callable[[torch.Tensor], Any] = lambda mask: mask,
    of: Callable[[torch.Tensor], torch.Tensor] = lambda positions: positions,
) -> Callable[[torch.Tensor, int], Any]:
    """`allowed(position i - position j, window)` says whether i may see j."""

    def mask(positions: torch.Tensor, window: int) -> Any:
        at = of(positions)
        return told(allowed(at[:, None] - at[None, :], window))

    return mask


def _written_over(positions: torch.Tensor, window: int) -> torch.Tensor:
    mask = windowed_mask(positions, window)
    positions -= positions.min().item() + 1
    return mask


def _looped(positions: torch.Tensor, window: int) -> torch.Tensor:
    n = len(positions)
    mask = torch.zeros(n, n, dtype=torch.bool)
    for i in range(n):
        for j in range(n):
            mask[i, j] = abs(positions[i] - positions[j]) < window
    return mask


def _both_sides(positions: torch.Tensor, window: int) -> torch.Tensor:
    here, there = positions.view(-1, 1) if positions.is_contiguous() else positions.reshape(-1, 1), positions
    return (here < there + window) & (there < here + window)


def _squared(positions: torch.Tensor, window: int) -> torch.Tensor:
    return (positions.unsqueeze(0) - positions.unsqueeze(1)) ** 2 < window**2


def _by_distance(positions: torch.Tensor, window: int) -> torch.Tensor:
    at = positions.double().unsqueeze(1)
    return torch.cdist(at, at, p=1) < window - 0.5


WINDOWED_MASK = Exercise(
    symbol="windowed_mask",
    points=1,
    cases=_places,
    references=(windowed_mask,),
    aspects=(
        Aspect(
            "shape (n, n), boolean",
            kinds=frozenset({"error", "type", "shape", "dtype"}),
            tags=USUAL,
            meaning="The result is a boolean tensor with a row and a column for each token.",
        ),
        values(8.0),
        special("places that occur twice", "twice", 1.5, "Tokens of the same place see each other."),
        special("a window of one", "narrow", 1.5, "With a window of 1, a token sees its own place only."),
        special("a wide window", "wide", meaning="A window wider than the row lets everybody see everybody."),
        special("a single token", "one", meaning="With a single token, the result is right too."),
        special("places below zero, or far from it", "negative", meaning="Only differences of positions matter."),
        special("any layout in memory", "strided", 0.5),
        untouched(weight=0.5),
    ),
    mistakes=(
        Mistake(
            "one_too_far",
            _near(lambda ahead, window: ahead.abs() <= window),
            "Your window is one place too wide on either side. Is a difference of exactly `window` less than `window`?",
            central=True,
        ),
        Mistake(
            "half_a_window",
            _near(lambda ahead, window: ahead.abs() <= window // 2),
            "Your window is `window` places wide in all. How far does the docstring let a token see, on either side?",
            central=True,
        ),
        Mistake(
            "one_side_only",
            _near(lambda ahead, window: ahead < window),
            "You compare a difference that may be negative, so a token sees every larger position. What makes a "
            "distance of a difference?",
            central=True,
        ),
        Mistake(
            "the_other_side_only",
            _near(lambda ahead, window: ahead > -window),
            "You bound the difference on one side only, so a token sees every smaller position. What makes a "
            "distance of a difference?",
            central=True,
        ),
        Mistake(
            "causal_too",
            _near(lambda ahead, window: (ahead >= 0) & (ahead < window)),
            "A token sees smaller positions only, as behind a causal mask. Which way does the docstring look?",
            central=True,
        ),
        Mistake(
            "forward_only",
            _near(lambda ahead, window: (ahead <= 0) & (ahead > -window)),
            "A token sees larger positions only. Which way does the docstring look?",
            central=True,
        ),
        Mistake(
            "causal_by_index",
            lambda positions, window: windowed_mask(positions, window).tril(),
            "Your mask hides the tokens that come later in the row. The decoder does that with a mask of its own: is "
            "it asked for here?",
            central=True,
        ),
        Mistake(
            "index_instead_of_position",
            _near(of=lambda positions: torch.arange(len(positions))),
            "Your mask compares indices in the row, whatever the positions are. Where does your code use `positions`?",
            central=True,
        ),
        Mistake(
            "inverted",
            _near(told=lambda mask: ~mask),
            "Your mask is True for tokens that are far apart. What does True mean in a mask of this course?",
            central=True,
        ),
        Mistake(
            "not_itself",
            _near(lambda ahead, window: (ahead.abs() < window) & (ahead != 0)),
            "A token doesn't see its own place. Is a difference of 0 less than the window?",
            central=True,
        ),
        Mistake(
            "same_place_only",
            _near(lambda ahead, window: ahead == 0),
            "Only tokens of the same place see each other, whatever the window is. Where does your code use `window`?",
            central=True,
        ),
        Mistake(
            "one_row",
            lambda positions, window: (positions - positions[0]).abs() < window,
            "You compare everything with the first token only. How many rows does the mask have?",
            central=True,
        ),
        Mistake(
            "four_axes",
            _near(told=lambda mask: mask[None, None]),
            "Your mask has axes for batch and heads. Which shape does the docstring give?",
        ),
        Mistake(
            "zeros_and_ones",
            _near(told=lambda mask: mask.long()),
            "Your mask holds ones and zeros. Which dtype does a mask of this course have?",
        ),
        Mistake(
            "minus_infinity",
            _near(told=lambda mask: torch.zeros(mask.shape).masked_fill(~mask, float("-inf"))),
            "Your mask holds numbers to add to the scores. Which dtype does a mask of this course have?",
        ),
        Mistake(
            "distances",
            lambda positions, window: (positions[:, None] - positions).abs(),
            "You return the distances themselves. What do they have to be compared with?",
            central=True,
        ),
        Mistake(
            "positions_overwritten",
            _written_over,
            "The mask is right, but the caller's positions have changed. Which operation makes a new tensor?",
        ),
    ),
    variants={
        "loops": _looped,
        "bounded on both sides": _both_sides,
        "squares": _squared,
        "cdist": _by_distance,
        "expanded": lambda positions, window: torch.le(
            torch.abs(positions.expand(len(positions), -1).T - positions), window - 1
        ),
    },
)
