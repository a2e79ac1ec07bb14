"""`leashed_policy`: how it is tried."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.battery import LOOKED_AT, battery
from cellcheck.authoring.draw import normal

ALONE = aspects.special("a single row", meaning="Probabilities of shape (n,) give a result of shape (n,).")
IMPOSSIBLE = aspects.special("impossible answers", "", 1.5, "What had probability 0 still has probability 0.")
SHORT = aspects.special("a very long leash", "", 2.0, "However small beta is, the result is finite and right.")
DEEP = aspects.special("more axes", meaning="With any number of axes in front, each row is taken by itself.")


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(b: int, n: int, dtype: torch.dtype | None = None, beta: float = 0.7) -> dict[str, Any]:
        """No reference is uniform, and rewards are of either sign."""
        rewards = normal(generator, b, n, dtype=dtype)
        return {"reference": (normal(generator, b, n, dtype=dtype)).softmax(-1), "rewards": rewards, "beta": beta}

    holes, row, deep = drawn(3, 6), drawn(1, 5), drawn(6, 4)
    reference = holes["reference"].clone()
    reference[:, 1] = 0.0
    reference[0, 3] = 0.0
    reference /= reference.sum(dim=-1, keepdim=True)
    holes["rewards"] = holes["rewards"] + 20 * (reference == 0)  # what is impossible would earn the most
    ranks = torch.stack([torch.from_numpy(generator.permutation(4).copy()) for _ in range(3)])
    return [
        *battery(drawn, b=3, n=5),
        Case.of("on a short leash", **drawn(3, 5, beta=2.6)),
        Case.of(
            "with probabilities of shape (n,)",
            ALONE,
            reference=row["reference"][0],
            rewards=row["rewards"][0],
            beta=0.4,
        ),
        Case.of(
            "with an axis more",
            DEEP,
            reference=deep["reference"].reshape(2, 3, 4),
            rewards=deep["rewards"].reshape(2, 3, 4),
            beta=0.6,
        ),
        Case.of("where some answers are impossible", IMPOSSIBLE, **{**holes, "reference": reference}),
        Case.of("with rewards that are large for beta", SHORT, **{**drawn(3, 4, beta=0.01), "rewards": _large(3, 4)}),
        Case.of(
            "with rewards that are hundreds of betas apart",
            SHORT,
            **{**drawn(3, 4, beta=0.005), "rewards": ranks + 5.0 * torch.arange(3).unsqueeze(1)},
        ),
    ]


def _large(b: int, n: int) -> torch.Tensor:
    """Rewards from 5 upwards, hundreds of betas, that differ by less than a beta."""
    return 5 + torch.arange(b * n).view(b, n).flip(1) % n * 0.004


def canonical(observation: Observation, case: Case) -> Observation:
    """However little somebody gives to the impossible, it is one slip. So is a beta with a floor, wherever it is."""
    output, impossible = observation.get("output"), case.inputs["reference"] == 0
    if "error" not in observation:
        observation = {"made": _made_of(output, **case.inputs), **observation}
    if isinstance(output, torch.Tensor) and output.shape == impossible.shape and bool((output[impossible] > 0).any()):
        return {**observation, "output": "the impossible has become possible"}
    if case.tags & SHORT.tags and isinstance(output, torch.Tensor) and output.shape == impossible.shape:
        larger = _beta_of(output, case)
        if larger is not None and larger > 2 * case.inputs["beta"]:
            return {**observation, "output": "as with a larger beta"}
    return observation


AS_ASKED = "the reference times exp(rewards / beta), divided by the sum of the row"
OLD: dict[str, Callable[[torch.Tensor, float], torch.Tensor]] = {
    "": lambda reference, beta: reference,
    "The old probabilities of these answers make no difference.": lambda reference, beta: torch.ones_like(reference),
    "What is in the exponent is the reference itself, not its log.": lambda reference, beta: reference.exp(),
    "The reference counts twice.": lambda reference, beta: reference.square(),
    "You divide the log of the reference by beta, too.": lambda reference, beta: reference ** (1 / beta),
}
RAISED: dict[str, Callable[[torch.Tensor, float], torch.Tensor]] = {
    "": lambda rewards, beta: (rewards / beta).exp(),
    "You multiply the rewards by beta.": lambda rewards, beta: (rewards * beta).exp(),
    "Beta is left out.": lambda rewards, beta: rewards.exp(),
    "You subtract the rewards in the exponent.": lambda rewards, beta: (-rewards / beta).exp(),
    "You multiply by rewards / beta, not by its exponential.": lambda rewards, beta: rewards / beta,
}


def _made_of(output: Any, reference: torch.Tensor, rewards: torch.Tensor, beta: float) -> str:
    """Of which factors a result is made, and what these are divided by, where that is something else."""
    if not isinstance(output, torch.Tensor) or output.shape != rewards.shape or rewards.dim() != 2 or len(rewards) < 2:
        return AS_ASKED
    came, reference, rewards = output.detach().double(), reference.double(), rewards.double()
    if not bool(came.isfinite().all()) or not bool((reference > 0).all()) or float(rewards.abs().max()) > 50 * beta:
        return AS_ASKED
    for (old, factor), (raised, other) in sorted(product(OLD.items(), RAISED.items()), key=_slips):
        weighed = factor(reference, beta) * other(rewards, beta)
        for words, divided in (
            ("", weighed.sum(dim=-1, keepdim=True)),
            ("You divide by the sums over the batch.", weighed.sum(dim=0)),
            ("You divide by the sum of all rows.", weighed.sum()),
            ("You don't divide by a sum.", torch.ones(())),
            ("Your rows don't sum to 1.", (weighed / came)[:, :1]),
        ):
            if torch.allclose(came, weighed / divided, rtol=1e-3, atol=1e-6):
                told = " ".join(each for each in (old, raised, words) if each)
                return f"{told} What does the docstring multiply, and what does it divide by?" if told else AS_ASKED
    return AS_ASKED


def _slips(pair: tuple[tuple[str, Any], tuple[str, Any]]) -> int:
    (old, _), (raised, _) = pair
    return bool(old) + bool(raised)


def _beta_of(output: torch.Tensor, case: Case) -> float | None:
    """The beta with which these probabilities would be right; None where there is none."""
    reference, rewards = case.inputs["reference"], case.inputs["rewards"]
    seen = reference > 0
    if not bool((output[seen] > 0).all()):
        return None
    gained = torch.where(seen, output / reference, 1.0).log()
    best = rewards.masked_fill(~seen, -torch.inf).argmax(dim=-1, keepdim=True)
    behind = (rewards.gather(-1, best) - rewards)[seen]
    lost = (gained.gather(-1, best) - gained)[seen]
    slope = (lost @ behind) / (behind @ behind)
    if slope <= 0 or not torch.allclose(lost, slope * behind, rtol=1e-2, atol=1e-3):
        return None
    return float(1 / slope)


TRIAL = Trial(
    module="transformer_course.rewards.leash",
    points=2,
    cases=cases,
    canonical=canonical,
    called={"made": "what the result is made of"},
    aspects=(
        aspects.shape(),
        aspects.worded(aspects.values(8.0), "made"),
        ALONE,
        DEEP,
        IMPOSSIBLE,
        SHORT,
        *LOOKED_AT,
        aspects.dtype(),
        aspects.untouched(),
    ),
)
