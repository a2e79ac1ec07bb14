"""Writing a table of measurements where `transformer_course.lessons.tables.measured` finds it."""

from pathlib import Path

import pandas as pd

LESSONS = Path(__file__).resolve().parents[2] / "transformer_course" / "lessons"


def write(name: str, table: pd.DataFrame) -> None:
    """Writes the table ("04_lengths" is lesson 4's `lengths`); its first line says which command made it."""
    number, _, stem = name.partition("_")
    text = table.to_csv(index=False, float_format="%.4g", lineterminator="\n")
    made_by = f"# Measured by: make claims (tests/lessons/lesson_{number}/long/test_{stem}.py)\n"
    (LESSONS / f"lesson_{number}" / "tables" / f"{stem}.csv").write_text(made_by + text, "utf-8")
