"""Time series: the forecast to beat, windows to learn from, their scale, and a test for forecasts that see ahead."""

from collections.abc import Callable

import torch


def seasonal_naive(history: torch.Tensor, period: int, horizon: int) -> torch.Tensor:
    """The forecast that repeats the last period.

    `history` is (n,), with n at least `period`. Returns (horizon,): step h, counted
    from 0, is history[n - period + h % period], so a long horizon repeats the last
    period.

    >>> seasonal_naive(torch.tensor([7, 1, 2, 3]), period=3, horizon=5)
    tensor([1, 2, 3, 1, 2])

    Source: Hyndman and Athanasopoulos, "Forecasting: Principles and Practice", 3rd
    edition, 2021, section 5.2.
    """
    last = history[len(history) - period :]  # (period,)
    return last[torch.arange(horizon, device=history.device) % period]


def windows(series: torch.Tensor, input_length: int, horizon: int) -> tuple[torch.Tensor, torch.Tensor]:
    """All the pieces of a series that a forecast can be learnt from.

    `series` is (n,) or (n, channels). Each example is `input_length` values in a row,
    and the `horizon` values right after them. Returns (inputs, targets), one example
    for each place at which both fit, in chronological order: inputs are (examples,
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


def scale_windows(windows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Each window on a scale of its own: minus its mean, divided by its standard deviation.

    `windows` is (n, length), floating-point numbers, length at least 2. Returns
    (scaled, mean, spread): scaled is (n, length), mean and spread are (n, 1), and
    scaled * spread + mean gives the windows back. The spread is the standard
    deviation, with length - 1 in its denominator, as in `torch.std`, or with length. A
    window of equal values, whose standard deviation comes out as 0, becomes zeros, and
    its spread may be any positive number. `windows` stays as it is.

    >>> scaled, mean, spread = scale_windows(torch.tensor([[2.0, 4.0, 6.0], [102.0, 104.0, 106.0]]))
    >>> scaled.tolist(), mean.tolist(), spread.tolist()
    ([[-1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]], [[4.0], [104.0]], [[2.0], [2.0]])
    """
    ### BEGIN SOLUTION
    mean = windows.mean(dim=1, keepdim=True)  # (n, 1)
    spread = windows.std(dim=1, keepdim=True)  # (n, 1)
    spread = torch.where(spread > 0, spread, 1)  # nothing is divided by 0
    return (windows - mean) / spread, mean, spread
    ### END SOLUTION


def looks_ahead(
    pipeline: Callable[[torch.Tensor, int], torch.Tensor],
    series: torch.Tensor,
    cut: int,
) -> bool:
    """Does the forecast that is made at `cut` know anything about what comes later?

    `pipeline(series, cut)` gets the whole series, (n,), and returns the forecast made
    at `cut`, when only series[:cut] is known; 0 < cut < n. For the same series it
    always gives the same forecast, up to rounding: the last digits of a float32 may
    differ from call to call. True when changing values at or after `cut` changes the
    forecast by more than rounding, however little that is. It may change as soon as a
    future value is larger, or only when one is smaller, or when the difference between
    two of them changes. A pipeline may use the length of the series. `series` stays as
    it is, also while the pipeline runs.

    >>> series = torch.tensor([1.0, 2.0, 3.0, 9.0])
    >>> looks_ahead(lambda series, cut: series[:cut].mean(), series, cut=3)
    False
    >>> looks_ahead(lambda series, cut: series.mean(), series, cut=3)
    True
    """
    ### BEGIN SOLUTION
    forecast = torch.as_tensor(pipeline(series.clone(), cut))
    later = torch.arange(1, len(series) - cut + 1, dtype=series.dtype)  # so that each changes by a different amount
    for change in (100 * later, -100 * later):  # the largest value may count, or the smallest
        other = series.clone()
        other[cut:] += change
        if not torch.allclose(torch.as_tensor(pipeline(other, cut)), forecast, rtol=1e-5, atol=1e-5):
            return True
    return False
    ### END SOLUTION
