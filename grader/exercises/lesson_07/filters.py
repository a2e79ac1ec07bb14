"""`top_k_filter` and `top_p_filter`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course.sampling import top_k_filter, top_p_filter
from grader.exercises.aspects import KNOWN, dtype, shape, special, untouched, values
from grader.exercises.draw import dims, normal, strided
from grader.exercises.spec import Aspect, Case, Exercise, Mistake

Filter = Callable[[torch.Tensor, Any], Any]
HIDDEN = -torch.inf


def _uneven(
    generator: np.random.Generator, batch: int, vocabulary: int, kind: torch.dtype = torch.float32
) -> torch.Tensor:
    """Logits in no order, of which no two in a row are close to each other; rows lie above and below row 0."""
    order = generator.permuted(np.tile(np.arange(vocabulary), (batch, 1)), axis=1)
    jitter = generator.uniform(-0.3, 0.3, (batch, vocabulary))
    level = np.arange(batch)[:, None] * (-1) ** np.arange(batch)[:, None] * 2
    return torch.from_numpy((order - vocabulary / 2 + jitter + level) * 0.7).to(kind)


def _with_hidden(logits: torch.Tensor, count: int) -> torch.Tensor:
    """The smallest `count` logits of each row are -inf already, and so cannot be drawn."""
    smallest = logits.topk(count, dim=-1, largest=False).indices
    return logits.scatter(-1, smallest, HIDDEN)


def _numbers(generator: np.random.Generator) -> list[Case]:
    batch, vocabulary = dims(generator, 2, 3, 4)
    vocabulary += 3
    k = int(generator.integers(2, 4))

    def draw(rows: int, tokens: int, k: int, kind: torch.dtype = torch.float32) -> dict[str, Any]:
        return {"logits": _uneven(generator, rows, tokens, kind), "k": k}

    below = draw(batch, vocabulary, k)
    below["logits"] -= below["logits"].max() + 1
    hidden = {"logits": _with_hidden(_uneven(generator, batch, vocabulary), vocabulary - 2), "k": 3}
    some = {"logits": _with_hidden(_uneven(generator, batch, vocabulary), 2), "k": 2}
    return [
        Case("with a small k", draw(batch, vocabulary, k), frozenset({"usual"})),
        Case("with more tokens", draw(2, vocabulary + 8, k + 3), frozenset({"usual"})),
        Case("with as many rows as tokens", draw(5, 5, k), frozenset({"usual"})),
        Case("where all logits are negative", below, frozenset({"usual"})),
        Case("with k = 1", draw(batch, vocabulary, 1), frozenset({"ends"})),
        Case("with one less than all", draw(batch, vocabulary, vocabulary - 1), frozenset({"ends"})),
        Case("with k = vocab_size", draw(batch, vocabulary, vocabulary), frozenset({"ends"})),
        Case("with k above vocab_size", draw(batch, vocabulary, vocabulary + 4), frozenset({"above"})),
        Case("on a batch of one", draw(1, vocabulary, k), frozenset({"one"})),
        Case("where some tokens are -inf already", some, frozenset({"hidden"})),
        Case("where fewer than k tokens are left", hidden, frozenset({"hidden"})),
        Case("with float64", draw(batch, vocabulary, k, torch.float64), frozenset({"float64"})),
        Case(
            "with logits that are not contiguous",
            {"logits": strided(_uneven(generator, batch, vocabulary)), "k": k},
            frozenset({"strided"}),
        ),
    ]


def _smallest(logits: torch.Tensor, k: int) -> torch.Tensor:
    """The k-th largest of each row, (batch, 1)."""
    return logits.topk(min(k, logits.shape[-1]), dim=-1).values[:, -1:]


def _over_the_batch(logits: torch.Tensor, k: int) -> torch.Tensor:
    least = logits.flatten().topk(min(k, logits.numel())).values[-1]
    return logits.masked_fill(logits < least, HIDDEN)


def _in_place(logits: torch.Tensor, k: int) -> torch.Tensor:
    logits[logits < _smallest(logits, k)] = HIDDEN
    return logits


def _by_loop(logits: torch.Tensor, k: int) -> torch.Tensor:
    rows = []
    for row in logits:
        kept = set(row.argsort(descending=True)[:k].tolist())
        rows.append(torch.stack([x if i in kept else x - torch.inf for i, x in enumerate(row)]))
    return torch.stack(rows)


def _by_scatter(logits: torch.Tensor, k: int) -> torch.Tensor:
    found = torch.topk(logits, min(k, logits.size(1)))
    return torch.full_like(logits, HIDDEN).scatter_(1, found.indices, found.values)


def _by_rank(logits: torch.Tensor, k: int) -> torch.Tensor:
    rank = logits.argsort(dim=-1, descending=True).argsort(dim=-1)
    return torch.where(rank < k, logits, torch.tensor(HIDDEN, dtype=logits.dtype))


def _by_counting(logits: torch.Tensor, k: int) -> torch.Tensor:
    larger = (logits[:, None, :] > logits[:, :, None]).sum(-1)  # how many beat each token
    return logits.clone().masked_fill_(larger >= k, float("-inf"))


TOP_K = Exercise(
    symbol="top_k_filter",
    points=2,
    cases=_numbers,
    references=(top_k_filter,),
    aspects=(
        shape(),
        values(),
        special("k = 1 to all", "ends"),
        special("k above vocab_size", "above"),
        special("a batch of one", "one"),
        special("-inf on the way in", "hidden"),
        dtype(),
        special("float64", "float64"),
        special("any layout in memory", "strided"),
        Aspect("a new tensor", keys=("tensor",), kinds=KNOWN),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "zeros_for_minus_infinity",
            lambda logits, k: logits.masked_fill(logits < _smallest(logits, k), 0.0),
            "What you drop gets the logit 0, which beats every negative one. Which logit has the probability 0?",
        ),
        Mistake(
            "large_negative_number",
            lambda logits, k: logits.masked_fill(logits < _smallest(logits, k), -1e9),
            "What you drop gets a large negative logit. The docstring names another one: which number is smaller "
            "than all others?",
        ),
        Mistake(
            "one_too_few",
            lambda logits, k: logits.masked_fill(logits <= _smallest(logits, k), HIDDEN),
            "One token too few is left: the k-th largest is dropped along with what is below it. Does it belong to "
            "the k largest?",
        ),
        Mistake(
            "one_too_many",
            lambda logits, k: top_k_filter(logits, k + 1),
            "One token too many is left. Counted from 0, at which place does the k-th largest stand?",
        ),
        Mistake(
            "smallest_kept",
            lambda logits, k: (
                -top_k_filter(-logits, k) + 0.0 * k
                if k >= logits.shape[-1]
                else logits.masked_fill(logits > logits.sort(-1).values[:, k - 1 : k], HIDDEN)
            ),
            "You keep the k smallest. In which order does your sort put them?",
        ),
        Mistake(
            "over_the_whole_batch",
            _over_the_batch,
            "You keep k tokens of the whole batch, so some rows keep none. Along which axis is the top taken?",
        ),
        Mistake(
            "threshold_of_row_0",
            lambda logits, k: logits.masked_fill(logits < _smallest(logits, k)[:1], HIDDEN),
            "Every row is cut at the k-th largest logit of row 0. Whose threshold counts for a row?",
        ),
        Mistake(
            "down_the_columns",
            lambda logits, k: top_k_filter(logits.T, k).T,
            "You keep the k largest of each column. Which axis holds the tokens of one row?",
        ),
        Mistake(
            "sorted",
            lambda logits, k: _by_rank(logits.sort(-1, descending=True).values, k),
            "Your logits come out sorted, and nobody knows any more which token is which. Which tokens' places "
            "should the numbers keep?",
        ),
        Mistake(
            "cut_off",
            lambda logits, k: logits.topk(min(k, logits.shape[-1]), dim=-1).values,
            "You return k numbers a row. What stands in the place of the tokens that are dropped?",
        ),
        Mistake(
            "k_above_is_an_error",
            lambda logits, k: logits.masked_fill(logits < logits.topk(k, dim=-1).values[:, -1:], HIDDEN),
            "With k above vocab_size your code stops. How many tokens can be kept at most?",
        ),
        Mistake(
            "probabilities_returned",
            lambda logits, k: top_k_filter(logits, k).softmax(-1),
            "You return probabilities. What does the next function in the line expect?",
        ),
        Mistake(
            "own_tensor_returned",
            lambda logits, k: logits if k >= logits.shape[-1] else top_k_filter(logits, k),
            "Where nothing is dropped you hand back the caller's own tensor: who writes into the result changes both. "
            "How do you make a new one?",
        ),
        Mistake(
            "in_place",
            _in_place,
            "The result is right, but the caller's logits were changed along with it. Which method makes a new "
            "tensor instead?",
        ),
        Mistake(
            "multiplied_by_a_mask",
            lambda logits, k: (
                (logits >= _smallest(logits, k)) * logits - torch.inf * (logits < _smallest(logits, k)).to(logits.dtype)
            ),
            "Infinity times 0 is NaN, and that is what stands where a token was kept. How can you choose between two "
            "values without multiplying?",
        ),
        Mistake(
            "in_float32",
            lambda logits, k: top_k_filter(logits.float(), k),
            "With float64 logits the result comes back as float32. Which line makes a tensor of a fixed dtype?",
        ),
    ),
    variants={
        "threshold": lambda logits, k: torch.where(logits >= _smallest(logits, k), logits, HIDDEN),
        "scatter": _by_scatter,
        "rank": _by_rank,
        "counting what is larger": _by_counting,
        "loop": _by_loop,
        "k-th smallest from below": lambda logits, k: logits.masked_fill(
            logits < logits.kthvalue(max(logits.shape[-1] - k, 0) + 1, dim=-1, keepdim=True).values, HIDDEN
        ),
    },
)


def _looks_right(logits: torch.Tensor, p: float) -> bool:
    """Whether one of the usual wrong sets is the right one by accident."""
    right = top_p_filter(logits, p)
    shares = logits.softmax(-1)
    wrong = [_keeping(drop=lambda shares, p: shares.cumsum(-1) - shares >= 1 - p), _unsorted]
    sets = [way(logits, p) for way in wrong] + [logits.masked_fill(shares < p, HIDDEN)]
    return any(torch.equal(right, other) for other in sets)


def _gaps(logits: torch.Tensor, p: float) -> float:
    """How far the masses of the likeliest one, two, three, ... tokens keep away from p."""
    masses = logits.double().softmax(-1).sort(dim=-1, descending=True).values.cumsum(-1)
    return float((masses - p).abs().min())


def _masses(generator: np.random.Generator) -> list[Case]:
    def draw(rows: int, tokens: int, low: float, high: float, kind: torch.dtype = torch.float32) -> dict[str, Any]:
        """Logits and a p with which rows keep different numbers of tokens, and rounding can't matter."""
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
    some["logits"] = _with_hidden(some["logits"], 2)
    while _gaps(some["logits"], some["p"]) < 0.01:
        some["p"] = round(float(generator.uniform(0.5, 0.8)), 3)
    return [
        Case("with p above a half", draw(batch, vocabulary, 0.55, 0.8), frozenset({"usual"})),
        Case("with a small p", draw(5, vocabulary, 0.3, 0.45), frozenset({"usual"})),
        Case("with a large p", draw(batch, vocabulary + 5, 0.85, 0.95), frozenset({"usual"})),
        Case("with as many rows as tokens", draw(5, 5, 0.5, 0.8), frozenset({"usual"})),
        Case("with a tiny p", {"logits": mild, "p": 1e-6}, frozenset({"tiny"})),
        Case("with p = 0", {"logits": mild, "p": 0.0}, frozenset({"tiny"})),
        Case("with p = 1", {"logits": mild, "p": 1.0}, frozenset({"all"})),
        Case("with p = 1 and -inf", {"logits": _with_hidden(mild, 2), "p": 1.0}, frozenset({"all"})),
        Case("on a batch of one", draw(1, vocabulary, 0.5, 0.8), frozenset({"one"})),
        Case("with equal logits", {"logits": tied, "p": 0.6}, frozenset({"ties"})),
        Case("where some tokens are -inf already", some, frozenset({"hidden"})),
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
    """The mass of all that is likelier, for each token; equals go by their place."""
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
        special("never empty", "tiny", weight=2.0),
        special("p = 1 keeps all", "all"),
        special("a batch of one", "one"),
        special("equal logits", "ties"),
        special("-inf on the way in", "hidden"),
        dtype(),
        special("float64", "float64"),
        special("any layout in memory", "strided"),
        Aspect("a new tensor", keys=("tensor",), kinds=KNOWN),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "stops_before_p",
            _keeping(drop=lambda shares, p: (shares.cumsum(-1) > p) & (p < 1)),
            "Your set stays below p: the token that reaches it is left out. Which token is the last one in?",
        ),
        Mistake(
            "one_too_many",
            _keeping(drop=lambda shares, p: (shares.cumsum(-1) - shares - shares.roll(1, -1) >= p) & (p < 1)),
            "One token more than needed is left: p was reached without it. Whose mass do you compare with p?",
        ),
        Mistake(
            "empty_for_tiny_p",
            _keeping(drop=lambda shares, p: shares.cumsum(-1) - shares + 1e-9 >= p, never_empty=False),
            "With p = 0 nothing is left, and nothing can be drawn. Which token should stay in any case?",
        ),
        Mistake(
            "p_as_a_threshold",
            lambda logits, p: logits.masked_fill(
                (logits.softmax(-1) < p) & (logits < logits.amax(-1, keepdim=True)) & (p < 1), HIDDEN
            ),
            "You keep the tokens whose own probability is p or more. Of what should the sum reach p?",
        ),
        Mistake(
            "not_sorted",
            _unsorted,
            "You add up the probabilities in the order of the vocabulary. In which order do tokens come into the set?",
        ),
        Mistake(
            "unlikeliest_first",
            _keeping(descending=False),
            "Your set begins with the unlikeliest tokens. In which order does your sort put them?",
        ),
        Mistake(
            "not_put_back",
            _keeping(back=False),
            "What is dropped was found in the sorted row, and applied to the unsorted one. How do you get back to "
            "the tokens' own places?",
        ),
        Mistake(
            "sorted",
            lambda logits, p: top_p_filter(logits, p).sort(-1, descending=True).values,
            "Your logits come out sorted, and nobody knows any more which token is which. How do you get back to the "
            "tokens' own places?",
        ),
        Mistake(
            "no_softmax",
            _keeping(probabilities=lambda ordered: ordered),
            "You add up logits. What has to be added up to reach a share of the mass?",
        ),
        Mistake(
            "rest_kept",
            _keeping(drop=lambda shares, p: shares.cumsum(-1) - shares >= 1 - p),
            "Your set reaches 1 - p, not p. How much of the mass should stay?",
        ),
        Mistake(
            "order_of_row_0",
            _one_order_for_all,
            "All rows are put into the order of row 0. Does every row have the same likeliest token?",
        ),
        Mistake(
            "zeros_for_minus_infinity",
            _keeping(fill=0.0),
            "What you drop gets the logit 0, which is not small. Which logit has the probability 0?",
        ),
        Mistake(
            "probabilities_returned",
            lambda logits, p: top_p_filter(logits, p).softmax(-1),
            "You return probabilities. What does the next function in the line expect?",
        ),
        Mistake(
            "own_tensor_returned",
            lambda logits, p: logits if p >= 1 else top_p_filter(logits, p),
            "With p = 1 you hand back the caller's own tensor: who writes into the result changes both. How do you "
            "make a new one?",
        ),
        Mistake(
            "in_place",
            _p_in_place,
            "The result is right, but the caller's logits were changed along with it. Which call makes a new tensor "
            "instead?",
        ),
        Mistake(
            "in_float32",
            lambda logits, p: top_p_filter(logits.float(), p),
            "With float64 logits the result comes back as float32. Which line makes a tensor of a fixed dtype?",
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
