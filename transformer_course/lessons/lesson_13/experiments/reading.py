"""Film reviews: counting words against reading them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd
import torch
from torch import nn

from transformer_course import plots
from transformer_course.attention import padding_mask
from transformer_course.blocks import EncoderBlock, LayerNorm, LearnedPositionalEmbedding
from transformer_course.fitting import accuracy, fit, predict
from transformer_course.plots import Picture
from transformer_course.tasks.reviews import UNKNOWN, as_tokens, reviews, word_vocabulary

LONGEST = 40
"""Words of a review that are read. One review in 35 has more."""
Tokens = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class Corpus:
    """Reviews as tokens (n, 40) with labels (n,), and what the tokens mean."""

    train: Tokens
    val: Tokens
    test: Tokens
    texts: list[str]
    vocabulary: dict[str, int]

    @property
    def vocab_size(self) -> int:
        """Words, and the ids for padding and for unknown words."""
        return len(self.vocabulary) + 2

    def words(self, row: torch.Tensor) -> list[str]:
        """The words of one row of tokens, without padding."""
        names = {place: word for word, place in self.vocabulary.items()} | {UNKNOWN: "?"}
        return [names[one] for one in row.tolist() if one != 0]


def corpus(seed: int = 0) -> Corpus:
    """The reviews, split and as tokens. The vocabulary is made of the training reviews alone.

    Raises:
        transformer_course.downloads.NotAvailable: when the file can't be had; the message says what to do.
    """
    data = reviews(seed)
    vocabulary = word_vocabulary(text for text, _ in data.train)
    train, val, test = (as_tokens(part, vocabulary, LONGEST) for part in (data.train, data.val, data.test))
    return Corpus(train, val, test, [text for text, _ in data.test], vocabulary)


def majority(data: Corpus) -> float:
    """How many test reviews have the label that is more common in training."""
    common = int(data.train[1].float().mean() > 0.5)
    return (data.test[1] == common).float().mean().item()


class Counting(nn.Module):
    """The baseline: counts of words, and one Linear layer."""

    def __init__(self, vocab_size: int, bag_of_words: Callable[..., torch.Tensor]) -> None:
        super().__init__()
        self.vocab_size, self.bag_of_words = vocab_size, bag_of_words
        self.weigh = nn.Linear(vocab_size, 2)
        nn.init.zeros_(self.weigh.weight)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.weigh(self.bag_of_words(tokens, self.vocab_size).to(self.weigh.weight.dtype))
        return logits


class Reading(nn.Module):
    """The encoder of lesson 3, and the mean of what it makes of the words."""

    def __init__(self, vocab_size: int, masked_mean: Callable[..., torch.Tensor], d_model: int = 32) -> None:
        super().__init__()
        self.masked_mean = masked_mean
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = LearnedPositionalEmbedding(LONGEST, d_model)
        for table in (self.embedding, self.positions.embedding):
            nn.init.normal_(table.weight, std=0.1)  # PyTorch's own 1.0 learns much more slowly here
        self.block = EncoderBlock(d_model, num_heads=4, d_ff=2 * d_model)
        self.final_norm = LayerNorm(d_model)
        self.head = nn.Linear(d_model, 2)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.block(self.positions(self.embedding(tokens)), padding_mask(tokens))  # (batch, length, d_model)
        logits: torch.Tensor = self.head(self.masked_mean(self.final_norm(x), tokens != 0))
        return logits


@dataclass(frozen=True)
class Learnt:
    """What came out of a run: shares of right answers."""

    steps: list[int]
    val: list[float]
    train: float
    test: float


def learn(model: nn.Module, data: Corpus, steps: int, learning_rate: float, seed: int = 0, name: str = "") -> Learnt:
    """Train with batches of 128, and look at the validation reviews every 33 steps."""
    at: list[int] = []
    val: list[float] = []

    def look(step: int) -> None:
        at.append(step)
        val.append(accuracy(model, *data.val))

    fit(
        model,
        *data.train,
        steps=steps,
        batch_size=128,
        learning_rate=learning_rate,
        seed=seed,
        name=name,
        look=look,
        every=33,
    )
    return Learnt(at, val, accuracy(model, *data.train), accuracy(model, *data.test))


def count_words(data: Corpus, bag_of_words: Callable[..., torch.Tensor], seed: int = 0) -> tuple[Counting, Learnt]:
    """Train the baseline."""
    torch.manual_seed(seed)
    model = Counting(data.vocab_size, bag_of_words)
    return model, learn(model, data, 297, 5e-3, seed, "counting words")


def read_words(data: Corpus, masked_mean: Callable[..., torch.Tensor], seed: int = 0) -> tuple[Reading, Learnt]:
    """Train the Transformer. It stops where the validation accuracy of our first runs stopped rising."""
    torch.manual_seed(seed)
    model = Reading(data.vocab_size, masked_mean)
    return model, learn(model, data, 165, 3e-3, seed, "reading")


def scores(data: Corpus, counting: Learnt, reading: Learnt, mixed: float) -> pd.DataFrame:
    """All shares of right answers; `mixed` is what the Transformer gets of reviews with shuffled words."""
    rows = {
        "the more common label in training": ("", round(majority(data), 3)),
        "counting words": (round(counting.train, 3), round(counting.test, 3)),
        "the Transformer": (round(reading.train, 3), round(reading.test, 3)),
        "the Transformer, words shuffled": ("", round(mixed, 3)),
    }
    return pd.DataFrame(rows, index=["training", "test"]).T


def telling_words(model: Counting, data: Corpus, count: int = 8) -> pd.DataFrame:
    """The words that speak most for praise and most for a pan."""
    weights = (model.weigh.weight[1] - model.weigh.weight[0]).detach().cpu()
    weights[: UNKNOWN + 1] = 0
    names = ["", "", *data.vocabulary]
    best, worst = weights.topk(count).indices.tolist(), (-weights).topk(count).indices.tolist()
    return pd.DataFrame({"praise": [names[i] for i in best], "pan": [names[i] for i in worst]})


def shuffled(tokens: torch.Tensor, seed: int = 0) -> torch.Tensor:
    """Each row's words in another order; the padding stays at the end."""
    keys = torch.rand(tokens.shape, generator=torch.Generator().manual_seed(seed))
    order = keys.masked_fill(tokens == 0, 2.0).argsort(dim=1)
    return tokens.gather(1, order)


def without_each(row: torch.Tensor) -> torch.Tensor:
    """A row of tokens (length,), as often as it has words: each copy lacks another one (words, length)."""
    count = int((row != 0).sum())
    copies = row.repeat(count, 1)
    for place, copy in enumerate(copies):
        copy[place:-1], copy[-1] = row[place + 1 :], 0
    return copies


def odds(model: nn.Module, tokens: torch.Tensor) -> torch.Tensor:
    """How far each row is towards praise: the logit of praise less that of a pan, (batch,)."""
    logits = predict(model, tokens)
    return logits[:, 1] - logits[:, 0]


def what_words_do(model: nn.Module, row: torch.Tensor) -> torch.Tensor:
    """How far each word of a row moves the model towards praise: what is lost when it is left out, (words,)."""
    return odds(model, row[None]) - odds(model, without_each(row))


def word_by_word(models: Mapping[str, nn.Module], data: Corpus, text: str) -> Picture:
    """What each word of a review does to each model; the strongest word of a model is 1 or -1."""
    tokens, _ = as_tokens([(text, 0)], data.vocabulary, LONGEST)
    effects = [what_words_do(model, tokens[0]) for model in models.values()]
    return plots.heatmap(
        torch.stack([effect / effect.abs().max() for effect in effects]),
        list(models),
        data.words(tokens[0]),
        title="Above 0: for praise. Below 0: for a pan.",
        low=-1,
        high=1,
    )


def agreement(counter: nn.Module, reader: nn.Module, data: Corpus, reviews: int = 300) -> tuple[float, float]:
    """Of the words that matter most to the counter, a quarter of all, the share on whose direction the two agree; and
    the correlation of what all words do. Both over the first test reviews.
    """
    rows = data.test[0][:reviews]
    one, other = (torch.cat([what_words_do(model, row) for row in rows]) for model in (counter, reader))
    strong = one.abs() > one.abs().quantile(0.75)
    same = (one.sign() == other.sign())[strong].float().mean().item()
    return same, torch.corrcoef(torch.stack([one, other]))[0, 1].item()


def lead(right: torch.Tensor, other: torch.Tensor) -> tuple[float, float]:
    """By how much one reader is ahead of another on the same examples, and the standard error of that difference.

    >>> lead(torch.tensor([True, True, False, True]), torch.tensor([True, False, False, True]))
    (0.25, 0.25)
    """
    difference = right.double() - other.double()
    return difference.mean().item(), (difference.std() / len(difference) ** 0.5).item()


def ahead(right: torch.Tensor, other: torch.Tensor) -> str:
    """Whether one reader wins over another on the same examples: only by at least two standard errors.

    >>> ahead(torch.tensor([True] * 9), torch.tensor([False] * 8 + [True]))
    'yes'
    >>> ahead(torch.tensor([True, True, False, True]), torch.tensor([True, False, False, True]))
    'too close'
    """
    difference, error = lead(right, other)
    return "too close" if abs(difference) < 2 * error else "yes" if difference > 0 else "no"


def rights(model: nn.Module, data: Corpus) -> torch.Tensor:
    """Which of the test reviews a model gets right."""
    praised = odds(model, data.test[0]) > 0
    right: torch.Tensor = praised == data.test[1].bool()
    return right
