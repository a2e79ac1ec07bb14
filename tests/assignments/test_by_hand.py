"""What people give in Formgrader: the same points in the table, the report, the page and the export; comments too."""

import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.gradebook.as_it_stands import as_it_stands
from cellcheck.gradebook.course import Course
from cellcheck.running.result import Result
from tests.assignments import sources
from tests.assignments.sources import hand_in

HONEST = {"honour": "honest = True", "true_var": "true_var, false_var = True, False", "why": "Because <b>I</b> say so."}
LATE = """
from nbgrader.plugins import LateSubmissionPlugin
class Half(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return 0.5
c.AssignLatePenalties.plugin_class = Half
"""
COMMENT = "Good idea.\n<script>alert(1)</script> Next time, two examples."


def command(*arguments: str) -> str:
    done = CliRunner().invoke(cli.app, list(arguments), env={"COLUMNS": "300"})
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Course]:
    """Two learners, one of them late, graded by the machine; then a person gives points and comments on answers."""
    root = tmp_path_factory.mktemp("hand") / "course"
    root.mkdir()
    (root / "nbgrader_config.py").write_text(sources.CONFIG + LATE)
    sources.add(root, "intro", {"variables": sources.VARIABLES})
    course = Course.open(root)
    course.ensure_assignment("intro", plain=True)
    edits = {("variables", name): text for name, text in HONEST.items()}
    hand_in(root, "intro", "ada", edits)
    (hand_in(root, "intro", "bob", edits) / "timestamp.txt").write_text("2026-03-02 12:00:00 UTC")
    with course.gradebook() as book:
        book.update_or_create_assignment("intro", duedate="2026-03-01 12:00:00 UTC")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        command("autograde", "intro")
        with course.gradebook() as book:
            book.find_grade("why", "variables", "intro", "ada").manual_score = 1.5
            book.find_grade("why", "variables", "intro", "ada").needs_manual_grade = False
            book.find_comment("why", "variables", "intro", "ada").manual_comment = COMMENT
            book.find_comment("consonants", "variables", "intro", "ada").manual_comment = "Where is it?"
            changed = book.find_grade("test_consonants", "variables", "intro", "ada")
            changed.manual_score, changed.extra_credit = 1.25, 0.5
            book.db.commit()
        yield course


def page(course: Course, student: str) -> str:
    return (course.root / "feedback" / student / "intro" / "variables.html").read_text("utf-8")


def test_the_same_points_everywhere(course: Course) -> None:
    ada, bob = 0.25 + 0.5 + 1.25 + 0.5 + 1.5, 0.25 + 0.5 - 0.5
    assert "still blank" in page(course, "ada")
    command("feedback", "intro")
    rows = {row["student"]: float(row["mark"]) for row in csv.DictReader(io.StringIO(command("export", "intro")))}
    assert rows == {"ada": ada, "bob": bob}
    table = command("autograde", "intro", "--resume")
    assert re.findall(r"^(\w+) +([\d.]+) / 8 ", table, re.MULTILINE) == [("ada", f"{ada:g}"), ("bob", f"{bob:g}")]
    assert "0.5 points off for being late" in table
    for student, mark in (("ada", ada), ("bob", bob)):
        assert f'<div class="score">{mark:g} <small>of 8 points' in page(course, student)
    summary = command("report", "intro")
    assert summary.splitlines()[:8] == table.split("\n\n")[1].splitlines()[:8]
    assert re.search(r"^why +1 +1\.5 / 2", summary, re.MULTILINE)
    assert "0.5 points were taken off" in page(course, "bob") or "0.5 of your 0.75 points" in page(course, "bob")


def test_a_comment_reaches_the_learner_as_text(course: Course) -> None:
    command("feedback", "intro")
    shown = page(course, "ada")
    assert "Good idea.\n&lt;script&gt;alert(1)&lt;/script&gt; Next time" in shown
    assert "Where is it?" in shown
    assert "<script" not in shown
    assert "Good idea" not in page(course, "bob")


def test_nobody_is_blamed_for_what_an_instructor_changed(course: Course) -> None:
    command("feedback", "intro")
    assert "Your instructor gave 1.75 of 1.25 points for this." in page(course, "ada")
    (line,) = [line for line in command("autograde", "intro", "--resume").splitlines() if line.startswith("ada")]
    assert "test_consonants" not in line
    mistakes = command("report", "intro").split("who")[-1]
    assert "ada" not in mistakes


def test_a_blank_answer_is_blank_and_one_that_waits_is_not_yet_anything(course: Course) -> None:
    """Ada has answered, and nobody has looked at it; bob has not."""
    sources.add(course.root, "words", {"variables": sources.VARIABLES})
    course.ensure_assignment("words", plain=True)
    hand_in(course.root, "words", "ada", {("variables", "why"): "Because."})
    hand_in(course.root, "words", "bob", {})
    output = command("autograde", "words")
    (row,) = re.findall(r"^why (.*)$", output, re.MULTILINE)
    assert row.split() == ["1", "0", "/", "2"]  # one blank, worth nothing; nobody is right, partly right or wrong
    assert "still blank" in (course.root / "feedback" / "bob" / "words" / "variables.html").read_text("utf-8")


def test_an_answer_without_a_name_is_called_by_its_number() -> None:
    """nbgrader makes up a name for a cell that nobody has named."""
    unnamed = [sources.answer(f"cell-{number:016x}", "Why?", 1, "markdown") for number in range(2)]
    cells = [unnamed[0], sources.answer("named", "Why?", 1, "markdown"), unnamed[1]]
    known = sources.assignment("two", {"one": cells, "other": cells})
    stands = as_it_stands(Result("x", "two", (), (), 0.1), {}, known)
    assert [part.title for part in stands.by_hand[:3]] == ["one/answer 1", "one/named", "one/answer 3"]


def test_what_can_be_forged_is_said_in_one_line(course: Course) -> None:
    names = "test_honour, test_true_var, test_consonants"
    for output in (command("report", "intro"), command("autograde", "intro", "--resume")):
        (line,) = [line for line in output.splitlines() if "forged" in line]
        assert line.startswith(f"Points that can be forged: {names}. ")
        assert "docs/authors.md" in line
    assert "their points can be forged" in page(course, "ada")


def test_grading_one_file_needs_no_gradebook(course: Course, tmp_path: Path) -> None:
    path = course.submission("ada", "intro") / "variables.ipynb"
    (tmp_path / "mine.ipynb").write_bytes(path.read_bytes())
    output = command("grade", str(tmp_path / "mine.ipynb"), "--lesson", "intro")
    assert re.search(r"^mine.ipynb +0\.75 / 2 ", output, re.MULTILINE)
    assert "forged" in output
    assert "seed" not in output
