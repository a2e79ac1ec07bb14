"""A lesson in another language is the same lesson: its prose alone differs, and it is graded as any other."""

from __future__ import annotations

import copy
import io
from pathlib import Path

import nbformat
import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po
from nbformat import NotebookNode
from nbgrader.utils import compute_checksum

from grader.demo.learners import Learner
from grader.publishing.translations import Translation, template, translations, write_template
from grader.repository import Repository
from grader.running.grade import grade
from tests.proofs import later

REPOSITORY = Repository.find(Path(__file__).parent)
LESSON = "05_causal_masks"
OPENING = "text-lesson-5-hide-the-future-1"


@pytest.fixture(scope="module")
def english() -> NotebookNode:
    return nbformat.read(REPOSITORY.notebook(LESSON), as_version=4)


@pytest.fixture(scope="module")
def german() -> Translation:
    (found,) = translations(REPOSITORY.root / "site", LESSON)
    return found


def test_the_committed_translation(german: Translation, english: NotebookNode) -> None:
    made = german.notebook(english)
    opening = made.cells[0].source
    assert opening.startswith("# Lektion 5 · Die Zukunft verbergen\n\n[![Open in Colab](")
    assert "(attachment:nudged_token.png)" in opening
    assert german.language == "Deutsch"
    assert german.so_far.startswith("3 of ")
    assert [c.id for c in made.cells] == [c.id for c in english.cells]
    assert [c for c in made.cells if c.cell_type == "code"] == [c for c in english.cells if c.cell_type == "code"]
    locked = [cell for cell in made.cells if "checksum" in cell.metadata.get("nbgrader", {})]
    assert len(locked) > 20
    assert all(cell.metadata.nbgrader.checksum == compute_checksum(cell) for cell in locked)


def test_it_is_still_about_the_lesson_as_it_is(german: Translation, english: NotebookNode) -> None:
    """A text that has changed is shown in English: then somebody should look at the translation again."""
    messages = {message.context: message.id for message in template(english, "")}
    for message in german.catalogue:
        if message.string and message.id:
            assert messages[message.context] == message.id


@later  # it grades two notebooks
def test_it_earns_the_same_marks(german: Translation, english: NotebookNode) -> None:
    learner = Learner("ada", LESSON, begins=2)
    handed_in = [learner.hand_in(nbformat.writes(notebook)) for notebook in (english, german.notebook(english))]
    marks = [[(v.symbol, v.score) for v in grade(text.encode(), 7).verdicts] for text in handed_in]
    assert marks[0] == marks[1]
    assert sum(score for _, score in marks[0]) > 0


def test_from_a_template_to_a_notebook(tmp_path: Path, english: NotebookNode) -> None:
    write_template(tmp_path / "lesson.pot", english, "A course")
    with (tmp_path / "lesson.pot").open("rb") as file:
        catalogue = read_po(file)
    prose = [cell for cell in english.cells if cell.cell_type == "markdown" and cell.source]
    assert [message.context for message in catalogue if message.id] == [cell.id for cell in prose]
    assert "colab" not in str(catalogue.get(catalogue_id(catalogue, OPENING), context=OPENING).id).lower()
    wanted = "# Le futur, caché\n\nQue s'est-il passé ?"
    catalogue.get(catalogue_id(catalogue, OPENING), context=OPENING).string = wanted
    buffer = io.BytesIO()
    write_po(buffer, catalogue)
    path = tmp_path / "locale" / "fr" / "notebooks" / f"{LESSON}.po"
    path.parent.mkdir(parents=True)
    path.write_bytes(buffer.getvalue())
    (french,) = translations(tmp_path, LESSON)
    assert french.code == "fr"
    made = french.notebook(english)
    assert made.cells[0].source.startswith("# Le futur, caché\n\n[![Open in Colab]")
    assert made.cells[0].source.endswith("Que s'est-il passé ?")
    assert made.cells[1] == english.cells[1]


def test_a_doubtful_translation_is_not_shown(tmp_path: Path, english: NotebookNode) -> None:
    catalogue = copy.deepcopy(template(english, "A course"))
    message = catalogue.get(catalogue_id(catalogue, OPENING), context=OPENING)
    message.string = "# Ein anderer Text"
    message.flags.add("fuzzy")
    path = tmp_path / "locale" / "de" / "notebooks" / f"{LESSON}.po"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        write_po(file, catalogue)
    assert Translation("de", path).notebook(english).cells[0].source == english.cells[0].source


def catalogue_id(catalogue: Catalog, context: str) -> str:
    return next(str(message.id) for message in catalogue if message.context == context)
