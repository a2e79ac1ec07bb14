"""The class on one page, for the instructor: marks, exercises, mistakes, and when people handed in.

One self-contained HTML file. Its drawings are plain SVG, which follows the page's colours and can be read out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count as naturals
from math import ceil
from statistics import mean, median, stdev

from cellcheck.authoring.spec import Lesson
from cellcheck.checking.cards import points
from cellcheck.exporting import Mark, due_date, marks
from cellcheck.gradebook.course import Course
from cellcheck.gradebook.feedback import titled
from cellcheck.plain import template
from cellcheck.reporting.items import ENOUGH, items, together
from cellcheck.running.result import Result
from cellcheck.tables import Summary, mistakes

BINS = 10
"""At most so many bars."""
WIDTH, HEIGHT, GROUND = 640, 180, 150
"""Of a drawing, and where its bars stand."""


@dataclass(frozen=True)
class Bar:
    """A bar of the histogram: how many learners have from `low` to `high` points."""

    low: float
    high: float
    count: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Timeline:
    """How many had handed in at what time, as a path; and where the due date stands, if it lies in between."""

    path: str
    first: str
    last: str
    count: int
    due: float | None
    late: int


def page_of(course: Course, name: str, results: Mapping[str, Result], lesson: Lesson | None) -> str:
    """The page of an assignment that has been graded, with the results as they stand in its gradebook.

    Raises:
        GraderError: when the gradebook does not know the assignment.
    """
    return page(titled(name), marks(course, name), results, lesson, due_date(course, name))


def page(
    title: str, marks: Sequence[Mark], results: Mapping[str, Result], lesson: Lesson | None, due: datetime | None = None
) -> str:
    """The page of one assignment; times are in UTC."""
    there = [mark for mark in marks if mark.score is not None]
    counted = [max(0.0, (mark.score or 0.0) - mark.penalty) for mark in there]
    full = there[0].max_score if there else 0.0
    summary = Summary.of(results.values())
    lines = summary.standings()
    class_mistakes = mistakes(results, lesson)
    items_by_title = {item.title: item for item in items(results)}
    return template("cellcheck.reporting").render(
        title=title,
        marks=there,
        missing=[mark.student for mark in marks if mark.score is None and not mark.refused],
        refused=[mark for mark in marks if mark.refused],
        spread=round(stdev(counted), 2) if len(counted) > 1 else None,
        waiting=sum(mark.open for mark in there),
        penalised=sum(mark.penalty > 0 for mark in there),
        full=full,
        mean=round(mean(counted), 2) if counted else 0.0,
        median=round(median(counted), 2) if counted else 0.0,
        bars=histogram(counted, full),
        line=timeline([mark.submitted for mark in there if mark.submitted is not None], due),
        due=due,
        standings=lines,
        unsolved=[line.title for line in lines if not line.right and line.max_score],
        items=items_by_title,
        enough=ENOUGH,
        mistakes=class_mistakes,
        together=together(class_mistakes),
        forgeable=summary.forgeable_line(),
        points=points,
        size=(WIDTH, HEIGHT, GROUND),
    )


def histogram(counted: Sequence[float], full: float) -> list[Bar]:
    """How many have how many points: bars as narrow as whole points allow; empty where there are no points to have.

    The last bar holds the full mark, and what is above it. Of one or two points, a bar has half a point.
    """
    if not counted or full <= 0:
        return []
    wide = next(wide for wide in _widths() if full <= wide * BINS and (wide >= 1 or full <= 2))
    count = ceil(full / wide)
    places = [min(count - 1, int(value / wide)) for value in counted]
    highest = max(map(places.count, range(count)))
    across = WIDTH / count
    bars = []
    for place in range(count):
        low, high, held = place * wide, min(full, (place + 1) * wide), places.count(place)
        height = (GROUND - 20) * held / highest
        bars.append(Bar(low, high, held, place * across + 2, GROUND - height, across - 4, height))
    return bars


def _widths() -> Iterator[float]:
    """How many points wide a bar may be: a half, 1, 2, 3, 4, 5, 10, 20, and so on."""
    yield 0.5
    for power in naturals():
        yield from (step * 10.0**power for step in (1, 2, 3, 4, 5))


def timeline(times: Sequence[datetime], due: datetime | None) -> Timeline | None:
    """How many had handed in when; None where fewer than two times are known, or all are the same."""
    ordered = sorted(times)
    if len(ordered) < 2 or ordered[0] == ordered[-1]:
        return None
    begin, length = ordered[0], (ordered[-1] - ordered[0]).total_seconds()

    def across(time: datetime) -> float:
        return round(WIDTH * (time - begin).total_seconds() / length, 1)

    path = f"M0 {GROUND}"
    for number, time in enumerate(ordered, start=1):
        path += f" H{across(time)} V{round(GROUND - (GROUND - 20) * number / len(ordered), 1)}"
    inside = due is not None and ordered[0] <= due <= ordered[-1]
    late = sum(time > due for time in ordered) if due is not None else 0
    return Timeline(
        path, _at(ordered[0]), _at(ordered[-1]), len(ordered), across(due) if due and inside else None, late
    )


def _at(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M}"
