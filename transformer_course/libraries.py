"""Other people's libraries: asked for politely, since a lesson goes on without them."""

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from types import ModuleType
from typing import Any

_TENSORFLOWS_FLAGS = "tensorflow.python.pywrap_dlopen_global_flags"
_MISSING: Any = None  # what stands in `sys.modules` for a module that can't be imported


def try_to_import(name: str) -> ModuleType | None:
    """The library `name`, imported without its chatter; None, after one printed
    sentence, where it is missing.

    >>> try_to_import("no_such_library")
    no_such_library is not installed here, so this comparison is left out. The lesson goes on without it.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # TensorFlow reports on the processor otherwise
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    try:
        with quiet():
            return importlib.import_module(name)
    except ImportError:
        print(f"{name} is not installed here, so this comparison is left out. The lesson goes on without it.")
        return None


def keep_tensorflow_apart() -> None:
    """Lets TensorFlow and PyTorch share a process, whichever is imported first. Called
    when `course` is imported.

    TensorFlow opens its libraries to the whole process (RTLD_GLOBAL). They contain LLVM
    and stand-ins for CUDA, and libraries loaded later are linked to those instead of
    their own. The CUDA build of PyTorch brings Triton, which contains another version
    of LLVM: `import torch._dynamo`, and so the first optimiser, ends in a segmentation
    fault.

    A module of TensorFlow's sets that flag. TensorFlow does without it where it is
    missing, and needs it only where its libraries are linked statically, which they are
    not in any package for pip or conda. So it goes missing here.

    Where TensorFlow was imported before `course`, it is too late for that. PyTorch then
    does without Triton, as its CPU build does.
    """
    if sys.modules.setdefault(_TENSORFLOWS_FLAGS, _MISSING) is not _MISSING:
        sys.modules.setdefault("triton", _MISSING)


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing reaches stderr meanwhile, not even from C++ code that writes past Python.

    >>> with quiet():
    ...     print("seen on stdout only")
    seen on stdout only
    """
    sys.stderr.flush()
    stderr = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        with open(os.devnull, "w") as silent, redirect_stderr(silent):
            yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)
        os.close(nowhere)
