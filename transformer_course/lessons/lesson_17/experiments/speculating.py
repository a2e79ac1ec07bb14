"""Speculative decoding at work: passes per token, and clock times with a cache in blocks."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import torch

from transformer_course import plots
from transformer_course.fast_answers.engine import Blocks, new_caches, read_on
from transformer_course.fast_answers.serving import BlockCache
from transformer_course.fast_answers.speculative import accept_or_replace, speculative_step
from transformer_course.language_model.storyteller import published_sizes, story_ids
from transformer_course.lessons.lesson_12.experiments.stories import beginnings
from transformer_course.lessons.lesson_17.experiments.drafts import Counts, target_and_words
from transformer_course.plots import Picture
from transformer_course.sampling import sample_with_temperature

Step = Callable[..., torch.Tensor]
Rule = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""Probabilities of target and draft, (vocab_size,) each -> a number for each token."""
Sampler = Callable[[torch.Tensor, torch.Tensor, int, torch.Generator], torch.Tensor]
"""Probabilities of target and draft, (vocab_size,) each, and how many tokens to sample -> the tokens."""
TOKENS = 100
"""How far each story is told, in new tokens."""


def with_rule(chance: Rule, replacement: Rule) -> Sampler:
    """Samples by a rule: with what probability each token is accepted, and what another is sampled from otherwise.

    >>> always_accepted = with_rule(lambda p, q: torch.ones(2), lambda p, q: p)
    >>> always_accepted(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0]), 3, torch.Generator())
    tensor([1, 1, 1])
    """

    def speculate(target: torch.Tensor, draft: torch.Tensor, count: int, generator: torch.Generator) -> torch.Tensor:
        proposed = torch.multinomial(draft, count, replacement=True, generator=generator)
        accepted = torch.rand(count, generator=generator) < chance(target, draft)[proposed]
        others = torch.multinomial(replacement(target, draft), count, replacement=True, generator=generator)
        return torch.where(accepted, proposed, others)

    return speculate


def with_your_rule(accepting: Callable[..., tuple[torch.Tensor, torch.Tensor]]) -> Sampler:
    """Samples with a function like `accept_or_replace`, all tokens at once.

    >>> sampled = with_your_rule(accept_or_replace)
    >>> sampled(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0]), 3, torch.Generator())
    tensor([0, 0, 0])
    """

    def speculate(target: torch.Tensor, draft: torch.Tensor, count: int, generator: torch.Generator) -> torch.Tensor:
        proposed = torch.multinomial(draft, count, replacement=True, generator=generator)
        return accepting(target.expand(count, -1), draft.expand(count, -1), proposed, generator)[0]

    return speculate


@dataclass
class Tally:
    """A model that counts its calls."""

    model: Any
    calls: int = 0

    def __call__(self, tokens: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return torch.as_tensor(self.model(tokens))


def prompts(count: int, seed: int = 1) -> list[torch.Tensor]:
    """The first sentences of stories that the storyteller hasn't read, as ids."""
    words = target_and_words()[1]
    return [story_ids(words, text)[:-1] for text in beginnings(count, seed)]


def speculated(
    draft: Any, count: int, stories: int = 8, tokens: int = TOKENS, seed: int = 0, step: Step = speculative_step
) -> tuple[float, list[str]]:
    """New tokens for each pass of the storyteller, and the stories as far as they got."""
    target, words = target_and_words()
    counted, generator, told, new = Tally(target), torch.Generator().manual_seed(seed), [], 0
    for prompt in prompts(stories, 1 + seed):
        ids = prompt
        while len(ids) < len(prompt) + tokens:
            ids = step(counted, draft, ids, count, generator)
        new += len(ids) - len(prompt)
        told.append(words.decode(ids[1:]))
    return new / counted.calls, told


def by_proposals(
    all_drafts: Mapping[str, Any], counts: Sequence[int] = (1, 2, 4, 8), step: Step = speculative_step, seed: int = 0
) -> pd.DataFrame:
    """New tokens for each pass of the storyteller: a row a draft, a column for each number of proposed tokens."""
    table = {
        name: {count: speculated(draft, count, seed=seed, step=step)[0] for count in counts}
        for name, draft in all_drafts.items()
    }
    return pd.DataFrame(table).T.rename_axis(columns="proposed")


def draw_yields(table: pd.DataFrame, forecasts: Mapping[str, Sequence[float]]) -> Picture:
    """What `by_proposals` measured, with forecasts for the same numbers of proposed tokens.

    >>> draw_yields(pd.DataFrame({1: {"counts": 1.5}, 2: {"counts": 1.75}}), {"the forecast": [1.5, 2.0]})
    What a pass yields (new tokens for each pass by proposed tokens)
    counts: 1.5 at 1, 1.75 at 2
    the forecast: 1.5 at 1, 2 at 2
    """
    measured = {str(name): row.tolist() for name, row in table.iterrows()}
    return plots.curves(
        {**measured, **forecasts},
        x=list(table.columns),
        x_label="proposed tokens",
        y_label="new tokens for each pass",
        title="What a pass yields",
    )


def marked(
    draft: Any, count: int, step: Step = speculative_step, tokens: int = TOKENS, seed: int = 0
) -> tuple[str, int]:
    """A story with a bar where each pass of the storyteller ended, and the number of passes."""
    target, words = target_and_words()
    ids, generator, passes = prompts(1, 1)[0], torch.Generator().manual_seed(seed), 0
    told, first = words.decode(ids[1:]), len(ids)
    while len(ids) < first + tokens:
        longer = step(target, draft, ids, count, generator)
        told += words.decode(longer[len(ids) :]) + "|"
        ids, passes = longer, passes + 1
    return told, passes


# --- with a cache: each token is read once


def one_by_one(prompt: torch.Tensor, tokens: int, seed: int = 0, kind: type[Any] = BlockCache) -> tuple[list[int], int]:
    """The storyteller by itself, with a cache: a pass for each token. The ids, and the number of passes."""
    target, heads, caches = _ready(len(prompt) + tokens, kind)
    generator, ids, passes = torch.Generator().manual_seed(seed), prompt.tolist(), 0
    new = ids
    with torch.no_grad():
        while len(ids) < len(prompt) + tokens:
            logits = read_on(target, {"story": new}, caches, heads)["story"][-1:]
            passes += 1
            new = sample_with_temperature(logits, 1.0, generator).tolist()
            ids = ids + new
    return ids, passes


def with_counts(
    draft: Counts, count: int, prompt: torch.Tensor, tokens: int, seed: int = 0, kind: type[Any] = BlockCache
) -> tuple[list[int], int]:
    """The same, with tokens proposed by counts. What was rejected is taken out of the cache again."""
    target, heads, caches = _ready(len(prompt) + tokens + count + 1, kind)
    generator, ids, passes, cached = torch.Generator().manual_seed(seed), prompt.tolist(), 0, 0
    with torch.no_grad():
        while len(ids) < len(prompt) + tokens:
            proposed, guesses = list(ids), []
            for _ in range(count):
                guesses.append(draft.last(proposed).softmax(-1))
                proposed.append(int(torch.multinomial(guesses[-1], 1, generator=generator)))
            logits = read_on(target, {"story": proposed[cached:]}, caches, heads)["story"]
            passes += 1
            wanted = logits[-count - 1 :].softmax(-1)
            told, accepted = accept_or_replace(
                wanted[:-1], torch.stack(guesses), torch.tensor(proposed[len(ids) :]), generator
            )
            agreed = count if bool(accepted.all()) else int((~accepted).nonzero()[0])
            if agreed == count:
                new = [*told.tolist(), int(torch.multinomial(wanted[-1], 1, generator=generator))]
            else:
                new = told[: agreed + 1].tolist()
            cached = len(ids) + agreed
            for cache in caches:
                cache.truncate("story", cached)
            ids = ids + new
    return ids, passes


def _ready(length: int, kind: type[Any]) -> tuple[Any, int, list[Blocks]]:
    target = target_and_words()[0]
    heads = published_sizes()["num_attention_heads"]
    return target, heads, new_caches(target, heads, -(-length // 16), 16, kind)


def timed(
    draft: Counts, count: int = 4, stories: int = 4, tokens: int = 100, kind: type[Any] = BlockCache
) -> pd.DataFrame:
    """Passes and processor time for as many new tokens, with a cache: the storyteller alone, and with a draft."""
    rows: dict[str, dict[str, float]] = {}
    ways: dict[str, Callable[[torch.Tensor, int], tuple[list[int], int]]] = {
        "one by one": lambda prompt, seed: one_by_one(prompt, tokens, seed, kind),
        f"{count} proposed": lambda prompt, seed: with_counts(draft, count, prompt, tokens, seed, kind),
    }
    for name, tell in ways.items():
        passes = new = 0
        start = time.process_time()
        for seed, prompt in enumerate(prompts(stories)):
            ids, some = tell(prompt, seed)
            passes, new = passes + some, new + len(ids) - len(prompt)
        seconds = time.process_time() - start
        rows[name] = {"passes per token": passes / new, "milliseconds per token": 1000 * seconds / new}
    return pd.DataFrame(rows).T
