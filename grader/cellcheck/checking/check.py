"""`check(symbol)`, as it is used in a notebook."""

import dataclasses
import html
import inspect
import linecache
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cellcheck.authoring.observe import learners_line
from cellcheck.authoring.traces import process_put_back
from cellcheck.checking.cards import card, plain
from cellcheck.checking.earlier import bound
from cellcheck.checking.in_time import in_time, stopped_message
from cellcheck.checking.judge import MISSING, PASSED, PUBLIC_SEED, TIMEOUT, Judge, Verdict, ours_message, without_score
from cellcheck.checking.quiet import quiet
from cellcheck.syllabus import find_lesson, library_of, load_lesson, load_probes

_BELOW = '<div style="font-family:system-ui,sans-serif;font-size:13px;margin:4px 0 8px 18px">{}</div>'
OURS = "ours"
"""The status of the course's own answer, for whoever keeps a record."""
_NBGRADER = "NBGRADER_EXECUTION"
"""Where nbgrader says whether it grades."""
# The build puts that fold below the last hint of each exercise.
_WAY_ON = (
    "Stuck? The last fold above the exercise, <em>Use our version</em>, lets you finish the lesson without this one."
)


class NotYet(Exception):
    """Raised by `check` for a zero, so that Run All stops there and nbgrader counts no points.

    A notebook shows it as its one sentence, without a traceback.
    """

    has_a_card = False
    """Whether a card has said it already."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class Feedback:
    """What `check` returns: a card to look at, and for nbgrader the score as its plain text."""

    def __init__(self, verdict: Verdict, hints: Sequence[str] = (), of: int = 0, *, alone: bool = False) -> None:
        """The report on an answer; `hints` are those that it is time for, of so many. `alone`, there is no help."""
        self.verdict = verdict
        self._hints = () if alone else hints
        self._of = of
        self._alone = alone

    def __float__(self) -> float:
        return self.verdict.score

    def __repr__(self) -> str:
        return repr(self.verdict.score)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.shown()}

    def shown(self) -> str:
        """The card; below a red one the hints that it is time for, each in a fold, and after the last a way on."""
        if self._alone or self.verdict.status in (MISSING, PASSED):
            return card(self.verdict)
        folds = "".join(
            f"<details><summary>Hint {number} of {self._of}</summary>{_as_html(hint)}</details>"
            for number, hint in enumerate(self._hints, start=1)
        )
        return card(self.verdict) + _BELOW.format(folds + (_WAY_ON if len(self._hints) == self._of else ""))


class Checker:
    """The `check` of one lesson: `check(symbol)` says what is right, what is wrong, and why."""

    def __init__(
        self,
        lesson: str,
        remember: Callable[[str, float, str, str], None] | None = None,
        at_most: int | None = None,
        seed: int = PUBLIC_SEED,
    ) -> None:
        """A lesson's `check`.

        Args:
            lesson: its name.
            remember: is told what came of each check: the symbol, the score, the status, and the answer's cell as a
                text, which is empty where it can't be told.
            at_most: how often each exercise may be checked.
            seed: what the cases are drawn from. With one of its own, this is another try at what was solved before:
                it shows no hints.
        """
        self.lesson = load_lesson(lesson)
        self._remember = remember
        self._seed = seed
        # nbgrader reads marks from what a check shows.
        self._at_most = None if os.environ.get(_NBGRADER) == "autograde" else at_most
        self._checked: Counter[str] = Counter()
        self._probes = load_probes(self.lesson.name)
        self._judges: dict[str, Judge] = {}
        self._failed: Counter[str] = Counter()

    def __repr__(self) -> str:
        return f"check(symbol), for lesson {self.lesson.name}"

    def __call__(self, symbol: Any = None) -> Feedback | None:
        """Checks a symbol that you wrote.

        Args:
            symbol: the function or class itself, or its name.

        Returns:
            A report that shows itself as a card; its plain text is the score. None where no check is left.

        Raises:
            NotYet: when it earns nothing yet; the sentence says why.
        """
        caller = sys._getframe(1).f_globals
        name, symbol = self._identify(symbol, caller)
        self._checked[name] += 1
        if self._at_most is not None and self._checked[name] > self._at_most:
            print(_no_more(name, self._at_most))
            return None
        verdict = self.verdict(name, symbol)
        report = self._report(verdict)
        if self._remember is not None:
            status = OURS if self._is_ours(symbol) else verdict.status
            self._remember(name, verdict.score, status, _written(symbol))
        if verdict.score == 0 and not self._is_ours(symbol):  # whoever goes on with ours goes on
            _show(report)
            why = "is still blank" if verdict.status == MISSING else "earns no points yet; the card says why"
            stop = NotYet(f"Stopped here: {name} {why}.")
            stop.has_a_card = True
            raise stop
        if not _in_notebook():
            print(plain(verdict))
        return report

    def _report(self, verdict: Verdict) -> Feedback:
        """The report, with one more hint for each answer that was not right."""
        syllabus, lesson = find_lesson(self.lesson.name)
        hints = syllabus.hints(lesson, verdict.symbol)
        self._failed[verdict.symbol] += verdict.status not in (MISSING, PASSED)
        alone = self._seed != PUBLIC_SEED
        return Feedback(verdict, hints[: self._failed[verdict.symbol]], len(hints), alone=alone)

    def verdict(self, name: str, symbol: Any) -> Verdict:
        """The verdict on `symbol` as an answer to the exercise `name`."""
        exercise = self.lesson[name]
        if self._is_ours(symbol):
            return without_score(exercise, MISSING, ours_message(name))
        earlier = {e.symbol: e.references[0] for e in self.lesson.before(name)}
        with process_put_back(), quiet() as printed:
            judge = self._judge(name)
            try:
                with bound(symbol, earlier), in_time():
                    observations = judge.observe(symbol)
            except KeyboardInterrupt as stopped:
                message = stopped_message(stopped, learners_line(stopped.__traceback__))
                return without_score(exercise, TIMEOUT, message)
            verdict = judge.verdict(observations)
        return dataclasses.replace(verdict, printed=_first_lines(printed.getvalue()))

    def _is_ours(self, symbol: Any) -> bool:
        """Whether it was imported, and not written here."""
        return str(getattr(symbol, "__module__", "")).split(".")[0] in library_of(self.lesson)

    def _judge(self, name: str) -> Judge:
        if name not in self._judges:
            self._judges[name] = Judge(self.lesson[name], self._probes[name], self._seed)
        return self._judges[name]

    def _identify(self, symbol: Any, caller: Mapping[str, Any]) -> tuple[str, Any]:
        names = [exercise.symbol for exercise in self.lesson.exercises]
        if isinstance(symbol, str):
            if symbol not in names:
                raise NotYet(f"There is no exercise {symbol!r} in lesson {self.lesson.name}.")
            if symbol not in caller:
                raise NotYet(f"{symbol} is not there yet: run the cell that defines it, then check again.")
            return symbol, caller[symbol]
        own_name = getattr(symbol, "__name__", None)
        if own_name in names:
            return own_name, symbol
        for name in names:
            if name in caller and caller[name] is symbol:
                return name, symbol
        if not callable(symbol):
            raise NotYet(f"check takes the function or class that you wrote, without calling it: check({names[0]}).")
        raise NotYet(f"check does not know {own_name or 'this object'}. In this lesson it checks: {', '.join(names)}.")


def _written(symbol: Any) -> str:
    """The text of the cell that a function or a class was written in; empty where it can't be told."""
    home = getattr(symbol, "__module__", None)
    for part in (symbol, *vars(symbol).values()) if isinstance(symbol, type) else (symbol,):
        if callable(part) and getattr(part, "__module__", None) == home:
            code = getattr(inspect.unwrap(part), "__code__", None)
            if code is not None:
                return "".join(linecache.getlines(code.co_filename))
    return ""


def _no_more(name: str, at_most: int) -> str:
    if at_most < 1:
        return f"There are no checks here. {name} is marked after you have handed it in."
    times = "once" if at_most == 1 else f"{at_most} times"
    return f"{name} could be checked {times}, and has been. It is marked after you have handed it in."


def _first_lines(text: str, count: int = 5) -> str:
    lines = text.strip().splitlines()
    return "\n".join(line[:200] for line in lines[:count]) + ("\n..." if len(lines) > count else "")


def _in_notebook() -> bool:
    """Whether outputs can be HTML: a Jupyter or Colab kernel, not a terminal."""
    if "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return getattr(shell, "kernel", None) is not None


def _as_html(hint: str) -> str:
    """A hint's Markdown as HTML: paragraphs, `code` and *stress*; more is shown as it is written."""
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(hint))
    text = re.sub(r"(?<![\w*])\*(?=\S)([^*\n<>]+)(?<=\S)\*(?![\w*])", r"<em>\1</em>", text)
    return "".join(f'<p style="margin:4px 0 8px 14px;max-width:46em">{each}</p>' for each in text.split("\n\n"))


def _show(report: Feedback) -> None:
    if _in_notebook():
        from IPython.display import display

        # Only the HTML: a plain text that is a number would be read as a mark.
        display({"text/html": report.shown(), "text/plain": plain(report.verdict)}, raw=True)
    else:
        print(plain(report.verdict))
