"""`shift_matrix`: cases, mistakes and variants."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch

from course.positions import shift_matrix, sinusoidal_positional_encoding
from grader.authoring.aspects import USUAL, dtype, shape, values
from grader.authoring.draw import dims
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.aspects import special
from lessons.lesson_06.exercises.waves import BASE, draw_base


def _offsets(generator: np.random.Generator) -> list[Case]:
    near, half, other, far = dims(generator, 4, 2, 6)
    return [
        Case("with a small offset", {"offset": near, "d_model": 2 * half}, USUAL),
        Case("with another offset", {"offset": near + far, "d_model": 2 * other}, USUAL),
        Case("with a large offset", {"offset": 20 + far, "d_model": 4}, USUAL),
        Case("with a negative offset", {"offset": -other, "d_model": 2 * half}, frozenset({"negative"})),
        Case("with the offset 0", {"offset": 0, "d_model": 2 * half}, frozenset({"few"})),
        Case("with the offset 1", {"offset": 1, "d_model": 2 * far}, frozenset({"few"})),
        Case("with two columns", {"offset": near, "d_model": 2}, frozenset({"narrow"})),
        Case(
            "with another base",
            {"offset": near, "d_model": 2 * far, "base": draw_base(generator)},
            frozenset({"base"}),
        ),
    ]


def _angles(offset: float, d_model: int, base: float) -> torch.Tensor:
    return offset * base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)


Turn = Callable[[torch.Tensor, torch.Tensor], list[list[torch.Tensor]]]


def _of_blocks(
    block: Turn = lambda cos, sin: [[cos, sin], [-sin, cos]],
    angles: Callable[[float, int, float], torch.Tensor] = _angles,
) -> Callable[..., torch.Tensor]:
    """Blocks of 2 x 2 along the diagonal, one for each angle."""

    def matrix(offset: int, d_model: int, base: float = BASE) -> torch.Tensor:
        blocks = [torch.tensor(block(angle.cos(), angle.sin())) for angle in angles(offset, d_model, base)]
        whole: torch.Tensor = torch.block_diag(*blocks)  # type: ignore[no-untyped-call]
        return whole.float()

    return matrix


def _halves(offset: int, d_model: int, base: float = BASE) -> torch.Tensor:
    angles = _angles(offset, d_model, base)
    cos, sin = torch.diag(angles.cos()), torch.diag(angles.sin())
    return torch.cat([torch.cat([cos, sin], dim=1), torch.cat([-sin, cos], dim=1)]).float()


def _row_of_the_table(offset: int, d_model: int, base: float = BASE) -> torch.Tensor:
    return torch.diag(sinusoidal_positional_encoding(abs(offset) + 1, d_model, base)[-1])


def _on_the_right(offset: int, d_model: int, base: float = BASE) -> torch.Tensor:
    return shift_matrix(offset, d_model, base).T


def _stacked(offset: int, d_model: int, base: float = BASE) -> torch.Tensor:
    cos, sin = _angles(offset, d_model, base).cos().float(), _angles(offset, d_model, base).sin().float()
    return torch.stack([torch.stack([cos, sin], -1), torch.stack([-sin, cos], -1)], dim=1)


def _by_power(offset: int, d_model: int, base: float = BASE) -> torch.Tensor:
    one = _of_blocks()(1, d_model, base).double()
    power: torch.Tensor = torch.linalg.matrix_power(one, offset)
    return power.float()


def _by_loop(offset: int, d_model: int, base: float = BASE) -> torch.Tensor:
    matrix = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        angle = offset / base ** (i / d_model)
        matrix[i, i] = matrix[i + 1, i + 1] = math.cos(angle)
        matrix[i, i + 1], matrix[i + 1, i] = math.sin(angle), -math.sin(angle)
    return matrix


def _by_exponential(offset: int, d_model: int, base: float = BASE) -> torch.Tensor:
    generator = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i, rate in enumerate(_angles(1, d_model, base)):
        generator[2 * i, 2 * i + 1], generator[2 * i + 1, 2 * i] = rate, -rate
    whole: torch.Tensor = torch.linalg.matrix_exp(offset * generator)
    return whole.float()


def _by_diagonals(offset: int, d_model: int, base: float = BASE) -> torch.Tensor:
    angles = _angles(offset, d_model, base)
    beside = torch.stack([angles.sin(), torch.zeros_like(angles)], dim=1).flatten()[:-1]
    whole = torch.diag(angles.cos().repeat_interleave(2)) + torch.diag(beside, 1) - torch.diag(beside, -1)
    return whole.float()


def _solved(offset: int, d_model: int, base: float = BASE) -> torch.Tensor:
    """From two encodings a quarter turn apart, pair by pair."""
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i, angle in enumerate(_angles(offset, d_model, base)):
        before = torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)  # (sine, cosine) at 0 and at pi / 2
        after = torch.stack([torch.stack([(angle + t).sin(), (angle + t).cos()]) for t in (0.0, math.pi / 2)])
        matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = torch.linalg.solve(before, after).T
    return matrix.float()


SHIFT = Exercise(
    symbol="shift_matrix",
    points=3,
    cases=_offsets,
    references=(shift_matrix,),
    aspects=(
        shape(),
        values(),
        special(
            "a negative offset",
            "negative",
            weight=2.0,
            meaning="An offset to an earlier position gives the right matrix too.",
        ),
        special("the offsets 0 and 1", "few", meaning="The offsets 0 and 1 give the right matrix too."),
        special("another base", "base"),
        special("two columns", "narrow"),
        dtype("float32", meaning="The result is float32."),
    ),
    mistakes=(
        Mistake(
            "transposed",
            _on_the_right,
            "Your matrix is the transpose of the right one, so it shifts backwards. Multiply it by (sin p, cos p)"
            " by hand: which sign does the sine get in each row?",
            central=True,
        ),
        Mistake(
            "halves_side_by_side",
            _halves,
            "Your matrix fits an encoding with all the sines first and then all the cosines. Which two of our "
            "columns belong together?",
        ),
        Mistake(
            "minus_forgotten",
            _of_blocks(lambda cos, sin: [[cos, sin], [sin, cos]]),
            "There is no minus in your matrix. What is cos(a + b), in terms of the sines and cosines of a and b?",
            central=True,
        ),
        Mistake(
            "mirrored",
            _of_blocks(lambda cos, sin: [[cos, sin], [sin, -cos]]),
            "Each of your blocks is a reflection, not a rotation: with offset 0 it isn't the identity. Which "
            "entry of a block has the minus?",
        ),
        Mistake(
            "sine_and_cosine_swapped",
            _of_blocks(lambda cos, sin: [[sin, cos], [-cos, sin]]),
            "Sine and cosine have traded places in your blocks. What should the matrix be when the offset is 0?",
        ),
        Mistake(
            "cosines_only",
            _of_blocks(lambda cos, sin: [[cos, 0 * cos], [0 * cos, cos]]),
            "Your matrix multiplies each column by a number and never mixes the two of a pair. What is sin(a + "
            "b), in terms of the sines and cosines of a and b?",
        ),
        Mistake(
            "table_on_the_diagonal",
            _row_of_the_table,
            "You put the encoding of the offset on the diagonal. Is sin(a + b) the product of sin(a) and sin(b)?",
        ),
        Mistake(
            "first_pair_only",
            _of_blocks(angles=lambda o, d, base: _angles(o, d, base) * (torch.arange(d // 2) == 0)),
            "Only your first pair turns. What about the pairs with the other frequencies?",
        ),
        Mistake(
            "one_frequency",
            _of_blocks(angles=lambda o, d, base: torch.full((d // 2,), float(o), dtype=torch.float64)),
            "All your blocks turn by the same angle. Which frequency belongs to which pair?",
            central=True,
        ),
        Mistake(
            "exponent_halved",
            _of_blocks(angles=lambda o, d, base: o * base ** (-torch.arange(d // 2, dtype=torch.float64) / d)),
            "Your angles shrink half as fast from pair to pair as those of the encoding. What is above d_model in"
            " the formula?",
        ),
        Mistake(
            "frequencies_upside_down",
            _of_blocks(angles=lambda o, d, base: o * base ** (torch.arange(0, d, 2, dtype=torch.float64) / d)),
            "Your angles grow from pair to pair. What sign does the exponent of the frequency have?",
        ),
        Mistake(
            "one_step_only",
            lambda offset, d_model, base=BASE: shift_matrix(1, d_model, base),
            "Your matrix moves one step, whatever the offset. Where does the offset come into the angle?",
        ),
        Mistake(
            "one_step_more",
            lambda offset, d_model, base=BASE: shift_matrix(offset + 1, d_model, base),
            "Your matrix moves one step too far. What should it be when the offset is 0?",
        ),
        Mistake(
            "sign_of_the_offset_lost",
            lambda offset, d_model, base=BASE: shift_matrix(abs(offset), d_model, base),
            "A negative offset moves the same way as a positive one. Where does its sign get lost?",
        ),
        Mistake(
            "no_steps_backwards",
            lambda offset, d_model, base=BASE: shift_matrix(max(offset, 0), d_model, base),
            "With a negative offset your matrix moves nothing. Which matrix undoes a shift?",
        ),
        Mistake(
            "base_fixed",
            lambda offset, d_model, base=BASE: shift_matrix(offset, d_model),
            "With the base 10000 everything is right, with another base it isn't. Do you pass the base on?",
        ),
        Mistake(
            "blocks_left_apart",
            _stacked,
            "You have the right block for each pair, one behind the other. How do you put them on the diagonal of"
            " a single matrix?",
        ),
        Mistake(
            "float64",
            lambda offset, d_model, base=BASE: shift_matrix(offset, d_model, base).double(),
            "The numbers are right, but they are float64, and multiplying float64 by float32 is an error. Which "
            "line makes them float64?",
        ),
    ),
    variants={
        "blocks on the diagonal": _of_blocks(),
        "powers of one step": _by_power,
        "a loop": _by_loop,
        "matrix exponential": _by_exponential,
        "three diagonals": _by_diagonals,
        "two equations a pair": _solved,
        "undoing the other way": lambda offset, d_model, base=BASE: shift_matrix(-offset, d_model, base).T.contiguous(),
    },
)
