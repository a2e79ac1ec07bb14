"""The glossary is the lessons' own, word for word; links lead to where a word is introduced."""

from __future__ import annotations

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from grader.errors import GraderError
from grader.learning.lessons import Offer
from grader.publishing.glossary import glossary

OFFER = Offer("05_masks", 5, "Masks", (), "", "", ())
TEXT = """\
# Lesson 5 · Masks

A leak.

## A two-minute test

What is a mask?

## Part 1 · The leak

A mask helps.

### Exercise: `causal_mask` · core · difficulty 1 · 5 minutes

We hide it with a **mask**.
{table}
## Papers
"""
TABLE = """
## Glossary

| word | meaning |
|---|---|
| leak | a way to read ahead |
| mask | a grid of yes and no |
| sieve | not in the text |
"""


def lesson(table: str = TABLE) -> nbformat.NotebookNode:
    return new_notebook(cells=[new_markdown_cell(TEXT.format(table=table))])


def test_each_word_leads_to_where_it_is_introduced() -> None:
    page = glossary([(OFFER, lesson())])
    link = "05_masks.ipynb#exercise-causal_mask--core--difficulty-1--5-minutes"
    assert f"\nmask\n: a grid of yes and no ([lesson 5: `causal_mask`]({link}))\n" in page
    assert "\nleak\n: a way to read ahead ([lesson 5: Part 1 · The leak](05_masks.ipynb#part-1--the-leak))\n" in page
    assert "([lesson 5: Glossary](05_masks.ipynb#glossary))" in page


def test_two_lessons_may_explain_the_same_word() -> None:
    other = Offer("06_more", 6, "More", (), "", "", ())
    page = glossary([(OFFER, lesson()), (other, lesson(TABLE.replace("| mask | a grid", "| Mask | a table")))])
    assert page.count("\nmask\n: a grid") == 1
    assert "\n: a table of yes and no ([lesson 6" in page


def test_a_lesson_without_a_glossary_is_named() -> None:
    with pytest.raises(GraderError, match="05_masks has no glossary"):
        glossary([(OFFER, lesson(table=""))])
