"""The class on one page, for the instructor: marks, exercises, mistakes, and when people handed in.

One self-contained HTML file. Its drawings are plain SVG, which follows the page's colours and can be read out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from statistics import mean, median

from jinja2 import Environment, PackageLoader, StrictUndefined, Template

from grader.authoring.spec import Lesson
from grader.checking.cards import points
from grader.exporting import Mark
from grader.running.result import Result
from grader.tables import forgeable_line, mistakes, standings

BINS = 10
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
class Line:
    """How many had handed in at what time, as a path; and where the due date stands, if it lies in between."""

    path: str
    first: str
    last: str
    count: int
    due: float | None
    late: int


def page(
    title: str,
    marks: Sequence[Mark],
    results: Mapping[str, Result],
    known: Lesson | None,
    due: datetime | None = None,
) -> str:
    """The page of one assignment; times are in UTC."""
    there = [mark for mark in marks if mark.score is not None]
    counted = [max(0.0, (mark.score or 0.0) - mark.penalty) for mark in there]
    full = there[0].max_score if there else 0.0
    lines = standings(results.values())
    return _template().render(
        title=title,
        marks=there,
        missing=[mark.student for mark in marks if mark.score is None],
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
        mistakes=mistakes(results, known),
        forgeable=forgeable_line(results.values()),
        points=points,
        size=(WIDTH, HEIGHT, GROUND),
    )


def histogram(counted: Sequence[float], full: float) -> list[Bar]:
    """How many have how many points, in ten bars; empty where there are no points to have."""
    if not counted or full <= 0:
        return []
    places = [min(BINS - 1, int(BINS * value / full)) for value in counted]
    highest = max(places.count(place) for place in range(BINS))
    wide = WIDTH / BINS
    made = []
    for place in range(BINS):
        count = places.count(place)
        height = (GROUND - 20) * count / highest
        low, high = full * place / BINS, full * (place + 1) / BINS
        made.append(Bar(round(low, 2), round(high, 2), count, place * wide + 2, GROUND - height, wide - 4, height))
    return made


def timeline(times: Sequence[datetime], due: datetime | None) -> Line | None:
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
    return Line(path, _at(ordered[0]), _at(ordered[-1]), len(ordered), across(due) if due and inside else None, late)


def _at(time: datetime) -> str:
    return f"{time:%Y-%m-%d %H:%M}"


@cache
def _template() -> Template:
    environment = Environment(
        loader=PackageLoader("grader.reporting", "."), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    return environment.get_template("page.html")
