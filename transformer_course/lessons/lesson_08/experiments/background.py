"""What came before: a recurrent translator on the same tasks, and what its path from word to word costs."""

from collections.abc import Sequence

import pandas as pd
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from transformer_course.attention import SelfAttention
from transformer_course.timing import median_seconds


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
        return self.read(source)[1]

    def read(self, source: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The reader's state after each token (batch, source_length, d_model), and after the last real one."""
        embedded = self.dropout(self.source_embedding(source))
        lengths = (source != 0).sum(dim=1).cpu()
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        states, last = self.reader(packed)  # packed; (num_layers, batch, d_model)
        unpacked, _ = pad_packed_sequence(states, batch_first=True, total_length=source.shape[1])
        return unpacked, last.transpose(0, 1)

    def decode(self, target_input: torch.Tensor, encoder_states: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        """The logits (batch, target_length, tgt_vocab_size); the source itself is never looked at again."""
        start = encoder_states.transpose(0, 1).contiguous()  # (num_layers, batch, d_model)
        states, _ = self.writer(self.dropout(self.target_embedding(target_input)), start)
        logits: torch.Tensor = self.output(self.dropout(states))
        return logits

    def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        return self.decode(target_input, self.encode(source), source)


class GruWithAttention(GruTranslator):
    """The same, but at every step the decoder also looks at all of the encoder's states, as translators did from 2014.

    After its GRU the writer compares its state with each of the reader's, and adds their weighted mean to what it
    knows. This is the shorter form of Luong and others (2015); Bahdanau and others (2014) look *before* the GRU's step.

    Sources: Bahdanau, Cho and Bengio, "Neural Machine Translation by Jointly Learning to Align and Translate", ICLR
    2015; Luong, Pham and Manning, "Effective Approaches to Attention-based Neural Machine Translation", EMNLP 2015.
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
        super().__init__(src_vocab_size, tgt_vocab_size, d_model, num_layers, num_heads, d_ff, dropout, max_length)
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.joined = nn.Linear(2 * d_model, d_model)

    def encode(self, source: torch.Tensor) -> torch.Tensor:
        """All of the reader's states, then the last ones: (batch, source_length + num_layers, d_model)."""
        states, last = self.read(source)
        return torch.cat([states, last], dim=1)

    def decode(self, target_input: torch.Tensor, encoder_states: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        length = source.shape[1]
        states, last = encoder_states[:, :length], encoder_states[:, length:]
        written, _ = self.writer(
            self.dropout(self.target_embedding(target_input)), last.transpose(0, 1).contiguous()
        )  # (batch, target_length, d_model)
        scores = self.query(written) @ states.transpose(1, 2)  # (batch, target_length, source_length)
        scores = scores.masked_fill((source == 0)[:, None], -torch.inf)
        seen = torch.softmax(scores, dim=-1) @ states
        logits: torch.Tensor = self.output(self.dropout(torch.tanh(self.joined(torch.cat([written, seen], dim=-1)))))
        return logits


def complexity_table(n: int, d: int, kernel: int = 3) -> pd.DataFrame:
    """The paper's table 1 in numbers, for `n` tokens of width `d`: multiplications as the paper counts them and all of
    them, steps that must wait for each other, and the longest path between two tokens.

    "All of them" are the multiplications in matrix products. Self-attention has four of n d d (query, key, value,
    output) beside the two of n n d, a plain recurrent layer two of n d d (the input's and the state's), and a GRU
    three of each of these.

    >>> complexity_table(n=50, d=512)[["layer", "steps in sequence", "longest path"]]
                    layer  steps in sequence  longest path
    0      self-attention                  1             1
    1    recurrent, plain                 50            50
    2      recurrent, GRU                 50            50
    3  convolution, k = 3                  1            25
    """
    return pd.DataFrame(
        {
            "layer": ["self-attention", "recurrent, plain", "recurrent, GRU", f"convolution, k = {kernel}"],
            "as the paper counts": [n * n * d, n * d * d, n * d * d, kernel * n * d * d],
            "all multiplications": [
                4 * n * d * d + 2 * n * n * d,
                2 * n * d * d,
                6 * n * d * d,
                kernel * n * d * d,
            ],
            "steps in sequence": [1, n, n, 1],
            # Without dilation a stack of convolutions moves k - 1 places per layer.
            "longest path": [1, n, n, -(-n // (kernel - 1))],
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


def influence_by_distance(
    distances: Sequence[int], length: int = 21, d_model: int = 64, layers: int = 20, seed: int = 0
) -> pd.DataFrame:
    """How much the last output of a fresh layer depends on the token that is so many places before it.

    All rows have the same `length`, so that nothing but the distance differs. The size of the gradient of the last
    output on that token, divided by the size of its gradient on the last token; the mean over some fresh layers, drawn
    by `seed`.
    """
    ratios = {name: torch.zeros(len(distances)) for name in ("self-attention", "recurrent (GRU)")}
    for place in range(layers):
        torch.manual_seed(seed * layers + place)
        for name, layer in (
            ("self-attention", SelfAttention(d_model)),
            ("recurrent (GRU)", nn.GRU(d_model, d_model, batch_first=True)),
        ):
            x = torch.randn(1, length, d_model, requires_grad=True)
            last = layer(x)[0][0, -1]  # (d_model,)
            (slopes,) = torch.autograd.grad(last @ torch.randn(d_model), x)
            sizes = slopes[0].norm(dim=-1)  # (length,)
            ratios[name] += torch.stack([sizes[length - 1 - distance] / sizes[-1] for distance in distances]) / layers
    return pd.DataFrame({"distance": distances, **{name: values.tolist() for name, values in ratios.items()}})
