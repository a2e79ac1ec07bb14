"""Whatever a learner hands to a plot, as a NumPy array."""

from typing import Any

import numpy as np


def to_numpy(values: Any) -> np.ndarray:
    """A float array from a tensor, an array or a list; a tensor may require gradients or live on a GPU.

    >>> import torch
    >>> to_numpy(torch.tensor([1, 2], dtype=torch.int64))
    array([1., 2.])
    """
    if hasattr(values, "detach"):  # a tensor, and PyTorch need not be there to tell
        values = values.detach().cpu().double().numpy()
    return np.asarray(values, dtype=float)


def number(value: float) -> str:
    """A number as a reader wants it: short, and without a needless tail.

    >>> [number(value) for value in (0.0, 3.0, 0.25, 0.123456, 60.241, 12345.6, 0.00012, float("nan"))]
    ['0', '3', '0.25', '0.123', '60.2', '12346', '1.2e-04', 'not a number']
    """
    if np.isnan(value):
        return "not a number"
    if np.isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    if value == 0:
        return "0"
    if abs(value) >= 1e6 or abs(value) < 1e-3:
        return f"{value:.1e}"
    if abs(value) >= 100:
        return f"{value:.0f}"
    digits = 1 if abs(value) >= 10 else 3
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")
