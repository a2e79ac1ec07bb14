"""Whether a function refuses by itself what its docstring has it refuse."""

import dis
from collections.abc import Callable
from typing import Any

import torch

REFUSED = "an error that says so"


def refusal(symbol: Callable[..., Any], *arguments: Any) -> str:
    """What becomes of such arguments, in words.

    A ValueError says so, and so does whatever the function raises itself. Any other error comes from somewhere inside,
    and speaks of something else. That of a blank answer is none.
    """
    try:
        result = symbol(*arguments)
    except NotImplementedError:
        raise
    except ValueError:
        return REFUSED
    except Exception as error:
        return REFUSED if _raised_by(symbol, error) else "only an error from within"
    return f"no error, and a result of shape {tuple(result.shape)}" if isinstance(result, torch.Tensor) else "no error"


def _raised_by(symbol: Callable[..., Any], error: Exception) -> bool:
    """Whether a `raise` or an `assert` says it that stands where the function does."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or trace.tb_frame.f_globals is not getattr(symbol, "__globals__", None):
        return False
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == dis.opmap["RAISE_VARARGS"]
