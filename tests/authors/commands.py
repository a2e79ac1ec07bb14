"""The real command line in a process of its own, forked where everything heavy is imported already."""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(
    ["torch", "pandas", "jupytext", "nbclient", "nbgrader.apps", "nbgrader.api", "pytest", "grader.cli"]
)


@dataclass(frozen=True)
class Ran:
    """How a command ended, and what it said."""

    code: int
    said: str


def run(command: Sequence[str], folder: Path, env: Mapping[str, str | None] | None = None) -> Ran:
    """Runs `grader ...`, `python -m pytest` or `python -c CODE` in a folder, with changes `env` to the environment."""
    with tempfile.NamedTemporaryFile() as said:
        process = _CONTEXT.Process(target=_become, args=(list(command), str(folder), dict(env or {}), said.name))
        process.start()
        process.join()
        return Ran(process.exitcode or 0, Path(said.name).read_text("utf-8"))


def _become(command: list[str], folder: str, env: dict[str, str | None], said: str) -> None:
    descriptor = os.open(said, os.O_WRONLY | os.O_APPEND)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w")
    os.chdir(folder)
    for name, value in env.items():
        os.environ.pop(name, None)
        if value is not None:
            os.environ[name] = value
    # As a fresh Python would have it.
    sys.path[:] = [*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)), *map(str, filter(_own, sys.path))]
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
    """Whether Python or its packages are here: neither the tests' folders nor those of PYTHONPATH."""
    return "tests" not in Path(place).parts and place not in os.environ.get("PYTHONPATH", "").split(os.pathsep)


def _run(command: list[str]) -> int:
    match command:
        case ["grader", *_]:
            from grader import cli

            sys.argv = command
            cli.main()
            return 0
        case ["python", "-m", "pytest", *options]:
            import pytest

            sys.path.insert(0, "")
            return int(pytest.main(["-p", "no:cacheprovider", *options]))
        case ["python", "-c", code]:
            sys.path.insert(0, "")
            exec(compile(code, "<code>", "exec"), {"__name__": "__main__"})
            return 0
    raise ValueError(f"not a command of the page: {command}")
