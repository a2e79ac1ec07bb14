"""`linear_probe`: how it is tried."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.battery import Battery
from cellcheck.authoring.draw import normal

ABSENT = aspects.special(
    "a class that never occurs", weight=2.0, meaning="A class that no label has still gets its column."
)
FEW = aspects.special(
    "fewer rows than numbers", weight=2.0, meaning="With fewer rows than columns, `ridge` makes the solution unique."
)
RIDGE = aspects.special("another ridge", weight=3.0, meaning="The ridge that is passed in is used.")
USUAL_RIDGE = aspects.special("no ridge passed in", meaning="Without a ridge, it is 1.")
SINGLE = aspects.special("a single row", meaning="A single row is enough for a result.")


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(n: int, d: int, c: int, ridge: float | None = 0.7, dtype: Any = None) -> dict[str, Any]:
        labels = torch.from_numpy(generator.permutation(np.arange(n) % c))
        states = normal(generator, n, d, dtype=dtype) + 0.5
        states[:, 0] += 2 * (labels == 0)
        inputs: dict[str, Any] = {"states": states, "labels": labels, "classes": c}
        return inputs if ridge is None else inputs | {"ridge": ridge}

    usual = Battery(drawn, n=17, d=5, c=3)
    absent = drawn(12, 4, 3)
    absent["classes"] = 5
    return [
        usual.different(),
        Case.of("with two classes", **drawn(20, 3, 2, 1.5)),
        Case.of("with as many classes as numbers", **drawn(21, 4, 4, 0.8)),
        Case.of("with a large ridge", RIDGE, **drawn(15, 4, 3, 30.0)),
        Case.of("with a small ridge", RIDGE, **drawn(15, 4, 3, 0.1)),
        Case.of("without a ridge", USUAL_RIDGE, **drawn(15, 4, 3, None)),
        Case.of("with classes that never occur", ABSENT, **absent),
        Case.of("with fewer rows than numbers", FEW, **drawn(3, 6, 2, 0.9)),
        Case.of("with a single row", SINGLE, **drawn(1, 4, 2, 0.6)),
        usual.float64(),
        usual.not_contiguous(),
    ]


AS_ASKED = "the ridge that was passed in"


def with_its_ridge(observation: Observation, case: Case) -> Observation:
    """For which ridge a W is the best, where that is another one."""
    if "error" in observation:
        return observation
    ridge = case.inputs.get("ridge", 1.0)
    return {
        "ridge": _ridge(observation.get("output"), case.inputs["states"], case.inputs["labels"], ridge),
        **observation,
    }


def _ridge(weight: Any, states: torch.Tensor, labels: torch.Tensor, ridge: float) -> str:
    """As much as the squared error falls with a small step, W's squares grow, times the ridge."""
    x = torch.cat([states, torch.ones_like(states[:, :1])], dim=1).double()
    rows = len(x)
    if not isinstance(weight, torch.Tensor) or weight.dim() != 2 or len(weight) != x.shape[1] or rows < 8:
        return AS_ASKED
    weight = weight.detach().double()
    y = (labels.unsqueeze(1) == torch.arange(weight.shape[1])).double()

    def fits(ridge: float, times: float = 1.0) -> bool:
        falls = x.T @ (y - times * x @ weight)
        return torch.allclose(falls, ridge * times * weight, rtol=1e-3, atol=1e-3)

    ways = {
        "0, as if none had been passed in": 0.0,
        "1, whatever is passed in": 1.0,
        "minus the one": -ridge,
        "half of the one": ridge / 2,
        "twice the one": 2 * ridge,
        "the square of the one": ridge**2,
        "the root of the one": ridge**0.5,
        "the number of rows times the one": rows * ridge,
        "the one divided by the number of rows": ridge / rows,
    }
    if fits(ridge):
        return AS_ASKED
    for words, other in ways.items():
        if fits(other):
            words += " that is passed in" * words.endswith("one")
            return f"Your W is the best for a ridge of {words}. What is added to the diagonal of Xᵀ X?"
    if fits(ridge, rows):
        return "Your W is divided by the number of rows. Which mean does the docstring ask for?"
    return AS_ASKED


TRIAL = Trial(
    module="transformer_course.circuits.reading",
    points=2,
    cases=cases,
    canonical=with_its_ridge,
    called={"ridge": "the ridge for which W is the best"},
    aspects=(
        aspects.shape(
            "shape (d + 1, classes)", "The result has a row for each number of a state and one for the ones."
        ),
        replace(aspects.values(8.0), keys=("ridge", "output")),
        RIDGE,
        USUAL_RIDGE,
        ABSENT,
        FEW,
        SINGLE,
        *aspects.any_numbers(0.5),
        aspects.untouched(weight=0.5),
    ),
)
