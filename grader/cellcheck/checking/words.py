"""Sentences about a difference, for people: what came, what was expected, and how the two are related."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from cellcheck.authoring.arrays import dtype_of, is_array, is_tensor, numbers
from cellcheck.authoring.observe import Opaque
from cellcheck.authoring.traces import CHANGED, say_changed
from cellcheck.checking.compare import Difference, is_number, near
from cellcheck.plain import harmless

_NAMES = {"output": "the result", "gradients": "the gradients"}
_DIGITS = (6, 10, 17)  # as few as show that two numbers differ; 17 tell any two apart
_MAX_TEXT = 60
_NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]\d+)?")
_LINES: tuple[tuple[tuple[int, str], ...], ...] = ((), ((-1, "one"),), ((-2, "row"), (-1, "column")))
"""By how many axes there are, up to two: along which an array has lines, and what they are called."""
_FEW = 3
"""Of two rows one is the first, and the other the last: that says nothing."""
_LAST_DIGIT = 0.0101  # of 1.01, where three are written


def place(path: str, called: Mapping[str, str] | None = None) -> str:
    """A path in words: "gradients[1]" is "entry [1] of the gradients". `called` has an exercise's own words."""
    key, bracket, rest = path.partition("[")
    if key == "arguments":  # where in them is the probe's own numbering
        return "an argument, after the call"
    name = (called or {}).get(key) or _NAMES.get(key, key.replace("_", " "))
    return f"entry {bracket}{rest} of {name}" if bracket else name


def kind_of(value: Any, digits: int = 6) -> str:
    """What a value is, in a few words with its shape: "a tensor of shape (2, 3)"."""
    if is_tensor(value):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, np.ndarray):
        return f"a NumPy array of shape {value.shape}"
    if isinstance(value, Opaque):
        return harmless(value.name)
    if value is None:
        return "None"
    if isinstance(value, bool) or is_number(value):
        return f"the number {_written(value, digits)}" if is_number(value) else str(value)
    if isinstance(value, str):
        return f"the text {harmless(value[:_MAX_TEXT])!r}{' ...' if len(value) > _MAX_TEXT else ''}"
    if isinstance(value, list | tuple):
        return f"a {type(value).__name__} of length {len(value)}"
    return f"a {type(value).__name__}"


def say(difference: Difference, called: Mapping[str, str] | None = None) -> str:
    """One or two sentences: what is wrong with it."""
    where, expected, got = place(difference.path, called), difference.expected, difference.got
    match difference.kind:
        case "error":
            return say_error(got)
        case _ if difference.key == CHANGED:
            return say_changed(got)
        case _ if difference.key == "arguments":
            return _say_changed(difference.path)
        case "type" if difference.key == "gradients" and isinstance(expected, list) and isinstance(got, str | None):
            return _say_no_gradient(got)
        case "type" if difference.key == "gradients" and got is None:
            return _say_no_gradient(got)
        case _ if reports(difference):
            return harmless(got)
        case _ if difference.key == "parts" and isinstance(got, str):
            return _say_part(difference.path, expected, got)
        case _ if difference.key == "unused" and expected == "none" and isinstance(got, str):
            return f"No gradient reaches {harmless(got)}. Does the result depend on it?"
        case _ if difference.key == "training_mode":
            return "After the call, the module isn't in the mode it was in before: training or eval."
        case _ if _describes(difference):
            return _say_described(where, expected, got)
        case "type":
            hint = _AFTER_NONE if got is None and difference.path == "output" else ""
            return f"{_cap(where)} should be {kind_of(expected)}, but it is {kind_of(got)}.{hint}"
        case "shape":
            return _say_shape(where, expected, got)
        case "dtype":
            return f"{_cap(where)} should have the dtype {dtype_of(expected)}, but it has {dtype_of(got)}. " + (
                "Which line makes a new array, such as np.eye or np.zeros, or brings in a NumPy number?"
                if isinstance(got, np.ndarray)
                else "Which line makes a new tensor, or converts one?"
            )
        case "nan":
            return _say_nan(where, expected, got)
        case "mask":
            return _say_minus_infinity(where, expected, got)
        case _:
            return _say_values(where, expected, got)


_AFTER_NONE = " A function gives None where it ends without a return, and so do methods such as list.sort."


def reports(difference: Difference) -> bool:
    """Whether the probe's own sentence stands where a result is expected: it says more than any comparison could."""
    got = difference.got
    if not isinstance(got, str) or (difference.key in _NAMES and isinstance(difference.expected, str)):
        return False
    return " " in got and got[:1].isupper() and got.endswith((".", "?"))


def reads_alike(difference: Difference) -> bool:
    """Whether two sentences of a probe's differ in the last digit of a number only: sums in another order do that."""
    one, other = difference.expected, difference.got
    if not (isinstance(one, str) and reports(difference) and _NUMBER.sub("", one) == _NUMBER.sub("", other)):
        return False
    pairs = zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True)
    return all(a == b or ("." in a + b and math.isclose(float(a), float(b), rel_tol=_LAST_DIGIT)) for a, b in pairs)


def speaks_for_itself(difference: Difference) -> bool:
    """Whether what is said of it says what is wrong, whatever else is: numbers that differ may have any reason."""
    by_kind = difference.kind in ("error", "dtype") or (difference.kind == "type" and difference.key == "gradients")
    return by_kind or reports(difference) or difference.key in ("arguments", "unused", "training_mode")


def names_a_missing_part(difference: Difference) -> bool:
    """Whether a module hasn't got a part, in the words of `cellcheck.authoring.modules`."""
    return difference.key == "parts" and difference.got == "missing"


def _say_part(path: str, expected: Any, got: str) -> str:
    name = path.removeprefix("parts['").removesuffix("']")
    if got == "missing":
        return f"Your module has no {name}, which should have the shape {expected}."
    if got.startswith(str(expected)):
        return f"{name} isn't among your module's parameters, so nothing trains it."
    return f"{name} should have the shape {expected}, but it has {harmless(got)}."


def _describes(difference: Difference) -> bool:
    """Whether the probe said in words what it saw: a text that isn't a result of the learner's."""
    return isinstance(difference.expected, str) and difference.key not in _NAMES


def _say_described(where: str, expected: str, got: Any) -> str:
    description = harmless(got) if isinstance(got, str) else kind_of(got)
    if expected == description:  # the text and something that reads like it
        description = f'something else that reads "{description}"'
        return f'{_cap(where)}: expected "{expected}", and found {description}.'
    return f'{_cap(where)}: expected "{expected}", but found "{description}".'


_ASKS_FOR_DETACH = " Use tensor.detach().numpy() instead"
_IN_NUMPYS_WORDS = re.compile(r"unexpected keyword argument '(axis|out)'|\bgot \(.*\b(axis|out)=")
"""NumPy's functions call a tensor's own method, with arguments that nobody wrote."""
_NO_DETACH = (
    " Does a NumPy function get a tensor there? Gradients flow through PyTorch's own functions only: it has one of "
    "nearly every name."
)
_OF_A_CELL = re.compile(r"\(<[^<>]*>, line (\d+)\)$")
"""What Python calls a cell that it can't read is no file of the learner's."""


def say_error(got: Any) -> str:
    """What stopped the code, from an exception's description; or that nothing did, where something should."""
    if got is None:
        return "It should stop with a clear error here, but it carries on."
    kind, message, code = (harmless(got[key]) for key in ("type", "message", "line"))
    message = _OF_A_CELL.sub(r"(line \1)", message)
    message, way_on = _without_detach(message)
    if "np." in code and _IN_NUMPYS_WORDS.search(message):
        way_on = _NO_DETACH
    text = f"It stops with {kind}" + (f": {message}" if message else "")
    line = f' The line is "{code}".' if code else ""
    return text.rstrip(".") + "." + line + way_on


def _without_detach(message: str) -> tuple[str, str]:
    """PyTorch's advice is true, and the wrong way in every exercise: the message without it, and another way on."""
    message, asked, _ = message.partition(_ASKS_FOR_DETACH)
    return message, _NO_DETACH if asked else ""


def _say_changed(path: str) -> str:
    if "['grad']" in path:
        return "The .grad of an argument isn't what it was before the call. Follow gradients on copies."
    if "['requires_grad']" in path:
        return "An argument's requires_grad isn't what it was before the call. Follow gradients on copies."
    return "An argument isn't what it was before the call. Work on a copy, or use operations that make a new one."


_CHANGED_IN_PLACE = "that requires grad is being used in an in-place operation"


def _say_no_gradient(got: str | None) -> str:
    if got is None:
        return "No gradient reaches one of the inputs or weights. Does the result depend on all of them?"
    if got == "cut off":
        return (
            "No gradient flows back from the result. Does it depend on the inputs? "
            "Is there a detach, .item(), .data, NumPy or no_grad on the way, or torch.tensor(...) around a tensor?"
        )
    if got.startswith("stopped with "):
        if _CHANGED_IN_PLACE in got:
            return "An argument or a weight is changed in place, where gradients can't follow. What makes a new tensor?"
        message, way_on = _without_detach(harmless(got))
        return f"With inputs that need gradients, it {message.rstrip('.')}.{way_on}"
    return "Gradients flow through tensors of floating-point numbers only, and the result isn't one."


def _say_shape(where: str, expected: Any, got: Any) -> str:
    if isinstance(expected, list | tuple):
        return f"{_cap(where)} should have length {len(expected)}, but it has length {len(got)}."
    e, g = tuple(expected.shape), tuple(got.shape)
    hint = ""
    if sorted(e) == sorted(g):
        hint = " These are the same sizes in another order: are two axes swapped?"
    elif [n for n in e if n != 1] == [n for n in g if n != 1]:
        hint = " They differ only in axes of length 1."
    elif len(g) != len(e):
        apart = abs(len(g) - len(e))
        hint = f" That is {apart} {'axis' if apart == 1 else 'axes'} too {'few' if len(g) < len(e) else 'many'}."
    return f"{_cap(where)} should have the shape {e}, but it has {g}.{hint}"


def _say_nan(where: str, expected: Any, got: Any) -> str:
    if not _any_nan(expected):
        return f"{_cap(where)} has NaN where numbers are expected. NaN comes from 0/0 or inf - inf, for example."
    if not _any_nan(got):
        return f"{_cap(where)} should be NaN in some places, but it is NaN in none."
    return f"{_cap(where)} is NaN in other places than expected."


def _any_nan(value: Any) -> bool:
    return bool(np.isnan(numbers(value).astype(np.float64)).any())


def _say_minus_infinity(where: str, expected: Any, got: Any) -> str:
    wanted, theirs = (np.isneginf(numbers(value)) for value in (expected, got))
    if not wanted.any():
        return f"{_cap(where)} is minus infinity in places where numbers are expected."
    if not theirs.any():
        return f"{_cap(where)} should be minus infinity in some places, but it is in none."
    return f"{_cap(where)} is minus infinity in other places than expected."


def _say_values(where: str, expected: Any, got: Any) -> str:
    if is_number(expected):
        related = relation(np.asarray(float(expected)), np.asarray(float(got)))
        return f"{_cap(where)} should be {' but it is '.join(_pair(expected, got, ','))}.{related}"
    if is_array(expected):
        e, g = numbers(expected), numbers(got)
        wrong = np.asarray(~near(expected, got) if e.dtype.kind == g.dtype.kind == "f" else e != g)
        related = relation(e, g) or whereabouts(wrong)
        first = tuple(int(i) for i in np.argwhere(wrong)[0])
        should = " but it is ".join(_pair(e[first].item(), g[first].item(), ","))
        if e.size == 1:
            return f"{_cap(where)} should be {should}.{related}"
        count, at = int(wrong.sum()), ", ".join(map(str, first))
        differ = "differs" if count == 1 else "differ"
        if where.startswith("entry "):  # of a list, say: its own entries need another word
            return f"{count} of {wrong.size} values in {where} {differ}. The one at [{at}] should be {should}.{related}"
        return f"{count} of {wrong.size} entries of {where} {differ}. Entry [{at}] should be {should}.{related}"
    if isinstance(expected, dict):
        return _say_keys(where, expected, got)
    if isinstance(expected, str) and expected[:_MAX_TEXT] == got[:_MAX_TEXT]:
        pairs = enumerate(zip(expected, got, strict=False))
        until = next((i for i, (one, other) in pairs if one != other), min(len(expected), len(got)))
        return f"{_cap(where)} is the expected text up to character {until}, but not from there on."
    return f"{_cap(where)} should be {kind_of(expected)}, but it is {kind_of(got)}."


def _say_keys(where: str, expected: Mapping[str, Any], got: Mapping[str, Any]) -> str:
    missing, more = ([name for name in one if name not in other] for one, other in ((expected, got), (got, expected)))
    if missing:
        return f"{_cap(where)} should have the key {harmless(missing[0][:_MAX_TEXT])!r}, but it doesn't."
    return f"{_cap(where)} has the key {harmless(more[0][:_MAX_TEXT])!r}, which isn't expected."


def relation(expected: np.ndarray, got: np.ndarray) -> str:
    """A sentence for the simple ways in which two arrays of one shape can be related; else nothing.

    What is said is true of every entry, and more than a coincidence: any two numbers have a quotient and a difference.
    """
    if expected.size == 0 or expected.shape != got.shape:
        return ""
    if expected.dtype == bool or got.dtype == bool:
        return _relation_of_bools(expected.astype(bool), got.astype(bool)) if expected.dtype == got.dtype else ""
    expected, got = expected.astype(np.float64), got.astype(np.float64)
    if not (np.isfinite(expected).all() and np.isfinite(got).all()):
        return ""
    scale = float(np.abs(expected).max())
    if scale == 0:
        return ""

    def same(a: np.ndarray, b: np.ndarray) -> bool:
        return bool(np.allclose(a, b, rtol=1e-4, atol=1e-5 * scale))

    several = expected.size > 1
    if not np.any(got):
        return " Yours is zero everywhere." if several else ""
    if same(expected, -got):
        return " Yours has the opposite sign everywhere." if several else " Yours has the opposite sign."
    if _is_transposed(expected, got, same):
        return " Yours is transposed: its last two axes are swapped."
    # Scaled first: squares of very large or very small numbers leave the range of float64.
    with np.errstate(over="ignore", invalid="ignore"):
        factor = float(((expected / scale) * (got / scale)).sum() / ((expected / scale) ** 2).sum())
    if not np.isfinite(factor):
        return ""
    if abs(factor - 1) < 5e-4 and same(expected * factor, got):
        return (
            " The two agree in their first digits: is precision lost on the way, by float32 or by rounding, or is a "
            "small constant another one?"
        )
    # Any two numbers have a factor, and so do arrays with few entries that aren't 0.
    telling = int((np.abs(expected) > 1e-3 * scale).sum()) > 2
    if telling and abs(factor) > 1e-3 and same(expected * factor, got):
        return _say_factor(factor)
    with np.errstate(over="ignore"):
        shift = float((got - expected).mean())
    if several and np.isfinite(shift) and abs(shift) > 1e-4 * scale and same(expected + shift, got):
        return f" Every entry of yours is too {'large' if shift > 0 else 'small'} by {abs(shift):.4g}."
    return ""


def whereabouts(wrong: np.ndarray) -> str:
    """A sentence for entries that all stand in the first or the last row or column, or all but there; else nothing.

    >>> whereabouts(np.array([[False, False], [False, False], [True, True]]))
    ' All that differ stand in the last row.'
    >>> whereabouts(np.array([False, True, True]))
    ' Only the first one is right.'
    """
    for axis, name in _LINES[min(wrong.ndim, 2)]:
        if wrong.shape[axis] < _FEW:
            continue
        across = tuple(other for other in range(wrong.ndim) if other != axis % wrong.ndim)
        differs = np.asarray(wrong.any(axis=across))
        for which, end in (("first", 0), ("last", -1)):
            others = np.delete(differs, end)
            if differs[end] and not others.any():
                return (
                    f" Only the {which} one differs."
                    if name == "one"
                    else f" All that differ stand in the {which} {name}."
                )
            if others.all() and not differs[end] and 2 * wrong.sum() >= wrong.size:
                return f" Only the {which} {name} is right."
    return ""


def _is_transposed(expected: np.ndarray, got: np.ndarray, same: Callable[[np.ndarray, np.ndarray], bool]) -> bool:
    square = expected.ndim >= 2 and expected.shape[-1] == expected.shape[-2] > 1
    return square and same(expected, np.swapaxes(got, -1, -2))


def _relation_of_bools(expected: np.ndarray, got: np.ndarray) -> str:
    if expected.size == 1 or np.array_equal(expected, got):
        return ""
    if np.array_equal(expected, ~got):
        return " True and False are swapped everywhere."
    if got.all() or not got.any():
        return f" Yours is {bool(got.all())} everywhere."
    if _is_transposed(expected, got, np.array_equal):
        return " Yours is transposed: its last two axes are swapped."
    return ""


def _say_factor(factor: float) -> str:
    divisor = 1 / factor
    if 1.5 < divisor < 1000 and abs(divisor - round(divisor)) < 1e-3 * divisor:
        return f" Yours is the expected result divided by {round(divisor)} everywhere."
    return f" Yours is {factor:.4g} times the expected result everywhere."


def _written(value: Any, digits: int) -> str:
    return str(value) if isinstance(value, int) else f"{value:.{digits}g}"


def _pair(expected: Any, got: Any, mark: str = "") -> tuple[str, str]:
    """Two different numbers, with as many digits as it takes to see that they differ."""
    one = other = ""
    for digits in _DIGITS:
        one, other = _written(expected, digits), _written(got, digits)
        if one != other:
            break
    return one + mark, other


def _cap(text: str) -> str:
    return text[:1].upper() + text[1:]
