"""A learned vector for each position in the row, as in lesson 3: right as far as training went, and no further."""

from collections.abc import Callable
from typing import Any

from transformer_course.length_generalization.adder import Adder
from transformer_course.length_generalization.writing import SumWriting
from transformer_course.seq2seq_fitting import fit
from transformer_course.vocabulary import pad_sequences

FORMAT: dict[str, Any] = {"least_first": True, "operands_least_first": True, "index_hints": False, "width": "padded"}


def make_model() -> Adder:
    return Adder(SumWriting(**FORMAT), positions="index")


def train(model: Adder, draw: Callable[[int], list[tuple[list[int], list[int]]]]) -> None:
    sources, targets = zip(*draw(20_000), strict=True)  # rows of ids
    source = pad_sequences(list(sources), max(map(len, sources)))  # (n, source_length)
    target = pad_sequences(list(targets), max(map(len, targets)))  # (n, target_length)
    fit(model, source, target, start_id=model.writing.alphabet.start_id, steps=1_200, learning_rate=3e-3)
