"""Time series: windows to learn from, the forecast to beat, and a test for forecasts that know the future."""

from collections.abc import Callable

import torch


def windows(series: torch.Tensor, input_length: int, horizon: int) -> tuple[torch.Tensor, torch.Tensor]:
    """All the pieces of a series that a forecast can be learnt from.

    `series` is (n,) or (n, channels). Each example is `input_length` values in a row,
    and the `horizon` values right after them. Returns (inputs, targets), one example
    for each place at which both fit, in order of time: inputs are (examples,
    input_length) and targets (examples, horizon), or (examples, input_length, channels)
    and (examples, horizon, channels). A series that is too short for a single example
    raises a ValueError that says so.

    >>> inputs, targets = windows(torch.arange(6), input_length=3, horizon=2)
    >>> inputs.tolist(), targets.tolist()
    ([[0, 1, 2], [1, 2, 3]], [[3, 4], [4, 5]])
    """
    ### BEGIN SOLUTION
    examples = len(series) - input_length - horizon + 1
    if examples < 1:
        raise ValueError(f"{len(series)} values are too few: one window takes {input_length} + {horizon}")
    starts = torch.arange(examples, device=series.device).unsqueeze(1)  # (examples, 1)
    places = starts + torch.arange(input_length + horizon, device=series.device)  # (examples, input_length + horizon)
    pieces = series[places]  # (examples, input_length + horizon) or (..., channels)
    return pieces[:, :input_length], pieces[:, input_length:]
    ### END SOLUTION


def seasonal_naive(history: torch.Tensor, period: int, horizon: int) -> torch.Tensor:
    """The forecast "just as it was one period ago".

    `history` is (n,), with n at least `period`. Returns (horizon,): step h, counted
    from 0, is history[n - period + h % period], so a long horizon repeats the last
    period.

    >>> seasonal_naive(torch.tensor([7, 1, 2, 3]), period=3, horizon=5)
    tensor([1, 2, 3, 1, 2])

    Source: Hyndman and Athanasopoulos, "Forecasting: Principles and Practice", 3rd
    edition, 2021, section 5.2.
    """
    ### BEGIN SOLUTION
    last = history[len(history) - period :]  # (period,)
    return last[torch.arange(horizon, device=history.device) % period]
    ### END SOLUTION


def looks_ahead(
    pipeline: Callable[[torch.Tensor, int], torch.Tensor],
    series: torch.Tensor,
    cut: int,
) -> bool:
    """Does the forecast that is made at `cut` know anything of what comes later?

    `pipeline(series, cut)` gets the whole series, (n,), and returns the forecast made
    at `cut`, when only series[:cut] is known; 0 < cut < n. It always gives the same
    forecast for the same series, up to rounding. True when changing a value at or after
    `cut` changes the forecast, however little. A pipeline may use the length of the
    series. `series` stays as it is.

    >>> series = torch.tensor([1.0, 2.0, 3.0, 9.0])
    >>> looks_ahead(lambda series, cut: series[:cut].mean(), series, cut=3)
    False
    >>> looks_ahead(lambda series, cut: series.mean(), series, cut=3)
    True
    """
    ### BEGIN SOLUTION
    forecast = torch.as_tensor(pipeline(series.clone(), cut))
    later = torch.arange(1, len(series) - cut + 1, dtype=series.dtype)  # so that each value changes by another amount
    for change in (100 * later, -100 * later):  # whoever takes the largest value, or the smallest, is found too
        other = series.clone()
        other[cut:] += change
        if not torch.allclose(torch.as_tensor(pipeline(other, cut)), forecast, rtol=1e-5, atol=1e-6):
            return True
    return False
    ### END SOLUTION
