"""`previous_token_score`: how it is tried."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Trial, aspects
from cellcheck.authoring.battery import Battery
from cellcheck.authoring.calls import in_order
from cellcheck.authoring.draw import dims
from transformer_course.lessons.lesson_15.drawing import attention, silenced
from transformer_course.lessons.watching import Unwatched, asked, first_said
from transformer_course.lessons.wordings import usually_in_words, without_the_wish

SHORTEST = aspects.special("a length of two", meaning="With two positions, only the second has one before it.")


@usually_in_words
def cases(generator: np.random.Generator) -> list[Case]:
    b, h, n = dims(generator, 3, 3, 7)

    def drawn(b: int, h: int, n: int, dtype: Any = None) -> dict[str, Any]:
        return {"weights": attention(generator, b, h, n, dtype)}

    usual = Battery(drawn, b=b, h=h, n=n)
    before_the_last = torch.zeros(n, n, dtype=torch.bool)
    before_the_last[-1, -2] = True
    return [
        usual.different(),
        usual.equal(4),
        Case.of("with long rows", **drawn(2, 3, 9)),
        usual.batch_of_one(),
        Case.of("on rows of two tokens", SHORTEST, **drawn(b, h, 2)),
        Case.of("with a single head", **drawn(b, 1, n)),
        Case.of(
            "where the last position gives nothing to the one before",
            weights=silenced(attention(generator, b, h, n), before_the_last),
        ),
        usual.float64(),
        usual.not_contiguous(),
    ]


AS_ASKED = "each position but the first, and the one before it"
LENGTH = 5


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """A plain call; and in words which weights count, and how much."""
    inputs, in_words = without_the_wish(inputs)
    if not in_words:
        return in_order(symbol, inputs)
    return {"counted": first_said(lambda: _counted(symbol), as_asked=AS_ASKED), **in_order(symbol, inputs)}


def _counted(symbol: Any) -> str:
    """A mean is a sum in which each weight has its share. In each of these heads, a single weight isn't zero."""
    entries = [(q, k) for q in range(LENGTH) for k in range(LENGTH)]
    alone = torch.eye(len(entries)).reshape(len(entries), LENGTH, LENGTH)
    first, second = (_scores(symbol, torch.stack(rows)) for rows in ((alone, 0 * alone), (0 * alone, alone)))
    numbered = torch.arange(1.0, len(entries) + 1).reshape(LENGTH, LENGTH)
    scores = _scores(symbol, torch.stack([numbered, 2 * numbered]).unsqueeze(1).repeat(1, 2, 1, 1) * HEADS)
    if not torch.allclose(scores, (first + 2 * second) @ numbered.flatten() * HEADS.flatten(), rtol=1e-3):
        raise Unwatched  # no sum, or one of several heads
    counts = [entry for entry, share in zip(entries, first + second, strict=True) if abs(float(share)) > 1e-4]
    wanted = [(q, q - 1) for q in range(1, LENGTH)]
    if counts != wanted:
        what = next(
            (words for words, among in WAYS.items() if [each for each in entries if among(*each)] == counts), ""
        )
        return (
            f"What counts in your score is {what or 'something else'}. {_divided(counts, first + second)}"
            "Which entries [q, k] does the docstring ask for?"
        )
    if not torch.allclose(first, second, rtol=1e-4):
        return "In your score, one row counts more than the other. What is a mean over all rows?"
    shares = first.reshape(LENGTH, LENGTH).diagonal(-1)
    if not torch.allclose(shares, shares[:1].expand_as(shares), rtol=1e-4):
        return "In your score, some positions count more than others. What is a mean over all of them?"
    by = 1 / float(shares[0])
    if abs(by - 2 * (LENGTH - 1)) < 1e-3:
        return AS_ASKED
    one_row = "That is the number for a single row. " if abs(by - (LENGTH - 1)) < 1e-3 else ""
    return (
        f"For two rows of {LENGTH} positions, your score is a sum divided by {by:.4g}. {one_row}How many positions "
        "of both rows have one before them?"
    )


def _divided(counts: Sequence[tuple[int, int]], shares: torch.Tensor) -> str:
    """Where entries other than the right ones count, all alike: whether the score is a mean over their positions.

    `shares` are those in the first row and in the second, added up.
    """
    counted = shares[shares.abs() > 1e-4]
    positions = len({q for q, _ in counts})
    if not counts or not torch.allclose(counted, counted[:1].expand_as(counted), rtol=1e-3):
        return ""
    by = 2 / float(counted[0])  # what a sum over two rows is divided by
    if positions < LENGTH and abs(by - 2 * LENGTH) < 1e-3:
        return f"And you divide by the number of all {LENGTH} positions of each row, not of those {positions}. "
    if abs(by - positions) < 1e-3:
        return "And your score is as large again for each row that is added: what turns a sum into a mean? "
    return ""


def _scores(symbol: Any, weights: torch.Tensor) -> torch.Tensor:
    scores = asked(symbol, weights)
    if not isinstance(scores, torch.Tensor) or scores.shape != weights.shape[1:2]:
        raise Unwatched
    return scores.detach().float()


HEADS = torch.tensor([1.0, 3.0]).reshape(2, 1, 1)
WAYS: dict[str, Callable[[int, int], bool]] = {
    "what positions give to themselves": lambda q, k: q == k,
    "what positions but the first give to themselves": lambda q, k: q == k > 0,
    "what positions give to all that came before them": lambda q, k: k < q,
    "what positions give to all up to themselves": lambda q, k: k <= q,
    "what positions give to all that comes after them": lambda q, k: k > q,
    "all that positions give": lambda q, k: True,
    "all that positions but the first give": lambda q, k: q > 0,
    "what each position gives to the next": lambda q, k: k == q + 1,
    "what each position gives to the one two before": lambda q, k: k == q - 2,
    "what each position gives to the one before, and the first one to the last": lambda q, k: k == (q - 1) % LENGTH,
    "what each position gives to the one before and to itself": lambda q, k: k in (q - 1, q),
    "what each position gives to the one before and to the next": lambda q, k: abs(q - k) == 1,
    "what each position gives to the one before, without the second": lambda q, k: k == q - 1 > 0,
    "what each position gives to the one before, without the last": lambda q, k: k == q - 1 < LENGTH - 2,
    "what the second position gives to the first": lambda q, k: (q, k) == (1, 0),
    "what the last position gives to the one before": lambda q, k: (q, k) == (LENGTH - 1, LENGTH - 2),
    "what the last position gives to all": lambda q, k: q == LENGTH - 1,
    "what all positions give to the first": lambda q, k: k == 0,
    "what all other positions give to the first": lambda q, k: k == 0 < q,
}


TRIAL = Trial(
    module="transformer_course.circuits.looking",
    points=1,
    cases=cases,
    probe=probe,
    called={"counted": "what counts in the score"},
    aspects=(
        aspects.shape("shape (heads,)", "The result has the shape (heads,): one number for each head."),
        aspects.worded(aspects.values(8.0), "counted"),
        aspects.BATCH_OF_ONE,
        SHORTEST,
        *aspects.any_numbers(0.5),
        aspects.untouched(weight=0.5),
    ),
)
