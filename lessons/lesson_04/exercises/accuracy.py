"""`token_accuracy`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course.sequences import token_accuracy
from grader.authoring.aspects import USUAL, refused, shape, untouched, values
from grader.authoring.draw import dims
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.aspects import special
from lessons.lesson_04.exercises.drawing import a_number, draw_scored, ragged, turned, until_telling
from lessons.lesson_04.exercises.loss import refusing

Counting = Callable[[torch.Tensor, torch.Tensor], Any]


def counting(count: Counting) -> Callable[..., Any]:
    """An accuracy made of what is right (batch, length) and what is real (batch, length)."""

    def accuracy(logits: torch.Tensor, targets: torch.Tensor, pad_id: int) -> Any:
        return count(logits.argmax(-1) == targets, targets != pad_id)

    return refusing(accuracy)


def _mean_of_rows(right: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    rows = real.any(dim=1)
    return ((right & real).sum(1)[rows] / real.sum(1)[rows]).mean()


def _predicted(logits: torch.Tensor, targets: torch.Tensor, pad_id: int) -> torch.Tensor:
    said = logits.argmax(-1)
    return (said == targets)[said != pad_id].float().mean()


def _either(logits: torch.Tensor, targets: torch.Tensor, pad_id: int) -> torch.Tensor:
    said = logits.argmax(-1)
    return (said == targets)[(said != pad_id) & (targets != pad_id)].float().mean()


def _confident(logits: torch.Tensor, targets: torch.Tensor, pad_id: int) -> torch.Tensor:
    chance = logits.softmax(-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    return (chance > 0.5)[targets != pad_id].float().mean()


def _chance(logits: torch.Tensor, targets: torch.Tensor, pad_id: int) -> torch.Tensor:
    return logits.softmax(-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)[targets != pad_id].mean()


def _without_padding_class(logits: torch.Tensor, targets: torch.Tensor, pad_id: int) -> torch.Tensor:
    logits = logits.clone()
    logits[..., pad_id] = -torch.inf
    return (logits.argmax(-1) == targets)[targets != pad_id].float().mean()


def _lowest(logits: torch.Tensor, targets: torch.Tensor, pad_id: int) -> torch.Tensor:
    return (logits.argmin(-1) == targets)[targets != pad_id].float().mean()


def _rounded(logits: torch.Tensor, targets: torch.Tensor, pad_id: int) -> Any:
    right = (logits.argmax(-1) == targets)[targets != pad_id]
    return right.sum() // right.numel()


def _over_places(logits: torch.Tensor, targets: torch.Tensor, pad_id: int) -> torch.Tensor:
    best = logits.argmax(1)[:, :1]  # (batch, 1): an index of a place, compared with an id
    return (best == targets)[targets != pad_id].float().mean()


_PADDING_COUNTED = counting(lambda right, real: right.float().mean())
_ALL_PLACES = counting(lambda right, real: (right & real).float().mean())
_MEAN_OF_ROWS = counting(_mean_of_rows)
_WHOLE_ROWS = counting(lambda right, real: (right | ~real).all(dim=1).float().mean())
_PADDING_RIGHT = counting(lambda right, real: (right | ~real).float().mean())
_SAID = refusing(_predicted)
_EITHER = refusing(_either)
_NO_PADDING_SYMBOL = refusing(_without_padding_class)
_CONFIDENT = refusing(_confident)

_SHOWING = (_PADDING_COUNTED, _ALL_PLACES, _MEAN_OF_ROWS, _WHOLE_ROWS, _PADDING_RIGHT, _SAID, _EITHER)
_SHOWING_IN_ALL = (_WHOLE_ROWS, _SAID, _NO_PADDING_SYMBOL, _CONFIDENT, refusing(_lowest), refusing(_over_places))


def _cases(generator: np.random.Generator) -> list[Case]:
    def draw(others: Any, lengths: list[int], width: int, vocab: int, **more: Any) -> dict[str, Any]:
        def once() -> dict[str, Any]:
            return draw_scored(generator, lengths, width, vocab, **more)

        return until_telling(once, token_accuracy, (*others, _half))

    def full(batch: int, width: int, vocab: int, **more: Any) -> dict[str, Any]:
        return draw(_SHOWING_IN_ALL, [width] * batch, width, vocab, **more)

    def padded(batch: int, width: int, vocab: int, **more: Any) -> dict[str, Any]:
        return draw(_SHOWING, ragged(generator, batch, width), width, vocab, **more)

    batch, width, vocab = dims(generator, 3, 4, 8)
    other, wide, many = dims(generator, 3, 4, 8)
    apart = full(other, wide, many)

    def renamed() -> dict[str, Any]:
        inputs = draw_scored(generator, ragged(generator, 5, width), width, vocab, pad_id=vocab - 1)
        inputs["targets"][inputs["targets"] == 1] = 0  # many real zeros
        return inputs

    def gap() -> dict[str, Any]:
        inputs = draw_scored(generator, [width, width - 1, width - 1], width, vocab)
        inputs["targets"][1] = inputs["targets"][1].roll(1)  # padding in front
        inputs["targets"][2, 1] = 0
        return inputs

    nothing = padded(batch, width, vocab)
    nothing["targets"] = torch.zeros_like(nothing["targets"])
    return [
        Case("without padding", full(batch, width, vocab), USUAL),
        Case("without padding, in other sizes", full(other, wide, many), USUAL),
        Case("with padding", padded(batch, width, vocab), frozenset({"padding"})),
        Case("with padding, in other sizes", padded(other, wide, many), frozenset({"padding"})),
        Case(
            "with a row that is all padding",
            draw(_SHOWING, [width, 0, width - 1], width, vocab),
            frozenset({"padding"}),
        ),
        Case(
            "with padding before and between the tokens",
            until_telling(gap, token_accuracy, (_CUT_SHORT, *_SHOWING, _half)),
            frozenset({"anywhere"}),
        ),
        Case(
            "where pad_id is another id, and 0 is a real token",
            until_telling(renamed, token_accuracy, (_pad_is_zero, *_SHOWING, _half)),
            frozenset({"pad_id"}),
        ),
        Case(
            "on a batch of one, padded",
            draw((_PADDING_COUNTED, _ALL_PLACES, _PADDING_RIGHT), [wide - 1], wide, many),
            frozenset({"one"}),
        ),
        Case("with rows of a single token", _single_tokens(generator, vocab), frozenset({"one"})),
        Case("with float64", padded(other, wide, many, dtype=torch.float64), frozenset({"padding"})),
        Case(
            "with tensors that are not contiguous",
            {**apart, "logits": turned(apart["logits"]), "targets": turned(apart["targets"])},
            frozenset({"strided"}),
        ),
        Case("where every target is padding", nothing, frozenset({"nothing"})),
    ]


def _single_tokens(generator: np.random.Generator, vocab: int) -> dict[str, Any]:
    """Rows of one real token each, some of them right and some not."""

    def once() -> dict[str, Any]:
        return draw_scored(generator, [1] * 7, 1, vocab)

    return until_telling(once, token_accuracy, (lambda *_: 0.0, lambda *_: 1.0))


def _half(*_: Any) -> float:
    return 0.5


def _pad_is_zero(logits: torch.Tensor, targets: torch.Tensor, pad_id: int = 0) -> Any:
    return counting(lambda right, real: right[real].float().mean())(logits, targets)


_CUT_SHORT = counting(lambda right, real: right[real.cumprod(dim=1).bool()].float().mean())


def _by_loop(logits: torch.Tensor, targets: torch.Tensor, pad_id: int = 0) -> float:
    right = count = 0
    for row, ids in zip(logits, targets, strict=True):
        for scores, target in zip(row, ids, strict=True):
            if target == pad_id:
                continue
            count += 1
            right += int(scores.argmax() == target)
    return right / count  # nothing but padding: ZeroDivisionError


def _by_top1(logits: torch.Tensor, targets: torch.Tensor, pad_id: int) -> Any:
    real = targets != pad_id
    return (logits.topk(1).indices.squeeze(-1)[real] == targets[real]).sum().item() / int(real.sum())


def _nan(logits: torch.Tensor, targets: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    return (logits.argmax(-1) == targets)[targets != pad_id].float().mean()


TOKEN_ACCURACY = Exercise(
    symbol="token_accuracy",
    points=2,
    cases=_cases,
    references=(token_accuracy,),
    canonical=a_number,
    aspects=(
        shape("one number", "The result is a single number."),
        values(),
        special("padding counts nowhere", "padding", 4.0),
        special("padding anywhere in a row", "anywhere"),
        special("another pad_id", "pad_id"),
        special("a batch of one, a row of one", "one"),
        special("any layout in memory", "strided"),
        refused("nothing but padding is refused", "nothing"),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "padding_counted",
            _PADDING_COUNTED,
            "Your share is taken over every position, padding included. Padding is easy to predict: what does that "
            "do to the accuracy of short rows?",
            central=True,
        ),
        Mistake(
            "padding_counted_as_right",
            _PADDING_RIGHT,
            "Every padded position counts as right in your share. Which positions should it be taken over?",
        ),
        Mistake(
            "divided_by_all_places",
            _ALL_PLACES,
            "You count only real tokens as right, but divide by batch times length. How many tokens could have been "
            "right?",
        ),
        Mistake(
            "mean_of_row_accuracies",
            _MEAN_OF_ROWS,
            "You took the share of each row, then the mean of those shares, so a token in a short row weighs more. "
            "What if all the real tokens went into one mean?",
            central=True,
        ),
        Mistake(
            "mean_of_row_accuracies_with_empty_rows",
            counting(lambda right, real: ((right & real).sum(1) / real.sum(1)).mean()),
            "You took the share of each row, then the mean of those. A row that is all padding turns that into NaN, "
            "and tokens in short rows weigh more. What if all the real tokens went into one mean?",
        ),
        Mistake(
            "predicted_padding_left_out",
            _SAID,
            "You leave out the positions where the model predicts padding, so a model that predicts padding "
            "everywhere is never wrong. Whose padding should decide?",
        ),
        Mistake(
            "padding_on_either_side_left_out",
            _EITHER,
            "You leave out real tokens for which the model predicts padding. Aren't those mistakes like any other?",
        ),
        Mistake(
            "padding_symbol_forbidden",
            _NO_PADDING_SYMBOL,
            "You never let the model predict padding, even where padding has the highest logit. Shouldn't its "
            "prediction be taken as it is?",
        ),
        Mistake(
            "whole_rows",
            _WHOLE_ROWS,
            "Your result is the share of rows in which everything is right. That is a measure too, and it comes "
            "next: what is counted here, rows or tokens?",
            central=True,
        ),
        Mistake(
            "lowest_logit",
            refusing(_lowest),
            "You take the symbol with the lowest logit. Which one does the model believe in most?",
        ),
        Mistake(
            "over_the_places",
            refusing(_over_places),
            "You looked for the best position instead of the best symbol. Which axis holds the symbols?",
        ),
        Mistake(
            "half_or_nothing",
            _CONFIDENT,
            "You count a token only if its probability is above one half. With many symbols, the highest may be far "
            "below that: what is asked for?",
        ),
        Mistake(
            "mean_probability",
            refusing(_chance),
            "You average the probabilities of the right tokens. Accuracy asks only whether the right one is highest: "
            "which function finds the highest?",
        ),
        Mistake(
            "counted",
            counting(lambda right, real: (right & real).sum()),
            "You count the right tokens. Which division turns a count into a share?",
        ),
        Mistake(
            "percent",
            counting(lambda right, real: 100 * right[real].float().mean()),
            "Your share is in percent. What is the share of a model that is always right?",
        ),
        Mistake(
            "whole_division",
            refusing(_rounded),
            "You divide two integers and round down, so your share is 0 or 1. Which division keeps the fraction?",
        ),
        Mistake(
            "errors_counted",
            counting(lambda right, real: (~right)[real].float().mean()),
            "Your result is the share of wrong tokens. What is one minus that?",
        ),
        Mistake(
            "one_a_row",
            counting(lambda right, real: (right & real).sum(1) / real.sum(1)),
            "You return one number per row. The docstring asks for one number: over which tokens?",
        ),
        Mistake(
            "pad_id_is_zero",
            _pad_is_zero,
            "You leave out id 0, whatever pad_id is. Where does the argument come in?",
        ),
        Mistake(
            "rows_cut_at_the_first_padding",
            _CUT_SHORT,
            "You end each row at its first padding, but real tokens may come after it. Which tokens does the "
            "docstring count?",
        ),
        Mistake(
            "nan_for_padding_alone",
            _nan,
            "When every target is padding, your result is 0 divided by 0. The docstring promises the caller "
            "something clearer: what?",
        ),
        Mistake(
            "zero_for_padding_alone",
            lambda logits, targets, pad_id=0: (
                (logits.argmax(-1) == targets)[targets != pad_id].sum() / (targets != pad_id).sum().clamp(min=1)
            ),
            "When every target is padding you return 0, as if everything were wrong. The docstring promises the "
            "caller something clearer: what?",
        ),
    ),
    variants={
        "sum over count": counting(lambda right, real: (right & real).sum() / real.sum()),
        "a product with the mask": counting(lambda right, real: (right * real).sum() / real.sum()),
        "floats": counting(lambda right, real: (right.float() * real.float()).sum() / real.float().sum()),
        "a Python float": counting(lambda right, real: right[real].double().mean().item()),
        "masked_select": counting(lambda right, real: right.masked_select(real).float().mean()),
        "NumPy": counting(lambda right, real: np.mean(right.numpy()[real.numpy()])),
        "loop": _by_loop,
        "topk": refusing(_by_top1),
        "through softmax": refusing(
            lambda logits, targets, pad_id: (logits.softmax(-1).argmax(-1) == targets)[targets != pad_id].float().mean()
        ),
    },
)
