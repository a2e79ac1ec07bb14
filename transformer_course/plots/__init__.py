"""Plots in one style. Each function returns a `Picture`: a figure with the same in words."""

from transformer_course.plots.chances import chances
from transformer_course.plots.dots import dots
from transformer_course.plots.heat import as_text, heatmap, heatmaps
from transformer_course.plots.ids import ids
from transformer_course.plots.lengths import by_length
from transformer_course.plots.lines import bars, curves, fits
from transformer_course.plots.moving import Moving, decoding_steps
from transformer_course.plots.picture import Picture

__all__ = [
    "Moving",
    "Picture",
    "as_text",
    "bars",
    "by_length",
    "chances",
    "curves",
    "decoding_steps",
    "dots",
    "fits",
    "heatmap",
    "heatmaps",
    "ids",
]
