"""`cached_greedy_decode`: how it is tried. The model is in `patients`."""

from dataclasses import replace
from functools import partial

import numpy as np
import torch

from cellcheck.authoring import Aspect, Case, Trial, aspects
from transformer_course.lessons.lesson_07.drawing import CUT, DIFFER, OF_IDS, SAID, ending_cases, in_full_width
from transformer_course.lessons.lesson_07.patients import counting_model

SMALL = replace(
    aspects.BATCH_OF_ONE,
    name="a batch of one, padded sources",
    meaning="A batch of one, padded sources and a model in eval mode give the right answer too.",
)


def cases(generator: np.random.Generator) -> list[Case]:
    """Those of `greedy_decode`, and one in which sources are padded."""
    ending = ending_cases(generator)
    padded = dict(ending[0].inputs)
    padded["source"] = torch.cat([padded["source"], torch.zeros_like(padded["source"][:, :2])], dim=1)
    return [_counted(case) for case in (*ending, Case.of("with padded sources", SMALL, **padded))]


def _counted(case: Case) -> Case:
    """The same case, with a model that stays where nobody can set its counts."""
    inputs = {name: value for name, value in case.inputs.items() if name != "tables"}
    return replace(case, inputs=inputs, patient=partial(counting_model, inputs, case.inputs["tables"]))


TRIAL = Trial(
    module="transformer_course.caching",
    points=3,
    cases=cases,
    canonical=in_full_width,
    called=SAID,
    aspects=(
        aspects.shape(),
        aspects.main("the ids of greedy_decode", meaning="The ids are the ones that greedy_decode gives."),
        Aspect(
            "one new token at a time",
            keys=("way",),
            kinds=aspects.KNOWN,
            core=True,
            meaning="The model reads through decode_step, and is never called with the whole prefix.",
        ),
        aspects.also(
            "nothing is read twice",
            "work",
            weight=15.0,
            meaning="Each source is encoded once, and each token goes through decode_step once.",
        ),
        replace(DIFFER, weight=4.0),
        CUT,
        SMALL,
        *OF_IDS,
    ),
)
