"""The course as a map: the lessons, and an arrow from each to those that build on it. Drawn from the lessons' heads.

On a wide page the map runs from left to right: a lesson stands one step behind the last of those it builds on. On a
narrow page it is a column, with the arrows beside it. Arrows that follow from others are left out: who reaches one
has done all that it builds on.
"""

from __future__ import annotations

import html
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cellcheck.learning.offers import Offer

LETTER = 0.58
"""How wide a letter is, in sizes of the font: a browser measures, a build can only guess."""
FONT = 13
LINE = FONT * 1.25
LONG, TALL, EDGE = 134, 90, 8
"""A box of the wide map: how wide, how tall at least, and what stays free above and below its words."""
GAP, SPACE, LANE = 27, 14, 4
"""Between two steps, between two boxes of a step, and what an arrow takes that passes a step by."""
ROW, PITCH, COLUMN, MARGIN = 40, 50, 262, 92
"""Of the narrow map: a box, from one to the next, how wide it is, and the room for arrows on its left."""


@dataclass(frozen=True)
class Box:
    """Where a lesson stands, or an arrow passes."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """How far down its middle is."""
        return self.y + self.height / 2


def steps(offers: Sequence[Offer]) -> dict[str, int]:
    """How many lessons lie before each, on the longest way there."""
    behind: dict[str, int] = {}
    for offer in offers:
        behind[offer.name] = max((behind[name] + 1 for name in offer.head.lessons if name in behind), default=0)
    return behind


def arrows(offers: Sequence[Offer]) -> list[tuple[str, str]]:
    """From what each lesson builds on to that lesson, without those that follow from others."""
    before: dict[str, set[str]] = {}
    for offer in offers:
        needed = offer.head.lessons
        before[offer.name] = set(needed).union(*(before.get(name, set()) for name in needed))
    return [
        (start, offer.name)
        for offer in offers
        for start in offer.head.lessons
        if not any(start in before.get(other, set()) for other in offer.head.lessons)
    ]


def drawn(offers: Sequence[Offer], address: Callable[[str], str]) -> str:
    """Both maps as SVG, of which a page shows one. Each box is a link, and says in words what its lesson builds on."""
    return _wide(offers, address) + _narrow(offers, address)


def _wide(offers: Sequence[Offer], address: Callable[[str], str]) -> str:
    placed, ways = _laid_out(offers)
    lines = ""
    for start, end in arrows(offers):
        passed = [placed[start], *ways[start, end], placed[end]]
        x, y = passed[0].x + LONG, passed[0].middle
        path = f"M{x:g} {y:g}"
        for box in passed[1:]:
            to = box.x - (2 if box is passed[-1] else 0)
            path += f"C{x + 18:g} {y:g} {to - 18:g} {box.middle:g} {to:g} {box.middle:g}"
            path += "" if box is passed[-1] else f"h{box.width:g}"
            x, y = box.x + box.width, box.middle
        lines += _arrow(path)
    nodes = "".join(_node(offer, placed[offer.name], address) for offer in offers)
    return _svg("wide", list(placed.values()), lines, nodes)


def _laid_out(offers: Sequence[Offer]) -> tuple[dict[str, Box], dict[tuple[str, str], list[Box]]]:
    """A box for each lesson; and for each arrow the boxes of nothing that it passes through."""
    behind = steps(offers)
    numbers = {offer.name: offer.number for offer in offers}
    layers: list[list[tuple[str, str]]] = [[] for _ in range(max(behind.values(), default=0) + 1)]
    for name, step in behind.items():
        layers[step].append(("", name))
    ways: dict[tuple[str, str], list[Box]] = {}
    for start, end in arrows(offers):
        ways[start, end] = []
        for step in range(behind[start] + 1, behind[end]):
            layers[step].append((start, end))
    tall = max(TALL, *(LINE * (len(_lines(offer, LONG - 14)) + 1.2) + 2 * EDGE for offer in offers))
    height = max(sum(LANE if start else tall for start, _ in layer) + SPACE * (len(layer) - 1) for layer in layers)
    placed: dict[str, Box] = {}

    def pull(item: tuple[str, str]) -> tuple[float, bool, int]:
        """Where the last of those stands that lead there, so that arrows rarely cross; then the course's order."""
        start, end = item
        leading = [placed[one] for one, to in ways if to == end and one in placed] if not start else [placed[start]]
        return (
            max((box.middle for box in leading if box.x == max(b.x for b in leading)), default=0),
            bool(start),
            numbers[end],
        )

    for step, layer in enumerate(layers):
        layer.sort(key=pull)
        sizes = [LANE if start else tall for start, _ in layer]
        y = (height - sum(sizes) - SPACE * (len(sizes) - 1)) / 2
        for (start, end), size in zip(layer, sizes, strict=True):
            box = Box(step * (LONG + GAP), y, LONG, size)
            if start:
                ways[start, end].append(box)
            else:
                placed[end] = box
            y += size + SPACE
    return placed, ways


def _narrow(offers: Sequence[Offer], address: Callable[[str], str]) -> str:
    rows = {offer.name: number for number, offer in enumerate(offers)}
    placed = {name: Box(MARGIN, number * PITCH, COLUMN, ROW) for name, number in rows.items()}
    farthest = max((rows[end] - rows[start] for start, end in arrows(offers)), default=1)
    lines = ""
    for start, end in arrows(offers):
        begin, to, span = placed[start], placed[end], rows[end] - rows[start]
        if span == 1:
            lines += _arrow(f"M{MARGIN + 24} {begin.y + ROW:g}V{to.y - 2:g}")
            continue
        out = MARGIN * (0.45 + 0.75 * span / farthest)
        lines += _arrow(
            f"M{begin.x:g} {begin.middle + 4:g}C{begin.x - out:g} {begin.middle + 4:g} "
            f"{to.x - out:g} {to.middle - 4:g} {to.x - 2:g} {to.middle - 4:g}"
        )
    nodes = "".join(_node(offer, placed[offer.name], address, beside=True) for offer in offers)
    return _svg("narrow", list(placed.values()), lines, nodes)


def _svg(name: str, boxes: Sequence[Box], lines: str, nodes: str) -> str:
    width = max(box.x + box.width for box in boxes) + 4
    height = max(box.y + box.height for box in boxes) + 4
    return (
        f'<svg class="map {name}" viewBox="-2 -2 {width:g} {height:g}" width="{width:g}" height="{height:g}" '
        f'role="group" aria-label="Map of the lessons"><defs><marker id="tip-{name}" viewBox="0 0 8 8" refX="7" '
        'refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 .5 8 4 0 7.5z"/></marker></defs>'
        f'<g aria-hidden="true">{lines.replace("#tip", f"#tip-{name}")}</g>{nodes}</svg>'
    )


def _arrow(path: str) -> str:
    return f'<path d="{path}" marker-end="url(#tip)"/>'


def _topic(offer: Offer) -> str:
    return offer.head.topic or offer.title


def _lines(offer: Offer, room: float) -> list[str]:
    """A lesson's topic, in lines that fit into that room."""
    return textwrap.wrap(_topic(offer), max(8, int(room / (FONT * LETTER))), break_long_words=False)


def _node(offer: Offer, box: Box, address: Callable[[str], str], beside: bool = False) -> str:
    """A lesson's box: its number above its topic, or beside it."""
    lines = _lines(offer, box.width - (48 if beside else 14))
    top = box.middle - LINE * (len(lines) + (0 if beside else 1.2)) / 2
    x, anchor = (box.x + 40, "start") if beside else (box.x + box.width / 2, "middle")
    if beside:
        number = f'<text class="number" x="{box.x + 22:g}" y="{box.middle + 5:g}">{offer.number}</text>'
    else:
        number = f'<text class="number" x="{x:g}" y="{top + LINE:g}">{offer.number}</text>'
        top += LINE * 1.2
    words = "".join(
        f'<text x="{x:g}" y="{top + LINE * (place + 0.8):g}" text-anchor="{anchor}">{html.escape(text)}</text>'
        for place, text in enumerate(lines)
    )
    builds = f", builds on {offer.builds_on}" if offer.head.lessons else ""
    label = html.escape(f"Lesson {offer.number}: {_topic(offer)}{builds}")
    return (
        f'<a href="{html.escape(address(offer.name))}" aria-label="{label}"><rect x="{box.x:g}" y="{box.y:g}" '
        f'width="{box.width:g}" height="{box.height:g}" rx="8"/>{number}{words}</a>'
    )
