"""How lesson 10 draws its runs."""

import math

import pandas as pd

from transformer_course.lessons.lesson_10 import experiments as lab


def curve(rate: float) -> pd.DataFrame:
    """A run of twenty steps in the gallery, which looks at the validation rows at every tenth."""
    rows = range(1, 21)
    losses = [rate * step for step in rows]
    seen = [loss if step % 10 == 0 else math.nan for step, loss in zip(rows, losses, strict=True)]
    return pd.DataFrame({"step": rows, "training loss": losses, "loss": seen})


def test_validation_losses_are_drawn_where_they_were_noted() -> None:
    words = lab.validation_losses({"slow": curve(0.1), "fast": curve(0.5)}, "Two runs").text
    assert words.splitlines() == [
        "Two runs (validation loss by step)",
        "slow: 1 at 10, 2 at 20",
        "fast: 5 at 10, 10 at 20",
    ]


def test_training_losses_are_drawn_at_each_step() -> None:
    words = lab.training_losses({"slow": curve(0.1)}, "One run").text
    assert words.startswith("One run (training loss by step)\nslow: 0.1 at 1, ")
    assert words.endswith("2 at 20")


def test_gradients_are_drawn_from_the_first_layer_to_the_last() -> None:
    words = lab.gradient_chart({"neither": [1e-6, 1e-3, 1.0]}).text
    assert words.endswith("1 at 3")
    assert " at 1, " in words
