"""`DecoderOnlyTransformer` and `ModernLanguageModel`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from course.blocks import LayerNorm, LearnedPositionalEmbedding
from course.language_model.gpt import DecoderOnlyBlock, DecoderOnlyTransformer
from course.language_model.modern import ModernBlock, ModernLanguageModel, RMSNorm
from grader.authoring import draw
from grader.authoring.aspects import USUAL, also, gradients, modes, parts, refused, shape, special, untouched, values
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, Observation, tagged
from lessons import drawing
from lessons.drawing import Inputs
from lessons.lesson_11.exercises.blocks import classic_weights, modern_weights


def _cases(generator: np.random.Generator, modern: bool) -> list[Case]:
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


def _refused_alone(observation: Observation, case: Case) -> Observation:
    """Of a model that should refuse, only that."""
    if "refused" in case.tags and "error" not in observation:
        return {"output": observation.get("output")}
    return observation


class _Model(nn.Module):
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


class _Classic(_Model):
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


class _Modern(_Model):
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


def _made(kind: type[_Model], **members: Any) -> type[_Model]:
    return type(kind.__name__, (kind,), members)


def _changed(kind: type[_Model], change: Callable[..., Any]) -> type[_Model]:
    def make(self: Any, *sizes: int) -> None:
        kind.__init__(self, *sizes)
        change(self, *sizes)

    return _made(kind, __init__=make)


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


def _shared(kind: type[_Model]) -> tuple[Mistake, ...]:
    """What goes wrong in either model."""
    return (
        Mistake(
            "final_norm_forgotten",
            _made(kind, finish=lambda self, x: self.logits(x)),
            "The last states go to the logits as they are. Which norm comes after the blocks?",
            central=True,
        ),
        Mistake(
            "final_norm_before_the_blocks",
            _made(
                kind,
                run=lambda self, x: _Model.run(self, self.final_norm(x)),
                finish=lambda self, x: self.logits(x),
            ),
            "Your final_norm stands before the blocks. Where does a final norm belong?",
            central=True,
        ),
        Mistake(
            "the_last_state_alone",
            _made(kind, finish=lambda self, x: _Model.finish(self, x[:, -1])),
            "You return logits for the last position only. At how many positions does a language model predict?",
            central=True,
        ),
        Mistake(
            "softmax_at_the_end",
            _made(kind, finish=lambda self, x: _Model.finish(self, x).softmax(-1)),
            "You return probabilities. What does the docstring ask for?",
            central=True,
        ),
        Mistake(
            "states_returned",
            _made(kind, logits=lambda self, x: x),
            "You return the states. What turns them into a number for each token of the vocabulary?",
            central=True,
        ),
        Mistake(
            "first_block_again_and_again",
            _made(kind, run=_first_again),
            "Your first block runs again and again, and the others never. What does your loop call?",
            central=True,
        ),
        Mistake(
            "blocks_not_chained",
            _made(kind, run=_all_from_the_first),
            "Every block reads the embeddings, and only the last one counts. What should a block read?",
            central=True,
        ),
        Mistake(
            "one_block_too_few",
            _made(kind, run=lambda self, x: nn.Sequential(*self.blocks[:-1])(x)),
            "Your last block is never used. Where does your loop end?",
        ),
        Mistake(
            "blocks_in_a_plain_list",
            _changed(kind, lambda self, *sizes: _unregister(self)),
            "Your blocks are in a plain list, where nobody finds their weights: they are neither trained nor saved. "
            "Which list of PyTorch's registers them?",
            central=True,
        ),
        Mistake(
            "one_block_object",
            _changed(
                kind, lambda self, *sizes: self.add_module("blocks", nn.ModuleList([self.blocks[0]] * len(self.blocks)))
            ),
            "All your blocks are one and the same object, with one set of weights. How many objects should there be?",
            central=True,
        ),
        Mistake(
            "scaled_embeddings",
            _made(kind, begin=lambda self, tokens: _scaled(kind, self, tokens)),
            "You multiply the embeddings by the root of d_model, as the first paper did. Does the docstring ask for "
            "that here?",
        ),
    )


def _unregister(self: Any) -> None:
    blocks = list(self.blocks)
    del self.blocks
    self.blocks = blocks


def _scaled(kind: type[_Model], self: Any, tokens: torch.Tensor) -> torch.Tensor:
    x, d = self.embedding(tokens), self.embedding.embedding_dim
    return kind.begin(self, tokens) + (d**0.5 - 1) * x  # type: ignore[no-any-return]


class _Untied(_Classic):
    """A table of its own for the output."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.output = nn.Linear(sizes[2], sizes[0], bias=False)

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.output(x))


class _TiedWithBias(_Classic):
    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.output = nn.Linear(sizes[2], sizes[0])
        self.output.weight = self.embedding.weight

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.output(x))


class _TiedLinear(_Classic):
    """One table, held by a Linear layer as well."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.output = nn.Linear(sizes[2], sizes[0], bias=False)
        self.output.weight = self.embedding.weight

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.output(x))


def _cropped(self: Any, tokens: torch.Tensor) -> Any:
    return _Model.forward(self, tokens[:, -self.max_length :])


def _wrapped(self: Any, tokens: torch.Tensor) -> torch.Tensor:
    places = torch.arange(tokens.shape[1]) % self.max_length
    return self.embedding(tokens) + self.positions.embedding(places)  # type: ignore[no-any-return]


def _aspects(modern: bool) -> tuple[Aspect, ...]:
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


DECODER_ONLY_TRANSFORMER = Exercise(
    symbol="DecoderOnlyTransformer",
    points=3,
    cases=lambda generator: _cases(generator, modern=False),
    references=(DecoderOnlyTransformer,),
    canonical=_refused_alone,
    called={"new": "the logits of a new model"},
    shown=lambda case: {**case.inputs["sizes"], "tokens": case.inputs["tokens"]},
    aspects=_aspects(modern=False),
    mistakes=(
        *_shared(_Classic),
        Mistake(
            "not_tied",
            _Untied,
            "Your logits come from a table of their own. With which table does the docstring compare the last states?",
            central=True,
        ),
        Mistake(
            "copied_once",
            _changed(_Classic, lambda self, *sizes: _own_copy(self)),
            "Your output layer began as a copy of the embedding, and nobody will ever train it. What makes two layers "
            "share one table?",
            central=True,
        ),
        Mistake(
            "a_bias_for_the_logits",
            _TiedWithBias,
            "Your logits have a bias. What does the docstring say about it?",
        ),
        Mistake(
            "positions_forgotten",
            _made(_Classic, begin=lambda self, tokens: self.refuse(tokens) or self.embedding(tokens)),
            "Your model knows which tokens it reads, but hardly where they stand. What is added to the embeddings?",
            central=True,
        ),
        Mistake(
            "large_numbers_at_first",
            _made(_Classic, std=1.0),
            "Your tables start as PyTorch makes them, with a standard deviation of 1, so a new model is sure of "
            "itself, and wrong. Which one does the docstring give?",
        ),
        Mistake(
            "cropped_by_itself",
            _made(_Classic, forward=_cropped),
            "A text that is too long is cropped without a word, so the logits don't belong to the tokens any more. "
            "What should happen in place of that?",
        ),
        Mistake(
            "positions_start_again",
            _made(_Classic, begin=_wrapped),
            "Beyond max_length your positions start again at 0, without a word. What should happen in place of that?",
        ),
        Mistake(
            "max_length_lost",
            _changed(_Classic, lambda self, *sizes: _forgetful(self)),
            "Nobody can ask your model how much it reads: it has no attribute max_length. Where do you keep it?",
        ),
    ),
    variants={
        "step by step": _Classic,
        "a Linear layer with the same table": _TiedLinear,
        "blocks in a row": _changed(
            _Classic, lambda self, *sizes: self.add_module("blocks", nn.Sequential(*self.blocks))
        ),
        "F.linear, and one call for all blocks": _made(
            _Classic,
            run=lambda self, x: nn.Sequential(*self.blocks)(x),
            logits=lambda self, x: nn.functional.linear(x, self.embedding.weight),
        ),
    },
)


def _own_copy(self: Any) -> None:
    """The output layer holds a copy of the table, and not as a parameter."""
    self.register_buffer("table", torch.zeros_like(self.embedding.weight))
    self.table.copy_(self.embedding.weight.detach())
    self.logits = lambda x: x @ self.table.T


def _forgetful(self: Any) -> None:
    longest = self.max_length
    del self.max_length

    def refuse(tokens: torch.Tensor) -> None:
        if tokens.shape[1] > longest:
            raise ValueError("too long")

    self.refuse = refuse


class _TiedModern(_Modern):
    def logits(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.embedding.weight.T  # type: ignore[no-any-return]


def _share(self: Any, *sizes: int) -> None:
    self.output.weight = self.embedding.weight


class _WithPositions(_Modern):
    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.positions = LearnedPositionalEmbedding(64, sizes[1])

    def begin(self, tokens: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.positions(self.embedding(tokens)))


MODERN_LANGUAGE_MODEL = Exercise(
    symbol="ModernLanguageModel",
    points=3,
    cases=lambda generator: _cases(generator, modern=True),
    references=(ModernLanguageModel,),
    shown=lambda case: {**case.inputs["sizes"], "tokens": case.inputs["tokens"]},
    aspects=_aspects(modern=True),
    mistakes=(
        *_shared(_Modern),
        Mistake(
            "tied",
            _changed(_Modern, _share),
            "Your output layer shares the embedding's table. What does the docstring ask for in this model?",
            central=True,
        ),
        Mistake(
            "output_never_used",
            _TiedModern,
            "Your logits come from the embedding's table, and the output layer has nothing to do. Which of the two "
            "makes the logits here?",
            central=True,
        ),
        Mistake(
            "with_bias",
            _made(_Modern, bias=True),
            "Your output layer has a bias. Which argument switches it off?",
        ),
        Mistake(
            "a_table_of_positions",
            _WithPositions,
            "You add a table of positions. Which part of the blocks knows the positions already?",
            central=True,
        ),
        Mistake(
            "a_layer_norm_at_the_end",
            _changed(_Modern, lambda self, vocab, d, *sizes: self.add_module("final_norm", LayerNorm(d))),
            "Your final norm is a LayerNorm. Which norm did you write in this lesson?",
            central=True,
        ),
        Mistake(
            "heads_exchanged",
            _made(
                _Modern,
                __init__=lambda self, vocab, d, heads, kv, d_ff, layers: _Modern.__init__(
                    self, vocab, d, heads, heads, d_ff, layers
                ),
            ),
            "Your blocks have as many key heads as heads. Where is num_kv_heads handed on?",
            central=True,
        ),
    ),
    variants={
        "step by step": _Modern,
        "blocks in a row": _changed(
            _Modern, lambda self, *sizes: self.add_module("blocks", nn.Sequential(*self.blocks))
        ),
        "one call for all blocks": _made(_Modern, run=lambda self, x: nn.Sequential(*self.blocks)(x)),
    },
)
