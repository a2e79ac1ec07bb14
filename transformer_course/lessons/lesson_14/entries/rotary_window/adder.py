"""Places by rotation, and a window of three of them: exact far beyond the lengths in training.

A digit of the answer depends on the two digits at its own place, on those one place below, and on what was written for
that one. The model is built so that it can look there and hardly anywhere else. So length doesn't matter to it, and
that is knowledge of addition put in by hand.
"""

from collections.abc import Callable
from typing import Any

from transformer_course.length_generalization.adder import Adder
from transformer_course.length_generalization.writing import SumWriting
from transformer_course.seq2seq_fitting import fit
from transformer_course.vocabulary import pad_sequences

FORMAT: dict[str, Any] = {"least_first": True, "operands_least_first": True, "index_hints": False, "width": "padded"}


def make_model() -> Adder:
    return Adder(SumWriting(**FORMAT), positions="rotary", window=3)


def train(model: Adder, draw: Callable[[int], list[tuple[list[int], list[int]]]]) -> None:
    sources, targets = zip(*draw(20_000), strict=True)  # rows of ids
    source = pad_sequences(list(sources), max(map(len, sources)))  # (n, source_length)
    target = pad_sequences(list(targets), max(map(len, targets)))  # (n, target_length)
    fit(model, source, target, start_id=model.writing.alphabet.start_id, steps=1_200, learning_rate=3e-3)
