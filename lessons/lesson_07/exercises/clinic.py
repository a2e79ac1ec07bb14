"""`ends_each_sequence`, the bug clinic: does a source get the same answer alone and in a batch? See `decoders`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from course.decoding import ends_each_sequence
from grader.authoring.aspects import special, tells_apart, untouched
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_07.exercises.decoders import decoder
from lessons.lesson_07.probes.toy_answers import END, answer_of

Decode = Callable[[Any, torch.Tensor], torch.Tensor]

# (decoder, kind of sources, tag, words for the learner)
_TRIED = [
    ("padded", "different", "sound", "with a sound decoder that pads its answers"),
    ("row by row", "different", "sound", "with a sound decoder that works row by row"),
    ("wide", "different", "width", "with a sound decoder that returns extra columns of padding"),
    ("of 32 bits", "different", "width", "with a sound decoder whose ids are 32-bit integers"),
    ("without ends", "different", "alike", "with a decoder that leaves out every end, alone or in a batch"),
    ("cut short", "equal", "alike", "with a decoder that stops at the first end, where all rows end together"),
    ("goes on", "equal", "alike", "with a decoder that goes on after an end, where all rows end together"),
    (
        "one for all",
        "same",
        "alike",
        "with a decoder that gives every row the first answer, where all sources are the same",
    ),
    ("goes on", "different", "broken", "with a decoder that goes on after an end"),
    ("cut short", "different", "broken", "with a decoder that stops all rows at the first end"),
    ("one for all", "different", "broken", "with a decoder that gives every row the first answer"),
    ("end repeated", "different", "ends", "with a decoder that pads with more end tokens"),
    ("ends lost", "different", "ends", "with a decoder that loses the ends of shorter rows"),
    ("one too many", "different", "ends", "with a decoder that writes one more token after an end"),
    ("last row", "different", "one", "with a decoder that gets only the last row wrong"),
    ("goes on", "first long", "one", "with a decoder that goes on after an end, where the longest answer is in row 0"),
    ("cut short", "first short", "one", "with a decoder that stops all rows at the first end, where row 0 ends first"),
    (
        "goes on",
        "first short",
        "one",
        "with a decoder that goes on after an end, where the longest answer is in the last row",
    ),
    ("by length", "different", "order", "with a decoder that sorts rows by length and doesn't put them back"),
    (
        "other branch",
        "different",
        "batches",
        "with a decoder that writes single rows, and returns the sources of a larger batch",
    ),
    (
        "large batches",
        "different",
        "batches",
        "with a decoder that goes on after an end in batches of more than two rows",
    ),
    ("goes on", "alone", "alone", "on a batch of one, with a decoder that goes wrong only in larger ones"),
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
    """A right answer with one step replaced: which rows are checked, what counts as the same, what alone means."""

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


def _padding_after_the_end(decode: Decode, model: Any, sources: torch.Tensor) -> bool:
    ids = decode(model, sources)
    ends = (ids == END).long()
    return bool((ids[(ends.cumsum(1) - ends) > 0] == 0).all())


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
        *tells_apart(
            meanings={
                "sound": "True for a decoder whose rows get the same answer alone and in the batch.",
                "broken": "False for a decoder whose rows get a different answer in the batch.",
            },
            sound="sound decoders pass",
            broken="broken decoders are found",
        ),
        special(
            "padding does not count",
            "width",
            meaning="True even if the decoder adds columns of padding or returns 32-bit ids.",
        ),
        special(
            "the same alone and in the batch is sound",
            "alike",
            meaning="True however odd the answers are, as long as each row gets the same one alone and in the batch.",
        ),
        special(
            "the end belongs to the answer",
            "ends",
            weight=2.0,
            meaning="False if an end token is missing or repeated, or if another token follows it.",
        ),
        special(
            "every row is checked",
            "one",
            weight=8.0,
            meaning="False even if a single row goes wrong, whichever row that is.",
        ),
        special(
            "each row is compared with its own answer",
            "order",
            meaning="False if the rows come back in a different order.",
        ),
        special(
            "the whole batch at once", "batches", meaning="False even if the decoder goes wrong only in larger batches."
        ),
        special(
            "a batch of one",
            "alone",
            meaning="On a batch of one, every decoder gets True: alone and in the batch are the same.",
        ),
        untouched("sources untouched", meaning="After the call, the sources are just as they were before."),
    ),
    mistakes=(
        Mistake(
            "always_sound",
            _tester(alone=lambda decode, model, sources, i: decode(model, sources)[i]),
            "Your test passes every decoder. Do you decode each source in a batch of its own, or all of them twice?",
        ),
        Mistake(
            "never_sound",
            _tester(same=lambda one, other: one is other),
            "Your test passes no decoder. When are two rows of ids the same?",
        ),
        Mistake(
            "answer_turned_round",
            lambda decode, model, sources: not _RIGHT(decode, model, sources),
            "You tell them apart, but return the opposite. What does True mean here?",
        ),
        Mistake(
            "padding_compared",
            _tester(same=torch.equal),
            "In the batch a shorter answer is followed by padding, alone it isn't, and you count that as a difference. "
            "What has to go before you compare?",
        ),
        Mistake(
            "cut_to_the_shorter",
            _tester(same=_cut_to_the_shorter),
            "You compare only the columns that both answers have, so whatever comes after them escapes you. What could "
            "be in those columns?",
        ),
        Mistake(
            "up_to_the_end_only",
            _tester(same=_up_to_the_end),
            "You stop comparing at the end token, so whatever is written after it gets past you. What should be there?",
            central=True,
        ),
        Mistake(
            "first_row_only",
            _tester(rows=lambda sources: [0]),
            "You check row 0 only. What if another row goes wrong?",
            central=True,
        ),
        Mistake(
            "last_row_only",
            _tester(rows=lambda sources: [len(sources) - 1]),
            "You check the last row only. What if another row goes wrong?",
            central=True,
        ),
        Mistake(
            "lengths_only",
            _tester(same=lambda one, other: len(_real(one)) == len(_real(other))),
            "You compare how long the answers are. Can two answers of the same length differ?",
        ),
        Mistake(
            "sorted_answers",
            lambda decode, model, sources: (
                sorted(_real(row) for row in decode(model, sources))
                == sorted(_real(decode(model, row[None])[0]) for row in sources)
            ),
            "You check whether all answers are there, in any order. Which answer belongs to which source?",
        ),
        Mistake(
            "pairs_only",
            lambda decode, model, sources: all(
                _real(decode(model, sources[[i, i]])[0]) == _real(decode(model, sources[i : i + 1])[0])
                for i in range(len(sources))
            ),
            "You never decode the whole batch at once. When do rows of different lengths meet?",
        ),
        Mistake(
            "every_row_has_an_end",
            _every_row_has_an_end,
            "You check whether each row has an end. What should the answer to a source be compared with?",
            central=True,
        ),
        Mistake(
            "padding_after_the_end",
            _padding_after_the_end,
            "You check for padding after each end, but a row that was stopped too soon has no end at all. What should "
            "the answer to a source be compared with instead?",
        ),
        Mistake(
            "widths_compared",
            lambda decode, model, sources: (
                decode(model, sources).shape[1] == max(decode(model, row[None]).shape[1] for row in sources)
            ),
            "You compare the numbers of columns. What about the ids in them?",
        ),
        Mistake(
            "rows_listed",
            lambda decode, model, sources: [
                _real(row) == _real(decode(model, sources[i : i + 1])[0])
                for i, row in enumerate(decode(model, sources))
            ],
            "You return one result per row. How do you turn several results into a single True or False?",
        ),
        Mistake(
            "sources_changed",
            _sources_changed,
            "The results are right, but afterwards the caller's sources are in a different order. Which line writes "
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
