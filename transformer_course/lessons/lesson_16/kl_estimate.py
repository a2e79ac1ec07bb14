"""`kl_estimate`: how it is tried."""

from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.battery import LOOKED_AT, battery
from cellcheck.authoring.draw import normal
from transformer_course.lessons.lesson_16.probes import first_learns

HELD = aspects.also("the reference is held", "held", weight=2.0, meaning="No gradient flows into the reference.")
AGREED = aspects.special("models that agree", meaning="Where both models say the same, the estimate is 0.")
FAR = aspects.special("models far apart", meaning="However far apart the models are, the formula is the same.")


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(b: int, n: int, dtype: torch.dtype | None = None) -> dict[str, Any]:
        """The new model is surer of one token, and less sure of the next."""
        log_probs = -normal(generator, b, n, dtype=dtype).abs() - 0.2
        apart = normal(generator, b, n, dtype=dtype).abs().clamp(max=1.6) + 0.4
        apart.flatten()[::2] *= -1
        return {"log_probs": log_probs, "reference_log_probs": log_probs + apart}

    same, far = drawn(2, 3)["log_probs"], drawn(2, 4)
    away = (6 + normal(generator, 2, 4).abs().clamp(max=1)) * torch.tensor([1.0, -1.0, 1.0, -1.0])
    return [
        *battery(drawn, b=4, n=3),
        Case.of("where both models agree", AGREED, log_probs=same, reference_log_probs=same.clone()),
        Case.of(
            "where the models are far apart",
            FAR,
            log_probs=far["log_probs"] - 7,
            reference_log_probs=far["log_probs"] - 7 + away,
        ),
    ]


def canonical(observation: Observation, case: Case) -> Observation:
    """Where both models agree, a gradient is what rounding leaves of 1 - 1: it isn't looked at. Where they are far
    apart, it doesn't matter what somebody cuts off, and where: no two numbers there are alike. Where tokens are put
    together, the shape says it all."""
    if case.tags & AGREED.tags:
        observation = {name: seen for name, seen in observation.items() if name != "gradients"}
    output = observation.get("output")
    above = case.inputs["reference_log_probs"] > case.inputs["log_probs"]
    if isinstance(output, torch.Tensor) and output.dim() < above.dim():
        return {**observation, "output": torch.zeros_like(output), "gradients": "of another shape"}
    if not case.tags & FAR.tags or not isinstance(output, torch.Tensor) or output.shape != above.shape:
        return observation
    if any(bool((part == part[0]).all()) for part in (output[above], output[~above])):
        return {**observation, "output": "cut off", "gradients": "cut off"}
    return observation


TRIAL = Trial(
    module="transformer_course.rewards.leash",
    points=2,
    cases=cases,
    probe=first_learns,
    canonical=canonical,
    called={"held": "what flows into the reference"},
    aspects=(
        aspects.shape(),
        aspects.values(8.0),
        aspects.gradients(3.0),
        HELD,
        AGREED,
        FAR,
        *LOOKED_AT,
        aspects.dtype(),
        aspects.untouched(),
    ),
)
