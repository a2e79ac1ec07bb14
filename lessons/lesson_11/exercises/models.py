"""`DecoderOnlyTransformer` and `ModernLanguageModel`: what goes wrong in one of them, and variants."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from course.blocks import LayerNorm, LearnedPositionalEmbedding
from course.language_model.gpt import DecoderOnlyTransformer
from course.language_model.modern import ModernLanguageModel
from grader.authoring.spec import Case, Exercise, Mistake, Observation
from lessons.lesson_11.exercises.wholes import (
    Classic,
    Model,
    Modern,
    aspects_of,
    cases_of,
    changed,
    made,
    shared_mistakes,
)


def _refused_alone(observation: Observation, case: Case) -> Observation:
    """Of a model that should refuse, only that."""
    if "refused" in case.tags and "error" not in observation:
        return {"output": observation.get("output")}
    return observation


class _Untied(Classic):
    """A table of its own for the output."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.output = nn.Linear(sizes[2], sizes[0], bias=False)

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.output(x))


class _TiedWithBias(Classic):
    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.output = nn.Linear(sizes[2], sizes[0])
        self.output.weight = self.embedding.weight

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.output(x))


class _TiedLinear(Classic):
    """One table, held by a Linear layer as well."""

    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.output = nn.Linear(sizes[2], sizes[0], bias=False)
        self.output.weight = self.embedding.weight

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.output(x))


def _cropped(self: Any, tokens: torch.Tensor) -> Any:
    return Model.forward(self, tokens[:, -self.max_length :])


def _wrapped(self: Any, tokens: torch.Tensor) -> torch.Tensor:
    places = torch.arange(tokens.shape[1]) % self.max_length
    return self.embedding(tokens) + self.positions.embedding(places)  # type: ignore[no-any-return]


DECODER_ONLY_TRANSFORMER = Exercise(
    symbol="DecoderOnlyTransformer",
    points=3,
    cases=lambda generator: cases_of(generator, modern=False),
    references=(DecoderOnlyTransformer,),
    canonical=_refused_alone,
    called={"new": "the logits of a new model"},
    shown=lambda case: {**case.inputs["sizes"], "tokens": case.inputs["tokens"]},
    aspects=aspects_of(modern=False),
    mistakes=(
        *shared_mistakes(Classic),
        Mistake(
            "not_tied",
            _Untied,
            "Your logits come from a table of their own. With which table does the docstring compare the last states?",
            central=True,
        ),
        Mistake(
            "copied_once",
            changed(Classic, lambda self, *sizes: _own_copy(self)),
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
            made(Classic, begin=lambda self, tokens: self.refuse(tokens) or self.embedding(tokens)),
            "Your model knows which tokens it reads, but hardly where they stand. What is added to the embeddings?",
            central=True,
        ),
        Mistake(
            "large_numbers_at_first",
            made(Classic, std=1.0),
            "Your tables start as PyTorch makes them, with a standard deviation of 1, so a new model is sure of "
            "itself, and wrong. Which one does the docstring give?",
        ),
        Mistake(
            "cropped_by_itself",
            made(Classic, forward=_cropped),
            "A text that is too long is cropped without a word, so the logits don't belong to the tokens any more. "
            "What should happen in place of that?",
        ),
        Mistake(
            "positions_start_again",
            made(Classic, begin=_wrapped),
            "Beyond max_length your positions start again at 0, without a word. What should happen in place of that?",
        ),
        Mistake(
            "max_length_lost",
            changed(Classic, lambda self, *sizes: _forgetful(self)),
            "Nobody can ask your model how much it reads: it has no attribute max_length. Where do you keep it?",
        ),
    ),
    variants={
        "step by step": Classic,
        "a Linear layer with the same table": _TiedLinear,
        "blocks in a row": changed(
            Classic, lambda self, *sizes: self.add_module("blocks", nn.Sequential(*self.blocks))
        ),
        "F.linear, and one call for all blocks": made(
            Classic,
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


class _TiedModern(Modern):
    def logits(self, x: torch.Tensor) -> torch.Tensor:
        return x @ self.embedding.weight.T  # type: ignore[no-any-return]


def _share(self: Any, *sizes: int) -> None:
    self.output.weight = self.embedding.weight


class _WithPositions(Modern):
    def __init__(self, *sizes: int) -> None:
        super().__init__(*sizes)
        self.positions = LearnedPositionalEmbedding(64, sizes[1])

    def begin(self, tokens: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.positions(self.embedding(tokens)))


MODERN_LANGUAGE_MODEL = Exercise(
    symbol="ModernLanguageModel",
    points=3,
    cases=lambda generator: cases_of(generator, modern=True),
    references=(ModernLanguageModel,),
    shown=lambda case: {**case.inputs["sizes"], "tokens": case.inputs["tokens"]},
    aspects=aspects_of(modern=True),
    mistakes=(
        *shared_mistakes(Modern),
        Mistake(
            "tied",
            changed(Modern, _share),
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
            made(Modern, bias=True),
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
            changed(Modern, lambda self, vocab, d, *sizes: self.add_module("final_norm", LayerNorm(d))),
            "Your final norm is a LayerNorm. Which norm did you write in this lesson?",
            central=True,
        ),
        Mistake(
            "heads_exchanged",
            made(
                Modern,
                __init__=lambda self, vocab, d, heads, kv, d_ff, layers: Modern.__init__(
                    self, vocab, d, heads, heads, d_ff, layers
                ),
            ),
            "Your blocks have as many key heads as heads. Where is num_kv_heads handed on?",
            central=True,
        ),
    ),
    variants={
        "step by step": Modern,
        "blocks in a row": changed(Modern, lambda self, *sizes: self.add_module("blocks", nn.Sequential(*self.blocks))),
        "one call for all blocks": made(Modern, run=lambda self, x: nn.Sequential(*self.blocks)(x)),
    },
)
