"""What the marks say about the exercises, and which mistakes the same people make."""

import pytest

from cellcheck.checking.judge import ERROR, FAILED, PARTIAL, PASSED, AspectResult, Verdict
from cellcheck.exporting import Mark
from cellcheck.reporting.class_page import page
from cellcheck.reporting.items import items, together
from cellcheck.running.result import HandResult, Result
from cellcheck.syllabus import load_lesson
from cellcheck.tables import ClassMistake, in_a_few_words, mistakes


def result(*scores: float, by_hand: float | None = None) -> Result:
    verdicts = tuple(
        Verdict(name, score, 2.0, PASSED if score == 2 else FAILED, "")
        for name, score in zip("fgh", scores, strict=True)
    )
    return Result("x", "mine", verdicts, (), 0.1, by_hand=(HandResult("why", by_hand, 4.0),))


CLASS = {f"learner {i}": result(2.0 if i > 4 else 0.0, 2.0 if i > 6 else 0.0, 2.0 if i < 5 else 0.0) for i in range(10)}


def test_difficulty_and_discrimination() -> None:
    f, g, h = items(CLASS)
    assert [(item.title, item.difficulty) for item in (f, g, h)] == [("f", 0.5), ("g", 0.3), ("h", 0.5)]
    # h is solved by those who solve nothing else. The rest of f is g + h, and so on.
    assert f.discrimination == pytest.approx(-0.500, abs=0.4)
    assert g.discrimination is None  # the rest, f + h, is the same for all
    assert h.discrimination < -0.9


def test_where_there_is_nothing_to_say() -> None:
    few = dict(list(CLASS.items())[:9])
    assert {item.discrimination for item in items(few)} == {None}
    assert items({}) == []
    alike = {name: result(2.0, 2.0, 2.0) for name in CLASS}
    assert [(item.difficulty, item.discrimination) for item in items(alike)] == [(1.0, None)] * 3
    graded = {name: result(2.0, 0.0, 0.0, by_hand=3.0 if name == "learner 1" else None) for name in CLASS}
    assert items(graded)[-1].difficulty == 0.75  # of those whom somebody has graded


def test_what_no_mistake_describes_is_listed_by_what_fails_and_what_was_said() -> None:
    def of(symbol: str, status: str, message: str) -> Result:
        aspects = (AspectResult("shape", True), AspectResult("values", status == PASSED))
        return Result("x", "01_pytorch_basics", (Verdict(symbol, 0.0, 1.0, status, message, aspects),), (), 0.1)

    told = "It stops with a NameError: there is no 'targts'."
    results = {
        "ada": of("pick", PARTIAL, "Look at the second row."),
        "bo": of("pick", FAILED, "Look at the first row."),
        "cy": of("mse_loss", ERROR, told),
    }
    assert [(each.title, each.mistake, each.who, each.told) for each in mistakes(results, load_lesson("01"))] == [
        (
            "pick",
            'fails "values"',
            ("ada", "bo"),
            f"{results['bo'].verdicts[0].message} (The others read other words or numbers.)",
        ),
        ("mse_loss", "error", ("cy",), told),
    ]
    assert in_a_few_words(results["ada"]) == 'pick: fails "values"'


def mistake(title: str, name: str, who: str) -> ClassMistake:
    return ClassMistake(title, name, tuple(who), "")


def test_mistakes_of_the_same_people() -> None:
    class_mistakes = [
        mistake("f", "sum", "abcde"),
        mistake("f", "sign", "xyz"),
        mistake("g", "sum", "abcdz"),
        mistake("g", "axis", "exy"),
        mistake("h", "few", "ab"),
    ]
    (pair,) = together(class_mistakes)
    assert (pair.one.mistake, pair.other.mistake, pair.count) == ("sum", "sum", 4)
    assert together([mistake("f", "one", "abc"), mistake("f", "other", "abc")]) == []  # of one exercise: two attempts
    assert together([]) == []


def test_the_page_shows_them() -> None:
    marks = [Mark(name, "First", "<Last>", "", "", 10.0, r.score) for name, r in CLASS.items()]
    refused = Mark("zoe", "", "", "", "", 10.0, None, refused="There is no notebook, only <x>.pdf.")
    html = page("mine", [*marks, refused], CLASS, None)
    assert "<td>learner 3</td><td>First &lt;Last&gt;</td>" in html
    assert "There is no notebook, only &lt;x&gt;.pdf." in html
    assert "Handed in nothing" not in html
    assert '<td class="n">0.30</td><td class="n"></td>' in html
    assert "standard deviation" in html
