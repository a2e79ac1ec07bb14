"""Lesson 8's exercises without their text: each mistake is caught and named, each right answer gets full marks."""

import pytest

from grader.authoring.spec import Exercise
from grader.checking.judge import Judge
from grader.testing import MOST_FOR_A_CENTRAL_MISTAKE
from lessons.lesson_08.exercises.checkpoints import LOAD_CHECKPOINT, SAVE_CHECKPOINT
from lessons.lesson_08.exercises.clinic import MASKS_ARE_SOUND
from lessons.lesson_08.exercises.decoder import DECODER
from lessons.lesson_08.exercises.decoder_layer import DECODER_LAYER
from lessons.lesson_08.exercises.encoder import ENCODER
from lessons.lesson_08.exercises.encoder_layer import ENCODER_LAYER
from lessons.lesson_08.exercises.epoch import TRAIN_EPOCH
from lessons.lesson_08.exercises.feed_forward import POSITIONWISE_FEED_FORWARD
from lessons.lesson_08.exercises.masks import CREATE_MASKS, CREATE_PADDING_MASK
from lessons.lesson_08.exercises.schedule import NOAM_RATE, NOAM_SCHEDULE
from lessons.lesson_08.exercises.smoothing import LABEL_SMOOTHING
from lessons.lesson_08.exercises.transformer import TRANSFORMER
from lessons.lesson_08.probes import PROBES

EXERCISES = (
    POSITIONWISE_FEED_FORWARD,
    ENCODER_LAYER,
    DECODER_LAYER,
    CREATE_PADDING_MASK,
    CREATE_MASKS,
    NOAM_RATE,
    NOAM_SCHEDULE,
    LABEL_SMOOTHING,
    TRAIN_EPOCH,
    MASKS_ARE_SOUND,
    ENCODER,
    DECODER,
    TRANSFORMER,
    SAVE_CHECKPOINT,
    LOAD_CHECKPOINT,
)


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("exercise", EXERCISES, ids=[exercise.symbol for exercise in EXERCISES])
def test_mistakes_are_named_and_right_answers_pass(exercise: Exercise, seed: int) -> None:
    judge = Judge(exercise, PROBES[exercise.symbol], seed)
    said = {mistake.name: judge.verdict(judge.observe(mistake.implementation)) for mistake in exercise.mistakes}
    assert {name: verdict.diagnosis for name, verdict in said.items()} == {name: name for name in said}
    assert any(mistake.central for mistake in exercise.mistakes)
    most = exercise.points * MOST_FOR_A_CENTRAL_MISTAKE + 0.005
    assert [m.name for m in exercise.mistakes if m.central and said[m.name].score > most] == []
    right = {**exercise.variants, "reference": exercise.references[0]}
    verdicts = {name: judge.verdict(judge.observe(answer)) for name, answer in right.items()}
    assert {name: verdict.message for name, verdict in verdicts.items() if verdict.score < exercise.points} == {}
