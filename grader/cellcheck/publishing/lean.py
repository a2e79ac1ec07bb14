"""What the theme brings along and no page needs: it is left out of what is published.

A script of 1.5 MB that draws icons, their fonts, and source maps. The site's own style sheet draws the dozen icons.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_UNUSED = ("scripts/fontawesome.js*", "vendor/fontawesome", "locales")
_ICON_FONT = re.compile(r"@font-face\{[^{}]*Font ?Awesome[^{}]*\}")
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
_MAP = re.compile(r"\n?(?:/\*|//)# sourceMappingURL=\S+(?: ?\*/)?")


def make_lean(app: Sphinx, failed: Exception | None) -> None:
    """Takes it out of the site that has just been built."""
    if app.builder.name != "html" or failed:
        return
    static = Path(app.outdir, "_static")
    for pattern in (*_UNUSED, "**/*.map"):
        for path in list(static.glob(pattern)):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in [*static.rglob("*.css"), *static.rglob("*.js")]:
        text = path.read_text("utf-8")
        lean = _MAP.sub("", text)
        lean = without_icons(lean) if path.parent == static / "styles" else lean  # the theme's own
        if lean != text:
            path.write_text(lean, "utf-8")


def without_icons(style: str) -> str:
    """A style sheet without the icon font and the rules for its icons.

    >>> without_icons('.fa-bars:before{content:"x"}.bars{color:red}')
    '.bars{color:red}'
    """

    def kept(rule: re.Match[str]) -> str:
        selectors = re.sub(r"/\*.*?\*/", "", rule[1], flags=re.DOTALL).split(",")
        return "" if all(re.match(r"\s*\.fa[srb]?(?![\w])", selector) for selector in selectors) else rule[0]

    return _RULE.sub(kept, _ICON_FONT.sub("", style))
