"""What the tests of a course ask of its lessons: three lines in pytest.

    @pytest.mark.parametrize("lesson", lesson_names())
    def test_the_checks_do_what_they_should(lesson):
        assert faults(lesson) == []

`cellcheck audit` goes further: it also tries automatic mutants of each answer.
"""

from collections.abc import Iterator, Sequence

from cellcheck.authoring.spec import Exercise
from cellcheck.checking.judge import Judge
from cellcheck.syllabus import lesson_names, load_lesson, load_probes

__all__ = ["MOST_FOR_A_CENTRAL_MISTAKE", "SEEDS", "faults", "lesson_names"]

SEEDS = (0, 1, 2, 7, 12345)
MOST_FOR_A_CENTRAL_MISTAKE = 1 / 2
"""The share of the points that somebody may earn who missed what the exercise is there to teach."""
_ROUNDING = 0.005  # scores have two digits behind the point


def faults(lesson: str, seeds: Sequence[int] = SEEDS) -> list[str]:
    """What is wrong with a lesson's exercises, a sentence each; empty when nothing is.

    With each seed every mistake must be caught and called by its name, every right answer must get full marks, and the
    marks must not depend on the seed. A mistake marked as central must cost at least half of the points.

    Raises:
        GraderError: when the lesson can't be loaded.
    """
    loaded, probes = load_lesson(lesson), load_probes(lesson)
    return [
        sentence
        for exercise in loaded.exercises
        for sentence in _of([Judge(exercise, probes[exercise.symbol], seed) for seed in seeds], exercise, seeds)
    ]


def _of(judges: Sequence[Judge], exercise: Exercise, seeds: Sequence[int]) -> Iterator[str]:
    right = {**exercise.variants, **{f"reference {i}": r for i, r in enumerate(exercise.references, start=1)}}
    for name, implementation in right.items():
        for judge, seed in zip(judges, seeds, strict=True):
            verdict = judge.verdict(judge.observe(implementation))
            if verdict.score < exercise.points:
                yield f"{exercise.symbol}: the right answer {name!r} loses points with seed {seed}: {verdict.message}"
    for mistake in exercise.mistakes:
        scores = []
        for judge, seed in zip(judges, seeds, strict=True):
            verdict = judge.verdict(judge.observe(mistake.implementation))
            scores.append(verdict.score)
            if verdict.score >= exercise.points:
                yield f"{exercise.symbol}: the mistake {mistake.name!r} gets full marks with seed {seed}."
            elif verdict.diagnosis != mistake.name:
                taken = f"is taken for {verdict.diagnosis!r}" if verdict.diagnosis else "is not recognised"
                yield f"{exercise.symbol}: the mistake {mistake.name!r} {taken} with seed {seed}."
        if mistake.central and max(scores) > exercise.points * MOST_FOR_A_CENTRAL_MISTAKE + _ROUNDING:
            yield (
                f"{exercise.symbol}: the central mistake {mistake.name!r} earns {max(scores):g} of "
                f"{exercise.points:g} points, more than half: give the aspects it fails more weight, or "
                "make one of them central."
            )
        if len(set(scores)) > 1:
            earned = ", ".join(f"{score:g} with {seed}" for score, seed in zip(scores, seeds, strict=True))
            yield (
                f"{exercise.symbol}: what the mistake {mistake.name!r} earns depends on the seed: {earned}. "
                "Draw inputs on which it goes wrong every time."
            )
