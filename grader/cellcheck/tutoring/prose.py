"""The lessons' prose as paragraphs, without their folds: what explains a term, and the questions that a text asks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from itertools import chain
from pathlib import Path

from cellcheck.syllabus import syllabi

_CELL = re.compile(r"^# %% \[markdown\](?P<marks>[^\n]*)\n(?P<text>.*?)(?=^# %%|\Z)", re.MULTILINE | re.DOTALL)
_FOLD = re.compile(r"<(/?)details\b[^>]*>")
_ROW = re.compile(r"^\| (.+?) \| (.+) \|$", re.MULTILINE)
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*")
_SYMBOL = re.compile(r'exercise="(\w+)"')
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


@dataclass(frozen=True)
class Paragraph:
    """One paragraph of a lesson."""

    lesson: str
    section: str
    """The heading above it."""
    text: str
    symbol: str | None = None
    """The exercise that it introduces."""

    @property
    def bold(self) -> list[str]:
        """The words that it sets in bold, as it does with terms that it introduces; headings and questions are none."""
        return [match.lower() for match in _BOLD.findall(self.text) if match[-1] not in ".:?!" and match[0].isalpha()]

    # Every question looks at every paragraph of the course.
    @cached_property
    def introduced(self) -> frozenset[str]:
        """The terms that it sets in bold, and their singulars."""
        return frozenset(form for word in self.bold for form in _forms(word))

    @cached_property
    def plain(self) -> str:
        """Its words alone."""
        return _plain(self.text)


@dataclass(frozen=True)
class Explanation:
    """What the course says about a term."""

    term: str
    lesson: str
    section: str
    paragraph: str
    meaning: str = ""
    """The lesson's glossary, in a sentence."""


def explanation(term: str, first: str | None = None) -> Explanation | None:
    """The paragraph that introduces a term, in the lesson `first` if it is there; None where no lesson has the word.

    Where none introduces it, the glossary explains it better than a paragraph that happens to have the word.
    """
    wanted = _plain(term)
    if not re.search(r"\w", wanted):
        return None
    every = sorted(_paragraphs(), key=lambda each: each.lesson != first)
    meanings = {word: entry for word, entry in _glossary().items() if wanted in _forms(word)}
    meaning = next(iter(meanings.values()), ("", ""))
    introducing = [each for each in every if wanted in each.introduced]
    if meaning[1] and not introducing:
        return Explanation(wanted, meaning[0], "Glossary", meaning[1], meaning[1])
    word = re.compile(rf"(?<!\w){re.escape(wanted)}(?:s|es)?(?!\w)", re.IGNORECASE)
    using = (each for each in every if word.search(each.plain) and not each.text.startswith("**"))
    paragraph = next(chain(introducing, using), None)
    if paragraph is None:
        return None
    return Explanation(wanted, paragraph.lesson, paragraph.section, paragraph.text, meaning[1])


def near(term: str) -> list[str]:
    """Terms that the course explains and that look like this one."""
    terms = {word for each in _paragraphs() for word in each.bold if len(word) < 40} | set(_glossary())
    return get_close_matches(_plain(term), sorted(terms), n=3, cutoff=0.6)


def questions_about(lesson: str, symbol: str) -> list[str]:
    """The questions that the text asks, in bold, where it introduces an exercise."""
    return [
        question.strip()
        for each in _paragraphs()
        if each.lesson == lesson and each.symbol == symbol
        for question in _BOLD.findall(each.text)
        if question.strip().endswith("?")
    ]


def without_folds(text: str) -> str:
    """A text without what it keeps folded away: hints, answers and what one should see."""
    parts, depth, start = [], 0, 0
    for fold in _FOLD.finditer(text):
        if depth == 0:
            parts.append(text[start : fold.start()])
        depth = max(depth + (-1 if fold[1] else 1), 0)
        start = fold.end()
    return "".join(parts) + (text[start:] if depth == 0 else "")


@cache
def _paragraphs() -> tuple[Paragraph, ...]:
    return tuple(
        paragraph
        for syllabus in syllabi()
        for name in syllabus.names()
        for paragraph in _paragraphs_of(name, syllabus.text(name))
    )


def _paragraphs_of(lesson: str, path: Path) -> Iterator[Paragraph]:
    section = ""
    for cell in _CELL.finditer(path.read_text("utf-8")):
        marked = _SYMBOL.search(cell["marks"])
        symbol = marked[1] if marked else None
        text = _COMMENT.sub("", without_folds(re.sub(r"^# ?", "", cell["text"], flags=re.MULTILINE)))
        if symbol:
            section = f"Exercise: {symbol}"
        for block in re.split(r"\n\s*\n", text):
            block = block.strip()
            if block.startswith("#"):
                section = block.splitlines()[0].lstrip("# ")
                block = "\n".join(block.splitlines()[1:]).strip()
            if block and not block.startswith(("![", "|", "```", "<", "Docs:")) and not block.isupper():
                yield Paragraph(lesson, section, block, symbol)


@cache
def _glossary() -> dict[str, tuple[str, str]]:
    """For each word in a lesson's glossary, the lesson and the meaning."""
    entries: dict[str, tuple[str, str]] = {}
    for syllabus in syllabi():
        for name in syllabus.names():
            text = re.sub(r"^# ?", "", syllabus.text(name).read_text("utf-8"), flags=re.MULTILINE)
            _, _, table = text.partition("## Glossary\n")
            for word, meaning in _ROW.findall(table.partition("\n## ")[0]):
                for part in word.split(","):
                    entries.setdefault(_plain(part), (name, meaning.strip()))
    return entries


def _forms(word: str) -> set[str]:
    """A term, and its singular."""
    plain = _plain(word)
    return {plain, plain.removesuffix("s"), plain.removesuffix("es")}


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[*`$]", "", text).lower().split())
