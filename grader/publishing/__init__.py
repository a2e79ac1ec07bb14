"""From notebooks, docs and the library to the pages of a site: an extension of Sphinx, see `site/conf.py`.

Nothing is executed. A lesson's page is the learner's notebook, with the outputs that stand in the solution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """What Sphinx calls: before it reads anything, all pages that are made from something else are written."""
    from grader.publishing.directives import Attacks, CheckCard, Lessons, Writing
    from grader.publishing.mathematics import add_mathml
    from grader.publishing.pages import write_messages, write_pages
    from grader.publishing.reference import read_docstring
    from grader.publishing.translations import mark_language
    from grader.publishing.weights import Weights, fill_in

    app.connect("builder-inited", write_pages)
    app.connect("autodoc-process-docstring", read_docstring, priority=400)  # before napoleon, at 500
    app.add_directive("check-card", CheckCard)
    app.connect("doctree-read", mark_language)
    app.connect("build-finished", write_messages)
    app.connect("build-finished", fill_in)
    app.add_directive("attacks", Attacks)
    app.add_directive("lessons", Lessons)
    app.add_directive("weights", Weights)
    app.add_directive("writing", Writing)
    add_mathml(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
