"""Which layer makes queries, keys and values, and from what, in words: attention whose layers have changed places."""

from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

import torch

from transformer_course.lessons.watching import AS_ASKED

Rows = Mapping[str, torch.Tensor]
"""What goes into an attention layer, by the name of the argument."""


class Made(NamedTuple):
    """Something that may serve as queries, keys or values."""

    words: str
    vectors: torch.Tensor
    asked: bool = False


def changed_places(seen: Mapping[str, Any], rows: Rows, weights: Mapping[str, torch.Tensor], heads: int = 1) -> str:
    """What is seen of a layer without a mask: which of its queries, keys and values are made otherwise than asked.

    `rows` has one entry for self-attention, or three: the queries', the keys' and the values' own.
    """
    output, scores = seen.get("output"), seen.get("weights")
    if not isinstance(output, torch.Tensor) or not isinstance(scores, torch.Tensor):
        return AS_ASKED
    names = list(rows)
    sources = dict(zip(("query", "key", "value"), names * (3 // len(names)), strict=True))
    queries, keys, values = (_ways(role, sources[role], rows, weights) for role in sources)

    def attended(q: Made, k: Made, v: Made) -> tuple[torch.Tensor, torch.Tensor] | None:
        if k.vectors.shape[1] != v.vectors.shape[1]:
            return None
        mixed, shares = _attended(q.vectors, k.vectors, v.vectors, heads)
        return mixed, shares if "output.weight" in weights else shares[:, 0]

    def result(mixed: torch.Tensor) -> torch.Tensor:
        return _through("output", weights, mixed) if "output.weight" in weights else mixed

    pairs = []
    for q, k in product(queries, keys):
        both = attended(q, k, Made("", k.vectors))
        if both is not None and _near(both[1], scores):
            pairs.append((q, k))
    if len(pairs) != 1:
        return AS_ASKED
    ((q, k),) = pairs
    fitting = [v for v in values if (both := attended(q, k, v)) is not None and _near(result(both[0]), output)]
    wrong = [each.words for each in (q, k, *(fitting if len(fitting) == 1 else [])) if not each.asked]
    if not wrong:
        return AS_ASKED
    question = (
        "Which layer should make each of the three?"
        if len(names) == 1
        else ("Which layer should make each of the three, and from which argument?")
    )
    return f"{' '.join(wrong)} {question}"


def whole_in_one_head(output: Any, rows: Rows, weights: Mapping[str, torch.Tensor]) -> bool:
    """Whether queries, keys and values went through their layers, and never into parts."""
    x = [*rows.values()] * (3 // len(rows))
    query, key, value = (_through(role, weights, each) for role, each in zip(("query", "key", "value"), x, strict=True))
    mixed, _ = _attended(query, key, value, heads=1)
    right = _through("output", weights, mixed)
    return isinstance(output, torch.Tensor) and _near(right, output)


def _ways(role: str, source: str, rows: Rows, weights: Mapping[str, torch.Tensor]) -> list[Made]:
    """What may have been taken for the vectors in this role, what is asked for first."""
    plural = {"query": "queries", "key": "keys", "value": "values"}[role]
    ways = [Made("", _through(role, weights, rows[source]), asked=True)]
    for name, x in rows.items():
        origin = "" if name == source else f" from {name}"
        for layer in ("query", "key", "value"):
            if layer != role or origin:
                ways.append(Made(f"Your {plural} are made by self.{layer}{origin}.", _through(layer, weights, x)))
        what = f"go straight from {name} into the attention" if origin or len(rows) == 1 else "are used as they come in"
        ways.append(Made(f"Your {plural} {what}, through no layer.", x))
        if len(rows) == 1:
            ways.extend(_twice(role, plural, x, weights))
    return ways


def _twice(role: str, plural: str, x: torch.Tensor, weights: Mapping[str, torch.Tensor]) -> Iterator[Made]:
    for first in ("query", "key", "value"):
        words = f"Your {plural} are made by self.{role} from what self.{first} makes of x."
        yield Made(words, _through(role, weights, _through(first, weights, x)))


def _attended(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, heads: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Heads side by side in one row of vectors, (batch, length, d_model), and the weights of each head."""
    q, k, v = (each.reshape(*each.shape[:2], heads, -1).transpose(1, 2) for each in (query, key, value))
    shares = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
    return (shares @ v).transpose(1, 2).flatten(2), shares


def _through(layer: str, weights: Mapping[str, torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.linear(x, weights[f"{layer}.weight"], weights.get(f"{layer}.bias"))


def _near(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one, other.detach().to(one.dtype), rtol=1e-4, atol=1e-5)
