"""Ctrl-C: the first one stops a command in an orderly way, and the second one ends it at once."""

import ctypes
import signal
import sys
import threading
from types import FrameType

_SAYS = "\nStopping. Press Ctrl-C again to end this at once."


def stop_by_ctrl_c() -> None:
    """The first Ctrl-C raises KeyboardInterrupt from now on; the second is the system's, which ends this process.

    The processes that it has started end too: each waits for a socket that closes then. Nothing changes where somebody
    has seen to Ctrl-C already, such as a shell that ignores it for what runs in the background.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    signal.signal(signal.SIGINT, _stop)
    if sys.platform == "linux":
        _serve_once()


def is_asked_to_stop() -> bool:
    """Whether Ctrl-C has come: an error that follows may be what a library made of it, such as one that was loading."""
    return signal.getsignal(signal.SIGINT) is signal.SIG_DFL


def _stop(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    print(_SAYS, file=sys.stderr, flush=True)
    raise KeyboardInterrupt


def _serve_once() -> None:
    """The kernel itself takes Python's handler away when it calls it.

    Python calls `_stop` when the main thread next gets to run, which is never if a library keeps Python's lock.
    """
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "sysv_signal"):  # a C library other than GNU's
        return
    for function in (libc.signal, libc.sysv_signal):
        function.restype, function.argtypes = ctypes.c_void_p, (ctypes.c_int, ctypes.c_void_p)
    handler = libc.signal(signal.SIGINT, None)  # Python's own, in C
    libc.sysv_signal(signal.SIGINT, handler)
