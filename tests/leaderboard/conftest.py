"""A course with a contest in it, made of files, as the command line finds one."""

import shutil
from pathlib import Path

import pytest

from tests.leaderboard.small import LESSON

ROOT = Path(__file__).parents[2]
PACKAGE = "lessons_with_a_contest"


@pytest.fixture(scope="session")
def lessons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of lessons: the first has a contest, the second has none."""
    folder = tmp_path_factory.mktemp("contests") / PACKAGE
    for number, name in (("01", LESSON), ("02", "02_another")):
        place = folder / f"lesson_{number}"
        place.mkdir(parents=True)
        (place / "__init__.py").write_text("")
        (place / f"{name}.py").write_text("# %% [markdown]\n# # A lesson\n")
    (folder / "__init__.py").write_text("")
    (folder / "lesson_01" / "contest.py").write_text("from tests.leaderboard.small import CONTEST as CONTEST\n")
    return folder


@pytest.fixture
def klass(tmp_path: Path, lessons: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An nbgrader course's folder, which is the working folder; nothing was handed in yet."""
    folder = tmp_path / "class"
    folder.mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", folder)
    monkeypatch.setenv("CELLCHECK_LESSONS", str(lessons))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(folder)
    return folder
