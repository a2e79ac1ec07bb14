"""`speculative_step`: how it is tried. Where both models are sure, the text is compared; elsewhere, what is frequent.

Which outcomes are right is the answer: this file doesn't travel, and the probe stands in probes.py.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_07 import chance

VOCAB, MANY = 9, 80
SURE = 200.0
REGION = 25
"""How many tokens there are of each kind, where both models are unsure."""
LEAST, MOST = 28, 200
"""Calls with two proposed tokens: until each kind of text has come up. Only a wrong rule needs more than a few."""
PROPOSED, KEPT = "how_often_each_proposal_is_made", "what_becomes_of_proposals"
LAST = "what_follows_when_all_are_accepted"

WHOLE = aspects.main(
    "the text, where both models are sure",
    6.0,
    meaning="Where target and draft are sure of each next token, the result is exactly what the docstring says.",
)
ONE_CALL = aspects.also(
    "one call of the target",
    "target_reads",
    weight=4.0,
    meaning="The target is called once, with the text and all the proposed tokens.",
)
DRAFT = aspects.also(
    "the draft reads everything so far",
    "draft_reads",
    weight=2.0,
    meaning="The draft is called once for each proposed token, with the whole text so far.",
)
OFTEN = aspects.main(
    "distributed as the target says",
    10.0,
    (KEPT,),
    "Proposed tokens are accepted, and replaced, as often as they should be.",
    tag="often",
)
PROPOSALS = aspects.main(
    "proposed as the draft says",
    2.0,
    (PROPOSED,),
    "Each proposed token is sampled from softmax(logits) of the draft.",
    tag="many",
)
BONUS = aspects.special(
    "one more token, sampled",
    "often",
    2.0,
    "Where all tokens were accepted, one more is sampled from the target.",
    keys=(LAST,),
)
NONE = aspects.special(
    "nothing proposed", meaning="With a count of 0, the draft isn't called, and the target adds one."
)
SHORT = aspects.special("a text of one token", meaning="A text of a single token is long enough.")
CHANCE = chance.from_the_generator(2.0)


def cases(generator: np.random.Generator) -> list[Case]:
    def sure(length: int, count: int, agrees: int) -> Inputs:
        """Models that are sure, and agree on the first `agrees` tokens. Each token follows one other."""
        order = [int(token) for token in generator.permutation(VOCAB)]
        ring = dict(zip(order, [*order[1:], order[0]], strict=True))
        target = _sure(ring)
        text = [int(generator.integers(VOCAB))]
        while len(text) < length + agrees:
            text.append(ring[text[-1]])
        other = dict(ring)
        if agrees < count:
            skipped = ring[ring[ring[text[-1]]]]
            other[text[-1]] = skipped
        return ready(target, _sure(other), text[:length], count)

    def ready(target: torch.Tensor, draft: torch.Tensor, ids: list[int], count: int, **others: Any) -> Inputs:
        return {
            "target": target,
            "draft": draft,
            "first": torch.zeros(1, 1),
            "ids": torch.tensor(ids),
            "count": count,
            "seed": int(generator.integers(2**31)),
            **others,
        }

    def kinds(*sizes: int) -> Sequence[torch.Tensor]:
        """So many tokens of each kind."""
        return torch.split(torch.from_numpy(generator.permutation(sum(sizes))), list(sizes))

    def ending(last: torch.Tensor) -> list[int]:
        """A text that ends with one of these tokens."""
        return [*generator.integers(0, len(last), a).tolist(), int(generator.choice(last.numpy()))]

    def unsure() -> tuple[Inputs, tuple[list[int], list[int]]]:
        """Models that half agree, a text, and two texts after which they agree.

        After a token that both like, or that is left over, the draft says any that both like. The target says one of
        those half of the time, and else one that is left over: half of the proposals are rejected. After a token that
        both agree on, both say any of those. After the `start`, both say any echo, and after an echo the same again.
        """
        start, agreed, echoes, liked, left = kinds(1, REGION, REGION, REGION, REGION)
        draft = torch.zeros(1 + 4 * REGION, 1 + 4 * REGION)
        for before, after in ((agreed, agreed), (start, echoes), (liked, liked), (left, liked)):
            draft[before.unsqueeze(1), after] = SURE
        draft[echoes, echoes] = SURE
        target = draft.clone()
        target[torch.cat([liked, left]).unsqueeze(1), left] = SURE
        return ready(target, draft, ending(left), 2), (ending(agreed), ending(start))

    def many_calls() -> Inputs:
        """Three kinds of calls. Where both models agree, nothing may be rejected: none of ten, and not the first of
        two, where the draft is sure of the second. Where they half agree, there are four kinds of right texts: a wrong
        rule makes a fifth kind, or leaves one out, however often it is called."""
        inputs, (agreed, start) = unsure()
        asked = [(agreed, 10, 2, 2), (start, 2, 4, 4), (inputs["ids"].tolist(), 2, LEAST, MOST)]
        return inputs | {"calls": [dict(zip(("ids", "count", "least", "most"), each, strict=True)) for each in asked]}

    def many_proposals() -> Inputs:
        """A draft that says one token half of the time, and else any of many: at another temperature, it hardly says
        the one, or hardly anything else. The target says neither, so it rejects the first proposal."""
        half, others, last = kinds(1, 128, 1)
        target, draft = torch.zeros(2, 130, 130)
        target[:, last] = draft[:, others] = SURE
        draft[:, half] = SURE + math.log(len(others))
        return ready(target, draft, ending(last), MANY, proposals=int(half))

    a, b = int(generator.integers(2, 4)), int(generator.integers(4, 6))
    return [
        Case.of("where both models agree", **sure(a, b, b)),
        Case.of("where the draft is wrong about its first token", **sure(b, a + 1, 0)),
        Case.of("where the draft is wrong about its second token", **sure(a, b, 1)),
        Case.of("where the draft is wrong about its last token", **sure(a, b, b - 1)),
        Case.of("where one token is proposed, and accepted", **sure(b, 1, 1)),
        Case.of("where one token is proposed, and rejected", **sure(b, 1, 0)),
        Case.of("with nothing to propose", NONE, **sure(a, 0, 0)),
        Case.of("with a text of one token", SHORT, **sure(1, 3, 2)),
        Case.of("over many calls with two proposed tokens", "often", **many_calls()),
        Case.of("with very many proposed tokens", "many", **many_proposals()),
        Case.of("with the same generator, and with others", CHANCE, **unsure()[0], chance=True),
    ]


def _sure(follows: dict[int, int]) -> torch.Tensor:
    table = torch.zeros(VOCAB, VOCAB)
    for token, follower in follows.items():
        table[token, follower] = SURE
    return table


def in_words(observation: Observation, case: Case) -> Observation:
    """What became of the proposals of many calls."""
    if "proposed" in observation:
        return {PROPOSED: _made(observation["proposed"], case.inputs["proposals"])}
    if "texts" not in observation:
        return observation
    texts = observation["texts"][2]
    agreed, echoes, forms = _forms(observation["texts"], case)
    if len(texts) > MOST or not all(form and set(form[:-1]) <= {BOTH} and len(form) <= 3 for form in forms):
        wrong = "texts that are too long or too short, or go on after a replacement"
        return {KEPT: wrong, LAST: wrong}
    agree = set(agreed) == {11 * BOTH} and all(form[:2] == 2 * BOTH for form in echoes)
    where = "accepted where both agree" if agree else "not always accepted where both agree"
    replaced = [(form[-1], text[-1]) for form, text in zip(forms, texts, strict=True) if len(text) < 3]
    last = [(form[-1], text[-1]) for form, text in zip(forms, texts, strict=True) if len(text) == 3]
    return {
        KEPT: f"{where}; elsewhere, {_accepted(texts)}; replaced by {_source(replaced)}",
        LAST: _source(last),
    }


BOTH, TARGET, NEITHER = "b", "t", "n"
"""Who says a token, after the one before it."""


def _forms(groups: Sequence[Sequence[Sequence[int]]], case: Case) -> list[list[str]]:
    """Who says each token of the texts: a letter for each."""
    pairs = [
        pair
        for call, texts in zip(case.inputs["calls"], groups, strict=True)
        for text in texts
        for pair in pairwise([call["ids"][-1], *text])
    ]
    before, after = torch.tensor(pairs).long().T
    target, draft = (case.inputs[name][before, after] == SURE for name in ("target", "draft"))
    letters = iter([NEITHER, TARGET, NEITHER, BOTH][int(number)] for number in target + 2 * draft)
    return [["".join(next(letters) for _ in text) for text in texts] for texts in groups]


def _accepted(texts: Sequence[Sequence[int]]) -> str:
    """How often the proposals are accepted that should be half of the time."""
    first, second = (sum(len(text) > place for text in texts) for place in (1, 2))
    if first == 0:
        return "never accepted"
    if second == first:
        return "always accepted" if first == len(texts) else "all of them accepted or none"
    if len({text[0] for text in texts if len(text) > 1}) == 1 < first:
        return "always the same one accepted"
    fewest = min(first, len(texts) - first)
    if 2 * sum(math.comb(len(texts), times) for times in range(fewest + 1)) < chance.FALSE_ALARM * 2 ** len(texts):
        return f"accepted too {'often' if first > fewest else 'rarely'}"
    return "accepted as often as they should be"


def _source(tokens: Sequence[tuple[str, int]]) -> str:
    """Where tokens come from, by who says each of them."""
    speakers = {who for who, _ in tokens}
    if len(speakers) != 1 or speakers == {NEITHER}:
        return "the target" if speakers == {BOTH, TARGET} else "something else" if speakers else "nothing"
    if len(set(tokens)) == 1 < len(tokens):
        return "the same token each time"
    return "what is left over" if speakers == {TARGET} else "the draft"


def _made(proposed: Sequence[int], half: int) -> Any:
    """How often the token was proposed that should be half of all; and how often the others."""
    if len(proposed) != MANY:
        return f"not {MANY} proposals"
    times = proposed.count(half)
    return chance.settled(
        torch.tensor([[times, MANY - times]]), (torch.tensor([[0.5, 0.5]]), torch.tensor([[1.0, 0.0]]))
    )


TRIAL = Trial(
    module="transformer_course.fast_answers.speculative",
    points=4,
    cases=cases,
    canonical=in_words,
    shown=lambda case: {name: case.inputs[name] for name in ("ids", "count")},
    called={
        "target_reads": "what the target reads",
        "draft_reads": "what the draft reads",
        "recorded": "whether gradients are recorded",
    },
    aspects=(
        WHOLE,
        ONE_CALL,
        DRAFT,
        OFTEN,
        PROPOSALS,
        BONUS,
        NONE,
        SHORT,
        CHANCE,
        aspects.also("no gradients recorded", "recorded", meaning="The models are called without recording gradients."),
        aspects.untouched(),
    ),
)
