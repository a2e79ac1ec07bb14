"""An answer that somebody types into a page: its text is run and checked, and what `check` would show comes back."""

from __future__ import annotations

import html
import sys
import traceback
from functools import cache
from typing import Any

from cellcheck.checking.cards import card, plain
from cellcheck.checking.check import Checker
from cellcheck.checking.judge import PASSED

_FILE = "your answer"


def check_typed(lesson: str, symbol: str, text: str) -> dict[str, Any]:
    """Runs a text that should define an exercise's symbol, and checks it.

    Returns:
        `right`: whether it earns all points; `points`; `diagnosis`: the mistake's name or None; `html`: the card, or
        why there is none; `plain`: the same as text.
    """
    checker = _checker(lesson)
    namespace = surroundings(checker, symbol)
    try:
        exec(compile(text, _FILE, "exec", dont_inherit=True), namespace)
    except (Exception, SystemExit) as error:  # whatever a visitor writes
        return _stopped(_said(error))
    if symbol not in namespace:
        return _stopped(f"Your text doesn't define {symbol}. Begin with: def {symbol}(...)")
    verdict = checker.verdict(symbol, namespace[symbol])
    return {
        "right": verdict.status == PASSED,
        "points": verdict.score,
        "diagnosis": verdict.diagnosis,
        "html": card(verdict),
        "plain": plain(verdict),
    }


def surroundings(checker: Checker, symbol: str) -> dict[str, Any]:
    """What the right answer has around it, less the lesson's answers that come later, and its own."""
    module = sys.modules[checker.lesson[symbol].references[0].__module__]
    earlier = {exercise.symbol for exercise in checker.lesson.before(symbol)}
    answers = {exercise.symbol for exercise in checker.lesson.exercises} - earlier
    there = {name: value for name, value in vars(module).items() if name not in answers and not name.startswith("__")}
    return {**there, "__name__": "__main__"}


@cache
def _checker(lesson: str) -> Checker:
    return Checker(lesson)


def _stopped(sentence: str) -> dict[str, Any]:
    shown = f'<p class="live-stopped">{html.escape(sentence)}</p>'
    return {"right": False, "points": 0.0, "diagnosis": None, "html": shown, "plain": sentence}


def _said(error: BaseException) -> str:
    """What went wrong, and in which line of the text."""
    if isinstance(error, SyntaxError):
        where = f" (line {error.lineno})" if error.filename == _FILE and error.lineno else ""
        return f"Python can't read this{where}: {error.msg}."
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == _FILE]
    where = f" in line {lines[-1]}" if lines else ""
    return f"Your text stops{where} with {type(error).__name__}: {error}"
