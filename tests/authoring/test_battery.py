"""The usual battery: which inputs are drawn, and which aspect looks at them."""

import numpy as np
import pytest
import torch

from cellcheck.authoring.aspects import shape, values
from cellcheck.authoring.battery import LOOKED_AT, Battery, battery
from cellcheck.authoring.calls import in_order
from cellcheck.authoring.draw import dims, normal
from cellcheck.authoring.spec import Case, Exercise, Value
from cellcheck.checking.judge import PASSED, Judge


def scaled(x: torch.Tensor, scale: torch.Tensor, power: int) -> torch.Tensor:
    return x * scale**power


def cases(generator: np.random.Generator) -> list[Case]:
    b, n, d = dims(generator, 3)

    def drawn(b: int, n: int, d: int, dtype: torch.dtype | None = None) -> dict[str, Value]:
        x, scale = normal(generator, b, n, d, dtype=dtype), normal(generator, d, dtype=dtype)
        return {"x": x, "scale": scale, "power": 2}

    return battery(drawn, b=b, n=n, d=d)


EXERCISE = Exercise(
    symbol="scaled", points=6, cases=cases, references=(scaled,), aspects=(shape(), values(), *LOOKED_AT)
)


def test_the_inputs_are_those_that_go_wrong() -> None:
    different, equal, one, thin, double, apart = (case.inputs for case in cases(np.random.default_rng(1)))
    b, n, d = different["x"].shape
    assert len({b, n, d}) == 3
    shapes = [tuple(inputs["x"].shape) for inputs in (equal, one, thin, double, apart)]
    assert shapes == [(3, 3, 3), (1, n, d), (b, 1, 1), (b, n, d), (b, n, d)]
    assert [inputs["x"].dtype for inputs in (different, double)] == [torch.float32, torch.float64]
    assert [inputs["x"].is_contiguous() for inputs in (different, apart)] == [True, False]
    assert (apart["scale"].is_contiguous(), apart["power"]) == (False, 2)


def test_each_case_is_drawn_when_it_is_asked_for() -> None:
    """So an exercise that takes them one by one draws what it has always drawn."""

    def drawn(generator: np.random.Generator) -> Battery:
        return Battery(lambda n, d, dtype=None: {"x": normal(generator, n, d, dtype=dtype)}, n=4, d=2)

    generator = np.random.default_rng(2)
    double, few = drawn(generator).float64("in double precision"), drawn(generator).length_one("n", label="on one row")
    assert (double.label, few.label) == ("in double precision", "on one row")
    again = np.random.default_rng(2)
    assert torch.equal(double.inputs["x"], torch.from_numpy(again.standard_normal((4, 2))))
    assert torch.equal(few.inputs["x"], torch.from_numpy(again.standard_normal((1, 2))).float())


@pytest.mark.parametrize(
    ("slip", "lost"),
    [
        (lambda x, scale, power: (x * scale**power).squeeze(), {"a batch of one", "axes of length one"}),
        (lambda x, scale, power: (x.float() * scale**power).to(x.dtype), {"float64"}),
        (
            lambda x, scale, power: x.as_strided(x.shape, torch.empty(x.shape).stride()) * scale**power,
            {"any layout in memory"},
        ),
    ],
)
def test_a_slip_costs_the_aspect_of_its_case(slip: object, lost: set[str]) -> None:
    judge = Judge(EXERCISE, in_order, 0)
    verdict = judge.verdict(judge.observe(slip))
    assert {aspect.name for aspect in verdict.aspects if not aspect.passed} == lost
    assert judge.verdict(judge.observe(scaled)).status == PASSED
