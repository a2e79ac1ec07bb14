"""Lesson 11 reads Shakespeare: byte pairs on three seeds; characters, and other beginnings for a control, on two.

The plays aren't part of the course: they are downloaded once, or read from the folder that COURSE_MIRROR names.
"""

import math

import pandas as pd
import torch
from torch import nn

from tests.lessons.tables import write
from transformer_course.lessons.lesson_11 import experiments as lab
from transformer_course.tasks.shakespeare import shakespeare


def _positions_of_one(corpus: lab.Corpus, preset: lab.Preset) -> nn.Module:
    model = lab.new_gpt(corpus, preset)
    return lab.with_tables_of_one(model, model.positions.embedding)  # type: ignore[union-attr, arg-type]


def _embedding_of_one(corpus: lab.Corpus, preset: lab.Preset) -> nn.Module:
    model = lab.new_gpt(corpus, preset)
    return lab.with_tables_of_one(model, model.embedding)  # type: ignore[arg-type]


def _both_of_one(corpus: lab.Corpus, preset: lab.Preset) -> nn.Module:
    model = lab.new_gpt(corpus, preset)
    return lab.with_tables_of_one(model, model.embedding, model.positions.embedding)  # type: ignore[union-attr, arg-type]


def _scaled(corpus: lab.Corpus, preset: lab.Preset) -> nn.Module:
    return lab.scaled_residuals(lab.new_gpt(corpus, preset))


def test_11_plays() -> None:
    plays = lab.Book("Shakespeare", shakespeare())
    texts = (plays.title, plays.to_learn, plays.to_examine)
    letters, pairs = lab.in_characters(*texts), lab.in_byte_pairs(*texts)
    rows: list[tuple[str, int, float]] = []
    for seed in (0, 1, 2):

        def note(what: str, value: float, seed: int = seed) -> None:
            rows.append((what, seed, value))
            print(what, seed, round(value, 3), flush=True)

        torch.manual_seed(seed)
        note("bets on the token just read, embedding at 1", _repeats(_embedding_of_one(pairs, lab.PAIRS), pairs))
        kinds = [("byte pairs", pairs, lab.PAIRS)]
        if seed < 2:
            kinds = [("characters", letters, lab.CHARACTERS), *kinds]
            for name, make in (
                ("positions at 1", _positions_of_one),
                ("embedding at 1", _embedding_of_one),
                ("both at 1", _both_of_one),
                ("residuals scaled", _scaled),
            ):
                run = lab.read(make, pairs, lab.PAIRS, seed=seed, name=name)
                note(f"bits, {name}", lab.bits(run.model, pairs, lab.PAIRS.length))
                note(f"first loss, {name}", run.losses[0])
        for name, corpus, preset in kinds:
            run = lab.read(lab.new_gpt, corpus, preset, seed=seed, name=name)
            note(f"bits, {name}", lab.bits(run.model, corpus, preset.length))
            note(f"seconds, {name}", run.seconds)
            note(f"first loss, {name}", run.losses[0])
        losses = lab.context_losses(run.model, pairs, 32) / math.log(2)
        for read in (1, 2, 4, 8, 16, 24, 32):
            note(f"bits per token after {read}", losses[:, read - 1].mean().item())
        gains = losses[:, 3] - losses[:, 15]
        note("gain from 4 to 16, standard error", gains.std().item() / len(gains) ** 0.5)
        for text in range(8):
            note(f"longest copy, text {text}", _longest(run.model, pairs, plays, 100 * seed + text))
        with torch.no_grad():
            chosen = lab.choices(run.model, pairs, plays, context=32)
        for row in chosen.to_dict("records"):
            note(f"in the book, {row['chosen by']}", row["words in the book"])
            note(f"different words, {row['chosen by']}", row["different words"])
    rows.append(("byte pairs to learn from", 0, len(pairs.train)))
    held_out = lab.copied({str(i): plays.to_examine[i : i + 500] for i in range(0, 18_000, 500)}, plays)["characters"]
    for what, value in (("least", held_out.min()), ("median", held_out.median()), ("most", held_out.max())):
        rows.append((f"longest copy, held out, {what}", 0, float(value)))
    write("11_plays", pd.DataFrame(rows, columns=["what", "seed", "value"]).round(4))


def _repeats(model: nn.Module, pairs: lab.Corpus) -> float:
    """How often a model's most likely next token is the token that it has just read."""
    tokens = pairs.held_out[:640].reshape(20, 32)
    with torch.no_grad():
        return float((model(tokens).argmax(dim=-1) == tokens).double().mean())


def _longest(model: nn.Module, pairs: lab.Corpus, plays: lab.Book, seed: int) -> int:
    """Of 500 characters that the model writes, the longest piece that it has read."""
    with torch.no_grad():
        text = lab.continued(model, pairs, "ROMEO:\n", tokens=400, temperature=1.0, top_p=1.0, seed=seed)
    assert len(text) >= 507
    return len(lab.longest_copy(text[7:507], plays.to_learn))
