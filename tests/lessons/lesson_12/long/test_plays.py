"""Shakespeare in byte pairs on two seeds: with old parts and new, and adapted to another style.

The plays aren't part of the course: they are downloaded once, or read from the folder that COURSE_MIRROR names.
"""

import copy

import pandas as pd

from tests.lessons.tables import write
from transformer_course.lessons.lesson_12 import experiments as lab
from transformer_course.tasks.shakespeare import shakespeare


def test_12_plays() -> None:
    plays = lab.Book("Shakespeare", shakespeare())
    pairs = lab.in_byte_pairs(plays.title, plays.to_learn, plays.to_examine)
    whale = lab.restyled(pairs, lab.other_style(plays))
    rows: list[tuple[str, int, float]] = []
    for seed in (0, 1):

        def note(what: str, value: float, seed: int = seed) -> None:
            rows.append((what, seed, value))
            print(what, seed, round(value, 3), flush=True)

        for name, make in (("byte pairs", lab.new_gpt), ("byte pairs, new parts", lab.new_llama)):
            run = lab.read(make, pairs, lab.PAIRS, seed=seed, name=name)
            note(f"bits, {name}", lab.bits(run.model, pairs, lab.PAIRS.length))
        note("Moby-Dick, before", lab.bits(run.model, whale, 32))
        note("kilobytes, model", lab.kilobytes(run.model))
        tuned = copy.deepcopy(run.model)
        lab.adapted(run.model, whale, seed=seed)
        note("Moby-Dick, LoRA", lab.bits(run.model, whale, 32))
        note("Shakespeare, LoRA", lab.bits(run.model, pairs, 32))
        note("kilobytes, LoRA", lab.kilobytes(run.model, learning=True))
        lab.fit(tuned, whale, 150, batch_size=16, rate=1e-3, seed=seed, name="all weights")
        note("Moby-Dick, all weights", lab.bits(tuned, whale, 32))
        note("Shakespeare, all weights", lab.bits(tuned, pairs, 32))
    write("12_plays", pd.DataFrame(rows, columns=["what", "seed", "value"]).round(4))
