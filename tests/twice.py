"""Runs tests, and what failed once more: alone, after all the others, in one process.

    python -m tests.twice [PYTEST OPTION OR TEST ...]

What passes then is unsteady, and named: somebody should look at it, but it isn't the fault of the change that met it.
More than three failures are no chance; tests of a file that lack the same fixture are one. Whatever the tests leave in
the temporary folder goes with the run.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

MOST = 3
_PREFIX = "cct-"


def main(options: Sequence[str]) -> int:
    """The exit code of pytest; 0 where all that failed has passed alone."""
    _sweep()
    with tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o1777)  # as the temporary folder is: some tests have accounts of their own
        return _run(options, Path(folder))


def _sweep() -> None:
    """Removes what runs have left that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        if not Path("/proc", folder.name.split("-")[1]).exists():
            shutil.rmtree(folder, ignore_errors=True)


def _run(options: Sequence[str], folder: Path) -> int:
    listed = folder / "failed"
    code = _pytest(["-p", "tests.telling", *options, "--failures-to", str(listed)], folder)
    failed: dict[str, str] = json.loads(listed.read_text("utf-8")) if listed.exists() else {}
    if code != pytest.ExitCode.TESTS_FAILED or not failed:
        return code
    if len({*failed.values()}) <= MOST:
        print(f"\nOnce more, alone: {', '.join(failed)}\n", flush=True)
        code = _pytest([*failed, *({"--long"} & {*options})], folder)
        if code == pytest.ExitCode.OK:
            print("\nUNSTEADY, failed beside others and passed alone:")
            print("\n".join(f"  {test}" for test in failed), flush=True)
            return 0
    print("\nTo see it again:", flush=True)
    for test in [*failed][:20]:
        print(f"  .venv/bin/python -m pytest '{test}'", flush=True)
    return code


def _pytest(options: Sequence[str], folder: Path) -> int:
    environment = {**os.environ, "TMPDIR": str(folder)}
    return subprocess.run([sys.executable, "-m", "pytest", *options], env=environment, check=False).returncode


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main(sys.argv[1:]))
