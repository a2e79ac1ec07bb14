"""A dollar sign starts a formula, in texts and in tables alike: a stray one makes the rest unreadable."""

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from cellcheck.repository import Repository

REPOSITORY = Repository.find(Path(__file__).parent)
every_lesson = pytest.mark.parametrize("lesson", REPOSITORY.names())

CODE = re.compile(r"```.*?```|(`+)(?!`).*?(?<!`)\1(?!`)", re.DOTALL)
FORMULA = re.compile(r"\$\$(?P<shown>.+?)\$\$|(?<!\w)\$(?P<inline>(?!\s)[^$\n]+?(?<!\s))\$", re.DOTALL)
# A formula has signs of its own, or at least no words.
SIGNS = re.compile(r"[\\^_]")
WORD = re.compile(r"[A-Za-z]{2,}")
# MathJax leaves these elements alone.
LEFT_ALONE = re.compile(r"<(pre|code|script|style)\b.*?</\1>", re.DOTALL)


def stray(markdown: str) -> list[str]:
    """What is left around each dollar sign of a Markdown cell that belongs to no formula."""
    text = CODE.sub("", markdown).replace(r"\$", "")

    def real(sign: re.Match[str]) -> str:
        formula = sign["shown"] or sign["inline"]
        is_one = SIGNS.search(formula) or not WORD.search(formula)
        return sign[0].replace("$", "") if is_one else sign[0]

    text = FORMULA.sub(real, text)
    return [text[max(0, dollar.start() - 20) : dollar.end() + 20] for dollar in re.finditer(r"\$", text)]


def typeset(cell: NotebookNode) -> Iterator[str]:
    """The parts of a cell's outputs in which a browser looks for formulas."""
    for output in cell.get("outputs", []):
        for kind, text in output.get("data", {}).items():
            if kind in ("text/html", "text/markdown", "text/latex"):
                yield LEFT_ALONE.sub("", "".join(text))


@every_lesson
def test_texts_have_no_dollar_sign_outside_of_formulas(lesson: str) -> None:
    for notebook in (REPOSITORY.solution(lesson), REPOSITORY.notebook(lesson)):
        cells = nbformat.read(notebook, as_version=4).cells
        assert [part for cell in cells if cell.cell_type == "markdown" for part in stray(cell.source)] == []


@every_lesson
def test_outputs_have_no_dollar_sign(lesson: str) -> None:
    cells = nbformat.read(REPOSITORY.solution(lesson), as_version=4).cells
    assert [text for cell in cells if cell.cell_type == "code" for text in typeset(cell) if "$" in text] == []


@pytest.mark.parametrize(
    "fine",
    [
        "no dollars",
        "`$` is the end",
        "```\n$ ls\n```",
        r"It costs \$5.",
        "$x$",
        "$d_{model}$ and $W^T$",
        r"$$\text{softmax}(x) = \frac{e^x}{s}$$",
        r"the mean $\frac{1}{n} \sum_i x_i$, and $O(n^2)$",
        "``a ` and a $``",
    ],
)
def test_formulas_and_code_are_allowed(fine: str) -> None:
    assert stray(fine) == []


@pytest.mark.parametrize(
    "bad", ["The end mark $ stops it.", "It costs $5 or $6.", "7 ($) or 8 ($)", "$$", "$x", "12$, 13$"]
)
def test_stray_ones_are_found(bad: str) -> None:
    assert stray(bad)


def test_tables_are_looked_at_and_code_in_them_is_not() -> None:
    def output(html: str) -> NotebookNode:
        data = {"text/html": html, "text/plain": "$ is no trouble here"}
        return nbformat.v4.new_code_cell(outputs=[nbformat.v4.new_output("display_data", data)])

    assert "$" in "".join(typeset(output("<table><td>12$</td></table>")))
    assert "$" not in "".join(typeset(output("<table><td><code>12$</code></td></table>")))
