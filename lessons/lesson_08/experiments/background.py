"""What came before: a recurrent translator on the same tasks, and what its path from word to word costs."""

from collections.abc import Sequence

import pandas as pd
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence

from course.attention import SelfAttention
from course.timing import median_seconds


class GruTranslator(nn.Module):
    """An encoder-decoder of GRUs: all that the decoder learns of the source is the encoder's last state.

    The arguments are those of the Transformer, so that one recipe trains both; `num_heads` and `d_ff` mean nothing
    here. `forward(source, target_input)` -> logits (batch, target_length, tgt_vocab_size).

    Source: Sutskever, Vinyals and Le, "Sequence to Sequence Learning with Neural Networks", NIPS 2014; Cho et al.,
    "Learning Phrase Representations using RNN Encoder-Decoder", EMNLP 2014.
    """

    def __init__(
        self,
        src_vocab_size: int,
        tgt_vocab_size: int,
        d_model: int,
        num_layers: int,
        num_heads: int,
        d_ff: int,
        dropout: float,
        max_length: int,
    ) -> None:
        super().__init__()
        self.source_embedding = nn.Embedding(src_vocab_size, d_model)
        self.target_embedding = nn.Embedding(tgt_vocab_size, d_model)
        between = dropout if num_layers > 1 else 0.0
        self.reader = nn.GRU(d_model, d_model, num_layers, batch_first=True, dropout=between)
        self.writer = nn.GRU(d_model, d_model, num_layers, batch_first=True, dropout=between)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(d_model, tgt_vocab_size)

    def encode(self, source: torch.Tensor) -> torch.Tensor:
        """The reader's state after the last real token: (batch, num_layers, d_model)."""
        embedded = self.dropout(self.source_embedding(source))
        lengths = (source != 0).sum(dim=1).cpu()
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        last: torch.Tensor = self.reader(packed)[1]  # (num_layers, batch, d_model)
        return last.transpose(0, 1)

    def decode(self, target_input: torch.Tensor, encoder_states: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        """The logits (batch, target_length, tgt_vocab_size); the source itself is never looked at again."""
        start = encoder_states.transpose(0, 1).contiguous()  # (num_layers, batch, d_model)
        states, _ = self.writer(self.dropout(self.target_embedding(target_input)), start)
        logits: torch.Tensor = self.output(self.dropout(states))
        return logits

    def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        return self.decode(target_input, self.encode(source), source)


def complexity_table(n: int, d: int, kernel: int = 3) -> pd.DataFrame:
    """The paper's table 1 in numbers, for `n` tokens of width `d`: multiplications, steps that must wait for each
    other, and the longest path between two tokens.

    >>> complexity_table(n=50, d=512)[["layer", "steps in sequence", "longest path"]]
                    layer  steps in sequence  longest path
    0      self-attention                  1             1
    1           recurrent                 50            50
    2  convolution, k = 3                  1            25
    """
    return pd.DataFrame(
        {
            "layer": ["self-attention", "recurrent", f"convolution, k = {kernel}"],
            "multiplications": [n * n * d, n * d * d, kernel * n * d * d],
            "steps in sequence": [1, n, 1],
            # Without dilation a stack of convolutions moves k - 1 places per layer.
            "longest path": [1, n, -(-n // (kernel - 1))],
        }
    )


def layer_seconds(lengths: Sequence[int], d_model: int = 128, batch: int = 8, repeats: int = 5) -> pd.DataFrame:
    """How long one layer takes, forwards and backwards, for each length: a row each, in milliseconds.

    The parts that both have are left out of neither: attention has its three projections, the GRU its gates.
    """
    torch.manual_seed(0)
    attention, recurrent = SelfAttention(d_model), nn.GRU(d_model, d_model, batch_first=True)
    convolution = nn.Conv1d(d_model, d_model, 3, padding=1)
    rows = []
    for length in lengths:
        x = torch.randn(batch, length, d_model)

        def once(layer: nn.Module, x: torch.Tensor) -> None:
            result = layer(x)
            (result[0] if isinstance(result, tuple) else result).sum().backward()

        rows.append(
            {
                "length": length,
                "self-attention": 1000 * median_seconds(once, attention, x, repeats=repeats),
                "recurrent (GRU)": 1000 * median_seconds(once, recurrent, x, repeats=repeats),
                "convolution": 1000 * median_seconds(once, convolution, x.transpose(1, 2), repeats=repeats),
            }
        )
    return pd.DataFrame(rows)


def influence_by_distance(distances: Sequence[int], d_model: int = 64, layers: int = 5, seed: int = 0) -> pd.DataFrame:
    """How much the last output of a fresh layer depends on the token that is so many places before it.

    The size of the gradient of the last output on that token, divided by the size of its gradient on the last token;
    the mean over some fresh layers, drawn by `seed`.
    """
    rows = []
    for distance in distances:
        found = {"self-attention": 0.0, "recurrent (GRU)": 0.0}
        for place in range(layers):
            torch.manual_seed(seed * layers + place)
            for name, layer in (
                ("self-attention", SelfAttention(d_model)),
                ("recurrent (GRU)", nn.GRU(d_model, d_model, batch_first=True)),
            ):
                x = torch.randn(1, distance + 1, d_model, requires_grad=True)
                last = layer(x)[0][0, -1]  # (d_model,)
                (slopes,) = torch.autograd.grad(last @ torch.randn(d_model), x)
                found[name] += float(slopes[0, 0].norm() / slopes[0, -1].norm()) / layers
        rows.append({"distance": distance, **found})
    return pd.DataFrame(rows)


def as_convolutions(feed_forward: nn.Module) -> nn.Sequential:
    """The same feed-forward network as two convolutions with kernels of size 1: (batch, d_model, length) in and out.

    `feed_forward` has the layers `linear_in` and `linear_out`. Dropout is left out.
    """
    linear_in, linear_out = feed_forward.get_submodule("linear_in"), feed_forward.get_submodule("linear_out")
    assert isinstance(linear_in, nn.Linear)
    assert isinstance(linear_out, nn.Linear)
    layers = []
    for linear in (linear_in, linear_out):
        convolution = nn.Conv1d(linear.in_features, linear.out_features, kernel_size=1)
        with torch.no_grad():
            convolution.weight.copy_(linear.weight.unsqueeze(-1))  # (out, in) -> (out, in, 1)
            convolution.bias.copy_(linear.bias)  # type: ignore[union-attr]
        layers.append(convolution)
    return nn.Sequential(layers[0], nn.ReLU(), layers[1])
