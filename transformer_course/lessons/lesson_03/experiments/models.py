"""Lesson 3's models, built of the learner's parts: one layer, the whole model with one thing changed, a mean."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from transformer_course.lessons.lesson_03.experiments.data import MAX_LENGTH, VOCAB_SIZE

# --- one attention layer, and what may stand around it


class OneLayer(nn.Module):
    """Tokens, perhaps positions, one attention layer, perhaps a feed-forward network, and a score for each class.

    The parts are the learner's modules; the score is read at the last position, where the CLS token stands.
    `forward(tokens)`: (batch, length) -> logits (batch, 2).
    """

    def __init__(
        self,
        d_model: int,
        attention: nn.Module,
        feed_forward: nn.Module | None = None,
        positions: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCAB_SIZE, d_model)
        self.positions = positions
        self.attention = attention
        self.feed_forward = feed_forward
        self.head = nn.Linear(d_model, 2)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)  # (batch, length, d_model)
        if self.positions is not None:
            x = self.positions(x)
        x = self.attention(x)[0]  # (output, weights): the weights are for looking at
        if self.feed_forward is not None:
            x = self.feed_forward(x)
        logits: torch.Tensor = self.head(x[:, -1])  # (batch, d_model) -> (batch, 2)
        return logits


# --- the whole model, with one thing changed


@dataclass(frozen=True)
class Parts:
    """The learner's classes and functions, of which every variant is built."""

    attention: type[nn.Module]  # MultiHeadAttention
    feed_forward: type[nn.Module]  # FeedForward
    positions: type[nn.Module]  # LearnedPositionalEmbedding
    norm: type[nn.Module]  # LayerNorm
    padding_mask: Any


@dataclass(frozen=True)
class Recipe:
    """Which parts a model has, and how large they are. As it stands: the complete classifier of the lesson."""

    positions: bool = True
    feed_forward: bool = True
    residual: bool = True
    norm: str = "pre"  # "pre", "post" or "none"
    d_model: int = 32
    num_heads: int = 4
    d_ff: int = 64
    num_layers: int = 2


COMPLETE = Recipe()
VARIANTS = {
    "complete": COMPLETE,
    "no positions": Recipe(positions=False),
    "no feed-forward": Recipe(feed_forward=False),
    "no residual": Recipe(residual=False),
    "no norm": Recipe(norm="none"),
    "post-norm": Recipe(norm="post"),
    "1 head": Recipe(num_heads=1),
    "2 heads": Recipe(num_heads=2),
    "8 heads": Recipe(num_heads=8),
    "1 layer": Recipe(num_layers=1),
    "width 16": Recipe(d_model=16, d_ff=32),
    "width 64": Recipe(d_model=64, d_ff=128),
}
SIX_LAYERS = {
    "pre-norm": Recipe(num_layers=6),
    "post-norm": Recipe(num_layers=6, norm="post"),
    "no norm": Recipe(num_layers=6, norm="none"),
    "pre-norm, no residual": Recipe(num_layers=6, residual=False),
    "post-norm, no residual": Recipe(num_layers=6, norm="post", residual=False),
}


class VariantBlock(nn.Module):
    """One encoder block after a recipe: a sub-layer, its norm before it or after the sum, a residual or none."""

    def __init__(self, parts: Parts, recipe: Recipe) -> None:
        super().__init__()
        self.recipe = recipe
        self.attention = parts.attention(recipe.d_model, recipe.num_heads)
        self.feed_forward = parts.feed_forward(recipe.d_model, recipe.d_ff) if recipe.feed_forward else None
        self.norm1 = parts.norm(recipe.d_model) if recipe.norm != "none" else nn.Identity()
        self.norm2 = parts.norm(recipe.d_model) if recipe.norm != "none" else nn.Identity()

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        def attend(y: torch.Tensor) -> torch.Tensor:
            output: torch.Tensor = self.attention(y, y, y, mask)[0]
            return output

        x = self._around(attend, self.norm1, x)
        return x if self.feed_forward is None else self._around(self.feed_forward, self.norm2, x)

    def _around(self, sublayer: Any, norm: nn.Module, x: torch.Tensor) -> torch.Tensor:
        before = norm(x) if self.recipe.norm == "pre" else x
        after: torch.Tensor = sublayer(before) + (x if self.recipe.residual else 0)
        return norm(after) if self.recipe.norm == "post" else after


class Variant(nn.Module):
    """The classifier after a recipe: tokens (batch, length) -> logits (batch, 2), read at the CLS token."""

    def __init__(self, parts: Parts, recipe: Recipe) -> None:
        super().__init__()
        self.padding_mask = parts.padding_mask
        self.embedding = nn.Embedding(VOCAB_SIZE, recipe.d_model)
        self.positions = parts.positions(MAX_LENGTH, recipe.d_model) if recipe.positions else nn.Identity()
        self.blocks = nn.ModuleList(VariantBlock(parts, recipe) for _ in range(recipe.num_layers))
        # A post-norm block ends in a norm already.
        self.final_norm = parts.norm(recipe.d_model) if recipe.norm == "pre" else nn.Identity()
        self.head = nn.Linear(recipe.d_model, 2)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        mask = self.padding_mask(tokens)  # (batch, 1, 1, length)
        x = self.positions(self.embedding(tokens))  # (batch, length, d_model)
        for block in self.blocks:
            x = block(x, mask)
        logits: torch.Tensor = self.head(self.final_norm(x[:, -1]))
        return logits


# --- the bug clinic: classifiers that pool by a mean


def mean_of_all(x: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """The mean over all places of a row, padding included: (batch, length, d_model) -> (batch, d_model)."""
    return x.mean(dim=1)


def mean_of_real(x: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """The mean over the places that hold a real token: (batch, length, d_model) -> (batch, d_model)."""
    real = (tokens != 0).unsqueeze(-1)  # (batch, length, 1)
    return (x * real).sum(dim=1) / real.sum(dim=1).clamp(min=1)


class MeanClassifier(nn.Module):
    """A classifier without a CLS token: it reads a mean of all vectors.

    `blocks` are encoder blocks, `norm` follows after them. `attended(tokens)`, boolean (batch, length), says which
    tokens attention may look at, and `pool(x, tokens)` takes the mean, (batch, d_model). A sound classifier leaves out
    padding in both.
    """

    def __init__(
        self,
        blocks: Iterable[nn.Module],
        positions: nn.Module,
        norm: nn.Module,
        d_model: int,
        attended: Callable[[torch.Tensor], torch.Tensor],
        pool: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = mean_of_real,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCAB_SIZE, d_model)
        self.positions = positions
        self.blocks = nn.ModuleList(blocks)
        self.final_norm = norm
        self.head = nn.Linear(d_model, 2)
        self.attended, self.pool = attended, pool

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        mask = self.attended(tokens)[:, None, None, :]  # (batch, 1, 1, length)
        x = self.positions(self.embedding(tokens))  # (batch, length, d_model)
        for block in self.blocks:
            x = block(x, mask)
        logits: torch.Tensor = self.head(self.pool(self.final_norm(x), tokens))
        return logits
