"""Hints unfold one at a time: the second stands inside the first, so that it is out of sight until that is open.

Below the last one there is a way on for those who are stuck: the line that imports the course's own answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable

GO_ON = "Go on with ours"

_HINT = rf"<details><summary>(?:Hint \d|{GO_ON})</summary>\n.*?^</details>\n*"
_RUN = re.compile(rf"(?:^{_HINT})+", re.MULTILINE | re.DOTALL)
_EXERCISE = re.compile(r"^### Exercise: `(\w+)`", re.MULTILINE)
_FOLD = f"""\
<details><summary>{GO_ON}</summary>

One exercise should not keep you from the rest of the lesson. Put this line into the exercise's cell instead of yours:

```python
{{line}}
```

It earns no points, but everything below will work. You can write your own version later, as often as you like.
</details>
"""


def with_a_way_on(text: str, line_for: Callable[[str], str]) -> str:
    """The prose with one more fold for each exercise that it announces: below its hints, else below its prose.

    `line_for` gives the line that imports the course's own answer to an exercise.
    """
    parts = _EXERCISE.split(text)  # what comes before, then each symbol and what is said of it
    made = parts[0]
    for symbol, said in zip(parts[1::2], parts[2::2], strict=True):
        fold = _FOLD.format(line=line_for(symbol))
        hints = _RUN.search(said)
        if hints:
            said = said[: hints.end()].rstrip("\n") + "\n" + fold + "\n" + said[hints.end() :].lstrip("\n")
        else:
            said = f"{said.rstrip()}\n\n{fold}"
        made += f"### Exercise: `{symbol}`{said}"
    return made if len(parts) > 1 else text


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
    more = found.string[found.end() :].strip()
    gap = "\n\n<br>" if more else ""  # a closed fold has no margin: the next line would stick to it
    return "\n\n".join(hints) + "\n</details>" * len(hints) + gap + end
