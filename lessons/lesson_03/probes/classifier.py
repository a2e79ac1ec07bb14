"""What can be seen of a whole classifier that a learner built.

The contract names no parts, so nothing is held against stored numbers: the model is asked questions ("does padding
move the logits?"). Where the answer needs a part, it is found by what it holds or by its shape, wherever it stands.
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

    def kind_of_logits(self) -> str:
        return f"{tuple(self.logits.shape)}, {self.logits.dtype}"

    def finite(self) -> bool:
        return bool(self.logits.isfinite().all())

    def padding(self) -> str:
        tables = [p for p in self.model.parameters() if p.shape == (self.sizes["vocab_size"], self.sizes["d_model"])]
        with kept(tables):
            for table in tables:
                table[0] += torch.linspace(-2, 3, table.shape[1], dtype=table.dtype)
            still = not self.moved(self.tokens).any()
        return "what padding holds moves nothing" if still else "what padding holds moves the logits"

    def attention(self) -> str:
        """Does attention look at the real tokens, at all of them and at nothing else, in each block?"""
        found = {self._looks(block) for block in self.blocks}
        return ", ".join(sorted(found)) or "there are no blocks"

    def _looks(self, block: Any) -> str:
        if not self._seen[block]:
            return "the attention of a block is never asked"
        for weights in self._seen[block]:
            asked = self.real[:, None, :, None].expand(weights.shape)  # what padding looks at matters to nobody
            keys = self.real[:, None, None, :].expand(weights.shape)
            if (weights[asked & ~keys] > 0).any():
                return "attention looks at padding"
            if not (weights[asked & keys] > 0).all():
                return "attention does not look at all tokens"
        return "attention looks at every real token, and at nothing else"

    @cached_property
    def _seen(self) -> dict[Any, list[torch.Tensor]]:
        """Per block, the weights of its attention each time that it was asked."""
        seen: dict[Any, list[torch.Tensor]] = {block: [] for block in self.blocks}

        def noted(block: Any) -> Callable[..., None]:
            return lambda module, arguments, result: seen[block].append(result[1])

        hooks = [block.attention.register_forward_hook(noted(block)) for block in self.blocks]
        with torch.no_grad():
            self.model(self.tokens)
        for hook in hooks:
            hook.remove()
        return seen

    def order(self) -> str:
        turned = self.tokens.clone()
        for row in turned:  # the real tokens in front of the last one, the other way round
            places = (row[:-1] != 0).nonzero()[:, 0]
            row[places] = row[places.flip(0)]
        changed = (turned != self.tokens).any(dim=1)
        return "the order matters" if self.moved(turned)[changed].all() else "the order does not matter"

    def reading(self) -> str:
        """Does each real token count?"""
        batch, length = self.tokens.shape
        others = self.tokens.repeat(length, 1, 1)  # (length, batch, length): in each copy another place is changed
        for place, other in enumerate(others):
            other[:, place] = torch.where(self.real[:, place], other[:, place] % (self.sizes["vocab_size"] - 1) + 1, 0)
        with torch.no_grad():
            logits = self.model(others.reshape(-1, length)).reshape(length, batch, -1)
        moved = (logits - self.logits.reshape(batch, -1)).abs().amax(dim=-1) > MOVED
        return "every token is read" if moved[self.real.T].all() else "not every token is read"

    def rows(self) -> str:
        with torch.no_grad():
            alone = torch.cat([self.model(row[None]) for row in self.tokens])
        return "each row by itself" if near(alone, self.logits) else "a row's logits depend on the other rows"

    def depth(self) -> list[str]:
        """How many blocks there are, how often each is asked, and whether it counts."""
        counting = []
        for block in self.blocks:
            with self._silenced([block]):
                counts = self.moved(self.tokens).any()
            counting.append(f"asked {len(self._seen[block])} times, and {'counts' if counts else 'changes nothing'}")
        return counting

    def widths(self) -> str:
        """The sizes that the blocks were made with."""
        found = set()
        for block in self.blocks:
            heads = "/".join(str(weights.shape[1]) for weights in self._seen[block][:1])
            sizes = {n for p in block.feed_forward.parameters() for n in p.shape} - {self.sizes["d_model"]}
            found.add(f"num_heads {heads}, d_ff {max(sizes, default=self.sizes['d_model'])}")
        return ", ".join(sorted(found)) or "there are no blocks"

    def scores(self) -> str:
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
        return "raw scores" if near(risen, expected) else "the scores are changed behind the last layer"

    def final_norm(self) -> str:
        """With silent blocks, a norm behind the stack makes the size of the embeddings unimportant."""
        tables = self._tables()
        with self._silenced(self.blocks), kept(tables), torch.no_grad():
            for table in tables:
                table *= 10.0  # away from eps
            before = self.model(self.tokens)
            for table in tables:
                table *= 10.0
            same = near(self.model(self.tokens), before)
        return "a norm behind the stack" if same else "no norm behind the stack"

    def reads(self) -> str:
        """Which positions the last layer reads, seen with silent blocks."""
        kind = self.scores()
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
        last = [
            p
            for block in blocks
            for p in (*block.attention.output.parameters(), *list(block.feed_forward.parameters())[-2:])
        ]
        with kept(last):
            for parameter in last:
                parameter.zero_()
            yield

    def unused(self) -> str:
        trainable = {name: p for name, p in self.model.named_parameters() if p.requires_grad}
        found = gradients(self.model(self.tokens), list(trainable.values()))
        if isinstance(found, str):
            return found
        return ", ".join([n for n, g in zip(trainable, found, strict=True) if g is None][:3]) or "every part is trained"

    def modes(self) -> list[Any]:
        """Training and evaluation give the same, and the model stays in the mode in which it was put."""
        self.model.train()
        with torch.no_grad():
            same = near(self.model(self.tokens), self.logits)
        stayed = self.model.training
        self.model.eval()
        return ["the same in training" if same else "other logits in training", stayed, self.model.training]

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
