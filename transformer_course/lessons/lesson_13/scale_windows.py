"""`scale_windows`: how it is tried."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects, draw

CONSTANT = aspects.special(
    "a window of equal values", weight=2.0, meaning="A window whose values are all equal becomes zeros, not NaN."
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
        Case.of("on a single window", SMALL, windows=at_levels(1, length)),
        Case.of("on windows of two values", SMALL, windows=at_levels(n, 2)),
        Case.of("with float64", aspects.FLOAT64, windows=at_levels(n, length, torch.float64)),
        Case.of("with windows that are not contiguous", aspects.LAYOUT, windows=draw.strided(at_levels(n, length))),
    ]


AS_ASKED = "as in the docstring"


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
    if isinstance(spread, torch.Tensor) and spread.shape == flat.shape and spread.is_floating_point():
        free = flat & (spread > 0) & spread.isfinite()
        spread = torch.where(free, torch.ones_like(spread), spread.detach())
    words = _in_words(windows, scaled, mean, spread) if not flat.any() else AS_ASKED
    parts = [scaled, mean, spread]
    if not all(isinstance(part, torch.Tensor) and part.is_floating_point() for part in parts):
        return observation
    dtypes = ", ".join(str(part.dtype).removeprefix("torch.") for part in parts)
    parts = _in_one_unit(windows, *(part.detach() for part in parts))
    return {**observation, "output": [part.float() for part in parts], "dtypes": dtypes, "back": words}


def _in_words(windows: torch.Tensor, scaled: Any, mean: Any, spread: Any) -> str:
    """What stands in for the mean or the spread, and whether the windows come back."""
    parts, shapes = (scaled, mean, spread), (windows.shape, (len(windows), 1), (len(windows), 1))
    if not all(
        isinstance(part, torch.Tensor) and part.shape == shape for part, shape in zip(parts, shapes, strict=True)
    ):
        return AS_ASKED
    least, most = windows.amin(dim=1, keepdim=True), windows.amax(dim=1, keepdim=True)
    for name, other in {
        "smallest value": least,
        "largest value": most,
        "middle value": windows.median(dim=1, keepdim=True).values,
        "first value": windows[:, :1],
        "last value": windows[:, -1:],
    }.items():
        if torch.allclose(mean, other) and not torch.allclose(mean, windows.mean(dim=1, keepdim=True)):
            return f"As the mean of a window, you return its {name}. What does the docstring subtract?"
    if torch.allclose(spread, most - least) and not torch.allclose(spread, windows.std(dim=1, keepdim=True)):
        return "As the spread of a window, you return its largest value minus its smallest. Which spread is asked for?"
    if not torch.allclose(scaled * spread + mean, windows, rtol=1e-3, atol=1e-3):
        return "Your scaled * spread + mean doesn't give the windows back. Which spread and mean do you use for scaled?"
    return AS_ASKED


def _in_one_unit(
    windows: torch.Tensor, scaled: torch.Tensor, mean: torch.Tensor, spread: torch.Tensor
) -> list[torch.Tensor]:
    """With length - 1 in the denominator, whichever it was. And who adds to every spread, and more than a tiny number,
    makes one mistake, whatever the number is: as if it were 1.
    """
    parts = [scaled, mean, spread]
    own = windows.std(dim=1, keepdim=True)
    some = own[:, 0] > 1e-6
    if scaled.shape != windows.shape or spread.shape != own.shape or not some.any():
        return parts
    if not torch.allclose((scaled * spread)[some], (windows - mean)[some], rtol=1e-3, atol=1e-3):
        return parts
    for taken in (own, windows.std(dim=1, keepdim=True, correction=0)):
        added = (spread - taken)[some]
        one_number = len(added) > 1 and added.min() > 1e-3 and torch.allclose(added, added.mean(), rtol=0.01)
        if one_number or added.abs().max() < 1e-5:
            wanted = torch.where(some.unsqueeze(1), own + one_number, spread)
            return [torch.where(some.unsqueeze(1), scaled * spread / wanted, scaled), mean, wanted]
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
        replace(aspects.values(8.0), keys=("back", "output")),
        CONSTANT,
        SMALL,
        aspects.also("dtype kept", "dtypes", weight=0.5, meaning="All three keep the dtype of the windows."),
        replace(aspects.FLOAT64, weight=0.5),
        replace(aspects.LAYOUT, weight=0.5),
        aspects.untouched(weight=0.5),
    ),
)
