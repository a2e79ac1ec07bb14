"""`MultiHeadAttention`: how it is tried."""

from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.calls import given
from cellcheck.authoring.draw import dims, normal, with_gaps
from cellcheck.authoring.modules import answered_rows, built, followed, forward_only
from transformer_course.lessons import drawing
from transformer_course.lessons.aspects import special
from transformer_course.lessons.attending import attention_weights, where_answered
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_03.again import AGAIN, after_other_calls
from transformer_course.lessons.lesson_03.made_from import changed_places, whole_in_one_head
from transformer_course.lessons.watching import AS_ASKED

BROADCAST = special("masks that broadcast", weight=2.0)
ONE_HEAD = special("one head", meaning="A layer with a single head gives the right result too.")
EMPTY = special("rows with nothing allowed")


def cases(generator: np.random.Generator) -> list[Case]:
    def layer(b: int, q: int, k: int, heads: int, d_head: int, dtype: torch.dtype = torch.float32) -> Inputs:
        d_model = heads * d_head
        return {
            "num_heads": heads,
            "queries": normal(generator, b, q, d_model, dtype=dtype),
            "keys": normal(generator, b, k, d_model, dtype=dtype),
            "values": normal(generator, b, k, d_model, dtype=dtype),
            "weights": drawing.attention(generator, "", d_model, dtype),
        }

    allow = partial(drawing.mask, generator)
    pad = partial(drawing.padding, generator)
    heads = int(generator.integers(2, 4))
    b, (q, k) = 5 - heads, dims(generator, 2, 4, 7)
    width = int(generator.integers(2, 4))
    sizes = (b, q, k, heads, width)
    side = int(generator.integers(2, 4))
    alone = layer(b, q, q, heads, width)
    alone = {"num_heads": heads, "x": alone["queries"], "weights": alone["weights"]}
    laid_out = with_gaps(layer(*sizes))

    def rows(b: int, q: int, k: int) -> list[torch.Tensor]:
        return given(layer(b, q, k, heads, width), "queries", "keys", "values")

    def again(label: str, mask: torch.Tensor | None) -> Case:
        """A call in which everything differs from the one before."""
        inputs = layer(*sizes)
        before = [(*rows(b, q, k), pad(b, k) if mask is None else ~mask)]
        return Case.of(label, AGAIN, **inputs, **({} if mask is None else {"mask": mask}), before=before)

    return [
        Case.of("with five different sizes", **layer(*sizes)),
        Case.of("with a mask a head", **layer(*sizes), mask=allow(b, heads, q, k)),
        Case.of("where a row looks at itself", **alone),
        forward_only(Case.of("where all sizes are equal", **layer(side, side, side, side, side))),
        Case.of("with a padding mask", BROADCAST, **layer(*sizes), mask=pad(b, k)),
        forward_only(Case.of("with heads that share a mask", BROADCAST, **layer(*sizes), mask=allow(b, 1, q, k))),
        forward_only(Case.of("with one mask for the batch", BROADCAST, **layer(*sizes), mask=allow(q, k))),
        forward_only(Case.of("with one head", ONE_HEAD, **layer(b, q, k, 1, 5), mask=allow(b, 1, q, k))),
        forward_only(Case.of("with heads of width one", aspects.LENGTH_ONE, **layer(b, q, k, heads, 1))),
        forward_only(Case.of("on a batch of one, with one query", aspects.LENGTH_ONE, **layer(1, 1, k, heads, width))),
        forward_only(
            Case.of(
                "with rows that allow nothing",
                EMPTY,
                **layer(*sizes),
                mask=drawing.with_an_empty_row(allow(b, heads, q, k)),
            )
        ),
        Case.of(
            "with a batch entry that is all padding", EMPTY, **layer(*sizes), mask=drawing.with_an_empty_row(pad(b, k))
        ),
        again("with no mask, after a call with one", None),
        forward_only(again("with another mask, after a call with one", pad(b, k))),
        Case.of(
            "after calls on other sizes",
            AGAIN,
            **layer(*sizes),
            before=[rows(b, q - 1, k - 1), rows(1, q + 1, k + 1)],
        ),
        forward_only(Case.of("with float64", aspects.FLOAT64, **layer(*sizes, dtype=torch.float64))),
        forward_only(Case.of("with inputs that are not contiguous", aspects.LAYOUT, **laid_out)),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    arguments = [inputs["x"]] * 3 if "x" in inputs else given(inputs, "queries", "keys", "values")
    queries = arguments[0]
    module = after_other_calls(built(symbol, queries.shape[-1], inputs["num_heads"]), inputs)
    rows = answered_rows(inputs.get("mask"), queries.shape[:-1])
    arguments += given(inputs, "mask")
    return followed(
        module, inputs["weights"], arguments, rows, pair=True, forward_only=inputs.get("forward_only", False)
    )


def in_words(observation: Observation, case: Case) -> Observation:
    """The result where a mask fixes it, and which layers and arguments have changed places."""
    with suppress(RuntimeError):  # weights of another shape: the words beside them count all the same
        observation = where_answered(observation, case)
    if "output" not in observation or not case.tags >= aspects.USUAL:
        return observation
    inputs, makers = case.inputs, AS_ASKED
    rows = {name: inputs[name] for name in ("x", "queries", "keys", "values") if name in inputs}
    if "mask" not in inputs:
        makers = changed_places(observation, rows, inputs["weights"], inputs["num_heads"])
        if makers == AS_ASKED and inputs["num_heads"] > 1:
            makers = _as_one_head(observation["output"], rows, inputs["weights"])
    return {"made": makers, **observation}


def _as_one_head(output: Any, rows: Inputs, weights: Inputs) -> str:
    if whole_in_one_head(output, rows, weights):
        return "Your vectors are compared as a whole, as in one head. Into how many parts is each of them to be cut?"
    return AS_ASKED


TRIAL = Trial(
    module="transformer_course.attention",
    points=4,
    cases=cases,
    probe=probe,
    canonical=in_words,
    called={"made": "what makes the three"},
    aspects=aspects.with_words(
        aspects.of_module(BROADCAST, AGAIN, ONE_HEAD, aspects.LENGTH_ONE, EMPTY, returned=[attention_weights()]), "made"
    ),
)
