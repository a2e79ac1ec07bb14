"""What can be seen of a whole classifier that a learner built.

The contract names no parts, so there are no stored numbers to compare with: the model is asked questions ("does padding
move the logits?"). Where an answer needs a part, the part is found by what it holds or by its shape, whatever its name.
A question and its answer finish the sentence "... should be ..., but it is ...".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from grader.authoring.calls import gradients, state
from grader.authoring.modules import built

SIZES = ("vocab_size", "max_length", "d_model", "num_heads", "d_ff", "num_layers", "num_classes")
NEAR = 1e-4  # the rounding of float32 work in another order
MOVED = 1e-5  # work in the same order gives the same numbers, so an influence may be this small


class Examined:
    """A learner's classifier with weights that make every influence visible, and the questions it is asked."""

    def __init__(self, symbol: Any, sizes: Mapping[str, int], tokens: torch.Tensor, dtype: torch.dtype) -> None:
        self.sizes, self.tokens = sizes, tokens
        self.model = built(symbol, *(sizes[name] for name in SIZES)).to(dtype).eval()
        generator = torch.Generator().manual_seed(1 + sum(sizes.values()))
        with torch.no_grad():
            for parameter in self.model.parameters():
                numbers = torch.randn(parameter.shape, generator=generator)
                # No stretch of a norm stays 1, and none comes near 0.
                spread = 1 + 0.3 * numbers if parameter.dim() == 1 else 0.8 * numbers / parameter.shape[-1] ** 0.5
                parameter.copy_(spread)
            self.logits = self.model(tokens)
        # Each once, though a list may hold it twice.
        self.blocks: list[Any] = [
            m for m in self.model.modules() if hasattr(m, "attention") and hasattr(m, "feed_forward")
        ]
        self.real = tokens != 0

    def moved(self, tokens: torch.Tensor) -> torch.Tensor:
        """Whether the logits of each row differ for other tokens: (batch,), boolean."""
        with torch.no_grad():
            moved: torch.Tensor = (self.model(tokens) - self.logits).abs().amax(dim=-1) > MOVED
        return moved

    # --- the questions

    def shape_and_dtype(self) -> str:
        return f"{tuple(self.logits.shape)} and {self.logits.dtype}"

    def every_logit(self) -> str:
        return "a finite number" if self.logits.isfinite().all() else "not always finite: there is NaN or infinity"

    def the_influence_of_padding(self) -> str:
        tables = [p for p in self.model.parameters() if p.shape == (self.sizes["vocab_size"], self.sizes["d_model"])]
        with kept(tables):
            for table in tables:
                table[0] += torch.linspace(-2, 3, table.shape[1], dtype=table.dtype)
            still = not self.moved(self.tokens).any()
        return "zero" if still else "not zero: the logits move when the vector of id 0 changes"

    def what_attention_sees(self) -> str:
        """Does attention look at the real tokens, at all of them and at nothing else, in each block?"""
        found = {self._looks(block) for block in self.blocks}
        return " and ".join(sorted(found)) or "nothing, as there are no blocks"

    def _looks(self, block: Any) -> str:
        if not self._seen[block]:
            return "nothing: a block's attention is never called"
        for weights in self._seen[block]:
            asked = self.real[:, None, :, None].expand(weights.shape)  # what padding looks at matters to nobody
            keys = self.real[:, None, None, :].expand(weights.shape)
            if (weights[asked & ~keys] > 0).any():
                return "padding too"
            if not (weights[asked & keys] > 0).all():
                return "only some of the real tokens"
        return "every real token and nothing else"

    @cached_property
    def _seen(self) -> dict[Any, list[torch.Tensor]]:
        """Per block, the weights of its attention each time that it was called, by `forward` or in the usual way."""
        seen: dict[Any, list[torch.Tensor]] = {block: [] for block in self.blocks}

        def noting(block: Any, forward: Callable[..., Any]) -> Callable[..., Any]:
            def noted(*arguments: Any, **named: Any) -> Any:
                result = forward(*arguments, **named)
                seen[block].append(result[1])
                return result

            return noted

        for block in self.blocks:
            block.attention.forward = noting(block, block.attention.forward)
        with torch.no_grad():
            self.model(self.tokens)
        for block in self.blocks:
            del block.attention.forward
        return seen

    def the_order_of_the_tokens(self) -> str:
        turned = self.tokens.clone()
        for row in turned:  # the real tokens before the last one, in reverse order
            places = (row[:-1] != 0).nonzero()[:, 0]
            row[places] = row[places.flip(0)]
        changed = (turned != self.tokens).any(dim=1)
        counts = self.moved(turned)[changed].all()
        return "something that the logits depend on" if counts else "of no consequence: the logits stay the same"

    def what_reaches_the_logits(self) -> str:
        """Does each real token count?"""
        batch, length = self.tokens.shape
        others = self.tokens.repeat(length, 1, 1)  # (length, batch, length): in each copy another place is changed
        for place, other in enumerate(others):
            other[:, place] = torch.where(self.real[:, place], other[:, place] % (self.sizes["vocab_size"] - 1) + 1, 0)
        with torch.no_grad():
            logits = self.model(others.reshape(-1, length)).reshape(length, batch, -1)
        moved = (logits - self.logits.reshape(batch, -1)).abs().amax(dim=-1) > MOVED
        return "every real token" if moved[self.real.T].all() else "only some of the real tokens"

    def each_row(self) -> str:
        with torch.no_grad():
            alone = torch.cat([self.model(row[None]) for row in self.tokens])
        return "judged on its own" if near(alone, self.logits) else "influenced by the other rows of the batch"

    def the_stack(self) -> str:
        """How many blocks there are, how often each is called, and whether it counts."""
        calls = sorted({len(self._seen[block]) for block in self.blocks})
        idle = 0
        for block in self.blocks:
            with self._silenced([block]):
                idle += not self.moved(self.tokens).any()
        count = len(self.blocks)
        said = (
            f"{count} block{'' if count == 1 else 's'}, each called {' or '.join(map(str, calls)) or 'never'} time(s)"
        )
        return f"{said}, of which {idle} change nothing" if idle else said

    def each_block(self) -> str:
        """The sizes that the blocks were made with."""
        found = set()
        for block in self.blocks:
            heads = "/".join(str(weights.shape[1]) for weights in self._seen[block][:1])
            sizes = {n for p in block.feed_forward.parameters() for n in p.shape} - {self.sizes["d_model"]}
            found.add(f"made with num_heads {heads} and d_ff {max(sizes, default=self.sizes['d_model'])}")
        return ", or ".join(sorted(found)) or "missing"

    def what_you_return(self) -> str:
        ones = torch.ones_like(self.logits[..., 0])
        if near(self.logits.exp().sum(-1), ones):
            return "logarithms of shares"
        if near(self.logits.sum(-1), ones):
            return "shares that sum to 1"
        biases = [p for p in self.model.parameters() if p.shape == (self.sizes["num_classes"],)]
        if not biases:
            return "raw scores"
        with kept(biases), torch.no_grad():
            biases[-1][0] += 3.0
            risen = self.model(self.tokens) - self.logits
        expected = torch.zeros_like(risen)
        expected[..., 0] = 3.0
        return "raw scores" if near(risen, expected) else "scores that were changed after the last layer"

    def what_follows_the_stack(self) -> str:
        """With silent blocks, a norm after the stack makes the size of the embeddings unimportant."""
        tables = self._tables()
        with self._silenced(self.blocks), kept(tables), torch.no_grad():
            for table in tables:
                table *= 10.0  # away from eps
            before = self.model(self.tokens)
            for table in tables:
                table *= 10.0
            same = near(self.model(self.tokens), before)
        return "a norm" if same else "no norm"

    def what_the_last_layer_reads(self) -> str:
        """Which positions those are, seen with silent blocks."""
        kind = self.what_you_return()
        with self._silenced(self.blocks), torch.no_grad():
            logits = self.model(self.tokens)
            for name, scores in self._readings():
                if kind == "shares that sum to 1":
                    scores = scores.softmax(-1)
                elif kind == "logarithms of shares":
                    scores = scores.log_softmax(-1)
                if near(logits, scores):
                    return name
        return "something else"

    def _readings(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Ways to read, and what the logits would be: with and without a last norm, before or after a mean."""
        d_model, classes = self.sizes["d_model"], self.sizes["num_classes"]
        words, places = (self._table(self.sizes[name]) for name in ("vocab_size", "max_length"))
        head: Any = next((m for m in self.model.modules() if _shape(m) == (classes, d_model)), None)
        inner = {id(m) for block in self.blocks for m in block.modules()}
        norm = next((m for m in self.model.modules() if _shape(m) == (d_model,) and id(m) not in inner), None)
        if words is None or head is None:
            return
        real = self.real[..., None].to(words.dtype)
        for scale in (1.0, d_model**0.5):
            x = scale * words[self.tokens] + (0.0 if places is None else places[: self.tokens.shape[1]])
            for first, second in ((norm, None), (None, norm), (None, None)):
                y = _normed(x, first)
                for name, read in _WAYS.items():
                    yield name, head(_normed(read(y, real), second))

    def _table(self, rows: int) -> torch.Tensor | None:
        shapes = ((rows, self.sizes["d_model"]), (1, rows, self.sizes["d_model"]))
        found = [p for p in self.model.parameters() if tuple(p.shape) in shapes]
        return found[0].detach().reshape(shapes[0]) if found else None

    def _tables(self) -> list[torch.Tensor]:
        rows = {self.sizes["vocab_size"], self.sizes["max_length"]}
        return [p for p in self.model.parameters() if p.dim() > 1 and p.shape[-2] in rows]

    @contextmanager
    def _silenced(self, blocks: Sequence[Any]) -> Iterator[None]:
        """These blocks add nothing to x meanwhile."""
        parts = [part for block in blocks for part in (block.attention.output, block.feed_forward)]
        last = [parameter for part in parts for parameter in part.parameters()]
        with kept(last):
            for parameter in last:
                parameter.zero_()
            yield

    def what_is_never_trained(self) -> str:
        trainable = {name: p for name, p in self.model.named_parameters() if p.requires_grad}
        found = gradients(self.model(self.tokens), list(trainable.values()))
        if isinstance(found, str):
            return found
        return ", ".join([n for n, g in zip(trainable, found, strict=True) if g is None][:3]) or "nothing"

    def the_mode(self) -> str:
        """Training and evaluation give the same, and the model stays in the mode in which it was put."""
        self.model.train()
        with torch.no_grad():
            same = near(self.model(self.tokens), self.logits)
        stayed = self.model.training
        self.model.eval()
        if not stayed or self.model.training:
            return "switched by the model itself"
        return "without effect on the logits" if same else "something that changes the logits"

    def arguments(self) -> dict[str, Any]:
        return state([self.tokens])


def look_at(
    symbol: Any, sizes: Mapping[str, int], tokens: torch.Tensor, ask: Sequence[str], dtype: str
) -> dict[str, Any]:
    """What the model answers to the questions named in `ask`."""
    examined = Examined(symbol, sizes, tokens, getattr(torch, dtype))
    return {question: getattr(examined, question)() for question in ask}


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


def near(one: torch.Tensor, other: torch.Tensor) -> bool:
    """The same up to the rounding of float32."""
    return one.shape == other.shape and torch.allclose(one, other, rtol=NEAR, atol=NEAR)


_WAYS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "the last position": lambda x, real: x[:, -1],
    "the mean of the real tokens": lambda x, real: (x * real).sum(1) / real.sum(1),
    "the first position": lambda x, real: x[:, 0],
    "the mean, padding counted": lambda x, real: x.mean(1),
    "the sum of the real tokens": lambda x, real: (x * real).sum(1),
    "the largest numbers of all positions": lambda x, real: x.amax(1),
}


def _shape(module: nn.Module) -> tuple[int, ...]:
    weight = getattr(module, "weight", None)
    return tuple(weight.shape) if isinstance(weight, torch.Tensor) else ()


def _normed(x: torch.Tensor, norm: Any) -> torch.Tensor:
    if norm is None:
        return x
    return F.layer_norm(x, x.shape[-1:], norm.weight, norm.bias).detach()
