"""What an assistant may ask about a learner's work. Each reply is plain data, and none of them is an answer.

The docstrings of the five tools are what the assistant reads about them.

The learner's code comes from their notebook, as it was saved, and runs behind the walls that submissions run behind.
"""

from __future__ import annotations

import ast
import hashlib
import re
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from cellcheck.authoring.arrays import is_array
from cellcheck.checking.judge import MISSING, PASSED, PUBLIC_SEED, Evidence, Verdict
from cellcheck.errors import GraderError
from cellcheck.learning import again, progress
from cellcheck.learning.offers import Offer, OfferedExercise, offers, released
from cellcheck.learning.standing import LessonStanding, next_up, own_notebook, standings
from cellcheck.plain import visible
from cellcheck.running.plain_cells import MAX_BYTES, parse, source_of, too_large
from cellcheck.syllabus import find_lesson
from cellcheck.syntax import syntax_tree
from cellcheck.tutoring.prose import explanation, near, questions_about
from cellcheck.tutoring.withheld import gives_away

MAX_NUMBERS = 64
"""How many numbers of an array are told; of a larger one, its shape."""
MAX_WORDS = 1200
"""Letters of a message: a learner's error may say anything."""
_QUOTED = re.compile(r' The line is ".*?"\.(?= |$)')
_SENTENCES = re.compile(r"(?<=[.?!]) +")
_SAYS_LITTLE = 6
"""Words; a question of fewer is about the sentence before it."""
_EXAMPLE = re.compile(r">>> (?P<call>.+?)(?:  # .*)?$", re.MULTILINE)


class NoSuch(GraderError):
    """What was asked for isn't there; the sentence says what is."""


@dataclass(frozen=True)
class _Asked:
    """The exercise that a question is about."""

    offer: Offer
    exercise: OfferedExercise

    @property
    def lesson(self) -> str:
        return self.offer.name

    @property
    def symbol(self) -> str:
        return self.exercise.symbol


class Desk:
    """Answers questions about the work in one learner's folder."""

    def __init__(self, folder: Path) -> None:
        """`folder` holds the learner's lessons, and the record of what is solved."""
        self.folder = folder
        self._one_at_a_time = threading.Lock()
        self._graded: tuple[str, Sequence[Verdict]] = ("", ())
        self._advice: dict[tuple[str, str], str] = {}
        self._asked: Counter[tuple[str, str]] = Counter()

    def where_am_i(self) -> dict[str, Any]:
        """Where the learner is: the exercise that comes next, with its docstring, and how far each lesson is."""
        lessons = standings(self.folder)
        here = next_up(lessons)
        return {
            "next": self._next(here) if here else None,
            "lessons": [
                {
                    "lesson": each.offer.name,
                    "title": each.offer.title,
                    "solved": each.done,
                    "exercises": len(each.offer.exercises),
                    "points": each.points,
                    "of": each.offer.points,
                    "in_folder": each.notebook is not None,
                }
                for each in lessons
            ],
            "again_without_help": [f"{each.exercise.symbol} (lesson {each.number})" for each in again.due(self.folder)],
        }

    def _next(self, here: LessonStanding) -> dict[str, Any]:
        assert here.next is not None
        record = progress.record(self.folder)
        symbol = here.next.symbol
        return {
            "lesson": here.offer.name,
            "title": here.offer.title,
            "exercise": symbol,
            "minutes": here.next.minutes,
            "difficulty": here.next.difficulty,
            "wrong_answers_so_far": record.wrong.get(here.offer.name, {}).get(symbol, 0),
            "contract": self._contract(_Asked(here.offer, here.next)),
        }

    def check(self, symbol: str, lesson: str = "") -> dict[str, Any]:
        """Checks the answer that stands in the learner's saved notebook. The verdict is true: go by it, don't judge.

        It tells which aspects hold, which known mistake it is, what to say about that, and the case that goes wrong.
        `symbol` is the name of the exercise's function or class; `lesson` ("05") is for names that two lessons have.
        """
        asked = self._find(symbol, lesson)
        notebook = own_notebook(self.folder, asked.lesson)
        if notebook is None:
            raise NoSuch(f"There is no notebook of {asked.lesson} in the learner's folder yet.")
        data = self._read(notebook)
        with self._one_at_a_time:
            verdict = self._verdict(data, asked)
            self._take_down(asked, verdict, data)
        return {
            "exercise": asked.symbol,
            "lesson": asked.lesson,
            "status": verdict.status,
            "score": verdict.score,
            "of": verdict.max_score,
            "aspects": [{"name": each.name, "holds": each.passed, "meaning": each.meaning} for each in verdict.aspects],
            "diagnosis": verdict.diagnosis,
            "message": _cut(_unquoted(verdict.message)),
            "case": told_case(verdict.evidence) if verdict.evidence is not None else None,
            "notebook_saved": f"{datetime.fromtimestamp(notebook.stat().st_mtime):%Y-%m-%d %H:%M:%S}",
        }

    def _read(self, notebook: Path) -> bytes:
        try:
            size = notebook.stat().st_size
            if size > MAX_BYTES:
                raise NoSuch(too_large(size))
            return notebook.read_bytes()
        except OSError as error:
            raise NoSuch(f"The notebook can't be read: {error.strerror}.") from None

    def _verdict(self, data: bytes, asked: _Asked) -> Verdict:
        """All of the notebook is judged at once, and kept until another one is asked for."""
        from cellcheck.api import grade_notebook

        key = f"{asked.lesson} {hashlib.sha256(data).hexdigest()}"
        if self._graded[0] != key:
            result = grade_notebook(data, lesson=asked.lesson, seed=PUBLIC_SEED)
            self._graded = key, result.verdicts
        for verdict in self._graded[1]:
            if verdict.symbol == asked.symbol:
                return verdict
        raise NoSuch(f"The file {asked.lesson}.ipynb in the learner's folder holds another lesson's notebook.")

    def _take_down(self, asked: _Asked, verdict: Verdict, data: bytes) -> None:
        """As the notebook's own check does."""
        key = (asked.lesson, asked.symbol)
        self._advice.pop(key, None)
        if verdict.status == PASSED:
            progress.note(self.folder, *key, verdict.score, verdict.status)
        if verdict.status in (MISSING, PASSED):
            return
        self._advice[key] = verdict.advice
        progress.note(self.folder, *key, verdict.score, verdict.status, cell_of(data, asked.symbol))

    def hint(self, symbol: str, lesson: str = "") -> dict[str, Any]:
        """The next hint of the lesson: one for each wrong answer, and none before the first try.

        `symbol` and `lesson` are those of `check`.
        """
        asked = self._find(symbol, lesson)
        syllabus, name = find_lesson(asked.lesson)
        hints = syllabus.hints(name, asked.symbol)
        wrong = progress.record(self.folder).wrong.get(asked.lesson, {}).get(asked.symbol, 0)
        number = min(wrong, len(hints))
        reply: dict[str, Any] = {"exercise": asked.symbol, "number": number, "of": len(hints), "wrong_answers": wrong}
        if not hints:
            return reply | {"hint": None, "why": "This exercise has no hints. The check says what is wrong."}
        if number == 0:
            return reply | {"hint": None, "why": "There is a hint after the first wrong answer. Ask for a guess."}
        if gives_away(hints[number - 1]):
            return reply | {"hint": None, "why": "This one is nearly code. The learner finds it above the exercise."}
        return reply | {"hint": hints[number - 1], "why": "" if number < len(hints) else "This is the last one."}

    def explain(self, term: str) -> dict[str, Any]:
        """The paragraph of the course that explains a term, such as "causal mask" or "residual stream"."""
        _refuse_long(term)
        here = next_up(standings(self.folder))
        entry = explanation(term, here.offer.name if here else None)
        if entry is None:
            like = near(term)
            raise NoSuch(
                f"No lesson explains {visible(term, 60)!r}." + (f" Did you mean {' or '.join(like)}?" if like else "")
            )
        return {
            "term": entry.term,
            "paragraph": entry.paragraph,
            "glossary": entry.meaning,
            "lesson": entry.lesson,
            "section": entry.section,
        }

    def smaller_question(self, symbol: str, lesson: str = "") -> dict[str, Any]:
        """A question for the learner that is smaller than the exercise and leads on. Another one each time.

        `symbol` and `lesson` are those of `check`.
        """
        asked = self._find(symbol, lesson)
        key = (asked.lesson, asked.symbol)
        questions = list(dict.fromkeys(self._questions(asked)))
        question = questions[self._asked[key] % len(questions)]
        self._asked[key] += 1
        return {"exercise": asked.symbol, "question": question, "of": len(questions)}

    def _questions(self, asked: _Asked) -> Iterator[str]:
        """The one of the mistake that was found, the text's, one about the docstring's example, one about shapes."""
        advice = self._advice.get((asked.lesson, asked.symbol), "")
        yield from _last_question(advice)
        yield from questions_about(asked.lesson, asked.symbol)
        calls = [match["call"] for match in _EXAMPLE.finditer(self._contract(asked))]
        if calls:
            yield (
                f"What does the docstring's example give, `{calls[-1]}`, and why that? Work it out on paper, without "
                "looking at the result below it."
            )
        yield f"What does {asked.symbol} take, what does it return, and what are their shapes or types?"

    def _contract(self, asked: _Asked) -> str:
        """The docstring in the released notebook, where there is no answer."""
        stub = cell_of(released()[asked.lesson].read_bytes(), asked.symbol)
        try:
            nodes = [node for node in syntax_tree(stub).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
        except SyntaxError:
            return ""
        return next((ast.get_docstring(node) or "" for node in nodes if node.name == asked.symbol), "")

    def _find(self, symbol: str, lesson: str) -> _Asked:
        for text in (symbol, lesson):
            _refuse_long(text)
        every = [_Asked(offer, exercise) for offer in offers() for exercise in offer.exercises]
        if lesson:
            names = {asked.lesson for asked in every}
            lessons = {name for name in names if lesson in (name, name.split("_")[0], name.split("_")[0].lstrip("0"))}
            if not lessons:
                raise NoSuch(f"There is no lesson {visible(lesson, 60)!r}. There are {', '.join(sorted(names))}.")
            every = [asked for asked in every if asked.lesson in lessons]
        matches = [asked for asked in every if asked.symbol == symbol]
        if not matches:
            raise NoSuch(f"There is no exercise {visible(symbol, 60)!r}. Ask where_am_i for the one that comes next.")
        if len(matches) > 1:
            names_of = " and ".join(asked.lesson for asked in matches)
            raise NoSuch(f"{names_of} both have an exercise {symbol}: name the lesson, too.")
        return matches[0]


def _refuse_long(text: str) -> None:
    if len(text) > 200:
        raise NoSuch("That is too long. Name an exercise, a lesson or a term.")


def cell_of(data: bytes, symbol: str) -> str:
    """The source of an exercise's cell."""
    for cell in parse(data):
        marks = cell.get("metadata", {}) if isinstance(cell, dict) else {}
        marks = marks.get("nbgrader", {}) if isinstance(marks, dict) else {}
        if isinstance(marks, dict) and marks.get("grade_id") == symbol:
            return source_of(cell)
    return ""


def _last_question(advice: str) -> Iterator[str]:
    """The question that an advice ends with, and what that is about."""
    sentences = _SENTENCES.split(advice)
    places = [place for place, sentence in enumerate(sentences) if sentence.endswith("?")]
    if places:
        first = places[-1] - (len(sentences[places[-1]].split()) < _SAYS_LITTLE)
        yield " ".join(sentences[max(first, 0) : places[-1] + 1])


def _unquoted(message: str) -> str:
    """A message without the learner's own line, where that is a line of the answer as well."""
    return _QUOTED.sub("", message) if gives_away(message) else message


def _cut(text: str) -> str:
    return text if len(text) <= MAX_WORDS else f"{text[:MAX_WORDS]} ..."


def told_case(evidence: Evidence) -> dict[str, Any]:
    """The case that the card shows."""
    return {
        "where": evidence.label,
        "what": _cut(evidence.called or evidence.path),
        "expected": _told(evidence.expected),
        "got": _told(evidence.got),
        "inputs": {name: _told(value) for name, value in evidence.beside.items()},
    }


def _told(value: Any) -> Any:
    """A value as data that JSON can hold: small ones in full, large ones by their shape."""
    if is_array(value):
        shape = list(value.shape)
        size = 1
        for length in shape:
            size *= length
        dtype = str(value.dtype).removeprefix("torch.")
        return {"shape": shape, "dtype": dtype} | ({"values": _numbers(value)} if size <= MAX_NUMBERS else {})
    if value is None or isinstance(value, bool | int | float):
        return value if not isinstance(value, float) or (value == value and abs(value) != float("inf")) else str(value)
    return _cut(value if isinstance(value, str) else repr(value))


def _numbers(value: Any) -> Any:
    """The numbers as lists; what JSON has no sign for, as text."""

    def plain(item: Any) -> Any:
        if isinstance(item, list):
            return [plain(each) for each in item]
        if isinstance(item, float) and (item != item or abs(item) == float("inf")):
            return str(item)
        if isinstance(item, float):
            return float(f"{item:.6g}")
        return item if isinstance(item, int | float | str) else str(item)

    return plain(value.tolist())
