"""`TransformerBlock` and `DecoderBlock`: cases, mistakes and variants."""

from __future__ import annotations

from typing import Any

import numpy as np

from course.numpy_transformer.attention import MultiHeadAttention
from course.numpy_transformer.blocks import DecoderBlock, TransformerBlock
from course.numpy_transformer.layers import FeedForward, LayerNorm
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_09.exercises import drawing
from lessons.lesson_09.exercises.drawing import CALLED, Inputs, case, normal, of_layer, one, without_rounding

D, HEADS, WIDE = 4, 2, 6


def _block_weights(generator: np.random.Generator, attentions: tuple[str, ...], kind: Any) -> Inputs:
    drawn: Inputs = {}
    for place, name in enumerate(attentions, start=1):
        drawn |= drawing.norm(generator, f"norm{place}", D, kind) | drawing.attention(generator, name, D, kind)
    drawn |= drawing.norm(generator, f"norm{len(attentions) + 1}", D, kind)
    return drawn | drawing.feed_forward(generator, "feed_forward", D, WIDE, kind)


def _blocks(generator: np.random.Generator) -> list[Case]:
    b, n = (int(size) for size in generator.choice([2, 3, 5], 2, replace=False))

    def draw(b: int, n: int, mask: np.ndarray | None = None, kind: Any = np.float64) -> Inputs:
        def x() -> list[Any]:
            return [normal(generator, b, n, D, dtype=kind) * kind(2), *([] if mask is None else [mask])]

        return {
            "sizes": [D, HEADS, WIDE],
            "weights": _block_weights(generator, ("attention",), kind),
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
        one("a batch of one, a single position"),
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


def _decoders(generator: np.random.Generator) -> list[Case]:
    b, m, n = (int(size) for size in generator.choice([2, 3, 4, 5], 3, replace=False))

    def draw(b: int, m: int, n: int, masks: tuple[np.ndarray, ...] = (), kind: Any = np.float64) -> Inputs:
        def two() -> list[Any]:
            return [normal(generator, b, m, D, dtype=kind), normal(generator, b, n, D, dtype=kind) * kind(2), *masks]

        return {
            "sizes": [D, HEADS, WIDE],
            "weights": _block_weights(generator, ("self_attention", "cross_attention"), kind),
            "arguments": two(),
            "gradient": normal(generator, b, m, D, dtype=kind),
            "other_arguments": two(),
            "other_gradient": normal(generator, b, m, D, dtype=kind),
            "any_beginning": True,
        }

    causal, padding = np.tri(m, dtype=bool), np.ones((b, 1, 1, n), dtype=bool)
    padding[0, ..., -1] = False
    return [
        Case.of("on a target and a source", **draw(b, m, n)),
        Case.of("on a longer target than source, or shorter", **draw(b, n, m)),
        Case.of("with both masks", "masked", **draw(b, m, n, (causal, padding))),
        Case.of("on a batch of one, a single position", "one", **draw(1, 1, 1)),
        Case.of("with float32", "float32", **draw(b, m, n, kind=np.float32)),
    ]


class _Decoder(DecoderBlock):
    """Backward in pieces that mistakes replace."""

    def of_states(self, by_key: Any, by_value: Any) -> Any:
        return by_key + by_value

    def after_cross(self, gradient: Any, by_query: Any, by_key: Any, by_value: Any) -> Any:
        return gradient + self.norm2.backward(by_query)

    def after_self(self, gradient: Any, by_query: Any, by_key: Any, by_value: Any) -> Any:
        return gradient + self.norm1.backward(by_query + by_key + by_value)

    def backward(self, gradient: np.ndarray) -> Any:
        gradient = gradient + self.norm3.backward(self.feed_forward.backward(gradient))
        three = self.cross_attention.backward(gradient)
        states = self.of_states(three[1], three[2])
        gradient = self.after_cross(gradient, *three)
        return self.after_self(gradient, *self.self_attention.backward(gradient)), states


class _KeysOnly(_Decoder):
    def of_states(self, by_key: Any, by_value: Any) -> Any:
        return by_key


class _ValuesOnlyStates(_Decoder):
    def of_states(self, by_key: Any, by_value: Any) -> Any:
        return by_value


class _StatesForgotten(_Decoder):
    def backward(self, gradient: np.ndarray) -> Any:
        return super().backward(gradient)[0]


class _PairTurned(_Decoder):
    def backward(self, gradient: np.ndarray) -> Any:
        return super().backward(gradient)[::-1]


class _CrossResidualSkipped(_Decoder):
    def after_cross(self, gradient: Any, by_query: Any, by_key: Any, by_value: Any) -> Any:
        return self.norm2.backward(by_query)


class _CrossPathForgotten(_Decoder):
    def after_cross(self, gradient: Any, by_query: Any, by_key: Any, by_value: Any) -> Any:
        self.norm2.backward(by_query)
        return gradient


class _SelfQueriesOnly(_Decoder):
    def after_self(self, gradient: Any, by_query: Any, by_key: Any, by_value: Any) -> Any:
        return gradient + self.norm1.backward(by_query)


class _NoCrossForward(DecoderBlock):
    def forward(self, x: Any, encoder_states: Any, self_mask: Any = None, encoder_mask: Any = None) -> Any:
        n = self.norm1.forward(x)
        x = x + self.self_attention.forward(n, n, n, self_mask)[0]
        n = self.norm2.forward(x)
        x = x + self.cross_attention.forward(n, n, n)[0]
        return x + self.feed_forward.forward(self.norm3.forward(x))


class _StatesNormalised(DecoderBlock):
    def forward(self, x: Any, encoder_states: Any, self_mask: Any = None, encoder_mask: Any = None) -> Any:
        centred = encoder_states - encoder_states.mean(axis=-1, keepdims=True)
        states = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.array(1e-5, centred.dtype))
        return super().forward(x, states, self_mask, encoder_mask)


class _Masks(DecoderBlock):
    def forward(self, x: Any, encoder_states: Any, self_mask: Any = None, encoder_mask: Any = None) -> Any:
        return super().forward(x, encoder_states, *self.masks(self_mask, encoder_mask))

    def masks(self, self_mask: Any, encoder_mask: Any) -> tuple[Any, Any]:
        return None, None


class _NoSelfMask(_Masks):
    def masks(self, self_mask: Any, encoder_mask: Any) -> tuple[Any, Any]:
        return None, encoder_mask


class _NoEncoderMask(_Masks):
    def masks(self, self_mask: Any, encoder_mask: Any) -> tuple[Any, Any]:
        return self_mask, None


class _CrossFirst(DecoderBlock):
    def forward(self, x: Any, encoder_states: Any, self_mask: Any = None, encoder_mask: Any = None) -> Any:
        n = self.norm2.forward(x)
        x = x + self.cross_attention.forward(n, encoder_states, encoder_states, encoder_mask)[0]
        n = self.norm1.forward(x)
        x = x + self.self_attention.forward(n, n, n, self_mask)[0]
        return x + self.feed_forward.forward(self.norm3.forward(x))


class _InLists(DecoderBlock):
    def backward(self, gradient: np.ndarray) -> Any:
        d = gradient + self.norm3.backward(self.feed_forward.backward(gradient))
        q, k, v = self.cross_attention.backward(d)
        d = d + self.norm2.backward(q)
        return [d + self.norm1.backward(np.sum(self.self_attention.backward(d), axis=0)), np.add(k, v)]


class _DecoderByHand:
    def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
        self.norm1, self.norm2, self.norm3 = (LayerNorm(d_model) for _ in range(3))
        self.self_attention, self.cross_attention = (MultiHeadAttention(d_model, num_heads) for _ in range(2))
        self.feed_forward = FeedForward(d_model, d_ff)

    def forward(self, x: Any, encoder_states: Any, self_mask: Any = None, encoder_mask: Any = None) -> Any:
        normed = self.norm1.forward(x)
        one, self.self_weights = self.self_attention.forward(normed, normed, normed, mask=self_mask)
        two, self.cross_weights = self.cross_attention.forward(
            self.norm2.forward(x + one), encoder_states, encoder_states, mask=encoder_mask
        )
        return x + one + two + self.feed_forward.forward(self.norm3.forward(x + one + two))

    def backward(self, gradient: np.ndarray) -> Any:
        d2 = gradient + self.norm3.backward(self.feed_forward.backward(gradient))
        dq, dk, dv = self.cross_attention.backward(d2)
        d1 = d2 + self.norm2.backward(dq)
        d_normed: Any = sum(self.self_attention.backward(d1))
        return d1 + self.norm1.backward(d_normed), dk + dv


DECODER_BLOCK = Exercise(
    symbol="DecoderBlock",
    points=3,
    cases=_decoders,
    references=(DecoderBlock,),
    canonical=without_rounding,
    called=CALLED,
    aspects=of_layer(
        case("masks", "masked", 1.5, "Each mask reaches the attention that it belongs to."),
        one("a batch of one, a single position"),
        one("float32", "float32"),
        forward=2.0,
    ),
    mistakes=(
        Mistake(
            "keys_only_for_the_states",
            _KeysOnly,
            "The states get the gradient of the keys alone. In which two roles did they go into the attention?",
            central=True,
        ),
        Mistake(
            "values_only_for_the_states",
            _ValuesOnlyStates,
            "The states get the gradient of the values alone. In which two roles did they go into the attention?",
            central=True,
        ),
        Mistake(
            "states_forgotten",
            _StatesForgotten,
            "You return one gradient. Without the other, nothing in the encoder would ever learn: whose is it?",
            central=True,
        ),
        Mistake(
            "pair_turned_round",
            _PairTurned,
            "You return the states' gradient first. In which order does the docstring ask for the two?",
            central=True,
        ),
        Mistake(
            "cross_residual_skipped_on_the_way_back",
            _CrossResidualSkipped,
            "The residual around the cross-attention is missing on the way back. Which road leads past it?",
            central=True,
        ),
        Mistake(
            "queries_of_cross_attention_forgotten",
            _CrossPathForgotten,
            "The decoder's own x never hears from the cross-attention. Where did its queries come from?",
            central=True,
        ),
        Mistake(
            "self_attention_queries_only",
            _SelfQueriesOnly,
            "From the self-attention you keep the gradient of the queries. How often did the normalised x go in?",
            central=True,
        ),
        Mistake(
            "encoder_unused",
            _NoCrossForward,
            "Your cross-attention reads the decoder itself, so the source is never seen. Where do its keys and values "
            "come from?",
            central=True,
        ),
        Mistake(
            "states_normalised",
            _StatesNormalised,
            "You normalise the encoder states. Whose job is that, says the docstring?",
            central=True,
        ),
        Mistake(
            "self_mask_dropped",
            _NoSelfMask,
            "The self-attention sees everything, the future too. Where does its mask get lost?",
        ),
        Mistake(
            "encoder_mask_dropped",
            _NoEncoderMask,
            "The cross-attention sees the padding of the source. Where does its mask get lost?",
        ),
        Mistake("both_masks_dropped", _Masks, "Neither mask has an effect. To whom do you pass them on?"),
        Mistake(
            "cross_attention_first",
            _CrossFirst,
            "Your cross-attention comes before the self-attention. Which one does norm1 belong to?",
            central=True,
        ),
    ),
    variants={"a list, and np.add": _InLists, "by hand": _DecoderByHand, "in pieces": _Decoder},
)
