"""What a sampler does to one distribution: bars beside bars, with what was dropped left empty."""

from collections.abc import Mapping, Sequence
from typing import Any

from transformer_course.plots.arrays import number, to_numpy
from transformer_course.plots.picture import Picture
from transformer_course.plots.style import COLOURS, FAINT, drawing


def chances(distributions: Mapping[str, Any], labels: Sequence[str], *, title: str = "") -> Picture:
    """One panel a distribution, {name: chances of all labels}; a label with chance 0 is marked with a cross.

    >>> chances({"as it is": [0.5, 0.3, 0.2], "top 2": [0.625, 0.375, 0.0]}, list("abc"))
    as it is: a 0.5, b 0.3, c 0.2
    top 2: a 0.625, b 0.375, c none
    """
    tables = {name: to_numpy(values) for name, values in distributions.items()}
    words = [title] if title else []
    highest = max(float(values.max()) for values in tables.values())
    with drawing(min(11.0, 2.6 + 2.1 * len(tables)), 0.9 + 0.27 * len(labels), len(tables), sharey=True) as (
        figure,
        panels,
    ):
        for panel, (name, values) in zip(panels, tables.items(), strict=True):
            panel.barh(range(len(labels)), values, color=COLOURS[0], height=0.7)
            bars = []
            for place, (label, value) in enumerate(zip(labels, values, strict=True)):
                text = number(float(round(value, 3))) if value > 0 else "none"
                panel.annotate(
                    text,
                    (value, place),
                    xytext=(4, 0),
                    textcoords="offset points",
                    va="center",
                    size=9,
                    color="#5c616a" if value > 0 else FAINT,
                )
                bars.append(f"{label} {number(float(value)) if value > 0 else 'none'}")
            words.append(f"{name}: {', '.join(bars)}")
            panel.set(xlim=(0, 1.3 * highest), xticks=[])
            panel.set_title(name, size=10.5)
            panel.spines["bottom"].set_visible(False)
            panel.tick_params(axis="y", length=0)
        panels[0].set_yticks(range(len(labels)), labels)
        panels[0].invert_yaxis()
        if title:
            figure.suptitle(title, x=0.01, ha="left", size=12)
    return Picture(figure, "\n".join(words))
