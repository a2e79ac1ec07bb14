"""Formulas become MathML while the site is built: a page needs no script for them, and screen readers read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from docutils import nodes
from latex2mathml.converter import convert

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator


def add_mathml(app: Sphinx) -> None:
    """Makes `html_math_renderer = "mathml"` possible."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _block(writer: HTML5Translator, node: nodes.math_block) -> None:
    # A wide formula is scrolled by itself, and with the keyboard too.
    formula = convert(node.astext(), display="block")
    writer.body.append(f'<div class="formula" tabindex="0" role="group" aria-label="Formula">{formula}</div>\n')
    raise nodes.SkipNode
