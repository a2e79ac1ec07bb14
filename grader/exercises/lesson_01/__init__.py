"""Lesson 01: tensors as puzzles, then one network in NumPy, in tensors, as a module, trained three ways."""

from __future__ import annotations

from grader.exercises.lesson_01.batched_dot import BATCHED_DOT
from grader.exercises.lesson_01.clinic import LOSS_IS_SOUND
from grader.exercises.lesson_01.equivalents import EQUIVALENTS
from grader.exercises.lesson_01.gradients import LOSS_GRADIENTS
from grader.exercises.lesson_01.loss import MSE_LOSS, MSE_LOSS_NUMPY
from grader.exercises.lesson_01.module import MLP_MODULE
from grader.exercises.lesson_01.penalty import L2_PENALTY
from grader.exercises.lesson_01.pick import PICK
from grader.exercises.lesson_01.predict import MLP_PREDICT, MLP_PREDICT_NUMPY
from grader.exercises.lesson_01.step import SGD_STEP
from grader.exercises.lesson_01.training import TRAIN
from grader.exercises.spec import Lesson

LESSON = Lesson(
    name="01_pytorch_basics",
    title="Points in, curve out",
    exercises=(
        BATCHED_DOT,
        PICK,
        MLP_PREDICT_NUMPY,
        MSE_LOSS_NUMPY,
        MLP_PREDICT,
        MSE_LOSS,
        LOSS_GRADIENTS,
        SGD_STEP,
        L2_PENALTY,
        MLP_MODULE,
        TRAIN,
        LOSS_IS_SOUND,
    ),
    equivalents=EQUIVALENTS,
)
