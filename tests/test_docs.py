"""The instructors' pages: every command in their boxes is run, in order, in a small class; every other one exists."""

import csv
import json
import re
import shlex
import shutil
import subprocess
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer.main
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.demo.learners import Learner
from cellcheck.repository import Repository
from cellcheck.syllabus import load_lesson
from tests.assignments import sources
from tests.warm import PATH, run

ROOT = Repository.find(Path(__file__).parent).root
DOCS = ROOT / "docs"
PAGES = ("instructors", "moodle", "canvas", "gradescope", "jupyterhub", "colab", "forge", "late", "teaching", "privacy")
PAGES += ("assistants",)
TEXTS = {page: (DOCS / f"{page}.md").read_text("utf-8") for page in PAGES}
BOXES = {
    page: re.findall(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    for page, text in TEXTS.items()
}
SCRIPTS = {"--card", "--without-answers"}
"""Options of the forge's script and of the installer, which are no commands."""
FILES = {name: text for boxes in BOXES.values() for _, name, text in boxes if name}
LESSON = "01_pytorch_basics"
METADATA = """\
submission_1:
  :submitters:
  - :name: Ada Lovelace
    :sid: ada
    :email: ada@example.org
  :created_at: 2026-03-02 10:11:12 +01:00
"""


def commands(page: str) -> list[str]:
    """Those in a page's boxes."""
    return [line for language, _, text in BOXES[page] if language == "sh" for line in text.splitlines()]


@dataclass(frozen=True)
class FollowedPage:
    """The class after all commands, and what each of them said."""

    course: Path
    outputs: dict[str, str]


def notebook(name: str, begins: int) -> bytes:
    released = (ROOT / "notebooks" / LESSON / f"{LESSON}.ipynb").read_text("utf-8")
    return Learner(name, LESSON, begins=begins).hand_in(released).encode()


def class_of_its_own(root: Path) -> tuple[Path, dict[str, str]]:
    """A copy of the repository's course, learners on every platform, one on a JupyterHub; and its environment."""
    course, exchange, config, home = (root / name for name in ("course", "exchange", "config", "home"))
    for folder in (course / "downloads", exchange, config, home / LESSON, course / "chosen" / "Ada Lovelace"):
        folder.mkdir(parents=True)
    exchange.chmod(0o777)
    for name in ("transformer_course", "solutions", "notebooks", "data"):
        shutil.copytree(ROOT / name, course / name)
    for name in ("nbgrader_config.py", "pyproject.toml"):
        shutil.copy(ROOT / name, course)
    (course / "students.csv").write_text(FILES["students.csv"], "utf-8")
    hub = FILES["nbgrader_config.py"]
    assert "/srv/nbgrader/exchange" in hub
    (config / "nbgrader_config.py").write_text(hub.replace("/srv/nbgrader/exchange", str(exchange)), "utf-8")
    downloads = course / "downloads"
    (downloads / "ada.ipynb").write_bytes(notebook("ada", 2))
    (course / "chosen" / "Ada Lovelace" / "x.ipynb").write_bytes(notebook("ada", 2))
    entries: dict[str, dict[str, str | bytes]] = {
        "moodle": {"Ada Lovelace_7_assignsubmission_file_/x.ipynb": notebook("ada", 2)},
        "late": {"Cy Brown_9_assignsubmission_file_/x.ipynb": notebook("cy", 1)},
        "canvas": {"lovelaceada_41_9001_x.ipynb": notebook("ada", 2)},
        "gradescope": {
            "export/submission_metadata.yml": METADATA,
            "export/submission_1/x.ipynb": notebook("ada", 2),
        },
        "intro": {"Ada Lovelace_7_assignsubmission_file_/my work.ipynb": an_own_assignment(course)},
    }
    for download, files in entries.items():
        with zipfile.ZipFile(downloads / f"{download}.zip", "w") as archive:
            for name, data in files.items():
                archive.writestr(name, data)
    return course, {
        **PATH,
        "PYTHONPATH": str(ROOT),
        "JUPYTER_CONFIG_DIR": str(config),
        "JUPYTER_DATA_DIR": str(root / "data"),
        "OMP_NUM_THREADS": "1",
        "USER": "bob",
        "LOGNAME": "bob",
    }


def an_own_assignment(course: Path) -> bytes:
    """Puts one into the course; what a learner hands in of it."""
    sources.add(course, "intro", {"variables": sources.VARIABLES}, source="solutions")
    return sources.work(sources.VARIABLES, {"honour": "honest = True", "why": "Because."})


def all_of(page: str, root: Path, before: Sequence[str] = ()) -> FollowedPage:
    """The class after all commands of a page, and what each of them said."""
    course, env = class_of_its_own(root)
    home = root / "home"
    outputs = {}
    for command in [*before, *commands(page)]:
        if command == f"nbgrader collect {LESSON}":  # a learner of the hub, just before
            (home / LESSON / f"{LESSON}.ipynb").write_bytes(notebook("bob", 1))
            submit = f"import cellcheck; print(cellcheck.submit(path='{LESSON}/{LESSON}.ipynb'))"
            outputs["submit"] = forked(["python", "-c", submit], home, env)
        program, *arguments = shlex.split(command)
        # A build executes a solution, and finds the copy of the course as it would from a shell.
        here = program == "cellcheck" and arguments[0] != "build"
        outputs[command] = by_grader(arguments, course, env) if here else forked([program, *arguments], course, env)
    return FollowedPage(course, outputs)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> FollowedPage:
    """The first page."""
    return all_of("instructors", tmp_path_factory.mktemp("docs"))


GRADED = ("cellcheck collect downloads/moodle.zip --roster students.csv", f"cellcheck autograde {LESSON} --seed 7")
# What must have happened before a page's first command, and what its commands must have left.
OTHERS = {
    "moodle": ((), "marks.csv"),
    "canvas": ((), "canvas.csv"),
    "gradescope": ((), f"{LESSON}.autograder.zip"),
    "jupyterhub": ((), "gradebook.db"),
    "late": (GRADED, f"feedback/ada/{LESSON}/{LESSON}.html"),
    "teaching": (GRADED, "class.html"),
    "privacy": (GRADED, "gradebook.db"),
}


@pytest.mark.parametrize("page", OTHERS)
def test_every_command_of_the_other_pages_runs(page: str, tmp_path: Path) -> None:
    before, left = OTHERS[page]
    done = all_of(page, tmp_path, before)
    assert set(commands(page)) <= done.outputs.keys()
    assert (done.course / left).is_file()
    ignored = subprocess.run(["git", "check-ignore", "--no-index", left], cwd=ROOT, capture_output=True, check=False)
    assert ignored.returncode == 0, f"{left} is not ignored by git"


def test_no_page_is_forgotten() -> None:
    assert {page for page in PAGES if commands(page)} == {"instructors", *OTHERS}
    others = {"api", "assignments", "audit", "authors", "grading", "install", "large_class", "learners", "limits"}
    others |= {"repository", "serving", "site", "speed", "tutors", "wild"}
    assert {path.stem for path in DOCS.glob("*.md")} == {*PAGES, *others}


def test_git_ignores_what_the_pages_have_instructors_write() -> None:
    told = " ".join(command for page in PAGES for command in commands(page))
    files = {*re.findall(r"--(?:out|html|json) (\S+)", told), *re.findall(r"[\w/.]+\.(?:zip|csv)\b", told)}
    assert {"class.html", "alike.html", "feedback.zip", "students.csv"} <= files
    for file in (*sorted(files), f"{LESSON}.feedback.zip", "worksheet.csv"):
        done = subprocess.run(["git", "check-ignore", "--no-index", file], cwd=ROOT, capture_output=True, check=False)
        assert done.returncode == 0, f"{file} is not ignored by git"


def by_grader(arguments: list[str], course: Path, env: dict[str, str]) -> str:
    """The command line in this process, which has imported all that it needs: `test_cli.py` has it in its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(course)
        # This process has the repository\'s own lessons already; those of the course are a copy of them.
        for name, value in {**env, "CELLCHECK_LESSONS": str(ROOT / "transformer_course" / "lessons")}.items():
            patch.setenv(name, value)
        done = CliRunner().invoke(cli.app, arguments)
    assert done.exit_code == 0, f"{shlex.join(arguments)}\n{done.output}"
    return done.output


def forked(command: list[str], folder: Path, env: dict[str, str]) -> str:
    done = run(command, folder, env)
    assert done.code == 0, f"{shlex.join(command)}\n{done.output}"
    return done.output


def test_every_command_runs(ran: FollowedPage) -> None:
    assert set(commands("instructors")) <= set(ran.outputs)
    assert {command.split()[0] for page in PAGES for command in commands(page)} == {"cellcheck", "nbgrader"}
    assert "1 collected" in ran.outputs["cellcheck collect downloads/moodle.zip --roster students.csv"]
    assert "1 collected" in ran.outputs["cellcheck collect downloads/late.zip --roster students.csv"]
    assert "hidden cases drawn from seed 7" in ran.outputs[f"cellcheck autograde {LESSON} --seed 7"]
    assert re.search(r"^ada +0\.25 / 8 ", ran.outputs["cellcheck autograde intro"], re.MULTILINE)
    assert "test_honour" in ran.outputs["cellcheck report intro"]


def test_the_class_is_graded(ran: FollowedPage) -> None:
    points = [exercise.points for exercise in load_lesson(LESSON).exercises]
    with (ran.course / "marks.csv").open(encoding="utf-8", newline="") as file:
        marks = {row["ID number"]: row["Grade"] for row in csv.DictReader(file)}
    assert marks == {"ada": f"{sum(points[:2]):g}", "bob": "", "cy": ""}  # they came later
    header, _, *rows = csv.reader((ran.course / "canvas.csv").read_text("utf-8").splitlines())
    assert header[-1] == "Lesson 1 (12345)"
    assert [row[0] for row in rows] == ["Brown, Bob", "Brown, Cy", "Lovelace, Ada"]
    assert json.loads((ran.course / "results.json").read_text())["results"][0]["score"] == sum(points[:2])
    with (ran.course / "intro.csv").open(encoding="utf-8", newline="") as file:
        marks = {row["ID number"]: row["Grade"] for row in csv.DictReader(file)}
    assert {name: mark for name, mark in marks.items() if mark} == {"ada": "0.25"}
    assert {"bob", "cy"} < marks.keys()
    for learner in ("ada", "cy"):
        assert (ran.course / "feedback" / learner / LESSON / f"{LESSON}.html").is_file()
    folders = sorted(path.name for path in (ran.course / "submitted").iterdir() if not path.name.startswith("."))
    assert folders == ["ada", "cy"]


def test_the_other_commands_exist() -> None:
    """What stands within a sentence: commands and options are those of the programs, targets those of the Makefile."""
    words = re.findall(r"`((?:cellcheck|make|nbgrader) [^`]+|--[a-z-]+)`", " ".join(TEXTS.values()))
    commands = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]
    options = {name for command in commands.values() for p in command.params for name in (*p.opts, *p.secondary_opts)}
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert words
    for text in words:
        program, *rest = text.split()
        if program == "make":
            assert rest[0] in targets, text
        elif program == "cellcheck":
            assert rest[0] in commands, text
        if program != "nbgrader":
            assert set(re.findall(r"--[a-z-]+", text)) <= options | SCRIPTS, text


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!picture:)([^)#\s]+)", page.read_text("utf-8")):
        assert target.startswith("https://") or (page.parent / target).exists(), target
