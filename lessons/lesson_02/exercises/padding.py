"""`pad_sequences`: cases, mistakes and variants."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch.nn import functional as F
from torch.nn.utils import rnn

from course.vocabulary import pad_sequences
from grader.authoring.aspects import USUAL, dtype, main, refused, shape, untouched
from grader.authoring.draw import dims
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.aspects import special

Sequences = list[list[int]]


def _batches(generator: np.random.Generator) -> list[Case]:
    def draw(lengths: list[int], room: int, **more: int) -> dict[str, Any]:
        ids = [[int(i) for i in generator.integers(1, 30, length)] for length in lengths]
        for sequence in ids:
            while len(sequence) > 1 and sequence[0] == sequence[-1]:
                sequence[-1] = int(generator.integers(1, 30))
        return {"sequences": ids, "max_length": room, **more}

    def lengths(count: int) -> list[int]:
        while True:
            drawn = dims(generator, count, 2, 7)
            if max(drawn) != drawn[0]:
                return drawn

    three, four, full, wide = lengths(3), lengths(4), lengths(3), lengths(3)
    pad_id = int(generator.integers(31, 40))
    return [
        Case("on three sequences", draw(three, max(three) + 3), USUAL),
        Case("on four sequences", draw(four, max(four) + 2), USUAL),
        Case("on a batch of one", draw([4], 6), frozenset({"one"})),
        Case("where the longest sequence just fits", draw(full, max(full)), frozenset({"full"})),
        Case("with an empty sequence", draw([3, 0, 2], 5), frozenset({"empty"})),
        Case("with another pad_id", draw(four, max(four) + 2, pad_id=pad_id), frozenset({"pad_id"})),
        Case("where one sequence is one id too long", draw(wide, max(wide) - 1), frozenset({"long"})),
        Case("where one sequence is far too long", draw([2, 9], 4), frozenset({"long"})),
        Case("where the only sequence is too long", draw([6], 4), frozenset({"long"})),
        Case("where every sequence is one id too long", draw([5, 5, 5], 4), frozenset({"long"})),
    ]


def _padded(
    sequences: Sequences, max_length: int, pad_id: int = 0, *, left: bool = False, kind: torch.dtype = torch.long
) -> torch.Tensor:
    if any(len(sequence) > max_length for sequence in sequences):
        raise ValueError("too long")
    rows = []
    for sequence in sequences:
        filling = [pad_id] * (max_length - len(sequence))
        rows.append([*filling, *sequence] if left else [*sequence, *filling])
    return torch.tensor(rows, dtype=kind)


def _cut(sequences: Sequences, max_length: int, pad_id: int = 0) -> torch.Tensor:
    return _padded([sequence[:max_length] for sequence in sequences], max_length, pad_id)


def _end_kept(sequences: Sequences, max_length: int, pad_id: int = 0) -> torch.Tensor:
    return _padded([sequence[-max_length:] for sequence in sequences], max_length, pad_id)


def _never_checked(sequences: Sequences, max_length: int, pad_id: int = 0) -> torch.Tensor:
    """Refuses rows of different lengths, since no tensor can hold them; a batch that is too long as a whole passes."""
    return torch.tensor([sequence + [pad_id] * (max_length - len(sequence)) for sequence in sequences])


def _to_the_longest(sequences: Sequences, max_length: int, pad_id: int = 0) -> torch.Tensor:
    _padded(sequences, max_length)
    return _padded(sequences, max(map(len, sequences)), pad_id)


def _grows_where_needed(sequences: Sequences, max_length: int, pad_id: int = 0) -> torch.Tensor:
    return _padded(sequences, max([max_length, *map(len, sequences)]), pad_id)


def _full_refused(sequences: Sequences, max_length: int, pad_id: int = 0) -> torch.Tensor:
    if any(len(sequence) >= max_length for sequence in sequences):
        raise ValueError("too long")
    return _padded(sequences, max_length, pad_id)


def _appended(sequences: Sequences, max_length: int, pad_id: int = 0) -> torch.Tensor:
    for sequence in sequences:
        if len(sequence) > max_length:
            raise ValueError("too long")
        while len(sequence) < max_length:
            sequence.append(pad_id)
    return torch.tensor(sequences)


def _by_rnn(sequences: Sequences, max_length: int, pad_id: int = 0) -> torch.Tensor:
    if max(map(len, sequences)) > max_length:
        raise ValueError("too long")
    rows = [torch.tensor(sequence, dtype=torch.long) for sequence in sequences]
    padded = rnn.pad_sequence(rows, batch_first=True, padding_value=float(pad_id))
    return F.pad(padded, (0, max_length - padded.shape[1]), value=pad_id)


def _by_filling(sequences: Sequences, max_length: int, pad_id: int = 0) -> torch.Tensor:
    result = torch.full((len(sequences), max_length), pad_id, dtype=torch.int64)
    for i, sequence in enumerate(sequences):
        for j, place in enumerate(sequence):
            result[i, j] = place
    return result


def _by_numpy(sequences: Sequences, max_length: int, pad_id: int = 0) -> torch.Tensor:
    rows = [
        np.pad(np.array(sequence, dtype=np.int64), (0, max_length - len(sequence)), constant_values=pad_id)
        for sequence in sequences
    ]
    return torch.from_numpy(np.stack(rows))


PAD_SEQUENCES = Exercise(
    symbol="pad_sequences",
    points=2,
    cases=_batches,
    references=(pad_sequences,),
    aspects=(
        shape("shape (n, max_length)", "The result has one row per sequence and max_length columns."),
        main("ids left, padding right", meaning="Each row starts with its sequence's ids, and padding fills the rest."),
        dtype("whole numbers, int64", meaning="The result holds integers, of dtype int64."),
        special("a batch of one", "one"),
        special("a sequence that just fits", "full", meaning="A sequence of exactly max_length ids is kept whole."),
        special("an empty sequence", "empty", meaning="An empty sequence becomes a row of nothing but padding."),
        special("another pad_id", "pad_id"),
        refused("too long is refused", "long", weight=7.0),
        untouched("the sequences stay as they were"),
    ),
    mistakes=(
        Mistake(
            "padded_on_the_left",
            lambda s, max_length, pad_id=0: _padded(s, max_length, pad_id, left=True),
            "Your padding comes first. On which side of its row should a sequence begin?",
            central=True,
        ),
        Mistake(
            "cut_off",
            _cut,
            "A sequence that is too long silently loses its end. What should happen instead?",
            central=True,
        ),
        Mistake(
            "length_never_checked",
            _never_checked,
            "If all sequences are too long by the same amount, a tensor wider than max_length comes back. "
            "Where do you compare the lengths with max_length?",
            central=True,
        ),
        Mistake(
            "beginning_cut_off",
            _end_kept,
            "A sequence that is too long silently loses its beginning. What should happen instead?",
        ),
        Mistake(
            "to_the_longest",
            _to_the_longest,
            "Your tensor is only as wide as the longest sequence. Which argument says how wide it should be?",
        ),
        Mistake(
            "wider_where_needed",
            _grows_where_needed,
            "A sequence that is too long makes the whole tensor wider. What should happen instead?",
        ),
        Mistake(
            "exact_fit_refused",
            _full_refused,
            "A sequence with exactly max_length ids is refused. Does it need any padding?",
        ),
        Mistake(
            "pad_id_ignored",
            lambda s, max_length, pad_id=0: _padded(s, max_length),
            "Your padding is always 0. Which argument says what it should be?",
        ),
        Mistake(
            "lists_returned",
            lambda s, max_length, pad_id=0: _padded(s, max_length, pad_id).tolist(),
            "The rows are right, but they are lists. What turns lists of equal length into one tensor?",
        ),
        Mistake(
            "array_returned",
            lambda s, max_length, pad_id=0: _padded(s, max_length, pad_id).numpy(),
            "The rows are right, but they are in a NumPy array. Which library's tensors does our model take?",
        ),
        Mistake(
            "float_numbers",
            lambda s, max_length, pad_id=0: _padded(s, max_length, pad_id, kind=torch.float32),
            "Your ids are floating-point numbers, the default of torch.zeros. Which dtype do integers have?",
        ),
        Mistake(
            "small_integers",
            lambda s, max_length, pad_id=0: _padded(s, max_length, pad_id, kind=torch.int32),
            "Your ids are int32. Which dtype does a LongTensor have?",
        ),
        Mistake(
            "columns_for_rows",
            lambda s, max_length, pad_id=0: _padded(s, max_length, pad_id).T,
            "Your tensor is (max_length, n): each sequence is a column. Which axis should count the sequences?",
        ),
        Mistake(
            "one_long_row",
            lambda s, max_length, pad_id=0: _padded(s, max_length, pad_id).flatten(),
            "All sequences are in one long row. How many axes does (n, max_length) have?",
        ),
        Mistake(
            "first_sequence_only",
            lambda s, max_length, pad_id=0: _padded(s, max_length, pad_id)[0],
            "Only the first sequence came back. Is the return inside the loop?",
        ),
        Mistake(
            "sequences_grow",
            _appended,
            "The tensor is right, but the caller's own lists were padded too. Which operation makes a new list?",
        ),
    ),
    variants={
        "new lists": _padded,
        "pad_sequence, then pad": _by_rnn,
        "entry by entry": _by_filling,
        "NumPy": _by_numpy,
        "stack": lambda s, max_length, pad_id=0: torch.stack([_padded([x], max_length, pad_id)[0] for x in s]),
    },
)
