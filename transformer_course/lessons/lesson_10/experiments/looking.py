"""Pictures and tables of what happened in training."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import seaborn as sns
import torch
from matplotlib.axes import Axes

from transformer_course import plots
from transformer_course.lessons.lesson_10.experiments.gallery import run, sound
from transformer_course.lessons.lesson_10.experiments.letters import Letters, said_by
from transformer_course.lessons.lesson_10.experiments.training import Run
from transformer_course.plots import Picture
from transformer_course.plots.style import COLOURS, DASHES, SHADES, drawing

MOST_LOSS = 8.0
"""A spike may leave the picture at the top: everything else would be flat beside it."""


def learning_curves(run: Run, title: str = "") -> Picture:
    """Loss, token accuracy and exact match, for the training rows and for validation."""
    seen = run.curve
    panels = {
        name: {"validation": seen[name], "training": seen[f"training {name}"]}
        for name in ("loss", "token accuracy", "exact match")
    }
    return _panels(panels, seen["step"], title)


def show(letter: str) -> Picture:
    """What can be seen of a broken run."""
    return symptoms(letter, run(letter), sound())


def symptoms(letter: str, curve: pd.DataFrame, sound: pd.DataFrame) -> Picture:
    """What can be seen of a run, with the sound run in grey behind it. All runs are drawn on the same axes."""
    words = [f"Run {letter}; in grey, the sound run"]
    with drawing(13.0, 2.9, columns=4) as (figure, axes):
        for panel, name in zip(
            axes, ("training loss", "validation loss", "token accuracy", "gradient norm"), strict=True
        ):
            column = name.removeprefix("validation ")
            for each, colour in ((sound, "#c9ccd2"), (curve, COLOURS[0])):
                seen = each[["step", column]].dropna()
                panel.plot(seen["step"], seen[column], color=colour, linewidth=5 if each is sound else 1.5)
            if name == "token accuracy":
                again = curve[["step", "measured again"]].dropna()
                panel.plot(again["step"], again["measured again"], "x", color=COLOURS[1], markersize=7)
                panel.set_xlabel("step (x: measured again)")
                words.append(f"measured again: {_sampled(again['step'], again['measured again'])}")
            else:
                panel.set_xlabel("step")
            seen = curve[["step", column]].dropna()
            words.append(f"{name}: {_sampled(seen['step'], seen[column])}")
            panel.set_title(f"validation {name}" if name == "token accuracy" else name)
            _shared(panel, name)
        figure.suptitle(f"Run {letter}", x=0.01, ha="left", size=12)
    return Picture(figure, "\n".join(words))


def training_losses(runs: Mapping[str, pd.DataFrame], title: str) -> Picture:
    """The training loss of some runs of the gallery, at each step."""
    return plots.curves(
        {name: curve["training loss"] for name, curve in runs.items()},
        x=next(iter(runs.values()))["step"],
        title=title,
        y_label="training loss",
        legend=True,
    )


def validation_losses(runs: Mapping[str, pd.DataFrame], title: str) -> Picture:
    """The validation loss of some runs of the gallery, which is noted at every tenth step."""
    noted = {name: curve[curve["step"] % 10 == 0] for name, curve in runs.items()}
    return plots.curves(
        {name: curve["loss"] for name, curve in noted.items()},
        x=next(iter(noted.values()))["step"],
        title=title,
        y_label="validation loss",
        legend=True,
    )


def gradient_chart(by_depth: Mapping[str, Sequence[float]]) -> Picture:
    """What `gradient_by_depth` measured, layer by layer."""
    return plots.curves(
        by_depth,
        x=range(1, 1 + len(next(iter(by_depth.values())))),
        title="The gradient that reaches each layer, before training",
        x_label="layer",
        y_label="norm of the gradient",
        log_y=True,
        legend=True,
    )


def _shared(panel: Axes, name: str) -> None:
    """The same axes for every run. Where a spike leaves them, everything else would be flat beside it."""
    if "norm" in name:
        panel.set_yscale("symlog", linthresh=1e-2)
        panel.set_ylim(-0.002, 1e5)
        panel.set_yticks([0, 0.1, 1, 10, 100, 1e3, 1e4, 1e5], ["0", "0.1", "1", "10", "100", "", "10,000", ""])
    elif "loss" in name:
        panel.set_ylim(-0.15, 7.5 if "validation" in name else 4.7)
    else:
        panel.set_ylim(-0.04, 1.06)


def _panels(panels: dict[str, dict[str, Any]], steps: Any, title: str) -> Picture:
    """One panel a quantity."""
    words = [title]
    with drawing(11.0, 3.0, columns=len(panels)) as (figure, axes):
        for panel, (name, series) in zip(axes, panels.items(), strict=True):
            for place, (kind, values) in enumerate(series.items()):
                panel.plot(steps, values, color=COLOURS[place], linestyle=DASHES[place], label=kind, linewidth=1.6)
                words.append(f"{name}, {kind}: {_sampled(steps, values)}")
            panel.set(title=name, xlabel="step")
            panel.set_ylim(*((0, min(MOST_LOSS, panel.get_ylim()[1])) if name == "loss" else (-0.04, 1.06)))
            panel.legend(handlelength=2.6, fontsize=9)
        figure.suptitle(title, x=0.01, ha="left", size=12)
    return Picture(figure, "\n".join(words))


def _sampled(x: Any, values: Any, most: int = 6) -> str:
    """A few points of a line, in words."""
    pairs = list(zip(x, values, strict=True))
    places = sorted({round(place * (len(pairs) - 1) / (most - 1)) for place in range(most)})
    return ", ".join(f"{pairs[place][1]:.3g} at {pairs[place][0]:g}" for place in places)


def answers(run: Run, data: Letters, count: int = 6) -> pd.DataFrame:
    """The first validation rows, what is wanted, and what the model says."""
    texts = said_by(run.model, (data.validation[0][:count], data.validation[1][:count]))
    rows = [
        (text, text[::-1], answer, "yes" if answer == text[::-1] else "")
        for text, answer in zip(data.texts, texts, strict=False)
    ]
    return pd.DataFrame(rows, columns=["letters", "wanted", "said", "right?"])


def stopped(run: Run) -> pd.DataFrame:
    """What early stopping saw at each look: the validation loss, the best so far, and what `step` said."""
    *looks, restored = run.curve[["step", "loss"]].itertuples(index=False)
    best, rows = float("inf"), []
    for step, loss in looks:
        best = min(best, loss)
        rows.append((f"{step:g}", f"{loss:.3f}", f"{best:.3f}", str(step == run.stopped_at)))
    rows.append(("after restore", f"{restored.loss:.3f}", f"{best:.3f}", "-"))
    return pd.DataFrame(rows, columns=["step", "validation loss", "best so far", "step says"])


def scaling_table(
    gradients: torch.Tensor, in_half: torch.Tensor, scaled: torch.Tensor, scaled_back: torch.Tensor
) -> pd.DataFrame:
    """Gradients in float16, as they are and scaled, and what comes back.

    >>> small = torch.tensor([2e-8])
    >>> scaling_table(small, small.half(), (small * 2**16).half(), small)
      gradient in float16 scaled, in float16 scaled back
    0    2e-08          0            0.00131       2e-08
    """
    columns = {"in float16": in_half, "scaled, in float16": scaled, "scaled back": scaled_back}
    return pd.DataFrame(
        {
            "gradient": [f"{x:.0e}" for x in gradients.tolist()],
            **{name: [f"{x:.3g}" for x in values.tolist()] for name, values in columns.items()},
        }
    )


def sweep_map(table: pd.DataFrame, value: str = "exact", title: str = "") -> Picture:
    """The sweep as a heat map: the mean over seeds in each cell, and below it the lowest and the highest."""
    cells = table.groupby(["rate", "warmup"])[value].agg(["mean", "min", "max"]).reset_index()
    means = cells.pivot(index="rate", columns="warmup", values="mean")
    spread = {
        (rate, warmup): f"{mean:.2f}" + (f"\n{low:.2f} to {high:.2f}" if low < high else "")
        for rate, warmup, mean, low, high in cells.to_numpy(dtype=float).tolist()
    }
    labels = [[spread[rate, warmup] for warmup in means.columns] for rate in means.index]
    with drawing(6.4, 3.8) as (figure, (axes,)):
        sns.heatmap(
            means, annot=labels, fmt="", cmap=SHADES, vmin=0, vmax=1, ax=axes, cbar_kws={"label": "exact match"}
        )
        axes.set(title=title, xlabel="steps of warm-up", ylabel="peak learning rate")
    words = [title] + [
        f"rate {rate}, warm-up {warmup}: {text.replace(chr(10), ', ')}" for (rate, warmup), text in spread.items()
    ]
    return Picture(figure, "\n".join(words))


def with_spread(table: pd.DataFrame, rows: int) -> pd.DataFrame:
    """The table of all tricks for one size of the training set: the mean over seeds, and the spread of each score."""
    some = table[table["rows"] == rows]
    plain = some[some["trick"] == "plain"].set_index("seed")
    lines = []
    for trick in some["trick"].unique():
        runs = some[some["trick"] == trick].set_index("seed")
        lines.append(
            {
                "trick": trick,
                "time": _ratio(runs["milliseconds"], plain["milliseconds"]),
                "kept (kB)": _whole(runs["saved"]),
                "peak (kB)": _whole(runs["peak"]),
                "validation loss": _range(runs["loss"], 4),
                "token accuracy": _range(runs["tokens"], 4),
                "exact match": _range(runs["exact"], 3),
            }
        )
    return pd.DataFrame(lines)


def _ratio(values: pd.Series, plain: pd.Series) -> str:
    ratios = (values / plain).dropna()
    return f"{ratios.mean():.2f}" if len(ratios) else "not measured"


def _whole(values: pd.Series) -> str:
    return f"{values.mean():,.0f}" if values.notna().all() else "not measured"


def _range(values: pd.Series, digits: int) -> str:
    mean, low, high = (f"{number:.{digits}f}" for number in (values.mean(), values.min(), values.max()))
    return mean if len(values) == 1 else f"{mean} ({low} to {high})"
