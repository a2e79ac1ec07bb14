"""Real commands and real kernels, each in a process of its own, forked where everything heavy is imported already.

A fresh Python takes seconds to import PyTorch or nbgrader, and does nothing that is tested here while it does.
`test_cli.py` starts the command line from a shell, and `tests/colab/` a kernel.
"""

import multiprocessing
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import forkserver
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.provisioning import local_provisioner

from cellcheck.running import warming, zygotes
from tests import warm_zygotes

ROOT = Path(__file__).parents[1]
PATH = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
"""With this, a command finds the programs that were installed beside this Python."""
MOTHER = warm_zygotes.Mother()
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    [
        *("torch", "pandas", "seaborn", "tqdm.auto", "ipykernel.kernelapp"),
        *("jupytext", "nbclient", "nbgrader.apps", "nbgrader.api", "pytest", "cellcheck.cli"),
    ]
)


@dataclass(frozen=True)
class Ended:
    """How a command ended, and what it said."""

    code: int
    output: str


def run(command: Sequence[str], folder: Path, env: Mapping[str, str | None] | None = None) -> Ended:
    """Runs a command in a folder, with changes `env` to the environment.

    The command is `grader ...`, `nbgrader ...`, `python -m pytest ...` or `python -c CODE`.
    """
    with tempfile.NamedTemporaryFile() as output:
        wanted = {name: value for name, value in {**os.environ, **(env or {})}.items() if value is not None}
        process = _start(command, folder, wanted, output.name, MOTHER.ready() if command[0] == "cellcheck" else None)
        process.join()
        return Ended(process.exitcode or 0, Path(output.name).read_text("utf-8"))


def stop() -> None:
    """Ends the processes that the others are forked from, so that what all of them used is counted with this one's."""
    for left in multiprocessing.active_children():  # it would wait for them
        left.kill()
    forkserver._forkserver._stop()  # type: ignore[attr-defined]
    zygotes._POOL.close()
    MOTHER.stop()


def _start(
    command: Sequence[str], folder: Path, env: Mapping[str, str], output: str, mother: str | None = None
) -> ForkServerProcess:
    """The process of a command; it leads a group of its own by the time this returns."""
    ready, tell = _CONTEXT.Pipe(duplex=False)
    process = _CONTEXT.Process(target=_become, args=(list(command), str(folder), dict(env), output, tell, mother))
    sys.path.append(str(ROOT))  # where the new process finds this module
    try:
        process.start()
    finally:
        sys.path.pop()
    tell.close()
    ready.recv()
    return process


def _become(command: list[str], folder: str, env: dict[str, str], output: str, tell: Any, mother: str | None) -> None:
    os.setsid()  # whoever stops it stops what it started, and nobody else
    tell.send(None)
    tell.close()
    descriptor = os.open(output, os.O_WRONLY | os.O_APPEND)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    # As a fresh Python would have it.
    sys.path[:] = [*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)), *map(str, filter(_own, sys.path))]
    if mother is not None:
        warming.start = partial(warm_zygotes.start, mother)
    code = 1
    try:
        code = _run(command)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    sys.exit(code)


def _own(place: str) -> bool:
    """Whether Python or its packages are here: not the tests' folders, and not those of PYTHONPATH."""
    elsewhere = ("", *os.environ.get("PYTHONPATH", "").split(os.pathsep))
    return "tests" not in Path(place).parts and place not in elsewhere


def _run(command: list[str]) -> int:
    local_provisioner.launch_kernel = launch_kernel
    match command:
        case ["cellcheck", *_]:
            from cellcheck import cli

            sys.argv = command
            cli.main()
            return 0
        case ["nbgrader", *_]:
            from nbgrader.apps.nbgraderapp import main

            sys.argv = command
            main()
            return 0
        case ["python", "-m", "ipykernel_launcher", *options]:
            from ipykernel import kernelapp

            _plot_inline()
            kernelapp.launch_new_instance(argv=options)
            return 0
        case ["python", "-m", "pytest", *options]:
            sys.path.insert(0, "")
            return int(pytest.main(["-p", "no:cacheprovider", *options]))
        case ["python", "-c", code]:
            sys.path.insert(0, "")
            exec(compile(code, "<code>", "exec"), {"__name__": "__main__"})
            return 0
    raise ValueError(f"not a command that starts warm: {command}")


def _plot_inline() -> None:
    """What a kernel tells Matplotlib by the environment, which it looks at when it is imported."""
    import matplotlib as mpl

    mpl.rcParams["backend"] = os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")


# --- kernels ----------------------------------------------------------------------------------------------------

_cold = local_provisioner.launch_kernel


class _Kernel:
    """A forked kernel, as `jupyter_client` asks `subprocess.Popen` about one."""

    stdin = stdout = stderr = None

    def __init__(self, process: ForkServerProcess) -> None:
        self.process = process
        assert process.pid
        self.pid: int = process.pid

    def poll(self) -> int | None:
        return self.process.exitcode

    def wait(self) -> int | None:
        self.process.join()
        return self.process.exitcode

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def launch_kernel(command: list[str], **options: Any) -> Any:
    """In place of `jupyter_client`'s: a kernel of this Python is forked, any other one starts as it always does."""
    match command:
        case [python, "-m", "ipykernel_launcher", *_] if python == sys.executable:
            folder = Path(options.get("cwd") or Path.cwd())
            started = ["python", *command[1:]]
            return _Kernel(_start(started, folder, options.get("env") or os.environ, os.devnull))
    return _cold(command, **options)
