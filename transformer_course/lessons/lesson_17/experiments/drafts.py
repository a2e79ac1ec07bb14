"""Drafts for the storyteller: a table of counts, and a small Llama; and how often what they propose is accepted."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from torch import nn

from transformer_course.fast_answers.speculative import acceptance_rate
from transformer_course.language_model.modern import ModernLanguageModel
from transformer_course.language_model.storyteller import END, story_ids
from transformer_course.language_model.words import Words
from transformer_course.lessons.lesson_11.experiments import Corpus, Run, fit
from transformer_course.lessons.lesson_12.experiments.stories import some_stories, story_teller
from transformer_course.lessons.lesson_12.experiments.widths import gated_width
from transformer_course.tasks.stories import Storyteller

Draft = Callable[[torch.Tensor], torch.Tensor]
"""Ids (1, n) -> logits (1, n, vocab_size)."""


@cache
def target_and_words() -> tuple[nn.Module, Words]:
    """The course's storyteller, with its published weights, and its tokens."""
    return story_teller()


MET_A = (
    "Long ago, in a village by the sea, there lived a quiet prince named Francois. Francois had a silver mirror, which "
    "had once belonged to his little sister. It was no ordinary mirror: it always told the truth.\nOne night, a witch "
    'came and stole it. In the morning the silver mirror was gone. "I will bring it back," said Francois, "even if I '
    'have to walk to the end of the world."\nBy the side of the road, he met a'
)
"""A story, up to a place where many words are about as likely."""


class Counts:
    """Logits from counts of what followed the last tokens, as in lesson 12's comparison: what it hasn't met after that
    many tokens, it takes from fewer, with the weight of one more count each time.
    """

    def __init__(self, vocab_size: int, rows: Sequence[Sequence[int]], before: int) -> None:
        self.vocab_size, self.before = vocab_size, before
        self.counts: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        for row in rows:
            for place in range(1, len(row)):
                for order in range(min(before, place) + 1):
                    self.counts[tuple(row[place - order : place])][row[place]] += 1
        self.known: dict[tuple[int, ...], torch.Tensor] = {}

    def chances(self, context: tuple[int, ...]) -> torch.Tensor:
        """How likely each token is after these: (vocab_size,)."""
        if context not in self.known:
            even = torch.full((self.vocab_size,), 1 / self.vocab_size)
            shorter = self.chances(context[1:]) if context else even
            followers = self.counts.get(context)
            if followers:
                shorter = shorter.clone()
                shorter[list(followers)] += torch.tensor([float(n) for n in followers.values()])
                shorter = shorter / (1 + sum(followers.values()))
            self.known[context] = shorter
        return self.known[context]

    def __call__(self, tokens: torch.Tensor) -> torch.Tensor:
        rows = tokens.tolist()
        chances = [
            [self.chances(tuple(row[max(0, place + 1 - self.before) : place + 1])) for place in range(len(row))]
            for row in rows
        ]
        return torch.stack([torch.stack(row) for row in chances]).log()

    def last(self, ids: Sequence[int]) -> torch.Tensor:
        """The logits after the last of these ids alone: (vocab_size,)."""
        return self.chances(tuple(ids[max(0, len(ids) - self.before) :])).log()


def counted(before: int, stories: int = 500, seed: int = 0) -> Counts:
    """Counts of what follows so many tokens, from stories of the same grammar."""
    words = target_and_words()[1]
    teller = Storyteller(3_000_000 + seed)
    return Counts(words.size, [story_ids(words, teller.story().text).tolist() for _ in range(stories)], before)


def small_teller(steps: int = 400, seed: int = 0, width: int = 32) -> Run:
    """A Llama with one block and a tenth of the storyteller's weights, trained on stories for half a minute."""
    words = target_and_words()[1]
    teller = Storyteller(4_000_000 + seed)

    def batches(ids: torch.Tensor, length: int, size: int, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
        rows = [story_ids(words, teller.story().text) for _ in range(size)]
        inputs = nn.utils.rnn.pad_sequence([row[:-1] for row in rows], batch_first=True, padding_value=END)
        return inputs, nn.utils.rnn.pad_sequence([row[1:] for row in rows], batch_first=True, padding_value=-100)

    torch.manual_seed(seed)
    model = ModernLanguageModel(words.size, width, 4, 2, gated_width(width), 1)
    nothing = torch.tensor([], dtype=torch.long)
    corpus = Corpus("stories", words.size, nothing, nothing, words.encode, words.decode)
    return fit(model, corpus, steps, batch_size=6, rate=8e-3, batches=batches, seed=seed, name="the draft")  # type: ignore[arg-type]


def drafts(seed: int = 0) -> dict[str, Any]:
    """Tables of counts that look at more and more tokens."""
    return {f"counts after {before}": counted(before, seed=seed) for before in (0, 1, 2, 3, 4)}


def acceptance(
    draft: Draft,
    rate: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = acceptance_rate,
    stories: int = 5,
    seed: int = 1,
) -> float:
    """The mean chance that the storyteller accepts what this draft proposes, at each token of stories that neither has
    read."""
    target, words = target_and_words()
    rates = []
    with torch.no_grad():
        for story in some_stories(stories, seed):
            ids = story_ids(words, story.text)[None, :-1]
            rates.append(rate(target(ids).softmax(-1), draft(ids).softmax(-1))[0, 1:])
    return float(torch.cat(rates).mean())


def next_words(draft: Draft, beginning: str, shown: int = 9) -> tuple[torch.Tensor, torch.Tensor, dict[str, int]]:
    """What comes after this beginning: chances of the target and of the draft, (vocab_size,) each; and the tokens that
    the two find most likely, with their ids, the target's favourite first."""
    target, words = target_and_words()
    ids = story_ids(words, beginning)[:-1]
    with torch.no_grad():
        p, q = (model(ids[None])[0, -1].softmax(-1) for model in (target, draft))
    best = torch.maximum(p, q).topk(shown).indices.tolist()
    return p, q, {words.decode([i]).strip(): i for i in sorted(best, key=lambda i: -float(p[i]))}


def frequencies(tokens: torch.Tensor, vocab_size: int) -> torch.Tensor:
    """How often each token came up, as a share: (vocab_size,)."""
    return torch.bincount(tokens, minlength=vocab_size) / len(tokens)
