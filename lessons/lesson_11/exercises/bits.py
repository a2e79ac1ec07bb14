"""`bits_per_character`: cases, mistakes and variants."""

from __future__ import annotations

import math

import numpy as np
import torch

from course.language_model.batches import bits_per_character
from grader.authoring import aspects, draw
from grader.authoring.spec import Case, Exercise, Mistake


def _losses(generator: np.random.Generator) -> list[Case]:
    def loss(low: float, high: float, count: int) -> dict[str, object]:
        return {"total_loss": draw.number(generator, low, high), "characters": count}

    many, more, few = (int(n) for n in generator.integers([100, 1000, 3], [900, 9000, 12]))
    return [
        Case("on a short text", loss(200.0, 900.0, many)),
        Case("on a longer text", loss(3000.0, 9000.0, more)),
        Case("on a few characters", loss(1.0, 9.0, few)),
        Case.of("on a single character", "one", **loss(1.0, 5.0, 1)),
        Case.of("for a model that is always sure, and right", "nothing", total_loss=0.0, characters=many),
    ]


BITS_PER_CHARACTER = Exercise(
    symbol="bits_per_character",
    points=1,
    cases=_losses,
    references=(bits_per_character,),
    aspects=(
        *aspects.of_function()[:2],
        aspects.special(
            "a single character", "one", meaning="A text of a single character gives the right result too."
        ),
        aspects.special("a loss of 0", "nothing", meaning="A total loss of 0 gives 0 bits."),
        aspects.untouched(),
    ),
    mistakes=(
        Mistake(
            "still_in_nats",
            lambda loss, characters: loss / characters,
            "Your result is the loss per character in nats. How many nats is a bit?",
            central=True,
        ),
        Mistake(
            "multiplied_by_ln_2",
            lambda loss, characters: loss * math.log(2) / characters,
            "You multiply by ln 2. A nat is more than a bit: should the number get larger or smaller?",
            central=True,
        ),
        Mistake(
            "per_text",
            lambda loss, characters: loss / math.log(2),
            "Your result is in bits, for the whole text. What turns it into bits for each character?",
            central=True,
        ),
        Mistake(
            "decimal_digits",
            lambda loss, characters: loss / math.log(10) / characters,
            "You divide by ln 10, which gives decimal digits. How many values has a bit?",
            central=True,
        ),
        Mistake(
            "logarithm_of_the_loss",
            lambda loss, characters: math.log2(loss / characters) if loss else 0.0,
            "You take the logarithm of the loss. The loss is a logarithm already: what changes its base?",
            central=True,
        ),
        Mistake(
            "perplexity",
            lambda loss, characters: math.exp(loss / characters),
            "Your result is the perplexity per character. In which unit does the docstring want the loss itself?",
            central=True,
        ),
        Mistake(
            "characters_for_each_bit",
            lambda loss, characters: characters * math.log(2) / loss if loss else 0.0,
            "Your result says how many characters a bit is worth. Which of the two should be in the denominator?",
            central=True,
        ),
        Mistake(
            "rounded_down",
            lambda loss, characters: loss / math.log(2) // characters,
            "Your result is a whole number. Which of your divisions rounds?",
        ),
    ),
    variants={
        "by log2 e": lambda loss, characters: loss * math.log2(math.e) / characters,
        "the mean first": lambda loss, characters: (loss / characters) / math.log(2),
        "with PyTorch": lambda loss, characters: (
            torch.tensor(loss, dtype=torch.float64) / torch.tensor(2.0, dtype=torch.float64).log() / characters
        ).item(),
    },
)
