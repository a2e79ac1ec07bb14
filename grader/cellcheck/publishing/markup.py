"""What pages say in HTML beyond what Sphinx and MyST-NB write: the size of pictures, the names of folds, corners."""

from __future__ import annotations

import struct
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.writers.html5 import HTML5Translator

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def add_markup(app: Sphinx) -> None:
    """Teaches the writer."""
    app.add_node(nodes.image, override=True, html=(_image, HTML5Translator.depart_image))
    app.add_node(nodes.entry, override=True, html=(_entry, HTML5Translator.depart_entry))
    app.connect("html-page-context", _title)
    app.add_node(HideCodeCellNode, override=True, html=(_fold, _end_of_fold))


def _title(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None) -> None:
    """A part of a lesson says which one: in the window's title, and where another lesson leads to it."""
    lesson = page.rpartition("/")[0]
    if lesson in app.env.titles:
        context["title"] = f"{context['title']} · {app.env.titles[lesson].astext()}"
    _, *around = app.builder.relations.get(page, (None, None, None))  # type: ignore[attr-defined]
    for side, other in zip(("prev", "next"), around, strict=True):
        above = (other or "").rpartition("/")[0]
        if context.get(side) and above in app.env.titles and above not in (page, lesson):
            context[f"{side}_title"] = f"{app.env.titles[above].astext()}: {context[side]['title']}"


def _image(writer: HTML5Translator, node: nodes.image) -> None:
    """A picture is fetched when it comes near, and the page keeps a place of its size."""
    size = picture_size(Path(writer.builder.srcdir, node["uri"]))
    HTML5Translator.visit_image(writer, node)
    if size is not None:
        attributes = 'width="{}" height="{}"'.format(*size)
        writer.body[-1] = writer.body[-1].replace("<img ", f"<img {attributes} ", 1)


def picture_size(path: Path) -> tuple[int, int] | None:
    """Width and height of a PNG or a GIF."""
    head = path.read_bytes()[:24] if path.is_file() else b""
    if head.startswith(b"\x89PNG"):
        width, height = struct.unpack(">II", head[16:24])
    elif head.startswith(b"GIF8"):
        width, height = struct.unpack("<HH", head[6:10])
    else:
        return None
    return width, height


def _entry(writer: HTML5Translator, node: nodes.entry) -> None:
    """An empty corner of a table heads nothing. In a table of `cards`, each cell knows its column's head."""
    HTML5Translator.visit_entry(writer, node)
    row, table = node.parent, node.parent.parent.parent.parent
    if "cards" in table["classes"] and isinstance(row.parent, nodes.tbody):
        head = next(table.findall(nodes.thead))[0][row.index(node)].astext()
        if head:
            writer.body[-1] = writer.body[-1].replace("<td", f'<td data-head="{escape(head)}"', 1)
    if not node.astext().strip():
        writer.body[-1] = writer.body[-1].replace("<th", "<td", 1)
        writer.context[-1] = writer.context[-1].replace("</th", "</td", 1)


def _fold(writer: HTML5Translator, node: HideCodeCellNode) -> None:
    """MyST-NB's fold, which a screen reader knows as "Toggle hidden content", whatever it holds."""
    classes = " ".join(["hide", *node["classes"]])
    writer.body.append(f'<details class="{classes}"><summary>{escape(node["prompt_show"])}</summary>\n')


def _end_of_fold(writer: HTML5Translator, node: HideCodeCellNode) -> None:
    writer.body.append("</details>\n")
