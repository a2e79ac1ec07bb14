"""`share_heads`: how it is tried."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.calls import call_and_follow
from cellcheck.authoring.draw import integers, normal, with_gaps
from cellcheck.authoring.spec import USUAL
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_03.heads import ASPECTS, WHOLE
from transformer_course.lessons.watching import AS_ASKED

ALL = aspects.special("one head for all", meaning="A single key head serves all query heads.")
OWN = aspects.special("a head for each", meaning="With as many key heads as query heads, everything stays as it is.")
AGAIN = aspects.special("called again", meaning="A later call, with other heads of the same shape, is right as well.")
REFUSED = aspects.special(
    "groups that don't fit are refused",
    weight=2.0,
    meaning="Where num_heads is no multiple of num_kv_heads, a ValueError is raised.",
    keys=("refusal",),
)


def cases(generator: np.random.Generator) -> list[Case]:
    def heads(b: int, kv: int, n: int, d_head: int, group: int, dtype: torch.dtype = torch.float32) -> Inputs:
        return {"heads": normal(generator, b, kv, n, d_head, dtype=dtype), "num_heads": kv * group}

    b, n, d = (int(k) for k in generator.permutation([4, 5, 7]))
    laid_out, again = with_gaps(heads(b, 3, n, d, 2)), heads(b, 2, d, n, 3)
    return [
        Case.of("with two heads for six", **heads(b, 2, n, d, 3)),
        Case.of("with three heads for six", **heads(n, 3, d, b, 2)),
        Case.of("where all sizes are equal", **heads(3, 3, 3, 3, 2)),
        Case.of("with one head for all", ALL, **heads(b, 1, n, d, 4)),
        Case.of("with a head for each query head", OWN, **heads(b, 3, n, d, 1)),
        Case.of("on a batch of one", aspects.LENGTH_ONE, **heads(1, 2, n, d, 2)),
        Case.of("with a single token", aspects.LENGTH_ONE, **heads(b, 2, 1, d, 2)),
        Case.of("with heads of width one", aspects.LENGTH_ONE, **heads(b, 2, n, 1, 3)),
        Case.of("with whole numbers", WHOLE, heads=integers(generator, 0, 99, b, 2, n, d), num_heads=4),
        Case.of("with float64", aspects.FLOAT64, **heads(b, 2, n, d, 2, torch.float64)),
        Case.of("with a tensor that is not contiguous", aspects.LAYOUT, **laid_out),
        Case.of("in a call that follows one with other heads", AGAIN, **again, before=heads(b, 2, d, n, 3)["heads"]),
        Case.of("with two heads for five", REFUSED, **{**heads(b, 2, n, d, 1), "num_heads": 5}),
        Case.of("with three heads for four", REFUSED, **{**heads(b, 3, n, d, 1), "num_heads": 4}),
        Case.of("with four heads for two", REFUSED, **{**heads(b, 4, n, d, 1), "num_heads": 2}),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The result, where groups fit; where they don't, which error says so."""
    heads, num_heads = inputs["heads"], inputs["num_heads"]
    if num_heads % heads.shape[1] != 0:
        return {"refusal": _refusal(symbol, heads, num_heads)}
    if "before" in inputs:
        symbol(inputs["before"], num_heads)
    return call_and_follow(symbol, heads, num_heads)


def canonical(observation: Observation, case: Case) -> Observation:
    """In a usual case, also which head each query head gets, in words."""
    output, heads = observation.get("output"), case.inputs["heads"]
    shape = (len(heads), case.inputs["num_heads"], *heads.shape[2:])
    if not case.tags >= USUAL or "output" not in observation:
        return observation
    if not isinstance(output, torch.Tensor) or output.shape != shape:  # which is told
        return {"handed_out": AS_ASKED, **observation}
    return {"handed_out": _handed_out(output.to(heads.dtype), heads), **observation}


def _handed_out(output: torch.Tensor, heads: torch.Tensor) -> str:
    """Which head each query head gets, and times what; sentences, where that isn't the docstring's order."""
    letters = "abcdef"[: heads.shape[1]]
    order: list[str] = []
    factors: set[float] = set()
    for head in output.unbind(1):
        multiples = zip(letters, (_multiple(head, one) for one in heads.unbind(1)), strict=True)
        matches = [(letter, factor) for letter, factor in multiples if factor is not None]
        if not matches and _multiple(head, heads.mean(dim=1)) == 1:
            return "Your query heads get the mean of all heads that came in. Which single one should each of them get?"
        if not matches:
            return (
                "One of your query heads is none of the heads that came in, nor a multiple of one: numbers of "
                "several heads, tokens or rows are mixed. Along which axis do you repeat, and in which order does a "
                "reshape cut?"
            )
        letter, factor = matches[0]
        factors.add(factor)
        order.append(letter if factor else "nothing")
    group = len(order) // len(letters)
    if "".join(order) != "".join(letter * group for letter in letters):
        return (
            f"The heads ({', '.join(letters)}) become ({', '.join(order)}). Which query heads form a group, and which "
            "head do they all get?"
        )
    if factors == {1.0}:
        return AS_ASKED
    by = " or ".join(f"{factor:.3g}" for factor in sorted(factors))
    return f"Each query head gets the right head, but its numbers are multiplied by {by}. Does sharing change numbers?"


def _multiple(head: torch.Tensor, one: torch.Tensor) -> float | None:
    """What one is multiplied by to give head, if anything is."""
    factor = round(float((head * one).sum() / one.square().sum()), 4)
    return factor if torch.allclose(head, factor * one, rtol=1e-3, atol=1e-3) else None


def _refusal(symbol: Any, heads: torch.Tensor, num_heads: int) -> Any:
    """What it does with groups that don't fit, in words. A blank answer raises an error as well, and is none."""
    try:
        result = symbol(heads, num_heads)
    except NotImplementedError:
        raise
    except ValueError:
        return "a ValueError"
    except (AssertionError, RuntimeError) as error:
        return f"an error of the type {type(error).__name__}"
    except Exception:
        return "another error than a ValueError"
    count = result.shape[1] if isinstance(result, torch.Tensor) and result.dim() == 4 else None
    return {num_heads: "as many heads as were asked for", None: "no heads"}.get(count, "another number of heads")


TRIAL = Trial(
    module="transformer_course.language_model.modern",
    points=2,
    cases=cases,
    probe=probe,
    canonical=canonical,
    called={"handed_out": "which head each query head gets", "refusal": "the answer to groups that don't fit"},
    aspects=(
        *(replace(each, keys=("handed_out", "output")) if each.core else each for each in ASPECTS),
        ALL,
        OWN,
        AGAIN,
        REFUSED,
    ),
)
