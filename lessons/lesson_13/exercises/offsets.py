"""`random_offset_positions`: cases, mistakes and variants. What is random is looked at through many draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course.length_generalization.positions import random_offset_positions
from grader.authoring import draw
from grader.authoring.aspects import CONTENT, KNOWN, USUAL, also, main, refused
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, Observation, tagged

MANY = 1500


def _lengths(generator: np.random.Generator) -> list[Case]:
    length, room, more = draw.dims(generator, 3, 3, 7)

    def case(label: str, tag: str, length: int, max_length: int, **others: Any) -> Case:
        inputs = {"length": length, "max_length": max_length, "seed": int(generator.integers(1, 10**6)), **others}
        return Case(label, inputs, tagged(tag) if tag else USUAL)

    return [
        case("where there is room for a few offsets", "", length, length + room, draws=MANY),
        case("with another length", "", more, more + length, draws=MANY),
        case("where two offsets are possible", "", room, room + 1, draws=MANY),
        case("where the length just fits", "whole", length, length, draws=40),
        case("with a single position", "one", 1, room, draws=MANY),
        case("with one position and room for one", "one", 1, 1, draws=40),
        case("where one position is too many", "refused", length + 1, length, draws=1),
        case("where the length is far too large", "refused", 3 * more, more, draws=1),
        case("with the same generator, and with others", "chance", length, 1000, chance=True),
    ]


def _canonical(observation: Observation, case: Case) -> Observation:
    """How evenly offsets are drawn is looked at in the usual cases only."""
    return {name: seen for name, seen in observation.items() if name != "evenly" or case.tags & USUAL}


Offset = Callable[[int, torch.Generator | None], torch.Tensor]


def _any(room: int, generator: torch.Generator | None) -> torch.Tensor:
    return torch.randint(room + 1, (1,), generator=generator)


def _rows(
    offset: Offset = _any,
    row: Callable[[int], torch.Tensor] = torch.arange,
    told: Callable[[torch.Tensor], Any] = lambda positions: positions,
    own: Callable[[torch.Generator], torch.Generator | None] = lambda generator: generator,
    refuse: bool = True,
) -> Callable[[int, int, torch.Generator], Any]:
    """The right positions, with one thing changed; `offset(room, generator)` draws from 0 to the room there is."""

    def positions(length: int, max_length: int, generator: torch.Generator) -> Any:
        if refuse and length > max_length:
            raise ValueError("too long")
        return told(offset(max(max_length - length, 0), own(generator)) + row(length))

    return positions


def _each_on_its_own(length: int, max_length: int, generator: torch.Generator) -> torch.Tensor:
    if length > max_length:
        raise ValueError("too long")
    return torch.randint(max_length - length + 1, (length,), generator=generator) + torch.arange(length)


def _sorted_sample(length: int, max_length: int, generator: torch.Generator) -> torch.Tensor:
    """The positions of Ruoss et al.: in order, but with gaps."""
    if length > max_length:
        raise ValueError("too long")
    return torch.randperm(max_length, generator=generator)[:length].sort().values


def _anywhere(length: int, max_length: int, generator: torch.Generator) -> torch.Tensor:
    """The length is not taken off: the last positions lie beyond the table."""
    if length > max_length:
        raise ValueError("too long")
    return torch.randint(max_length, (1,), generator=generator) + torch.arange(length)


def _wrapped(length: int, max_length: int, generator: torch.Generator) -> torch.Tensor:
    if length > max_length:
        raise ValueError("too long")
    return (torch.randint(max_length, (1,), generator=generator) + torch.arange(length)) % max_length


def _equal_refused(length: int, max_length: int, generator: torch.Generator) -> torch.Tensor:
    if length >= max_length:
        raise ValueError("too long")
    return random_offset_positions(length, max_length, generator)


def _cut(length: int, max_length: int, generator: torch.Generator) -> torch.Tensor:
    return random_offset_positions(min(length, max_length), max_length, generator)


def _half_the_room(room: int, generator: torch.Generator | None) -> torch.Tensor:
    return torch.randint(room // 2 + 1, (1,), generator=generator)


def _the_sum_of_two(room: int, generator: torch.Generator | None) -> torch.Tensor:
    """All offsets occur, those in the middle most often."""
    return torch.randint(room // 2 + 1, (1,), generator=generator) + torch.randint(
        room - room // 2 + 1, (1,), generator=generator
    )


def _by_slices(length: int, max_length: int, generator: torch.Generator) -> torch.Tensor:
    assert length <= max_length, "no room"
    start = int(torch.randint(0, max_length - length + 1, (), generator=generator))
    return torch.arange(max_length)[start : start + length]


def _scaled(length: int, max_length: int, generator: torch.Generator) -> torch.Tensor:
    if max_length < length:
        raise IndexError("the table is too short")
    offset = int(torch.rand((), generator=generator, dtype=torch.float64) * (max_length - length + 1))
    return torch.arange(offset, offset + length)


def _chosen(length: int, max_length: int, generator: torch.Generator) -> torch.Tensor:
    windows = torch.arange(max_length).unfold(0, length, 1)  # raises where the length doesn't fit
    return windows[torch.randperm(len(windows), generator=generator)[0]]


RANDOM_OFFSET_POSITIONS = Exercise(
    symbol="random_offset_positions",
    points=1,
    cases=_lengths,
    references=(random_offset_positions,),
    canonical=_canonical,
    called={
        "output": "by how much neighbouring positions differ",
        "offsets": "which offsets were drawn",
        "evenly": "how often offsets were drawn",
        "kind": "the result's shape and kind",
    },
    shown=lambda case: {name: case.inputs[name] for name in ("length", "max_length")},
    aspects=(
        main("one after the other", 4.0, meaning="Each position is one more than the position before it."),
        also("whole numbers, shape (length,)", "kind", meaning="The result holds whole numbers, as many as length."),
        Aspect(
            "every offset may be drawn",
            ("offsets",),
            KNOWN,
            weight=6.0,
            tags=USUAL,
            meaning="All offsets from 0 to max_length - length occur, both included, and no others.",
        ),
        Aspect(
            "equally often",
            ("evenly",),
            KNOWN,
            weight=1.0,
            tags=USUAL,
            meaning="All offsets are about equally likely.",
        ),
        Aspect(
            "a length that just fits",
            ("output", "offsets"),
            CONTENT,
            tags=tagged("whole"),
            meaning="Where length is max_length, the offset is 0.",
        ),
        Aspect(
            "a single position",
            ("output", "offsets"),
            CONTENT,
            tags=tagged("one"),
            meaning="With a length of 1, the result is right too.",
        ),
        Aspect(
            "randomness from the generator alone",
            ("chance",),
            CONTENT,
            weight=2.0,
            tags=tagged("chance"),
            meaning="The same seed gives the same positions, another seed others, and no other randomness is used.",
        ),
        refused("a length that doesn't fit is refused", "refused", weight=1.5),
    ),
    mistakes=(
        Mistake(
            "no_offset",
            _rows(lambda room, generator: torch.zeros(1, dtype=torch.long)),
            "Your positions always begin at 0. Which of them would a model never meet in training?",
            central=True,
        ),
        Mistake(
            "largest_offset_only",
            _rows(lambda room, generator: torch.tensor([room])),
            "Your positions always end at the last one. What should be random about them?",
            central=True,
        ),
        Mistake(
            "largest_offset_never",
            _rows(lambda room, generator: torch.randint(max(room, 1), (1,), generator=generator)),
            "The largest offset is never drawn. Is the upper end of `torch.randint` included?",
        ),
        Mistake(
            "zero_never",
            _rows(lambda room, generator: torch.randint(min(1, room), room + 1, (1,), generator=generator)),
            "The offset 0 is never drawn. Where does the docstring's range begin?",
        ),
        Mistake(
            "one_too_many",
            _rows(lambda room, generator: torch.randint(room + 2, (1,), generator=generator)),
            "Sometimes your last position is max_length, one beyond the end of a table. How large may the offset be?",
        ),
        Mistake(
            "beyond_the_table",
            _anywhere,
            "Your offset may be anything below max_length, so positions run far beyond it. How much room do the "
            "positions after the first need?",
            central=True,
        ),
        Mistake(
            "wrapped_around",
            _wrapped,
            "Your positions begin again at 0 when they reach max_length. Should a row of digits be cut in two?",
            central=True,
        ),
        Mistake(
            "an_offset_for_each",
            _each_on_its_own,
            "Each position has an offset of its own, so neighbours are neighbours no longer. How many offsets does a "
            "row need?",
            central=True,
        ),
        Mistake(
            "sorted_sample",
            _sorted_sample,
            "You draw different positions and sort them. Other authors do that too, but it leaves gaps. What does the "
            "docstring say about neighbours?",
            central=True,
        ),
        Mistake(
            "backwards",
            _rows(told=lambda positions: positions.flip(0)),
            "Your positions run backwards. Which one does the first token get?",
            central=True,
        ),
        Mistake(
            "half_the_room",
            _rows(_half_the_room),
            "The larger offsets are never drawn. How many offsets leave room for the whole row?",
        ),
        Mistake(
            "middle_most_often",
            _rows(_the_sum_of_two),
            "All offsets occur, but those in the middle far more often. How many random numbers do you need?",
        ),
        Mistake(
            "not_refused",
            _rows(refuse=False),
            "A length that doesn't fit gets positions all the same, and they run beyond the table. What does the "
            "docstring ask for?",
        ),
        Mistake(
            "cut_to_fit",
            _cut,
            "A length that doesn't fit is cut, and the caller gets fewer positions than asked for. What does the "
            "docstring ask for?",
        ),
        Mistake(
            "just_fits_refused",
            _equal_refused,
            "A length of exactly max_length is refused. How many positions are there from 0 to max_length - 1?",
        ),
        Mistake(
            "generator_ignored",
            _rows(own=lambda generator: None),
            "The same seed gives different positions: the generator is never used. Which of your calls takes it as an "
            "argument?",
        ),
        Mistake(
            "a_seed_of_its_own",
            _rows(own=lambda generator: torch.Generator().manual_seed(0)),
            "Your positions are the same each time, whichever generator is passed in. Whose randomness should it be?",
            central=True,
        ),
        Mistake(
            "as_fractions",
            _rows(told=lambda positions: positions.float()),
            "Your positions are floating-point numbers, which can't index a table. Which dtype does `torch.arange` "
            "give without any help?",
        ),
        Mistake(
            "as_a_list",
            _rows(told=lambda positions: positions.tolist()),
            "Your positions come as a list. What type does the docstring show?",
        ),
        Mistake(
            "a_row_of_a_batch",
            _rows(told=lambda positions: positions.unsqueeze(0)),
            "Your positions have an axis too many. Which shape does the docstring give?",
        ),
    ),
    variants={
        "a slice": _by_slices,
        "a random number scaled": _scaled,
        "one of all windows": _chosen,
        "numbers from 0 and an offset": _rows(),
    },
)
