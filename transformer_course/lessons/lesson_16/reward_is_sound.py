"""`reward_is_sound`, the bug clinic: does a reward pay for right answers, and for nothing else?

Which of the patients are sound is the answer: this file doesn't travel, and the probe stands in probes.py.
"""

from functools import partial

import numpy as np

from cellcheck.authoring.aspects import spoken, tells_apart
from cellcheck.authoring.spec import Aspect, Case, Observation, Trial
from transformer_course.lessons.lesson_16.patients import judge

SOUND, LOOSE, TOKENS, MIXED, NUMBERS = tells_apart(
    sound="sound rewards pass",
    loose="rewards that look at part of an answer are found",
    tokens="rewards that pay for plus and equals are found",
    mixed="rewards that mix up rows or places are found",
    numbers="other numbers than 0 and 1 are found",
    meanings={
        "sound": "A reward that pays exactly 1 for right answers and 0 for others is sound, whatever dtype it uses.",
        "loose": "An answer with one wrong digit earns nothing.",
        "tokens": "An answer with a plus or an equals sign in it is wrong.",
        "mixed": "Each row is compared with its own truth, place by place.",
        "numbers": "A right answer earns 1, and a wrong one nothing.",
    },
)


def cases(generator: np.random.Generator) -> list[Case]:
    def tried(patient: str, about: Aspect, label: str) -> Case:
        return Case(label, {}, about.tags, partial(judge, patient))

    def mixed(other: str, label: str) -> Case:
        """A sound reward, and a thousandth or two of another one."""
        share = int(generator.integers(10, 20)) / 10_000
        return Case(label, {}, NUMBERS.tags, partial(judge, "exact", other, share))

    return [
        tried("exact", SOUND, "with a sound reward"),
        tried("in whole numbers", SOUND, "with a sound reward of whole numbers"),
        tried("by sums of differences", SOUND, "with a sound reward in float64"),
        tried("two of three", LOOSE, "with a reward for two of three digits"),
        tried("ones only", LOOSE, "with a reward for the ones alone"),
        tried("no hundreds", LOOSE, "with a reward that forgets the hundreds"),
        tried("no tens", LOOSE, "with a reward that forgets the tens"),
        tried("by nines", LOOSE, "with a reward that casts out nines"),
        tried("off by one", LOOSE, "with a reward for digits that are nearly right"),
        tried("hasty", TOKENS, "with a reward that reads up to the first sign that isn't a digit"),
        tried("plus is a joker", TOKENS, "with a reward that takes plus for any digit"),
        tried("equals for equals", TOKENS, "with a reward for three equals signs"),
        tried("any order", MIXED, "with a reward for the right digits in any order"),
        tried("backwards", MIXED, "with a reward that reads answers backwards"),
        tried("either way", MIXED, "with a reward that reads answers either way"),
        tried("first truth", MIXED, "with a reward that knows the first truth only"),
        tried("next truth", MIXED, "with a reward that looks at another row's truth"),
        tried("next row", MIXED, "with a reward that pays the next row"),
        tried("never", NUMBERS, NEVER),
        tried("always", NUMBERS, "with a reward that is always 1"),
        tried("share of digits", NUMBERS, "with a reward for each right digit"),
        mixed("something for trying", "with a reward that gives a little for any three digits"),
        mixed("never", "with a reward of a little less than 1"),
        tried("turned round", NUMBERS, "with a reward for wrong answers"),
    ]


NEVER = "with a reward that is always 0"
NOTHING_EARNED = "A reward that never pays gets past you. What do you ask about right answers?"
TRIED = spoken("what is tried", "tried", meaning="Whatever may be wrong with a reward has to be tried.")


def in_words(observation: Observation, case: Case) -> Observation:
    """What a test hasn't tried is no fault where it is right all the same."""
    if "error" in observation:
        return observation
    missed = observation.get("output") is True and case.tags != SOUND.tags
    words = observation.get("tried") or (NOTHING_EARNED if case.label == NEVER else None)
    return {**observation, "tried": words if missed else None}


TRIAL = Trial(
    module="transformer_course.rewards.judging",
    points=3,
    cases=cases,
    canonical=in_words,
    called={"tried": "what you try"},
    aspects=(SOUND, LOOSE, TOKENS, MIXED, NUMBERS, TRIED),
)
