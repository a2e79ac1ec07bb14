"""`pack_int4`: how it is tried."""

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import dims, strided

NEGATIVE = aspects.special("negative codes", weight=3.0, meaning="A negative code takes the 4 bits of code + 16.")
ENDS = aspects.special("the largest and the smallest codes", meaning="Codes from -8 to 7 fit, both ends included.")
ONE = aspects.special("a single pair", meaning="A single row of two codes gives one byte.")


def cases(generator: np.random.Generator) -> list[Case]:
    def codes(rows: int, pairs: int, low: int = -8, high: int = 7) -> torch.Tensor:
        """Codes, of which no two neighbours are equal."""
        first = generator.integers(low, high + 1, (rows, pairs))
        second = (first - low + generator.integers(1, high - low + 1, (rows, pairs))) % (high - low + 1) + low
        return torch.from_numpy(np.stack([first, second], -1).reshape(rows, -1)).to(torch.int8)

    a, b = dims(generator, 2, 3, 7)
    ends = torch.tensor([[-8, 7, 7, -8, 0, -8, 7, 0, 0, 7], [-8, -8, 7, 7, -1, 0, 0, -1, -1, -1]], dtype=torch.int8)
    return [
        Case.of("with codes from 0 to 7", codes=codes(a, b, 0, 7)),
        Case.of("with more codes from 0 to 7", codes=codes(b, a, 0, 7)),
        Case.of("with codes of both signs", NEGATIVE, codes=codes(a, b, -7)),
        Case.of("with negative codes", NEGATIVE, codes=codes(b, a, -7, -1)),
        Case.of("with codes from one end to the other", ENDS, codes=ends),
        Case.of("with a single pair", ONE, codes=codes(1, 1, 0, 7)),
        Case.of("with codes that are not contiguous", aspects.LAYOUT, codes=strided(codes(a, b, -7, -1))),
    ]


def canonical(observation: Observation, case: Case) -> Observation:
    """Whole numbers of more than a byte are alike. Where a negative code has spoilt the other half of its byte, and
    nothing else is wrong, it doesn't matter with what."""
    output, first, second = observation.get("output"), case.inputs["codes"][:, 0::2], case.inputs["codes"][:, 1::2]
    if not isinstance(output, torch.Tensor) or output.shape != first.shape or output.is_floating_point():
        return {"shared": AS_ASKED, **observation}
    observation = {"shared": _shared(output, first, second) or AS_ASKED, **observation}
    if output.dtype not in (torch.uint8, torch.int8):
        return {**observation, "output": output.long()}
    lower, spoilt = output.int() % 16 == first % 16, output.int() // 16 % 16 != second % 16
    if bool(lower.all()) and bool(spoilt.any()) and not bool((spoilt & (first >= 0)).any()):
        return {**observation, "output": "the upper half is wrong where the lower is negative"}
    return observation


AS_ASKED = "each two neighbours share their byte"


def _shared(output: torch.Tensor, first: torch.Tensor, second: torch.Tensor) -> str:
    """Whether all the codes are there, in other bytes than their own."""
    halves = torch.stack([output.long() % 16, output.long() // 16 % 16], -1)
    wanted = torch.stack([first, second], -1).long() % 16
    if torch.equal(halves, wanted) or torch.equal(halves, wanted.flip(-1)) or int(output.max()) > 255:
        return ""
    if not torch.equal(halves.flatten().sort().values, wanted.flatten().sort().values):
        return ""
    return (
        "Each code has its 4 bits somewhere in your result, but not in the byte where it belongs. Which two codes "
        "share a byte, and which byte is it?"
    )


TRIAL = Trial(
    module="transformer_course.fast_answers.quantized",
    points=1,
    cases=cases,
    canonical=canonical,
    called={"shared": "which codes share a byte"},
    aspects=(
        aspects.shape(),
        aspects.worded(aspects.values(4.0), "shared"),
        aspects.dtype("uint8", meaning="The result is uint8: a byte for each two codes."),
        NEGATIVE,
        ENDS,
        ONE,
        aspects.LAYOUT,
        aspects.untouched(),
    ),
)
