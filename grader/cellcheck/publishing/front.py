"""What the front page and the list of lessons are made of: slips with their cards, what one will have built, lessons.

All of it is the real thing. A card is what the grader says while the site is built, a picture and a text are what an
executed solution shows, a number is counted. What a page names and isn't there stops the build.
"""

from __future__ import annotations

import html
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.parsers.rst import directives
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from sphinx.util.docutils import SphinxDirective

from cellcheck.authoring.catalogue import WrittenMistake
from cellcheck.building.frame import in_colab
from cellcheck.checking.cards import card
from cellcheck.checking.check import Checker
from cellcheck.errors import GraderError
from cellcheck.learning.offers import Offer, offers
from cellcheck.publishing import course_map, shown
from cellcheck.repository import Repository
from cellcheck.syllabus import lesson_names, load_lesson

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.config import Config

OTHERS = "Other lessons"
"""The heading above lessons whose text names no group."""
_MARKER = re.compile(r"\s*### (BEGIN|END) SOLUTION\s*")


def count(_app: Sphinx, config: Config) -> None:
    """What texts may name in double braces: how much there is of what, and the way into Colab."""
    lessons = offers()
    repository = Repository.find(Path(_app.srcdir))
    first = lessons[0].name
    colab = in_colab(repository, first) if (repository.address or "").startswith("https://github.com/") else ""
    exercises = [exercise for name in lesson_names() for exercise in load_lesson(name).exercises]
    config.myst_substitutions = {
        **config.myst_substitutions,
        "lessons": len(lessons),
        "exercises": sum(len(offer.exercises) for offer in lessons),
        "points": f"{sum(offer.points for offer in lessons):g}",
        "hours": round(sum(offer.head.minutes for offer in lessons) / 60),
        "mistakes": f"{sum(len(exercise.mistakes) for exercise in exercises):,}",
        "colab": f"[Open in Colab]({colab})" if colab else "",
    }


def time(minutes: int) -> str:
    """Minutes as a card has them.

    >>> time(115), time(120), time(50)
    ('1 h 55', '2 h', '50 min')
    """
    hours, rest = divmod(minutes, 60)
    if not hours:
        return f"{rest} min"
    return f"{hours} h {rest:02d}" if rest else f"{hours} h"


@dataclass(frozen=True)
class Slip:
    """A mistake of the catalogue: the answer that somebody wrote, the right one, and the card."""

    symbol: str
    right: str
    wrong: str
    card: str

    @classmethod
    def of(cls, lesson: str, symbol: str, name: str) -> Slip:
        """The mistake of that name, checked as a learner's answer is.

        Raises:
            GraderError: when there is none, or it isn't an edit of the right answer.
        """
        mistake = next((m for m in load_lesson(lesson)[symbol].mistakes if m.name == name), None)
        if not isinstance(mistake, WrittenMistake) or not mistake.edits:
            raise GraderError(f"{symbol} in lesson {lesson} has no mistake called {name} that is an edit.")
        wrong = mistake.catalogue.edited(*mistake.edits)
        verdict = Checker(lesson).verdict(symbol, mistake.implementation)
        return cls(symbol, _plain(mistake.catalogue.code), _plain(wrong), card(verdict))

    @property
    def code(self) -> str:
        """The answer as HTML, a line each, with a mark on those that differ from the right one."""
        lines = self.wrong.splitlines()
        same = SequenceMatcher(None, self.right.splitlines(), lines, autojunk=False).get_matching_blocks()
        unchanged = {number for block in same for number in range(block.b, block.b + block.size)}
        coloured = highlight(self.wrong, PythonLexer(), HtmlFormatter(nowrap=True)).rstrip("\n").split("\n")
        return "\n".join(
            line if number in unchanged else f'<mark class="slipped">{line}</mark>'
            for number, line in enumerate(coloured)
        )


def _plain(code: str) -> str:
    """Code without the marks around a solution."""
    return "\n".join(line for line in code.strip("\n").splitlines() if not _MARKER.fullmatch(line))


class Slips(SphinxDirective):
    """`{slips}`: a line `LESSON SYMBOL MISTAKE label` for each. A small script lets one choose."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Checks each of them now."""
        tabs, panels = "", ""
        for number, line in enumerate(filter(None, map(str.strip, self.content))):
            lesson, symbol, name, label = line.split(maxsplit=3)
            slip = Slip.of(lesson, symbol, name)
            chosen = "true" if number == 0 else "false"
            tabs += (
                f'<button type="button" role="tab" id="slip-tab-{number}" aria-controls="slip-{number}" '
                f'aria-selected="{chosen}"{"" if number == 0 else " tabindex=-1"}>{html.escape(label)}</button>'
            )
            panels += (
                f'<div class="slip" id="slip-{number}" role="tabpanel" aria-labelledby="slip-tab-{number}"'
                f'{"" if number == 0 else " hidden"}><pre class="answer" tabindex="0" role="group" '
                f'aria-label="An answer with a slip"><code>{slip.code}</code></pre>'
                f'<p class="checked"><code>check({slip.symbol})</code></p>{slip.card}</div>'
            )
        return [
            raw(
                '<div class="slips"><div class="tabs" role="tablist" aria-label="Answers, each with a slip" hidden>'
                f'{tabs}</div><div class="panels">{panels}</div></div>'
            )
        ]


class Built(SphinxDirective):
    """`{built} LESSON`: a tile that shows something of the executed lesson, and its content as the caption.

    `picture` names a picture, `printed` is how something begins that a cell printed, and `row` is an entry of a table:
    see `cellcheck.publishing.shown`.
    """

    required_arguments = 1
    has_content = True
    option_spec = {  # noqa: RUF012 (docutils says so)
        "picture": directives.unchanged_required,
        "printed": directives.unchanged_required,
        "row": directives.unchanged_required,
        "lines": directives.positive_int,
    }

    def run(self) -> list[nodes.Node]:
        """What the solution shows first, then the caption, which leads to the lesson."""
        repository = Repository.find(Path(self.env.srcdir))
        offer = next((offer for offer in offers() if offer.name == self.arguments[0]), None)
        if offer is None:
            raise self.error(f"There is no lesson {self.arguments[0]}.")
        parts = ""
        if "row" in self.options:
            entries = shown.row(repository, offer.name, self.options["row"])
            definitions = "".join(f"<dt>{html.escape(head)}</dt><dd>{html.escape(text)}</dd>" for head, text in entries)
            parts += f'<dl class="said">{definitions}</dl>'
        if "printed" in self.options:
            text = shown.printed(repository, offer.name, self.options["printed"])
            lines = text.splitlines()[: self.options.get("lines", 12)]
            columns = max(map(len, lines))  # the style sheet makes the letters so small that they fit
            parts += (
                f'<pre class="printed" style="--columns:{columns}" tabindex="0" role="group" '
                'aria-label="What it wrote">' + html.escape("\n".join(lines)) + "</pre>"
            )
        if "picture" in self.options:
            drawn = shown.picture(repository, offer.name, self.options["picture"])
            parts += _image(drawn, Path(self.env.srcdir), self.env.docname)
        container = nodes.container(classes=["caption"])
        self.state.nested_parse(self.content, self.content_offset, container)
        address = html.escape(page(f"lessons/{offer.name}", self.env.docname))
        leads = f'<p class="from"><a href="{address}">Lesson {offer.number}</a></p>'
        return [raw(f'<div class="tile"><div class="shows">{parts}</div>'), container, raw(f"{leads}</div>")]


class LessonCards(SphinxDirective):
    """`{lesson-cards}`: a card for each lesson, below its group's heading. `full`: with all that its head says."""

    option_spec = {"full": directives.flag}  # noqa: RUF012

    def run(self) -> list[nodes.Node]:
        """A list for each group."""
        lessons = offers()
        repository = Repository.find(Path(self.env.srcdir))
        parts = []
        for heading, together in groups(lessons):
            minutes = sum(offer.head.minutes for offer in together)
            cards = "".join(self._card(repository, offer, lessons) for offer in together)
            parts.append(
                f'<section class="group"><h3>{html.escape(heading)} <span class="sum">{time(minutes)}</span></h3>'
                f'<ul class="cards" data-count="{len(together)}">{cards}</ul></section>'
            )
        return [raw("".join(parts))]

    def _card(self, repository: Repository, offer: Offer, lessons: Sequence[Offer]) -> str:
        drawn = shown.picture(repository, offer.name, offer.head.picture)
        address = html.escape(page(f"lessons/{offer.name}", self.env.docname))
        topic = f'<span class="topic">{html.escape(offer.head.topic)}</span>' if offer.head.topic else ""
        core = sum(exercise.kind == "core" for exercise in offer.exercises)
        facts = f"{_counted(len(offer.exercises), 'exercise')}, {core} of them core · {time(offer.head.minutes)}"
        return (
            f'<li class="card" id="{offer.name}">{_image(drawn, Path(self.env.srcdir), self.env.docname)}'
            f'<div class="says"><p class="number">Lesson {offer.number}</p>'
            f'<h4><a href="{address}">{html.escape(offer.title)}</a></h4><p>{topic}</p>'
            f'<p class="amount">{facts}</p>{self._more(offer, lessons) if "full" in self.options else ""}</div></li>'
        )

    def _more(self, offer: Offer, lessons: Sequence[Offer]) -> str:
        """What it builds on and leads to, and what it gives."""
        numbers = {other.name: other.number for other in lessons}
        later = [other.name for other in lessons if offer.name in other.head.lessons]
        words = [entry for entry in offer.head.builds_on if entry not in numbers]
        builds = [*map(html.escape, words), *(self._jump(name, numbers[name]) for name in offer.head.lessons)]
        parts = [f"<p>Builds on {', '.join(builds)}</p>"] if builds else []
        leads = ", ".join(self._jump(name, numbers[name]) for name in later)
        parts += [f"<p>Leads to {leads}</p>"] if later else []
        gives = "".join(f"<li>{html.escape(line)}</li>" for line in offer.gives)
        return (
            f'<div class="ways">{"".join(parts)}</div><details><summary>What you will be able to do'
            f'<span class="for-readers"> after lesson {offer.number}</span></summary><ul>{gives}</ul></details>'
        )

    def _jump(self, name: str, number: int) -> str:
        return f'<a href="#{name}" aria-label="lesson {number}">{number}</a>'


class CourseMap(SphinxDirective):
    """`{course-map}`: the lessons, and what leads to what; a link on each."""

    def run(self) -> list[nodes.Node]:
        """Two drawings: a style sheet shows the one that fits."""
        return [
            raw(
                '<div class="maps">'
                + course_map.drawn(offers(), lambda name: page(f"lessons/{name}", self.env.docname))
                + "</div>"
            )
        ]


def groups(lessons: Sequence[Offer]) -> Iterator[tuple[str, list[Offer]]]:
    """Lessons that stand below the same heading, one after the other."""
    for heading, together in groupby(lessons, key=lambda offer: offer.head.group):
        yield heading or OTHERS, list(together)


def page(target: str, seen_from: str) -> str:
    """The address of a page, seen from another: both as Sphinx names documents."""
    return posixpath.relpath(f"{target}.html", posixpath.dirname(seen_from) or ".")


def raw(text: str) -> nodes.raw:
    """HTML that stands as it is."""
    return nodes.raw("", text, format="html")


def _image(drawn: shown.Picture, site: Path, seen_from: str) -> str:
    """A picture that is fetched when it comes into sight."""
    address, width, height = drawn.small(site)
    src = posixpath.relpath(address, posixpath.dirname(seen_from) or ".")
    return (
        f'<img src="{src}" alt="{html.escape(drawn.alt)}" width="{width}" height="{height}" loading="lazy" '
        'decoding="async">'
    )


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" + ("" if number == 1 else "s")
