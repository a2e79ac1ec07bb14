"""The command line.

Exit code 0: done; 1: something could not be done, all else was; 2: wrong usage.
"""

import atexit
import gc
import os

from rich.markup import escape

from cellcheck.cli.shared import app, err
from cellcheck.cli.stopping import is_asked_to_stop, stop_by_ctrl_c
from cellcheck.errors import GraderError

# The help lists the commands in this order.
# isort: off
from cellcheck.cli import learning, grading, classes, running_a_class, importing, service, contests, authoring, tutors

__all__ = [
    "app",
    "authoring",
    "classes",
    "contests",
    "grading",
    "importing",
    "learning",
    "main",
    "running_a_class",
    "service",
    "tutors",
]

_STOPPED = 130
"""The exit code of whatever Ctrl-C has ended, as shells have it."""


def main() -> None:
    """Runs the command line; an error is one sentence and exit code 2."""
    stop_by_ctrl_c()
    # Cases are tiny: threads gain nothing, and on a busy machine they wait for each other. torch asks when it loads.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    gc.set_threshold(50_000, 20, 20)  # most of what a command makes is modules, which stay: look for garbage less often
    atexit.register(gc.freeze)  # at the end, too: the whole of PyTorch would be looked through once more
    try:
        app(standalone_mode=True)
    except GraderError as error:
        if is_asked_to_stop():
            raise SystemExit(_STOPPED) from None
        err.print(escape(str(error)), highlight=False, soft_wrap=True)
        raise SystemExit(2) from None
    except PermissionError as error:  # of a file that every command needs, or nobody has thought of
        reason = f"{error.filename or 'A file'} can't be used: {error.strerror}."
        err.print(escape(reason), highlight=False, soft_wrap=True)
        raise SystemExit(2) from None
