"""`DecoderBlock`: cases, mistakes and variants."""

from __future__ import annotations

from typing import Any

import numpy as np

from course.numpy_transformer.attention import MultiHeadAttention
from course.numpy_transformer.blocks import DecoderBlock
from course.numpy_transformer.layers import FeedForward, LayerNorm
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_09.exercises.block_weights import HEADS, WIDE, D, block_weights
from lessons.lesson_09.exercises.drawing import CALLED, Inputs, case, normal, of_layer, one, without_rounding


def _decoders(generator: np.random.Generator) -> list[Case]:
    b, m, n = (int(size) for size in generator.choice([2, 3, 4, 5], 3, replace=False))

    def draw(b: int, m: int, n: int, masks: tuple[np.ndarray, ...] = (), kind: Any = np.float64) -> Inputs:
        def two() -> list[Any]:
            return [normal(generator, b, m, D, dtype=kind), normal(generator, b, n, D, dtype=kind) * kind(2), *masks]

        return {
            "sizes": [D, HEADS, WIDE],
            "weights": block_weights(generator, ("self_attention", "cross_attention"), kind),
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
        one("a batch of one, a single position", meaning="A batch of one and rows of a single position are right too."),
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
