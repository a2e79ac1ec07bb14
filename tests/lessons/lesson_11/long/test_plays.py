"""Lesson 11 reads Shakespeare on two seeds: characters and byte pairs, old and new, adapted to another style.

The plays aren't part of the course: they are downloaded once, or read from the folder that COURSE_MIRROR names.
"""

import copy

import pandas as pd

from course.tasks.shakespeare import shakespeare
from lessons.lesson_11 import experiments as lab
from tests.lessons.tables import write


def test_11_plays() -> None:
    plays = lab.Book("Shakespeare", shakespeare())
    texts = (plays.title, plays.to_learn, plays.to_examine)
    letters, pairs = lab.in_characters(*texts), lab.in_byte_pairs(*texts)
    whale = lab.restyled(pairs, lab.other_style(plays))
    rows: list[tuple[str, int, float]] = []
    for seed in (0, 1):

        def note(what: str, value: float, seed: int = seed) -> None:
            rows.append((what, seed, value))
            print(what, seed, round(value, 3), flush=True)

        note("characters in a byte pair", len(plays.to_learn) / len(pairs.train))
        for name, make, corpus, preset in (
            ("characters", lab.new_gpt, letters, lab.CHARACTERS),
            ("byte pairs", lab.new_gpt, pairs, lab.PAIRS),
            ("byte pairs, new parts", lab.new_llama, pairs, lab.PAIRS),
        ):
            run = lab.read(make, corpus, preset, seed=seed, name=name)
            note(f"bits, {name}", lab.bits(run.model, corpus, preset.length))
            note(f"seconds, {name}", run.seconds)
        for place, cost in zip((1, 2, 4, 8, 16, 32), _at(run.model, pairs), strict=True):
            note(f"bits per token after {place}", cost)
        said = lab.continued(run.model, pairs, "ROMEO:\n", tokens=500, temperature=1.0, top_p=1.0, seed=seed)
        note("longest copy, model", len(lab.longest_copy(said[7:907], plays.to_learn)))
        found = lab.copied({str(i): plays.to_examine[i : i + 900] for i in range(0, 18_000, 900)}, plays)
        note("longest copy, held out, median", float(found["characters"].median()))
        note("longest copy, held out, most", float(found["characters"].max()))
        note("bits, learnt text", lab.bits(run.model, pairs, 32, ids=pairs.train[:10_000]))
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
    write("11_plays", pd.DataFrame(rows, columns=["what", "seed", "value"]).round(4))


def _at(model: object, corpus: lab.Corpus) -> list[float]:
    table = lab.by_position(model, corpus, 32).set_index("tokens read")["bits per token"]  # type: ignore[arg-type]
    return [float(table[place]) for place in (1, 2, 4, 8, 16, 32)]
