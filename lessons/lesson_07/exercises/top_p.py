"""`top_p_filter`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course.sampling import top_p_filter
from grader.authoring.aspects import also, any_numbers, shape, untouched, values
from grader.authoring.draw import dims, normal, strided
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.aspects import special
from lessons.lesson_07.exercises.drawing import HIDDEN, with_hidden

Filter = Callable[[torch.Tensor, Any], Any]


def _looks_right(logits: torch.Tensor, p: float) -> bool:
    """Whether one of the usual wrong sets happens to be the right one."""
    right = top_p_filter(logits, p)
    shares = logits.softmax(-1)
    wrong = [_keeping(drop=lambda shares, p: shares.cumsum(-1) - shares >= 1 - p), _unsorted]
    sets = [way(logits, p) for way in wrong] + [logits.masked_fill(shares < p, HIDDEN)]
    return any(torch.equal(right, other) for other in sets)


def _gaps(logits: torch.Tensor, p: float) -> float:
    """How far the sums of the one, two, three, ... largest probabilities keep away from p."""
    masses = logits.double().softmax(-1).sort(dim=-1, descending=True).values.cumsum(-1)
    return float((masses - p).abs().min())


def _masses(generator: np.random.Generator) -> list[Case]:
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
    laid_out = draw(batch, vocabulary, 0.5, 0.8)
    laid_out["logits"] = strided(laid_out["logits"])
    some = draw(batch, vocabulary, 0.5, 0.8)
    some["logits"] = with_hidden(some["logits"], 2)
    while _gaps(some["logits"], some["p"]) < 0.01:
        some["p"] = round(float(generator.uniform(0.5, 0.8)), 3)
    middle, low = draw(batch, vocabulary, 0.55, 0.8), draw(5, vocabulary, 0.3, 0.45)
    high, square = draw(batch, vocabulary + 5, 0.85, 0.95), draw(5, 5, 0.5, 0.8)
    return [
        *(Case(f"with p = {inputs['p']}", inputs, frozenset({"usual"})) for inputs in (middle, low, high)),
        Case(f"with as many rows as tokens, and p = {square['p']}", square, frozenset({"usual"})),
        Case("with a tiny p", {"logits": mild, "p": 1e-6}, frozenset({"tiny"})),
        Case("with p = 0", {"logits": mild, "p": 0.0}, frozenset({"tiny"})),
        Case("with p = 1", {"logits": mild, "p": 1.0}, frozenset({"all"})),
        Case("with p = 1 and -inf", {"logits": with_hidden(mild, 2), "p": 1.0}, frozenset({"all"})),
        Case("on a batch of one", draw(1, vocabulary, 0.5, 0.8), frozenset({"one"})),
        Case("with equal logits", {"logits": tied, "p": 0.6}, frozenset({"ties"})),
        Case("where some logits are -inf already", some, frozenset({"hidden"})),
        Case("with float64", draw(batch, vocabulary, 0.5, 0.8, torch.float64), frozenset({"float64"})),
        Case("with logits that are not contiguous", laid_out, frozenset({"strided"})),
    ]


def _keeping(
    probabilities: Callable[[torch.Tensor], torch.Tensor] = lambda ordered: ordered.softmax(-1),
    drop: Callable[[torch.Tensor, float], torch.Tensor] = lambda shares, p: shares.cumsum(-1) - shares >= p,
    descending: bool = True,
    never_empty: bool = True,
    back: bool = True,
    fill: float = HIDDEN,
) -> Filter:
    """The right way with one step replaced."""

    def keep(logits: torch.Tensor, p: float) -> torch.Tensor:
        ordered, places = logits.sort(dim=-1, descending=descending)
        dropped = drop(probabilities(ordered), p)
        if never_empty:
            dropped = dropped & (torch.arange(logits.shape[-1]) > 0)
        if not back:
            return logits.masked_fill(dropped, fill)
        return torch.empty_like(logits).scatter(-1, places, ordered.masked_fill(dropped, fill))

    return keep


def _classic(first_stays: bool) -> Filter:
    """The way it is often written: the running sum *with* a token decides about that token."""

    def keep(logits: torch.Tensor, p: float) -> torch.Tensor:
        ordered, places = torch.sort(logits, descending=True, dim=-1)
        remove = torch.cumsum(torch.softmax(ordered, dim=-1), dim=-1) > p
        if first_stays:
            remove[..., 0] = False
        ordered[remove] = HIDDEN
        return torch.gather(ordered, -1, places.argsort(-1))

    return keep


def _unsorted(logits: torch.Tensor, p: float) -> torch.Tensor:
    shares = logits.softmax(-1)
    return logits.masked_fill((shares.cumsum(-1) - shares >= p) & (shares < shares.amax(-1, keepdim=True)), HIDDEN)


def _p_in_place(logits: torch.Tensor, p: float) -> torch.Tensor:
    logits.copy_(top_p_filter(logits, p))
    return logits


def _one_order_for_all(logits: torch.Tensor, p: float) -> torch.Tensor:
    places = logits[0].argsort(descending=True)
    shares = logits.softmax(-1)[:, places]
    dropped = (shares.cumsum(-1) - shares >= p) & (torch.arange(logits.shape[-1]) > 0)
    return logits.masked_fill(dropped[:, places.argsort()], HIDDEN)


def _p_by_loop(logits: torch.Tensor, p: float) -> torch.Tensor:
    result = torch.full_like(logits, HIDDEN)
    for row, shares, kept in zip(logits, logits.softmax(-1), result, strict=True):
        mass = 0.0
        for token in sorted(range(len(row)), key=lambda i: -shares[i].item()):
            kept[token] = row[token]
            mass += shares[token].item()
            if mass >= p and p < 1:
                break
    return result


def _p_shifted(logits: torch.Tensor, p: float) -> torch.Tensor:
    """As libraries have it: what is beyond p goes, moved by one so that the token that reaches p stays."""
    ordered, places = torch.sort(logits, descending=True)
    remove = torch.cumsum(torch.softmax(ordered, dim=-1), dim=-1) > p
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = 0
    return logits.masked_fill(remove.scatter(1, places, remove), float("-inf"))


def _p_from_below(logits: torch.Tensor, p: float) -> torch.Tensor:
    ordered, places = torch.sort(logits, descending=False)
    remove = ordered.double().softmax(-1).cumsum(-1) <= 1 - p
    remove[:, -1] = False
    return logits.masked_fill(remove.gather(1, places.argsort(1)), HIDDEN)


def _p_by_comparing(logits: torch.Tensor, p: float) -> torch.Tensor:
    """The total of everything more likely, for each token; ties go by index."""
    shares = logits.softmax(-1)
    place = torch.arange(logits.shape[-1])
    one, other = logits[:, :, None], logits[:, None, :]
    before = (other > one) | ((other == one) & (place[None, :] < place[:, None]))
    mass = (before * shares[:, None, :]).sum(-1)
    return torch.where((mass < p) | (before.sum(-1) == 0), logits, HIDDEN)


TOP_P = Exercise(
    symbol="top_p_filter",
    points=3,
    cases=_masses,
    references=(top_p_filter,),
    aspects=(
        shape(),
        values(),
        special(
            "never empty", "tiny", weight=2.0, meaning="Even with a tiny p, or p = 0, the most likely token stays."
        ),
        special("p = 1 keeps all", "all", meaning="With p = 1, every token stays."),
        special("a batch of one", "one"),
        special(
            "equal logits", "ties", meaning="Rows in which several tokens are equally likely give the right result too."
        ),
        special("logits that are -inf already", "hidden"),
        *any_numbers(),
        also("a new tensor", "tensor", meaning="The result shares no memory with the argument."),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "crossing_token_dropped",
            _classic(first_stays=False),
            "You drop the token that takes the sum past p along with those after it, so your set stays below p, and "
            "it can even be empty. Which token should be the last one in?",
            central=True,
        ),
        Mistake(
            "crossing_token_dropped_first_stays",
            _classic(first_stays=True),
            "You drop the token that takes the sum past p along with those after it, so what you keep often sums to "
            "less than p. Which token should be the last one in?",
            central=True,
        ),
        Mistake(
            "one_too_many",
            _keeping(drop=lambda shares, p: (shares.cumsum(-1) - shares - shares.roll(1, -1) >= p) & (p < 1)),
            "You keep one token more than needed: p was reached without it. Which sum do you compare with p?",
        ),
        Mistake(
            "empty_for_tiny_p",
            _keeping(drop=lambda shares, p: shares.cumsum(-1) - shares + 1e-9 >= p, never_empty=False),
            "With p = 0 nothing is left, and nothing can be sampled. Which token should always stay?",
        ),
        Mistake(
            "p_as_a_threshold",
            lambda logits, p: logits.masked_fill(
                (logits.softmax(-1) < p) & (logits < logits.amax(-1, keepdim=True)) & (p < 1), HIDDEN
            ),
            "You keep the tokens whose own probability is at least p. Which probabilities should sum to p?",
            central=True,
        ),
        Mistake(
            "not_sorted",
            _unsorted,
            "You add up the probabilities in the order of the vocabulary. In which order do tokens join the set?",
            central=True,
        ),
        Mistake(
            "least_likely_first",
            _keeping(descending=False),
            "Your set starts with the least likely tokens. In which order does your sort put them?",
        ),
        Mistake(
            "not_put_back",
            _keeping(back=False),
            "You decide in the sorted row which tokens to drop, and drop them by those indices in the unsorted one. "
            "How do you get back to the tokens' own places?",
        ),
        Mistake(
            "sorted",
            lambda logits, p: top_p_filter(logits, p).sort(-1, descending=True).values,
            "Your logits come out sorted, so nobody can tell which token is which. How do you get back to the tokens' "
            "own places?",
        ),
        Mistake(
            "no_softmax",
            _keeping(probabilities=lambda ordered: ordered),
            "You add up logits. What should sum to p?",
        ),
        Mistake(
            "rest_kept",
            _keeping(drop=lambda shares, p: shares.cumsum(-1) - shares >= 1 - p),
            "The probabilities that you keep sum to 1 - p, not p. What should they sum to?",
        ),
        Mistake(
            "order_of_row_0",
            _one_order_for_all,
            "You sort all rows in the order of row 0. Is the most likely token the same in every row?",
        ),
        Mistake(
            "zeros_for_minus_infinity",
            _keeping(fill=0.0),
            "You set dropped logits to 0, which isn't small. Which logit has probability 0?",
        ),
        Mistake(
            "probabilities_returned",
            lambda logits, p: top_p_filter(logits, p).softmax(-1),
            "You return probabilities. What does the function that samples from the result expect?",
        ),
        Mistake(
            "own_tensor_returned",
            lambda logits, p: logits if p >= 1 else top_p_filter(logits, p),
            "With p = 1 you return the caller's own tensor, so writing into the result changes both. How do you make a "
            "new one?",
        ),
        Mistake(
            "in_place",
            _p_in_place,
            "The result is right, but the caller's logits were changed too. Which call makes a new tensor instead?",
        ),
        Mistake(
            "in_float32",
            lambda logits, p: top_p_filter(logits.float(), p),
            "With float64 logits the result is float32. Which line makes a tensor of a fixed dtype?",
        ),
    ),
    variants={
        "mass before": _keeping(),
        "shifted by one": _p_shifted,
        "from below": _p_from_below,
        "every pair compared": _p_by_comparing,
        "loop": _p_by_loop,
    },
)
