"""The audit's table, in the terminal and in a text such as docs/audit.md."""

import re
from collections.abc import Mapping
from pathlib import Path

from rich.table import Table

from cellcheck.audit.audit import Row, total
from cellcheck.errors import GraderError
from cellcheck.syllabus import lesson_names

_BETWEEN = re.compile(r"(<!-- audit: begin -->\n).*?(<!-- audit: end -->)", re.DOTALL)


def audit_table(lesson: str, rows: list[Row]) -> Table:
    """A row for each exercise, and the sum."""
    # In a window of 80 characters a long name is folded; no number is cut off.
    table = Table(title=lesson, box=None, title_justify="left", pad_edge=False, collapse_padding=True)
    table.add_column("exercise", overflow="fold")
    columns = (
        "mistakes\ncaught",
        "\ndiagnosed",
        "with\na slip",
        "falsely\ndiagnosed",
        "right\naccepted",
        "mutants\ncaught",
        "equi-\nvalent",
        "pairs\nnamed",
    )
    widths = [max(map(len, column.split("\n"))) for column in columns]
    for column, width in zip(columns, widths, strict=True):
        table.add_column(column, justify="right", no_wrap=True, min_width=width)
    for row in [*rows, total(rows)]:
        counts = (*_cells(row), str(row.equivalent), str(row.pairs))
        table.add_row(row.symbol, *(cell.replace(" ", "") for cell in counts))
    return table


def _cells(row: Row) -> tuple[str, ...]:
    misnamed = f"{row.not_misnamed.total - row.not_misnamed.hits} / {row.not_misnamed.total}"
    first = (row.caught, row.diagnosed, row.second_slip)
    return (*map(str, first), misnamed, str(row.accepted), str(row.mutants))


def row_of(name: str, rows: list[Row]) -> str:
    """A lesson's row of the table in a text."""
    return " | ".join((f"| {name}", *_cells(total(rows)))) + " |"


def write_into(file: Path, audits: Mapping[str, list[Row]]) -> None:
    """Replaces these lessons' rows in the table that stands between the text's two marks; the others stay.

    Raises:
        GraderError: when the marks are missing.
    """
    lines = [
        "| lesson | mistakes caught | diagnosed as themselves | diagnosed when another slip comes along "
        "| false diagnoses | right answers accepted | mutants caught |",
        "|---|---|---|---|---|---|---|",
    ]
    text = file.read_text("utf-8")
    table = _BETWEEN.search(text)
    there = {line.split(" | ")[0].removeprefix("| "): line for line in (table[0].splitlines() if table else ())}
    there = {name: line for name, line in there.items() if name in lesson_names()}
    there |= {name: row_of(name, rows) for name, rows in audits.items()}
    lines += [there[name] for name in sorted(there)]
    summary = "\n".join(lines) + "\n"
    changed, count = _BETWEEN.subn(lambda match: match[1] + summary + match[2], text)
    if count != 1:
        raise GraderError(f"{file.name} needs the marks <!-- audit: begin --> and <!-- audit: end -->, once each.")
    file.write_text(changed, encoding="utf-8")
