"""Stacks as people write them, for `Encoder` and `Decoder`: a right one that can be changed, and what goes wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from course.paper.layers import DecoderLayer, EncoderLayer
from course.positions import SinusoidalPositionalEncoding
from grader.authoring.spec import Mistake

Mask = torch.Tensor | None


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
            "The embeddings come as they are, small beside the sinusoids. What does the paper multiply them by?",
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
