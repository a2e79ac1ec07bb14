"""The training runs that `save_checkpoint` and `load_checkpoint` are tried on, and what both are looked at for."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellcheck.authoring import draw
from cellcheck.authoring.aspects import CONTENT, KNOWN, USUAL
from cellcheck.authoring.spec import Aspect, Case, tagged

INTERRUPTED = Aspect(
    "an interrupted save",
    ("the_checkpoint_before", "the_error", "a_whole_save"),
    KNOWN | CONTENT,
    tags=tagged("interrupted"),
    meaning="A save that breaks off anywhere leaves the checkpoint before as it was, and its error is passed on.",
)


CODE = Aspect(
    "code in the file isn't run",
    ("code_in_the_file",),
    KNOWN | CONTENT,
    weight=2.0,
    tags=tagged("code"),
    meaning="A checkpoint is read as data alone: code that somebody has hidden in it is never run.",
)

DEVICE = Aspect(
    "a file from another device",
    ("a_file_from_a_gpu",),
    KNOWN | CONTENT,
    weight=1.0,
    tags=tagged("device"),
    meaning="A file that was written on a GPU loads where there is none.",
)


def runs(generator: np.random.Generator, interrupted: bool) -> list[Case]:
    """A run with each optimiser, and one whose save is interrupted."""

    def run(optimizer: str, as_text: bool, look: str = "usual") -> dict[str, Any]:
        d = int(generator.integers(3, 6))
        done, step = draw.dims(generator, 2, 2, 4)
        return {
            "look": look,
            "weights": draw.normal(generator, d + 1, d),
            "optimizer": optimizer,
            "as_text": as_text,
            "seed": int(generator.integers(1, 1000)),
            "done": done,
            "step": 10 * step + 1,
        }

    # A path that is a text comes in a special case: who takes Paths only loses that, and not all the rest.
    cases = [Case.of("with Adam", **run("Adam", False)), Case.of("with momentum", **run("SGD", False))]
    if interrupted:
        full = Case.of("on a full disk, with a path that is a text", INTERRUPTED, **run("Adam", True, "interrupted"))
        return [*cases, full]
    gpu = "with a file from a GPU that isn't there, and a path that is a text"
    return [
        *cases,
        Case.of("with a file that has code in it", CODE, **run("Adam", False, "code")),
        Case.of(gpu, DEVICE, **run("Adam", True, "device")),
    ]


def resumed(name: str, *keys: str, weight: float, meaning: str, core: bool = False, central: bool = False) -> Aspect:
    """One thing that is seen in the usual cases, whatever is wrong with it."""
    return Aspect(name, keys, KNOWN | CONTENT, weight, core, USUAL, meaning, central=central)


CALLED = {
    "model": "the model's state",
    "optimizer": "the optimiser's state",
    "schedule": "the schedule's state",
    "torch": "PyTorch's random state",
    "cuda": "the random state of every GPU",
    "numpy": "NumPy's random state",
    "python": "Python's random state",
    "something": "what there is of the run",
    "the_error": "the error of the save",
    "a_whole_save": "how a save ends",
    "code_in_the_file": "code in the file",
    "a_file_from_a_gpu": "a file from a GPU that isn't there",
    "where_it_is_written_first": "where the file is written first",
}
PARTS = (
    resumed(
        "the same losses",
        "losses",
        weight=5.0,
        central=True,
        meaning="A run that goes on from the checkpoint has the losses that it would have had without a break.",
    ),
    resumed("a part of the run", "something", weight=0.5, core=True, meaning="Some of the run's state is there."),
    resumed("weights", "model", weight=2.0, meaning="All of the model's state is there, buffers included."),
    resumed("optimiser", "optimizer", weight=2.0, meaning="The optimiser's state is there: moments and learning rate."),
    resumed("schedule", "schedule", weight=2.0, meaning="The schedule's state is there."),
    resumed(
        "torch's random state",
        "torch",
        "cuda",
        weight=2.0,
        meaning="PyTorch's random numbers go on where they stopped.",
    ),
    resumed(
        "NumPy's and Python's random state",
        "numpy",
        "python",
        weight=1.0,
        meaning="NumPy's and Python's random numbers go on where they stopped, too.",
    ),
)
