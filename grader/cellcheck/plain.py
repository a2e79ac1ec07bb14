"""Other people's text, made safe to show.

Names of people and files come from outside. An escape sequence in one moves a terminal's cursor, a newline adds a
line that nobody printed, a bidirectional override turns "fdp.ipynb" around, and a spreadsheet runs what begins with
"=". All that is printed passes through `visible` or `visible_lines`, and all that goes into a CSV file through `cell`.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Template

INSTEAD = "\N{REPLACEMENT CHARACTER}"
MAX_SHOWN = 300
_NOT_SHOWN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_JOINERS = frozenset("\u200c\u200d\ufe0e\ufe0f")
"""Persian, Hindi and many emoji need them."""
_BLANK = frozenset(
    chr(code)
    for codes in ((0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0), range(0x180B, 0x1810))
    for code in codes
) | frozenset(map(chr, (*range(0xFE00, 0xFE0E), *range(0xE0100, 0xE01F0))))
"""Letters and marks that draw nothing: Unicode's Default_Ignorable_Code_Point, as far as they are not controls."""
_FORMULA = ("=", "+", "-", "@", "\N{FULLWIDTH EQUALS SIGN}", "\N{FULLWIDTH PLUS SIGN}", "\N{FULLWIDTH COMMERCIAL AT}")


def draws_nothing(letter: str) -> bool:
    """Whether a character controls, reverses, joins or hides something instead of being seen."""
    return letter in _BLANK or letter in _JOINERS or unicodedata.category(letter) in _NOT_SHOWN


def hides(letter: str) -> bool:
    """The same without those that some scripts need: these stay where people read."""
    return draws_nothing(letter) and letter not in _JOINERS


class _Shown(dict[int, str]):
    """What each character is shown as, for `str.translate`."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        self[code] = INSTEAD if hides(letter) else letter
        return self[code]


_ONE_LINE = _Shown()
_LINES = _Shown({ord("\n"): "\n"})


def visible(text: str, limit: int = MAX_SHOWN) -> str:
    """A name on one line, with a mark for each character that can't be seen, and no longer than anybody reads.

    >>> visible("ada" + chr(10) + "bob") == "ada" + INSTEAD + "bob", visible("Zoë 李"), visible("x" * 20, limit=9)
    (True, 'Zoë 李', 'xxx...xxx')
    """
    if len(text) > limit:
        end = (limit - 3) // 2
        text = f"{text[: limit - 3 - end]}...{text[len(text) - end :]}"
    return text if text.isprintable() and text.isascii() else text.translate(_ONE_LINE)


def visible_lines(text: str) -> str:
    """What is about to be printed, in as many lines as it has."""
    return text if text.isprintable() and text.isascii() else text.translate(_LINES)


def cell(text: str) -> str:
    """The text of a cell in a CSV file: one line, and no formula.

    >>> cell("=1+1"), cell("Ada")
    ("'=1+1", 'Ada')
    """
    shown = visible(text, limit=1000)
    return f"'{shown}" if shown.lstrip().startswith(_FORMULA) else shown


def named(names: Sequence[str], limit: int = 50) -> str:
    """Names in a sentence: "ada, bob and 3 more"."""
    shown = ", ".join(map(visible, names[:limit]))
    return f"{shown} and {len(names) - limit:,} more" if len(names) > limit else shown


def counted(number: int, what: str) -> str:
    """A number of things: "1 learner", "1,200 learners"."""
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def harmless(text: str) -> str:
    """The text with everything but printable characters written out: what could steer a terminal, or turn a line."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


@cache
def template(package: str, finalize: Callable[[Any], Any] | None = None) -> Template:
    """The `page.html` of a package. All that is filled in is escaped, and what is missing is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(package, "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=finalize,
    )
    return environment.get_template("page.html")
