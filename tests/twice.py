"""Runs tests, and what failed once more: alone, after all the others, in one process.

    python -m tests.twice [PYTEST OPTION OR TEST ...]

What passes then is unsteady, and named: somebody should look at it, but it isn't the fault of the change that met it.
More than three failures are no chance.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

MOST = 3


def main(options: Sequence[str]) -> int:
    """The exit code of pytest; 0 where all that failed has passed alone."""
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "failed"
        code = _pytest([*options, "--failures-to", str(listed)])
        failed = listed.read_text("utf-8").splitlines() if listed.exists() else []
    if code != pytest.ExitCode.TESTS_FAILED or not failed:
        return code
    if len(failed) <= MOST:
        print(f"\nOnce more, alone: {', '.join(failed)}\n", flush=True)
        code = _pytest(failed + [option for option in options if option in ("--long",)])
        if code == pytest.ExitCode.OK:
            print("\nUNSTEADY, failed beside others and passed alone:")
            print("\n".join(f"  {test}" for test in failed), flush=True)
            return 0
    print("\nTo see it again:", flush=True)
    for test in failed[:20]:
        print(f"  .venv/bin/python -m pytest '{test}'", flush=True)
    return code


def _pytest(options: Sequence[str]) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *options], check=False).returncode


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main(sys.argv[1:]))
