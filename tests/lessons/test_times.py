"""A sitting of lessons 1 to 14 takes as long as its head says: to read, to write the exercises, and to run the cells in
between, with a guess before and a look after. Readers were never quicker than that, and often a bit slower.
"""

import re
from pathlib import Path

import pytest

from cellcheck.repository import Repository

REPOSITORY = Repository.find(Path(__file__).parent)
LESSONS = (
    "01_pytorch_basics",
    "02_tokenizer",
    "03_classification_transformer",
    "04_seq2seq_cross_attention",
    "05_causal_masks",
    "06_positional_encodings",
    "07_autoregressive_sampling",
    "08_attention_is_all_you_need",
    "09_numpy_transformer",
    "10_training_well",
    "11_language_model",
    "12_then_and_now",
    "13_beyond_language",
    "14_length_generalization",
)
WORDS_A_MINUTE = 200
MINUTES_A_CELL = 1
MOST_TO_SPARE = 20  # minutes


@pytest.mark.parametrize("lesson", LESSONS)
def test_reading_running_and_exercises_are_what_the_head_says(lesson: str) -> None:
    parts = REPOSITORY.text(lesson).read_text("utf-8").split("# ## Time for a break")
    for sitting, text in zip(REPOSITORY.head(lesson).sittings, parts, strict=True):
        cells = [cell for cell in re.split(r"(?m)^(?=# %%)", text) if cell.startswith("# %%")]
        prose = [cell for cell in cells if cell.startswith("# %% [markdown]")]
        exercises = sum(int(minutes) for minutes in re.findall(r"minutes=(\d+)", text))
        reading = len("".join(prose).split()) / WORDS_A_MINUTE
        needed = reading + exercises + MINUTES_A_CELL * (len(cells) - len(prose))
        assert needed <= sitting < needed + MOST_TO_SPARE
