"""A course of somebody's own: docs/authors.md word for word, and then everything else on the course that it makes."""

import ast
import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cellcheck.authoring import Trial
from cellcheck.building import frame
from cellcheck.errors import GraderError
from cellcheck.repository import Repository
from tests.browser.conftest import free_port, wait_for
from tests.running.test_without_torch import SITECUSTOMIZE
from tests.warm import run

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "authors.md").read_text("utf-8")
BOXES = [box[1:] for box in re.findall(r"^(````?)(\w+)(?: (\S+))?\n(.*?)^\1$", PAGE, re.MULTILINE | re.DOTALL)]
COMMANDS = [line for language, _, text in BOXES if language == "sh" for line in text.splitlines()]
LESSON, LIBRARY, LESSONS = "02_middle_and_spread", "statistics_by_hand", "statistics_by_hand/lessons"
EXERCISE = f"{LESSONS}/lesson_02/median"
ANSWERS = next(text for _, name, text in BOXES if name == f"{LIBRARY}/middle_and_spread.py")
RIGHT = {
    node.name: "\n".join(line for line in str(ast.get_source_segment(ANSWERS, node)).splitlines() if "### " not in line)
    for node in ast.parse(ANSWERS).body
    if isinstance(node, ast.FunctionDef)
}
NOT_SORTED = {"median": "def median(numbers):\n    return numbers[len(numbers) // 2]"}
UPPER = {"median": "def median(numbers):\n    return sorted(numbers)[len(numbers) // 2]"}
# Nothing of the tests' surroundings may help a command to find a course.
COMMIT = "0123456789abcdef0123456789abcdef01234567"
BARE = {"CELLCHECK_LESSONS": None, "PYTHONPATH": None, "OMP_NUM_THREADS": "1", "COLUMNS": "200"}


def filled_in(released: Path, answers: Mapping[str, str]) -> str:
    """A learner's notebook with these answers."""
    notebook = json.loads(released.read_text("utf-8"))
    for cell in notebook["cells"]:
        symbol = cell["metadata"].get("nbgrader", {}).get("grade_id")
        if cell["cell_type"] == "code" and symbol in answers:
            cell["source"] = answers[symbol]
    return json.dumps(notebook)


@dataclass(frozen=True)
class FinishedCourse:
    """The course after the whole page, and what each command said."""

    root: Path
    outputs: Mapping[str, str]

    def released(self, lesson: str = LESSON) -> Path:
        return self.root / "notebooks" / lesson / f"{lesson}.ipynb"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> FinishedCourse:
    """Writes the page's files and runs its commands, in their order."""
    folder = tmp_path_factory.mktemp("afternoon")
    outputs = {}
    for language, name, text in BOXES:
        if name:
            assert (folder / name).parent.is_dir(), f"cellcheck new lesson does not make the folder of {name}"
            (folder / name).write_text(text, "utf-8")
        for command in text.splitlines() if language == "sh" else ():
            words = shlex.split(command)
            if words[0] == "cd":
                folder = folder / words[1]
                continue
            if "downloads" in command and not (folder / "downloads").exists():
                hand_in(folder)
            done = run(words, folder, BARE)
            assert done.code == 0, f"{command}\n{done.output}"
            outputs[command] = done.output
    return FinishedCourse(folder, outputs)


def hand_in(root: Path) -> None:
    """Three learners: one is right, one forgets to sort, one handed the notebook in as it was."""
    (root / "downloads").mkdir()
    for name, answers in {"ada": RIGHT, "bob": RIGHT | NOT_SORTED, "cy": {}}.items():
        text = filled_in(root / "notebooks" / LESSON / f"{LESSON}.ipynb", answers)
        (root / "downloads" / f"{name}.ipynb").write_text(text, "utf-8")


# --- the page ------------------------------------------------------------------------------------------------


def test_the_page_leads_to_a_graded_class(course: FinishedCourse) -> None:
    assert {command.split()[0] for command in COMMANDS} == {"cellcheck", "cd", "python"}
    audit = course.outputs["cellcheck audit 02"]
    assert re.search(r"median +4/4 +4/4 +(\d+)/\1 +0/\d+ +2/2 +(\d+)/\2 ", audit)
    assert re.search(r"spread +3/3 +3/3 +(\d+)/\1 +0/\d+ +2/2 +(\d+)/\2 ", audit)
    assert "2 passed" in course.outputs["python -m pytest"]
    report = " ".join(course.outputs["cellcheck report 02"].split())
    assert "You take the number in the middle of the list as it stands." in report
    with (course.root / "marks.csv").open(encoding="utf-8", newline="") as file:
        marks = {row["student"]: float(row["mark"]) for row in csv.DictReader(file)}
    assert marks == {"ada": 5.0, "bob": 2.0, "cy": 0.0}
    assert (course.root / "feedback" / "ada" / LESSON / f"{LESSON}.html").is_file()


def test_building_and_auditing_need_no_torch(course: FinishedCourse, tmp_path: Path) -> None:
    """The page's commands run where PyTorch is imported already; here it can't be found."""
    (tmp_path / "sitecustomize.py").write_text(SITECUSTOMIZE, "utf-8")
    env = {name: value for name, value in os.environ.items() if name not in BARE}
    env |= {name: value for name, value in BARE.items() if value} | {"PYTHONPATH": str(tmp_path)}
    for command in ("cellcheck build 02", "cellcheck audit 02", "cellcheck audit 02 --show median"):
        done = subprocess.run(
            [sys.executable, "-m", *shlex.split(command)], cwd=course.root, env=env, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        assert "audit 02" not in command or done.stdout == course.outputs.get(command, done.stdout)


def test_the_last_box_is_a_probe() -> None:
    (text,) = [text for language, name, text in BOXES if language == "python" and not name]
    names: dict[str, Any] = {"Trial": Trial, "cases": lambda generator: [], "ASPECTS": ()}
    exec(compile(text, "Counter.py", "exec"), names)

    class Counter:
        def __init__(self, start: int) -> None:
            self.value = start

        def advance(self) -> None:
            self.value += 1

    assert names["TRIAL"].probe(Counter, {"start": 3, "steps": 2}) == {"output": 5}


def test_an_exercise_is_short() -> None:
    lines = {name: len(text.splitlines()) for _, name, text in BOXES}
    assert lines[f"{EXERCISE}.py"] <= 50
    assert lines[f"{EXERCISE}.md"] <= 50


def test_the_pages_commands_exist() -> None:
    import typer.main

    from cellcheck import cli

    commands = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]
    for command in re.findall(r"`cellcheck (?:--lessons FOLDER )?(\w+)", PAGE):
        assert command in commands, command


# --- the rest of the engine, on this course --------------------------------------------------------------------


def test_submit_progress_and_the_card_inside_the_folder(course: FinishedCourse) -> None:
    """A learner in a folder of the course: `check`, `submit()`, `cellcheck progress`; nothing is installed."""
    home = course.root / "work" / LESSON
    home.mkdir(parents=True)
    notebook = home / f"{LESSON}.ipynb"
    notebook.write_text(filled_in(course.released(), RIGHT), "utf-8")
    code = (
        "import cellcheck\n"
        f"check = cellcheck.checks('{LESSON}')\n"
        f"{UPPER['median']}\n"
        "print(check(median).verdict.diagnosis)\n"
        f"import {LIBRARY}.middle_and_spread as library\n"
        "print(check(library.spread).verdict.message)\n"
        f"print(cellcheck.submit(path='{LESSON}.ipynb'))\n"
    )
    done = run(["python", "-c", code], home, BARE)
    assert done.code == 0, done.output
    assert "upper_of_the_two" in done.output
    assert "This is the course's own spread." in done.output
    assert f"Ready to hand in: {LESSON}.submission.zip." in done.output
    (course.root / "uploads").mkdir()
    shutil.move(home / f"{LESSON}.submission.zip", course.root / "uploads" / "eve.zip")
    done = run(["cellcheck", "collect", "uploads/eve.zip", "--into", "handed_in"], course.root, BARE)
    assert (done.code, "1 collected" in done.output) == (0, True), done.output
    done = run(["cellcheck", "progress", "work"], course.root, BARE)
    assert done.code == 0, done.output
    assert re.search(rf"{LESSON} +0/2 ", done.output)
    assert re.search(r"01_first_steps +0/1 ", done.output)


def test_named_from_somewhere_else(course: FinishedCourse, tmp_path: Path) -> None:
    """`cellcheck --lessons FOLDER`, from a folder that knows nothing of the course."""
    notebook = tmp_path / "ada.ipynb"
    notebook.write_text(filled_in(course.released(), RIGHT | UPPER), "utf-8")
    named = ["cellcheck", "--lessons", str(course.root / LESSONS)]
    done = run([*named, "build", "--check"], tmp_path, BARE)
    assert (done.code, done.output.strip()) == (0, f"01_first_steps: in step\n{LESSON}: in step"), done.output
    done = run([*named, "grade", str(notebook), "--json", "marks.json", "--seed", "3"], tmp_path, BARE)
    assert done.code == 0, done.output
    (result,) = json.loads((tmp_path / "marks.json").read_text())["results"]
    assert result["lesson"] == LESSON
    (one, other) = result["exercises"]
    assert (one["diagnosis"], one["score"] < 3.0, other["score"]) == ("upper_of_the_two", True, 2.0)
    (course.root / LESSONS / "lesson_01" / "demo.py").write_text(
        "from cellcheck.demo.learners import Learner\n"
        'LEARNERS = (Learner("ada", "01_first_steps"), Learner("bela", "01_first_steps", begins=0))\n',
        "utf-8",
    )
    done = run([*named, "demo", "--folder", str(tmp_path / "demo")], tmp_path, BARE)
    assert done.code == 0, done.output
    assert (tmp_path / "demo" / "course" / "feedback" / "bela" / "01_first_steps").is_dir()


@pytest.fixture(scope="module")
def installed(course: FinishedCourse, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of packages into which pip put the course, beside nothing else."""
    prefix, source = (tmp_path_factory.mktemp(name) for name in ("prefix", "source"))
    shutil.copytree(course.root, source, dirs_exist_ok=True, ignore=shutil.ignore_patterns("work", "gradebook.db"))
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*pip, "--disable-pip-version-check", "--prefix", prefix, source], check=True)
    (packages,) = prefix.glob("lib/python*/site-packages")
    return packages


def test_installed_beside_another_course(installed: Path, course: FinishedCourse, tmp_path: Path) -> None:
    """Found by its entry point, with its notebooks, from a folder that knows nothing of it."""
    notebook = tmp_path / f"{LESSON}.ipynb"
    notebook.write_text(filled_in(course.released(), RIGHT | NOT_SORTED), "utf-8")
    env = BARE | {"PYTHONPATH": str(installed)}
    done = run(["cellcheck", "grade", str(notebook), "--json", "marks.json"], tmp_path, env)
    assert done.code == 0, done.output
    (result,) = json.loads((tmp_path / "marks.json").read_text())["results"]
    assert [e["diagnosis"] for e in result["exercises"]] == ["not_sorted", None]
    done = run(["cellcheck", "progress", "."], tmp_path, env)
    assert LESSON in done.output
    assert "01_pytorch_basics" in done.output  # the course that the grader comes with is installed too
    code = f"from cellcheck.syllabus import find_lesson\nfor name in ({LESSON!r}, '02'):\n    print(find_lesson(name))"
    done = run(["python", "-c", code], tmp_path, env)
    assert done.code != 0
    assert f"'{installed / LESSONS}'" in done.output
    assert "both have a lesson '02': give the lesson's whole name." in done.output
    done = run(["cellcheck", "report", "07_nonsense"], tmp_path, env)
    assert (done.code, LESSON in done.output) == (2, True)


def test_a_notebook_fetches_the_course_that_is_missing(installed: Path, course: FinishedCourse, tmp_path: Path) -> None:
    """The set-up cell where the grader and another course are there already."""
    root = tmp_path / "copy"
    shutil.copytree(course.root, root, ignore=shutil.ignore_patterns("work", "gradebook.db", "submitted"))
    project = (root / "pyproject.toml").read_text("utf-8")
    (root / "pyproject.toml").write_text(
        project.replace("# [", "[").replace("# Rep", "Rep").replace("# rel", "rel").replace("0" * 40, COMMIT)
    )
    repository = Repository(root / LESSONS)
    cell = frame.setup(repository, LESSON, f"from {LIBRARY}.middle_and_spread import median")
    assert frame.badge(repository, LESSON, "").endswith(f"/blob/v0.1.0/notebooks/{LESSON}/{LESSON}.ipynb).")
    code = (
        "import importlib.metadata as metadata, os, subprocess, sys\n"
        "os.environ['COLAB_RELEASE_TAG'] = 'release-colab'\n"
        "class Fetched:\n"
        "    version = '0.1.0'\n"
        f'    def read_text(self, name): return \'{{"vcs_info": {{"commit_id": "{COMMIT}"}}}}\'\n'
        "def distribution(name):\n"
        f"    if {str(installed)!r} in sys.path: return Fetched()\n"
        "    raise metadata.PackageNotFoundError(name)\n"
        "metadata.distribution = distribution\n"
        "def run(command, **_):\n"
        f"    print(command[1:])\n    sys.path.insert(0, {str(installed)!r})\n"
        "    return subprocess.CompletedProcess(command, 0, '', '')\n"
        f"subprocess.run = run\n{cell}\nprint(check, median([7, 1, 3]))\n"
    )
    done = run(["python", "-c", code], tmp_path, BARE)
    assert done.code == 0, done.output
    address = f"git+https://github.com/YOUR-NAME/statistics-by-hand@{COMMIT}"
    assert done.output.splitlines() == [
        str(["-m", "pip", "install", "-qq", address]),
        f"check(symbol), for lesson {LESSON} 3",
    ]
    for elsewhere in (None, "https://gitlab.com/a/b"):
        text = f'{project}\n[tool.cellcheck]\nreleased = "{COMMIT}"\n'
        text += f'[project.urls]\nRepository = "{elsewhere}"\n' if elsewhere else ""
        (root / "pyproject.toml").write_text(text, "utf-8")
        assert frame.badge(repository, LESSON, "") == ""
        assert (f'get_ready("{elsewhere}"' in frame.setup(repository, LESSON, "")) == (elsewhere is not None)
    (root / "pyproject.toml").write_text(text.replace(COMMIT, "v0.1.0"), "utf-8")
    with pytest.raises(GraderError, match=r"released .* is 'v0\.1\.0', which may come to mean something else"):
        frame.badge(repository, LESSON, frame.setup(repository, LESSON, ""))
    (root / "pyproject.toml").unlink()
    assert frame.setup(repository, LESSON, "import random").startswith(
        "# Set-up: run this cell first.\nimport cellcheck\n"
    )


def test_the_start_page_shows_it(installed: Path, tmp_path: Path) -> None:
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    options = ["--ServerApp.jpserver_extensions=cellcheck.lab=True", "--IdentityProvider.token=", "--allow-root"]
    command = [
        sys.executable,
        "-m",
        "jupyter",
        "server",
        "--no-browser",
        f"--port={address.rpartition(':')[2]}",
        *options,
    ]
    env = os.environ | {"PYTHONPATH": str(installed), "JUPYTER_CONFIG_DIR": str(tmp_path / "config")}
    log = tmp_path / "log"
    with (
        log.open("w") as output,
        subprocess.Popen(command, cwd=tmp_path, env=env, stdout=output, stderr=output) as server,
    ):
        try:
            wait_for(server, address, log)
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            page = opener.open(f"{address}/course", timeout=300).read().decode()
        finally:
            server.terminate()
    assert "Statistics by hand" in page
    assert "Middle and spread" in page
    assert "find the middle of some numbers, and say why it is not the mean" in page
