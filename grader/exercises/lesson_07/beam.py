"""`beam_search`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from course.beam import beam_search
from course.decoding import greedy_decode
from grader.exercises.aspects import KNOWN, main, shape, special, untouched
from grader.exercises.lesson_07.answers import Ids, Tree, trees
from grader.exercises.lesson_07.drawing import Task, draw_task, in_full_width
from grader.exercises.spec import Aspect, Case, Exercise, Mistake

Entry = tuple[list[int], float]


def _top(entries: list[Entry], width: int) -> list[Entry]:
    return sorted(entries, key=lambda entry: entry[1], reverse=True)[:width]


@dataclass(frozen=True)
class Ways:
    """The steps of a beam search; a mistake replaces one. Entries are (ids, sum)."""

    logs: Callable[[torch.Tensor], torch.Tensor] = lambda logits: logits.log_softmax(-1)
    add: Callable[[float, float], float] = lambda total, more: total + more
    keep: Callable[[list[Entry], int], list[Entry]] = _top
    length: Callable[[list[int], int], int] = lambda ids, end: len(ids)
    score: Callable[[float, int, float], float] = lambda total, length, penalty: total / length**penalty
    compete: Callable[[list[Entry], list[Entry]], list[Entry]] = lambda finished, alive: finished + alive
    choose: Callable[..., Entry] = max
    ended: Callable[[list[int], int], bool] = lambda ids, end: ids[-1] == end
    late: int = 0  # steps for which an answer that has ended still goes on
    stop: Callable[[list[Entry]], bool] = lambda finished: False

    def run(
        self, logits_of: Callable[[list[list[int]]], torch.Tensor], end: int, most: int, width: int, penalty: float
    ) -> list[int]:
        """The best ids. `logits_of` takes the beginnings that are alive to what may follow them."""
        alive: list[Entry] = [([], 0.0)]
        finished: list[Entry] = []
        for _ in range(most):
            table = self.logs(logits_of([ids for ids, _ in alive])).tolist()
            continued = [
                ([*ids, token], self.add(total, more))
                for (ids, total), line in zip(alive, table, strict=True)
                for token, more in enumerate(line)
            ]
            continued = self.keep(continued, width)
            finished += [entry for entry in continued if self.ended(entry[0], end)]
            alive = [entry for entry in continued if not self.ended(entry[0][: len(entry[0]) - self.late] or [-1], end)]
            if not alive or self.stop(finished):
                break

        def rank(entry: Entry) -> float:
            return self.score(entry[1], max(self.length(entry[0], end), 1), penalty)

        return self.choose(self.compete(finished, alive), key=rank)[0]


def searcher(
    ways: Ways,
    finish: Callable[[list[int], int, int], list[int]] = lambda ids, start, end: ids,
    read: Callable[[torch.Tensor, int], torch.Tensor] = lambda source, row: source[row],
) -> Callable[..., torch.Tensor]:
    """`beam_search` in these ways."""

    def search(
        model: Any, source: torch.Tensor, start: int, end: int, most: int, width: int, penalty: float = 0.0
    ) -> torch.Tensor:
        answers = []
        for row in range(len(source)):

            def logits_of(beginnings: list[list[int]], row: int = row) -> torch.Tensor:
                written = torch.tensor([[start, *ids] for ids in beginnings])
                with torch.no_grad():
                    logits: torch.Tensor = model(read(source, row).expand(len(written), -1), written)
                return logits[:, -1]

            ids = ways.run(logits_of, end, most, width, penalty)
            answers.append(torch.tensor(finish(ids, start, end), dtype=torch.long))
        return pad_sequence(answers, batch_first=True)

    return search


def _best_of_each(entries: list[Entry], width: int) -> list[Entry]:
    """Branches at the first token alone; after that each beginning goes its greedy way."""
    if len(entries[0][0]) == 1:
        return _top(entries, width)
    best: dict[tuple[int, ...], Entry] = {}
    for ids, total in entries:
        beginning = tuple(ids[:-1])
        if beginning not in best or best[beginning][1] < total:
            best[beginning] = (ids, total)
    return list(best.values())


WRONG = {
    "greedy": Ways(keep=lambda entries, width: _top(entries, 1)),
    "branches_once": Ways(keep=_best_of_each),
    "never_pruned": Ways(keep=lambda entries, width: entries),
    "worst_kept": Ways(keep=lambda entries, width: sorted(entries, key=lambda entry: entry[1])[:width]),
    "one_more_kept": Ways(keep=lambda entries, width: _top(entries, width + 1)),
    "last_token_alone": Ways(add=lambda total, more: more),
    "raw_logits_added": Ways(logs=lambda logits: logits),
    "probabilities_added": Ways(logs=lambda logits: logits.softmax(-1)),
    "ends_not_seen": Ways(ended=lambda ids, end: False),
    "goes_on_for_one_step": Ways(late=1),
    "ended_answers_forgotten": Ways(compete=lambda finished, alive: alive or finished),
    "cut_answers_forgotten": Ways(compete=lambda finished, alive: finished or alive),
    "first_to_end": Ways(stop=lambda finished: bool(finished), compete=lambda finished, alive: finished or alive),
    "worst_of_all": Ways(choose=min),
    "penalty_ignored": Ways(score=lambda total, length, penalty: total),
    "penalty_multiplied": Ways(score=lambda total, length, penalty: total * length**penalty),
    "penalty_without_a_power": Ways(
        score=lambda total, length, penalty: total / (length * penalty) if penalty else total
    ),
    "end_not_counted": Ways(length=lambda ids, end: len(ids) - (ids[-1] == end)),
    "start_counted": Ways(length=lambda ids, end: len(ids) + 1),
}

Wanted = Callable[[Tree, Ids], bool]
LONGEST = 4  # tokens, in all of the toy answers


def _on(tree: Tree, name: str, width: int, penalty: float) -> Ids:
    """What a wrong way would find, without calling the model; where it goes on behind an end, nothing comes."""
    places = {ids: place for place, ids in enumerate(tree.follows)}
    with_nothing = torch.cat([tree.logits, torch.zeros_like(tree.logits[:1])])

    def logits_of(beginnings: list[list[int]]) -> torch.Tensor:
        return with_nothing[[places.get(tuple(ids), -1) for ids in beginnings]]

    return tuple(WRONG[name].run(logits_of, tree.end_id, tree.max_length, width, penalty))


def _late_shows(task: Task, width: int, penalty: float) -> bool:
    """Whether going on for one step finds something else: that needs the model itself, behind an end too."""
    late, right = (
        searcher(ways)(task.model(), task.source, task.start_id, task.end_id, task.max_length, width, penalty)
        for ways in (WRONG["goes_on_for_one_step"], Ways())
    )
    return not torch.equal(late, right)


@dataclass(frozen=True)
class Plan:
    """A case to be drawn: sources on which all sensible kinds of beam search find an answer that is `wanted`.

    Each way in `shows` goes wrong for at least one of them, in `apart` two ways go wrong differently. There are up to
    `most` sources, with different answers.
    """

    label: str
    tag: str
    wanted: Wanted
    width: int
    shows: tuple[str, ...] = ()
    apart: tuple[tuple[str, str], ...] = ()
    max_length: int = LONGEST
    penalty: float | None = None
    most: int = 5

    def fill(self, pool: Task, found: list[Tree]) -> Case | None:
        """The case, if these sources will do."""
        power = self.penalty or 0.0
        rows: dict[Ids, int] = {}
        missing: set[str | tuple[str, str]] = {*self.shows, *self.apart}
        for row, longer in enumerate(found):
            tree = replace(longer, max_length=self.max_length)
            answer, clear = tree.search(self.width, power)
            if clear < 0.02 or answer in rows or not self.wanted(tree, answer):
                continue
            if not tree.agreed(answer, self.width, power):
                continue
            seen = {way for way in missing if self._differ(way, tree, answer)}
            if seen or len(rows) < min(2, self.most):
                rows[answer] = row
                missing -= seen
            if len(rows) == self.most:
                break
        if missing or len(rows) < min(2, self.most):
            return None
        task = replace(pool, source=pool.source[list(rows.values())], max_length=self.max_length)
        more = {} if self.penalty is None else {"length_penalty": self.penalty}
        if self.penalty and not _late_shows(task, self.width, self.penalty):
            return None
        return Case(self.label, task.inputs(beam_width=self.width, **more), frozenset({self.tag}))

    def _differ(self, way: str | tuple[str, str], tree: Tree, answer: Ids) -> bool:
        """Whether a wrong way finds another answer, or two wrong ways find two."""
        one, other = way if isinstance(way, tuple) else (way, None)
        found = _on(tree, one, self.width, self.penalty or 0.0)
        return found != (_on(tree, other, self.width, self.penalty or 0.0) if other else answer)


RANKING = ("last_token_alone", "raw_logits_added", "probabilities_added")
ALWAYS = ("greedy", "worst_kept", *RANKING, "first_to_end", "worst_of_all")


def _cases(generator: np.random.Generator) -> list[Case]:
    penalty = round(float(generator.uniform(1.3, 1.5)), 2)

    def better(tree: Tree, answer: Ids) -> bool:
        return answer == tree.best() and answer != tree.greedy() and answer[-1] == tree.end_id

    def greedy_ends(tree: Tree, answer: Ids) -> bool:
        return answer[-1] == tree.end_id and answer != tree.best() and len(answer) < tree.max_length

    def ends_at_once(tree: Tree, answer: Ids) -> bool:
        return answer == (tree.end_id,)

    def any_answer(tree: Tree, answer: Ids) -> bool:
        return True

    of_length = ("penalty_ignored", "end_not_counted", "start_counted", "penalty_without_a_power")
    ended = ("ends_not_seen", "ended_answers_forgotten")
    narrow = ("never_pruned", "one_more_kept", "ends_not_seen")
    wider = (("never_pruned", "one_more_kept"),)
    long = (*ALWAYS, *ended, "branches_once", "cut_answers_forgotten", "penalty_multiplied", *of_length)
    cut = (*ALWAYS, *ended, "cut_answers_forgotten")
    apart = tuple(combinations((*of_length, "penalty_multiplied"), 2))
    small = "on a batch of one, with max_length = 1, a beam wider than the vocabulary, and the length penalty 0"
    plans = [
        Plan("with two beginnings at a time", "usual", better, 2, (*ALWAYS, *ended)),
        Plan("with three beginnings at a time", "usual", better, 3, (*ALWAYS, *ended)),
        Plan("with beam_width = 1", "narrow", greedy_ends, 1, narrow, wider),
        Plan(f"with the length penalty {penalty}", "penalty", any_answer, 12, long, apart, penalty=penalty),
        Plan("where the best is cut at max_length", "cut", any_answer, 3, cut, max_length=3),
        Plan(small, "small", ends_at_once, 50, max_length=1, penalty=0.0, most=1),
    ]
    cases: dict[str, Case] = {}
    while len(cases) < len(plans):
        pool = draw_task(generator, 60, LONGEST, letters=3, sharpness=0.9)
        found = trees(pool)
        for plan in plans:
            if plan.label not in cases and (case := plan.fill(pool, found)):
                cases[plan.label] = case
    return list(cases.values())


def _greedy(model: Any, source: torch.Tensor, start: int, end: int, max_length: int, *_: Any) -> torch.Tensor:
    return greedy_decode(model, source, start, end, max_length)


def _with_all(change: Callable[[torch.Tensor], Any]) -> Callable[..., Any]:
    return lambda *arguments: change(beam_search(*arguments))


def _ended_in_the_beam(
    model: Any,
    source: torch.Tensor,
    start_id: int,
    end_id: int,
    max_length: int,
    beam_width: int,
    length_penalty: float = 0.0,
) -> torch.Tensor:
    """All rows at once; an answer that has ended keeps its place in the beam, and padding costs it nothing."""
    batch = len(source)
    with torch.no_grad():
        vocabulary = model(source, torch.full((batch, 1), start_id)).shape[-1]
        written = torch.full((batch, beam_width, 1), start_id)
        totals = torch.full((batch, beam_width), -torch.inf)
        totals[:, 0] = 0.0
        ended = torch.zeros(batch, beam_width, dtype=torch.bool)
        lengths = torch.zeros(batch, beam_width)
        stay = torch.full((vocabulary,), -torch.inf)
        stay[0] = 0.0
        for _ in range(max_length):
            logits = model(source.repeat_interleave(beam_width, 0), written.flatten(0, 1))[:, -1]
            steps = logits.log_softmax(-1).reshape(batch, beam_width, vocabulary)
            steps = torch.where(ended[..., None], stay, steps)
            totals, places = (totals[..., None] + steps).flatten(1).topk(beam_width)
            parents, tokens = places // vocabulary, places % vocabulary
            written = torch.cat([written.gather(1, parents[..., None].expand_as(written)), tokens[..., None]], -1)
            lengths = lengths.gather(1, parents) + ~ended.gather(1, parents)
            ended = ended.gather(1, parents) | (tokens == end_id)
        best = (totals / lengths**length_penalty).argmax(dim=1)
    return written[torch.arange(batch), best, 1:]


BEAM = Exercise(
    symbol="beam_search",
    points=4,
    cases=_cases,
    references=(beam_search,),
    canonical=in_full_width,
    aspects=(
        shape(),
        main("the best of several beginnings"),
        special("as narrow as asked", "narrow", weight=2.0),
        special("the length penalty", "penalty", weight=2.0),
        special("what is cut competes", "cut"),
        special("a batch of one, a wide beam", "small"),
        Aspect("whole numbers", keys=("kind",), kinds=KNOWN),
        Aspect("mode left as it was", keys=("training_mode",), kinds=KNOWN),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "greedy",
            _greedy,
            "Your answers are the greedy ones: one beginning at a time. How many should stay after each step?",
        ),
        Mistake(
            "branches_once",
            searcher(WRONG["branches_once"]),
            "You begin with several first tokens, and each goes its greedy way from there. Which continuations "
            "compete with each other in the second step?",
        ),
        Mistake(
            "never_pruned",
            searcher(WRONG["never_pruned"]),
            "You keep everything, so nothing is ever missed, and the work grows without end. How many continuations "
            "stay after a step?",
        ),
        Mistake(
            "one_more_kept",
            searcher(WRONG["one_more_kept"]),
            "Your beam is one wider than asked: with beam_width = 1 it is not greedy. How many continuations stay "
            "after a step?",
        ),
        Mistake(
            "worst_kept",
            searcher(WRONG["worst_kept"]),
            "You keep the unlikeliest continuations. In which order does your sort put them?",
        ),
        Mistake(
            "last_token_alone",
            searcher(WRONG["last_token_alone"]),
            "You rank answers by their last token alone. What about the probability of all the tokens before it?",
        ),
        Mistake(
            "raw_logits_added",
            searcher(WRONG["raw_logits_added"]),
            "You add up logits, which have another zero in each step. What makes log-probabilities of them?",
        ),
        Mistake(
            "probabilities_added",
            searcher(WRONG["probabilities_added"]),
            "You add up probabilities, so the longer an answer the better. Is the probability of a row of tokens a "
            "sum, or a product?",
        ),
        Mistake(
            "ends_not_seen",
            searcher(WRONG["ends_not_seen"]),
            "Your answers go on behind their end token. What should happen to an answer that has ended?",
        ),
        Mistake(
            "goes_on_for_one_step",
            searcher(WRONG["goes_on_for_one_step"]),
            "An answer that has ended goes on for one token more, and with a length penalty that can look better. When "
            "do you look whether it has ended?",
        ),
        Mistake(
            "ended_answers_forgotten",
            searcher(WRONG["ended_answers_forgotten"]),
            "Among the last ones standing only those that never ended compete. Where are those that did?",
        ),
        Mistake(
            "cut_answers_forgotten",
            searcher(WRONG["cut_answers_forgotten"]),
            "Only answers that ended compete. What about those that were cut at max_length?",
        ),
        Mistake(
            "first_to_end",
            searcher(WRONG["first_to_end"]),
            "You stop when the first answer ends. Can a longer one be likelier?",
        ),
        Mistake(
            "worst_of_all",
            searcher(WRONG["worst_of_all"]),
            "In the end you take the answer with the lowest score. Which one is the best?",
        ),
        Mistake(
            "penalty_ignored",
            searcher(WRONG["penalty_ignored"]),
            "The length penalty changes nothing. Where does it enter the score?",
        ),
        Mistake(
            "penalty_multiplied",
            searcher(WRONG["penalty_multiplied"]),
            "Your penalty makes long answers worse still: you multiply with it. Sums of logarithms are negative: what "
            "does a division by the length do?",
        ),
        Mistake(
            "penalty_without_a_power",
            searcher(WRONG["penalty_without_a_power"]),
            "You divide by the length times the penalty, so the penalty's size changes nothing. Where does it stand in "
            "the formula?",
        ),
        Mistake(
            "end_not_counted",
            searcher(WRONG["end_not_counted"]),
            "Your lengths leave out the end token. Does its log-probability stand in the sum?",
        ),
        Mistake(
            "start_counted",
            searcher(WRONG["start_counted"]),
            "Your lengths count the start token. Is it part of the answer?",
        ),
        Mistake(
            "start_kept",
            searcher(Ways(), finish=lambda ids, start, end: [start, *ids]),
            "Your rows begin with the start token. In which form does greedy_decode return its rows?",
        ),
        Mistake(
            "end_dropped",
            searcher(Ways(), finish=lambda ids, start, end: [i for i in ids if i != end]),
            "The end token is gone from your rows. In which form does greedy_decode return its rows?",
        ),
        Mistake(
            "one_source_for_all",
            searcher(Ways(), read=lambda source, row: source[0]),
            "Every row answers the first source. Which source belongs to which row?",
        ),
        Mistake(
            "lists_returned",
            _with_all(lambda ids: [[i for i in row if i] for row in ids.tolist()]),
            "You return lists. What makes one tensor of rows, with padding behind the shorter ones?",
        ),
        Mistake(
            "one_row_too_deep",
            _with_all(lambda ids: ids.unsqueeze(1)),
            "There is an axis too many, as if every source had several answers. How many are to be returned?",
        ),
    ),
    variants={
        "lists of entries": searcher(Ways()),
        "all rows at once, ends stay in the beam": _ended_in_the_beam,
        "logarithms taken late": searcher(
            Ways(
                logs=lambda logits: logits.double().softmax(-1).clamp(min=1e-300),
                add=lambda total, more: total + float(np.log(more)),
            )
        ),
    },
)
