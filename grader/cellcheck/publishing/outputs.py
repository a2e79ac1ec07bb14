"""A lesson's outputs as a page shows them: nobody has guessed there, and a table's corner is no heading."""

import re

import lxml.html
from nbformat import NotebookNode

_NOTHING = r"None(?: ?%| tokens| times| points| of \w+)?"
_GUESS = re.compile(
    rf"[Yy]our guess(?:es)?(?: for \w+)?(?:: | is ){_NOTHING}(?:,? (?:and )?{_NOTHING})*(?:[,;]? +|[,;]?(?=\n|\Z))"
)
_HEAD = "your guess"
_RIGHT = "right?"


def without_guess(text: str) -> str:
    """What a cell printed, without the guess that nobody has made.

    >>> without_guess("your guess: None, it is: 0.95\\n")
    'It is: 0.95\\n'
    >>> without_guess("your guesses: None and None\\nit is 1.00 and 0.12\\n")
    'it is 1.00 and 0.12\\n'
    """

    def rest_of(line: str) -> str | None:
        rest = _GUESS.sub("", line)
        if rest == line:
            return line
        return (rest[0].upper() + rest[1:] if line.startswith(("Y", "y")) else rest) if rest.strip() else None

    end = "\n" if text.endswith("\n") else ""
    lines = [rest for line in text.removesuffix("\n").split("\n") if (rest := rest_of(line)) is not None]
    return "\n".join(lines) + end if lines else ""


def shown_html(text: str) -> str:
    """A table without the columns for guesses, and without headings that say nothing."""
    if "<table" not in text:
        return text
    fragments = lxml.html.fragments_fromstring(text)
    for table in [t for part in fragments if not isinstance(part, str) for t in part.iter("table")]:
        _without_guesses(table)
        for cell in [cell for cell in table.iter("th") if not cell.text_content().strip()]:
            cell.tag = "td"
            cell.attrib.pop("scope", None)
    return "".join(
        part if isinstance(part, str) else lxml.html.tostring(part, encoding="unicode") for part in fragments
    )


def _without_guesses(table: lxml.html.HtmlElement) -> None:
    rows = [list(row) for row in table.iter("tr")]
    if not rows or _HEAD not in [cell.text_content().strip() for cell in rows[0]]:
        return
    heads = [cell.text_content().strip() for cell in rows[0]]
    for row in rows:
        for head, cell in zip(heads, row, strict=True):
            if head in (_HEAD, _RIGHT):
                cell.getparent().remove(cell)


def shown(output: NotebookNode) -> NotebookNode | None:
    """An output without guesses; None where nothing is left of it."""
    if output.output_type != "stream":
        return output
    text = without_guess("".join(output.text))
    return NotebookNode({**output, "text": text}) if text else None
