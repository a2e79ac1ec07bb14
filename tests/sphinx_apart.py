"""Sphinx in a process of its own.

What one build adds to the defaults of its settings, the next one in the same process finds there: a site of Markdown
that is built after another one may then not be built at all.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def build(*options: str | Path) -> None:
    """As `python -m sphinx OPTIONS` in the root of the repository; what it says becomes the failure."""
    command = [sys.executable, "-m", "sphinx", *map(str, options)]
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
