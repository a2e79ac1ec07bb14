"""`cellcheck similar`: what counts as a learner's own text, what is found, and how it is shown."""

import json
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.authoring.catalogue import HONEST, Catalogue
from cellcheck.gradebook.course import Course
from cellcheck.running.plain_cells import cells_of
from cellcheck.similarity.alike import alike
from cellcheck.similarity.texts import ADDED, as_answer, known_text, own_answers
from cellcheck.syllabus import lesson_names, load_lesson
from tests.gradebook.small_class import LESSON, REPOSITORY, hand_in, small_course
from tests.similarity.honest import in_other_words, known

SYMBOLS = [exercise.symbol for exercise in load_lesson(LESSON).exercises]
ACCUSING = ("plagiar", "cheat", "copied", "copying", "fraud", "guilty", "suspect", "dishonest")


def handed_in(course: Course, student: str, answers: dict[str, str], added: str = "") -> None:
    notebook = nbformat.read(REPOSITORY.notebook(LESSON), as_version=4)
    for cell in notebook.cells:
        if (name := cell.metadata.get("nbgrader", {}).get("grade_id")) in answers:
            cell.source = answers[name]
    if added:
        notebook.cells.append(nbformat.v4.new_code_cell(added))
    hand_in(course, student, nbformat.writes(notebook).encode())


def source(symbol: str, number: int) -> str:
    """One of the right answers that are held back, as a learner would write it."""
    catalogue = Catalogue(REPOSITORY.place(LESSON) / f"{symbol}.md", load_lesson(LESSON)[symbol].references[0])
    return catalogue.text_of(catalogue.entries(HONEST)[number])


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    course = small_course(tmp_path / "course")
    shutil.copy(REPOSITORY.solution(LESSON), course.source(LESSON))  # with the experiments, which are given text too
    monkeypatch.chdir(course.root)
    return course


def said(*arguments: str) -> str:
    done = CliRunner().invoke(cli.app, ["similar", *arguments])
    assert done.exit_code == 0, done.output
    return done.output


def test_a_copy_with_new_names_is_listed_and_honest_work_is_not(course: Course) -> None:
    handed_in(course, "ada", {symbol: source(symbol, 0) for symbol in SYMBOLS})
    handed_in(course, "bob", {symbol: in_other_words(source(symbol, 0)) for symbol in SYMBOLS})
    handed_in(course, "cy", {symbol: source(symbol, 1) for symbol in SYMBOLS})
    output = said(LESSON, "--html", "alike.html")
    page = Path("alike.html").read_text("utf-8")
    assert "ada and bob" in output
    assert not re.search(r"\bcy\b", output)
    assert "ada and bob" in page
    assert 'class="alike"' in page
    assert "<h4>cy</h4>" not in page
    assert "my_" in page
    for text in (output, page):
        assert not [word for word in ACCUSING if word in text.lower()]


def test_the_published_solution_is_no_sign_of_anything(course: Course) -> None:
    solutions = {}
    for cell in nbformat.read(REPOSITORY.solution(LESSON), as_version=4).cells:
        marks = cell.metadata.get("nbgrader", {})
        if marks.get("solution"):
            solutions[marks["grade_id"]] = cell.source
    handed_in(course, "ada", solutions)
    handed_in(course, "bob", solutions)
    handed_in(course, "cy", {})
    assert "no two of them are alike" in said(LESSON, "--html", "alike.html")
    assert "No two of them" in Path("alike.html").read_text("utf-8")


@pytest.mark.parametrize("lesson", lesson_names())
def test_only_what_is_ones_own_is_shown_as_alike(lesson: str) -> None:
    """Two learners with the published answers, with and without their markers, and one that was copied."""
    published = {
        cell["grade_id"]: cell["source"]
        for cell in cells_of(REPOSITORY.solution(lesson).read_bytes())
        if cell["kind"] == "code" and (cell["marks"] or {}).get("solution")
    }
    of_their_own = "\n".join(
        f"def step_{i}(a, b):\n    return [a * {i} + x for x in range(b) if x > {i}]" for i in range(4)
    )
    copied = next(iter(published))
    ada = {**published, copied: of_their_own}
    bob = {name: re.sub(r"\n.*(BEGIN|END) SOLUTION.*", "", text) for name, text in ada.items()}
    written = {
        student: tuple(as_answer(name, text, known(lesson)) for name, text in answers.items())
        for student, answers in (("ada", ada), ("bob", bob))
    }
    (pair,) = alike(written, known(lesson))
    assert [answer.name for answer in pair.answers] == [copied]


def test_what_a_learner_writes_is_shown_as_text_and_what_cannot_be_read_is_said(course: Course) -> None:
    lines = "\n".join(f"    total_{i} = [x * {i} for x in range(start, {i})] + [sum(values)]" for i in range(8))
    nasty = f"def steps(start, values):\n{lines}\n    return '<script>alert(1)</script>'\n"
    handed_in(course, "ada", {}, nasty)
    handed_in(course, "bob", {}, nasty)
    hand_in(course, "cy", b"{")
    output = said(LESSON, "--html", "alike.html")
    assert "cy is left out: This is not a notebook" in output
    assert ADDED in output
    page = Path("alike.html").read_text("utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_given_text_is_left_out_and_the_rest_keeps_its_place() -> None:
    text = "def f(a, b):\n    '''Adds.'''\n    ### BEGIN SOLUTION\n    return a + b\n    ### END SOLUTION"
    cell = {"kind": "code", "source": text, "marks": {"solution": True}, "grade_id": "f", "retyped": False}
    given = known_text([[{**cell, "defines": ["f"]}]])
    assert given.solutions == ("    return a + b",)
    assert given.names == {"f"}
    answer = as_answer("f", "def f(a, b):\n    '''Adds.'''\n    c = b + a\n    return c", given)
    assert answer.own.split("\n")[:2] == [" " * 12, " " * 15]
    assert answer.own.split("\n")[2:] == answer.shown.split("\n")[2:]
    added = {**cell, "marks": None, "grade_id": None, "source": "mine = 1", "defines": ["mine"]}
    moved = {**added, "source": "def f(a, b):\n    return b + a", "defines": ["f"]}
    assert [own.name for own in own_answers([[added, moved]], given)] == ["f", ADDED]


def test_what_many_wrote_is_what_one_writes() -> None:
    own = as_answer(SYMBOLS[0], in_other_words(source(SYMBOLS[0], 0)), known(LESSON))
    two, many = ({f"learner {i}": (own,) for i in range(count)} for count in (2, 5))
    assert [pair.share for pair in alike(two, known(LESSON))] == [1.0]
    assert alike(many, known(LESSON)) == []


def test_an_assignment_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.assignments import sources

    (tmp_path / "nbgrader_config.py").write_text(sources.CONFIG)
    sources.add(tmp_path, "methods", {"measured": sources.MEASURED, "more": sources.MORE}, sources.FILES)
    monkeypatch.chdir(tmp_path)
    long = """def slope(x, y):
    n = len(x)
    mean_x, mean_y = sum(x) / n, sum(y) / n
    top = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y))
    bottom = sum((a - mean_x) ** 2 for a in x)
    if bottom == 0:
        raise ValueError('a single x')
    return round(top / bottom, 12)
"""
    for student, text in (("ada", long), ("bob", long.replace("mean", "m")), ("cy", "def slope(x, y): ...")):
        notebook = nbformat.read(tmp_path / "source/methods/measured.ipynb", as_version=4)
        next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "slope").source = text
        folder = tmp_path / "submitted" / student / "methods"
        folder.mkdir(parents=True)
        (folder / "measured.ipynb").write_text(json.dumps(notebook))
    assert "ada and bob" in said("methods")
