"""What the waves of a table, a matrix or a rotation do, in words: how far each pair of columns turns, if it does."""

from __future__ import annotations

import math
from typing import Any

import torch

from cellcheck.authoring import Case, Observation
from cellcheck.authoring.spec import USUAL
from transformer_course.lessons.watching import AS_ASKED

TURN = "turn"
CALLED = {TURN: "how far the pairs of columns turn"}
_NEAR = 5e-3
"""Angles of dozens of radians, made in float32, are known no better than that."""


def in_words(observation: Observation, words: str, case: Case) -> Observation:
    """In the usual cases: what is to be said, beside what is there."""
    return {TURN: words, **observation} if case.tags >= USUAL else observation


def of_table(output: Any, length: int, d_model: int, base: float = 10000.0) -> str:
    """Of a table with a row for each position."""
    if not _is_like(output, (length, d_model)) or length < 2:
        return AS_ASKED
    pairs = output.double().unflatten(1, (-1, 2))  # (length, d_model / 2, 2)
    for i, (sines, cosines) in enumerate(pairs.permute(1, 2, 0)):
        radii = sines**2 + cosines**2
        columns = f"columns {2 * i} and {2 * i + 1}"
        if (radii - 1).abs().max() > _NEAR:
            row = int((radii - 1).abs().argmax())
            return (
                f"The squares of a sine and a cosine of one angle sum to 1. In row {row}, those in {columns} sum to "
                f"{float(radii[row]):.3g}. What stands in these two columns?"
            )
        steps = _angles(sines[1:] * cosines[:-1] - cosines[1:] * sines[:-1], (pairs[1:, i] * pairs[:-1, i]).sum(-1))
        wanted = base ** (-2 * i / d_model)
        if not _same_angle(steps, steps[0]):
            return AS_ASKED
        if not _same_angle(steps, wanted):
            return (
                f"From one row to the next, the wave in {columns} turns by {float(steps[0]):.3g} radians, not by "
                f"{wanted:.3g}. How is the frequency of a pair made from its number?"
            )
    return AS_ASKED


def of_matrix(output: Any, offset: int, d_model: int, base: float = 10000.0) -> str:
    """Of a matrix that moves a row of the table."""
    if not _is_like(output, (d_model, d_model)):
        return AS_ASKED
    matrix = output.double()
    outside = matrix.clone()
    for i in range(d_model // 2):
        outside[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = 0
    if outside.abs().max() > _NEAR:
        row, column = divmod(int(outside.abs().argmax()), d_model)
        return (
            f"Your entry [{row}, {column}] isn't 0, so number {row} of the result depends on number {column}, which "
            "belongs to another pair. Which two columns have the same frequency?"
        )
    for i in range(d_model // 2):
        (cos, sin), (minus_sin, other_cos) = matrix[2 * i : 2 * i + 2, 2 * i : 2 * i + 2].tolist()
        is_rotation = (
            abs(cos - other_cos) < _NEAR and abs(sin + minus_sin) < _NEAR and abs(math.hypot(cos, sin) - 1) < _NEAR
        )
        if not is_rotation:
            return AS_ASKED
        angle, wanted = torch.tensor([math.atan2(sin, cos)]).double(), offset * base ** (-2 * i / d_model)
        if not _same_angle(angle, wanted):
            return (
                f"Your block for columns {2 * i} and {2 * i + 1} turns by {float(angle):.3g} radians, and for this "
                f"offset it should turn by {math.remainder(wanted, 2 * math.pi):.3g}. How is its angle made from the "
                "offset and the number of the pair?"
            )
    return AS_ASKED


def of_rotation(output: Any, x: torch.Tensor, positions: torch.Tensor, base: float = 10000.0) -> str:
    """Of rotated vectors that stand at positions 0, 1, 2, and so on."""
    if not _is_like(output, tuple(x.shape)) or len(positions) < 2:
        return AS_ASKED
    before, after = (t.detach().double().unflatten(-1, (-1, 2)) for t in (x, output))
    lengths = before.square().sum(-1)
    if ((after.square().sum(-1) - lengths).abs() > _NEAR * (1 + lengths)).any():
        return AS_ASKED  # no rotation at all
    clear = (lengths > 0.04).flatten(end_dim=-3) if lengths.dim() > 2 else (lengths > 0.04).unsqueeze(0)
    turned = _angles(before[..., 0] * after[..., 1] - before[..., 1] * after[..., 0], (before * after).sum(-1)).reshape(
        clear.shape
    )  # (vectors at a position, length, d / 2)
    wanted = positions.double()[:, None] * base ** (-torch.arange(0, x.shape[-1], 2).double() / x.shape[-1])
    if not _same_angle(turned[:, 0][clear[:, 0]], 0.0):
        return AS_ASKED
    for i in range(turned.shape[-1]):
        here = turned[:, 1, i][clear[:, 1, i]]
        if not len(here) or not _same_angle(here, here[0]):
            return AS_ASKED
        if not _same_angle(here, float(wanted[1, i])):
            if _same_angle(here, -float(wanted[1, i])):
                return AS_ASKED  # its direction has words of its own
            return (
                f"At position 1, columns {2 * i} and {2 * i + 1} of your vectors are rotated by {float(here[0]):.3g} "
                f"radians, and {float(wanted[1, i]):.3g} would be right. How is the angle made from the position and "
                "the number of the pair?"
            )
    return AS_ASKED


def _is_like(output: Any, shape: tuple[int, ...]) -> bool:
    return (
        isinstance(output, torch.Tensor)
        and tuple(output.shape) == shape
        and output.is_floating_point()
        and bool(output.isfinite().all())
    )


def _angles(sines: torch.Tensor, cosines: torch.Tensor) -> torch.Tensor:
    return torch.atan2(sines, cosines)


def _same_angle(angles: torch.Tensor, wanted: float | torch.Tensor) -> bool:
    """Up to whole turns, which nobody can see."""
    return bool((torch.sin((angles - wanted) / 2).abs() < _NEAR).all())
