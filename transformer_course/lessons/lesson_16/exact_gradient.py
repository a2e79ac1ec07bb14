"""`exact_gradient`: how it is tried."""

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.battery import LOOKED_AT, battery
from cellcheck.authoring.draw import normal

ALONE = aspects.special("a single row", meaning="Logits and rewards of shape (n,) give a result of shape (n,).")
LARGE = aspects.special("large logits", "", 1.5, "The result is right however large the logits are.")
DEEP = aspects.special("more axes", meaning="With any number of axes in front, each row is taken by itself.")


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(b: int, n: int, dtype: torch.dtype | None = None) -> dict[str, Any]:
        """Rewards from 1 to 3, so that their mean is far from 0 and from 1."""
        rewards = torch.from_numpy(generator.uniform(1.0, 3.0, (b, n)))
        return {"logits": normal(generator, b, n, dtype=dtype), "rewards": rewards.to(dtype or torch.float32)}

    row, deep, large = drawn(1, 5), drawn(6, 4), drawn(2, 4)
    return [
        *battery(drawn, b=3, n=5),
        Case.of("with logits and rewards of shape (n,)", ALONE, **{name: part[0] for name, part in row.items()}),
        Case.of("with an axis more", DEEP, **{name: part.reshape(2, 3, 4) for name, part in deep.items()}),
        Case.of("with very large logits", LARGE, logits=large["logits"] + 500, rewards=large["rewards"]),
    ]


def in_words(observation: Observation, case: Case) -> Observation:
    """There are several ways to an expected reward that all rows share: what counts is that they do."""
    output, (logits, rewards) = observation.get("output"), case.inputs.values()
    observation = {"made of": _made_of(output, logits, rewards) or None, **observation}
    if not isinstance(output, torch.Tensor) or output.shape != logits.shape or logits[..., 0].numel() == 1:
        return observation
    subtracted = rewards - output / torch.softmax(logits, dim=-1)
    one = subtracted.mean()
    if abs(one) > 0.1 and bool(((subtracted - one).abs() < 1e-3 * abs(one)).all()):
        return {**observation, "output": "one expected reward for all rows"}
    return observation


def _made_of(output: Any, logits: torch.Tensor, rewards: torch.Tensor) -> str:
    """What a wrong gradient is made of instead, as far as it can be seen in the result."""
    if not isinstance(output, torch.Tensor) or output.shape != logits.shape or not bool(output.isfinite().all()):
        return ""
    output, logits, rewards = output.detach().double(), logits.double(), rewards.double()
    chances = logits.softmax(dim=-1)
    right = chances * (rewards - (chances * rewards).sum(dim=-1, keepdim=True))
    if _near(output, right) or not bool(output.any()) or logits.shape[-1] == 1:
        return ""
    factor = float((output * right).sum() / (right * right).sum())
    if _near(output, factor * right):
        return f"Your gradient is {factor:.4g} times what it should be. Is it multiplied or divided by something more?"
    for axis in range(logits.dim() - 1):
        along = logits.softmax(dim=axis)
        subtracted = rewards - output / along
        if any(_near(subtracted, subtracted.narrow(other, 0, 1).expand_as(subtracted)) for other in (axis, -1)):
            return (
                f"Your probabilities sum to 1 along axis {axis}. Which axis holds the answers of which one is drawn, "
                "whatever the shape is?"
            )
    subtracted = rewards - output / chances
    if _near(subtracted, subtracted[..., :1].expand_as(subtracted)):
        expected = (chances * rewards).sum(dim=-1)
        return (
            f"From the rewards of the first row you subtract {float(subtracted.flatten()[0]):.4g}, and its expected "
            f"reward is {float(expected.flatten()[0]):.4g}. Which answers are in it, and how is each weighted?"
        )
    sums = output.sum(dim=-1)
    if bool((sums.abs() > 1e-3).any()):
        return (
            "If all logits of a row grow by the same amount, its probabilities stay as they are, so a row of the "
            f"gradient adds up to 0. One of yours adds up to {float(sums.flatten()[sums.abs().argmax()]):.3g}. Which "
            "of your terms is missing, or too large?"
        )
    return ""


def _near(one: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.allclose(one, other, rtol=1e-3, atol=1e-4)


TRIAL = Trial(
    module="transformer_course.rewards.policy",
    points=2,
    cases=cases,
    canonical=in_words,
    aspects=(
        aspects.shape(),
        replace(aspects.values(7.0), keys=("made of", "output")),
        ALONE,
        DEEP,
        LARGE,
        *LOOKED_AT,
        aspects.dtype(),
        aspects.untouched(),
    ),
)
