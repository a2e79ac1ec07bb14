"""The plot that grows from lesson 4 to lesson 7: who gets how many answers right, by the length of the row."""

from collections.abc import Mapping

from transformer_course.plots.lines import curves
from transformer_course.plots.picture import Picture


def by_length(
    lines: Mapping[str, Mapping[int, float]],
    *,
    trained: tuple[int, int],
    title: str = "Right answers by length",
    x_label: str = "length",
    legend: bool = False,
) -> Picture:
    """One line a model, {length: share of exact answers}; the lengths that it was trained on are shaded.

    `legend` is that of `curves`.

    >>> by_length({"mine": {9: 1.0, 10: 0.9, 11: 0.0}}, trained=(1, 10))
    Right answers by length (exact match by length)
    mine: 1 at 9, 0.9 at 10, 0 at 11
    trained on lengths 1 to 10
    """
    lengths = sorted({length for line in lines.values() for length in line})
    series = {name: [line.get(length, float("nan")) for length in lengths] for name, line in lines.items()}
    names = [str(length) for length in lengths]
    picture = curves(
        series,
        x_names=names,
        title=title,
        x_label=x_label,
        y_label="exact match",
        y_limits=(-0.04, 1.06),
        legend=legend,
    )
    axes = picture.figure.axes[0]
    inside = [place for place, length in enumerate(lengths) if trained[0] <= length <= trained[1]]
    if inside:
        axes.axvspan(-0.5, inside[-1] + 0.5, color="#e9edf0", zorder=-1, linewidth=0)
        axes.text(0.0, 0.5, "trained on these lengths", va="center", size=10, color="#5c616a", zorder=0)
        axes.set_xlim(-0.5, len(lengths) - 0.5)
    return Picture(picture.figure, f"{picture.text}\ntrained on lengths {trained[0]} to {trained[1]}")
