"""`check(symbol)`, as it is used in a notebook."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping
from typing import Any

from grader.authoring.traces import process_put_back
from grader.checking.cards import card, plain
from grader.checking.earlier import bound
from grader.checking.judge import MISSING, PASSED, PUBLIC_SEED, Judge, Verdict, ours_message, without_score
from grader.checking.quiet import quiet
from grader.syllabus import library_of, load_lesson, load_probes

# The build puts that fold below the last hint of each exercise.
_WAY_ON = (
    '<div style="font-family:system-ui,sans-serif;font-size:13px;margin:4px 0 8px 18px">Stuck? The last fold above the '
    "exercise, <em>Go on with ours</em>, lets you finish the lesson without this one.</div>"
)


class NotYet(Exception):
    """Raised by `check` for a zero, so that Run All stops there and nbgrader counts no points.

    A notebook shows it as its one sentence, without a traceback.
    """

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


class Report:
    """What `check` returns: a card to look at, and for nbgrader the score as its plain text."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict

    def __float__(self) -> float:
        return self.verdict.score

    def __repr__(self) -> str:
        return repr(self.verdict.score)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": _shown(self.verdict)}


class Checker:
    """The `check` of one lesson: `check(symbol)` says what is right, what is wrong, and why."""

    def __init__(self, lesson: str, remember: Callable[[str, float], None] | None = None) -> None:
        """A lesson's `check`; `remember` is told each score that is earned."""
        self.lesson = load_lesson(lesson)
        self._remember = remember
        self._probes = load_probes(self.lesson.name)
        self._judges: dict[str, Judge] = {}

    def __repr__(self) -> str:
        return f"check(symbol), for lesson {self.lesson.name}"

    def __call__(self, symbol: Any) -> Report:
        """Checks a symbol that you wrote.

        Args:
            symbol: the function or class itself, or its name.

        Returns:
            A report that shows itself as a card; its plain text is the score.

        Raises:
            NotYet: when it earns nothing yet; the sentence says why.
        """
        caller = sys._getframe(1).f_globals
        name, symbol = self._identify(symbol, caller)
        verdict = self.verdict(name, symbol)
        report = Report(verdict)
        if verdict.score == 0 and not self._is_ours(symbol):  # whoever goes on with ours goes on
            _show(report)
            why = "is still blank" if verdict.status == MISSING else "earns no points yet; the card says why"
            raise NotYet(f"Stopped here: {name} {why}.")
        if self._remember is not None and verdict.score:
            self._remember(name, verdict.score)
        if not _in_notebook():
            print(plain(verdict))
        return report

    def verdict(self, name: str, symbol: Any) -> Verdict:
        """The verdict on `symbol` as an answer to the exercise `name`."""
        exercise = self.lesson[name]
        if self._is_ours(symbol):
            return without_score(exercise, MISSING, ours_message(name))
        earlier = {e.symbol: e.references[0] for e in self.lesson.before(name)}
        with process_put_back(), quiet() as printed:
            judge = self._judge(name)
            with bound(symbol, earlier):
                observations = judge.observe(symbol)
            verdict = judge.verdict(observations)
        return dataclasses.replace(verdict, printed=_first_lines(printed.getvalue()))

    def _is_ours(self, symbol: Any) -> bool:
        """Whether it was imported, and not written here."""
        return str(getattr(symbol, "__module__", "")).split(".")[0] in library_of(self.lesson)

    def _judge(self, name: str) -> Judge:
        if name not in self._judges:
            self._judges[name] = Judge(self.lesson[name], self._probes[name], PUBLIC_SEED)
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
            if caller.get(name) is symbol:
                return name, symbol
        raise NotYet(f"check does not know {own_name or 'this object'}. In this lesson it checks: {', '.join(names)}.")


def _first_lines(text: str, count: int = 5) -> str:
    lines = text.strip().splitlines()
    return "\n".join(line[:200] for line in lines[:count]) + ("\n..." if len(lines) > count else "")


def _in_notebook() -> bool:
    """Whether outputs can be HTML: a Jupyter or Colab kernel, not a terminal."""
    if "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return getattr(shell, "kernel", None) is not None


def _shown(verdict: Verdict) -> str:
    """The card, and a way on for those who are stuck."""
    return card(verdict) + ("" if verdict.status in (MISSING, PASSED) else _WAY_ON)


def _show(report: Report) -> None:
    if _in_notebook():
        from IPython.display import display

        # Only the HTML: a plain text that is a number would be read as a mark.
        display({"text/html": _shown(report.verdict), "text/plain": plain(report.verdict)}, raw=True)
    else:
        print(plain(report.verdict))
