"""Every trick in one run against the plain one, and a sweep over learning rates and warm-ups."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd
import torch
from torch import nn

from transformer_course.lessons.lesson_10.experiments.letters import Letters, letters, row_loss
from transformer_course.lessons.lesson_10.experiments.speed import bytes_alive, saved_bytes
from transformer_course.lessons.lesson_10.experiments.training import OURS, Parts, Recipe, Run, cut, train

PLAIN = Recipe()
ENOUGH, FEW = 4000, 300
LONG = replace(PLAIN, steps=500)
"""For the few rows: long enough to learn them by heart."""

WITH_ENOUGH_ROWS = {
    "plain": PLAIN,
    "four pieces, of 28, 20, 12 and 4 rows": replace(PLAIN, pieces=(28, 20, 12, 4)),
    "clipping at 0.5": replace(PLAIN, max_norm=0.5),
    "warm-up and cosine": replace(PLAIN, schedule="warm-up and cosine"),
    "reduce on plateau": replace(PLAIN, schedule="plateau"),
    "label smoothing 0.1": replace(PLAIN, smoothing=0.1),
    "dropout 0.1": replace(PLAIN, p=0.1),
    "weight decay 0.1": replace(PLAIN, weight_decay=0.1),
    "bfloat16": replace(PLAIN, precision=torch.bfloat16),
    "float16 with a scaler": replace(PLAIN, precision=torch.float16, scaled=True),
    "checkpointed": replace(PLAIN, checkpointed=True),
    "fused attention": replace(PLAIN, fused=True),
    "compiled": replace(PLAIN, compiled=True),
}
WITH_FEW_ROWS = {
    "plain": LONG,
    "label smoothing 0.1": replace(LONG, smoothing=0.1),
    "dropout 0.1": replace(LONG, p=0.1),
    "weight decay 0.1": replace(LONG, weight_decay=0.1),
    "augmentation": replace(LONG, augment=True),
    "early stopping": replace(LONG, patience=4),
}


def row_of(run: Run, recipe: Recipe, data: Letters, parts: Parts = OURS) -> dict[str, float | None]:
    """What one run cost and what it bought."""
    return {
        "milliseconds": None if run.problem else run.milliseconds,
        **memory_of(recipe, data, parts),
        "loss": run.last["loss"],
        "tokens": run.last["token accuracy"],
        "exact": run.last["exact match"],
        "training": run.last["training loss"],
    }


def memory_of(recipe: Recipe, data: Letters, parts: Parts = OURS) -> dict[str, float | None]:
    """Kilobytes that one step of training keeps for the backward pass, and its peak. Not for a compiled model."""
    if recipe.compiled:
        return {"saved": None, "peak": None}
    model, step = _one_step(recipe, data, parts)
    return {"saved": saved_bytes(step, model) / 1000, "peak": max(bytes_alive(step)) / 1000}


def memory_over_a_step(recipe: Recipe, data: Letters, parts: Parts = OURS) -> np.ndarray:
    """Kilobytes that are alive during one step: the most in each hundredth of its operations."""
    _, step = _one_step(recipe, data, parts)
    return np.array([max(some) / 1000 for some in np.array_split(bytes_alive(step), 100)])


def _one_step(recipe: Recipe, data: Letters, parts: Parts) -> tuple[nn.Module, Callable[[], None]]:
    """A model, and what does one step with it."""
    run = train(replace(recipe, steps=1, compiled=False), data, parts, name="one step")
    inputs, targets = data.train[0][: recipe.batch_size].clone(), data.train[1][: recipe.batch_size].clone()
    batches = cut(inputs, targets, recipe.pieces)
    run.model.train()

    def loss_function(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return row_loss(logits, targets, recipe.smoothing)

    def step() -> None:
        """Forwards and backwards, as in training; the weights stay as they are."""
        optimizer = torch.optim.SGD(run.model.parameters(), lr=0.0)
        if recipe.precision is None:
            parts.accumulate(run.model, batches, loss_function, optimizer)
        else:
            parts.half(run.model, inputs, targets, loss_function, optimizer, recipe.precision)

    return run.model, step


def compared(recipes: dict[str, Recipe], rows: int, seed: int = 0, parts: Parts = OURS) -> pd.DataFrame:
    """A row for each recipe: milliseconds a step, kilobytes, and the scores on the validation rows."""
    data = letters(rows, seed)
    results = [
        {"trick": name, "rows": rows, "seed": seed}
        | row_of(train(recipe, data, parts, seed=seed, name=name), recipe, data, parts)
        for name, recipe in recipes.items()
    ]
    return pd.DataFrame(results)


RATES, WARMUPS, SWEPT_STEPS = (0.005, 0.02, 0.08), (1, 20, 60), 120


def sweep(seed: int = 0, parts: Parts = OURS) -> pd.DataFrame:
    """The validation scores after 120 steps, for each peak rate and each length of the warm-up; then a cosine."""
    data = letters(ENOUGH, seed)
    results = []
    for rate in RATES:
        for warmup in WARMUPS:
            recipe = Recipe(
                steps=SWEPT_STEPS, rate=rate, warmup=warmup, schedule="warm-up and cosine", watch_every=SWEPT_STEPS
            )
            last = train(recipe, data, parts, seed=seed, name=f"{rate}, {warmup}").last
            results.append(
                {"rate": rate, "warmup": warmup, "seed": seed, "loss": last["loss"], "exact": last["exact match"]}
            )
    return pd.DataFrame(results)
