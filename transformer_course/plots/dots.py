"""One row a variant, one dot a run: what differs, and what is only the luck of a seed."""

from collections.abc import Mapping, Sequence

import numpy as np

from transformer_course.plots.arrays import number, to_numpy
from transformer_course.plots.picture import Picture
from transformer_course.plots.style import COLOURS, FAINT, MARKERS, drawing


def dots(
    rows: Mapping[str, Mapping[str, Sequence[float]]],
    *,
    title: str = "",
    x_label: str = "",
    levels: Mapping[str, float] | None = None,
    x_limits: tuple[float, float] | None = None,
) -> Picture:
    """Dots on a line for each row: `rows` is {row: {series: one value a run}}. The first series lies on top.

    Each series has its own marker and height within the row; a thin line joins its runs, from lowest to highest.

    >>> dots({"complete": {"all": [0.98, 0.99]}, "1 head": {"all": [0.97]}}, title="accuracy")
    accuracy
    complete: all 0.98, 0.99
    1 head: all 0.97
    """
    names = list(rows)
    series = list(dict.fromkeys(name for row in rows.values() for name in row))
    words = [f"{title} ({x_label})" if x_label else title]
    with drawing(7.6, 1.5 + 0.24 * len(names) * (1 + 0.35 * len(series))) as (figure, (axes,)):
        labelled: set[str] = set()  # each series stands in the legend once
        for place, name in enumerate(names):
            if place % 2:
                axes.axhspan(place - 0.5, place + 0.5, color="#f1f1ee", zorder=0, linewidth=0)
            parts = []
            for nth, kind in enumerate(series):
                if kind not in rows[name]:
                    continue
                values = to_numpy(list(rows[name][kind]))
                height = place + 0.62 * ((nth + 0.5) / len(series) - 0.5)
                colour, marker = COLOURS[nth % len(COLOURS)], MARKERS[nth % len(MARKERS)]
                label = kind if kind not in labelled else None
                labelled.add(kind)
                axes.plot(values, np.full(len(values), height), color=colour, linewidth=1.2, zorder=2)
                axes.scatter(values, np.full(len(values), height), 34, colour, marker=marker, label=label, zorder=3)
                parts.append(f"{kind} {', '.join(number(float(value)) for value in values)}")
            words.append(f"{name}: {'; '.join(parts)}")
        for name, level in (levels or {}).items():
            axes.axvline(level, color=FAINT, linestyle=(0, (2, 2)), linewidth=1.4, zorder=1)
            axes.text(level, 1.01, name, transform=axes.get_xaxis_transform(), size=9.5, color="#5c616a", ha="center")
            words.append(f"level {name}: {number(level)}")
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        if x_limits is not None:
            axes.set_xlim(*x_limits)
        axes.set(xlabel=x_label)
        axes.set_title(title, pad=22 if levels else 10)
        axes.tick_params(axis="y", length=0)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return Picture(figure, "\n".join(words))
