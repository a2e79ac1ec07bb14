"""`KeyValueCache`: cases, mistakes and variants."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course.caching import KeyValueCache
from grader.authoring.aspects import dtype, main, shape, special, untouched
from grader.authoring.draw import dims, normal
from grader.authoring.spec import Case, Exercise, Mistake

Pair = tuple[torch.Tensor, torch.Tensor]


def _steps(generator: np.random.Generator) -> list[Case]:
    def draw(
        sizes: list[int], layers: list[int], new: list[int] | None = None, kind: torch.dtype = torch.float32
    ) -> dict[str, Any]:
        """Keys and values, (batch, heads, new, d_head), for one layer after the other."""
        batch, heads, d_head = sizes
        lengths = new or [1] * len(layers)
        steps = [
            (layer, *(normal(generator, batch, heads, length, d_head, dtype=kind) for _ in range(2)))
            for layer, length in zip(layers, lengths, strict=True)
        ]
        return {"steps": steps, "caches": 1}

    sizes, side = dims(generator, 3, 2, 5), int(generator.integers(2, 4))
    several = {**draw(sizes, [0, 0, 0, 0, 0, 0]), "caches": 2}
    return [
        Case("with one layer", draw(sizes, [0, 0, 0, 0]), frozenset({"usual"})),
        Case("where all sizes are equal", draw([side] * 3, [0] * (side + 1)), frozenset({"usual"})),
        Case("with two layers in turn", draw(sizes, [0, 1, 0, 1, 0, 1]), frozenset({"layers"})),
        Case("with three layers of different lengths", draw(sizes, [0, 1, 2, 2, 0, 2, 2]), frozenset({"layers"})),
        Case("with several tokens at once", draw(sizes, [0, 0, 0], [3, 1, 2]), frozenset({"many"})),
        Case("where nothing is added", draw(sizes, [0, 0, 0, 0], [2, 0, 1, 0]), frozenset({"nothing"})),
        Case("with two caches in turn", several, frozenset({"caches"})),
        Case("with one row, one head and d_head = 1", draw([1, 1, 1], [0, 0, 1, 0]), frozenset({"one"})),
        Case("with float64", draw(sizes, [0, 1, 0], None, torch.float64), frozenset({"float64"})),
    ]


def _cat(earlier: Pair, new: Pair, dim: int = 2) -> Pair:
    return torch.cat([earlier[0], new[0]], dim), torch.cat([earlier[1], new[1]], dim)


class _Cache:
    """The right cache; each mistake and variant changes a step of it."""

    def __init__(self) -> None:
        self.pairs: dict[int, Pair] = {}

    def append(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> Any:
        place = self.place(layer)
        self.pairs[place] = self.join(self.pairs[place], (keys, values)) if place in self.pairs else (keys, values)
        return self.answer(self.pairs[place], (keys, values))

    def place(self, layer: int) -> int:
        return layer

    def join(self, earlier: Pair, new: Pair) -> Pair:
        return _cat(earlier, new)

    def answer(self, pair: Pair, new: Pair) -> Any:
        return pair


def _with(**methods: Callable[..., Any]) -> type[_Cache]:
    return type("KeyValueCache", (_Cache,), methods)


class _TwiceAtFirst(_Cache):
    def append(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> Any:
        earlier = self.pairs.setdefault(layer, (keys, values))
        self.pairs[layer] = _cat(earlier, (keys, values))
        return self.pairs[layer]


class _Before(_Cache):
    """What was there before the new ones came."""

    def append(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> Any:
        earlier = self.pairs.get(layer, (keys[:, :, :0], values[:, :, :0]))
        self.pairs[layer] = _cat(earlier, (keys, values))
        return earlier


class _LastTwo(_Cache):
    """Each layer remembers the last new ones only."""

    def append(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> Any:
        found = _cat(self.pairs[layer], (keys, values)) if layer in self.pairs else (keys, values)
        self.pairs[layer] = (keys, values)
        return found


class _Lists(_Cache):
    """Keeps the pieces, and joins them on request."""

    def __init__(self) -> None:
        self.keys: defaultdict[int, list[torch.Tensor]] = defaultdict(list)
        self.values: defaultdict[int, list[torch.Tensor]] = defaultdict(list)

    def append(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> Any:
        self.keys[layer].append(keys)
        self.values[layer].append(values)
        return torch.cat(self.keys[layer], dim=-2), torch.cat(self.values[layer], dim=-2)


class _ByNumber(_Cache):
    """A list with one entry a layer, in the order in which they first come."""

    def __init__(self) -> None:
        self.entries: list[list[torch.Tensor]] = []

    def append(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> Any:
        if layer == len(self.entries):
            self.entries.append([keys.clone(), values.clone()])
        else:
            self.entries[layer] = list(_cat((self.entries[layer][0], self.entries[layer][1]), (keys, values)))
        return self.entries[layer]


class _Buffers(_Cache):
    """More room than needed; returns the part that is filled."""

    def __init__(self, room: int = 64) -> None:
        self.room, self.filled, self.buffers = room, dict[int, int](), dict[int, torch.Tensor]()

    def append(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> Any:
        batch, heads, new, d_head = keys.shape
        if layer not in self.buffers:
            self.buffers[layer] = keys.new_empty(2, batch, heads, self.room, d_head)
        first = self.filled.get(layer, 0)
        self.filled[layer] = first + new
        self.buffers[layer][:, :, :, first : first + new] = torch.stack([keys, values])
        return tuple(self.buffers[layer][:, :, :, : first + new])


CACHE = Exercise(
    symbol="KeyValueCache",
    points=2,
    cases=_steps,
    references=(KeyValueCache,),
    aspects=(
        shape(),
        main("everything so far, oldest first", meaning="append returns all the keys and values so far, oldest first."),
        special("each layer by itself", "layers", weight=6.0, meaning="Each layer has keys and values of its own."),
        special("each cache by itself", "caches", meaning="Two caches share nothing."),
        special("several tokens at once", "many", meaning="Several tokens may be added at once."),
        special("nothing new", "nothing", meaning="Adding no token returns what is already there."),
        special("one row, one head", "one", meaning="One row, one head and d_head = 1 give the right result too."),
        dtype(),
        special("float64", "float64"),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "new_before_old",
            _with(join=lambda self, earlier, new: _cat(new, earlier)),
            "The newest token comes first. Which of the two should come first in your cat?",
        ),
        Mistake(
            "keys_for_values",
            _with(answer=lambda self, pair, new: (pair[0], pair[0])),
            "You return the keys twice. Which tensor belongs in second place?",
        ),
        Mistake(
            "values_first",
            _with(answer=lambda self, pair, new: (pair[1], pair[0])),
            "Keys and values have changed places. In which order should they be returned?",
        ),
        Mistake(
            "new_only",
            _with(answer=lambda self, pair, new: new),
            "You return only what came in. What about the keys and values from before?",
            central=True,
        ),
        Mistake(
            "old_only",
            _Before,
            "The new keys and values are stored but left out of what you return. May the new token look at itself?",
        ),
        Mistake(
            "last_two_only",
            _LastTwo,
            "From the third token on, the first ones are gone: you only store what came in. What should you store?",
        ),
        Mistake(
            "first_one_twice",
            _TwiceAtFirst,
            "The first token is there twice. What is there to append to when a layer is new?",
        ),
        Mistake(
            "one_store_for_all_layers",
            _with(place=lambda self, layer: 0),
            "All layers share one memory and read each other's keys. Where does the number of the layer come in?",
            central=True,
        ),
        Mistake(
            "along_the_heads",
            _with(join=lambda self, earlier, new: _cat(earlier, new, 1)),
            "You join along the axis of the heads. Which axis counts the tokens?",
        ),
        Mistake(
            "along_the_batch",
            _with(join=lambda self, earlier, new: _cat(earlier, new, 0)),
            "You join along the batch. Which axis counts the tokens?",
        ),
        Mistake(
            "along_the_columns",
            _with(join=lambda self, earlier, new: _cat(earlier, new, -1)),
            "You join along the last axis, which makes the vectors longer. Which axis counts the tokens?",
        ),
        Mistake(
            "added_up",
            _with(join=lambda self, earlier, new: (earlier[0] + new[0], earlier[1] + new[1])),
            "You add the new keys to the old ones as numbers. How do you put one row of tokens after another?",
        ),
        Mistake(
            "nothing_returned",
            _with(answer=lambda self, pair, new: None),
            "Your append returns nothing. What does the attention layer need from it?",
        ),
        Mistake(
            "keys_only",
            _with(answer=lambda self, pair, new: pair[0]),
            "You return only the keys. What else does attention need?",
        ),
    ),
    variants={
        "a dict of pairs": _Cache,
        "pieces in lists": _Lists,
        "a list of layers": _ByNumber,
        "buffers": _Buffers,
        "keys and values in one tensor": _with(
            join=lambda self, earlier, new: tuple(torch.cat([torch.stack(earlier), torch.stack(new)], dim=-2))
        ),
    },
)
