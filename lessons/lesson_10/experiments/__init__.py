"""Lesson 10's experiments: one task, one model, one loop with a switch for each trick, and a gallery of broken runs.

The learner's own parts come in as `Parts`.
"""

from lessons.lesson_10.experiments.depth import gradient_by_depth
from lessons.lesson_10.experiments.first_tests import mean_of_means, one_batch, one_step, suspects
from lessons.lesson_10.experiments.gallery import (
    BROKEN,
    CAUSES,
    cause_of,
    code_of,
    diagnosed,
    leaked_and_fresh,
    run,
    with_clipping,
    with_scaler,
)
from lessons.lesson_10.experiments.letters import Letters, Reverser, letters, renamed, row_loss, scores
from lessons.lesson_10.experiments.looking import answers, learning_curves, stopped, sweep_map, symptoms, with_spread
from lessons.lesson_10.experiments.speed import peak_bytes, saved_bytes
from lessons.lesson_10.experiments.training import OURS, Parts, Recipe, Run, train
from lessons.lesson_10.experiments.tricks import (
    ENOUGH,
    FEW,
    LONG,
    PLAIN,
    WITH_ENOUGH_ROWS,
    WITH_FEW_ROWS,
    compared,
    memory_of,
    sweep,
)

__all__ = [
    "BROKEN",
    "CAUSES",
    "ENOUGH",
    "FEW",
    "LONG",
    "OURS",
    "PLAIN",
    "WITH_ENOUGH_ROWS",
    "WITH_FEW_ROWS",
    "Letters",
    "Parts",
    "Recipe",
    "Reverser",
    "Run",
    "answers",
    "cause_of",
    "code_of",
    "compared",
    "diagnosed",
    "gradient_by_depth",
    "leaked_and_fresh",
    "learning_curves",
    "letters",
    "mean_of_means",
    "memory_of",
    "one_batch",
    "one_step",
    "peak_bytes",
    "renamed",
    "row_loss",
    "run",
    "saved_bytes",
    "scores",
    "stopped",
    "suspects",
    "sweep",
    "sweep_map",
    "symptoms",
    "train",
    "with_clipping",
    "with_scaler",
    "with_spread",
]
