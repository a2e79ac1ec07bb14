"""Plots in one style. Each function returns a `Picture`: a figure with the same in words."""

from course.plots.heat import as_text, heatmap
from course.plots.lengths import by_length
from course.plots.lines import bars, curves, fits
from course.plots.picture import Picture

__all__ = ["Picture", "as_text", "bars", "by_length", "curves", "fits", "heatmap"]
