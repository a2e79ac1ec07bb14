"""Toy models that write, drawn so that mistakes show, and what all answers of a decoder have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from grader.authoring.aspects import also, modes, untouched
from grader.authoring.draw import normal
from grader.authoring.spec import Case, Mistake, Observation
from lessons.lesson_07.probes.writing_models import WritingModel

WIDTH = 5  # of the toy's vectors
NEVER = -30.0  # the logit of what is never written: padding, and the start
HIDDEN = -torch.inf  # the logit of what can't be drawn

OF_IDS = (
    also("whole numbers", "kind", meaning="The ids are integers."),
    modes("train and eval mode untouched", 1.0),
    untouched(),
)
"""What holds of every decoder that returns ids."""


@dataclass(frozen=True)
class Task:
    """A toy model and what it has to answer."""

    tables: dict[str, torch.Tensor]
    source: torch.Tensor
    start_id: int
    end_id: int
    max_length: int

    def inputs(self, **more: Any) -> dict[str, Any]:
        """As a case holds it."""
        return {**vars(self), **more}

    def model(self) -> WritingModel:
        """The toy model, ready to be called."""
        return WritingModel(self.tables)


def draw_task(
    generator: np.random.Generator, batch: int, max_length: int, letters: int = 5, sharpness: float = 1.5
) -> Task:
    """Any model: `letters` tokens it may write, an end, a start, and padding; sources of different tokens."""
    vocabulary = letters + 3
    start_id, end_id = (int(i) for i in generator.choice(np.arange(1, vocabulary), size=2, replace=False))
    bias = torch.zeros(vocabulary)
    bias[[0, start_id]] = NEVER
    length = int(generator.integers(3, 5))
    tables = {
        "tokens": 2 * normal(generator, vocabulary, WIDTH),
        "places": normal(generator, 12, WIDTH),
        "source": 2 * normal(generator, vocabulary, WIDTH),
        "source_places": normal(generator, length, WIDTH),
        "head": sharpness * normal(generator, WIDTH, vocabulary),
        "bias": bias,
    }
    others = [i for i in range(1, vocabulary) if i not in (start_id, end_id)]
    source = torch.from_numpy(generator.choice(others, (batch, length)))
    return Task(tables, source, start_id, end_id, max_length)


def rollout(task: Task) -> tuple[torch.Tensor, torch.Tensor]:
    """What greedy decoding would write if no row ever stopped, and how clearly: both (batch, max_length)."""
    model, written = task.model(), torch.full_like(task.source[:, :1], task.start_id)
    gaps = []
    with torch.no_grad():
        for _ in range(task.max_length):
            best = model(task.source, written)[:, -1].topk(2, dim=-1)
            gaps.append(best.values[:, 0] - best.values[:, 1])
            written = torch.cat([written, best.indices[:, :1]], dim=1)
    return written[:, 1:], torch.stack(gaps, dim=1)


def lengths(ids: torch.Tensor, end_id: int) -> list[int]:
    """The length of each row with its end; 0 for a row that never ends."""
    return [row.index(end_id) + 1 if end_id in row else 0 for row in ids.tolist()]


def draw_ending(generator: np.random.Generator, wanted: list[int], max_length: int) -> Task:
    """A task whose greedy answers have these lengths, 0 for one that never ends, with no close call on the way.

    Many sources are answered at once, and the fitting ones are kept. Their answers differ from each other, and from
    those to the end token or padding in the start's place.
    """
    while True:
        pool = draw_task(generator, 200, max_length)
        ids, gaps = rollout(pool)
        misled = [rollout(replace(pool, start_id=other))[0] for other in (pool.end_id, 0)]
        found = lengths(ids, pool.end_id)
        clear = [float(row[: n or None].min()) > 0.05 for row, n in zip(gaps, found, strict=True)]
        varied = [len(set(row)) > min(2, max_length - 1) for row in ids.tolist()]
        rows: list[int] = []
        for length in wanted:
            answers = ids[:, : length or None]
            fitting = (
                i
                for i, n in enumerate(found)
                if n == length
                and clear[i]
                and varied[i]
                and not any(torch.equal(other[i, : length or None], answers[i]) for other in misled)
                and not _among(answers, i, rows)
            )
            rows += list(fitting)[:1]
        if len(rows) == len(wanted):
            return replace(pool, source=pool.source[rows])


def with_hidden(logits: torch.Tensor, count: int) -> torch.Tensor:
    """The smallest `count` logits of each row are -inf already, and so cannot be drawn."""
    smallest = logits.topk(count, dim=-1, largest=False).indices
    return logits.scatter(-1, smallest, HIDDEN)


def _among(ids: torch.Tensor, row: int, rows: list[int]) -> bool:
    """Whether one of these rows has the same answer."""
    return any(torch.equal(ids[row], ids[other]) for other in rows)


def in_full_width(observation: Observation, case: Case) -> Observation:
    """Padded to `max_length` columns: how much padding follows is left open."""
    kept = dict(observation)
    ids = observation["output"]
    missing = case.inputs["max_length"] - ids.shape[1]
    if ids.dim() == 2 and missing >= 0 and torch.equal(ids, ids.round()):  # `kind` says whether they are whole
        kept["output"] = F.pad(ids.long(), (0, missing))
    return kept


def _until_all(ended: torch.Tensor) -> bool:
    return bool(ended.all())


Begin = Callable[[torch.Tensor, int, int], torch.Tensor]
"""(source, start_id, end_id) -> the tokens that the model reads first, (batch, 1)."""
Behind = Callable[[torch.Tensor, torch.Tensor, int], torch.Tensor]
"""(tokens chosen, rows that have ended, end_id) -> the tokens that are written, (batch,)."""


def with_the_start(source: torch.Tensor, start: int, end: int) -> torch.Tensor:
    """The right way to begin."""
    return torch.full_like(source[:, :1], start)


def with_padding(chosen: torch.Tensor, ended: torch.Tensor, end: int) -> torch.Tensor:
    """The right thing after an end."""
    return chosen.masked_fill(ended, 0)


def writer(
    feed: Callable[[torch.Tensor], torch.Tensor] = lambda written: written,
    look: Callable[[torch.Tensor], torch.Tensor] = lambda logits: logits[:, -1],
    choose: Callable[[torch.Tensor], torch.Tensor] = lambda logits: logits.argmax(dim=-1),
    begin: Begin = with_the_start,
    read: Callable[[torch.Tensor], torch.Tensor] = lambda source: source,
    behind: Behind = with_padding,
    stop: Callable[[torch.Tensor], bool] = _until_all,
    steps: Callable[[int], int] = lambda max_length: max_length,
    finish: Callable[[torch.Tensor, int], torch.Tensor] = lambda written, end: written[:, 1:],
) -> Callable[..., torch.Tensor]:
    """`greedy_decode` with one step replaced."""

    def decode(model: Any, source: torch.Tensor, start_id: int, end_id: int, max_length: int) -> torch.Tensor:
        written = begin(source, start_id, end_id)
        ended = torch.zeros(len(source), dtype=torch.bool)
        with torch.no_grad():
            for _ in range(steps(max_length)):
                chosen = behind(choose(look(model(read(source), feed(written)))), ended, end_id)
                written = torch.cat([written, chosen[:, None]], dim=1)
                ended = ended | (chosen == end_id)
                if stop(ended):
                    break
        return finish(written, end_id)

    return decode


def slips(way: Callable[..., Callable[..., torch.Tensor]]) -> dict[str, Mistake]:
    """What goes wrong in any way to decode greedily, by name; `way` makes a decoder with one step replaced."""

    def evaluated(model: Any, *arguments: Any) -> torch.Tensor:
        model.eval()
        return way()(model, *arguments)

    told = (
        Mistake(
            "start_kept",
            way(finish=lambda written, end: written),
            "Your rows begin with the start token. The model needs to read it, but should the answer contain it?",
        ),
        Mistake(
            "goes_on_after_the_end",
            way(behind=lambda chosen, ended, end: chosen),
            "A row that has ended goes on writing as long as the others do. What should come after its end?",
        ),
        Mistake(
            "stops_with_the_first_end",
            way(stop=lambda ended: bool(ended.any())),
            "As soon as one row ends, all of them stop. When may the whole batch stop?",
        ),
        Mistake(
            "end_repeated",
            way(behind=lambda chosen, ended, end: chosen.masked_fill(ended, end)),
            "After the end you write more ends. Which id is padding?",
        ),
        Mistake(
            "start_never_fed",
            way(begin=lambda source, start, end: torch.zeros_like(source[:, :1])),
            "The model reads padding first instead of the start token. What did it read first in training?",
        ),
        Mistake(
            "begins_with_the_end",
            way(begin=lambda source, start, end: torch.full_like(source[:, :1], end)),
            "The model reads the end token first. Which of the two ids opens a row?",
        ),
        Mistake(
            "start_counted",
            way(steps=lambda max_length: max_length - 1),
            "Your rows are cut off one token too early, because you count the start. Does max_length count what is "
            "returned, or what the model reads?",
        ),
        Mistake(
            "one_token_too_many",
            way(steps=lambda max_length: max_length + 1),
            "Rows that don't end are one token longer than max_length. How many times does your loop run?",
        ),
        Mistake(
            "left_in_eval_mode",
            evaluated,
            "The ids are right, but a model in training mode comes back in evaluation mode. Who should switch it back?",
        ),
    )
    return {mistake.name: mistake for mistake in told}
