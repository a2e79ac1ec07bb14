"""`ignores_padding`, the bug clinic: does a model read its padding? The small models stand in `patients`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from course.classifier import ignores_padding
from grader.authoring import draw
from grader.authoring.aspects import modes, special, tells_apart, untouched
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_03.exercises.patients import reader

# (model, rows of tokens, tag, words for the learner)
_TRIED = [
    ("attention", "some", "sound", "with a sound model: attention, then a masked mean"),
    ("bag", "some", "sound", "with a sound model without attention"),
    ("attention", "none", "sound", "with a sound model, on rows without padding"),
    ("attention", "one", "sound", "with a sound model, on a batch of one"),
    ("positions", "some", "places", "with a sound model that has learned positions"),
    ("dropout", "some", "dropout", "with a sound model that is in training mode and has dropout"),
    ("rounding", "some", "rounding", "with a sound model whose last digits move with the length"),
    ("attention", "empty", "empty", "with a sound model, where one row is all padding"),
    ("bag", "nothing", "empty", "with a sound model, where all rows are padding"),
    ("mean over all", "some", "broken", "with a model whose mean counts the padding"),
    ("no mask", "some", "broken", "with a model whose attention sees the padding"),
    ("inverted", "some", "broken", "with a model whose mask is turned round"),
    ("another id", "some", "broken", "with a model whose mask looks for another id"),
    ("last position", "some", "broken", "with a model that reads the last position"),
    ("no mask", "one", "broken", "with a model whose attention sees the padding, on a batch of one"),
    ("first row's mask", "some", "rows", "with a model that uses the first row's mask for all rows"),
    ("last row open", "some", "rows", "with a model that masks all rows but the last"),
    ("one logit", "some", "mild", "with a model in which padding moves one logit only"),
    ("small leak", "some", "mild", "with a model in which padding has a small weight"),
    ("divided by the length", "some", "amount", "with a model that divides by the whole length"),
    ("places", "some", "amount", "with a model in which padding has no content but a place"),
    ("mean over all", "none", "none", "with a model whose mean counts the padding, on rows without padding"),
    ("no mask", "none", "none", "with a model whose attention sees the padding, on rows without padding"),
    ("second column", "second", "second", "with a model that hides only the first column of padding"),
    ("zero row", "some", "content", "with a model that trusts its padding to hold zeros"),
    ("NaN without padding", "mixed", "nan", "with a model that answers NaN for rows without padding"),
]


def _models(generator: np.random.Generator) -> list[Case]:
    def rows(kind: str) -> torch.Tensor:
        """Ids from 1 to 9, padded on the right. No two rows have as much padding; the first has the least."""
        length = int(generator.integers(6, 8))
        amounts = {
            "some": [1, 3, 2, 4],
            "mixed": [2, 0, 3],
            "none": [0, 0, 0],
            "one": [int(generator.integers(2, 4))],
            "empty": [1, 3, length],
            "second": [1, 0, 1],
            "nothing": [length, length],
        }[kind]
        tokens = draw.integers(generator, 1, 10, len(amounts), length)
        for row, amount in zip(tokens, amounts, strict=True):
            row[length - amount :] = 0
        return tokens

    def tables(zeros: bool) -> dict[str, torch.Tensor]:
        drawn = {
            "embedding": draw.normal(generator, 10, 6),
            "positions": draw.normal(generator, 64, 6),
            "head": 3 * draw.normal(generator, 3, 6),
        }
        if zeros:
            drawn["embedding"][0] = 0.0
        return drawn

    return [
        Case(
            label,
            # Neither the mode nor a row of zeros tells a sound model from a broken one.
            {
                "tokens": rows(kind),
                **tables(model == "zero row" or (model, kind) == ("attention", "some")),
                "training": model in ("dropout", "bag", "mean over all"),
            },
            frozenset({tag}),
            partial(reader, model),
        )
        for model, kind, tag, label in _TRIED
    ]


Look = Callable[[Any, torch.Tensor], list[torch.Tensor]]
"""Asks a model in evaluation mode; a sound one gives the same each time."""


def _given(model: Any, tokens: torch.Tensor) -> list[torch.Tensor]:
    return [model(tokens)]


def _longer(model: Any, tokens: torch.Tensor, columns: int = 2) -> list[torch.Tensor]:
    return [model(F.pad(tokens, (0, columns)))]


def _alone(model: Any, tokens: torch.Tensor) -> list[torch.Tensor]:
    return [torch.cat([model(row[row != 0][None]) for row in tokens])]


def _refilled(model: Any, tokens: torch.Tensor) -> list[torch.Tensor]:
    with torch.no_grad():
        model.embedding.weight[0] += torch.linspace(-2, 3, model.embedding.weight.shape[1])
    return [model(tokens)]


def _all_refilled(model: Any, tokens: torch.Tensor) -> list[torch.Tensor]:
    """The first row of every table, that of the positions too."""
    with torch.no_grad():
        for layer in model.modules():
            if isinstance(layer, nn.Embedding):
                layer.weight[0] += 1.0
    return [model(tokens)]


def _made_real(model: Any, tokens: torch.Tensor) -> list[torch.Tensor]:
    return [model(torch.where(tokens == 0, 1, tokens))]


ENOUGH: tuple[Look, ...] = (_given, _longer, _alone, _refilled)


def _same(answers: Sequence[torch.Tensor], tolerance: float = 1e-4) -> bool:
    return all(torch.allclose(answer, answers[0], atol=tolerance, rtol=0.0) for answer in answers)


def _judged(
    looks: Sequence[Look],
    same: Callable[[list[torch.Tensor]], Any] = _same,
    ready: Callable[[nn.Module], nn.Module] = lambda model: copy.deepcopy(model).eval(),
) -> Callable[[nn.Module, torch.Tensor], Any]:
    """Looks at a model in these ways, and compares."""

    def ignores_padding(model: nn.Module, tokens: torch.Tensor) -> Any:
        examined = ready(model)
        with torch.no_grad():
            return same([answer for look in looks for answer in look(examined, tokens)])

    return ignores_padding


_right = _judged(ENOUGH)


def _left_in_eval(model: nn.Module, tokens: torch.Tensor) -> bool:
    model.eval()
    return bool(_right(model, tokens))


def _left_refilled(model: nn.Module, tokens: torch.Tensor) -> bool:
    answer = bool(_right(model, tokens))
    with torch.no_grad():
        _refilled(model, tokens)
    return answer


def _put_back(model: Any, tokens: torch.Tensor) -> bool:
    """Works on the model itself, and puts everything back."""
    training, row = model.training, model.embedding.weight[0].detach().clone()
    modes = {module: module.training for module in model.modules()}
    model.eval()
    try:
        with torch.no_grad():
            answers = [look(model, tokens)[0] for look in ENOUGH]
            model.embedding.weight[0] = row
    finally:
        model.train(training)
        for module, mode in modes.items():
            module.training = mode
    return max((answer - answers[0]).abs().max().item() for answer in answers) < 1e-4 and not any(
        bool(answer.isnan().any()) for answer in answers
    )


def _row_by_row(model: nn.Module, tokens: torch.Tensor) -> bool:
    examined = copy.deepcopy(model).eval()
    for row in tokens:
        real = row[row != 0]
        for amount in (0, 1, 5):
            padded = F.pad(real, (0, amount))[None]
            if not torch.allclose(examined(padded), examined(real[None]), atol=1e-5):
                return False
    together, alone = _given(examined, tokens)[0], _alone(examined, tokens)[0]
    return torch.allclose(together, alone, atol=1e-5) and torch.allclose(
        _refilled(examined, tokens)[0], alone, atol=1e-5
    )


def _own_tokens(model: nn.Module, tokens: torch.Tensor) -> bool:
    return bool(_right(model, torch.tensor([[3, 1, 4, 0, 0]])))


IGNORES_PADDING = Exercise(
    symbol="ignores_padding",
    points=2,
    cases=_models,
    references=(ignores_padding,),
    aspects=(
        *tells_apart(sound="sound models pass", broken="leaks are found"),
        special("every row counts", "rows"),
        special("small leaks too", "mild"),
        special("leaks of the amount", "amount"),
        special("rows without padding", "none"),
        special("a leak behind the first column", "second", 0.5),
        special("leaks of the content alone", "content", 0.5),
        special("NaN is no sound answer", "nan", 0.5),
        special("dropout is no leak", "dropout"),
        special("rounding is no leak", "rounding"),
        special("positions are no leak", "places"),
        special("a row of padding alone", "empty", 0.5),
        modes("train and eval mode restored", 1.0),
        untouched("the model is left as it was"),
    ),
    mistakes=(
        Mistake(
            "always_true",
            lambda model, tokens: True,
            "Every model passes, the broken ones too. What happens to the logits of a row that gets more padding?",
        ),
        Mistake(
            "never_true",
            lambda model, tokens: False,
            "No model passes, not even one that hides its padding everywhere. Which answers do you compare?",
        ),
        Mistake(
            "answer_turned_round",
            lambda model, tokens: not _right(model, tokens),
            "You tell them apart, and call the sound ones broken. What does True stand for?",
        ),
        Mistake(
            "only_longer",
            _judged((_given, _longer)),
            "You only add padding. What if a model looks at nothing but padding, however much there is? Try a row "
            "without any, or padding with another content: what changes then?",
        ),
        Mistake(
            "never_longer",
            _judged((_given, _alone)),
            "You only take padding away. In rows that have none there is nothing to take: what could you add to them?",
        ),
        Mistake(
            "content_only",
            _judged((_given, _refilled)),
            "You change what padding holds, and never how much there is. Which leaks depend on the amount alone?",
        ),
        Mistake(
            "content_never",
            _judged((_given, _longer, _alone)),
            "You change the amount of padding, never its content. What if a model trusts its padding to hold zeros?",
        ),
        Mistake(
            "positions_changed_too",
            _judged((_given, _longer, _alone, _all_refilled)),
            "You change the first row of every table, also of the one that holds positions. A sound model with "
            "positions fails then: which table do the tokens go to?",
        ),
        Mistake(
            "padding_made_real",
            _judged((_given, _longer, _made_real)),
            "You put another id where padding stands, and then it is padding no longer: sound models answer something "
            "else, too. What can change while id 0 stays id 0?",
        ),
        Mistake(
            "left_in_training_mode",
            _judged(ENOUGH, ready=copy.deepcopy),
            "A sound model with dropout fails: two calls never agree in training mode. Which mode makes it answer the "
            "same twice?",
        ),
        Mistake(
            "mode_not_restored",
            _left_in_eval,
            "Your answers are right, and the model is left in evaluation mode. In which mode did it come?",
        ),
        Mistake(
            "parameters_changed",
            _left_refilled,
            "Your answers are right, and the model is left with another embedding. On what could you work instead of "
            "the model itself?",
        ),
        Mistake(
            "exactly_equal",
            _judged(ENOUGH, same=lambda answers: all(torch.equal(answer, answers[0]) for answer in answers)),
            "A sound model fails when its last digits move. How far apart may two ways to compute one number be?",
        ),
        Mistake(
            "tolerance_too_wide",
            _judged(ENOUGH, same=lambda answers: _same(answers, 0.3)),
            "Small leaks get through, since you allow a wide difference. How large is a rounding error?",
        ),
        Mistake(
            "first_row_only",
            _judged(ENOUGH, same=lambda answers: _same([answer[:1] for answer in answers])),
            "You look at the first row only. What if the model goes wrong on another one?",
        ),
        Mistake(
            "first_logit_only",
            _judged(ENOUGH, same=lambda answers: _same([answer[:, :1] for answer in answers])),
            "You look at the first logit only. What if padding moves another one?",
        ),
        Mistake(
            "nan_is_fine",
            _judged(
                ENOUGH, same=lambda answers: not any(((answer - answers[0]).abs() > 1e-4).any() for answer in answers)
            ),
            "A model that answers NaN passes, because NaN is never larger than your tolerance. Which comparison fails "
            "for NaN?",
        ),
        Mistake(
            "own_tokens",
            _own_tokens,
            "You try tokens of your own, and pass over those you were given. Which rows should the answer be about?",
        ),
        Mistake(
            "difference_returned",
            _judged(ENOUGH, same=lambda answers: max((answer - answers[0]).abs().max().item() for answer in answers)),
            "You return how far the logits move. Which question does the caller want answered with True or False?",
        ),
    ),
    variants={
        "four looks": _right,
        "without the row alone": _judged((_given, _longer, _refilled)),
        "the model itself, put back": _put_back,
        "row by row": _row_by_row,
        "a tensor for an answer": lambda model, tokens: torch.tensor(_right(model, tokens)),
        "NumPy's answer": lambda model, tokens: np.bool_(_right(model, tokens)),
    },
)
