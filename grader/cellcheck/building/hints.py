"""Hints unfold one at a time: the second stands inside the first, so that it is out of sight until that is open.

Below the last one there is a way on for those who are stuck: the line that imports the course's own answer.
"""

import re

GO_ON = "Use our version"

_HINT = rf"<details><summary>(?:Hint \d|{GO_ON})</summary>\n.*?^</details>\n*"
_RUN = re.compile(rf"(?:^{_HINT})+", re.MULTILINE | re.DOTALL)
_FOLD = f"""\
<details><summary>{GO_ON}</summary>

Put this line at the end of the exercise's cell, below your own, and run the cell:

```python
{{line}}
```

It earns no points, but everything below will work. To go on with your own, take the line out again, whenever you like.
</details>
"""


def with_a_way_on(text: str, line: str) -> str:
    """An exercise's prose with one more fold, below its hints or else at its end: the line that imports our answer."""
    fold = _FOLD.format(line=line)
    hints = _RUN.search(text)
    if hints is None:
        return f"{text.rstrip()}\n\n{fold}"
    return text[: hints.end()].rstrip("\n") + "\n" + fold + "\n" + text[hints.end() :].lstrip("\n")


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


def _nest(match: re.Match[str]) -> str:
    hints = [hint.strip() for hint in re.split(r"^</details>\n*", match[0], flags=re.MULTILINE) if hint.strip()]
    end = match[0][len(match[0].rstrip("\n")) :]
    more = match.string[match.end() :].strip()
    gap = "\n\n<br>" if more else ""  # a closed fold has no margin: the next line would stick to it
    return "\n\n".join(hints) + "\n</details>" * len(hints) + gap + end
