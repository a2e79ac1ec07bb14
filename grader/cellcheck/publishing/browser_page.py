"""The lessons that run in the browser, where to open them, and the way to take one's work away."""

from __future__ import annotations

import html
import json
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from cellcheck.browser.interpreter import FOLDER as PYTHON
from cellcheck.browser.lab import FOLDER, address, storage
from cellcheck.browser.lessons import file_name
from cellcheck.browser.parts import BrowserPart
from cellcheck.browser.site import SETTING, InBrowser
from cellcheck.learning.offers import offers

WITHOUT = (
    "This site was built without Python for the browser, so no lesson opens here. Colab needs nothing installed either."
)


class BrowserLessons(SphinxDirective):
    """`{browser-lessons}`: what opens in the browser, and *Download my work*."""

    def run(self) -> list[nodes.Node]:
        """A list of links; where the site is built without Python, the sentence that says so."""
        here = InBrowser(Path(self.env.srcdir), self.config[SETTING])
        lessons = here.lessons
        if not lessons:
            return [nodes.paragraph("", WITHOUT)]
        repository = here.repository
        up = "../" * self.env.docname.count("/")
        items = "".join(
            f'<li><a data-lesson="{offer.name}" href="{up}{address(repository, offer.name)}">Lesson {offer.number} · '
            f"{html.escape(offer.title)}</a>{_only_in_part(lessons[offer.name])}"
            f'<span data-progress="{offer.name}" data-of="{len(offer.exercises)}"></span></li>'
            for offer in offers()
            if offer.name in lessons
        )
        loaded = {"base": f"{up}{PYTHON}/", "files": here.files}
        work = {"storage": storage(repository.title), "files": [file_name(repository, name) for name in lessons]}
        page = (
            f'<div class="run-here" data-files="{_data(loaded)}"><ul>{items}</ul>'
            '<p><progress aria-label="What is loaded" hidden></progress> <span role="status"></span></p></div>'
            f'<p><a href="{up}{FOLDER}/tree/index.html">All files in this browser</a></p>'
            f'<p><button type="button" class="my-work" data-work="{_data(work)}" hidden>Download my work</button> '
            f'<span role="status"></span></p><link rel="stylesheet" href="{up}_static/live.css">'
            f'<script src="{up}_static/open.js" defer></script><script src="{up}_static/work.js" defer></script>'
        )
        return [nodes.raw("", page, format="html")]


def _only_in_part(part: BrowserPart | None) -> str:
    return "" if part is None else f", in part: {len(part.symbols)} of {part.of} exercises. "


def _data(content: object) -> str:
    return html.escape(json.dumps(content))
