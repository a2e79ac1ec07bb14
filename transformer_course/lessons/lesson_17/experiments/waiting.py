"""Many readers at once: passes until all have their stories, and the memory that waits for tokens that never come."""

import math
import random
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import pandas as pd
import torch

from transformer_course import plots
from transformer_course.fast_answers.engine import new_caches, read_on
from transformer_course.fast_answers.serving import BlockCache, serve
from transformer_course.language_model.storyteller import END, published_sizes, story_ids
from transformer_course.lessons.lesson_12.experiments.stories import LONGEST, beginnings, some_stories
from transformer_course.lessons.lesson_17.experiments.drafts import target_and_words
from transformer_course.plots import Picture

Serve = Callable[..., list[list[int]]]


def lengths_of_stories(count: int, seed: int = 1) -> list[int]:
    """How many tokens stories have."""
    words = target_and_words()[1]
    return [len(story_ids(words, story.text)) - 1 for story in some_stories(count, seed)]


def lengths_asked(count: int, seed: int = 1) -> list[int]:
    """How many tokens readers stay for: each leaves after a paragraph of the story, and which one is drawn."""
    words = target_and_words()[1]
    chance, lengths = random.Random(seed), []
    for story in some_stories(count, seed):
        paragraphs = story.text.split("\n")
        read = "\n".join(paragraphs[: chance.randint(1, len(paragraphs))])
        lengths.append(len(words.encode(read)))
    return lengths


def passes(lengths: Sequence[int], slots: int, serving: Serve = serve) -> tuple[int, float]:
    """Passes until texts of these lengths are done and the share of slots in use, when texts join and leave."""
    in_use = occupied(lengths, slots, serving)
    return len(in_use), sum(in_use) / len(in_use) / slots


def batch_by_batch(lengths: Sequence[int], slots: int) -> tuple[int, float]:
    """The same when a batch has to end before the next begins."""
    in_use = in_batches(lengths, slots)
    return len(in_use), sum(in_use) / len(in_use) / slots


def in_batches(lengths: Sequence[int], slots: int) -> list[int]:
    """How many texts are in each pass, when a batch has to end before the next begins."""
    batches = [lengths[start : start + slots] for start in range(0, len(lengths), slots)]
    return [sum(length > number for length in batch) for batch in batches for number in range(max(batch))]


def occupied(lengths: Sequence[int], slots: int, serving: Serve = serve) -> list[int]:
    """How many texts are in each pass, when they join and leave. Which tokens come doesn't matter for that: a countdown
    takes the model's place.
    """
    in_use: list[int] = []

    def step(texts: list[list[int]]) -> list[int]:
        in_use.append(len(texts))
        return [text[-1] - 1 for text in texts]

    serving(step, [[length] for length in lengths], slots, 0, max(lengths) + 1)
    return in_use


def draw_slots(in_use: Mapping[str, Sequence[int]], title: str) -> Picture:
    """How many slots are in use in each pass; where all texts are done, the line ends.

    >>> draw_slots({"batch by batch": [2, 2, 1], "join and leave": [2, 2]}, title="Slots")
    Slots (slots in use by pass)
    batch by batch: 2 at 0, 2 at 1, 1 at 2
    join and leave: 2 at 0, 2 at 1, not a number at 2
    """
    longest = max(map(len, in_use.values()))
    lines = {name: [*row, *[math.nan] * (longest - len(row))] for name, row in in_use.items()}
    return plots.curves(lines, x_label="pass", y_label="slots in use", title=title, legend=True)


def blocks_needed(lengths: Sequence[int], block_size: int, longest: int = LONGEST) -> pd.DataFrame:
    """Memory, in tokens: what stories need when they are done, what they take in blocks, and what room for the longest
    would take."""
    needed = sum(lengths)
    in_blocks = sum(-(-length // block_size) * block_size for length in lengths)
    rows = {
        "in use": needed,
        f"blocks of {block_size}": in_blocks,
        f"room for {longest} each": longest * len(lengths),
    }
    return pd.DataFrame({"tokens": rows, "in use": {name: f"{needed / taken:.0%}" for name, taken in rows.items()}})


def told_together(
    count: int = 6,
    slots: int = 3,
    block_size: int = 16,
    seed: int = 0,
    serving: Serve = serve,
    kind: type[Any] = BlockCache,
) -> tuple[list[str], int, int]:
    """Stories by the storyteller, in one server with a cache in blocks: the stories, the passes, and the most blocks
    that were in use at a time. Of its most likely tokens, always the first."""
    target, words = target_and_words()
    heads = published_sizes()["num_attention_heads"]
    num_blocks = slots * -(-LONGEST // block_size)
    caches = new_caches(target, heads, num_blocks, block_size, kind)
    known: dict[tuple[int, ...], Hashable] = {}
    calls, most = [0], [0]

    def step(texts: list[list[int]]) -> list[int]:
        calls[0] += 1
        gone = set(known) - {tuple(text[:-1]) for text in texts}
        for left in gone:  # those that have left give their blocks back
            for cache in caches:
                cache.truncate(known[left], 0)
            del known[left]
        new: dict[Hashable, list[int]] = {}
        names = []
        for text in texts:
            name = known.pop(tuple(text[:-1]), None)
            new[name if name is not None else tuple(text)] = text if name is None else text[-1:]
            names.append(name if name is not None else tuple(text))
            known[tuple(text)] = names[-1]
        with torch.no_grad():
            logits = read_on(target, new, caches, heads)
        most[0] = max(most[0], num_blocks - caches[0].free())
        return [int(logits[name][-1].argmax()) for name in names]

    begun = beginnings(count, 1 + seed)
    prompts = [story_ids(words, text)[:-1].tolist() for text in begun]
    answers = serving(step, prompts, slots, END, LONGEST - 50)
    told = [
        words.decode([*prompt[1:], *(i for i in answer if i != END)])
        for prompt, answer in zip(prompts, answers, strict=True)
    ]
    return told, calls[0], most[0]
