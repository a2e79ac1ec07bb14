"""`quantize`: how it is tried."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import dims, strided
from transformer_course.lessons.drawing import Inputs

CODES = aspects.main("codes", 5.0, meaning="The codes are whole numbers: each weight in units of its group's scale.")
SCALES = aspects.main(
    "scales", 5.0, ("scales",), "Each group's scale is its largest absolute value, divided by the largest code."
)
KIND = aspects.also(
    "int8, and the dtype of the weights",
    "kind",
    meaning="The codes are int8, and the scales have the dtype of the weights.",
)
WHOLE = aspects.special(
    "other numbers of bits", meaning="With 2, 3 or 8 bits, codes and scales are right too.", keys=("output", "scales")
)
GROUPS = aspects.special(
    "groups of other sizes", meaning="A group may be a whole row, or a single weight.", keys=("output", "scales")
)
ZEROS = aspects.special(
    "a group of zeros", weight=2.0, meaning="In a group of zeros, the scale is 1.", keys=("output", "scales")
)
NEGATIVE = aspects.special(
    "the largest is negative", weight=2.0, meaning="The largest absolute value counts, whatever its sign.",
    keys=("output", "scales"),
)  # fmt: skip
ONE = aspects.special("a single row", meaning="A single row gives the right result too.", keys=("output", "scales"))


def cases(generator: np.random.Generator) -> list[Case]:
    def weights(rows: int, groups: int, group: int, bits: int, kind: torch.dtype = torch.float32) -> Inputs:
        """Weights that are nowhere near the middle between two codes; each group has a scale of its own."""
        top = 2 ** (bits - 1) - 1
        codes = generator.integers(-top + 1, top, (rows, groups, group)).astype(float)
        codes += generator.uniform(0.1, 0.4, codes.shape) * generator.choice([-1, 1], codes.shape)
        place = generator.integers(0, group, (rows, groups, 1))
        sign = np.where((np.arange(rows)[:, None] + np.arange(groups)) % 2, 1.0, -1.0)[..., None]
        np.put_along_axis(codes, place, sign * top, axis=-1)
        scales = generator.permutation(np.geomspace(0.01, 3.0, rows * groups)).reshape(rows, groups, 1)
        scaled = torch.from_numpy(codes * scales).reshape(rows, -1).to(kind)
        return {"weights": scaled, "bits": bits, "group": group}

    a, b, c = dims(generator, 3, 2, 6)
    zeros, negative = weights(a, 3, 4, 4), weights(b, 3, 5, 4)
    zeros["weights"][1, 4:8] = 0.0
    top = negative["weights"].reshape(b, 3, 5).abs().amax(-1)
    negative["weights"] = negative["weights"].reshape(b, 3, 5)
    negative["weights"][negative["weights"].abs() == top[..., None]] *= -1
    negative["weights"] = torch.where(
        negative["weights"].abs() == top[..., None], -top[..., None], negative["weights"]
    ).reshape(b, -1)
    laid_out = weights(a, 2, 4, 4)
    return [
        Case.of("with 4 bits", **weights(a, b, b + c, 4)),
        Case.of("with 5 bits", **weights(c, a, a + b, 5)),
        Case.of("where all sizes are equal", **weights(4, 4, 4, 4)),
        Case.of("with 8 bits", WHOLE, **weights(b, a, a + 1, 8)),
        Case.of("with 3 bits", WHOLE, **weights(b, c, c + 1, 3)),
        Case.of("with 2 bits", WHOLE, **weights(a, c, c + 1, 2)),
        Case.of("with one group a row", GROUPS, **weights(a, 1, 8, 4)),
        Case.of("with groups of a single weight", GROUPS, **weights(b, 5, 1, 4)),
        Case.of("with a group of zeros", ZEROS, **zeros),
        Case.of("where the largest of each group is negative", NEGATIVE, **negative),
        Case.of("with a single row", ONE, **weights(1, 3, 4, 4)),
        Case.of("with float64", aspects.FLOAT64, **weights(a, b, b + 1, 6, torch.float64)),
        Case.of(
            "with weights that are not contiguous",
            aspects.LAYOUT,
            **{**laid_out, "weights": strided(laid_out["weights"])},
        ),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Codes and scales by themselves, and of which kind they are."""
    weights, before = inputs["weights"], inputs["weights"].clone()
    codes, scales = symbol(weights, inputs["bits"], inputs["group"])
    same = isinstance(scales, torch.Tensor) and scales.dtype == weights.dtype
    dtype = getattr(codes, "dtype", "no tensor")
    several = dtype in (torch.int16, torch.int32, torch.int64)
    kind = ["whole numbers of several bytes" if several else str(dtype), "that of the weights" if same else "another"]
    numbers = codes.double() if isinstance(codes, torch.Tensor) else codes
    return {"output": numbers, "scales": scales, "kind": kind, "arguments": [before, weights]}


def in_words(observation: Observation, case: Case) -> Observation:
    """What is rounded in another direction is just that: the code of the largest weight hangs on its last digit. And
    where a scale is that of the largest weight, it doesn't matter what becomes of a group with none above zero."""
    codes, scales = observation.get("output"), observation.get("scales")
    weights, bits, group = case.inputs["weights"].double(), case.inputs["bits"], case.inputs["group"]
    if not isinstance(codes, torch.Tensor) or not isinstance(scales, torch.Tensor) or codes.shape != weights.shape:
        return observation
    grouped, top = weights.reshape(len(weights), -1, group), 2 ** (bits - 1) - 1
    if scales.shape != grouped.shape[:2]:
        return observation
    largest, signed = grouped.abs().amax(-1), grouped.amax(-1)
    above = signed > 0
    if bool((signed < largest)[above].any()) and torch.allclose(scales.double()[above], signed[above] / top, rtol=1e-3):
        return {**observation, "output": "by the largest, not the largest absolute value", "scales": "of the largest"}
    exact = grouped / torch.where(largest > 0, largest / top, 1.0).unsqueeze(-1)
    inside = grouped.abs() < largest.unsqueeze(-1)
    if bool(inside.any()) and not torch.equal(codes.reshape(grouped.shape)[inside], exact[inside].round()):
        for words, rounding in (("down", torch.floor), ("up", torch.ceil), ("towards zero", torch.trunc)):
            if torch.equal(codes.reshape(grouped.shape)[inside], rounding(exact[inside])):
                return {**observation, "output": f"rounded {words}"}
    return observation


TRIAL = Trial(
    module="transformer_course.fast_answers.quantized",
    points=2,
    cases=cases,
    probe=probe,
    canonical=in_words,
    called={"output": "the codes", "scales": "the scales", "kind": "the kinds of number"},
    aspects=(
        aspects.shape(),
        CODES,
        SCALES,
        KIND,
        WHOLE,
        GROUPS,
        ZEROS,
        NEGATIVE,
        ONE,
        replace(aspects.FLOAT64, keys=("output", "scales")),
        replace(aspects.LAYOUT, keys=("output", "scales")),
        aspects.untouched(),
    ),
)
