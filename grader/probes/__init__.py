"""How each symbol is called on a case. This package travels to the learner's process; it holds no answers.

A module `lesson_NN` has `PROBES`: for each symbol a function of the learner's symbol and a case's inputs that
returns what was seen, by name: plain data and arrays.
"""

from __future__ import annotations

import importlib
from typing import cast

from grader.probes.calls import Probe


def load_probes(lesson: str) -> dict[str, Probe]:
    """The probes of a lesson ("01_pytorch_basics"), by symbol."""
    module = importlib.import_module(f"{__name__}.lesson_{lesson.split('_')[0]}")
    return cast(dict[str, Probe], module.PROBES)
