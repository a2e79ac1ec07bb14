"""`LayerNorm`: cases, mistakes and variants. Its three paths back are what people get wrong."""

from __future__ import annotations

from typing import Any

import numpy as np

from course.numpy_transformer.layers import LayerNorm
from grader.authoring.draw import dims
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_09.exercises import drawing
from lessons.lesson_09.exercises.drawing import CALLED, Inputs, case, normal, of_layer, one


def _norms(generator: np.random.Generator) -> list[Case]:
    n, length, d = dims(generator, 3, 3, 7)

    def draw(*front: int, kind: Any = np.float64, wide: float = 2.0, eps: float | None = None) -> Inputs:
        def numbers() -> np.ndarray:
            return (normal(generator, *front, d) * wide + wide).astype(kind)

        return {
            "sizes": [d] if eps is None else [d, eps],
            "weights": drawing.norm(generator, "", d, kind),
            "arguments": [numbers()],
            "gradient": normal(generator, *front, d, dtype=kind),
            "other_arguments": [numbers()],
            "other_gradient": normal(generator, *front, d, dtype=kind),
        }

    return [
        Case.of("on rows", **draw(n)),
        Case.of("on rows of positions", **draw(n, length)),
        Case.of("on numbers so small that eps matters", "eps", **draw(n, wide=0.01)),
        Case.of("with another eps", "eps", **draw(n, eps=0.5)),
        Case.of("on a batch of one", "one", **draw(1)),
        Case.of("with float32", "float32", **draw(n, length, kind=np.float32)),
    ]


class _Paths(LayerNorm):
    """Backward from its three paths, which mistakes take away."""

    def paths(self, g: np.ndarray) -> Any:
        n, root = self.normalised, self.root
        return g, g.mean(axis=-1, keepdims=True), n * (g * n).mean(axis=-1, keepdims=True), root

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        super().backward(gradient)
        return np.asarray(self.joined(gradient))

    def joined(self, gradient: np.ndarray) -> Any:
        direct, by_mean, by_variance, root = self.paths(gradient * self.weight)
        return (direct - by_mean - by_variance) / root


class _DirectOnly(_Paths):
    def joined(self, gradient: np.ndarray) -> Any:
        direct, _, _, root = self.paths(gradient * self.weight)
        return direct / root


class _NoMean(_Paths):
    def joined(self, gradient: np.ndarray) -> Any:
        direct, _, by_variance, root = self.paths(gradient * self.weight)
        return (direct - by_variance) / root


class _NoVariance(_Paths):
    def joined(self, gradient: np.ndarray) -> Any:
        direct, by_mean, _, root = self.paths(gradient * self.weight)
        return (direct - by_mean) / root


class _NoWeight(_Paths):
    def joined(self, gradient: np.ndarray) -> Any:
        direct, by_mean, by_variance, root = self.paths(gradient)
        return (direct - by_mean - by_variance) / root


class _NotDivided(_Paths):
    def joined(self, gradient: np.ndarray) -> Any:
        direct, by_mean, by_variance, _ = self.paths(gradient * self.weight)
        return direct - by_mean - by_variance


class _SumsInstead(_Paths):
    def joined(self, gradient: np.ndarray) -> Any:
        direct, by_mean, by_variance, root = self.paths(gradient * self.weight)
        return (direct - (by_mean + by_variance) * direct.shape[-1]) / root


class _Multiplied(_Paths):
    def joined(self, gradient: np.ndarray) -> Any:
        direct, by_mean, by_variance, root = self.paths(gradient * self.weight)
        return (direct - by_mean - by_variance) * root


class _WeightAfter(_Paths):
    def joined(self, gradient: np.ndarray) -> Any:
        direct, by_mean, by_variance, root = self.paths(gradient)
        return (direct - by_mean - by_variance) / root * self.weight


class _WithInput(_Paths):
    def forward(self, x: np.ndarray) -> np.ndarray:
        self.x = x
        return super().forward(x)

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        back = super().backward(gradient)
        self.weight_grad = (gradient * self.x).sum(axis=tuple(range(gradient.ndim - 1)))
        return back


class _WeightsNotSummed(_Paths):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        back = super().backward(gradient)
        self.weight_grad, self.bias_grad = gradient * self.normalised, gradient
        return back


class _WeightsFirstAxis(_Paths):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        back = super().backward(gradient)
        self.weight_grad, self.bias_grad = (gradient * self.normalised).sum(axis=0), gradient.sum(axis=0)
        return back


class _Forward(LayerNorm):
    ddof, inside = 0, True

    def forward(self, x: np.ndarray) -> np.ndarray:
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = x.var(axis=-1, keepdims=True, ddof=self.ddof)
        self.root = np.sqrt(variance + self.eps) if self.inside else np.sqrt(variance) + self.eps
        self.normalised = centred / self.root
        return np.asarray(self.normalised * self.weight + self.bias)


class _Unbiased(_Forward):
    ddof = 1


class _EpsOutside(_Forward):
    inside = False


class _BatchAxis(LayerNorm):
    def forward(self, x: np.ndarray) -> np.ndarray:
        centred = x - x.mean(axis=0, keepdims=True)
        self.root = np.sqrt((centred**2).mean(axis=0, keepdims=True) + self.eps)
        self.normalised = centred / self.root
        return np.asarray(self.normalised * self.weight + self.bias)


class _FixedEps(LayerNorm):
    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__(d_model)


class _VarianceOnly(LayerNorm):
    def forward(self, x: np.ndarray) -> np.ndarray:
        super().forward(x)
        self.normalised = x / self.root
        return np.asarray(self.normalised * self.weight + self.bias)


class _ByJacobian(LayerNorm):
    """The whole matrix of slopes for each row: d of the normalised row by the row."""

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        super().backward(gradient)
        n, d = self.normalised, self.normalised.shape[-1]
        centring = np.eye(d, dtype=n.dtype) - np.array(1 / d, dtype=n.dtype)
        slopes = (centring - n[..., :, None] * n[..., None, :] / d) / self.root[..., None]
        return np.asarray(np.einsum("...i,...ij->...j", gradient * self.weight, slopes))


class _InSteps:
    """Every path by itself, with the names of the computation graph."""

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        self.weight, self.bias, self.eps = np.ones(d_model), np.zeros(d_model), eps

    def forward(self, x: np.ndarray) -> Any:
        self.centred = x - np.mean(x, axis=-1, keepdims=True)
        self.variance = np.var(x, axis=-1, keepdims=True)
        self.inverse = (self.variance + self.eps) ** -0.5
        return self.centred * self.inverse * self.weight + self.bias

    def backward(self, gradient: np.ndarray) -> Any:
        d = gradient.shape[-1]
        rows = (gradient * self.centred * self.inverse).reshape(-1, d)
        self.weight_grad, self.bias_grad = rows.sum(0), gradient.reshape(-1, d).sum(0)
        g = gradient * self.weight
        to_inverse = (g * self.centred).sum(axis=-1, keepdims=True)
        to_variance = to_inverse * -0.5 * self.inverse**3
        to_centred = g * self.inverse + to_variance * 2 * self.centred / d
        return to_centred - to_centred.sum(axis=-1, keepdims=True) / d


class _Summed(LayerNorm):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        super().backward(gradient)
        g, n, d = gradient * self.weight, self.normalised, gradient.shape[-1]
        sums = g.sum(axis=-1, keepdims=True) + n * (g * n).sum(axis=-1, keepdims=True)
        return np.asarray((d * g - sums) / (d * self.root))


LAYER_NORM = Exercise(
    symbol="LayerNorm",
    points=4,
    cases=_norms,
    references=(LayerNorm,),
    called=CALLED,
    aspects=of_layer(
        case("eps", "eps", 0.5, "eps is inside the root, and the one that is passed in is used."),
        one(),
        one("float32", "float32"),
        beginning=True,
    ),
    mistakes=(
        Mistake(
            "direct_path_only",
            _DirectOnly,
            "You treat mean and variance as fixed numbers. When one entry of a row grows, which two other things move "
            "with it?",
            central=True,
        ),
        Mistake(
            "mean_forgotten",
            _NoMean,
            "The path through the mean is missing. If all numbers of a row grow by the same amount, the output stays "
            "as it is: what must your gradient add up to?",
            central=True,
        ),
        Mistake(
            "variance_forgotten",
            _NoVariance,
            "The path through the variance is missing. If a row is stretched, the output stays as it is: which mean "
            "takes that direction out of the gradient?",
            central=True,
        ),
        Mistake(
            "weight_forgotten",
            _NoWeight,
            "The gradient goes back as if weight were all ones. What multiplied the normalised numbers at the end of "
            "forward?",
            central=True,
        ),
        Mistake(
            "not_divided",
            _NotDivided,
            "All three paths are there, but the size is wrong. By what did forward divide?",
            central=True,
        ),
        Mistake(
            "sums_for_means",
            _SumsInstead,
            "You take off sums where means belong. Each entry is only one d-th of the mean: where does the d go?",
            central=True,
        ),
        Mistake(
            "multiplied_by_the_root",
            _Multiplied,
            "You multiply by the root where forward divided by it. How steep is x / 5?",
            central=True,
        ),
        Mistake(
            "weight_at_the_end",
            _WeightAfter,
            "You multiply by weight at the very end. It was forward's last step: where does it come on the way back, "
            "before or after the means?",
            central=True,
        ),
        Mistake(
            "weight_grad_from_x",
            _WithInput,
            "Your weight_grad uses x itself. Which numbers does weight stretch?",
            central=True,
        ),
        Mistake(
            "weights_not_summed",
            _WeightsNotSummed,
            "The gradients of weight and bias still have an axis for the rows. One weight serves all rows: what "
            "becomes of their shares?",
            central=True,
        ),
        Mistake(
            "weights_summed_over_the_first_axis",
            _WeightsFirstAxis,
            "On rows of positions, the gradients of weight and bias keep an axis too many. Over which axes do you sum?",
            central=True,
        ),
        Mistake(
            "unbiased_variance",
            _Unbiased,
            "Your variance divides by d_model - 1, so the output is too small. What does the docstring divide by?",
            central=True,
        ),
        Mistake(
            "eps_outside_the_root",
            _EpsOutside,
            "On small numbers your output is off. Is your eps inside the square root?",
        ),
        Mistake(
            "normalised_over_the_batch",
            _BatchAxis,
            "You normalise over the first axis, so each row depends on the others. Which axis is the vector?",
            central=True,
        ),
        Mistake(
            "eps_fixed",
            _FixedEps,
            "The eps that is passed in has no effect. What becomes of it in your constructor?",
        ),
        Mistake(
            "mean_not_subtracted",
            _VarianceOnly,
            "You divide by the right root, but the mean is still in there. What should each row's mean be?",
            central=True,
        ),
    ),
    variants={
        "the whole Jacobian": _ByJacobian,
        "step by step through the graph": _InSteps,
        "all times d": _Summed,
    },
)
