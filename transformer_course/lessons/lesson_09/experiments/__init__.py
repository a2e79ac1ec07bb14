"""Lesson 9's experiments: a reader of questions, what its heads look at, what a tape keeps, letters backwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from transformer_course.lessons.lesson_09.experiments.charts import by_epoch, by_exponent, where_heads_look
from transformer_course.numpy_transformer import tasks
from transformer_course.numpy_transformer.fitting import Loss, fit, greedy, logits_of, right, sequence_scores
from transformer_course.numpy_transformer.looking import attention_maps, reading
from transformer_course.numpy_transformer.reader import Parts, Reader
from transformer_course.numpy_transformer.walking import layers_of, prepared, weights_of

__all__ = [
    "Parts",
    "Reader",
    "Record",
    "accuracies",
    "answered",
    "apart",
    "backwards",
    "board",
    "by_epoch",
    "by_exponent",
    "fresh_reader",
    "heads",
    "kept_by",
    "letters_model",
    "letters_scores",
    "plain",
    "read_backwards",
    "remembered",
    "taught",
    "watched",
    "where_heads_look",
    "without_head",
    "written",
]

READER = {"vocab_size": 16, "max_length": 4, "d_model": 32, "num_heads": 4, "d_ff": 128, "num_layers": 1}
LETTERS = (tasks.LETTER_VOCAB, 9, 64, 4, 128, 1)  # symbols, max_length, d_model, heads, d_ff, blocks
Optimiser = Callable[[Sequence[np.ndarray], float], Any]


def fresh_reader(parts: Parts | None = None, seed: int = 0, dtype: Any = np.float32, **sizes: int) -> Reader:
    """A reader made of anybody's parts, with the weights that belong to `seed`."""
    model: Reader = prepared(Reader(**{**READER, **sizes}, parts=parts), seed, dtype)
    return model


@dataclass
class Record:
    """What was seen of a model while it learnt, before the first epoch and after each."""

    train_loss: list[float] = field(default_factory=list)
    validation_loss: list[float] = field(default_factory=list)
    train_right: list[float] = field(default_factory=list)
    validation_right: list[float] = field(default_factory=list)


def taught(
    model: Any,
    train: Sequence[tasks.Question],
    validation: Sequence[tasks.Question],
    loss_function: Loss,
    optimiser: Optimiser,
    *,
    epochs: Sequence[int] = (8, 4),
    rates: Sequence[float] = (5e-3, 5e-4),
    seed: int = 0,
) -> Record:
    """Teach a model questions, and watch it: each stretch of epochs has its own learning rate and a new optimiser."""
    record = Record()
    (tokens, answers), (other_tokens, other_answers) = tasks.as_arrays(train), tasks.as_arrays(validation)

    def look(epoch: int) -> None:
        if epoch or not record.train_loss:  # a new stretch begins where the last one ended
            seen, unseen = logits_of(model, tokens), logits_of(model, other_tokens)
            record.train_loss.append(float(loss_function(seen, answers)[0]))
            record.validation_loss.append(float(loss_function(unseen, other_answers)[0]))
            record.train_right.append(float(right(seen, answers).mean()))
            record.validation_right.append(float(right(unseen, other_answers).mean()))

    for number, rate in zip(epochs, rates, strict=True):
        fit(
            model,
            (tokens,),
            answers,
            loss_function=loss_function,
            optimizer=optimiser(list(weights_of(model).values()), rate),
            epochs=number,
            batch_size=32,
            seed=seed,
            look=look,
        )
    return record


def accuracies(model: Any, asked: Sequence[tasks.Question]) -> pd.Series:
    """The share of right answers, operation by operation."""
    tokens, answers = tasks.as_arrays(asked)
    good = right(logits_of(model, tokens), answers)
    names = np.array([name for name, _ in asked])
    return pd.Series({name: float(good[names == name].mean()) for name in tasks.NAMES}, name="share right")


def answered(model: Any, asked: Sequence[tasks.Question]) -> pd.DataFrame:
    """A table of questions, with what the model says and what is right."""
    tokens, answers = tasks.as_arrays(asked)
    guesses = logits_of(model, tokens).argmax(axis=-1)
    rows = [
        (f"{name} {' '.join(map(str, digits))}", tasks.SYMBOLS[one], tasks.SYMBOLS[other], one == other)
        for (name, digits), one, other in zip(asked, guesses, answers, strict=True)
    ]
    return pd.DataFrame(rows, columns=["question", "says", "right answer", "right"])


class Plain:
    """No attention: the four tokens of a question as one row of zeros and ones, and two linear layers."""

    def __init__(self, linear: Any, relu: Any, hidden: int = 64) -> None:
        self.first, self.relu, self.second = linear(4 * 16, hidden), relu(), linear(hidden, 16)

    def forward(self, tokens: np.ndarray) -> np.ndarray:
        """Tokens (batch, 4) -> logits (batch, 16)."""
        rows = np.eye(16, dtype=np.float32)[tokens].reshape(len(tokens), -1)  # (batch, 64)
        logits: np.ndarray = self.second.forward(self.relu.forward(self.first.forward(rows)))
        return logits

    def backward(self, gradient: np.ndarray) -> None:
        """The three layers, last one first."""
        self.first.backward(self.relu.backward(self.second.backward(gradient)))


def plain(linear: Any, relu: Any, seed: int = 0) -> Plain:
    """A network without attention, made of anybody's layers, with the weights that belong to `seed`."""
    model: Plain = prepared(Plain(linear, relu), seed)
    return model


@dataclass(frozen=True)
class Heads:
    """What the heads of one layer look at, question by question."""

    from_operation: Mapping[str, np.ndarray]
    """For each operation, the mean weights (heads, length) with which its own position looks at all positions."""
    table: pd.DataFrame
    """A line for each head and operation: the place it looks at most on average and the weight there, the weight on
    the digits that are the right answer, wherever they stand, and a reading."""


PLACES = ["operation", "first digit", "second digit", "last digit"]


def heads(model: Any, asked: Sequence[tasks.Question]) -> Heads:
    """The attention of the last layer, as seen from the position where the answer is read off."""
    means, rows = {}, []
    for name in tasks.NAMES:
        tokens, answers = tasks.as_arrays([question for question in asked if question[0] == name])
        maps = list(attention_maps(model, tokens).values())[-1]  # (batch, heads, length, length)
        means[name] = maps[:, :, 0].mean(axis=0)
        for head, weights in enumerate(means[name]):
            most = int(weights.argmax())
            on_answer = float((maps[:, head, 0] * (tokens == answers[:, None])).sum(axis=-1).mean())
            word = reading(maps[:, head, :1])
            rows.append((head + 1, name, PLACES[most], round(float(weights[most]), 2), round(on_answer, 2), word))
    columns = ["head", "operation", "looks most at", "weight there", "weight on the answer", "reading"]
    return Heads(means, pd.DataFrame(rows, columns=columns).sort_values(["head", "operation"], ignore_index=True))


def without_head(model: Any, head: int, asked: Sequence[tasks.Question]) -> pd.Series:
    """Accuracy by operation when one head of the last block says nothing: its rows of the output layer are set to 0.

    The model is afterwards as it was.
    """
    layer = [part for _, part in layers_of(model) if hasattr(part, "query") and hasattr(part, "output")][-1]
    weight = layer.output.weight.copy()
    width = weight.shape[0] // READER["num_heads"]
    try:
        layer.output.weight[head * width : (head + 1) * width] = 0
        return accuracies(model, asked)
    finally:
        layer.output.weight[...] = weight


class Rows(NamedTuple):
    """Rows of letters, what the decoder reads, and the same letters backwards: ids, each (n, length)."""

    source: np.ndarray
    target_input: np.ndarray
    target: np.ndarray


@dataclass(frozen=True)
class Letters:
    """Rows of letters to be read and written backwards. No row is in two of the three parts."""

    train: Rows
    validation: Rows
    test: Rows


def backwards(seed: int = 0, train: int = 6000, validation: int = 300, test: int = 500) -> Letters:
    """Rows of up to eight letters, all different."""
    source, target = tasks.reversal(seed, train, validation + test)
    whole = Rows(source, tasks.shifted(target, tasks.LETTER_START), target)
    cuts = (slice(0, train), slice(train, train + validation), slice(train + validation, None))
    return Letters(*(Rows(*(each[cut] for each in whole)) for cut in cuts))


def letters_model(kind: Any, seed: int = 0, dtype: Any = np.float32) -> Any:
    """An encoder-decoder for the letters, with the weights that belong to `seed`."""
    return prepared(kind(*LETTERS), seed, dtype)


def letters_scores(model: Any, rows: Rows) -> dict[str, float]:
    """The shares of tokens and of whole rows that are right, with a teacher and without one."""
    shares = sequence_scores(model, *rows, tasks.LETTER_END)
    return {
        "tokens, with a teacher": shares.tokens_with_teacher,
        "rows, with a teacher": shares.exact_with_teacher,
        "tokens, on its own": shares.tokens,
        "rows, on its own": shares.exact,
    }


def read_backwards(
    model: Any,
    letters: Letters,
    loss_function: Loss,
    optimiser: Optimiser,
    *,
    epochs: Sequence[int] = (6, 2),
    rates: Sequence[float] = (3e-3, 3e-4),
    seed: int = 0,
) -> pd.DataFrame:
    """Train on the letters with teacher forcing. A line of scores on the validation rows now and then."""
    lines, before = [{"epochs": 0, **letters_scores(model, letters.validation)}], 0
    for number, rate in zip(epochs, rates, strict=True):

        def look(epoch: int, before: int = before) -> None:
            if epoch and before + epoch in (1, 2, 4, sum(epochs)):
                lines.append({"epochs": before + epoch, **letters_scores(model, letters.validation)})

        fit(
            model,
            (letters.train.source, letters.train.target_input),
            letters.train.target,
            loss_function=loss_function,
            optimizer=optimiser(list(weights_of(model).values()), rate),
            epochs=number,
            seed=seed + before,
            look=look,
        )
        before += number
    return pd.DataFrame(lines)


def written(model: Any, words: Sequence[str]) -> pd.DataFrame:
    """What the model writes for some words, beside what is right."""
    width = LETTERS[1] - 1
    source = np.zeros((len(words), width), dtype=int)
    for row, word in zip(source, words, strict=True):
        row[: len(word)] = [tasks.LETTERS.index(letter) + 1 for letter in word]
    texts = [tasks.letters(ids) for ids in greedy(model, source, tasks.LETTER_START, tasks.LETTER_END, width + 1)]
    rows = [(word, one, word[::-1], one == word[::-1]) for word, one in zip(words, texts, strict=True)]
    return pd.DataFrame(rows, columns=["row", "writes", "right", "same"])


def _memories(layer: Any) -> list[tuple[str, Any]]:
    """What a layer remembers besides its weights and their gradients, by attribute."""
    return [(name, value) for name, value in vars(layer).items() if not name.startswith(("weight", "bias"))]


def remembered(model: Any) -> int:
    """The bytes of all arrays that the layers of a model remember. Arrays that share their memory count once."""
    sizes: dict[int, int] = {}
    for _, layer in layers_of(model):
        for _, value in _memories(layer):
            for array in value if isinstance(value, list | tuple) else (value,):
                if isinstance(array, np.ndarray):
                    whole = array
                    while isinstance(whole.base, np.ndarray):
                        whole = whole.base
                    sizes[id(whole)] = whole.nbytes
    return sum(sizes.values())


def watched(tape: type) -> Any:
    """A tape of somebody's class that also remembers which arrays were recorded."""

    class Watched(tape):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.arrays: dict[int, np.ndarray] = {}

        def record(self, inputs: Sequence[np.ndarray], output: np.ndarray, backward: Any) -> np.ndarray:
            self.arrays |= {id(array): array for array in (*inputs, output)}
            recorded: np.ndarray = super().record(inputs, output, backward)
            return recorded

    return Watched()


def apart(gradients: Sequence[np.ndarray], others: Sequence[np.ndarray]) -> float:
    """The largest difference between two sets of gradients."""
    return max(float(np.abs(one - other).max()) for one, other in zip(gradients, others, strict=True))


def kept_by(tape: Any) -> list[int]:
    """The bytes of each array that a watched tape keeps. Single numbers don't count."""
    return [array.nbytes for array in tape.arrays.values() if array.ndim]


Guessed = tuple[str, Any, Any, float | None]


def board(guesses: Sequence[Guessed]) -> pd.DataFrame:
    """The guesses beside what happened: (question, guess, what happened, how far off a number may be).

    Lists may come in any order; None means that nobody guessed, or that nothing was measured.
    """
    rows = []
    for question, guess, happened, tolerance in guesses:
        if guess is None or happened is None:
            hit = False
        elif tolerance is not None and isinstance(guess, int | float):
            hit = abs(guess - happened) <= tolerance + 1e-9
        elif isinstance(happened, list):
            hit = isinstance(guess, list | tuple | set) and set(guess) == set(happened)
        else:
            hit = guess == happened
        shown = "not measured" if happened is None else str(happened)
        rows.append((question, "-" if guess is None else str(guess), shown, "yes" if hit else ""))
    return pd.DataFrame(rows, columns=["question", "your guess", "what happened", "right?"])
