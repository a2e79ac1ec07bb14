"""A class from the download to the marks: what is late, whom a platform can match, and who can't be graded."""

import csv
import io
import re
import zipfile
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import nbformat
import pytest
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.gradebook.course import Course
from cellcheck.late_days import PerDay
from cellcheck.submitting.zip_file import Note, pack
from tests.gradebook.small_class import FIRST, LESSON, REPOSITORY, marks, quick, small_course

__all__ = ["quick"]
RELEASED = REPOSITORY.notebook(LESSON).read_bytes()
ZERO = '\nc.LateSubmissionPlugin.penalty_method = "zero"\n'
ROSTER = """\
id,first_name,last_name,email,lms_user_id,submitted
ada,Ada,Lovelace,ada@x.org,41,{ada}
bob,Bob,Brown,,42,{bob}
"""


@cache
def by(student: str) -> bytes:
    """A notebook that only this learner has."""
    notebook = nbformat.reads(RELEASED.decode(), as_version=4)
    begun = next(cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == FIRST)
    begun.source = f"# {student}"
    return nbformat.writes(notebook).encode()


def packed(student: str, day: int) -> bytes:
    """What `submit()` makes, on a computer whose clock says that it is that day of March."""
    note = Note(LESSON, "0.1.0", Note.of(by(student), LESSON).sha256, datetime(2026, 3, day, 9, tzinfo=UTC))
    return pack(by(student), note)


def download(course: Course, name: str, **entries: bytes) -> None:
    """A zip file; the names of its entries are those of the keywords, with a dot for the last underscore."""
    with zipfile.ZipFile(course.root / name, "w") as archive:
        for entry, data in entries.items():
            stem, _, ending = entry.rpartition("_")
            archive.writestr(f"{stem}.{ending}", data)


@pytest.fixture
def empty(quick: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """A course in which nobody has handed in; who is late gets nothing."""
    course = small_course(tmp_path / "course")
    config = course.root / "nbgrader_config.py"
    config.write_text(config.read_text("utf-8") + ZERO, "utf-8")
    monkeypatch.chdir(course.root)
    monkeypatch.setattr("cellcheck.running.zygotes.warm_up", lambda *_, **__: None)
    monkeypatch.setattr("cellcheck.running.protection.check_walls", lambda lesson, required: None)
    monkeypatch.setattr(cli.classes.out, "width", 200)
    return Course.open(course.root)


def said(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(cli.app, list(arguments))
    assert done.exit_code == code, done.output
    return done.output


def off(of: Course) -> dict[str, bool]:
    """Who lost points for being late."""
    with of.gradebook() as book:
        return {s.student_id: bool(s.late_submission_penalty) for s in book.assignment_submissions(LESSON)}


def rows(to: str, code: int = 0) -> list[dict[str, str]]:
    file = f"{to}.csv"
    said("export", LESSON, "--to", to, "--out", file, code=code)
    return list(csv.DictReader(io.StringIO(Path(file).read_text("utf-8"))))


# --- late work --------------------------------------------------------------------------------------------------


def test_canvas_says_who_is_late_and_a_learners_clock_says_nothing(empty: Course) -> None:
    Path("students.csv").write_text(ROSTER.format(ada="", bob=""))
    said("due", LESSON, "2026-03-01 12:00 UTC")
    download(empty, "c.zip", lovelaceada_41_1_x_zip=packed("ada", 7), brownbob_LATE_42_2_x_ipynb=by("bob"))
    for output in (
        said("collect", "c.zip", "--roster", "students.csv"),
        said("autograde", LESSON, "--seed", "7"),
        said("export", LESSON),
    ):
        assert "Canvas calls these late, and doesn't say by how much, so nothing is taken off: bob." in output
        assert "by their own computers' clocks, which prove nothing: ada (2026-03-07 09:00 UTC)." in output
    assert off(empty) == {"ada": False, "bob": False}
    assert not (empty.submission("ada", LESSON) / "timestamp.txt").exists()
    # Canvas's own times, put into the class list
    Path("students.csv").write_text(ROSTER.format(ada="2026-02-28 10:00", bob="2026-03-01T14:00+01:00"))
    assert "2 already there" in said("collect", "c.zip", "--roster", "students.csv")
    output = said("autograde", LESSON, "--resume")
    assert off(empty) == {"ada": False, "bob": True}
    assert "Canvas and the time on record" not in output
    assert "own computers" not in output
    Path("students.csv").write_text(ROSTER.format(ada="2026-03-02 10:00", bob="2026-02-01 10:00"))
    output = said("collect", "c.zip", "--roster", "students.csv")
    assert "disagree on whether these are late: ada (2026-03-02 10:00 UTC), bob (2026-02-01 10:00 UTC)." in output


def test_where_no_time_is_known_nobody_is_late_and_it_is_said(empty: Course) -> None:
    said("due", LESSON, "2026-03-01 12:00 UTC")
    entries = {"Ada_7_assignsubmission_file_x_ipynb": by("ada"), "Bob_8_assignsubmission_file_x_zip": packed("bob", 2)}
    download(empty, "m.zip", **entries)
    said("collect", "m.zip")
    output = said("autograde", LESSON)
    assert "There is a due date, and nothing says when anybody handed in, so nothing is taken off." in output
    assert "clocks, which prove nothing: Bob (2026-03-02 09:00 UTC)" in output
    assert off(empty) == {"Ada": False, "Bob": False}
    (empty.submission("Ada", LESSON) / "timestamp.txt").write_text("2026-03-01 13:00:00.000000 UTC")
    output = said("autograde", LESSON, "--resume")
    assert "of 1 of 2 submissions nothing says when they were handed in, so nothing is taken off: Bob." in output
    assert off(empty) == {"Ada": True, "Bob": False}


def test_moodles_grading_worksheet_is_a_class_list_with_times(empty: Course) -> None:
    sheet = (
        '\ufeffIdentifier,"Full name","ID number","Email address",Status,Grade,"Last modified (submission)"\n'
        'Participant 7,Ada Lovelace,s7,ada@x.org,Submitted,,"Sunday, 1 March 2026, 11:59 AM"\n'
        'Participant 8,Bob Brown,s8,bob@x.org,Submitted,,"Sunday, 1 March 2026, 12:01 PM"\n'
        "Participant 9,Cy Brown,s9,cy@x.org,No submission,,-\n"
    )
    Path("sheet.csv").write_text(sheet, "utf-8")
    said("due", LESSON, "2026-03-01 12:00 UTC")
    entries = {
        f"{who}_{n}_assignsubmission_file_x_ipynb": by(who) for who, n in (("Ada Lovelace", 7), ("Bob Brown", 8))
    }
    download(empty, "m.zip", **entries)
    assert "1 on the roster handed in nothing: s9" in said("collect", "m.zip", "--roster", "sheet.csv")
    said("autograde", LESSON)
    assert off(empty) == {"s7": False, "s8": True}
    (ada, bob, cy) = sorted(rows("moodle"), key=lambda row: row["ID number"])
    assert (ada["Identifier"], ada["Last name"], ada["Email address"]) == ("Participant 7", "Ada Lovelace", "ada@x.org")
    assert (bob["Grade"], cy["Grade"]) == ("0", "")


def test_more_time_for_one_before_and_after_handing_in(empty: Course) -> None:
    Path("students.csv").write_text(ROSTER.format(ada="2026-03-02 10:00", bob="2026-03-02 10:00"))
    download(empty, "c.zip", brownbob_42_2_x_ipynb=by("bob"))
    said("collect", "c.zip", "--roster", "students.csv")
    assert "has no due date yet" in refused("due", LESSON, "2026-03-03 12:00 UTC", "--for", "ada")
    said("due", LESSON, "2026-03-01 12:00 UTC")
    output = said("due", LESSON, "2026-03-03 12:00 UTC", "--for", "ada")
    assert "ada: 2026-03-03 12:00 UTC." in output
    assert "is due 2026-03-01 12:00 UTC." in output
    said("autograde", LESSON)
    assert off(empty) == {"ada": False, "bob": True}
    assert {row["student"]: row["mark"] for row in rows("csv")} == {"ada": "", "bob": "0"}  # nobody has seen ada's
    download(empty, "d.zip", lovelaceada_41_3_x_ipynb=by("ada"))
    said("collect", "d.zip", "--roster", "students.csv")
    assert "also has marks of learners" not in said("autograde", LESSON, "--resume")
    assert off(empty) == {"ada": False, "bob": True}
    said("due", LESSON, "2026-03-03 12:00 UTC", "--for", "bob")
    said("autograde", LESSON, "--resume")
    assert off(empty) == {"ada": False, "bob": False}


def refused(*arguments: str) -> str:
    done = CliRunner().invoke(cli.app, list(arguments))
    assert done.exit_code == 1
    assert done.exception is not None
    return str(done.exception)


@pytest.mark.parametrize("when", ["01/03/2026", "soon", "12:00", "2026-03-99", "1.3.2026 23:59"])
def test_times_that_could_be_two_or_none(empty: Course, when: str) -> None:
    assert "is not a time: write it as '2026-03-01 23:59'." in refused("due", LESSON, when)
    Path("students.csv").write_text(ROSTER.format(ada="", bob=when))
    assert "line 3" in refused("collect", "c.zip", "--roster", "students.csv")


def test_other_wrong_usage(empty: Course) -> None:
    assert "Say until when ada has time." in refused("due", LESSON, "--for", "ada")
    assert said("due", LESSON) == f"{LESSON} has no due date.\n"
    said("due", LESSON, "2026-03-01 12:00 UTC")
    assert "knows no learner 'zoe'" in refused("due", LESSON, "2026-03-03 12:00 UTC", "--for", "zoe")


def test_a_penalty_for_each_day() -> None:
    plugin = PerDay(percent=10, most=25, grace_minutes=15)
    hours = (0.2, 0.3, 24, 24.1, 48.1, 1000)
    assert [plugin.late_submission_penalty("ada", 8.0, 3600 * hour) for hour in hours] == [None, 0.8, 0.8, 1.6, 2, 2]


def test_nbgrader_takes_the_plugin(empty: Course) -> None:
    config = empty.root / "nbgrader_config.py"
    plugin = '\nc.AssignLatePenalties.plugin_class = "cellcheck.late_days.PerDay"\nc.PerDay.percent = 20\n'
    config.write_text(config.read_text("utf-8") + plugin, "utf-8")
    Path("students.csv").write_text(ROSTER.format(ada="2026-03-02 10:00", bob="2026-03-02 13:00"))
    said("due", LESSON, "2026-03-01 12:00 UTC")
    download(empty, "c.zip", lovelaceada_41_1_x_ipynb=by("ada"), brownbob_42_2_x_ipynb=by("bob"))
    said("collect", "c.zip", "--roster", "students.csv")
    said("autograde", LESSON)
    full = marks(empty)
    with empty.gradebook() as book:
        taken = {s.student_id: s.late_submission_penalty for s in book.assignment_submissions(LESSON)}
    assert taken == pytest.approx({"ada": 0.2 * full["ada"], "bob": 0.4 * full["bob"]})


# --- exports ----------------------------------------------------------------------------------------------------


def test_without_a_class_list_rows_say_what_the_platform_needs(empty: Course) -> None:
    people = (("Ada Lovelace", 7), ("Zoë O'Hara", 8))
    download(empty, "m.zip", **{f"{who}_{n}_assignsubmission_file_x_ipynb": by(who) for who, n in people})
    said("collect", "m.zip")
    said("autograde", LESSON)
    by_identifier = {row["Identifier"]: row for row in rows("moodle")}
    assert by_identifier.keys() == {"Participant 7", "Participant 8"}
    assert [by_identifier["Participant 8"][name] for name in ("Last name", "ID number", "Last modified (grade)")] == [
        *("Zoë O'Hara", "", "")
    ]
    assert float(by_identifier["Participant 8"]["Grade"]) > 0
    output = said("export", LESSON, "--to", "canvas", code=1)
    assert (
        "Canvas can't tell who these are, since it knows learners by their number (ID): Ada_Lovelace, Zoë_O_Hara."
        in output
    )


def test_canvas_gets_the_numbers_of_its_own_download(empty: Course) -> None:
    download(empty, "c.zip", lovelaceada_41_1_x_ipynb=by("ada"))
    said("collect", "c.zip")
    said("autograde", LESSON)
    _, ada = rows("canvas")
    assert (ada["Student"], ada["ID"], ada["SIS Login ID"]) == ("lovelaceada", "41", "")
    output = said("export", LESSON, "--to", "moodle", code=1)
    assert "Moodle can't tell who these are, since it knows learners by their email address or ID number" in output


def test_the_class_list_is_remembered(empty: Course) -> None:
    Path("students.csv").write_text(ROSTER.format(ada="", bob=""))
    download(empty, "c.zip", lovelaceada_41_1_x_ipynb=by("ada"))
    said("collect", "c.zip", "--roster", "students.csv")
    said("autograde", LESSON)
    names = ("First name", "Last name", "ID number", "Email address")
    assert [[row[name] for name in names] for row in rows("moodle")] == [
        ["Bob", "Brown", "bob", ""],
        ["Ada", "Lovelace", "ada", "ada@x.org"],
    ]
    assert [(row["Student"], row["ID"]) for row in rows("canvas")[1:]] == [
        ("Brown, Bob", "42"),
        ("Lovelace, Ada", "41"),
    ]


def test_whoever_cannot_be_graded_stays_in_the_export(empty: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {
        "Ada_7_assignsubmission_file_x_ipynb": by("ada"),
        "Bob_8_assignsubmission_file_x_ipynb": b"{",
        "Cy_9_assignsubmission_file_report_pdf": b"%PDF",
    }
    download(empty, "m.zip", **entries)
    said("collect", "m.zip", code=1)
    said("autograde", LESSON)
    (empty.submission("Dee", LESSON)).mkdir(parents=True)  # put there by hand, and never graded
    by_student = {row["student"]: row for row in rows("csv", code=1)}
    assert by_student.keys() == {"Ada", "Bob", "Cy", "Dee"}
    assert [by_student[name]["mark"] for name in ("Bob", "Cy", "Dee")] == ["", "", ""]
    assert by_student["Bob"]["not_graded"].startswith("This is not a notebook")
    assert by_student["Cy"]["not_graded"] == (
        "There is no notebook, only Cy_9_assignsubmission_file_report.pdf. Ask for the .ipynb file."
    )
    assert by_student["Dee"]["not_graded"] == "It was handed in, and hasn't been graded."
    output = said("export", LESSON, "--to", "gradescope", code=1)
    assert "4 learners, 0 without a submission; 3 not graded, whose mark is empty" in output
    assert len(re.findall("Ungraded", output)) == 3
    # The right file comes later.
    download(empty, "n.zip", Cy_9_assignsubmission_file_x_ipynb=by("cy"))
    said("collect", "n.zip")
    said("autograde", LESSON, "--resume", code=0)
    assert {row["student"] for row in rows("csv", code=1) if row["not_graded"]} == {"Bob"}


def test_moodles_newer_download_replaces_what_is_there(empty: Course) -> None:
    name = "Ada_7_assignsubmission_file_x.ipynb"
    for minute, text, outcome in ((1, "old", "1 collected"), (5, "new", "1 newer: replaced"), (1, "old", "1 in doubt")):
        with zipfile.ZipFile("m.zip", "w") as archive:
            archive.writestr(zipfile.ZipInfo(name, (2026, 3, 1, 12, minute, 0)), by(text))
        assert outcome in said("collect", "m.zip", code="doubt" in outcome)
    with zipfile.ZipFile("two.zip", "w") as archive:
        for minute, text in ((1, "one"), (5, "two")):
            entry = zipfile.ZipInfo(f"Bo_8_assignsubmission_file_/{text}.ipynb", (2026, 3, 1, 12, minute, 0))
            archive.writestr(entry, by(text))
    assert "nothing says which is newer" in said("collect", "two.zip", code=1)
