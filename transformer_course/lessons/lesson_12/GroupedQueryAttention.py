"""`GroupedQueryAttention`: how it is tried. The probe hands the weights in by name."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.calls import given
from cellcheck.authoring.draw import normal, with_gaps
from cellcheck.authoring.modules import answered_rows, followed, hand_in
from transformer_course.causal import causal_mask
from transformer_course.lessons import drawing
from transformer_course.lessons.aspects import special
from transformer_course.lessons.attending import attention_weights, where_answered
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_11.fresh_modules import fresh, learned_numbers
from transformer_course.lessons.lesson_12.drawing import grouped_weights

MASKS = aspects.central(
    special("masks", weight=8.0, meaning="A mask of any shape that broadcasts decides who sees whom.")
)
SHARED = special("one key head for all", meaning="With num_kv_heads = 1, all query heads share it.")
OWN = special("a key head for each", meaning="With num_kv_heads = num_heads, nothing is shared.")
ONE = special("axes of length one", weight=0.5)
LONG = special("a long text", weight=2.0, meaning="Positions go on as far as the text does.")
EMPTY = special(
    "a row with nothing allowed",
    weight=0.5,
    meaning="Where a row of the mask allows nothing, the results are finite numbers, not NaN.",
)
AGAIN = special(
    "called again",
    weight=4.0,
    meaning="A later call, with a text of another length or without a mask, is as right as the first.",
)


def cases(generator: np.random.Generator) -> list[Case]:
    def row(b: int, n: int, heads: int, kv: int, d_head: int, dtype: torch.dtype = torch.float32) -> Inputs:
        d_model = heads * d_head
        return {
            "num_heads": heads,
            "num_kv_heads": kv,
            "x": normal(generator, b, n, d_model, dtype=dtype),
            "weights": grouped_weights(generator, "", d_model, kv * d_head, dtype),
        }

    b, n = (int(k) for k in generator.choice([(2, 5), (3, 5), (3, 7), (2, 7)]))
    wide = 4
    sizes = (b, n, 6, 2, wide)  # groups of three: not as many as there are key heads
    laid_out = with_gaps(row(*sizes))
    again, masked = (row(*sizes) | {"forwards": True} for _ in range(2))
    return [
        Case.of("with two key heads for six query heads", **row(*sizes)),
        Case.of("with three key heads for six query heads", **row(2, n, 6, 3, wide)),
        Case.of("with two key heads for eight query heads", **row(b, n, 8, 2, 2)),
        Case.of("with a mask", MASKS, **row(*sizes), mask=drawing.mask(generator, b, 6, n, n)),
        Case.of("with the causal mask", MASKS, **row(*sizes), mask=causal_mask(n)),
        Case.of("with one key head for all", SHARED, **row(b, n, 4, 1, wide)),
        Case.of("with a key head for each query head", OWN, **row(b, n, 3, 3, wide)),
        Case.of("with a text of 80 tokens", LONG, **row(1, 80, 2, 1, 4), forwards=True),
        Case.of("on a batch of one, with a single token", ONE, **row(1, 1, 4, 2, wide)),
        Case.of(
            "with a row in which nothing is allowed",
            EMPTY,
            **row(*sizes),
            mask=drawing.with_an_empty_row(drawing.mask(generator, b, 6, n, n)),
        ),
        Case.of("in a call that follows one with a single token", AGAIN, **again, before={"x": again["x"][:, :1]}),
        Case.of(
            "in a call without a mask that follows one with a mask",
            AGAIN,
            **masked,
            before={"x": masked["x"], "mask": causal_mask(n)},
        ),
        Case.of("with float64", aspects.FLOAT64, **row(*sizes, dtype=torch.float64)),
        Case.of("with inputs that are not contiguous", aspects.LAYOUT, **laid_out),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    x = inputs["x"]
    module = fresh(symbol, x.shape[-1], inputs["num_heads"], inputs["num_kv_heads"])
    if "before" in inputs:
        hand_in(module, inputs["weights"])
        with torch.no_grad():
            module(*given(inputs["before"], "x", "mask"))
    rows = answered_rows(inputs.get("mask"), x.shape[:-1])
    with torch.set_grad_enabled("forwards" not in inputs):  # where only the output counts, nothing is recorded
        seen = followed(module, inputs["weights"], given(inputs, "x", "mask"), rows, pair=True)
    return {"size": learned_numbers(module), **seen}


def canonical(observation: Observation, case: Case) -> Observation:
    """What a later call gives, or a long text, is asked for once, in the output. See `where_answered` for the rest."""
    apart = (AGAIN.tags | LONG.tags) & case.tags
    seen = {name: value for name, value in observation.items() if not apart or name not in ("gradients", "weights")}
    return where_answered(seen, case)


TRIAL = Trial(
    module="transformer_course.language_model.modern",
    points=4,
    cases=cases,
    probe=probe,
    canonical=canonical,
    called={"size": "how many numbers it learns", "weights": "the matrix of attention weights"},
    aspects=aspects.of_module(
        MASKS,
        SHARED,
        OWN,
        LONG,
        ONE,
        EMPTY,
        AGAIN,
        begins=[
            aspects.also(
                "fewer keys and values",
                "size",
                meaning="Key and value learn d_model * num_kv_heads * d_head numbers each.",
            )
        ],
        returned=[attention_weights()],
        parts_weight=2.0,
        values_weight=8.0,
    ),
)
