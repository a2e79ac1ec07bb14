"""Writing a table of measurements where `course.data.measured` finds it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

DATA = Path(__file__).resolve().parents[2] / "data"


def write(name: str, table: pd.DataFrame) -> None:
    """Writes `data/NAME.csv`; its first line says which command made it."""
    text = table.to_csv(index=False, float_format="%.4g", lineterminator="\n")
    (DATA / f"{name}.csv").write_text(f"# Measured by: make claims (tests/claims/long/test_{name}.py)\n{text}", "utf-8")
