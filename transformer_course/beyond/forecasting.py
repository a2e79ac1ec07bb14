"""The encoder reads a series, one value a token, and says how it goes on."""

import torch
from torch import nn

from transformer_course.blocks import EncoderBlock, LayerNorm, LearnedPositionalEmbedding


class Forecaster(nn.Module):
    """The last `input_length` values in, the next `horizon` values out, all at once.

    Each value is a token: a Linear layer turns one number into d_model numbers. Then
    come learned positions, `num_layers` encoder blocks, a final norm, and a Linear
    layer that reads all positions together (flattened) or some of them. Use the
    `EncoderBlock` of lesson 3; name the parts as you like.
    `forward(x)`: (batch, input_length) -> (batch, horizon), any real numbers. There is
    no mask: all the values are past.

    >>> model = Forecaster(input_length=24, horizon=12, d_model=16, num_heads=2, d_ff=32, num_layers=1)
    >>> model(torch.randn(5, 24)).shape
    torch.Size([5, 12])
    """

    def __init__(
        self, input_length: int, horizon: int, d_model: int, num_heads: int, d_ff: int, num_layers: int
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Linear(1, d_model)
        self.positions = LearnedPositionalEmbedding(input_length, d_model)
        self.blocks = nn.ModuleList(EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers))
        self.final_norm = LayerNorm(d_model)
        self.head = nn.Linear(input_length * d_model, horizon)
        ### END SOLUTION

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        x = self.positions(self.embedding(x.unsqueeze(-1)))  # (batch, input_length, d_model)
        for block in self.blocks:
            x = block(x)
        forecast: torch.Tensor = self.head(self.final_norm(x).flatten(1))  # (batch, horizon)
        return forecast
        ### END SOLUTION
