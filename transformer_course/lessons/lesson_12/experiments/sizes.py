"""Loss against size: a line on paper with two logarithmic axes, and a point beyond it."""

import numpy as np
import pandas as pd
import torch
from torch import nn

from transformer_course.language_model.modern import ModernLanguageModel
from transformer_course.lessons.lesson_11.experiments import Corpus, bits, fit, parameters
from transformer_course.lessons.lesson_12.experiments.widths import gated_width
from transformer_course.plots.picture import Picture
from transformer_course.plots.style import COLOURS, FAINT, FRAME, drawing

SMALL, NEXT, STEPS, LENGTH = (8, 12, 16, 24, 32, 48), 96, 600, 32
LOOKS = (75, 150, 300, 600)


def sized(vocab_size: int, d_model: int, kind: type[nn.Module] = ModernLanguageModel) -> nn.Module:
    """A model of this width: 2 blocks, 4 heads that share 2 key heads."""
    return kind(vocab_size, d_model, 4, 2, gated_width(d_model), 2)


def in_blocks(model: nn.Module) -> int:
    """The parameters that count here: those outside the two tables."""
    return parameters(model) - sum(table.weight.numel() for table in (model.embedding, model.output))  # type: ignore[operator, union-attr, misc]


def trained(
    corpus: Corpus, d_model: int, steps: int = STEPS, seed: int = 0, kind: type[nn.Module] = ModernLanguageModel
) -> dict[str, float]:
    """The size of one model, and its bits per character after so many steps."""
    torch.manual_seed(seed)
    model = sized(corpus.vocab_size, d_model, kind)
    run = fit(model, corpus, steps, length=LENGTH, batch_size=16, seed=seed, name=f"width {d_model}, {steps} steps")
    settings = {"width": d_model, "seed": seed, "parameters": in_blocks(model), "steps": steps, "seconds": run.seconds}
    return {**settings, "bits": bits(model, corpus, LENGTH)}


def line(table: pd.DataFrame, x: str = "parameters") -> tuple[float, float]:
    """Slope and height of the straight line through the logarithms: bits = e ** height * x ** slope."""
    slope, height = np.polyfit(np.log(table[x]), np.log(table["bits"]), 1)
    return float(slope), float(height)


def predicted(table: pd.DataFrame, value: float, x: str = "parameters") -> float:
    """Where the line is at `value`."""
    slope, height = line(table, x)
    return float(np.exp(height) * value**slope)


def scaling_plot(table: pd.DataFrame) -> Picture:
    """Bits per character against size and against steps, all axes logarithmic, with the line of the small models and
    a cross where it puts the next one."""
    small = table[(table["steps"] == STEPS) & (table["width"] != NEXT)]
    longer = table[table["width"] == 32].sort_values(["seed", "steps"])
    size = float(table[table["width"] == NEXT]["parameters"].iloc[0])
    promised = predicted(small, size)
    words = ["bits per character by parameters in the blocks, both axes logarithmic"]
    words += [f"{row.parameters:,.0f} parameters: {row.bits:.2f}" for row in small.itertuples()]
    words += [f"the line at {size:,.0f}: {promised:.2f}", "bits per character by steps, width 32"]
    words += [f"{row.steps:.0f} steps: {row.bits:.2f}" for row in longer.itertuples()]
    with drawing(10.0, 3.8, columns=2) as (figure, (left, right)):
        for axes, points, x, label in (
            (left, small, "parameters", "parameters in the blocks"),
            (right, longer, "steps", "steps, width 32"),
        ):
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.scatter(points[x], points["bits"], 30, COLOURS[0], zorder=3)
            ends = np.array([points[x].min(), max(points[x].max(), size if x == "parameters" else 0)])
            slope, height = line(points, x)
            axes.plot(ends, np.exp(height) * ends**slope, color=FAINT, linestyle=(0, (5, 2)))
            axes.set(xlabel=label, ylabel="bits per character")
            axes.minorticks_off()
            marks = np.round(np.linspace(points["bits"].min(), points["bits"].max(), 4), 2)
            axes.set_yticks(marks, [f"{mark:.2f}" for mark in marks])
        left.scatter([size], [promised], 110, FRAME, marker="x", linewidths=2.4, zorder=4)
        left.annotate(
            "promised", (size, promised), xytext=(-12, -4), textcoords="offset points", ha="right", color=FRAME
        )
    return Picture(figure, "\n".join(words))
