"""`TransformerBlock`: cases, mistakes and variants."""

from __future__ import annotations

from typing import Any

import numpy as np

from course.numpy_transformer.attention import MultiHeadAttention
from course.numpy_transformer.blocks import TransformerBlock
from course.numpy_transformer.layers import FeedForward, LayerNorm
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_09.exercises.block_weights import HEADS, WIDE, D, block_weights
from lessons.lesson_09.exercises.drawing import CALLED, Inputs, case, normal, of_layer, one, without_rounding


def _blocks(generator: np.random.Generator) -> list[Case]:
    b, n = (int(size) for size in generator.choice([2, 3, 5], 2, replace=False))

    def draw(b: int, n: int, mask: np.ndarray | None = None, kind: Any = np.float64) -> Inputs:
        def x() -> list[Any]:
            return [normal(generator, b, n, D, dtype=kind) * kind(2), *([] if mask is None else [mask])]

        return {
            "sizes": [D, HEADS, WIDE],
            "weights": block_weights(generator, ("attention",), kind),
            "arguments": x(),
            "gradient": normal(generator, b, n, D, dtype=kind),
            "other_arguments": x(),
            "other_gradient": normal(generator, b, n, D, dtype=kind),
            "any_beginning": True,
        }

    return [
        Case.of("on rows of positions", **draw(b, n)),
        Case.of("on other rows of positions", **draw(n, b)),
        Case.of("with a causal mask", "masked", **draw(b, n, np.tri(n, dtype=bool))),
        Case.of("on a batch of one, a single position", "one", **draw(1, 1)),
        Case.of("with float32", "float32", **draw(b, n, kind=np.float32)),
    ]


class _OneGradient(TransformerBlock):
    """Backward in which one of the three gradients stands for all."""

    place = 0

    def joined(self, gradients: Any) -> Any:
        return gradients[self.place]

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        gradient = gradient + self.norm2.backward(self.feed_forward.backward(gradient))
        return np.asarray(gradient + self.norm1.backward(self.joined(self.attention.backward(gradient))))


class _ValuesOnly(_OneGradient):
    place = 2


class _MeanOfThree(_OneGradient):
    def joined(self, gradients: Any) -> Any:
        return (gradients[0] + gradients[1] + gradients[2]) / 3


class _Residuals(TransformerBlock):
    """Backward whose two residuals can be left out."""

    first, second = 1.0, 1.0

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        gradient = self.second * gradient + self.norm2.backward(self.feed_forward.backward(gradient))
        by_query, by_key, by_value = self.attention.backward(gradient)
        return np.asarray(self.first * gradient + self.norm1.backward(by_query + by_key + by_value))


class _NoResidualsBack(_Residuals):
    first, second = 0.0, 0.0


class _NoFirstResidualBack(_Residuals):
    first = 0.0


class _SubLayersSideBySide(TransformerBlock):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        through = self.norm2.backward(self.feed_forward.backward(gradient))
        by_query, by_key, by_value = self.attention.backward(gradient)
        return np.asarray(gradient + through + self.norm1.backward(by_query + by_key + by_value))


class _NormsSkippedBack(TransformerBlock):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        gradient = gradient + self.feed_forward.backward(gradient)
        by_query, by_key, by_value = self.attention.backward(gradient)
        self.norm1.backward(by_query + by_key + by_value)
        self.norm2.backward(gradient)
        return np.asarray(gradient + by_query + by_key + by_value)


class _PostNorm(TransformerBlock):
    def forward(self, x: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
        x = self.norm1.forward(x + self.attention.forward(x, x, x, mask)[0])
        return self.norm2.forward(x + self.feed_forward.forward(x))

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        gradient = self.norm2.backward(gradient)
        gradient = self.norm1.backward(gradient + self.feed_forward.backward(gradient))
        return np.asarray(gradient + np.sum(self.attention.backward(gradient), axis=0))


class _NoResiduals(TransformerBlock):
    def forward(self, x: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
        n = self.norm1.forward(x)
        x = self.attention.forward(n, n, n, mask)[0]
        return self.feed_forward.forward(self.norm2.forward(x))

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        gradient = self.norm2.backward(self.feed_forward.backward(gradient))
        return self.norm1.backward(np.sum(self.attention.backward(gradient), axis=0))


class _MaskDropped(TransformerBlock):
    def forward(self, x: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
        return super().forward(x)


class _WithWeights(TransformerBlock):
    def forward(self, x: np.ndarray, mask: np.ndarray | None = None) -> Any:
        return super().forward(x, mask), None


class _OneNorm(TransformerBlock):
    def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__(d_model, num_heads, d_ff)
        self.norm2 = self.norm1


class _QueriesOnlyNormed(TransformerBlock):
    def forward(self, x: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
        n = self.norm1.forward(x)
        x = x + self.attention.forward(n, x, x, mask)[0]
        return np.asarray(x + self.feed_forward.forward(self.norm2.forward(x)))

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        gradient = gradient + self.norm2.backward(self.feed_forward.backward(gradient))
        by_query, by_key, by_value = self.attention.backward(gradient)
        return np.asarray(gradient + self.norm1.backward(by_query) + by_key + by_value)


class _ByHand:
    def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        self.attention = MultiHeadAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)

    def forward(self, x: np.ndarray, mask: np.ndarray | None = None) -> Any:
        normed = self.norm1.forward(x)
        attended, self.weights = self.attention.forward(normed, normed, normed, mask)
        middle = attended + x
        return middle + self.feed_forward.forward(self.norm2.forward(middle))

    def backward(self, gradient: np.ndarray) -> Any:
        d_ff = self.feed_forward.backward(gradient)
        d_middle = self.norm2.backward(d_ff) + gradient
        d_normed: Any = sum(self.attention.backward(d_middle))
        return d_middle + self.norm1.backward(d_normed)


class _TwoHalves(TransformerBlock):
    def first_half(self, gradient: np.ndarray) -> Any:
        return gradient + self.norm1.backward(np.sum(np.stack(self.attention.backward(gradient)), axis=0))

    def second_half(self, gradient: np.ndarray) -> Any:
        return gradient + self.norm2.backward(self.feed_forward.backward(gradient))

    def backward(self, gradient: np.ndarray) -> np.ndarray:
        return np.asarray(self.first_half(self.second_half(gradient)))


class _InPlaceSums(TransformerBlock):
    def backward(self, gradient: np.ndarray) -> np.ndarray:
        total = gradient.copy()
        total += self.norm2.backward(self.feed_forward.backward(gradient))
        parts = [part.copy() for part in self.attention.backward(total)]
        parts[0] += parts[1]
        parts[0] += parts[2]
        return np.asarray(total + self.norm1.backward(parts[0]))


TRANSFORMER_BLOCK = Exercise(
    symbol="TransformerBlock",
    points=3,
    cases=_blocks,
    references=(TransformerBlock,),
    canonical=without_rounding,
    called=CALLED,
    aspects=of_layer(
        case("masks", "masked", 1.0, "The mask reaches the attention."),
        one("a batch of one, a single position", meaning="A batch of one and rows of a single position are right too."),
        one("float32", "float32"),
    ),
    mistakes=(
        Mistake(
            "queries_gradient_only",
            _OneGradient,
            "You go on with the gradient of the queries alone. How often did the normalised x go into the attention?",
            central=True,
        ),
        Mistake(
            "values_gradient_only",
            _ValuesOnly,
            "You go on with the gradient of the values alone. How often did the normalised x go into the attention?",
            central=True,
        ),
        Mistake(
            "mean_of_the_three",
            _MeanOfThree,
            "You take the mean of the three gradients. If x moves, it moves in all three places: do the effects "
            "average, or add up?",
            central=True,
        ),
        Mistake(
            "residuals_skipped_on_the_way_back",
            _NoResidualsBack,
            "On the way back, nothing takes the road past the sub-layers. If y = x + f(x), what does dy/dx begin with?",
            central=True,
        ),
        Mistake(
            "first_residual_skipped_on_the_way_back",
            _NoFirstResidualBack,
            "The residual around the attention is missing on the way back. Which two roads lead from x to its sum?",
            central=True,
        ),
        Mistake(
            "sub_layers_side_by_side",
            _SubLayersSideBySide,
            "The attention gets the gradient of the block's output. It comes before the feed-forward: which gradient "
            "arrives at the point between them?",
            central=True,
        ),
        Mistake(
            "norms_skipped_on_the_way_back",
            _NormsSkippedBack,
            "Your gradients don't come back through the norms. What stands before each sub-layer?",
            central=True,
        ),
        Mistake(
            "post_norm",
            _PostNorm,
            "You normalise after each sum. Where does the docstring put the norms?",
            central=True,
        ),
        Mistake(
            "no_residuals",
            _NoResiduals,
            "Each sub-layer replaces x. What does the docstring add its result to?",
            central=True,
        ),
        Mistake(
            "mask_dropped",
            _MaskDropped,
            "The mask never reaches the attention. Where do you pass it on?",
        ),
        Mistake(
            "weights_returned_too",
            _WithWeights,
            "You return a pair. What does the docstring say that forward returns?",
            central=True,
        ),
        Mistake(
            "one_norm_for_both",
            _OneNorm,
            "Both norms are one and the same object: it remembers only its last input, and its gradient only the last "
            "call. How many norms does the block need?",
            central=True,
        ),
        Mistake(
            "queries_only_normalised",
            _QueriesOnlyNormed,
            "Only the queries are normalised. What goes into the attention as keys and values?",
            central=True,
        ),
    ),
    variants={"by hand": _ByHand, "two halves": _TwoHalves, "sums in place": _InPlaceSums},
)
