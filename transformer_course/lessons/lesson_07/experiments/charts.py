"""How lesson 7 draws what it measures."""

from collections.abc import Mapping, Sequence

import torch

from transformer_course import plots
from transformer_course.plots import Picture


def draw_cuts(
    places: Mapping[str, torch.Tensor], left: Mapping[str, torch.Tensor], *, cut: str, names: Sequence[str], title: str
) -> Picture:
    """The probabilities at some places, each before and after a cut; the logits are (1, vocab_size).

    >>> one_left = {"here": torch.tensor([[0.0, -torch.inf]])}
    >>> draw_cuts({"here": torch.zeros(1, 2)}, one_left, cut="top 1", names="ab", title="Top-k")
    Top-k
    here: a 0.5, b 0.5
    here, top 1: a 1, b none
    """
    bars = {}
    for name, logits in places.items():
        bars[name] = torch.softmax(logits, dim=-1)[0]
        bars[f"{name}, {cut}"] = torch.softmax(left[name], dim=-1)[0]
    return plots.chances(bars, names, title=title)


def draw_many(lines: Mapping[str, Sequence[float]], counts: Sequence[int], greedy: float) -> Picture:
    """The share of rows right with n answers for each source, beside that of greedy decoding."""
    return plots.curves(
        lines,
        x_names=[str(n) for n in counts],
        title="More answers",
        x_label="n",
        y_label="rows right",
        levels={"greedy": greedy},
        y_limits=(0, 1),
    )


def draw_costs(what: str, numbers: Mapping[str, Sequence[float]], lengths: Sequence[int]) -> Picture:
    """What each decoder costs, by the length of the answer."""
    return plots.curves(
        numbers,
        x=lengths,
        title=f"{what}, by length of the answer",
        x_label="tokens in the answer",
        y_label=what,
    )
