"""The third rung: how is a word said? Real words, a baseline, and attention that can be read letter by letter."""

import math
from collections.abc import Callable, Sequence

import pandas as pd
import torch
from torch import nn

from transformer_course.paper.batches import Batches
from transformer_course.paper.fitting import OURS, Parts, Run, fit
from transformer_course.paper.looking import HIDDEN, last_crossing
from transformer_course.paper.model import Transformer
from transformer_course.paper.recipes import Recipe
from transformer_course.paper.writing import write
from transformer_course.tasks.spelling import LETTERS, LONGEST, SpellingData, edits, has_relative, letter_lookup, score
from transformer_course.tasks.symbols import Symbols

SPELLING = Recipe(128, 1, 4, 256, 0.0, LONGEST + 2, steps=700, warmup_steps=250, max_tokens=1200)

Say = Callable[[str], Sequence[str]]


def train_speller(
    data: SpellingData,
    build: Callable[..., nn.Module] = Transformer,
    parts: Parts = OURS,
    *,
    recipe: Recipe = SPELLING,
    steps: int | None = None,
    watch: Callable[[int, nn.Module], None] | None = None,
    watch_every: int = 100,
    seed: int = 0,
) -> tuple[nn.Module, Run]:
    """Train a model to say the words of `data.train`."""
    model = recipe.build(LETTERS.size, data.sounds.size, build=build, seed=seed)
    run = fit(
        model,
        Batches(data.examples(), recipe.max_tokens, seed),
        recipe,
        vocab_size=data.sounds.size,
        parts=parts,
        steps=steps,
        watch=None if watch is None else lambda step: watch(step, model),
        watch_every=watch_every,
        seed=seed,
        name="spelling to sounds",
    )
    return model, run


def say_all(model: nn.Module, words: Sequence[str], sounds: Symbols) -> dict[str, list[str]]:
    """What the model says for each word. Anything but a letter from a to z is left out: it has never seen any."""
    spelt = {word: [letter for letter in word.lower() if letter in LETTERS.symbols] for word in words}
    sources = [LETTERS.encode(letters) for letters in spelt.values()]
    rows = write(model, sources, max_length=LONGEST + 1)
    return {word: sounds.decode(ids) for word, ids in zip(spelt, rows, strict=True)}


def spelling_scores(by_speaker: dict[str, dict[str, list[str]]], data: SpellingData) -> pd.DataFrame:
    """A row for each way of saying the test words: the shares of right words and sounds, and the words alone split
    by whether the training words hold a relative ("whale" for "whales").
    """
    rows = []
    for name, answers in by_speaker.items():
        whole = score(answers, data.test)
        row = {"said by": name, "words": whole.words, "sounds": whole.sounds}
        for related in (True, False):
            some = {word: spoken for word, spoken in data.test.items() if has_relative(word, data.train) is related}
            row["words with a relative" if related else "words without"] = (
                score(answers, some).words if some else math.nan
            )
        rows.append(row)
    return pd.DataFrame(rows)


def baselines(data: SpellingData) -> dict[str, dict[str, list[str]]]:
    """What the two letter look-ups say for the test words."""
    by_context = {}
    for name, context in (("one letter at a time", 0), ("with both neighbours", 1)):
        say = letter_lookup(data.train, context)
        by_context[name] = {word: say(word) for word in data.test}
    return by_context


def some_words(answers: dict[str, list[str]], data: SpellingData, count: int = 8) -> pd.DataFrame:
    """The first test words: how they are said, what was written, and how far off that is."""
    rows = []
    for word in list(data.test)[:count]:
        distance, best = min(((edits(answers[word], one), one) for one in data.test[word]), key=lambda pair: pair[0])
        rows.append({"word": word, "wanted": " ".join(best), "written": " ".join(answers[word]), "edits": distance})
    return pd.DataFrame(rows)


def letters_looked_at(model: nn.Module, word: str, sounds: Symbols) -> tuple[dict[str, torch.Tensor], list[str]]:
    """Which letter each sound looks at: {head: (sounds, letters)} in the last cross-attention, and the sounds.

    The last row belongs to the end of the word. Both are empty where the model doesn't return what it looks at.
    """
    (ids,) = write(model, [LETTERS.encode(word)], max_length=LONGEST + 1)
    written = [sounds.start_id, *ids]
    crossing = last_crossing(model, torch.tensor([LETTERS.encode(word)]), torch.tensor([written[:-1]]))
    if crossing is None:
        print(HIDDEN)
        return {}, []
    heads = {f"head {number}": weights for number, weights in enumerate(crossing)}
    return {**heads, "mean of the heads": crossing.mean(dim=0)}, [*sounds.decode(ids), "(end)"][: len(ids)]
