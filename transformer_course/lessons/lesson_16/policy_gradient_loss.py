"""`policy_gradient_loss`: how it is tried."""

from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.battery import LOOKED_AT, battery
from cellcheck.authoring.draw import normal
from transformer_course.lessons.lesson_16.probes import first_learns

HELD = aspects.also(
    "advantages are numbers", "held", weight=2.0, meaning="No gradient flows into the advantages, whatever they are."
)


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(b: int, length: int, dtype: torch.dtype | None = None) -> dict[str, Any]:
        """Advantages that don't add up to nothing, of either sign."""
        log_probs = -normal(generator, b, length, dtype=dtype).abs() - 0.1
        advantages = normal(generator, b, dtype=dtype).abs() + 0.3
        advantages[1::3] *= -0.2
        return {"log_probs": log_probs, "advantages": advantages}

    return battery(drawn, b=5, length=3)


def without_numbers(observation: Observation, case: Case) -> Observation:
    """Of more than one number, the shape says it all. Advantages that have been centred and scaled are just that, in
    whatever way; of a single one nothing is left."""
    output, gradients = observation.get("output"), observation.get("gradients")
    if isinstance(output, torch.Tensor) and output.dim() > 0:
        return {**observation, "output": torch.zeros_like(output), "gradients": "of another shape"}
    if isinstance(gradients, torch.Tensor) and gradients.shape == case.inputs["log_probs"].shape:
        advantages = case.inputs["advantages"].to(gradients)
        if len(advantages) == 1 and not bool((gradients.abs() > 0).any()):
            return {**observation, "output": "nothing", "gradients": "nothing"}
        used, centred = -2 * gradients.sum(dim=1) * len(advantages), advantages - advantages.mean()
        factor = (used @ centred) / (centred @ centred)
        if abs(factor - 1) > 1e-3 and torch.allclose(used, factor * centred, rtol=1e-3, atol=1e-5):
            return {**observation, "output": "centred and scaled", "gradients": "centred and scaled"}
    return observation


TRIAL = Trial(
    module="transformer_course.rewards.policy",
    points=2,
    cases=cases,
    probe=first_learns,
    canonical=without_numbers,
    called={"held": "what flows into the advantages"},
    aspects=(
        aspects.shape("a tensor of shape ()"),
        aspects.values(8.0),
        aspects.gradients(3.0),
        HELD,
        *LOOKED_AT,
        aspects.dtype(),
        aspects.untouched(),
    ),
)
