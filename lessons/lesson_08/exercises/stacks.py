"""What `Encoder` and `Decoder` share: how their cases are drawn, what is looked at, and a stack that can be changed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from course.paper.layers import DecoderLayer, EncoderLayer
from course.positions import SinusoidalPositionalEncoding
from grader.authoring.aspects import CONTENT, KNOWN, untouched
from grader.authoring.draw import dims, integers, normal
from grader.authoring.spec import Aspect, Case, Mistake, tagged
from lessons.drawing import Inputs
from lessons.lesson_04.exercises.looks import seen

Mask = torch.Tensor | None


def sizes_of(generator: np.random.Generator, num_layers: int, max_length: int) -> dict[str, float]:
    """The seven sizes in the order of the signature, all different."""
    num_heads = int(generator.integers(2, 4))
    return {
        "vocab_size": int(generator.integers(24, 28)),
        "d_model": num_heads * int(generator.choice([4, 6])),
        "num_layers": num_layers,
        "num_heads": num_heads,
        "d_ff": int(generator.integers(19, 23)),
        "dropout": 0.0,
        "max_length": max_length,
    }


def cases_of(generator: np.random.Generator, decoder: bool) -> list[Case]:
    """A case for each look."""

    def look(name: str, num_layers: int = 2) -> Inputs:
        batch, length, source_length = 3, *dims(generator, 2, 5, 8)
        sizes = sizes_of(generator, num_layers, length + 1)
        inputs = {
            "look": name,
            "sizes": sizes,
            "embedding": normal(generator, int(sizes["vocab_size"]), int(sizes["d_model"])) / sizes["d_model"] ** 0.5,
            "tokens": integers(generator, 1, int(sizes["vocab_size"]), batch, length),
        }
        if decoder:
            inputs["states"] = normal(generator, batch, source_length, int(sizes["d_model"]))
        return inputs

    cases = [
        Case("with two layers", look("usual"), tagged("usual")),
        Case("with other tokens", look("seeing"), tagged("seeing")),
        Case("with a mask", look("masking"), tagged("masking")),
        Case("with rows of every length", look("sizes", 1), tagged("sizes")),
        Case("with dropout", look("dropping"), tagged("dropping")),
    ]
    if decoder:
        cases.append(Case("with other encoder states", look("listening"), tagged("listening")))
    return cases


READING = seen(
    "what the first layer reads",
    "usual",
    "what_the_first_layer_reads",
    weight=3.0,
    meaning="The first layer reads the embeddings times sqrt(d_model), plus the sinusoids.",
)
LAYERS = seen(
    "num_layers layers, all in use",
    "usual",
    "one_more_layer",
    "parameters",
    "calls_of_the_first_layer",
    weight=3.0,
    meaning="There are num_layers layers, each with weights of its own, and all of them are used.",
)
ESSENTIALS = Aspect(
    "the essentials",
    keys=(
        "what_the_first_layer_reads",
        "one_more_layer",
        "parameters",
        "what_the_mask_hides",
        "what_the_mask_allows",
        "an_encoder_state",
        "what_the_encoder_mask_hides",
        "what_the_encoder_mask_allows",
    ),
    kinds=(KNOWN | CONTENT) - {"error"},
    weight=11.0,
    meaning="Scaled embeddings and sinusoids go in, every layer works on them, and the masks are obeyed.",
)
USUAL_LOOKS = (
    ESSENTIALS,
    seen("shape", "usual", "shape", meaning="The states have the shape that the docstring gives."),
    READING,
    LAYERS,
    seen(
        "nothing after the last layer",
        "usual",
        "all_layers",
        "states_of_a_new_model",
        weight=2.0,
        meaning="Post-norm layers end with a norm, and what the last one returns is the result.",
    ),
    seen(
        "dtype kept",
        "usual",
        "dtype",
        "dtype_of_a_float64_model",
        meaning="A float32 model gives float32 states, and a float64 model float64 states.",
    ),
    seen(
        "modes untouched",
        "usual",
        "training_mode",
        "modes",
        weight=0.5,
        meaning="Without dropout, both modes give the same states, and the model stays in the mode it is in.",
    ),
    seen("tokens count", "seeing", "a_token", core=True, meaning="Another token gets another state."),
    seen(
        "tokens see their row",
        "seeing",
        "another_token_of_the_row",
        "another_row_of_the_batch",
        weight=2.0,
        meaning="Without a mask each token sees all tokens of its own row, and none of another row.",
    ),
    seen("the order counts", "seeing", "the_order", weight=2.0, meaning="One token at two places gets two states."),
)
LAST_LOOKS = (
    seen(
        "rows of every length",
        "sizes",
        "the_longest_rows",
        "rows_of_one_token",
        "a_batch_of_one",
        meaning="Rows may be as short as one token and as long as max_length, and a batch may be a single row.",
    ),
    seen(
        "num_heads",
        "sizes",
        "another_number_of_heads",
        weight=0.5,
        meaning="The layers use num_heads: another number of heads gives other states.",
    ),
    seen(
        "dropout on the sum",
        "dropping",
        "the_sum_of_embedding_and_position",
        weight=1.5,
        meaning="In training mode some numbers of the sum of embedding and position are dropped.",
    ),
    seen(
        "dropout in the layers, and only in training",
        "dropping",
        "in_training",
        "in_evaluation",
        "with_a_dropout_of_1",
        weight=1.5,
        meaning="The layers get the rate too, and in evaluation mode nothing is dropped.",
    ),
    untouched(),
)


def masked(name: str, weight: float = 3.0) -> Aspect:
    """The aspect of the self-attention's mask, which has this name."""
    return seen(
        name,
        "masking",
        "a_mask",
        "what_the_mask_hides",
        "what_the_mask_allows",
        "a_mask_for_batch_and_heads",
        weight=weight,
        meaning="The mask decides what each token sees, in every layer, whatever shape it broadcasts from.",
    )


class Stack(nn.Module):
    """A right stack, step by step; mistakes change one of the steps."""

    kind: Any = EncoderLayer

    def __init__(self, vocab: int, d: int, layers: int, heads: int, d_ff: int, dropout: float, longest: int) -> None:
        super().__init__()
        self.d, self.rate = d, dropout
        self.embedding: Any = nn.Embedding(vocab, d)
        nn.init.normal_(self.embedding.weight, std=d**-0.5)
        self.positions: Any = self.placed(d, longest)
        self.dropout: Any = nn.Dropout(dropout)
        self.layers: Any = self.stacked(lambda: self.layer(d, heads, d_ff, dropout), layers)
        self.finish: Any = self.last(d, vocab)

    def placed(self, d: int, longest: int) -> nn.Module:
        return SinusoidalPositionalEncoding(d, longest)

    def layer(self, d: int, heads: int, d_ff: int, dropout: float) -> Any:
        return self.kind(d, heads, d_ff, dropout)

    def stacked(self, make: Callable[[], Any], layers: int) -> Any:
        return nn.ModuleList(make() for _ in range(layers))

    def last(self, d: int, vocab: int) -> Any:
        return nn.Identity()

    def scaled(self, tokens: torch.Tensor) -> Any:
        return self.embedding(tokens) * math.sqrt(self.d)

    def summed(self, tokens: torch.Tensor) -> Any:
        return self.positions(self.scaled(tokens))

    def read(self, tokens: torch.Tensor) -> Any:
        return self.dropout(self.summed(tokens))

    def call(self, layer: Any, x: torch.Tensor, *others: Any) -> Any:
        return layer(x, *others)

    def run(self, x: torch.Tensor, *others: Any) -> Any:
        for layer in self.layers:
            x = self.call(layer, x, *others)
        return x

    def forward(self, tokens: torch.Tensor, mask: Mask = None) -> Any:
        return self.finish(self.run(self.read(tokens), mask))


class DecoderStack(Stack):
    """The same for the decoder."""

    kind = DecoderLayer

    def forward(  # type: ignore[override]
        self, tokens: torch.Tensor, states: torch.Tensor, self_mask: Mask = None, encoder_mask: Mask = None
    ) -> Any:
        return self.finish(self.run(self.read(tokens), states, self_mask, encoder_mask))


def maker(base: type[Stack], name: str) -> Callable[..., type[Stack]]:
    """Makes stacks with some steps changed."""

    def made(**steps: Any) -> type[Stack]:
        return type(name, (base,), steps)

    return made


class Learned(nn.Module):
    """Positions that are learnt, as in lesson 3."""

    def __init__(self, d: int, longest: int) -> None:
        super().__init__()
        self.table = nn.Embedding(longest, d)

    def forward(self, x: torch.Tensor) -> Any:
        return x + self.table.weight[: x.shape[1]]


def from_the_start(self: Any, x: torch.Tensor, *others: Any) -> Any:
    return [self.call(layer, x, *others) for layer in self.layers][-1]


def shared_mistakes(made: Callable[..., type[Stack]]) -> tuple[Mistake, ...]:
    """What people get wrong on either side."""
    return (
        Mistake(
            "not_scaled",
            made(scaled=lambda self, tokens: self.embedding(tokens)),
            "The embeddings come as they are, small beside the sinusoids. By what does the paper multiply them?",
            central=True,
        ),
        Mistake(
            "scaled_after_the_sum",
            made(summed=lambda self, tokens: self.positions(self.embedding(tokens)) * math.sqrt(self.d)),
            "The sinusoids are multiplied along with the embeddings. Which of the two does the docstring scale?",
            central=True,
        ),
        Mistake(
            "divided_by_the_root",
            made(scaled=lambda self, tokens: self.embedding(tokens) / math.sqrt(self.d)),
            "The embeddings are divided by sqrt(d_model), as scores are in attention. What happens to them here?",
            central=True,
        ),
        Mistake(
            "times_d_model",
            made(scaled=lambda self, tokens: self.embedding(tokens) * self.d),
            "The embeddings are multiplied by d_model. Which function of it does the paper use?",
            central=True,
        ),
        Mistake(
            "no_positions",
            made(summed=lambda self, tokens: self.scaled(tokens)),
            "A token gets the same state wherever it stands. What is added to the embeddings?",
            central=True,
        ),
        Mistake(
            "positions_of_the_batch",
            made(summed=lambda self, tokens: self.positions(self.scaled(tokens).transpose(0, 1)).transpose(0, 1)),
            "The positions count the rows of the batch. Along which axis do the tokens of a row lie?",
            central=True,
        ),
        Mistake(
            "learned_positions",
            made(placed=lambda self, d, longest: Learned(d, longest)),
            "Your positions are learnt, as in lesson 3. Which kind does this model use?",
        ),
        Mistake(
            "norm_after_the_stack",
            made(last=lambda self, d, vocab: nn.LayerNorm(d)),
            "There is a norm after the stack. In the paper's order, what does each layer end with?",
        ),
        Mistake(
            "pre_norm_layers",
            made(layer=lambda self, d, heads, d_ff, rate: self.kind(d, heads, d_ff, rate, True)),
            "Your layers are in pre-norm order, although nobody asked for it. Which order is the default?",
        ),
        Mistake(
            "logits_returned",
            made(last=lambda self, d, vocab: nn.Linear(d, vocab)),
            "You return a number for each symbol of the vocabulary. Which class projects states to logits?",
        ),
        Mistake(
            "one_layer_only",
            made(stacked=lambda self, make, layers: nn.ModuleList([make()])),
            "There is one layer, whatever num_layers says. How do you make as many as you were asked for?",
        ),
        Mistake(
            "one_layer_repeated",
            made(stacked=lambda self, make, layers: nn.ModuleList([make()] * layers)),
            "All your layers share one set of weights. What does multiplying a list copy: the layer, or references "
            "to it?",
        ),
        Mistake(
            "one_layer_too_many",
            made(stacked=lambda self, make, layers: nn.ModuleList(make() for _ in range(layers + 1))),
            "There is one layer too many. Where does your loop start counting, and where does it stop?",
        ),
        Mistake(
            "plain_list",
            made(stacked=lambda self, make, layers: [make() for _ in range(layers)]),
            "Your layers are in a plain Python list, so model.parameters() doesn't find them. Which kind of list does "
            "PyTorch look into?",
            central=True,
        ),
        Mistake(
            "first_layer_only",
            made(run=lambda self, x, *others: self.call(self.layers[0], x, *others)),
            "Only the first layer is called. Is the return inside the loop?",
        ),
        Mistake(
            "each_layer_from_the_start",
            made(run=from_the_start),
            "Each layer starts from the embeddings again, so only the last one counts. What should the second one "
            "be given?",
        ),
        Mistake(
            "one_head_only",
            made(layer=lambda self, d, heads, d_ff, rate: self.kind(d, 1, d_ff, rate)),
            "Your layers have one head each, whatever num_heads says. Where is it handed on?",
        ),
        Mistake(
            "width_ignored",
            made(layer=lambda self, d, heads, d_ff, rate: self.kind(d, heads, 4 * d, rate)),
            "Your feed-forward networks are four times d_model wide, whatever d_ff says. Where is it handed on?",
        ),
        Mistake(
            "no_dropout_on_the_sum",
            made(read=lambda self, tokens: self.summed(tokens)),
            "Nothing is dropped before the first layer. What else does the paper's section 5.4 apply dropout to?",
        ),
        Mistake(
            "dropout_before_the_positions",
            made(read=lambda self, tokens: self.positions(self.dropout(self.scaled(tokens)))),
            "You drop numbers of the embeddings, then add the positions. What does the paper apply dropout to here?",
        ),
        Mistake(
            "layers_never_drop",
            made(layer=lambda self, d, heads, d_ff, rate: self.kind(d, heads, d_ff, 0.0)),
            "Your layers never drop anything, whatever the rate. Where is it handed on?",
        ),
        Mistake(
            "never_drops",
            made(
                layer=lambda self, d, heads, d_ff, rate: self.kind(d, heads, d_ff, 0.0),
                read=lambda self, tokens: self.summed(tokens),
            ),
            "Nothing is ever dropped, whatever the rate. Where does `dropout` go?",
        ),
        Mistake(
            "drops_in_evaluation_too",
            made(read=lambda self, tokens: nn.functional.dropout(self.summed(tokens), self.rate)),
            "Numbers are dropped in evaluation mode too. How does nn.Dropout know which mode it is in?",
        ),
    )
