"""`LabelSmoothingLoss`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from course.paper.smoothing import LabelSmoothingLoss
from grader.authoring import draw
from grader.authoring.aspects import USUAL, any_numbers, gradients, main, refused, special, untouched
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, tagged
from lessons.lesson_04.drawing import draw_tokens, ragged


def _logits(generator: np.random.Generator) -> list[Case]:
    def case(
        batch: int, length: int, vocab_size: int, *, pad_id: int = 0, smoothing: float | None = None, **how: Any
    ) -> dict[str, Any]:
        share = float(generator.choice([0.2, 0.3, 0.4])) if smoothing is None else smoothing
        return {
            "vocab_size": vocab_size,
            "smoothing": share,
            "pad_id": pad_id,
            "logits": 2 * draw.normal(generator, batch, length, vocab_size, **how),
            "targets": draw_tokens(generator, ragged(generator, batch, length), length, vocab_size, pad_id),
        }

    b, n, v = draw.dims(generator, 3, 4, 9)
    flat = case(b, n, v)
    flat |= {"logits": flat["logits"].flatten(0, 1), "targets": flat["targets"].flatten()}
    strided = case(b, n, v)
    padding = case(b, n, v)
    padding["targets"] = torch.zeros_like(padding["targets"])
    return [
        Case("with rows of different lengths", case(b, n, v), USUAL),
        Case("with another vocabulary", case(n, v, b), USUAL),
        Case("with a list of tokens, (tokens, vocab_size)", flat, tagged("flat")),
        Case("with another pad_id", case(b, n, v, pad_id=int(generator.integers(1, v - 1))), tagged("pad_id")),
        Case("without smoothing", case(b, n, v, smoothing=0.0), tagged("none")),
        Case("on a batch of one", case(1, n, v), tagged("one")),
        Case("with float64", case(b, n, v, dtype=torch.float64), tagged("float64")),
        Case(
            "with logits that are not contiguous",
            {**strided, "logits": draw.strided(strided["logits"])},
            tagged("strided"),
        ),
        Case("with nothing but padding", padding, tagged("empty")),
    ]


class _Loss(nn.Module):
    """The right loss, target by target; mistakes change one thing about it."""

    def __init__(self, vocab_size: int, smoothing: float, pad_id: int) -> None:
        super().__init__()
        self.vocab_size, self.smoothing, self.pad_id = vocab_size, smoothing, pad_id

    def soft(self, log_p: torch.Tensor, targets: torch.Tensor) -> Any:
        """(tokens, vocab_size): what each symbol should get."""
        wanted = torch.full_like(log_p, self.smoothing / (self.vocab_size - 2))
        wanted[:, self.pad_id] = 0.0
        return wanted.scatter(1, targets[:, None], 1 - self.smoothing)

    def mean(self, losses: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
        return losses[real].mean()

    def logs(self, logits: torch.Tensor) -> torch.Tensor:
        return logits.log_softmax(-1)

    def forward(self, logits: torch.Tensor, targets: torch.Tensor) -> Any:
        real = targets.flatten() != self.pad_id
        if not real.any():
            raise ValueError("every target is padding")
        log_p = self.logs(logits).reshape(-1, logits.shape[-1])
        return self.mean(-(self.soft(log_p, targets.flatten()) * log_p).sum(-1), real)


def _but(**changes: Any) -> type[_Loss]:
    return type("LabelSmoothingLoss", (_Loss,), changes)


def _soft(soft: Callable[[Any, torch.Tensor, torch.Tensor], Any]) -> type[_Loss]:
    return _but(soft=soft)


def _padding_gets_a_share(self: Any, log_p: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    wanted = torch.full_like(log_p, self.smoothing / (self.vocab_size - 1))
    return wanted.scatter(1, targets[:, None], 1 - self.smoothing)


def _shared_by_one_more(self: Any, log_p: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    wanted = torch.full_like(log_p, self.smoothing / (self.vocab_size - 1))
    wanted[:, self.pad_id] = 0.0
    return wanted.scatter(1, targets[:, None], 1 - self.smoothing)


def _as_pytorch(self: Any, log_p: torch.Tensor, targets: torch.Tensor) -> Any:
    even = torch.full_like(log_p, self.smoothing / self.vocab_size)
    return even + (1 - self.smoothing) * F.one_hot(targets, self.vocab_size)


def _target_gets_both(self: Any, log_p: torch.Tensor, targets: torch.Tensor) -> Any:
    share = torch.full_like(log_p, self.smoothing / (self.vocab_size - 2))
    share[:, self.pad_id] = 0.0
    return share + (1 - self.smoothing) * F.one_hot(targets, self.vocab_size)


def _whole_share_each(self: Any, log_p: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    wanted = torch.full_like(log_p, self.smoothing)
    wanted[:, self.pad_id] = 0.0
    return wanted.scatter(1, targets[:, None], 1 - self.smoothing)


def _swapped(self: Any, log_p: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    wanted = torch.full_like(log_p, (1 - self.smoothing) / (self.vocab_size - 2))
    wanted[:, self.pad_id] = 0.0
    return wanted.scatter(1, targets[:, None], self.smoothing)


def _row_means(self: Any, logits: torch.Tensor, targets: torch.Tensor) -> Any:
    real = targets != self.pad_id
    if not real.any():
        raise ValueError("every target is padding")
    log_p = logits.log_softmax(-1)
    rows = log_p.reshape(-1, log_p.shape[-1])
    losses = -(self.soft(rows, targets.flatten()) * rows).sum(-1).view(targets.shape)
    if targets.dim() == 1:
        return losses[real].mean()
    some = real.any(dim=1)
    return ((losses * real).sum(1)[some] / real.sum(1)[some]).mean()


def _divergence(self: Any, losses: torch.Tensor, real: torch.Tensor) -> Any:
    shares = torch.tensor([1 - self.smoothing, *[self.smoothing / (self.vocab_size - 2)] * (self.vocab_size - 2)])
    return losses[real].mean() + torch.special.xlogy(shares, shares).sum().to(losses.dtype)


def _pytorchs(self: Any, logits: torch.Tensor, targets: torch.Tensor) -> Any:
    """PyTorch's cross-entropy takes shares as well as ids."""
    rows, ids = logits.reshape(-1, self.vocab_size), targets.flatten()
    real = ids != self.pad_id
    if not real.any():
        raise ValueError("every target is padding")
    return F.cross_entropy(rows[real], self.soft(rows[real], ids[real]))


def _without_the_column(self: Any, logits: torch.Tensor, targets: torch.Tensor) -> Any:
    """The mean over all others, times the rest, with one log-sum-exp."""
    real = targets != self.pad_id
    if not real.any():
        raise ValueError("every target is padding")
    rows, ids = logits[real], targets[real]
    total = rows.logsumexp(-1)
    others = [column for column in range(self.vocab_size) if column != self.pad_id]
    right = rows[torch.arange(len(ids)), ids] - total
    rest = (rows[:, others] - total[:, None]).sum(-1) - right
    return -((1 - self.smoothing) * right + self.smoothing * rest / (len(others) - 1)).mean()


LABEL_SMOOTHING = Exercise(
    symbol="LabelSmoothingLoss",
    points=2,
    cases=_logits,
    references=(LabelSmoothingLoss,),
    aspects=(
        Aspect(
            "a single number",
            kinds=frozenset({"error", "type", "shape"}),
            tags=USUAL,
            meaning="The loss is a tensor of shape ().",
        ),
        main("values", meaning="The loss is the cross-entropy with the softened targets, averaged over real tokens."),
        gradients(),
        special("a list of tokens", "flat", meaning="Logits (tokens, vocab_size) with targets (tokens,) work too."),
        special("another pad_id", "pad_id", meaning="The symbol that gets no share is the one that pad_id names."),
        special("without smoothing", "none", meaning="With smoothing = 0 it is the plain cross-entropy."),
        special("a batch of one", "one"),
        refused("nothing but padding is refused", "empty"),
        *any_numbers(0.5),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "padding_gets_a_share",
            _soft(_padding_gets_a_share),
            "You share the rest among all other symbols, padding included. Should the model ever say padding?",
            central=True,
        ),
        Mistake(
            "pytorchs_smoothing",
            _soft(_as_pytorch),
            "Your loss is what `torch.nn.CrossEntropyLoss(label_smoothing=...)` makes: all symbols get a share, "
            "padding and the target included. Who should get one?",
            central=True,
        ),
        Mistake(
            "target_gets_a_share_too",
            _soft(_target_gets_both),
            "The target gets 1 - smoothing and a share on top, so each row adds up to more than 1. Who are the others?",
        ),
        Mistake(
            "shared_by_one_too_many",
            _soft(_shared_by_one_more),
            "You divide by vocab_size - 1, but neither the target nor padding gets a share. How many symbols are left?",
        ),
        Mistake(
            "nothing_shared_out",
            _soft(lambda self, log_p, targets: (1 - self.smoothing) * F.one_hot(targets, self.vocab_size)),
            "The target gets 1 - smoothing, and nobody gets the rest. Who should?",
            central=True,
        ),
        Mistake(
            "not_smoothed",
            _soft(lambda self, log_p, targets: F.one_hot(targets, self.vocab_size).to(log_p.dtype)),
            "Your loss is the plain cross-entropy. What does `smoothing` take away from the target?",
            central=True,
        ),
        Mistake(
            "whole_share_for_each",
            _soft(_whole_share_each),
            "Each other symbol gets the whole of `smoothing`. How many symbols share it?",
        ),
        Mistake(
            "swapped",
            _soft(_swapped),
            "The target gets `smoothing` and the others share the rest. Which of the two should be the larger one?",
            central=True,
        ),
        Mistake(
            "padding_counted",
            _but(mean=lambda self, losses, real: losses.mean()),
            "Targets that are padding count in your mean. Which tokens does the docstring average over?",
            central=True,
        ),
        Mistake(
            "divided_by_all_tokens",
            _but(mean=lambda self, losses, real: losses[real].sum() / len(losses)),
            "You leave padding out of the sum, but divide by the number of all tokens. What is a mean divided by?",
        ),
        Mistake(
            "summed",
            _but(mean=lambda self, losses, real: losses[real].sum()),
            "Your result is the sum over all real tokens. Which division turns it into the mean?",
        ),
        Mistake(
            "mean_of_row_means",
            _but(forward=_row_means),
            "You average each row, then the rows, so a token in a short row counts for more. What is a mean over all "
            "tokens together?",
        ),
        Mistake(
            "no_logarithm",
            _but(logs=lambda self, logits: logits.softmax(-1)),
            "You weight probabilities, not their logarithms. What is a cross-entropy made of?",
        ),
        Mistake(
            "no_softmax",
            _but(logs=lambda self, logits: logits),
            "You weight the logits themselves. What turns them into log-probabilities first?",
        ),
        Mistake(
            "divergence",
            _but(mean=_divergence),
            "Your loss is the Kullback-Leibler divergence: the cross-entropy minus a constant, the entropy of the "
            "softened targets. Its gradients are the same, but which of the two does the docstring ask for?",
        ),
        Mistake(
            "sign_forgotten",
            _but(mean=lambda self, losses, real: -losses[real].mean()),
            "Your loss is negative, and better models get a larger one. Which sign goes in front of a log-probability?",
        ),
        Mistake(
            "a_number_for_each_token",
            _but(mean=lambda self, losses, real: losses[real]),
            "You return a loss for each token. What turns them into a single number?",
        ),
    ),
    variants={
        "softened targets": _Loss,
        "cross_entropy with shares": _but(forward=_pytorchs),
        "log-sum-exp": _but(forward=_without_the_column),
    },
)
