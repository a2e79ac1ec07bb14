"""Old parts and new ones in one model: what is each of them worth?"""

from dataclasses import dataclass
from typing import Any

import pandas as pd
import torch
from torch import nn

from course.attention import MultiHeadAttention
from course.blocks import FeedForward, LayerNorm, LearnedPositionalEmbedding
from course.causal import causal_mask
from course.language_model.modern import GroupedQueryAttention, RMSNorm, SwiGLU
from lessons.lesson_11.experiments.corpus import Corpus
from lessons.lesson_11.experiments.training import bits, fit, parameters


@dataclass(frozen=True)
class Parts:
    """Which parts a model is made of."""

    rms_norm: bool = False
    gate: bool = False
    rotary: bool = False
    kv_heads: int | None = None
    """Fewer than the query heads: shared. Sharing comes with rotary positions here."""


COMPARED = {
    "GPT, all old": Parts(),
    "RMSNorm": Parts(rms_norm=True),
    "SwiGLU": Parts(gate=True),
    "rotary": Parts(rotary=True),
    "rotary, keys shared": Parts(rotary=True, kv_heads=2),
    "Llama, all new": Parts(True, True, True, 2),
}
LENGTH, WIDTH, LAYERS, HEADS = 32, 64, 2, 4


class _Block(nn.Module):
    def __init__(self, parts: Parts, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__()
        norm: Any = RMSNorm if parts.rms_norm else LayerNorm
        self.norm1, self.norm2 = norm(d_model), norm(d_model)
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
        if not parts.rotary:
            self.positions = LearnedPositionalEmbedding(LENGTH, d_model)
            nn.init.normal_(self.positions.embedding.weight, std=0.02)
        self.blocks = nn.Sequential(*[_Block(parts, d_model, HEADS, d_ff) for _ in range(LAYERS)])
        self.final_norm: Any = RMSNorm(d_model) if parts.rms_norm else LayerNorm(d_model)

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
    """Each choice of parts with as many parameters as the first: after as many steps, and after as much time.

    Times on a shared machine wander, so each model's time for a step is measured again between the others', and the
    smallest counts.
    """
    torch.manual_seed(seed)
    wanted = parameters(mixed(Parts(), corpus.vocab_size))
    times: dict[str, list[float]] = {name: [] for name in COMPARED}
    for _ in range(3):
        for name, parts in COMPARED.items():
            probe = fit(mixed(parts, corpus.vocab_size, wanted), corpus, 12, length=LENGTH, batch_size=16, name=name)
            times[name].append(probe.seconds / 12)
    step = {name: min(found) for name, found in times.items()}
    rows = []
    for name, parts in COMPARED.items():
        in_time = round(steps * step["GPT, all old"] / step[name])
        for kind, count in (("steps", steps), ("time", in_time)):
            if kind == "time" and parts == Parts():
                continue
            torch.manual_seed(seed)
            model = mixed(parts, corpus.vocab_size, wanted)
            size = parameters(model)
            fit(model, corpus, count, length=LENGTH, batch_size=16, seed=seed, name=f"{name}, equal {kind}")
            rows.append(
                {
                    "parts": name,
                    "equal": kind,
                    "seed": seed,
                    "parameters": size,
                    "steps": count,
                    "milliseconds": 1000 * step[name],
                    "bits": bits(model, corpus, LENGTH),
                }
            )
    first = next(row for row in rows if row["parts"] == "GPT, all old")
    return pd.DataFrame([*rows, {**first, "equal": "time"}])
