"""The glossary is the lessons' own, word for word; links lead to where a word is introduced."""

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from cellcheck.errors import GraderError
from cellcheck.learning.offers import Offer
from cellcheck.lesson_text import Head
from cellcheck.publishing.glossary import glossary, identity, words

OFFER = Offer("05_masks", Head("Masks", (30,), (), ()), ())
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
    part = "05_masks/a-two-minute-test.ipynb"  # the text is so short that it has one part
    link = f"{part}#causal_mask"
    assert f'\n[mask]{{#term-mask}}\n: A grid of yes and no ([lesson 5]({link} "causal_mask"))\n' in page
    leak = f'[lesson 5]({part}#part-1--the-leak "Part 1 · The leak")'
    assert f"\n[leak]{{#term-leak}}\n: A way to read ahead ({leak})\n" in page
    assert f'([lesson 5]({part}#glossary "Glossary"))' in page


def test_two_lessons_may_explain_the_same_word() -> None:
    other = Offer("06_more", Head("More", (30,), (), ()), ())
    page = glossary([(OFFER, lesson()), (other, lesson(TABLE.replace("| mask | a grid", "| Mask | a table")))])
    assert page.count("\n[mask]{#term-mask}\n: A grid") == 1
    assert "\n: A table of yes and no ([lesson 6" in page


def test_words_stand_below_their_letter() -> None:
    page = glossary([(OFFER, lesson(TABLE.replace("| sieve | not", "| `[UNK]`, unknown | not")))])
    assert "{.letters}\n[Signs and numbers](#letter-signs) [L](#letter-l) [M](#letter-m)\n" in page
    assert page.index("(letter-l)=\n## L") < page.index("#term-leak") < page.index("## M") < page.index("#term-mask")


def test_a_word_is_found_by_each_of_its_names() -> None:
    glossary = words([(OFFER, lesson(TABLE.replace("| sieve |", "| Sieve, `Filter` |")))])
    assert glossary["mask"] == identity("mask") == "term-mask"
    assert glossary["sieve"] == glossary["filter"] == glossary["sieve, filter"] == "term-sieve-filter"


def test_a_lesson_without_a_glossary_is_named() -> None:
    with pytest.raises(GraderError, match="05_masks has no glossary"):
        glossary([(OFFER, lesson(table=""))])
