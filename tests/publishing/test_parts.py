"""A lesson in parts: each has its own page and name, and nothing is lost or told twice."""

import re
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from cellcheck.publishing.lesson_pages import part_of_each_heading
from cellcheck.publishing.parts import ENDING, Part, parts, pieces
from cellcheck.repository import Repository
from cellcheck.syllabus import lesson_names, load_lesson

REPOSITORY = Repository.find(Path(__file__).parent)
LONG = "word " * 200


def cut(*cells: NotebookNode) -> list[Part]:
    return parts(pieces(list(cells), [cell.source for cell in cells]))


def prose(text: str, **marks: object) -> NotebookNode:
    return new_markdown_cell(text, metadata={"nbgrader": marks} if marks else {})


def test_a_part_begins_at_a_heading_in_the_middle_of_a_cell() -> None:
    opening, first, second = cut(prose("# Lesson\n\nHello."), prose(f"## One\n\n{LONG}\n\n## Two\n\n{LONG}"))
    assert (opening.title, first.title, second.title) == ("", "One", "Two")
    assert first.pieces[0].text.startswith("## One")
    assert "Two" not in first.pieces[0].text


def test_what_looks_like_a_heading_in_code_is_none() -> None:
    _, only = cut(prose("# Lesson"), prose(f"## One\n\n```python\n## Two\n```\n\n{LONG}"))
    assert only.title == "One"


def test_a_few_words_belong_to_the_part_before() -> None:
    _, first, second = cut(
        prose("# Lesson"), prose(f"## One\n\n{LONG}"), prose("## A break\n\nRest."), prose(f"## Two\n\n{LONG}")
    )
    assert [piece.text.split("\n")[0] for piece in first.pieces] == ["## One", "## A break"]
    assert second.title == "Two"


def test_a_short_part_with_code_is_a_part() -> None:
    _, _, second = cut(prose("# Lesson"), prose(f"## One\n\n{LONG}"), prose("## Two"), new_code_cell("x = 1"))
    assert second.title == "Two"


def test_from_the_question_in_ones_own_words_on_all_is_one_part() -> None:
    _, _, ending = cut(
        prose("# Lesson"),
        prose(f"## One\n\n{LONG}"),
        prose(f"## Explain it\n\n{LONG}"),
        prose("Because.", solution=True, grade_id="explain"),
        prose(f"## Recap\n\n{LONG}\n\n## Papers\n\n{LONG}"),
    )
    assert (ending.title, ending.gathered) == (ENDING, True)
    assert len(ending.pieces) == 4


def test_no_two_pages_have_the_same_name() -> None:
    _, *parts = cut(prose("# Lesson"), *(prose(f"## One more\n\n{LONG}") for _ in range(3)))
    assert [part.name for part in parts] == ["one-more", "one-more-2", "one-more-3"]


@pytest.mark.parametrize("name", lesson_names())
def test_the_lessons_in_parts(name: str) -> None:
    notebook = nbformat.read(REPOSITORY.notebook(name), as_version=4)
    sources = [cell.source for cell in notebook.cells]
    opening, *rest = parts(pieces(notebook.cells, sources))
    text = "".join(piece.text for part in (opening, *rest) for piece in part.pieces)
    assert re.sub(r"\s", "", text) == re.sub(r"\s", "", "".join(sources))
    assert [symbol for part in rest for symbol in part.symbols] == [e.symbol for e in load_lesson(name).exercises]
    assert rest[-1].title == ENDING
    assert 4 <= len(rest) <= 11
    headings = part_of_each_heading(notebook)
    assert headings["Glossary"] == rest[-1].name
