"""Pictures in prose: drawn by the lesson's `pictures`, attached to the cell as PNG."""

from __future__ import annotations

import base64
import io
import re

import matplotlib.pyplot as plt
import numpy as np
from nbformat import NotebookNode
from PIL import Image

from grader.errors import GraderError
from grader.syllabus import find_lesson

# The text alternative may hold pairs of brackets, as in "layers[0]".
_MARK = re.compile(r"!\[(?P<alt>(?:[^\[\]]|\[[^\[\]]*\])*)\]\(picture:(?P<name>\w+)\)")


def attach_pictures(text: str, lesson: str) -> tuple[str, dict[str, dict[str, str]]]:
    """Draws each `![text alternative](picture:name)`; returns the text with links to the attachments, and them.

    Raises:
        GraderError: when a picture has no text alternative, or nothing draws it.
    """
    attachments: dict[str, dict[str, str]] = {}

    def link(mark: re.Match[str]) -> str:
        name = mark["name"]
        if len(mark["alt"]) < 20:
            raise GraderError(f"The picture {name!r} needs a text alternative that says what it shows.")
        attachments[f"{name}.png"] = {"image/png": base64.b64encode(draw(name, lesson)).decode()}
        return f"![{mark['alt']}](attachment:{name}.png)"

    made = _MARK.sub(link, text)
    if "](picture:" in made:
        raise GraderError(f"A picture's text alternative has a bracket too many: {made.split('](picture:')[1][:40]!r}.")
    return made, attachments


def draw(name: str, lesson: str) -> bytes:
    """The PNG that `<name>()` in the lesson's `pictures` draws.

    Raises:
        GraderError: when there is no such picture.
    """
    syllabus, _ = find_lesson(lesson)
    function = getattr(syllabus.part(lesson, "pictures"), name, None)
    if function is None:
        raise GraderError(f"Nothing in {syllabus.module(lesson, 'pictures')} draws {name!r}.")
    figure = function()
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)
    return buffer.getvalue()


def keep_pictures(made: NotebookNode, committed: NotebookNode | None) -> None:
    """Takes over the committed bytes of each picture that still looks the same.

    Two machines may compress the same pixels to different bytes, or smooth a letter's edge otherwise; a learner's
    notebook must not change for that.
    """
    before: dict[str, dict[str, str]] = {}
    for cell in committed.cells if committed else []:
        before |= cell.get("attachments", {})
    for cell in made.cells:
        for name, attachment in cell.get("attachments", {}).items():
            old = before.get(name, {}).get("image/png")
            if old and _look_the_same(old, attachment["image/png"]):
                attachment["image/png"] = old


def _look_the_same(one: str, other: str) -> bool:
    if one == other:
        return True
    try:
        a, b = (
            np.asarray(Image.open(io.BytesIO(base64.b64decode(p))).convert("RGBA"), dtype=np.int16)
            for p in (one, other)
        )
    except (OSError, ValueError):
        return False
    return a.shape == b.shape and float(np.abs(a - b).mean()) < 0.5
