"""`acceptance_rate`: how it is tried."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import dims, with_gaps
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_17.drawing import chances, with_zeros

EQUAL = aspects.special("equal rows", meaning="Where target and draft are equal, every proposed token is accepted.")
NEVER = aspects.special(
    "tokens that are never proposed",
    meaning="A token to which the draft gives no probability adds nothing, whatever the target gives it.",
)
AXES = aspects.special("any number of axes", meaning="A single row is right too, and so are rows with several axes.")


def cases(generator: np.random.Generator) -> list[Case]:
    def pair(*shape: int, dtype: torch.dtype = torch.float32) -> Inputs:
        while True:
            target, draft = (chances(generator, *shape, dtype=dtype) for _ in range(2))
            if bool(((target - draft).abs().sum(-1) > 0.3).all()):
                return {"target": target, "draft": draft}

    b, n, v = dims(generator, 3, 3, 7)
    side = int(generator.integers(4, 6))
    ruled_out, same = pair(b, v + 3), pair(b, v)["target"]
    tokens = [int(token) for token in generator.permutation(v + 3)]
    ruled_out = {
        "target": with_zeros(ruled_out["target"], tokens[0], tokens[1]),
        "draft": with_zeros(ruled_out["draft"], tokens[1], tokens[2]),
    }
    apart = pair(b, v + 3)
    apart = {
        "target": with_zeros(apart["target"], *tokens[1 : 1 + len(tokens) // 2]),
        "draft": with_zeros(apart["draft"], *tokens[1 + len(tokens) // 2 :]),
    }
    return [
        Case.of("on a few rows", **pair(b, v)),
        Case.of("where there are as many rows as tokens", **pair(side, side)),
        Case.of("on a single row, without a batch", AXES, **pair(v)),
        Case.of("on rows with two leading axes", AXES, **pair(b, n, v)),
        Case.of("where both are equal", EQUAL, target=same, draft=same.clone()),
        Case.of("where the two have one token in common", NEVER, **apart),
        Case.of("where the draft rules out some tokens", NEVER, **ruled_out),
        Case.of("on a batch of one", aspects.BATCH_OF_ONE, **pair(1, v)),
        Case.of("with float64", aspects.FLOAT64, **pair(b, v, dtype=torch.float64)),
        Case.of("with tensors that are not contiguous", aspects.LAYOUT, **with_gaps(pair(b, v))),
    ]


AS_ASKED = "the sum of the smaller ones"
CHANCES: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "": torch.minimum,
    "the larger of the two probabilities": torch.maximum,
    "min(1, target / draft)": lambda target, draft: (target / draft).clamp(max=1),
    "target / draft": lambda target, draft: target / draft,
    "min(1, draft / target)": lambda target, draft: (draft / target).clamp(max=1),
    "target times draft": lambda target, draft: target * draft,
    "target times min(1, target / draft)": lambda target, draft: target * (target / draft).clamp(max=1),
    "draft times min(1, draft / target)": lambda target, draft: draft * (draft / target).clamp(max=1),
    "what the target gives beyond the draft": lambda target, draft: (target - draft).clamp(min=0),
    "how far the two are apart": lambda target, draft: (target - draft).abs(),
    "the target's probability": lambda target, draft: target,
    "the draft's probability": lambda target, draft: draft,
    "the root of target times draft": lambda target, draft: (target * draft).sqrt(),
}
"""What an answer may have for each token, in place of the smaller probability."""
PUT_TOGETHER: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "the sum": lambda chances: chances.sum(dim=-1),
    "the mean": lambda chances: chances.mean(dim=-1),
    "the largest": lambda chances: chances.amax(dim=-1),
    "the smallest": lambda chances: chances.amin(dim=-1),
    "the product": lambda chances: chances.prod(dim=-1),
    "the sum of the squares": lambda chances: chances.square().sum(dim=-1),
    "1 less the sum": lambda chances: 1 - chances.sum(dim=-1),
    "half of the sum": lambda chances: chances.sum(dim=-1) / 2,
}


def in_words(observation: Observation, case: Case) -> Observation:
    """What is put together over a row, where that is something else."""
    if "error" in observation:
        return observation
    return {"made": _made_of(observation.get("output"), case.inputs["target"], case.inputs["draft"]), **observation}


def _made_of(output: Any, target: torch.Tensor, draft: torch.Tensor) -> str:
    if not isinstance(output, torch.Tensor) or output.shape != target.shape[:-1] or output.dim() != 1:
        return AS_ASKED
    target, draft = target.double(), draft.double()
    if len(output) < 2 or float(target.amin()) <= 0 or float(draft.amin()) <= 0:
        return AS_ASKED
    fits = [
        (how, what)
        for what, chance in CHANCES.items()
        for how, together in PUT_TOGETHER.items()
        if torch.allclose(output.detach().double(), together(chance(target, draft)), rtol=1e-4, atol=1e-6)
    ]
    if not fits or ("the sum", "") in fits:
        return AS_ASKED
    how, what = fits[0]
    of = what or "min(target, draft)"
    return (
        f"Your result is {how} of {of}, over the tokens. How likely is it that a token is proposed, and accepted then, "
        "and how do the chances of all tokens combine?"
    )


TRIAL = Trial(
    module="transformer_course.fast_answers.speculative",
    points=1,
    cases=cases,
    canonical=in_words,
    called={"made": "what the result is made of"},
    aspects=(
        aspects.shape(),
        aspects.worded(aspects.values(6.0), "made"),
        AXES,
        EQUAL,
        NEVER,
        aspects.BATCH_OF_ONE,
        aspects.dtype(),
        aspects.FLOAT64,
        aspects.LAYOUT,
        aspects.untouched(),
    ),
)
