"""A check leaves no trace: settings and generators are what they were, and an answer that changes a setting is told."""

import decimal
import gc
import locale
import logging
import os
import random
import resource
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from torch.nn.modules.module import register_module_forward_hook
from torch.overrides import BaseTorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from cellcheck.authoring.calls import in_order
from cellcheck.authoring.observe import observe
from cellcheck.authoring.spec import Case, Exercise, Mistake, Observation
from cellcheck.authoring.traces import CHANGED, SETTINGS, settings_put_back
from cellcheck.checking.check import Checker
from cellcheck.checking.compare import compare
from cellcheck.checking.judge import PARTIAL, PASSED, Judge, Verdict
from tests.checking.test_judge import EXERCISE as WITH_GRADIENTS
from tests.checking.test_judge import GRADIENTS, row_means

# Called once a case, and without a look at gradients, which some settings cut off.
EXERCISE = replace(WITH_GRADIENTS, aspects=tuple(a for a in WITH_GRADIENTS.aspects if a is not GRADIENTS))
FULL = EXERCISE.points
BESIDE = round(FULL * 4 / 5, 2)  # the exercise's aspects weigh 4, and this one weighs 1


def verdict(symbol: Callable[..., Any], exercise: Exercise = EXERCISE) -> Verdict:
    judge = Judge(exercise, in_order, 0)
    return judge.verdict(judge.observe(symbol))


def _flush() -> None:
    if not torch.set_flush_denormal(True):
        pytest.skip("this processor can't flush tiny numbers")


class _Operations(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


CHANGES: dict[str, tuple[str, Callable[[], object]]] = {
    "autocast": ("autocast", lambda: torch.set_autocast_enabled("cpu", True)),
    "autocast dtype": ("autocast", lambda: torch.set_autocast_dtype("cpu", torch.float16)),
    "autocast elsewhere": ("autocast", lambda: torch.set_autocast_dtype("cuda", torch.bfloat16)),
    "autocast cache": ("autocast", lambda: torch.set_autocast_cache_enabled(False)),
    "autocast entered": ("autocast", lambda: torch.autocast("cpu").__enter__()),
    "no_grad": ("gradient recording", lambda: torch.set_grad_enabled(False)),
    "anomaly": ("anomaly detection", lambda: torch.autograd.set_detect_anomaly(True)),
    "dtype": ("the default dtype", lambda: torch.set_default_dtype(torch.float64)),
    "device": ("the default device", lambda: torch.set_default_device("meta")),
    "deterministic": (
        "the choice of algorithms",
        lambda: torch.use_deterministic_algorithms(True, warn_only=True),
    ),
    "cudnn": ("the choice of algorithms", lambda: setattr(torch.backends.cudnn, "benchmark", True)),
    "oneDNN": ("the choice of algorithms", lambda: setattr(torch.backends.mkldnn, "enabled", False)),
    "attention": ("the choice of algorithms", lambda: torch.backends.cuda.enable_flash_sdp(False)),
    "device entered": ("the default device", lambda: torch.device("meta").__enter__()),
    "functions": ("a mode of PyTorch's", lambda: BaseTorchFunctionMode().__enter__()),
    "operations": ("a mode of PyTorch's", lambda: _Operations().__enter__()),
    "hooks": ("the hooks of all modules", lambda: register_module_forward_hook(lambda module, inputs, output: None)),
    "threads": ("the number of threads", lambda: torch.set_num_threads(torch.get_num_threads() + 1)),
    "precision": ("the precision of float32 products", lambda: torch.set_float32_matmul_precision("medium")),
    "tiny": ("what becomes of tiny numbers", _flush),
    "printed tensors": ("how tensors are printed", lambda: torch.set_printoptions(precision=2)),
    "printed arrays": ("how arrays are printed", lambda: np.set_printoptions(precision=2)),
    "errors": ("what NumPy does about overflow and division by zero", lambda: np.seterr(divide="raise")),
    "folder": ("the working folder", lambda: os.chdir("..")),
    "variable": ("an environment variable", lambda: os.environ.update(LEFT_BY_A_TEST="1")),
    "variable gone": ("an environment variable", lambda: os.environ.pop("PATH", None)),
    "call on errors": ("what NumPy does about overflow and division by zero", lambda: np.seterrcall(print)),
    "garbage": ("the garbage collector", gc.disable),
    "recursion": ("the recursion limit", lambda: sys.setrecursionlimit(sys.getrecursionlimit() + 7)),
}
SILENT: dict[str, Callable[[], object]] = {
    "PyTorch draws": lambda: torch.rand(3),
    "NumPy draws": lambda: np.random.randn(3),  # three: one normal number is kept for the next call
    "Python draws": random.random,
    "all are seeded": lambda: (torch.manual_seed(5), np.random.seed(5), random.seed(5)),
    "a figure": plt.figure,
    "a style": lambda: plt.style.use("ggplot"),
    "closes the output": lambda: sys.stdout.close(),
    "warnings": lambda: warnings.filterwarnings("error"),
    "a signal": lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    "another signal": lambda: signal.signal(signal.SIGUSR1, signal.SIG_IGN),
    "a timer": lambda: signal.setitimer(signal.ITIMER_VIRTUAL, 1000),
    "the file mode mask": lambda: os.umask(0o077),
    "where modules are looked for": lambda: sys.path.insert(0, "/elsewhere"),
    "a trace": lambda: sys.settrace(lambda *_: None),
    "a profile": lambda: sys.setprofile(lambda *_: None),
    "how results are shown": lambda: setattr(sys, "displayhook", print),
    "how errors are shown": lambda: setattr(sys, "excepthook", print),
    "decimals": lambda: setattr(decimal.getcontext(), "prec", 3),
    "open files": lambda: resource.setrlimit(
        resource.RLIMIT_NOFILE, (64, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    ),
    "the locale": lambda: locale.setlocale(locale.LC_ALL, "C.UTF-8"),
    "logging": lambda: logging.basicConfig(level=logging.DEBUG, force=True),
    "no logging": lambda: logging.disable(),
}
every_change = pytest.mark.parametrize(("name", "change"), CHANGES.values(), ids=CHANGES)


def state() -> dict[str, Any]:
    return {name: setting.read() for name, setting in SETTINGS.items()}


@pytest.fixture(autouse=True)
def as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test of this file may spoil another."""
    monkeypatch.chdir(tmp_path)
    torch.use_deterministic_algorithms(False)  # what it imports the first time is there
    with settings_put_back():
        yield


def that(change: Callable[[], object]) -> Callable[[torch.Tensor], torch.Tensor]:
    """A right answer that changes something, too."""

    def answer(x: torch.Tensor) -> torch.Tensor:
        result = row_means(x)
        change()
        return result

    return answer


@every_change
def test_what_is_left_changed_is_seen_and_put_back(name: str, change: Callable[[], object]) -> None:
    before = state()
    seen = [observe(lambda symbol, inputs: {"output": symbol()}, change, {}) for _ in range(2)]
    assert seen[0][CHANGED] == seen[1][CHANGED] == (name,)  # the second case starts as the first one did
    assert state() == before
    assert "error" in observe(lambda symbol, inputs: {"output": (symbol(), 1 / 0)}, change, {})
    assert state() == before


@every_change
def test_a_right_answer_that_changes_a_setting_is_told(name: str, change: Callable[[], object]) -> None:
    got = verdict(that(change))
    assert (got.score, got.status, got.diagnosis, got.evidence) == (BESIDE, PARTIAL, None, None)
    assert [aspect.name for aspect in got.aspects if not aspect.passed] == ["settings untouched"]
    assert got.message == f"Your code leaves {name} changed for the whole notebook. {SETTINGS[name].advice}"
    judge = Judge(EXERCISE, in_order, 0)
    assert not judge.right_so_far(judge.observe(that(change))[:1])


def test_inference_mode_that_nobody_leaves() -> None:
    entered = [torch.inference_mode() for _ in range(2)]
    seen = observe(lambda symbol, inputs: {"output": symbol()}, entered[0].__enter__, {})
    assert seen[CHANGED] == ("inference mode",)
    assert not torch.is_inference_mode_enabled()
    assert torch.is_grad_enabled()
    weight = torch.ones(2, requires_grad=True)
    (2 * weight).sum().backward()
    assert weight.grad is not None


def test_autocast_that_nobody_leaves_keeps_no_weights() -> None:
    """Autocast remembers the weights that it has made small until its outermost block ends."""
    layer = torch.nn.Linear(2, 2)
    observe(lambda symbol, inputs: {"output": (symbol(), layer(torch.ones(2)))}, torch.autocast("cpu").__enter__, {})
    with torch.no_grad():
        layer.weight.fill_(1.0)
        layer.bias.fill_(0.0)
        with torch.autocast("cpu"):
            assert layer(torch.ones(2)).tolist() == [2.0, 2.0]


def test_an_answer_that_changes_nothing_has_no_such_aspect() -> None:
    got = verdict(row_means)
    assert (got.score, got.status) == (FULL, PASSED)
    assert [aspect.name for aspect in got.aspects] == [aspect.name for aspect in EXERCISE.aspects]


def test_a_known_mistake_keeps_its_name_when_it_changes_a_setting() -> None:
    changes = CHANGES["dtype"][1]
    got = verdict(lambda x: (x.sum(1), changes())[0])
    assert got.diagnosis == "sum_instead_of_mean"
    assert got.message.startswith("Yours is the sum. What turns a sum into a mean? Your code leaves the default dtype")


def test_a_setting_may_be_what_a_mistake_is_about() -> None:
    mistake = Mistake(
        "dtype_for_all", that(CHANGES["dtype"][1]), "Every tensor is float64 from now on. Which one need be?"
    )
    got = verdict(that(CHANGES["dtype"][1]), replace(EXERCISE, mistakes=(*EXERCISE.mistakes, mistake)))
    assert (got.diagnosis, got.message, got.score) == ("dtype_for_all", mistake.advice, BESIDE)


def test_a_canonical_form_never_sees_it() -> None:
    def canonical(observation: Observation, case: Case) -> Observation:
        assert set(observation) <= {"output", "arguments"}
        return {key: observation[key] for key in ("output", "arguments")}

    got = verdict(that(CHANGES["dtype"][1]), replace(EXERCISE, canonical=canonical))
    assert got.score == BESIDE


@pytest.mark.parametrize("lie", [None, 3, "autocast", {"autocast": 1}, [["autocast"]], ["all of it"], [None], (), []])
def test_a_process_that_sends_something_else_changes_nothing(lie: Any) -> None:
    judge = Judge(EXERCISE, in_order, 0)
    seen = [one | {CHANGED: lie} for one in judge.observe(row_means)]
    assert judge.verdict(seen).status == PASSED
    assert compare({}, {CHANGED: ["autocast", 3]})[0].got == ("autocast",)


def test_what_an_import_sets_is_nobodys_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sets_a_variable.py").write_text("import os\nos.environ['SET_BY_AN_IMPORT'] = '1'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    seen = observe(lambda symbol, inputs: {"output": str(symbol("sets_a_variable"))}, __import__, {})
    assert CHANGED not in seen
    assert "SET_BY_AN_IMPORT" not in os.environ


def test_what_is_told_is_told_the_first_time_too() -> None:
    """What reads a setting may import something itself. That excuses nobody."""
    told = (
        "import torch\n"
        "from cellcheck.authoring.traces import settings_put_back\n"
        "with settings_put_back() as left:\n"
        "    torch.set_default_dtype(torch.float64)\n"
        "print(left)"
    )
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['the default dtype']"


# --- in a notebook ---------------------------------------------------------------------------------------------

LESSON, SYMBOL = "01_pytorch_basics", "batched_dot"


def _answer(change: Callable[[], object]) -> Any:
    def batched_dot(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        change()
        return a @ b.transpose(1, 2)

    return batched_dot


def rest() -> dict[str, Any]:
    """What nobody is told about."""
    return {
        "torch": torch.default_generator.get_state().tolist(),
        "numpy": repr(np.random.get_state(legacy=False)),
        "python": random.getstate(),
        "figures": plt.get_fignums(),
        "style": repr(plt.rcParams),
        "current figure": plt.gcf().number,
        "filters": list(warnings.filters),
        "signal": signal.getsignal(signal.SIGINT),
        "another signal": signal.getsignal(signal.SIGUSR1),
        "timer": signal.getitimer(signal.ITIMER_VIRTUAL),
        "umask": (os.umask(0o022), os.umask(0o022))[0],
        "path": list(sys.path),
        "trace": (sys.gettrace(), sys.getprofile()),
        "hooks": (sys.displayhook, sys.excepthook),
        "decimals": decimal.getcontext().prec,
        "open files": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        "locale": locale.setlocale(locale.LC_ALL),
        "logging": (logging.getLogger().level, logging.getLogger().handlers[:], logging.root.manager.disable),
    }


@pytest.mark.parametrize("change", SILENT.values(), ids=SILENT)
def test_after_a_check_the_generators_go_on_where_they_were(change: Callable[[], object]) -> None:
    plt.figure(3)
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    np.random.randn()  # its second half is kept for the next call
    before = rest()
    got = Checker(LESSON).verdict(SYMBOL, _answer(change))
    assert rest() == before
    assert got.status == PASSED, got.message
    plt.close(3)


def test_a_check_that_is_stopped_leaves_no_trace_either() -> None:
    def stop() -> None:
        torch.set_default_dtype(torch.float64)
        torch.rand(2)
        raise KeyboardInterrupt

    before, settings = torch.default_generator.get_state(), state()
    assert Checker(LESSON).verdict(SYMBOL, _answer(stop)).message.startswith("You stopped it")
    assert torch.equal(torch.default_generator.get_state(), before)
    assert state() == settings


def test_every_case_draws_the_same_from_pythons_generator() -> None:
    seen = [observe(lambda symbol, inputs: {"output": symbol()}, random.random, {}) for _ in range(2)]
    assert seen[0] == seen[1]
