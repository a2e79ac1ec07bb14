"""The wild set is in its form, its figures count what they say, and a small sample of it is judged as it should be."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from cellcheck.syllabus import lesson_names, load_lesson
from tests.wild import answers, figures
from tests.wild.answers import ASIDE, TUNED, VARIANT, WildAnswer, wild_answers
from tests.wild.elsewhere import ADAPTERS, NOT_ASKED
from tests.wild.judges import Cellcheck, Elsewhere, Judgement

A_THREAD = re.compile(r"[\w.-]+/[\w.-]+#\d+")
SAMPLE = {
    ("05", "causal_mask"): ("cumulative_identity", "not_even_itself", "one_into_the_future"),
    ("05", "decoder_mask"): ("multiplied", "or_instead"),
    ("14", "windowed_mask"): ("two_comparisons", "one_more_on_each_side"),
    ("14", "index_hints"): ("letter_behind",),
}

# --- the set


def test_each_answer_is_to_an_exercise_that_there_is() -> None:
    for answer in wild_answers():
        exercise = load_lesson(answer.lesson)[answer.symbol]
        defined = {node.name for node in ast.parse(answer.code).body if hasattr(node, "name")}
        assert answer.symbol in defined, answer
        assert set(answer.named) <= {mistake.name for mistake in exercise.mistakes}, answer


def test_what_the_catalogue_says_was_reported_is_in_the_set() -> None:
    reports = {
        (answer.lesson, answer.symbol, name, source)
        for answer in wild_answers()
        for name in answer.named
        for source in answer.source.split("; ")
    }
    reported = [
        (lesson, exercise.symbol, mistake.name, mistake.reported_in)
        for lesson in lesson_names()
        for exercise in load_lesson(lesson).exercises
        for mistake in exercise.mistakes
        if mistake.reported_in
    ]
    assert len(reported) >= 50
    assert set(reported) <= reports


def test_names_are_unique() -> None:
    names = Counter((answer.lesson, answer.symbol, answer.name) for answer in wild_answers())
    assert max(names.values()) == 1, names.most_common(3)


def test_each_answer_says_where_it_is_from_and_a_wrong_one_what_is_wrong() -> None:
    for answer in wild_answers():
        parts = [answer.source] if not answer.public else answer.source.split("; ")
        for part in parts:
            assert A_THREAD.fullmatch(part) or part.startswith(VARIANT) or ", " in part, answer
        assert not re.search(r"@\w", answer.source + answer.slip), answer  # a thread is named, never who wrote it
        if answer.right:
            assert not answer.slip + answer.teaches, answer
            assert not answer.named, answer
        else:
            assert re.fullmatch(r"\S.*[.?]", answer.slip), answer
            assert re.fullmatch(r"\S.*[.?]", answer.teaches), answer


def test_the_set_is_as_large_as_its_page_says() -> None:
    wrong = [answer for answer in wild_answers() if not answer.right]
    assert len(wrong) >= 400
    assert len(wild_answers()) - len(wrong) >= 150
    assert sum(answer.half == ASIDE for answer in wrong) >= 150
    assert sum(answer.half == ASIDE and answer.public for answer in wrong) >= 100


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("# pick\n\n## one\n- wrong\n- slip: So.\n\n```python\npass\n```\n", "one: write its lines as"),
        ("# pick\n\n## one\n- wrong, tuned\n\n```python\npass\n```\n\nAnd more.\n", "'And more.' begins no answer"),
        ("# peck\n\n", "Let it begin with '# pick'"),
    ],
)
def test_a_file_in_another_form_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str, sentence: str
) -> None:
    (tmp_path / "01").mkdir()
    (tmp_path / "01" / "pick.md").write_text(text, "utf-8")
    monkeypatch.setattr(answers, "FOLDER", tmp_path)
    with pytest.raises(ValueError, match=re.escape(sentence)):
        wild_answers.__wrapped__()


# --- the figures


def an_answer(name: str, right: bool = False, public: bool = True, named: tuple[str, ...] = ()) -> WildAnswer:
    source = "project/tool#1" if public else f"{VARIANT}it"
    return WildAnswer("01_pytorch_basics", "pick", name, right, TUNED, "", source, named=named)


def test_the_interval_is_wilsons() -> None:
    assert figures.interval(95, 100) == pytest.approx((0.8882, 0.9785), abs=1e-4)
    assert figures.interval(0, 10) == pytest.approx((0.0, 0.2775), abs=1e-4)
    assert figures.interval(0, 0) == (0.0, 1.0)


def test_a_name_that_is_not_listed_misleads_and_one_that_is_missing_does_not() -> None:
    judged = {
        an_answer("right", right=True): Judgement(True),
        an_answer("named", named=("late",)): Judgement(False, "late"),
        an_answer("misnamed", named=("late",)): Judgement(False, "early"),
        an_answer("nameless", public=False): Judgement(False),
        an_answer("accepted"): Judgement(True),
    }
    heading, _, _, _, everything, public, variants, lesson = figures.table(judged, TUNED)[:8]
    assert "tuned" in heading
    assert re.findall(r"(\d) of (\d)", everything) == [("1", "1"), ("3", "4"), ("1", "4"), ("1", "4")]
    assert re.findall(r"(\d) of (\d)", public) == [("1", "1"), ("2", "3"), ("1", "3"), ("1", "3")]
    assert re.findall(r"(\d) of (\d)", variants) == [("1", "1"), ("0", "1"), ("0", "1")]
    assert lesson.startswith("| 01 |")
    assert figures.table(judged, ASIDE) == []
    kinds = [line.partition(":")[0] for line in figures.exceptions(judged)]
    assert kinds == ["called early", "wrong, and accepted"]


def test_the_tables_are_written_between_the_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Before.\n<!-- wild: begin -->\nold\n<!-- wild: end -->\nBehind.\n", "utf-8")
    figures.write_into(page, ["| new |", ""])
    assert page.read_text("utf-8") == "Before.\n<!-- wild: begin -->\n| new |\n<!-- wild: end -->\nBehind.\n"
    page.write_text("No marks.\n", "utf-8")
    with pytest.raises(ValueError, match="needs the marks"):
        figures.write_into(page, [])


# --- the judges


def test_what_others_are_asked_is_in_the_set_and_in_the_course() -> None:
    names = {(answer.symbol, answer.name) for answer in wild_answers()}
    assert {(symbol, name) for (_, symbol), left in NOT_ASKED.items() for name in left} <= names
    lessons = {answer.lesson[:2]: answer.lesson for answer in wild_answers()}
    for _, lesson, symbol in ADAPTERS:
        assert load_lesson(lessons[lesson])[symbol]


def test_others_are_asked_in_a_process_that_a_loop_does_not_stop(tmp_path: Path) -> None:
    """In place of their package: one task, with a test that an answer passes, fails, or never leaves."""
    (tmp_path / "torch_judge").mkdir()
    (tmp_path / "torch_judge" / "__init__.py").touch()
    (tmp_path / "torch_judge" / "tasks.py").write_text(
        "def get_task(name):\n"
        "    code = 'import torch; q = torch.zeros(1, 2, 3); assert {fn}(q, q, q).sum() == 0'\n"
        "    return {'function_name': 'attend', 'tests': [{'name': 'kept', 'code': code}]}\n",
        "utf-8",
    )

    def causal(body: str) -> WildAnswer:
        return WildAnswer(
            "05_causal_masks", "causal_mask", "x", True, ASIDE, f"def causal_mask(n):\n    {body}\n", "a, b"
        )

    judge = Elsewhere("torch_judge", tmp_path)
    try:
        assert judge.judge(causal("return torch.ones(n, n).tril().bool()")) == Judgement(True)
        assert judge.judge(causal("return torch.ones(n + 1, n + 1).bool()")) not in (None, Judgement(True))
        assert judge.judge(causal("raise SystemExit")) == Judgement(
            False, card="It took too long, or it ended its process."
        )
        assert judge.judge(an_answer("pick")) is None
    finally:
        judge.close()


@pytest.fixture(scope="module")
def cellcheck() -> Cellcheck:
    return Cellcheck()


@pytest.mark.parametrize(
    "answer",
    [answer for answer in wild_answers() if answer.name in SAMPLE.get((answer.lesson[:2], answer.symbol), ())],
    ids=str,
)
def test_a_sample_is_judged_as_it_should_be(cellcheck: Cellcheck, answer: WildAnswer) -> None:
    assert cellcheck.judge(answer).accepted == answer.right


def test_the_sample_is_in_the_set() -> None:
    names = {(answer.lesson[:2], answer.symbol, answer.name) for answer in wild_answers()}
    assert {(*place, name) for place, listed in SAMPLE.items() for name in listed} <= names
