"""Plots in one style. Each function returns a `Picture`: a figure with the same in words."""

from course.plots.chances import chances
from course.plots.dots import dots
from course.plots.heat import as_text, heatmap, heatmaps
from course.plots.ids import ids
from course.plots.lengths import by_length
from course.plots.lines import bars, curves, fits
from course.plots.moving import Moving, decoding_steps
from course.plots.picture import Picture

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
