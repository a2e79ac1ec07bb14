"""`best_of_n`: how it is tried. With many samples the best is certain; with few, its distribution is."""

from collections.abc import Callable
from dataclasses import replace
from heapq import nlargest
from itertools import combinations
from operator import itemgetter
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from transformer_course.lessons.lesson_07.chance import distance, from_the_generator, settled
from transformer_course.lessons.lesson_07.drawing import OF_IDS, SAID, Task, draw_task, in_full_width
from transformer_course.lessons.lesson_07.trees import Ids, Tree, trees
from transformer_course.lessons.watching import AS_ASKED

ANSWERS = "how_often_each_answer_comes_up"  # what a card calls the probabilities, and frequencies that fit none
MANY = 96  # samples: the most likely answer, of probability 0.25 or more, is missed once in 10^12
TIMES = 3
DRAWS = 300  # of each source, where a distribution is looked at
UNLIKELY = 0.1  # where each answer that is kept is less likely, none of them is the best of its row
KEPT = "kept"
RARE = 20  # answers that should come less often than this are counted together

SINGLE = aspects.special(
    "with n = 1, the model's own distribution",
    "",
    2.0,
    "Over many runs with n = 1, each answer comes up as often as the model's probabilities say.",
    (ANSWERS,),
)
FEW = aspects.special(
    "the best of a few samples",
    "",
    2.0,
    "Over many runs with a small n, each answer wins as often as it should.",
    (ANSWERS,),
)
FROM_THE_GENERATOR = from_the_generator(4.0)

# What people take for the likelihood of an answer: of its ids, its log-probabilities and the end's id.
RANKINGS: dict[str, Callable[[Ids, list[float], int], float]] = {
    "right": lambda ids, logs, end: sum(logs),
    "worst": lambda ids, logs, end: -sum(logs),
    "mean": lambda ids, logs, end: sum(logs) / len(ids),
    "last": lambda ids, logs, end: logs[-1],
    "without end": lambda ids, logs, end: sum(log for token, log in zip(ids, logs, strict=True) if token != end),
    "padding": lambda ids, logs, end: sum(logs) + 30.0 * len(ids),  # padding is as unlikely as can be
}
RUNNING_ON = ("sums that run on lose", "sums that run on win")
MISLEADING = ("mean", "last", "without end", "padding")


def _logs(tree: Tree, ids: Ids) -> list[float]:
    return [tree.follows[ids[:place]][token] for place, token in enumerate(ids)]


def _ranked(tree: Tree, ranking: str) -> list[Ids]:
    """All answers, the best by this ranking first."""
    rank = RANKINGS[ranking]
    return sorted(tree.answers(), key=lambda ids: -rank(ids, _logs(tree, ids), tree.end_id))


def _chances(tree: Tree, ranking: str, n: int, sampled: Tree | None = None) -> dict[Ids, float]:
    """How likely each answer is to be the best of n samples, drawn from this tree or another."""
    totals = (sampled or tree).answers()
    chances, rest = {}, 1.0
    for ids in _ranked(tree, ranking):
        probability = float(np.exp(totals[ids]))
        chances[ids] = rest**n - max(rest - probability, 0.0) ** n
        rest -= probability
    return chances


class _Bins:
    """The answers to one source, sorted into those that come often by themselves, and the others together."""

    def __init__(self, tree: Tree, n: int) -> None:
        self.tree, self.n = tree, n
        right = _chances(tree, "right", n)
        often = sorted((ids for ids in right if right[ids] * DRAWS > RARE), key=lambda ids: -right[ids])
        if DRAWS * (1 - sum(right[ids] for ids in often)) < RARE:
            often.pop()  # the others are too few to be counted alone
        self.often = often

    def shares(self, chances: dict[Ids, float]) -> torch.Tensor:
        """Probabilities of the answers -> those of the bins, as many as there can be."""
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
        colder = _chances(self.tree, "right", self.n, self.tree.at(0.3))
        others = [_chances(self.tree, "right", 1), _chances(self.tree, "worst", self.n)]
        return [self.shares(chances) for chances in [*others, *certain, colder]]


def _distributions(bins: list[_Bins], n: int) -> list[torch.Tensor]:
    """Of all sources together: the right one first, then those of wrong rankings and of other numbers of samples."""
    ways = [("right", n), *((ranking, n) for ranking in RANKINGS if ranking != "right"), ("right", 1)]
    of_rankings = [torch.stack([b.shares(_chances(b.tree, ranking, count)) for b in bins]) for ranking, count in ways]
    return [*of_rankings, *(torch.stack(rows) for rows in zip(*(b.other_ways() for b in bins), strict=True))]


def _draw_certain(generator: np.random.Generator) -> Task:
    """Sources whose best answer is surely among many samples; each misleading ranking misses one of them.

    Each comes several times: a single draw may be the best for four rows, but not for twelve.
    """
    while True:
        pool = draw_task(generator, 60, 3, letters=3, sharpness=1.0)
        rows: dict[Ids, int] = {}
        pairs = set(combinations(MISLEADING, 2))
        missing: set[object] = {*MISLEADING, *pairs, "cut", "ended", "not greedy", *RUNNING_ON}
        for row, tree in enumerate(trees(pool)):
            (best, total), (_, next_best) = nlargest(2, tree.answers().items(), key=itemgetter(1))
            probability, second = float(np.exp(total)), float(np.exp(next_best))
            if best in rows or not 0.25 < probability < 0.6 or second > 0.97 * probability:
                continue
            winners = {name: _likely_winner(tree, name) for name in MISLEADING}
            seen: set[object] = {name for name in MISLEADING if winners[name] != best}
            seen |= {pair for pair in pairs if winners[pair[0]] != winners[pair[1]]}
            seen |= {"ended" if best[-1] == tree.end_id else "cut"}
            seen |= {"not greedy"} if best != tree.greedy() else set()
            lead = _lead_when_sums_run_on(pool, row, tree, best)
            if lead is not None and lead < -0.1 and winners["without end"] == best:
                seen |= {"sums that run on lose"}
            if lead is not None and lead > 0.3 and best not in (winners["mean"], winners["padding"]):
                seen |= {"sums that run on win"}
            if seen & missing or len(rows) < 4:
                rows[best] = row
                missing -= seen
            if not missing and len(rows) > 3:
                return replace(pool, source=pool.source[TIMES * list(rows.values())])


def _lead_when_sums_run_on(task: Task, row: int, tree: Tree, best: Ids) -> float | None:
    """By how much the best answer leads when its sum runs on over tokens after its end; None if it is of full length.

    What is added is at most what the most likely tokens add. An answer of full length, to which nothing can be added,
    takes over for certain where the lead is negative.
    """
    missing = task.max_length - len(best)
    if best[-1] != tree.end_id or missing == 0:
        return None
    read = torch.tensor([[task.start_id, *best, *[0] * (missing - 1)]])
    with torch.no_grad():
        logs = task.model()(task.source[row : row + 1], read)[0].log_softmax(-1)
    added = float(logs[len(best) :].max(dim=-1).values.sum())
    rivals = [total for ids, total in tree.answers().items() if len(ids) == task.max_length and np.exp(total) > 0.1]
    return tree.answers()[best] + added - max(rivals) if rivals else None


def _draw_clear(generator: np.random.Generator) -> Task:
    """One source with one answer that nearly always comes."""
    while True:
        pool = draw_task(generator, 30, 3, letters=3, sharpness=8.0)
        for row, tree in enumerate(trees(pool)):
            if len(tree.best()) > 1 and tree.answers()[tree.best()] > -0.01:
                return replace(pool, source=pool.source[row : row + 1])


def _likely_winner(tree: Tree, ranking: str) -> Ids:
    """What a ranking would choose among the answers that surely are among many samples."""
    likely = [ids for ids, total in tree.answers().items() if total > np.log(0.1)]
    return max(likely, key=lambda ids: RANKINGS[ranking](ids, _logs(tree, ids), tree.end_id))


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


def cases(generator: np.random.Generator) -> list[Case]:
    def inputs(task: Task, n: int, kind: str = "certain") -> dict[str, Any]:
        seed = int(generator.integers(2**31))
        return task.inputs(n=n, seed=seed, chance=kind == "chance", spread=kind == "spread")

    few = int(generator.integers(2, 4))
    open_task = draw_task(generator, 40, 3, letters=4, sharpness=0.3)
    return [
        Case.of(f"with n = {MANY}", **inputs(_draw_certain(generator), MANY)),
        Case.of("on a batch of one", aspects.BATCH_OF_ONE, **inputs(_draw_clear(generator), few)),
        Case.of("with n = 1, many times over", SINGLE, **inputs(_draw_open(generator, 1), 1, "spread")),
        Case.of(f"with n = {few}, many times over", FEW, **inputs(_draw_open(generator, few), few, "spread")),
        Case.of("with the same generator, and with others", FROM_THE_GENERATOR, **inputs(open_task, 2, "chance")),
    ]


def _of_many(output: Any, task: Task, n: int) -> str:
    """What can be said of the answers that many samples were drawn for, from whatever randomness."""
    if not isinstance(output, torch.Tensor) or output.dim() != 2 or output.is_floating_point():
        return AS_ASKED
    if bool((output[:, :1] == task.start_id).all()):
        output = output[:, 1:]
    if output.shape[1] > task.max_length or len(output) != len(task.source):
        return AS_ASKED
    answers: list[Ids] = []
    for ids in output.tolist():
        stop = ids.index(task.end_id) + 1 if task.end_id in ids else len(ids)
        answers.append(tuple(i for i in ids[:stop] if i))
    return _of_choices(answers, task, n)


def _of_choices(answers: list[Ids], task: Task, n: int) -> str:
    """The best answer is among so many samples for certain, so that rows with the same source keep the same one."""
    totals = [tree.answers() for tree in trees(task)]
    totals_of_answers = [of_row.get(ids) for of_row, ids in zip(totals, answers, strict=True)]
    likely = [float(np.exp(total)) for total in totals_of_answers if total is not None]
    if len(likely) < len(answers):
        return AS_ASKED  # some are no answers that the model gives to these sources
    if max(likely) < UNLIKELY:
        best = float(np.exp(max(totals[0].values())))
        return (
            f"Among {n} samples for row 0 there is one with the probability {best:.3g}, and you keep one with "
            f"{likely[0]:.2g}. Which of the n should it be?"
        )
    sources = [tuple(source) for source in task.source.tolist()]
    for row, (source, ids) in enumerate(zip(sources, answers, strict=True)):
        first = sources.index(source)
        if answers[first] != ids:
            return (
                f"Rows {first} and {row} have the same source. Among {n} samples the most likely answer is there for "
                "both, and yet you keep two different ones. Which of its own samples should each row keep?"
            )
    return AS_ASKED


def as_shares(observation: Observation, case: Case) -> Observation:
    """Where samples differ, the frequencies of the answers; where randomness itself is looked at, nothing else."""
    if case.inputs["chance"]:
        return {key: value for key, value in observation.items() if key != "output"}
    seen = in_full_width(observation, case)
    names = ("tables", "source", "start_id", "end_id", "max_length")
    task = Task(**{name: case.inputs[name] for name in names})
    if case.inputs["n"] == MANY:
        return {KEPT: _of_many(observation["output"], task, MANY), **seen}
    if case.inputs["spread"]:
        ids = seen.pop("output")
        n = case.inputs["n"]
        bins = [_Bins(tree, n) for tree in trees(replace(task, source=task.source[::DRAWS]))]
        try:
            if ids.shape != (len(task.source), task.max_length):
                raise ValueError("not an answer for each source")
            counts = torch.stack([b.counts(ids[i * DRAWS : (i + 1) * DRAWS]) for i, b in enumerate(bins)])
            seen[ANSWERS] = settled(counts, _distributions(bins, n))
        except ValueError:
            seen[ANSWERS] = torch.zeros(len(bins), 8).double()
    return seen


TRIAL = Trial(
    module="transformer_course.sampling",
    points=3,
    cases=cases,
    canonical=as_shares,
    called={KEPT: "what each row keeps", **SAID},
    aspects=(
        aspects.worded(aspects.shape(), KEPT),
        aspects.worded(
            aspects.main(
                "the most likely of many samples",
                meaning="Of many samples, each row keeps the one that the model finds most likely.",
            ),
            KEPT,
        ),
        SINGLE,
        FEW,
        aspects.BATCH_OF_ONE,
        FROM_THE_GENERATOR,
        *OF_IDS,
    ),
)
