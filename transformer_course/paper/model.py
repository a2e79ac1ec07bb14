"""The encoder, the decoder, and the two together: the paper's model.

Source: Vaswani et al., "Attention Is All You Need", NIPS 2017, sections 3.1, 3.4 and 3.5.
"""

import math

import torch
from torch import nn

from transformer_course.blocks import LayerNorm
from transformer_course.paper.layers import DecoderLayer, EncoderLayer
from transformer_course.paper.masks import create_masks, create_padding_mask
from transformer_course.positions import SinusoidalPositionalEncoding


class Encoder(nn.Module):
    """Reads the source: embeddings times sqrt(d_model), plus sinusoids, dropout, then
    `num_layers` EncoderLayers.

    The parts are `self.embedding` (an nn.Embedding), `self.positions` (a
    SinusoidalPositionalEncoding), `self.dropout`, `self.layers` (an nn.ModuleList) and
    `self.final_norm`. In the paper's post-norm order each layer ends with a norm, so
    nothing follows the stack. With `norm_first=True` the layers are pre-norm, and a
    LayerNorm follows the stack.
    The embeddings start with a standard deviation of 1 / sqrt(d_model), so that after
    the scaling they are about as large as the sinusoids.
    `forward(tokens, mask=None)`: ids (batch, length) -> states
    (batch, length, d_model). The mask broadcasts to (batch, heads, length, length).

    >>> encoder = Encoder(
    ...     vocab_size=13, d_model=8, num_layers=2, num_heads=2, d_ff=32, dropout=0.1, max_length=9
    ... )
    >>> encoder(torch.tensor([[4, 7, 2]])).shape
    torch.Size([1, 3, 8])

    Source: Vaswani et al. 2017, sections 3.1, 3.4, 3.5 and 5.4.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        num_layers: int,
        num_heads: int,
        d_ff: int,
        dropout: float,
        max_length: int,
        norm_first: bool = False,
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        self.positions = SinusoidalPositionalEncoding(d_model, max_length)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(
            EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first) for _ in range(num_layers)
        )
        self.final_norm = LayerNorm(d_model) if norm_first else nn.Identity()
        ### END SOLUTION

    def forward(self, tokens: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        ### BEGIN SOLUTION
        embedded = self.embedding(tokens)  # (batch, length, d_model)
        x = self.dropout(self.positions(embedded * math.sqrt(embedded.shape[-1])))
        for layer in self.layers:
            x = layer(x, mask)
        states: torch.Tensor = self.final_norm(x)
        return states
        ### END SOLUTION


class Decoder(nn.Module):
    """Writes the target: embedded like the source, then `num_layers` DecoderLayers that
    also look at the encoder states.

    The parts have the names they have in `Encoder`, and start as they do there: the
    embeddings with a standard deviation of 1 / sqrt(d_model). As there, `norm_first=True`
    makes pre-norm layers, with a LayerNorm after the last. The encoder states go to
    every layer as they are.
    `forward(tokens, encoder_states, self_mask=None, encoder_mask=None)`: ids
    (batch, target_length) and states (batch, source_length, d_model) -> states
    (batch, target_length, d_model). They are not logits yet: `Transformer` projects.

    >>> decoder = Decoder(
    ...     vocab_size=11, d_model=8, num_layers=2, num_heads=2, d_ff=32, dropout=0.1, max_length=9
    ... )
    >>> decoder(torch.tensor([[1, 6]]), torch.randn(1, 3, 8)).shape
    torch.Size([1, 2, 8])

    Source: Vaswani et al. 2017, sections 3.1, 3.4, 3.5 and 5.4.
    """

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        num_layers: int,
        num_heads: int,
        d_ff: int,
        dropout: float,
        max_length: int,
        norm_first: bool = False,
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        self.positions = SinusoidalPositionalEncoding(d_model, max_length)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(
            DecoderLayer(d_model, num_heads, d_ff, dropout, norm_first) for _ in range(num_layers)
        )
        self.final_norm = LayerNorm(d_model) if norm_first else nn.Identity()
        ### END SOLUTION

    def forward(
        self,
        tokens: torch.Tensor,
        encoder_states: torch.Tensor,
        self_mask: torch.Tensor | None = None,
        encoder_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        ### BEGIN SOLUTION
        embedded = self.embedding(tokens)  # (batch, target_length, d_model)
        x = self.dropout(self.positions(embedded * math.sqrt(embedded.shape[-1])))
        for layer in self.layers:
            x = layer(x, encoder_states, self_mask, encoder_mask)
        states: torch.Tensor = self.final_norm(x)
        return states
        ### END SOLUTION


class Transformer(nn.Module):
    """The paper's model: an Encoder, a Decoder, and a Linear layer from states to
    logits.

    The parts are `self.encoder`, `self.decoder` and `self.output`, an nn.Linear from
    d_model to tgt_vocab_size. `create_masks` makes the masks: padding (id 0) is hidden
    on both sides, and so is the future.

    - `encode(source)`: (batch, source_length) -> states
      (batch, source_length, d_model)
    - `decode(target_input, encoder_states, source)` -> logits
      (batch, target_length, tgt_vocab_size)
    - `forward(source, target_input)`: encode, then decode

    `norm_first=True` builds pre-norm layers. `share_embeddings=True` gives both
    embeddings and the output layer one weight matrix, as in the paper's section 3.4;
    both sides then use one vocabulary. (The check runs your Transformer with the
    course's Encoder and Decoder, whose parts have the names of their docstrings.)

    >>> model = Transformer(
    ...     src_vocab_size=13, tgt_vocab_size=11, d_model=8, num_layers=2, num_heads=2, d_ff=32, dropout=0.1,
    ...     max_length=9,
    ... )
    >>> model(torch.tensor([[4, 7, 2]]), torch.tensor([[1, 6]])).shape
    torch.Size([1, 2, 11])

    Raises:
        ValueError: when embeddings are to be shared by vocabularies of different sizes.

    Source: Vaswani et al. 2017, section 3; sharing: Press and Wolf, "Using the Output
    Embedding to Improve Language Models", EACL 2017.
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
        norm_first: bool = False,
        share_embeddings: bool = False,
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        sizes = (d_model, num_layers, num_heads, d_ff, dropout, max_length, norm_first)
        self.encoder = Encoder(src_vocab_size, *sizes)
        self.decoder = Decoder(tgt_vocab_size, *sizes)
        self.output = nn.Linear(d_model, tgt_vocab_size)
        if share_embeddings:
            if src_vocab_size != tgt_vocab_size:
                raise ValueError("one vocabulary for both sides is needed to share the embeddings")
            self.decoder.embedding.weight = self.encoder.embedding.weight
            self.output.weight = self.encoder.embedding.weight
        ### END SOLUTION

    def encode(self, source: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        states: torch.Tensor = self.encoder(source, create_padding_mask(source))
        return states
        ### END SOLUTION

    def decode(self, target_input: torch.Tensor, encoder_states: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        source_mask, target_mask = create_masks(source, target_input)
        states = self.decoder(target_input, encoder_states, target_mask, source_mask)
        logits: torch.Tensor = self.output(states)  # (batch, target_length, tgt_vocab_size)
        return logits
        ### END SOLUTION

    def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        return self.decode(target_input, self.encode(source), source)
        ### END SOLUTION


def count_parameters(model: nn.Module) -> int:
    """How many numbers a model learns; a matrix that is used in several places counts
    once.

    >>> count_parameters(nn.Linear(3, 5))
    20
    """
    return sum(parameter.numel() for parameter in model.parameters())
