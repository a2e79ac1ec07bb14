"""`prepare_example`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from course.vocabulary import encode, prepare_example
from grader.authoring.aspects import CONTENT, USUAL, main, refused, special, untouched
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, Observation
from lessons.lesson_02.exercises.drawing import draw_symbols, draw_text, draw_vocabulary

Vocabulary = dict[str, int]


def _examples(generator: np.random.Generator) -> list[Case]:
    def draw(label: int, length: int, room: int, unknown: str = "") -> dict[str, Any]:
        symbols = draw_symbols(generator, 6)
        return {
            "text": draw_text(generator, symbols, length) + unknown,
            "label": label,
            "vocabulary": draw_vocabulary(generator, symbols),
            "max_length": room,
            "cls_id": 7 + int(generator.integers(4)),
        }

    flip = int(generator.integers(2))
    return [
        Case("on a text that leaves room for padding", draw(flip, 5, 9), USUAL),
        Case("with another label", draw(1 - flip, 4, 11), USUAL),
        Case("on a text of one character", draw(flip, 1, 5), frozenset({"one"})),
        Case("on a text that leaves room only for the CLS token", draw(1, 6, 7), frozenset({"full"})),
        Case("on a text that leaves no room for the CLS token", draw(1, 6, 6), frozenset({"long"})),
        Case("on a text that is far too long", draw(0, 9, 5), frozenset({"long"})),
        Case("on a text with an unknown character", draw(0, 4, 9, "?"), frozenset({"unknown"})),
    ]


def _keep(observation: Observation, case: Case) -> Observation:
    """Tokens as a tensor and the label as a number, whichever way they came: the contract fixes neither."""
    tokens, label = observation["output"]
    if isinstance(tokens, list) and all(isinstance(i, int) for i in tokens):
        tokens = torch.tensor(tokens)
    if isinstance(label, torch.Tensor) and label.numel() == 1 and not label.is_floating_point():
        label = int(label)
    return {"tokens": tokens, "label": label, "arguments": observation["arguments"]}


def _laid_out(lay: Callable[[list[int], int, int], list[int]]) -> Callable[..., tuple[torch.Tensor, int]]:
    """An example whose ids are laid out by `lay(ids, max_length, cls_id)`."""

    def prepare(
        text: str, label: int, vocabulary: Vocabulary, max_length: int, cls_id: int
    ) -> tuple[torch.Tensor, int]:
        return torch.tensor(lay(encode(text, vocabulary), max_length, cls_id)), label

    return prepare


def _checked(ids: list[int], room: int) -> list[int]:
    if len(ids) > room:
        raise ValueError("too long")
    return ids


def _right(ids: list[int], max_length: int, cls_id: int) -> list[int]:
    return [*_checked(ids, max_length - 1), *[0] * (max_length - 1 - len(ids)), cls_id]


def _overwritten(ids: list[int], max_length: int, cls_id: int) -> list[int]:
    row = [*_checked(ids, max_length), *[0] * (max_length - len(ids))]
    row[-1] = cls_id
    return row


def _unknown_left_out(
    text: str, label: int, vocabulary: Vocabulary, max_length: int, cls_id: int
) -> tuple[torch.Tensor, int]:
    return torch.tensor(_right([vocabulary[s] for s in text if s in vocabulary], max_length, cls_id)), label


def _vocabulary_extended(
    text: str, label: int, vocabulary: Vocabulary, max_length: int, cls_id: int
) -> tuple[torch.Tensor, int]:
    result = prepare_example(text, label, vocabulary, max_length, cls_id)
    vocabulary["[CLS]"] = cls_id
    return result


def _step_by_step(
    text: str, label: int, vocabulary: Vocabulary, max_length: int, cls_id: int
) -> tuple[torch.Tensor, int]:
    if len(text) >= max_length:
        raise ValueError("no room for the CLS token")
    tokens = torch.zeros(max_length, dtype=torch.long)
    for i, symbol in enumerate(text):
        tokens[i] = vocabulary[symbol]
    tokens[-1] = cls_id
    return tokens, label


_prepared = _laid_out(_right)

_on = partial(special, keys=("tokens",))

PREPARE_EXAMPLE = Exercise(
    symbol="prepare_example",
    points=2,
    cases=_examples,
    references=(prepare_example,),
    canonical=_keep,
    aspects=(
        Aspect(
            "max_length ids",
            keys=("tokens",),
            kinds=frozenset({"error", "type", "shape", "dtype"}),
            tags=USUAL,
            meaning="tokens is a LongTensor with max_length entries.",
        ),
        main(
            "text, padding, CLS",
            keys=("tokens",),
            meaning="The text's ids come first, then padding, and the CLS token at the very end.",
        ),
        Aspect("the label", keys=("label",), kinds=CONTENT - {"error"}, meaning="The label is passed on unchanged."),
        _on("one character", "one", meaning="A text of one character gives the right tokens too."),
        _on(
            "an exact fit",
            "full",
            meaning="A text that leaves room only for the CLS token gives the right tokens too.",
        ),
        refused("too long is refused", "long", weight=2.0),
        refused("unknown characters are refused", "unknown"),
        untouched("the arguments stay as they were"),
    ),
    mistakes=(
        Mistake(
            "cls_first",
            _laid_out(lambda ids, m, c: [c, *_checked(ids, m - 1), *[0] * (m - 1 - len(ids))]),
            "Your CLS token comes first, as in BERT. At which index do we want it?",
            central=True,
        ),
        Mistake(
            "cls_before_the_padding",
            _laid_out(lambda ids, m, c: [*_checked(ids, m - 1), c, *[0] * (m - 1 - len(ids))]),
            "Your CLS token comes right after the text, before the padding. A classifier reads index -1: what "
            "is there?",
            central=True,
        ),
        Mistake(
            "no_cls",
            _laid_out(lambda ids, m, c: [*_checked(ids, m - 1), *[0] * (m - len(ids))]),
            "There is no CLS token. Where does the argument cls_id go?",
            central=True,
        ),
        Mistake(
            "one_too_many",
            _laid_out(lambda ids, m, c: [*_checked(ids, m), *[0] * (m - len(ids)), c]),
            "You return max_length + 1 ids. How much room is left once the CLS token has its place?",
        ),
        Mistake(
            "last_character_overwritten",
            _laid_out(_overwritten),
            "If the text fills every place, the CLS token overwrites its last character. How long may a text be?",
        ),
        Mistake(
            "text_cut_off",
            _laid_out(lambda ids, m, c: _right(ids[: m - 1], m, c)),
            "A text that is too long silently loses its end. Which of your functions would have refused it?",
        ),
        Mistake(
            "exact_fit_refused",
            _laid_out(lambda ids, m, c: _right(_checked(ids, m - 2), m, c)),
            "A text that leaves room only for the CLS token is refused. Does it need any padding?",
        ),
        Mistake(
            "padded_on_the_left",
            _laid_out(lambda ids, m, c: [*[0] * (m - 1 - len(_checked(ids, m - 1))), *ids, c]),
            "Your padding comes before the text. On which side of the text should it be?",
        ),
        Mistake(
            "no_padding",
            _laid_out(lambda ids, m, c: [*_checked(ids, m - 1), c]),
            "There is no padding, so your examples have different lengths. Which of your functions pads them?",
        ),
        Mistake(
            "padded_with_cls",
            _laid_out(lambda ids, m, c: [*_checked(ids, m - 1), *[c] * (m - len(ids))]),
            "You pad with the CLS token. How often should it occur in an example?",
        ),
        Mistake(
            "label_left_out",
            lambda *arguments: _prepared(*arguments)[0],
            "The tokens are right, but the label is missing. What two things does the caller want back?",
        ),
        Mistake(
            "label_first",
            lambda *arguments: _prepared(*arguments)[::-1],
            "Both parts are there, in the wrong order. Which comes first?",
        ),
        Mistake(
            "label_turned_round",
            lambda text, label, *more: _prepared(text, 1 - label, *more),
            "The tokens are right, but the label has changed. What should happen to the label on the way?",
        ),
        Mistake(
            "a_row_of_a_matrix",
            lambda *arguments: (_prepared(*arguments)[0].unsqueeze(0), arguments[1]),
            "Your tokens have the shape (1, max_length), a batch of one. How do you get the only row out of it?",
        ),
        Mistake(
            "unknown_left_out",
            _unknown_left_out,
            "Unknown characters are dropped silently. Which of your functions refuses them?",
        ),
        Mistake(
            "vocabulary_extended",
            _vocabulary_extended,
            "The example is right, but the caller's vocabulary has a new entry. Does the CLS token need one?",
        ),
    ),
    variants={
        "lists": _prepared,
        "step by step": _step_by_step,
        "a list of tokens": lambda *arguments: (_prepared(*arguments)[0].tolist(), arguments[1]),
        "a label in a tensor": lambda *arguments: (_prepared(*arguments)[0], torch.tensor(arguments[1])),
    },
)
