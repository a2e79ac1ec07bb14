"""`scale_windows`: how it is tried."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects, draw
from transformer_course.lessons.watching import AS_ASKED

CONSTANT = aspects.special(
    "a window of equal values", weight=2.0, meaning="A window whose values are all equal becomes zeros, not NaN."
)
HIGH = aspects.special(
    "a high level",
    meaning="On a high level, where the spread is small beside the mean, it keeps its digits.",
    keys=("back",),  # in words: where digits are few, those of two right answers differ
)
SMALL = aspects.special(
    "two values, one window", weight=0.5, meaning="A single window works too, and so do two values."
)


def cases(generator: np.random.Generator) -> list[Case]:
    n, length = draw.dims(generator, 2, 3, 7)

    def at_levels(count: int, size: int, dtype: torch.dtype | None = None, smallest: float = 1.5) -> torch.Tensor:
        """Windows whose levels and spreads are far apart: one scale for all of them is wrong for each."""
        values = draw.normal(generator, count, size, dtype=dtype)
        values = (values - values.mean(dim=1, keepdim=True)) / values.std(dim=1, keepdim=True)
        ranks = torch.arange(1, count + 1, dtype=values.dtype).unsqueeze(1)
        return values * (ranks - 1 + smallest + float(generator.uniform(-0.1, 0.1))) + 20 * ranks

    flat = at_levels(n, length)
    flat[1] = float(generator.integers(2, 9))  # whole, so that its mean is exact
    return [
        Case.of("on a few windows", windows=at_levels(n, length, smallest=0.5)),
        Case.of("with other sizes", windows=at_levels(length, n)),
        Case.of("with as many windows as values", windows=at_levels(length, length)),
        Case.of("with values below 0", windows=-at_levels(n, length)),
        Case.of("with a window of equal values", CONSTANT, windows=flat),
        Case.of("on a high level", HIGH, windows=LEVEL + at_levels(n, length)),
        Case.of("on a single window", SMALL, windows=at_levels(1, length)),
        Case.of("on windows of two values", SMALL, windows=at_levels(n, 2)),
        Case.of("with float64", aspects.FLOAT64, windows=at_levels(n, length, torch.float64)),
        Case.of("with windows that are not contiguous", aspects.LAYOUT, windows=draw.strided(at_levels(n, length))),
    ]


LEVEL = 1000.0


def three(observation: Observation, case: Case) -> Observation:
    """A tuple or a list of three, whichever. Where all values are equal, any positive spread will do; elsewhere a tiny
    number may have been added to it, so nothing is compared more closely than in float32.
    """
    output = observation.get("output")
    if "error" not in observation:
        observation = {"back": AS_ASKED, **observation}
    if not isinstance(output, list | tuple) or len(output) != 3:
        return observation
    scaled, mean, spread = output
    windows = case.inputs["windows"]
    flat = windows.amax(dim=1, keepdim=True) == windows.amin(dim=1, keepdim=True)
    turned = _change_places(windows[~flat[:, 0]], *(_of_rows(part, ~flat[:, 0]) for part in output))
    if turned:
        mean, spread = spread, mean
    if isinstance(spread, torch.Tensor) and spread.shape == flat.shape and spread.is_floating_point():
        free = flat & (spread > 0) & spread.isfinite()
        spread = torch.where(free, torch.ones_like(spread), spread.detach())
    words = _in_words(windows, scaled, mean, spread) if not flat.any() else AS_ASKED
    if turned and not flat.any():
        told = "Spread and mean have changed places. In which order does the docstring name them?"
        words = told if words == AS_ASKED else f"{told} {words}"
    if words != AS_ASKED and all(getattr(part, "shape", None) == windows.shape[:1] for part in (mean, spread)):
        words += " And mean and spread lack their second axis: what shape does the docstring give them?"
    parts = [scaled, mean, spread]
    if not all(isinstance(part, torch.Tensor) and part.is_floating_point() for part in parts):
        return observation
    dtypes = ", ".join(str(part.dtype).removeprefix("torch.") for part in parts)
    parts = _in_one_unit(windows, *(part.detach() for part in parts))
    if turned:
        parts = [parts[0], parts[2], parts[1]]
    return {**observation, "output": [part.float() for part in parts], "dtypes": dtypes, "back": words}


def _of_rows(part: Any, rows: torch.Tensor) -> Any:
    return part[rows].detach() if isinstance(part, torch.Tensor) and part.shape[:1] == rows.shape else part


def _change_places(windows: torch.Tensor, scaled: Any, mean: Any, spread: Any) -> bool:
    """Whether what comes last is the mean, and what comes before it brings the windows back, as a spread does."""
    if not len(windows) or not all(isinstance(part, torch.Tensor) for part in (scaled, mean, spread)):
        return False
    scaled, mean, spread = (part.to(windows.dtype) for part in (scaled, mean, spread))
    own = windows.mean(dim=1, keepdim=True)
    if (scaled.shape, mean.shape, spread.shape) != (windows.shape, own.shape, own.shape):
        return False
    back = torch.allclose(scaled * mean, windows - own, rtol=1e-3, atol=1e-3)
    return back and torch.allclose(spread, own) and not torch.allclose(mean, own)


def _in_words(windows: torch.Tensor, scaled: Any, mean: Any, spread: Any) -> str:
    """What stands in for the mean or the spread, and whether the windows come back."""
    if not all(isinstance(part, torch.Tensor) for part in (scaled, mean, spread)):
        return AS_ASKED
    scaled, mean, spread = (part.detach().to(windows.dtype) for part in (scaled, mean, spread))
    if mean.shape == spread.shape == windows.shape[:1]:  # without their second axis, which is told elsewhere
        mean, spread = mean.unsqueeze(1), spread.unsqueeze(1)
    own, of_columns = windows.mean(dim=1, keepdim=True), windows.mean(dim=0)
    if mean.numel() == len(of_columns) and torch.allclose(mean.flatten(), of_columns):
        return "As the mean of a window, you return that of each column. Which axis holds the values of one window?"
    if (scaled.shape, mean.shape, spread.shape) != (windows.shape, own.shape, own.shape):
        return AS_ASKED
    sentences = (
        "" if torch.allclose(mean, own) else _mean_in_words(windows, mean),
        "" if any(map(partial(torch.allclose, spread), _spreads(windows))) else _spread_in_words(windows, spread),
    )
    relation = _relation_in_words(windows, scaled, mean, spread, any(sentences))
    return " ".join(filter(None, (*sentences, relation))) or AS_ASKED


def _mean_in_words(windows: torch.Tensor, mean: torch.Tensor) -> str:
    """What is returned as the mean, if it is something that people think of."""
    if torch.allclose(mean, windows.mean()):
        return "As the mean of each window, you return that of all windows together. Which of them does it describe?"
    least, most = windows.amin(dim=1, keepdim=True), windows.amax(dim=1, keepdim=True)
    for name, other in {
        "smallest value": least,
        "largest value": most,
        "middle value": windows.median(dim=1, keepdim=True).values,
        "first value": windows[:, :1],
        "last value": windows[:, -1:],
        "mean without the last value": windows[:, :-1].mean(dim=1, keepdim=True),
        "mean without the first value": windows[:, 1:].mean(dim=1, keepdim=True),
    }.items():
        if torch.allclose(mean, other):
            return f"As the mean of a window, you return its {name}. What does the docstring subtract?"
    return ""


def _spread_in_words(windows: torch.Tensor, spread: torch.Tensor) -> str:
    """What is returned as the spread, if it is something that people think of, or hardly off."""
    own = windows.mean(dim=1, keepdim=True)
    least, most = windows.amin(dim=1, keepdim=True), windows.amax(dim=1, keepdim=True)
    for name, other in {
        "that of all windows together": windows.std().expand_as(own),
        "the mean distance of its values from their mean": (windows - own).abs().mean(dim=1, keepdim=True),
        "the root of the sum, and not of the mean, of squared distances": (
            (windows - own).square().sum(dim=1, keepdim=True).sqrt()
        ),
        "its variance": windows.var(dim=1, keepdim=True),
        "its variance, with length in the denominator": windows.var(dim=1, keepdim=True, correction=0),
        "its largest value minus its smallest": most - least,
        "its largest distance from the mean": (windows - own).abs().amax(dim=1, keepdim=True),
        "the mean step from one value to the next": windows.diff(dim=1).abs().mean(dim=1, keepdim=True),
        "the root mean square of its values, which is measured from 0": windows.square().mean(1, keepdim=True).sqrt(),
    }.items():
        if torch.allclose(spread, other):
            return f"As the spread of a window, you return {name}. Which spread is asked for?"
    hardly_off, as_asked = (
        any(torch.allclose(spread, one, rtol=rtol) for one in _spreads(windows)) for rtol in (0.15, 1e-3)
    )
    added = [spread - one for one in _spreads(windows)]
    one_number = any(each.std(correction=0) < 0.05 * each.mean() for each in added)
    if least.min() > LEVEL / 2 and hardly_off and not as_asked and not one_number:
        return "On a high level, your spread loses its digits. Do you take one large square from another?"
    return ""


def _relation_in_words(
    windows: torch.Tensor, scaled: torch.Tensor, mean: torch.Tensor, spread: torch.Tensor, wrong: bool
) -> str:
    """What scaled is made of, if not of the mean and the spread that are returned; `wrong` says that these are."""
    if torch.allclose(scaled * spread, windows - mean, rtol=1e-3, atol=1e-3):
        return ""
    if torch.allclose(scaled * spread, windows, rtol=1e-3, atol=1e-3):
        return "Your scaled is divided by your spread, but nothing is subtracted. What should its mean be?"
    if torch.allclose(scaled, windows - mean, rtol=1e-3, atol=1e-3):
        return "Your mean is subtracted from your scaled, but nothing is divided. How wide should it be?"
    if wrong:
        return ""
    return "Your scaled * spread + mean doesn't give the windows back. Which spread and mean do you use for scaled?"


def _spreads(windows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The standard deviations that the contract allows: with length - 1 in the denominator, and with length."""
    return windows.std(dim=1, keepdim=True), windows.std(dim=1, keepdim=True, correction=0)


def _in_one_unit(
    windows: torch.Tensor, scaled: torch.Tensor, mean: torch.Tensor, spread: torch.Tensor
) -> list[torch.Tensor]:
    """With length - 1 in the denominator, whichever it was. And who adds to every spread, and more than a tiny number,
    makes one mistake, whatever the number is: as if it were 1. A spread that is hardly off stays so.
    """
    parts = [scaled, mean, spread]
    own = windows.std(dim=1, keepdim=True)
    some = own[:, 0] > 1e-6
    if scaled.shape != windows.shape or spread.shape != own.shape or not some.any():
        return parts
    if not torch.allclose((scaled * spread)[some], (windows - mean)[some], rtol=1e-3, atol=1e-3):
        return parts
    for taken in _spreads(windows):
        added = (spread - taken)[some]
        one_number = len(added) > 1 and added.min() > 1e-3 and torch.allclose(added, added.mean(), rtol=0.01)
        if one_number or added.abs().max() < 1e-5:
            wanted = torch.where(some.unsqueeze(1), own + one_number, spread)
            return [torch.where(some.unsqueeze(1), scaled * spread / wanted, scaled), mean, wanted]
        if torch.allclose(spread[some], taken[some], rtol=0.02):
            factor = torch.where(some.unsqueeze(1), own / taken, 1)
            return [scaled / factor, mean, spread * factor]
    return parts


TRIAL = Trial(
    module="transformer_course.beyond.series",
    points=2,
    cases=cases,
    canonical=three,
    called={"back": "what scaled, spread and mean are made of"},
    aspects=(
        aspects.shape(
            "three tensors of the right shapes", "You return scaled (n, length), mean (n, 1), spread (n, 1)."
        ),
        aspects.worded(aspects.values(8.0), "back"),
        CONSTANT,
        HIGH,
        SMALL,
        aspects.also("dtype kept", "dtypes", weight=0.5, meaning="All three keep the dtype of the windows."),
        replace(aspects.FLOAT64, weight=0.5),
        replace(aspects.LAYOUT, weight=0.5),
        aspects.untouched(weight=0.5),
    ),
)
