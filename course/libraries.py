"""Other people's libraries: asked for politely, since a lesson goes on without them."""

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from types import ModuleType


def try_to_import(name: str) -> ModuleType | None:
    """The library `name`, imported without its chatter; None, after one printed sentence, where it is missing.

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


@contextmanager
def quiet() -> Iterator[None]:
    """Nothing reaches stderr meanwhile, not even from C++ code that writes past Python.

    >>> with quiet():
    ...     print("seen on stdout only")
    seen on stdout only
    """
    sys.stderr.flush()
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        with open(os.devnull, "w") as silent, redirect_stderr(silent):
            yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
