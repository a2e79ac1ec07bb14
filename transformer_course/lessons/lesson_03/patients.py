"""Small models from tokens to logits, sound ones and broken ones: what `ignores_padding` is tried on."""

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F

from cellcheck.authoring.patients import Patient


class Reader:
    """A sound model: one attention step from token to token, a masked mean, a Linear layer.

    It is made for one question: `vectors` (batch, length, d) are what the tokens stand for, `places` (length, d) what
    their places do, `head` (classes, d) is the Linear layer's weight.
    """

    def __init__(
        self, vectors: torch.Tensor, places: torch.Tensor, head: torch.Tensor, training: bool, chance: torch.Generator
    ) -> None:
        self.vectors, self.places, self.head = vectors.double(), places, head.double()
        self.training, self.chance = training, chance

    def logits(self, tokens: torch.Tensor) -> torch.Tensor:
        """(batch, length) -> (batch, classes)."""
        real = tokens != 0
        x = self.embedded(tokens)
        vectors = self.pooled(x + self.attended(x, self.seen(tokens, real)), real)
        # In float64 until here: a sound model's numbers are then the same for any amount of padding.
        logits = F.linear(vectors, self.head).float()
        return self.finished(logits, tokens)

    def embedded(self, tokens: torch.Tensor) -> torch.Tensor:
        """(batch, length, d)."""
        return self.vectors

    def seen(self, tokens: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        """Which keys attention looks at, (batch, length)."""
        return real

    def attended(self, x: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        """What each token takes from the others."""
        scores = x @ x.mT / x.shape[-1] ** 0.5
        hidden = ~seen[:, None, :].expand(scores.shape)
        return torch.softmax(scores.masked_fill(hidden, torch.finfo(scores.dtype).min), dim=-1) @ x

    def pooled(self, x: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        """(batch, d)."""
        return (x * real[..., None]).sum(dim=1) / real.sum(dim=1, keepdim=True).clamp(min=1)

    def finished(self, logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """The last touch."""
        return logits


class _Bag(Reader):
    """Without attention."""

    def attended(self, x: torch.Tensor, seen: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(x)


class _Placed(Reader):
    """With learned positions."""

    def embedded(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.vectors + self.places


class _Dropping(Reader):
    """Drops numbers while it is in training mode."""

    def embedded(self, tokens: torch.Tensor) -> torch.Tensor:
        x = super().embedded(tokens)
        return 2.0 * x * (torch.rand(x.shape, generator=self.chance) < 0.5) if self.training else x


class _PlacesLeak(_Placed):
    """Padding has no content, and attention looks at where it stands."""

    def embedded(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.vectors * (tokens != 0)[..., None] + self.places

    def seen(self, tokens: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        return torch.ones_like(real)


class _ZeroRow(_Bag):
    """Adds everything up and trusts that the row of padding holds zeros."""

    def pooled(self, x: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        return x.sum(dim=1) / real.sum(dim=1, keepdim=True).clamp(min=1)


def _seeing(seen: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> type[Reader]:
    return type("Reader", (Reader,), {"seen": lambda self, tokens, real: seen(tokens, real)})


def _pooling(pooled: Callable[[torch.Tensor, torch.Tensor], torch.Tensor], base: type[Reader] = Reader) -> type[Reader]:
    return type("Reader", (base,), {"pooled": lambda self, x, real: pooled(x, real)})


def _finishing(finished: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> type[Reader]:
    return type("Reader", (Reader,), {"finished": lambda self, logits, tokens: finished(logits, tokens)})


def _last_row_open(tokens: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    last = torch.arange(len(real)) == len(real) - 1
    return real | last[:, None]


def _mean(x: torch.Tensor, counted: torch.Tensor) -> torch.Tensor:
    return (x * counted[..., None]).sum(dim=1) / counted.sum(dim=1, keepdim=True).clamp(min=1)


def _one_logit(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    more = (tokens == 0).sum(dim=1) * 0.3
    return torch.cat([logits[:, :-1], logits[:, -1:] + more[:, None]], dim=1)


def _two_logits(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """Their sum stays as it is."""
    more = (tokens == 0).sum(dim=1) * 0.3
    return torch.cat([logits[:, :1] - more[:, None], logits[:, 1:-1], logits[:, -1:] + more[:, None]], dim=1)


READERS: dict[str, type[Reader]] = {
    # Sound.
    "attention": Reader,
    "bag": _Bag,
    "positions": _Placed,
    "dropout": _Dropping,
    # As float32 does when it adds up a longer row: the last digits move.
    "rounding": _finishing(lambda logits, tokens: logits * (1 + 2e-7 * (tokens == 0).sum(dim=1, keepdim=True))),
    # Broken.
    "mean over all": _pooling(lambda x, real: x.mean(dim=1)),
    "bag over all": _pooling(lambda x, real: x.mean(dim=1), _Bag),
    "no mask": _seeing(lambda tokens, real: torch.ones_like(real)),
    "inverted": _seeing(lambda tokens, real: ~real),
    "another id": _seeing(lambda tokens, real: tokens != 1),
    "first row's mask": _seeing(lambda tokens, real: real[:1].expand(real.shape)),
    "last row open": _seeing(_last_row_open),
    "last position": _pooling(lambda x, real: x[:, -1]),
    "one logit": _finishing(_one_logit),
    "two logits": _finishing(_two_logits),
    "any padding": _finishing(lambda logits, tokens: logits + (tokens == 0).any(dim=1, keepdim=True)),
    "small leak": _pooling(lambda x, real: _mean(x, real + 0.0006 * ~real)),
    "divided by the length": _pooling(lambda x, real: (x * real[..., None]).mean(dim=1)),
    "second column": _seeing(lambda tokens, real: real | ((~real).cumsum(dim=1) > 1)),
    "places": _PlacesLeak,
    "zero row": _ZeroRow,
}


def reader(name: str) -> Patient:
    """The model of that name, behind its tables: they are the learner's to change."""
    chance = torch.Generator().manual_seed(0)

    def logits(tokens: torch.Tensor, vectors: Any, places: Any, head: Any, training: bool) -> torch.Tensor:
        return READERS[name](vectors, places, head, training, chance).logits(tokens)

    return Patient({"logits": logits})
