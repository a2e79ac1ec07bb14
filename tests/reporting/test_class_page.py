"""`cellcheck report --html`: what the page says about a class."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.checking.judge import FAILED, MISSING, PASSED, Verdict
from cellcheck.exporting import Mark
from cellcheck.gradebook.course import Course
from cellcheck.reporting.class_page import BINS, GROUND, HEIGHT, WIDTH, histogram, page, timeline
from cellcheck.running.result import OwnResult, Result
from tests.gradebook.small_class import EXERCISES, LESSON, REPOSITORY, course, grade, hand_in, quick

__all__ = ["course", "quick"]
NOON = datetime(2026, 3, 1, 12)


def test_the_bars_hold_everybody() -> None:
    bars = histogram([0.0, 0.9, 1.0, 9.99, 10.0, 10.0], 10.0)
    assert len(bars) == BINS
    assert [bar.count for bar in bars] == [2, 1, *[0] * 7, 3]
    assert max(bar.height for bar in bars) == bars[-1].height
    assert all(bar.x >= 0 and bar.x + bar.width <= WIDTH and bar.y + bar.height == GROUND < HEIGHT for bar in bars)
    assert histogram([], 10.0) == histogram([0.0], 0.0) == []


@pytest.mark.parametrize(
    ("full", "edges"),
    [
        (24.0, [0, 3, 6, 9, 12, 15, 18, 21, 24]),
        (22.5, [0, 3, 6, 9, 12, 15, 18, 21, 22.5]),
        (7.0, [0, 1, 2, 3, 4, 5, 6, 7]),
        (100.0, [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100]),
        (2.0, [0, 0.5, 1, 1.5, 2]),
        (0.25, [0, 0.25]),
    ],
)
def test_bars_begin_at_whole_points(full: float, edges: list[float]) -> None:
    bars = histogram([0.0, full, full + 1], full)
    assert [bar.low for bar in bars] + [bars[-1].high] == edges
    assert sum(bar.count for bar in bars) == 3


def test_every_column_has_a_heading() -> None:
    tests = tuple(OwnResult(name, 0.0, 1.0, "It fails.", FAILED) for name in "fg")
    results = {who: Result("x", "mine", (), (), 0.1, tests) for who in ("ada", "bob", "cy")}
    html = page("mine", [Mark(who, "", "", "", "", 2.0, 0.0) for who in results], results, None)
    assert "<h2>Mistakes made by the same people</h2>" in html
    heads = re.findall(r"<th [^>]*>(.*?)</th>", html)
    assert len(heads) > 15
    assert all(heads)


def test_work_that_cannot_be_graded_was_handed_in() -> None:
    refused = Mark("bob", "", "", "", "", 2.0, None, refused="The file is empty.")
    marks = [Mark("ada", "", "", "", "", 2.0, 1.0), refused, Mark("cy", "", "", "", "", 2.0, None)]
    html = page("mine", marks, {}, None)
    assert "<dt>handed in</dt><dd>2 of 3</dd>" in html
    assert "<dt>not graded</dt><dd>1</dd>" in html
    assert "<td>bob</td>" in html
    assert "The file is empty." in html


def test_the_line_climbs_to_the_last_hand_in() -> None:
    times = [NOON + timedelta(hours=hours) for hours in (2, 0, 4)]
    line = timeline(times, NOON + timedelta(hours=1))
    places = [float(x) for x in re.findall(r"H([\d.]+)", line.path)]
    heights = [float(y) for y in re.findall(r"V([\d.]+)", line.path)]
    assert places == [0, WIDTH / 2, WIDTH]
    assert heights == sorted(heights, reverse=True)
    assert (line.due, line.late, line.count) == (WIDTH / 4, 2, 3)
    assert (line.first, line.last) == ("2026-03-01 12:00", "2026-03-01 16:00")
    assert timeline([NOON], None) is timeline([NOON, NOON], None) is None
    late = timeline(times, NOON - timedelta(days=1))
    assert (late.due, late.late) == (None, 3)


def test_names_and_texts_are_text() -> None:
    verdicts = (
        Verdict("f", 0.0, 1.0, FAILED, "no"),
        Verdict("g", 1.0, 1.0, PASSED, ""),
        Verdict("h", 0.0, 2.0, MISSING, ""),
    )
    results = {"<script>": Result("x", "mine", verdicts, (), 0.1)}
    marks = [
        Mark("<script>", "", "", "", "", 4.0, 1.0, submitted=NOON),
        Mark("<script>none", "", "", "", "", 4.0, None),
    ]
    html = page("mine", marks, results, None)
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert unsolved(html) == ["f", "h"]
    assert "<h2>Handed in nothing</h2>\n<p>&lt;script&gt;none</p>" in html
    assert "1 of 2" in html


def unsolved(html: str) -> list[str]:
    section = html.split("What nobody solved</h2>")[1].split("<h2>")[0]
    return re.findall(r"<code>(.*?)</code>", section)


def test_the_command_says_the_same_as_the_gradebook(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    hand_in(course, "dee", REPOSITORY.notebook(LESSON).read_bytes())
    note = course.submission("dee", LESSON) / "timestamp.txt"
    note.write_text("2026-03-02 18:30:00.000000 UTC")
    with course.gradebook() as book:
        book.add_student("eve")
    grade(course)
    with course.gradebook() as book:
        book.find_assignment(LESSON).duedate = datetime(2026, 3, 2, tzinfo=UTC).replace(tzinfo=None)
        book.db.commit()
    monkeypatch.chdir(course.root)
    done = CliRunner().invoke(cli.app, ["report", LESSON, "--html", "class.html"])
    assert done.exit_code == 0, done.output
    html = Path("class.html").read_text("utf-8")
    assert "<h1>Lesson 5: Hide the future: the class</h1>" in html
    assert "<dd>4 of 5</dd>" in html
    assert "<p>eve</p>" in html
    assert "Due 2026-03-02 00:00; 1 came later." in html
    assert "What nobody solved" not in html  # ada has everything
    for exercise in EXERCISES:
        assert f"<code>{exercise.symbol}</code>" in html
    full = sum(exercise.points for exercise in EXERCISES)
    mean = round((2 * full + sum(round(e.points * 0.25, 2) for e in EXERCISES)) / 4, 2)
    assert f"<dd>{mean:g} of {full:g}</dd>" in html
