"""Toy models that write, drawn so that mistakes show, and what all answers of a decoder have in common."""

from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from cellcheck.authoring import Aspect, Case, Observation, aspects
from cellcheck.authoring.draw import dims, normal
from transformer_course.lessons.aspects import special
from transformer_course.lessons.lesson_07.keeping import KEPT
from transformer_course.lessons.lesson_07.writing_models import WritingModel
from transformer_course.lessons.watching import AS_ASKED

WIDTH = 5  # of the toy's vectors
NEVER = -30.0  # the logit of what is never written: padding, and the start
HIDDEN = -torch.inf  # the logit of what can't be drawn
INFINITE = special("logits that are -inf already")

SAID = {
    "begins": "how the rows begin",
    "after_the_end": "what follows an end",
    "stops": "where a row stops",
}
"""What can be told of ids in words, whatever wrote them, and what each is called."""

OF_IDS = (
    *(aspects.spoken(words, name) for name, words in SAID.items()),
    aspects.also("whole numbers", "kind", meaning="The ids are integers."),
    aspects.modes("train and eval mode untouched", 1.0),
    aspects.untouched(),
)
"""What holds of every decoder that returns ids."""


def of_filter(*special_cases: Aspect) -> tuple[Aspect, ...]:
    """What matters about a function that hides some logits."""
    new = aspects.also("a new tensor", "tensor", meaning="The result shares no memory with the argument.")
    values = aspects.worded(aspects.values(), KEPT)
    return (aspects.shape(), values, *special_cases, *aspects.any_numbers(), new, aspects.untouched())


DIFFER = special("rows that end at different times")
CUT = special("cut off at max_length")


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
        ends = lengths(ids, pool.end_id)
        if not set(wanted) <= set(ends):
            continue
        misled = [rollout(replace(pool, start_id=other))[0] for other in (pool.end_id, 0)]
        clear = [(gaps[:, : n or None] > 0.05).all(dim=1).tolist() for n in wanted]
        varied = [len(set(row)) > min(2, max_length - 1) for row in ids.tolist()]
        rows: list[int] = []
        for length, clearly in zip(wanted, clear, strict=True):
            answers = ids[:, : length or None]
            fitting = (
                i
                for i, n in enumerate(ends)
                if n == length
                and clearly[i]
                and varied[i]
                and not any(torch.equal(other[i, : length or None], answers[i]) for other in misled)
                and not _among(answers, i, rows)
            )
            rows += islice(fitting, 1)
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
    padded = dict(observation)
    ids = observation["output"]
    missing = case.inputs["max_length"] - ids.shape[1]
    if ids.dim() == 2 and missing >= 0 and torch.equal(ids, ids.round()):  # `kind` says whether they are whole
        padded["output"] = F.pad(ids.long(), (0, missing))
    return {**_said_of(ids, case), **padded}


def _said_of(ids: torch.Tensor, case: Case) -> dict[str, str]:
    """Under each of the names of `SAID`: what no answer of a decoder should look like."""
    sentences = dict.fromkeys(SAID, AS_ASKED)
    start_id, end_id, max_length = (case.inputs[name] for name in ("start_id", "end_id", "max_length"))
    if ids.dim() != 2 or len(ids) != len(case.inputs["source"]) or not torch.equal(ids, ids.round()):
        return sentences
    if bool((ids[:, :1] == start_id).all()) and ids.shape[1]:
        sentences["begins"] = "Your rows begin with the start token. Is it part of the answer?"
        ids = ids[:, 1:]
    for row, tokens in enumerate(ids.tolist()):
        stop = tokens.index(end_id) + 1 if end_id in tokens else 0
        if stop and any(tokens[stop:]) and sentences["after_the_end"] == AS_ASKED:
            sentences["after_the_end"] = f"Row {row} goes on after its end. What should stand there?"
        count = max((place for place, token in enumerate(tokens, 1) if token), default=0)
        if not stop and count < max_length and sentences["stops"] == AS_ASKED:
            sentences["stops"] = (
                f"Row {row} stops after {count} of at most {max_length} tokens, and none of them is the end. When may "
                "a row stop, and what is its last token?"
            )
    return sentences


def ending_cases(generator: np.random.Generator) -> list[Case]:
    """Batches whose rows end at the same time, at different times, at the first token, or never."""

    def draw(*wanted: int, width: int) -> dict[str, Any]:
        return draw_ending(generator, list(wanted), width).inputs()

    early, late = sorted(dims(generator, 2, 2, 4))
    return [
        Case.of("with rows that all end at the same step", **draw(late, late, width=6)),
        Case.of("with more rows that all end at the same step", **draw(3, 3, 3, width=5)),
        Case.of("with rows that end in the last column", **draw(4, 4, 4, width=4)),
        Case.of("with rows that end at different times", DIFFER, **draw(late, early, 5, width=6)),
        Case.of("with a row whose first token is the end", DIFFER, **draw(3, 5, 1, early, width=6)),
        Case.of("with a row that is cut off at max_length", DIFFER, **draw(early, 0, 3, width=5)),
        Case.of("with rows that never end", CUT, **draw(0, 0, 0, 0, width=3)),
        Case.of("with max_length = 1", CUT, **draw(0, 0, width=1)),
        Case.of("on a batch of one", aspects.BATCH_OF_ONE, **draw(late, width=6)),
        Case.of("on a batch of one that never ends", aspects.BATCH_OF_ONE, **draw(0, width=4)),
        Case.of("with a model in evaluation mode", aspects.BATCH_OF_ONE, **draw(early, early, width=5), training=False),
    ]
