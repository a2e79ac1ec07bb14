"""What a model invents, what it has by heart, and how its next token is chosen."""

import string
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import torch
from torch import nn

from transformer_course.language_model.choosing import min_p_filter, repetition_penalty
from transformer_course.language_model.writing import continue_text
from transformer_course.lessons.lesson_11.experiments.corpus import Book, Corpus
from transformer_course.progress import Progress
from transformer_course.sampling import sample_with_temperature, top_k_filter, top_p_filter
from transformer_course.tasks.first_names import END, first_names

Write = Callable[..., torch.Tensor]


def invented(
    model: nn.Module,
    corpus: Corpus,
    write: Write = continue_text,
    *,
    count: int = 10,
    temperature: float = 1.0,
    top_p: float = 1.0,
    seed: int = 0,
) -> list[str]:
    """So many names, as the model writes them one after the other."""
    generator, text = torch.Generator().manual_seed(seed), END
    while text.count(END) <= count:
        text = corpus.decode(write(model, corpus.encode(text), 60, temperature, top_p, generator))
    return text.split(END)[1 : count + 1]


def known_names() -> frozenset[str]:
    """All names of the list."""
    return frozenset(first_names())


def judged(invented_names: Sequence[str]) -> dict[str, float]:
    """Which share of the names is in the list, and which isn't and could be one: 3 to 12 letters, with a vowel."""
    known = known_names()
    real = sum(name in known for name in invented_names)
    new = [name for name in invented_names if name not in known]
    shaped = sum(3 <= len(name) <= 12 and name.isalpha() and bool(set(name) & set("aeiouy")) for name in new)
    return {"in the list": real / len(invented_names), "new, and shaped like a name": shaped / len(invented_names)}


def continued(
    model: nn.Module,
    corpus: Corpus,
    prompt: str,
    write: Write = continue_text,
    *,
    tokens: int = 120,
    temperature: float = 0.8,
    top_p: float = 0.95,
    seed: int = 0,
) -> str:
    """The prompt and what the model makes of it."""
    generator = torch.Generator().manual_seed(seed)
    return corpus.decode(write(model, corpus.encode(prompt), tokens, temperature, top_p, generator))


def longest_copy(text: str, source: str) -> str:
    """The longest piece of `text` that stands in `source`, letter by letter.

    >>> longest_copy("to be or so", "not to be, or")
    'to be'
    """
    best, start = "", 0
    for end in range(1, len(text) + 1):
        while text[start:end] not in source:
            start += 1
        if end - start > len(best):
            best = text[start:end]
    return best


def copied(texts: dict[str, str], read: Book) -> pd.DataFrame:
    """For each text: the longest piece that stands in what the model has read."""
    rows = []
    for name, text in texts.items():
        piece = longest_copy(text, read.to_learn)
        rows.append({"text": name, "characters": len(piece), "the longest piece": " / ".join(piece.split("\n"))})
    return pd.DataFrame(rows)


CHOICES: dict[str, dict[str, Any]] = {
    "the most likely token": {"temperature": 0.0},
    "greedy, repetition penalty 1.3": {"temperature": 0.0, "penalty": 1.3},
    "temperature 1": {},
    "temperature 2": {"temperature": 2.0},
    "temperature 0.7": {"temperature": 0.7},
    "top-k, k = 5": {"k": 5},
    "top-p, p = 0.8": {"p": 0.8},
    "min-p, 0.1": {"min_p": 0.1},
    "temperature 2, min-p 0.1": {"temperature": 2.0, "min_p": 0.1},
}


def chosen(
    model: nn.Module,
    prompt: torch.Tensor,
    new: int,
    *,
    context: int,
    temperature: float = 1.0,
    k: int | None = None,
    p: float = 1.0,
    min_p: float = 0.0,
    penalty: float = 1.0,
    seed: int = 0,
) -> torch.Tensor:
    """As `continue_text`, with more ways to choose."""
    ids, generator = prompt, torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for _ in range(new):
            logits = model(ids[None, -context:])[:, -1]
            logits = repetition_penalty(logits, ids[None, -context:], penalty)
            if temperature > 0:
                logits = logits / temperature
                logits = min_p_filter(top_p_filter(top_k_filter(logits, k or logits.shape[-1]), p), min_p)
            ids = torch.cat([ids, sample_with_temperature(logits, 1.0 if temperature else 0.0, generator)])
    return ids


def next_chances(
    model: nn.Module, corpus: Corpus, prompt: str, shown: int = 14
) -> tuple[dict[str, list[float]], list[str]]:
    """How likely each of the most likely tokens is to come next, for each way to choose; and these tokens."""
    ids = corpus.encode(prompt)[None]
    with torch.no_grad():
        logits = model(ids)[:, -1]
    best = logits[0].topk(shown).indices
    ways = {
        "temperature 1": logits,
        "temperature 0.7": logits / 0.7,
        "temperature 2": logits / 2,
        "top-k, k = 5": top_k_filter(logits, 5),
        "top-p, p = 0.8": top_p_filter(logits, 0.8),
        "min-p, 0.1": min_p_filter(logits, 0.1),
    }
    chances = {name: filtered.softmax(-1)[0, best].tolist() for name, filtered in ways.items()}
    return chances, [repr(corpus.decode([i]))[1:-1].replace(" ", "_") for i in best.tolist()]


SPEAKERS = ("ROMEO", "JULIET", "KING", "First Citizen", "GLOUCESTER", "MENENIUS", "LUCIO", "KATHARINA")
"""Each begins a passage: what is said of a single one, of some twenty words, is mostly chance."""


def choices(model: nn.Module, corpus: Corpus, read: Book, context: int, tokens: int = 60) -> pd.DataFrame:
    """For each way to choose: how many of the words in eight passages are in the book, how many of the words in a
    passage are different ones, and the first passage."""
    known = set(_words(read.text))
    rows = []
    for name, settings in Progress(CHOICES.items(), desc="writing"):
        passages = []
        for seed, speaker in enumerate(SPEAKERS):
            ids = corpus.encode(f"{speaker}:\n")
            passages.append(corpus.decode(chosen(model, ids, tokens, context=context, seed=seed, **settings)))
        spoken = [_words(text.split(":\n", 1)[1])[:-1] for text in passages]
        words = [word for passage in spoken for word in passage]
        rows.append(
            {
                "chosen by": name,
                "words in the book": sum(word in known for word in words) / max(len(words), 1),
                "different words": sum(len(set(passage)) / max(len(passage), 1) for passage in spoken) / len(spoken),
                "the first passage": " / ".join(passages[0].split("\n")),
            }
        )
    return pd.DataFrame(rows)


def _words(text: str) -> list[str]:
    """The words of a text, without capitals and punctuation."""
    return [word for piece in text.lower().split() if (word := piece.strip(string.punctuation))]
