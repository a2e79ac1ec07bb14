"""What a check leaves as it was: the settings and the generators that the whole process shares.

A setting that an answer leaves changed is put back after each case, and the learner is told. Whatever else changes
for all (the generators, open figures, warnings, signal handlers) is put back after the whole check, and nobody is told:
to draw a number or a figure is no fault.

What hasn't been imported has nothing to put back, so nothing is imported here.
"""

import decimal
import gc
import locale
import logging
import os
import random
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

import numpy as np

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

CHANGED: Final = "settings changed"
"""The key of an observation that holds the names of the settings that were left changed."""
_TINY = 5e-324  # the smallest number above 0, which is 0 where such numbers are flushed
_FOR_A_FEW_LINES = "Which `with` block switches it for a few lines only?"
_PUT_BACK = "Can you put it back before your code returns?"


@dataclass(frozen=True)
class ProcessSetting:
    """Something that one line can switch for the whole process."""

    read: Callable[[], Any]
    """What it is now; None where there is no such setting."""
    restore: Callable[[Any], object]
    """Makes it what `read` returned."""
    advice: str = _PUT_BACK
    """The question that leads on."""


def _torch() -> Any:
    """PyTorch, where it has been imported to its end."""
    torch = sys.modules.get("torch")
    return torch if hasattr(torch, "__file__") and hasattr(torch, "get_default_device") else None


def _of_torch(read: Callable[[Any], Any]) -> Callable[[], Any]:
    return lambda: None if (torch := _torch()) is None else read(torch)


def _autocast(torch: Any) -> Any:
    switches = [
        (device, torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)) for device in _with_autocast()
    ]
    torch.autocast_increment_nesting()
    return switches, torch.is_autocast_cache_enabled(), torch.autocast_decrement_nesting()


@cache
def _with_autocast() -> tuple[str, ...]:
    return tuple(filter(_torch().amp.is_autocast_available, ("cpu", "cuda", "mps")))


def _restore_autocast(before: Any) -> None:
    torch, (switches, cached, depth) = _torch(), before
    for device, enabled, dtype in switches:
        torch.set_autocast_enabled(device, enabled)
        torch.set_autocast_dtype(device, dtype)
    torch.set_autocast_cache_enabled(cached)
    _, _, deeper = _autocast(torch)
    for _ in range(deeper - depth):  # blocks that were entered and not left
        torch.autocast_decrement_nesting()
    if depth == 0:
        torch.clear_autocast_cache()


def _restore_device(before: Any) -> None:
    torch = _torch()
    usual = getattr(torch._GLOBAL_DEVICE_CONTEXT, "device_context", None)
    stack = [torch.overrides._pop_mode() for _ in torch.overrides._get_current_function_mode_stack()]
    for mode in reversed(stack):
        if mode is usual or not _is_of_a_device(torch, mode):  # else `with torch.device(...)`, entered and not left
            torch.overrides._push_mode(mode)
    # With the usual device as an explicit one, every call of PyTorch would take longer.
    torch.set_default_device(None if before.type == "cpu" else before)


def _is_of_a_device(torch: Any, mode: Any) -> bool:
    return isinstance(mode, torch.utils._device.DeviceContext)


def _modes(torch: Any) -> tuple[list[Any], list[Any]]:
    """What stands between every call and PyTorch, beside a default device."""
    functions = torch.overrides._get_current_function_mode_stack()
    operations = torch.utils._python_dispatch._get_current_dispatch_mode_stack()
    return [mode for mode in functions if not _is_of_a_device(torch, mode)], operations


def _restore_modes(before: tuple[list[Any], list[Any]]) -> None:
    for entered, earlier in zip(_modes(_torch()), before, strict=True):
        for mode in reversed(entered[len(earlier) :]):
            mode.__exit__(None, None, None)


@cache
def _kinds_of_hooks() -> tuple[dict[Any, Any], ...]:
    every = vars(_torch().nn.modules.module)
    return tuple(hooks for name, hooks in every.items() if name.startswith("_global_") and isinstance(hooks, dict))


def _hooks(_: Any) -> list[dict[Any, Any]]:
    """What PyTorch calls for each module of the process."""
    return [dict(kind) if kind else {} for kind in _kinds_of_hooks()]


def _restore_hooks(before: list[dict[Any, Any]]) -> None:
    for kind, hooks in zip(_kinds_of_hooks(), before, strict=True):
        kind.clear()
        kind.update(hooks)


_held: list[Any] = []


def _restore_inference_mode(before: bool) -> None:
    guard = _torch().inference_mode(before)
    guard.__enter__()
    _held.append(guard)  # when it goes, so does what it sets


_ALGORITHMS = (("cudnn", "enabled"), ("cudnn", "deterministic"), ("cudnn", "benchmark"), ("mkldnn", "enabled"))
_ATTENTION = ("flash_sdp", "mem_efficient_sdp", "math_sdp", "cudnn_sdp")


def _algorithms(torch: Any) -> Any:
    return (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
        [getattr(getattr(torch.backends, library), name) for library, name in _ALGORITHMS],
        [getattr(torch.backends.cuda, f"{name}_enabled")() for name in _ATTENTION],
    )


def _restore_algorithms(before: Any) -> None:
    torch, (only, warn_only, libraries, attention) = _torch(), before
    torch.use_deterministic_algorithms(only, warn_only=warn_only)
    for (library, name), value in zip(_ALGORITHMS, libraries, strict=True):
        setattr(getattr(torch.backends, library), name, value)
    for name, value in zip(_ATTENTION, attention, strict=True):
        getattr(torch.backends.cuda, f"enable_{name}")(value)


def _restore_errors(before: Any) -> None:
    actions, function = before
    np.seterr(**actions)
    np.seterrcall(function)


def _environment() -> dict[Any, Any]:
    return dict(vars(os.environ)["_data"])  # as the system has it: decoding it takes longer than many a probe


def _restore_environment(before: Mapping[Any, Any]) -> None:
    for name in _environment().keys() - before.keys():
        del os.environ[os.fsdecode(name)]
    for name, value in before.items():
        os.environ[os.fsdecode(name)] = os.fsdecode(value)
    if hasattr(time, "tzset"):  # the time zone may be among them, and Python looks only when it is told to
        time.tzset()


SETTINGS: Mapping[str, ProcessSetting] = {
    "autocast": ProcessSetting(_of_torch(_autocast), _restore_autocast, _FOR_A_FEW_LINES),
    # It switches the recording of gradients as well, so it goes first.
    "inference mode": ProcessSetting(
        _of_torch(lambda torch: torch.is_inference_mode_enabled()), _restore_inference_mode, _FOR_A_FEW_LINES
    ),
    "gradient recording": ProcessSetting(
        _of_torch(lambda torch: torch.is_grad_enabled()),
        lambda before: _torch().set_grad_enabled(before),
        _FOR_A_FEW_LINES,
    ),
    "anomaly detection": ProcessSetting(
        _of_torch(lambda torch: (torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled())),
        lambda before: _torch().autograd.set_detect_anomaly(*before),
        _FOR_A_FEW_LINES,
    ),
    "the default dtype": ProcessSetting(
        _of_torch(lambda torch: torch.get_default_dtype()),
        lambda before: _torch().set_default_dtype(before),
        "Which argument gives a single tensor its dtype?",
    ),
    "the default device": ProcessSetting(
        _of_torch(lambda torch: torch.get_default_device()),
        _restore_device,
        "Which argument puts a single tensor on a device?",
    ),
    "a mode of PyTorch's": ProcessSetting(_of_torch(_modes), _restore_modes, _FOR_A_FEW_LINES),
    "the hooks of all modules": ProcessSetting(
        _of_torch(_hooks), _restore_hooks, "What takes a hook away again, once it is registered?"
    ),
    "the choice of algorithms": ProcessSetting(_of_torch(_algorithms), _restore_algorithms),
    "the number of threads": ProcessSetting(
        _of_torch(lambda torch: torch.get_num_threads()), lambda before: _torch().set_num_threads(before)
    ),
    "the precision of float32 products": ProcessSetting(
        _of_torch(lambda torch: torch.get_float32_matmul_precision()),
        lambda before: _torch().set_float32_matmul_precision(before),
    ),
    "what becomes of tiny numbers": ProcessSetting(
        _of_torch(lambda torch: _TINY == 0.0), lambda before: _torch().set_flush_denormal(before)
    ),
    "how tensors are printed": ProcessSetting(
        _of_torch(lambda torch: dict(vars(torch._tensor_str.PRINT_OPTS))),
        lambda before: _torch().set_printoptions(**before),
    ),
    "how arrays are printed": ProcessSetting(
        np.get_printoptions, lambda before: np.set_printoptions(**before), "What does `np.printoptions` do in a `with`?"
    ),
    "what NumPy does about overflow and division by zero": ProcessSetting(
        lambda: (np.geterr(), np.geterrcall()), _restore_errors, "What does `np.errstate` do in a `with`?"
    ),
    "the working folder": ProcessSetting(os.getcwd, os.chdir),
    "an environment variable": ProcessSetting(_environment, _restore_environment),
    "the recursion limit": ProcessSetting(sys.getrecursionlimit, sys.setrecursionlimit),
    "the garbage collector": ProcessSetting(gc.isenabled, lambda before: gc.enable() if before else gc.disable()),
}
"""By what a learner calls them."""


@contextmanager
def settings_put_back() -> Iterator[list[str]]:
    """Puts back the settings that are changed within it. What it gives has their names afterwards.

    Where modules are imported within it, it gives no names: what their import sets is no fault of the learner's.
    """
    left: list[str] = []
    before = {name: _read(setting) for name, setting in SETTINGS.items()}  # to read one may import something, too
    modules = len(sys.modules)
    try:
        yield left
    finally:
        imported = len(sys.modules) != modules
        for name, setting in SETTINGS.items():
            if before[name] is not None and _read(setting) != before[name]:
                with suppress(Exception):  # a folder may be gone; and a learner may have replaced a function
                    setting.restore(before[name])
                left.append(name)
        if imported:
            left.clear()


def _read(setting: ProcessSetting) -> Any:
    try:
        return setting.read()
    except Exception:  # the working folder was removed, two ways to set a precision were mixed, ...
        return None


def changed(observation: Mapping[str, Any]) -> tuple[str, ...]:
    """The settings that were left changed, as an observation has them. A learner's process may send anything."""
    names = observation.get(CHANGED, ())
    return tuple(name for name in SETTINGS if name in names) if isinstance(names, list | tuple) else ()


def say_changed(names: tuple[str, ...]) -> str:
    """What to tell somebody whose code left these settings changed: a sentence on the first, and a question."""
    return f"Your code leaves {names[0]} changed for the whole notebook. {SETTINGS[names[0]].advice}"


# --- the rest ---------------------------------------------------------------------------------------------------


@contextmanager
def process_put_back() -> Iterator[None]:
    """Puts back the random generators, open figures and how they look, and what belongs to the whole process.

    Threads that an answer started can't be ended from outside; those of a class end with their process.
    """
    puts_back = [_generators(), _handlers(), _figures(), _looks()]
    before = [(thing, thing.read()) for thing in _OF_THE_PROCESS]
    try:
        yield
    finally:
        for put_back in puts_back:
            with suppress(Exception):  # a learner may have replaced a function
                put_back()
        for thing, value in before:
            with suppress(Exception):
                if thing.read() != value:
                    thing.restore(value)


def start_generators() -> None:
    """Starts the global generators anew, so that what draws from them draws the same each time."""
    random.seed(0)
    np.random.seed(0)
    if (torch := _torch()) is not None:
        torch.default_generator.manual_seed(0)  # `torch.manual_seed` asks every kind of GPU: it takes a millisecond


def _generators() -> Callable[[], None]:
    pythons, numpys = random.getstate(), np.random.get_state(legacy=False)
    torchs = [(generator, generator.get_state()) for generator in _torchs_generators(_torch())]

    def put_back() -> None:
        random.setstate(pythons)
        np.random.set_state(numpys)
        for generator, state in torchs:
            generator.set_state(state)

    return put_back


def _torchs_generators(torch: Any) -> list[Any]:
    if torch is None:
        return []
    return [torch.default_generator, *(torch.cuda.default_generators if torch.cuda.is_initialized() else ())]


def _handlers() -> Callable[[], None]:
    before = {number: signal.getsignal(number) for number in signal.valid_signals()}

    def put_back() -> None:
        if threading.current_thread() is threading.main_thread():
            for number, handler in before.items():
                if signal.getsignal(number) is not handler and handler is not None:  # None: not set by Python
                    signal.signal(number, handler)

    return put_back


def _figures() -> Callable[[], None]:
    before, current = _open_figures()

    def put_back() -> None:
        pyplot: Any = sys.modules.get("matplotlib.pyplot")
        after, current_now = _open_figures()
        for number in set(after) - set(before):
            pyplot.close(number)
        if current_now != current and current in after:
            pyplot.figure(current)

    return put_back


def _open_figures() -> tuple[list[int], int | None]:
    pyplot: Any = sys.modules.get("matplotlib.pyplot")
    numbers = pyplot.get_fignums() if hasattr(pyplot, "get_fignums") else []
    return numbers, pyplot.gcf().number if numbers else None


def _looks() -> Callable[[], None]:
    """How figures are drawn. The backend stays: it belongs to what shows them."""
    parameters = getattr(sys.modules.get("matplotlib"), "rcParams", None)
    if parameters is None:
        return lambda: None
    # Read and set as in a plain dict: matplotlib's own methods validate every value, and that takes time.
    before = {name: value for name, value in dict.items(parameters) if name != "backend"}
    return lambda: dict.update(parameters, before)


# --- what is read, and set, as one value


def _restore_filters(before: Any) -> None:
    warnings.resetwarnings()  # Python forgets what it knows of the filters
    warnings.filters.extend(before)  # type: ignore[attr-defined]


def _umask() -> int:
    mask = os.umask(0o077)  # it can be read only by setting it
    os.umask(mask)
    return mask


_TIMERS = [getattr(signal, name) for name in ("ITIMER_REAL", "ITIMER_VIRTUAL", "ITIMER_PROF") if hasattr(signal, name)]


def _timers() -> list[tuple[float, float]]:
    return [signal.getitimer(timer) for timer in _TIMERS]


def _restore_timers(before: list[tuple[float, float]]) -> None:
    for timer, (seconds, interval) in zip(_TIMERS, before, strict=True):
        if (seconds > 0) != (signal.getitimer(timer)[0] > 0):  # one that runs on has gone on rightly
            signal.setitimer(timer, seconds, interval)


_LIMITS = [getattr(resource, name) for name in dir(resource) if name.startswith("RLIMIT_")]


def _limits() -> list[tuple[int, int]]:
    return [resource.getrlimit(limit) for limit in _LIMITS]


def _restore_limits(before: list[tuple[int, int]]) -> None:
    for limit, values in zip(_LIMITS, before, strict=True):
        with suppress(OSError, ValueError):  # a lowered ceiling stays: nobody but root may lift it
            resource.setrlimit(limit, values)


def _logging() -> Any:
    root = logging.getLogger()
    return root.level, root.manager.disable, root.handlers[:], root.filters[:]


def _restore_logging(before: Any) -> None:
    root = logging.getLogger()
    root.level, root.manager.disable, root.handlers[:], root.filters[:] = before
    root.setLevel(root.level)  # loggers remember what they found


def _locale() -> str:
    return locale.setlocale(locale.LC_ALL)


_OF_THE_PROCESS: Sequence[ProcessSetting] = (
    ProcessSetting(lambda: list(warnings.filters), _restore_filters),
    ProcessSetting(_timers, _restore_timers),
    ProcessSetting(_umask, os.umask),
    ProcessSetting(lambda: list(sys.path), lambda before: sys.path.__setitem__(slice(None), before)),
    ProcessSetting(sys.gettrace, sys.settrace),
    ProcessSetting(sys.getprofile, sys.setprofile),
    ProcessSetting(lambda: sys.displayhook, lambda before: setattr(sys, "displayhook", before)),
    ProcessSetting(lambda: sys.excepthook, lambda before: setattr(sys, "excepthook", before)),
    ProcessSetting(lambda: decimal.getcontext().copy(), decimal.setcontext),
    ProcessSetting(_limits, _restore_limits),
    ProcessSetting(_locale, lambda before: locale.setlocale(locale.LC_ALL, before)),
    ProcessSetting(_logging, _restore_logging),
)
"""What an answer may change for the whole process, and no learner needs to be told of."""
