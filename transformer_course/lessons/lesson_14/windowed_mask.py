"""`windowed_mask`: how it is tried."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import dims, strided
from transformer_course.lessons.aspects import special

TWICE = special("places that occur twice", "", 1.5, "Tokens of the same place see each other.")
NARROW = special("a window of one", "", 1.5, "With a window of 1, a token sees its own place only.")
WIDE = special("a wide window", meaning="A window wider than the row lets every token see every other.")
SINGLE = special("a single token", meaning="With a single token, the result is right too.")
FAR = special("places below zero, or far from it", meaning="Only differences of positions matter.")


def cases(generator: np.random.Generator) -> list[Case]:
    n, window, less = dims(generator, 3, 3, 8)
    window = min(window, 5)

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
        Case.of("on places in order", positions=upwards, window=window),
        Case.of("on places in reverse order", positions=upwards.flip(0) + 1, window=2),
        Case.of("on places in no order", positions=shuffled(0, 11, 8), window=3),
        Case.of("on places with gaps", positions=3 * torch.arange(less + 2), window=4),
        Case.of("on the places of a sum", TWICE, positions=torch.tensor([3, 2, 1, 0, 4, 3, 2, 1]), window=2),
        Case.of("where all places are the same", TWICE, positions=torch.full((less,), 2), window=2),
        Case.of("with a window of one", NARROW, positions=torch.tensor([2, 1, 0, 2, 1, 3, 4]), window=1),
        Case.of("with a window wider than the row", WIDE, positions=upwards, window=3 * n + 30),
        Case.of("with a single token", SINGLE, positions=torch.tensor([5]), window=2),
        Case.of("with negative places", FAR, positions=shuffled(-6, 5, 8), window=3),
        Case.of("with places far from 0", FAR, positions=shuffled(200, 211, 8), window=3),
        Case.of("with places that are not contiguous", aspects.LAYOUT, positions=strided(shuffled(0, 9, 7)), window=3),
    ]


AS_ASKED = "positions, by the window"


def canonical(observation: Observation, case: Case) -> Observation:
    """Ones and zeros are one mistake, whatever kind of numbers they are."""
    if "output" not in observation:
        return observation
    output = observation["output"]
    observation = {"compared": _compared(output, **case.inputs) or AS_ASKED, **observation}
    if isinstance(output, torch.Tensor) and output.dtype != torch.bool and ((output == 0) | (output == 1)).all():
        return {**observation, "output": output.long()}
    return observation


def _compared(output: Any, positions: torch.Tensor, window: int) -> str:
    """What the mask compares instead, if that can be seen: other positions, or the same with another window."""

    def masks(ranks: torch.Tensor) -> torch.Tensor:
        """Those of all windows that make a difference, (windows, n, n): all False first, all True last."""
        distances = (ranks.unsqueeze(1) - ranks).abs()
        return distances < torch.arange(int(distances.max()) + 2)[:, None, None]

    distances = (positions.unsqueeze(1) - positions).abs()
    wanted = distances < window
    if not isinstance(output, torch.Tensor) or output.shape != wanted.shape:
        return ""
    if output.dtype != torch.bool:
        if not ((output == 0) | (output == 1)).all():
            return ""
        output = output.bool()
    if torch.equal(output, wanted) or output.all() or not output.any():
        return ""
    fits = (output == masks(positions)).flatten(1).all(dim=1).nonzero().flatten().tolist()
    if fits:
        return f"Differences of {fits[0] - 1} are seen, and of {fits[-1]} aren't. Which should be, with this window?"
    sentences = {
        "You sort the positions first. Which token does each row belong to then?": positions.sort().values,
        "Your mask compares indices in the row. Which numbers does the docstring compare?": torch.arange(
            len(positions)
        ),
    }
    for words, ranks in sentences.items():
        others = (output == masks(ranks)).flatten(1).all(dim=1).nonzero().flatten().tolist()
        if others:
            if others[0] > window:
                return f"{words} And differences of {others[0] - 1} are seen, though the window is {window}."
            if others[-1] < window:
                return f"{words} And differences of {others[-1]} aren't seen, though the window is {window}."
            return words
    turned = "" if wanted.all() else _turned(output, masks(positions), window)
    return turned or _unlike(output, positions)


def _turned(output: torch.Tensor, masks: torch.Tensor, window: int) -> str:
    """What is to be said of a mask that is True where tokens are far apart."""
    fits = (~output == masks).flatten(1).all(dim=1).nonzero().flatten().tolist()
    if not fits:
        return ""
    words = "Your mask is True for tokens that are far apart. What does True mean in a mask of this course?"
    if fits[0] <= window <= fits[-1]:
        return words
    return (
        f"{words} And it turns from one to the other between differences of {fits[0] - 1} and {fits[-1]}. Where should "
        "it, with this window?"
    )


def _unlike(output: torch.Tensor, positions: torch.Tensor) -> str:
    """Two pairs of tokens that are as far apart, and only one of which may see each other."""
    rows = output.all(dim=1) | ~output.any(dim=1)
    if rows.all():
        return "Each of your rows is the same from end to end. Which two positions does entry [i, j] compare?"
    pairs = [(i, j) for i in range(len(output)) for j in range(len(output))]
    for i, j in pairs:
        if output[i, j] and not output[j, i]:
            one, other = int(positions[i]), int(positions[j])
            return (
                f"Position {one} may see position {other}, and {other} may not see {one}. Does the docstring ask for a "
                "direction?"
            )
    for i, j in pairs:
        for k, m in pairs:
            apart = abs(int(positions[i] - positions[j]))
            if i < j and k < m and output[i, j] and not output[k, m] and abs(int(positions[k] - positions[m])) == apart:
                return (
                    f"Positions {int(positions[i])} and {int(positions[j])} see each other, {int(positions[k])} and "
                    f"{int(positions[m])} don't, and both pairs are {apart} apart. What alone should count?"
                )
    return ""


TRIAL = Trial(
    module="transformer_course.length_generalization.positions",
    points=1,
    cases=cases,
    canonical=canonical,
    called={"compared": "what is compared"},
    aspects=(
        aspects.right_kind(
            "shape (n, n), boolean", "The result is a boolean tensor with a row and a column for each token."
        ),
        aspects.worded(aspects.values(8.0), "compared"),
        TWICE,
        NARROW,
        WIDE,
        SINGLE,
        FAR,
        replace(aspects.LAYOUT, weight=0.5),
        aspects.untouched(weight=0.5),
    ),
)
