"""`digit_positions`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from typing import Any

import numpy as np
import torch

from course.length_generalization.places import digit_positions
from course.tasks.addition import ALPHABET, END_ID, PLUS_ID, START_ID
from grader.authoring import draw
from grader.authoring.aspects import USUAL, untouched, values
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, Observation, tagged
from lessons.aspects import special

DIGITS = "0123456789"


def draw_number(generator: np.random.Generator, digits: int, without: str = "09") -> str:
    """A number of so many digits; none of them is one of `without`."""
    allowed = [digit for digit in DIGITS if digit not in without]
    return "".join(generator.choice(allowed, size=digits))


def draw_sum(generator: np.random.Generator, *digits: int, without: str = "09") -> str:
    """A sum of numbers with so many digits each."""
    return "+".join(draw_number(generator, count, without) for count in digits)


def _ids(*texts: str, columns: int = 0) -> torch.Tensor:
    """The texts as rows of ids, padded on the right; `^` is the start token, `.` the end, `_` padding."""
    marks = "_" + ALPHABET.characters + "^."
    length = max([columns, *map(len, texts)])
    return torch.tensor([[marks.index(one) for one in text.ljust(length, "_")] for text in texts])


def _rows(generator: np.random.Generator) -> list[Case]:
    a, b, c = draw.dims(generator, 3, 2, 5)

    def sums(*lengths: tuple[int, ...], without: str = "09") -> list[str]:
        return [draw_sum(generator, *digits, without=without) for digits in lengths]

    def case(label: str, tag: str, tokens: torch.Tensor) -> Case:
        return Case(label, {"tokens": tokens}, tagged(tag) if tag else USUAL)

    zeros = [f"{one[0]}0{one[1:]}0+{two[0]}00" for one, two in [sums((a,), (b,))]]
    nines = [f"9{one}+{two}9" for one, two in [sums((b,), (c,))]]
    marked = [f"^{sums((a,))[0]}.", f"^{sums((b + 4,))[0]}."]
    scattered = [f"_{sums((a, b))[0]}", f"{sums((b,))[0]}__{sums((c,))[0]}"]
    return [
        case("on sums of numbers with different lengths", "", _ids(*sums((a, b), (b, c), (c, a)))),
        case("on sums of two numbers of one length", "", _ids(*sums((a, a), (a, a)))),
        case("on rows with much padding", "", _ids(*sums((a, b + 3), (1, 1)), columns=a + b + 8)),
        case("on sums of three numbers", "", _ids(*sums((a, b, c), (c, b, a)))),
        case("on numbers of many digits", "long", _ids(*sums((31, 28), (27, 33)))),
        case("on numbers that hold zeros", "digits", _ids(*zeros, *sums((a, b), without="9"))),
        case("on numbers that hold nines", "digits", _ids(*nines, *sums((c, b), without="0"))),
        case("on numbers of one digit", "one", _ids(*sums((1, 1), (1, 1)))),
        case("on a single row", "one", _ids(*sums((b, a)))),
        case("on rows of a single token", "one", torch.tensor([[3], [PLUS_ID], [0]])),
        case("on answers, with their start and end tokens", "marks", _ids(*marked)),
        case("on rows of nothing but other tokens", "marks", torch.tensor([[0, PLUS_ID], [START_ID, END_ID]])),
        case("with padding before and between numbers", "anywhere", _ids(*scattered)),
        case("on tokens that are not contiguous", "strided", draw.strided(_ids(*sums((a, c), (c, b))))),
    ]


def _whole(observation: Observation, case: Case) -> Observation:
    """Any kind of whole number will do."""
    kept, output = dict(observation), observation.get("output")
    if isinstance(output, torch.Tensor) and not output.is_floating_point() and output.dtype != torch.bool:
        kept["output"] = output.long()
    return kept


def _is_digit(tokens: torch.Tensor) -> torch.Tensor:
    return (tokens >= 1) & (tokens <= 10)


def _counted(
    digit: Callable[[torch.Tensor], torch.Tensor] = _is_digit,
    place: Callable[[int, int], int] = lambda left, size: size - left,
    other: int = 0,
) -> Callable[[torch.Tensor], torch.Tensor]:
    """Runs of what `digit` finds; `place(how many digits stand left of it, the run's size)` says each one's place."""

    def positions(tokens: torch.Tensor) -> torch.Tensor:
        rows = []
        for row in digit(tokens).tolist():
            found: list[int] = []
            for is_digit, run in groupby(row):
                size = len(list(run))
                found += [place(left, size) if is_digit else other for left in range(size)]
            rows.append(found)
        return torch.tensor(rows)

    return positions


def _not_restarted(tokens: torch.Tensor) -> torch.Tensor:
    digits = _is_digit(tokens).long()
    return digits.flip(1).cumsum(1).flip(1) * digits


def _from_the_end(tokens: torch.Tensor) -> torch.Tensor:
    length = tokens.shape[1]
    return torch.arange(length, 0, -1).expand_as(tokens) * _is_digit(tokens)


def _index(tokens: torch.Tensor) -> torch.Tensor:
    return (torch.arange(tokens.shape[1]).expand_as(tokens) + 1) * _is_digit(tokens)


def _first_row(tokens: torch.Tensor) -> torch.Tensor:
    return digit_positions(tokens[:1]).expand_as(tokens)


def _first_number(tokens: torch.Tensor) -> torch.Tensor:
    """The second number and whatever follows gets 0."""
    over = (tokens == PLUS_ID).long().cumsum(dim=1)
    return digit_positions(tokens) * (over == 0)


def _overwritten(tokens: torch.Tensor) -> torch.Tensor:
    places = digit_positions(tokens)
    tokens[tokens > 10] = 0
    tokens.clamp_(max=1)
    return places


def _by_steps(tokens: torch.Tensor) -> torch.Tensor:
    places = torch.zeros_like(tokens)
    place = torch.zeros_like(tokens[:, 0])
    for column in reversed(range(tokens.shape[1])):
        place = torch.where(_is_digit(tokens[:, column]), place + 1, 0)
        places[:, column] = place
    return places


def _with_loops(tokens: torch.Tensor) -> torch.Tensor:
    rows = []
    for row in tokens.tolist():
        found, place = [], 0
        for one in reversed(row):
            place = place + 1 if 1 <= one <= 10 else 0
            found.append(place)
        rows.append(found[::-1])
    return torch.tensor(rows)


def _distance_to_the_next(tokens: torch.Tensor) -> torch.Tensor:
    """How far it is to the next token that is no digit."""
    digits, n = _is_digit(tokens), tokens.shape[1]
    places = torch.arange(n, device=tokens.device).expand_as(tokens)
    others = places.masked_fill(digits, n)
    following = others.flip(1).cummin(dim=1).values.flip(1)
    return (following - places).masked_fill(~digits, 0)


def _pairwise(tokens: torch.Tensor) -> torch.Tensor:
    """Token j counts for token i where all tokens from i to j are digits."""
    digits = _is_digit(tokens)
    gaps = (~digits).long().cumsum(dim=1)  # (batch, length)
    same = gaps.unsqueeze(2) == gaps.unsqueeze(1)  # (batch, length, length)
    later = torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool).triu()
    return (same & later & digits.unsqueeze(1)).sum(dim=2) * digits


def _listed(tokens: torch.Tensor) -> Any:
    return digit_positions(tokens).tolist()


DIGIT_POSITIONS = Exercise(
    symbol="digit_positions",
    points=2,
    cases=_rows,
    references=(digit_positions,),
    canonical=_whole,
    aspects=(
        Aspect(
            "whole numbers, shape kept",
            kinds=frozenset({"error", "type", "shape", "dtype"}),
            tags=USUAL,
            meaning="The result holds whole numbers, one for each token.",
        ),
        values(8.0),
        special("numbers of many digits", "long", meaning="A number may have more digits than those of the example."),
        special("all ten digits", "digits", 1.5, "The digits 0 and 9 are digits like any other."),
        special("start and end tokens", "marks", meaning="A start or end token is no digit."),
        special("padding anywhere", "anywhere", meaning="Padding ends a number, wherever it is."),
        special("one digit, one row, one token", "one", meaning="The smallest inputs give the right result too."),
        special("any layout in memory", "strided", 0.5),
        untouched(weight=0.5),
    ),
    mistakes=(
        Mistake(
            "counted_from_the_left",
            _counted(place=lambda left, size: left + 1),
            "You count from the left, so the largest place gets 1. Which digit of 345 counts ones?",
            central=True,
        ),
        Mistake(
            "never_restarted",
            _not_restarted,
            "Your count goes on from one number to the next. What should it do at the plus?",
            central=True,
        ),
        Mistake(
            "index_from_the_end",
            _from_the_end,
            "You count tokens from the end of the row, with plus and padding among them. What should be counted, and "
            "from where?",
            central=True,
        ),
        Mistake(
            "index_in_the_row",
            _index,
            "You return how far along the row a digit is. Does the tens digit of both numbers get the same place?",
            central=True,
        ),
        Mistake(
            "ones_are_zero",
            _counted(place=lambda left, size: size - left - 1),
            "Your ones get 0, the same as a token that is no digit. Which number does the docstring give to the ones?",
            central=True,
        ),
        Mistake(
            "powers_of_ten",
            _counted(place=lambda left, size: 10 ** min(size - left - 1, 12)),
            "Your places are 1, 10, 100. The docstring counts them: which number comes after 2?",
            central=True,
        ),
        Mistake(
            "lengths",
            _counted(place=lambda left, size: size),
            "Each digit gets the length of its number. How do the digits of one number differ?",
            central=True,
        ),
        Mistake(
            "zero_is_no_digit",
            _counted(lambda tokens: (tokens >= 2) & (tokens <= 10)),
            "The digit 0 isn't counted, so a number breaks off there. What id does the digit 0 have?",
        ),
        Mistake(
            "nine_is_no_digit",
            _counted(lambda tokens: (tokens >= 1) & (tokens <= 9)),
            "The digit 9 isn't counted, so a number breaks off there. What id does the digit 9 have?",
        ),
        Mistake(
            "digits_taken_for_ids",
            _counted(lambda tokens: (tokens >= 0) & (tokens <= 9)),
            "You look for ids from 0 to 9. Those are padding and the digits 0 to 8. How far are ids from digits?",
            central=True,
        ),
        Mistake(
            "plus_is_a_digit",
            _counted(lambda tokens: (tokens >= 1) & (tokens <= PLUS_ID)),
            "The plus counts as a digit, so the two numbers become one. Where do the ids of the digits end?",
            central=True,
        ),
        Mistake(
            "padding_is_a_digit",
            _counted(lambda tokens: tokens <= 10),
            "Padding counts as a digit, so the places depend on how far a row is padded. Where do the ids of the "
            "digits begin?",
            central=True,
        ),
        Mistake(
            "start_and_end_are_digits",
            _counted(lambda tokens: (tokens != PLUS_ID) & (tokens != 0)),
            "Everything but plus and padding counts as a digit. Which other tokens has the alphabet?",
        ),
        Mistake(
            "minus_one_for_the_rest",
            _counted(other=-1),
            "A token that is no digit gets -1 from you. What does the docstring give it?",
        ),
        Mistake(
            "first_row_for_all",
            _first_row,
            "All rows get the places of the first one. Do all sums have numbers of the same lengths?",
            central=True,
        ),
        Mistake(
            "first_number_only",
            _first_number,
            "Only the first number has places. What about the one after the plus?",
            central=True,
        ),
        Mistake(
            "as_fractions",
            lambda tokens: digit_positions(tokens).float(),
            "The places are right, but they are floating-point numbers, which no table can be indexed with. What "
            "dtype do the tokens have?",
        ),
        Mistake(
            "as_lists",
            _listed,
            "The places are right, but they come as lists. What type were the tokens?",
        ),
        Mistake(
            "tokens_overwritten",
            _overwritten,
            "The places are right, but the caller's tokens have changed. Which operation makes a new tensor?",
        ),
    ),
    variants={
        "column by column": _by_steps,
        "plain loops": _with_loops,
        "runs": _counted(),
        "distance to the next": _distance_to_the_next,
        "pairwise": _pairwise,
        "int32": lambda tokens: digit_positions(tokens).int(),
    },
)
