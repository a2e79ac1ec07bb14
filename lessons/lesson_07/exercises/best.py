"""`best_of_n`: mistakes and variants. Its cases stand in `best_cases`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional as F

from course.beam import beam_search
from course.decoding import greedy_decode
from course.sampling import best_of_n, sample_with_temperature
from grader.authoring.aspects import main, shape, special
from grader.authoring.spec import Exercise, Mistake
from lessons.lesson_07.exercises.best_cases import ANSWERS, as_shares, best_cases
from lessons.lesson_07.exercises.chance import from_the_generator
from lessons.lesson_07.exercises.drawing import OF_IDS

Likelihood = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def _sum(logs: torch.Tensor, real: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    return (logs * real).sum(1)


def _last(logs: torch.Tensor, real: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    return logs.gather(1, real.sum(1, keepdim=True).long() - 1).squeeze(1)


def sampler(
    likelihood: Likelihood = _sum,
    spread: Callable[[torch.Tensor, int], torch.Tensor] = lambda source, n: source.repeat_interleave(n, dim=0),
    draw: Callable[[torch.Tensor, torch.Generator], torch.Tensor] = lambda logits, generator: sample_with_temperature(
        logits, 1.0, generator
    ),
    behind: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = lambda drawn, ended: drawn.masked_fill(ended, 0),
    choose: Callable[[torch.Tensor], torch.Tensor] = lambda likelihoods: likelihoods.argmax(dim=1),
    finish: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = lambda samples, best: samples[
        torch.arange(len(samples)), best, 1:
    ],
    own: Callable[[torch.Generator], torch.Generator] = lambda generator: generator,
    steps: Callable[[int], int] = lambda max_length: max_length,
) -> Callable[..., torch.Tensor]:
    """`best_of_n` with one step replaced."""

    def best(
        model: Any, source: torch.Tensor, start: int, end: int, max_length: int, n: int, generator: torch.Generator
    ) -> torch.Tensor:
        repeated, generator = spread(source, n), own(generator)
        written = torch.full_like(repeated[:, :1], start)
        ended = torch.zeros(len(repeated), dtype=torch.bool)
        logs, real, ends = [], [], []
        with torch.no_grad():
            for _ in range(steps(max_length)):
                logits = model(repeated, written)[:, -1]
                drawn = behind(draw(logits, generator), ended)
                logs.append(logits.log_softmax(-1).gather(1, drawn[:, None]).squeeze(1))
                real.append(~ended)
                ends.append((drawn == end) & ~ended)
                written = torch.cat([written, drawn[:, None]], dim=1)
                ended = ended | (drawn == end)
        likelihoods = likelihood(torch.stack(logs, 1), torch.stack(real, 1), torch.stack(ends, 1))
        return finish(written.reshape(len(source), -1, written.shape[1]), choose(likelihoods.reshape(len(source), -1)))

    return best


def _one_by_one(
    model: Any, source: torch.Tensor, start: int, end: int, max_length: int, n: int, generator: torch.Generator
) -> torch.Tensor:
    """One sample after the other; the best so far is kept."""
    best = torch.full((len(source),), -torch.inf)
    answers = torch.zeros(len(source), max_length, dtype=torch.long)
    for _ in range(n):
        ids, total = torch.zeros_like(answers), torch.zeros(len(source))
        written, alive = torch.full((len(source), 1), start), torch.ones(len(source))
        for t in range(max_length):
            shares = torch.softmax(model(source, written)[:, -1].detach(), dim=-1)
            drawn = torch.multinomial(shares, 1, generator=generator)
            total += alive * shares.gather(1, drawn).log()[:, 0]
            ids[:, t] = drawn[:, 0] * alive.long()
            alive = alive * (drawn[:, 0] != end)
            written = torch.cat([written, drawn], dim=1)
        better = total > best
        best = torch.where(better, total, best)
        answers[better] = ids[better]
    return answers


def _samples_first(
    model: Any, source: torch.Tensor, start: int, end: int, max_length: int, n: int, generator: torch.Generator
) -> torch.Tensor:
    """n copies of the batch one after the other, with Gumbel noise; all likelihoods are measured afterwards."""
    many = source.repeat(n, 1)
    written = torch.full((len(many), 1), start)
    with torch.no_grad():
        for _ in range(max_length):
            logits = model(many, written)[:, -1]
            noise = -torch.log(-torch.log(torch.rand(logits.shape, generator=generator, dtype=torch.float64)))
            written = torch.cat([written, (logits + noise).argmax(1, keepdim=True)], dim=1)
        ids = written[:, 1:]
        before = ((ids == end).long().cumsum(1) - (ids == end).long()) == 0
        surprise = F.cross_entropy(model(many, written[:, :-1]).transpose(1, 2), ids, reduction="none")
    order = (surprise * before).sum(1).reshape(n, -1).min(dim=0).indices
    picked: torch.Tensor = (ids * before).reshape(n, len(source), max_length)[order, torch.arange(len(source))]
    return picked


def _seeded(generator: torch.Generator) -> torch.Generator:
    return torch.Generator().manual_seed(0)


def _global(logits: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return torch.multinomial(logits.softmax(-1), 1).squeeze(1)


def _searched(model: Any, source: torch.Tensor, start: int, end: int, max_length: int, *_: Any) -> torch.Tensor:
    return beam_search(model, source, start, end, max_length, 100)


def _without_end(logs: torch.Tensor, real: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    return (logs * (real & ~ends)).sum(1)


def _past_the_end(model: Any, source: torch.Tensor, start: int, end: int, max_length: int, n: int, g: Any) -> Any:
    """The text stops at its end, but the sum goes on over the tokens that are sampled after it."""
    repeated = source.repeat_interleave(n, dim=0)
    written, total = torch.full((len(repeated), 1), start), torch.zeros(len(repeated))
    ended = torch.zeros(len(repeated), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(max_length):
            logs = torch.log_softmax(model(repeated, written)[:, -1], dim=-1)
            tokens = torch.multinomial(logs.exp(), 1, generator=g)
            total += logs.gather(1, tokens)[:, 0]
            tokens = tokens[:, 0].masked_fill(ended, 0)
            written = torch.cat([written, tokens[:, None]], dim=1)
            ended = ended | (tokens == end)
    best = total.reshape(len(source), n).argmax(dim=1)
    return written.reshape(len(source), n, -1)[torch.arange(len(source)), best, 1:]


BEST_OF_N = Exercise(
    symbol="best_of_n",
    points=3,
    cases=best_cases,
    references=(best_of_n,),
    canonical=as_shares,
    aspects=(
        shape(),
        main(
            "the most likely of many samples",
            meaning="Of many samples, each row keeps the one that the model finds most likely.",
        ),
        special(
            "with n = 1, the model's own distribution",
            "single",
            2.0,
            "Over many runs with n = 1, each answer comes up as often as the model's probabilities say.",
            (ANSWERS,),
        ),
        special(
            "the best of a few samples",
            "few",
            2.0,
            "Over many runs with a small n, each answer wins as often as it should.",
            (ANSWERS,),
        ),
        special("a batch of one", "one"),
        from_the_generator(),
        *OF_IDS,
    ),
    mistakes=(
        Mistake(
            "first_sample",
            sampler(choose=lambda likelihoods: torch.zeros(len(likelihoods), dtype=torch.long)),
            "You return one sample, whatever n is. Which of the n should it be?",
            central=True,
        ),
        Mistake(
            "worst_sample",
            sampler(choose=lambda likelihoods: likelihoods.argmin(dim=1)),
            "You keep the least likely sample. Log-probabilities are negative: is the best one the largest or the "
            "smallest?",
            central=True,
        ),
        Mistake(
            "mean_per_token",
            sampler(lambda logs, real, ends: (logs * real).sum(1) / real.sum(1)),
            "You rank answers by their mean log-probability per token. What is the log-probability of a whole answer?",
        ),
        Mistake(
            "last_token_alone",
            sampler(_last),
            "You rank answers by their last token alone. What about the probabilities of the tokens before it?",
        ),
        Mistake(
            "end_not_counted",
            sampler(_without_end),
            "Your sums leave out the end token's log-probability, so short answers look too good. Wasn't the end "
            "sampled like any other token?",
        ),
        Mistake(
            "padding_counted",
            sampler(lambda logs, real, ends: logs.sum(1)),
            "You add the log-probability of padding after the end, so short answers can't win. When should a row's sum "
            "stop growing?",
        ),
        Mistake(
            "sum_runs_on",
            _past_the_end,
            "Your sums keep growing after the end, with tokens that are not part of the answer. When should a row's "
            "sum stop growing?",
            central=True,
        ),
        Mistake(
            "rows_mixed",
            sampler(spread=lambda source, n: source.repeat(n, 1)),
            "You copy the batch as a whole, but read the samples as if copies of a source were neighbours. How do "
            "repeat and repeat_interleave differ?",
            central=True,
        ),
        Mistake(
            "greedy",
            lambda *arguments: greedy_decode(*arguments[:5]),
            "You return the greedy answer: nothing is sampled. Where does the generator come in?",
            central=True,
        ),
        Mistake(
            "searched_not_sampled",
            _searched,
            "You return the most likely answer of all, even for n = 1. Which answers should it be chosen from?",
        ),
        Mistake(
            "generator_ignored",
            sampler(draw=_global),
            "The same seed gives different answers each time: the generator is never used. Which argument of your call "
            "takes it?",
        ),
        Mistake(
            "a_seed_of_its_own",
            sampler(own=_seeded),
            "Whichever generator is passed in, you sample the same answers: you made one of your own. Which one should "
            "you use?",
        ),
        Mistake(
            "goes_on_after_the_end",
            sampler(behind=lambda drawn, ended: drawn),
            "An answer that has ended goes on writing. What should come after its end?",
        ),
        Mistake(
            "start_kept",
            sampler(finish=lambda samples, best: samples[torch.arange(len(samples)), best]),
            "Your rows begin with the start token. Does greedy_decode return it?",
        ),
        Mistake(
            "all_samples_returned",
            sampler(finish=lambda samples, best: samples[:, :, 1:]),
            "You return all n samples of each source. Which one should you keep?",
        ),
        Mistake(
            "one_token_short",
            sampler(steps=lambda max_length: max_length - 1),
            "Your answers are cut off one token too early. How many tokens may an answer have?",
        ),
    ),
    variants={
        "step by step": sampler(),
        "one by one": _one_by_one,
        "samples first, likelihoods afterwards": _samples_first,
    },
)
