"""The Transformer that reads a row of tokens and names its class, and a test that its padding stays unread."""

import copy

import torch
from torch import nn

from course.attention import padding_mask
from course.blocks import EncoderBlock, LayerNorm, LearnedPositionalEmbedding


class TransformerClassifier(nn.Module):
    """Tokens in, one score for each class out.

    An embedding of the tokens, learned positions, `num_layers` encoder blocks, one last norm, and a Linear layer
    that reads the vector at the last position, where the CLS token stands. Padding (id 0) is hidden from attention.
    `forward(tokens)`: integers (batch, length) with length <= max_length -> logits (batch, num_classes).

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
    """Does padding leave the model's answers as they are?

    `model` is an `nn.Module` that takes tokens (batch, length), of any length, to logits (batch, classes), and pools
    by a masked mean. `tokens` are rows padded on the right with id 0. True when neither the amount of padding
    nor its content (what the model's embedding holds for id 0) changes any logit. The table of the tokens' vectors, if
    the model has one, is `model.embedding`; a table of positions is another one.
    The model is left as it was: its mode and its parameters too.

    >>> class Counts(nn.Module):
    ...     def forward(self, tokens):
    ...         return nn.functional.one_hot(tokens, 5).sum(dim=1).float()  # column 0 counts the padding
    >>> ignores_padding(Counts(), torch.tensor([[3, 1, 0], [2, 4, 1]]))
    False
    """
    ### BEGIN SOLUTION
    rows = tokens[(tokens != 0).any(dim=1)]  # in a row of padding alone there is nothing to read
    if len(rows) == 0:
        return True
    examined = copy.deepcopy(model).eval()  # without dropout; and hooks on a copy do no harm

    def refill(layer: nn.Module, arguments: tuple[torch.Tensor], vectors: torch.Tensor) -> None:
        if torch.equal(arguments[0], rows):  # the embedding of tokens, not that of positions
            vectors[rows == 0] = torch.linspace(-1, 1, vectors.shape[-1], dtype=vectors.dtype)

    with torch.no_grad():
        alone = torch.cat([examined(row[row != 0][None]) for row in rows])  # each row without any padding
        answers = [examined(rows), examined(nn.functional.pad(rows, (0, 3)))]  # as it is, and three columns more
        for layer in examined.modules():
            if isinstance(layer, nn.Embedding):
                layer.register_forward_hook(refill)
        answers.append(examined(rows))  # with something else where padding is
    return all(torch.allclose(answer, alone, rtol=1e-4, atol=1e-5) for answer in answers)
    ### END SOLUTION
