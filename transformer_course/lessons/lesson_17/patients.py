"""What `keeps_the_distribution` is tried on: samplers that speculate, sound and broken.

A sampler is known by how likely each token is in the end: to draw from that takes a third of the time that proposing
and replacing would.
"""

from collections.abc import Callable
from typing import Any

import torch

from cellcheck.authoring.patients import Patient

Rows = torch.Tensor
Results = Callable[[Rows, Rows], Rows]
"""Of the probabilities of target and draft, how likely each token is in the end."""


def _rest(target: Rows, draft: Rows) -> Rows:
    rest = (target - draft).clamp(min=0)
    return rest / rest.sum() if float(rest.sum()) > 0 else target


def _speculating(chance: Results, replacement: Results = _rest) -> Results:
    """A sampler that accepts token x with `chance(target, draft)[x]`, and replaces it otherwise."""

    def results(target: Rows, draft: Rows) -> Rows:
        accepted = draft * chance(target, draft)
        return accepted + (1 - accepted.sum()) * replacement(target, draft)

    return results


def _ratio(target: Rows, draft: Rows) -> Rows:
    return torch.nan_to_num(target / draft, nan=1.0).clamp(max=1)


def _favourite(rows: Rows) -> Rows:
    return torch.nn.functional.one_hot(rows.argmax(-1), len(rows)).to(rows.dtype)


def _swapped(target: Rows, draft: Rows) -> Rows:
    """The most likely token loses a twentieth of all to the least likely one."""
    wrong = target.clone()
    wrong[target.argmax()] -= 0.05
    wrong[target.argmin()] += 0.05
    return wrong


def _between(target: Rows, draft: Rows) -> Rows:
    """Two tokens other than the extremes change 6 in a hundred; all others are right."""
    order = target.argsort()
    wrong = target.clone()
    wrong[order[-2]] -= 0.06
    wrong[order[1]] += 0.06
    return wrong


def _middle(target: Rows, draft: Rows) -> Rows:
    """Two tokens that are neither among the most nor among the least likely change a twentieth of all."""
    order = target.argsort()
    wrong = target.clone()
    wrong[order[3]] -= 0.05
    wrong[order[2]] += 0.05
    return wrong


def _balanced(target: Rows, draft: Rows) -> Rows:
    """Four tokens are off by a twentieth, and the mean of the ids is right."""
    wrong = target.clone()
    wrong[[1, 4]] -= 0.05
    wrong[[2, 3]] += 0.05
    return wrong.clamp(min=0)


def _one_moved(by: float, place: int) -> Results:
    """One token changes by this, and all others by a little. Its `place` is that in the order of probabilities."""

    def results(target: Rows, draft: Rows) -> Rows:
        wrong = target - by / (len(target) - 1)
        wrong[target.argsort()[place]] += by + by / (len(target) - 1)
        return wrong

    return results


def _one_missing(target: Rows, draft: Rows) -> Rows:
    """The least likely token never comes, and all others come a little more often."""
    rarest = int(target.argmin())
    wrong = target + target[rarest] / (len(target) - 1)
    wrong[rarest] = 0.0
    return wrong


SORTED = "sorted"
"""A sound one, with all equal tokens side by side."""
SAMPLERS: dict[str, Results] = {
    "sound": _speculating(_ratio),
    "target alone": lambda p, q: p,
    SORTED: _speculating(_ratio),
    "accepts all": lambda p, q: q,
    "the target alone decides": _speculating(lambda p, q: p),
    "upside down": _speculating(lambda p, q: _ratio(q, p)),
    "only the likelier": _speculating(lambda p, q: (p >= q).to(p.dtype)),
    "from the target": _speculating(_ratio, lambda p, q: p),
    "from the draft": _speculating(_ratio, lambda p, q: q),
    "most left over": _speculating(_ratio, lambda p, q: _favourite(p - q)),
    "greedy": lambda p, q: _favourite(p),
    "evenly": lambda p, q: torch.full_like(p, 1 / len(p)),
    "the ends": _swapped,
    "in between": _between,
    "the middle": _middle,
    "balanced": _balanced,
    "one too rare": _one_moved(-0.055, -1),
    "another too rare": _one_moved(-0.055, 3),
    "one too frequent": _one_moved(0.055, 0),
    "another too frequent": _one_moved(0.055, 2),
    "one missing": _one_missing,
}


def _drawn(chances: Rows, count: int, generator: torch.Generator) -> Rows:
    """Tokens, (count,)."""
    if len(chances) > 16 or bool((chances < 0).any()):
        return torch.multinomial(chances, count, replacement=True, generator=generator)
    luck, tokens = torch.rand(count, generator=generator), torch.zeros(count, dtype=torch.uint8)
    for bound in (chances.cumsum(0)[:-1] / chances.sum()).tolist():  # of a few tokens, in a third of the time
        tokens += luck >= bound
    return tokens.long()


def _in_order(tokens: Rows) -> Rows:
    counts = tokens.bincount()
    return torch.arange(len(counts)).repeat_interleave(counts)


def sampler(name: str) -> Patient:
    """The patient of that name: `sample` draws tokens, with a number for a seed."""
    results = SAMPLERS[name]

    def sample(target: Any, draft: Any, count: Any, number: Any) -> Rows:
        p, q = (torch.as_tensor(part).double() for part in (target, draft))
        if p.dim() != 1 or p.shape != q.shape:
            raise ValueError("target and draft are probabilities, (vocab_size,) each")
        if not 0 < int(count) <= 100_000:
            raise ValueError("ask for 1 to 100,000 tokens in a call")
        tokens = _drawn(results(p, q), int(count), torch.Generator().manual_seed(int(number)))
        return _in_order(tokens) if name == SORTED else tokens

    return Patient({"sample": sample})
