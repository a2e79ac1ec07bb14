"""Lesson 1's pictures: shapes, a network of bends, a slope and a step, and a loss that pairs wrongly."""

import numpy as np
from matplotlib.figure import Figure

from transformer_course.plots.cells import arrow, blank, box, cells, sign
from transformer_course.plots.style import COLOURS, DASHES, FAINT, FRAME, INK, drawing
from transformer_course.tasks.curve import grid, noisy_curve, true_curve

__all__ = [
    "broadcast_pairs",
    "broadcasting",
    "curve_from_points",
    "every_row_with_every_row",
    "loss_as_a_chain",
    "module_tree",
    "network_shapes",
    "one_entry_a_row",
    "one_epoch",
    "slope_of_a_loss",
    "squared_errors",
    "squares_of_weights",
    "steps_downhill",
    "tent_from_two_bends",
    "training_loop",
    "two_dialects",
    "view_against_transpose",
]

# Where a trained network's curve bends, as (x, y); in between it is straight. Training ends a little differently on
# another processor, so a picture trains nothing. `tests/course/test_plots.py` trains this network again.
NETWORK_BENDS = (
    *((-2.0, -0.44), (-1.64, 0.48), (-1.62, 0.48), (-1.33, 0.25), (-1.07, -0.29), (-0.8, -1.01), (-0.7, -1.23)),
    *((-0.6, -1.39), (0.06, 0.18), (0.39, 1.21), (0.78, 1.05), (1.2, 1.22), (1.21, 1.21), (1.22, 1.17)),
    *((1.44, -0.39), (1.46, -0.44), (2.0, 0.5)),
)


def curve_from_points() -> Figure:
    """The lesson's goal: noisy points, the curve behind them, and what a trained network makes of them."""
    data, x = noisy_curve(seed=0), grid()
    with drawing(7.2, 3.6) as (figure, (axes,)):
        axes.scatter(data.train_inputs, data.train_targets, s=36, color=INK, label="24 noisy points", zorder=3)
        found_x, found_y = zip(*NETWORK_BENDS, strict=True)
        axes.plot(found_x, found_y, color=COLOURS[0], label="what a network found", zorder=4)
        axes.plot(x, true_curve(x), color=COLOURS[1], linestyle=DASHES[1], label="the curve behind them")
        axes.set(xlabel="x", ylabel="y", title="Points in, curve out")
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=2.6)
    return figure


def broadcasting() -> Figure:
    """A (3, 1) column plus a (4,) row: both are repeated until they fit."""
    column, row = np.array([[0], [10], [20]]), np.array([[1, 2, 3, 4]])
    with drawing(7.4, 2.6) as (figure, (axes,)):
        blank(axes, 12.6, 4.3)
        cells(axes, 0.3, 0.8, column, lit=[(1, 0)], title="(3, 1)")
        sign(axes, 2.2, 2.3, "+")
        cells(axes, 3.0, 1.8, row, lit=[(0, 2)], title="(4,)")
        sign(axes, 7.6, 2.3, "=")
        cells(axes, 8.2, 0.8, column + row, lit=[(1, 2)], title="(3, 4)")
    return figure


def view_against_transpose() -> Figure:
    """The numbers 0 to 5 as (2, 3), then twice as (3, 2): once viewed, once transposed."""
    x = np.arange(6).reshape(2, 3)
    with drawing(7.4, 2.7) as (figure, (axes,)):
        blank(axes, 12.4, 4.3)
        cells(axes, 0.3, 0.9, x, lit=[(0, 1)], title="x: (2, 3)")
        sign(axes, 4.1, 2.3, "→")
        cells(axes, 5.0, 0.9, x.reshape(3, 2), lit=[(0, 1)], title="x.view(3, 2)")
        sign(axes, 8.3, 2.3, "or", size=12)
        cells(axes, 9.5, 0.9, x.T, lit=[(1, 0)], title="x.T: (3, 2)")
    return figure


def every_row_with_every_row() -> Figure:
    """Two rows against three rows: a 2 by 3 table of dot products."""
    a, b = np.array([[1, 2], [3, 4]]), np.array([[1, 0], [0, 1], [1, 1]])
    with drawing(7.4, 2.8) as (figure, (axes,)):
        blank(axes, 12.4, 4.9)
        cells(axes, 0.3, 1.2, a, lit=[(1, 0), (1, 1)], title="a: n = 2 rows", below="d = 2")
        cells(axes, 4.4, 0.9, b, lit=[(2, 0), (2, 1)], title="b: m = 3 rows", below="d = 2")
        arrow(axes, (6.8, 2.4), (8.4, 2.4))
        cells(axes, 9.0, 1.2, a @ b.T, lit=[(1, 2)], title="result: (2, 3)", below="3·1 + 4·1 = 7")
    return figure


def one_entry_a_row() -> Figure:
    """A (3, 4) table, an index per row, and the entries it picks."""
    values = np.array([[5, 1, 8, 2], [7, 3, 0, 6], [4, 9, 1, 2]])
    index = [2, 0, 3]
    with drawing(7.4, 2.6) as (figure, (axes,)):
        blank(axes, 12.4, 4.3)
        lit = list(enumerate(index))
        cells(axes, 0.3, 0.9, values, lit=lit, title="values: (3, 4)")
        cells(axes, 6.2, 0.9, [[place] for place in index], title="index: (3,)")
        arrow(axes, (7.8, 2.4), (9.2, 2.4))
        picked = [[values[place]] for place in lit]
        cells(axes, 10.0, 0.9, picked, lit=[(0, 0), (1, 0), (2, 0)], title="picked: (3,)")
    return figure


def network_shapes() -> Figure:
    """Inputs (n, 1) on their way to predictions (n, 1), with every shape on the way."""
    with drawing(8.2, 1.9) as (figure, (axes,)):
        blank(axes, 16.6, 3.2)
        stations = [(1.1, "inputs"), (5.9, "hidden"), (10.7, "hidden"), (15.5, "predictions")]
        shapes = ["(n, 1)", "(n, 32)", "(n, 32)", "(n, 1)"]
        steps = ["@ W + b\nReLU", "@ W + b\nReLU", "@ W + b\nno ReLU"]
        weights = ["W (1, 32)", "W (32, 32)", "W (32, 1)"]
        for (x, name), shape in zip(stations, shapes, strict=True):
            box(axes, x, 1.6, f"{name}\n{shape}", width=2.1, height=1.3)
        for (x, _), step, weight in zip(stations, steps, weights, strict=False):
            arrow(axes, (x + 1.15, 1.6), (x + 3.65, 1.6))
            axes.text(x + 2.4, 1.35, step, ha="center", va="bottom", size=9.5)
            axes.text(x + 2.4, 1.85, weight, ha="center", va="top", size=9.5)
    return figure


def tent_from_two_bends() -> Figure:
    """Two ReLUs, each with one bend, and their sum `h1 - 2 h2`: a tent over x = 1."""
    x = np.linspace(-0.5, 2.0, 101)
    first, second = np.maximum(x, 0), np.maximum(x - 1, 0)
    panels = [
        ("h1 = relu(x)", first),
        ("h2 = relu(x - 1)", second),
        ("h1 - 2·h2: a tent", first - 2 * second),
    ]
    with drawing(8.2, 2.4, columns=3, sharey=True) as (figure, axes):
        for panel, (title, y) in zip(axes, panels, strict=True):
            panel.plot(x, y, color=COLOURS[0])
            panel.set(title=title, xticks=[0, 1, 2], ylim=(-0.3, 2.1), xlabel="x")
            at = np.array([0.0, 1.0, 2.0])
            heights = np.interp(at, x, y)
            panel.scatter(at, heights, color=COLOURS[1], zorder=3)
            for place, height in zip(at, heights, strict=True):
                panel.annotate(f"{height:.0f}", (place, height), xytext=(0, 7), textcoords="offset points", ha="right")
    return figure


def squared_errors() -> Figure:
    """Two predictions and their targets: each error drawn as a square, its area the squared error."""
    with drawing(6.4, 3.0) as (figure, (axes,)):
        x, targets = np.array([1.0, 2.0]), np.array([2.0, 7.0])
        axes.plot([0, 3.2], [0, 6.4], color=COLOURS[0], label="predictions 2x")
        axes.scatter(x, targets, color=INK, s=44, zorder=4, label="targets")
        axes.vlines(2, 4, 7, color=COLOURS[1], linestyle=DASHES[1], linewidth=2, label="error 4 - 7 = -3")
        axes.annotate("squared: 9", (2, 5.8), xytext=(-8, 0), textcoords="offset points", ha="right", va="center")
        axes.annotate("error 2 - 2 = 0", (1, 2), xytext=(10, -12), textcoords="offset points")
        axes.set(title="The mean of 0 and 9 is 4.5", xlabel="x", ylabel="y", xticks=[0, 1, 2, 3], ylim=(0, 8))
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=2.6)
    return figure


def loss_as_a_chain() -> Figure:
    """From a weight to the loss and back: the steps that the loss remembers, and the slope at each of them."""
    with drawing(8.4, 2.3) as (figure, (axes,)):
        blank(axes, 17.0, 4.4)
        stations = [("weights\nw = 1", 1.3), ("predict\n2·w = 2", 4.9), ("minus target\n2 - 6 = -4", 8.5)]
        stations += [("square\n16", 12.1), ("mean\n16", 15.7)]
        for text, x in stations:
            box(axes, x, 1.7, text, width=2.5, height=1.4)
        for (_, x), slope in zip(stations, ("-16", "-8", "-8", "1"), strict=False):
            arrow(axes, (x + 1.3, 1.5), (x + 2.3, 1.5))
            arrow(axes, (x + 2.3, 2.0), (x + 1.3, 2.0), dashed=True)
            axes.text(x + 1.8, 2.6, slope, ha="center", va="center", weight="bold")
        axes.text(8.5, 0.35, "forward: compute the loss, and remember every step", ha="center", va="center")
        words = "backward (dashed): at each arrow, the slope of the loss so far, multiplied step by step"
        axes.text(8.5, 3.7, words, ha="center", va="center")
    return figure


def _bowl(w: np.ndarray) -> np.ndarray:
    return (2 * w - 6) ** 2


def slope_of_a_loss() -> Figure:
    """The loss (2w - 6)^2 with its tangent at w = 1, where the slope is -16."""
    w = np.linspace(0, 6, 121)
    with drawing(6.4, 3.2) as (figure, (axes,)):
        axes.plot(w, _bowl(w), color=COLOURS[0], label="loss (2w - 6)²")
        touch = np.array([0.2, 1.9])
        axes.plot(touch, 16 - 16 * (touch - 1), color=COLOURS[1], linestyle=DASHES[1], label="slope at w = 1: -16")
        axes.scatter([1], [16], color=INK, s=44, zorder=4, label="we are here: w = 1, loss 16")
        axes.set(title="The gradient is the slope", xlabel="w", ylabel="loss", ylim=(-1, 38))
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=2.6)
    return figure


def steps_downhill() -> Figure:
    """One step from w = 1 with rate 0.1 (to 2.6, loss 0.64) and with rate 0.3 (to 5.8, loss 31.36)."""
    w = np.linspace(0, 6.2, 121)
    with drawing(6.4, 3.2) as (figure, (axes,)):
        axes.plot(w, _bowl(w), color=FAINT, label="loss (2w - 6)²")
        axes.scatter([1], [16], color=INK, s=44, zorder=4, label="start: w = 1, loss 16")
        steps = [(0.1, 2.6, COLOURS[0], "s"), (0.3, 5.8, COLOURS[1], "^")]
        for rate, end, colour, marker in steps:
            loss = float(_bowl(np.array(end)))
            label = f"rate {rate}: to {end}, loss {loss:.2f}"
            axes.scatter([end], [loss], color=colour, s=60, marker=marker, zorder=4, label=label)
            line = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.6, "shrinkB": 6, "shrinkA": 6}
            axes.annotate("", (end, loss), (1, 16), arrowprops=line)
        axes.set(title="The same slope, two step lengths", xlabel="w", ylabel="loss", ylim=(-1, 38))
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), handlelength=2.6)
    return figure


def squares_of_weights() -> Figure:
    """The square of a weight: what each of the weights 1, -2, 3 and 0 adds to the penalty."""
    w = np.linspace(-3.4, 3.4, 121)
    with drawing(6.4, 3.0) as (figure, (axes,)):
        axes.plot(w, w**2, color=COLOURS[0])
        for weight in (1, -2, 3, 0):
            axes.vlines(weight, 0, weight**2, color=COLOURS[1], linestyle=DASHES[2])
            axes.scatter([weight], [weight**2], color=COLOURS[1], s=44, zorder=4)
            shift, side = ((-10, -12), "right") if weight < 0 else ((10, -8), "left")
            if weight == 0:  # at the bottom of the bowl there is room above only
                shift, side = (0, 10), "center"
            words = f"({weight})² = {weight**2}" if weight < 0 else f"{weight}² = {weight**2}"
            axes.annotate(words, (weight, weight**2), shift, textcoords="offset points", ha=side)
        axes.set(title="1 + 4 + 9 + 0 = 14: large weights cost most", xlabel="weight", ylabel="its square")
        axes.set_xlim(-4.5, 4.5)
    return figure


def module_tree() -> Figure:
    """What `MLP([1, 32, 32, 1])` holds: a list of layers, each with a weight and a bias."""
    with drawing(8.2, 2.9) as (figure, (axes,)):
        blank(axes, 16.4, 5.6)
        box(axes, 8.2, 0.7, "MLP([1, 32, 32, 1])", width=5.0)
        box(axes, 8.2, 2.3, "layers: nn.ModuleList", width=5.0)
        arrow(axes, (8.2, 1.2), (8.2, 1.8))
        shapes = [("(32, 1)", "(32,)"), ("(32, 32)", "(32,)"), ("(1, 32)", "(1,)")]
        for place, (weight, bias) in enumerate(shapes):
            x = 2.7 + 5.5 * place
            box(
                axes,
                x,
                4.5,
                f"layers[{place}]: nn.Linear\nweight {weight}\nbias {bias}",
                width=4.8,
                height=1.7,
            )
            arrow(axes, (8.2 + 1.2 * (place - 1), 2.8), (x, 3.6))
    return figure


def training_loop() -> Figure:
    """The four moves of every training loop, in a circle."""
    with drawing(7.6, 2.9) as (figure, (axes,)):
        blank(axes, 15.2, 5.6)
        corners = {
            (3.2, 1.1): "1. forget the\nold gradients",
            (12.0, 1.1): "2. predict, and\nmeasure the loss",
        }
        corners |= {
            (12.0, 4.5): "3. loss.backward():\nfresh gradients",
            (3.2, 4.5): "4. the optimiser\nmoves the weights",
        }
        for (x, y), text in corners.items():
            box(axes, x, y, text, width=5.0, height=1.5)
        arrow(axes, (5.8, 1.1), (9.4, 1.1))
        arrow(axes, (12.0, 2.0), (12.0, 3.6))
        arrow(axes, (9.4, 4.5), (5.8, 4.5))
        arrow(axes, (3.2, 3.6), (3.2, 2.0))
        axes.text(7.6, 2.8, "again and again", ha="center", va="center")
    return figure


def one_epoch() -> Figure:
    """Twelve examples, shuffled and cut into three minibatches of four; each of them makes a step."""
    order = [[7, 2, 11, 4], [0, 9, 5, 1], [10, 3, 8, 6]]
    with drawing(8.2, 2.5) as (figure, (axes,)):
        blank(axes, 16.6, 4.9)
        axes.text(8.3, 0.35, "one epoch: every example once, in a new order", ha="center", va="center")
        for place, numbers in enumerate(order):
            x = 0.7 + 5.5 * place
            cells(axes, x, 1.0, [numbers])
            arrow(axes, (x + 2.0, 2.2), (x + 2.0, 3.2))
            box(axes, x + 2.0, 3.9, f"step {place + 1}", width=2.6, height=1.1)
    return figure


def broadcast_pairs() -> Figure:
    """Predictions (2, 1) against targets (2,): four differences where two were meant."""
    with drawing(7.4, 2.5) as (figure, (axes,)):
        blank(axes, 12.4, 4.2)
        cells(axes, 0.6, 1.0, [[0], [0]], lit=[(0, 0), (1, 0)], title="what we meant", below="mean square: 0")
        cells(
            axes,
            5.4,
            1.0,
            [[0, -2], [2, 0]],
            lit=[(0, 0), (1, 1)],
            title="what we got",
            below="mean square: 2",
        )
        axes.text(8.0, 1.5, "prediction 1 against targets 1 and 3", va="center", size=9.5)
        axes.text(8.0, 2.5, "prediction 3 against targets 1 and 3", va="center", size=9.5)
    return figure


def two_dialects() -> Figure:
    """One layer in NumPy and in PyTorch: three moves, of which one has another name."""
    with drawing(8.2, 2.3) as (figure, (axes,)):
        blank(axes, 16.4, 4.4)
        for y, library, relu in [(1.2, "NumPy", "np.maximum(., 0)"), (3.2, "PyTorch", "torch.relu(.)")]:
            axes.text(0.2, y, library, va="center", weight="bold")
            box(axes, 4.2, y, "x @ W", width=2.6)
            box(axes, 8.0, y, "+ b", width=2.6)
            box(axes, 12.9, y, relu, width=4.6)
            arrow(axes, (5.6, y), (6.6, y))
            arrow(axes, (9.4, y), (10.5, y))
        axes.plot([10.3, 15.5, 15.5, 10.3, 10.3], [0.5, 0.5, 3.9, 3.9, 0.5], color=FRAME, linewidth=2.2)
    return figure
