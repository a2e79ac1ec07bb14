"""How large a model is and how it is trained, for each rung of the ladder."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn

from transformer_course.paper.model import Transformer


@dataclass(frozen=True)
class Recipe:
    """The sizes of a model, and everything that its training needs to know."""

    d_model: int
    num_layers: int
    num_heads: int
    d_ff: int
    dropout: float
    max_length: int
    """No source or target is longer, in tokens."""
    steps: int
    warmup_steps: int
    max_tokens: int
    """The most tokens in a batch, on either side, padding included."""
    smoothing: float = 0.1
    max_norm: float = 1.0
    """Gradients are scaled down to this norm; the paper doesn't clip."""
    share_embeddings: bool = False
    """One matrix for both embeddings and the output layer, as in the paper's section 3.4."""

    def build(
        self, src_vocab_size: int, tgt_vocab_size: int, *, build: Callable[..., nn.Module] = Transformer, seed: int = 0
    ) -> nn.Module:
        """A model of these sizes, of the class `build`, with its first weights drawn by
        `seed`.
        """
        torch.manual_seed(seed)
        return build(
            src_vocab_size,
            tgt_vocab_size,
            self.d_model,
            self.num_layers,
            self.num_heads,
            self.d_ff,
            self.dropout,
            self.max_length,
            **({"share_embeddings": True} if self.share_embeddings else {}),  # a class may lack the option
        )


# Multi30k on one core: between five and six minutes. Validation loss 2.2 nats per token; on the first 200 test
# sentences BLEU 22.5 and chrF 47.9, where word by word has 9.7 and 49.6. After 300 of the 1,200 steps, 80 processor
# seconds: 3.3, 12.3 and 32.9.
CPU = Recipe(
    d_model=128, num_layers=2, num_heads=4, d_ff=256, dropout=0.1, max_length=64,
    steps=1200, warmup_steps=400, max_tokens=1000,
)  # fmt: skip

# Multi30k on one GPU: an H100 or H200 takes three minutes, most of them spent waiting for Python. Validation loss 1.4;
# on the first 200 test sentences BLEU 32 to 35, depending on the seed and the card, and chrF 58.
GPU = Recipe(
    d_model=256, num_layers=3, num_heads=8, d_ff=1024, dropout=0.3, max_length=64,
    steps=3000, warmup_steps=1000, max_tokens=4096, share_embeddings=True,
)  # fmt: skip

# The paper's base model (table 3), as the paper trains it: on eight GPUs, for twelve hours (sections 5.1 to 5.3). Never
# trained here; its parameters are counted.
BASE = Recipe(
    d_model=512, num_layers=6, num_heads=8, d_ff=2048, dropout=0.1, max_length=256,
    steps=100_000, warmup_steps=4000, max_tokens=25_000, share_embeddings=True,
)  # fmt: skip
