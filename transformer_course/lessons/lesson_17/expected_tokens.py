"""`expected_tokens`: how it is tried."""

from typing import Any

import numpy as np

from cellcheck.authoring import Case, Trial, aspects
from cellcheck.authoring.draw import number
from transformer_course.lessons.lesson_10.probes import A_FLOAT, number_and_kind

NEVER = aspects.special("rate 0", meaning="If nothing is ever accepted, one token is left: the replacement.")
ALWAYS = aspects.special(
    "rate 1", weight=2.0, meaning="If everything is accepted, all the proposed tokens and one more."
)
NONE = aspects.special("count 0", meaning="With nothing proposed, a pass yields one token, whatever the rate.")


def cases(generator: np.random.Generator) -> list[Case]:
    few, many = (int(n) for n in (generator.integers(2, 5), generator.integers(6, 12)))
    return [
        Case.of("with a low rate", rate=number(generator, 0.2, 0.45), count=few),
        Case.of("with a high rate", rate=number(generator, 0.55, 0.9), count=many),
        Case.of("with a single proposed token", rate=number(generator, 0.3, 0.8), count=1),
        Case.of("where nothing is accepted", NEVER, rate=0.0, count=few),
        Case.of("where everything is accepted", ALWAYS, rate=1.0, count=many),
        Case.of("where everything is accepted, with a rate given as an int", ALWAYS, rate=1, count=few),
        Case.of("where nothing is proposed", NONE, rate=number(generator, 0.3, 0.8), count=0),
        Case.of("where nothing is proposed, nor would be accepted", NONE, rate=0.0, count=0),
    ]


def probe(symbol: Any, inputs: Any) -> dict[str, Any]:
    """The number, and what kind of number it is."""
    return number_and_kind(symbol(*inputs.values()))


TRIAL = Trial(
    module="transformer_course.fast_answers.speculative",
    points=1,
    cases=cases,
    probe=probe,
    called={"kind": "what is returned"},
    aspects=(A_FLOAT, aspects.values(6.0), NEVER, ALWAYS, NONE),
)
