"""Lesson 14's experiments: a picture says what its table says."""

import pandas as pd
import torch

from transformer_course.lessons.lesson_14 import experiments as lab


def test_pictures_name_rows_and_columns() -> None:
    table = pd.DataFrame({5: [1.0, 0.75], 20: [0.5, 0.0]}, index=["reversed", "window"])
    assert lab.shares_drawn(table, "Sums right").text.split("\n")[-3:] == [
        "            5  20",
        "reversed    1 0.5",
        "window   0.75   0",
    ]
    assert lab.sight_drawn(torch.eye(2, 3)).text.split("\n")[-3:] == ["  1 2 3", "1 1 0 0", "2 0 1 0"]
