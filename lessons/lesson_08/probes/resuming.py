"""What can be seen of checkpoints: what a file holds, what comes back from one, and whether the run then goes on."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from course.paper.checkpoints import random_state, set_random_state
from lessons.lesson_08.probes.moving import say

Inputs = Mapping[str, Any]
Seen = dict[str, Any]
GENERATORS = ("torch", "numpy", "python")


class _Schedule:
    """Another rate for each step; what it counts is no step of the run."""

    def __init__(self, optimizer: torch.optim.Optimizer) -> None:
        self.optimizer, self.count = optimizer, 0

    def step(self) -> None:
        self.count += 1
        for group in self.optimizer.param_groups:
            group["lr"] = 0.1 / self.count

    def state_dict(self) -> dict[str, Any]:
        return {"count": self.count}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.count = state["count"]


class _DiskFull(_Schedule):
    """Its state can't be written."""

    def state_dict(self) -> dict[str, Any]:
        return {"count": _Unwritable()}


class _Unwritable:
    def __reduce__(self) -> Any:
        raise OSError("No space left on device")


class _Run:
    """A small training run that draws from all three generators at each step."""

    def __init__(self, weights: torch.Tensor, optimizer: str, schedule: type[_Schedule] = _Schedule) -> None:
        d = weights.shape[-1]
        first, last = nn.Linear(d, d), nn.Linear(d, 1)
        with torch.no_grad():
            first.weight.copy_(weights[:d])
            last.weight.copy_(weights[d:])
        self.width, self.model = d, nn.Sequential(first, nn.BatchNorm1d(d), nn.Dropout(0.3), last)
        kinds: dict[str, Any] = {
            "Adam": lambda: torch.optim.Adam(self.model.parameters(), lr=0.1),
            "SGD": lambda: torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9),
        }
        self.optimizer: torch.optim.Optimizer = kinds[optimizer]()
        self.schedule = schedule(self.optimizer)

    def go(self, steps: int) -> list[float]:
        losses = []
        for _ in range(steps):
            x = torch.randn(4, self.width)
            loss = (self.model(x) - np.random.normal() - random.random()).square().mean()
            self.optimizer.zero_grad()
            loss.backward()
            self.schedule.step()
            self.optimizer.step()
            losses.append(loss.item())
        return losses

    def content(self) -> dict[str, Any]:
        """What a checkpoint is to hold of the run, but for its step."""
        return {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "random": random_state(),
        }

    def take(self, content: Mapping[str, Any]) -> None:
        self.model.load_state_dict(content["model"])
        self.optimizer.load_state_dict(content["optimizer"])
        self.schedule.load_state_dict(content["schedule"])
        set_random_state(content["random"])


@contextmanager
def _elsewhere(inputs: Inputs) -> Iterator[Any]:
    """A path in a folder that goes away again; the global generators seeded, and afterwards as they were."""
    kept = random_state()
    try:
        with _folder() as folder:
            _seed(inputs["seed"])
            path = Path(folder, "run.pt")
            yield str(path) if inputs["as_text"] else path
    finally:
        set_random_state(kept)


def _folder() -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory()
    except OSError:  # where learners may write in the working folder alone
        return tempfile.TemporaryDirectory(dir=".")


def _seed(seed: int) -> None:
    torch.default_generator.manual_seed(seed)
    np.random.seed(seed)
    random.seed(seed)


def save(symbol: Any, inputs: Inputs) -> Seen:
    """What a learner's file holds of a run, and whether that is enough to go on."""
    with _elsewhere(inputs) as path:
        if inputs["look"] == "interrupted":
            return _interrupted(symbol, path, inputs)
        run = _Run(inputs["weights"], inputs["optimizer"])
        run.go(inputs["done"])
        wanted = _copied(run.content())
        symbol(path, run.model, run.optimizer, run.schedule, inputs["step"])
        seen: Seen = {
            "run": say(_same(wanted, run.content()), "as it was", "changed"),
            "modes": [part.training for part in run.model.modules()],
        }
        seen["file"], content = _read(Path(path))
        seen |= {name: _said(wanted[name], content.get(name)) for name in ("model", "optimizer", "schedule")}
        seen["step"] = _said(inputs["step"], content.get("step"))
        drawn = content.get("random")
        for name in GENERATORS:
            seen[name] = _said(wanted["random"][name], drawn.get(name) if isinstance(drawn, dict) else drawn)
        seen["something"] = _any_part(seen)
        losses = run.go(3)
        fresh = _Run(inputs["weights"] + 1, inputs["optimizer"])
        _seed(inputs["seed"] + 1)
        try:
            fresh.take(content)
            seen["losses"] = say(fresh.go(3) == losses, "the same", "others")
        except Exception:  # whatever is wrong with the file
            seen["losses"] = "no way to go on"
        return seen


def _interrupted(symbol: Any, path: Any, inputs: Inputs) -> Seen:
    """The disk is full halfway: what has become of the checkpoint before?"""
    run = _Run(inputs["weights"], inputs["optimizer"], _DiskFull)
    Path(path).write_bytes(b"the checkpoint before")
    try:
        symbol(path, run.model, run.optimizer, run.schedule, inputs["step"])
        error = "swallowed"
    except NotImplementedError:
        raise
    except Exception:
        error = "passed on"
    there = Path(path).exists()
    whole = there and Path(path).read_bytes() == b"the checkpoint before"
    return {
        "the_checkpoint_before": say(whole, "as it was", say(there, "broken", "gone")),
        "the_error": error,
    }


def _read(path: Path) -> tuple[str, dict[str, Any]]:
    """What kind of file it is, and what it holds."""
    if not path.exists():
        return "not there", {}
    kind = "a dictionary of plain data"
    try:
        content = torch.load(path, weights_only=True)
    except Exception:
        kind = "objects"
        try:
            content = torch.load(path, weights_only=False)  # in the learner's own process, a file of their own
        except Exception:
            return "no file of torch.save", {}
    return (kind, content) if isinstance(content, dict) else ("no dictionary", {})


def _said(wanted: Any, found: Any) -> str:
    if found is None:
        return "missing"
    return say(_same(wanted, found), "as it was", "something else")


def _same(one: Any, other: Any) -> bool:
    """Whether two structures hold the same numbers; lists and tuples are alike."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(_same, one, other))
    plain = int | float | str | None
    return one == other if isinstance(one, plain) and isinstance(other, plain) else one is other


def _any_part(seen: Seen) -> str:
    parts = [seen[name] for name in ("model", "optimizer", "schedule", *GENERATORS)]
    return say("as it was" in parts, "as it was", "nothing is")


def _copied(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, Mapping):
        return {key: _copied(each) for key, each in value.items()}
    return [_copied(each) for each in value] if isinstance(value, list | tuple) else value


def load(symbol: Any, inputs: Inputs) -> Seen:
    """What comes back from a file, and whether a run that was never interrupted has the same losses."""
    with _elsewhere(inputs) as path:
        run = _Run(inputs["weights"], inputs["optimizer"])
        run.go(inputs["done"])
        wanted = _copied(run.content())
        torch.save({**run.content(), "step": inputs["step"]}, path)
        before = Path(path).read_bytes()
        losses = run.go(3)
        _seed(inputs["seed"] + 1)
        fresh = _Run(inputs["weights"] + 1, inputs["optimizer"])
        fresh.go(1)
        output = symbol(path, fresh.model, fresh.optimizer, fresh.schedule)
        found = fresh.content()
        seen: Seen = {"output": output}
        seen |= {name: _said(wanted[name], found[name]) for name in ("model", "optimizer", "schedule")}
        seen |= {name: _said(wanted["random"][name], found["random"][name]) for name in GENERATORS}
        seen["something"] = _any_part(seen)
        seen["modes"] = [part.training for part in fresh.model.modules()]
        seen["file"] = say(Path(path).exists() and Path(path).read_bytes() == before, "as it was", "changed")
        seen["losses"] = say(fresh.go(3) == losses, "the same", "others")
        try:
            symbol(path, fresh.model, fresh.optimizer, fresh.schedule)
            again = _same(found["random"], random_state())
            seen["a_second_load"] = say(again, "the same random numbers", "other random numbers")
        except Exception:
            seen["a_second_load"] = "impossible"
        return seen
