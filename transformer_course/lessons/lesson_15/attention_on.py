"""`attention_on`: how it is tried."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Trial, aspects
from cellcheck.authoring.battery import Battery
from cellcheck.authoring.calls import in_order
from cellcheck.authoring.draw import dims
from transformer_course.lessons.lesson_15.drawing import attention, silenced, targets
from transformer_course.lessons.watching import Unwatched, asked, first_said
from transformer_course.lessons.wordings import usually_in_words, without_the_wish

NOTHING = aspects.special(
    "no target anywhere", weight=2.0, meaning="Where no position has a target, the result is zeros, not NaN."
)
UNEVEN = aspects.special(
    "rows with few targets",
    weight=2.0,
    meaning="All positions that have a target count alike, whichever row they are in.",
)


@usually_in_words
def cases(generator: np.random.Generator) -> list[Case]:
    b, h, n = dims(generator, 3, 3, 7)

    def drawn(b: int, h: int, n: int, dtype: Any = None) -> dict[str, Any]:
        return {"weights": attention(generator, b, h, n, dtype), "targets": targets(generator, b, n)}

    usual = Battery(drawn, b=b, h=h, n=n)
    single = drawn(b, h, n)
    single["targets"] = torch.zeros(b, n, n, dtype=torch.bool)
    single["targets"][:, -2:, 1] = True
    uneven = drawn(b, h, n + 2)
    uneven["targets"][1:] = False
    uneven["targets"][1, -1, -1] = True
    two = drawn(b, h, n)
    two["targets"][:] = False
    two["targets"][0, -1, 1] = two["targets"][1, -2, 0] = True
    lonely = drawn(b, h, n)
    lonely["targets"][:] = False
    lonely["targets"][1, -2, 0] = True
    nothing = drawn(b, h, n)
    nothing["targets"] = torch.zeros_like(nothing["targets"])
    unheard = drawn(b, h, n)
    last = torch.zeros_like(unheard["targets"])
    last[-1, -1] = unheard["targets"][-1, -1]
    unheard["weights"] = silenced(unheard["weights"], last.unsqueeze(1))
    return [
        usual.different(),
        usual.equal(4),
        Case.of("with one target for the last two positions", **single),
        Case.of("where the last position gives nothing to its targets", **unheard),
        Case.of("with two positions that have a target", **two),
        Case.of("with many targets in one row and one in another", UNEVEN, **uneven),
        Case.of("with a single position that has a target", UNEVEN, **lonely),
        Case.of("without any target", NOTHING, **nothing),
        usual.batch_of_one(),
        Case.of("with a single head", **drawn(b, 1, n)),
        usual.float64(),
        usual.not_contiguous(),
    ]


AS_ASKED = "1 for all of it"


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """A plain call; and in words what comes out if each position gives all it has to these targets."""
    inputs, in_words = without_the_wish(inputs)
    if not in_words:
        return in_order(symbol, inputs)
    targets, heads = inputs["targets"], inputs["weights"].shape[1]
    words = first_said(lambda: _all_of_it(symbol, targets, heads), as_asked=AS_ASKED)
    return {"all_of_it": words, **in_order(symbol, inputs)}


def _all_of_it(symbol: Any, targets: torch.Tensor, heads: int) -> str:
    each, having = targets.sum(dim=-1).double(), targets.any(dim=-1)
    places = torch.arange(targets.shape[-1])
    shares = targets * (1.0 + (7 * places + 5 * places.unsqueeze(1)) % 11)  # of a position's targets, one has most
    shares = shares / shares.sum(dim=-1, keepdim=True).clamp(min=1)
    weights = torch.where(having.unsqueeze(-1), shares, 1.0 / targets.shape[-1])
    scores = asked(symbol, weights.unsqueeze(1).repeat(1, heads, 1, 1), targets.clone())
    if not isinstance(scores, torch.Tensor) or scores.shape != (heads,):
        raise Unwatched
    number = int(having.sum())
    ways = {
        "": 1.0,
        "What you add up is divided by the number of all positions.": number / having.numel(),
        "What you add up is divided by the number of all targets.": number / float(each.sum()),
        "You divide by the number of heads, too.": 1 / heads,
        "You count one position too many.": number / (number + 1),
        "Rows without a target count as well, each as much as the others.": float(having.any(dim=1).double().mean()),
        "You take the mean of what a position gives to its targets.": float((1 / each[having]).mean()),
        "You count the positions that are a target, not those that have one.": number / int(targets.any(dim=-2).sum()),
        "What goes to the targets doesn't count at all.": 0.0,
        "Of several targets you take the first one only.": float(
            shares.gather(-1, targets.int().argmax(-1, keepdim=True)).sum()
        )
        / number,
        "Of several targets you take the last one only.": float(
            shares.flip(-1).gather(-1, targets.flip(-1).int().argmax(-1, keepdim=True)).sum()
        )
        / number,
        "Of several targets you take the one with the least attention.": float(
            shares.masked_fill(~targets, 2.0).amin(dim=-1)[having].sum()
        )
        / number,
        "You swap who looks and who is looked at.": float((weights * targets.mT).sum())
        / int(targets.any(dim=-2).sum()),
    }
    fits = [words for words, size in ways.items() if abs(float(scores[0]) - size) < 1e-5]
    if "" in fits:
        return AS_ASKED
    return (
        "If each position that has a target gave all its attention to its targets, every score should be 1, but yours "
        f"wouldn't be. {fits[0] + ' ' if len(fits) == 1 else ''}What is added up, and what is its mean taken over?"
    )


TRIAL = Trial(
    module="transformer_course.circuits.looking",
    points=2,
    cases=cases,
    probe=probe,
    called={"all_of_it": "the score of heads that give all to the targets"},
    aspects=(
        aspects.shape("shape (heads,)", "The result has the shape (heads,): one number for each head."),
        aspects.worded(aspects.values(8.0), "all_of_it"),
        UNEVEN,
        NOTHING,
        aspects.BATCH_OF_ONE,
        *aspects.any_numbers(0.5),
        aspects.untouched(weight=0.5),
    ),
)
