"""What `make test` draws, and what it takes for changed."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from cellcheck.syllabus import lesson_names
from tests import nightly
from tests.nightly import changed_files, drawn, later, left_out, lessons_with, one_lesson

FILE = "tests/test_any.py"
ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")


@dataclass(eq=False)
class Case:
    """What `left_out` asks of a pytest item."""

    test: str
    lesson: str
    marker: pytest.MarkDecorator | None = None

    @property
    def nodeid(self) -> str:
        return f"{FILE}::{self.test}[{self.lesson}]"

    @property
    def callspec(self) -> SimpleNamespace:
        return SimpleNamespace(params={"lesson": self.lesson})

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return self.marker.mark if self.marker and self.marker.name == name else None


def cases(test: str, count: int, marker: pytest.MarkDecorator | None = None) -> list[Any]:
    return [Case(test, str(number), marker) for number in range(count)]


def lessons_left(test: str, items: list[Any], sample: int) -> set[str]:
    """The lessons whose cases of a test `make test` runs."""
    left = left_out(items, sample)
    return {item.lesson for item in items if item.test == test and item not in left}


def test_a_sample_is_drawn_again_by_its_number() -> None:
    items = [*cases("test_one", 20, drawn(3)), *cases("test_other", 20, drawn(3))]
    samples = [lessons_left("test_one", items, number) for number in range(5)]
    assert all(len(lessons) == 3 for lessons in samples)
    assert len({frozenset(lessons) for lessons in samples}) > 1
    assert lessons_left("test_one", items, 0) == samples[0]
    assert lessons_left("test_other", items, 0) == samples[0]  # so what is computed for one serves the other


def test_few_cases_all_run_and_what_is_for_later_does_not() -> None:
    items = [*cases("test_few", 4, drawn(30)), *cases("test_later", 4, later), *cases("test_always", 4)]
    assert len(lessons_left("test_few", items, 0)) == 4
    assert lessons_left("test_later", items, 0) == set()
    assert len(lessons_left("test_always", items, 0)) == 4


def test_a_lesson_that_changed_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    items = cases("test_long", 10, one_lesson)
    monkeypatch.setattr(nightly, "changed_lessons", lambda: ["4", "7"])
    assert all(lessons_left("test_long", items, sample) <= {"4", "7"} for sample in range(5))
    monkeypatch.setattr(nightly, "changed_lessons", list)
    assert len(set().union(*(lessons_left("test_long", items, sample) for sample in range(9)))) > 2


def test_a_lesson_changes_with_its_files_its_answers_its_marks_and_its_part_of_the_library() -> None:
    first, second, third, *_ = lesson_names()
    assert lessons_with([f"transformer_course/lessons/lesson_{first[:2]}/pick.md"]) == [first]
    changed = [f"transformer_course/lessons/lesson_{second[:2]}/patients.py", f"tests/marks/{third[:2]}.csv"]
    assert lessons_with(changed) == [second, third]
    assert third in lessons_with(["transformer_course/attention.py"])
    others = ["README.md", f"tests/lessons/lesson_{second[:2]}/test_claims.py", "grader/cellcheck/api.py"]
    assert lessons_with(others) == []


# --- git


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def commit(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_text(name)
    git(folder, "add", "--all")
    git(folder, "commit", "--message", " ".join(names))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    git(folder, "init")
    commit(folder, "first")
    return folder


def test_on_main_it_is_the_last_commit_and_what_is_not_committed(repository: Path) -> None:
    assert changed_files(repository) == []  # nothing stood before the first commit
    commit(repository, "second")
    commit(repository, "third")
    assert changed_files(repository) == ["third"]
    (repository / "first").write_text("anew")
    (repository / "fourth").write_text("new")
    assert sorted(changed_files(repository)) == ["first", "fourth", "third"]


def test_on_a_branch_it_is_the_branch(repository: Path) -> None:
    git(repository, "checkout", "-b", "branch")
    commit(repository, "second")
    commit(repository, "third")
    git(repository, "checkout", "main")
    commit(repository, "elsewhere")
    git(repository, "checkout", "branch")
    assert changed_files(repository) == ["second", "third"]


def test_a_clone_of_one_commit_and_a_folder_without_git_know_of_no_change(repository: Path, tmp_path: Path) -> None:
    commit(repository, "second")
    git(tmp_path, "clone", "--depth", "1", repository.as_uri(), "shallow")
    assert changed_files(tmp_path / "shallow") == []
    (tmp_path / "shallow" / "third").write_text("new")
    assert changed_files(tmp_path / "shallow") == ["third"]
    (tmp_path / "plain").mkdir()
    assert changed_files(tmp_path / "plain") == []


def test_the_night_runs_all_that_is_left_to_it() -> None:
    listed = tuple(re.findall(r"tests/[\w/.]+", MAKEFILE.partition("\nclaims:")[2].partition("\n\n")[0]))
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        name = path.relative_to(ROOT).as_posix()
        text = path.read_text("utf-8")
        if ("from tests.nightly import" in text or 'getoption("--long")' in text) and path.stem != "test_nightly":
            assert name.startswith(listed), name
