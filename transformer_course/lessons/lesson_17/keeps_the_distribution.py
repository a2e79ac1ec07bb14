"""`keeps_the_distribution`, the bug clinic: are tokens as frequent as the target says?

Which of the patients are sound is the answer: this file doesn't travel, and the probe stands in probes.py.
"""

from functools import partial

import numpy as np
import torch

from cellcheck.authoring.aspects import also, spoken, tells_apart
from cellcheck.authoring.spec import Aspect, Case, Observation, Trial
from transformer_course.lessons.lesson_17.patients import SAMPLERS, sampler

SOUND, ACCEPTS, REPLACES, SMALL = tells_apart(
    sound="sound samplers pass",
    accepts="wrong acceptance is found",
    replaces="wrong replacements are found",
    small="small faults are found",
    meanings={
        "sound": "A sampler is sound when each token comes up as often as the target says, in whatever order.",
        "accepts": "A sampler that accepts too often or too rarely is broken.",
        "replaces": "A sampler whose replacements come from elsewhere than what is left over is broken.",
        "small": "Two tokens that are off by 0.05 are enough, whichever tokens they are.",
    },
)
ROWS = {
    4: ([0.4, 0.28, 0.2, 0.12], [0.15, 0.2, 0.27, 0.38]),
    5: ([0.36, 0.26, 0.18, 0.12, 0.08], [0.12, 0.2, 0.1, 0.26, 0.32]),
    6: ([0.32, 0.22, 0.17, 0.13, 0.09, 0.07], [0.08, 0.14, 0.07, 0.25, 0.2, 0.26]),
}
"""Probabilities of target and draft, by how many tokens there are."""
FAULTS = (
    "accepts all",
    "the target alone decides",
    "upside down",
    "only the likelier",
    "from the target",
    "from the draft",
    "most left over",
)
"""The samplers whose tokens are off by more or less, as the probabilities have it."""
FORGIVES = spoken(  # whatever is forgiven costs points where a sampler shows it
    "what is forgiven",
    "forgives",
    tag="shares",
    meaning="No token may be off by 0.04 or more, whichever token it is.",
)
ENOUGH = also("enough tokens", "drawn", meaning="A sampler is sound only after 20,000 tokens or more.")


def cases(generator: np.random.Generator) -> list[Case]:
    def pair(v: int) -> dict[str, torch.Tensor]:
        """Probabilities with which each fault makes a difference of 0.05, in rows that aren't alike. Only their order
        is drawn, and a little more: whether a doubtful test finds a fault doesn't depend on it."""
        order = generator.permutation(v)
        while True:
            p, q = (row[order] + generator.uniform(-0.004, 0.004, v) for row in map(np.array, ROWS[v]))
            target, draft = (torch.from_numpy(row / row.sum()).float() for row in (p, q))
            if all(float(off.max()) > 0.05 and float(off.mean()) > 0.03 for off in _faults(target, draft)):
                return {"target": target, "draft": draft}

    def last_comes() -> dict[str, torch.Tensor]:
        """The last token is one that the target finds likelier than the draft does."""
        while True:
            inputs = pair(5)
            if inputs["target"][-1] > inputs["draft"][-1]:
                return inputs

    def favourite_inside() -> dict[str, torch.Tensor]:
        """The likeliest token is neither the first nor the last, so whoever counts up to the largest id that came has
        more than one count, and fewer than there are tokens."""
        while True:
            inputs = pair(5)
            if 0 < int(inputs["target"].argmax()) < 4:
                return inputs

    def steep() -> dict[str, torch.Tensor]:
        """Six probabilities, far apart. The two in the middle are those of the first and the last token, and the draft
        likes them better than the target does."""
        chosen = [int(rank) for rank in generator.permutation(6)]
        while {chosen[0], chosen[-1]} != {2, 3} or 5 not in chosen[2:4]:
            chosen = [int(rank) for rank in generator.permutation(6)]
        p = np.array([0.36, 0.22, 0.16, 0.13, 0.1, 0.03])[chosen] + generator.uniform(-0.003, 0.003, 6)
        q = np.array([0.2, 0.15, 0.24, 0.22, 0.07, 0.12])[chosen] + generator.uniform(-0.003, 0.003, 6)
        target, draft = (torch.from_numpy(row / row.sum()).float() for row in (p, q))
        return {"target": target, "draft": draft}

    def with_both(ends: float, p: list[float], q: list[float]) -> dict[str, torch.Tensor]:
        """Six probabilities, of which both give the first and the last token the same. Those in between come in an
        order that leaves the mean of the ids as it is: the first and the last of four gain, or lose, alike."""
        outer, inner = [0, 3], [1, 2]
        if generator.integers(2):
            outer, inner = inner, outer
        first, last = generator.permutation(outer)
        order = [first, *generator.permutation(inner), last]
        both = [np.concatenate([[ends], (1 - 2 * ends) * np.array(row)[order], [ends]]) for row in (p, q)]
        target, draft = (torch.from_numpy(row).float() for row in both)
        return {"target": target, "draft": draft}

    def ranked_alike() -> dict[str, torch.Tensor]:
        """Five probabilities. Target and draft agree on which token is likelier than which, so results do, too; and on
        how likely the first one is, but not the last."""
        last = int(generator.choice([0, 3]))
        order = [*generator.permutation([place for place in range(4) if place != last]), last]
        rows = (np.array([0.44, 0.28, 0.19, 0.09]), np.array([0.3, 0.26, 0.23, 0.21]))
        both = [np.concatenate([[0.06], 0.94 * row[order]]) for row in rows]
        target, draft = (torch.from_numpy(row).float() for row in both)
        return {"target": target, "draft": draft}

    def one_rare() -> dict[str, torch.Tensor]:
        """Six probabilities. The rarest is neither the first nor the last, so whoever counts up to the largest id that
        came has a count for each."""
        others = [int(place) for place in generator.permutation([0, 1, 2, 3, 4])]
        order = [*others[:3], 5, *others[3:]]
        both = [np.array([0.3, 0.22, 0.17, 0.14, 0.11, 0.06]), np.array([0.1, 0.13, 0.2, 0.21, 0.22, 0.14])]
        target, draft = (torch.from_numpy(row[order]).float() for row in both)
        return {"target": target, "draft": draft}

    def tried(patient: str, about: Aspect, label: str, v: int = 5) -> Case:
        return Case(label, steep() if about is SMALL else pair(v), about.tags, partial(sampler, patient))

    return [
        Case.of("with shares made to measure", FORGIVES, **{"by shares": True}),
        tried("sound", SOUND, "with a sound sampler"),
        tried("sound", SOUND, "with a sound sampler and four tokens", 4),
        tried("sound", SOUND, "with a sound sampler and six tokens", 6),
        tried("target alone", SOUND, "with a sampler that asks the target alone"),
        tried("sorted", SOUND, "with a sound sampler whose tokens come in order"),
        tried("accepts all", ACCEPTS, "with a sampler that accepts everything"),
        Case(
            "with a sampler that accepts everything, where both agree on two tokens",
            with_both(float(generator.uniform(0.1, 0.2)), [0.34, 0.14, 0.12, 0.4], [0.1, 0.38, 0.36, 0.16]),
            ACCEPTS.tags,
            partial(sampler, "accepts all"),
        ),
        Case(
            "with a sampler that accepts everything, where both models rank the tokens alike",
            ranked_alike(),
            ACCEPTS.tags,
            partial(sampler, "accepts all"),
        ),
        tried("the target alone decides", ACCEPTS, "with a sampler that doesn't divide by the draft"),
        tried("upside down", ACCEPTS, "with a sampler that divides the wrong way round"),
        Case(
            "with a sampler that accepts only what the target finds likelier",
            last_comes(),
            ACCEPTS.tags,
            partial(sampler, "only the likelier"),
        ),
        tried("from the target", REPLACES, "with a sampler that replaces from the target"),
        tried("from the draft", REPLACES, "with a sampler that replaces from the draft"),
        tried("most left over", REPLACES, "with a sampler that replaces with one token"),
        Case("with a sampler that always says the same", favourite_inside(), REPLACES.tags, partial(sampler, "greedy")),
        tried("evenly", REPLACES, "with a sampler to which all tokens are alike"),
        Case(
            "with a sampler to which all tokens are alike, as two of them are",
            with_both(1 / 6, [0.36, 0.14, 0.14, 0.36], [0.12, 0.38, 0.38, 0.12]),
            REPLACES.tags,
            partial(sampler, "evenly"),
        ),
        Case(
            "with a sampler that replaces from the target, where both models rank the tokens alike",
            ranked_alike(),
            REPLACES.tags,
            partial(sampler, "from the target"),
        ),
        tried("the ends", SMALL, "where the most and the least likely token are off by 0.05"),
        tried("balanced", SMALL, "where four tokens are off by 0.05"),
        tried("in between", SMALL, "where two other tokens are off by 0.06"),
        tried("the middle", SMALL, "where the two tokens in the middle are off by 0.05"),
        tried("one too rare", SMALL, "where the most likely token is too rare by 0.055, and the others hardly off"),
        tried("another too rare", SMALL, "where another token is too rare by 0.055, and the others hardly off"),
        tried("one too frequent", SMALL, "where the least likely one is too frequent by 0.055, the others hardly off"),
        tried("another too frequent", SMALL, "where another token is too frequent by 0.055, the others hardly off"),
        Case(
            "where a token of 0.06 never comes, and the others are hardly off",
            one_rare(),
            SMALL.tags,
            partial(sampler, "one missing"),
        ),
    ]


def _faults(p: torch.Tensor, q: torch.Tensor) -> list[torch.Tensor]:
    """How far off each token is, for each fault that depends on the probabilities."""
    return [(SAMPLERS[name](p, q) - p).abs() for name in FAULTS]


def in_words(observation: Observation, case: Case) -> Observation:
    """A wrong answer about a sampler that was handed target and draft the wrong way round. And whatever is said after
    so few tokens is said by chance: the next seed may say something else."""
    seen = {name: value for name, value in observation.items() if name not in ("handed over", "in all")}
    hardly_any = observation.get("in all")
    if hardly_any == "under 2000" or (hardly_any == "under 10000" and case.tags == SOUND.tags):
        return {**seen, "output": "an answer after so few tokens that chance decides", "drawn": "fewer than 20,000"}
    if "handed over" in observation and observation.get("output") is not (case.tags == SOUND.tags):
        return {**seen, "output": "an answer about target and draft exchanged"}
    return seen


TRIAL = Trial(
    module="transformer_course.fast_answers.speculative",
    points=3,
    cases=cases,
    canonical=in_words,
    called={"drawn": "how many tokens you ask for before you say True", "forgives": "what you forgive"},
    aspects=(SOUND, ENOUGH, FORGIVES, ACCEPTS, REPLACES, SMALL),
)
