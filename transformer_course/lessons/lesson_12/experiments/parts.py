"""Old parts and new ones in one model: what is each of them worth?"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd
import torch
from torch import nn

from transformer_course.attention import MultiHeadAttention
from transformer_course.blocks import FeedForward, LayerNorm, LearnedPositionalEmbedding
from transformer_course.causal import causal_mask
from transformer_course.language_model.modern import GroupedQueryAttention, ModernBlock, RMSNorm, SwiGLU
from transformer_course.lessons.lesson_11.experiments import Corpus, bits, fit, parameters


@dataclass(frozen=True)
class Parts:
    """Which parts a model is made of."""

    norm: Callable[[int], nn.Module] = LayerNorm
    gate: bool = False
    rotary: bool = False
    kv_heads: int | None = None
    """Fewer than the query heads: shared. Sharing comes with rotary positions here."""
    table: bool = True
    """Whether there is a table of positions, where they aren't rotary."""


COMPARED = {
    "GPT, all old": Parts(),
    "no positions": Parts(table=False),
    "RMSNorm": Parts(norm=RMSNorm),
    "SwiGLU": Parts(gate=True),
    "rotary": Parts(rotary=True),
    "rotary, keys shared": Parts(rotary=True, kv_heads=2),
    "Llama, all new": Parts(RMSNorm, True, True, 2),
}
TIMED = {
    **{name: parts for name, parts in COMPARED.items() if parts.table},
    "PyTorch's LayerNorm": Parts(norm=nn.LayerNorm),
    "PyTorch's RMSNorm": Parts(norm=nn.RMSNorm),
}
"""Whose steps are timed: of these all but the control, and besides the GPT with the norms that come with PyTorch."""
LENGTH, WIDTH, LAYERS, HEADS = 32, 64, 2, 4


class _Block(nn.Module):
    def __init__(self, parts: Parts, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = parts.norm(d_model), parts.norm(d_model)
        self.attention: Any = (
            GroupedQueryAttention(d_model, num_heads, parts.kv_heads or num_heads)
            if parts.rotary
            else MultiHeadAttention(d_model, num_heads)
        )
        self.feed_forward: Any = SwiGLU(d_model, d_ff) if parts.gate else FeedForward(d_model, d_ff)
        self.rotary = parts.rotary

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mask, y = causal_mask(x.shape[1]), self.norm1(x)
        x = x + (self.attention(y, mask) if self.rotary else self.attention(y, y, y, mask))[0]
        return torch.as_tensor(x + self.feed_forward(self.norm2(x)))


class Mixed(nn.Module):
    """A language model of old and new parts. Output and embedding share a table in all of them."""

    def __init__(self, parts: Parts, vocab_size: int, d_ff: int, d_model: int = WIDTH) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=0.02)
        self.positions: Any = nn.Identity()
        if parts.table and not parts.rotary:
            self.positions = LearnedPositionalEmbedding(LENGTH, d_model)
            nn.init.normal_(self.positions.embedding.weight, std=0.02)
        self.blocks = nn.Sequential(*[_Block(parts, d_model, HEADS, d_ff) for _ in range(LAYERS)])
        self.final_norm = parts.norm(d_model)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.blocks(self.positions(self.embedding(tokens)))
        return self.final_norm(x) @ self.embedding.weight.T  # type: ignore[no-any-return]


def mixed(parts: Parts, vocab_size: int, wanted: int | None = None) -> Mixed:
    """A model of these parts whose feed-forward networks are as wide as `wanted` parameters allow."""
    width = 4 * WIDTH
    if wanted is not None:
        with torch.device("meta"):
            one, two = (parameters(Mixed(parts, vocab_size, d_ff)) for d_ff in (1, 2))
        width = round((wanted - one) / (two - one)) + 1
    return Mixed(parts, vocab_size, width)


def compared(corpus: Corpus, steps: int, seed: int) -> pd.DataFrame:
    """Bits per character of each choice of parts, with as many parameters as the first, in the same number of steps."""
    wanted = parameters(mixed(Parts(), corpus.vocab_size))
    rows = []
    for name, parts in COMPARED.items():
        torch.manual_seed(seed)
        model = mixed(parts, corpus.vocab_size, wanted)
        size = parameters(model)
        fit(model, corpus, steps, length=LENGTH, batch_size=16, seed=seed, name=name)
        rows.append(
            {"parts": name, "seed": seed, "parameters": size, "steps": steps, "bits": bits(model, corpus, LENGTH)}
        )
    return pd.DataFrame(rows)


def step_times(corpus: Corpus, rounds: int = 15, steps: int = 12) -> pd.DataFrame:
    """Milliseconds of processor time for a training step with each choice of parts.

    Times on a shared machine wander, so each model's is measured again and again between the others', and the smallest
    counts.
    """
    wanted = parameters(mixed(Parts(), corpus.vocab_size))
    times: dict[str, list[float]] = {name: [] for name in TIMED}
    for _ in range(rounds):
        for name, parts in TIMED.items():
            model = mixed(parts, corpus.vocab_size, wanted)
            run = fit(model, corpus, steps, length=LENGTH, batch_size=16, name=name)
            times[name].append(1000 * run.seconds / steps)
    return pd.DataFrame({"parts": list(times), "milliseconds": [min(rounds_of) for rounds_of in times.values()]})


def block_of(
    attention: type[nn.Module], feed_forward: type[nn.Module], norm: type[nn.Module]
) -> Callable[[int, int, int, int], nn.Module]:
    """The course's `ModernBlock` around somebody's own parts."""

    class Block(ModernBlock):
        def __init__(self, d_model: int, num_heads: int, num_kv_heads: int, d_ff: int) -> None:
            nn.Module.__init__(self)
            self.attention = attention(d_model, num_heads, num_kv_heads)  # type: ignore[assignment]
            self.feed_forward = feed_forward(d_model, d_ff)  # type: ignore[assignment]
            self.norm1, self.norm2 = norm(d_model), norm(d_model)  # type: ignore[assignment]

    return Block
