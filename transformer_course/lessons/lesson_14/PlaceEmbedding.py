"""`PlaceEmbedding`: how it is tried."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import dims, integers, normal, with_gaps
from cellcheck.authoring.modules import built, followed

NOWHERE = aspects.central(
    aspects.special(
        "tokens without a place", weight=11.0, meaning="Plus and padding, at place 0, get zeros, whatever the start is."
    )
)
STARTS = aspects.central(
    aspects.special(
        "a start for each row",
        weight=11.0,
        meaning="Each row of the batch has a start of its own, in training and in eval mode.",
        keys=("output", "later"),
    )
)
ENDS = aspects.special("the first and the last row", weight=2.0, meaning="Rows of the table are used up to its last.")
SMALLEST = aspects.special("one row, one token", weight=0.5, meaning="A single row and a single token work too.")


def cases(generator: np.random.Generator) -> list[Case]:
    b, n, d = dims(generator, 3, 3, 7)
    rows = int(generator.integers(20, 24))  # more than any case but one needs

    def inputs(
        batch: int, length: int, start: torch.Tensor, low: int = 1, dtype: Any = torch.float32
    ) -> dict[str, Any]:
        places = integers(generator, low, 6, batch, length)
        return {
            "places": places,
            "start": start,
            "weights": {"vectors.weight": normal(generator, rows, d, dtype=dtype)},
        }

    same = torch.full((b, 1), int(generator.integers(2, 8)))
    zero = torch.zeros(b, 1, dtype=torch.long)
    mixed = inputs(b, n + 2, same, 0)
    mixed["places"][:, 1], mixed["places"][:, -1] = 0, 0
    unmoved = inputs(b, n + 1, zero, 0)
    unmoved["places"][:, 0] = 0
    own = inputs(b, n, torch.arange(b).unsqueeze(1) * 2 + 1)
    last = inputs(b, n, same)
    last["places"][:, 0] = rows - 1 - same[:, 0]
    return [
        Case.of("without an offset", **inputs(b, n, zero)),
        Case.of("with other sizes", **inputs(n, b, zero[:1].expand(n, 1).clone())),
        Case.of("with the same start in all rows", **inputs(b, n, same)),
        Case.of("with a start for each row", STARTS, **own),
        Case.of("with as many rows as tokens", STARTS, **inputs(n, n, torch.arange(n).unsqueeze(1) + 2)),
        Case.of("with plus and padding, and a start", NOWHERE, **mixed),
        Case.of("with plus and padding, and no offset", NOWHERE, **unmoved),
        Case.of("up to the last row of the table", ENDS, **last),
        Case.of("on a single row", SMALLEST, **inputs(1, n, same[:1])),
        Case.of("on a single token", SMALLEST, **inputs(b, 1, same)),
        Case.of("with float64", aspects.FLOAT64, **inputs(b, n, same, dtype=torch.float64)),
        Case.of("with tensors that are not contiguous", aspects.LAYOUT, **with_gaps(inputs(b, n, same))),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What is seen of the module, and what it returns later on: in eval mode, with another start."""
    places, start = inputs["places"], inputs["start"]
    table = inputs["weights"]["vectors.weight"]
    module = built(symbol, *table.shape)
    padding = getattr(getattr(module, "vectors", None), "padding_idx", None)
    if padding is not None:  # such a row begins as zeros, and never learns
        table = table.clone()
        table[padding] = 0
    before = (start - 1).clamp(min=0)
    given = places.clone()
    seen = followed(module, {"vectors.weight": table}, [places, start])
    if "gradients" in seen:  # so it could be given the table
        with torch.no_grad():
            seen["later"] = module(given, before)
    return seen


VALUES = aspects.values(6.0)
AS_ASKED = "as in the docstring"
NOT_ZERO = "A token at place 0 gets numbers other than 0. What does the docstring give to it?"


def rows_in_words(observation: Observation, case: Case) -> Observation:
    """Which row of the table a token gets, where that isn't the one asked for."""
    if "output" not in observation:
        return observation
    output, places = observation["output"], case.inputs["places"]
    if isinstance(output, torch.Tensor) and output.dim() == 3 and output.shape[:2] == places.shape:
        some = bool(output.detach()[places == 0].any())
        observation = {"nowhere": NOT_ZERO if some else "zeros", **observation}
    return {"row": _row(output, **case.inputs) or AS_ASKED, **observation}


def _row(output: Any, places: torch.Tensor, start: torch.Tensor, weights: Mapping[str, torch.Tensor]) -> str:
    """What is to be said of the first token that gets another row; nothing where not every digit gets one."""
    table = weights["vectors.weight"]
    if not isinstance(output, torch.Tensor) or output.shape != (*places.shape, table.shape[1]):
        return ""
    told = output.detach().to(table.dtype)
    lost = ((told == 0).all(dim=2) & (places > 0)).nonzero().tolist()
    if lost:
        batch, token = lost[0]
        place, first = int(places[batch, token]), int(start[batch, 0])
        return f"A token at place {place} with a start of {first} gets zeros. Which tokens should get zeros?"
    same = torch.isclose(told.unsqueeze(2), table).all(dim=3)  # (batch, length, rows)
    if not same.any(dim=2)[places > 0].all():
        return _times_a_row(told, places, start, table)
    rows, wanted = same.int().argmax(dim=2), places + start
    for batch, token in (same.any(dim=2) & ((places == 0) | (rows != wanted))).nonzero().tolist():
        place, first, row = int(places[batch, token]), int(start[batch, 0]), int(rows[batch, token])
        what = "Which row does the docstring ask for?" if place else "What should a token without a place get?"
        return f"A token at place {place} with a start of {first} gets row {row} of the table. {what}"
    return ""


def _times_a_row(told: torch.Tensor, places: torch.Tensor, start: torch.Tensor, table: torch.Tensor) -> str:
    """What is to be said if every digit gets some row of the table, but a number times as large."""
    along = told @ table.mT / table.square().sum(dim=1)  # (batch, length, rows)
    same = torch.isclose(told.unsqueeze(2), along.unsqueeze(3) * table, rtol=1e-3, atol=1e-4).all(dim=3)
    if not same.any(dim=2)[places > 0].all():
        return ""
    batch, token = (places > 0).nonzero()[0].tolist()
    place, first, row = int(places[batch, token]), int(start[batch, 0]), int(same[batch, token].int().argmax())
    times = along[batch, token, row].item()
    return (
        f"A token at place {place} with a start of {first} gets {times:.4g} times row {row} of the table. Which row is "
        "asked for, and how many times?"
    )


TRIAL = Trial(
    module="transformer_course.length_generalization.positions",
    points=2,
    cases=cases,
    probe=probe,
    canonical=rows_in_words,
    called={"row": "which row a token gets", "later": "what it returns later on, in eval mode and with another start"},
    aspects=(
        *aspects.with_words(
            aspects.of_module(STARTS, NOWHERE, ENDS, SMALLEST, values_weight=VALUES.weight),
            "row",
            *(aspect.name for aspect in (STARTS, NOWHERE, ENDS, VALUES)),
        ),
        aspects.spoken("zeros without a place", "nowhere", tag=NOWHERE.name, meaning="A token at place 0 gets zeros."),
        aspects.also("call after call", "later", meaning="In eval mode, and when it is called again, it is right too."),
    ),
)
