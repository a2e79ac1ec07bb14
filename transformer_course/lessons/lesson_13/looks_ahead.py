"""`looks_ahead`, the bug clinic: does a forecast know anything of the future? How it is tried."""

from collections.abc import Collection
from functools import partial

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects, draw
from transformer_course.lessons.lesson_13.patients import ASKED, LEVEL, pipeline_of
from transformer_course.lessons.watching import AS_ASKED

SOUND, ALL, ONE = aspects.tells_apart(
    sound="honest pipelines pass",
    all="use of the whole series is found",
    one="a look at one or two values is found",
    central=("sound", "all", "one"),
    meanings={
        "sound": "A pipeline that uses the past alone, or how long the series is, doesn't look ahead.",
        "all": "Its mean, a fit, its largest or smallest value, or the future itself: all are found.",
        "one": "A look at a single future value is a look ahead too, wherever it is and however small.",
    },
)
TRIED = (
    ("naive", SOUND, "with the seasonal naive forecast"),
    ("scaled_by_the_past", SOUND, "with a pipeline that scales by the mean of the past"),
    ("fitted_to_the_past", SOUND, "with a model that was fitted to the past alone"),
    ("logarithms", SOUND, "with a pipeline that works with logarithms of the past"),
    ("by_length", SOUND, "with a pipeline that uses how long the series is, and nothing else of the future"),
    ("late", SOUND, "with a pipeline that does without the last known value"),
    ("shaky", SOUND, "with an honest pipeline whose last digits differ from call to call"),
    ("copied", ALL, "with a pipeline that returns the future itself"),
    ("scaled_by_all", ALL, "with a pipeline that scales by the mean of the whole series"),
    ("fitted_to_all", ALL, "with a model that was fitted to the whole series"),
    ("top", ALL, "with a pipeline that never goes far beyond the largest value of the whole series"),
    ("bottom", ALL, "with a pipeline that measures from the smallest value of the whole series"),
    ("capped", ALL, "with a pipeline that never goes far above the mean of the future"),
    ("propped", ALL, "with a pipeline that never goes far below the mean of the future"),
    ("tilted", ALL, "with a pipeline that tilts its forecast by the mean of the future"),
    ("wary", ALL, "with a pipeline that goes lower the further the future is from the past"),
    ("fitted_one_too_far", ONE, "with a model whose last training window ends one step too late"),
    ("smoothed", ONE, "with a pipeline that smooths with a centred mean of three"),
    ("first_step", ONE, "with a pipeline that mixes in the value at the cut, in its first step alone"),
    ("second_step", ONE, "with a pipeline that mixes in the value at the cut, in its second step alone"),
    ("second_value", ONE, "with a pipeline that mixes in the second value to come"),
    ("third_value", ONE, "with a pipeline that mixes in the third value to come"),
    ("above", ONE, "with a pipeline that uses by how much the value at the cut is above a level"),
    ("below", ONE, "with a pipeline that uses by how much the value at the cut is below a level"),
    ("hardly", ONE, "with a pipeline that mixes in a thousandth of the value at the cut"),
    ("barely", ONE, "with a pipeline that leans towards the value at the cut, by a fiftieth at most"),
    ("last_value", ONE, "with a pipeline that looks at the very last value alone"),
    ("growth", ONE, "with a pipeline that uses the difference between two future values"),
)
"""Of each patient its name, the aspect that looks at it, and words for the learner."""


def cases(generator: np.random.Generator) -> list[Case]:
    n, cut = int(generator.integers(25, 29)), int(generator.integers(15, 18))
    season = torch.tensor([3.0, -2.0, 0.5, -1.0]).repeat(7)[:n]
    series = 10 + season + draw.normal(generator, n) / 4
    series[2] = 5.0  # the smallest value is in the past
    series[cut - 1] = 16.0  # so is a peak, and a slightly higher one is to come
    series[cut + 2] = 17.0
    series[cut], series[-1] = LEVEL, 7.5  # far enough apart to be told when the future is turned round
    others = torch.tensor([place for place in range(cut + 1, n - 1) if place != cut + 2])
    # The mean of what is to come isn't that of the past, whatever was drawn.
    series[others] += (series[:cut].mean() + 0.8 - series[cut:].mean()) * (n - cut) / len(others)
    calm = series.clone()
    calm[cut:] = calm[cut:].clamp(9.0, 12.0)
    calm[2] = -5.0  # so both the largest value, 16, and the smallest are in the past
    empty = series.clone()
    empty[cut:] = 0
    tried = [(name, aspect, label, series) for name, aspect, label in TRIED]
    tried += [
        ("record", ALL, "with a pipeline that uses the largest value of the series, which is in the past", calm),
        ("depth", ALL, "with a pipeline that uses the smallest value of the series, which is in the past", calm),
        ("copied", ALL, "with a pipeline that returns the future itself, where that is all zeros", empty),
        (
            "growth",
            ONE,
            "with a pipeline that uses the difference between two future values, both zero",
            empty,
        ),
    ]
    return [
        Case(label, {"series": known, "cut": cut}, aspect.tags, partial(pipeline_of, name, known, cut))
        for name, aspect, label, known in tried
    ]


def canonical(observation: Observation, case: Case) -> Observation:
    """In words what was asked of a pipeline that is misjudged, instead of all that was asked."""
    kinds = observation.get(ASKED, [])
    seen = {name: value for name, value in observation.items() if name != ASKED}
    verdict, looks = seen.get("output"), not case.tags >= SOUND.tags
    if not isinstance(verdict, bool) or verdict == looks:
        return {ASKED: AS_ASKED, **seen} if "error" not in seen else seen
    return {ASKED: _missed(kinds) if looks else _suspected(kinds), **seen}


def _missed(kinds: Collection[str]) -> str:
    """What may be the reason for a False where True is right."""
    if "moved" in kinds:
        return (
            "You have asked for a forecast that differs from the one for the series as it is, and you say False. What "
            "does your test do with that difference, and how small may it be?"
        )
    if "changed" not in kinds:
        return "You never change the future alone, and ask again. What could you compare the forecast with?"
    sentences = []
    if "cut" not in kinds:
        sentences.append("In all that you try, the value at the cut stays. Is it part of the past, or of the future?")
    if "unknown" not in kinds and not {"up", "down"} <= set(kinds):
        which = "larger" if "up" not in kinds else "smaller"
        sentences.append(f"In all that you try, no future value becomes {which}. What if only that would show?")
    return " ".join(sentences) or "Nothing that you try moves the forecast. Which change of the future would?"


def _suspected(kinds: Collection[str]) -> str:
    """What may be the reason for a True where False is right."""
    if "another past" in kinds:
        return "You also change values before the cut, which every forecast may use. Where does the future begin?"
    if "another length" in kinds:
        return "You ask for the forecast of a series of another length. May a pipeline use the length?"
    return "No forecast that you ask for differs by more than rounding, and you say True. How much may that be?"


TRIAL = Trial(
    module="transformer_course.beyond.series",
    points=3,
    cases=cases,
    canonical=canonical,
    called={ASKED: "what was asked"},
    aspects=(
        SOUND,
        ALL,
        ONE,
        aspects.also(
            "right about all, series untouched",
            ASKED,
            "verdict and series",
            weight=0.5,
            meaning="Your test is right about all pipelines, and leaves the series as it was.",
        ),
    ),
)
