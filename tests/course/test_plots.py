"""Plots: each returns a figure with the same in words, on a solid light card, and none stays open."""

import io

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb

from transformer_course import plots
from transformer_course.plots.style import CARD, COLOURS, DASHES, MARKERS


def test_no_figure_stays_open_and_no_style_leaks() -> None:
    plt.close("all")
    colour = mpl.rcParams["axes.facecolor"]
    plots.heatmap(torch.eye(3))
    plots.curves({"loss": [1.0, 0.5]})
    assert plt.get_fignums() == []
    assert mpl.rcParams["axes.facecolor"] == colour


def test_the_card_is_opaque_in_the_file_itself() -> None:
    png = plots.heatmap(np.eye(2)).png()
    red, green, blue, opacity = plt.imread(io.BytesIO(png))[0, 0]
    assert opacity == 1
    assert min(red, green, blue) > 0.9


def test_every_line_can_be_told_from_the_others_without_colour() -> None:
    assert len(set(map(str, DASHES))) == len(DASHES) == len(COLOURS) == len(set(MARKERS))


@pytest.mark.parametrize("colour", COLOURS)
def test_lines_and_labels_stand_out_from_the_card(colour: str) -> None:
    def brightness(name: str) -> float:
        parts = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(name)]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    assert (brightness(CARD) + 0.05) / (brightness(colour) + 0.05) > 3.0


def test_a_heat_map_in_words_holds_every_number_and_what_is_framed() -> None:
    text = plots.heatmap(torch.tensor([[1.0, -2.5]], requires_grad=True), ["row"], ["a", "b"], outline=[(0, 1)]).text
    assert text.splitlines() == ["    a    b", "row 1 -2.5", "framed: row 0 column 1"]


def test_a_large_heat_map_becomes_blocks() -> None:
    text = plots.as_text(torch.linspace(0, 1, 40).reshape(2, 20))
    assert text.splitlines()[0].startswith("| ")
    assert "from 0 (empty) to 1 (full)" in text


def test_curves_survive_runs_that_explode() -> None:
    picture = plots.curves({"wild": [1.0, float("inf"), float("nan")], "calm": [1.0, 0.5, 0.2]}, log_y=True)
    assert "infinite at 1, not a number at 2" in picture.text
    assert picture.png()
    assert plots.curves({"lost": [float("nan")] * 3}).png()


def test_bars_mark_the_guess_and_survive_numbers_that_are_none() -> None:
    picture = plots.bars({"rate 1": float("nan"), "rate 0.1": 0.2}, guess="rate 0.1", log_x=True)
    assert "rate 1: not a number" in picture.text
    assert "rate 0.1: 0.2 (your guess)" in picture.text
    assert picture.png()


def test_heat_maps_side_by_side_share_their_shades_and_say_every_number() -> None:
    picture = plots.heatmaps({"head 0": torch.eye(2), "head 1": torch.full((2, 2), 0.5)}, ["a", "b"], title="two heads")
    assert picture.text.splitlines() == ["two heads", "head 0", "a 1 0", "b 0 1", "head 1", "a 0.5 0.5", "b 0.5 0.5"]
    limits = [axes.images[0].get_clim() for axes in picture.figure.axes]
    assert limits[0] == limits[1] == (0.0, 1.0)


def test_many_narrow_heat_maps_get_a_bar_in_place_of_numbers() -> None:
    maps = {f"head {head}": torch.rand(8, 8) for head in range(4)}
    picture = plots.heatmaps(maps)
    assert len(picture.figure.axes) == 5
    assert "head 3" in picture.text


def test_dots_tell_each_series_by_its_marker_and_say_every_run() -> None:
    picture = plots.dots(
        {"complete": {"all": [0.99, 0.98], "hard": [0.8]}, "1 head": {"all": [0.97]}}, title="t", levels={"coin": 0.5}
    )
    assert picture.text.splitlines() == [
        "t",
        "complete: all 0.99, 0.98; hard 0.8",
        "1 head: all 0.97",
        "level coin: 0.5",
    ]
    assert picture.png()


def test_the_plot_by_length_shades_what_was_trained_and_survives_a_missing_length() -> None:
    picture = plots.by_length({"a": {9: 1.0, 11: 0.5}, "b": {9: 0.5, 10: 0.25}}, trained=(1, 10))
    assert picture.text.splitlines()[-1] == "trained on lengths 1 to 10"
    assert "not a number at 10" in picture.text
    assert picture.png()
