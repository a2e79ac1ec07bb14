"""`LabelSmoothingLoss`: how it is tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import draw
from cellcheck.authoring.aspects import (
    BATCH_OF_ONE,
    CONTENT,
    LAYOUT,
    USUAL,
    gradients,
    main,
    refused,
    special,
    untouched,
)
from cellcheck.authoring.calls import call_and_follow, given
from cellcheck.authoring.spec import Aspect, Case, Observation, Trial
from transformer_course.lessons.lesson_04.drawing import draw_tokens, ragged

FLAT = special("a list of tokens", meaning="Logits (tokens, vocab_size) with targets (tokens,) work too.")
PAD_ID = special("another pad_id", meaning="The symbol that gets no share is the one that pad_id names.")
NO_SMOOTHING = special("without smoothing", meaning="With smoothing = 0 it is the plain cross-entropy.")
LARGE = special(
    "logits of any size",
    weight=2.0,
    meaning="Where a probability is too small for a float, its logarithm is right too.",
)
LATER = Aspect(
    "later calls",
    keys=("later",),
    kinds=CONTENT - {"error"},
    weight=0.5,
    meaning="The next batch may have another size, and counts by itself.",
)
EMPTY = refused("nothing but padding is refused")


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(
        batch: int, length: int, vocab_size: int, *, pad_id: int = 0, smoothing: float | None = None, **how: Any
    ) -> dict[str, Any]:
        targets = draw_tokens(generator, ragged(generator, batch, length), length, vocab_size, pad_id)
        # So small that no probability is lost in what somebody may add before the logarithm; the target's is larger,
        # as in a model that has learnt something, so that its share counts.
        logits = (2 * draw.normal(generator, batch, length, vocab_size, **how)).clamp(-2, 2)
        logits += 2 * torch.nn.functional.one_hot(targets, vocab_size)
        share = float(generator.choice([0.2, 0.3, 0.4])) if smoothing is None else smoothing
        return {
            "vocab_size": vocab_size,
            "smoothing": share,
            "pad_id": pad_id,
            "logits": logits,
            "targets": targets,
        }

    b, n, v = draw.dims(generator, 3, 4, 9)
    flat = drawn(b, n, v)
    flat |= {"logits": flat["logits"].flatten(0, 1), "targets": flat["targets"].flatten()}
    large = drawn(b, n, v)
    large["logits"][..., 1] += 150.0
    large["logits"][..., 2] -= 150.0
    large["targets"][large["targets"] == 1] = 3  # no target is the one that the model is sure of
    laid_out = drawn(b, n, v)
    laid_out["logits"] = draw.strided(laid_out["logits"])
    padding = drawn(b, n, v)
    padding["targets"] = torch.zeros_like(padding["targets"])
    return [
        Case.of("with rows of different lengths", **drawn(b, n, v)),
        Case.of("with another vocabulary", **drawn(n, v, b)),
        Case.of("with a list of tokens, (tokens, vocab_size)", FLAT, **flat),
        Case.of("with another pad_id", PAD_ID, **drawn(b, n, v, pad_id=int(generator.integers(1, v - 1)))),
        Case.of("without smoothing", NO_SMOOTHING, **drawn(b, n, v, smoothing=0.0)),
        Case.of("on a batch of one", BATCH_OF_ONE, **drawn(1, n, v)),
        Case.of("with logits of 150 and -150", LARGE, **large),
        Case.of("with logits that are not contiguous", LAYOUT, **laid_out),
        Case.of("with nothing but padding", EMPTY, **padding),
    ]


FLOORED = "The loss is far too small where the model is sure of another symbol."
LEAST = 105.0
"""Less than any right loss in the case of 150 and -150; what keeps a float32 away from 0 makes it smaller than that."""


def floor_in_words(observation: Observation, case: Case) -> Observation:
    """One slip, whatever number keeps the probabilities away from 0."""
    output = observation.get("output")
    if case.tags != LARGE.tags or not isinstance(output, torch.Tensor) or output.numel() != 1:
        return observation
    return observation | {"output": FLOORED} if 0 < float(output) < LEAST else observation


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    loss = symbol(*given(inputs, "vocab_size", "smoothing", "pad_id"))
    logits, targets = given(inputs, "logits", "targets")
    seen = call_and_follow(loss, logits, targets)
    shorter = targets[..., 1:]
    if bool((shorter != inputs["pad_id"]).any()):
        seen["later"] = loss(logits.detach()[..., 1:, :], shorter)
    return seen


TRIAL = Trial(
    module="transformer_course.paper.smoothing",
    points=2,
    cases=cases,
    probe=probe,
    canonical=floor_in_words,
    aspects=(
        Aspect(
            "a single number",
            kinds=frozenset({"error", "type", "shape"}),
            tags=USUAL,
            meaning="The loss is a tensor of shape ().",
        ),
        main(
            "values",
            weight=6.0,
            meaning="The loss is the cross-entropy with the softened targets, averaged over real tokens.",
        ),
        gradients(6.0),
        FLAT,
        PAD_ID,
        NO_SMOOTHING,
        BATCH_OF_ONE,
        EMPTY,
        LARGE,
        LATER,
        replace(LAYOUT, weight=0.5),
        untouched(),
    ),
)
