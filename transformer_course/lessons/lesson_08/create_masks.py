"""`create_masks`: how it is tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from cellcheck.authoring.aspects import CONTENT, USUAL, main, special, untouched
from cellcheck.authoring.calls import in_order
from cellcheck.authoring.draw import dims
from cellcheck.authoring.spec import Aspect, Case, Trial
from transformer_course.lessons.lesson_04.drawing import draw_tokens, ragged, turned
from transformer_course.lessons.lesson_08.probes.elsewhere import ELSEWHERE, Elsewhere
from transformer_course.lessons.watching import AS_ASKED

ANYWHERE = special("padding anywhere in a row", meaning="Padding between real tokens is hidden too.")
SMALLEST = special(
    "a batch of one, a single target token",
    meaning="A batch of one and a target of a single token give the right masks too.",
)
EMPTY = special("rows that are all padding", meaning="A row of nothing but padding is hidden as a whole.")


def cases(generator: np.random.Generator) -> list[Case]:
    def draw(batch: int, source_length: int, target_length: int) -> dict[str, Any]:
        return {
            "source": draw_tokens(generator, ragged(generator, batch, source_length), source_length, 12),
            "target_input": draw_tokens(generator, ragged(generator, batch, target_length), target_length, 9),
        }

    batch, source_length, target_length = dims(generator, 3, 3, 8)
    other = draw(source_length, target_length, batch)
    gaps = draw(batch, source_length, target_length)
    gaps["source"][:, 1] = 0
    gaps["target_input"] = draw_tokens(generator, [target_length] * batch, target_length, 9)
    gaps["target_input"][0, 1], gaps["target_input"][1, 0] = 0, 0
    empty = draw(3, source_length, target_length)
    empty["source"][1], empty["target_input"][2] = 0, 0
    strided = {name: turned(ids) for name, ids in draw(batch, source_length, target_length).items()}
    return [
        Case.of("with rows of different lengths", **draw(batch, source_length, target_length)),
        Case.of("with other sizes", **other),
        Case.of("where source and target are equally long", **draw(batch, source_length, source_length)),
        Case.of("where all sizes are equal", **draw(4, 4, 4)),
        Case.of("with padding between tokens", ANYWHERE, **gaps),
        Case.of("on a batch of one", SMALLEST, **draw(1, source_length, target_length)),
        Case.of("with a single target token", SMALLEST, **draw(batch, source_length, 1)),
        Case.of("with rows that are all padding", EMPTY, **empty),
        Case.of("with tensors that are not contiguous", **strided),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Both masks; what they say to real tokens, where padding stands at the end; and on which device they are made."""
    seen = in_order(symbol, inputs)
    target = inputs["target_input"]
    real = target != 0
    masks = seen["output"]
    if bool((real[:, 1:] <= real[:, :-1]).all()) and isinstance(masks, list | tuple) and len(masks) == 2:
        seen["source_mask"], target_mask = masks
        if (words := _of_rows(masks[0], inputs["source"])) != AS_ASKED:
            seen["source_mask"] = words
        seen["what_real_tokens_see"] = target_mask
        square = (1, target.shape[1], target.shape[1])
        if isinstance(target_mask, torch.Tensor) and target_mask.shape in ((1, *square), (len(target), *square)):
            rows = target_mask.expand(len(target), *square)
            hidden = torch.zeros((), dtype=rows.dtype)
            seen["what_real_tokens_see"] = torch.where(real[:, None, :, None], rows, hidden)
    seen["device"] = _device(symbol, *inputs.values())
    return seen


def _of_rows(mask: Any, source: torch.Tensor) -> str:
    """What hides real tokens of the source from one another, if that can be seen."""
    length = source.shape[1]
    if length == 1 or not isinstance(mask, torch.Tensor) or mask.shape[-2:] != (length, length):
        return AS_ASKED
    lower = torch.ones(length, length, dtype=torch.bool).tril()
    causal = (source != 0)[:, None, None, :] & lower
    if mask.shape != causal.shape or not torch.equal(mask != 0, causal):
        return AS_ASKED
    return "Your source mask hides later tokens of the source as well as padding. Which of the two should it hide?"


def _device(symbol: Any, source: torch.Tensor, target_input: torch.Tensor) -> str:
    """Whether tensors on another device get masks there. The meta device shows it: its tensors have no numbers.

    What looks at the numbers can't run there, and isn't held against anybody.
    """
    try:
        ids = (source.to(ELSEWHERE), target_input.to(ELSEWHERE))
        with Elsewhere():
            masks = symbol(*ids)
        there = {mask.device.type for mask in masks}
    except Exception as error:
        there = {"cpu"} if "expected device" in str(error) or "same device" in str(error) else {"meta"}
    return "that of the ids" if there == {"meta"} else "the CPU, wherever the ids are"


TRIAL = Trial(
    module="transformer_course.paper.masks",
    points=2,
    cases=cases,
    probe=probe,
    called={
        "what_real_tokens_see": "what real target tokens see",
        "device": "the device of the masks",
    },
    aspects=(
        Aspect(
            "two masks, each of its shape",
            kinds=frozenset({"error", "type", "shape"}),
            tags=USUAL,
            meaning="The result is a pair: (batch, 1, 1, source_length) and (batch, 1, target_length, target_length).",
        ),
        main(
            "what real tokens see",
            keys=("source_mask", "what_real_tokens_see"),
            weight=8.0,
            meaning="Real tokens see the real tokens that they may see, and nothing else.",
        ),
        Aspect(
            "the target's padding hidden from all",
            kinds=frozenset({"values", "mask", "nan"}),
            tags=USUAL,
            weight=1.5,
            meaning="The target mask hides padding from every token, and whatever comes later.",
        ),
        Aspect(
            "the device of the ids",
            keys=("device",),
            kinds=CONTENT - {"error"},
            weight=2.0,
            meaning="The masks are on the device that the ids are on, so that they work on a GPU too.",
        ),
        ANYWHERE,
        *(replace(one, keys=("output", "source_mask", "what_real_tokens_see")) for one in (SMALLEST, EMPTY)),
        Aspect("booleans", kinds=frozenset({"dtype"}), weight=2.0, meaning="The entries are True and False."),
        untouched(),
    ),
)
