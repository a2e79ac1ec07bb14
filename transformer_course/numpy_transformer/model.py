"""The whole encoder-decoder Transformer, and its way back from the logits to every weight."""

import numpy as np

from transformer_course.numpy_transformer.blocks import DecoderBlock, TransformerBlock
from transformer_course.numpy_transformer.layers import Embedding, LayerNorm, Linear


class Transformer:
    """An encoder and a decoder: `forward(source, target_input)` -> logits.

    source (batch, source_length) and target_input (batch, target_length) are ids, with
    padding 0 on the right; the logits are (batch, target_length, vocab_size).

    Attributes: `source_embedding` and `target_embedding` (vocab_size, d_model);
    `source_positions` and `target_positions` (max_length, d_model), all four
    `Embedding`; `encoder_blocks`, a list of `TransformerBlock`, and `encoder_norm`;
    `decoder_blocks`, a list of `DecoderBlock`, and `decoder_norm`; and
    `output`, a `Linear` to the logits. A token enters as its embedding plus that of its
    position. Source padding is hidden from every attention that reads the source; a
    target position sees itself and what comes before it.

    `backward(gradient)`, with the gradient of the logits, sets the gradients of all
    weights. Ids have no gradient: it returns None. With float32 weights, everything
    stays float32.

    >>> model = Transformer(vocab_size=5, max_length=4, d_model=4, num_heads=2, d_ff=8, num_layers=1)
    >>> logits = model.forward(np.array([[1, 2, 3]]), np.array([[4, 3]]))
    >>> model.backward(np.ones_like(logits))
    >>> logits.shape, model.source_embedding.weight_grad.shape
    ((1, 2, 5), (5, 4))
    """

    def __init__(
        self, vocab_size: int, max_length: int, d_model: int, num_heads: int, d_ff: int, num_layers: int
    ) -> None:
        ### BEGIN SOLUTION
        self.source_embedding, self.source_positions = Embedding(vocab_size, d_model), Embedding(max_length, d_model)
        self.target_embedding, self.target_positions = Embedding(vocab_size, d_model), Embedding(max_length, d_model)
        self.encoder_blocks = [TransformerBlock(d_model, num_heads, d_ff) for _ in range(num_layers)]
        self.decoder_blocks = [DecoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)]
        self.encoder_norm, self.decoder_norm = LayerNorm(d_model), LayerNorm(d_model)
        self.output = Linear(d_model, vocab_size)
        ### END SOLUTION

    def forward(self, source: np.ndarray, target_input: np.ndarray) -> np.ndarray:
        """Ids -> logits (batch, target_length, vocab_size)."""
        ### BEGIN SOLUTION
        source_mask = (source != 0)[:, None, None, :]  # (batch, 1, 1, source_length)
        future_mask = np.tri(target_input.shape[1], dtype=bool)  # (target_length, target_length)
        states = self.source_embedding.forward(source)  # (batch, source_length, d_model)
        states = states + self.source_positions.forward(np.arange(source.shape[1]))
        for encoder_block in self.encoder_blocks:
            states = encoder_block.forward(states, source_mask)
        states = self.encoder_norm.forward(states)
        x = self.target_embedding.forward(target_input)  # (batch, target_length, d_model)
        x = x + self.target_positions.forward(np.arange(target_input.shape[1]))
        for decoder_block in self.decoder_blocks:
            x = decoder_block.forward(x, states, future_mask, source_mask)
        return self.output.forward(self.decoder_norm.forward(x))
        ### END SOLUTION

    def backward(self, gradient: np.ndarray) -> None:
        """From the logits (batch, target_length, vocab_size) back to every weight."""
        ### BEGIN SOLUTION
        gradient = self.decoder_norm.backward(self.output.backward(gradient))
        of_states = []
        for decoder_block in reversed(self.decoder_blocks):
            gradient, of_these = decoder_block.backward(gradient)
            of_states.append(of_these)
        self.target_embedding.backward(gradient)
        self.target_positions.backward(gradient.sum(axis=0))  # one row served the whole batch
        gradient = self.encoder_norm.backward(np.sum(of_states, axis=0))  # every decoder block read the states
        for encoder_block in reversed(self.encoder_blocks):
            gradient = encoder_block.backward(gradient)
        self.source_embedding.backward(gradient)
        self.source_positions.backward(gradient.sum(axis=0))
        ### END SOLUTION
