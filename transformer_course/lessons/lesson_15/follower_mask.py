"""`follower_mask`: how it is tried."""

from itertools import pairwise
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import strided

SEVERAL = aspects.special(
    "several followers", weight=4.0, meaning="A token that occurred several times has several followers."
)
TWINS = aspects.special(
    "the same token twice in a row", weight=2.0, meaning="Where a token follows itself, position q is a follower too."
)
NONE = aspects.special("nothing comes again", meaning="Where no token comes again, the whole mask is False.")
SMALLEST = aspects.special(
    "a batch of one, a single token", meaning="A batch of one and rows of a single token give the right result too."
)


def cases(generator: np.random.Generator) -> list[Case]:
    b = int(generator.integers(3, 5))

    def pairs(batch: int, length: int) -> torch.Tensor:
        """Each token comes twice at most, and never twice in a row; one comes again early, one late, one last."""
        rows: list[list[int]] = []
        while len(rows) < batch:
            tokens = [0, *(generator.permutation(8) + 1).tolist()][: (length + 1) // 2]
            row = [0, tokens[1], 0, *generator.permutation(tokens[1:] + tokens[2:]).tolist()][:length]
            gaps = [at - row.index(token) for at, token in enumerate(row)]
            if gaps[-1] and max(gaps) >= length // 2 and all(one != other for one, other in pairwise(row)):
                swapped = {0: row[1], row[1]: 0} if len(rows) % 2 else {}  # it isn't always token 0 that comes early
                rows.append([swapped.get(token, token) for token in row])
        return torch.tensor(rows)

    def many(batch: int, length: int) -> torch.Tensor:
        """Three tokens in turn, in an order of its own for each row: each comes several times, never twice in a row."""
        rows = [np.tile(generator.permutation(3), length)[:length] for _ in range(batch)]
        return torch.from_numpy(np.stack(rows))

    def twins(batch: int) -> torch.Tensor:
        rows = [generator.permutation(8) for _ in range(batch)]
        return torch.tensor([[a, c, c, d, e, e, a] for a, c, d, e, *_ in (row.tolist() for row in rows)])

    different = torch.from_numpy(np.stack([generator.permutation(9)[:6] for _ in range(b)]))
    return [
        Case.of("on rows in which tokens come twice", tokens=pairs(b, 8)),
        Case.of("on longer rows", tokens=pairs(2, 11)),
        Case.of("on as many rows as tokens", tokens=pairs(6, 6)),
        Case.of("on large ids", tokens=pairs(b, 8) * 1024),  # alike in their last ten bits
        Case.of("on rows in which tokens come several times", SEVERAL, tokens=many(b, 9)),
        Case.of("on rows with the same token twice in a row", TWINS, tokens=twins(b)),
        Case.of("on a row of one token only", SEVERAL, tokens=torch.full((2, 4), 7)),
        Case.of("on rows in which no token comes again", NONE, tokens=different),
        Case.of("on a batch of one", SMALLEST, tokens=pairs(1, 8)),
        Case.of("on rows of a single token", SMALLEST, tokens=different[:, :1].clone()),
        Case.of("with tokens that are not contiguous", aspects.LAYOUT, tokens=strided(pairs(b, 7))),
    ]


AS_ASKED = "at k - 1"


def where_the_token_is(observation: Observation, case: Case) -> Observation:
    """At which place beside k the token of q stands, wherever an entry is True."""
    if "error" in observation:
        return observation
    return {"place": _place(observation.get("output"), case.inputs["tokens"]), **observation}


def _place(mask: Any, tokens: torch.Tensor) -> str:
    if not isinstance(mask, torch.Tensor) or mask.shape != (*tokens.shape, tokens.shape[1]) or not mask.any():
        return AS_ASKED
    row, query, key = mask.bool().nonzero().T
    length = tokens.shape[1]

    def always(offset: int, of: int = 0) -> bool:
        """Whether the token at k + offset is that of q + of, as far as both exist."""
        inside = (key + offset >= 0) & (key + offset < length) & (query + of < length)
        places, asked = (key + offset)[inside], (query + of)[inside]
        return bool((tokens[row[inside], places] == tokens[row[inside], asked]).all()) and bool(inside.any())

    if always(-1):
        if later := [f"[{q}, {k}]" for q, k in zip(query.tolist(), key.tolist(), strict=True) if k > q]:
            return (
                f"Your entry {later[0]} is True: position {later[0][1:-1].partition(', ')[2]} comes later. Which "
                "positions follow an earlier occurrence?"
            )
        return AS_ASKED
    for offset, where in ((0, "k itself"), (1, "k + 1"), (-2, "k - 2")):
        if always(offset):
            return f"Where your entry [q, k] is True, the token of q is at {where}. Where does the docstring want it?"
    if always(0, 1):
        return "Where your entry [q, k] is True, k holds the token at q + 1. Which token is read at q?"
    return _whose(mask.bool(), tokens)


def _whose(mask: torch.Tensor, tokens: torch.Tensor) -> str:
    """Whether all rows have the same mask, where no two of them hold the same tokens."""
    right = [_followers(one) for one in tokens]
    if len(tokens) < 2 or not bool((mask == mask[0]).all()) or all(torch.equal(one, right[0]) for one in right):
        return AS_ASKED
    owner = next((f", the one that is right for row {at}" for at, one in enumerate(right) if mask[0].equal(one)), "")
    return f"All rows of the batch have the same mask{owner}. Do they all hold the same tokens?"


def _followers(row: torch.Tensor) -> torch.Tensor:
    """The right mask of a single row."""
    followers = torch.zeros(len(row), len(row), dtype=torch.bool)
    followers[:, 1:] = (row.unsqueeze(1) == row).tril(-1)[:, :-1]
    return followers


TRIAL = Trial(
    module="transformer_course.circuits.looking",
    points=2,
    cases=cases,
    canonical=where_the_token_is,
    called={"place": "where the token of q is"},
    aspects=(
        aspects.right_kind(
            "shape (batch, length, length), boolean", "The result is boolean: a square of all positions for each row."
        ),
        aspects.worded(aspects.values(8.0), "place"),
        SEVERAL,
        TWINS,
        NONE,
        SMALLEST,
        aspects.LAYOUT,
        aspects.untouched(weight=0.5),
    ),
)
