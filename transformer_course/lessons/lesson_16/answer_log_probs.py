"""`answer_log_probs`: how it is tried."""

from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.battery import Battery
from cellcheck.authoring.calls import in_order_with_gradients
from cellcheck.authoring.draw import integers, normal

ONE_TOKEN = aspects.special("an answer of one token", meaning="With a length of 1, the result is (batch, 1).")
SHORT_PROMPT = aspects.special(
    "a prompt of one token", meaning="The prompt may be a single token: then the first logits are about the answer."
)
LARGE = aspects.special(
    "large logits", "", 1.5, "The result is finite and right, however large or small the logits are."
)


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(b: int, n: int, v: int, length: int = 3, dtype: torch.dtype | None = None) -> dict[str, Any]:
        logits = 2 * normal(generator, b, n, v, dtype=dtype)
        return {"logits": logits, "tokens": integers(generator, 0, v, b, n), "length": length}

    usual = Battery(drawn, b=4, n=7, v=5)
    large = drawn(2, 5, 4)
    return [
        usual.different(),
        usual.equal(4),
        Case.of("with an answer of two tokens", **drawn(3, 6, 4, length=2)),
        usual.batch_of_one(),
        Case.of("with an answer of one token", ONE_TOKEN, **drawn(3, 5, 4, length=1)),
        Case.of("with a prompt of one token", SHORT_PROMPT, **drawn(3, 5, 6, length=4)),
        Case.of("with very large logits", LARGE, **{**large, "logits": 400 * large["logits"]}),
        usual.float64(),
        usual.not_contiguous(),
    ]


def without_what_says_nothing(observation: Observation, case: Case) -> Observation:
    """Of a single number, or of one for every token of the row, the shape says it all. Where logits are large, it
    doesn't matter at which number somebody cuts off, nor, where a log is minus infinity, which gradients are none
    then. Nor does it how much is added to all probabilities."""
    output, (rows, n) = observation.get("output"), case.inputs["tokens"].shape
    if not isinstance(output, torch.Tensor):
        return observation
    if output.dim() == 0 or (output.shape == (rows, n - 1) and n - 1 > case.inputs["length"]):
        return {**observation, "output": torch.zeros_like(output), "gradients": "of another shape"}
    if case.tags & LARGE.tags and bool(output.isneginf().any()):
        return {**observation, "output": "minus infinity", "gradients": "minus infinity"}
    if case.tags & LARGE.tags and output.numel() and -100 < output.min() < -15:
        return {**observation, "output": "cut off", "gradients": "cut off"}
    if output.shape == (rows, case.inputs["length"]):
        length = output.shape[1]
        chances = torch.softmax(case.inputs["logits"][:, -length - 1 : -1].double(), dim=-1)
        added = output.detach().exp() - chances.gather(-1, case.inputs["tokens"][:, -length:, None])[..., 0]
        if bool(((added - added.median()).abs() < 0.2 * added.median()).all()) and 5e-7 < added.median() < 0.1:
            return {**observation, "output": "a little added", "gradients": "a little added"}
    return observation


TRIAL = Trial(
    module="transformer_course.rewards.policy",
    points=2,
    cases=cases,
    probe=in_order_with_gradients(0),
    canonical=without_what_says_nothing,
    aspects=(
        aspects.shape(),
        aspects.values(8.0),
        aspects.gradients(),
        ONE_TOKEN,
        SHORT_PROMPT,
        LARGE,
        aspects.BATCH_OF_ONE,
        *aspects.any_numbers(0.5),
        aspects.untouched(),
    ),
)
