"""The committed notebooks, as learners get them, against the lessons' texts. Holds for every lesson there is."""

import ast
import base64
import html
import inspect
import io
import os
import re
import shutil
import sys
import tokenize
from functools import cache
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from cellcheck.building import build as building
from cellcheck.building import pictures
from cellcheck.building.downloads import insist_on_downloads
from cellcheck.building.origins import downloads_of, made_from
from cellcheck.building.source import EXPERIMENT
from cellcheck.errors import GraderError
from cellcheck.repository import Repository
from cellcheck.soundness import insist_on_sound
from cellcheck.syllabus import load_lesson
from tests.nightly import by_day
from tests.warm import run
from transformer_course import downloads

REPOSITORY = Repository.find(Path(__file__).parent)
LESSONS = REPOSITORY.names()
every_lesson = pytest.mark.parametrize("lesson", LESSONS)


@cache
def learners(lesson: str) -> NotebookNode:
    return nbformat.read(REPOSITORY.notebook(lesson), as_version=4)


@cache
def solution(lesson: str) -> NotebookNode:
    return nbformat.read(REPOSITORY.solution(lesson), as_version=4)


def grade_id(cell: NotebookNode) -> str | None:
    name: str | None = cell.metadata.get("nbgrader", {}).get("grade_id")
    return name


def by_grade_id(notebook: NotebookNode) -> dict[str, NotebookNode]:
    return {name: cell for cell in notebook.cells if (name := grade_id(cell)) is not None}


# --- the build --------------------------------------------------------------------------------------------------


@every_lesson
def test_what_is_committed_is_in_step(lesson: str) -> None:
    assert building.out_of_step(REPOSITORY, lesson) == []


@by_day("05")
def test_a_lesson_is_fit_to_be_built(lesson: str) -> None:
    """What is in step may be so with exercises that the next build refuses."""
    insist_on_sound(load_lesson(lesson))


def test_two_builds_give_the_same_bytes() -> None:
    """Of the learners' notebooks, what is committed is compared with another build; this is about solutions."""
    committed = building._Committed.of(REPOSITORY, LESSONS[0])
    one, two = (building._make(REPOSITORY, LESSONS[0], committed) for _ in range(2))
    assert nbformat.writes(one[0]) == nbformat.writes(two[0])
    assert one[1] == two[1]


@by_day("02")
def test_the_learners_notebook_is_nbgraders_release_byte_for_byte(lesson: str, tmp_path: Path) -> None:
    """What plain `nbgrader generate_assignment` writes in a course that holds the configuration and the solution."""
    shutil.copy(REPOSITORY.root / "nbgrader_config.py", tmp_path)
    shutil.copytree(REPOSITORY.root / "solutions" / lesson, tmp_path / "solutions" / lesson)
    bare: dict[str, str | None] = dict.fromkeys(os.environ)
    bare |= {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(tmp_path)}
    done = run(["nbgrader", "generate_assignment", lesson], tmp_path, bare)
    assert done.code == 0, done.output
    released = tmp_path / "notebooks" / lesson / f"{lesson}.ipynb"
    assert released.read_bytes() == REPOSITORY.notebook(lesson).read_bytes()


@pytest.fixture
def copy(tmp_path: Path) -> Repository:
    """A repository of its own, to change things in."""
    for name in ("transformer_course", "notebooks", "solutions", "data"):
        shutil.copytree(REPOSITORY.root / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("nbgrader_config.py", "pyproject.toml"):
        shutil.copy(REPOSITORY.root / name, tmp_path)
    (tmp_path / "grader" / "cellcheck").mkdir(parents=True)  # the course comes with its grader
    shutil.copy(REPOSITORY.root / "grader" / "cellcheck" / "repository.py", tmp_path / "grader" / "cellcheck")
    return Repository(tmp_path / "transformer_course" / "lessons")


def test_a_changed_text_course_or_notebook_is_out_of_step(copy: Repository) -> None:
    lesson = LESSONS[0]
    assert building.out_of_step(copy, lesson) == []
    text, notebook = copy.text(lesson), copy.notebook(lesson)
    course = copy.root / "transformer_course" / "tasks" / "curve.py"  # the lesson imports it
    for path, both in ((text, True), (course, False), (notebook, False)):
        original = path.read_text("utf-8")
        path.write_text(original.replace("A tensor is", "The tensor is") if both else original + "\n", "utf-8")
        assert path.read_text("utf-8") != original
        sentences = building.out_of_step(copy, lesson)
        assert len(sentences) == (2 if both else 1)
        assert all(lesson in sentence and str(copy.root) not in sentence for sentence in sentences)
        path.write_text(original, "utf-8")
    notebook.unlink()
    assert len(building.out_of_step(copy, lesson)) == 1


def test_data_that_was_cut_leaves_no_solution_in_step(copy: Repository) -> None:
    """The names come from two files, and the code says which with an f-string."""
    (lesson,) = copy.called("11")
    names = copy.root / "data" / "first_names_female.txt"
    assert building.out_of_step(copy, lesson) == []
    names.write_text("".join(names.read_text("utf-8").splitlines(keepends=True)[:2000]), "utf-8")
    (sentence,) = building.out_of_step(copy, lesson)
    assert copy.solution(lesson).name in sentence
    assert "was not executed since" in sentence


def test_every_data_file_counts_for_some_solution(copy: Repository) -> None:
    def executed() -> list[str]:
        return [made_from(copy, lesson, None)["executed"] for lesson in LESSONS]

    before = executed()
    for path in (copy.root / "data").rglob("*"):
        if path.is_dir() or path.suffix in (".md", ".LICENSE") or path.name in ("catalogue.json", "downloads.json"):
            continue
        original = path.read_bytes()
        path.write_bytes(original + b" ")
        assert executed() != before, f"no code names {path.name}"
        path.write_bytes(original)
    assert executed() == before


def test_pictures_are_drawn_again_when_what_draws_them_changes(
    copy: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson = LESSONS[0]
    drawn: list[str] = []
    monkeypatch.setattr(pictures, "draw", lambda name, lesson: drawn.append(name) or name.encode())
    monkeypatch.setattr(building, "_execute", lambda *_: pytest.fail("executed"))
    assert building.out_of_step(copy, lesson) == []
    assert drawn == []
    for changed in (
        "transformer_course/lessons/lesson_01/pictures.py",
        "transformer_course/plots/style.py",
        "transformer_course/tasks/curve.py",
    ):
        path = copy.root / changed
        original = path.read_text("utf-8")
        path.write_text(original + "\n# another look\n", "utf-8")
        assert len(building.out_of_step(copy, lesson)) == 2
        assert "curve_from_points" in drawn
        path.write_text(original, "utf-8")
        drawn.clear()
    # And when the committed picture is not the one that was drawn.
    for path in (copy.notebook(lesson), copy.solution(lesson)):
        path.write_text(path.read_text("utf-8").replace("iVBOR", "aVBOR", 1), "utf-8")
    assert len(building.out_of_step(copy, lesson)) == 2
    building.build(copy, lesson, lambda _: None)
    assert building.out_of_step(copy, lesson) == []


def test_a_build_that_has_nothing_to_do_executes_nothing(copy: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(building, "_execute", lambda *_: pytest.fail("executed"))
    monkeypatch.setattr(pictures, "draw", lambda *_: pytest.fail("drawn"))
    before = {path: path.read_bytes() for path in copy.root.rglob("*") if path.is_file()}
    copy.notebook(LESSONS[0]).write_text("{}")
    lines: list[str] = []
    building.build(copy, LESSONS[0], lines.append)
    assert lines == [f"{LESSONS[0]}: built"]
    assert {path: path.read_bytes() for path in copy.root.rglob("*") if path.is_file()} == before


def test_the_downloads_of_a_lesson_are_those_that_its_code_names() -> None:
    named = {lesson[:2]: downloads_of(REPOSITORY, lesson) for lesson in LESSONS}
    assert {lesson: {name.partition("/")[0] for name in names} for lesson, names in named.items() if names} == {
        "08": {"multi30k"},
        "11": {"tinyshakespeare"},
        "12": {"tinyshakespeare"},
        "13": {"rt-polarity", "flights"},
        "17": {"tinyshakespeare"},  # it trains with lesson 11's loop, which stands beside that lesson's text
    }
    assert len(named["08"]) == 6  # which of them, the code says with an f-string


def test_a_solution_is_not_executed_on_another_text_than_its_own(
    copy: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A learner without the plays reads Moby-Dick meanwhile. A solution that did would look as good, and be wrong."""
    (lesson,) = copy.called("12")
    text, solution = copy.text(lesson), copy.solution(lesson).read_bytes()
    text.write_text(text.read_text("utf-8").replace("plays = lab.book()", "plays = lab.book()  "), "utf-8")
    monkeypatch.setattr(building, "insist_on_sound", lambda _: None)
    monkeypatch.setattr(building, "_execute", lambda *_: pytest.fail("executed"))
    monkeypatch.setenv("COURSE_MIRROR", str(tmp_path / "empty"))
    with pytest.raises(GraderError) as refused:
        building.build(copy, lesson, lambda _: None)
    (sentence,) = str(refused.value).splitlines()
    assert lesson in sentence
    assert f"has no file {tmp_path / 'empty' / 'tinyshakespeare' / 'input.txt'}: put it there" in sentence
    assert copy.solution(lesson).read_bytes() == solution


def test_a_mirror_that_the_cells_would_not_find_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They run in a folder of their own: a path from here leads nowhere there, and the lesson would go on without."""
    (lesson,) = REPOSITORY.called("12")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(downloads, "downloaded", lambda name: Path("mirror") / name)
    with pytest.raises(GraderError, match="full path"):
        insist_on_downloads(REPOSITORY, lesson)
    monkeypatch.setattr(downloads, "downloaded", lambda name: tmp_path / name)
    insist_on_downloads(REPOSITORY, lesson)


@every_lesson
def test_the_solution_is_executed_and_earns_every_point(lesson: str) -> None:
    for cell in solution(lesson).cells:
        if cell.cell_type == "code" and cell.metadata.get("nbgrader", {}).get("grade"):
            marks = [o.data["text/plain"] for o in cell.outputs if o.output_type == "execute_result"]
            assert marks == [repr(float(cell.metadata.nbgrader.points))]
        assert not any(o.output_type == "error" for o in cell.get("outputs", []))
        assert "execution" not in cell.metadata  # timestamps would change at every build


@every_lesson
def test_the_cards_in_the_solution_call_each_aspect_what_it_is_called_now(lesson: str) -> None:
    """An aspect that gets another name executes nothing, so its card would stay as it was."""
    cards = [o.data["text/html"] for c in solution(lesson).cells for o in c.get("outputs", []) if _is_a_card(o)]
    assert len(cards) >= len(load_lesson(lesson).exercises)
    for card in cards:
        (symbol,) = re.findall(r'aria-label="Right: (\w+)"', card)
        names = tuple(aspect.name for aspect in load_lesson(lesson)[symbol].aspects)
        shown = re.findall(r'aria-label="holds">&#10003;</span> (.*?)</span>', card)
        assert shown
        assert [one for one in map(html.unescape, shown) if not one.startswith(names)] == []  # "shape (heads,)"


def _is_a_card(output: NotebookNode) -> bool:
    return 'aria-label="Right: ' in output.get("data", {}).get("text/html", "")


# --- cells ------------------------------------------------------------------------------------------------------


@every_lesson
def test_cell_ids_are_unique_stable_and_speak(lesson: str) -> None:
    ids = [cell.id for cell in learners(lesson).cells]
    assert len(ids) == len(set(ids))
    assert ids == [cell.id for cell in solution(lesson).cells]
    for exercise in load_lesson(lesson).exercises:
        assert {exercise.symbol, f"test_{exercise.symbol}"} < set(ids)
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in ids)


@every_lesson
def test_every_exercise_has_its_cell_and_its_test_cell_with_its_points(lesson: str) -> None:
    for notebook in (learners(lesson), solution(lesson)):
        places = {grade_id(cell): place for place, cell in enumerate(notebook.cells)}
        for exercise in load_lesson(lesson).exercises:
            cell, test = (notebook.cells[places[name]] for name in (exercise.symbol, f"test_{exercise.symbol}"))
            assert places[f"test_{exercise.symbol}"] == places[exercise.symbol] + 1
            marks, test_marks = cell.metadata.nbgrader, test.metadata.nbgrader
            assert (marks.solution, marks.grade, marks.locked, marks.task) == (True, False, False, False)
            assert (test_marks.solution, test_marks.grade, test_marks.locked) == (False, True, True)
            assert test_marks.points == exercise.points
            assert test.source == f"check({exercise.symbol})"
            assert marks.schema_version == test_marks.schema_version == 3
        graded = {n for n, c in by_grade_id(notebook).items() if c.cell_type == "code" and c.metadata.nbgrader.grade}
        assert graded == {f"test_{exercise.symbol}" for exercise in load_lesson(lesson).exercises}


@every_lesson
def test_prose_is_locked_and_every_other_cell_is_an_experiment(lesson: str) -> None:
    symbols = {exercise.symbol for exercise in load_lesson(lesson).exercises}
    for cell in learners(lesson).cells:
        name = grade_id(cell)
        if cell.cell_type == "markdown":
            assert name is not None
            assert cell.metadata.nbgrader.locked == (name != "explain")
        elif name is None:
            assert cell.metadata.tags == [EXPERIMENT]
        else:
            assert name == "setup" or name.removeprefix("test_") in symbols
            assert "tags" not in cell.metadata


@every_lesson
def test_the_explain_cell_is_empty_and_graded_by_hand(lesson: str) -> None:
    model, blank = by_grade_id(solution(lesson))["explain"], by_grade_id(learners(lesson))["explain"]
    assert blank.metadata.nbgrader.grade
    assert blank.metadata.nbgrader.solution
    assert len(model.source) > 200
    assert "YOUR ANSWER HERE" in blank.source
    assert not set(re.findall(r"[^.]{40,}\.", model.source)) & set(re.findall(r"[^.]{40,}\.", blank.source))


# --- no solution in the learner's notebook ----------------------------------------------------------------------


def solution_lines(reference: Any) -> set[str]:
    """The lines a learner has to write: between the marks, without comments, longer than 25 characters.

    Not those that stand outside the marks, too: one method may be given as an example of the next.
    """
    source = inspect.getsource(reference)
    lines, inside = source.splitlines(keepends=True), False
    starts: dict[int, int] = {}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            starts[token.start[0]] = token.start[1]
    written: set[str] = set()
    given: set[str] = set()
    for number, line in enumerate(lines, start=1):
        if "### BEGIN SOLUTION" in line or "### END SOLUTION" in line:
            inside = "BEGIN" in line
            continue
        code = line[: starts.get(number, len(line))].strip()
        if len(code) > 25:
            (written if inside else given).add(code)
    return written - given


@every_lesson
def test_no_solution_line_stands_in_the_learners_notebook(lesson: str) -> None:
    text = "\n".join(cell.source for cell in learners(lesson).cells)
    wanted = {line for exercise in load_lesson(lesson).exercises for line in solution_lines(exercise.references[0])}
    assert len(wanted) > len(load_lesson(lesson).exercises)
    assert sorted(line for line in wanted if line in text) == []
    # The search would find them where they do stand.
    solved = "\n".join(cell.source for cell in solution(lesson).cells)
    assert all(line in solved for line in wanted)


@every_lesson
def test_a_stub_keeps_signature_and_docstring_and_nothing_else(lesson: str) -> None:
    stubs = by_grade_id(learners(lesson))
    for exercise in load_lesson(lesson).exercises:
        stub = stubs[exercise.symbol].source
        assert "### " not in stub
        assert "raise NotImplementedError" in stub
        theirs, ours = (ast.parse(s).body[0] for s in (stub, inspect.getsource(exercise.references[0])))
        assert isinstance(theirs, ast.FunctionDef | ast.ClassDef)
        assert isinstance(ours, ast.FunctionDef | ast.ClassDef)
        assert ast.get_docstring(theirs) == ast.get_docstring(ours)
        if isinstance(theirs, ast.FunctionDef) and isinstance(ours, ast.FunctionDef):
            assert ast.dump(theirs.args) == ast.dump(ours.args)


# --- what the build puts around a lesson -------------------------------------------------------------------------


@every_lesson
def test_a_line_opens_this_notebook_in_colab_and_its_first_cell_fetches_the_released_commit(lesson: str) -> None:
    title = learners(lesson).cells[0].source
    (target,) = re.findall(r"^In Colab: \[open this lesson\]\((\S+?)\)[.;]", title, re.MULTILINE)
    path = REPOSITORY.address.removeprefix("https://github.com/")
    assert target == in_colab(f"notebooks/{lesson}/{lesson}.ipynb")
    assert (REPOSITORY.root / target.partition(f"/blob/{REPOSITORY.tag}/")[2]) == REPOSITORY.notebook(lesson)
    assert not re.search(r"!\[[^]]*\]\(http", title)  # it needs no picture from elsewhere
    folded = by_grade_id(learners(lesson))["setup"]
    assert (folded.metadata.jupyter.source_hidden, folded.metadata.cellView) == (True, "form")
    setup = folded.source
    assert re.findall(r'"(http\S+?)"', setup) == [f"https://github.com/{path}"]
    assert f'"{REPOSITORY.name}": ""}}, "{REPOSITORY.released}")\n' in setup
    assert setup.count("http") == 1
    assert f'\nimport cellcheck\ncheck = cellcheck.checks("{lesson}", made_for="{REPOSITORY.edition}")\n' in setup
    assert "\nsubmit = cellcheck.submit\n\n" in setup


@every_lesson
def test_a_link_to_a_lesson_works_in_jupyter_and_has_its_twin_for_colab(lesson: str) -> None:
    folder = REPOSITORY.notebook(lesson).parent
    title = learners(lesson).cells[0].source
    for cell in learners(lesson).cells:
        for target in re.findall(r"\]\(([^)\s]+)\)", cell.source) if cell.cell_type == "markdown" else []:
            if target.startswith(("https://", "attachment:", "#")):
                continue
            path = (folder / target).resolve()
            assert path.is_file()
            assert in_colab(path.relative_to(REPOSITORY.root).as_posix()) in title


def in_colab(path: str) -> str:
    owner = REPOSITORY.address.removeprefix("https://github.com/")
    return f"https://colab.research.google.com/github/{owner}/blob/{REPOSITORY.tag}/{path}"


@every_lesson
def test_a_lesson_ends_with_a_place_to_hand_in_that_does_nothing_by_itself(lesson: str) -> None:
    for notebook in (learners(lesson), solution(lesson)):
        words, cell = notebook.cells[-2:]
        assert words.source.startswith("## Hand it in\n")
        assert cell.source == "# submit()"
        assert cell.metadata.tags == [EXPERIMENT]
        assert cell.outputs == []


def test_what_only_the_build_writes_is_renewed_without_running_anything(
    copy: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson = LESSONS[0]
    monkeypatch.setattr(building, "_execute", lambda *_: pytest.fail("executed"))
    project = copy.root / "pyproject.toml"
    released = project.read_text("utf-8").replace('\nversion = "', '\nversion = "9.')
    project.write_text(released.replace(str(copy.released), "0123456789" * 4), "utf-8")
    assert len(building.out_of_step(copy, lesson)) == 2
    building.build(copy, lesson, lambda _: None)
    assert building.out_of_step(copy, lesson) == []
    now = nbformat.read(copy.solution(lesson), as_version=4)
    assert "0123456789" * 4 in by_grade_id(now)["setup"].source
    assert copy.tag in now.cells[0].source
    outputs = [[cell.get("outputs") for cell in notebook.cells] for notebook in (now, solution(lesson))]
    assert outputs[0] == outputs[1]
    changed = copy.text(lesson)
    changed.write_text(changed.read_text("utf-8").replace("# %% setup=true\n", "# %% setup=true\nimport os\n"), "utf-8")
    with pytest.raises(pytest.fail.Exception, match="executed"):
        building.build(copy, lesson, lambda _: None)


def test_other_points_are_another_output(copy: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    lesson = LESSONS[0]
    monkeypatch.setattr(building, "_execute", lambda *_: pytest.fail("executed"))
    committed = copy.solution(lesson)
    notebook = nbformat.read(committed, as_version=4)
    next(
        cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")
    ).metadata.nbgrader.points += 1
    nbformat.write(notebook, committed)
    with pytest.raises(pytest.fail.Exception, match="executed"):
        building.build(copy, lesson, lambda _: None)


def test_a_comment_changes_no_output(copy: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    lesson = LESSONS[0]
    monkeypatch.setattr(building, "_execute", lambda *_: pytest.fail("executed"))
    text = copy.text(lesson)
    text.write_text(text.read_text("utf-8").replace(" = None  # ", " = None  # say, ", 1), "utf-8")
    assert len(building.out_of_step(copy, lesson)) == 2
    building.build(copy, lesson, lambda _: None)
    assert building.out_of_step(copy, lesson) == []
    now = nbformat.read(copy.solution(lesson), as_version=4)
    assert " = None  # say, " in "".join(cell.source for cell in now.cells)
    outputs = [[cell.get("outputs") for cell in notebook.cells] for notebook in (now, solution(lesson))]
    assert outputs[0] == outputs[1]


# --- pictures ---------------------------------------------------------------------------------------------------


@every_lesson
def test_every_picture_is_attached_and_has_words(lesson: str) -> None:
    pictures = 0
    for cell in learners(lesson).cells:
        marks = re.findall(r"!\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)]*)\)", cell.source)
        assert "](picture:" not in cell.source
        pictures += len([target for _, target in marks if target.startswith("attachment:")])
        for words, target in marks:
            if target.startswith("attachment:"):
                png = base64.b64decode(cell.attachments[target.removeprefix("attachment:")]["image/png"])
                assert png.startswith(b"\x89PNG")
                assert len(words) >= 20
                assert words.endswith((".", "?"))
            else:
                assert target.startswith("https://colab.research.google.com/assets/")
            assert words
        assert set(cell.get("attachments", {})) == {t.removeprefix("attachment:") for _, t in marks if "attach" in t}
    assert pictures >= 3


# --- Run All ----------------------------------------------------------------------------------------------------


@every_lesson
def test_run_all_of_the_blank_notebook_stops_at_the_first_check_with_a_sentence(lesson: str, tmp_path: Path) -> None:
    notebook = nbformat.reads(REPOSITORY.notebook(lesson).read_text("utf-8"), as_version=4)
    if lesson != LESSONS[2]:  # experiments may train for a minute, and the solution has been through them
        notebook.cells = [cell for cell in notebook.cells if EXPERIMENT not in cell.metadata.get("tags", ())]
    first = load_lesson(lesson).exercises[0].symbol
    client = NotebookClient(notebook, timeout=600, startup_timeout=300, resources={"metadata": {"path": str(tmp_path)}})
    with pytest.raises(CellExecutionError):
        client.execute()
    stopped = next(cell for cell in notebook.cells if any(o.output_type == "error" for o in cell.get("outputs", [])))
    assert grade_id(stopped) == f"test_{first}"
    card, error = stopped.outputs
    assert "Still blank" in card.data["text/html"]
    assert error.traceback == [error.evalue]
    assert first in error.evalue
    assert "blank" in error.evalue
    assert "\n" not in error.evalue
    assert list(tmp_path.iterdir()) == []
