"""How many answers are right at each length, inside and beyond the lengths of the training: lessons 4 to 7.

The task is reversal, trained on rows of 1 to 10 letters. Each lesson adds lines; `data/NN_lengths.csv` keeps them.
"""

from collections.abc import Callable, Collection, Sequence

import pandas as pd
import torch

from transformer_course.tasks import reversal

TRAINED = (1, 10)
LENGTHS = (4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)
WIDTH = 11  # columns of a target in training: ten letters and the end

Answer = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
ExactMatch = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def exact_by_length(
    answer: Answer,
    exact_match: ExactMatch,
    *,
    exclude: Collection[str] = (),
    lengths: Sequence[int] = LENGTHS,
    seed: int = 0,
    count: int = 100,
) -> dict[int, float]:
    """{length: share of rows that are reversed without a mistake}, on `count` new rows
    of each length.

    `answer(source, target)` returns ids (n, target_length). The rows are padded as in
    the training, to 10 and 11 columns; only longer rows get more.
    """
    shares = {}
    for length in lengths:
        rows = reversal.draw_rows(seed + 1000, count, length, min_length=length, exclude=exclude)
        source, target = reversal.tensors(rows, max(length, WIDTH - 1), max(length + 1, WIDTH))
        shares[length] = float(exact_match(answer(source, target), target))
    return shares


def lines_of(table: pd.DataFrame) -> dict[str, dict[int, float]]:
    """The lines of a table with the columns line, seed, length and exact: {line:
    {length: mean over the seeds}}.

    >>> table = pd.DataFrame({"line": ["a", "a"], "seed": [0, 1], "length": [4, 4], "exact": [1.0, 0.5]})
    >>> lines_of(table)
    {'a': {4: 0.75}}
    """
    by_line: dict[str, dict[int, list[float]]] = {}
    for line, length, exact in zip(table["line"], table["length"], table["exact"], strict=True):
        by_line.setdefault(line, {}).setdefault(int(length), []).append(float(exact))
    return {line: {n: sum(shares) / len(shares) for n, shares in of_line.items()} for line, of_line in by_line.items()}
