"""`head_writes`: how it is tried."""

from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.battery import Battery
from cellcheck.authoring.calls import in_order_with_gradients
from cellcheck.authoring.draw import normal

SINGLE = aspects.special("a single head", meaning="With a single head, the result is right too.")
NARROW = aspects.special("heads of width one", meaning="With heads of width one, the result is right too.")


def cases(generator: np.random.Generator) -> list[Case]:
    h, d = (int(size) for size in generator.permutation([3, 4]))

    def drawn(b: int, h: int, n: int, d: int, dtype: Any = None) -> dict[str, Any]:
        return {
            "heads": normal(generator, b, h, n, d, dtype=dtype),
            "weight": normal(generator, h * d, h * d, dtype=dtype),
        }

    usual = Battery(drawn, b=4, h=h, n=5, d=d)
    return [
        usual.different(),
        Case.of("with as many heads as numbers a head", **drawn(2, 3, 4, 3)),
        usual.equal(2),
        usual.batch_of_one(),
        Case.of("on a single token", aspects.LENGTH_ONE, **drawn(3, h, 1, d)),
        Case.of("with a single head", SINGLE, **drawn(3, 1, 5, 4)),
        Case.of("with heads of width one", NARROW, **drawn(3, 4, 5, 1)),
        usual.float64(),
        usual.not_contiguous(),
    ]


AS_ASKED = "its own columns"


def with_its_columns(observation: Observation, case: Case) -> Observation:
    """What each number of each head is multiplied by, where that isn't its own column of the weight."""
    if "error" in observation:
        return observation
    heads, weight = (case.inputs[name].detach().double() for name in ("heads", "weight"))
    output, words = observation.get("output"), ""
    if isinstance(output, torch.Tensor) and output.dim() == 4 and heads.shape[1] > 1:
        for written in (output, output.transpose(1, 2)):  # the axes of heads and tokens may be swapped besides
            words = words or _columns(written.detach().double(), heads, weight)
    return {"columns": words or AS_ASKED, **observation}


def _columns(written: torch.Tensor, heads: torch.Tensor, weight: torch.Tensor) -> str:
    """What a head writes is a sum of what all heads have, each number times a vector, which least squares find.

    Nothing is said where it isn't, or where these vectors have nothing to do with the weight.
    """
    batch, number, length, width = heads.shape
    joined = heads.transpose(1, 2).flatten(2).flatten(0, 1)  # (tokens, d_model)
    if written.shape != (batch, number, length, len(weight)) or len(joined) < joined.shape[1]:
        return ""
    if not written.isfinite().all():
        return ""
    own = weight.T.reshape(number, width, -1)  # (heads, d_head, d_model)
    right = torch.einsum("bhnd,hdm->bhnm", heads, own)
    if _near(written, right):
        return AS_ASKED
    factor = written.flatten()[0] / right.flatten()[0]
    if _near(written, factor * right):
        return f"What your heads write is {float(factor):.4g} times what it should be. Where does the factor come from?"
    of_tokens = written.permute(1, 0, 2, 3).flatten(1, 2)  # (heads, tokens, d_model)
    times = torch.linalg.lstsq(joined.expand(number, -1, -1), of_tokens).solution  # (heads, d_model, d_model)
    blocks = times.reshape(number, number, width, -1)  # (heads, of which head, d_head, d_model)
    vectors = blocks.diagonal().movedim(-1, 0)  # (heads, d_head, d_model)
    known = (times.unsqueeze(-1) - weight.flatten()).abs().amin(dim=-1) < NEAR  # which numbers are some of the weight
    if not _near(joined @ times, of_tokens) or not (known | (times.abs() < NEAR)).all():
        return _mixed_up(written, heads, own)
    for head, of_heads in enumerate(blocks):
        needed = (of_heads.abs().amax(dim=(1, 2)) > NEAR).nonzero().flatten().tolist()
        if needed != [head]:
            say = f"depends on the results of the heads {needed}" if needed else "is zero, whatever its results are"
            return f"What you let head {head} write {say}. Whose results does it write?"
    sources = {f"column {i} of the weight": column for i, column in enumerate(weight.T)}
    sources |= {f"row {i} of the weight": row for i, row in enumerate(weight)}
    for at, (vector, column) in enumerate(zip(vectors.flatten(0, 1), weight.T, strict=True)):
        if not _near(vector, column):
            here = vector.abs() > NEAR
            parts = {f"a part of {words}, and zeros": one * here for words, one in sources.items() if here.any()}
            others = "numbers of the weight that are no column of it"
            source = next((words for words, one in (sources | parts).items() if _near(vector, one)), others)
            return (
                f"You multiply number {at % width} of head {at // width} by {source}. It comes in as number {at} of "
                "all that the layer gets. Which numbers of the weight does a Linear layer multiply that by?"
            )
    return ""


def _mixed_up(written: torch.Tensor, heads: torch.Tensor, own: torch.Tensor) -> str:
    """Whether each head writes with its own columns, but the result of another head, token or row."""
    batch, number, length, width = heads.shape
    results = heads.reshape(-1, width)  # (rows * heads * tokens, d_head)
    could_be = torch.einsum("rd,hdm->hrm", results, own)  # what each head would write with each result
    far = (written.transpose(0, 1).unsqueeze(3) - could_be[:, None, None]).abs().amax(dim=-1)
    taken, from_where = far.min(dim=-1).values, far.argmin(dim=-1)  # (heads, rows, tokens)
    at = torch.arange(batch * number * length).reshape(batch, number, length).transpose(0, 1)
    if not bool((taken < NEAR).all()) or torch.equal(from_where, at):
        return ""
    head, row, token = (int(index) for index in (from_where != at).nonzero()[0])
    other_row, other_head, other_token = np.unravel_index(int(from_where[head, row, token]), (batch, number, length))
    where = f"token {other_token}" + f" of row {other_row}" * int(other_row != row)
    return (
        f"In row {row}, what you let head {head} write at token {token} is made of the result of head {other_head} at "
        f"{where}. Do your steps swap axes, or only cut the numbers up in another way?"
    )


NEAR = 1e-3


def _near(one: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.allclose(one, other, atol=NEAR)


TRIAL = Trial(
    module="transformer_course.circuits.reading",
    points=2,
    cases=cases,
    probe=in_order_with_gradients(0, 1),
    canonical=with_its_columns,
    called={"columns": "what the heads are multiplied by"},
    aspects=(
        aspects.shape(
            "shape (batch, heads, length, d_model)",
            "For each head the result has a vector of the stream's width for each token.",
        ),
        aspects.worded(aspects.values(8.0), "columns"),
        aspects.gradients(weight=1.0),
        aspects.BATCH_OF_ONE,
        aspects.LENGTH_ONE,
        SINGLE,
        NARROW,
        *aspects.any_numbers(0.5),
        aspects.untouched(weight=0.5),
    ),
)
