"""`sequence_cross_entropy`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from course.sequences import sequence_cross_entropy
from grader.authoring.aspects import USUAL, dtype, gradients, refused, shape, untouched, values
from grader.authoring.draw import dims
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.aspects import special
from lessons.lesson_04.exercises.drawing import draw_scored, ragged, turned

Loss = Callable[..., Any]


def scored_cases(generator: np.random.Generator) -> list[Case]:
    """Logits and targets with and without padding: what a loss over real tokens is tried on."""

    def draw(batch: int, width: int, vocab: int, full: bool = False, **others: Any) -> dict[str, Any]:
        lengths = [width] * batch if full else ragged(generator, batch, width)
        return draw_scored(generator, lengths, width, vocab, **others)

    batch, width, vocab = dims(generator, 3, 3, 7)
    other, wide, many = dims(generator, 3, 3, 7)
    pad_id = int(generator.integers(2, vocab))
    steep, high, apart = draw(batch, width, vocab), draw(batch, width, vocab), draw(other, wide, many)
    # One right answer that the model thinks impossible: its probability is too small for a float32.
    steep["logits"][0, 0] = 0.0
    steep["logits"][0, 0, (int(steep["targets"][0, 0]) + 1) % vocab] = 150.0
    high["logits"] += 300 * torch.randn(batch, width, 1, generator=torch.Generator().manual_seed(batch))
    many_steep = draw(5, 7, vocab, full=True)
    many_steep["logits"].scatter_add_(-1, many_steep["targets"].unsqueeze(-1), torch.full((5, 7, 1), -6.0))
    empty_row = draw_scored(generator, [width, 0, width - 1], width, vocab)
    gap = draw_scored(generator, [width, width - 1, width - 1], width, vocab)
    gap["targets"][1] = gap["targets"][1].roll(1)  # padding in front
    gap["targets"][2, 1] = 0
    renamed = draw(4, width, vocab, pad_id=pad_id)
    renamed["targets"][renamed["targets"].ne(pad_id).all(dim=1), 0] = 0  # a real token, and no padding here
    nothing = draw(batch, width, vocab)
    nothing["targets"] = torch.zeros_like(nothing["targets"])
    return [
        Case("without padding", draw(batch, width, vocab, full=True), USUAL),
        Case("without padding, in other sizes", draw(other, wide, many, full=True), USUAL),
        Case("where batch, length and vocabulary have the same size", draw(4, 4, 4, full=True), USUAL),
        Case("with padding", draw(batch, width, vocab), frozenset({"padding"})),
        Case("with padding, in other sizes", draw(other, wide, many), frozenset({"padding"})),
        Case("with a row that is all padding", empty_row, frozenset({"padding"})),
        Case("with padding before and between the tokens", gap, frozenset({"anywhere"})),
        Case("where pad_id is another id, and 0 is a real token", renamed, frozenset({"pad_id"})),
        Case("on a batch of one, padded", draw_scored(generator, [wide - 2], wide, many), frozenset({"one"})),
        Case("with rows of a single token", draw(batch, 1, vocab, full=True), frozenset({"one"})),
        Case("where the model thinks a right token impossible", steep, frozenset({"extreme"})),
        Case("where every right token is unlikely", many_steep, frozenset({"extreme"})),
        Case("with very large logits", high, frozenset({"extreme"})),
        Case("with float64", draw(other, wide, many, dtype=torch.float64), frozenset({"float64"})),
        Case(
            "with logits that are not contiguous",
            {**apart, "logits": turned(apart["logits"]), "targets": turned(apart["targets"])},
            frozenset({"strided"}),
        ),
        Case("where every target is padding", nothing, frozenset({"nothing"})),
    ]


_on = partial(special, keys=("output", "gradients"))


def surprises(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """-log p of each target, padding and all: (batch, length)."""
    each: torch.Tensor = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
    return each


def refusing(loss: Loss) -> Loss:
    """The same loss, with a clear error for padding alone."""

    def checked(logits: torch.Tensor, targets: torch.Tensor, pad_id: int = 0) -> Any:
        if bool((targets == pad_id).all()):
            raise ValueError("there is nothing but padding")
        return loss(logits, targets, pad_id)

    return checked


def averaging(average: Callable[[torch.Tensor, torch.Tensor], Any]) -> Loss:
    """A loss made of the surprises (batch, length) and the mask of real tokens."""
    return refusing(lambda logits, targets, pad_id: average(surprises(logits, targets), targets != pad_id))


def scoring(log_probabilities: Callable[[torch.Tensor], torch.Tensor], sign: float = -1.0) -> Loss:
    """The right mean, over log probabilities that are found in another way."""

    def loss(logits: torch.Tensor, targets: torch.Tensor, pad_id: int) -> torch.Tensor:
        of_targets = log_probabilities(logits).gather(-1, targets.unsqueeze(-1)).squeeze(-1)
        return sign * of_targets[targets != pad_id].mean()

    return refusing(loss)


def mean_of_means(each: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    """The mean of the rows' own means; rows of padding alone left out."""
    rows = real.any(dim=1)
    means = (each * real).sum(dim=1)[rows] / real.sum(dim=1)[rows]
    return means.mean()


def ignored(logits: torch.Tensor, targets: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    """PyTorch's own way, with nothing said about padding alone."""
    loss: torch.Tensor = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.flatten(), ignore_index=pad_id)
    return loss


def _cut_up(logits: torch.Tensor, targets: torch.Tensor, pad_id: int) -> torch.Tensor:
    batch, length, vocab = logits.shape
    return F.cross_entropy(logits.reshape(batch, vocab, length), targets, ignore_index=pad_id)


def _without_padding_class(logits: torch.Tensor, targets: torch.Tensor, pad_id: int) -> torch.Tensor:
    logits = logits.clone()
    logits[..., pad_id] = -1e9
    return ignored(logits, targets, pad_id)


def _relabelled_in_place(logits: torch.Tensor, targets: torch.Tensor, pad_id: int) -> torch.Tensor:
    targets[targets == pad_id] = -100
    return F.cross_entropy(logits.transpose(1, 2), targets)


def _relabelled(logits: torch.Tensor, targets: torch.Tensor, pad_id: int) -> torch.Tensor:
    return F.cross_entropy(logits.transpose(1, 2), targets.masked_fill(targets == pad_id, -100))


def _flattened(logits: torch.Tensor, targets: torch.Tensor, pad_id: int) -> torch.Tensor:
    return F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=pad_id)


def _logits_blanked(logits: torch.Tensor, targets: torch.Tensor, pad_id: int) -> torch.Tensor:
    real = (targets != pad_id).unsqueeze(-1)
    return surprises(logits * real, targets).mean()


def _by_loop(logits: torch.Tensor, targets: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    found = [
        torch.logsumexp(row[i], 0) - row[i, int(ids[i])]
        for row, ids in zip(logits, targets, strict=True)
        for i in range(len(ids))
        if ids[i] != pad_id
    ]
    if not found:
        raise ValueError("only padding")
    return torch.stack(found).mean()


def _by_one_hot(logits: torch.Tensor, targets: torch.Tensor, pad_id: int) -> torch.Tensor:
    right = F.one_hot(targets, logits.shape[-1]) * (targets != pad_id).unsqueeze(-1)
    return -(F.log_softmax(logits, -1) * right).sum() / right.sum()


def _by_hand(logits: torch.Tensor) -> torch.Tensor:
    shifted = logits - logits.amax(-1, keepdim=True)
    return shifted - shifted.exp().sum(-1, keepdim=True).log()


def _naive(logits: torch.Tensor) -> torch.Tensor:
    return (logits.exp() / logits.exp().sum(-1, keepdim=True)).log()


SEQUENCE_CROSS_ENTROPY = Exercise(
    symbol="sequence_cross_entropy",
    points=3,
    cases=scored_cases,
    references=(sequence_cross_entropy,),
    aspects=(
        shape(),
        values(),
        _on("padding counts nowhere", "padding", 4.0),
        _on("padding anywhere in a row", "anywhere"),
        _on("another pad_id", "pad_id"),
        replace(gradients(), tags=USUAL),
        _on("a batch of one, a row of one", "one"),
        _on("logits of any size", "extreme"),
        dtype(),
        _on("float64", "float64"),
        _on("any layout in memory", "strided"),
        refused("nothing but padding is refused", "nothing"),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "padding_counted",
            averaging(lambda each, real: each.mean()),
            "Your mean runs over every position, padding included. Should a model be praised or blamed for what it "
            "says where there is nothing to write?",
            central=True,
        ),
        Mistake(
            "mean_of_sequence_means",
            averaging(mean_of_means),
            "You took the mean of each row, then the mean of those means, so a token in a short row weighs more than "
            "one in a long row. What if all the real tokens went into one mean?",
            central=True,
        ),
        Mistake(
            "mean_of_means_with_empty_rows",
            averaging(lambda each, real: ((each * real).sum(dim=1) / real.sum(dim=1)).mean()),
            "You took the mean of each row, then the mean of those. A row that is all padding turns that into NaN, "
            "and tokens in short rows weigh more. What if all the real tokens went into one mean?",
        ),
        Mistake(
            "divided_by_all_places",
            averaging(lambda each, real: (each * real).sum() / real.numel()),
            "You left padding out of the sum, but you divide by batch times length, padding included. How many "
            "tokens did you add up?",
        ),
        Mistake(
            "divided_by_rows",
            averaging(lambda each, real: (each * real).sum() / real.shape[0]),
            "You divide the sum by the number of rows, so a longer row is a worse row. How many tokens should you "
            "divide by?",
        ),
        Mistake(
            "summed",
            averaging(lambda each, real: (each * real).sum()),
            "Your result is the sum over the real tokens. Which division turns a sum into a mean?",
        ),
        Mistake(
            "one_a_row",
            averaging(lambda each, real: (each * real).sum(dim=1) / real.sum(dim=1)),
            "You return one number per row. What does an optimiser need?",
        ),
        Mistake(
            "one_a_token",
            averaging(lambda each, real: each * real),
            "You return one number per token. What does an optimiser need?",
        ),
        Mistake(
            "sign_turned_round",
            scoring(lambda logits: logits.log_softmax(-1), sign=1.0),
            "Your result is the right one with the wrong sign. Is the logarithm of a probability positive or "
            "negative, and which should a loss be?",
            central=True,
        ),
        Mistake(
            "no_logarithm",
            scoring(lambda logits: logits.softmax(-1)),
            "You average the probabilities themselves. Surprise is measured on another scale: which function turns a "
            "product into a sum?",
        ),
        Mistake(
            "logits_averaged",
            scoring(lambda logits: logits),
            "You average the logits of the right tokens. A logit means something only next to the other logits: what "
            "turns them into log probabilities?",
        ),
        Mistake(
            "base_two",
            averaging(lambda each, real: each[real].mean() / np.log(2)),
            "Your result is in bits: it is the right one divided by log(2). Which logarithm gives nats?",
        ),
        Mistake(
            "softmax_twice",
            refusing(lambda logits, targets, pad_id: ignored(logits.softmax(-1), targets, pad_id)),
            "You applied softmax before a function that applies softmax itself. What does it expect as its input?",
        ),
        Mistake(
            "softmax_over_the_places",
            scoring(lambda logits: logits.log_softmax(1)),
            "Your softmax runs over the positions of a row, so the positions compete with each other. Which axis "
            "holds the symbols?",
            central=True,
        ),
        Mistake(
            "softmax_over_the_batch",
            scoring(lambda logits: logits.log_softmax(0)),
            "Your softmax runs over the rows of the batch, so the rows compete with each other. Which axis holds the "
            "symbols?",
        ),
        Mistake(
            "reshaped_instead_of_transposed",
            refusing(_cut_up),
            "You moved the symbols' axis forward with a reshape, which cuts the numbers into new rows. What swaps "
            "two axes?",
        ),
        Mistake(
            "logits_blanked",
            refusing(_logits_blanked),
            "You set the logits over padding to zero and then average over every position. What does a row of zeros "
            "cost after the softmax?",
        ),
        Mistake(
            "padding_symbol_forbidden",
            refusing(_without_padding_class),
            "You removed the padding symbol from the softmax. It is the padded positions that don't count: may the "
            "model not still say padding at a real one?",
        ),
        Mistake(
            "pad_id_is_zero",
            lambda logits, targets, pad_id=0: refusing(ignored)(logits, targets),
            "You leave out id 0, whatever pad_id is. Where does the argument come in?",
        ),
        Mistake(
            "rows_cut_at_the_first_padding",
            averaging(lambda each, real: each[real.cumprod(dim=1).bool()].mean()),
            "You end each row at its first padding, but real tokens may come after it. Which tokens does the "
            "docstring count?",
        ),
        Mistake(
            "logarithm_of_softmax",
            scoring(lambda logits: logits.softmax(-1).log()),
            "With one very unlikely token your loss is infinite: the probability is too small for a float and "
            "becomes 0 before the logarithm. Which function does both in one step?",
        ),
        Mistake(
            "overflow",
            scoring(_naive),
            "With large logits, exp leaves the range of a float. Softmax doesn't change if you subtract the same "
            "number from every logit: which function makes use of that?",
        ),
        Mistake(
            "small_number_added",
            scoring(lambda logits: (logits.softmax(-1) + 1e-7).log()),
            "You add a small number before the logarithm, so no token can surprise you beyond a limit. Which "
            "function does softmax and logarithm in one step, without a limit?",
        ),
        Mistake(
            "nan_for_padding_alone",
            ignored,
            "When every target is padding, your result is 0 divided by 0. The docstring promises the caller "
            "something clearer: what?",
        ),
        Mistake(
            "zero_for_padding_alone",
            lambda logits, targets, pad_id=0: (
                (surprises(logits, targets) * (targets != pad_id)).sum() / (targets != pad_id).sum().clamp(min=1)
            ),
            "When every target is padding you return 0, the loss of a perfect model. The docstring promises the "
            "caller something clearer: what?",
        ),
        Mistake(
            "graph_cut",
            refusing(lambda logits, targets, pad_id: ignored(logits, targets, pad_id).detach()),
            "The number is right, but no gradient flows back, so nothing can be learnt from it. Where do you cut the "
            "graph?",
        ),
        Mistake(
            "python_float",
            refusing(lambda logits, targets, pad_id: ignored(logits, targets, pad_id).item()),
            "The number is right, but it is a Python float, so there is nothing to call backward on. What should a "
            "loss be?",
        ),
        Mistake(
            "targets_relabelled_in_place",
            refusing(_relabelled_in_place),
            "The loss is right, but the caller's targets now contain -100. How do you make a new tensor?",
        ),
        Mistake(
            "layout_assumed",
            refusing(_flattened),
            "Your code fails when the numbers aren't contiguous in memory. What flattens a tensor whatever its layout?",
        ),
    ),
    variants={
        "ignore_index": refusing(ignored),
        "minus one hundred": refusing(_relabelled),
        "sum over count": averaging(lambda each, real: (each * real).sum() / real.sum()),
        "masked_select": averaging(lambda each, real: each.masked_select(real).mean()),
        "torch.where": averaging(lambda each, real: torch.where(real, each, 0.0).sum() / real.sum()),
        "nll_loss": refusing(
            lambda logits, targets, pad_id: F.nll_loss(
                logits.log_softmax(-1).flatten(0, 1), targets.flatten(), ignore_index=pad_id
            )
        ),
        "loop": _by_loop,
        "one_hot": refusing(_by_one_hot),
        "logsumexp": scoring(lambda logits: logits - logits.logsumexp(-1, keepdim=True)),
        "shifted by hand": scoring(_by_hand),
        "real tokens first": refusing(
            lambda logits, targets, pad_id: F.cross_entropy(logits[targets != pad_id], targets[targets != pad_id])
        ),
    },
)
