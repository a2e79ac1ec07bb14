"""`Dropout`: cases, mistakes and variants. What is random is looked at through what is always the same about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from course.training_well.dropout import Dropout
from grader.authoring import draw
from grader.authoring.aspects import also, main, refused, special, untouched
from grader.authoring.spec import USUAL, Case, Exercise, Mistake, tagged


def _rates(generator: np.random.Generator) -> list[Case]:
    def numbers(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """No number is near 0, so a dropped one shows."""
        drawn = draw.normal(generator, *shape, dtype=dtype)
        return drawn.sign() * (drawn.abs() + 0.5)

    low, high = (float(p) for p in generator.permutation([0.2, 0.3])), 0.7
    first, second = low
    a, b = draw.dims(generator, 2, 150, 200)
    return [
        Case("with a small p", {"p": first, "x": numbers(a, b)}, USUAL),
        Case("with a large p", {"p": high, "x": numbers(b, a)}, USUAL),
        Case("with three axes", {"p": second, "x": numbers(a, 3, 4)}, tagged("axes")),
        Case("in evaluation mode", {"p": first, "x": numbers(4, 5), "evaluating": True}, tagged("eval")),
        Case("with p = 0", {"p": 0.0, "x": numbers(5, 3)}, tagged("none")),
        Case("with float64", {"p": second, "x": numbers(b, a, dtype=torch.float64)}, tagged("float64")),
        Case("with p = 1", {"p": 1.0, "x": numbers(2, 3)}, tagged("refused")),
        Case("with a negative p", {"p": -0.1, "x": numbers(2, 3)}, tagged("refused")),
        Case("with a p above 1", {"p": 1.5, "x": numbers(2, 3)}, tagged("refused")),
    ]


class _Written(nn.Module):
    """The right layer, in pieces that mistakes change."""

    def __init__(self, p: float) -> None:
        super().__init__()
        if not 0 <= p < 1:
            raise ValueError("p must be in [0, 1)")
        self.p = p

    def active(self) -> bool:
        return self.training

    def mask(self, x: torch.Tensor) -> torch.Tensor:
        return torch.rand_like(x) >= self.p

    def scaled(self, x: torch.Tensor) -> torch.Tensor:
        return x / (1 - self.p)

    def forward(self, x: torch.Tensor) -> Any:
        return self.scaled(x * self.mask(x)) if self.active() else x


def _but(**members: Any) -> type[nn.Module]:
    return type("Dropout", (_Written,), members)


def _unchecked(self: Any, p: float) -> None:
    nn.Module.__init__(self)
    self.p = p


def _allows_one(self: Any, p: float) -> None:
    nn.Module.__init__(self)
    if not 0 <= p <= 1:
        raise ValueError("p must be in [0, 1]")
    self.p = p


def _one_mask_for_good(self: Any, x: torch.Tensor) -> torch.Tensor:
    if not hasattr(self, "kept"):
        self.kept = torch.rand_like(x) >= self.p
    return self.kept  # type: ignore[no-any-return]


def _in_place(self: Any, x: torch.Tensor) -> Any:
    if not self.training:
        return x
    with torch.no_grad():
        x.mul_(self.mask(x)).div_(1 - self.p)
    return x


def _scaled_in_eval(self: Any, x: torch.Tensor) -> Any:
    return x * self.mask(x) if self.training else x * (1 - self.p)


def _in_float32(self: Any, x: torch.Tensor) -> Any:
    return self.scaled(x.float() * self.mask(x)) if self.training else x.float()


class _Inside(nn.Module):
    def __init__(self, p: float) -> None:
        super().__init__()
        if p < 0 or p >= 1:
            raise ValueError("between 0 and 1, please")
        self.inner = nn.Dropout(p)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x)  # type: ignore[no-any-return]


def _where(self: Any, x: torch.Tensor) -> torch.Tensor:
    if self.training and self.p:
        dropped = torch.bernoulli(torch.full_like(x, self.p)).bool()
        return torch.where(dropped, torch.zeros_like(x), x / (1 - self.p))
    return x


def _masks(make: Callable[[Any, torch.Tensor], torch.Tensor]) -> type[nn.Module]:
    return _but(mask=make)


DROPOUT = Exercise(
    symbol="Dropout",
    points=2,
    cases=_rates,
    references=(Dropout, _Written),
    called={
        "output": "what each number is multiplied by",
        "share": "the share that is dropped",
        "anew": "two calls in a row",
        "alone": "which numbers are dropped together",
        "in_eval": "the output in evaluation mode",
    },
    shown=lambda case: {"p": case.inputs["p"]},
    aspects=(
        main(
            "what is kept, and what becomes 0",
            5.0,
            ("output", "share"),
            "A share of about p becomes 0, and every other number is divided by 1 - p.",
        ),
        also("anew in each call", "anew", weight=4.0, meaning="Two calls drop different numbers."),
        also("each number by itself", "alone", weight=4.0, meaning="Whole rows or columns aren't dropped together."),
        special("any number of axes", "axes", meaning="x may have any shape.", keys=("output", "share")),
        special(
            "nothing in evaluation mode",
            "eval",
            12.0,
            "After eval(), the layer returns x as it is.",
            ("in_eval",),
        ),
        special("p = 0", "none", meaning="With p = 0, nothing changes."),
        also(
            "gradients flow",
            "gradients",
            weight=2.0,
            meaning="A dropped number gets no gradient, and a kept one gets 1 / (1 - p).",
        ),
        special("float64", "float64", keys=("output", "share")),
        also("dtype kept", "dtype", weight=0.5, meaning="The result keeps the dtype of x."),
        refused("an impossible p", "refused", 2.0),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "not_scaled",
            _but(scaled=lambda self, x: x),
            "Kept numbers stay as they are, so on average the output is smaller than x. What makes up for the dropped "
            "ones?",
            central=True,
        ),
        Mistake(
            "multiplied",
            _but(scaled=lambda self, x: x * (1 - self.p)),
            "You multiply by 1 - p, so the kept numbers get even smaller. Which way should they change, to keep "
            "the sum?",
            central=True,
        ),
        Mistake(
            "divided_by_p",
            _but(scaled=lambda self, x: x / self.p if self.p else x),
            "You divide by p. What share of the numbers is kept?",
            central=True,
        ),
        Mistake(
            "always_active",
            _but(active=lambda self: True),
            "Your layer drops in evaluation mode too. Which attribute of a module says which mode it is in?",
            central=True,
        ),
        Mistake(
            "never_active",
            _but(active=lambda self: False),
            "Your layer never drops anything. Which attribute of a module says which mode it is in?",
            central=True,
        ),
        Mistake(
            "the_wrong_mode",
            _but(active=lambda self: not self.training),
            "Your layer drops in evaluation mode, and not in training. In which mode is self.training True?",
            central=True,
        ),
        Mistake(
            "scaled_in_eval",
            _but(forward=_scaled_in_eval),
            "You scale in evaluation mode, as the first paper did. In the inverted form, when is x scaled, and "
            "by what?",
            central=True,
        ),
        Mistake(
            "keeps_with_p",
            _masks(lambda self, x: torch.rand_like(x) < self.p),
            "You keep a share of p and drop the rest. Is p the share to keep, or to drop?",
            central=True,
        ),
        Mistake(
            "half_of_all",
            _masks(lambda self, x: torch.rand_like(x) >= 0.5),
            "You drop half of the numbers, whatever p is. Where does p come in?",
            central=True,
        ),
        Mistake(
            "normal_numbers",
            _masks(lambda self, x: torch.randn_like(x) >= self.p),
            "The share that you drop isn't p. Are your random numbers spread evenly between 0 and 1?",
        ),
        Mistake(
            "whole_rows",
            _masks(lambda self, x: torch.rand(*x.shape[:-1], 1) >= self.p),
            "You drop whole rows. How many random numbers does x need?",
        ),
        Mistake(
            "whole_columns",
            _masks(lambda self, x: torch.rand(x.shape[-1]) >= self.p),
            "You drop the same columns in every row. How many random numbers does x need?",
        ),
        Mistake(
            "one_mask_for_good",
            _masks(_one_mask_for_good),
            "You draw once and drop the same numbers ever after. When should the random numbers be drawn?",
        ),
        Mistake(
            "in_place",
            _but(forward=_in_place),
            "You change x itself, which the caller may still need. Which operation makes a new tensor?",
        ),
        Mistake(
            "never_refuses",
            _but(__init__=_unchecked),
            "Your layer accepts any p. What happens to 1 - p at p = 1, and what would a negative p mean?",
        ),
        Mistake(
            "accepts_one",
            _but(__init__=_allows_one),
            "Your layer accepts p = 1. What would it divide by?",
        ),
        Mistake(
            "in_float32",
            _but(forward=_in_float32),
            "Your output is always float32. What dtype did x have?",
        ),
    ),
    variants={
        "in pieces": _Written,
        "PyTorch's own inside": _Inside,
        "where": _but(forward=_where),
        "NumPy's random numbers": _masks(
            lambda self, x: torch.from_numpy(np.random.default_rng().random(x.shape) >= self.p)
        ),
    },
)
