"""An exercise that a page checks by itself: a text to write, and below it the real check, which runs in the browser.

It is one element with everything it needs in its `data-live`, a style sheet and two scripts, so any page can have it,
the front page as well as one of its own. Python comes when a visitor begins to write or presses the button.
"""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from cellcheck.browser.interpreter import FOLDER, Interpreter
from cellcheck.browser.site import SETTING, InBrowser
from cellcheck.browser.wheels import Wheel
from cellcheck.checking.typed import check_typed
from cellcheck.syllabus import find_lesson

SCRIPTS = Path(__file__).parent / "static"
STYLE, SCRIPT, WORKER = "live.css", "live.js", "live.worker.js"
PACKAGES = ("numpy",)
"""What a check needs of Pyodide's packages."""
CORE = ("pyodide.js", "pyodide.asm.js", "pyodide.asm.wasm", "python_stdlib.zip")


class LiveExercise(SphinxDirective):
    """`{live-exercise} LESSON SYMBOL`: the exercise, with the text below it to begin with, which has a slip.

    The text is checked when the site is built: where no script runs, its card is there all the same.
    """

    required_arguments = 2
    has_content = True

    def run(self) -> list[nodes.Node]:
        """The element; where the site has no Python, the text and its card."""
        lesson, symbol = self.arguments
        text = "\n".join(self.content) + "\n"
        verdict = check_typed(lesson, symbol, text)
        if verdict["right"] or not verdict["diagnosis"]:
            raise self.error(f"The text to begin with should make one of the mistakes of {symbol}: {verdict['plain']}")
        here = InBrowser(Path(self.env.srcdir), self.config[SETTING])
        wheels = here.wheels[:2]  # the grader's and the course's
        if not wheels:
            shown = f"<pre>{html.escape(text)}</pre>"
            note = "This site was built without Python for the browser, so you can't change this answer here."
            return [_raw(f'<div class="live-exercise">{shown}<p class="live-note">{note}</p>{verdict["html"]}</div>')]
        up = "../" * self.env.docname.count("/")
        syllabus, name = find_lesson(lesson)
        setup = {
            "base": f"{up}{FOLDER}/",
            "worker": f"{up}_static/{WORKER}",
            "lesson": name,
            "symbol": symbol,
            "version": syllabus.version,
            "packages": PACKAGES,
            "wheels": [wheel.name for wheel in wheels],
            "size": _size(here.interpreter, wheels),
            "rows": len(self.content) + 1,
        }
        return [_raw(_element(setup, symbol, text, verdict["html"], up))]


def _element(setup: dict[str, Any], symbol: str, text: str, card: str, up: str) -> str:
    field = f"live-{symbol}"
    return (
        f'<link rel="stylesheet" href="{up}_static/{STYLE}">'
        f'<div class="live-exercise" data-live="{html.escape(json.dumps(setup))}">'
        f'<label for="{field}">Your answer to <code>{symbol}</code></label>'
        f'<textarea id="{field}" rows="{setup["rows"]}" readonly spellcheck="false" autocapitalize="off" '
        f'autocomplete="off" autocorrect="off" aria-describedby="{field}-keys">{html.escape(text)}</textarea>'
        f'<div class="live-tools" hidden><button type="button">Check it</button>'
        '<button type="button">Start over</button><span role="status"></span></div>'
        f'<p class="live-note" id="{field}-keys">Ctrl+Enter checks it too. Python runs in this page, on your machine, '
        "and your text stays in this browser.</p>"
        '<div class="live-card" role="region" aria-label="What the check says" aria-live="polite"></div>'
        f"<noscript><p>Without JavaScript, this is what the check says to the answer above:</p>{card}</noscript>"
        f'</div><script src="{up}_static/{SCRIPT}" defer></script>'
    )


def _size(interpreter: Interpreter, wheels: list[Wheel]) -> str:
    """What is loaded, in words."""
    files = [*CORE, *(interpreter.known["packages"][name]["file_name"] for name in PACKAGES)]
    size = sum(len(wheel.data) for wheel in wheels) + sum((interpreter.folder / name).stat().st_size for name in files)
    return f"{size / 1e6:.0f} MB"


def _raw(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")
