"""Token ids in a grid. Ids are names, so no shade stands for their size: only special ids look different."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.patches import Rectangle

from transformer_course.plots.arrays import to_numpy
from transformer_course.plots.heat import as_text
from transformer_course.plots.picture import Picture
from transformer_course.plots.style import CARD, FAINT, FRAME, INK, drawing

PALE = "#e8edf2"  # an ordinary token


def ids(
    tokens: Any,
    row_labels: Sequence[str] | None = None,
    *,
    symbols: Mapping[int, str] | None = None,
    special: Mapping[int, str] | None = None,
    title: str = "",
    columns: str = "position",
) -> Picture:
    """A batch of token ids, (rows, length), one cell for each id.

    `symbols` is {id: what it stands for}, written small under the id. `special` is {id: its role}: padding, id 0, is
    hatched, and any other special id is framed.

    >>> ids([[2, 3, 0], [1, 0, 0]], ["b-", "a"], special={0: "padding"}, title="two texts")
    two texts
    b- 2 3 0
    a  1 0 0
    0: padding
    """
    rows = np.atleast_2d(to_numpy(tokens)).astype(int)
    special, symbols = special or {}, symbols or {}
    height, width = rows.shape
    with drawing(min(9.0, 1.6 + 0.62 * width), min(7.0, 1.2 + 0.52 * height)) as (figure, (axes,)):
        axes.set_xlim(-0.5, width - 0.5)
        axes.set_ylim(height - 0.5, -0.5)
        for (row, column), token in np.ndenumerate(rows):
            plain, padding = token not in special, token == 0 and token in special
            axes.add_patch(
                Rectangle(
                    (column - 0.46, row - 0.44),
                    0.92,
                    0.88,
                    facecolor=PALE if plain else CARD,
                    edgecolor=FAINT if plain or padding else FRAME,
                    linewidth=0.8 if plain or padding else 2.4,
                    hatch="////" if padding else None,
                )
            )
            behind = {"facecolor": CARD, "edgecolor": "none", "pad": 1} if padding else None
            symbol = special.get(int(token)) if not plain and not padding else symbols.get(int(token))
            lift = 0.12 if symbol else 0.0
            axes.text(column, row - lift, str(token), ha="center", va="center", size=10, color=INK, bbox=behind)
            if symbol:
                axes.text(column, row + 0.26, symbol, ha="center", va="center", size=7.5, color="#5c616a")
        axes.set_xticks(range(width))
        axes.set_yticks(range(height), row_labels if row_labels is not None else [str(i) for i in range(height)])
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        axes.set(title=title, xlabel=columns)
    words = [title] if title else []
    words.append(as_text(rows, row_labels, numbers=True))
    words += [f"{token}: {role}" for token, role in special.items()]
    return Picture(figure, "\n".join(words))
