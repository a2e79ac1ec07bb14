"""A lesson in another language is the same lesson: its prose alone differs, and it is graded as any other."""

import re
import shlex
from pathlib import Path

import nbformat
import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.frontend import CommandLineInterface
from babel.messages.pofile import write_po
from nbformat import NotebookNode
from nbgrader.utils import compute_checksum

from cellcheck.demo.learners import Learner
from cellcheck.publishing.translations import Translation, template, translations, write_template
from cellcheck.repository import Repository
from cellcheck.running.grade import grade
from tests.nightly import later

REPOSITORY = Repository.find(Path(__file__).parent)
LESSON = "05_causal_masks"
OPENING = "text-lesson-5-hide-the-future-1"


@pytest.fixture(scope="module")
def english() -> NotebookNode:
    return nbformat.read(REPOSITORY.notebook(LESSON), as_version=4)


@pytest.fixture(scope="module")
def german() -> Translation:
    (translation,) = translations(REPOSITORY.root / "site", LESSON)
    return translation


def test_the_committed_translation(german: Translation, english: NotebookNode) -> None:
    translated = german.notebook(english)
    opening = translated.cells[0].source
    assert opening.startswith("# Lektion 5 · Die Zukunft verbergen\n\n")
    assert opening.splitlines()[-1].startswith("In Colab: [open this lesson](")
    assert "(attachment:nudged_token.png)" in opening
    assert german.language == "Deutsch"
    assert german.is_whole(english)
    assert [c.id for c in translated.cells] == [c.id for c in english.cells]
    assert [c for c in translated.cells if c.cell_type == "code"] == [c for c in english.cells if c.cell_type == "code"]
    locked = [cell for cell in translated.cells if "checksum" in cell.metadata.get("nbgrader", {})]
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


def test_the_documented_commands(tmp_path: Path, english: NotebookNode, monkeypatch: pytest.MonkeyPatch) -> None:
    """From messages to a notebook, as `docs/site.md` has it."""
    page = (REPOSITORY.root / "docs" / "site.md").read_text("utf-8")
    make = (REPOSITORY.root / "Makefile").read_text("utf-8")
    targets = re.findall(r"make ([\w-]+)", page)
    assert {"site", "publish-site", "site-messages"} <= set(targets)
    assert all(re.search(rf"^{target}:", make, re.MULTILINE) for target in targets)
    (folder,) = re.findall(r"^mkdir -p (\S+)$", page, re.MULTILINE)
    (command,) = re.findall(r"^(pybabel .+)$", page, re.MULTILINE)
    program, *options = shlex.split(command.replace(" de ", " fr ").replace("/de/", "/fr/"))
    (messages,) = (Path(option) for option in options if option.endswith(".pot"))
    write_template(tmp_path / messages, english, "A course")
    (tmp_path / folder.replace("/de/", "/fr/")).mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    CommandLineInterface().run([program, *options])
    (french,) = translations(tmp_path / "site", LESSON)
    assert french.code == "fr"
    assert french.notebook(english) == english  # nothing is translated yet
    assert "colab" not in message_of(french.catalogue, OPENING).id.lower()  # another version has another address
    prose = [cell for cell in english.cells if cell.cell_type == "markdown" and cell.source]
    assert [message.context for message in french.catalogue if message.id] == [cell.id for cell in prose]
    message_of(french.catalogue, OPENING).string = "# Le futur, caché\n\nQue s'est-il passé ?"
    translated = french.notebook(english)
    assert translated.cells[0].source.startswith(
        f"{message_of(french.catalogue, OPENING).string}\n\nIn Colab: [open this "
    )
    assert translated.cells[1] == english.cells[1]


def test_a_doubtful_translation_is_not_shown(tmp_path: Path, english: NotebookNode) -> None:
    catalogue = template(english, "A course")
    message = message_of(catalogue, OPENING)
    message.string = "# Ein anderer Text"
    message.flags.add("fuzzy")
    path = tmp_path / "locale" / "de" / "notebooks" / f"{LESSON}.po"
    path.parent.mkdir(parents=True)
    with path.open("wb") as file:
        write_po(file, catalogue)
    assert Translation("de", path).notebook(english).cells[0].source == english.cells[0].source


def test_a_translation_is_whole_when_no_cell_is_missing(tmp_path: Path, english: NotebookNode) -> None:
    catalogue = template(english, "A course")
    prose = [message for message in catalogue if message.id]
    path = tmp_path / "locale" / "de" / "notebooks" / f"{LESSON}.po"
    path.parent.mkdir(parents=True)
    for message in prose:
        message.string = f"Auf Deutsch: {message.id}"
    for last, whole in (("", False), ("Das Letzte", True)):
        prose[-1].string = last
        with path.open("wb") as file:
            write_po(file, catalogue)
        assert Translation("de", path).is_whole(english) == whole


def message_of(catalogue: Catalog, context: str) -> Message:
    return next(message for message in catalogue if message.context == context)
