"""From notebooks, docs and the library to the pages of a site: an extension of Sphinx, see `site/conf.py`.

Nothing is executed. A lesson's page is the learner's notebook, with the outputs that stand in the solution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """What Sphinx calls: before it reads anything, all pages that are made from something else are written."""
    from cellcheck.publishing.directives import Attacks
    from cellcheck.publishing.figures import add_figures
    from cellcheck.publishing.front import Built, CourseMap, LessonCards, Slips, count
    from cellcheck.publishing.glossary import link_words
    from cellcheck.publishing.gone import remove_gone
    from cellcheck.publishing.heads import describe, write_sitemap
    from cellcheck.publishing.lean import make_lean
    from cellcheck.publishing.markup import add_markup
    from cellcheck.publishing.mathematics import add_mathml
    from cellcheck.publishing.mistakes import Mistakes
    from cellcheck.publishing.pages import write_messages, write_pages
    from cellcheck.publishing.reference import read_docstring
    from cellcheck.publishing.searching import add_search
    from cellcheck.publishing.translations import mark_language
    from cellcheck.publishing.weights import Weights, fill_in

    app.connect("config-inited", count)
    app.setup_extension("cellcheck.publishing.in_browser")
    app.connect("builder-inited", write_pages)
    app.connect("autodoc-process-docstring", read_docstring, priority=400)  # before napoleon, at 500
    app.connect("doctree-read", mark_language)
    app.connect("doctree-read", link_words)
    app.connect("build-finished", write_messages)
    app.connect("build-finished", remove_gone)
    app.connect("build-finished", make_lean)
    app.connect("build-finished", fill_in, priority=900)  # when all that is published is there
    app.connect("html-page-context", describe)
    app.connect("build-finished", write_sitemap)
    app.add_directive("attacks", Attacks)
    app.add_directive("built", Built)
    app.add_directive("course-map", CourseMap)
    app.add_directive("lesson-cards", LessonCards)
    app.add_directive("mistakes", Mistakes)
    app.add_directive("slips", Slips)
    app.add_directive("weights", Weights)
    add_figures(app)
    add_markup(app)
    add_mathml(app)
    add_search(app)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
