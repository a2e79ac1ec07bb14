"""`accept_or_replace`: how it is tried. Rows of the same kind are counted, and never compared one by one.

Which shares are right is the answer: this file doesn't travel, and the probe stands in probes.py.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Aspect, Case, Observation, Trial, aspects
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_07 import chance
from transformer_course.lessons.lesson_17.drawing import chances

REPEATS = 1500
NEITHER = "not whole numbers and a yes or no for each row"
ON_MORE_AXES = "one of each for each row, but on more than one axis"
TOKENS_ON_MORE_AXES = "one of each for each row, but the tokens on more than one axis"
EXCHANGED = "yes and no first, and then the tokens"
ACCEPTED, REPLACED = "how_often_each_token_is_accepted", "what_rejected_tokens_become"

Rule = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def _of(rows: torch.Tensor, proposed: torch.Tensor) -> torch.Tensor:
    return rows.gather(1, proposed[:, None])[:, 0]


def _ratio(target: torch.Tensor, draft: torch.Tensor, proposed: torch.Tensor) -> torch.Tensor:
    return (_of(target, proposed) / _of(draft, proposed)).clamp(max=1)


def _scaled(rows: torch.Tensor) -> torch.Tensor:
    return rows / rows.sum(-1, keepdim=True)


ACCEPTING: dict[str, Rule] = {
    "right": _ratio,
    "always": lambda p, q, x: torch.ones(len(x)).double(),
    "never": lambda p, q, x: torch.zeros(len(x)).double(),
    "by the target alone": lambda p, q, x: _of(p, x),
    "upside down": lambda p, q, x: (_of(q, x) / _of(p, x)).clamp(max=1),
    "if the target finds it likelier": lambda p, q, x: (_of(p, x) >= _of(q, x)).double(),
    "if it is the target's favourite": lambda p, q, x: (p.argmax(-1) == x).double(),
    "rejected": lambda p, q, x: 1 - _ratio(p, q, x),
    "if the ratio is over a half": lambda p, q, x: (_ratio(p, q, x) > 0.5).double(),
    "by the row's rate": lambda p, q, x: torch.minimum(p, q).sum(-1),
}
"""The chance of acceptance for each row: the right one first, then those of the usual slips."""

REPLACING: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "right": lambda p, q: _scaled((p - q).clamp(min=0)),
    "target": lambda p, q: p,
    "draft": lambda p, q: q,
    "the other way": lambda p, q: _scaled((q - p).clamp(min=0)),
    "distances": lambda p, q: _scaled((q - p).abs()),
    "favourite": lambda p, q: torch.nn.functional.one_hot((p - q).argmax(-1), p.shape[-1]).double(),
    "target's favourite": lambda p, q: torch.nn.functional.one_hot(p.argmax(-1), p.shape[-1]).double(),
}

RATE = aspects.main(
    "accepted as often as it should be",
    6.0,
    (ACCEPTED,),
    "Over many rows, token x is accepted with probability min(1, target[x] / draft[x]).",
)
REPLACEMENT = aspects.main(
    "replaced by what is left over",
    6.0,
    (REPLACED,),
    "Over many rejected tokens, the replacements come up as often as `leftover` says.",
)
ROWS = Aspect(
    "each row by itself",
    (ACCEPTED, REPLACED),
    aspects.CONTENT,
    weight=3.0,
    tags=frozenset({"rows"}),
    meaning="Each row has its own target, draft, proposed token and luck.",
)
SURE = aspects.special(
    "where nothing is left to chance",
    "sure",
    2.0,
    "A token that the target rules out is always replaced; one that it finds at least as likely is always accepted.",
)
FROM_THE_GENERATOR = chance.from_the_generator(2.0)


def cases(generator: np.random.Generator) -> list[Case]:
    def pair(v: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Probabilities with which every slip shows."""
        while True:
            p, q = (chances(generator, 1, v, dtype=torch.float64) for _ in range(2))
            if _shows(p, q):
                return p, q

    def drawn(*pairs: tuple[torch.Tensor, torch.Tensor], kind: torch.dtype = torch.float32) -> Inputs:
        """Every pair with every token, and all of those `REPEATS` times, in turn."""
        v = pairs[0][0].shape[1]
        target = torch.cat([p.expand(v, -1) for p, _ in pairs]).repeat(REPEATS, 1)
        draft = torch.cat([q.expand(v, -1) for _, q in pairs]).repeat(REPEATS, 1)
        proposed = torch.arange(v).repeat(len(pairs) * REPEATS)
        return ready(target.to(kind), draft.to(kind), proposed, groups=v * len(pairs))

    def ready(target: torch.Tensor, draft: torch.Tensor, proposed: torch.Tensor, **others: Any) -> Inputs:
        seed = int(generator.integers(2**31))
        return {"target": target, "draft": draft, "proposed": proposed, "seed": seed, **others}

    def sure(*tokens: int) -> Inputs:
        """The draft proposes only the tokens given; the target wants one token in each row."""
        v = 6
        wanted = torch.from_numpy(generator.integers(0, v, len(tokens)))
        if len(tokens) > 1:  # the second row accepts what the first would not
            wanted[1] = tokens[1]
            wanted[0] = (tokens[1] + 1) % v
        target = torch.nn.functional.one_hot(wanted, v).float()
        draft = torch.full((len(tokens), v), 0.1)
        draft[range(len(tokens)), list(tokens)] = 0.5
        return ready(target, draft, torch.tensor(tokens))

    several = [int(token) for token in generator.integers(0, 6, 9)]
    equal = chances(generator, 5, 4)
    p, q = pair(4)
    return [
        Case.of("over many rows of the same kind", **drawn((p, q))),
        Case.of("over many rows of another kind", **drawn(pair(5))),
        Case.of("with float64", aspects.FLOAT64, **drawn(pair(4), kind=torch.float64)),
        Case.of("over rows of three kinds", "rows", **drawn(pair(4), pair(4), pair(4))),
        Case.of("where the target is sure", SURE, **sure(*several)),
        Case.of("where the target is sure, on a batch of one", SURE, **sure(several[0])),
        Case.of(
            "where target and draft are equal",
            SURE,
            **ready(equal, equal.clone(), torch.from_numpy(generator.integers(0, 4, 5))),
        ),
        Case.of(
            "with the same generator, and with others",
            FROM_THE_GENERATOR,
            **ready(
                p.float().repeat(60, 1),
                q.float().repeat(60, 1),
                torch.from_numpy(generator.integers(0, 4, 60)),
                chance=True,
            ),
        ),
    ]


def _shows(p: torch.Tensor, q: torch.Tensor) -> bool:
    """Whether `REPEATS` rows a token tell all the rules apart, and enough tokens are rejected."""
    x = torch.arange(p.shape[1])
    p, q = p.expand(len(x), -1), q.expand(len(x), -1)
    rate = _ratio(p, q, x)
    rejected = rate < 1
    if rejected.sum() < 2 or bool(((rate > 0.8) & rejected).any()) or bool((rate < 0.15).any()):
        return False
    others = [rule(p, q, x) for name, rule in ACCEPTING.items() if name != "right"]
    if any(((other - rate).abs() < 0.12).all() for other in others) or not bool(((rate > 0.5) & rejected).any()):
        return False
    if (p - q)[0].argmax() == p[0].argmax():  # two favourites that are often the same
        return False
    right, *wrong = (rule(p[:1], q[:1]) for rule in REPLACING.values())
    enough = bool((right[right > 0] * REPEATS * 0.2 > chance.LEAST_EXPECTED).all()) and bool((right > 0).sum() > 1)
    return enough and all(float((other - right).abs().sum()) > 0.35 for other in wrong)


def as_shares(observation: Observation, case: Case) -> Observation:
    """Of many rows, how often tokens were accepted, and what the rejected ones became."""
    groups = case.inputs.get("groups")
    if groups is None or "output" not in observation:
        return observation
    seen = {name: value for name, value in observation.items() if name != "output"}
    tokens, accepted = observation["output"]
    target, draft = (case.inputs[name][:groups].double() for name in ("target", "draft"))
    proposed = case.inputs["proposed"][:groups]
    fine = all(isinstance(t, torch.Tensor) and t.shape == case.inputs["proposed"].shape for t in (tokens, accepted))
    if not fine and all(
        isinstance(t, torch.Tensor) and t.numel() == len(case.inputs["proposed"]) for t in (tokens, accepted)
    ):
        words = TOKENS_ON_MORE_AXES if accepted.dim() == 1 else ON_MORE_AXES
        return {**seen, ACCEPTED: words, REPLACED: words}
    if fine and tokens.dtype == torch.bool and accepted.dtype != torch.bool:
        return {**seen, ACCEPTED: EXCHANGED, REPLACED: EXCHANGED}
    if not fine or tokens.is_floating_point() or not bool(((accepted == 0) | (accepted == 1)).all()):
        return {**seen, ACCEPTED: NEITHER, REPLACED: NEITHER}
    v, accepted = target.shape[1], accepted.bool()  # 0 and 1 cost an aspect of their own
    yes = accepted.reshape(-1, groups).sum(0).double()
    counts = torch.stack([yes, REPEATS - yes], dim=1)
    rates = (rule(target, draft, proposed) for rule in ACCEPTING.values())
    shares = chance.settled(counts, (torch.stack([rate, 1 - rate], dim=1) for rate in rates))[:, 0]
    mixed = bool((tokens != case.inputs["proposed"])[accepted].any())
    if bool(((tokens < 0) | (tokens >= v)).any()):
        words = "accepted tokens aren't those proposed" if mixed else "ids out of range"
        return {**seen, ACCEPTED: words, REPLACED: 0}
    if mixed:
        left = (target > draft).repeat(REPEATS, 1).gather(1, tokens.long().unsqueeze(1)).squeeze(1)
        instead = (
            "what is left over" if bool((left | (tokens == case.inputs["proposed"]))[accepted].all()) else "others"
        )
        return {**seen, ACCEPTED: "accepted tokens aren't those proposed", REPLACED: f"{instead} for accepted ones"}
    ids = torch.where(accepted, v, tokens).reshape(-1, groups)
    others = torch.nn.functional.one_hot(ids, v + 1).sum(0)[:, :v].double()
    some = _ratio(target, draft, proposed) < 1
    if not bool((others[some].sum(-1) > 0).all()):
        return {**seen, ACCEPTED: shares, REPLACED: "nothing was rejected" if others.sum() == 0 else "too few rejected"}
    wanted = [rule(target, draft)[some] for rule in REPLACING.values()]
    wanted.append(wanted[0][:1].expand_as(wanted[0]))  # what the first row has left, for all
    return {**seen, ACCEPTED: shares, REPLACED: chance.settled(others[some], wanted)}


TRIAL = Trial(
    module="transformer_course.fast_answers.speculative",
    points=3,
    cases=cases,
    canonical=as_shares,
    shown=lambda case: {name: case.inputs[name][:5] for name in ("target", "draft", "proposed")},
    called={"kept": "the arguments after the call", "kind": "what is returned"},
    aspects=(
        RATE,
        REPLACEMENT,
        ROWS,
        SURE,
        FROM_THE_GENERATOR,
        aspects.special("float64", keys=(ACCEPTED, REPLACED)),
        aspects.also(
            "whole numbers and booleans",
            "kind",
            meaning="`tokens` holds whole numbers and `accepted` holds booleans, both with one axis.",
        ),
        aspects.also("arguments untouched", "kept", meaning="After the call, the arguments are as they were before."),
    ),
)
