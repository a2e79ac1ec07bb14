"""`sinusoidal_positional_encoding`: how it is tried."""

from dataclasses import replace

import numpy as np
import torch

from cellcheck.authoring.aspects import dtype, shape, values
from cellcheck.authoring.spec import Case, Observation, Trial
from transformer_course.lessons.aspects import special
from transformer_course.lessons.lesson_06.drawing import draw_base
from transformer_course.lessons.lesson_06.waves import CALLED, TURN, in_words, of_table

BASE = special("another base", weight=2.0)
SINGLE = special("a single position", meaning="A single position gives the right result too.")
TWO_COLUMNS = special("two columns")


def cases(generator: np.random.Generator) -> list[Case]:
    # Eight columns and five positions are what fixed numbers would most likely be: they never come up.
    half, other = generator.permutation([3, 5]).tolist()
    length, side = int(generator.choice([3, 4, 6])), 2 * int(generator.integers(2, 4))
    return [
        Case.of("with a few positions", length=length, d_model=2 * half),
        Case.of("with more positions than columns", length=2 * other + length, d_model=2 * other),
        Case.of("with as many positions as columns", length=side, d_model=side),
        Case.of("with many positions", length=40 + length, d_model=4),
        Case.of("with a single position", SINGLE, length=1, d_model=2 * half),
        Case.of("with two columns", TWO_COLUMNS, length=length, d_model=2),
        Case.of("with another base", BASE, length=length + 10, d_model=2 * other, base=draw_base(generator)),
    ]


def canonical(observation: Observation, case: Case) -> Observation:
    """The table in its canonical form, and what its waves do, in words beside it."""
    seen = _made_precise(observation, case)
    return in_words(seen, of_table(seen.get("output"), **case.inputs), case)


def _made_precise(observation: Observation, case: Case) -> Observation:
    """Waves that get faster from pair to pair reach angles of thousands, and float32 keeps few digits of those.

    How they were rounded is nobody's mistake: such a table is made again in float64.
    """
    output = observation.get("output")
    length, d_model = case.inputs["length"], case.inputs["d_model"]
    if not isinstance(output, torch.Tensor) or output.shape != (length, d_model) or d_model == 2:
        return observation
    positions = torch.arange(length, dtype=torch.float64).unsqueeze(1)
    angles = positions * case.inputs.get("base", 10000.0) ** (torch.arange(0, d_model, 2) / d_model).double()
    faster = torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(start_dim=1)
    if not torch.allclose(output.double(), faster, rtol=0.0, atol=0.02):
        return observation
    return {**observation, "output": faster.to(output.dtype)}


TRIAL = Trial(
    module="transformer_course.positions",
    points=3,
    cases=cases,
    canonical=canonical,
    called=CALLED,
    aspects=(
        shape(),
        replace(values(), keys=(TURN, "output")),
        BASE,
        SINGLE,
        TWO_COLUMNS,
        dtype("float32", meaning="The result is float32."),
    ),
)
