"""Pictures in prose: drawn by the lesson's `pictures`, attached to the cell as PNG."""

import base64
import io
import re
from collections.abc import Mapping
from types import MappingProxyType

import matplotlib.pyplot as plt
from nbformat import NotebookNode
from PIL import Image

from cellcheck.errors import GraderError
from cellcheck.syllabus import find_lesson

# The text alternative may hold pairs of brackets, as in "layers[0]".
_MARK = re.compile(r"!\[(?P<alt>(?:[^\[\]]|\[[^\[\]]*\])*)\]\(picture:(?P<name>\w+)\)")


_COLOURS = 255

NOTHING_DRAWN: Mapping[str, dict[str, str]] = MappingProxyType({})


def attach_pictures(
    text: str, lesson: str, drawn: Mapping[str, dict[str, str]] = NOTHING_DRAWN
) -> tuple[str, dict[str, dict[str, str]]]:
    """Draws each `![text alternative](picture:name)`; returns the text with links to the attachments, and them.

    An attachment that `drawn` holds is not drawn again.

    Raises:
        GraderError: when a picture has no text alternative, or nothing draws it.
    """
    attachments: dict[str, dict[str, str]] = {}

    def link(mark: re.Match[str]) -> str:
        name = mark["name"]
        if len(mark["alt"]) < 20:
            raise GraderError(f"The picture {name!r} needs a text alternative that says what it shows.")
        file = f"{name}.png"
        attachments[file] = drawn.get(file) or {"image/png": base64.b64encode(draw(name, lesson)).decode()}
        return f"![{mark['alt']}](attachment:{file})"

    source = _MARK.sub(link, text)
    if "](picture:" in source:
        raise GraderError(
            f"A picture's text alternative has a bracket too many: {source.split('](picture:')[1][:40]!r}."
        )
    return source, attachments


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
    small = io.BytesIO()
    # A palette makes learners' notebooks a third smaller, and no eye can tell.
    Image.open(buffer).convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE).save(small, "png", optimize=True)
    return small.getvalue()


def attached(notebook: NotebookNode) -> dict[str, dict[str, str]]:
    """All pictures of a notebook, by their file's name."""
    return {name: picture for cell in notebook.cells for name, picture in cell.get("attachments", {}).items()}
