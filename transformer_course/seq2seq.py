"""An encoder that reads, a decoder that writes, and the attention between them.

Source: Vaswani et al., "Attention Is All You Need", NIPS 2017, sections 3.1 and 3.2.3; pre-norm blocks.
"""

from collections.abc import Callable

import torch
from torch import nn

from transformer_course.attention import MultiHeadAttention, padding_mask
from transformer_course.blocks import EncoderBlock, FeedForward, LayerNorm, LearnedPositionalEmbedding


class CrossAttention(nn.Module):
    """The decoder looks at the encoder: queries come from the decoder, keys and values
    from the encoder.

    It computes what a `MultiHeadAttention` computes, with the same four Linear layers:
    `query`, `key`, `value` and `output`. They may belong to a MultiHeadAttention that
    you keep inside (under any name), be inherited from it, or be layers of your own
    with these names.

    `forward(decoder_states, encoder_states, encoder_mask=None)` takes
    (batch, target_length, d_model) and (batch, source_length, d_model); the mask
    broadcasts to (batch, heads, target_length, source_length). It returns
    (output, weights), of shapes (batch, target_length, d_model) and
    (batch, heads, target_length, source_length).

    >>> layer = CrossAttention(d_model=8, num_heads=2)
    >>> output, weights = layer(torch.randn(3, 4, 8), torch.randn(3, 6, 8))
    >>> output.shape, weights.shape
    (torch.Size([3, 4, 8]), torch.Size([3, 2, 4, 6]))
    """

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.attention = MultiHeadAttention(d_model, num_heads)
        ### END SOLUTION

    def forward(
        self, decoder_states: torch.Tensor, encoder_states: torch.Tensor, encoder_mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        ### BEGIN SOLUTION
        output, weights = self.attention(decoder_states, encoder_states, encoder_states, encoder_mask)
        return output, weights
        ### END SOLUTION


class DecoderBlock(nn.Module):
    """One block of the decoder: self-attention, then cross-attention to the encoder,
    then a feed-forward network.

    Each of the three steps normalises its input and adds its result to x, the residual
    stream. The parts are
    `self.self_attention` (a MultiHeadAttention) with `self.norm1`,
    `self.cross_attention` (a CrossAttention) with
    `self.norm2`, and `self.feed_forward` (a FeedForward) with `self.norm3`. The encoder
    states are used as they are, since the encoder has normalised them.

    `forward(x, encoder_states, self_mask=None, encoder_mask=None)` takes x of shape
    (batch, target_length, d_model) and encoder states of shape
    (batch, source_length, d_model). `self_mask` is for the self-attention,
    `encoder_mask` for the cross-attention. It returns the new x and nothing else, and
    leaves its arguments unchanged.

    >>> block = DecoderBlock(d_model=8, num_heads=2, d_ff=32)
    >>> block(torch.randn(3, 4, 8), torch.randn(3, 6, 8)).shape
    torch.Size([3, 4, 8])
    """

    def __init__(self, d_model: int, num_heads: int, d_ff: int) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.cross_attention = CrossAttention(d_model, num_heads)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.norm1 = LayerNorm(d_model)
        self.norm2 = LayerNorm(d_model)
        self.norm3 = LayerNorm(d_model)
        ### END SOLUTION

    def forward(
        self,
        x: torch.Tensor,
        encoder_states: torch.Tensor,
        self_mask: torch.Tensor | None = None,
        encoder_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        ### BEGIN SOLUTION
        normed = self.norm1(x)
        x = x + self.self_attention(normed, normed, normed, self_mask)[0]
        x = x + self.cross_attention(self.norm2(x), encoder_states, encoder_mask)[0]
        x = x + self.feed_forward(self.norm3(x))
        return x
        ### END SOLUTION


class Seq2SeqTransformer(nn.Module):
    """Reads a source and predicts, at each position of the target, which token comes
    next.

    On each side, tokens are embedded, positions are added, and `num_layers` blocks
    follow: EncoderBlocks in the encoder, DecoderBlocks in the decoder.
    `self.encoder_norm` and `self.decoder_norm` come after the two stacks, and a Linear
    layer turns the decoder's last states into logits. Whether the two sides share an
    embedding or a table of positions is up to you. Padding in the source (id 0) is
    hidden from the encoder's self-attention and from the cross-attention. Neither
    length exceeds max_length.

    - `encode(source)`: (batch, source_length) -> encoder states
      (batch, source_length, d_model)
    - `decode(target_input, encoder_states, source, target_mask=None)` -> logits
      (batch, target_length, vocab_size)
    - `forward(source, target_input, target_mask=None)`: encode, then decode

    The target mask goes to every decoder block; it broadcasts to
    (batch, heads, target_length, target_length). Without one, every target token sees
    all the others.

    >>> model = Seq2SeqTransformer(vocab_size=13, max_length=9, d_model=16, num_heads=2, d_ff=32, num_layers=1)
    >>> model(torch.randint(1, 13, (5, 9)), torch.randint(1, 13, (5, 4))).shape
    torch.Size([5, 4, 13])
    """

    def __init__(
        self, vocab_size: int, max_length: int, d_model: int, num_heads: int, d_ff: int, num_layers: int
    ) -> None:
        super().__init__()
        ### BEGIN SOLUTION
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.source_positions = LearnedPositionalEmbedding(max_length, d_model)
        self.target_positions = LearnedPositionalEmbedding(max_length, d_model)
        self.encoder = nn.ModuleList(EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers))
        self.decoder = nn.ModuleList(DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers))
        self.encoder_norm = LayerNorm(d_model)
        self.decoder_norm = LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size)
        ### END SOLUTION

    def encode(self, source: torch.Tensor) -> torch.Tensor:
        ### BEGIN SOLUTION
        mask = padding_mask(source)  # (batch, 1, 1, source_length)
        x = self.source_positions(self.embedding(source))  # (batch, source_length, d_model)
        for block in self.encoder:
            x = block(x, mask)
        states: torch.Tensor = self.encoder_norm(x)
        return states
        ### END SOLUTION

    def decode(
        self,
        target_input: torch.Tensor,
        encoder_states: torch.Tensor,
        source: torch.Tensor,
        target_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        ### BEGIN SOLUTION
        encoder_mask = padding_mask(source)  # (batch, 1, 1, source_length)
        x = self.target_positions(self.embedding(target_input))  # (batch, target_length, d_model)
        for block in self.decoder:
            x = block(x, encoder_states, target_mask, encoder_mask)
        logits: torch.Tensor = self.head(self.decoder_norm(x))  # (batch, target_length, vocab_size)
        return logits
        ### END SOLUTION

    def forward(
        self, source: torch.Tensor, target_input: torch.Tensor, target_mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        ### BEGIN SOLUTION
        return self.decode(target_input, self.encode(source), source, target_mask)
        ### END SOLUTION


def encoder_influence(
    model: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], source: torch.Tensor, target_input: torch.Tensor
) -> float:
    """How far the logits move when only the source changes: 0 if the model never looks
    at it, positive if it does.

    `model(source, target_input)` returns logits (batch, target_length, vocab_size); it
    may be any callable, not only an `nn.Module`. `source` and `target_input` are ids;
    id 0 is padding, and ids higher than any you see may not exist. Of all the
    differences that you find, the largest counts, whether a logit rises or falls. The
    influence must also be found in a batch of one, and when a single source token moves
    a single logit. Never pass a source that is all padding: not every model can read
    one. The model and its arguments are left unchanged.

    >>> def deaf(source, target_input):
    ...     return nn.functional.one_hot(target_input, 9).float()
    >>> encoder_influence(deaf, torch.tensor([[3, 5, 7]]), torch.tensor([[1, 4]]))
    0.0
    """
    ### BEGIN SOLUTION
    highest = max(int(source.max()), int(target_input.max()), 2)
    largest = 0.0
    with torch.no_grad():
        logits = model(source, target_input)
        for place in range(source.shape[1]):
            for step in (1, 2, 3):
                changed = source.clone()
                # Another id between 1 and the highest one we have seen; padding stays padding.
                moved = (source[:, place] - 1 + step) % highest + 1
                changed[:, place] = torch.where(source[:, place] == 0, 0, moved)
                difference = (model(changed, target_input) - logits).abs().max().item()
                largest = max(largest, difference)
    return largest
    ### END SOLUTION
