"""Texts that were found harmless are not looked at again; those that were not, always are."""

import json
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from cellcheck.gradebook import draft
from cellcheck.running.cleaning import cleaned

HARMLESS = "**Why?** Since $a < b$."
HARMFUL = "<script>alert(1)</script>"
PICTURES = {"plot.png": {"image/png": "iVBORw0KGgo="}}


def notebook(*sources: str, attachments: dict[str, Any] | None = None) -> NotebookNode:
    cells = [nbformat.v4.new_markdown_cell(source, attachments=attachments or {}) for source in sources]
    return nbformat.v4.new_notebook(cells=cells)


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that were looked at."""
    texts: list[str] = []

    def apart(work: str, data: bytes) -> list[str]:
        texts.extend(text["source"] for text in json.loads(data))
        return cleaned(data)

    monkeypatch.setattr(draft, "read_apart", apart)
    monkeypatch.setattr(draft, "_harmless", set())
    return texts


def test_a_harmless_text_is_looked_at_once(looked_at: list[str]) -> None:
    for _ in range(3):
        tamed = notebook(HARMLESS, HARMFUL)
        draft._tame(tamed)
        assert tamed.cells[0].source == HARMLESS
        assert "<script" not in tamed.cells[1].source
    assert looked_at == [HARMLESS, HARMFUL, HARMFUL, HARMFUL]


def test_the_same_words_with_other_pictures_are_another_text(looked_at: list[str]) -> None:
    shows = "![a plot](attachment:plot.png)"
    draft._tame(notebook(shows, attachments=PICTURES))
    bare = notebook(shows)  # without its picture, the page could not be made
    draft._tame(bare)
    assert looked_at == [shows, shows]
    assert bare.cells[0].source != shows


def test_memory_stays_flat(looked_at: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft, "MOST_HARMLESS", 5)
    draft._tame(notebook(*(f"{HARMLESS} {number}" for number in range(9))))
    assert len(draft._harmless) == 5
