"""`LayerNorm`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from course.blocks import LayerNorm
from grader.authoring import draw
from grader.authoring.aspects import USUAL, also, any_numbers, gradients, modes, parts, shape, untouched, values
from grader.authoring.spec import Case, Exercise, Mistake, Observation, tagged
from lessons import drawing
from lessons.aspects import special
from lessons.drawing import Inputs


def _rows(generator: np.random.Generator) -> list[Case]:
    def rows(*sizes: int, kind: torch.dtype = torch.float32, scale: float = 2.0, shift: float = 1.0) -> Inputs:
        x = draw.normal(generator, *sizes, dtype=kind) + torch.linspace(-3, 3, sizes[-1], dtype=kind)  # well apart
        return {
            "x": shift + scale * x,
            "weights": drawing.norm(generator, "", sizes[-1], kind),
        }

    b, n, d = draw.dims(generator, 3, 3, 7)
    side = int(generator.integers(3, 6))
    # In float64 the place of eps shows anywhere, but in numbers as large as these.
    constant = rows(b, n, d, kind=torch.float64, scale=1e5)
    constant["x"][0, 0] = 1.5
    laid_out = rows(b, n, d)
    eps = float(generator.uniform(0.3, 0.9))
    return [
        Case("with three different sizes", rows(b, n, d), USUAL),
        Case("with three other sizes", rows(d, b, n + 4), USUAL),
        Case("where all sizes are equal", rows(side, side, side), USUAL),
        Case("with two columns", rows(b, n, 2), USUAL),
        Case("with two axes", rows(n, d), tagged("axes")),
        Case("with four axes", rows(2, b, n, d), tagged("axes")),
        Case("with a single vector", rows(d), tagged("axes")),
        Case("on a batch of one, with a single token", rows(1, 1, d), tagged("one")),
        Case("with numbers so close together that eps matters", rows(b, n, d, scale=2e-3, shift=0.0), tagged("eps")),
        Case("with another eps", {**rows(b, n, d, scale=0.8), "eps": eps}, tagged("other eps")),
        Case("with a vector whose numbers are all equal", constant, tagged("constant")),
        Case("with float64", rows(b, n, d, kind=torch.float64, scale=1e5), tagged("float64")),
        Case("with inputs that are not contiguous", {**laid_out, "x": draw.strided(laid_out["x"])}, tagged("strided")),
    ]


def _eps_apart(observation: Observation, case: Case) -> Observation:
    """The place and the size of eps are asked for once, in the result, and not again in the gradients."""
    return {
        name: seen for name, seen in observation.items() if name != "gradients" or not case.tags & {"eps", "other eps"}
    }


class _Norm(nn.Module):
    """The right norm; mistakes change one thing about it."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: torch.Tensor) -> Any:
        return self.normed(x) * self.weight + self.bias

    def normed(self, x: torch.Tensor) -> torch.Tensor:
        variance, mean = torch.var_mean(x, dim=-1, keepdim=True, correction=0)
        return (x - mean) / (variance + self.eps).sqrt()


def _norming(normed: Callable[[torch.Tensor, float], torch.Tensor]) -> type[_Norm]:
    """A norm that makes something else of x and eps."""
    return type("LayerNorm", (_Norm,), {"normed": lambda self, x: normed(x, self.eps)})


def _over(axes: Callable[[torch.Tensor], tuple[int, ...]]) -> type[_Norm]:
    """A norm over other axes."""

    def normed(x: torch.Tensor, eps: float) -> torch.Tensor:
        variance, mean = torch.var_mean(x, dim=axes(x), keepdim=True, correction=0)
        return (x - mean) / (variance + eps).sqrt()

    return _norming(normed)


def _forwards(forward: Callable[[Any, torch.Tensor], Any]) -> type[_Norm]:
    return type("LayerNorm", (_Norm,), {"forward": forward})


def _made(change: Callable[[Any], Any]) -> type[_Norm]:
    """A norm changed after it was made."""

    def make(self: Any, d_model: int, eps: float = 1e-5) -> None:
        _Norm.__init__(self, d_model, eps)
        change(self)

    return type("LayerNorm", (_Norm,), {"__init__": make})


def _deviation(x: torch.Tensor) -> torch.Tensor:
    return (x - x.mean(-1, keepdim=True)).square().mean(-1, keepdim=True).sqrt()


def _centred(x: torch.Tensor) -> torch.Tensor:
    return x - x.mean(-1, keepdim=True)


class _OtherNames(nn.Module):
    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(d_model))
        self.beta = nn.Parameter(torch.zeros(d_model))
        self.eps = eps

    def forward(self, x: torch.Tensor) -> Any:
        return F.layer_norm(x, x.shape[-1:], self.gamma, self.beta, self.eps)


class _Buffers(_Norm):
    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        nn.Module.__init__(self)
        self.eps = eps
        self.register_buffer("weight", torch.ones(d_model))
        self.register_buffer("bias", torch.zeros(d_model))


class _BatchNorm(_Norm):
    """Statistics of the batch, kept while training and used afterwards."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__(d_model, eps)
        self.kept = nn.BatchNorm1d(d_model, eps=eps, affine=False)

    def normed(self, x: torch.Tensor) -> torch.Tensor:
        rows = x.reshape(-1, x.shape[-1])
        return torch.as_tensor(self.kept(rows)).reshape(x.shape)


class _Inherited(nn.LayerNorm):
    """PyTorch's own."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__(d_model, eps=eps)


def _in_place(self: Any, x: torch.Tensor) -> Any:
    x.data -= x.data.mean(-1, keepdim=True)
    return _Norm.forward(self, x)


def _one_pass(x: torch.Tensor, eps: float) -> torch.Tensor:
    mean = x.mean(-1, keepdim=True)
    variance = (x * x).mean(-1, keepdim=True) - mean * mean
    return (x - mean) * torch.rsqrt(variance + eps)


def _by_matrix(x: torch.Tensor, eps: float) -> torch.Tensor:
    d = x.shape[-1]
    centring = torch.eye(d, dtype=x.dtype) - 1.0 / d
    centred = x @ centring
    return centred / torch.sqrt((centred**2).sum(-1, keepdim=True) / d + eps)


LAYER_NORM = Exercise(
    symbol="LayerNorm",
    points=3,
    cases=_rows,
    references=(LayerNorm,),
    canonical=_eps_apart,
    aspects=(
        parts(),
        also("begins with ones and zeros", "start", meaning="A new layer has a weight of ones and a bias of zeros."),
        shape(),
        values(),
        gradients(),
        special(
            "any number of axes",
            "axes",
            meaning="The input may have any number of axes: a single vector works too.",
        ),
        special("a batch of one, a single token", "one", 0.5),
        special(
            "eps where it matters",
            "eps",
            2.0,
            meaning="The result is right even if the numbers are so close together that eps matters.",
        ),
        special("another eps", "other eps", meaning="The eps that is passed in is used."),
        special(
            "equal numbers", "constant", meaning="A vector whose numbers are all equal gives the right result, not NaN."
        ),
        *any_numbers(0.5),
        modes(),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "unbiased_variance",
            _norming(lambda x, eps: _centred(x) / (x.var(-1, keepdim=True) + eps).sqrt()),
            "Your variance divides by d_model - 1, as PyTorch does unless you tell it otherwise. What does the "
            "docstring "
            "divide by?",
            central=True,
        ),
        Mistake(
            "unbiased_deviation",
            _norming(lambda x, eps: _centred(x) / (x.std(-1, keepdim=True) + eps)),
            "You divide by std + eps, and std divides by d_model - 1 unless you tell it otherwise. Two questions, "
            "then: what "
            "does the variance divide by, and where does eps go?",
        ),
        Mistake(
            "without_keepdim",
            _norming(lambda x, eps: (x - x.mean(-1)) / (x.var(-1, correction=0) + eps).sqrt()),
            "Your mean and variance have lost the last axis, so they don't line up with x, or line up with the wrong "
            "axis. Which argument keeps it, with size 1?",
            central=True,
        ),
        Mistake(
            "eps_outside_the_root",
            _norming(lambda x, eps: _centred(x) / (_deviation(x) + eps)),
            "You add eps to the standard deviation, which shows when the numbers of a vector are close together. Is "
            "eps "
            "inside the root, or outside?",
        ),
        Mistake(
            "eps_forgotten",
            _norming(lambda x, eps: _centred(x) / _deviation(x)),
            "Where all numbers of a vector are equal you divide 0 by 0. Which small number keeps the root away from 0?",
        ),
        Mistake(
            "eps_argument_ignored",
            _norming(lambda x, eps: F.layer_norm(x, x.shape[-1:], eps=1e-5)),
            "It is right for the default eps and for no other. Where do you keep the argument?",
        ),
        Mistake(
            "eps_far_smaller",
            _norming(lambda x, eps: F.layer_norm(x, x.shape[-1:], eps=eps if eps > 0.1 else 1e-12)),
            "Your eps is smaller than the docstring's. What is its default?",
        ),
        Mistake(
            "root_forgotten",
            _norming(lambda x, eps: _centred(x) / (x.var(-1, keepdim=True, correction=0) + eps)),
            "You divide by the variance. What should you take of it first, so that the new variance is 1?",
        ),
        Mistake(
            "mean_kept",
            _norming(lambda x, eps: x / (x.var(-1, keepdim=True, correction=0) + eps).sqrt()),
            "Your vectors have the right spread around the wrong mean. What should you subtract first?",
        ),
        Mistake(
            "mean_only",
            _norming(lambda x, eps: _centred(x)),
            "Your vectors have mean 0, but still their old spread. What should you divide them by?",
        ),
        Mistake(
            "root_mean_square",
            _norming(lambda x, eps: x * (x.square().mean(-1, keepdim=True) + eps).rsqrt()),
            "You divide by the root of the mean square and keep the mean: that is another norm, RMSNorm. What does "
            "this one "
            "subtract first?",
        ),
        Mistake(
            "over_the_length",
            _over(lambda x: (max(x.dim() - 2, 0),)),
            "Your mean runs along the axis before the last: over tokens, not within one. Which axis holds the numbers "
            "of one token?",
            central=True,
        ),
        Mistake(
            "over_the_batch",
            _over(lambda x: (0,)),
            "Your mean runs along the first axis: over the batch, not within a token. Which axis holds the numbers of "
            "one token?",
        ),
        Mistake(
            "batch_statistics",
            _over(lambda x: tuple(range(x.dim() - 1)) or (0,)),
            "You normalise each column over all tokens of the batch: that is BatchNorm. Which numbers belong to one "
            "token?",
            central=True,
        ),
        Mistake(
            "over_each_row",
            _over(lambda x: tuple(range(1, x.dim())) or (0,)),
            "All tokens of a row share one mean and one variance. Should one token's numbers depend on another's?",
        ),
        Mistake(
            "over_everything",
            _over(lambda x: tuple(range(x.dim()))),
            "One mean and one variance for the whole tensor. Which axis did you mean to name?",
        ),
        Mistake(
            "axis_counted_from_the_front",
            _over(lambda x: (2,)),
            "You name axis 2: right for three axes, and for no other number. How do you name the last axis?",
        ),
        Mistake(
            "batch_norm",
            _BatchNorm,
            "That is BatchNorm: a token depends on its batch, and evaluation differs from training. Over which axis "
            "does a layer norm take its mean?",
        ),
        Mistake(
            "stretch_forgotten",
            _forwards(lambda self, x: self.normed(x) + self.bias),
            "The learned scale is missing. What is weight for?",
        ),
        Mistake(
            "shift_forgotten",
            _forwards(lambda self, x: self.normed(x) * self.weight),
            "The learned shift is missing. What is bias for?",
        ),
        Mistake(
            "neither_stretch_nor_shift",
            _forwards(lambda self, x: self.normed(x)),
            "The vectors are normalised, but nothing more. What are weight and bias for?",
        ),
        Mistake(
            "shift_before_stretch",
            _forwards(lambda self, x: (self.normed(x) + self.bias) * self.weight),
            "You shift first, so the shift is scaled too. Which of the two comes first?",
        ),
        Mistake(
            "one_plus_weight",
            _forwards(lambda self, x: self.normed(x) * (1 + self.weight) + self.bias),
            "You scale by 1 + weight. If weight starts as ones, what is your scale at first?",
        ),
        Mistake(
            "begins_at_random",
            _made(lambda self: nn.init.normal_(self.weight)),
            "The formula is right, but weight starts with random numbers. Which numbers does the docstring start with?",
        ),
        Mistake(
            "begins_with_zeros",
            _made(lambda self: nn.init.zeros_(self.weight)),
            "The formula is right, but weight starts with zeros, so nothing comes through at first. Multiplying by "
            "which "
            "number leaves a vector as it is?",
        ),
        Mistake(
            "other_names",
            _OtherNames,
            "The norm works, but nobody finds its parameters. Which two names does the docstring give them?",
        ),
        Mistake(
            "no_parameters",
            _Buffers,
            "The norm works, but model.parameters() does not find weight and bias, so they would never learn. Which "
            "class makes a tensor a parameter?",
        ),
        Mistake(
            "x_changed",
            _forwards(_in_place),
            "The result is right, but the caller's x was moved to mean 0 on the way. What does -= do to a tensor that "
            "somebody else holds?",
        ),
        Mistake(
            "statistics_cut_off",
            _norming(
                lambda x, eps: (
                    (x - x.mean(-1, keepdim=True).detach())
                    / (x.var(-1, keepdim=True, correction=0).detach() + eps).sqrt()
                )
            ),
            "The numbers are right, the gradients are not: mean and variance depend on x too. Where do they leave the "
            "graph?",
        ),
    ),
    variants={
        "var_mean": _Norm,
        "PyTorch's own": _Inherited,
        "F.layer_norm": _forwards(lambda self, x: F.layer_norm(x, x.shape[-1:], self.weight, self.bias, self.eps)),
        "one pass": _norming(_one_pass),
        "a matrix that centres": _norming(_by_matrix),
        "mean of squares": _norming(
            lambda x, eps: _centred(x) * (_centred(x).pow(2).mean(-1, keepdim=True) + eps) ** -0.5
        ),
        "squared deviation": _norming(
            lambda x, eps: _centred(x) / (x.std(-1, unbiased=False, keepdim=True) ** 2 + eps).sqrt()
        ),
        "addcmul": _forwards(lambda self, x: torch.addcmul(self.bias, self.normed(x), self.weight)),
    },
)
