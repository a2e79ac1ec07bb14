"""`submit()` in an nbgrader course."""

from pathlib import Path

import pytest

import cellcheck
from tests.submitting.small_notebooks import LESSON, exchange, notebook

COURSE = "a-course"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A learner's folder of a course whose exchange has released the lesson."""
    _, settings = exchange(tmp_path, LESSON, notebook())
    home = tmp_path / "home"
    (home / LESSON).mkdir(parents=True)
    (home / LESSON / f"{LESSON}.ipynb").write_bytes(notebook("x = 1"))
    (home / "nbgrader_config.py").write_text(settings)
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    return home


def inbound(home: Path) -> list[Path]:
    return sorted((home.parent / "exchange" / COURSE / "inbound").iterdir())


def test_it_submits_once_for_each_state(home: Path) -> None:
    path = home / LESSON / f"{LESSON}.ipynb"
    receipt = cellcheck.submit(path=path)
    assert receipt.path is None
    assert repr(receipt).startswith(f"Submitted {LESSON} to your class at ")
    (sent,) = inbound(home)
    assert f"+{LESSON}+" in sent.name
    assert (sent / path.name).read_bytes() == path.read_bytes()
    assert list(path.parent.iterdir()) == [path]
    assert "You submitted this very notebook at " in repr(cellcheck.submit(path=path))
    assert inbound(home) == [sent]
    path.write_bytes(notebook("x = 2"))
    assert repr(cellcheck.submit(path=path)).startswith("Submitted")
    assert len(inbound(home)) == 2


def test_the_hubs_own_settings_will_do(home: Path) -> None:
    """A JupyterHub keeps them in Jupyter's folder, and learners have none."""
    (home.parent / "config").mkdir()
    (home / "nbgrader_config.py").rename(home.parent / "config" / "nbgrader_config.py")
    assert repr(cellcheck.submit(path=home / LESSON / f"{LESSON}.ipynb")).startswith("Submitted")
    assert len(inbound(home)) == 1


def test_what_the_exchange_refuses_becomes_a_file(home: Path) -> None:
    (home / "elsewhere").mkdir()
    path = home / "elsewhere" / "a.ipynb"
    path.write_bytes(notebook())
    receipt = cellcheck.submit(path=path)
    assert repr(receipt).startswith(
        f"The exchange did not take it: it wants the notebook in a folder called {LESSON}, "
        "and this one is in elsewhere. Here is a file to hand in instead."
    )
    assert receipt.path == path.parent / f"{LESSON}.submission.zip"
    assert inbound(home) == []


def test_a_lesson_that_was_not_released(home: Path) -> None:
    released = home.parent / "exchange" / COURSE / "outbound" / LESSON
    released.rename(released.with_name("other"))
    receipt = cellcheck.submit(path=home / LESSON / f"{LESSON}.ipynb")
    assert "The exchange did not take it: Assignment not found" in repr(receipt)
    assert receipt.path is not None
    assert inbound(home) == []


def test_without_an_exchange_it_is_a_file(home: Path) -> None:
    (home.parent / "exchange").rename(home.parent / "gone")
    receipt = cellcheck.submit(path=home / LESSON / f"{LESSON}.ipynb")
    assert repr(receipt).startswith("Ready to hand in")


def test_a_folder_that_was_asked_for_gets_the_file(home: Path) -> None:
    receipt = cellcheck.submit(path=home / LESSON / f"{LESSON}.ipynb", into=home)
    assert receipt.path == home / f"{LESSON}.submission.zip"
    assert inbound(home) == []
