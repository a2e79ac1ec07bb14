"""What hand-written pages show of the real thing: a check's card, what a model wrote, the attacks that are tried."""

from __future__ import annotations

import ast
import html
import re
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from grader.checking.cards import card
from grader.checking.notebook import Checker
from grader.errors import GraderError
from grader.learning.lessons import offers
from grader.syllabus import load_lesson, syllabi


class CheckCard(SphinxDirective):
    """`{check-card} LESSON SYMBOL MISTAKE`: the card that `check` shows to somebody who makes that mistake."""

    required_arguments = 3

    def run(self) -> list[nodes.Node]:
        """Checks the mistake as a learner's answer is checked."""
        lesson, symbol, name = self.arguments
        answers = [m.implementation for m in load_lesson(lesson)[symbol].mistakes if m.name == name]
        if not answers:
            raise self.error(f"{symbol} in lesson {lesson} has no mistake called {name}.")
        return [_raw(card(Checker(lesson).verdict(symbol, answers[0])))]


class Writing(SphinxDirective):
    """`{writing}`: what the course's preview recorded of a model that learns, letter by letter."""

    _LETTER, _ROUND = 0.06, 0.9
    """Seconds between two letters, and between two rounds of training."""

    def run(self) -> list[nodes.Node]:
        """A table whose letters appear one after the other, once; a style sheet says how.

        What the model wrote last is taken for right: a test holds the preview to that.
        """
        found = syllabi()[0].preview
        if found is None:
            raise self.error("This course has no preview.csv.")
        caption, (head, *rows) = found
        self.env.note_dependency(str(syllabi()[0].folder / "preview.csv"))
        heads = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in head)
        body = "".join(self._row(*row) for row in rows)
        return [
            _raw(
                f'<figure><figcaption id="writing">{html.escape(caption)}</figcaption>'
                '<div class="scrolls" tabindex="0" role="group" aria-labelledby="writing">'
                f'<table class="writing" aria-labelledby="writing"><thead><tr>{heads}</tr></thead>'
                f"<tbody>{body}</tbody></table></div></figure>"
            )
        ]

    def _row(self, word: str, *written: str) -> str:
        cells = ""
        for number, text in enumerate(written):
            right = text == written[-1]
            heard = f'<span class="for-readers">{html.escape(text)}{", right" if right else ""}</span>'
            cells += f"<td{' class=right' if right else ''}>{heard}{self._letters(text, number)}</td>"
        return f'<tr><th scope="row">{html.escape(word)}</th>{cells}</tr>'

    def _letters(self, text: str, number: int) -> str:
        """Letters for the eye; a screen reader hears the word."""
        letters = ""
        for place, letter in enumerate(text):
            delay = number * self._ROUND + place * self._LETTER
            letters += f'<span style="animation-delay:{delay:.2f}s">{html.escape(letter)}</span>'
        return f'<span aria-hidden="true">{letters}</span>'


class Lessons(SphinxDirective):
    """`{lessons}`: all lessons, what each gives, and how long it takes."""

    def run(self) -> list[nodes.Node]:
        """A definition list in Markdown, so that links are checked as any others."""
        lines: list[str] = []
        for offer in offers():
            lines += [f"[Lesson {offer.number} · {offer.title}](lessons/{offer.name}.ipynb)"]
            lines += [f": {'; '.join(offer.gives)}.\n", f"  *{offer.time}.*", ""]
        found = nodes.container(classes=["lessons"])
        self.state.nested_parse(StringList("\n".join(lines).splitlines(), self.get_source_info()[0]), 0, found)
        return [found]


class Attacks(SphinxDirective):
    """`{attacks} FOLDER`: what is tried in that folder of tests, read from the tests' names."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """One definition list: a file's docstring, and its tests."""
        folder = Path(self.env.relfn2path(self.arguments[0])[1])
        found = nodes.definition_list()
        for file in sorted(folder.glob("test_*.py")):
            self.env.note_dependency(str(file))
            tree = ast.parse(file.read_text("utf-8"))
            names = [n.name for n in tree.body if isinstance(n, ast.FunctionDef) and n.name.startswith("test_")]
            tried = nodes.bullet_list("", *(nodes.list_item("", nodes.paragraph("", said(name))) for name in names))
            title = re.sub(r"`([^`]*)`", r"\1", (ast.get_docstring(tree) or file.stem).split("\n\n")[0])
            found += nodes.definition_list_item("", nodes.term("", title), nodes.definition("", tried))
        if not found.children:
            raise GraderError(f"There are no tests in {folder}.")
        return [found]


def said(name: str) -> str:
    """A test's name as a sentence.

    >>> said("test_an_endless_loop_costs_one_exercise")
    'An endless loop costs one exercise'
    """
    return name.removeprefix("test_").replace("_", " ").capitalize()


def _raw(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")
