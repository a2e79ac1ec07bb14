"""The two wheels: what is in them, and what a learner and an instructor need. `with_wheels.py` runs more of it."""

import json
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest

from cellcheck.gradebook.course import Course
from cellcheck.repository import Repository
from cellcheck.starting.new import TEMPLATES
from cellcheck.syllabus import find_lesson
from tests.colab.simulated import machine

REPOSITORY = Repository.find()
ROOT = REPOSITORY.root
LESSON = REPOSITORY.names()[0]


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The engine's wheel, and the course's."""
    folder = tmp_path_factory.mktemp("wheels")
    for project in (ROOT / "grader", ROOT):
        command = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(folder), str(project)]
        subprocess.run(command, check=True, capture_output=True)
    return sorted(folder.glob("*.whl"))


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as content:
        return set(content.namelist())


def test_the_index_would_take_them(wheels: list[Path]) -> None:
    for check in (["twine", "check", "--strict"], ["check_wheel_contents"]):
        done = subprocess.run(
            [sys.executable, "-m", *check, *map(str, wheels)], cwd=ROOT, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout


def test_each_brings_one_package(wheels: list[Path]) -> None:
    tops = [{name.split("/")[0] for name in names(wheel)} for wheel in wheels]
    packages = [{top for top in top_names if not top.endswith((".dist-info", ".data"))} for top_names in tops]
    assert packages == [{"cellcheck"}, {"transformer_course"}]


def test_the_engine_brings_its_templates(wheels: list[Path]) -> None:
    """All of them, and `.gitignore` too, which a plain pattern passes over."""
    templates = {path.relative_to(ROOT / "grader").as_posix() for path in TEMPLATES.rglob("*") if path.is_file()}
    assert len(templates) > 10
    assert templates <= names(wheels[0])


def test_the_course_brings_its_data_its_notebooks_and_what_knows_the_answers(wheels: list[Path]) -> None:
    package = ROOT / "transformer_course"
    wanted = {f"transformer_course/{path.relative_to(ROOT)}" for path in (ROOT / "data").rglob("*") if path.is_file()}
    wanted |= {f"transformer_course/notebooks/{name}/{name}.ipynb" for name in REPOSITORY.names()}
    wanted |= {
        path.relative_to(ROOT).as_posix() for path in package.rglob("*") if path.suffix in (".py", ".md", ".csv")
    }
    assert wanted <= names(wheels[1])


def test_a_class_needs_no_source_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed course has none: one is made of the learners' notebook, and nbgrader makes that of it again."""
    syllabus, _ = find_lesson(LESSON)
    there = replace(syllabus, distribution="transformers-cell-by-cell")
    monkeypatch.setattr("cellcheck.gradebook.course.find_lesson", lambda name: (there, name))
    (tmp_path / "nbgrader_config.py").write_text('c = get_config()\nc.CourseDirectory.course_id = "a-class"\n', "utf-8")
    Course.open(tmp_path).ensure_assignment(LESSON)
    release = tmp_path / "release" / LESSON / f"{LESSON}.ipynb"
    assert json.loads(release.read_text("utf-8")) == json.loads(syllabus.notebook(LESSON).read_text("utf-8"))


LEARNER = """
import importlib.util, cellcheck
from cellcheck.learning.offers import offers
from transformer_course.data import moby_dick
check = cellcheck.checks({lesson!r}, made_for={edition!r})
import torch
from transformer_course.mlp import mlp_predict
def mse_loss(params, batch):
    x, y = batch
    return ((mlp_predict(params, x) - y) ** 2).sum()
print(check.verdict("mse_loss", mse_loss).message)
print(len(offers()), len(moby_dick()) > 1000)
print([name for name in ("course", "lessons", "grader") if importlib.util.find_spec(name)])
"""


def test_a_learner_needs_nothing_else(wheels: list[Path], tmp_path: Path) -> None:
    """With what Colab ships, and away from the repository."""
    there = machine(tmp_path, {})
    pip = [str(there.python), "-m", "pip", "install", "--quiet", "--no-deps", *map(str, wheels)]
    subprocess.run(pip, env=there.env, cwd=there.home, check=True)
    command = [str(there.python), "-c", LEARNER.format(lesson=LESSON, edition=REPOSITORY.edition)]
    done = subprocess.run(command, env=there.env, cwd=there.home, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    message, counts, importable = done.stdout.splitlines()
    assert "Which division turns a sum into a mean?" in message
    assert (counts, importable) == (f"{len(REPOSITORY.names())} True", "[]")
    done = subprocess.run(
        [str(there.python.parent / "cellcheck"), "doctor"], env=there.env, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert 'which is not installed: pip install "cellcheck[nbgrader]"' in done.stderr
