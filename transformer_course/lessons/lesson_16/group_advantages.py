"""`group_advantages`: how it is tried."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.battery import Battery
from cellcheck.authoring.draw import normal

RIGHT_OR_WRONG = aspects.special("rewards of 0 and 1", "", 2.0, "Rewards may be just right or wrong.")
ALL_THE_SAME = aspects.special(
    "rows that are all the same", "", 2.0, "Where all answers to a question earn the same, the row is 0."
)
SMALL = aspects.special(
    "rewards that hardly differ", "", 1.5, "`eps` is added to the standard deviation, outside the root."
)
EPS = aspects.special("another eps", meaning="The eps that is passed in is used.")
PAIRS = aspects.special("two samples", meaning="With two samples a question, the result is right too.")


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(q: int, s: int, dtype: torch.dtype | None = None, size: float = 1.0) -> dict[str, Any]:
        """Each question has a mean and a spread of its own, and no two answers earn nearly the same."""
        mean = 200 * normal(generator, q, 1, dtype=dtype) + 300
        spread = 50 + 100 * torch.arange(q).unsqueeze(1)
        order = torch.stack([torch.from_numpy(generator.permutation(s).copy()) for _ in range(q)])
        apart = order.to(mean) + 0.2 * normal(generator, q, s, dtype=dtype).clamp(-1, 1)
        return {"rewards": size * (mean + spread.to(mean) * apart)}

    def tests(q: int, s: int) -> torch.Tensor:
        """In each row a few are right, and at least one is wrong; in the second, a single one is right."""
        rows = torch.zeros(q, s)
        for i, row in enumerate(rows):
            right = 1 if i == 1 else int(generator.integers(1, s - 1))
            row[torch.from_numpy(generator.permutation(s)[:right].copy())] = 1.0
        return rows

    usual = Battery(drawn, q=3, s=6)
    same = tests(4, 8)  # eight, so that 1/8 is exact: a mean by a product of matrices is right, too
    same[0], same[2] = 1.0, 0.0
    return [
        usual.different(),
        usual.equal(4),
        Case.of("with rewards of 0 and 1", RIGHT_OR_WRONG, rewards=tests(4, 8)),
        Case.of("where all answers to a question are right, or all wrong", ALL_THE_SAME, rewards=same),
        Case.of("with rewards that hardly differ", SMALL, **drawn(3, 5, torch.float64, size=1e-6)),
        Case.of("with another eps", EPS, rewards=tests(3, 5), eps=0.5),
        Case.of("with two samples a question", PAIRS, **drawn(4, 2)),
        usual.batch_of_one("with a single question"),
        usual.float64(),
        usual.not_contiguous(),
    ]


def canonical(observation: Observation, case: Case) -> Observation:
    """Where the caller's rewards are others afterwards, it doesn't matter which."""
    if "output" in observation:
        asked = case.inputs["rewards"], case.inputs.get("eps", 1e-4)
        # Rewards of 0 and 1 are small enough for eps to show.
        words = _with_another_eps(observation["output"], *asked) if case.tags & RIGHT_OR_WRONG.tags else ""
        words = words or _made_of(observation["output"], *asked) or _compared(observation["output"], *asked)
        observation = {"compared with": words or AS_ASKED, **observation}
    after, before = observation["arguments"][0], case.inputs["rewards"]
    changed = isinstance(after, torch.Tensor) and not torch.equal(after, before)
    return {**observation, "arguments": ["changed"]} if changed else observation


AS_ASKED = "with the row's own mean and standard deviation"
MEANS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "": lambda rewards: rewards.mean(dim=1, keepdim=True),
    "You subtract the mean of each column, that is, over the questions.": lambda rewards: rewards.mean(dim=0),
    "You subtract the mean of all rewards.": lambda rewards: rewards.mean(),
    "You subtract the smallest reward of each row.": lambda rewards: rewards.amin(dim=1, keepdim=True),
    "You subtract the largest reward of each row.": lambda rewards: rewards.amax(dim=1, keepdim=True),
    "You subtract nothing.": lambda rewards: rewards.new_zeros(()),
}
SPREADS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "": lambda rewards: rewards.std(dim=1, keepdim=True),
    "You divide by the variance of each row.": lambda rewards: rewards.var(dim=1, keepdim=True),
    "In your standard deviation, the squares are divided by the number of samples.": lambda rewards: rewards.std(
        dim=1, keepdim=True, correction=0
    ),
    "You divide by the variance of each row, with squares that are divided by the number of samples.": (
        lambda rewards: rewards.var(dim=1, keepdim=True, correction=0)
    ),
    "You divide by the standard deviation of each column.": lambda rewards: rewards.std(dim=0),
    "You divide by the variance of each column.": lambda rewards: rewards.var(dim=0),
    "You divide by the standard deviation of each column, with squares that are divided by the number of rows.": (
        lambda rewards: rewards.std(dim=0, correction=0)
    ),
    "You divide by the standard deviation of all rewards.": lambda rewards: rewards.std(),
    "You divide by the variance of all rewards.": lambda rewards: rewards.var(),
    "You divide by the mean distance from the mean.": lambda rewards: (
        (rewards - rewards.mean(dim=1, keepdim=True)).abs().mean(dim=1, keepdim=True)
    ),
    "You divide by the largest reward of each row less the smallest.": lambda rewards: (
        rewards.amax(dim=1, keepdim=True) - rewards.amin(dim=1, keepdim=True)
    ),
    "You don't divide.": lambda rewards: rewards.new_ones(()),
}


def _made_of(output: Any, rewards: torch.Tensor, eps: float) -> str:
    """Which means are subtracted and what is divided by, where these aren't those of the row."""
    if not isinstance(output, torch.Tensor) or output.shape != rewards.shape or min(rewards.shape, default=0) < 3:
        return ""
    came, rewards = output.detach().double(), rewards.double()
    for (mean, subtracted), (spread, divided) in sorted(product(MEANS.items(), SPREADS.items()), key=_slips):
        wanted = (rewards - subtracted(rewards)) / (divided(rewards) + eps)
        if torch.allclose(came, wanted, rtol=2e-3, atol=1e-6):
            words = f"{mean} {spread}".strip()
            return words and f"{words} Which rewards are compared with which, and what does the docstring divide by?"
    return ""


def _slips(pair: tuple[tuple[str, Any], tuple[str, Any]]) -> int:
    (mean, _), (spread, _) = pair
    return bool(mean) + bool(spread)


def _with_another_eps(output: Any, rewards: torch.Tensor, eps: float) -> str:
    """Which eps gives this result, if it is another one, and the rows that tell it differ in their spread."""
    if not isinstance(output, torch.Tensor) or output.shape != rewards.shape or not bool(output.isfinite().all()):
        return ""
    came, rewards = output.detach().double(), rewards.double()
    centred, spreads = rewards - rewards.mean(dim=1, keepdim=True), rewards.std(dim=1, keepdim=True)
    if not bool((came != 0).all()) or float(spreads.amax() - spreads.amin()) < 0.01:
        return ""
    added = centred / came - spreads  # (questions, samples)
    mean = float(added.mean())
    if float((added - mean).abs().max()) > 0.02 * max(eps, abs(mean)) or abs(mean - eps) < 0.5 * eps:
        return ""
    size = "next to nothing" if abs(mean) < 0.05 * eps else f"{mean:.1g}"
    return (
        f"Where no eps is passed in, your result is what an eps of {size} gives. Which default does the exercise ask "
        "for?"
    )


def _compared(output: Any, rewards: torch.Tensor, eps: float) -> str:
    """What is subtracted from the rewards of a row, and what they are divided by, where that is all that is done."""
    if not isinstance(output, torch.Tensor) or output.shape != rewards.shape or not bool(output.isfinite().all()):
        return ""
    row, came = rewards[0].double(), output[0].detach().double()
    mean, spread = float(row.mean()), float(row.std()) + eps
    low, high = int(row.argmin()), int(row.argmax())
    slope = float((came[high] - came[low]) / (row[high] - row[low])) if low != high else 0.0
    if not slope or not torch.allclose(came, came[low] + slope * (row - row[low]), rtol=1e-3, atol=1e-3):
        return ""
    subtracted, divided = float(row[low] - came[low] / slope), 1 / slope
    faults = []
    if abs(subtracted - mean) > 1e-2 * spread:
        faults.append(f"you subtract {subtracted:.4g}, and their mean is {mean:.4g}")
    if abs(divided / spread - 1) > 1e-2:
        faults.append(f"you divide by {divided:.4g}, and their standard deviation is {spread - eps:.4g}")
    if not faults:
        return ""
    return f"From one row of rewards: {'; '.join(faults)}. Which answers are in your sums, and how are they counted?"


TRIAL = Trial(
    module="transformer_course.rewards.groups",
    points=2,
    cases=cases,
    canonical=canonical,
    aspects=(
        aspects.shape(),
        aspects.worded(aspects.values(8.0), "compared with"),
        aspects.worded(RIGHT_OR_WRONG, "compared with"),
        ALL_THE_SAME,
        SMALL,
        EPS,
        PAIRS,
        aspects.BATCH_OF_ONE,
        *aspects.any_numbers(0.5),
        aspects.untouched(),
    ),
)
