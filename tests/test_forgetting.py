"""Everything about one learner goes, and nothing about the others."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.errors import GraderError
from cellcheck.forgetting import forget
from cellcheck.gradebook.course import Course
from tests.gradebook.small_class import LESSON, course, grade, marks, quick

__all__ = ["course", "quick"]


def test_one_learner_is_forgotten(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    grade(course)
    (course.root / "submitted" / ".earlier" / "1" / "ada" / LESSON).mkdir(parents=True)
    (course.root / "submitted" / ".collected.json").write_text(f'{{"ada/{LESSON}": {{"name": "Ada"}}, "bea/x": {{}}}}')
    (course.root / "submitted" / "ada2").mkdir()
    before = marks(course)
    monkeypatch.chdir(course.root)
    done = CliRunner().invoke(cli.app, ["forget", "ada"])
    assert done.exit_code == 0, done.output
    assert len([line for line in done.output.splitlines() if line.startswith("deleted: ")]) == 7
    left = [path for path in course.root.rglob("*") if path.is_file() and "gradebook" not in path.name]
    assert not [path for path in left if "ada" in path.relative_to(course.root).parts]
    journal = (course.root / ".cellcheck" / f"{LESSON}.jsonl").read_text("utf-8")
    assert '"ada"' not in journal
    assert '"bea"' in journal
    assert "Ada" not in (course.root / "submitted" / ".collected.json").read_text("utf-8")
    assert marks(course) == {name: mark for name, mark in before.items() if name != "ada"}
    assert (course.root / "submitted" / "ada2").is_dir()
    grade(course, resume=True)
    assert "ada" not in marks(course)
    again = CliRunner().invoke(cli.app, ["forget", "ada"])
    assert "Nothing is kept here about 'ada'." in str(again.exception)


@pytest.mark.parametrize("name", ["", ".", "..", "../other", "a/b", ".earlier", "/etc"])
def test_only_a_learner_can_be_forgotten(course: Course, name: str) -> None:
    with pytest.raises(GraderError, match="can't be a learner's name"):
        forget(course, name)
    assert (course.root / "submitted" / "ada").is_dir()


def test_a_link_goes_and_what_it_leads_to_stays(course: Course, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (course.root / "submitted" / "zoe").symlink_to(tmp_path / "elsewhere")
    assert forget(course, "zoe") == ["submitted/zoe"]
    assert (tmp_path / "elsewhere").is_dir()
    for name in ("a*", "[ab]da"):
        assert forget(course, name) == []
    assert (course.root / "submitted" / "ada").is_dir()
