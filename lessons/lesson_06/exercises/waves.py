"""`sinusoidal_positional_encoding`: cases, mistakes and variants."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable

import numpy as np
import torch

from course.positions import sinusoidal_positional_encoding
from grader.authoring.aspects import USUAL, dtype, shape, values
from grader.authoring.draw import dims
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.aspects import special

BASE = 10000.0


def draw_base(generator: np.random.Generator) -> float:
    """A base far from 10000."""
    return float(generator.integers(20, 300))


def _sizes(generator: np.random.Generator) -> list[Case]:
    length, half, other = dims(generator, 3, 3, 6)
    side = 2 * int(generator.integers(2, 5))
    return [
        Case("with a few positions", {"length": length, "d_model": 2 * half}, USUAL),
        Case("with more positions than columns", {"length": 2 * other + length, "d_model": 2 * other}, USUAL),
        Case("with as many positions as columns", {"length": side, "d_model": side}, USUAL),
        Case("with many positions", {"length": 40 + length, "d_model": 4}, USUAL),
        Case("with a single position", {"length": 1, "d_model": 2 * half}, frozenset({"one"})),
        Case("with two columns", {"length": length, "d_model": 2}, frozenset({"narrow"})),
        Case(
            "with another base",
            {"length": length + 10, "d_model": 2 * other, "base": draw_base(generator)},
            frozenset({"base"}),
        ),
    ]


def _layout(pairs: torch.Tensor) -> torch.Tensor:
    return pairs.flatten(start_dim=1)


def _changed(
    exponents: Callable[[int], torch.Tensor] = lambda d: torch.arange(0, d, 2) / d,
    frequencies: Callable[[float, torch.Tensor], torch.Tensor] = lambda base, exponent: base**-exponent,
    places: Callable[[int], torch.Tensor] = torch.arange,
    waves: Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]] = lambda angles: (angles.sin(), angles.cos()),
    layout: Callable[[torch.Tensor], torch.Tensor] = _layout,
) -> Callable[..., torch.Tensor]:
    """The right way with one step replaced."""

    def encoding(length: int, d_model: int, base: float = BASE) -> torch.Tensor:
        angles = places(length).unsqueeze(1) * frequencies(base, exponents(d_model))
        return layout(torch.stack(waves(angles), dim=-1))

    return encoding


def _own_exponents(length: int, d_model: int, base: float = BASE) -> torch.Tensor:
    angles = torch.arange(length).unsqueeze(1) * base ** (-torch.arange(d_model) / d_model)
    return torch.where(torch.arange(d_model) % 2 == 0, angles.sin(), angles.cos())


def _whole_numbers(length: int, d_model: int, base: float = BASE) -> torch.Tensor:
    angles = torch.arange(length).unsqueeze(1) // base ** (torch.arange(0, d_model, 2) / d_model)
    return _layout(torch.stack([angles.sin(), angles.cos()], dim=-1))


def _without_brackets(length: int, d_model: int, base: float = BASE) -> torch.Tensor:
    angles = torch.arange(length).unsqueeze(1) / base**2 * torch.arange(d_model // 2) / d_model
    return _layout(torch.stack([angles.sin(), angles.cos()], dim=-1))


def _numpy(length: int, d_model: int, base: float = BASE) -> np.ndarray:
    angles = np.arange(length)[:, None] / base ** (np.arange(0, d_model, 2) / d_model)
    encoding = np.zeros((length, d_model))
    encoding[:, 0::2], encoding[:, 1::2] = np.sin(angles), np.cos(angles)
    return encoding


def _loops(length: int, d_model: int, base: float = BASE) -> torch.Tensor:
    encoding = torch.zeros(length, d_model)
    for position in range(length):
        for i in range(d_model // 2):
            angle = position / base ** (2 * i / d_model)
            encoding[position, 2 * i] = math.sin(angle)
            encoding[position, 2 * i + 1] = math.cos(angle)
    return encoding


def _strides(length: int, d_model: int, base: float = BASE) -> torch.Tensor:
    encoding = torch.empty(length, d_model)
    position = torch.arange(0, length).float()[:, None]
    rates = torch.exp(torch.arange(0, d_model, 2) * (-math.log(base) / d_model))
    encoding[:, ::2] = torch.sin(position * rates)
    encoding[:, 1::2] = torch.cos(position * rates)
    return encoding


def _parity(length: int, d_model: int, base: float = BASE) -> torch.Tensor:
    columns = torch.arange(d_model)
    angles = torch.arange(length)[:, None] / torch.pow(base, 2 * (columns // 2) / d_model)
    return torch.where(columns % 2 == 0, torch.sin(angles), torch.cos(angles))


def _complex(length: int, d_model: int, base: float = BASE) -> torch.Tensor:
    rates = base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angles = torch.outer(torch.arange(length, dtype=torch.float64), rates)
    circle = torch.view_as_real(torch.polar(torch.ones_like(angles), angles))  # cosine first
    return circle.flip(-1).reshape(length, d_model).float()


def _turned_step_by_step(length: int, d_model: int, base: float = BASE) -> torch.Tensor:
    steps = [cmath.exp(1j / base ** (2 * i / d_model)) for i in range(d_model // 2)]
    points = [1 + 0j for _ in steps]
    rows = []
    for _ in range(length):
        rows.append([part for point in points for part in (point.imag, point.real)])
        points = [point * step for point, step in zip(points, steps, strict=True)]
    return torch.tensor(rows)


def _shifted_sines(length: int, d_model: int, base: float = BASE) -> torch.Tensor:
    rates = base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angles = torch.arange(length)[:, None] * rates.repeat_interleave(2)
    return torch.sin(angles + torch.tensor([0.0, math.pi / 2]).double().repeat(d_model // 2)).float()


SINUSOIDS = Exercise(
    symbol="sinusoidal_positional_encoding",
    points=3,
    cases=_sizes,
    references=(sinusoidal_positional_encoding,),
    aspects=(
        shape(),
        values(),
        special("another base", "base", weight=2.0),
        special("a single position", "one", meaning="A single position gives the right result too."),
        special("two columns", "narrow"),
        dtype("float32", meaning="The result is float32."),
    ),
    mistakes=(
        Mistake(
            "halves_side_by_side",
            _changed(layout=lambda pairs: torch.cat(pairs.unbind(-1), dim=-1)),
            "All your sines come first, then all your cosines. Which columns should the sines be in, and how can "
            "two blocks of columns be made to alternate?",
            central=True,
        ),
        Mistake(
            "sine_and_cosine_swapped",
            _changed(waves=lambda angles: (angles.cos(), angles.sin())),
            "Sine and cosine have traded places: your row 0 starts with 1. What is sin(0), and which columns hold"
            " the sines?",
        ),
        Mistake(
            "sines_only",
            _changed(waves=lambda angles: (angles.sin(), angles.sin())),
            "Every column is a sine, so each pair says the same thing twice. What belongs in the odd columns?",
            central=True,
        ),
        Mistake(
            "exponent_halved",
            _changed(exponents=lambda d: torch.arange(d // 2) / d),
            "Your waves slow down half as fast as they should: pair i has the exponent i / d_model. What is above"
            " d_model in the formula?",
        ),
        Mistake(
            "exponent_doubled",
            _changed(exponents=lambda d: 2 * torch.arange(0, d, 2) / d),
            "Your waves slow down twice as fast as they should. Does your i count by ones or by twos, and is it "
            "doubled again after that?",
        ),
        Mistake(
            "each_column_its_own_frequency",
            _own_exponents,
            "Your even columns are right, but each cosine is a little slower than the sine next to it. Which "
            "frequency do the two columns of a pair share?",
        ),
        Mistake(
            "one_pair_less_in_the_exponent",
            _changed(exponents=lambda d: torch.arange(d // 2) / max(d // 2 - 1, 1)),
            "The frequency of your slowest wave is 1 / base: you divide by the number of pairs minus one. What "
            "does the docstring divide by?",
        ),
        Mistake(
            "log_forgotten",
            _changed(frequencies=lambda base, exponent: torch.exp(-base * exponent)),
            "Only your first pair moves, and the others hardly at all. If you use exp, what do you have to do to "
            "the base before you multiply by it?",
        ),
        Mistake(
            "log_to_base_10",
            _changed(frequencies=lambda base, exponent: torch.exp(-math.log10(base) * exponent)),
            "Your waves slow down too little: their exponent is off by the factor 2.3, which is ln(10). exp "
            "undoes one logarithm only. Which one?",
        ),
        Mistake(
            "d_model_forgotten",
            _changed(exponents=lambda d: torch.arange(0, d, 2).float()),
            "From the second pair on, your waves hardly move at all: the exponent of pair i is 2i. What is it "
            "divided by in the formula?",
        ),
        Mistake(
            "brackets_forgotten",
            _without_brackets,
            "Python raises the base to the power 2 and then goes on from left to right. Which brackets make 2i / "
            "d_model the exponent?",
        ),
        Mistake(
            "e_for_the_base",
            _changed(frequencies=lambda base, exponent: torch.exp(-exponent)),
            "Your frequencies go from 1 down to 1/e, whatever the base. Where does the base come in?",
        ),
        Mistake(
            "base_fixed",
            _changed(frequencies=lambda base, exponent: BASE**-exponent),
            "With the base 10000 everything is right, with another base it isn't. Where have you written 10000 in"
            " the body?",
        ),
        Mistake(
            "frequencies_upside_down",
            _changed(frequencies=lambda base, exponent: base**exponent),
            "Your waves get faster from pair to pair. Does the minus in the exponent multiply by a power of the "
            "base, or divide by it?",
        ),
        Mistake(
            "frequencies_backwards",
            _changed(frequencies=lambda base, exponent: (base**-exponent).flip(0)),
            "Your slow waves come first. Which pair turns by one radian per position?",
        ),
        Mistake(
            "one_frequency",
            _changed(frequencies=lambda base, exponent: torch.ones_like(exponent)),
            "All your pairs turn at the same speed, so everything starts over after 2 pi positions. How does the "
            "frequency depend on the pair?",
            central=True,
        ),
        Mistake(
            "full_turns",
            _changed(frequencies=lambda base, exponent: 2 * math.pi * base**-exponent),
            "Your first pair makes a full turn from each position to the next. Where does the 2 pi come from?",
        ),
        Mistake(
            "counted_from_one",
            _changed(places=lambda length: torch.arange(1, length + 1)),
            "Your row 0 is the expected row 1. What number do positions start at?",
        ),
        Mistake(
            "positions_as_shares",
            _changed(places=lambda length: torch.arange(length) / length),
            "You divide each position by the length, so the same position looks different in a longer row. What "
            "is the angle at position p?",
        ),
        Mistake(
            "angles_without_waves",
            _changed(waves=lambda angles: (angles, angles)),
            "These are the angles themselves, and they grow without limit. What do you take of them?",
        ),
        Mistake(
            "rounded_down",
            _whole_numbers,
            "Your angles are whole numbers. What does // do that / doesn't?",
        ),
        Mistake(
            "transposed",
            lambda length, d_model, base=BASE: sinusoidal_positional_encoding(length, d_model, base).T,
            "The numbers are right, but the table lies on its side. Does a row belong to a position, or to a wave?",
        ),
        Mistake(
            "batch_axis_added",
            lambda length, d_model, base=BASE: sinusoidal_positional_encoding(length, d_model, base)[None],
            "The numbers are right, but there is an extra axis in front. Which two axes does the docstring name?",
        ),
        Mistake(
            "numpy_returned",
            _numpy,
            "You return a NumPy array. How do you turn it into a tensor, and which dtype do models work in?",
        ),
        Mistake(
            "float64",
            lambda length, d_model, base=BASE: torch.from_numpy(_numpy(length, d_model, base)),
            "The numbers are right, but they are float64, and so would be everything you add them to. Which line "
            "makes them float64?",
        ),
    ),
    variants={
        "loops": _loops,
        "strided assignment": _strides,
        "parity of the column": _parity,
        "complex numbers": _complex,
        "turned step by step": _turned_step_by_step,
        "shifted sines": _shifted_sines,
        "NumPy inside": lambda length, d_model, base=BASE: torch.tensor(
            _numpy(length, d_model, base), dtype=torch.float32
        ),
        "a longer table cut": lambda length, d_model, base=BASE: _strides(length + 5, d_model, base)[:length],
    },
)
