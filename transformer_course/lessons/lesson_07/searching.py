"""Ways to search for an answer, right and wrong: a beam search with one step replaced."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.nn.utils.rnn import pad_sequence

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
    stop: Callable[[list[Entry], list[Entry], float], bool] = lambda finished, alive, penalty: False
    cut: Callable[[list[int], int], list[int]] = lambda ids, end: ids

    def run(
        self, logits_of: Callable[[list[list[int]]], torch.Tensor], end: int, most: int, width: int, penalty: float
    ) -> list[int]:
        """The best ids. `logits_of` takes the prefixes to the logits of what may follow them."""
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
            if not alive or self.stop(finished, alive, penalty):
                break

        def rank(entry: Entry) -> float:
            return self.score(entry[1], max(self.length(entry[0], end), 1), penalty)

        return self.cut(self.choose(self.compete(finished, alive), key=rank)[0], end)


def searcher(ways: Ways) -> Callable[..., torch.Tensor]:
    """`beam_search` in these ways."""

    def search(
        model: Any, source: torch.Tensor, start: int, end: int, most: int, width: int, penalty: float = 0.0
    ) -> torch.Tensor:
        answers = []
        for row in source:

            def logits_of(beginnings: list[list[int]], row: torch.Tensor = row) -> torch.Tensor:
                written = torch.tensor([[start, *ids] for ids in beginnings])
                with torch.no_grad():
                    logits: torch.Tensor = model(row.expand(len(written), -1), written)
                return logits[:, -1]

            answers.append(torch.tensor(ways.run(logits_of, end, most, width, penalty)))
        return pad_sequence(answers, batch_first=True)

    return search


def _best_of_each(entries: list[Entry], width: int) -> list[Entry]:
    """Branches at the first token alone; after that each prefix is decoded greedily."""
    if len(entries[0][0]) == 1:
        return _top(entries, width)
    best: dict[tuple[int, ...], Entry] = {}
    for ids, total in entries:
        beginning = tuple(ids[:-1])
        if beginning not in best or best[beginning][1] < total:
            best[beginning] = (ids, total)
    return list(best.values())


def _so_many_of_each(entries: list[Entry], width: int) -> list[Entry]:
    """Each prefix keeps extensions of its own, so that the beam grows from step to step."""
    of_each: dict[tuple[int, ...], list[Entry]] = {}
    for ids, total in entries:
        of_each.setdefault(tuple(ids[:-1]), []).append((ids, total))
    return [entry for extensions in of_each.values() for entry in _top(extensions, width)]


def _best_score(entries: list[Entry], penalty: float) -> float:
    return max((total / len(ids) ** penalty for ids, total in entries), default=-torch.inf)


CUT_TOO = "cut_answers_forgotten"
"""A way that goes along with others: with each of those that score wrongly there is one of its own."""

WRONG = {
    "greedy": Ways(keep=lambda entries, width: _top(entries, 1)),
    "branches_once": Ways(keep=_best_of_each),
    "so_many_of_each": Ways(keep=_so_many_of_each),
    "never_pruned": Ways(keep=lambda entries, width: entries),
    "worst_kept": Ways(keep=lambda entries, width: sorted(entries, key=lambda entry: entry[1])[:width]),
    "one_more_kept": Ways(keep=lambda entries, width: _top(entries, width + 1)),
    "last_token_alone": Ways(add=lambda total, more: more),
    "raw_logits_added": Ways(logs=lambda logits: logits),
    "probabilities_added": Ways(logs=lambda logits: logits.softmax(-1)),
    "ends_not_seen": Ways(ended=lambda ids, end: False),
    "ended_answers_extended": Ways(
        ended=lambda ids, end: False, cut=lambda ids, end: ids[: [*ids, end].index(end) + 1]
    ),
    "goes_on_for_one_step": Ways(late=1),
    "ended_answers_forgotten": Ways(compete=lambda finished, alive: alive or finished),
    "cut_answers_forgotten": Ways(compete=lambda finished, alive: finished or alive),
    "first_to_end": Ways(
        stop=lambda finished, alive, penalty: bool(finished), compete=lambda finished, alive: finished or alive
    ),
    "stops_with_the_best_so_far": Ways(
        stop=lambda finished, alive, penalty: _best_score(finished, 0) >= _best_score(alive, 0)
    ),
    "stops_with_the_best_score_so_far": Ways(
        stop=lambda finished, alive, penalty: _best_score(finished, penalty) >= _best_score(alive, penalty)
    ),
    "worst_of_all": Ways(choose=min),
    "penalty_ignored": Ways(score=lambda total, length, penalty: total),
    "penalty_multiplied": Ways(score=lambda total, length, penalty: total * length**penalty),
    "penalty_without_a_power": Ways(
        score=lambda total, length, penalty: total / (length * penalty) if penalty else total
    ),
    "end_not_counted": Ways(length=lambda ids, end: len(ids) - (ids[-1] == end)),
    "start_counted": Ways(length=lambda ids, end: len(ids) + 1),
}
WRONG |= {
    f"{name}, {CUT_TOO}": replace(ways, compete=WRONG[CUT_TOO].compete)
    for name, ways in WRONG.items()
    if name.startswith("penalty") or name.endswith("counted")
}
