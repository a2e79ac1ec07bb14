"""Lesson 8's table about Multi30k: its padding, its baselines, and the CPU preset on two seeds.

The preset is measured after 300 steps, which the notebook takes, and after all of them. The files aren't part of the
course: they are downloaded once, or read from the folder that COURSE_MIRROR names.
"""

from pathlib import Path

import pandas as pd

from tests.lessons.tables import write
from transformer_course.lessons.lesson_08 import experiments as lab
from transformer_course.paper.recipes import CPU


def test_multi30k(tmp_path: Path) -> None:
    data = lab.corpus()
    some = data.test[:200]
    rows: list[tuple[str, int, float]] = [
        (f"padding, {name}", 0, share) for name, share in lab.padding_shares(data).items()
    ]
    for pairs, of in ((data.test, ""), (some, " of 200")):
        for _, row in lab.score_table(lab.baseline_translations(data, pairs), pairs)[0].iterrows():
            rows += [(f"{score}{of}, {row['translated by']}", 0, row[score]) for score in ("BLEU", "chrF")]
    for seed in (0, 1):
        for steps in (300, CPU.steps):
            model, _, curve = lab.train_translator(data, steps=steps, seed=seed, checkpoint=tmp_path / f"{seed}.pt")
            rows += [
                (f"validation loss, {row['step']:.0f} steps", seed, row["validation loss"])
                for _, row in curve.iterrows()
            ]
            translations = lab.translate(model, [one for one, _ in some], data.subwords)
            scores, _ = lab.score_table({"model": translations}, some)
            rows += [(f"{score} of 200, {steps} steps", seed, scores[score][0]) for score in ("BLEU", "chrF")]
    write("08_multi30k", pd.DataFrame(rows, columns=["what", "seed", "value"]).round(4))
