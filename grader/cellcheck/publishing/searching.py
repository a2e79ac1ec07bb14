"""The site's search: passages to be found, each with its own place, in an index that the search page alone loads.

Sphinx's own search knows pages; a lesson is too long for that, and its index is loaded by every page.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx import addnodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

INDEX = "passages.js"
_UNSEEN = (nodes.raw, nodes.literal_block, nodes.target, nodes.comment, nodes.math_block, addnodes.toctree)
_PROMISE = re.compile(r'"""(.+?)(?:\n\s*\n|""")', re.DOTALL)
_EXERCISE = "exercise-"
_ASIDE = {"badges", "chips", "crumbs", "facts", "from-here"}
"""What stands beside the text of a lesson."""
_PAGES = ("lessons/index", "lessons/exercises")
"""What repeats the headings and first sentences of other pages is found there."""


@dataclass(frozen=True)
class Passage:
    """Something to be found."""

    kind: str
    """"exercise", "glossary", "lesson", "library" or "page"."""
    title: str
    page: str
    """What its page is called; for a part of a lesson, with the lesson's name."""
    address: str
    """Seen from the site's folder."""
    text: str


def passages(doctree: nodes.document, docname: str) -> Iterator[Passage]:
    """What is to be found on a page: its sections, and each entry of a glossary or a reference."""
    titles = [node.astext() for node in doctree.findall(nodes.title)]
    page = titles[0] if titles else docname
    kind = docname.split("/")[0] if docname.startswith(("lessons/", "api/")) else "page"
    kind = {"lessons": "lesson", "api": "library"}.get(kind, kind)

    def passage(kind: str, title: str, ids: list[str], text: str) -> Passage:
        return Passage(kind, title, page, f"{docname}.html" + (f"#{ids[0]}" if ids else ""), " ".join(text.split()))

    for section in doctree.findall(nodes.section):
        heading = section.next_node(nodes.title)
        ids = sorted(section["ids"], key=lambda each: not each.startswith(_EXERCISE))
        asks = kind == "lesson" and bool(ids) and ids[0].startswith(_EXERCISE)
        text = " ".join(_said(section))
        if asks:
            blocks = (_PROMISE.search(block.astext()) for block in section.findall(nodes.literal_block))
            promise = next((match[1] for match in blocks if match), "")
            text = f"{promise} {text}"
        if heading is not None:
            first = section.parent is doctree
            yield passage("exercise" if asks else kind, heading.astext(), [] if first else ids, text)
    for item in doctree.findall(nodes.definition_list_item):
        term = item.next_node(nodes.term)
        if docname.endswith("/glossary") and term is not None:
            meaning = " ".join(each.astext() for each in item.findall(nodes.definition))
            named = [node["ids"] for node in (term, *term.findall(nodes.inline), *_above(item)) if node["ids"]]
            yield passage("glossary", term.astext(), named[0] if named else [], meaning)
    for described in doctree.findall(addnodes.desc):
        signature = described.next_node(addnodes.desc_signature)
        if signature is not None and signature["ids"]:
            text = " ".join(each.astext() for each in described.findall(nodes.paragraph))
            yield passage("library", signature["ids"][0].rpartition(".")[2], signature["ids"], text)


def _said(section: nodes.section) -> Iterator[str]:
    """The prose right below a heading. What is folded away stays away: a search gives no answers."""
    folds = 0
    for node in section.children:
        if isinstance(node, nodes.raw):
            folds += node.astext().count("<details") - node.astext().count("</details")
        if not folds and not isinstance(node, (nodes.title, nodes.section, nodes.definition_list, *_UNSEEN)):
            yield from _text(node)


def _text(node: nodes.Node) -> Iterator[str]:
    if isinstance(node, nodes.Text):
        yield str(node)
    elif isinstance(node, (*_UNSEEN, nodes.image, nodes.table)) or _is_an_output(node) or _ASIDE & set(node["classes"]):
        return
    elif isinstance(node, nodes.TextElement):
        yield node.astext()
    else:
        for child in node.children:
            yield from _text(child)


def _is_an_output(node: nodes.Node) -> bool:
    return isinstance(node, nodes.container) and str(node.get("nb_element", "")).startswith("cell_code")


def _above(node: nodes.Node) -> Iterator[Any]:
    while node.parent is not None:
        node = node.parent
        yield node


def _keep(app: Sphinx, doctree: nodes.document) -> None:
    env, docname = app.env, app.env.docname
    hidden = {"no-search", "nosearch"} & set(env.metadata[docname])
    _kept(env)[docname] = [] if hidden or docname in _PAGES else [asdict(p) for p in passages(doctree, docname)]


def _kept(env: BuildEnvironment) -> dict[str, list[dict[str, str]]]:
    """The environment keeps them from build to build, as pages that have not changed are not read again."""
    by_page: dict[str, list[dict[str, str]]] = vars(env).setdefault("passages", {})
    return by_page


def _write(app: Sphinx, failed: Exception | None) -> None:
    if app.builder.name != "html" or failed:
        return
    by_page = _kept(app.env)
    titles = {name: title.astext() for name, title in app.env.titles.items()}
    index = []
    for name in sorted(by_page):
        lesson = name.rpartition("/")[0]
        for each in by_page[name]:
            page = f"{titles[lesson]}: {each['page']}" if lesson in titles else each["page"]
            index.append([each["kind"], each["title"], page, each["address"], each["text"]])
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    Path(app.outdir, "_static", INDEX).write_text(f"window.passages = {text};\n", "utf-8")


def add_search(app: Sphinx) -> None:
    """Collects the passages while pages are read, and writes them beside the pages."""

    def without_its_own(app: Sphinx) -> None:
        vars(app.builder)["search"] = False

    def purge(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
        _kept(env).pop(docname, None)

    def merge(app: Sphinx, env: BuildEnvironment, docnames: set[str], other: BuildEnvironment) -> None:
        _kept(env).update({page: entries for page, entries in _kept(other).items() if page in docnames})

    app.connect("builder-inited", without_its_own)
    app.connect("doctree-read", _keep)
    app.connect("env-purge-doc", purge)
    app.connect("env-merge-info", merge)
    app.connect("build-finished", _write)
