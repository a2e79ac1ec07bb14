"""Checkpoints as people write and read them: right functions that can be changed, and what goes wrong."""

from __future__ import annotations

import io
import os
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

from course.paper.checkpoints import random_state, set_random_state

# --- saving

Content = dict[str, Any]


def content(model: Any, optimizer: Any, schedule: Any, step: int) -> Content:
    return {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "step": step,
        "random": random_state(),
    }


def in_two_steps(content: Any, path: Any) -> None:
    torch.save(content, f"{path}.part")
    os.replace(f"{path}.part", path)


def saving(
    change: Callable[..., Any] = lambda content, *run: content, write: Callable[[Any, Any], None] = in_two_steps
) -> Callable[..., None]:
    """The right function with something else in the file, change(content, model, optimizer, schedule, step)."""

    def save(path: Any, model: Any, optimizer: Any, schedule: Any, step: int) -> None:
        run = (model, optimizer, schedule, step)
        write(change(content(*run), *run), path)

    return save


def without(*names: str) -> Callable[..., None]:
    return saving(lambda content, *_: {name: part for name, part in content.items() if name not in names})


def parameters_alone(content: Content, model: Any, *_: Any) -> Content:
    return {**content, "model": dict(model.named_parameters())}


def groups_alone(content: Content, model: Any, optimizer: Any, *_: Any) -> Content:
    return {**content, "optimizer": {"param_groups": content["optimizer"]["param_groups"], "state": {}}}


def torch_alone(content: Content, *_: Any) -> Content:
    return {**content, "random": {"torch": torch.get_rng_state(), "cuda": []}}


def seeds(content: Content, *_: Any) -> Content:
    return {**content, "random": {"torch": torch.initial_seed(), "numpy": 0, "python": 0, "cuda": []}}


def whole_objects(content: Content, model: Any, optimizer: Any, *_: Any) -> Content:
    return {**content, "model": model, "optimizer": optimizer}


def into_evaluation(content: Content, model: Any, *_: Any) -> Content:
    model.eval()
    return content


def drawing_on(content: Content, *_: Any) -> Content:
    torch.rand(1)
    return content


def long_names(content: Content, *_: Any) -> Content:
    return {f"{name}_state_dict" if name in ("model", "optimizer") else name: part for name, part in content.items()}


def in_memory_first(content: Content, path: Any) -> None:
    """The whole file in memory, then on the disk under another name, then in its place."""
    memory = io.BytesIO()
    torch.save(content, memory)
    with tempfile.NamedTemporaryFile(dir=Path(path).parent, delete=False) as file:
        file.write(memory.getvalue())
    Path(file.name).replace(path)


def by_hand(content: Content, *_: Any) -> Content:
    """The random state put together without the helper, in an order of its own."""
    name, keys, *rest = np.random.get_state()
    drawn = {
        "python": random.getstate(),
        "numpy": [name, torch.tensor(np.asarray(keys).astype("int64")), *rest],
        "torch": torch.random.get_rng_state(),
        "cuda": [],
    }
    parts = {part: content[part] for part in ("step", "schedule", "optimizer")}
    return {"random": drawn, **parts, "model": {key: value.clone() for key, value in content["model"].items()}}


# --- loading


def loading(*left_out: str, change: Callable[..., Any] = lambda content, *run: content["step"]) -> Callable[..., Any]:
    """The right function without some of its parts; change(content, model, optimizer, schedule) gives the result."""

    def load(path: Any, model: Any, optimizer: Any, schedule: Any) -> Any:
        content = torch.load(path, weights_only=True)
        for name, part in (("model", model), ("optimizer", optimizer), ("schedule", schedule)):
            if name not in left_out:
                part.load_state_dict(content[name])
        if "random" not in left_out:
            set_random_state(content["random"])
        return change(content, model, optimizer, schedule)

    return load


def names_rebound(path: Any, model: Any, optimizer: Any, schedule: Any) -> Any:
    content = torch.load(path, weights_only=True)
    model, optimizer, schedule = content["model"], content["optimizer"], content["schedule"]  # noqa: F841 (the mistake)
    return content["step"]


def parameters_loaded(content: Content, model: Any, *_: Any) -> Any:
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(content["model"][name])
    return content["step"]


def torch_loaded(content: Content, *_: Any) -> Any:
    torch.set_rng_state(content["random"]["torch"])
    return content["step"]


def seeded(content: Content, *_: Any) -> Any:
    for seed in (torch.default_generator.manual_seed, np.random.seed, random.seed):
        seed(content["step"])
    return content["step"]


def walked(content: Content, model: Any, optimizer: Any, schedule: Any) -> Any:
    for _ in range(content["step"]):
        schedule.step()
    return content["step"]


def drawn_afterwards(content: Content, *_: Any) -> Any:
    torch.rand(1)
    return content["step"]


def evaluating(content: Content, model: Any, *_: Any) -> Any:
    model.eval()
    return content["step"]


def removing(path: Any, model: Any, optimizer: Any, schedule: Any) -> Any:
    step = loading()(path, model, optimizer, schedule)
    Path(path).unlink()
    return step


def by_parts(path: Any, model: Any, optimizer: Any, schedule: Any) -> int:
    """The file opened by itself, the generators set one by one, the random state first."""
    with open(path, "rb") as file:
        content = torch.load(file, map_location=torch.device("cpu"))
    drawn = content.pop("random")
    python = drawn["python"]
    random.setstate((python[0], tuple(python[1]), python[2]))
    np.random.set_state((drawn["numpy"][0], drawn["numpy"][1].numpy(), *drawn["numpy"][2:]))
    torch.random.set_rng_state(drawn["torch"])
    step = content.pop("step")
    parts = {"model": model, "optimizer": optimizer, "schedule": schedule}
    for name, state in content.items():
        parts[name].load_state_dict(state)
    return int(step)


def copied_in(path: Any, model: Any, optimizer: Any, schedule: Any) -> int:
    """The weights copied in one by one, buffers too."""
    content = torch.load(Path(path), weights_only=False)
    own = model.state_dict()
    with torch.no_grad():
        for name, tensor in content["model"].items():
            own[name].copy_(tensor)
    optimizer.load_state_dict(content["optimizer"])
    schedule.load_state_dict(content["schedule"])
    set_random_state(content["random"])
    return content["step"]  # type: ignore[no-any-return]
