"""`ends_each_sequence`, the bug clinic: is a source answered alike alone and in a batch? See `decoders`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from course.decoding import ends_each_sequence
from grader.authoring.aspects import KNOWN, special, tells_apart
from grader.authoring.spec import Aspect, Case, Exercise, Mistake
from lessons.lesson_07.exercises.decoders import decoder
from lessons.lesson_07.probes.toy_answers import END, answer_of

Decode = Callable[[Any, torch.Tensor], torch.Tensor]

# (decoder, kind of sources, tag, words for the learner)
_TRIED = [
    ("padded", "different", "sound", "with a sound decoder that pads its answers"),
    ("row by row", "different", "sound", "with a sound decoder that works row by row"),
    ("wide", "different", "width", "with a sound decoder that leaves columns of padding"),
    ("of 32 bits", "different", "width", "with a sound decoder of ids of 32 bits"),
    ("without ends", "different", "alike", "with a decoder that never keeps an end, alone or not"),
    ("cut short", "equal", "alike", "with a decoder that stops with the first end, where all end together"),
    ("goes on", "equal", "alike", "with a decoder that goes on behind an end, where all end together"),
    ("one for all", "same", "alike", "with a decoder that answers the first source, where all are the same"),
    ("goes on", "different", "broken", "with a decoder that goes on behind an end"),
    ("cut short", "different", "broken", "with a decoder that stops all rows with the first end"),
    ("one for all", "different", "broken", "with a decoder that gives every row the first answer"),
    ("end repeated", "different", "ends", "with a decoder that pads with more ends"),
    ("ends lost", "different", "ends", "with a decoder that loses the ends of shorter rows"),
    ("one too many", "different", "ends", "with a decoder that writes one token behind an end"),
    ("last row", "different", "one", "with a decoder that goes wrong in the last row alone"),
    ("goes on", "first long", "one", "with a decoder that goes on behind an end, where row 0 is the longest"),
    ("cut short", "first short", "one", "with a decoder that stops all rows with the first end, where row 0 is that"),
    ("goes on", "first short", "one", "with a decoder that goes on behind an end, where the last row is the longest"),
    ("by length", "different", "order", "with a decoder that sorts rows by length and leaves them so"),
    ("other branch", "different", "batches", "with a decoder whose branch that writes is reached by single rows alone"),
    ("large batches", "different", "batches", "with a decoder that is wrong in larger batches"),
    ("goes on", "alone", "alone", "on a batch of one, with a decoder that would be wrong in a larger one"),
    ("padded", "alone", "alone", "on a batch of one, with a sound decoder"),
]


def _decoders(generator: np.random.Generator) -> list[Case]:
    def draw(kind: str) -> torch.Tensor:
        """Sources (batch, length); the first token says how long the answer is."""
        batch = int(generator.integers(4, 6))
        counts = [int(n) for n in generator.permutation(np.arange(1, 7))[:batch]]
        if kind == "equal":
            counts = counts[:1] * batch
        elif kind == "first long":
            counts.sort(reverse=True)
        elif kind == "first short":
            counts.sort()
        elif {counts[0], counts[-1]} & {min(counts), max(counts)}:  # a row in the middle is the first to end
            return draw(kind)
        rest = generator.integers(1, 9, (batch, 3))
        sources = torch.from_numpy(np.concatenate([np.array(counts)[:, None], rest], axis=1))
        if kind == "same":
            sources = sources[:1].repeat(batch, 1)
        elif kind == "alone":
            sources = sources[:1]
        answers = answer_of(sources)
        first = answers[:, 0].tolist()
        if kind not in ("same", "alone") and len(set(first)) < len(first):  # every row has another answer at once
            return draw(kind)
        return sources

    return [
        Case(label, {"sources": draw(kind)}, frozenset({tag}), partial(decoder, name))
        for name, kind, tag, label in _TRIED
    ]


def _real(ids: torch.Tensor) -> list[int]:
    return [int(i) for i in ids if i != 0]


def _tester(
    rows: Callable[[torch.Tensor], list[int]] = lambda sources: list(range(len(sources))),
    same: Callable[[torch.Tensor, torch.Tensor], bool] = lambda one, other: _real(one) == _real(other),
    alone: Callable[[Decode, Any, torch.Tensor, int], torch.Tensor] = lambda decode, model, sources, i: decode(
        model, sources[i : i + 1]
    )[0],
) -> Callable[..., bool]:
    """A right answer with one step replaced: which rows are looked at, what counts as the same, what alone means."""

    def ends(decode: Decode, model: Any, sources: torch.Tensor) -> bool:
        together = decode(model, sources)
        return all(same(together[i], alone(decode, model, sources, i)) for i in rows(sources))

    return ends


_RIGHT = _tester()


def _cut_to_the_shorter(one: torch.Tensor, other: torch.Tensor) -> bool:
    width = min(len(one), len(other))
    return torch.equal(one[:width], other[:width])


def _up_to_the_end(one: torch.Tensor, other: torch.Tensor) -> bool:
    def cut(ids: torch.Tensor) -> list[int]:
        listed: list[int] = ids.tolist()
        return listed[: listed.index(END) + 1] if END in listed else listed

    return cut(one) == cut(other)


def _every_row_has_an_end(decode: Decode, model: Any, sources: torch.Tensor) -> bool:
    return bool((decode(model, sources) == END).any(dim=1).all())


def _padding_behind_the_end(decode: Decode, model: Any, sources: torch.Tensor) -> bool:
    ids = decode(model, sources)
    ends = (ids == END).long()
    return bool((ids[(ends.cumsum(1) - ends) > 0] == 0).all())


def _against_the_model(decode: Decode, model: Any, sources: torch.Tensor) -> bool:
    return [_real(row) for row in decode(model, sources)] == [_real(row) for row in answer_of(sources)]


def _sources_changed(decode: Decode, model: Any, sources: torch.Tensor) -> bool:
    answer = _RIGHT(decode, model, sources)
    sources[:] = sources.flip(0)
    return answer


def _by_stacking(decode: Decode, model: Any, sources: torch.Tensor) -> bool:
    """All single answers padded to one width, then compared at once."""
    single = [decode(model, source.reshape(1, -1)) for source in torch.unbind(sources)]
    together = decode(model, sources)
    width = max(ids.shape[1] for ids in [*single, together])
    padded = torch.cat([F.pad(ids, (0, width - ids.shape[1])) for ids in single])
    return bool((padded == F.pad(together, (0, width - together.shape[1]))).all())


def _by_lists(decode: Decode, model: Any, sources: torch.Tensor) -> bool:
    def stripped(ids: torch.Tensor) -> list[int]:
        listed = ids.tolist()
        while listed and listed[-1] == 0:
            listed.pop()
        return list(listed)

    together = [stripped(row) for row in decode(model, sources)]
    return together == [stripped(decode(model, row.unsqueeze(0)).squeeze(0)) for row in sources]


ENDS_EACH = Exercise(
    symbol="ends_each_sequence",
    points=3,
    cases=_decoders,
    references=(ends_each_sequence,),
    aspects=(
        *tells_apart(sound="sound decoders pass", broken="broken decoders are found"),
        special("padding does not count", "width"),
        special("alike alone and in the batch is sound", "alike"),
        special("the end belongs to the answer", "ends"),
        special("every row is looked at", "one"),
        special("each row its own answer", "order"),
        special("the whole batch at once", "batches"),
        special("a batch of one", "alone"),
        Aspect("sources untouched", keys=("arguments",), kinds=KNOWN),
    ),
    mistakes=(
        Mistake(
            "always_sound",
            _tester(alone=lambda decode, model, sources, i: decode(model, sources)[i]),
            "Every decoder is sound to you. Do you decode each source in a batch of its own, or all of them twice?",
        ),
        Mistake(
            "never_sound",
            _tester(same=lambda one, other: one is other),
            "No decoder is sound to you. When are two rows of ids the same?",
        ),
        Mistake(
            "answer_turned_round",
            lambda decode, model, sources: not _RIGHT(decode, model, sources),
            "You tell them apart, and answer the other way round. What does True stand for?",
        ),
        Mistake(
            "padding_compared",
            _tester(same=lambda one, other: torch.equal(one, other)),
            "A shorter answer has padding behind it in the batch and none alone, and you call that a difference. "
            "What has to go before you compare?",
        ),
        Mistake(
            "cut_to_the_shorter",
            _tester(same=_cut_to_the_shorter),
            "You compare as many columns as both have, so a longer answer looks like its own beginning. What can "
            "stand in the columns beyond?",
        ),
        Mistake(
            "up_to_the_end_only",
            _tester(same=_up_to_the_end),
            "You stop comparing at the end token, so what is written behind it gets past you. What should stand there?",
        ),
        Mistake(
            "first_row_only",
            _tester(rows=lambda sources: [0]),
            "You look at row 0 only. What if another row is the one that goes wrong?",
        ),
        Mistake(
            "last_row_only",
            _tester(rows=lambda sources: [len(sources) - 1]),
            "You look at the last row only. What if another row is the one that goes wrong?",
        ),
        Mistake(
            "lengths_only",
            _tester(same=lambda one, other: len(_real(one)) == len(_real(other))),
            "You compare how long the answers are. Can two answers be of one length and differ?",
        ),
        Mistake(
            "sorted_answers",
            lambda decode, model, sources: (
                sorted(_real(row) for row in decode(model, sources))
                == sorted(_real(decode(model, row[None])[0]) for row in sources)
            ),
            "You look whether all answers are there, in any order. Which answer belongs to which source?",
        ),
        Mistake(
            "pairs_only",
            lambda decode, model, sources: all(
                _real(decode(model, sources[[i, i]])[0]) == _real(decode(model, sources[i : i + 1])[0])
                for i in range(len(sources))
            ),
            "You never decode the whole batch at once. Where do rows of different lengths meet?",
        ),
        Mistake(
            "every_row_has_an_end",
            _every_row_has_an_end,
            "You look whether each row has an end. What is the answer of a source to be compared with?",
        ),
        Mistake(
            "padding_behind_the_end",
            _padding_behind_the_end,
            "You look for padding behind each end, and a row that was stopped too soon has no end at all. What is "
            "the answer of a source to be compared with?",
        ),
        Mistake(
            "widths_compared",
            lambda decode, model, sources: (
                decode(model, sources).shape[1] == max(decode(model, row[None]).shape[1] for row in sources)
            ),
            "You compare numbers of columns. Which ids stand in them?",
        ),
        Mistake(
            "rows_listed",
            lambda decode, model, sources: [
                _real(row) == _real(decode(model, sources[i : i + 1])[0])
                for i, row in enumerate(decode(model, sources))
            ],
            "You return an answer for each row. How do several answers become one, True or False?",
        ),
        Mistake(
            "sources_changed",
            _sources_changed,
            "The answers are right, but the caller's sources stand in another order afterwards. Which line writes "
            "into them?",
        ),
    ),
    variants={
        "row by row": _RIGHT,
        "stacked": _by_stacking,
        "stripped lists": _by_lists,
        "a NumPy answer": lambda decode, model, sources: np.bool_(_by_lists(decode, model, sources)),
        "a tensor for an answer": lambda decode, model, sources: torch.tensor(_RIGHT(decode, model, sources)),
    },
)
