"""Hints unfold one at a time: the second stands inside the first, so that it is out of sight until that is open."""

from __future__ import annotations

import re

_HINT = r"<details><summary>Hint \d</summary>\n.*?^</details>\n*"
_RUN = re.compile(rf"(?:^{_HINT})+", re.MULTILINE | re.DOTALL)


def one_at_a_time(text: str) -> str:
    """The prose with hints that stand one below the other put one inside the other. It needs no script.

    >>> print(one_at_a_time('''<details><summary>Hint 1</summary>
    ...
    ... Which axis?
    ... </details>
    ... <details><summary>Hint 2</summary>
    ...
    ... The last.
    ... </details>'''))
    <details><summary>Hint 1</summary>
    <BLANKLINE>
    Which axis?
    <BLANKLINE>
    <details><summary>Hint 2</summary>
    <BLANKLINE>
    The last.
    </details>
    </details>
    """
    return _RUN.sub(_nest, text)


def _nest(found: re.Match[str]) -> str:
    hints = [hint.strip() for hint in re.split(r"^</details>\n*", found[0], flags=re.MULTILINE) if hint.strip()]
    end = found[0][len(found[0].rstrip("\n")) :]
    return "\n\n".join(hints) + "\n</details>" * len(hints) + end
