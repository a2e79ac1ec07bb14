"""The long tables: measurements that take too long for a notebook. `make claims` makes them, on two seeds."""

from pathlib import Path

import pandas as pd


def measured(name: str) -> pd.DataFrame:
    """The table `name` of a lesson: "04_lengths" stands in `transformer_course/lessons/lesson_04/tables/lengths.csv`.

    Its first line says which command made it.

    Raises:
        FileNotFoundError: when there is no such table.
    """
    number, _, table = name.partition("_")
    return pd.read_csv(Path(__file__).parent / f"lesson_{number}" / "tables" / f"{table}.csv", comment="#")
