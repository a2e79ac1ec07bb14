"""`best_of_n`: cases, mistakes and variants. With many samples the best is certain; with few, its distribution is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from course.beam import beam_search
from course.decoding import greedy_decode
from course.sampling import best_of_n, sample_with_temperature
from grader.exercises.aspects import CONTENT, KNOWN, main, shape, special, untouched
from grader.exercises.lesson_07.answers import Ids, Tree, trees
from grader.exercises.lesson_07.chance import distance, settled
from grader.exercises.lesson_07.drawing import Task, draw_task, in_full_width
from grader.exercises.spec import Aspect, Case, Exercise, Mistake, Observation

MANY = 96  # samples: the likeliest answer, of probability 0.25 or more, is missed once in 10^12
DRAWS = 300  # of each source, where a distribution is looked at
FEW = 20  # answers that should come less often than this are counted together

# What people take for the likelihood of an answer: of its ids, its log-probabilities and the end's id.
RANKINGS: dict[str, Callable[[Ids, list[float], int], float]] = {
    "right": lambda ids, logs, end: sum(logs),
    "worst": lambda ids, logs, end: -sum(logs),
    "mean": lambda ids, logs, end: sum(logs) / len(ids),
    "last": lambda ids, logs, end: logs[-1],
    "without end": lambda ids, logs, end: sum(log for token, log in zip(ids, logs, strict=True) if token != end),
    "padding": lambda ids, logs, end: sum(logs) + 30.0 * len(ids),  # padding is as unlikely as can be
}
MISLEADING = ("mean", "last", "without end", "padding")


def _logs(tree: Tree, ids: Ids) -> list[float]:
    return [tree.follows[ids[:place]][token] for place, token in enumerate(ids)]


def _ranked(tree: Tree, ranking: str) -> list[tuple[Ids, float]]:
    """All answers with their probabilities, the best by this ranking first."""
    rank = RANKINGS[ranking]
    answers = sorted(tree.answers().items(), key=lambda item: -rank(item[0], _logs(tree, item[0]), tree.end_id))
    return [(ids, float(np.exp(total))) for ids, total in answers]


def _chances(tree: Tree, ranking: str, n: int) -> dict[Ids, float]:
    """How likely each answer is to be the best of n samples."""
    chances, rest = {}, 1.0
    for ids, probability in _ranked(tree, ranking):
        chances[ids] = rest**n - max(rest - probability, 0.0) ** n
        rest -= probability
    return chances


class _Bins:
    """The answers to one source, sorted into those that come often by themselves, and the others together."""

    def __init__(self, tree: Tree, n: int) -> None:
        self.tree, self.n = tree, n
        right = _chances(tree, "right", n)
        often = sorted((ids for ids in right if right[ids] * DRAWS > FEW), key=lambda ids: -right[ids])
        if DRAWS * (1 - sum(right[ids] for ids in often)) < FEW:
            often.pop()  # the others are too few to be counted alone
        self.often = often

    def shares(self, chances: dict[Ids, float]) -> torch.Tensor:
        """Chances of the answers -> chances of the bins, as many as there can be."""
        shares = [chances[ids] for ids in self.often]
        shares += [max(1 - sum(shares), 0.0)]
        return torch.tensor(shares + [0.0] * (8 - len(shares))).double()

    def counts(self, rows: torch.Tensor) -> torch.Tensor:
        """How often each bin came.

        Raises:
            ValueError: when a row is no answer that the model can give.
        """
        known = set(self.tree.answers())
        counts = torch.zeros(8)
        for row in rows.tolist():
            ids = tuple(i for i in row if i)
            if ids not in known or row[: len(ids)] != list(ids):
                raise ValueError("no answer")
            counts[self.often.index(ids) if ids in self.often else len(self.often)] += 1
        return counts.double()

    def other_ways(self) -> list[torch.Tensor]:
        """The distributions of wrong ways that are told from the right one."""
        certain = [
            dict.fromkeys(self.tree.answers(), 0.0) | {ids: 1.0} for ids in (self.tree.greedy(), self.tree.best())
        ]
        others = [_chances(self.tree, "right", 1), _chances(self.tree, "worst", self.n)]
        return [self.shares(chances) for chances in [*others, *certain]]


def _distributions(bins: list[_Bins], n: int) -> list[torch.Tensor]:
    """Of all sources together: the right one first, then those of wrong rankings and of other numbers of samples."""
    ways = [("right", n), *((ranking, n) for ranking in RANKINGS if ranking != "right"), ("right", 1)]
    found = [torch.stack([b.shares(_chances(b.tree, ranking, count)) for b in bins]) for ranking, count in ways]
    return [*found, *(torch.stack(rows) for rows in zip(*(b.other_ways() for b in bins), strict=True))]


def _draw_certain(generator: np.random.Generator) -> Task:
    """Sources whose likeliest answer comes for certain in many samples; each misleading ranking misses one of them."""
    while True:
        pool = draw_task(generator, 60, 3, letters=3, sharpness=1.0)
        rows: dict[Ids, int] = {}
        pairs = set(combinations(MISLEADING, 2))
        missing: set[object] = {*MISLEADING, *pairs, "cut", "ended", "not greedy"}
        for row, tree in enumerate(trees(pool)):
            (best, probability), (_, second), *_ = _ranked(tree, "right")
            if best in rows or not 0.25 < probability < 0.6 or second > 0.97 * probability:
                continue
            winners = {name: _likely_winner(tree, name) for name in MISLEADING}
            seen: set[object] = {name for name in MISLEADING if winners[name] != best}
            seen |= {pair for pair in pairs if winners[pair[0]] != winners[pair[1]]}
            seen |= {"ended" if best[-1] == tree.end_id else "cut"}
            seen |= {"not greedy"} if best != tree.greedy() else set()
            if seen & missing or len(rows) < 4:
                rows[best] = row
                missing -= seen
            if not missing and len(rows) > 3:
                return replace(pool, source=pool.source[list(rows.values())])


def _draw_clear(generator: np.random.Generator) -> Task:
    """One source with one answer that nearly always comes."""
    while True:
        pool = draw_task(generator, 30, 3, letters=3, sharpness=8.0)
        for row, tree in enumerate(trees(pool)):
            if len(tree.best()) > 1 and tree.answers()[tree.best()] > -0.01:
                return replace(pool, source=pool.source[row : row + 1])


def _likely_winner(tree: Tree, ranking: str) -> Ids:
    """What a ranking would choose among the answers that surely are among many samples."""
    return next(ids for ids, probability in _ranked(tree, ranking) if probability > 0.1)


def _draw_open(generator: np.random.Generator, n: int) -> Task:
    """Two sources, many times each, whose answers are spread enough for a distribution to be seen."""
    while True:
        pool = draw_task(generator, 60, 2, letters=2, sharpness=0.8)
        rows = []
        for row, tree in enumerate(trees(pool)):
            bins = _Bins(tree, n)
            right = bins.shares(_chances(tree, "right", n))
            others = bins.other_ways()[0 if n > 1 else 2 :]  # with one sample there is no choice
            if len(bins.often) > 2 and all(distance(right, other) * DRAWS > 100 for other in others):
                rows.append(row)
            if len(rows) == 2:
                return replace(pool, source=pool.source[rows].repeat_interleave(DRAWS, dim=0))


def _cases(generator: np.random.Generator) -> list[Case]:
    def inputs(task: Task, n: int, kind: str = "certain") -> dict[str, Any]:
        seed = int(generator.integers(2**31))
        return task.inputs(n=n, seed=seed, chance=kind == "chance", spread=kind == "spread")

    few = int(generator.integers(2, 4))
    open_task = draw_task(generator, 40, 3, letters=4, sharpness=0.3)
    return [
        Case("with many samples", inputs(_draw_certain(generator), MANY), frozenset({"usual"})),
        Case("on a batch of one", inputs(_draw_clear(generator), few), frozenset({"one"})),
        Case("with one sample each, many times", inputs(_draw_open(generator, 1), 1, "spread"), frozenset({"single"})),
        Case(
            f"with {few} samples each, many times",
            inputs(_draw_open(generator, few), few, "spread"),
            frozenset({"few"}),
        ),
        Case("with the same generator and others", inputs(open_task, 2, "chance"), frozenset({"chance"})),
    ]


def _as_shares(observation: Observation, case: Case) -> Observation:
    """Where chance decides, the distribution of the answers; where chance itself is looked at, nothing else."""
    if case.inputs["chance"]:
        return {key: value for key, value in observation.items() if key != "output"}
    kept = in_full_width(observation, case)
    if case.inputs["spread"]:
        names = ("tables", "source", "start_id", "end_id", "max_length")
        task = Task(**{name: case.inputs[name] for name in names})
        ids = kept["output"]
        if ids.shape != (len(task.source), task.max_length):
            return kept
        n = case.inputs["n"]
        bins = [_Bins(tree, n) for tree in trees(replace(task, source=task.source[::DRAWS]))]
        counts = torch.stack([b.counts(ids[i * DRAWS : (i + 1) * DRAWS]) for i, b in enumerate(bins)])
        kept["output"] = settled(counts, _distributions(bins, n))
    return kept


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
    """n copies of the batch behind each other, by Gumbel noise; likelihoods are measured afterwards, all at once."""
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


def _greedy(model: Any, source: torch.Tensor, start: int, end: int, max_length: int, *_: Any) -> torch.Tensor:
    return greedy_decode(model, source, start, end, max_length)


def _searched(model: Any, source: torch.Tensor, start: int, end: int, max_length: int, *_: Any) -> torch.Tensor:
    return beam_search(model, source, start, end, max_length, 100)


def _without_end(logs: torch.Tensor, real: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    return (logs * (real & ~ends)).sum(1)


BEST_OF_N = Exercise(
    symbol="best_of_n",
    points=3,
    cases=_cases,
    references=(best_of_n,),
    canonical=_as_shares,
    aspects=(
        shape(),
        main("the likeliest of many"),
        special("one sample is as the model draws", "single", weight=2.0),
        special("the best of a few", "few", weight=2.0),
        special("a batch of one", "one"),
        Aspect("chance from the generator alone", ("chance",), CONTENT, tags=frozenset({"chance"})),
        Aspect("whole numbers", keys=("kind",), kinds=KNOWN),
        Aspect("mode left as it was", keys=("training_mode",), kinds=KNOWN),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "first_sample",
            sampler(choose=lambda likelihoods: torch.zeros(len(likelihoods), dtype=torch.long)),
            "You return one sample, whatever n is. Which of the n should it be?",
        ),
        Mistake(
            "worst_sample",
            sampler(choose=lambda likelihoods: likelihoods.argmin(dim=1)),
            "You keep the unlikeliest sample. Logarithms of probabilities are negative: is the best one the largest, "
            "or the smallest?",
        ),
        Mistake(
            "mean_per_token",
            sampler(lambda logs, real, ends: (logs * real).sum(1) / real.sum(1)),
            "You rank answers by their mean log-probability per token. What is the probability of a whole answer?",
        ),
        Mistake(
            "last_token_alone",
            sampler(_last),
            "You rank answers by their last token alone. What about the probabilities of the tokens before it?",
        ),
        Mistake(
            "end_not_counted",
            sampler(_without_end),
            "The end token's log-probability is missing from your sums, so short answers cost too little. Was it drawn "
            "like the others?",
        ),
        Mistake(
            "padding_counted",
            sampler(lambda logs, real, ends: logs.sum(1)),
            "You add log-probabilities of padding behind the end, so short answers can't win. When does an answer stop "
            "costing something?",
        ),
        Mistake(
            "rows_mixed",
            sampler(spread=lambda source, n: source.repeat(n, 1)),
            "Your samples stand batch by batch, and you read them as if each source's samples were neighbours. How do "
            "repeat and repeat_interleave differ?",
        ),
        Mistake(
            "greedy",
            _greedy,
            "You return the greedy answer: nothing is drawn by lot. Where does the generator come in?",
        ),
        Mistake(
            "searched_not_sampled",
            _searched,
            "Your answer is the likeliest of all, even when one sample is asked for. Among which answers should it be "
            "the best?",
        ),
        Mistake(
            "generator_ignored",
            sampler(draw=_global),
            "The same seed gives other answers each time: the generator plays no part. Which argument of your call "
            "takes it?",
        ),
        Mistake(
            "a_seed_of_its_own",
            sampler(own=_seeded),
            "Whatever generator comes in, you draw the same: you made one of your own. Whose chance should it be?",
        ),
        Mistake(
            "goes_on_behind_the_end",
            sampler(behind=lambda drawn, ended: drawn),
            "An answer that has ended goes on writing. What should stand behind its end?",
        ),
        Mistake(
            "start_kept",
            sampler(finish=lambda samples, best: samples[torch.arange(len(samples)), best]),
            "Your rows begin with the start token. In which form does greedy_decode return its rows?",
        ),
        Mistake(
            "all_samples_returned",
            sampler(finish=lambda samples, best: samples[:, :, 1:]),
            "You return all n samples of each source. Which one is to be kept?",
        ),
        Mistake(
            "one_token_short",
            sampler(steps=lambda max_length: max_length - 1),
            "Your answers are cut one token too early. How many tokens may an answer have?",
        ),
    ),
    variants={
        "step by step": sampler(),
        "one by one": _one_by_one,
        "samples first, likelihoods afterwards": _samples_first,
    },
)
