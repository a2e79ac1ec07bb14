"""Lesson 07: text made one token at a time: the likeliest, by lot, several side by side, and with a memory."""

from __future__ import annotations

from course import beam, caching, decoding, sampling
from grader.exercises.aspects import USUAL, main
from grader.exercises.draw import integers, normal
from grader.exercises.spec import Case, Exercise, Lesson

_MODULES = (decoding, sampling, beam, caching)


def _exercise(symbol, points):
    reference = next(getattr(m, symbol) for m in _MODULES if getattr(m, symbol, None) and hasattr(m, symbol))
    return Exercise(
        symbol,
        points,
        lambda g: [
            Case("on a small case", {"logits": normal(g, 4, 6), "source": integers(g, 3, 9, 4, 3)}, USUAL),
        ],
        (reference,),
        (main("the right result"),),
        (),
        {},
    )


LESSON = Lesson(
    name="07_autoregressive_sampling",
    title="Autoregressive sampling",
    exercises=(
        _exercise("greedy_decode", 4),
        _exercise("sample_with_temperature", 2),
        _exercise("top_k_filter", 2),
        _exercise("top_p_filter", 3),
        _exercise("ends_each_sequence", 3),
        _exercise("beam_search", 4),
        _exercise("best_of_n", 3),
        _exercise("KeyValueCache", 2),
        _exercise("cached_greedy_decode", 3),
    ),
)
