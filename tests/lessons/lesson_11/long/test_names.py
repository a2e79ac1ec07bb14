"""Lesson 11 invents names on six seeds: how many are in the list, which of them were held out, and what either cost."""

import pandas as pd

from tests.lessons.tables import write
from transformer_course.language_model.batches import next_token_batches
from transformer_course.lessons.lesson_11 import experiments as lab


def _unshifted(ids, length, batch_size, generator):  # type: ignore[no-untyped-def]
    inputs, _ = next_token_batches(ids, length, batch_size, generator)
    return inputs, inputs


def _shifted_twice(ids, length, batch_size, generator):  # type: ignore[no-untyped-def]
    inputs, targets = next_token_batches(ids, length + 1, batch_size, generator)
    return inputs[:, :-1], targets[:, 1:]


def test_11_names() -> None:
    rows: list[tuple[str, int, float]] = []

    def note(what: str, seed: int, value: float) -> None:
        rows.append((what, seed, value))
        print(what, seed, round(value, 3), flush=True)

    for seed in range(6):
        corpus = lab.names(seed)
        run = lab.read(lab.new_gpt, corpus, lab.NAMES, seed=seed)
        note("bits, held out", seed, lab.bits(run.model, corpus, 16))
        note("bits, read", seed, lab.bits(run.model, corpus, 16, ids=corpus.train))
        losses = lab.losses_of(run.model, corpus.held_out, 16)
        note("nats, held out, standard error", seed, losses.std().item() / len(losses) ** 0.5)
        read, held_out = (set(corpus.decode(ids).split()) for ids in (corpus.train, corpus.held_out))
        texts = [lab.invented(run.model, corpus, count=200, seed=text) for text in range(1, 7)]
        counts = [lab.judged(text) for text in texts]
        hits = [200 * share["in the list"] for share in counts]
        note("in the list, of 200, least", seed, min(hits))
        note("in the list, of 200, most", seed, max(hits))
        note("in the list, of 200, mean", seed, sum(hits) / len(hits))
        shaped = [share["new, and shaped like a name"] for share in counts]
        note("shaped like a name, mean", seed, sum(shaped) / len(shaped))
        note("hits among those read", seed, sum(name in read for text in texts for name in text))
        note("hits among those held out", seed, sum(name in held_out for text in texts for name in text))
        if seed < 2:
            for name, batches in (
                ("shifted", next_token_batches),
                ("unshifted", _unshifted),
                ("shifted twice", _shifted_twice),
            ):
                losses_so_far = lab.read(lab.new_gpt, corpus, lab.NAMES, batches=batches, seed=seed).losses
                note(f"loss after 100 steps, {name}", seed, sum(losses_so_far[80:100]) / 20)
                note(f"last loss, {name}", seed, sum(losses_so_far[-50:]) / 50)
    write("11_names", pd.DataFrame(rows, columns=["what", "seed", "value"]).round(4))
