"""What the desk takes down, and what it says of a notebook that it can't use."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cellcheck.errors import GraderError
from cellcheck.learning import progress
from cellcheck.learning.offers import released
from cellcheck.learning.reset import place
from cellcheck.tutoring import prose
from cellcheck.tutoring.desk import Desk
from tests.learning.learners import answer

LESSON, SYMBOL = "05_causal_masks", "causal_mask"
RIGHT = "def causal_mask(length):\n    return torch.arange(length)[None] <= torch.arange(length)[:, None]\n"


def wrong(folder: Path) -> int:
    return progress.record(folder).wrong.get(LESSON, {}).get(SYMBOL, 0)


def test_what_comes_of_a_check_is_taken_down(tmp_path: Path) -> None:
    notebook, desk = place(LESSON, tmp_path), Desk(tmp_path)
    for remark in ("", "  # a remark", "\n\n"):
        answer(notebook, causal_mask=f"def causal_mask(length):\n    return None{remark}\n")
        with ThreadPoolExecutor(4) as threads:
            for reply in threads.map(desk.check, [SYMBOL] * 4):
                assert reply["status"] == "failed"
        assert wrong(tmp_path) == 1
    answer(notebook, causal_mask=RIGHT)
    score = desk.check(SYMBOL)["score"]
    known = progress.record(tmp_path)
    assert known.best[LESSON][SYMBOL] == score > 0
    assert SYMBOL in known.solved[LESSON]
    assert wrong(tmp_path) == 1


def test_a_notebook_of_another_lesson(tmp_path: Path) -> None:
    shutil.copy(released()["04_seq2seq_cross_attention"], place(LESSON, tmp_path))
    with pytest.raises(GraderError, match="another lesson's notebook"):
        Desk(tmp_path).check(SYMBOL)


def test_a_notebook_that_is_far_too_large_is_not_read(tmp_path: Path) -> None:
    with place(LESSON, tmp_path).open("r+b") as file:
        file.truncate(2**40)
    with pytest.raises(GraderError, match="at most 128 MB"):
        Desk(tmp_path).check(SYMBOL)


def test_a_term_is_explained_where_the_course_explains_it(tmp_path: Path) -> None:
    """A glossary goes before a paragraph that only mentions the word; and signs are no words."""
    told = Desk(tmp_path).explain("causal mask")
    assert (told["lesson"], told["paragraph"]) == (LESSON, told["glossary"])
    assert "**mask**" in Desk(tmp_path).explain("mask")["paragraph"]
    for signs in ("(", "...", "**"):
        with pytest.raises(GraderError, match="No lesson explains"):
            Desk(tmp_path).explain(signs)


def test_a_term_is_looked_up_in_what_has_been_read_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every question looks at all paragraphs of the course; none is read anew."""
    told, read, plain = Desk(tmp_path).explain("median"), list[str](), prose._plain
    monkeypatch.setattr(prose, "_plain", lambda text: read.append(text) or plain(text))
    assert Desk(tmp_path).explain("median") == told
    assert max(map(len, read)) < 100  # words of the glossary


def test_a_question_quotes_the_example_without_its_remark(tmp_path: Path) -> None:
    questions = [Desk(tmp_path).smaller_question("batched_dot")["question"] for _ in range(2)]
    assert "`batched_dot(a, b)`" in questions[0]


@pytest.mark.parametrize(
    ("advice", "asked"),
    [
        ("You sum. What does `nn.Dropout` belong to in this block?", "What does `nn.Dropout` belong to in this block?"),
        (
            "One. You look at every place, with 0.5 for each. Which may not?",
            "You look at every place, with 0.5 for each. Which may not?",
        ),
        ("Which one?", "Which one?"),
        ("You sum. Which step turns a sum into a mean? Look there.", "Which step turns a sum into a mean?"),
    ],
)
def test_a_question_can_be_understood_by_itself(advice: str, asked: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk._advice[LESSON, SYMBOL] = advice
    assert desk.smaller_question(SYMBOL)["question"] == asked
