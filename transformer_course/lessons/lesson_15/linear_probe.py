"""`linear_probe`: how it is tried."""

from dataclasses import replace
from itertools import product
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
    inputs = case.inputs
    words = _ridge(observation.get("output"), inputs["states"], inputs["labels"], inputs.get("ridge"))
    return {"ridge": words, **observation}


def _ridge(weight: Any, states: torch.Tensor, labels: torch.Tensor, passed: float | None) -> str:
    """As much as the squared error falls with a small step, W's squares grow, times the ridge."""
    x = torch.cat([states, torch.ones_like(states[:, :1])], dim=1).double()
    rows = len(x)
    if not isinstance(weight, torch.Tensor) or weight.dim() != 2 or len(weight) != x.shape[1] or rows < 8:
        return AS_ASKED
    ridge = 1.0 if passed is None else passed
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
    falls = x.T @ (y - x @ weight)
    estimate = float((falls * weight).sum() / weight.square().sum())
    if passed is None and fits(estimate):
        best = abs(round(estimate, 3))
        return f"No ridge is passed in, and your W is the best for {best:g}. What is it then in the docstring?"
    for words, other in ways.items():
        if fits(other):
            words += " that is passed in" * words.endswith("one")
            return f"Your W is the best for a ridge of {words}. What is added to the diagonal of Xᵀ X?"
    if fits(estimate):
        return f"Your W is the best for a ridge of {estimate:.3g}, not of {ridge:g}. What is added to Xᵀ X?"
    if fits(ridge, rows):
        return "Your W is divided by the number of rows. Which mean does the docstring ask for?"
    return _other_sums(weight, x, y, ridge)


def _other_sums(weight: torch.Tensor, x: torch.Tensor, y: torch.Tensor, ridge: float) -> str:
    """Which other X, Y or sum of squares of W it is the best for."""
    ones, every = x[:, -1:], torch.ones(len(weight), len(weight), dtype=torch.double)
    eye = torch.eye(len(weight), dtype=torch.double)
    first, last = eye.clone(), eye.clone()
    first[0, 0] = last[-1, -1] = 0
    states = x[:, :-1]
    matrices = {
        "": x,
        "Your ones come first.": torch.cat([ones, states], dim=1),
        "Your column of ones holds zeros.": torch.cat([states, 0 * ones], dim=1),
        "You subtract the mean from the states.": torch.cat([states - states.mean(dim=0), ones], dim=1),
        "You give all states the length 1.": torch.cat([states / states.norm(dim=1, keepdim=True), ones], dim=1),
        "You divide the states by their standard deviation.": torch.cat([states / states.std(dim=0), ones], dim=1),
        "You standardise the states.": torch.cat([(states - states.mean(dim=0)) / states.std(dim=0), ones], dim=1),
    }
    targets = {
        "": y,
        "Your Y holds 1 and -1.": 2 * y - 1,
        "Each class has the column before its own in your Y.": y.roll(-1, dims=1),
        "Each class has the column after its own in your Y.": y.roll(1, dims=1),
        "You subtract the mean from Y.": y - y.mean(dim=0),
        "You divide Y by the number of rows of each class.": y / y.sum(dim=0).clamp(min=1),
    }
    penalties = {
        "": eye,
        "The ridge is added to every number of Xᵀ X, not only to its diagonal.": every,
        "The ridge isn't added for the row of ones.": last,
        "The ridge isn't added for the first row.": first,
    }
    combinations = sorted(
        product(matrices.items(), targets.items(), penalties.items()),
        key=lambda combination: sum(bool(words) for words, _ in combination),
    )
    for combination in combinations:
        told = " ".join(words for words, _ in combination if words)
        (_, other), (_, wanted), (_, penalty) = combination
        if torch.allclose(other.T @ (wanted - other @ weight), ridge * penalty @ weight, rtol=1e-3, atol=1e-3):
            return f"{told} What do X, Y and the ridge stand for in the docstring?"
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
        aspects.worded(aspects.values(8.0), "ridge"),
        replace(RIDGE, keys=("ridge", "output")),
        replace(USUAL_RIDGE, keys=("ridge", "output")),
        ABSENT,
        FEW,
        SINGLE,
        *aspects.any_numbers(0.5),
        aspects.untouched(weight=0.5),
    ),
)
