"""Mistakes that both whole models of this lesson share: what goes wrong between the tokens and the last layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from course.blocks import EncoderBlock, LayerNorm, LearnedPositionalEmbedding
from grader.authoring.spec import Mistake


class Stacked(nn.Module):
    """A right model with its steps as methods; mistakes change one of them. Subclasses add tokens and a last layer."""

    embedding: Any
    head: Any

    def prepare(self, tokens: int, d_model: int, num_heads: int, d_ff: int, num_layers: int) -> None:
        self.positions: Any = LearnedPositionalEmbedding(tokens, d_model)
        self.blocks: Any = self.stack(d_model, num_heads, d_ff, num_layers)
        self.final_norm: Any = LayerNorm(d_model)

    def stack(self, d_model: int, num_heads: int, d_ff: int, num_layers: int) -> Any:
        return nn.ModuleList(EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers))

    def forward(self, x: torch.Tensor) -> Any:
        return self.finish(self.head(self.read(self.norm(self.run(self.placed(self.tokens(x)))))))

    def tokens(self, x: torch.Tensor) -> torch.Tensor:
        raise TypeError("a subclass says what a token is")

    def placed(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.positions(x))

    def run(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return x

    def norm(self, x: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.final_norm(x))

    def read(self, x: torch.Tensor) -> torch.Tensor:
        raise TypeError("a subclass says what the last layer reads")

    def finish(self, result: torch.Tensor) -> torch.Tensor:
        return result


def but(base: type[Stacked]) -> Callable[..., type[Stacked]]:
    """`but(base)(run=...)` is the model with another way of doing one of its steps."""
    return lambda **methods: type(base.__name__, (base,), methods)


def _causal(self: Stacked, x: torch.Tensor) -> torch.Tensor:
    mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()
    for block in self.blocks:
        x = block(x, mask)
    return x


def _first_only(self: Stacked, x: torch.Tensor) -> torch.Tensor:
    for block in self.blocks:
        return torch.as_tensor(block(x))
    return x


def _dropped(self: Stacked, x: torch.Tensor) -> torch.Tensor:
    return nn.functional.dropout(Stacked.placed(self, x), 0.1, self.training)


def _plain_list(self: Stacked, d: int, h: int, f: int, layers: int) -> list[Any]:
    return [EncoderBlock(d, h, f) for _ in range(layers)]


def shared_mistakes(base: type[Stacked]) -> tuple[Mistake, ...]:
    """What can go wrong in the middle of either model."""
    other = but(base)
    return (
        Mistake(
            "no_positions",
            other(placed=lambda self, x: x),
            "Nothing tells attention where a token is: give it equal tokens, and it can't tell one from another. Which "
            "layer is never called?",
            central=True,
        ),
        Mistake(
            "positions_after_the_blocks",
            other(placed=lambda self, x: x, run=lambda self, x: self.positions(Stacked.run(self, x))),
            "The positions are added after the blocks, too late for attention to use them. When does it need them?",
            central=True,
        ),
        Mistake(
            "causal",
            other(run=_causal),
            "Your tokens look only at what comes before them. Is there anything here that must not be seen?",
            central=True,
        ),
        Mistake(
            "one_block_repeated",
            other(stack=lambda self, d, h, f, layers: nn.ModuleList([EncoderBlock(d, h, f)] * layers)),
            "One block is called num_layers times, so there is only one set of weights. If you multiplied a list: did "
            "that copy the block, or only the reference to it?",
            central=True,
        ),
        Mistake(
            "first_block_only",
            other(run=_first_only),
            "All the blocks are there, but only the first is called. Is the return inside the loop?",
            central=True,
        ),
        Mistake(
            "num_layers_ignored",
            other(stack=lambda self, d, h, f, layers: nn.ModuleList([EncoderBlock(d, h, f)])),
            "There is one block, whatever num_layers says. How do you make as many as you were asked for?",
        ),
        Mistake(
            "blocks_in_a_plain_list",
            other(stack=_plain_list),
            "Your blocks are in a plain Python list, where model.parameters() can't find them, so they would never "
            "learn. Which kind of list does PyTorch look into?",
            central=True,
        ),
        Mistake(
            "each_block_from_the_start",
            other(run=lambda self, x: [block(x) for block in self.blocks][-1]),
            "Every block starts from the tokens again, so only the last one counts. What should each block work on?",
            central=True,
        ),
        Mistake(
            "one_head_only",
            other(stack=lambda self, d, h, f, layers: nn.ModuleList(EncoderBlock(d, 1, f) for _ in range(layers))),
            "Your blocks have one head, whatever num_heads says. Is it passed on to them?",
        ),
        Mistake(
            "width_ignored",
            other(stack=lambda self, d, h, f, layers: nn.ModuleList(EncoderBlock(d, h, 4 * d) for _ in range(layers))),
            "Your feed-forward networks are four times d_model wide, whatever d_ff says. Is it passed on to them?",
        ),
        Mistake(
            "no_final_norm",
            other(norm=lambda self, x: x),
            "There is no norm after the stack, so the last layer reads the sum of all blocks as it is. What belongs "
            "between the two?",
        ),
        Mistake(
            "dropout_added",
            other(placed=_dropped),
            "In training mode your result differs from call to call. Does the signature ask for dropout?",
        ),
    )
