"""`ablation_is_sound`: how it is tried."""

from functools import partial

import numpy as np

from cellcheck.authoring import Aspect, Case, Observation, Trial, aspects
from cellcheck.authoring.draw import integers
from transformer_course.lessons.lesson_15.patients import code_of

SOUND, HEAD, OTHERS, LATER, STATE = aspects.tells_apart(
    {
        "sound": "Code that takes out this head and nothing else is called sound, rounding or not.",
        "head": "Code that leaves something of the head is found, whichever row, position or number it leaves.",
        "others": "Code that touches another head is found, whichever layer it is in.",
        "later": "Code whose later layers don't notice that the head is gone is found.",
        "state": "Code after which the model isn't what it was is found.",
    },
    sound="sound code",
    head="the head is still there",
    others="other heads are touched",
    later="later layers notice nothing",
    state="the model isn't as it was",
    central=("later",),
)
TRIED: tuple[tuple[str, Aspect, str, int, int], ...] = (
    ("sound", SOUND, "with sound code, and a head of the middle layer", 1, 2),
    ("sound", SOUND, "with sound code, and a head of the first layer", 0, 0),
    ("sound", SOUND, "with sound code, and a head of the last layer", 2, 1),
    ("shaky", SOUND, "with sound code whose last digits differ from call to call", 1, 0),
    ("nearly_zero", SOUND, "with code that leaves a ten-millionth of the head, which is rounding", 1, 1),
    ("hardly_noticed", SOUND, "with sound code that later layers notice at one position only", 0, 1),
    ("nothing", HEAD, "with code that takes nothing out", 1, 1),
    ("half", HEAD, "with code that leaves half of the head", 0, 2),
    ("mean", HEAD, "with code that puts the head's mean in its place", 1, 0),
    ("first_row", HEAD, "with code that takes the head out of the first row only", 1, 2),
    ("last_position", HEAD, "with code that takes the head out at the last position only", 1, 1),
    (
        "first_row_and_last_position",
        HEAD,
        "with code that takes the head out of the first row and at the last position",
        1,
        0,
    ),
    ("but_the_first_position", HEAD, "with code that leaves the head at the first position", 2, 0),
    ("one_number_left", HEAD, "with code that leaves one number of what the head writes", 1, 2),
    ("balanced", HEAD, "with code that leaves something whose sum is zero", 0, 1),
    ("neighbour", HEAD, "with code that takes out the head's neighbour", 1, 0),
    ("neighbour_too", OTHERS, "with code that takes out the neighbour as well", 1, 0),
    ("neighbour_too", OTHERS, "with code that takes out the neighbour as well, in the last layer", 2, 1),
    ("neighbour_below_too", OTHERS, "with code that takes out the neighbour on the other side as well", 1, 1),
    ("one_number_of_a_neighbour", OTHERS, "with code that changes one number of a neighbour a little", 0, 2),
    ("every_layer", OTHERS, "with code that takes the head out of every layer", 2, 1),
    ("earlier_layers", OTHERS, "with code that takes the head out of earlier layers as well", 1, 2),
    ("whole_layer", OTHERS, "with code that takes out the whole layer", 0, 1),
    ("rescaled", OTHERS, "with code that makes the layer's other heads stronger", 1, 1),
    ("downwards", OTHERS, "with code that makes a neighbour write a little less", 1, 1),
    ("upwards", OTHERS, "with code that makes a neighbour write a little more", 1, 0),
    ("disturbs_earlier", OTHERS, "with code that makes earlier layers weaker", 2, 0),
    ("disturbs_the_first", OTHERS, "with code that makes the first layer weaker", 2, 1),
    ("disturbs_the_one_before", OTHERS, "with code that makes the layer before weaker", 2, 2),
    ("frozen", LATER, "with code whose later layers were worked out before", 0, 1),
    ("last_frozen", LATER, "with code whose last layer was worked out before", 0, 2),
    ("next_frozen", LATER, "with code whose next layer was worked out before", 0, 0),
    ("stays", STATE, "with code after which the head never comes back", 1, 1),
    ("wears", STATE, "with code that wears out the first layer with each ablation", 2, 1),
    ("first_not_back", STATE, "with code after which the first layer isn't what it was", 1, 2),
    ("middle_not_back", STATE, "with code after which the middle layer isn't what it was", 2, 2),
    ("last_not_back", STATE, "with code after which the last layer isn't what it was", 1, 0),
)
"""Of each patient its name, the aspect that looks at it, words for the learner, and which head is asked about."""


def cases(generator: np.random.Generator) -> list[Case]:
    seed = int(generator.integers(1000))
    return [
        Case(
            label,
            {"tokens": integers(generator, 0, 40, 2, 5), "layer": layer, "head": head},
            aspect.tags,
            partial(code_of, name, seed),
        )
        for name, aspect, label, layer, head in TRIED
    ]


def in_words(observation: Observation, case: Case) -> Observation:
    """A test that never runs the model again may still be right: it matters where it is wrong about what stays."""
    if "error" in observation:
        return observation
    seen = {name: value for name, value in observation.items() if name != "run again"}
    missed = case.tags == STATE.tags and observation["output"] is True and not observation["run again"]
    words = "Having taken the head out, you never run the model again with an empty list. What if it has changed?"
    return {**seen, "again": words if missed else None}


TRIAL = Trial(
    module="transformer_course.circuits.intervening",
    points=3,
    cases=cases,
    canonical=in_words,
    called={"verdict and tokens": "the verdict and the tokens", "again": "what you run"},
    aspects=(
        SOUND,
        HEAD,
        OTHERS,
        LATER,
        STATE,
        aspects.also(
            "right about all, tokens untouched",
            "verdict and tokens",
            weight=0.5,
            meaning="Your test is right about all code, and leaves the tokens as they were.",
        ),
        aspects.spoken(  # code that stays changed costs the points
            "the model is run once more",
            "again",
            meaning="Whether the model is what it was shows when it is run again.",
        ),
    ),
)
