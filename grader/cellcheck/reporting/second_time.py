"""Again, without help, for a class: what was solved the first time, and what of it a week later."""

from collections.abc import Iterable, Mapping

from rich.table import Table

from cellcheck.checking.judge import MISSING, PASSED
from cellcheck.running.result import Result


def second_time_table(first: Mapping[str, Result], second: Mapping[str, Iterable[Result]]) -> Table:
    """For each exercise: who solved it, who of the class tried it again, and who solved it without help.

    Args:
        first: what the class handed in, by learner.
        second: the notebooks of the second time, by learner. Each holds one exercise; all others are missing there.
    """
    table = Table(box=None, pad_edge=False, title="Again, without help", title_justify="left")
    table.add_column("exercise", overflow="fold")
    for heading in ("solved", "tried again", "solved again"):
        table.add_column(heading, justify="right", no_wrap=True)
    symbols = dict.fromkeys(verdict.symbol for result in first.values() for verdict in result.verdicts)
    solved = {
        symbol: {name for name, result in first.items() if _status(result, symbol) == PASSED} for symbol in symbols
    }
    for symbol in symbols:
        tries = {
            name: [status for result in results if (status := _status(result, symbol)) not in (None, MISSING)]
            for name, results in second.items()
        }
        tried = {name for name, statuses in tries.items() if statuses}
        solvers = {name for name in tried if PASSED in tries[name]}
        if solved[symbol] or tried:
            table.add_row(symbol, str(len(solved[symbol])), str(len(tried)), str(len(solvers)))
    return table


def _status(result: Result, symbol: str) -> str | None:
    return next((verdict.status for verdict in result.verdicts if verdict.symbol == symbol), None)
