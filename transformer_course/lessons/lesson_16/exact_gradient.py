"""`exact_gradient`: how it is tried."""

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
    if not isinstance(output, torch.Tensor) or output.shape != logits.shape or logits[..., 0].numel() == 1:
        return observation
    subtracted = rewards - output / torch.softmax(logits, dim=-1)
    one = subtracted.mean()
    if abs(one) > 0.1 and bool(((subtracted - one).abs() < 1e-3 * abs(one)).all()):
        return {**observation, "output": "one expected reward for all rows"}
    return observation


TRIAL = Trial(
    module="transformer_course.rewards.policy",
    points=2,
    cases=cases,
    canonical=in_words,
    aspects=(
        aspects.shape(),
        aspects.values(7.0),
        ALONE,
        DEEP,
        LARGE,
        *LOOKED_AT,
        aspects.dtype(),
        aspects.untouched(),
    ),
)
