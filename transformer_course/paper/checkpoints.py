"""Checkpoints: a run that was interrupted goes on as if nothing had happened."""

import os
import random
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import nn


class Stateful(Protocol):
    """Whatever can put its state into a dictionary, and take it back: a schedule, for example."""

    def state_dict(self) -> dict[str, Any]: ...

    def load_state_dict(self, state: dict[str, Any]) -> Any: ...


def save_checkpoint(
    path: str | Path, model: nn.Module, optimizer: torch.optim.Optimizer, schedule: Stateful, step: int
) -> None:
    """Write everything that a run needs to go on: weights, moments, schedule, step, and
    the random state.

    The file is a dictionary, written with `torch.save`: "model", "optimizer" and
    "schedule" hold the `state_dict()` of each, "step" holds the step, and "random" what
    `random_state()` returns: the state of PyTorch on the CPU and on every GPU, of NumPy
    and of Python.
    The file appears under its name only when it is complete: an interrupted save leaves
    the previous checkpoint as it was. What is written first is in the same folder, since
    only there a rename is done at once or not at all. Saving changes nothing in the run.
    """
    ### BEGIN SOLUTION
    content = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "step": step,
        "random": random_state(),
    }
    unfinished = Path(f"{path}.part")
    torch.save(content, unfinished)
    os.replace(unfinished, path)
    ### END SOLUTION


def load_checkpoint(path: str | Path, model: nn.Module, optimizer: torch.optim.Optimizer, schedule: Stateful) -> int:
    """Put model, optimiser, schedule and random state back to what they were; returns
    the step.

    What follows is what would have followed without the interruption: on a CPU the same
    losses, bit for bit. The model may be on another device than the one that was saved:
    a file from a GPU loads where there is none.
    The file is read as data alone: code that somebody has hidden in it is never run.
    """
    ### BEGIN SOLUTION
    content = torch.load(path, map_location="cpu", weights_only=True)  # data only: a checkpoint can't run code
    model.load_state_dict(content["model"])
    optimizer.load_state_dict(content["optimizer"])
    schedule.load_state_dict(content["schedule"])
    set_random_state(content["random"])
    return int(content["step"])
    ### END SOLUTION


def random_state() -> dict[str, Any]:
    """The state of every global random generator, as tensors and plain numbers."""
    name, keys, *rest = np.random.get_state()
    return {
        "torch": torch.get_rng_state(),
        "cuda": torch.cuda.get_rng_state_all() if torch.cuda.is_available() else [],
        "numpy": (name, torch.from_numpy(np.asarray(keys, dtype=np.int64)), *rest),
        "python": random.getstate(),
    }


def set_random_state(state: dict[str, Any]) -> None:
    """Undo whatever was drawn since `random_state()` gave `state`. GPUs that aren't
    here are left out.

    >>> state = random_state()
    >>> first = random.random(), np.random.random(), torch.rand(1)
    >>> set_random_state(state)
    >>> first == (random.random(), np.random.random(), torch.rand(1))
    True
    """
    torch.set_rng_state(state["torch"])
    if torch.cuda.is_available() and len(state["cuda"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(state["cuda"])
    name, keys, *rest = state["numpy"]
    np.random.set_state((name, keys.numpy().astype(np.uint32), *rest))
    random.setstate(state["python"])
