"""How the parts of a layer are put together, read off a call: what each part was given, and what became of its result.

Only what is recognised for certain is said. A part that isn't called as a module leaves no trace: then nothing is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import torch
from torch import nn

Sum = tuple[str, ...]
"""The names of what is added up; empty where it isn't recognised."""
MOST_TERMS = 4
"""x, and a result of each sub-layer."""
_TELLS_APART = ("queries", "keys", "values")


@dataclass(frozen=True)
class _Step:
    part: str
    reads: tuple[Sum, ...]
    masks: tuple[str, ...]

    def written(self, names: Mapping[str, str]) -> str:
        """As code, with other names for earlier results."""
        reads = [_written(each, names) for each in self.reads]
        if len(set(reads)) == 1:
            reads = reads[:1]
        elif len(reads) == 3 and reads[1] == reads[2] == "encoder_states":
            reads = reads[:2]  # what CrossAttention is given, and what a MultiHeadAttention is given in its place
        elif len(reads) == 3:
            reads = [f"{name}={each}" for name, each in zip(_TELLS_APART, reads, strict=True)]
        return f"{self.part}({', '.join([*reads, *self.masks])})"


def _written(terms: Sum, names: Mapping[str, str]) -> str:
    return " + ".join(names.get(term, term) for term in terms)


class _Trace:
    def __init__(self, given: Mapping[str, torch.Tensor | None]) -> None:
        self.known = {name: tensor.clone() for name, tensor in given.items() if tensor is not None}
        self.samples: dict[str, list[float]] = {}
        self.steps: dict[str, _Step] = {}

    def _sum(self, tensor: torch.Tensor) -> Sum:
        fitting = [n for n, t in self.known.items() if t.is_floating_point() and t.shape == tensor.shape]
        wanted, terms = _sample(tensor), {name: self._sample_of(name) for name in fitting}
        sums = (some for length in range(1, MOST_TERMS + 1) for some in combinations(fitting, length))
        for some in chain(sums, ((name, name) for name in fitting)):
            if _near([terms[name] for name in some], wanted) and torch.allclose(
                torch.stack([self.known[name] for name in some]).sum(dim=0), tensor, rtol=1e-9, atol=1e-9
            ):
                return some
        return ()

    def _sample_of(self, name: str) -> list[float]:
        if name not in self.samples:
            self.samples[name] = _sample(self.known[name])
        return self.samples[name]

    def _mask(self, tensor: torch.Tensor) -> str:
        for name, other in self.known.items():
            if other.dtype == tensor.dtype and other.shape == tensor.shape:
                if torch.equal(other, tensor):
                    return name
                if torch.equal(other, ~tensor):
                    return f"~{name}"
        return "another mask"

    def note(self, part: str, arguments: Sequence[Any], result: Any) -> None:
        """One call of a part."""
        result = result[0] if isinstance(result, tuple) else result
        tensors = [each for each in arguments if isinstance(each, torch.Tensor)]
        reads = tuple(self._sum(each) for each in tensors if each.is_floating_point())
        masks = tuple(self._mask(each) for each in tensors if each.dtype == torch.bool)
        step = _Step(part, reads, masks)
        if step not in self.steps.values() or () in reads:
            name = f"({len(self.steps)})"
            self.steps[name] = step
            self.known[name] = result.detach().clone()

    def written(self, result: torch.Tensor) -> str:
        """The steps that the result comes from, as code; nothing where one isn't recognised."""
        end = self._sum(result)
        needed: set[str] = set()
        waiting = [*end]
        while waiting:
            name = waiting.pop()
            if name in self.steps and name not in needed:
                needed.add(name)
                waiting += [term for read in self.steps[name].reads for term in read]
        steps = {name: step for name, step in self.steps.items() if name in needed}
        if not end or any(() in step.reads for step in steps.values()):
            return ""
        names = dict(zip(steps, "abcdefghijklmnopqrs", strict=False))
        return "; ".join(
            [
                *(f"{names[name]} = {step.written(names)}" for name, step in steps.items()),
                f"return {_written(end, names)}",
            ]
        )


def _sample(tensor: torch.Tensor) -> list[float]:
    """Its first numbers: what differs in these differs."""
    return tensor.flatten()[:3].tolist()


def _near(terms: Sequence[list[float]], wanted: list[float]) -> bool:
    """Whether they add up to what is wanted; most don't even in the first place."""
    return all(abs(sum([each[n] for each in terms]) - b) < 1e-8 * (1 + abs(b)) for n, b in enumerate(wanted))


def wiring(module: nn.Module, parts: Sequence[str], given: Mapping[str, torch.Tensor | None]) -> str:
    """The steps of a call with what is given, as code; nothing where a part's work isn't seen.

    The module is in evaluation mode, and in float64 as its inputs are.
    """
    trace = _Trace(given)
    handles = []
    for name in parts:
        part = getattr(module, name, None)
        if isinstance(part, nn.Module):

            def note(_: nn.Module, positional: Any, named: Any, result: Any, name: str = name) -> None:
                trace.note(name, [*positional, *named.values()], result)

            handles.append(part.register_forward_hook(note, with_kwargs=True))
    try:
        with torch.no_grad():
            result = module(*given.values())
    finally:
        for handle in handles:
            handle.remove()
    return trace.written(result) if isinstance(result, torch.Tensor) else ""
