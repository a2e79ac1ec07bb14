"""How an edit is tried: it is asked about all layers, and once more, with other numbers and in the other order.

And what is asked of every edit, whatever it does to the heads; what it did is told in words, too.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, aspects
from cellcheck.authoring.draw import normal

Pairs = list[tuple[int, int]]
Tensors = Sequence[torch.Tensor]

CALLED = {
    "changes": "what the edit changes",
    "later changes": "what the edit changes later on",
    "later": "what the edit returns later on, for other numbers",
    "left": "the arguments after the call",
    "arguments": "the arguments after the call",
}
KIND = aspects.right_kind(
    "an edit that returns the heads",
    "The edit returns a tensor of the same shape for each layer, whether or not it changes a head of it.",
)
SMALLEST = aspects.special(
    "one row, one token", meaning="A batch of one and rows of a single token give the right result too."
)
OF_EVERY_EDIT = (
    SMALLEST,
    aspects.FLOAT64,
    aspects.LAYOUT,
    aspects.also(
        "call after call", "later changes", "later", meaning="The edit keeps nothing from one call to the next."
    ),
    aspects.worded(aspects.untouched(weight=2.5), "left"),
)


def results(
    generator: np.random.Generator, layers: int, batch: int, heads: int, length: int, width: int, dtype: Any = None
) -> list[torch.Tensor]:
    """What heads return in each layer; no number is near zero."""
    drawn = [normal(generator, batch, heads, length, width, dtype=dtype) for _ in range(layers)]
    return [one + one.sign() for one in drawn]


def observed(edit: Callable[[int, Any], Any], inputs: Mapping[str, Any], *given: Any) -> dict[str, Any]:
    """What an edit returns for each layer, in order; what it does to other numbers afterwards; what it was given."""
    heads = inputs["heads"]
    output = [edit(layer, of_layer) for layer, of_layer in enumerate(heads)]
    first = [one.clone() if isinstance(one, torch.Tensor) else one for one in output]
    later = [edit(layer, 3 * heads[layer] + 1) for layer in reversed(range(len(heads)))]
    return {"output": first, "later": later, "arguments": [*given, heads]}


AS_ASKED = "what should change"


def in_words(observation: Observation, case: Case, put_in: Tensors, called: str) -> Observation:
    """Beside what was seen: which heads change where, now and later on, and what is left of the arguments.

    `put_in` is what should be in the place of a head, for each layer, and `called` says in words what that is.
    """
    if "error" in observation:
        return observation
    inputs = case.inputs
    asked = _Asked(inputs["which"], inputs.get("positions"), put_in, called)
    now = asked.changes(observation.get("output"), inputs["heads"])
    later = observation.get("later")
    afterwards = AS_ASKED
    if now == AS_ASKED and isinstance(later, list):
        afterwards = asked.changes(later[::-1], [3 * one + 1 for one in inputs["heads"]])
    if afterwards != AS_ASKED:
        afterwards = f"At first your edit does what it should. Called again, it doesn't: {afterwards}"
    return {"changes": now, "later changes": afterwards, **_left(observation, inputs)}


class _Asked:
    """What an edit should change, and what it changes instead."""

    def __init__(self, which: Pairs, positions: Sequence[int] | None, put_in: Tensors, called: str) -> None:
        self.put_in, self.called = put_in, called
        self.places = list(range(put_in[0].shape[2])) if positions is None else sorted(positions)
        self.named = list(dict.fromkeys(which))
        self.pairs = self.named if self.places else []  # the heads that change, in the order of their names

    def changes(self, output: Any, heads: Tensors) -> str:
        if not isinstance(output, list) or len(output) != len(heads):
            return AS_ASKED
        if not all(
            isinstance(one, torch.Tensor) and one.shape == own.shape for one, own in zip(output, heads, strict=True)
        ):
            return AS_ASKED
        # (batch, heads, length, d_head) for each layer
        changed = [~_close(one, own) for one, own in zip(output, heads, strict=True)]
        return (
            self._heads(changed)
            or next((words for pair in self.pairs if (words := self._places(pair, changed))), "")
            or next((words for pair in self.pairs if (words := self._parts(pair, changed))), "")
            or next((words for pair in self.pairs if (words := self._content(pair, output, heads))), "")
            or AS_ASKED
        )

    def _heads(self, changed: Tensors) -> str:
        every = [(layer, head) for layer, one in enumerate(changed) for head in range(one.shape[1])]
        touched = [(layer, head) for layer, head in every if changed[layer][:, head].any()]
        if set(touched) == set(self.pairs):
            return ""
        layers, of_any = {layer for layer, _ in self.pairs}, {head for _, head in self.pairs}
        ways = {
            "That is every head of such a layer.": [pair for pair in every if pair[0] in layers],
            "That is the same head in every layer.": [pair for pair in every if pair[1] in of_any],
            "That is the same head in earlier layers, too.": [
                pair for pair in every if any(pair[1] == head and pair[0] <= layer for layer, head in self.pairs)
            ],
            "That is the same head in later layers, too.": [
                pair for pair in every if any(pair[1] == head and pair[0] >= layer for layer, head in self.pairs)
            ],
            "Those are all the others.": [pair for pair in every if pair not in self.pairs],
            "Those are all the others of that layer.": [
                pair for pair in every if pair[0] in layers and pair not in self.pairs
            ],
            "Of several of one layer, it is only the first.": list({one[0]: one for one in self.pairs[::-1]}.values()),
            "Of several of one layer, it is only the last.": list({one[0]: one for one in self.pairs}.values()),
        }
        way = next((words + " " for words, pairs in ways.items() if touched and set(pairs) == set(touched)), "")
        named = f"The heads that are named: {_listed(self.named) or 'none'}"
        part = _part(changed[touched[0][0]].any(dim=1, keepdim=True)) if touched else ""
        if part:
            way = f"Of them, it is {part}. "
        if not self.places:
            named += ", at no position at all"
        return f"{named}. Your edit changes {_listed(touched) or 'no head'}. {way}Which should change?"

    def _places(self, pair: tuple[int, int], changed: Tensors) -> str:
        layer, head = pair
        touched = changed[layer][:, head].any(dim=0).any(dim=-1).nonzero().flatten().tolist()
        if touched == self.places:
            return ""
        length = changed[layer].shape[2]
        ways = {
            "Those are all that there are.": list(range(length)),
            "Those are all from the first to the last.": list(range(self.places[0], self.places[-1] + 1)),
            "Those are all up to the last.": list(range(self.places[-1] + 1)),
            "Those are all from the first on.": list(range(self.places[0], length)),
            "Each is one too late.": [one + 1 for one in self.places],
            "Each is one too early.": [one - 1 for one in self.places],
        }
        way = next((words + " " for words, places in ways.items() if touched == places), "")
        if len(touched) < len(self.places):
            way = "Some are left out. "
        return (
            f"Head {pair} should change at the positions {self.places}, and yours changes at {touched}. {way}"
            "Where should each head that is named change?"
        )

    def _parts(self, pair: tuple[int, int], changed: Tensors) -> str:
        layer, head = pair
        part = _part(changed[layer][:, head : head + 1][:, :, self.places])
        return f"Of head {pair}, your edit changes {part}. What should happen to the rest?" if part else ""

    def _content(self, pair: tuple[int, int], output: Tensors, heads: Tensors) -> str:
        layer, head = pair
        got, wanted = output[layer][:, head, self.places], self.put_in[layer][:, head, self.places]
        if _close(got, wanted).all():
            return ""
        place = next(
            at for at in self.places if not _close(output[layer][:, head, at], self.put_in[layer][:, head, at]).all()
        )
        sources = {
            f"what head ({of_layer}, {other}) has at position {at} of {run}": one[:, other, at]
            for run, tensors in ((self.called, self.put_in), ("the heads that it is given", heads))
            for of_layer, one in enumerate(tensors)
            for other in range(one.shape[1])
            for at in range(one.shape[2])
            if one.any()
        }
        source = next((words for words, one in sources.items() if _close(one, output[layer][:, head, place]).all()), "")
        if source:
            return f"At position {place} of head {pair}, your edit puts in {source}. Where should it come from?"
        own = heads[layer][:, head, self.places]
        ways = {
            "only smaller or larger than it was": _alike(got / own),
            "the same at all positions, as a mean is": got.shape[1] > 1 and _alike(got.transpose(0, 1), among=0),
            "the same in all rows, as a mean is": len(got) > 1 and _alike(got, among=0),
            "the mean of the two": _close(got, (own + wanted) / 2).all(),
            "the sum of the two": _close(got, own + wanted).all(),
        }
        way = next((f" It is {words}." for words, fits in ways.items() if fits), "")
        change = f"Head {pair} changes, as it should, but what comes in its place isn't {self.called}."
        return f"{change}{way} What should it be?"


def _part(changed: torch.Tensor) -> str:
    """Which rows, positions or numbers alone change; nothing where all of them do somewhere."""
    for axis, called in ((0, "rows {}"), (2, "positions {}"), (3, "numbers {} of each vector")):
        touched = changed.movedim(axis, 0).flatten(1).any(dim=1).nonzero().flatten().tolist()
        if len(touched) < changed.shape[axis]:
            return f"the {called.format(touched)} only"
    return ""


def _close(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    return torch.isclose(one.detach().double(), other.double(), rtol=1e-4, atol=1e-5)


def _alike(numbers: torch.Tensor, among: int | None = None) -> bool:
    """Whether all numbers are the same, or all those along one axis."""
    first = numbers.flatten()[:1] if among is None else numbers.narrow(among, 0, 1)
    return torch.allclose(numbers, first.expand_as(numbers) if among is not None else first, rtol=1e-3)


def _listed(pairs: Iterable[tuple[int, int]]) -> str:
    *others, last = [str(pair) for pair in pairs] or [""]
    return f"{', '.join(others)} and {last}" if others else last


def _left(observation: Observation, inputs: Mapping[str, Any]) -> Observation:
    """Which argument isn't what it was, and how. For lists, that is all there is to say."""
    names = [name for name in ("clean", "which", "positions", "heads") if name in inputs]
    arguments = observation.get("arguments")
    if not isinstance(arguments, list) or len(arguments) != len(names):
        return observation
    now = dict(zip(names, arguments, strict=True))
    tensors = [now[name] for name in ("clean", "heads") if name in now]
    return {"left": _changed(now, inputs), **observation, "arguments": tensors}


def _changed(now: Mapping[str, Any], before: Mapping[str, Any]) -> str:
    for name in ("which", "positions"):
        if name in now and now[name] != before[name]:
            short = isinstance(now[name], list) and len(now[name]) < len(before[name])
            how = "isn't what it was" if not short else "is shorter" if now[name] else "is empty"
            return f"After the call, the list `{name}` {how}. Who else may need it?"
    for name in ("clean", "heads"):
        if name in now and not all(map(_same, now[name], before[name])):
            return f"After the call, `{name}` holds other numbers. Which line writes into it?"
    return AS_ASKED


def _same(one: Any, other: torch.Tensor) -> bool:
    return isinstance(one, torch.Tensor) and torch.equal(one, other)
