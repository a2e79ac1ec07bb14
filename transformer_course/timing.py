"""How long a call takes, measured fairly."""

import logging
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch


def median_seconds(function: Callable[..., Any], *arguments: Any, repeats: int = 100) -> float:
    """The median time of one call, in seconds.

    The first call is not timed: it may compile, allocate or fill a cache. The median of
    the others shrugs off the moments when the machine was busy with something else.

    >>> median_seconds(sum, range(10)) < median_seconds(sum, range(100_000))
    True
    """
    function(*arguments)  # the warm-up
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        function(*arguments)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def try_to_compile(function: Callable[..., Any], *arguments: Any) -> tuple[Callable[..., Any] | None, float, str]:
    """`torch.compile(function)`, called once on `arguments`, where this machine can do
    that. Nothing is logged.

    Returns the compiled function, the seconds that compiling took, and an empty string;
    or None, the seconds, and one sentence that says why there is no compiled function
    here.

    >>> compiled, seconds, problem = try_to_compile(len, "abc")  # nothing to compile, but it works
    >>> compiled("abcd"), problem
    (4, '')
    """
    start = time.perf_counter()
    logging.disable(logging.WARNING)  # PyTorch's CUDA build complains of a missing GPU, and none is needed here
    try:
        compiled = torch.compile(function)
        compiled(*arguments)  # compiling happens at the first call
    except Exception as problem:  # a missing compiler shows in many ways, and none of them may stop a lesson
        reason = type(problem).__name__
        return None, time.perf_counter() - start, f"There is no compiled version here: {reason}."
    finally:
        logging.disable(logging.NOTSET)
    return compiled, time.perf_counter() - start, ""
