"""Sentences about a difference, for people: what came, what was expected, and how the two are related."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from grader.authoring.observe import Opaque
from grader.checking.compare import Difference, is_number, near
from grader.plain import harmless

_NAMES = {"output": "the result", "arguments": "the arguments", "gradients": "the gradients"}


def place(path: str) -> str:
    """A path in words: "gradients[1]" is "the gradients[1]"."""
    key, bracket, rest = path.partition("[")
    return _NAMES.get(key, key.replace("_", " ")) + bracket + rest


def kind_of(value: Any) -> str:
    """What a value is, in a few words with its shape: "a tensor of shape (2, 3)"."""
    if isinstance(value, torch.Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, np.ndarray):
        return f"a NumPy array of shape {value.shape}"
    if isinstance(value, Opaque):
        return harmless(value.name)
    if value is None:
        return "None (is there a return?)"
    if isinstance(value, bool) or is_number(value):
        return f"the number {value:.6g}" if is_number(value) else str(value)
    if isinstance(value, str):
        return f"the text {value[:60]!r}"
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__} of {len(value)}"
    return f"a {type(value).__name__}"


def say(difference: Difference) -> str:
    """One or two sentences: what is wrong with it."""
    where, expected, got = place(difference.path), difference.expected, difference.got
    match difference.kind:
        case "error":
            return say_error(got)
        case _ if difference.key == "arguments":
            return _say_changed(difference.path)
        case "type" if difference.key == "gradients" and isinstance(got, str | None):
            return _say_no_gradient(got)
        case _ if _describes(difference):
            return f"{_cap(where)} should be {expected}, but it is {got if isinstance(got, str) else kind_of(got)}."
        case "type":
            return f"{_cap(where)} should be {_plain(expected)}, but it is {kind_of(got)}."
        case "shape":
            return _say_shape(where, expected, got)
        case "dtype":
            return (
                f"{_cap(where)} should keep the dtype {_dtype(expected)}, but it is {_dtype(got)}. "
                "Which line makes a new tensor or converts one?"
            )
        case "nan":
            return f"{_cap(where)} holds NaN, where numbers are expected. Look for 0/0, or infinity minus infinity."
        case "mask":
            return f"{_cap(where)} is minus infinity in other places than expected."
        case _:
            return _say_values(difference)


def _describes(difference: Difference) -> bool:
    """Whether the probe said in words what it saw: a text that is no result of the learner's."""
    return isinstance(difference.expected, str) and difference.key not in _NAMES


def say_error(got: Any) -> str:
    """What stopped the code, from an exception's description; or that nothing did, where something should."""
    if got is None:
        return "It should stop with a clear error here, and it goes on."
    kind, message, code = (harmless(got[key]) for key in ("type", "message", "line"))
    text = f"It stops with {kind}" + (f": {message}" if message else "")
    line = f' The line is "{code}".' if code else ""
    return text.rstrip(".") + "." + line


def _say_changed(path: str) -> str:
    if "['grad']" in path:
        return "A gradient was left behind in the .grad of an argument. Follow gradients on copies."
    if "['requires_grad']" in path:
        return "An argument's requires_grad was switched on the way. Follow gradients on copies."
    return "An argument was changed on the way. Work on a copy, or use operations that make a new tensor."


def _say_no_gradient(got: str | None) -> str:
    if got is None:
        return "No gradient reaches one of the inputs: does the result depend on it?"
    if got == "cut off":
        return "No gradient flows back: is there a detach, .item(), .data, NumPy or no_grad on the way?"
    if got.startswith("stopped with "):
        return f"With inputs that want gradients it {harmless(got).rstrip('.')}."
    return "The result should be a tensor of floating-point numbers that gradients can flow through."


def _say_shape(where: str, expected: Any, got: Any) -> str:
    if isinstance(expected, list | tuple):
        return f"{_cap(where)} should have {len(expected)} entries, but it has {len(got)}."
    hint = ""
    e, g = list(expected.shape), list(got.shape)
    if sorted(e) == sorted(g):
        hint = " The same axes in another order: which two are swapped?"
    elif [n for n in e if n != 1] == [n for n in g if n != 1]:
        hint = " An axis of length 1 too many or too few."
    elif len(g) < len(e):
        hint = " An axis is gone: what was summed or picked?"
    return f"{_cap(where)} should have the shape {tuple(e)}, but it has {tuple(g)}.{hint}"


def _say_values(difference: Difference) -> str:
    where, expected, got = place(difference.path), difference.expected, difference.got
    if is_number(expected):
        related = relation(np.asarray(float(expected)), np.asarray(float(got)))
        return f"{_cap(where)} should be {expected:.6g}, but it is {got:.6g}.{related}"
    if isinstance(expected, torch.Tensor | np.ndarray):
        e, g = torch.as_tensor(expected), torch.as_tensor(got)
        wrong = ~near(e, g) if e.is_floating_point() and g.is_floating_point() else e != g
        related = relation(e.double().numpy(), g.double().numpy())
        if e.dim() == 0:
            return f"{_cap(where)} should be {float(e):.6g}, but it is {float(g):.6g}.{related}"
        first = tuple(int(i) for i in wrong.nonzero()[0])
        share = f"{int(wrong.sum())} of {wrong.numel()} entries differ"
        at = ", ".join(map(str, first))
        return (
            f"{_cap(where)} has the right shape, but {share}. At [{at}] "
            f"{_short(e[first])} is expected, and it is {_short(g[first])}.{related}"
        )
    return f"{_cap(where)} should be {_plain(expected)}, but it is {kind_of(got)}."


def relation(expected: np.ndarray, got: np.ndarray) -> str:
    """A sentence for the simple ways in which two arrays of one shape can be related; else nothing."""
    if expected.size == 0 or not (np.isfinite(expected).all() and np.isfinite(got).all()):
        return ""
    scale = float(np.abs(expected).max())
    if scale == 0:
        return ""

    def same(a: np.ndarray, b: np.ndarray) -> bool:
        return a.shape == b.shape and bool(np.allclose(a, b, rtol=1e-4, atol=1e-5 * scale))

    if not np.any(got):
        return " Yours is zero everywhere."
    if same(expected, -got):
        return " Yours is the expected one with the sign turned round."
    if expected.ndim >= 2 and expected.shape[-1] > 1 and same(expected, np.swapaxes(got, -1, -2)):
        return " Yours is the expected one with its last two axes swapped."
    # Scaled first: squares of very large or very small numbers leave the range of float64.
    with np.errstate(over="ignore", invalid="ignore"):
        factor = float(((expected / scale) * (got / scale)).sum() / ((expected / scale) ** 2).sum())
    if not np.isfinite(factor):
        return ""
    if abs(factor - 1) < 5e-4 and same(expected * factor, got):
        return " The two agree in their first digits: is precision lost on the way, by float32 or by rounding?"
    if abs(factor) > 1e-3 and same(expected * factor, got) and (expected.ndim or _is_round(factor)):
        return f" Yours is {factor:.4g} times the expected one{' everywhere' if expected.ndim else ''}."
    with np.errstate(over="ignore"):
        shift = float((got - expected).mean())
    if expected.size > 1 and np.isfinite(shift) and abs(shift) > 1e-4 * scale and same(expected + shift, got):
        return f" Yours is the expected one plus {shift:.4g} everywhere."
    return ""


def _is_round(factor: float) -> bool:
    """A whole number or one over it: any two numbers have a factor, but only these say something."""
    nearest = max(factor, 1 / factor) if factor > 0 else 0.0
    return 1.5 < nearest < 1000 and abs(nearest - round(nearest)) < 1e-3 * nearest


def _plain(value: Any) -> str:
    return "None" if value is None else kind_of(value)


def _dtype(value: Any) -> str:
    return str(value.dtype).removeprefix("torch.")


def _short(entry: torch.Tensor) -> str:
    if entry.dtype == torch.bool:
        return str(bool(entry))
    return f"{float(entry):.4g}"


def _cap(text: str) -> str:
    return text[:1].upper() + text[1:]
