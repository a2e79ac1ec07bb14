"""The wild set: answers that people gave somewhere, right and wrong ones, retold as answers to this course's exercises.

Those to an exercise stand in a file of its own, `tests/wild/08/EncoderLayer.md`:

    # EncoderLayer

    ## always_pre_norm
    - wrong, tuned
    - source: harvardnlp/annotated-transformer#13
    - slip: Pre-norm order whatever norm_first says.
    - teaches: An option needs both of its branches.
    - named: pre_norm

    ```python
    class EncoderLayer(nn.Module):
        ...
    ```

The code is what a learner would have in the cell; what the notebook's first cell imports is there. `source` is a
public thread ("project#number"), or a project and what of it ("project, its attention"), or "variant of" something:
that has no public report, and is counted apart. "tuned" is the half of the set that checks and advice have been
improved with. The other half is "kept aside": whoever works on checks doesn't look at it. `named` lists the names of
the catalogue that tell the truth about this answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cellcheck.syllabus import lesson_names

FOLDER = Path(__file__).parent
TUNED, ASIDE = "tuned", "kept aside"
VARIANT = "variant of "

_ENTRY = re.compile(r"## (?P<name>\S+)\n(?P<lines>(?:- .+\n)+)\n```python\n(?P<code>(?:.*\n)*?)```\n")
_KIND = re.compile(rf"- (right|wrong), ({TUNED}|{ASIDE})")
_FIELD = re.compile(r"- (source|slip|teaches|named): (.+)")


@dataclass(frozen=True)
class WildAnswer:
    """One answer. See the module's docstring."""

    lesson: str
    symbol: str
    name: str
    right: bool
    half: str
    code: str
    source: str
    slip: str = ""
    teaches: str = ""
    named: tuple[str, ...] = ()

    @property
    def public(self) -> bool:
        """Whether there is a public report, or a public project that does it."""
        return not self.source.startswith(VARIANT)

    def __str__(self) -> str:
        return f"{self.lesson[:2]}/{self.symbol}.md, {self.name}"


@cache
def wild_answers() -> tuple[WildAnswer, ...]:
    """The whole set, lesson by lesson.

    Raises:
        ValueError: for what isn't in the form of the module's docstring; the message says where, and what to do.
    """
    return tuple(answer for path in sorted(FOLDER.glob("[0-9][0-9]/*.md")) for answer in _read(path))


def _read(path: Path) -> Iterator[WildAnswer]:
    where = f"{path.parent.name}/{path.name}"
    lesson = next((name for name in lesson_names() if name.startswith(f"{path.parent.name}_")), None)
    if lesson is None:
        raise ValueError(
            f"tests/wild/{where}: there is no lesson {path.parent.name}. Move the file to a lesson's folder."
        )
    title, _, text = path.read_text("utf-8").partition("\n\n")
    if title != f"# {path.stem}":
        raise ValueError(
            f"tests/wild/{where} begins with {title!r}. Let it begin with '# {path.stem}' and an empty line."
        )
    end = 0
    for entry in _ENTRY.finditer(text):
        if text[end : entry.start()].strip():
            break
        end = entry.end()
        first, *others = entry["lines"].splitlines()
        kind, fields = _KIND.fullmatch(first), [_FIELD.fullmatch(line) for line in others]
        if kind is None or None in fields:
            raise ValueError(f"tests/wild/{where}, {entry['name']}: write its lines as tests/wild/answers.py shows.")
        words: Mapping[str, str] = {field[1]: field[2] for field in fields if field}
        yield WildAnswer(
            lesson,
            path.stem,
            entry["name"],
            kind[1] == "right",
            kind[2],
            entry["code"],
            words.get("source", ""),
            words.get("slip", ""),
            words.get("teaches", ""),
            tuple(words["named"].split(", ")) if "named" in words else (),
        )
    if rest := text[end:].strip():
        raise ValueError(f"tests/wild/{where}: {rest.splitlines()[0]!r} begins no answer in the form of answers.py.")
