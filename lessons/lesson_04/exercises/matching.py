"""`exact_match`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from course.sequences import exact_match
from grader.authoring.aspects import USUAL, shape, untouched, values
from grader.authoring.draw import dims, strided
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.aspects import special
from lessons.lesson_04.exercises.drawing import a_number, draw_tokens

Rows = Callable[[torch.Tensor, torch.Tensor, int], Any]


class _Drawing:
    """Predictions of every kind: right ones, ones with a single slip, and noise over padding."""

    def __init__(self, generator: np.random.Generator, vocab_size: int, pad_id: int = 0) -> None:
        self.generator, self.vocab_size, self.pad_id = generator, vocab_size, pad_id

    def other(self, token: int, *taken: int) -> int:
        """Another real token."""
        ids = np.setdiff1d(np.arange(self.vocab_size), [token, self.pad_id, *taken])
        return int(self.generator.choice(ids))

    def rows(self, lengths: list[int], slips: list[int | None], width: int) -> dict[str, Any]:
        """Targets of these lengths, and predictions with one slip at the place that `slips` names, or none."""
        targets = draw_tokens(self.generator, lengths, width, self.vocab_size, self.pad_id)
        predictions = targets.clone()
        for row, (length, slip) in enumerate(zip(lengths, slips, strict=True)):
            if slip is not None:
                predictions[row, slip] = self.other(int(targets[row, slip]))
            for place in range(length, width):
                if self.generator.random() < 0.7 or place == length:
                    predictions[row, place] = self.other(self.pad_id)
        return self._named(predictions, targets)

    def _named(self, predictions: torch.Tensor, targets: torch.Tensor) -> dict[str, Any]:
        named: dict[str, Any] = {"predictions": predictions, "targets": targets}
        return {**named, "pad_id": self.pad_id} if self.pad_id else named


def _cases(generator: np.random.Generator) -> list[Case]:
    width, vocab = sorted(dims(generator, 2, 4, 9))
    other, many = sorted(dims(generator, 2, 4, 9))
    draw, pad_id = _Drawing(generator, vocab + 2), int(generator.integers(2, many))
    wide = _Drawing(generator, many + 2)
    full = draw.rows([width] * 5, [None, 0, None, width - 1, width - 1], width)
    short = [width, width - 2, width - 1, 1, 2]
    padded = draw.rows(short, [None, None, 0, None, 0], width)
    longer = wide.rows([other, other - 1, other - 2], [None, 0, None], other)
    longer["predictions"] = torch.cat(
        [longer["predictions"], torch.from_numpy(generator.integers(0, many, (3, 2)))], dim=1
    )
    apart = draw.rows(short, [None, 0, 0, None, None], width)
    # Padding said where a token stands; two rows of four are right.
    silent = draw.rows([width] * 4, [None] * 4, width)
    silent["predictions"][1, width - 1] = 0
    silent["predictions"][2] = 0
    renamed = _Drawing(generator, many, pad_id)
    other_id = renamed.rows([other, other - 1, 2, other, other], [None] * 5, other)
    return [
        Case("without padding", full, USUAL),
        Case("without padding, with one more row", draw.rows([other] * 6, [0, 0, *[None] * 4], other), USUAL),
        Case("where something else is predicted over padding", padded, frozenset({"padding"})),
        Case("where the model predicts padding instead of a token", silent, frozenset({"padding"})),
        Case("with predictions wider than the targets", longer, frozenset({"wider"})),
        Case("with predictions narrower than the targets", _narrow(draw, width), frozenset({"narrower"})),
        Case("with narrower predictions and another pad_id", _narrow(renamed, other), frozenset({"pad_id"})),
        Case("where pad_id is another id, and 0 is a real token", _zeros(other_id), frozenset({"pad_id"})),
        Case("on a batch of one", draw.rows([width - 1], [None], width), frozenset({"one"})),
        Case("on a batch of one with a wrong answer", draw.rows([width], [1], width), frozenset({"one"})),
        Case("with rows of a single token", draw.rows([1] * 4, [None, 0, 0, 0], 1), frozenset({"one"})),
        Case(
            "with tensors that are not contiguous",
            {name: strided(ids) for name, ids in apart.items()},
            frozenset({"strided"}),
        ),
    ]


def _zeros(inputs: dict[str, Any]) -> dict[str, Any]:
    """The first token of every row is a 0 that is no padding, and is said to be something else in three rows."""
    inputs["targets"][:, 0] = 0
    inputs["predictions"][:, 0] = 0
    inputs["predictions"][2:, 0] = 1 if inputs["pad_id"] != 1 else 3
    return inputs


def _narrow(draw: _Drawing, width: int) -> dict[str, Any]:
    """Two columns too few: enough for one row of five, or two; a 0 that is a token falls out as well."""
    inputs = draw.rows([width - 2, width, width - 1, 1, width], [None, None, None, 0, None], width)
    inputs["predictions"] = inputs["predictions"][:, :-2].clone()
    if draw.pad_id:
        inputs["targets"][1, -2:] = 0
        inputs["targets"][2, -2] = 0
    return inputs


def aligned(predictions: torch.Tensor, targets: torch.Tensor, fill: int) -> torch.Tensor:
    """The predictions in as many columns as the targets have."""
    length = targets.shape[1]
    return F.pad(predictions, (0, max(length - predictions.shape[1], 0)), value=fill)[:, :length]


def matching(judge: Rows) -> Callable[..., Any]:
    """A measure made of aligned predictions, the targets and pad_id."""

    def measure(predictions: torch.Tensor, targets: torch.Tensor, pad_id: int = 0) -> Any:
        return judge(aligned(predictions, targets, pad_id), targets, pad_id)

    return measure


def _right(said: torch.Tensor, targets: torch.Tensor, pad_id: int) -> torch.Tensor:
    return ((said == targets) | (targets == pad_id)).all(dim=1)


def _filled_with_zero(predictions: torch.Tensor, targets: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    return _right(aligned(predictions, targets, 0), targets, pad_id).float().mean()


def _unaligned(predictions: torch.Tensor, targets: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    return _right(predictions, targets, pad_id).float().mean()


def _cut_to_the_narrower(predictions: torch.Tensor, targets: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    width = min(predictions.shape[1], targets.shape[1])
    return _right(predictions[:, :width], targets[:, :width], pad_id).float().mean()


def _different_widths_fail(predictions: torch.Tensor, targets: torch.Tensor, pad_id: int = 0) -> Any:
    if predictions.shape[1] < targets.shape[1]:
        return 0.0
    return _cut_to_the_narrower(predictions, targets, pad_id)


def _wider_fails(predictions: torch.Tensor, targets: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    width = max(predictions.shape[1], targets.shape[1])
    wide = [F.pad(ids, (0, width - ids.shape[1]), value=pad_id) for ids in (predictions, targets)]
    rows = (wide[0] == wide[1]) | F.pad(targets == pad_id, (0, width - targets.shape[1]))
    return rows.all(dim=1).float().mean()


def _written_over(predictions: torch.Tensor, targets: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    if predictions.shape[1] != targets.shape[1]:
        predictions = aligned(predictions, targets, pad_id).clone()
    predictions[targets == pad_id] = pad_id
    return (predictions == targets).all(dim=1).float().mean()


def _up_to_padding_said(said: torch.Tensor, targets: torch.Tensor, pad_id: int) -> torch.Tensor:
    return ((said == targets) | (said == pad_id) | (targets == pad_id)).all(dim=1).float().mean()


def _by_loop(predictions: torch.Tensor, targets: torch.Tensor, pad_id: int = 0) -> float:
    right = 0
    for said, row in zip(predictions.tolist(), targets.tolist(), strict=True):
        said = said + [pad_id] * len(row)
        right += all(a == b for a, b in zip(said, row, strict=False) if b != pad_id)
    return right / len(targets)


def _by_columns(predictions: torch.Tensor, targets: torch.Tensor, pad_id: int = 0) -> torch.Tensor:
    wrong = torch.zeros(len(targets), dtype=torch.bool)
    for i in range(targets.shape[1]):
        missing = i >= predictions.shape[1]
        wrong |= (targets[:, i] != pad_id) & (missing or (predictions[:, i] != targets[:, i]))
    return 1 - wrong.float().mean()


def _copied(predictions: torch.Tensor, targets: torch.Tensor, pad_id: int = 0) -> float:
    canvas = torch.full_like(targets, pad_id)
    width = min(predictions.size(1), targets.size(1))
    canvas[:, :width] = predictions[:, :width]
    canvas[targets == pad_id] = pad_id
    return sum(torch.equal(a, b) for a, b in zip(canvas, targets, strict=True)) / targets.size(0)


EXACT_MATCH = Exercise(
    symbol="exact_match",
    points=2,
    cases=_cases,
    references=(exact_match,),
    canonical=a_number,
    aspects=(
        shape("one number", "The result is a single number."),
        values(),
        special(
            "padding does not matter",
            "padding",
            3.0,
            meaning="Whatever is predicted where the target is padding doesn't matter, but every real token does.",
        ),
        special("wider predictions", "wider", meaning="The predictions may have more columns than the targets."),
        special(
            "narrower predictions", "narrower", 2.0, meaning="The predictions may have fewer columns than the targets."
        ),
        special("another pad_id", "pad_id"),
        special("a batch of one, a row of one", "one"),
        special("any layout in memory", "strided"),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "tokens_counted",
            matching(lambda said, targets, pad_id: (said == targets)[targets != pad_id].float().mean()),
            "Your result is the share of right tokens. One wrong token spoils a whole answer: what is counted here?",
            central=True,
        ),
        Mistake(
            "padding_compared",
            matching(lambda said, targets, pad_id: (said == targets).all(dim=1).float().mean()),
            "You call a row wrong when something else is predicted over padding. Does it matter what is said there?",
            central=True,
        ),
        Mistake(
            "padding_said_forgiven",
            matching(_up_to_padding_said),
            "You forgive every position where the model predicts padding, so a model that says nothing at all would "
            "be perfect. Whose padding should decide?",
        ),
        Mistake(
            "predicted_padding_left_out",
            matching(lambda said, targets, pad_id: ((said == targets) | (said == pad_id)).all(dim=1).float().mean()),
            "You look for padding in the predictions instead of the targets. Which of the two says where the answer "
            "ends?",
        ),
        Mistake(
            "any_token",
            matching(lambda said, targets, pad_id: ((said == targets) & (targets != pad_id)).any(dim=1).float().mean()),
            "One right token makes a whole row right for you. How many tokens of a row have to be right?",
            central=True,
        ),
        Mistake(
            "all_or_nothing",
            matching(lambda said, targets, pad_id: _right(said, targets, pad_id).all().float()),
            "Your result is 1 only if every row is right, and 0 otherwise. What share of the rows is right?",
        ),
        Mistake(
            "columns_counted",
            matching(lambda said, targets, pad_id: ((said == targets) | (targets == pad_id)).all(dim=0).float().mean()),
            "You counted the columns in which everything is right. Along which axis do the tokens of a row lie?",
        ),
        Mistake(
            "counted",
            matching(lambda said, targets, pad_id: _right(said, targets, pad_id).sum()),
            "You count the right rows. Which division turns a count into a share?",
        ),
        Mistake(
            "percent",
            matching(lambda said, targets, pad_id: 100 * _right(said, targets, pad_id).float().mean()),
            "Your share is in percent. What is the share of a model that is always right?",
        ),
        Mistake(
            "one_a_row",
            matching(_right),
            "You say for each row whether it is right. The docstring asks for one number: which share?",
        ),
        Mistake(
            "share_of_wrong_rows",
            matching(lambda said, targets, pad_id: (~_right(said, targets, pad_id)).float().mean()),
            "Your result is the share of wrong rows. What is one minus that?",
        ),
        Mistake(
            "widths_must_agree",
            _unaligned,
            "Your code fails when predictions and targets differ in width. A generator may stop early or run on: "
            "what should happen then?",
        ),
        Mistake(
            "cut_to_the_narrower",
            _cut_to_the_narrower,
            "You compare only the columns that both have, so an answer that stops too early can count as right. What "
            "is predicted in the missing columns?",
        ),
        Mistake(
            "narrower_is_nothing",
            _different_widths_fail,
            "You give narrower predictions nothing, even in rows whose target is complete by then. What do the "
            "missing columns hold in those rows?",
        ),
        Mistake(
            "wider_is_wrong",
            _wider_fails,
            "You call a row wrong because of what comes after the last column of the targets. Does a target say "
            "anything about those columns?",
        ),
        Mistake(
            "filled_with_zero",
            _filled_with_zero,
            "You fill narrow predictions with 0, which is a real token when pad_id is another id. What should stand "
            "where nothing was said?",
        ),
        Mistake(
            "pad_id_is_zero",
            lambda predictions, targets, pad_id=0: exact_match(predictions, targets),
            "You take id 0 for padding, whatever pad_id is. Where does the argument come in?",
        ),
        Mistake(
            "predictions_written_over",
            _written_over,
            "The share is right, but you wrote padding into the caller's predictions. How do you work on a copy?",
        ),
    ),
    variants={
        "sum of mistakes": matching(
            lambda said, targets, pad_id: (((said != targets) & (targets != pad_id)).sum(1) == 0).float().mean()
        ),
        "torch.where": matching(
            lambda said, targets, pad_id: (
                (torch.where(targets == pad_id, pad_id, said) == targets).all(1).float().mean()
            )
        ),
        "a product": matching(
            lambda said, targets, pad_id: ((said == targets) | (targets == pad_id)).prod(dim=1).double().mean()
        ),
        "times the mask": matching(
            lambda said, targets, pad_id: (
                (said * (targets != pad_id) == targets * (targets != pad_id)).all(dim=1).float().mean()
            )
        ),
        "loop": _by_loop,
        "column by column": _by_columns,
        "copied": _copied,
        "NumPy": matching(lambda said, targets, pad_id: np.mean(_right(said, targets, pad_id).numpy())),
    },
)
