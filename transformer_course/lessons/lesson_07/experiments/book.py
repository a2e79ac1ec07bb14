"""A small model that counts what follows what in a book, and what samplers make of it."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd
import torch
from torch import nn

from transformer_course.data import moby_dick
from transformer_course.lessons.lesson_07.experiments.costs import NEVER
from transformer_course.progress import Progress


class TextModel(nn.Module):
    """A model that continues a text, character by character. It isn't trained: it counts what follows what.

    The probability of a character after the last `context` characters is its share among the characters that followed
    them in the text, mixed with what shorter contexts say (Witten and Bell 1991): the fewer different characters have
    followed, the more the longest context counts.

    To fit the decoders of this lesson it is called with (source, target_input): the source is the beginning of a text,
    and whatever follows the start token in `target_input` is appended to it.
    """

    def __init__(self, text: str, context: int = 5) -> None:
        super().__init__()
        self.unused = nn.Parameter(torch.zeros(()), requires_grad=False)  # for decoders that ask where a model lives
        self.characters, self.context = sorted(set(text)), context  # ids from 2 on: 0 is padding, 1 the start
        self.ids_of = {character: i for i, character in enumerate(self.characters, start=2)}
        self.followers: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        ids = [self.ids_of[character] for character in text]
        for place, follower in enumerate(ids):
            for length in range(min(context, place) + 1):
                self.followers[tuple(ids[place - length : place])][follower] += 1
        self._known: dict[tuple[int, ...], torch.Tensor] = {}

    def ids(self, text: str) -> torch.Tensor:
        """The ids of a text, (length,)."""
        return torch.tensor([self.ids_of[character] for character in text])

    def text(self, ids: torch.Tensor) -> str:
        """The text of a row of ids."""
        return "".join(self.characters[i - 2] for i in ids.tolist() if i > 1)

    def probabilities(self, context: tuple[int, ...]) -> torch.Tensor:
        """Of every character after this context, (vocab_size,)."""
        if context not in self._known:
            if context:
                shorter = self.probabilities(context[1:])
            else:
                shorter = torch.ones(len(self.characters) + 2) / len(self.characters)
                shorter[:2] = 0.0
            counts = torch.zeros_like(shorter)
            for follower, count in self.followers.get(context, Counter()).items():
                counts[follower] = count
            different = (counts > 0).sum()
            total = counts.sum() + different
            self._known[context] = (counts + different * shorter) / total if total else shorter
        return self._known[context]

    def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        read = torch.cat([source, target_input[:, 1:].to(source.dtype)], dim=1).tolist()
        first = source.shape[1]
        rows = [
            torch.stack([self.probabilities(tuple(ids[max(0, end - self.context) : end])) for end in ends])
            for ids in read
            for ends in [range(first, len(ids) + 1)]
        ]
        return torch.stack(rows).log()


@dataclass(frozen=True)
class Reading:
    """A text model, its loss on text that it hasn't seen, in nats per character, and the words of the book."""

    model: TextModel
    loss: float
    words: frozenset[str]

    def known(self, text: str) -> float:
        """The share of words in `text` that occur in the book; the last one may be cut off, and isn't counted."""
        words = words_of(text)[:-1]
        return sum(word in self.words for word in words) / max(len(words), 1)


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case.

    >>> words_of("Call me Ishmael.")
    ['call', 'me', 'ishmael']
    """
    return re.findall(r"[a-z']+", text.lower())


def read_the_book() -> Reading:
    """Counts the first nineteen twentieths of the bundled chapters; the rest is held out."""
    book = " ".join(moby_dick().split())
    cut = len(book) * 19 // 20
    model = TextModel(book[:cut] + "".join(sorted(set(book[cut:]) - set(book[:cut]))))
    ids = model.ids(book[cut - model.context :]).unsqueeze(0)
    with torch.no_grad():
        logs = model(ids[:, : model.context], ids[:, model.context - 1 : -1])[0]
    loss = nn.functional.nll_loss(logs, ids[0, model.context :]).item()
    return Reading(model, loss, frozenset(words_of(book)))


Settings = tuple[float, int, float]  # temperature, k and p


def passages(
    generate: Callable[..., torch.Tensor],
    reading: Reading,
    prompt: str,
    settings: Sequence[Settings],
    length: int = 120,
    copies: int = 8,
    seed: int = 0,
) -> pd.DataFrame:
    """What the model makes of a prompt at each setting: one passage, and how many of the words are in the book.

    The share is taken over `copies` passages; `different` counts how many of them begin with different characters.
    """
    model, rows = reading.model, []
    source = model.ids(prompt).expand(copies, -1)
    for temperature, k, p in Progress(settings, desc="writing"):
        generator = torch.Generator().manual_seed(seed)
        ids = generate(model, source, 1, NEVER, length, temperature, k, p, generator)
        texts = [model.text(row) for row in ids]
        rows.append(
            {
                "temperature": temperature,
                "k": k,
                "p": p,
                "words in the book": f"{100 * sum(map(reading.known, texts)) / copies:.0f}%",
                "different": len({text[:40] for text in texts}),
                "passage": prompt + texts[0],
            }
        )
    return pd.DataFrame(rows)
