"""How the symbols of lesson 13 are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import torch

from grader.authoring.calls import Probe

Inputs = Mapping[str, Any]


def _offsets(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    """What many draws have in common, and which offsets they have."""
    length, most, seed = inputs["length"], inputs["max_length"], inputs["seed"]
    if inputs.get("chance"):
        return {"chance": _source(symbol, length, most, seed)}
    generator = torch.Generator().manual_seed(seed)
    rows = [symbol(length, most, generator) for _ in range(inputs["draws"])]
    for row in rows:
        if not isinstance(row, torch.Tensor) or row.dim() != 1 or len(row) == 0:
            return {"output": "something else than a row of positions", "kind": _kind(row)}
    found = Counter(round(float(row[0])) for row in rows)
    even = max(found.values()) < 1.6 * min(found.values())
    return {
        "output": sorted({round(step) for row in rows for step in row.double().diff().tolist()})[:6],
        "kind": sorted({_kind(row) for row in rows})[0],
        "offsets": sorted(found)[:40],
        "evenly": "equally often" if even else "some far more often than others",
    }


def _kind(row: Any) -> str:
    if not isinstance(row, torch.Tensor):
        return f"a {type(row).__name__}"
    whole = not row.is_floating_point() and row.dtype != torch.bool and not row.is_complex()
    return f"{'whole' if whole else 'no whole'} numbers of shape {tuple(row.shape)}"


def _source(symbol: Any, length: int, most: int, seed: int) -> str:
    """Where the randomness comes from: the same seed twice, another one, one generator twice, the global generator."""

    def drawn(generator: torch.Generator) -> list[list[float]]:
        return [torch.as_tensor(symbol(length, most, generator)).flatten().tolist() for _ in range(4)]

    before = torch.get_rng_state()
    generator = torch.Generator().manual_seed(seed)
    first, second = drawn(generator), drawn(generator)
    if first != drawn(torch.Generator().manual_seed(seed)):
        return "other positions with the same seed"
    if first == drawn(torch.Generator().manual_seed(seed + 1)):
        return "the same positions with another seed"
    if first == second:
        return "the same positions when it is called again"
    return "from the generator alone" if torch.equal(before, torch.get_rng_state()) else "the global generator too"


PROBES: dict[str, Probe] = {"random_offset_positions": _offsets}
