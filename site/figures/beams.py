"""Beam search step by step, on the tree of lesson 7: what the course's own search keeps at each step."""

import math
from typing import Any

import torch

from figures.writing import SAYS, framed, table
from transformer_course.beam import beam_search
from transformer_course.lessons.lesson_07.experiments.tree import (
    TREE,
    TREE_END,
    TREE_START,
    tree_model,
    tree_text,
)

WIDTHS = (1, 2, 3)
SHOWN = 2
LONGEST = 4
COLUMNS = (40, 190, 340, 490)
"""Where the nodes of each length stand."""


def searched(width: int) -> tuple[list[list[str]], str]:
    """The prefixes that the course's search goes on with at each step, and the answer that it finds."""
    steps: list[list[str]] = []

    def watched(source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        steps.append([tree_text(row[1:]) for row in target_input])
        logits: torch.Tensor = tree_model(source, target_input)
        return logits

    ids = beam_search(watched, torch.tensor([[3]]), TREE_START, TREE_END, LONGEST, width)
    return steps, tree_text(ids[0])


def numbers() -> dict[str, Any]:
    """The tree with the probability of each prefix, and what each width does with it."""
    chances = _chances()
    widths = {}
    for width in WIDTHS:
        watched, answer = searched(width)
        # Once nothing better is left, a search goes on with what can't be.
        alive = [possible for texts in watched if (possible := [text for text in texts if text in chances])]
        steps = []
        for before, after in zip(alive, [*alive[1:], []], strict=True):
            made = {text: chance for text, chance in chances.items() if text and text[:-1] in before}
            kept = sorted(made, key=made.__getitem__, reverse=True)[:width]
            ended = [text for text in kept if text.endswith(".")]
            # What the search goes on with is what it kept and what hasn't ended: it says so itself.
            assert {text for text in kept if text not in ended} == set(after), (width, kept, after)
            steps.append({"made": list(made), "kept": kept, "ended": ended})
        widths[width] = {"steps": steps, "answer": answer}
    return {"chances": {text: round(chance, 4) for text, chance in chances.items()}, "widths": widths}


def _chances(prefix: str = "", chance: float = 1.0) -> dict[str, float]:
    found = {prefix: chance}
    if not prefix.endswith("."):
        for symbol, share in TREE.get(prefix, {".": 1.0}).items():
            found |= _chances(prefix + symbol, chance * share)
    return found


def html() -> str:
    """The tree, and the steps of a search with two beams."""
    known = numbers()
    rows = []
    for number, step in enumerate(known["widths"][SHOWN]["steps"], start=1):
        made = ", ".join(f"<code>{text}</code> {known['chances'][text]:.2f}" for text in step["made"])
        kept = ", ".join(
            f"<code>{text}</code>" + (" (ended)" if text in step["ended"] else "") for text in step["kept"]
        )
        rows.append((f"step {number}", made, kept))
    head = ("", "extensions", f"the {SHOWN} best are kept")
    answer = known["widths"][SHOWN]["answer"]
    return framed(
        "Beam search, step by step",
        "Choose how many beams, and go step by step. What is pale has been dropped.",
        '<div class="controls"></div>'
        + _tree(known["chances"])
        + table(head, rows, f"The steps of a search with {SHOWN} beams")
        + SAYS.format(f"{SHOWN} beams find <code>{answer}</code>, with {known['chances'][answer]:.2f}."),
        known,
    )


def _tree(chances: dict[str, float]) -> str:
    answers = sorted(text for text in chances if text.endswith("."))
    places = {text: 24 + 40 * row for row, text in enumerate(answers)}

    def height(text: str) -> float:
        below = [places[answer] for answer in answers if answer.startswith(text)]
        return sum(below) / len(below)

    lines, nodes = "", ""
    for text, chance in chances.items():
        x, y = COLUMNS[len(text)], height(text)
        if text:
            share = chance / chances[text[:-1]]
            parent = COLUMNS[len(text) - 1], height(text[:-1])
            middle = (parent[0] + x) / 2, (parent[1] + y) / 2 - 5
            lines += (
                f'<g data-text="{text}"><line x1="{parent[0] + 22}" y1="{parent[1]:.0f}" x2="{x - 26}" y2="{y:.0f}"/>'
                f'<text class="share" x="{middle[0]:.0f}" y="{middle[1]:.0f}">{share:.1f}</text></g>'
            )
        nodes += (
            f'<g data-text="{text}"><rect x="{x - 26}" y="{y - 15:.0f}" width="52" height="30" rx="7"/>'
            f'<text x="{x}" y="{y - 1:.0f}">{text or "start"}</text>'
            f'<text class="chance" x="{x}" y="{y + 11:.0f}">{chance:.2f}</text></g>'
        )
    bottom = 24 + 40 * len(answers)
    assert math.isclose(sum(chances[answer] for answer in answers), 1)
    return (
        '<div class="scrolls" tabindex="0" role="group" aria-label="The tree of answers">'
        f'<svg class="tree" viewBox="0 0 530 {bottom}" role="img" '
        f'aria-label="A tree of answers; the table below says the same">{lines}{nodes}</svg></div>'
    )
