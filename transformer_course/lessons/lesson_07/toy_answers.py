"""The toy model that the bug clinic of lesson 07 decodes with."""

import torch

END = 1


def answer_of(sources: torch.Tensor) -> torch.Tensor:
    """The toy model: (batch, length) -> the right answers (batch, columns), each with its end, then padding.

    The first token of a source says how long its answer is: as many tokens, and the end.
    """
    rows = []
    for source in sources.tolist():
        ids = [2 + (3 * source[1 + i % (len(source) - 1)] + i) % 7 for i in range(source[0])]
        rows.append(torch.tensor([*ids, END]))
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
