"""Texts of a learner's that a page may show: what would run, load or send anything is taken out of force.

Markdown may hold HTML, and nbgrader's pages show it as it is, in the instructor's own session. Here each text is
rendered as those pages render it, and what comes out is looked at: where it holds nothing but what a text needs, it
stays as it was written. Else its HTML, and its ways to link out of a formula, become words; and if that is not
enough, the whole text is shown as it was typed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any

from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

_HEADINGS = "h1 h2 h3 h4 h5 h6"
_LISTS = "ul ol li dl dt dd table thead tbody tfoot tr th td caption"
_INLINE = "a b i u s em strong code kbd samp var sub sup small mark del ins abbr q cite span br img"
_BLOCKS = "p div pre hr blockquote center details summary section"
_TAGS = frozenset(f"{_HEADINGS} {_LISTS} {_INLINE} {_BLOCKS} input".split())
_SIZES = "align width height colspan rowspan start"
_ATTRIBUTES = frozenset(f"href src alt title id class style {_SIZES} open type checked disabled".split())
# Pygments' short classes, and those that the renderer gives; no script of a page goes by them.
_CLASS = re.compile(r"[a-z][a-z0-9]{0,3}|anchor-link|highlight|task-list-item(-checkbox)?|language-[\w+#-]*")
_STYLE = re.compile(r"text-align:\s*(left|right|center);?")
_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[\w+/=\s]*", re.IGNORECASE)
_BESIDE = re.compile(r"[\w-][\w./-]*")  # a file that was handed in too
_ADDRESS = re.compile(r"(https?://|mailto:)[^\s\\]*", re.IGNORECASE)
_TYPESETTING = re.compile(r"\\(href|url|require|style|class|cssId|data|csname|unicode|mmlToken|htmlData)")
_OPENING = re.compile(r"<(?=[A-Za-z/!?])")
_REMOTE = re.compile(r"!(?=\[[^\]]{0,200}\]\((?!attachment:))")
_SUSPICIOUS = re.compile(r"[<:&\\\[]")


def cleaned(job: bytes) -> list[str]:
    """The texts that may be shown, of a JSON list of {"source", "pictures"}."""
    return [clean(text["source"], text["pictures"]) for text in json.loads(job)]


def clean(source: str, pictures: Mapping[str, Mapping[str, str]]) -> str:
    """The text itself where it is harmless; else one that is, and reads as much like it as can be."""
    typeset = _TYPESETTING.sub(r"\\backslash \1", source)
    linked = _REMOTE.sub("", typeset)
    for attempt in (source, typeset, linked, _OPENING.sub("&lt;", linked)):
        if is_harmless(attempt, pictures):
            return attempt
    return as_typed(source)


def as_typed(source: str) -> str:
    """The text as a block of code: nothing in it means anything."""
    longest = max((len(run) for run in re.findall(r"`+", source)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{source}\n{fence}"


def is_harmless(source: str, pictures: Mapping[str, Mapping[str, str]]) -> bool:
    """Whether a page that shows this text only shows it."""
    if not _SUSPICIOUS.search(source):
        return True
    attachments: Any = {name: dict(bundle) for name, bundle in pictures.items()}
    try:
        rendered = MarkdownWithMath(renderer=IPythonRenderer(escape=False, attachments=attachments)).render(source)
    except Exception:  # it would stop the page as well: an attachment that is not there, a structure that is too deep
        return False
    look = _Look()
    look.feed(rendered)
    look.close()
    # What a browser may take for a tag, and this parser does not, is not looked at: then there is one too many.
    return (
        look.harmless and look.tags == len(_OPENING.findall(rendered)) and not _TYPESETTING.search("".join(look.text))
    )


class _Look(HTMLParser):
    """Looks at every tag. What is not known to be harmless is not."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.harmless = True
        self.tags = 0
        self.text: list[str] = []  # what is typeset, if it is a formula; not code
        self._code = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """One of the tags that are counted."""
        self.tags += 1
        self._code += tag in ("pre", "code")
        known = tag in _TAGS and (tag != "input" or dict(attrs).get("type") == "checkbox")
        if not known or not all(_fine(tag, name, value or "") for name, value in attrs):
            self.harmless = False

    def handle_endtag(self, tag: str) -> None:
        """Another one."""
        self.tags += 1
        self._code -= tag in ("pre", "code")
        self.harmless &= tag in _TAGS

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """`<br />`: one tag, not two."""
        self.handle_starttag(tag, attrs)
        self._code -= tag in ("pre", "code")

    def handle_data(self, data: str) -> None:
        """Text between tags."""
        if self._code <= 0:
            self.text.append(data)


def _fine(tag: str, name: str, value: str) -> bool:
    if name not in _ATTRIBUTES:
        return False
    match name:
        case "class":
            return all(_CLASS.fullmatch(each) for each in value.split())
        case "style":
            return _STYLE.fullmatch(value) is not None
        case "src":
            beside = _BESIDE.fullmatch(value) is not None and ".." not in value
            return tag == "img" and (beside or _PICTURE.fullmatch(value) is not None)
        case "href":
            beside = _BESIDE.fullmatch(value) is not None and ".." not in value
            return beside or value.startswith("#") or _ADDRESS.fullmatch(value) is not None
    return True
