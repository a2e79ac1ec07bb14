"""A library may be missing, and TensorFlow gets on with PyTorch, in whatever order they are imported.

The crash itself needs PyTorch's CUDA build, which brings Triton: those tests skip themselves without it. What the cure
relies on is tested with every build.
"""

import os
import subprocess
import sys
from importlib.util import find_spec
from types import ModuleType

import pytest

from transformer_course.libraries import keep_tensorflow_apart, quiet, try_to_import

FLAGS = "tensorflow.python.pywrap_dlopen_global_flags"
OPTIMISER = "import torch; torch.optim.Adam([torch.zeros(1, requires_grad=True)])"
ORDERS = {
    "course, TensorFlow, optimiser": ("import transformer_course", "import tensorflow", OPTIMISER),
    "course, optimiser, TensorFlow": ("import transformer_course", OPTIMISER, "import tensorflow"),
    "TensorFlow, course, optimiser": ("import tensorflow", "import transformer_course", OPTIMISER),
}
# The symbol exists, and whoever does not ask TensorFlow's own library for it can't see it.
OWN_SYMBOL = """
import ctypes, pathlib
library = next(pathlib.Path(tensorflow.__file__).parent.glob("libtensorflow_cc.*"))
assert hasattr(ctypes.CDLL(str(library)), "TF_Version")
assert not hasattr(ctypes.CDLL(None), "TF_Version")
"""
needs_tensorflow = pytest.mark.skipif(find_spec("tensorflow") is None, reason="TensorFlow is not installed")
needs_triton = pytest.mark.skipif(find_spec("triton") is None, reason="no Triton, so not PyTorch's CUDA build")


def in_a_process(*lines: str) -> None:
    ran = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]


def test_a_missing_library_is_one_sentence(capfd: pytest.CaptureFixture[str]) -> None:
    assert try_to_import("no_such_library") is None
    seen = capfd.readouterr()
    assert seen.out.count("\n") == 1
    assert seen.err == ""
    with quiet():
        print("chatter", file=sys.stderr)
        os.write(2, b"chatter")
    assert "chatter" not in capfd.readouterr().err


@needs_tensorflow
@pytest.mark.skipif(sys.platform != "linux", reason="libraries are bound otherwise there")
def test_tensorflow_keeps_its_symbols_to_itself() -> None:
    in_a_process(
        "import transformer_course, tensorflow", OWN_SYMBOL, "assert tensorflow.constant([1, 2]).numpy().sum() == 3"
    )


def test_tensorflow_is_kept_apart_once_the_course_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, FLAGS, raising=False)
    monkeypatch.delitem(sys.modules, "triton", raising=False)
    keep_tensorflow_apart()
    keep_tensorflow_apart()  # once more, as after a reload: what we did ourselves is no sign that TensorFlow was first
    assert sys.modules[FLAGS] is None
    assert "triton" not in sys.modules


def test_after_tensorflow_pytorch_does_without_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, FLAGS, ModuleType(FLAGS))
    monkeypatch.delitem(sys.modules, "triton", raising=False)
    keep_tensorflow_apart()
    with pytest.raises(ImportError):
        import triton  # noqa: F401


def test_a_triton_that_was_first_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    triton = ModuleType("triton")
    monkeypatch.setitem(sys.modules, FLAGS, ModuleType(FLAGS))
    monkeypatch.setitem(sys.modules, "triton", triton)
    keep_tensorflow_apart()
    assert sys.modules["triton"] is triton


@needs_tensorflow
@needs_triton
@pytest.mark.parametrize("order", ORDERS)
def test_every_order_of_imports_survives(order: str) -> None:
    in_a_process(*ORDERS[order], "assert tensorflow.constant([1, 2]).numpy().sum() == 3")
