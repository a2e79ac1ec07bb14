"""What can be seen of any whole model that a learner built of blocks.

The contract names no parts, so there are no stored numbers to compare with: the model is asked questions ("does padding
move the logits?"). Where an answer needs a part, the part is found by what it holds or by its shape, whatever its name.
A question and its answer finish the sentence "... should be ..., but it is ...".
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import torch
from torch import nn

from cellcheck.authoring.calls import gradients
from cellcheck.authoring.modules import built

NEAR = 1e-4  # the rounding of float32 work in another order
MOVED = 1e-5  # work in the same order gives the same numbers, so an influence may be this small

Calls = list[tuple[Any, torch.Tensor]]
"""Of each call of a block's attention: what it was asked about (batch, tokens, d_model), and its weights."""


class ExaminedModel:
    """A learner's model with weights that make every influence visible, and the questions that any model is asked."""

    returned = "result"
    """What the model returns, in a word."""

    def __init__(self, symbol: Any, sizes: Mapping[str, int], x: torch.Tensor, dtype: torch.dtype) -> None:
        """Makes `symbol(*sizes.values())`, and runs it on `x`."""
        self.sizes, self.x = sizes, x
        self.model = of_dtype(built(symbol, *sizes.values()), dtype).eval()
        parameters = list(self.model.parameters())
        generator = torch.Generator().manual_seed(1 + sum(sizes.values()))
        amounts = [parameter.numel() for parameter in parameters]
        numbers = torch.randn(sum(amounts), generator=generator)  # in one go, which takes a tenth of the time
        with torch.no_grad():
            for parameter, own in zip(parameters, torch.split(numbers, amounts), strict=True):
                # No stretch of a norm stays 1, and none comes near 0.
                spread = 1 + 0.3 * own if parameter.dim() == 1 else own * (0.8 / parameter.shape[-1] ** 0.5)
                parameter.copy_(spread.view(parameter.shape))
            self.output = self.result(x)
        # Each once, though a list may hold it twice.
        self.blocks: list[Any] = [
            m for m in self.model.modules() if hasattr(m, "attention") and hasattr(m, "feed_forward")
        ]

    def result(self, x: torch.Tensor) -> torch.Tensor:
        """What the model makes of `x`."""
        result: torch.Tensor = self.model(x)
        return result

    def answers(self, questions: Sequence[str]) -> dict[str, Any]:
        """What the model answers to the questions of these names."""
        return {question: getattr(self, question)() for question in questions}

    # --- the questions

    def shape_and_dtype(self) -> str:
        return f"{tuple(self.output.shape)} and {self.output.dtype}"

    def each_row(self) -> str:
        """Of the rows, the first and the last."""
        ends = [0, len(self.x) - 1][: len(self.x)]
        with torch.no_grad():
            alone = torch.cat([self.result(self.x[row : row + 1]) for row in ends])
        return (
            "judged on its own"
            if near(alone, self.output[ends])
            else "A row's result depends on the rows that come with it, or came before it."
        )

    def the_stack(self) -> str:
        """How many blocks there are, how often each is called, and whether it counts."""
        calls = sorted({len(self.seen[block]) for block in self.blocks})
        idle = 0
        for block in self.blocks:
            with self.silenced([block]), torch.no_grad():
                idle += not ((self.result(self.x) - self.output).abs() > MOVED).any()
        count = len(self.blocks)
        if not count:
            return "Your model has none of the course's blocks, so nothing can be seen inside. Which one should it use?"
        often = {0: "never", 1: "once"}
        times = " or ".join(often.get(n, f"{n} times") for n in calls)
        stack = f"{count} block{'' if count == 1 else 's'}, each called {times}"
        return f"{stack}, and {idle} of them without effect" if idle else stack

    def each_block(self) -> str:
        """The sizes that the blocks were made with."""
        makes = set()
        for block in self.blocks:
            heads = "/".join(str(weights.shape[1]) for _, weights in self.seen[block][:1])
            sizes = {n for p in block.feed_forward.parameters() for n in p.shape} - {self.sizes["d_model"]}
            makes.add(f"made with num_heads {heads} and d_ff {max(sizes, default=self.sizes['d_model'])}")
        return ", or ".join(sorted(makes)) or "missing"

    def what_is_never_trained(self) -> str:
        if isinstance(self.reached, str):
            return self.reached
        return ", ".join([name for name, reached in self.reached.items() if not reached][:3]) or "nothing"

    def the_mode(self) -> str:
        """Training and evaluation give the same, and the model stays in the mode in which it was put."""
        self.model.train()
        with torch.no_grad():
            same = near(self.result(self.x), self.output)
        stayed = self.model.training
        self.model.eval()
        if not stayed or self.model.training:
            return "The model switches between training and eval mode by itself."
        return (
            f"without effect on the {self.returned}"
            if same
            else f"The {self.returned} are different in training mode: is there dropout, or a BatchNorm?"
        )

    # --- what the answers are made of

    @cached_property
    def reached(self) -> dict[str, bool] | str:
        """Whether a gradient reaches each of what can be trained; a sentence where none can flow."""
        trainable = {name: p for name, p in self.model.named_parameters() if p.requires_grad}
        reached = gradients(self.result(self.x), list(trainable.values()))
        if isinstance(reached, str):
            return reached
        return {name: gradient is not None for name, gradient in zip(trainable, reached, strict=True)}

    @cached_property
    def seen(self) -> dict[Any, Calls]:
        """The calls of each block's attention on the input."""
        return self.watched(self.x)

    def watched(self, x: torch.Tensor) -> dict[Any, Calls]:
        """What each block's attention was asked, and what it answered, by `forward` or in the usual way."""
        return self.watching(x)[0]

    def watching(self, x: torch.Tensor) -> tuple[dict[Any, Calls], torch.Tensor]:
        """The same, and the result."""
        seen: dict[Any, Calls] = {block: [] for block in self.blocks}

        def noting(block: Any, forward: Callable[..., Any]) -> Callable[..., Any]:
            def noted(*arguments: Any, **named: Any) -> Any:
                result = forward(*arguments, **named)
                seen[block].append((next(iter((*arguments, *named.values())), None), result[1]))
                return result

            return noted

        for block in self.blocks:
            block.attention.forward = noting(block, block.attention.forward)
        with torch.no_grad():
            result = self.result(x)
        for block in self.blocks:
            del block.attention.forward
        return seen, result

    @contextmanager
    def silenced(self, blocks: Sequence[Any]) -> Iterator[None]:
        """These blocks add nothing to x meanwhile."""
        parts = [part for block in blocks for part in (block.attention.output, block.feed_forward)]
        last = [parameter for part in parts for parameter in part.parameters()]
        with kept(last):
            for parameter in last:
                parameter.zero_()
            yield


@contextmanager
def kept(tensors: Sequence[torch.Tensor]) -> Iterator[None]:
    """Whatever happens to these tensors meanwhile, they are afterwards what they were."""
    copies = [tensor.detach().clone() for tensor in tensors]
    with torch.no_grad():
        try:
            yield
        finally:
            for tensor, copy in zip(tensors, copies, strict=True):
                tensor.copy_(copy)


def of_dtype(model: nn.Module, dtype: torch.dtype) -> nn.Module:
    """`model.to(dtype)`, which takes longer than it takes to find out that nothing is to be done."""
    tensors = (*model.parameters(), *model.buffers())
    return model if all(tensor.dtype == dtype for tensor in tensors) else model.to(dtype)


def near(one: torch.Tensor, other: torch.Tensor) -> bool:
    """The same up to the rounding of float32."""
    return one.shape == other.shape and torch.allclose(one, other, rtol=NEAR, atol=NEAR)
