"""The storyteller: published weights in the learner's model, its stories, and whether they hang together."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import pandas as pd
import torch
from torch import nn

from transformer_course.caching import KeyValueCache
from transformer_course.data import data_file
from transformer_course.fitting import evaluating
from transformer_course.language_model.cached import next_logits
from transformer_course.language_model.modern import ModernLanguageModel
from transformer_course.language_model.storyteller import (
    END,
    published_model,
    published_sizes,
    published_words,
    story_ids,
)
from transformer_course.language_model.words import Words
from transformer_course.libraries import quiet, try_to_import
from transformer_course.sampling import sample_with_temperature, top_p_filter
from transformer_course.tasks.stories import (
    ANIMALS,
    CALLS,
    CURES,
    FORMS,
    LOOKS,
    TREASURES,
    VILLAINS,
    Storyteller,
    Told,
    hero_names,
)

LONGEST = 450
"""Tokens after which a story is broken off: it has lost its way."""


def story_teller(kind: Callable[..., nn.Module] = ModernLanguageModel) -> tuple[nn.Module, Words]:
    """The learner's model with the published weights, and the words: ids for texts, and texts for ids.

    Where the learner's model has other parts, or its parts other names, the course's model takes its place, and a
    sentence says so.
    """
    words = published_words()
    try:
        return published_model(kind), words
    except Exception as problem:  # whatever a learner's class may do
        reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        print(
            "The published weights don't fit your model, so here the course's takes its place. They need the parts and "
            f"names of the docstrings. It stopped with: {reason}"
        )
        return published_model(), words


def held_against_published(model: nn.Module, words: Words, text: str) -> pd.DataFrame | None:
    """The logits of the learner's model, and of `transformers` with the same folder; None where that is missing."""
    library = try_to_import("transformers")
    if library is None:
        return None
    with quiet():
        theirs = library.LlamaForCausalLM.from_pretrained(data_file("storyteller/config.json").parent).float().eval()
    ids = story_ids(words, text)[None]
    with torch.no_grad():
        one, other = model(ids), theirs(ids).logits
    return pd.DataFrame(
        {
            "": ["yours", type(theirs).__name__],
            "parameters": [sum(p.numel() for p in each.parameters()) for each in (model, theirs)],
            "the most likely next words": [words.decode(each[0].argmax(-1)[:12]) for each in (one, other)],
            "largest difference of all logits": ["", f"{(one - other).abs().max().item():.1e}"],
        }
    )


def some_stories(count: int, seed: int = 1, *, new_names: bool = False) -> list[Told]:
    """Stories from the same grammar that the model has not read, with names that it has read or with new ones."""
    teller = Storyteller(2_000_000 + seed, hero_names(new=new_names))
    return [teller.story() for _ in range(count)]


def beginnings(count: int, seed: int = 1, *, new_names: bool = True) -> list[str]:
    """The first sentences of such stories: who there was, and where."""
    return [story.text.partition(".")[0] + "." for story in some_stories(count, seed, new_names=new_names)]


def told(
    model: nn.Module,
    words: Words,
    beginnings: Sequence[str],
    temperature: float = 0.7,
    top_p: float = 1.0,
    seed: int = 0,
) -> list[str]:
    """One story for each beginning, side by side, with the cache: each token is read once."""
    prompts = [story_ids(words, beginning)[:-1].tolist() for beginning in beginnings]
    rows: list[list[int]] = [[] for _ in prompts]
    chosen = torch.full((len(prompts),), END)
    generator, cache, heads = (
        torch.Generator().manual_seed(seed),
        KeyValueCache(),
        published_sizes()["num_attention_heads"],
    )
    with torch.no_grad():
        for place in range(LONGEST):
            for i, (row, prompt) in enumerate(zip(rows, prompts, strict=True)):
                row.append(prompt[place] if place < len(prompt) else int(chosen[i]))
            if all(END in row[1:] for row in rows):
                break
            newest = torch.tensor([[row[-1]] for row in rows])
            logits = next_logits(model, newest, place, cache, heads)[:, -1]
            if temperature > 0:
                logits = top_p_filter(logits / temperature, top_p)
            chosen = sample_with_temperature(logits, 1.0 if temperature else 0.0, generator)
    return [words.decode(row[1 : [*row[1:], END].index(END) + 1]) for row in rows]


# --- does it hang together?


ABOUT = {
    "the name": (r"named (\w+)", r"(\w+) and the \w+ (?:stayed|never|met)"),
    "the thing": (r"(?:had|It is) an? ((?:\w+ )?\w+)", r"(?:home with|carried) the ((?:\w+ )?\w+?)(?: home)?[,.]"),
    "the animal": (r" met an? (\w+)", r"and the (\w+) (?:stayed|never|met)"),
    "the call": (r"need me, ([\w ]+)", r"(?:[Hh]e|[Ss]he) ((?:whistl|clapp|stamp|sang|knock)[\w ]+), and"),
}
"""What a story says early, and where it says so again near its end."""
PAST = {past.format(their=FORMS[they][2]): call for call, past in CALLS.items() for they in ("he", "she")}


def kept(story: str) -> dict[str, bool]:
    """Which of four things are at the end of a story what they were at its beginning."""
    same = {}
    for what, (early, late) in ABOUT.items():
        first, last = re.search(early, story), re.search(late, story)
        again = PAST.get(last[1], last[1]) if last else None
        same[what] = bool(first) and first[1] == again  # type: ignore[index]
    return same


def hang_together(stories: Iterable[str]) -> "pd.Series[float]":
    """The share of stories in which each of the four stays what it was, and in which all of them do."""
    table = pd.DataFrame([kept(story) for story in stories])
    shares: pd.Series[float] = table.assign(**{"all four": table.all(axis=1)}).mean()
    return shares


TEMPERATURES = (0.5, 1.0, 1.5)


def by_temperature(model: nn.Module, words: Words, count: int = 20, seed: int = 1) -> pd.DataFrame:
    """The same beginnings at each temperature: the share of stories in which each of the four stays what it was."""
    begun = beginnings(count, seed, new_names=False)
    shares = {f"temperature {t:g}": hang_together(told(model, words, begun, t, seed=seed)) for t in TEMPERATURES}
    return pd.DataFrame(shares).T


def last_named(
    model: nn.Module, words: Words, things: Sequence[str], count: int = 20, seed: int = 1
) -> dict[str, float]:
    """Stories of people who have such a thing: in which share of them is it still there in the last paragraph?"""
    shares = {}
    for thing in things:
        begun = [
            f"{text} {text.split()[-1].strip('.')} had a {thing}, a gift from an aunt."
            for text in beginnings(count, seed, new_names=False)
        ]
        lasts = [story.split("\n")[-1] for story in told(model, words, begun, seed=seed)]
        shares[thing] = sum(f" {thing.split()[-1]}" in last for last in lasts) / count
    return shares


KINDS = {
    "the animal": tuple(animal.name for animal in ANIMALS),
    "the colour of the thing": LOOKS,
    "the thing": (*TREASURES, *CURES),
    "the villain": tuple(VILLAINS),
}


def remembered(model: nn.Module, words: Words, count: int = 40, seed: int = 1, far: int = 32) -> pd.DataFrame:
    """Words that stories have mentioned before, but not within the last `far` tokens: how often does the model put the
    right one before all others of its kind, when it reads the whole beginning, and when it reads only `far` tokens?
    """
    rows = []
    for story in some_stories(count, seed):
        ids = story_ids(words, story.text)
        whole = _logits(model, ids[None])[0]
        for what, kinds in KINDS.items():
            tokens = [int(words.encode(f" {kind}")[0]) for kind in kinds]
            for token in tokens:
                places = (ids == token).nonzero().flatten().tolist()
                for before, place in pairwise(places):
                    if place - before > far:
                        short = _logits(model, ids[None, place - far : place])[0, -1]
                        rows.append(
                            {
                                "what": what,
                                "the whole beginning": token == tokens[int(whole[place - 1, tokens].argmax())],
                                f"the last {far} tokens": token == tokens[int(short[tokens].argmax())],
                                "by chance": 1 / len(tokens),
                            }
                        )
    table = pd.DataFrame(rows).groupby("what", sort=False)
    return table.mean().assign(**{"how often": table.size()})


def _logits(model: nn.Module, ids: torch.Tensor) -> torch.Tensor:
    with evaluating(model):
        return torch.as_tensor(model(ids))


# --- how good is it?


def surprise(model: nn.Module, words: Words, stories: Sequence[Told]) -> float:
    """Bits per character that the stories cost the model, their ends included."""
    bits = 0.0
    for story in stories:
        ids = story_ids(words, story.text)
        bits += nn.functional.cross_entropy(_logits(model, ids[None, :-1])[0], ids[1:], reduction="sum").item()
    return bits / math.log(2) / _characters(stories)


def least_surprise(stories: Sequence[Told]) -> float:
    """Bits per character of the draws that made the stories: on average, no model needs fewer."""
    return sum(story.bits for story in stories) / _characters(stories)


def counted_surprise(words: Words, learnt: Sequence[Told], stories: Sequence[Told], before: int) -> float:
    """Bits per character for a model that counts which token follows the `before` tokens before it.

    What it hasn't met, it takes from fewer tokens, with the weight of one more count each time.
    """
    counts: list[Counter[tuple[int, ...]]] = [Counter() for _ in range(before + 1)]
    seen: list[Counter[tuple[int, ...]]] = [Counter() for _ in range(before + 1)]
    for story in learnt:
        ids = story_ids(words, story.text).tolist()
        for place in range(1, len(ids)):
            for order in range(min(before, place) + 1):
                context = tuple(ids[place - order : place])
                counts[order][(*context, ids[place])] += 1
                seen[order][context] += 1
    bits = 0.0
    for story in stories:
        ids = story_ids(words, story.text).tolist()
        for place in range(1, len(ids)):
            chance = 1 / words.size
            for order in range(min(before, place) + 1):
                context = tuple(ids[place - order : place])
                chance = (counts[order][(*context, ids[place])] + chance) / (seen[order][context] + 1)
            bits -= math.log2(chance)
    return bits / _characters(stories)


def story_bits(model: nn.Module, words: Words, count: int = 50, seed: int = 1, learnt: int = 500) -> pd.DataFrame:
    """Bits per character of stories that nobody has read, for counts of `learnt` stories, the model and the grammar."""
    stories, read = some_stories(count, seed), some_stories(learnt, seed + 1)
    rows = {
        "counts: how common each token is": counted_surprise(words, read, stories, before=0),
        "counts: what follows four tokens": counted_surprise(words, read, stories, before=4),
        "the model": surprise(model, words, stories),
        "what the grammar drew": least_surprise(stories),
    }
    return pd.DataFrame({"predicted by": list(rows), "bits per character": list(rows.values())})


def _characters(stories: Sequence[Told]) -> int:
    return sum(len(story.text) for story in stories)
