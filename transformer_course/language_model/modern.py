"""What has changed since GPT-2: the norm, the feed-forward network, the attention, and the model they make.

Sources: Zhang and Sennrich, "Root Mean Square Layer Normalization", NeurIPS 2019; Shazeer, "GLU Variants Improve
Transformer", 2020; Ainslie et al., "GQA: Training Generalized Multi-Query Transformer Models", EMNLP 2023; Touvron et
al., "LLaMA: Open and Efficient Foundation Language Models", 2023, section 2.2.
"""

import torch
from torch import nn

from transformer_course.attention import merge_heads, scaled_dot_product_attention, split_heads
from transformer_course.causal import causal_mask
from transformer_course.positions import rotary_embedding


class RMSNorm(nn.Module):
    """Divides each vector by the root of the mean of its squares, then scales each
    column by a learned number.

    `self.weight` (ones at first) is a parameter of shape (d_model,). There is no bias,
    and no mean is subtracted.
    `forward(x)`: x is (..., d_model), and so is the result: x / sqrt(mean(x ** 2) +
    eps) * weight. Each vector has its own mean. Numbers in float64 keep their precision.

    >>> RMSNorm(d_model=2)(torch.tensor([[1.0, 7.0]]))  # the mean of the squares is 25
    tensor([[0.2000, 1.4000]], grad_fn=<MulBackward0>)

    Source: Zhang and Sennrich 2019, section 4, equation 4; eps as in Llama.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        mean_square = x.square().mean(dim=-1, keepdim=True)  # (..., 1)
        return x / torch.sqrt(mean_square + self.eps) * self.weight
        ### END SOLUTION


class SwiGLU(nn.Module):
    """A feed-forward network with a gate: one half decides how much of the other half
    passes.

    Three Linear layers without bias: `self.gate` and `self.up` from d_model to d_ff,
    and `self.down` back.
    `forward(x)`: (..., d_model) -> (..., d_model): down(silu(gate(x)) * up(x)), where
    silu(z) = z * sigmoid(z) is applied to each number.

    >>> SwiGLU(d_model=8, d_ff=20)(torch.randn(2, 5, 8)).shape
    torch.Size([2, 5, 8])

    Source: Shazeer 2020, section 2, equation 6.
    """

    def __init__(self, d_model: int, d_ff: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.gate = nn.Linear(d_model, d_ff, bias=False)
        self.up = nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        hidden = nn.functional.silu(self.gate(x)) * self.up(x)  # (..., d_ff)
        output: torch.Tensor = self.down(hidden)  # (..., d_model)
        return output
        ### END SOLUTION


def share_heads(heads: torch.Tensor, num_heads: int) -> torch.Tensor:
    """Gives each query head the key head, or the value head, of its group.

    `heads` is (batch, num_kv_heads, length, d_head). Neighbouring query heads form a
    group of num_heads / num_kv_heads: the query heads h * group to (h + 1) * group - 1
    all get head h. Returns (batch, num_heads, length, d_head).

    >>> two = torch.tensor([5.0, 7.0]).reshape(1, 2, 1, 1)  # two heads, one token, d_head = 1
    >>> share_heads(two, num_heads=6).flatten()
    tensor([5., 5., 5., 7., 7., 7.])

    Raises:
        ValueError: when num_heads is not a multiple of num_kv_heads.

    Source: Ainslie et al. 2023, section 2.2.
    """
    ### BEGIN SOLUTION
    num_kv_heads = heads.shape[1]
    if num_heads % num_kv_heads != 0:
        raise ValueError(f"{num_heads} query heads can't share {num_kv_heads} key heads in groups of one size")
    return heads.repeat_interleave(num_heads // num_kv_heads, dim=1)
    ### END SOLUTION


class GroupedQueryAttention(nn.Module):
    """Self-attention in which several query heads share a key head and a value head,
    with rotary positions.

    Four Linear layers without bias. `self.query` and `self.output` go from d_model to
    d_model; `self.key` and `self.value` from d_model to num_kv_heads * d_head, where
    d_head is d_model / num_heads. Query heads share them in groups, as `share_heads`
    says.

    `forward(x, mask=None)`: x is (batch, length, d_model), with positions 0 to
    length - 1. Queries and keys, not values, are rotated head by head with
    `rotary_embedding` (lesson 6, with its usual base). The mask broadcasts to
    (batch, heads, length, length), and a row of it that allows nothing still gives
    finite numbers. Nothing is kept from one call to the next. Returns
    (output, weights), (batch, length, d_model) and
    (batch, num_heads, length, length).

    >>> layer = GroupedQueryAttention(d_model=16, num_heads=4, num_kv_heads=2)
    >>> output, weights = layer(torch.randn(3, 5, 16))
    >>> output.shape, weights.shape, layer.key.weight.shape
    (torch.Size([3, 5, 16]), torch.Size([3, 4, 5, 5]), torch.Size([8, 16]))

    Source: Ainslie et al. 2023, section 2.2; Su et al. 2021 (rotary positions).
    """

    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        d_head = d_model // num_heads
        self.num_heads, self.num_kv_heads = num_heads, num_kv_heads
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.value = nn.Linear(d_model, num_kv_heads * d_head, bias=False)
        self.output = nn.Linear(d_model, d_model, bias=False)
        ### END SOLUTION

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        ### BEGIN SOLUTION
        positions = torch.arange(x.shape[1], device=x.device)  # (length,)
        query = rotary_embedding(
            split_heads(self.query(x), self.num_heads), positions
        )  # (batch, heads, length, d_head)
        key = rotary_embedding(split_heads(self.key(x), self.num_kv_heads), positions)  # (batch, kv heads, ...)
        value = split_heads(self.value(x), self.num_kv_heads)
        key, value = share_heads(key, self.num_heads), share_heads(value, self.num_heads)  # (batch, heads, ...)
        heads, weights = scaled_dot_product_attention(query, key, value, mask)
        return self.output(merge_heads(heads)), weights
        ### END SOLUTION


class ModernBlock(nn.Module):
    """A block of today's models: pre-norm, with the parts of this lesson, and no token
    sees a later one.

    x = x + attention(norm1(x)), then x = x + feed_forward(norm2(x)). The parts are
    `self.attention` (a GroupedQueryAttention), `self.feed_forward` (a SwiGLU),
    `self.norm1` and `self.norm2` (RMSNorms). The block makes the causal mask itself.
    `forward(x)`: (batch, length, d_model) -> (batch, length, d_model).

    >>> block = ModernBlock(d_model=16, num_heads=4, num_kv_heads=2, d_ff=40)
    >>> x = torch.randn(3, 5, 16)
    >>> torch.allclose(block(x)[:, :2], block(x[:, :2]), atol=1e-6)  # what comes later doesn't matter
    True

    Source: Touvron et al. 2023, section 2.2.
    """

    def __init__(self, d_model: int, num_heads: int, num_kv_heads: int, d_ff: int) -> None:
        super().__init__()
        self.attention = GroupedQueryAttention(d_model, num_heads, num_kv_heads)
        self.feed_forward = SwiGLU(d_model, d_ff)
        self.norm1 = RMSNorm(d_model)
        self.norm2 = RMSNorm(d_model)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mask = causal_mask(x.shape[1]).to(x.device)  # (length, length)
        x = x + self.attention(self.norm1(x), mask)[0]
        x = x + self.feed_forward(self.norm2(x))
        return x


class ModernLanguageModel(nn.Module):
    """A Llama: it reads a text of any length and predicts, at each position, which
    token comes next.

    - `self.embedding`, an `nn.Embedding` with vocab_size rows of d_model numbers, used
      as they are
    - `self.blocks`, an `nn.ModuleList` of `num_layers` ModernBlocks
    - `self.final_norm`, an RMSNorm after the last block
    - `self.output`, a Linear layer without bias from d_model to vocab_size, with a
      matrix of its own

    There is no table of positions: the attention of each block knows them.
    `forward(tokens)`: (batch, length) -> logits (batch, length, vocab_size).

    >>> model = ModernLanguageModel(13, d_model=16, num_heads=4, num_kv_heads=2, d_ff=40, num_layers=1)
    >>> model(torch.randint(13, (5, 9))).shape
    torch.Size([5, 9, 13])

    Source: Touvron et al. 2023, section 2.2.
    """

    def __init__(
        self, vocab_size: int, d_model: int, num_heads: int, num_kv_heads: int, d_ff: int, num_layers: int
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.blocks = nn.ModuleList(ModernBlock(d_model, num_heads, num_kv_heads, d_ff) for _ in range(num_layers))
        self.final_norm = RMSNorm(d_model)
        self.output = nn.Linear(d_model, vocab_size, bias=False)
        ### END SOLUTION

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        x = self.embedding(tokens)  # (batch, length, d_model)
        for block in self.blocks:
            x = block(x)
        logits: torch.Tensor = self.output(self.final_norm(x))  # (batch, length, vocab_size)
        return logits
        ### END SOLUTION
