"""`sample_with_temperature`: how it is tried."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import dims, normal, strided
from transformer_course.lessons.lesson_07 import chance

DRAWS = 4000  # a row

LIKELY = aspects.main(
    "sampled from softmax(logits / temperature)",
    5.0,
    (chance.SAMPLED,),
    "Over many samples, tokens come up as often as softmax(logits / temperature) says.",
    "likely",
)
ZERO = aspects.special("temperature 0 is argmax", "", 4.0, "At temperature 0, each row gets its most likely token.")
ONE = chance.frequencies(
    "temperature 1", meaning="At temperature 1, tokens come up as often as the model's own distribution says."
)
HIDDEN = chance.frequencies(
    "tokens that can't be sampled",
    weight=2.0,
    meaning="A token whose logit is -inf never comes up, and the others come up as often as they should.",
)
ALONE = chance.frequencies(
    "one row, float64", meaning="For a single row, and for float64 logits, tokens come up as often as they should."
)
LARGE = chance.frequencies(
    "large logits", meaning="However large or small the logits are, tokens come up as often as they should."
)
FROM_THE_GENERATOR = chance.from_the_generator(6.0)

# For each distribution, the probability of every token: the right one first, then those of the usual slips.
DISTRIBUTIONS: dict[str, Callable[[torch.Tensor, float], torch.Tensor]] = {
    "right": lambda logits, t: torch.softmax(logits / t, -1),
    "multiplied": lambda logits, t: torch.softmax(logits * t, -1),
    "ignored": lambda logits, t: torch.softmax(logits, -1),
    "squared": lambda logits, t: torch.softmax(logits / t**2, -1),
    "on probabilities": lambda logits, t: torch.softmax(torch.softmax(logits, -1) / t, -1),
    "greedy": lambda logits, t: torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype),
    "over the batch": lambda logits, t: torch.nn.functional.normalize(torch.softmax(logits / t, 0), p=1, dim=-1),
    "first row": lambda logits, t: torch.softmax(logits[:1] / t, -1).expand_as(logits),
}


OF_SEVERAL_ROWS = ("over the batch", "first row")


def _of(name: str, logits: torch.Tensor, temperature: float) -> torch.Tensor:
    return DISTRIBUTIONS[name](logits.double(), temperature)


def cases(generator: np.random.Generator) -> list[Case]:
    def draw(temperature: float, rows: int, kind: torch.dtype = torch.float32, hidden: int = 0) -> dict[str, Any]:
        """Logits with which every wrong distribution shows."""
        while True:
            steps = torch.tensor([-1.2, -0.7, 0.0, 0.5, 1.4] + [-torch.inf] * hidden).expand(rows, -1)
            order = torch.from_numpy(generator.permuted(np.tile(np.arange(5 + hidden), (rows, 1)), axis=1))
            uneven = steps.gather(1, order) + normal(generator, rows, 5 + hidden) / 5
            logits = ((1.5 * temperature) ** 0.8 * uneven).to(kind)
            names = [n for n in DISTRIBUTIONS if rows > 1 or n not in OF_SEVERAL_ROWS]
            if temperature == 1:  # where it makes no difference how it enters
                names = [n for n in names if n not in ("multiplied", "ignored", "squared")]
            right, *others = (_of(name, logits, temperature) for name in names)
            if chance.shows(right, others, DRAWS) and all(
                chance.distance(a, b) > 0.04 for a, b in combinations(others, 2)
            ):
                return drawn(logits, temperature, DRAWS)

    def drawn(logits: torch.Tensor, temperature: float, repeat: int, chance: bool = False) -> dict[str, Any]:
        seed = int(generator.integers(2**31))
        return {"logits": logits, "temperature": temperature, "repeat": repeat, "seed": seed, "chance": chance}

    batch, vocabulary, other = dims(generator, 3, 3, 7)
    low, high = (round(float(generator.uniform(*span)), 2) for span in ((0.6, 0.7), (1.8, 2.2)))
    hidden = normal(generator, other, vocabulary + 1)
    hidden[:, 0], hidden[:, -1] = -torch.inf, hidden[:, :-1].max(dim=1).values + 1
    even = normal(generator, 60, 5) / 10
    close = torch.from_numpy(generator.permuted(np.tile([1.0, 0.998, -1.0, -2.0], (40, 1)), axis=1)).float()
    return [
        Case.of("at temperature 0", ZERO, **drawn(normal(generator, batch, vocabulary), 0.0, 0)),
        Case.of("at temperature 0, given as an int", ZERO, **drawn(normal(generator, 1, vocabulary), 0, 0)),
        Case.of("at temperature 0, where one token has the logit -inf", ZERO, **drawn(hidden, 0.0, 0)),
        Case.of(f"at temperature {low}", LIKELY, **draw(low, 2)),
        Case.of(f"at temperature {high}", LIKELY, **draw(high, 2)),
        Case.of("at temperature 1", ONE, **draw(1.0, 2)),
        Case.of("where some tokens have the logit -inf", HIDDEN, **draw(high, 2, hidden=2)),
        Case.of(f"with one row, at temperature {low}", ALONE, **draw(low, 1)),
        Case.of("with float64", ALONE, **draw(low, 2, torch.float64)),
        Case.of("with large logits", LARGE, **_lifted(draw(high, 2), 300.0)),
        Case.of("with logits far below 0", LARGE, **_lifted(draw(low, 2), -300.0)),
        Case.of("with the same generator, and with others", FROM_THE_GENERATOR, **drawn(even, 1.0, 0, True)),
        Case.of("at temperature 0, where two tokens are nearly as likely", ZERO, **drawn(close, 0.0, 0)),
        Case.of("with logits that are not contiguous", ZERO, **drawn(strided(normal(generator, 4, 6)), 0.0, 0)),
    ]


def _lifted(inputs: dict[str, Any], by: float) -> dict[str, Any]:
    """The same differences, far from 0, as whole steps of a sixteenth: nothing is rounded away."""
    logits = (inputs["logits"] * 16).round() / 16
    return {**inputs, "logits": logits + by}


def as_shares(observation: Observation, case: Case) -> Observation:
    """Of what was sampled, the frequencies; where randomness itself is looked at, nothing else."""
    seen = dict(observation)
    logits, temperature = case.inputs["logits"], case.inputs["temperature"]
    if case.inputs["chance"]:
        del seen["output"]
    elif case.inputs["repeat"]:
        return chance.sampled(seen, logits.shape, (_of(name, logits, temperature) for name in DISTRIBUTIONS))
    elif isinstance(seen["output"], torch.Tensor) and not seen["output"].is_floating_point():
        seen["output"] = seen["output"].long()
    return seen


TRIAL = Trial(
    module="transformer_course.sampling",
    points=3,
    cases=cases,
    canonical=as_shares,
    aspects=(
        replace(aspects.shape(), tags=ZERO.tags),
        LIKELY,
        ZERO,
        ONE,
        HIDDEN,
        ALONE,
        LARGE,
        FROM_THE_GENERATOR,
        aspects.also(
            "whole numbers, one per row",
            "kind",
            "rows",
            weight=2.0,
            meaning="The result holds integers and has the shape (batch,): one token for each row.",
        ),
        aspects.untouched(weight=2.0),
    ),
)
