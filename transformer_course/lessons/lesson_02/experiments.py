"""Lesson 2's experiments: three ways to feed tokens to a network, words that were never seen, and merges."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn

from transformer_course import plots
from transformer_course.libraries import quiet
from transformer_course.mlp import MLP
from transformer_course.progress import Progress
from transformer_course.tasks.difference import Example

Merges = list[tuple[str, str]]
TokenWays = dict[str, Callable[[torch.Tensor, int], torch.Tensor]]


# --- tokens for a network


def as_quantities(tokens: torch.Tensor, vocab_size: int) -> torch.Tensor:
    """The ids themselves as numbers from 0 to 1: (n, length) -> (n, length).

    >>> as_quantities(torch.tensor([[1, 0, 4]]), vocab_size=5)
    tensor([[0.2500, 0.0000, 1.0000]])
    """
    return tokens / (vocab_size - 1)


def as_one_hot(tokens: torch.Tensor, vocab_size: int) -> torch.Tensor:
    """For each position a 1 for the id that is there, 0 for all others: (n, length) -> (n, length * vocab_size).

    >>> as_one_hot(torch.tensor([[1, 0]]), vocab_size=3)
    tensor([[0., 1., 0., 1., 0., 0.]])
    """
    return nn.functional.one_hot(tokens, vocab_size).flatten(1).float()


def as_counts(tokens: torch.Tensor, vocab_size: int) -> torch.Tensor:
    """How often each id occurs, at whatever position: (n, length) -> (n, vocab_size).

    >>> as_counts(torch.tensor([[1, 0, 1]]), vocab_size=3)
    tensor([[1., 2., 0.]])
    """
    return nn.functional.one_hot(tokens, vocab_size).sum(dim=1).float()


WAYS: TokenWays = {"ids as quantities": as_quantities, "one-hot": as_one_hot, "counts of ids": as_counts}


def accuracies(
    train: tuple[torch.Tensor, torch.Tensor],
    test: tuple[torch.Tensor, torch.Tensor],
    vocab_size: int,
    seed: int = 0,
    steps: int = 400,
    ways: TokenWays = WAYS,
) -> tuple[dict[str, float], dict[str, list[float]]]:
    """Train the same small network on each way to write the tokens: {way: test accuracy}, {way: losses}.

    `train` and `test` are (tokens, labels): tokens (n, length), labels (n,) with 0 or 1.
    """
    shares: dict[str, float] = {}
    losses: dict[str, list[float]] = {}
    labels = train[1].float()
    for name, way in ways.items():
        inputs, test_inputs = way(train[0], vocab_size), way(test[0], vocab_size)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = MLP([inputs.shape[1], 64, 64, 1])
        optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
        losses[name] = []
        for _ in (bar := Progress(range(steps), desc=name)):
            logits = model(inputs).squeeze(1)  # (n, 1) -> (n,), the shape of the labels
            loss = nn.functional.binary_cross_entropy_with_logits(logits, labels)
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            losses[name].append(loss.item())
            bar.show_loss(losses[name][-1])
        with torch.no_grad():
            guesses = (model(test_inputs).squeeze(1) > 0).long()
        shares[name] = (guesses == test[1]).float().mean().item()
    return shares, losses


def label_tensor(examples: Sequence[Example]) -> torch.Tensor:
    """The labels of examples, (n,).

    >>> label_tensor([("2-1", 1), ("1-2", 0)])
    tensor([1, 0])
    """
    return torch.tensor([label for _, label in examples])


def losses_chart(losses: Mapping[str, Sequence[float]]) -> plots.Picture:
    """The training losses of `accuracies`."""
    return plots.curves(losses, title="Training loss of the same network", log_y=True, y_limits=(1e-4, 1.5))


def accuracies_chart(
    shares: Mapping[str, float], guess: str | None = None, levels: Mapping[str, float] | None = None
) -> plots.Picture:
    """The test accuracies of `accuracies`."""
    return plots.bars(shares, title="Accuracy on 500 test texts", x_label="accuracy", guess=guess, levels=levels)


# --- characters, words and pieces of words


def frequency_chart(text: str, symbols: Iterable[str], guess: str | None) -> plots.Picture:
    """How often these ten characters occur in the novel."""
    counts = Counter(text)
    return plots.bars(
        {repr(symbol): round(100 * counts[symbol] / len(text), 1) for symbol in symbols},
        title="The ten most frequent characters in the novel",
        x_label="per cent",
        guess=repr(guess),
    )


def words_in(text: str) -> list[str]:
    """The words of a text in lower case; anything that isn't a letter from a to z separates them.

    >>> words_in("Call me Ishmael. Some years ago--")
    ['call', 'me', 'ishmael', 'some', 'years', 'ago']
    """
    return re.findall(r"[a-z]+", text.lower())


def parts_of(text: str) -> list[str]:
    """A text cut into runs of lower-case letters and single other characters; joined, they are the text again.

    >>> parts_of("Call me.")
    ['C', 'all', ' ', 'me', '.']
    """
    return re.findall(r"[a-z]+|[^a-z]", text)


def in_parts(text: str, ids_of: Callable[[str], Iterable[int]]) -> list[int]:
    """The ids of a long text, part by part; each different part is encoded once. No merge reaches across two parts.

    >>> in_parts("ab ab", lambda part: [len(part)])
    [2, 1, 2]
    """
    parts = parts_of(text)
    ids = {part: list(ids_of(part)) for part in set(parts)}
    return [place for part in parts for place in ids[part]]


def token_counts(words: Iterable[str], pieces: Mapping[str, Sequence[str]]) -> Counter[str]:
    """How often each token is used in `words`; `pieces` is {word: its tokens}.

    >>> token_counts(["sea", "seas", "sea"], {"sea": ["sea"], "seas": ["sea", "s"]})
    Counter({'sea': 3, 's': 1})
    """
    used: Counter[str] = Counter()
    for word, count in Counter(words).items():
        for token in pieces[word]:
            used[token] += count
    return used


def split_words(words: Sequence[str], from_the_end: bool = True) -> tuple[list[str], list[str]]:
    """Four fifths of the words to learn from, and one fifth kept apart: the last fifth, or else the first.

    >>> split_words(["a", "b", "c", "d", "e"])
    (['a', 'b', 'c', 'd'], ['e'])
    """
    fifth = len(words) // 5
    if from_the_end:
        return list(words[: len(words) - fifth]), list(words[len(words) - fifth :])
    return list(words[fifth:]), list(words[:fifth])


def unknown_share(known: Sequence[str], words: Sequence[str], minimum: int = 1) -> float:
    """The share of `words` that occur fewer than `minimum` times among the known ones.

    >>> unknown_share(["sea", "sea", "ship"], ["sea", "ship", "whale", "sea"], minimum=2)
    0.5
    """
    counts = Counter(known)
    return sum(counts[word] < minimum for word in words) / len(words)


def tokens_per_word(apply_merges: Callable[[str, Merges], list[str]], words: Sequence[str], merges: Merges) -> float:
    """How many tokens the words of a text are cut into, on average. Each different word is cut once.

    >>> tokens_per_word(lambda word, merges: list(word), ["sea", "sea", "whale"], [])
    3.6666666666666665
    """
    counts = Counter(words)
    return sum(count * len(apply_merges(word, merges)) for word, count in counts.items()) / len(words)


def by_group(
    apply_merges: Callable[[str, Merges], list[str]], groups: Mapping[str, Sequence[str]], merges: Merges
) -> pd.DataFrame:
    """For each group of words, how many there are, how long they are, and how many tokens they take.

    >>> by_group(lambda word, merges: list(word), {"at sea": ["sea", "whale"]}, [])
            words  letters per word  tokens per word
    at sea    2.0               4.0              4.0
    """
    rows = {
        name: {
            "words": len(group),
            "letters per word": sum(map(len, group)) / len(group),
            "tokens per word": tokens_per_word(apply_merges, group, merges),
        }
        for name, group in groups.items()
    }
    return pd.DataFrame(rows).T


def ranks_chart(counts: Sequence[int]) -> plots.Picture:
    """How often each token is used, from the most frequent to the rarest."""
    return plots.curves(
        {"tokens": counts},
        x=np.arange(1, len(counts) + 1),
        title="How often each token is used",
        x_label="rank",
        y_label="how often",
        log_x=True,
        log_y=True,
    )


def overlap(ours: Merges, theirs: Merges) -> float:
    """The share of our merges that are among theirs too, in whatever order.

    >>> overlap([("a", "b"), ("c", "d")], [("c", "d"), ("e", "f")])
    0.5
    """
    return len(set(map(tuple, ours)) & set(map(tuple, theirs))) / len(ours)


def library_merges(words: Iterable[str], num_merges: int) -> Merges | None:
    """The merges that the `tokenizers` library learns from the same words; None where it is not installed."""
    try:
        from tokenizers import Tokenizer, models, trainers
    except ImportError:
        return None
    words = list(words)
    alphabet = len(set("".join(words)))  # the library counts single characters as part of the vocabulary
    tokenizer = Tokenizer(models.BPE())
    trainer = trainers.BpeTrainer(vocab_size=alphabet + num_merges, special_tokens=[], show_progress=False)
    tokenizer.train_from_iterator(words, trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [tuple(pair.split(" ") if isinstance(pair, str) else pair) for pair in merges]


def layer_ids(tf: Any, texts: Sequence[str], text: str) -> tuple[list[int], list[int]]:
    """The ids of `text` from TensorFlow's `TextVectorization` as it comes, and from one that strips nothing.

    Both have seen `texts`, and give one id per character.
    """
    with quiet():
        layers = [
            tf.keras.layers.TextVectorization(split="character", **options) for options in ({}, {"standardize": None})
        ]
        for layer in layers:
            layer.adapt(texts)
        short, whole = (layer([text]).numpy()[0].tolist() for layer in layers)
    return short, whole
