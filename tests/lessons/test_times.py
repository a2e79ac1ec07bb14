"""A sitting of lessons 4 to 7 takes as long as its head says: reading, and the exercises' own minutes."""

import re
from pathlib import Path

import pytest

from cellcheck.repository import Repository

REPOSITORY = Repository.find(Path(__file__).parent)
LESSONS = ("04_seq2seq_cross_attention", "05_causal_masks", "06_positional_encodings", "07_autoregressive_sampling")
WORDS_A_MINUTE = 200
ROUNDED_UP_TO = 5  # minutes


@pytest.mark.parametrize("lesson", LESSONS)
def test_reading_and_exercises_are_what_the_head_says(lesson: str) -> None:
    parts = REPOSITORY.text(lesson).read_text("utf-8").split("# ## Time for a break")
    for sitting, text in zip(REPOSITORY.head(lesson).sittings, parts, strict=True):
        prose = "".join(cell for cell in re.split(r"(?m)^(?=# %%)", text) if cell.startswith("# %% [markdown]"))
        exercises = sum(int(minutes) for minutes in re.findall(r"minutes=(\d+)", text))
        needed = len(prose.split()) / WORDS_A_MINUTE + exercises
        assert sitting - ROUNDED_UP_TO < needed <= sitting
