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
from grader.authoring.aspects import main, modes, special, untouched
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_03.exercises.patients import reader

# (model, rows of tokens, tags, words for the learner)
_TRIED = [
    ("attention", "some", "sound", "with a sound model: masked attention, then a masked mean"),
    ("bag", "some", "sound", "with a sound model that has no attention, only a masked mean"),
    ("attention", "none", "sound", "with a sound model, on rows without any padding"),
    ("attention", "one", "sound", "with a sound model, on a batch of one"),
    ("positions", "some", "places", "with a sound model that has learned positions"),
    ("dropout", "some", "dropout", "with a sound model that has dropout and is in training mode"),
    ("rounding", "some", "rounding", "with a sound model whose last digits change with the length"),
    ("mean over all", "some", "broken leak", "with a model whose mean counts the padding"),
    ("no mask", "some", "broken leak", "with a model whose attention looks at the padding"),
    ("inverted", "some", "broken leak", "with a model whose mask is inverted"),
    ("another id", "some", "broken leak", "with a model whose mask hides another id"),
    ("last position", "some", "broken leak", "with a model that reads the last position, even if that is padding"),
    ("no mask", "one", "broken leak", "with a model whose attention looks at the padding, on a batch of one"),
    ("first row's mask", "some", "rows", "with a model that uses the first row's mask for every row"),
    ("last row open", "some", "rows", "with a model that hides the padding in every row but the last"),
    ("one logit", "some", "mild", "with a model in which padding moves only one of the logits"),
    ("small leak", "some", "mild", "with a model in which padding has a very small weight"),
    ("divided by the length", "some", "amount leak", "with a model that divides by the whole length, padding included"),
    ("places", "some", "amount leak", "with a model in which padding has no content, but still a position"),
    ("mean over all", "none", "none leak", "with a model whose mean would count padding, on rows that have none"),
    ("no mask", "none", "none leak", "with a model whose attention would look at padding, on rows that have none"),
    ("second column", "second", "second", "with a model that hides only the first column of padding"),
    ("zero row", "some", "content leak", "with a model that is sound only as long as the vector of id 0 is all zeros"),
]


def _models(generator: np.random.Generator) -> list[Case]:
    def rows(kind: str) -> torch.Tensor:
        """Ids from 1 to 9, padded on the right. No two rows have as much padding; the first has the least."""
        length = int(generator.integers(6, 8))
        amounts = {
            "some": [1, 3, 2, 4],
            "none": [0, 0, 0],
            "one": [int(generator.integers(2, 4))],
            "second": [1, 0, 1],
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
            frozenset(tags.split()),
            partial(reader, model),
        )
        for model, kind, tags, label in _TRIED
    ]


Look = Callable[[Any, torch.Tensor], list[torch.Tensor]]
"""Asks a model in eval mode; a sound one gives the same logits each time."""


def _given(model: Any, tokens: torch.Tensor) -> list[torch.Tensor]:
    return [model(tokens)]


def _longer(model: Any, tokens: torch.Tensor) -> list[torch.Tensor]:
    return [model(F.pad(tokens, (0, 2)))]


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
        main("sound models pass", 8.0, meaning="A model whose logits don't depend on padding passes.", tag="sound"),
        main("leaks are found", 3.0, meaning="A model whose logits depend on padding is found out.", tag="broken"),
        special(
            "neither amount nor content gets past",
            "leak",
            10.0,
            meaning="Leaks are found whether they come from the amount of padding or from its content.",
        ),
        special(
            "every row counts",
            "rows",
            meaning="A leak is found even if the model hides the padding in some of the rows.",
        ),
        special(
            "small leaks too",
            "mild",
            meaning="A leak is found even if it is very small, or moves only one of the logits.",
        ),
        special(
            "leaks of the amount",
            "amount",
            meaning="A leak is found if the logits depend on how much padding there is.",
        ),
        special(
            "rows without padding",
            "none",
            meaning="A leak is found even if the rows that are passed in have no padding.",
        ),
        special(
            "a leak after the first column",
            "second",
            0.5,
            meaning="A leak is found even if the model hides the first column of padding.",
        ),
        special(
            "leaks of the content alone",
            "content",
            meaning="A leak is found even if it goes away when the vector of id 0 is all zeros.",
        ),
        special(
            "dropout is no leak",
            "dropout",
            meaning="A sound model with dropout passes, even when it is in training mode.",
        ),
        special(
            "rounding is no leak",
            "rounding",
            meaning="A sound model passes even if the last digits of its logits depend on the length.",
        ),
        special("positions are no leak", "places", meaning="A sound model with learned positions passes."),
        modes("train and eval mode restored", 1.0),
        untouched("the model is left as it was"),
    ),
    mistakes=(
        Mistake(
            "always_true",
            lambda model, tokens: True,
            "Every model passes, even the broken ones. What happens to a row's logits when it gets more padding?",
            central=True,
        ),
        Mistake(
            "never_true",
            lambda model, tokens: False,
            "No model passes, not even one that hides its padding everywhere. Which logits do you compare?",
        ),
        Mistake(
            "answer_inverted",
            lambda model, tokens: not _right(model, tokens),
            "You can tell them apart, but you call the sound ones broken. What does True mean here?",
        ),
        Mistake(
            "only_longer",
            _judged((_given, _longer)),
            "You only add padding. What about a model that looks at nothing but its padding, however much there is? "
            "What could you change about padding other than its amount?",
        ),
        Mistake(
            "never_longer",
            _judged((_given, _alone)),
            "You only take padding away. Some rows have none: what could you do to those?",
        ),
        Mistake(
            "content_only",
            _judged((_given, _refilled)),
            "You change what the padding holds, but never how much of it there is. Which leaks depend on the amount "
            "alone?",
            central=True,
        ),
        Mistake(
            "content_never",
            _judged((_given, _longer, _alone)),
            "You change the amount of padding, but never its content. What about a model that is sound only because "
            "the vector of id 0 happens to be all zeros?",
            central=True,
        ),
        Mistake(
            "positions_changed_too",
            _judged((_given, _longer, _alone, _all_refilled)),
            "You change row 0 of every table, even the one that holds positions, so a sound model with positions "
            "fails. Which table holds the vectors of the tokens?",
        ),
        Mistake(
            "padding_made_real",
            _judged((_given, _longer, _made_real)),
            "You replace the padding by another id, and then it isn't padding any more: sound models change their "
            "logits too. What can change while id 0 stays id 0?",
            central=True,
        ),
        Mistake(
            "left_in_training_mode",
            _judged(ENOUGH, ready=copy.deepcopy),
            "A sound model with dropout fails: in training mode, no two calls agree. Which mode gives the same answer "
            "twice?",
        ),
        Mistake(
            "mode_not_restored",
            _left_in_eval,
            "Your answers are right, but the model is left in eval mode. Which mode was it in before?",
        ),
        Mistake(
            "parameters_changed",
            _left_refilled,
            "Your answers are right, but the model is left with a changed embedding. What could you work on instead of "
            "the model itself?",
        ),
        Mistake(
            "exactly_equal",
            _judged(ENOUGH, same=lambda answers: all(torch.equal(answer, answers[0]) for answer in answers)),
            "A sound model fails because its last digits changed. How far apart may two ways of computing the same "
            "number be?",
        ),
        Mistake(
            "tolerance_too_wide",
            _judged(ENOUGH, same=lambda answers: _same(answers, 0.3)),
            "Small leaks get past, since you allow large differences. How large is a rounding error?",
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
            "own_tokens",
            _own_tokens,
            "You test on tokens of your own and ignore the ones you were given. Which rows is the question about?",
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
