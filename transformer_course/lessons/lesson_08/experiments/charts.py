"""Lesson 8's charts: what was measured, drawn, and nothing else."""

from collections.abc import Mapping, Sequence

import pandas as pd
import torch

from transformer_course import plots
from transformer_course.lessons.lesson_08.experiments.ladder import Learnt
from transformer_course.plots import Picture

SHARES = (-0.04, 1.06)
"""The height of a chart of shares, so that a line at 0 or at 1 can be seen."""


def influence_chart(influence: pd.DataFrame) -> Picture:
    """The table of `influence_by_distance`: a line for each kind of layer."""
    return plots.curves(
        {name: influence[name] for name in influence.columns if name != "distance"},
        x=influence["distance"],
        title="How much the last output depends on a token further back",
        x_label="positions back",
        y_label="influence",
        log_y=True,
    )


def movements_chart(moved: torch.Tensor, side: str) -> Picture:
    """What `movements` measured on one side, (outputs, tokens).

    >>> movements_chart(torch.tensor([[0.5, 0.0], [0.25, 0.5]]), "target")
    Movement when a target token changes
    columns: target token
                0   1
    output 0  0.5   0
    output 1 0.25 0.5
    """
    return plots.heatmap(
        moved,
        [f"output {place}" for place in range(moved.shape[0])],
        [str(place) for place in range(moved.shape[1])],
        title=f"Movement when a {side} token changes",
        columns=f"{side} token",
    )


def looks_chart(
    maps: Mapping[str, torch.Tensor],
    who: Sequence[str],
    at_whom: Sequence[str],
    *,
    title: str,
    rows: str = "written",
    columns: str = "read",
) -> Picture:
    """Who looks at whom, head by head: each map is (who, at whom).

    >>> looks_chart({"head 0": torch.eye(2)}, ["b", "a"], "ab", title="ab, as it is")
    ab, as it is
    rows: written; columns: read
    head 0
      a b
    b 1 0
    a 0 1
    """
    return plots.heatmaps(maps, who, list(at_whom), title=title, rows=rows, columns=columns, low=0, high=1)


def reversal_chart(learnt: Learnt) -> Picture:
    """The shares of right tokens and of right rows, while a model learns to write backwards."""
    return plots.curves(
        {name: learnt.curve[name] for name in ("tokens", "rows")},
        x=learnt.curve["step"],
        title="Letters backwards, on unseen rows",
        y_label="share right",
        y_limits=SHARES,
    )


def rows_chart(models: Mapping[str, Learnt]) -> Picture:
    """The share of right rows, while each of three models learns to write backwards."""
    return plots.curves(
        {name: learnt.curve["rows"] for name, learnt in models.items()},
        x=next(iter(models.values())).curve["step"],
        title="Letters backwards, three models",
        y_label="rows right",
        y_limits=SHARES,
    )


def translation_chart(curve: pd.DataFrame) -> Picture:
    """The loss on the validation set that `train_translator` noted."""
    return plots.curves(
        {"validation loss": curve["validation loss"]},
        x=curve["step"],
        title="English to German",
        y_label="nats per token",
    )
