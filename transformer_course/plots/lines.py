"""Curves, points with fitted curves, and bars."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from transformer_course.plots.arrays import number, to_numpy
from transformer_course.plots.picture import Picture
from transformer_course.plots.style import COLOURS, DASHES, FAINT, INK, MARKERS, drawing


def curves(
    series: Mapping[str, Any],
    *,
    x: Any = None,
    x_names: Sequence[str] | None = None,
    title: str = "",
    x_label: str = "step",
    y_label: str = "loss",
    log_y: bool = False,
    log_x: bool = False,
    levels: Mapping[str, float] | None = None,
    y_limits: tuple[float, float] | None = None,
    legend: bool = False,
) -> Picture:
    """Lines over steps, each with its own dashes and its name at its end; `levels` are baselines.

    With `legend`, the names stand in a list beside the plot instead: better where several lines end in one point.

    `series` is {name: values}; all share `x`, or count 0, 1, 2, ... where `x` is not given.
    `x_names` names those counts, evenly spaced, where the values of x are names or far apart.
    Values that are infinite or not a number break off the line, and the words say so.

    >>> curves({"by hand": [4.0, 1.0, 0.25]}, title="training loss", levels={"mean": 2.0})
    training loss (loss by step)
    by hand: 4 at 0, 1 at 1, 0.25 at 2
    level mean: 2
    """
    words = [f"{title} ({y_label} by {x_label})" if title else f"{y_label} by {x_label}"]
    with drawing(7.2, 3.8) as (figure, (axes,)):
        if log_y:
            axes.set_yscale("log")
        if log_x:
            axes.set_xscale("log")
        ends = []
        for place, (name, values) in enumerate(series.items()):
            y = to_numpy(values)
            at = to_numpy(x) if x is not None else np.arange(len(y), dtype=float)
            at = at[: len(y)]
            drawn = np.where(np.isfinite(y) & ((y > 0) | (not log_y)), y, np.nan)
            colour, dashes = COLOURS[place % len(COLOURS)], DASHES[place % len(DASHES)]
            few = len(y) <= 12
            marker = MARKERS[place % len(MARKERS)] if few else "None"
            axes.plot(at, drawn, color=colour, linestyle=dashes, marker=marker, label=name)
            seen = np.flatnonzero(np.isfinite(drawn))
            if len(seen) and not legend:
                ends.append((float(drawn[seen[-1]]), name, colour))
            words.append(f"{name}: {_sampled(at, y, x_names)}")
        for name, level in (levels or {}).items():
            axes.axhline(level, color=FAINT, linestyle=(0, (2, 2)), linewidth=1.4, zorder=0)
            ends.append((level, name, "#5c616a"))
            words.append(f"level {name}: {number(level)}")
        axes.set(title=title, xlabel=x_label, ylabel=y_label)
        if y_limits is not None:
            axes.set_ylim(*y_limits)
        if x is not None and len(to_numpy(x)) <= 12:
            axes.set_xticks(to_numpy(x), [number(value) for value in to_numpy(x)])
            axes.tick_params(which="minor", axis="x", length=0)
        if x_names is not None:
            axes.set_xticks(range(len(x_names)), list(x_names))
        axes.margins(x=0.02)
        _label_ends(axes, ends)
        if legend:
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=3.6)
    return Picture(figure, "\n".join(words))


def fits(
    points: Mapping[str, tuple[Any, Any]],
    lines: Mapping[str, tuple[Any, Any]] | None = None,
    *,
    title: str = "",
    x_label: str = "x",
    y_label: str = "y",
    y_limits: tuple[float, float] | None = None,
) -> Picture:
    """Points, and curves that were fitted to them: both are {name: (x, y)}.

    >>> fits({"data": ([0, 1], [1.0, 3.0])}, {"line": ([0, 1], [1.0, 3.0])}, title="a fit")
    a fit (y by x)
    2 points of data
    line: 1 at 0, 3 at 1
    """
    words = [f"{title} ({y_label} by {x_label})" if title else f"{y_label} by {x_label}"]
    with drawing(7.2, 3.8) as (figure, (axes,)):
        for place, (name, (x, y)) in enumerate(points.items()):
            at, values = to_numpy(x).ravel(), to_numpy(y).ravel()
            size, colour = (34, INK) if place == 0 else (7, FAINT)  # the first kind stands in front
            axes.scatter(at, values, size, colour, marker=MARKERS[place], label=name, zorder=3 - place, linewidths=0)
            words.append(f"{len(at)} points of {name}")
        for place, (name, (x, y)) in enumerate((lines or {}).items()):
            at, values = to_numpy(x).ravel(), to_numpy(y).ravel()
            axes.plot(at, values, color=COLOURS[place], linestyle=DASHES[place], label=name, zorder=4)
            words.append(f"{name}: {_sampled(at, values)}")
        axes.set(title=title, xlabel=x_label, ylabel=y_label)
        if y_limits is not None:
            axes.set_ylim(*y_limits)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=2.6)
    return Picture(figure, "\n".join(words))


def bars(
    values: Mapping[str, float],
    *,
    title: str = "",
    x_label: str = "",
    guess: str | None = None,
    levels: Mapping[str, float] | None = None,
    log_x: bool = False,
) -> Picture:
    """Bars with their numbers; the one that the reader had guessed is marked "your guess".

    >>> bars({"NumPy": 2.0, "PyTorch": 1.0}, title="time", x_label="ms", guess="NumPy")
    time (ms)
    NumPy: 2 (your guess)
    PyTorch: 1
    """
    names, lengths = list(values), to_numpy(list(values.values()))
    words = [f"{title} ({x_label})" if x_label else title]
    with drawing(7.2, 1.3 + 0.45 * len(names)) as (figure, (axes,)):
        if log_x:
            axes.set_xscale("log")
        shown = np.where(np.isfinite(lengths), lengths, np.nan)
        axes.barh(names, shown, color=COLOURS[0], height=0.6)
        for place, (name, length) in enumerate(zip(names, lengths, strict=True)):
            mark = " (your guess)" if name == guess else ""
            end = length if np.isfinite(length) else axes.get_xlim()[0]
            axes.annotate(
                f"{number(length)}{mark.replace('(', ' ◄ ').replace(')', '')}",
                (end, place),
                xytext=(6, 0),
                textcoords="offset points",
                va="center",
                fontweight="bold" if mark else "normal",
                bbox={"facecolor": axes.get_facecolor(), "edgecolor": "none", "pad": 1} if levels else None,
            )
            words.append(f"{name}: {number(length)}{mark}")
        for name, level in (levels or {}).items():
            axes.axvline(level, color=FAINT, linestyle=(0, (2, 2)), linewidth=1.4)
            axes.text(level, 1.02, f" {name}", transform=axes.get_xaxis_transform(), size=10, color="#5c616a")
            words.append(f"level {name}: {number(level)}")
        axes.invert_yaxis()
        axes.margins(x=0.22)
        axes.set(xlabel=x_label)
        axes.set_title(title, pad=22 if levels else 10)
        axes.tick_params(axis="y", length=0)
    return Picture(figure, "\n".join(words))


def _sampled(x: np.ndarray, y: np.ndarray, x_names: Sequence[str] | None = None, most: int = 7) -> str:
    """At most `most` points of a line, spread evenly, as words."""
    places = sorted(set(np.linspace(0, len(y) - 1, min(most, len(y))).round().astype(int).tolist()))
    names = [x_names[place] if x_names is not None else number(float(x[place])) for place in places]
    return ", ".join(f"{number(float(y[place]))} at {name}" for place, name in zip(places, names, strict=True))


def _label_ends(axes: Axes, ends: Sequence[tuple[float, str, str]]) -> None:
    """Write each line's name behind its end, pushed apart where two would overlap."""
    to_fraction = axes.transData + axes.transAxes.inverted()
    left, gap = axes.get_xlim()[0], 0.085
    wanted = sorted(
        (float(np.clip(to_fraction.transform((left, y))[1], 0, 1)), name, colour) for y, name, colour in ends
    )
    heights: list[float] = []
    for height, _, _ in wanted:
        heights.append(max(height, heights[-1] + gap) if heights else height)
    if heights and heights[-1] > 1.0:  # pushed out at the top: move down what is in the way
        heights[-1] = 1.0
        for place in range(len(heights) - 2, -1, -1):
            heights[place] = min(heights[place], heights[place + 1] - gap)
    for (height, name, colour), placed in zip(wanted, heights, strict=True):
        arrow = {
            "arrowstyle": "-",
            "color": colour,
            "lw": 0.8,
            "shrinkA": 1,
            "shrinkB": 0,
            "relpos": (0, 0.5),
        }
        axes.annotate(
            name,
            (1.0, height),
            xytext=(1.04, placed),
            xycoords="axes fraction",
            va="center",
            size=10,
            color=colour,
            arrowprops=arrow,
        )
