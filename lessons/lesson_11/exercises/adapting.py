"""`LoRALinear`: cases, mistakes and variants."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from course.language_model.adapting import LoRALinear
from grader.authoring import draw
from grader.authoring.aspects import USUAL, also, main, shape, special, untouched
from grader.authoring.spec import Case, Exercise, Mistake, tagged


def _layers(generator: np.random.Generator) -> list[Case]:
    def layer(rows: tuple[int, ...], n: int, m: int, rank: int, bias: bool = True, kind: Any = torch.float32) -> Any:
        inputs = {
            "x": draw.normal(generator, *rows, n, dtype=kind),
            "weight": draw.normal(generator, m, n, dtype=kind),
            "rank": rank,
            "alpha": float(generator.choice([4.0, 5.0, 7.0])),
            "down": draw.normal(generator, rank, n, dtype=kind),
            "up": draw.normal(generator, m, rank, dtype=kind),
        }
        return inputs | ({"bias": draw.normal(generator, m, dtype=kind)} if bias else {})

    b, n, m = draw.dims(generator, 3, 4, 8)
    return [
        Case("with rank 2", layer((b,), n, m, 2), USUAL),
        Case("with rank 3, on rows of tokens", layer((b, 3), m, n, 3), USUAL),
        Case("where the layer is square", layer((2, b), n, n, 2), USUAL),
        Case("with rank 1", layer((b,), n, m, 1), tagged("one")),
        Case("on a single vector", layer((), n, m, 2), tagged("one")),
        Case("with a layer without bias", layer((b,), n, m, 2, bias=False), tagged("bare")),
        Case("with float64", layer((b,), n, m, 2, kind=torch.float64), tagged("float64")),
    ]


class _LoRA(nn.Module):
    """The right layer; mistakes change one thing about it."""

    def __init__(self, linear: nn.Linear, rank: int, alpha: float) -> None:
        super().__init__()
        self.base: Any = linear
        for parameter in self.frozen(linear):
            parameter.requires_grad = False
        like = {"dtype": linear.weight.dtype}
        self.scale = self.scaled(rank, alpha)
        self.down = nn.Parameter(self.begin_down(torch.empty(rank, linear.in_features, **like)))  # type: ignore[call-overload]
        self.up = nn.Parameter(self.begin_up(torch.empty(linear.out_features, rank, **like)))  # type: ignore[call-overload]

    def frozen(self, linear: nn.Linear) -> list[nn.Parameter]:
        return list(linear.parameters())

    def scaled(self, rank: int, alpha: float) -> float:
        return alpha / rank

    def begin_down(self, numbers: torch.Tensor) -> torch.Tensor:
        return nn.init.kaiming_uniform_(numbers, a=5**0.5)

    def begin_up(self, numbers: torch.Tensor) -> torch.Tensor:
        return nn.init.zeros_(numbers)

    def forward(self, x: torch.Tensor) -> Any:
        return self.base(x) + self.correction(x)

    def correction(self, x: torch.Tensor) -> torch.Tensor:
        return F.linear(F.linear(x, self.down), self.up) * self.scale

    def change(self) -> torch.Tensor:
        return self.scale * (self.up @ self.down)

    def merged(self) -> Any:
        plain = copy.deepcopy(self.base)
        plain.weight.data = (self.base.weight + self.change()).detach()
        return plain


def _made(**members: Any) -> type[_LoRA]:
    return type("LoRALinear", (_LoRA,), members)


def _merging(merge: Callable[[Any], Any]) -> type[_LoRA]:
    return _made(merged=merge)


def _into_the_base(self: Any) -> Any:
    self.base.weight.data += self.change().detach()
    return self.base


def _without_bias(self: Any) -> Any:
    weight = (self.base.weight + self.change()).detach()
    plain = nn.Linear(weight.shape[1], weight.shape[0], bias=False).to(weight.dtype)
    plain.weight.data = weight
    return plain


def _with_a_new_bias(self: Any) -> Any:
    weight = (self.base.weight + self.change()).detach()
    plain = nn.Linear(weight.shape[1], weight.shape[0]).to(weight.dtype)
    plain.weight.data = weight
    nn.init.ones_(plain.bias)
    return plain


def _shared_bias(self: Any) -> Any:
    plain = _without_bias(self)
    plain.bias = self.base.bias
    return plain


def _correction_alone(self: Any) -> Any:
    plain = copy.deepcopy(self.base)
    plain.weight.data = self.change().detach()
    return plain


def _copied(self: Any, linear: nn.Linear, rank: int, alpha: float) -> None:
    """With a copy of the layer, which stays apart from the caller's."""
    _LoRA.__init__(self, copy.deepcopy(linear), rank, alpha)


def _frozen_again(self: Any, linear: nn.Linear, rank: int, alpha: float) -> None:
    """Freezes the whole module, when down and up are there already."""
    _LoRA.__init__(self, linear, rank, alpha)
    self.requires_grad_(False)


class _OtherNames(_LoRA):
    def __init__(self, linear: nn.Linear, rank: int, alpha: float) -> None:
        nn.Module.__init__(self)
        self.base, self.scale = linear.requires_grad_(False), alpha / rank
        self.A = nn.Parameter(self.begin_down(torch.empty(rank, linear.in_features, dtype=linear.weight.dtype)))
        self.B = nn.Parameter(torch.zeros(linear.out_features, rank, dtype=linear.weight.dtype))

    def correction(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.A.T @ self.B.T * self.scale

    def change(self) -> torch.Tensor:
        return self.scale * self.B @ self.A


LORA_LINEAR = Exercise(
    symbol="LoRALinear",
    points=3,
    cases=_layers,
    references=(LoRALinear,),
    called={
        "start": "the output of a new layer",
        "down": "how down begins",
        "up": "how up begins",
        "learns": "what wants gradients",
        "merged": "the output of merged()",
        "merged_is": "what merged() returns",
        "by_itself": "the layer, after the weights of merged() were changed",
        "base": "the weight of the base",
    },
    shown=lambda case: {name: case.inputs[name] for name in ("x", "rank", "alpha")},
    aspects=(
        also("named parts", "parts", meaning="down and up have the names and shapes of the docstring."),
        shape(),
        main("values", 6.0, meaning="The output is that of the base plus the scaled correction."),
        also(
            "starts as the base",
            "start",
            "up",
            weight=2.0,
            meaning="up starts with zeros, so nothing changes at first.",
        ),
        also(
            "down starts at random", "down", weight=2.0, meaning="If down and up were both zero, neither would learn."
        ),
        also("only down and up learn", "learns", weight=15.0, meaning="The base is frozen, its bias too."),
        also("gradients flow", "gradients", meaning="Gradients reach x, down and up, as they should."),
        also(
            "merged",
            "merged",
            "merged_is",
            weight=15.0,
            meaning="merged() returns a plain Linear layer that gives the same outputs.",
        ),
        also(
            "merging changes nothing here",
            "by_itself",
            "base",
            weight=0.5,
            meaning="merged() leaves this layer as it is, and shares no weights with it.",
        ),
        special("a rank of one, a single vector", "one", 0.5, "Rank 1 works, and so does a single vector."),
        special("a layer without bias", "bare", 0.5, "A base without bias works, too."),
        special("float64", "float64", 0.25),
        untouched(weight=0.25),
    ),
    mistakes=(
        Mistake(
            "not_scaled",
            _made(scaled=lambda self, rank, alpha: 1.0),
            "Your correction is added as it is. Which factor does the docstring put before it?",
            central=True,
        ),
        Mistake(
            "scaled_by_alpha",
            _made(scaled=lambda self, rank, alpha: alpha),
            "You multiply by alpha alone. What is alpha divided by?",
            central=True,
        ),
        Mistake(
            "scale_upside_down",
            _made(scaled=lambda self, rank, alpha: rank / alpha),
            "Your factor is rank / alpha. Which way round does the docstring have it?",
            central=True,
        ),
        Mistake(
            "base_not_frozen",
            _made(frozen=lambda self, linear: []),
            "The base learns as well, so all its weights would have to be kept for each style. What freezes a "
            "parameter?",
            central=True,
        ),
        Mistake(
            "bias_not_frozen",
            _made(frozen=lambda self, linear: [linear.weight]),
            "The base's bias still learns. Which of its parameters should be frozen?",
        ),
        Mistake(
            "everything_frozen",
            _made(__init__=_frozen_again),
            "Nothing learns at all: down and up are frozen too. In which order do you freeze and make parameters?",
            central=True,
        ),
        Mistake(
            "up_at_random",
            _made(begin_up=lambda self, numbers: nn.init.normal_(numbers)),
            "A new layer doesn't give what the trained one gave: up starts with random numbers. With which numbers "
            "should it start?",
        ),
        Mistake(
            "down_at_zero_up_at_random",
            _made(
                begin_up=lambda self, numbers: nn.init.normal_(numbers),
                begin_down=lambda self, numbers: nn.init.zeros_(numbers),
            ),
            "down starts with zeros, and up with random numbers. Which way round does the docstring have it?",
        ),
        Mistake(
            "both_at_zero",
            _made(begin_down=lambda self, numbers: nn.init.zeros_(numbers)),
            "down and up both start with zeros. What is the gradient of a product when both factors are 0?",
        ),
        Mistake(
            "correction_alone",
            _made(forward=lambda self, x: self.correction(x)),
            "Your output is the correction alone. What should it be added to?",
            central=True,
        ),
        Mistake(
            "base_alone",
            _made(forward=lambda self, x: self.base(x) + 0 * self.correction(x)),
            "Your output is that of the base: down and up never change it. What is added?",
            central=True,
        ),
        Mistake(
            "merged_without_the_scale",
            _made(change=lambda self: self.up @ self.down),
            "Merged, the layer gives something else: the scale is missing from the merged weight. What does forward "
            "multiply the correction by?",
            central=True,
        ),
        Mistake(
            "merged_without_the_correction",
            _merging(lambda self: copy.deepcopy(self.base)),
            "Your merged layer is a copy of the base. What has been learnt is lost: what must be added to its weight?",
            central=True,
        ),
        Mistake(
            "merged_without_the_base",
            _merging(_correction_alone),
            "Your merged layer has the correction for a weight. What was there before?",
            central=True,
        ),
        Mistake(
            "merged_without_the_bias",
            _merging(_without_bias),
            "Your merged layer has lost its bias. Which of the base's parameters does it need?",
        ),
        Mistake(
            "merged_with_a_new_bias",
            _merging(_with_a_new_bias),
            "The bias of your merged layer isn't the base's. Where should its numbers come from?",
        ),
        Mistake(
            "merged_into_the_base",
            _merging(_into_the_base),
            "You merge into the base itself, so this layer now adds its correction twice. Which weights may change?",
        ),
        Mistake(
            "merged_shares_the_bias",
            _merging(_shared_bias),
            "The merged layer holds the base's own bias. What happens to this layer when somebody trains the merged "
            "one?",
        ),
        Mistake(
            "merged_returns_itself",
            _merging(lambda self: self),
            "merged() returns this very layer. What kind of layer should come out?",
        ),
        Mistake(
            "other_names",
            _OtherNames,
            "The layer works, but nobody finds its parameters. Which two names does the docstring give them?",
        ),
    ),
    variants={
        "F.linear": _LoRA,
        "a copy of the base": _made(__init__=_copied),
        "the weights first": _made(correction=lambda self, x: x @ self.change().T),
        "einsum": _made(
            correction=lambda self, x: self.scale * torch.einsum("...i,ri,or->...o", x, self.down, self.up)
        ),
    },
)
