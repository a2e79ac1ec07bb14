"""`masked_softmax`: how it is tried. The probe is in `probes`: this module says what is right."""

from functools import partial
from typing import Any

import numpy as np
import torch

from cellcheck.authoring.aspects import FLOAT64, LAYOUT, USUAL, of_tensors, spoken, with_words
from cellcheck.authoring.draw import dims, normal, strided
from cellcheck.authoring.spec import Case, Observation, Trial
from transformer_course.lessons.aspects import special
from transformer_course.lessons.attending import where_answered
from transformer_course.lessons.drawing import mask, with_an_empty_row
from transformer_course.lessons.watching import AS_ASKED

BROADCAST = special("masks that broadcast", weight=2.0)
EMPTY = special("a row with nothing allowed", weight=6.0)
LARGE = special("large scores")
HIGH = special(
    "hidden scores far above the rest",
    meaning="Hidden scores get no weight even when they are far larger than the visible ones.",
)
# What these two say of an answer, it may do besides another slip.
HIDDEN = spoken("who gets a weight", "weighed", meaning="Keys that may be looked at get a weight, hidden ones don't.")
FINITE = spoken("numbers, however large the scores", "finite", tag=LARGE.name, meaning="Large scores give no NaN.")
ONE_KEY = special("a single key", weight=0.5, meaning="The result is right when there is only one key.")


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return 2 * normal(generator, *sizes, dtype=dtype)

    allow = partial(mask, generator)
    b, q, k = dims(generator, 3, 3, 6)
    batch, heads, rows, keys = dims(generator, 4, 3, 6)
    side = int(generator.integers(3, 6))
    far = drawn(b, q, k + 2, dtype=torch.float64)
    far[0] += 1000.0
    far[1:] -= 1000.0
    empty = with_an_empty_row(allow(b, q, k))
    shown = allow(b, q, k)
    high = torch.where(shown, drawn(b, q, k), drawn(b, q, k) + 1000.0)
    return [
        Case.of("with two axes", scores=drawn(q, k)),
        Case.of("with three axes", scores=drawn(b, q, k)),
        Case.of("with a mask", scores=drawn(b, q, k), mask=allow(b, q, k)),
        Case.of("where all sizes are equal", scores=drawn(side, side, side), mask=allow(side, side, side)),
        Case.of("with one mask for the batch", BROADCAST, scores=drawn(b, q, k), mask=allow(q, k)),
        Case.of("with one mask for all rows", BROADCAST, scores=drawn(b, q, k), mask=allow(k)),
        Case.of(
            "with heads and a padding mask",
            BROADCAST,
            scores=drawn(batch, heads, rows, keys),
            mask=allow(batch, 1, 1, keys),
        ),
        Case.of("with hidden scores far above the rest", HIGH, scores=high, mask=shown),
        Case.of("with one key only", ONE_KEY, scores=drawn(b, q, 1), mask=allow(b, q, 1)),
        Case.of("with a row that allows nothing", EMPTY, scores=drawn(b, q, k), mask=empty),
        Case.of("with very large scores", LARGE, scores=far, mask=allow(b, q, k + 2)),
        Case.of("with very large scores and no mask", LARGE, scores=far.clone()),
        Case.of("with float64", FLOAT64, scores=drawn(b, q, k, dtype=torch.float64), mask=allow(b, q, k)),
        Case.of(
            "with tensors that are not contiguous", LAYOUT, scores=strided(drawn(b, q, k)), mask=strided(allow(b, q, k))
        ),
    ]


def in_words(observation: Observation, case: Case) -> Observation:
    """The weights where a mask fixes them, and whether they are logarithms of what they should be."""
    observation = where_answered(observation, case)
    if "output" not in observation:
        return observation
    output = observation["output"]
    if case.tags >= LARGE.tags:
        nan = isinstance(output, torch.Tensor) and bool(output.isnan().any())
        words = "Where scores are very large, there is NaN in your result. Which exp doesn't fit into a float?"
        return {"finite": words if nan else AS_ASKED, **observation}
    if not case.tags >= USUAL:
        return observation
    looks = {"returned": _returned(output, **case.inputs), "weighed": _weighed(output, **case.inputs)}
    return {**looks, **observation}


def _weighed(output: Any, scores: torch.Tensor, mask: torch.Tensor | None = None) -> str:
    if mask is None or not isinstance(output, torch.Tensor) or output.shape != scores.shape:
        return AS_ASKED
    shown = mask.expand(scores.shape)
    if not output.is_floating_point() or not bool(((output >= 0) & (output <= 1.0001)).all()):
        return AS_ASKED
    if bool((output[~shown] > 1e-6).all()) and float((output[shown] < 1e-6).float().mean()) > 0.5:
        return "Hidden keys get a weight, and most of those that may be looked at get none. What does True stand for?"
    return AS_ASKED


def _returned(output: Any, scores: torch.Tensor, mask: torch.Tensor | None = None) -> str:
    shown = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask.expand(scores.shape)
    shares = torch.where(shown, scores, -torch.inf).softmax(-1)
    if not isinstance(output, torch.Tensor) or output.shape != shares.shape or not output.is_floating_point():
        return AS_ASKED
    if torch.allclose(output.double().exp()[shown], shares.double()[shown], rtol=1e-4) and bool(
        (output[shown] <= 0).all()
    ):
        return "You return the logarithms of the weights. What should each row of them sum to?"
    for axis in range(output.dim() - 1):
        if mask is None and torch.allclose(output.double(), scores.double().softmax(axis), rtol=1e-4, atol=1e-6):
            return f"Your numbers sum to 1 along axis {axis}. Which axis are the keys on?"
    return _filled(output, scores, shown)


def _filled(output: torch.Tensor, scores: torch.Tensor, shown: torch.Tensor) -> str:
    """Whether hidden scores have all become one number that isn't low enough, seen from the weights that are left."""
    rows = shown.any(-1) & ~shown.all(-1)
    if not bool((output > 0).all()) or not rows.any():
        return AS_ASKED
    logarithms = output.double().log()
    offset = torch.where(shown, scores - logarithms, 0).sum(-1, keepdim=True) / shown.sum(-1, keepdim=True).clamp(min=1)
    scores_seen = (logarithms + offset)[rows]
    hidden = scores_seen[~shown[rows]]
    as_given = torch.allclose(scores_seen[shown[rows]], scores.double()[rows][shown[rows]], atol=1e-2)
    if not as_given or float(hidden.max() - hidden.min()) > 2e-2:
        return AS_ASKED
    return (
        f"Hidden scores become {round(float(hidden.mean()), 2) + 0.0:g}, which leaves their keys a weight. Which "
        "number is low enough, whatever the scores?"
    )


TRIAL = Trial(
    module="transformer_course.attention",
    points=2,
    cases=cases,
    canonical=in_words,
    called={"returned": "what is returned", "weighed": "who gets a weight", "finite": "whether there is NaN"},
    aspects=(
        *with_words(of_tensors(BROADCAST, EMPTY, LARGE, HIGH, ONE_KEY, layout=0.5), "returned"),
        HIDDEN,
        FINITE,
    ),
)
