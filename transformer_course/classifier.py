"""The Transformer that classifies a row of tokens, and a test for models that read their padding."""

import copy
from typing import Any

import torch
from torch import nn

from transformer_course.attention import padding_mask
from transformer_course.blocks import EncoderBlock, LayerNorm, LearnedPositionalEmbedding


class TransformerClassifier(nn.Module):
    """Tokens in, one score for each class out.

    An embedding of the tokens, learned positions, `num_layers` encoder blocks, a final
    norm, and a Linear layer that reads the vector at the last position, where the CLS
    token is, or else the mean of the real tokens' vectors. Padding (id 0) is hidden
    from attention.
    `forward(tokens)`: integers (batch, length) with length <= max_length -> logits
    (batch, num_classes). Name the parts as you like, and use your `EncoderBlock` for
    the blocks.

    >>> model = TransformerClassifier(
    ...     vocab_size=13, max_length=8, d_model=16, num_heads=2, d_ff=32, num_layers=2, num_classes=2
    ... )
    >>> model(torch.randint(1, 13, (5, 8))).shape
    torch.Size([5, 2])
    """

    def __init__(
        self,
        vocab_size: int,
        max_length: int,
        d_model: int,
        num_heads: int,
        d_ff: int,
        num_layers: int,
        num_classes: int,
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = LearnedPositionalEmbedding(max_length, d_model)
        self.blocks = nn.ModuleList(EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers))
        self.final_norm = LayerNorm(d_model)
        self.head = nn.Linear(d_model, num_classes)
        ### END SOLUTION

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        mask = padding_mask(tokens)  # (batch, 1, 1, length)
        x = self.positions(self.embedding(tokens))  # (batch, length, d_model)
        for block in self.blocks:
            x = block(x, mask)
        last = self.final_norm(x)[:, -1]  # (batch, d_model): the CLS token's vector
        logits: torch.Tensor = self.head(last)
        return logits
        ### END SOLUTION


def ignores_padding(model: nn.Module, tokens: torch.Tensor) -> bool:
    """Does padding leave the model's logits as they are?

    `model` is an `nn.Module` from tokens (batch, length), of any length, to logits
    (batch, classes). It is meant to pool with a masked mean. `tokens` are rows padded
    on the right with id 0; each row has at least one real token, and a row may have no
    padding at all. True when neither the amount of padding nor its content changes any
    logit of any row, beyond rounding. The content is row 0 of `model.embedding.weight`,
    the vector of id 0. (A model without `embedding` has no such vector.) The model is
    left as it was found: the same mode, the same parameters.

    >>> class Counts(nn.Module):
    ...     def forward(self, tokens):
    ...         return nn.functional.one_hot(tokens, 5).sum(dim=1).float()  # column 0 counts the padding
    >>> ignores_padding(Counts(), torch.tensor([[3, 1, 0], [2, 4, 1]]))
    False
    """
    ### BEGIN SOLUTION
    examined: Any = copy.deepcopy(model).eval()  # no dropout, and whatever happens to a copy does no harm
    with torch.no_grad():
        alone = torch.cat([examined(row[row != 0][None]) for row in tokens])  # each row without any padding
        answers = [examined(tokens), examined(nn.functional.pad(tokens, (0, 3)))]  # as it is, and three columns more
        if hasattr(examined, "embedding"):
            vector = examined.embedding.weight[0]
            vector += torch.linspace(-1, 1, len(vector), dtype=vector.dtype)
        answers.append(examined(tokens))  # with other content
    return all(torch.allclose(answer, alone, rtol=1e-4, atol=1e-5) for answer in answers)
    ### END SOLUTION
