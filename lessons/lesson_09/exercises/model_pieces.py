"""`Transformer` in pieces, which mistakes replace."""

from __future__ import annotations

from typing import Any

import numpy as np

from course.numpy_transformer.model import Transformer


class Pieces(Transformer):
    """The same in pieces that mistakes replace."""

    def source_mask(self, source: np.ndarray) -> Any:
        return (source != 0)[:, None, None, :]

    def future_mask(self, length: int) -> Any:
        return np.tri(length, dtype=bool)

    def positions(self, table: Any, length: int) -> Any:
        return table.forward(np.arange(length))

    def encoded(self, states: np.ndarray) -> Any:
        return self.encoder_norm.forward(states)

    def decoded(self, x: np.ndarray) -> Any:
        return self.decoder_norm.forward(x)

    def run(self, x: Any, states: Any, future: Any, hidden: Any) -> Any:
        for block in self.decoder_blocks:
            x = block.forward(x, states, future, hidden)
        return x

    def forward(self, source: np.ndarray, target_input: np.ndarray) -> Any:
        hidden = self.source_mask(source)
        states = self.source_embedding.forward(source) + self.positions(self.source_positions, source.shape[1])
        for block in self.encoder_blocks:
            states = block.forward(states, hidden)
        states = self.encoded(states)
        length = target_input.shape[1]
        x = self.target_embedding.forward(target_input) + self.positions(self.target_positions, length)
        return self.output.forward(self.decoded(self.run(x, states, self.future_mask(length), hidden)))

    def of_states(self, gradients: list[np.ndarray]) -> Any:
        return np.sum(gradients, axis=0)

    def positions_back(self, table: Any, gradient: np.ndarray) -> None:
        table.backward(gradient.sum(axis=0))

    def decoder_back(self, gradient: np.ndarray) -> tuple[Any, list[np.ndarray]]:
        found = []
        for block in reversed(self.decoder_blocks):
            gradient, of_these = block.backward(gradient)
            found.append(of_these)
        return gradient, found

    def encoder_back(self, gradient: np.ndarray) -> Any:
        gradient = self.encoder_norm.backward(gradient)
        for block in reversed(self.encoder_blocks):
            gradient = block.backward(gradient)
        return gradient

    def backward(self, gradient: np.ndarray) -> None:
        gradient, found = self.decoder_back(self.decoder_norm.backward(self.output.backward(gradient)))
        self.target_embedding.backward(gradient)
        self.positions_back(self.target_positions, gradient)
        gradient = self.encoder_back(self.of_states(found))
        self.source_embedding.backward(gradient)
        self.positions_back(self.source_positions, gradient)
