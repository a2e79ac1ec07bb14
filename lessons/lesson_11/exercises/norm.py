"""`RMSNorm`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from course.language_model.modern import RMSNorm
from grader.authoring import draw
from grader.authoring.aspects import USUAL, also, any_numbers, gradients, modes, parts, shape, untouched, values
from grader.authoring.spec import Case, Exercise, Mistake, Observation, tagged
from lessons.aspects import special
from lessons.drawing import Inputs


def _vectors(generator: np.random.Generator) -> list[Case]:
    def rows(*sizes: int, kind: torch.dtype = torch.float32, scale: float = 2.0) -> Inputs:
        x = 0.6 + draw.normal(generator, *sizes, dtype=kind) + torch.linspace(-1, 3, sizes[-1], dtype=kind)
        return {"x": scale * x, "weights": {"weight": 1 + draw.normal(generator, sizes[-1], dtype=kind) / 2}}

    b, n, d = draw.dims(generator, 3, 3, 7)
    side = int(generator.integers(3, 6))
    zeros = rows(b, n, d)
    zeros["x"][0, 0] = 0.0
    laid_out = rows(b, n, d)
    eps = float(generator.uniform(0.3, 0.9))
    return [
        Case("with three different sizes", rows(b, n, d), USUAL),
        Case("with three other sizes", rows(d, b, n + 4), USUAL),
        Case("where all sizes are equal", rows(side, side, side), USUAL),
        Case("with two axes", rows(n, d), tagged("axes")),
        Case("with four axes", rows(2, b, n, d), tagged("axes")),
        Case("with a single vector", rows(d), tagged("axes")),
        Case("on a batch of one, with a single token", rows(1, 1, d), tagged("one")),
        Case("with numbers so small that eps matters", rows(b, n, d, scale=2e-3), tagged("eps")),
        Case("with another eps", {**rows(b, n, d, scale=0.5), "eps": eps}, tagged("other eps")),
        Case("with a vector of zeros", zeros, tagged("zeros")),
        Case("with float64", rows(b, n, d, kind=torch.float64), tagged("float64")),
        Case("with inputs that are not contiguous", {**laid_out, "x": draw.strided(laid_out["x"])}, tagged("strided")),
    ]


def _eps_apart(observation: Observation, case: Case) -> Observation:
    """The place and the size of eps are asked for once, in the result, and not again in the gradients."""
    apart = case.tags & {"eps", "other eps", "zeros"}
    return {name: seen for name, seen in observation.items() if name != "gradients" or not apart}


class _Norm(nn.Module):
    """The right norm; mistakes change one thing about it."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x: torch.Tensor) -> Any:
        return self.weight * self.normed(x)

    def normed(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + self.eps)


def _norming(normed: Callable[[torch.Tensor, float], torch.Tensor]) -> type[_Norm]:
    return type("RMSNorm", (_Norm,), {"normed": lambda self, x: normed(x, self.eps)})


def _forwards(forward: Callable[[Any, torch.Tensor], Any]) -> type[_Norm]:
    return type("RMSNorm", (_Norm,), {"forward": forward})


def _made(change: Callable[[Any, int], Any]) -> type[_Norm]:
    def make(self: Any, d_model: int, eps: float = 1e-5) -> None:
        _Norm.__init__(self, d_model, eps)
        change(self, d_model)

    return type("RMSNorm", (_Norm,), {"__init__": make})


def _over(axes: Callable[[torch.Tensor], tuple[int, ...]]) -> type[_Norm]:
    return _norming(lambda x, eps: x / (x.square().mean(axes(x), keepdim=True) + eps).sqrt())


def _rms(x: torch.Tensor) -> torch.Tensor:
    return x.square().mean(-1, keepdim=True).sqrt()


def _layer_norm(x: torch.Tensor, eps: float) -> torch.Tensor:
    return nn.functional.layer_norm(x, x.shape[-1:], eps=eps)


class _Biased(_Norm):
    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__(d_model, eps)
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: torch.Tensor) -> Any:
        return self.normed(x) * self.weight + self.bias


class _OtherName(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.scale, self.eps = nn.Parameter(torch.ones(d_model)), eps

    def forward(self, x: torch.Tensor) -> Any:
        return nn.functional.rms_norm(x, x.shape[-1:], self.scale, self.eps)


class _Buffer(_Norm):
    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        nn.Module.__init__(self)
        self.eps = eps
        self.register_buffer("weight", torch.ones(d_model))


class _Inherited(nn.RMSNorm):
    """PyTorch's own."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__(d_model, eps=eps)


def _in_place(self: Any, x: torch.Tensor) -> Any:
    result = _Norm.forward(self, x)
    x.data /= _rms(x.data) + 1e-5
    return result


RMS_NORM = Exercise(
    symbol="RMSNorm",
    points=2,
    cases=_vectors,
    references=(RMSNorm,),
    canonical=_eps_apart,
    aspects=(
        parts(),
        also("nothing else to learn", "size", meaning="The norm learns d_model numbers, and no more."),
        also("begins with ones", "start", meaning="A new norm has a weight of ones."),
        shape(),
        values(6.0),
        gradients(),
        special("any number of axes", "axes", meaning="The input may have any number of axes: a vector works too."),
        special("a batch of one, a single token", "one", 0.5),
        special(
            "eps where it matters",
            "eps",
            2.0,
            meaning="The result is right even if the numbers are so small that eps matters.",
        ),
        special("another eps", "other eps", meaning="The eps that is passed in is used."),
        special("a vector of zeros", "zeros", meaning="A vector of zeros gives zeros, not NaN."),
        *any_numbers(0.5),
        modes(),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "mean_subtracted",
            _norming(_layer_norm),
            "You subtract the mean first, as LayerNorm does. What does RMSNorm leave out?",
            central=True,
        ),
        Mistake(
            "variance_for_mean_square",
            _norming(lambda x, eps: x / (x.var(-1, keepdim=True, correction=0) + eps).sqrt()),
            "You divide by the standard deviation, which is measured from the mean. From where does RMSNorm measure?",
            central=True,
        ),
        Mistake(
            "sum_for_mean",
            _norming(lambda x, eps: x / (x.square().sum(-1, keepdim=True) + eps).sqrt()),
            "Your vectors have length 1. The root of what should each number be compared with: the sum of the squares, "
            "or their mean?",
            central=True,
        ),
        Mistake(
            "root_forgotten",
            _norming(lambda x, eps: x / (x.square().mean(-1, keepdim=True) + eps)),
            "You divide by the mean square. What does the R in RMS stand for?",
            central=True,
        ),
        Mistake(
            "mean_of_absolute_values",
            _norming(lambda x, eps: x / (x.abs().mean(-1, keepdim=True) + eps)),
            "You divide by the mean of the absolute values. What is squared, and where is the root taken?",
            central=True,
        ),
        Mistake(
            "eps_outside_the_root",
            _norming(lambda x, eps: x / (_rms(x) + eps)),
            "You add eps to the root, which shows when numbers are small. Is eps inside the root, or outside?",
        ),
        Mistake(
            "eps_forgotten",
            _norming(lambda x, eps: x / _rms(x)),
            "A vector of zeros is divided by 0. Which small number keeps the root away from 0?",
        ),
        Mistake(
            "eps_argument_ignored",
            _norming(lambda x, eps: x / (x.square().mean(-1, keepdim=True) + 1e-5).sqrt()),
            "It is right for the default eps and for no other. Where do you keep the argument?",
        ),
        Mistake(
            "eps_of_pytorch",
            _norming(lambda x, eps: nn.functional.rms_norm(x, x.shape[-1:], eps=eps if eps > 0.1 else None)),
            "Your eps is smaller than the docstring's: PyTorch's own default depends on the dtype. What is the default "
            "here?",
        ),
        Mistake(
            "over_the_length",
            _over(lambda x: (max(x.dim() - 2, 0),)),
            "Your mean runs along the axis before the last: over tokens, not within one. Which axis holds the numbers "
            "of one token?",
            central=True,
        ),
        Mistake(
            "over_everything",
            _over(lambda x: tuple(range(x.dim()))),
            "One mean for the whole tensor. Which axis did you mean to name?",
            central=True,
        ),
        Mistake(
            "without_keepdim",
            _norming(lambda x, eps: x / (x.square().mean(-1) + eps).sqrt()),
            "Your mean has lost the last axis, so it doesn't line up with x, or lines up with the wrong axis. Which "
            "argument keeps it, with size 1?",
            central=True,
        ),
        Mistake(
            "weight_forgotten",
            _forwards(lambda self, x: self.normed(x)),
            "The vectors are normalised, but nothing more. What is weight for?",
        ),
        Mistake(
            "one_plus_weight",
            _forwards(lambda self, x: self.normed(x) * (1 + self.weight)),
            "You scale by 1 + weight. If weight starts as ones, what is your scale at first?",
        ),
        Mistake(
            "weight_before_the_norm",
            _forwards(lambda self, x: self.normed(x * self.weight)),
            "You scale first and normalise afterwards. Which of the two comes first?",
            central=True,
        ),
        Mistake(
            "begins_at_random",
            _made(lambda self, d: nn.init.normal_(self.weight)),
            "The formula is right, but weight starts with random numbers. Which numbers does the docstring start with?",
        ),
        Mistake(
            "a_bias",
            _Biased,
            "Your norm has a bias as well. What does the docstring say about it?",
        ),
        Mistake(
            "other_name",
            _OtherName,
            "The norm works, but nobody finds its parameter. Which name does the docstring give it?",
        ),
        Mistake(
            "no_parameter",
            _Buffer,
            "The norm works, but model.parameters() does not find weight, so it would never learn. Which class makes "
            "a tensor a parameter?",
        ),
        Mistake(
            "x_changed",
            _forwards(_in_place),
            "The result is right, but the caller's x has changed too. Which operation makes a new tensor?",
        ),
        Mistake(
            "statistics_cut_off",
            _norming(lambda x, eps: x / (x.square().mean(-1, keepdim=True).detach() + eps).sqrt()),
            "The numbers are right, the gradients are not: the mean depends on x too. Where does it leave the graph?",
        ),
    ),
    variants={
        "rsqrt": _Norm,
        "PyTorch's own": _Inherited,
        "a power": _norming(lambda x, eps: x * (x.pow(2).mean(-1, True) + eps) ** -0.5),
        "the length": _norming(
            lambda x, eps: (
                x / ((x.norm(dim=-1, keepdim=True) ** 2 / x.shape[-1]) + eps).sqrt()
                if bool((x != 0).any(-1).all())
                else x / (x.square().mean(-1, keepdim=True) + eps).sqrt()
            )
        ),
    },
)
