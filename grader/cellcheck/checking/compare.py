"""Expected beside got: which differences there are, and of what kind.

Plain data goes in (see `cellcheck.authoring.observe`). Kinds come in the order in which they should be said, since a
wrong shape explains wrong values and never the other way round.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from cellcheck.authoring.arrays import equal, is_array, numbers
from cellcheck.authoring.observe import Opaque
from cellcheck.authoring.spec import Aspect, Case, Observation
from cellcheck.authoring.traces import CHANGED, changed

KINDS = ("error", "type", "shape", "dtype", "nan", "mask", "values")

# (relative, share of the largest entry, absolute), by a number's bytes: float32 sums in another order differ by 1e-6.
_TOLERANCES = {8: (1e-8, 1e-10, 1e-12), 4: (1e-4, 1e-5, 1e-7)}
_COARSE = (2e-2, 1e-2, 1e-3)  # float16 and bfloat16
_PYTHON = (1e-5, 1e-7)  # a Python float may come out of float32 work


@dataclass(frozen=True)
class Difference:
    """One way in which `got` is not `expected`; `path` says where, as in "gradients[1]"."""

    kind: str
    path: str
    expected: Any
    got: Any

    @property
    def key(self) -> str:
        """The observation's name that `path` begins with."""
        return self.path.split("[")[0]


def compare(expected: Observation, got: Observation) -> list[Difference]:
    """All differences between two observations, the first to be said first; empty when they agree."""
    if "error" in expected or "error" in got:
        return _compare_errors(expected, got)
    differences: list[Difference] = []
    for key, value in expected.items():
        differences += _compare(value, got.get(key), key) if key != CHANGED else []
    if left := tuple(name for name in changed(got) if name not in changed(expected)):
        differences.append(Difference("values", CHANGED, (), left))
    return sorted(differences, key=lambda difference: KINDS.index(difference.kind))


def concerns(aspect: Aspect, case: Case, difference: Difference) -> bool:
    """Whether a difference in this case is one that the aspect looks at."""
    return (
        aspect.tags <= case.tags
        and difference.kind in aspect.kinds
        and (difference.key in aspect.keys or difference.kind == "error")
    )


class Comparing:
    """`compare`, which remembers what it was asked: for observations that meet again and again and never change."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, int, tuple[str, ...]], tuple[Observation, Observation, list[Difference]]] = {}

    def __call__(self, expected: Observation, got: Observation, keys: tuple[str, ...] = ()) -> list[Difference]:
        """All differences between the two, under `keys` only if given."""
        asked = (id(expected), id(got), keys)
        if asked not in self._found:
            looked_at = {key: expected[key] for key in (*keys, "error") if key in expected} if keys else expected
            differences = [d for d in compare(looked_at, got) if not keys or d.key != CHANGED]
            self._found[asked] = (expected, got, differences)  # kept, so that no other gets its identity
        return self._found[asked][2]


def _compare_errors(expected: Observation, got: Observation) -> list[Difference]:
    asked, raised = expected.get("error"), got.get("error")
    if asked and raised and raised["type"] != "NotImplementedError":
        return []  # the contract asks for a clear error, and leaves its type open
    return [Difference("error", "error", asked, raised)]


def _compare(expected: Any, got: Any, path: str) -> list[Difference]:
    if is_array(expected):
        return _compare_arrays(expected, got, path)
    if isinstance(expected, list | tuple):
        if not isinstance(got, list | tuple):
            return [Difference("type", path, expected, got)]
        if len(expected) != len(got):
            return [Difference("shape", path, expected, got)]
        pairs = zip(expected, got, strict=True)
        return [d for i, (e, g) in enumerate(pairs) for d in _compare(e, g, f"{path}[{i}]")]
    if isinstance(expected, dict):
        if not isinstance(got, dict):
            return [Difference("type", path, expected, got)]
        if expected.keys() != got.keys():
            return [Difference("values", path, expected, got)]
        return [d for key in expected for d in _compare(expected[key], got[key], f"{path}[{key!r}]")]
    return _compare_plain(expected, got, path)


def _compare_plain(expected: Any, got: Any, path: str) -> list[Difference]:
    if is_number(expected):
        if not is_number(got):
            return [Difference("type", path, expected, got)]
        if math.isnan(got) != math.isnan(expected):
            return [Difference("nan", path, expected, got)]
        both_whole = isinstance(expected, int) and isinstance(got, int)
        same = expected == got if both_whole else _near_number(float(expected), float(got))
        return [] if same else [Difference("values", path, expected, got)]
    if type(expected) is not type(got):
        return [Difference("type", path, expected, got)]
    kind = "type" if isinstance(got, Opaque) else "values"  # two generators are the same mistake
    return [] if expected == got else [Difference(kind, path, expected, got)]


def _compare_arrays(expected: Any, got: Any, path: str) -> list[Difference]:
    if type(expected) is not type(got):
        return [Difference("type", path, expected, got)]
    if tuple(expected.shape) != tuple(got.shape):
        return [Difference("shape", path, expected, got)]
    differences = []
    if expected.dtype != got.dtype:
        differences.append(Difference("dtype", path, expected, got))
    elif equal(expected, got):
        return differences
    e, g = numbers(expected), numbers(got)
    if e.dtype.kind != "f" or g.dtype.kind != "f":
        return differences if (e == g).all() else [*differences, Difference("values", path, expected, got)]
    if near(expected, got).all():
        return differences
    if (np.isnan(e) != np.isnan(g)).any():
        return [*differences, Difference("nan", path, expected, got)]
    if (np.isneginf(e) != np.isneginf(g)).any():
        return [*differences, Difference("mask", path, expected, got)]
    return [*differences, Difference("values", path, expected, got)]


def near(expected: Any, got: Any) -> np.ndarray:
    """Entry by entry: the same number, up to the rounding that the coarser of the two dtypes allows."""
    relative, of_largest, absolute = max(_TOLERANCES.get(array.dtype.itemsize, _COARSE) for array in (expected, got))
    e, g = (numbers(array).astype(np.float64, copy=False) for array in (expected, got))
    with np.errstate(all="ignore"):  # infinities, and numbers at the end of the range
        size, apart = np.abs(e), np.abs(g - e)
        all_finite = bool(np.isfinite(apart).all())
        largest = float(size.max(initial=0.0) if all_finite else size.max(initial=0.0, where=np.isfinite(size)))
        close: np.ndarray = apart <= size * relative + (of_largest * largest + absolute)
    if all_finite:
        return close
    return np.where(np.isfinite(apart), close, (e == g) | (np.isnan(e) & np.isnan(g)))


def _near_number(expected: float, got: float) -> bool:
    """The same for Python's numbers; both are NaN, or neither."""
    relative, absolute = _PYTHON
    if not (math.isfinite(expected) and math.isfinite(got)):
        return expected == got or math.isnan(got)
    return abs(got - expected) <= abs(expected) * relative + absolute


def is_number(value: Any) -> bool:
    """Python numbers; True and False are answers, not numbers."""
    return isinstance(value, int | float) and not isinstance(value, bool)
