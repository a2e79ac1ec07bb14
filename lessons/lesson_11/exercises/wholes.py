"""What both whole models have in common: their cases and aspects, right models in steps, and mistakes in either."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from course.blocks import LayerNorm, LearnedPositionalEmbedding
from course.language_model.gpt import DecoderOnlyBlock
from course.language_model.modern import ModernBlock, RMSNorm
from grader.authoring import draw
from grader.authoring.aspects import USUAL, also, gradients, modes, parts, refused, shape, special, untouched, values
from grader.authoring.spec import Aspect, Case, Mistake, tagged
from lessons import drawing
from lessons.drawing import Inputs
from lessons.lesson_11.drawing import classic_weights, modern_weights


def cases_of(generator: np.random.Generator, modern: bool) -> list[Case]:
    def model(b: int, n: int, heads: int, layers: int, **others: Any) -> Inputs:
        d_model, d_ff, vocab = 2 * heads, int(generator.integers(9, 12)), int(generator.integers(12, 16))
        sizes = {"vocab_size": vocab, "d_model": d_model, "num_heads": heads, "d_ff": d_ff, "num_layers": layers}
        weights = {"embedding.weight": draw.normal(generator, vocab, d_model)}
        if modern:
            sizes["num_kv_heads"] = heads // 2
            weights["output.weight"] = draw.normal(generator, vocab, d_model) / d_model**0.5
            weights["final_norm.weight"] = 1 + draw.normal(generator, d_model) / 2
            for i in range(layers):
                weights |= modern_weights(generator, f"blocks.{i}", d_model, d_ff, d_model // 2)
        else:
            sizes["max_length"] = 7
            weights["positions.embedding.weight"] = draw.normal(generator, 7, d_model)
            weights |= drawing.norm(generator, "final_norm", d_model)
            for i in range(layers):
                weights |= classic_weights(generator, f"blocks.{i}", d_model, d_ff)
        tokens = torch.from_numpy(np.stack([generator.permutation(vocab)[:n] for _ in range(b)]))
        return {"sizes": sizes, "tokens": tokens, "weights": weights, **others}

    b, n = (int(k) for k in generator.permutation([3, 5]))
    cases = [
        Case("with two blocks", model(b, n, 4, 2), USUAL),
        Case("with three blocks", model(n, b, 2, 3), USUAL),
        Case("with one block", model(b, n, 4, 1), tagged("sizes")),
        Case("on a batch of one, with a single token", model(1, 1, 4, 2), tagged("one")),
    ]
    if not modern:
        new = model(4, 6, 4, 2)
        new["sizes"] |= {"vocab_size": 40, "d_model": 48}
        long = model(b, 7, 4, 1)
        long["tokens"] = torch.cat([long["tokens"], long["tokens"][:, :1]], dim=1)
        cases += [
            Case("with as many tokens as positions", model(b, 7, 4, 1), tagged("full")),
            Case("with more tokens than positions", long, tagged("refused")),
            Case("when it is new", {**new, "new": True}, tagged("new")),
        ]
    return cases


class Model(nn.Module):
    """The right model, step by step; mistakes change one of the steps."""

    embedding: Any
    blocks: Any
    final_norm: Any

    def forward(self, tokens: torch.Tensor) -> Any:
        return self.finish(self.run(self.begin(tokens)))

    def begin(self, tokens: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError

    def run(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return x

    def finish(self, x: torch.Tensor) -> Any:
        return self.logits(self.final_norm(x))

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        raise NotImplementedError


class Classic(Model):
    std = 0.02

    def __init__(self, vocab: int, longest: int, d: int, heads: int, d_ff: int, layers: int) -> None:
        super().__init__()
        self.max_length = longest
        self.final_norm = LayerNorm(d)
        self.blocks = nn.ModuleList([DecoderOnlyBlock(d, heads, d_ff) for _ in range(layers)])
        self.positions: Any = LearnedPositionalEmbedding(longest, d)
        self.embedding = nn.Embedding(vocab, d)
        for table in (self.embedding.weight, self.positions.embedding.weight):
            table.data.mul_(self.std)

    def begin(self, tokens: torch.Tensor) -> torch.Tensor:
        self.refuse(tokens)
        return torch.as_tensor(self.positions(self.embedding(tokens)))

    def refuse(self, tokens: torch.Tensor) -> None:
        assert tokens.shape[1] <= self.max_length, "too long"

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.embedding.weight.mT  # type: ignore[no-any-return]


class Modern(Model):
    bias = False

    def __init__(self, vocab: int, d: int, heads: int, kv: int, d_ff: int, layers: int) -> None:
        super().__init__()
        self.output: Any = nn.Linear(d, vocab, bias=self.bias)
        self.final_norm = RMSNorm(d)
        self.blocks = nn.ModuleList([ModernBlock(d, heads, kv, d_ff) for _ in range(layers)])
        self.embedding = nn.Embedding(vocab, d)

    def begin(self, tokens: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.embedding(tokens))

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.output(x))


def made(kind: type[Model], **members: Any) -> type[Model]:
    return type(kind.__name__, (kind,), members)


def changed(kind: type[Model], change: Callable[..., Any]) -> type[Model]:
    def make(self: Any, *sizes: int) -> None:
        kind.__init__(self, *sizes)
        change(self, *sizes)

    return made(kind, __init__=make)


def aspects_of(modern: bool) -> tuple[Aspect, ...]:
    more: tuple[Aspect, ...] = ()
    if not modern:
        more = (
            also(
                "max_length kept",
                "positions",
                weight=0.5,
                meaning="The attribute max_length is the number of positions.",
            ),
            special("as many tokens as positions", "full", meaning="A text of max_length tokens is read in full."),
            refused("more tokens than positions", "refused"),
            Aspect(
                "starts with small numbers",
                ("new",),
                tags=tagged("new"),
                weight=1.5,
                meaning="A new model's logits are close to 0: no token is much more likely than another.",
            ),
        )
    return (
        parts(4.0),
        also(
            "nothing else to learn",
            "size",
            weight=5.0,
            meaning="Nothing learns but the parts that the docstring names.",
        ),
        shape(),
        values(10.0),
        gradients(),
        special("one block", "sizes", meaning="A model with a single block is right too."),
        special("axes of length one", "one", 1.0, "The result is also right when some axes have length one."),
        *more,
        modes(),
        untouched(),
    )


def _first_again(self: Any, x: torch.Tensor) -> torch.Tensor:
    for _ in self.blocks:
        x = self.blocks[0](x)
    return x


def _all_from_the_first(self: Any, x: torch.Tensor) -> torch.Tensor:
    """Each block reads the same x, and the last one wins."""
    y = x
    for block in self.blocks:
        y = block(x)
    return y


def shared_mistakes(kind: type[Model]) -> tuple[Mistake, ...]:
    """What goes wrong in either model."""
    return (
        Mistake(
            "final_norm_forgotten",
            made(kind, finish=lambda self, x: self.logits(x)),
            "The last states go to the logits as they are. Which norm comes after the blocks?",
            central=True,
        ),
        Mistake(
            "final_norm_before_the_blocks",
            made(
                kind,
                run=lambda self, x: Model.run(self, self.final_norm(x)),
                finish=lambda self, x: self.logits(x),
            ),
            "Your final_norm stands before the blocks. Where does a final norm belong?",
            central=True,
        ),
        Mistake(
            "the_last_state_alone",
            made(kind, finish=lambda self, x: Model.finish(self, x[:, -1])),
            "You return logits for the last position only. At how many positions does a language model predict?",
            central=True,
        ),
        Mistake(
            "softmax_at_the_end",
            made(kind, finish=lambda self, x: Model.finish(self, x).softmax(-1)),
            "You return probabilities. What does the docstring ask for?",
            central=True,
        ),
        Mistake(
            "states_returned",
            made(kind, logits=lambda self, x: x),
            "You return the states. What turns them into a number for each token of the vocabulary?",
            central=True,
        ),
        Mistake(
            "first_block_again_and_again",
            made(kind, run=_first_again),
            "Your first block runs again and again, and the others never. What does your loop call?",
            central=True,
        ),
        Mistake(
            "blocks_not_chained",
            made(kind, run=_all_from_the_first),
            "Every block reads the embeddings, and only the last one counts. What should a block read?",
            central=True,
        ),
        Mistake(
            "one_block_too_few",
            made(kind, run=lambda self, x: nn.Sequential(*self.blocks[:-1])(x)),
            "Your last block is never used. Where does your loop end?",
        ),
        Mistake(
            "blocks_in_a_plain_list",
            changed(kind, lambda self, *sizes: _unregister(self)),
            "Your blocks are in a plain list, where nobody finds their weights: they are neither trained nor saved. "
            "Which list of PyTorch's registers them?",
            central=True,
        ),
        Mistake(
            "one_block_object",
            changed(
                kind, lambda self, *sizes: self.add_module("blocks", nn.ModuleList([self.blocks[0]] * len(self.blocks)))
            ),
            "All your blocks are one and the same object, with one set of weights. How many objects should there be?",
            central=True,
        ),
        Mistake(
            "scaled_embeddings",
            made(kind, begin=lambda self, tokens: _scaled(kind, self, tokens)),
            "You multiply the embeddings by the root of d_model, as the first paper did. Does the docstring ask for "
            "that here?",
        ),
    )


def _unregister(self: Any) -> None:
    blocks = list(self.blocks)
    del self.blocks
    self.blocks = blocks


def _scaled(kind: type[Model], self: Any, tokens: torch.Tensor) -> torch.Tensor:
    x, d = self.embedding(tokens), self.embedding.embedding_dim
    return kind.begin(self, tokens) + (d**0.5 - 1) * x  # type: ignore[no-any-return]
