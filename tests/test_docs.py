"""The instructors' page: every command in its boxes is run, in order, in a small class; every other one exists."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import shutil
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

from grader import cli
from grader.demo.learners import Learner
from grader.repository import Repository
from grader.syllabus import load_lesson
from tests.assignments import sources
from tests.warm import run

ROOT = Repository.find(Path(__file__).parent).root
PAGE = (ROOT / "docs" / "instructors.md").read_text("utf-8")
BOXES = re.findall(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = [line for language, _, text in BOXES if language == "sh" for line in text.splitlines()]
FILES = {name: text for _, name, text in BOXES if name}
LESSON = "01_pytorch_basics"


@dataclass(frozen=True)
class Ran:
    """The class after all commands, and what each of them said."""

    course: Path
    said: dict[str, str]


def notebook(name: str, begins: int) -> bytes:
    released = (ROOT / "notebooks" / LESSON / f"{LESSON}.ipynb").read_text("utf-8")
    return Learner(name, LESSON, begins=begins).hand_in(released).encode()


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """A copy of the repository's course, three learners on Moodle, one on a JupyterHub; then all commands."""
    root = tmp_path_factory.mktemp("docs")
    course, exchange, config, home = (root / name for name in ("course", "exchange", "config", "home"))
    for folder in (course / "downloads", exchange, config, home / LESSON):
        folder.mkdir(parents=True)
    exchange.chmod(0o777)
    for name in ("lessons", "solutions", "notebooks", "data"):
        shutil.copytree(ROOT / name, course / name)
    for name in ("nbgrader_config.py", "pyproject.toml"):
        shutil.copy(ROOT / name, course)
    (course / "students.csv").write_text(FILES["students.csv"], "utf-8")
    hub = FILES["nbgrader_config.py"]
    assert "/srv/nbgrader/exchange" in hub
    (config / "nbgrader_config.py").write_text(hub.replace("/srv/nbgrader/exchange", str(exchange)), "utf-8")
    downloads = course / "downloads"
    (downloads / "ada.ipynb").write_bytes(notebook("ada", 2))
    for download, name, number, begins in (("moodle", "Ada Lovelace", 7, 2), ("late", "Cy Brown", 9, 1)):
        with zipfile.ZipFile(downloads / f"{download}.zip", "w") as archive:
            archive.writestr(f"{name}_{number}_assignsubmission_file_/x.ipynb", notebook(name, begins))
    # an assignment of one's own
    sources.add(course, "intro", {"variables": sources.VARIABLES}, source="solutions")
    with zipfile.ZipFile(downloads / "intro.zip", "w") as archive:
        theirs = sources.work(sources.VARIABLES, {"honour": "honest = True", "why": "Because."})
        archive.writestr("Ada Lovelace_7_assignsubmission_file_/my work.ipynb", theirs)
    env = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "PYTHONPATH": str(ROOT),
        "JUPYTER_CONFIG_DIR": str(config),
        "JUPYTER_DATA_DIR": str(root / "data"),
        "OMP_NUM_THREADS": "1",
        "USER": "bob",
        "LOGNAME": "bob",
    }
    said = {}
    for command in COMMANDS:
        if command == f"nbgrader collect {LESSON}":  # a learner of the hub, just before
            (home / LESSON / f"{LESSON}.ipynb").write_bytes(notebook("bob", 1))
            submit = f"import grader; print(grader.submit(path='{LESSON}/{LESSON}.ipynb'))"
            said["submit"] = forked(["python", "-c", submit], home, env)
        program, *arguments = shlex.split(command)
        # A build executes a solution, and finds the copy of the course as it would from a shell.
        here = program == "grader" and arguments[0] != "build"
        said[command] = by_grader(arguments, course, env) if here else forked([program, *arguments], course, env)
    return Ran(course, said)


def by_grader(arguments: list[str], course: Path, env: dict[str, str]) -> str:
    """The command line in this process, which has imported all that it needs: `test_cli.py` has it in its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(course)
        # This process has the repository\'s own lessons already; those of the course are a copy of them.
        for name, value in {**env, "GRADER_LESSONS": str(ROOT / "lessons")}.items():
            patch.setenv(name, value)
        done = CliRunner().invoke(cli.app, arguments)
    assert done.exit_code == 0, f"{shlex.join(arguments)}\n{done.output}"
    return done.output


def forked(command: list[str], folder: Path, env: dict[str, str]) -> str:
    done = run(command, folder, env)
    assert done.code == 0, f"{shlex.join(command)}\n{done.said}"
    return done.said


def test_every_command_runs(ran: Ran) -> None:
    assert set(COMMANDS) <= set(ran.said)
    assert {command.split()[0] for command in COMMANDS} == {"grader", "nbgrader"}
    assert "1 collected" in ran.said["grader collect downloads/moodle.zip --roster students.csv"]
    assert "1 collected" in ran.said["grader collect downloads/late.zip --roster students.csv"]
    assert "hidden cases drawn from seed 7" in ran.said[f"grader autograde {LESSON} --seed 7"]
    assert re.search(r"^ada +0\.25 / 8 ", ran.said["grader autograde intro"], re.MULTILINE)
    assert "test_honour" in ran.said["grader report intro"]
    assert ran.said["submit"].startswith(f"Submitted {LESSON} to your class")


def test_the_class_is_graded(ran: Ran) -> None:
    points = [exercise.points for exercise in load_lesson(LESSON).exercises]
    with (ran.course / "marks.csv").open(encoding="utf-8", newline="") as file:
        marks = {row["ID number"]: row[LESSON] for row in csv.DictReader(file)}
    assert marks == {"ada": f"{sum(points[:2]):g}", "bob": "", "cy": ""}  # they came later
    header, _, *rows = csv.reader((ran.course / "canvas.csv").read_text("utf-8").splitlines())
    assert header[-1] == "Lesson 1 (12345)"
    assert [row[0] for row in rows] == ["Brown, Bob", "Brown, Cy", "Lovelace, Ada"]
    assert json.loads((ran.course / "results.json").read_text())["results"][0]["score"] == sum(points[:2])
    with (ran.course / "intro.csv").open(encoding="utf-8", newline="") as file:
        marks = {row["ID number"]: row["intro"] for row in csv.DictReader(file)}
    # By now the gradebook also knows the learner who came over the exchange.
    assert {name: mark for name, mark in marks.items() if mark} == {"ada": "0.25"}
    assert {"bob", "cy"} < marks.keys()
    for learner in ("ada", "cy"):
        assert (ran.course / "feedback" / learner / LESSON / f"{LESSON}.html").is_file()
    folders = sorted(path.name for path in (ran.course / "submitted").iterdir() if not path.name.startswith("."))
    assert {"ada", "cy"} < set(folders)
    assert len(folders) == 3


def test_the_other_commands_exist() -> None:
    """What stands within a sentence: commands and options are those of the programs, targets those of the Makefile."""
    words = re.findall(r"`((?:grader|make|nbgrader) [^`]+|--[a-z-]+)`", PAGE)
    commands = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]
    options = {name for command in commands.values() for p in command.params for name in (*p.opts, *p.secondary_opts)}
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert words
    for text in words:
        program, *rest = text.split()
        if program == "make":
            assert rest[0] in targets, text
        elif program == "grader":
            assert rest[0] in commands, text
        assert set(re.findall(r"--[a-z-]+", text)) <= options, text


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert target.startswith("https://") or (ROOT / "docs" / target).exists(), target
