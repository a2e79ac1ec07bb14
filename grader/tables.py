"""Tables for the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from rich.markup import escape
from rich.table import Table

from grader.authoring.spec import Lesson
from grader.checking.cards import points
from grader.checking.judge import MISSING, PARTIAL, PASSED, Verdict
from grader.plain import visible
from grader.running.result import Failure, Result


def results_table(outcomes: Iterable[tuple[str, Result | Failure]], who: str) -> Table:
    """A line for each submission: who, score, and what went wrong in a few words."""
    table = Table(box=None, pad_edge=False)
    table.add_column(who, overflow="fold")
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("what went wrong")
    for name, outcome in outcomes:
        if isinstance(outcome, Failure):
            table.add_row(escape(visible(name)), "-", escape(f"not graded: {visible(outcome.message, limit=1000)}"))
        else:
            score = f"{points(outcome.score)} / {points(outcome.max_score)}"
            table.add_row(escape(visible(name)), score, escape(in_a_few_words(outcome)))
    return table


def summary_table(outcomes: Iterable[Result | Failure]) -> Table:
    """A line for each exercise: how many solved it, how many points it gave on average, and its most common mistake."""
    results = [outcome for outcome in outcomes if isinstance(outcome, Result)]
    table = Table(box=None, pad_edge=False)
    table.add_column("exercise")
    for column in ("right", "partly", "not yet", "blank", "mean"):
        table.add_column(column, justify="right")
    table.add_column("most common mistake")
    symbols = list(dict.fromkeys(verdict.symbol for result in results for verdict in result.verdicts))
    for symbol in symbols:
        verdicts = [verdict for result in results for verdict in result.verdicts if verdict.symbol == symbol]
        counts = Counter(verdict.status if verdict.status in (PASSED, PARTIAL, MISSING) else "" for verdict in verdicts)
        mistakes = Counter(verdict.diagnosis for verdict in verdicts if verdict.diagnosis).most_common(1)
        mean = sum(verdict.score for verdict in verdicts) / len(verdicts)
        table.add_row(
            symbol,
            *(str(counts[status] or "") for status in (PASSED, PARTIAL, "", MISSING)),
            f"{points(round(mean, 2))} / {points(verdicts[0].max_score)}",
            "; ".join(f"{name.replace('_', ' ')} ({count})" for name, count in mistakes),
        )
    return table


def mistakes_table(results: Mapping[str, Result], known: Lesson) -> Table:
    """A line for each mistake that the class made, the most common of an exercise first: who made it, and the advice.

    What matches no known mistake is listed by what is wrong with it.
    """
    table = Table(box=None, pad_edge=False, show_lines=False)
    table.add_column("exercise")
    table.add_column("mistake")
    table.add_column("", justify="right")
    table.add_column("who")
    table.add_column("what they were told")
    for exercise in known.exercises:
        made: dict[tuple[str, str], list[str]] = {}
        advice = {mistake.name: mistake.advice for mistake in exercise.mistakes}
        for name, result in results.items():
            for verdict in result.verdicts:
                if verdict.symbol == exercise.symbol and verdict.status not in (PASSED, MISSING):
                    told = advice.get(verdict.diagnosis or "", "")
                    made.setdefault((_reason(verdict), told), []).append(name)
        for (mistake, told), who in sorted(made.items(), key=lambda item: (-len(item[1]), item[0])):
            cells = (exercise.symbol, mistake, str(len(who)), ", ".join(map(visible, who)), told)
            table.add_row(*(escape(cell) for cell in cells))
    return table


def in_a_few_words(result: Result) -> str:
    """What went wrong in a submission."""
    blank = [v for v in result.verdicts if v.status == MISSING]
    wrong = [v for v in result.verdicts if v.status not in (PASSED, MISSING)]
    if not wrong and not blank:
        words = ["nothing"]
    elif len(blank) == len(result.verdicts):
        words = ["not begun"]
    else:
        words = [f"{v.symbol}: {_reason(v)}" for v in wrong]
        if blank:
            words.append(f"{len(blank)} still blank")
    if result.repairs:
        words.append(f"{len(result.repairs)} repaired")
    return "; ".join(words)


def _reason(verdict: Verdict) -> str:
    if verdict.diagnosis:
        return verdict.diagnosis.replace("_", " ")
    failing = next((a.name for a in verdict.aspects if not a.passed), verdict.status)
    return failing if verdict.status in ("partial", "failed") else verdict.status
