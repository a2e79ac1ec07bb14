"""What a lesson's text says as data: its head, its exercises and its set-up. They are read here alone.

# ---
# title: Middle and spread
# topic: median and standard deviation
# group: Foundations
# picture: a_bar_with_ten_guests
# sittings: [30]
# builds_on: [01_first_steps]
# gives:
#   - find the middle of some numbers
# ---

# %% [markdown] exercise="median" kind="core" difficulty=1 minutes=10
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, NoReturn

from cellcheck.errors import GraderError

KINDS = ("core", "stretch")
_FENCE = "# ---"
_SECTION = "# ## "
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_SETUP = re.compile(r"^# %% setup=true\n(.*?)(?=^# %%|\Z)", re.MULTILINE | re.DOTALL)
_HINT = re.compile(r"^# <details><summary>Hint \d+</summary>\n(.*?)^# </details>$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r'\b(\w+)=("[^"]*"|\S+)')
_EXERCISE = 'exercise="median" kind="core" difficulty=1 minutes=10'
_KEYS = {
    "title": ("what the lesson is called", "title: Middle and spread"),
    "sittings": ("the minutes of each sitting", "sittings: [60, 45]"),
    "gives": ("what learners will be able to do", 'gives: ["find the middle of some numbers"]'),
    "builds_on": ("lessons by name, or words for what else it builds on", "builds_on: [01_first_steps]"),
    "topic": ("what the lesson is about, in words that one would search for", "topic: median and standard deviation"),
    "group": ("the heading that it stands below, among the lessons", "group: Foundations"),
    "picture": ("a picture of the lesson, by its name or its title", "picture: a_bar_with_ten_guests"),
}
_WORDS = ("title", "topic", "group", "picture")
_OPTIONAL = ("builds_on", "topic", "group", "picture")
_JUPYTEXT = ("jupyter",)
"""What Jupytext keeps in the same place."""


@dataclass(frozen=True)
class Head:
    """What a lesson is, as the head of its text says it."""

    title: str
    sittings: tuple[int, ...]
    """The minutes of each."""
    builds_on: tuple[str, ...]
    """Earlier lessons by name, and in words what else one should know."""
    gives: tuple[str, ...]
    """What you will be able to do; Markdown."""
    topic: str = ""
    """What it is about, in words that somebody would search for; may be empty."""
    group: str = ""
    """The heading that it stands below where all lessons are listed; may be empty."""
    picture: str = ""
    """A picture of the executed lesson that stands for it: a function's name in `pictures`, or how the title of one
    that a cell drew begins. Empty: the first there is."""

    @property
    def minutes(self) -> int:
        """How long it takes, all sittings together."""
        return sum(self.sittings)

    @property
    def called(self) -> str:
        """Its title, and its topic if it has one.

        >>> Head("Middle and spread", (30,), (), (), topic="median and standard deviation").called
        'Middle and spread: median and standard deviation'
        """
        return f"{self.title}: {self.topic}" if self.topic else self.title

    @property
    def time(self) -> str:
        """How long the lesson takes, as a sentence without its full stop.

        >>> Head("", (75, 110), (), ()).time
        'About 75 and 110 minutes, in two sittings'
        """
        if len(self.sittings) == 1:
            return f"About {self.sittings[0]} minutes, in one sitting"
        count = len(self.sittings)
        number = _NUMBERS[count] if count < len(_NUMBERS) else str(count)
        one = set(self.sittings)
        minutes = f"{one.pop()} minutes each" if len(one) == 1 else f"{listed(map(str, self.sittings))} minutes"
        return f"About {minutes}, in {number} sittings"

    @property
    def lessons(self) -> tuple[str, ...]:
        """The names of the lessons that it builds on."""
        return tuple(entry for entry in self.builds_on if names_a_lesson(entry))

    def foundations(self, called: Callable[[str], str]) -> str:
        """What it builds on, as part of a sentence; `called` makes words, or a link, of a lesson's name."""
        return listed(called(entry) if names_a_lesson(entry) else entry for entry in self.builds_on)


@dataclass(frozen=True)
class Announcement:
    """An exercise, as its cell's mark announces it."""

    symbol: str
    kind: str
    difficulty: int
    minutes: int
    part: str = ""
    """The section that it stands in, by its heading; empty above the first."""

    @property
    def heading(self) -> str:
        """The heading above it in the notebook."""
        return f"### Exercise: `{self.symbol}` · {self.kind} · difficulty {self.difficulty} · {self.minutes} minutes"


@dataclass(frozen=True)
class LessonText:
    """The text of one lesson."""

    path: Path

    @cached_property
    def _content(self) -> str:
        return self.path.read_text("utf-8")

    @property
    def setup(self) -> str:
        """The code of its set-up cell."""
        return "".join(_SETUP.findall(self._content))

    @property
    def exercises(self) -> tuple[Announcement, ...]:
        """The exercises, in their order.

        Raises:
            GraderError: when a mark leaves something out, or an exercise has two cells.
        """
        return tuple(self._announced())

    def hints(self, symbol: str) -> tuple[str, ...]:
        """The hints above an exercise, in their order; Markdown."""
        _, _, rest = self._content.partition(f'# %% [markdown] exercise="{symbol}" ')
        cell = rest.partition("\n# %%")[0]
        return tuple(re.sub(r"^# ?", "", hint, flags=re.MULTILINE).strip() for hint in _HINT.findall(cell))

    def head(self, lessons: Sequence[str]) -> Head:
        """Its head, in a course that has these lessons.

        Raises:
            GraderError: when it is missing, or leaves out or misspells something.
        """
        values, lines = self._read_head()
        for key, line in lines.items():
            if key not in _KEYS and key not in _JUPYTEXT:
                near = get_close_matches(str(key), _KEYS, n=1)
                self._refuse(line, f"the head of a text knows no {key!r}. {_did_you_mean(near, tuple(_KEYS))}")
        read = {key: self._value(key, values.get(key), lines.get(key, 1)) for key in _KEYS}
        builds_on = tuple(read["builds_on"])
        earlier = [name for name in lessons if name < self.path.stem]
        for entry in builds_on:
            if names_a_lesson(entry) and entry not in earlier:
                near = get_close_matches(entry, earlier, n=1)
                self._refuse(
                    lines["builds_on"],
                    f"builds_on has {entry}, and no earlier lesson is called that. {_did_you_mean(near, earlier)}",
                )
        words = {key: read[key] for key in _WORDS}
        return Head(sittings=tuple(read["sittings"]), builds_on=builds_on, gives=tuple(read["gives"]), **words)

    def _read_head(self) -> tuple[dict[str, Any], dict[str, int]]:
        """The head's values, and the line of each."""
        first, *rest = self._content.splitlines() or [""]
        if first != _FENCE or _FENCE not in rest:
            self._refuse(
                1, f"begin the text with its head: {_FENCE}, then such lines as # title: TITLE, then {_FENCE}."
            )
        head = "\n".join(line.removeprefix("#") for line in rest[: rest.index(_FENCE)])
        try:
            return _mapping(head)
        except _Fault as fault:
            self._refuse(fault.line, fault.sentence)

    def _value(self, key: str, value: Any, line: int) -> Any:
        what, example = _KEYS[key]
        if value is None and key in _OPTIONAL:
            return "" if key in _WORDS else []
        if value is None:
            self._refuse(line, f"the head does not say {what}: add a line such as # {example}")
        if key in _WORDS:
            right = isinstance(value, str) and bool(value)
        elif key == "sittings":
            right = _is_a_list(value, int) and bool(value) and min(value) > 0
        else:
            right = _is_a_list(value, str) and bool(value or key in _OPTIONAL)
        if not right:
            self._refuse(line, f"{key} should be {what}, as in # {example}. A text with a colon needs quotes.")
        return value

    def _announced(self) -> Iterator[Announcement]:
        symbols: set[str] = set()
        part = ""
        for number, line in enumerate(self._content.splitlines(), start=1):
            part = line.removeprefix(_SECTION) if line.startswith(_SECTION) else part
            if not line.startswith("# %%") or "exercise=" not in line:
                continue
            marks = dict(_MARK.findall(line))
            symbol = marks.get("exercise", "").strip('"')
            try:
                kind, difficulty, minutes = (json.loads(marks[key]) for key in ("kind", "difficulty", "minutes"))
                each = Announcement(symbol, kind, difficulty, minutes, part)
            except (KeyError, ValueError):
                each = None
            if not line.startswith("# %% [markdown] ") or each is None or not _is_sound(each):
                self._refuse(
                    number,
                    f"the cell of {symbol} should begin with a line such as # %% [markdown] {_EXERCISE}. Its kind is "
                    f"{' or '.join(KINDS)}, and its difficulty from 1 to 5.",
                )
            if symbol in symbols:
                self._refuse(number, f"the text has two cells for {symbol}. Take one of them out.")
            symbols.add(symbol)
            yield each

    def _refuse(self, line: int, sentence: str) -> NoReturn:
        raise GraderError(f"{self.path}, line {line}: {sentence}")


class _Fault(Exception):
    """What is wrong with a head, and in which line of the text."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(sentence)
        self.line, self.sentence = line, sentence


@lru_cache(maxsize=64)
def _mapping(head: str) -> tuple[dict[str, Any], dict[str, int]]:
    """A head's values, and the line of each; once for each text, since it takes milliseconds.

    Raises:
        _Fault: when it isn't one.
    """
    import yaml  # here, since a learner's check needs no head, and may run where there is no PyYAML

    try:
        node, values = yaml.compose(head, yaml.SafeLoader), yaml.safe_load(head)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "it is no YAML"
        sentence = f"the head can't be read: {problem}. A text with a colon needs quotes."
        raise _Fault(mark.line + 2 if mark else 1, sentence) from None
    if not isinstance(node, yaml.MappingNode):
        raise _Fault(2, "the head should have lines such as # title: TITLE.")
    return values, {key.value: key.start_mark.line + 2 for key, _ in node.value}


def names_a_lesson(entry: str) -> bool:
    """Whether something that a lesson builds on is a lesson: its name begins with its number."""
    return entry[:1].isdigit()


def listed(words: Iterable[str]) -> str:
    """Words as an enumeration.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    *most, last = list(words) or [""]
    return f"{', '.join(most)} and {last}" if most else last


def _is_sound(each: Announcement) -> bool:
    numbers = (each.difficulty, each.minutes)
    return (
        each.symbol.isidentifier()
        and each.kind in KINDS
        and all(type(number) is int and number > 0 for number in numbers)
        and each.difficulty <= 5
    )


def _is_a_list(value: Any, of: type) -> bool:
    return isinstance(value, list) and all(type(each) is of for each in value)


def _did_you_mean(near: Sequence[str], there: Sequence[str]) -> str:
    if near:
        return f"Did you mean {near[0]}?"
    return f"There are {', '.join(there)}." if there else "There is none."
