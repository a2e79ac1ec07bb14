"""Marks as other systems want them: penalties and a person's points in, and nothing for who handed nothing in."""

import csv
import io
import shutil
from datetime import datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.errors import GraderError
from cellcheck.exporting import COLUMNS, FORMATS, Mark, marks, number, text
from cellcheck.gradebook.course import Course
from cellcheck.repository import Repository
from tests.shell import Ran, Run

LESSON = "01_pytorch_basics"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A gradebook with four learners: one late, one with points by hand, one unfinished, one without a submission.

    A question in words earns nothing, and nobody has looked at anybody's answer.
    """
    root = tmp_path_factory.mktemp("course")
    shutil.copy(Repository.find(Path(__file__).parent).root / "nbgrader_config.py", root)
    course = Course.open(root)
    with course.gradebook() as book:
        book.add_assignment(LESSON, duedate="2026-03-01 12:00:00 UTC")
        book.add_notebook(LESSON, LESSON)
        for name, points, kind in (
            ("test_a", 4, "code"),
            ("test_b", 3, "code"),
            ("explain", 2, "markdown"),
            ("words", 0, "markdown"),
        ):
            book.add_grade_cell(name, LESSON, LESSON, max_score=points, cell_type=kind)
        people = (("ada", "Ada", "Lovelace"), ("zoe", "Zoë", "O'Hara"), ("li", None, None), ("none", "No", "Body, Jr."))
        for student, first, last in people:
            book.add_student(
                student, first_name=first, last_name=last, email=f"{student}@x.org", lms_user_id=f"7{student}"
            )
        for student, time in (("ada", "12:00"), ("zoe", "14:00"), ("li", "09:00")):
            book.add_submission(LESSON, student, timestamp=f"2026-03-01 {time}:00 UTC")
        for student, a, b, by_hand in (("ada", 4, 2.5, 1.25), ("zoe", 4, 3, 2), ("li", 0, 0.333, None)):
            for name, auto, manual in (("test_a", a, None), ("test_b", b, None), ("explain", None, by_hand)):
                grade = book.find_grade(name, LESSON, LESSON, student)
                grade.auto_score, grade.manual_score = auto, manual
                grade.needs_manual_grade = name == "explain" and manual is None
        book.find_submission_notebook(LESSON, LESSON, "zoe").late_submission_penalty = 1.5
        book.db.commit()
    return course


def rows(course: Course, to: str, column: str = LESSON) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text(marks(course, LESSON), to, column))))


def test_canvas(course: Course) -> None:
    assert rows(course, "canvas", "Basics (123)") == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "Basics (123)"],
        ["    Points Possible", "", "", "", "", "9"],
        ["li", "7li", "", "li", "", "0.33"],
        ["Body, Jr., No", "7none", "", "none", "", ""],
        ["Lovelace, Ada", "7ada", "", "ada", "", "7.75"],
        ["O'Hara, Zoë", "7zoe", "", "zoe", "", "7.5"],
    ]


def test_moodle(course: Course) -> None:
    header, *learners = rows(course, "moodle")
    assert header == [
        *("Identifier", "First name", "Last name", "ID number", "Email address", LESSON, "Last modified (grade)")
    ]
    assert ["", "Zoë", "O'Hara", "zoe", "zoe@x.org", "7.5", ""] in learners
    assert ["", "No", "Body, Jr.", "none", "none@x.org", "", ""] in learners


def test_gradescope(course: Course) -> None:
    header, *learners = rows(course, "gradescope")
    assert header[:6] == ["First Name", "Last Name", "SID", "Email", "Total Score", "Max Points"]
    assert [(row[2], row[4], row[6]) for row in learners] == [
        ("li", "0.33", "Ungraded"),
        ("none", "", "Missing"),
        ("ada", "7.75", "Graded"),
        ("zoe", "7.5", "Graded"),
    ]
    assert learners[-1][-1] == "2026-03-01 14:00:00 +0000"


def test_csv(course: Course) -> None:
    by_student = {row[0]: dict(zip(rows(course, "csv")[0], row, strict=True)) for row in rows(course, "csv")[1:]}
    assert by_student["zoe"] == {
        "student": "zoe",
        "first_name": "Zoë",
        "last_name": "O'Hara",
        "email": "zoe@x.org",
        "lesson": LESSON,
        "mark": "7.5",
        "max_score": "9",
        "late_penalty": "1.5",
        "submitted": "2026-03-01 14:00:00 UTC",
        "to_grade_by_hand": "",
        "not_graded": "",
    }
    assert (by_student["none"]["mark"], by_student["none"]["late_penalty"], by_student["none"]["submitted"]) == (
        "",
        "",
        "",
    )
    assert by_student["li"]["to_grade_by_hand"] == "yes"


def test_the_marks_are_nbgraders(course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """nbgrader's own export says the same of everyone who handed in."""
    from nbgrader.plugins.export import CsvExportPlugin

    plugin = CsvExportPlugin(to=str(tmp_path / "theirs.csv"))
    with course.gradebook() as book:
        plugin.export(book)
    with (tmp_path / "theirs.csv").open(encoding="utf-8") as file:
        theirs = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file) if row["timestamp"]}
    assert {mark.student: float(mark.mark) for mark in marks(course, LESSON) if mark.mark} == pytest.approx(
        theirs, abs=0.005
    )


def test_a_penalty_takes_no_more_than_there_is() -> None:
    assert Mark("a", "", "", "", "", 9.0, 1.0, 5.0, datetime(2026, 3, 1)).mark == "0"
    assert [number(value) for value in (0, 10, 7.5, 6.666, 0.004)] == ["0", "10", "7.5", "6.67", "0"]
    assert text([], "canvas", "x").count("\n") == 2


def test_the_command(course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grader: Run) -> None:
    def run(*arguments: str | Path) -> Ran:
        return grader("export", *arguments)

    monkeypatch.chdir(course.root)
    for to in FORMATS:
        ran = run("01", "--to", to)
        assert (ran.code, ran.out) == (0, text(marks(course, LESSON), to, COLUMNS.get(to, LESSON)))
        assert ran.err == "4 learners, 1 without a submission; 1 to be graded by hand (in Formgrader)\n"
    ran = run("01", "--to", "canvas", "--out", tmp_path / "m.csv", "--column", "Basics (1)")
    assert (ran.code, ran.out) == (0, "")
    assert "Zoë" in (tmp_path / "m.csv").read_text("utf-8")
    assert run("01", "--to", "excel").code == 2
    ran = run("02")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == "The gradebook has no 02_tokenizer yet: run cellcheck autograde 02_tokenizer first.\n"
    assert run("01", "--out", tmp_path / "no" / "m.csv").code == 2
    monkeypatch.chdir(tmp_path)
    assert "is not an nbgrader course" in run("01").err


def test_nobody_is_no_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty file would be uploaded for a class."""
    (tmp_path / "nbgrader_config.py").write_text('c = get_config()\nc.CourseDirectory.course_id = "mine"\n')
    with Course.open(tmp_path).gradebook() as book:
        book.add_assignment(LESSON)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli.app, ["export", LESSON, "--out", "marks.csv"])
    assert isinstance(done.exception, GraderError)
    assert str(done.exception).startswith(f"There is nobody to export: nobody has handed in {LESSON}")
    assert not (tmp_path / "marks.csv").exists()
