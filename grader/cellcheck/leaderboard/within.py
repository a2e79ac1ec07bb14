"""What happens in an entry's own process: its model is made, taught, and asked. No secret is here.

The entry's code could change all of this, and would only change what it says itself: whoever asks (`sitting`) checks
every answer, and counts what arrives.
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

MODULE = "entry"
"""What the entry's code is known as in its process."""
_HERE: dict[str, Any] = {}


def _do(module: ModuleType, inputs: dict[str, Any]) -> dict[str, Any]:
    """Does what `inputs["do"]` names."""
    return _DOINGS[inputs.pop("do")](module, **inputs)


def _describe(module: ModuleType, asks: str) -> dict[str, Any]:
    return {"asks": getattr(module, asks, {})}


def _make(module: ModuleType, make: str, seed: int) -> dict[str, Any]:
    """A fresh model -> the names, shapes and dtypes of what it holds."""
    import torch

    torch.manual_seed(seed)
    function = getattr(module, make, None)
    if function is None:
        raise AttributeError(f"it doesn't define {make}()")
    model = function()
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"{make}() returned {type(model).__name__}, not a torch.nn.Module")
    _HERE["model"] = model
    return _shapes(module)


def _shapes(module: ModuleType) -> dict[str, Any]:
    shapes = {name: list(value.shape) for name, value in _HERE["model"].state_dict().items()}
    return {"shapes": shapes}


def _learn(module: ModuleType, learn: str, seed: int, patient: Callable[..., Any]) -> dict[str, Any]:
    """Has the entry train its model on what it draws."""
    import torch

    torch.manual_seed(seed)
    function = getattr(module, learn, None)
    if function is None:
        raise AttributeError(f"there are no weights, and it doesn't define {learn}(model, draw)")
    function(_HERE["model"], lambda count: _pairs(patient("draw", count)))
    return _shapes(module)


def _pairs(drawn: dict[str, Any]) -> list[tuple[list[int], list[int]]]:
    """Padded rows as lists without padding: id 0 is never part of a problem."""
    rows = ([row[row != 0].tolist() for row in drawn[side]] for side in ("source", "target"))
    return list(zip(*rows, strict=True))


def _weights(module: ModuleType) -> dict[str, Any]:
    """All that the model's state dict holds, as plain arrays."""
    arrays = {}
    for name, value in _HERE["model"].state_dict().items():
        value = value.detach().cpu()
        arrays[name] = (value.float() if value.dtype.itemsize < 4 and value.is_floating_point() else value).numpy()
    return {"weights": arrays}


def _load(module: ModuleType, weights: dict[str, np.ndarray]) -> dict[str, Any]:
    """Puts weights into the fresh model, which from now on only answers."""
    import torch

    model = _HERE["model"]
    model.load_state_dict({name: torch.from_numpy(value) for name, value in weights.items()})
    model.eval()
    return {"loaded": True}


def _answer(module: ModuleType, source: np.ndarray, written: np.ndarray) -> dict[str, Any]:
    """The logits of what comes next, (batch, vocab_size)."""
    import torch

    with torch.no_grad():
        logits = _HERE["model"](torch.from_numpy(source), torch.from_numpy(written))
    if not isinstance(logits, torch.Tensor):
        raise TypeError(f"the model returned {type(logits).__name__}, not a tensor of logits")
    if logits.dim() != 3 or logits.shape[:2] != written.shape:
        wanted = f"({written.shape[0]}, {written.shape[1]}, vocab_size)"
        raise ValueError(f"the model returned logits of shape {tuple(logits.shape)} instead of {wanted}")
    return {"logits": logits[:, -1].detach().cpu().float().numpy()}


_DOINGS: dict[str, Callable[..., dict[str, Any]]] = {
    "describe": _describe,
    "make": _make,
    "learn": _learn,
    "weights": _weights,
    "load": _load,
    "answer": _answer,
}
PROBES = {MODULE: _do}
