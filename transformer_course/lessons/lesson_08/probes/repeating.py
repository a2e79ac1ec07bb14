"""What a module keeps: from one call to the next, and from one new module to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
import torch
from torch import nn

from cellcheck.authoring.modules import as_it_is

Arguments = Sequence[Any]
Way = Callable[..., torch.Tensor]
"""How a model is called: with the model, and the arguments."""
BY_ITSELF = "what it would return as the first"


def later_calls(model: nn.Module, calls: Mapping[str, Arguments], ways: Mapping[str, Way] | None = None) -> str:
    """Whether each of these calls, made one after the other, finds what it would have found as the first.

    Their names say what is new: "without a mask". A call that stops with an error even as the first tells nothing.
    `ways` are those of calls that are no plain ones.
    """
    as_new = as_it_is(model)
    makers = {name: _made(model, arguments, (ways or {}).get(name)) for name, arguments in calls.items()}
    if _found_in_one_batch(model, calls, makers, as_new):
        return BY_ITSELF
    as_new()
    first: dict[str, torch.Tensor] = {}
    for name, call in makers.items():
        try:
            first[name] = call()
        except NotImplementedError:
            raise
        except Exception:
            continue
        finally:
            as_new()
    for name, expected in first.items():
        try:
            result = makers[name]()
        except Exception as error:
            return f"{type(error).__name__}, when it comes {name}"
        if not _alike(result, expected):
            return f"something else, when it comes {name}"
    return BY_ITSELF


def _made(model: nn.Module, arguments: Arguments, way: Way | None) -> Callable[[], torch.Tensor]:
    return lambda: (way(model, *arguments) if way else model(*arguments)) + 0.0


def _alike(result: torch.Tensor, expected: torch.Tensor) -> bool:
    return result.shape == expected.shape and torch.allclose(result, expected, rtol=1e-6, atol=1e-8)


def _found_in_one_batch(
    model: nn.Module,
    calls: Mapping[str, Arguments],
    makers: Mapping[str, Callable[[], torch.Tensor]],
    as_new: Callable[[], None],
) -> bool:
    """Whether the calls, made one after the other, find what a new model finds for all of a size in one batch.

    That is half the work. Where it is not so, this tells nothing: the model may mix up the rows of a batch.
    """
    try:
        results = {name: call() for name, call in makers.items()}
        sizes: dict[Any, list[str]] = {}
        for name in [*calls][1:]:
            sizes.setdefault(_size(calls[name]), []).append(name)
        for names in sizes.values():
            as_new()
            batch = model(*_in_one_batch([calls[name] for name in names]))
            if not _alike(torch.cat([results[name] for name in names]), batch):
                return False
    except NotImplementedError:
        raise
    except Exception:
        return False
    return True


def _size(arguments: Arguments) -> Any:
    return tuple(each.shape for each in arguments if not _is_mask(each))


def _is_mask(value: torch.Tensor | None) -> bool:
    return value is None or value.dtype == torch.bool


def _in_one_batch(calls: Sequence[Arguments]) -> list[torch.Tensor | None]:
    """The arguments of one call for all. A mask goes to each row of its own call; where there is none, all is seen."""
    rows, together = len(calls[0][0]), []
    for values in zip_longest(*calls):
        masks = [value for value in values if value is not None]
        if all(map(_is_mask, values)) and masks:
            _, *shape = np.broadcast_shapes((1, 1, 1, 1), *(mask.shape for mask in masks))
            everything = torch.ones((), dtype=torch.bool)
            masks = [(everything if value is None else value).broadcast_to(rows, *shape) for value in values]
        together.append(torch.cat(masks) if masks else None)
    return together


def starts(one: nn.Module, other: nn.Module) -> str:
    """Whether two new modules begin with random numbers of their own. One of them may have fewer layers."""
    others = dict(other.named_parameters())
    pairs = ((parameter, others[name]) for name, parameter in one.named_parameters() if name in others)
    alike = any(p.dim() > 1 and p.shape == q.shape and torch.equal(p, q) and p.std() > 0 for p, q in pairs)
    return "with the same numbers" if alike else "with numbers of their own"
