"""What runs in a visitor's browser: an extension of Sphinx by itself, which `cellcheck.publishing` brings along."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cellcheck.browser.site import SETTING, add_python
from cellcheck.publishing.browser_page import BrowserLessons
from cellcheck.publishing.live import SCRIPTS, LiveExercise

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """What Sphinx calls. The setting names the folder with Pyodide; where it is empty, pages say that nothing runs."""
    app.add_config_value(SETTING, "", "env")
    app.connect("builder-inited", _add_scripts)
    app.connect("build-finished", add_python)
    app.add_directive("browser-lessons", BrowserLessons)
    app.add_directive("live-exercise", LiveExercise)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _add_scripts(app: Sphinx) -> None:
    app.config.html_static_path.append(str(SCRIPTS))
