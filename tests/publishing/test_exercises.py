"""What an exercise needs is what its answer in the library uses."""

import pytest

from cellcheck.publishing.exercises import ExerciseAddress, Map
from cellcheck.syllabus import lesson_names, load_lesson

MAP = Map({name: load_lesson(name) for name in lesson_names()})
CAUSAL, NUMPY = "05_causal_masks", "09_numpy_transformer"


def needs(lesson: str, symbol: str) -> set[tuple[str, str]]:
    return {(place.lesson[:2], place.symbol) for place in MAP.needs(ExerciseAddress(lesson, symbol))}


@pytest.mark.parametrize(
    ("lesson", "symbol", "wanted"),
    [
        (CAUSAL, "causal_mask", set()),
        (CAUSAL, "decoder_mask", {("05", "causal_mask"), ("03", "padding_mask")}),
        (CAUSAL, "CausalSeq2SeqTransformer", {("05", "decoder_mask"), ("04", "Seq2SeqTransformer")}),
    ],
)
def test_what_an_answer_uses(lesson: str, symbol: str, wanted: set[tuple[str, str]]) -> None:
    assert needs(lesson, symbol) == wanted


def test_nothing_needs_itself_or_what_comes_later() -> None:
    order = [
        ExerciseAddress(name, exercise.symbol) for name, lesson in MAP.lessons.items() for exercise in lesson.exercises
    ]
    linked = 0
    for place in order:
        needs = MAP.needs(place)
        assert place not in needs
        assert all(order.index(need) < order.index(place) for need in needs), place
        linked += len(needs)
    assert linked > 50


def test_the_next_exercise() -> None:
    exercises = MAP.lessons[CAUSAL].exercises
    assert MAP.after(ExerciseAddress(CAUSAL, exercises[0].symbol, "de")) == ExerciseAddress(
        CAUSAL, exercises[1].symbol, "de"
    )
    assert MAP.after(ExerciseAddress(CAUSAL, exercises[-1].symbol)) is None


def test_labels_differ() -> None:
    places = [ExerciseAddress(name, e.symbol) for name, lesson in MAP.lessons.items() for e in lesson.exercises]
    assert len({place.label.lower() for place in places}) == len(places)
    assert ExerciseAddress(CAUSAL, "causal_mask", "de").label == "exercise-de-05-causal_mask"


def test_what_it_does_is_one_sentence() -> None:
    assert MAP.does(ExerciseAddress(CAUSAL, "causal_mask")) == "Which positions may each position look at?"
    for name, lesson in MAP.lessons.items():
        for exercise in lesson.exercises:
            assert len(MAP.does(ExerciseAddress(name, exercise.symbol))) > 10
