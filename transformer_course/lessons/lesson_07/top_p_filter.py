"""`top_p_filter`: how it is tried."""

from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import dims, normal, with_gaps
from transformer_course.lessons.lesson_07.drawing import HIDDEN, INFINITE, of_filter, with_hidden
from transformer_course.lessons.lesson_07.keeping import CALLED, in_words, of_top_p
from transformer_course.sampling import top_p_filter

TINY = aspects.special("never empty", "", 2.0, "Even with a tiny p, or p = 0, the most likely token stays.")
ALL = aspects.special("p = 1 keeps all", meaning="With p = 1, every token stays.")
TIES = aspects.special(
    "equal logits", meaning="Rows in which several tokens are equally likely give the right result too."
)


EXACT = aspects.special(
    "p reached exactly", meaning="Where the most likely tokens sum to p exactly, no further token is kept."
)


def _looks_right(logits: torch.Tensor, p: float) -> bool:
    """Whether one of the usual wrong sets happens to be the right one."""
    right, shares = top_p_filter(logits, p), logits.softmax(-1)
    unsorted = (shares.cumsum(-1) - shares >= p) & (shares < shares.amax(-1, keepdim=True))
    wrong = (top_p_filter(logits, 1 - p), *(logits.masked_fill(drop, HIDDEN) for drop in (unsorted, shares < p)))
    return any(torch.equal(right, other) for other in wrong)


def _gaps(logits: torch.Tensor, p: float) -> float:
    """How far the sums of the one, two, three, ... largest probabilities keep away from p."""
    masses = logits.double().softmax(-1).sort(dim=-1, descending=True).values.cumsum(-1)
    return float((masses - p).abs().min())


def cases(generator: np.random.Generator) -> list[Case]:
    def draw(rows: int, tokens: int, low: float, high: float, kind: torch.dtype = torch.float32) -> dict[str, Any]:
        """Logits and a p with which rows keep different numbers of tokens, and rounding doesn't matter."""
        while True:
            logits = 1.5 * normal(generator, rows, tokens, dtype=kind)
            p = round(float(generator.uniform(low, high)), 2)
            counts = (top_p_filter(logits, p) > HIDDEN).sum(-1)
            different = len(set(counts.tolist())) > 1 or rows == 1
            between = 1 < int(counts.max()) < tokens
            if _gaps(logits, p) > 0.01 and different and between and not _looks_right(logits, p):
                return {"logits": logits, "p": p}

    batch, vocabulary = dims(generator, 2, 3, 4)
    vocabulary += 4
    mild = normal(generator, batch, vocabulary)
    tied = torch.tensor([[0.0, 2.0, 0.0, 2.0, 1.0], [1.0, 1.0, 3.0, 0.0, 0.0]])  # p falls between ties, not into one
    tied = tied[:, torch.from_numpy(generator.permutation(5))]
    laid_out = with_gaps(draw(batch, vocabulary, 0.5, 0.8))
    some = draw(batch, vocabulary, 0.5, 0.8)
    some["logits"] = with_hidden(some["logits"], 2)
    while _gaps(some["logits"], some["p"]) < 0.01:
        some["p"] = round(float(generator.uniform(0.5, 0.8)), 3)
    middle, low = draw(batch, vocabulary, 0.55, 0.8), draw(5, vocabulary, 0.3, 0.45)
    high, square = draw(batch, vocabulary + 5, 0.91, 0.97), draw(5, 5, 0.5, 0.8)
    return [
        *(Case.of(f"with p = {inputs['p']}", **inputs) for inputs in (middle, low, high)),
        Case.of(f"with as many rows as tokens, and p = {square['p']}", **square),
        Case.of("with a tiny p", TINY, logits=mild, p=1e-6),
        Case.of("with p = 0", TINY, logits=mild, p=0.0),
        Case.of("with p = 1", ALL, logits=mild, p=1.0),
        Case.of("with p = 1 and -inf", ALL, logits=with_hidden(mild, 2), p=1.0),
        Case.of("on a batch of one", aspects.BATCH_OF_ONE, **draw(1, vocabulary, 0.5, 0.8)),
        Case.of("with equal logits", TIES, logits=tied, p=0.6),
        Case.of("with eight equal logits and p = 0.5", EXACT, logits=torch.zeros(2, 8), p=0.5),
        Case.of("with four equal logits and p = 0.25", EXACT, logits=torch.ones(1, 4), p=0.25),
        Case.of("where some logits are -inf already", INFINITE, **some),
        Case.of("with float64", aspects.FLOAT64, **draw(batch, vocabulary, 0.5, 0.8, torch.float64)),
        Case.of("with logits that are not contiguous", aspects.LAYOUT, **laid_out),
    ]


def counted(observation: Observation, case: Case) -> Observation:
    """Of equal logits, how many are kept. Which of them is left open, and so is keeping them all."""
    output, logits = observation["output"], case.inputs["logits"]
    if not case.tags & EXACT.tags or not isinstance(output, torch.Tensor) or output.shape != logits.shape:
        return observation
    count, vocabulary = (output > HIDDEN).sum(-1), logits.shape[-1]
    return {**observation, "output": torch.where(count == vocabulary, round(vocabulary * case.inputs["p"]), count)}


TRIAL = Trial(
    module="transformer_course.sampling",
    points=3,
    cases=cases,
    canonical=in_words(of_top_p, counted),
    called=CALLED,
    aspects=of_filter(TINY, ALL, aspects.BATCH_OF_ONE, TIES, EXACT, INFINITE),
)
