"""Figures to touch: a course has them in a module of its own, which its `conf.py` names as `figures`.

The module's FIGURES say where each stands, and make its HTML from what the course computes; the script of a figure lies
in `_static/figures/`, under its name. Without JavaScript the HTML says the same in words and tables.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

if TYPE_CHECKING:
    from sphinx.application import Sphinx


@dataclass(frozen=True)
class Figure:
    """A figure, and its place: above an exercise's task, or below its check."""

    name: str
    lesson: str
    symbol: str
    html: Callable[[], str]
    above: bool = False


def figures(module: str) -> tuple[Figure, ...]:
    """What a course's module offers; nothing where there is none."""
    return tuple(importlib.import_module(module).FIGURES) if module else ()


def standing(candidates: Iterable[Figure], lesson: str, symbol: str, above: bool) -> list[str]:
    """The figures at a place, as Markdown."""
    return [
        f"```{{touch}} {figure.name}\n```"
        for figure in candidates
        if (figure.lesson, figure.symbol, figure.above) == (lesson, symbol, above)
    ]


class Touch(SphinxDirective):
    """`{touch} NAME`: a figure, with its script."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """What the course computes for it, now."""
        (name,) = self.arguments
        (figure,) = (figure for figure in figures(self.config.figures) if figure.name == name)
        script = f"{'../' * self.env.docname.count('/')}_static/figures/{name}.js"
        html = f'<figure class="touch" id="touch-{name}">\n{figure.html()}\n</figure>\n'
        return [nodes.raw("", f'{html}<script defer src="{script}"></script>', format="html")]


def add_figures(app: Sphinx) -> None:
    """Makes `{touch}`, and the setting, possible."""
    app.add_config_value("figures", "", "env", str)
    app.add_directive("touch", Touch)
