"""Positions as clocks: the hands of an encoding at two positions, and the turn that leads from one to the other."""

import math
from typing import Any

from figures.writing import SAYS, framed, slider, table
from transformer_course.positions import shift_matrix, sinusoidal_positional_encoding

D_MODEL = 8
LENGTH = 41
FARTHEST = 8
POSITION, SHIFT = 10, 3


def numbers() -> dict[str, Any]:
    """The rows of the encoding, and for each shift the cosine and the sine of each pair's turn."""
    encoding = sinusoidal_positional_encoding(LENGTH, D_MODEL)
    shifts = {k: shift_matrix(k, D_MODEL) for k in range(-FARTHEST, FARTHEST + 1)}
    return {
        "encoding": [[round(entry, 4) for entry in row] for row in encoding.tolist()],
        "shifts": {
            k: [[round(float(matrix[i, j]), 4) for j in (i, i + 1)] for i in range(0, D_MODEL, 2)]
            for k, matrix in shifts.items()
        },
        "farthest": FARTHEST,
    }


def html() -> str:
    """Four clocks, and the same as a table."""
    known = numbers()
    here, there = known["encoding"][POSITION], known["encoding"][POSITION + SHIFT]
    rows = []
    for pair, (cosine, sine) in enumerate(known["shifts"][SHIFT]):
        turn = f"{cosine:.2f}, {sine:.2f} / {-sine:.2f}, {cosine:.2f}"
        at, to = (f"{row[2 * pair]:.2f}, {row[2 * pair + 1]:.2f}" for row in (here, there))
        rows.append((f"pair {pair}", at, turn, to))
    head = ("hand", "sine, cosine at p", "rows of the turn", "sine, cosine at p + k")
    clocks = "".join(_clock(pair, here, there) for pair in range(D_MODEL // 2))
    controls = slider("p", "position p", FARTHEST, LENGTH - 1 - FARTHEST, 1, POSITION) + slider(
        "k", "shift k", -FARTHEST, FARTHEST, 1, SHIFT
    )
    return framed(
        "A shift is a turn, wherever you are",
        "The solid hand shows position p, the dashed one p + k. Move p: both turn, and the angle between them stays. "
        "Move k: the angle changes, and so does the matrix.",
        f'<div class="controls needs-script">{controls}</div><div class="clocks" aria-hidden="true">{clocks}</div>'
        + table(head, rows, "Each pair at both positions, and the turn between them")
        + SAYS.format(f"p = {POSITION}, k = {SHIFT}: the turn is the same at every p."),
        known,
    )


def _clock(pair: int, here: list[float], there: list[float]) -> str:
    hands = "".join(
        f'<line class="{name}" x1="0" y1="0" x2="{38 * row[2 * pair]:.1f}" y2="{-38 * row[2 * pair + 1]:.1f}"/>'
        for name, row in (("there", there), ("here", here))
    )
    ticks = "".join(
        f'<line class="tick" x1="{42 * math.sin(a):.1f}" y1="{-42 * math.cos(a):.1f}" '
        f'x2="{46 * math.sin(a):.1f}" y2="{-46 * math.cos(a):.1f}"/>'
        for a in (math.pi * hour / 6 for hour in range(12))
    )
    return f'<svg viewBox="-50 -50 100 118"><circle r="46"/>{ticks}{hands}<text y="64">pair {pair}</text></svg>'
