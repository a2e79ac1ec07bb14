"""Running a probe and keeping what was seen as plain data.

Learner, references and mistakes all pass through `observe`, in the notebook as in grading, so that all of them
are measured with the same yardstick. An exception is a result too.
"""

import linecache
import types
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cellcheck.authoring.arrays import copied, is_tensor, kept
from cellcheck.authoring.calls import Probe
from cellcheck.authoring.traces import CHANGED, settings_put_back, start_generators

MAX_DEPTH = 8
MAX_ITEMS = 20_000
MAX_NUMBERS = 4_000_000
MAX_TEXT = 2_000


@dataclass(frozen=True)
class Opaque:
    """Stands for an object that isn't plain data ("a zip object")."""

    name: str


def observe(probe: Probe, symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What `probe` sees of `symbol` on fresh copies of `inputs`, as plain data.

    Returns `{"error": {"type", "message", "line"}}` when it raises. Ctrl-C passes through. What a probe needs that is
    no plain data, such as a way to ask a patient, is passed on as it is. The settings that it leaves changed are put
    back, and where it did not stop with an error, their names stand under `CHANGED`.
    """
    start_generators()
    try:
        with settings_put_back() as left:
            seen = probe(symbol, {name: fresh(value) for name, value in inputs.items()})
        observation = {name: snapshot(value) for name, value in seen.items()}
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit and home-made BaseExceptions are mistakes like any other
        return {"error": describe_error(error)}
    return {**observation, CHANGED: tuple(left)} if left else observation


def describe_error(error: BaseException) -> dict[str, Any]:
    """Type, message and the learner's own line of an exception, as plain data."""
    return {"type": type(error).__name__, "message": _one_line(error), "line": learners_line(error.__traceback__)}


def _one_line(error: BaseException) -> str:
    try:
        text = str(error).strip()
    except BaseException:  # a home-made exception may fail at this too
        return ""
    return readable(text.splitlines()[0][:300]) if text else ""


def learners_line(trace: types.TracebackType | None) -> str:
    """The deepest line that stands in a notebook cell: the one the learner can change."""
    line = ""
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_globals.get("__name__") == "__main__":
            line = linecache.getline(frame.f_code.co_filename, trace.tb_lineno).strip() or line
        trace = trace.tb_next
    return readable(line[:200])


def readable(text: str) -> str:
    """The text with half characters (lone surrogates), which no file can hold, written out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def fresh(value: Any) -> Any:
    """A deep copy of plain data that keeps the layout in memory of tensors that are not contiguous."""
    if is_tensor(value):
        return copied(value)
    if isinstance(value, np.ndarray):
        return value.copy(order="K")
    if isinstance(value, Mapping):
        return {name: fresh(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(fresh(item) for item in value)
    return value


def snapshot(value: Any) -> Any:
    """Keeps plain data and arrays of `value`, detached and copied; everything else becomes `Opaque`.

    NumPy scalars become Python's. What is deeper, longer or larger than any right answer becomes `Opaque` too.
    """
    return _Snapshot().take(value, 0)


class _Snapshot:
    def __init__(self) -> None:
        self.items = 0
        self.numbers = 0

    def take(self, value: Any, depth: int) -> Any:
        self.items += 1
        if depth > MAX_DEPTH or self.items > MAX_ITEMS:
            return Opaque("a structure that is far too large")
        if isinstance(value, np.ndarray):
            return self._array(value)
        if is_tensor(value):
            return self._tensor(value)
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return int(value) if abs(value) < 2**63 else Opaque("a gigantic integer")
        if isinstance(value, float):
            return float(value)
        if isinstance(value, str):
            return readable(str(value)[:MAX_TEXT])
        if isinstance(value, list):
            return [self.take(item, depth + 1) for item in value[: MAX_ITEMS + 1]]
        if isinstance(value, tuple):
            return tuple(self.take(item, depth + 1) for item in value[: MAX_ITEMS + 1])
        if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            return {str(key): self.take(item, depth + 1) for key, item in value.items()}
        return Opaque(_a(type(value).__name__))

    def _tensor(self, value: Any) -> Any:
        self.numbers += value.numel()
        if self.numbers > MAX_NUMBERS:
            return Opaque("a tensor that is far too large")
        copy = kept(value)
        return Opaque(f"a tensor of {value.dtype}") if copy is None else copy

    def _array(self, value: np.ndarray) -> Any:
        self.numbers += value.size
        if self.numbers > MAX_NUMBERS:
            return Opaque("an array that is far too large")
        if value.dtype.kind not in "biuf" or value.dtype.itemsize > 8:
            return Opaque(f"an array of {value.dtype}")
        return np.array(value, dtype=value.dtype.newbyteorder("="), order="C")


def _a(name: str) -> str:
    return f"an object of type {name}"
