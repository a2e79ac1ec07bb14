"""What a page says about itself to those who don't read it: search engines, link previews, tabs."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes

from cellcheck.learning.offers import Offer, offers

if TYPE_CHECKING:
    from sphinx.application import Sphinx

PREVIEW = "_static/preview.png"
"""The picture that a link to any page shows, where the site's address is known."""
LOST = "404"
"""The page for addresses that lead nowhere."""
LENGTH = 200
"""A description has at most so many letters."""
_UNSEEN = {"no-search", "orphan"}
"""Pages that nobody should be led to."""


def describe(app: Sphinx, pagename: str, _template: str, context: dict[str, Any], doctree: Any) -> str | None:
    """Adds a description, and what a link's preview shows; gives the page the template that it asks for.

    A preview's picture needs a full address, so there is one only where the site knows its own: `html_baseurl`.
    """
    metadata = app.env.metadata.get(pagename, {})
    tags = str(context.get("metatags", ""))
    match = re.search(r'<meta content="([^"]*)" name="description"', tags)
    description = html.unescape(match[1]) if match else _description(pagename, doctree)
    context["title"] = title = _title(pagename, str(context.get("title", "")))
    title = re.sub(r"<[^>]*>", "", title) or app.config.project
    named = {"description": "" if match else description}
    if metadata.get("unfinished"):
        named["robots"] = "noindex"
    properties = {
        "og:type": "website",
        "og:site_name": app.config.project,
        "og:title": html.unescape(title),
        "og:description": description,
    }
    if app.config.html_baseurl:
        base = app.config.html_baseurl.rstrip("/")
        properties |= {"og:url": f"{base}/{pagename}.html", "og:image": f"{base}/{PREVIEW}"}
        named["twitter:card"] = "summary_large_image"
    tags += "".join(f'<meta name="{name}" content="{html.escape(text)}">\n' for name, text in named.items() if text)
    tags += "".join(
        f'<meta property="{key}" content="{html.escape(text)}">\n' for key, text in properties.items() if text
    )
    context["metatags"] = tags
    # A server shows this page below any address, so its links begin with the site's own.
    context["root"] = f"{app.config.html_baseurl.rstrip('/')}/" if pagename == LOST and app.config.html_baseurl else ""
    return str(metadata["template"]) if "template" in metadata else None


def _lessons(pagename: str) -> list[Offer]:
    """All lessons, for a page among theirs. Finding them takes milliseconds, and no other page needs them."""
    return offers() if pagename.startswith("lessons/") else []


def _title(pagename: str, title: str) -> str:
    """What a tab says. A page below a lesson's own says which lesson that is: many have a bug clinic."""
    for offer in _lessons(pagename):
        if pagename.startswith(f"lessons/{offer.name}/"):
            return f"{title} · {html.escape(offer.heading)}"
    return title


def _description(pagename: str, doctree: Any) -> str:
    """What a lesson teaches; of any other page its first paragraph."""
    for offer in _lessons(pagename):
        if pagename == f"lessons/{offer.name}":
            return shortened(f"{offer.heading}. You will be able to {'; '.join(offer.gives)}.")
    if doctree is not None:
        for paragraph in doctree.findall(nodes.paragraph):
            text = " ".join(paragraph.astext().split())
            if len(text) > 40:
                return shortened(text)
    return ""


def shortened(text: str) -> str:
    """A text that is not too long, cut between words.

    >>> shortened("word " * 50)[-10:]
    'word word…'
    """
    text = text.strip()
    return text if len(text) <= LENGTH else text[: LENGTH - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def write_sitemap(app: Sphinx, failed: Exception | None) -> None:
    """Lists the pages for search engines, where the site's address is known."""
    if failed or app.builder.name != "html" or not app.config.html_baseurl:
        return
    base = app.config.html_baseurl.rstrip("/")
    seen = [name for name in sorted(app.env.found_docs) if not _UNSEEN & set(app.env.metadata.get(name, {}))]
    lines = "".join(f"<url><loc>{base}/{'' if name == 'index' else f'{name}.html'}</loc></url>\n" for name in seen)
    schema = "http://www.sitemaps.org/schemas/sitemap/0.9"
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{schema}">\n{lines}</urlset>\n'
    Path(app.outdir, "sitemap.xml").write_text(text, "utf-8")
