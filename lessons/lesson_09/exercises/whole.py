"""`Transformer`: cases, mistakes and variants."""

from __future__ import annotations

from typing import Any

import numpy as np

from course.numpy_transformer.layers import Embedding, LayerNorm
from course.numpy_transformer.model import Transformer
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_09.exercises import drawing
from lessons.lesson_09.exercises.drawing import CALLED, Inputs, case, normal, of_layer, one, without_rounding
from lessons.lesson_09.exercises.model_pieces import Pieces

VOCAB, LONGEST, D, HEADS, WIDE = 7, 6, 4, 2, 5


def _weights(generator: np.random.Generator, layers: int, kind: Any = np.float64) -> Inputs:
    drawn: Inputs = {}
    for side in ("source", "target"):
        drawn[f"{side}_embedding.weight"] = normal(generator, VOCAB, D, dtype=kind)
        drawn[f"{side}_positions.weight"] = normal(generator, LONGEST, D, dtype=kind)
    for place in range(layers):
        for block, attentions in (("encoder", ("attention",)), ("decoder", ("self_attention", "cross_attention"))):
            name = f"{block}_blocks.{place}"
            for number, attention in enumerate(attentions, start=1):
                drawn |= drawing.norm(generator, f"{name}.norm{number}", D, kind)
                drawn |= drawing.attention(generator, f"{name}.{attention}", D, kind)
            drawn |= drawing.norm(generator, f"{name}.norm{len(attentions) + 1}", D, kind)
            drawn |= drawing.feed_forward(generator, f"{name}.feed_forward", D, WIDE, kind)
    for name in ("encoder_norm", "decoder_norm"):
        drawn |= drawing.norm(generator, name, D, kind)
    return drawn | drawing.linear(generator, "output", D, VOCAB, kind)


def _models(generator: np.random.Generator) -> list[Case]:
    def draw(batch: int, m: int, n: int, layers: int, padded: bool = False, kind: Any = np.float64) -> Inputs:
        def two() -> list[np.ndarray]:
            source, target = generator.integers(1, VOCAB, (batch, n)), generator.integers(1, VOCAB, (batch, m))
            source[0, 0] = source[-1, -1]
            if padded:
                source[0, -2:] = 0
                target[0, -1] = 0
            return [source, target]

        return {
            "sizes": [VOCAB, LONGEST, D, HEADS, WIDE, layers],
            "weights": _weights(generator, layers, kind),
            "arguments": two(),
            "gradient": normal(generator, batch, m, VOCAB, dtype=kind),
            "other_arguments": two(),
            "other_gradient": normal(generator, batch, m, VOCAB, dtype=kind),
            "any_beginning": True,
        }

    return [
        Case.of("with two blocks on each side", **draw(3, 4, 5, 2)),
        Case.of("with one block on each side", **draw(2, 5, 3, 1)),
        Case.of("with padding", "padded", **draw(3, 4, 5, 2, padded=True)),
        Case.of("on a batch of one, a single token", "one", **draw(1, 1, 1, 1)),
        Case.of("with float32", "float32", **draw(2, 3, 4, 1, kind=np.float32)),
    ]


class _LastStatesOnly(Pieces):
    def of_states(self, gradients: list[np.ndarray]) -> Any:
        return gradients[-1] if len(gradients) > 1 else gradients[0]


class _FirstStatesOnly(Pieces):
    def of_states(self, gradients: list[np.ndarray]) -> Any:
        return gradients[0]


class _MeanOfStates(Pieces):
    def of_states(self, gradients: list[np.ndarray]) -> Any:
        return np.mean(gradients, axis=0)


class _EncoderForgotten(Pieces):
    def of_states(self, gradients: list[np.ndarray]) -> Any:
        return 0 * gradients[0]


class _PositionsNotSummed(Pieces):
    def positions_back(self, table: Any, gradient: np.ndarray) -> None:
        table.backward(gradient[0])


class _PositionsAveraged(Pieces):
    def positions_back(self, table: Any, gradient: np.ndarray) -> None:
        table.backward(gradient.mean(axis=0))


class _ForwardOrder(Pieces):
    def decoder_back(self, gradient: np.ndarray) -> tuple[Any, list[np.ndarray]]:
        found = []
        for block in self.decoder_blocks:
            gradient, of_these = block.backward(gradient)
            found.append(of_these)
        return gradient, found

    def encoder_back(self, gradient: np.ndarray) -> Any:
        gradient = self.encoder_norm.backward(gradient)
        for block in self.encoder_blocks:
            gradient = block.backward(gradient)
        return gradient


class _EncoderNormSkippedBack(Pieces):
    def encoder_back(self, gradient: np.ndarray) -> Any:
        self.encoder_norm.backward(gradient)
        for block in reversed(self.encoder_blocks):
            gradient = block.backward(gradient)
        return gradient


class _NoFutureMask(Pieces):
    def future_mask(self, length: int) -> Any:
        return None


class _ShiftedFutureMask(Pieces):
    def future_mask(self, length: int) -> Any:
        return np.tri(length, k=1, dtype=bool)


class _NoSourceMask(Pieces):
    def source_mask(self, source: np.ndarray) -> Any:
        return None


class _CrossUnmasked(Pieces):
    def run(self, x: Any, states: Any, future: Any, hidden: Any) -> Any:
        return super().run(x, states, future, None)


class _MaskTurned(Pieces):
    def source_mask(self, source: np.ndarray) -> Any:
        return (source == 0)[:, None, None, :]


class _NoPositions(Pieces):
    def positions(self, table: Any, length: int) -> Any:
        return 0 * super().positions(table, length)


class _OneFinalNorm(Pieces):
    def encoded(self, states: np.ndarray) -> Any:
        super().encoded(states)
        return states


class _BlockReused(Pieces):
    def run(self, x: Any, states: Any, future: Any, hidden: Any) -> Any:
        for _ in self.decoder_blocks:
            x = self.decoder_blocks[0].forward(x, states, future, hidden)
        return x


class _OneEmbedding(Pieces):
    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.target_embedding = self.source_embedding


class _GatheredPositions(Transformer):
    """Positions looked up for the whole batch, so that their table adds up the batch by itself."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.depth = len(self.encoder_blocks)

    def forward(self, source: np.ndarray, target_input: np.ndarray) -> Any:
        def with_positions(tokens: Any, table: Embedding, positions: Embedding) -> Any:
            places = np.broadcast_to(np.arange(tokens.shape[1]), tokens.shape)
            return table.forward(tokens) + positions.forward(places)

        keys = (source > 0)[:, np.newaxis, np.newaxis, :]
        states = with_positions(source, self.source_embedding, self.source_positions)
        for i in range(self.depth):
            states = self.encoder_blocks[i].forward(states, keys)
        states = self.encoder_norm.forward(states)
        x = with_positions(target_input, self.target_embedding, self.target_positions)
        lower = np.tril(np.ones((x.shape[1],) * 2)).astype(bool)
        for i in range(self.depth):
            x = self.decoder_blocks[i].forward(x, states, lower, keys)
        return self.output.forward(self.decoder_norm.forward(x))

    def backward(self, gradient: np.ndarray) -> None:
        d = self.decoder_norm.backward(self.output.backward(gradient))
        d_states: Any = 0
        for i in range(self.depth - 1, -1, -1):
            d, more = self.decoder_blocks[i].backward(d)
            d_states = d_states + more
        self.target_positions.backward(d)
        self.target_embedding.backward(d)
        d = self.encoder_norm.backward(d_states)
        for i in range(self.depth - 1, -1, -1):
            d = self.encoder_blocks[i].backward(d)
        self.source_positions.backward(d)
        self.source_embedding.backward(d)


class _FullMask(Pieces):
    """A future mask with all four axes, padding of the target left in."""

    def future_mask(self, length: int) -> Any:
        return (np.arange(length)[:, None] >= np.arange(length))[None, None]


class _NormsMadeLater(Transformer):
    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.decoder_norm, self.encoder_norm = LayerNorm(sizes[2]), LayerNorm(sizes[2])


TRANSFORMER = Exercise(
    symbol="Transformer",
    points=4,
    cases=_models,
    references=(Transformer,),
    canonical=without_rounding,
    called=CALLED,
    aspects=of_layer(
        case("padding", "padded", 2.0, "The padding of the source is hidden from every attention that reads it."),
        one("a batch of one, a single token", meaning="A batch of one and rows of a single token are right too."),
        one("float32", "float32"),
        returns=False,
    ),
    mistakes=(
        Mistake(
            "states_of_the_first_block_only",
            _LastStatesOnly,
            "The encoder learns from the first decoder block alone. How many blocks read its states?",
            central=True,
        ),
        Mistake(
            "states_of_the_last_block_only",
            _FirstStatesOnly,
            "The encoder learns from the last decoder block alone. How many blocks read its states?",
            central=True,
        ),
        Mistake(
            "mean_of_the_blocks",
            _MeanOfStates,
            "You take the mean of what the decoder blocks send back. If a state moves, it moves for all of them: do "
            "the effects average, or add up?",
            central=True,
        ),
        Mistake(
            "encoder_learns_nothing",
            _EncoderForgotten,
            "Every gradient in the encoder is 0. What does each decoder block send back besides its x?",
            central=True,
        ),
        Mistake(
            "positions_of_the_first_row_only",
            _PositionsNotSummed,
            "The positions learn from the first row of the batch alone. How many rows did one position serve?",
            central=True,
        ),
        Mistake(
            "positions_averaged",
            _PositionsAveraged,
            "The positions get the mean over the batch. One row of the table served every row of the batch: do their "
            "gradients average, or add up?",
            central=True,
        ),
        Mistake(
            "backward_in_forwards_order",
            _ForwardOrder,
            "You go back through the blocks in the order of forward. Which block does the gradient of the logits meet "
            "first?",
            central=True,
        ),
        Mistake(
            "encoder_norm_skipped_on_the_way_back",
            _EncoderNormSkippedBack,
            "On the way back you pass by the encoder's final norm. What was the last thing that happened to the "
            "states?",
            central=True,
        ),
        Mistake(
            "future_visible",
            _NoFutureMask,
            "Each target position sees those after it. Which mask did lesson 5 build?",
            central=True,
        ),
        Mistake(
            "future_mask_off_by_one",
            _ShiftedFutureMask,
            "Each target position sees one token too many. Where is your diagonal?",
            central=True,
        ),
        Mistake(
            "padding_visible",
            _NoSourceMask,
            "The padding of the source is read like any token. Which attentions read the source?",
        ),
        Mistake(
            "cross_attention_sees_padding",
            _CrossUnmasked,
            "The encoder hides its padding, but the decoder reads it. Which of its two attentions reads the source?",
        ),
        Mistake(
            "padding_mask_turned_round",
            _MaskTurned,
            "Only padding can be seen. In this course, what does True stand for in a mask?",
            central=True,
        ),
        Mistake(
            "no_positions",
            _NoPositions,
            "Positions play no part. Where are the two position tables added?",
            central=True,
        ),
        Mistake(
            "encoder_norm_forgotten",
            _OneFinalNorm,
            "The decoder reads states that have not been normalised. What stands after the stack of encoder blocks?",
            central=True,
        ),
        Mistake(
            "one_block_reused",
            _BlockReused,
            "The first decoder block runs again and again, and the others never. Which blocks does your loop go "
            "through?",
            central=True,
        ),
        Mistake(
            "one_embedding_for_both",
            _OneEmbedding,
            "Source and target share one embedding object, which sets its gradient twice and keeps the last. How many "
            "tables does the docstring list?",
            central=True,
        ),
    ),
    variants={
        "positions for the whole batch": _GatheredPositions,
        "a mask with four axes": _FullMask,
        "norms made later": _NormsMadeLater,
    },
)
