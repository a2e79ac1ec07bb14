"""`FeedForward` and `Dropout`: cases, mistakes and variants."""

from __future__ import annotations

from typing import Any

import numpy as np

from course.numpy_transformer.layers import Dropout, FeedForward, Linear, ReLU
from grader.authoring.aspects import CONTENT, KNOWN, also, main, refused, special, untouched
from grader.authoring.draw import dims
from grader.authoring.spec import Aspect, Case, Exercise, Mistake
from lessons.lesson_09.exercises import drawing
from lessons.lesson_09.exercises.drawing import CALLED, Inputs, normal, of_layer, one


def _networks(generator: np.random.Generator) -> list[Case]:
    n, length, d = dims(generator, 3, 2, 5)
    wide = 2 * d + 1

    def draw(*front: int, kind: Any = np.float64) -> Inputs:
        return {
            "sizes": [d, wide],
            "weights": drawing.feed_forward(generator, "", d, wide, kind),
            "arguments": [normal(generator, *front, d, dtype=kind)],
            "gradient": normal(generator, *front, d, dtype=kind),
            "other_arguments": [normal(generator, *front, d, dtype=kind)],
            "other_gradient": normal(generator, *front, d, dtype=kind),
            "any_beginning": True,
        }

    return [
        Case.of("on rows of positions", **draw(n, length)),
        Case.of("on other rows of positions", **draw(length, n)),
        Case.of("on a batch of one, a single position", "one", **draw(1, 1)),
        Case.of("with float32", "float32", **draw(n, length, kind=np.float32)),
    ]


class _NoReLU(FeedForward):
    def forward(self, x: np.ndarray) -> np.ndarray:
        return self.linear_out.forward(self.linear_in.forward(x))

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        return self.linear_in.backward(self.linear_out.backward(gradient))


class _ReLUSkippedOnTheWayBack(FeedForward):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        return self.linear_in.backward(self.linear_out.backward(gradient))


class _WrongOrder(FeedForward):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        return self.linear_out.backward(self.linear_in.backward(gradient))


class _ReLUAtTheEnd(FeedForward):
    def forward(self, x: np.ndarray) -> np.ndarray:
        return self.relu.forward(self.linear_out.forward(self.linear_in.forward(x)))

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        return self.linear_in.backward(self.linear_out.backward(self.relu.backward(gradient)))


class _Residual(FeedForward):
    def forward(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(x + super().forward(x))

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        return np.asarray(gradient + super().backward(gradient))


class _InputNotReached(FeedForward):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        hidden = self.relu.backward(self.linear_out.backward(gradient))
        self.linear_in.backward(hidden)
        return np.asarray(hidden @ self.linear_in.weight.T + gradient)


class _Chain:
    def __init__(self, d_model: int, d_ff: int) -> None:
        self.linear_in = Linear(d_model, d_ff)
        self.linear_out = Linear(d_ff, d_model)
        self.steps: list[Any] = [self.linear_in, ReLU(), self.linear_out]

    def forward(self, x: np.ndarray) -> Any:
        for step in self.steps:
            x = step.forward(x)
        return x

    def backward(self, gradient: np.ndarray) -> Any:
        for step in self.steps[::-1]:
            gradient = step.backward(gradient)
        return gradient


class _OwnMask:
    def __init__(self, d_model: int, d_ff: int) -> None:
        self.linear_in, self.linear_out = Linear(d_model, d_ff), Linear(d_ff, d_model)

    def forward(self, x: np.ndarray) -> Any:
        self.hidden = np.maximum(self.linear_in.forward(x), 0)
        return self.linear_out.forward(self.hidden)

    def backward(self, gradient: np.ndarray) -> Any:
        return self.linear_in.backward(self.linear_out.backward(gradient) * (self.hidden > 0))


class _Inherited(FeedForward):
    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__(d_model, d_ff)
        self.d_ff = d_ff


FEED_FORWARD = Exercise(
    symbol="FeedForward",
    points=2,
    cases=_networks,
    references=(FeedForward,),
    called=CALLED,
    aspects=of_layer(
        one("a batch of one, a single position", meaning="A batch of one and rows of a single position are right too."),
        one("float32", "float32"),
    ),
    mistakes=(
        Mistake(
            "no_relu",
            _NoReLU,
            "Two linear layers in a row are one linear layer. What belongs between them?",
            central=True,
        ),
        Mistake(
            "relu_skipped_on_the_way_back",
            _ReLUSkippedOnTheWayBack,
            "The way forward is right, but the way back passes by the ReLU. Which of its numbers were cut off, and "
            "have no say?",
            central=True,
        ),
        Mistake(
            "backward_in_forwards_order",
            _WrongOrder,
            "Backward begins with the first layer. Which layer does the gradient of the output meet first?",
            central=True,
        ),
        Mistake(
            "relu_at_the_end",
            _ReLUAtTheEnd,
            "Your ReLU is the last step, so nothing negative can ever come out. Where does the docstring put it?",
            central=True,
        ),
        Mistake(
            "residual_inside",
            _Residual,
            "You add the input to the result. The block will do that: what does this layer return by itself?",
            central=True,
        ),
        Mistake(
            "gradient_added",
            _InputNotReached,
            "You add the incoming gradient to the one that came through. Is there a residual connection inside this "
            "layer?",
        ),
    ),
    variants={"a list of steps": _Chain, "a mask of its own": _OwnMask, "inherited": _Inherited},
)


def _drops(generator: np.random.Generator) -> list[Case]:
    n = int(generator.integers(40, 60))

    def draw(p: float, training: bool = True, told: bool = True, kind: Any = np.float64) -> Inputs:
        x = normal(generator, n, 100, dtype=kind)
        return {
            "p": p,
            "training": training,
            "told": told,
            "seed": int(generator.integers(1000)),
            "x": (x + np.sign(x)).astype(kind),
            "gradient": normal(generator, n, 100, dtype=kind),
        }

    return [
        Case.of("with p = 0.3", **draw(0.3)),
        Case.of("with p = 0.8", **draw(0.8)),
        Case.of("with p = 0", "none", **draw(0.0)),
        Case.of("when it isn't training", "eval", **draw(0.4, training=False)),
        Case.of("when it is new", "new", **draw(0.4, told=False)),
        Case.of("with float32", "float32", **draw(0.3, kind=np.float32)),
        Case.of("with p = 1", "refused", p=1.0),
        Case.of("with a negative p", "refused", p=-0.1),
    ]


class _NotDivided(Dropout):
    def forward(self, x: np.ndarray) -> np.ndarray:
        super().forward(x)
        if self.training:
            self.factor = self.factor * (1 - self.p)
        return np.asarray((x * self.factor).astype(x.dtype))


class _BackwardPasses(Dropout):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        return gradient.copy()


class _BackwardUndivided(Dropout):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        return np.asarray((gradient * (self.factor > 0)).astype(gradient.dtype))


class _BackwardDrawsAgain(Dropout):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        return super().forward(gradient)


class _KeepsP(Dropout):
    def forward(self, x: np.ndarray) -> np.ndarray:
        if not self.training or self.p == 0:
            return super().forward(x)
        self.factor = (self.generator.random(x.shape) < self.p) / self.p
        return np.asarray((x * self.factor).astype(x.dtype))


class _AlwaysOn(Dropout):
    def forward(self, x: np.ndarray) -> np.ndarray:
        self.training = True
        return super().forward(x)


class _BeginsOff(Dropout):
    def __init__(self, p: float, generator: np.random.Generator) -> None:
        super().__init__(p, generator)
        self.training = False


class _SameForever(Dropout):
    def forward(self, x: np.ndarray) -> np.ndarray:
        if not hasattr(self, "factor"):
            return super().forward(x)
        return np.asarray((x * self.factor).astype(x.dtype))


class _WholeColumns(Dropout):
    def forward(self, x: np.ndarray) -> np.ndarray:
        if not self.training:
            return super().forward(x)
        self.factor = np.broadcast_to((self.generator.permutation(100) >= 100 * self.p) / (1 - self.p), x.shape)
        return np.asarray((x * self.factor).astype(x.dtype))


class _AnyP(Dropout):
    def __init__(self, p: float, generator: np.random.Generator) -> None:
        super().__init__(min(max(p, 0.0), 0.5), generator)
        self.p = p


class _ByBinomial:
    def __init__(self, p: float, generator: np.random.Generator) -> None:
        assert 0 <= p < 1, "p must be at least 0 and below 1"
        self.keep, self.generator, self.training = 1 - p, generator, True

    def forward(self, x: np.ndarray) -> Any:
        self.mask: Any = 1
        if self.training:
            self.mask = self.generator.binomial(1, self.keep, x.shape).astype(x.dtype) / self.keep
        return x * self.mask

    def backward(self, gradient: np.ndarray) -> Any:
        return gradient * self.mask


class _ByWhere(Dropout):
    def forward(self, x: np.ndarray) -> np.ndarray:
        self.gone = self.generator.uniform(size=x.shape) < (self.p if self.training else 0)
        self.scale = 1 / (1 - self.p) if self.training else 1.0
        return np.where(self.gone, np.zeros_like(x), x * self.scale)

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        return np.where(self.gone, np.zeros_like(gradient), gradient * self.scale)


class _ByChoice(Dropout):
    def forward(self, x: np.ndarray) -> np.ndarray:
        if not self.training:
            self.factor = np.ones(x.shape)
            return x
        self.factor = self.generator.choice([0.0, 1 / (1 - self.p)], size=x.shape, p=[self.p, 1 - self.p])
        return np.asarray((x * self.factor).astype(x.dtype))


DROPOUT = Exercise(
    symbol="Dropout",
    points=2,
    cases=_drops,
    references=(Dropout,),
    called={"output": "what forward makes of its input", "back": "what backward does", "fresh": "a second pass"},
    aspects=(
        main("forward", 2.0, meaning="A share p of the numbers becomes 0, and the others are divided by 1 - p."),
        Aspect(
            "backward",
            ("back",),
            KNOWN,
            4.0,
            meaning="`backward` drops and divides exactly what `forward` dropped and divided.",
        ),
        also("drawn anew each time", "fresh", weight=0.5, meaning="Each forward pass in training drops other numbers."),
        special("p = 0", "none", 0.5, "With p = 0, nothing changes."),
        special("not training", "eval", 1.0, "When `training` is False, nothing changes."),
        special("begins in training", "new", 0.5, "A new layer drops numbers without being told to."),
        Aspect("float32", ("output",), CONTENT, 0.5, tags=frozenset({"float32"}), meaning="float32 stays float32."),
        refused("p outside its range", "refused", 0.5),
        untouched(weight=0.5),
    ),
    mistakes=(
        Mistake(
            "not_divided",
            _NotDivided,
            "Numbers are dropped, but those that stay are as they were, so sums shrink. By what are they divided?",
            central=True,
        ),
        Mistake(
            "mask_not_applied_to_the_gradient",
            _BackwardPasses,
            "Backward passes the whole gradient. A number that was dropped had no effect on the loss: what is its "
            "gradient?",
            central=True,
        ),
        Mistake(
            "gradient_not_divided",
            _BackwardUndivided,
            "Backward drops what forward dropped, but forgets the division. How steep is x / (1 - p)?",
            central=True,
        ),
        Mistake(
            "backward_draws_again",
            _BackwardDrawsAgain,
            "Backward draws a mask of its own, and drops other numbers than forward did. What has to be remembered?",
            central=True,
        ),
        Mistake(
            "keeps_p",
            _KeepsP,
            "You keep a share p and drop the rest. Which of the two does p stand for?",
            central=True,
        ),
        Mistake(
            "never_off",
            _AlwaysOn,
            "It still drops numbers when training is False. Where do you ask for that attribute?",
        ),
        Mistake(
            "begins_switched_off",
            _BeginsOff,
            "A new layer of yours drops nothing until somebody sets training to True. How does the docstring say that "
            "it begins?",
        ),
        Mistake(
            "one_mask_for_ever",
            _SameForever,
            "The second pass drops the same numbers as the first. When is the mask drawn?",
        ),
        Mistake(
            "whole_columns",
            _WholeColumns,
            "You drop whole columns. Does each number have its own throw of the dice?",
            central=True,
        ),
        Mistake(
            "any_p_accepted",
            _AnyP,
            "A p outside [0, 1) is accepted. What does the docstring ask for?",
        ),
    ),
    variants={"binomial": _ByBinomial, "where": _ByWhere, "choice": _ByChoice},
)
