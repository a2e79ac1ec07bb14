"""What can be seen of checkpoints: what a file holds, what comes back from one, and whether the run then goes on."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from cellcheck.authoring import optim
from transformer_course.lessons.lesson_08.probes.moving import say
from transformer_course.paper.checkpoints import random_state, set_random_state

Inputs = Mapping[str, Any]
Seen = dict[str, Any]
GENERATORS = ("torch", "numpy", "python")
ALSO_OF_GPUS = (*GENERATORS, "cuda")
"""A machine without GPUs has an empty list of their states."""
FURTHER = 2
"""So many steps show how a run goes on: what it drew and weighs shows in the first loss, its optimiser's step in the
second."""


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
            "Adam": lambda: optim.Adam(self.model.parameters(), lr=0.1),
            "SGD": lambda: optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9),
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
    state = random_state()
    try:
        with _folder() as folder:
            _seed(inputs["seed"])
            path = Path(folder, "run.pt")
            yield str(path) if inputs["as_text"] else path
    finally:
        set_random_state(state)


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
        with _renames() as renamed:
            symbol(path, run.model, run.optimizer, run.schedule, inputs["step"])
        folder = Path(path).resolve().parent
        elsewhere = [
            source for source, target in renamed if target == Path(path).resolve() and folder not in source.parents
        ]
        seen: Seen = {
            "where_it_is_written_first": say(not elsewhere, "beside the checkpoint", "in another folder"),
            "run": say(_same(wanted, run.content()), "as it was", "changed"),
            "modes": [part.training for part in run.model.modules()],
        }
        seen["file"], content = _read(Path(path))
        seen |= {name: _said(wanted[name], content.get(name)) for name in ("model", "optimizer", "schedule")}
        seen["step"] = _said(inputs["step"], content.get("step"))
        drawn = content.get("random")
        for name in ALSO_OF_GPUS:
            seen[name] = _said(wanted["random"][name], drawn.get(name) if isinstance(drawn, dict) else drawn)
        unread = seen["file"] in ("not there", "no file of torch.save")
        seen["something"] = seen["file"] if unread else _any_part(seen)
        losses = run.go(FURTHER)
        fresh = _Run(inputs["weights"] + 1, inputs["optimizer"])
        _seed(inputs["seed"] + 1)
        try:
            fresh.take(content)
            seen["losses"] = say(fresh.go(FURTHER) == losses, "the same", "others")
        except Exception:  # whatever is wrong with the file
            parts = [name for name in ("model", "optimizer", "schedule") if seen[name] != "as it was"]
            parts += ["random"] * any(seen[name] != "as it was" for name in GENERATORS)
            seen["losses"] = "none, since no run can take over what is in the file"
            if seen["file"] == "a dictionary of plain data" and len(parts) == 1 and parts[0] in content:
                seen["losses"] = (
                    f'No run can go on from your file: under "{parts[0]}" is something else than the docstring says. '
                    "What should be there?"
                )
        return seen


@contextmanager
def _renames() -> Iterator[list[tuple[Path, Path]]]:
    """Notes what is renamed to what, by any of the ways in which Python does it; what is removed, to the empty path."""
    noted: list[tuple[Path, Path]] = []
    originals = {name: getattr(os, name) for name in ("rename", "replace", "remove", "unlink")}

    def noting(rename: Callable[..., None]) -> Callable[..., None]:
        def renaming(source: Any, *target: Any, **others: Any) -> None:
            noted.append((Path(source).resolve(), Path(*target).resolve() if target else Path()))
            rename(source, *target, **others)

        return renaming

    try:
        for name, rename in originals.items():
            setattr(os, name, noting(rename))
        yield noted
    finally:
        for name, rename in originals.items():
            setattr(os, name, rename)


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
        "a_whole_save": _whole_save(symbol, path, inputs),
    }


def _whole_save(symbol: Any, path: Any, inputs: Inputs) -> str:
    """How the new checkpoint takes the place of the one before, where the disk has room for it."""
    run = _Run(inputs["weights"], inputs["optimizer"])
    Path(path).write_bytes(b"the checkpoint before")
    file = Path(path).stat().st_ino
    with _renames() as renamed:
        symbol(path, run.model, run.optimizer, run.schedule, inputs["step"])
    if any(Path(path).resolve() == source for source, _ in renamed):
        return "takes the old checkpoint away first"
    written_over = Path(path).exists() and file and Path(path).stat().st_ino == file
    return say(not written_over, "puts a new file in the old one's place", "writes into the old checkpoint's own file")


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


def _said(wanted: Any, value: Any) -> str:
    if value is None:
        return "missing"
    if isinstance(wanted, Mapping) and isinstance(value, nn.Module | torch.optim.Optimizer | _Schedule):
        return "the object itself, not its state"
    if isinstance(wanted, Mapping) and isinstance(value, Mapping) and value.keys() < wanted.keys():
        return "there in part"
    if isinstance(wanted, Mapping) and isinstance(value, Mapping) and "param_groups" in value and "state" in wanted:
        moments = _same(wanted["state"], value.get("state"))
        return say(
            _same(wanted, value), "as it was", say(moments, "there, with another learning rate", "something else")
        )
    return say(_same(wanted, value), "as it was", "something else")


def _same(one: Any, other: Any) -> bool:
    """Whether two structures hold the same numbers; lists and tuples are alike."""
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        if _all_int(one) and _all_int(other):
            return list(one) == list(other)
        return len(one) == len(other) and all(map(_same, one, other))
    plain = int | float | str | None
    return one == other if isinstance(one, plain) and isinstance(other, plain) else one is other


def _all_int(values: list[Any] | tuple[Any, ...]) -> bool:
    """Whether it is one of the long lists of which generators' states are made: going through them takes a while."""
    return set(map(type, values)) == {int}


def _any_part(seen: Seen) -> str:
    parts = [seen[name] for name in ("model", "optimizer", "schedule", *GENERATORS)]
    return say("as it was" in parts, "as it was", "nothing is")


def _copied(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, Mapping):
        return {key: _copied(each) for key, each in value.items()}
    if not isinstance(value, list | tuple):
        return value
    return [*value] if _all_int(value) else [_copied(each) for each in value]


class _Code:
    """What makes a folder as it is read: harmless, and it shows that code in a file was run."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __reduce__(self) -> Any:
        return os.mkdir, (self.folder,)


def _with_code(symbol: Any, inputs: Inputs) -> Seen:
    """Whether code that is hidden in a checkpoint is run as it is loaded."""
    with _elsewhere(inputs) as path:
        run = _Run(inputs["weights"], inputs["optimizer"])
        trace = Path(path).parent / "made"
        torch.save({**run.content(), "step": inputs["step"], "more": _Code(str(trace))}, path)
        try:
            symbol(path, run.model, run.optimizer, run.schedule)
        except NotImplementedError:
            raise
        except Exception:  # to refuse such a file is what is asked for
            pass
        return {"code_in_the_file": say(trace.exists(), "run", "not run")}


_GPU = "cuda:63"
"""No machine has so many."""


def _from_a_gpu(symbol: Any, inputs: Inputs) -> Seen:
    """Whether a file is read whose tensors were on another machine's GPU when they were saved."""
    with _elsewhere(inputs) as path:
        run, fresh = (_Run(inputs["weights"] + more, inputs["optimizer"]) for more in (0, 1))
        run.go(inputs["done"])
        fresh.go(1)
        location_tag = torch.serialization.location_tag
        torch.serialization.location_tag = lambda storage: _GPU
        try:
            torch.save({**run.content(), "step": inputs["step"]}, path)
        finally:
            torch.serialization.location_tag = location_tag
        try:
            symbol(path, fresh.model, fresh.optimizer, fresh.schedule)
        except NotImplementedError:
            raise
        except RuntimeError as error:
            if "deserialize" not in str(error):
                raise
            return {"a_file_from_a_gpu": "not read"}
        return {"a_file_from_a_gpu": "read"}


def load(symbol: Any, inputs: Inputs) -> Seen:
    """What comes back from a file, and whether a run that was never interrupted has the same losses."""
    if inputs["look"] == "code":
        return _with_code(symbol, inputs)
    if inputs["look"] == "device":
        return _from_a_gpu(symbol, inputs)
    with _elsewhere(inputs) as path:
        run = _Run(inputs["weights"], inputs["optimizer"])
        run.go(inputs["done"])
        wanted = _copied(run.content())
        torch.save({**run.content(), "step": inputs["step"]}, path)
        before = Path(path).read_bytes()
        losses = run.go(FURTHER)
        _seed(inputs["seed"] + 1)
        fresh = _Run(inputs["weights"] + 1, inputs["optimizer"])
        fresh.go(1)
        stepped = [*fresh.model.parameters()]
        output = symbol(path, fresh.model, fresh.optimizer, fresh.schedule)
        loaded = fresh.content()
        seen: Seen = {"output": output}
        seen |= {name: _said(wanted[name], loaded[name]) for name in ("model", "optimizer", "schedule")}
        further = loaded["schedule"]["count"] - wanted["schedule"]["count"]
        if further > 0:
            seen["schedule"] = "one step further on" if further == 1 else "further on"
        seen |= {name: _said(wanted["random"][name], loaded["random"][name]) for name in ALSO_OF_GPUS}
        seen["something"] = _any_part(seen)
        still = len(stepped) == len([*fresh.model.parameters()])
        still = still and all(one is two for one, two in zip(stepped, fresh.model.parameters(), strict=True))
        seen["parameters"] = say(still, "those that the optimiser steps", "new ones")
        seen["modes"] = [part.training for part in fresh.model.modules()]
        seen["file"] = say(Path(path).exists() and Path(path).read_bytes() == before, "as it was", "changed")
        seen["losses"] = say(fresh.go(FURTHER) == losses, "the same", "others")
        try:
            symbol(path, fresh.model, fresh.optimizer, fresh.schedule)
            again = _same(loaded["random"], random_state())
            seen["a_second_load"] = say(again, "the same random numbers", "other random numbers")
        except Exception:
            seen["a_second_load"] = "impossible"
        return seen
