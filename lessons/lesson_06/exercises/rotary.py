"""`rotary_embedding`: cases, mistakes and variants."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course.positions import rotary_embedding, shift_matrix, sinusoidal_positional_encoding
from grader.authoring.aspects import USUAL, gradients, shape, untouched, values
from grader.authoring.draw import dims, integers, normal
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.aspects import special
from lessons.lesson_06.exercises.precision import ANY_NUMBERS, in_single_precision
from lessons.lesson_06.exercises.waves import BASE, draw_base


def draw_positions(generator: np.random.Generator, length: int) -> torch.Tensor:
    """Different positions up to 40, in no order, and none of them its own index."""
    while True:
        places = torch.from_numpy(generator.choice(np.arange(1, 40), size=length, replace=False))
        if places.max() < 20:  # so that a short table doesn't do
            continue
        if not (places == torch.arange(length)).any() and (length == 1 or (places.diff() < 0).any()):
            return places


def _vectors(generator: np.random.Generator) -> list[Case]:
    def draw(*sizes: int, kind: torch.dtype = torch.float32) -> dict[str, Any]:
        x = normal(generator, *sizes, dtype=kind)
        return {"x": x, "positions": torch.arange(sizes[-2]), "follow": kind == torch.float32}

    def elsewhere(*sizes: int) -> dict[str, Any]:
        return {**draw(*sizes), "positions": draw_positions(generator, sizes[-2]), "follow": False}

    batch, heads, length, half = dims(generator, 4, 2, 6)
    side = 2 * int(generator.integers(2, 4))
    twice = draw(batch, length, 2 * half)
    twice.update(positions=integers(generator, 0, 3, length) + 7, follow=False)
    backwards = elsewhere(batch, length, 2 * heads)
    backwards["positions"] = -backwards["positions"]
    far = elsewhere(batch, length, 2 * heads)
    far["positions"] = far["positions"] + 160  # the lesson's longest sums reach 100
    laid_out = elsewhere(batch, heads, length, 2 * half)
    laid_out["x"] = with_heads_cut_out(laid_out["x"])
    return [
        Case("with rows of vectors", draw(batch, length, 2 * half), USUAL),
        Case("with several heads", draw(batch, heads, length, 2 * half), USUAL),
        Case("where all sizes are equal", draw(side, side, side, side), USUAL),
        Case("without a batch axis", draw(length, 2 * heads), USUAL),
        Case("with positions in no order", elsewhere(half, length, 2 * batch), frozenset({"elsewhere"})),
        Case("with several heads and positions in no order", elsewhere(batch, 2, heads, 4), frozenset({"elsewhere"})),
        Case("where positions occur twice", twice, frozenset({"elsewhere"})),
        Case("with negative positions", backwards, frozenset({"elsewhere"})),
        Case("with positions beyond 160", far, frozenset({"elsewhere"})),
        Case("with one vector", elsewhere(1, 1, 2 * half), frozenset({"one"})),
        Case("with vectors of two numbers", elsewhere(batch, length, 2), frozenset({"one"})),
        Case(
            "with another base",
            {**draw(heads, length, 2 * half), "base": draw_base(generator), "follow": False},
            frozenset({"base"}),
        ),
        Case("with float64", draw(batch, length, 2 * heads, kind=torch.float64), frozenset({"float64"})),
        Case("with heads that are not contiguous", laid_out, frozenset({"strided"})),
    ]


def with_heads_cut_out(x: torch.Tensor) -> torch.Tensor:
    """The same numbers, laid out as `split_heads` leaves them: length before heads in memory."""
    return x.transpose(1, 2).contiguous().transpose(1, 2)


Parts = tuple[torch.Tensor, torch.Tensor]


def _exponents(d: int) -> torch.Tensor:
    return torch.arange(0, d, 2) / d


def neighbours(x: torch.Tensor) -> Parts:
    """The two numbers of each pair (2i, 2i + 1)."""
    return x[..., 0::2], x[..., 1::2]


def interleaved(even: torch.Tensor, odd: torch.Tensor) -> torch.Tensor:
    """Pairs (2i, 2i + 1) side by side again."""
    return torch.stack([even, odd], dim=-1).flatten(-2)


def turned(
    exponents: Callable[[int], torch.Tensor] = _exponents,
    angles: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = lambda places, rates: places[:, None] * rates,
    cut: Callable[[torch.Tensor], Parts] = neighbours,
    turn: Callable[[torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor], Parts] = (
        lambda even, odd, cos, sin: (even * cos - odd * sin, even * sin + odd * cos)
    ),
    joined: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = interleaved,
) -> Callable[..., torch.Tensor]:
    """The right way with one step replaced."""

    def rotary(x: torch.Tensor, positions: torch.Tensor, base: float = BASE) -> torch.Tensor:
        angle = angles(positions, base ** -exponents(x.shape[-1])).to(x.dtype)
        return joined(*turn(*cut(x), angle.cos(), angle.sin()))

    return rotary


def halves(x: torch.Tensor) -> Parts:
    """The left half and the right half of the columns."""
    left, right = x.chunk(2, dim=-1)
    return left, right


def _in_place(x: torch.Tensor, positions: torch.Tensor, base: float = BASE) -> torch.Tensor:
    with torch.no_grad():
        x.copy_(rotary_embedding(x, positions, base))
    return x


def _written_over(x: torch.Tensor, positions: torch.Tensor, base: float = BASE) -> torch.Tensor:
    """The even numbers are new already when the odd ones are made of them."""
    angle = positions[:, None] * base ** -_exponents(x.shape[-1]).to(x.dtype)
    even, odd = neighbours(x)
    new = even * angle.cos() - odd * angle.sin()
    return interleaved(new, new * angle.sin() + odd * angle.cos())


def _added(x: torch.Tensor, positions: torch.Tensor, base: float = BASE) -> torch.Tensor:
    table = sinusoidal_positional_encoding(int(positions.max()) + 1, x.shape[-1], base)
    return x + table[positions].to(x.dtype)


def _complex(x: torch.Tensor, positions: torch.Tensor, base: float = BASE) -> torch.Tensor:
    points = torch.view_as_complex(x.reshape(*x.shape[:-1], -1, 2).contiguous())
    angles = torch.outer(positions.to(x.dtype), base ** -_exponents(x.shape[-1]).to(x.dtype))
    return torch.view_as_real(points * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


def _crossed(x: torch.Tensor, positions: torch.Tensor, base: float = BASE) -> torch.Tensor:
    angles = (positions[:, None] * base ** -_exponents(x.shape[-1])).repeat_interleave(2, dim=-1).to(x.dtype)
    crossed = torch.stack([-x[..., 1::2], x[..., ::2]], dim=-1).reshape(x.shape)
    return x * angles.cos() + crossed * angles.sin()


def _by_matrices(x: torch.Tensor, positions: torch.Tensor, base: float = BASE) -> torch.Tensor:
    matrices = torch.stack([shift_matrix(int(p), x.shape[-1], base) for p in positions]).to(x.dtype)
    return torch.einsum("...le,lef->...lf", x, matrices)  # with the transpose: the pairs here are (cos, sin)


def _by_loops(x: torch.Tensor, positions: torch.Tensor, base: float = BASE) -> torch.Tensor:
    columns = []
    for i in range(0, x.shape[-1], 2):
        angle = positions * base ** (-i / x.shape[-1])
        cos, sin = torch.cos(angle).to(x.dtype), torch.sin(angle).to(x.dtype)
        columns += [x[..., i] * cos - x[..., i + 1] * sin, x[..., i] * sin + x[..., i + 1] * cos]
    return torch.stack(columns, dim=-1)


def _through_halves(x: torch.Tensor, positions: torch.Tensor, base: float = BASE) -> torch.Tensor:
    """In the half-split layout, with the columns put in that order before and back afterwards."""
    columns = torch.arange(x.shape[-1])
    order = torch.cat([columns[::2], columns[1::2]])
    angles = (positions[:, None] * base ** -_exponents(x.shape[-1])).repeat(1, 2).to(x.dtype)
    split = x[..., order]
    turned_halves = split * angles.cos() + _rotate_half(split) * angles.sin()
    return turned_halves[..., order.argsort()]


def _filled(x: torch.Tensor, positions: torch.Tensor, base: float = BASE) -> torch.Tensor:
    table = (torch.arange(-500, 500)[:, None] / base ** _exponents(x.shape[-1]))[positions + 500].double()
    result = torch.empty_like(x)
    result[..., ::2] = (x[..., ::2] * table.cos() - x[..., 1::2] * table.sin()).to(x.dtype)
    result[..., 1::2] = (x[..., ::2] * table.sin() + x[..., 1::2] * table.cos()).to(x.dtype)
    return result


def _rotate_half(x: torch.Tensor) -> torch.Tensor:
    left, right = x.chunk(2, dim=-1)
    return torch.cat([-right, left], dim=-1)


def _layouts_mixed(x: torch.Tensor, positions: torch.Tensor, base: float = BASE) -> torch.Tensor:
    """Angles for interleaved pairs, and a rotation of halves."""
    angles = (positions[:, None] * base ** -_exponents(x.shape[-1])).repeat_interleave(2, dim=-1).to(x.dtype)
    return x * angles.cos() + _rotate_half(x) * angles.sin()


def _length_before_heads(x: torch.Tensor, positions: torch.Tensor, base: float = BASE) -> torch.Tensor:
    """For vectors laid out as (batch, length, heads, d)."""
    angles = (positions[:, None] * base ** -_exponents(x.shape[-1])).to(x.dtype)[:, None, :]  # (length, 1, d / 2)
    even, odd = neighbours(x)
    cos, sin = angles.cos(), angles.sin()
    return interleaved(even * cos - odd * sin, even * sin + odd * cos)


ROTARY = Exercise(
    symbol="rotary_embedding",
    points=3,
    cases=_vectors,
    references=(rotary_embedding,),
    canonical=in_single_precision,
    aspects=(
        shape(),
        values(),
        gradients(),
        special(
            "any positions",
            "elsewhere",
            weight=4.0,
            meaning="Positions may come in any order, more than once, and below zero.",
        ),
        special("another base", "base"),
        special(
            "one vector, one pair",
            "one",
            meaning="A single vector, or vectors of just two numbers, give the right result too.",
        ),
        *ANY_NUMBERS,
        untouched(),
    ),
    mistakes=(
        Mistake(
            "halves_paired",
            turned(cut=halves, joined=lambda a, b: torch.cat([a, b], dim=-1)),
            "You pair each number of the left half with one of the right half: the half-split layout. It is the "
            "same up to the order of the columns, but which two columns form a pair here?",
        ),
        Mistake(
            "halves_joined",
            turned(joined=lambda even, odd: torch.cat([even, odd], dim=-1)),
            "All the even numbers come first, then all the odd ones: rotated correctly, but put back in another "
            "order. How do you join two tensors so that their columns alternate?",
        ),
        Mistake(
            "layouts_mixed",
            _layouts_mixed,
            "Your angles are laid out for neighbouring pairs, but you rotate the left half against the right "
            "half. Which two columns form a pair here?",
        ),
        Mistake(
            "length_before_heads",
            _length_before_heads,
            "Your angles have an axis for heads after the length, as if vectors came as (batch, length, heads, "
            "d). Which axis of x is the length here?",
        ),
        Mistake(
            "log_to_base_10",
            lambda x, positions, base=BASE: rotary_embedding(x, positions, math.exp(math.log10(base))),
            "Your pairs slow down too little: their exponent is off by the factor 2.3, which is ln(10). exp "
            "undoes one logarithm only. Which one?",
        ),
        Mistake(
            "turned_the_other_way",
            turned(angles=lambda places, rates: -places[:, None] * rates),
            "Your pairs turn backwards. Which of the two formulas has the minus?",
            central=True,
        ),
        Mistake(
            "sine_and_cosine_swapped",
            turned(turn=lambda even, odd, cos, sin: (even * sin - odd * cos, even * cos + odd * sin)),
            "Sine and cosine have traded places. What should happen to a vector at position 0?",
        ),
        Mistake(
            "no_minus",
            turned(turn=lambda even, odd, cos, sin: (even * cos + odd * sin, even * sin + odd * cos)),
            "Both your formulas add, so the length of a pair changes. What does a rotation leave as it is, and "
            "which sign does that take?",
        ),
        Mistake(
            "odd_numbers_left",
            turned(turn=lambda even, odd, cos, sin: (even * cos - odd * sin, odd)),
            "The odd columns come out as they went in. What is the second coordinate of a rotated point?",
        ),
        Mistake(
            "each_number_by_itself",
            turned(turn=lambda even, odd, cos, sin: (even * sin, odd * cos)),
            "You multiply each number by its own sine or cosine, so the two numbers of a pair never meet. What "
            "does a rotation do to the first coordinate?",
            central=True,
        ),
        Mistake(
            "written_over",
            _written_over,
            "Your even columns are right, but the odd ones were made from the new even numbers. What do you need "
            "to keep until both are computed?",
        ),
        Mistake(
            "waves_added",
            _added,
            "You add the waves to x, as the sinusoidal encoding does. What does a rotation do to a vector instead?",
        ),
        Mistake(
            "positions_ignored",
            turned(angles=lambda places, rates: torch.arange(len(places))[:, None] * rates),
            "At positions 0, 1, 2, ... everything is right, at others it isn't. Where does your code use `positions`?",
            central=True,
        ),
        Mistake(
            "counted_from_one",
            turned(angles=lambda places, rates: (places[:, None] + 1) * rates),
            "Everything is rotated one step too far. Should a vector at position 0 move at all?",
        ),
        Mistake(
            "one_frequency",
            turned(angles=lambda places, rates: places[:, None] * torch.ones_like(rates)),
            "All pairs turn by the same angle. How does the frequency depend on the pair?",
            central=True,
        ),
        Mistake(
            "exponent_halved",
            turned(exponents=lambda d: torch.arange(d // 2) / d),
            "Your pairs slow down half as fast as they should. What is above d in the exponent of pair i?",
        ),
        Mistake(
            "exponent_doubled",
            turned(exponents=lambda d: 2 * torch.arange(0, d, 2) / d),
            "Your pairs slow down twice as fast as they should. Does your i count by ones or by twos, and is it "
            "doubled again after that?",
        ),
        Mistake(
            "frequencies_upside_down",
            turned(exponents=lambda d: -_exponents(d)),
            "Your pairs turn faster and faster along the columns. What sign does the exponent have?",
        ),
        Mistake(
            "base_fixed",
            lambda x, positions, base=BASE: rotary_embedding(x, positions),
            "With the base 10000 everything is right, with another base it isn't. Where have you written 10000 in"
            " the body?",
        ),
        Mistake(
            "nothing_turned",
            lambda x, positions, base=BASE: x + 0.0,
            "x comes out as it went in. Where do the angles meet it?",
        ),
        Mistake(
            "float32_returned",
            lambda x, positions, base=BASE: rotary_embedding(x.float(), positions, base),
            "Given float64 vectors, you return float32. Which line fixes a dtype?",
        ),
        Mistake(
            "in_place",
            _in_place,
            "The result is right, but the caller's x was rotated along with it. How do you make a new tensor?",
        ),
        Mistake(
            "graph_cut",
            lambda x, positions, base=BASE: rotary_embedding(x.detach(), positions, base),
            "The numbers are right, but no gradient flows back to x. Where is the graph cut?",
        ),
    ),
    variants={
        "complex numbers": _complex,
        "x cos + crossed sin": _crossed,
        "matrices": _by_matrices,
        "loops": _by_loops,
        "filled in": _filled,
        "through the half-split layout": _through_halves,
        "negative angles, negative sine": turned(
            angles=lambda places, rates: -torch.outer(places.float(), rates),
            turn=lambda even, odd, cos, sin: (even * cos + odd * sin, odd * cos - even * sin),
        ),
        "pairs on an axis of their own": turned(
            cut=lambda x: (x.reshape(*x.shape[:-1], -1, 2)[..., 0], x.reshape(*x.shape[:-1], -1, 2)[..., 1]),
            joined=lambda even, odd: torch.cat([even[..., None], odd[..., None]], -1).flatten(-2),
        ),
    },
)
