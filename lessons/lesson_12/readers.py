"""What can be seen of a whole model that reads numbers: a forecaster, or a Transformer for pictures.

The contract names no parts, so there are no stored numbers to compare with: the model is asked questions. Where an
answer needs a part, the part is found by what it holds or by its shape, whatever its name. A question and its answer
finish the sentence "... should be ..., but it is ...".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import torch

from grader.authoring.calls import gradients, state
from grader.authoring.modules import built
from lessons.lesson_03.examined import MOVED, kept, near

Seen = list[tuple[torch.Tensor, torch.Tensor]]
"""Of each call of a block's attention: what it was asked about (batch, tokens, d_model), and its weights."""


class Examined:
    """A learner's model with weights that make every influence visible, and the questions it is asked.

    `groups` says of each input number, row by row, which token it belongs to.
    """

    def __init__(
        self, symbol: Any, sizes: Mapping[str, int], x: torch.Tensor, groups: Sequence[int], outputs: int
    ) -> None:
        self.sizes, self.x, self.groups, self.outputs = sizes, x, groups, outputs
        self.model = built(symbol, *sizes.values()).to(x.dtype).eval()
        generator = torch.Generator().manual_seed(1 + sum(sizes.values()))
        with torch.no_grad():
            for parameter in self.model.parameters():
                numbers = torch.randn(parameter.shape, generator=generator)
                # No stretch of a norm stays 1, and none comes near 0.
                spread = 1 + 0.3 * numbers if parameter.dim() == 1 else 0.8 * numbers / parameter.shape[-1] ** 0.5
                parameter.copy_(spread)
            self.output = self.result(x)
        # Each once, though a list may hold it twice.
        self.blocks: list[Any] = [
            m for m in self.model.modules() if hasattr(m, "attention") and hasattr(m, "feed_forward")
        ]

    def result(self, x: torch.Tensor) -> torch.Tensor:
        """What the model makes of a copy of `x`: one that overwrites its input spoils no other question."""
        result: torch.Tensor = self.model(x.clone())
        return result

    # --- the questions

    def shape_and_dtype(self) -> str:
        return f"{tuple(self.output.shape)} and {self.output.dtype}"

    def what_reaches_the_result(self) -> str:
        """Does each input number count?"""
        with torch.no_grad():
            results = self.result(self._nudged.flatten(0, 1)).reshape(len(self.groups), *self.output.shape)
        moved = (results - self.output).abs().flatten(2).amax(dim=-1) > MOVED
        return "every number of the input" if moved.all() else "only some of the numbers of the input"

    @cached_property
    def _nudged(self) -> torch.Tensor:
        """(places, batch, ...): in each copy of the input another number is changed."""
        copies = self.x.flatten(1).repeat(len(self.groups), 1, 1)
        for place, copy in enumerate(copies):
            copy[:, place] += 1.5
        return copies.reshape(len(self.groups), *self.x.shape)

    def what_a_token_is(self) -> str:
        """Which tokens change with each number, at the first attention?"""
        before, after = (self._first_look(x) for x in (self.x, self._nudged.flatten(0, 1)))
        if before is None or after is None:
            return "nothing, as no attention is called"
        changed = (after.reshape(len(self.groups), *before.shape) - before).abs().amax(dim=-1)[:, 0] > MOVED
        tokens = [tuple(row.nonzero()[:, 0].tolist()) for row in changed]  # of each number, the tokens that it moves
        if any(len(moved) != 1 for moved in tokens):
            return "not always one part of the input: some numbers change no token, or several"
        together = len(set(zip(self.groups, tokens, strict=True)))
        fits = together == len(set(self.groups)) == len(set(tokens))
        return "one part of the input" if fits else "a mixture: numbers that belong together go to different tokens"

    def _first_look(self, x: torch.Tensor) -> torch.Tensor | None:
        calls = [seen for block in self.blocks for seen in self._watched(x)[block]]
        return calls[0][0] if calls else None

    def what_attention_sees(self) -> str:
        sights = set()
        for block in self.blocks:
            for _, weights in self._seen[block]:
                sights.add("every token" if (weights > 0).all() else "only some of the tokens")
        return " and ".join(sorted(sights)) or "nothing, as no block's attention is called"

    def the_places(self) -> str:
        """With an input of equal numbers, only positions tell the tokens apart."""
        for _, weights in [seen for block in self._watched(torch.ones_like(self.x)).values() for seen in block]:
            told = (weights - weights.mean(dim=-1, keepdim=True)).abs().amax() > MOVED
            return "something that attention can tell" if told else "unknown to attention"
        return "unknown, as no block's attention is called"

    @cached_property
    def _seen(self) -> dict[Any, Seen]:
        return self._watched(self.x)

    def _watched(self, x: torch.Tensor) -> dict[Any, Seen]:
        """What each block's attention was asked, and what it answered, by `forward` or in the usual way."""
        seen: dict[Any, Seen] = {block: [] for block in self.blocks}

        def noting(block: Any, forward: Callable[..., Any]) -> Callable[..., Any]:
            def noted(*arguments: Any, **named: Any) -> Any:
                result = forward(*arguments, **named)
                seen[block].append((arguments[0], result[1]))
                return result

            return noted

        for block in self.blocks:
            block.attention.forward = noting(block, block.attention.forward)
        with torch.no_grad():
            self.result(x)
        for block in self.blocks:
            del block.attention.forward
        return seen

    def the_stack(self) -> str:
        """How many blocks there are, how often each is called, and whether it counts."""
        calls = sorted({len(self._seen[block]) for block in self.blocks})
        idle = 0
        for block in self.blocks:
            with self._silenced(block), torch.no_grad():
                idle += bool((self.result(self.x) - self.output).abs().amax() <= MOVED)
        count = len(self.blocks)
        stack = (
            f"{count} block{'' if count == 1 else 's'}, each called {' or '.join(map(str, calls)) or 'never'} time(s)"
        )
        return f"{stack}, of which {idle} change nothing" if idle else stack

    @contextmanager
    def _silenced(self, block: Any) -> Iterator[None]:
        """The block adds nothing to x meanwhile."""
        last = [parameter for part in (block.attention.output, block.feed_forward) for parameter in part.parameters()]
        with kept(last):
            for parameter in last:
                parameter.zero_()
            yield

    def each_block(self) -> str:
        """The sizes that the blocks were made with."""
        makes = set()
        for block in self.blocks:
            heads = "/".join(str(weights.shape[1]) for _, weights in self._seen[block][:1])
            sizes = {n for p in block.feed_forward.parameters() for n in p.shape} - {self.sizes["d_model"]}
            makes.add(f"made with num_heads {heads} and d_ff {max(sizes, default=self.sizes['d_model'])}")
        return ", or ".join(sorted(makes)) or "missing"

    def what_follows_the_stack(self) -> str:
        """A norm makes the size of what the last block returns unimportant."""
        called = [block for block in self.blocks if self._seen[block]]
        if not called:
            return "nothing, as no block is called"
        block = called[-1]
        results = []
        for factor in (3.0, 300.0):  # away from eps
            forward = block.forward

            def stretched(*arguments: Any, forward: Any = forward, factor: float = factor, **named: Any) -> Any:
                return factor * forward(*arguments, **named)

            block.forward = stretched
            with torch.no_grad():
                results.append(self.result(self.x))
            del block.forward
        same = torch.allclose(results[0], results[1], rtol=1e-3, atol=1e-3)
        return "a norm" if same else "no norm"

    def what_you_return(self) -> str:
        """Whatever the last layer computes, or something made of it?"""
        output = self.output.flatten(1)
        if near(output.exp().sum(-1), torch.ones(len(output), dtype=output.dtype)):
            return "logarithms of shares"
        if near(output.sum(-1), torch.ones(len(output), dtype=output.dtype)):
            return "shares that sum to 1"
        biases = [p for p in self.model.parameters() if p.shape == (self.outputs,)]
        if not biases:
            return "the numbers of the last layer"
        far = []
        for amount in (-100.0, 100.0):
            with kept(biases), torch.no_grad():
                biases[-1].add_(amount)
                far.append(self.result(self.x))
        low, high = (result.mean().item() for result in far)
        if near(far[1] - far[0], torch.full_like(far[0], 200.0)):
            return "the numbers of the last layer"
        if abs(low) < 0.1:
            return "never negative" if high > 2 else "always between 0 and 1"
        return "always between -1 and 1" if abs(high - low) < 3 else "changed after the last layer"

    def each_row(self) -> str:
        with torch.no_grad():
            alone = torch.cat([self.result(row[None]) for row in self.x])
        return "judged on its own" if near(alone, self.output) else "influenced by the other rows of the batch"

    def what_is_never_trained(self) -> str:
        trainable = {name: p for name, p in self.model.named_parameters() if p.requires_grad}
        reached = gradients(self.result(self.x), list(trainable.values()))
        if isinstance(reached, str):
            return reached
        return ", ".join([n for n, g in zip(trainable, reached, strict=True) if g is None][:3]) or "nothing"

    def the_mode(self) -> str:
        """Training and evaluation give the same, and the model stays in the mode in which it was put."""
        self.model.train()
        with torch.no_grad():
            same = near(self.result(self.x), self.output)
        stayed = self.model.training
        self.model.eval()
        if not stayed or self.model.training:
            return "switched by the model itself"
        return "without effect on the result" if same else "something that changes the result"

    def arguments(self) -> dict[str, Any]:
        given = self.x.clone()
        self.model(given)
        return state([given])


def look_at(symbol: Any, inputs: Mapping[str, Any], groups: Sequence[int], outputs: int) -> dict[str, Any]:
    """What the model answers to the questions named in the case's `ask`."""
    examined = Examined(symbol, inputs["sizes"], inputs["x"], groups, outputs)
    return {question: getattr(examined, question)() for question in inputs["ask"]}
