"""How figures are written: a title, tables that say all of it without a script, and the numbers for the script."""

import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def framed(title: str, words: str, body: str, numbers: Any) -> str:
    """A figure: what it is, what one can do, its body, and its numbers."""
    text = json.dumps(numbers, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return (
        f'<figcaption><strong>{escape(title)}</strong><span class="needs-script">{escape(words)}</span></figcaption>\n'
        f'{body}\n<script type="application/json">{text}</script>'
    )


def table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str) -> str:
    """A table whose first column names its rows. The cells may be HTML."""
    heads = "".join(f'<th scope="col">{cell}</th>' if cell else "<td></td>" for cell in head)
    lines = "".join(
        f'<tr><th scope="row">{name}</th>{"".join(f"<td>{cell}</td>" for cell in cells)}</tr>' for name, *cells in rows
    )
    return (
        f'<div class="scrolls" tabindex="0" role="group" aria-label="{escape(caption)}"><table>'
        f'<caption class="for-readers">{escape(caption)}</caption><thead><tr>{heads}</tr></thead>'
        f"<tbody>{lines}</tbody></table></div>"
    )


def slider(name: str, words: str, low: float, high: float, step: float, at: float) -> str:
    """A control for a number."""
    return (
        f'<label>{escape(words)} <input type="range" name="{name}" min="{low}" max="{high}" step="{step}" '
        f'value="{at}"><output>{at}</output></label>'
    )


SAYS = '<p class="says" aria-live="polite">{}</p>'
