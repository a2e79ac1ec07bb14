"""How the symbols of lesson 11 are called whose cases know too much to travel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from grader.authoring.calls import Probe, given
from lessons.lesson_11.randomness import source_of_randomness

Inputs = Mapping[str, Any]


def _targets_are_next(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    ask, ids = inputs["patient"], inputs["ids"]

    def make_batch(ids: Any, generator: Any) -> Any:
        number = int(torch.randint(2**31, (1,), generator=generator))
        return tuple(ask("batch", ids, number))

    answer = symbol(make_batch, ids)
    if isinstance(answer, torch.Tensor) and answer.dtype == torch.bool and answer.dim() == 0:
        answer = bool(answer)
    return {"output": answer}


class _Toy(nn.Module):
    """Logits by the last token, and a little by the first one it reads. Notes what it is given."""

    def __init__(self, table: torch.Tensor, first: torch.Tensor, max_length: int | None) -> None:
        super().__init__()
        self.table, self.first = nn.Parameter(table), first
        self.read: list[int] = []
        self.recorded = False
        if max_length is not None:
            self.max_length = max_length

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        if tokens.dim() != 2 or len(tokens) != 1:
            raise ValueError(f"a model wants tokens of shape (1, length), and these are {tuple(tokens.shape)}")
        longest = getattr(self, "max_length", None)
        if longest is not None and tokens.shape[1] > longest:
            raise ValueError(f"{tokens.shape[1]} tokens are too many: this model has {longest} positions")
        self.read.append(tokens.shape[1])
        self.recorded |= torch.is_grad_enabled()
        return self.table[tokens] + self.first[tokens[:, :1]]


def _continue(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    prompt, settings = inputs["prompt"], given(inputs, "new", "temperature", "top_p")
    model = _Toy(inputs["table"], inputs["first"], inputs.get("max_length"))
    if inputs.get("chance"):
        return {"chance": source_of_randomness(lambda g: symbol(model, prompt, *settings, g).tolist(), inputs["seed"])}
    model.train(inputs["training"])
    before = prompt.clone()
    generator = torch.Generator().manual_seed(inputs["seed"])
    output = symbol(model, prompt, *settings, generator)
    seen = {
        "arguments": [before, prompt],
        "training_mode": model.training,
        "recorded": "recorded" if model.recorded else "not recorded",
    }
    look = inputs.get("look")
    if look is None or not isinstance(output, torch.Tensor) or output.dim() != 1:
        return {**seen, "output": output}
    written = output[len(prompt) :].tolist()
    if look == "which":
        return {**seen, "output": sorted(set(written))}
    share = written.count(inputs["rare"]) / max(len(written), 1)
    return {**seen, "output": "about one in eight" if 0.02 < share < 0.29 else f"{share:.1f}"}


PROBES: dict[str, Probe] = {"targets_are_next": _targets_are_next, "continue_text": _continue}
