"""A sitting of lesson 10 takes as long as its head says."""

import re
from pathlib import Path

from cellcheck.repository import Repository

REPOSITORY = Repository.find(Path(__file__).parent)
LESSON = "10_training_well"
WORDS_A_MINUTE = 200
FOR_A_DIAGNOSIS, FOR_A_RUN = 2, 1  # minutes


def test_reading_exercises_diagnoses_and_runs_fit_into_each_sitting() -> None:
    parts = REPOSITORY.text(LESSON).read_text("utf-8").split("# ## Time for a break")
    for sitting, text in zip(REPOSITORY.head(LESSON).sittings, parts, strict=True):
        prose = "".join(cell for cell in re.split(r"(?m)^(?=# %%)", text) if cell.startswith("# %% [markdown]"))
        exercises = sum(int(minutes) for minutes in re.findall(r"minutes=(\d+)", text))
        runs = len(re.findall(r"lab\.(?:train|sweep|with_\w+|run)\(", text))
        diagnoses = len(re.findall(r"lab\.show\(", text))
        needed = len(prose.split()) / WORDS_A_MINUTE + exercises + diagnoses * FOR_A_DIAGNOSIS + runs * FOR_A_RUN
        assert 0.75 * sitting <= needed <= sitting
