"""Texts of a learner's that a page may show: nothing in them runs, loads or sends anything.

Markdown may hold HTML, and nbgrader's pages show it as it is, in the instructor's own session. So each text is rendered
as those pages render it, and `nh3` reads the result as a browser does and writes it down again, from a list of what a
text needs. Words that no HTML, no link and no picture is among stay Markdown, if they render to just what `nh3` writes.
Every other text becomes what was written: one block of HTML that no reader of Markdown or HTML takes for anything else.
"""

import json
import re
from collections.abc import Mapping
from html import unescape
from typing import Any

import nh3
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from pygments.token import STANDARD_TYPES

Pictures = Mapping[str, Mapping[str, str]]
"""A cell's attachments: by name, for each kind of file its content in base64."""

_HEADINGS = "h1 h2 h3 h4 h5 h6"
_LISTS = "ul ol li dl dt dd table thead tbody tfoot tr th td caption"
_INLINE = "a b i u s em strong code kbd samp var sub sup small mark del ins abbr q cite span br img input"
_BLOCKS = "p div pre hr blockquote center details summary section"
_TAGS = frozenset(f"{_HEADINGS} {_LISTS} {_INLINE} {_BLOCKS}".split())
_ALIGNED = {tag: {"align"} for tag in f"p table tr {_HEADINGS}".split()}
_CELL = {"align", "style", "colspan", "rowspan", "width"}
_ATTRIBUTES = _ALIGNED | {
    "a": {"href", "title"},
    "abbr": {"title"},
    "details": {"open"},
    "div": {"align", "class"},
    "img": {"src", "alt", "title", "width", "height", "align"},
    "input": {"type", "disabled", "checked"},
    "ol": {"start"},
    "span": {"class"},
    "td": _CELL,
    "th": _CELL,
}
# What colours code, and nothing that a script or a style sheet of a page goes by.
_CLASSES = {"div": {"highlight"}, "span": {name for name in STANDARD_TYPES.values() if name}}
_SIZE = re.compile(r"\d{1,4}%?")
_SIZES = frozenset({"width", "height", "colspan", "rowspan", "start"})
_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,[\w+/=\s]*", re.IGNORECASE)
_BESIDE = re.compile(r"(?!.*\.\.)[\w-][\w./-]*")  # a file that was handed in too
_ADDRESS = re.compile(r"(https?://|mailto:)[^\s\\]*", re.IGNORECASE)
_HERE = re.compile(r"#[\w-]*")

# What MathJax and KaTeX know that links, loads, styles, or names parts of a page.
_ACTIVE = (
    "bbox|class|csname|cssId|data|enclose|fcolorbox|href|html(Class|Data|Id|Style)|includegraphics|mmlToken|require|"
    "setOptions|style|unicode|url"
)
_TYPESETTING = re.compile(rf"\\(?=({_ACTIVE})(?![A-Za-z]))")
_BACKSLASH = "\N{SET MINUS}"  # looks like one, in a text and in a formula

# As CommonMark has it: a tag, a comment, an address in angle brackets; a link, a picture, a definition of one.
_MARKUP = re.compile(r"<([/!?]|[A-Za-z][A-Za-z0-9+.-]*([\s/>:@]|\Z))|\][(\[:]")
_OPENING = re.compile(r"<(?=/?([A-Za-z][^\s/>]*))")
_PART = re.compile(r'<(?P<end>/?)(?P<tag>\w+)(?:[^>"]|"[^"]*")*>|[^<]+')
_LINES_END = re.compile(r"[\r\v\f\x1c-\x1f\x85\u2028\u2029]")  # for one reader or another
_BLANK = re.compile(r"\n(?=[^\S\n]*\n)")


def cleaned(job: bytes) -> list[str]:
    """The texts that may be shown, of a JSON list of {"source", "pictures"}."""
    return [clean(text["source"], text["pictures"]) for text in json.loads(job)]


def clean(source: str, pictures: Pictures) -> str:
    """The text itself where it is plain Markdown; else HTML with its pictures in it, which needs no attachment."""
    if not _MARKUP.search(source) and not _TYPESETTING.search(unescape(source)) and _renders_to_itself(source):
        return source
    try:
        html = serialised(_rendered(source, _Renderer(pictures)))
    except Exception:  # it would stop the page as well: a structure that is too deep
        return as_typed(source)
    return _block(html) if serialised(html) == html else as_typed(source)


def serialised(html: str) -> str:
    """The HTML as a browser understands it, of what a text needs, written down so that it is understood only so."""
    safe = nh3.clean(
        html,
        tags=set(_TAGS),
        attributes=_ATTRIBUTES,
        attribute_filter=_attribute,
        set_tag_attribute_values={"input": {"type": "checkbox", "disabled": ""}},
        filter_style_properties={"text-align"},
        url_schemes={"http", "https", "mailto", "data"},  # which of them where: see `_attribute`
        clean_content_tags=set(),  # what a script would have done can be read
        link_rel=None,
    )
    return _without_active_formulas(_LINES_END.sub("\n", safe))


def as_typed(source: str) -> str:
    """The text as a block of code: nothing in it means anything."""
    longest = max((len(run) for run in re.findall(r"`+", source)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{source}\n{fence}"


class _Renderer(IPythonRenderer):  # type: ignore[misc]
    """Renders as nbgrader's pages do. What is going to be taken away becomes words, or a link, so that it is seen."""

    def __init__(self, pictures: Pictures) -> None:
        attachments: Any = {name: dict(bundle) for name, bundle in pictures.items()}
        super().__init__(escape=False, exclude_anchor_links=True, attachments=attachments)

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """A picture that is here; one from elsewhere is only linked to, one that is missing only named."""
        if url.startswith("attachment:") and url.removeprefix("attachment:") not in self.attachments:
            return text
        if _ADDRESS.fullmatch(url):
            return str(self.link(text, url, title))
        return str(super().image(text, url, title))

    def block_mermaidjs(self, code: str) -> str:
        """A diagram is shown as it was typed: a page would draw it with a script."""
        return str(self.block_code(code, "text"))

    def block_html(self, html: str) -> str:
        """HTML that stands by itself."""
        return str(super().block_html(_with_words(html)))

    def inline_html(self, html: str) -> str:
        """HTML in a line."""
        return str(super().inline_html(_with_words(html)))


def _with_words(html: str) -> str:
    """Tags that no text needs are shown as they were typed."""
    return _OPENING.sub(lambda tag: "<" if tag[1].lower() in _TAGS else "&lt;", html)


def _rendered(source: str, renderer: IPythonRenderer) -> str:
    return str(MarkdownWithMath(renderer=renderer).render(source))


def _renders_to_itself(source: str) -> bool:
    """Whether a page shows these words as `serialised` would write them."""
    try:
        html = _rendered(source, IPythonRenderer(escape=False))
    except Exception:
        return False
    for renderers, nh3s in (("&quot;", '"'), ("&#39;", "'"), (" />", ">"), ("\xa0", "&nbsp;")):
        html = html.replace(renderers, nh3s)
    return serialised(html) == html


def _attribute(tag: str, name: str, value: str) -> str | None:
    """The value of an attribute of the list, or None for one that no text needs."""
    fine = True
    if name == "class":
        fine = value in _CLASSES[tag]
    elif name in _SIZES:
        fine = _SIZE.fullmatch(value) is not None
    elif name == "src":
        fine = bool(_PICTURE.fullmatch(value) or _BESIDE.fullmatch(value))
    elif name == "href":
        fine = bool(_ADDRESS.fullmatch(value) or _BESIDE.fullmatch(value) or _HERE.fullmatch(value))
    return value if fine else None


def _without_active_formulas(html: str) -> str:
    """Takes the backslash from what does more than typeset. Code is no formula."""
    parts: list[str] = []
    code = 0
    for part in _PART.finditer(html):
        if part["tag"] in ("pre", "code"):
            code += -1 if part["end"] else 1
        parts.append(part[0] if part["tag"] or code else _TYPESETTING.sub(_BACKSLASH, part[0]))
    return "".join(parts)


def _block(html: str) -> str:
    """One block for every reader of Markdown: it begins with a tag that opens one, and no blank line ends it."""
    return f"<div>{_BLANK.sub('&#10;', html.strip())}</div>"
