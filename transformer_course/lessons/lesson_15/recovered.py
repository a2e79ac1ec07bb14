"""`recovered`: how it is tried."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Trial, aspects
from cellcheck.authoring.draw import normal, strided
from transformer_course.lessons.wordings import only_usually

BEYOND = aspects.special(
    "below 0 and above 1", weight=3.0, meaning="A patch may make things worse, or better than in the clean run."
)
LARGE = aspects.special("large logits", meaning="The result is right however large the logits are.")
SMALLEST = aspects.special("a batch of one", meaning="A single row gives the right result too.")


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(batch: int, vocab: int, share: float, dtype: Any = torch.float32, size: float = 1.0) -> dict[str, Any]:
        """The clean run prefers the right answer, the corrupted one the wrong one, each row by an amount of its own."""
        right = torch.from_numpy(generator.integers(0, vocab, batch))
        wrong = (right + torch.from_numpy(generator.integers(1, vocab, batch))) % vocab
        rows = torch.arange(batch)
        clean, corrupted = normal(generator, batch, vocab, dtype=dtype), normal(generator, batch, vocab, dtype=dtype)
        spread = torch.linspace(2, 9, batch, dtype=dtype) if batch > 1 else torch.tensor([4.0], dtype=dtype)
        clean[rows, right] += spread + 4
        corrupted[rows, wrong] += spread.flip(0) + 4
        shares = share + torch.linspace(-0.4, 0.4, batch, dtype=dtype).unsqueeze(1) if batch > 1 else share
        patched = corrupted + shares * (clean - corrupted)
        patched = patched + 2 * normal(generator, batch, 1, dtype=dtype)  # a logit more for all changes nothing
        return {
            "patched": patched * size,
            "corrupted": corrupted * size,
            "clean": clean * size,
            "right": right,
            "wrong": wrong,
        }

    gaps, turned = drawn(4, 7, 0.6), drawn(5, 7, 0.4)
    turned["right"], turned["wrong"] = turned["wrong"], turned["right"]
    return [
        Case.of("on several rows", **drawn(4, 7, 0.7)),
        Case.of("on more rows than symbols", **drawn(8, 5, 0.3)),
        Case.of("on as many rows as symbols", **drawn(6, 6, 0.5)),
        Case.of("where the clean run has the lower difference", **turned),
        Case.of("where a patch makes it worse", BEYOND, **drawn(4, 6, -0.7)),
        Case.of("where a patch does more than the clean run", BEYOND, **drawn(4, 6, 1.8)),
        Case.of("with large logits", LARGE, **drawn(4, 6, 0.4, size=60.0)),
        Case.of("on a single row", SMALLEST, **drawn(1, 6, 0.6)),
        Case.of("with float64", aspects.FLOAT64, **drawn(4, 6, 0.6, torch.float64)),
        Case.of(
            "with tensors that are not contiguous", aspects.LAYOUT, **{name: strided(one) for name, one in gaps.items()}
        ),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """A tensor that holds one number is compared as that number; that it isn't a float is noted."""
    arguments = list(inputs.values())
    result = symbol(*arguments)
    number = result.item() if isinstance(result, torch.Tensor) and result.numel() == 1 else result
    kind = "a float" if isinstance(result, float) else type(result).__name__
    return {"ends": _ends(symbol), "output": number, "kind": kind, "arguments": arguments}


AS_ASKED = "0 without a patch, 1 with the clean run, 0.5 half way"


def _ends(symbol: Any) -> str:
    """What comes out where everybody knows it: without a patch, with the clean run itself, and half way."""
    clean = torch.tensor([[5.0, 1.0, 2.0], [0.5, 4.0, 1.0]])
    corrupted = torch.tensor([[1.0, 3.0, 2.0], [2.0, 1.0, 5.0]])
    right, wrong = torch.tensor([0, 1]), torch.tensor([1, 2])
    for words, patched, wanted in (
        ("is the corrupted run itself, nothing is", corrupted, 0.0),
        ("is the clean run itself, all of it is", clean, 1.0),
        ("lies half way between the two, half of it is", (clean + corrupted) / 2, 0.5),
    ):
        try:
            share = float(symbol(patched.clone(), corrupted.clone(), clean.clone(), right.clone(), wrong.clone()))
        except Exception:  # a learner's own, which the case itself shows
            return AS_ASKED
        if not abs(share - wanted) < 1e-4:
            return (
                f"Where the patched run {words} brought back, so the result should be {wanted:g}. Yours "
                f"is {share:.4g}. What do you measure from, and what do you divide by?"
            )
    return AS_ASKED


TRIAL = Trial(
    module="transformer_course.circuits.intervening",
    points=1,
    cases=cases,
    probe=probe,
    canonical=lambda observation, case: only_usually(observation, case, "ends"),
    called={"ends": "the result without a patch, or with all of one", "kind": "the type of the result"},
    aspects=(
        aspects.also("a float", "kind", meaning="The result is a float, not a tensor."),
        replace(aspects.values(8.0), keys=("ends", "output")),
        BEYOND,
        LARGE,
        SMALLEST,
        aspects.FLOAT64,
        aspects.LAYOUT,
        aspects.untouched(weight=0.5),
    ),
)
