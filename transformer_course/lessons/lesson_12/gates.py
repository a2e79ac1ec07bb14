"""What a gated unit does with what its gate and its up compute, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch.nn import functional as F

from transformer_course.lessons.watching import AS_ASKED

Unit = Callable[[torch.Tensor, float, float], torch.Tensor]
"""What comes out of a unit for x (rows, 3), with a gate of so many times the first number, and an up of so many times
the second. The third number goes to another unit."""
Curve = Callable[[torch.Tensor], torch.Tensor]

_Z = torch.tensor([-4.0, -2.0, -1.0, -0.3, 0.5, 1.0, 2.0, 4.0, 9.0])

CURVES: Mapping[str, Curve] = {
    "the gate itself, without a function": lambda z: z,
    "1, whatever the gate computes": torch.ones_like,
    "sigmoid(z)": torch.sigmoid,
    "tanh(z)": torch.tanh,
    "relu(z)": torch.relu,
    "the square of relu(z)": lambda z: torch.relu(z).square(),
    "leaky_relu(z)": F.leaky_relu,
    "elu(z)": F.elu,
    "selu(z)": F.selu,
    "softplus(z)": F.softplus,
    "gelu(z)": F.gelu,
    "gelu(z) in its approximation by tanh": lambda z: F.gelu(z, approximate="tanh"),
    "mish(z)": F.mish,
    "hardswish(z)": F.hardswish,
    "hardsigmoid(z)": F.hardsigmoid,
    "relu6(z)": F.relu6,
    "z times tanh(z)": lambda z: z * torch.tanh(z),
    "z times relu(z)": lambda z: z * torch.relu(z),
    "z squared": torch.square,
    "1 - sigmoid(z)": lambda z: 1 - torch.sigmoid(z),
    "sigmoid(z) times 1 - sigmoid(z)": lambda z: torch.sigmoid(z) * (1 - torch.sigmoid(z)),
    "sigmoid(z) squared": lambda z: torch.sigmoid(z).square(),
    "z times sigmoid(-z)": lambda z: z * torch.sigmoid(-z),
    "silu(-z)": lambda z: F.silu(-z),
    "-silu(z)": lambda z: -F.silu(z),
    "the magnitude of silu(z)": lambda z: F.silu(z).abs(),
    "silu(z) without what is negative": lambda z: F.silu(z).clamp(min=0),
    "1 + silu(z)": lambda z: 1 + F.silu(z),
    "1 - silu(z)": lambda z: 1 - F.silu(z),
    "silu(z) squared": lambda z: F.silu(z).square(),
    "z times silu(z)": lambda z: z * F.silu(z),
    "sigmoid(silu(z))": lambda z: torch.sigmoid(F.silu(z)),
    "silu(silu(z))": lambda z: F.silu(F.silu(z)),
    "silu(sigmoid(z))": lambda z: F.silu(torch.sigmoid(z)),
    "tanh(silu(z))": lambda z: torch.tanh(F.silu(z)),
    "z plus sigmoid(z)": lambda z: z + torch.sigmoid(z),
    "z / (1 + exp(z))": lambda z: z / (1 + torch.exp(z)),
    "exp(z)": torch.exp,
    "log(sigmoid(z))": F.logsigmoid,
    "z / (1 + |z|)": F.softsign,
}
"""What people take for silu(z) = z * sigmoid(z)."""


def of_gate(unit: Unit) -> str:
    """What a unit does otherwise than down(silu(gate(x)) * up(x)), the simplest thing first."""

    def through(z: torch.Tensor, u: float, other: float = 0.7, gate: float = 1.0, up: float = 1.0) -> torch.Tensor:
        others = torch.full_like(z, other)
        return unit(torch.stack([z / gate, torch.full_like(z, u / up), others], dim=1), gate, up)

    usual = through(_Z, 1.0)
    if not _near(usual, through(_Z, 1.0, other=2.9)):
        return (
            "What comes through one unit depends on what the gate of another computes. Do units compete here, or does "
            "each number go through the function by itself?"
        )
    scaled = through(_Z, 1.0, gate=2.0), through(_Z, 1.0, up=2.0)
    for name, other in zip(("gate", "up"), scaled, strict=True):
        if not _near(usual, other):
            return (
                f"With twice the weight of {name} and half of x, {name} computes the same, but what comes out is "
                f"another number. Is something done to x before {name}, or is x used once more afterwards?"
            )
    nothing, twice, minus = through(_Z, 0.0), through(_Z, 2.0), through(_Z, -1.0)
    if _near(usual, twice):
        return "What comes out stays the same, whatever up computes. What does the gate let through?"
    if not _near(nothing, torch.zeros_like(nothing)):
        if _near(twice - usual, torch.ones_like(usual)):
            return (
                "Twice as much of up adds as much again, whatever gate computes: you add the two. What does a gate do?"
            )
        return "Where up computes 0, something comes out all the same. What is added to up, or to the product?"
    if not (_near(twice, 2 * usual) and _near(minus, -usual)):
        if _near(through(2 * _Z, 1.0), 2 * usual):
            return (
                "What comes out grows in proportion to what gate computes, and up goes through a function. Which of "
                "the two goes through silu?"
            )
        return (
            "Where up computes twice as much, what comes out isn't twice as much: up goes through a function as well. "
            "Which of the two goes through silu?"
        )
    return _of_curve(usual)


def _of_curve(gate: torch.Tensor) -> str:
    """What the gate multiplies up by, for each z that it computes."""
    silu = F.silu(_Z)
    if _near(gate, silu):
        return AS_ASKED
    if name := next((name for name, curve in CURVES.items() if _near(gate, curve(_Z))), ""):
        return f"Where gate computes z, you multiply by {name}. Which function does the docstring name?"
    factor = (gate[-1] / silu[-1]).item()
    if _near(gate, factor * silu):
        return f"Your gate is {factor:.3g} times silu(z). Which factor does the docstring name?"
    shift = (gate - silu)[0]
    if _near(gate, silu + shift):
        return f"To silu(z) you add {shift.item():.3g} before you multiply. What should come through where z is 0?"
    share = gate / _Z
    slopes = torch.logit(share.clamp(1e-6, 1 - 1e-6)) / _Z
    if bool(((share > 0) & (share < 1)).all()) and torch.allclose(slopes[2:6], slopes[2], rtol=1e-2):
        return f"Your gate is z * sigmoid({slopes[2].item():.4g} z). What stands inside the sigmoid in the docstring?"
    at = ", ".join(f"{one:.3g}" for one in (gate[1], gate[4], gate[6]))
    return (
        f"Where gate computes -2, 0.5 and 2, you multiply by {at}. Silu gives -0.238, 0.311 and 1.76: what is it made "
        "of?"
    )


def _near(one: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.allclose(one, other, rtol=1e-3, atol=1e-4)
