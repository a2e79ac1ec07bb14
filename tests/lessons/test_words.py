"""What is told of wrong answers: what they do, in words, whatever the seed."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from cellcheck.checking.judge import PASSED, PUBLIC_SEED
from cellcheck.syllabus import load_lesson
from tests.lessons.lesson_04.told import NeverLooksAhead
from tests.lessons.marks import judge_of
from tests.lessons.words import judge_of_words, rows, texts
from tests.nightly import both_seeds, drawn

learners_judge = cache(judge_of)


def each_of(*tables: str) -> pytest.MarkDecorator:
    listed = [row for table in tables for row in rows(table)]
    names = [f"{lesson[:2]}-{symbol}-{answer.__name__}-{words[:20]}" for lesson, symbol, answer, words in listed]
    return pytest.mark.parametrize(("lesson", "symbol", "answer", "sentence"), listed, ids=names)


@drawn(40)
@both_seeds
@each_of("ON_CARDS")
def test_a_learners_card_says_what_the_answer_does(
    lesson: str, symbol: str, answer: Callable[..., Any], sentence: str, seed: int
) -> None:
    judge = learners_judge(lesson, symbol, seed)
    verdict = judge.verdict(judge.observe(answer))
    assert verdict.score < verdict.max_score
    assert sentence in verdict.message


@both_seeds
@each_of("ON_CARDS", "UNNAMED")
def test_a_card_says_it_without_a_mistakes_advice(
    lesson: str, symbol: str, answer: Callable[..., Any], sentence: str, seed: int
) -> None:
    judge = judge_of_words(lesson, symbol, seed)
    verdict = judge.verdict(judge.observe(answer))
    assert verdict.score < verdict.max_score
    assert sentence in verdict.message


@both_seeds
@each_of("BESIDE")
def test_words_stand_beside_the_result(
    lesson: str, symbol: str, answer: Callable[..., Any], sentence: str, seed: int
) -> None:
    judge = judge_of_words(lesson, symbol, seed)
    seen = judge.keep(judge.observe(answer))
    assert judge.judged(seen).status != PASSED
    assert any(sentence in text for case in texts(seen) for text in case.values())


@pytest.mark.parametrize(("lesson", "symbol", "variant"), rows("RIGHT"))
def test_a_right_answer_is_told_nothing(lesson: str, symbol: str, variant: str) -> None:
    judge = judge_of_words(lesson, symbol, PUBLIC_SEED)
    seen = judge.keep(judge.observe(load_lesson(lesson)[symbol].variants[variant]))
    assert judge.judged(seen).status == PASSED
    assert texts(seen) == texts(judge.references[0])


@both_seeds
def test_who_sees_no_later_token_hides_no_padding(seed: int) -> None:
    judge = judge_of_words("04_seq2seq_cross_attention", "Seq2SeqTransformer", seed)
    seen = judge.keep(judge.observe(NeverLooksAhead))
    assert not any("your decoder hides the target's padding" in text for case in texts(seen) for text in case.values())
