"""The course's site: `make site` builds it."""

from __future__ import annotations

import os
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from pygments.lexers.special import TextLexer

from transformer_course.lessons import TITLE

if TYPE_CHECKING:
    from sphinx.application import Sphinx

sys.path.insert(0, str(Path(__file__).parent))  # for the figures to touch
_project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8"))["project"]

project = TITLE
version = release = _project["version"]
author = "the authors"
copyright = "the authors; texts and pictures under CC BY 4.0, code under BSD-3-Clause"
language = "en"

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.githubpages", "sphinx.ext.napoleon", "cellcheck.publishing"]
exclude_patterns = ["_build", "locale", "notebooks", "_templates", "figures"]
figures = "figures"
templates_path = ["_templates"]
nitpicky = True
# PyTorch, NumPy and Python itself are described elsewhere, and asking those sites would need the network.
nitpick_ignore_regex = [(r"py:.*", r"(?!transformer_course\.).*")]

# Python for the browser, where it has been fetched (environment/browser.py). Without it there is no lab/.
_pyodide = Path(__file__).parents[1] / ".venv" / "pyodide"
cellcheck_interpreter = str(_pyodide) if _pyodide.is_dir() else ""

# The outputs stand in the notebooks.
nb_execution_mode = "off"
nb_merge_streams = True
nb_mime_priority_overrides = [("gettext", "text/html", 0)]  # MyST-NB knows no outputs for catalogues
myst_enable_extensions = ["attrs_block", "attrs_inline", "colon_fence", "deflist", "dollarmath", "substitution"]
_address = _project["urls"]["Repository"]
myst_substitutions = {"clone": f"```sh\ngit clone {_address}\ncd {_address.rpartition('/')[2]}\nmake lab\n```"}
myst_heading_anchors = 3
smartquotes = False  # the pages say what the notebooks say, letter by letter
default_role = "code"
autodoc_typehints = "description"
autodoc_inherit_docstrings = False
autodoc_member_order = "bysource"
html_math_renderer = "mathml"

locale_dirs = ["locale"]
gettext_compact = False

html_theme = "sphinx_book_theme"
html_title = project
html_context = {"default_mode": "auto"}  # without it, the theme complains in the console of everyone who comes first
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/favicon.svg"
html_additional_pages = {"404": "404.html"}
# Where the site will stand. With it come link previews, a sitemap, and a page for addresses that lead nowhere.
html_baseurl = os.environ.get("SITE_ADDRESS", "")
html_js_files = [("site.js", {"defer": "defer"})]
html_sidebars = {"**": ["site-logo.html", "icon-links.html", "site-search.html", "sbt-sidebar-nav.html"]}
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "repository_url": _project["urls"]["Repository"],
    "navbar_persistent": [],  # the search field stands in the side bar
    "disable_search": True,  # the theme's window; there is a page
    "collapse_navbar": True,  # each lesson has its parts below it
    "pygments_light_style": "github-light-high-contrast",
    "pygments_dark_style": "github-dark",
    "use_repository_button": True,
    "use_download_button": False,
    "use_fullscreen_button": False,
    "show_toc_level": 2,
    "home_page_in_toc": True,
}


def setup(app: Sphinx) -> None:
    """What only this site needs."""
    app.add_lexer("csv", TextLexer)  # Pygments has none
