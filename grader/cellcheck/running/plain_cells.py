"""From a notebook's bytes to plain cells: what can be said of it without knowing any lesson.

A learner's file may hold anything. So that it costs itself only, this is done in a process of its own where
submissions are graded (see `cellcheck.running.reading_apart`), its size is limited before anything is parsed, and
nothing here takes more than linear time.
"""

import ast
import base64
import binascii
import hashlib
import json
import re
from typing import Any

from cellcheck.errors import GraderError
from cellcheck.syntax import syntax_tree

MAX_BYTES = 128 * 2**20
"""Of a file: nearly all of a large one is outputs, which cost nothing but the reading."""
MAX_CELLS = 2_000
MAX_TEXT = 2 * 2**20  # characters of all cells together; outputs and pictures do not count
MAX_PICTURES = 16 * 2**20  # characters of all pictures in texts together
MAX_NAME = 200  # characters of a name that anybody gave to a cell

_MARKS = {"grade": bool, "grade_id": str, "locked": bool, "solution": bool, "schema_version": int}
_OPTIONAL = {"task": bool, "cell_type": str, "points": (int, float)}
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_MAGIC = re.compile(r"[%!?]|[\w., \t]{1,200}=[ \t]*[%!]")
_DEFINED = re.compile(r"^(?:def|class)[ \t]+(\w+)", re.MULTILINE)


class Unreadable(GraderError):
    """This file can't be graded; the message says why and what to do."""


def parse(data: bytes) -> list[Any]:
    """The notebook's cells, as they stand in the file.

    Raises:
        Unreadable: when it is not a notebook.
    """
    if len(data) > MAX_BYTES:
        raise Unreadable(too_large(len(data)))
    if not data.strip():
        raise Unreadable("The file is empty. Save the notebook, and submit it again.")
    if data.startswith(b"PK"):
        raise Unreadable("This is a zip file, not a notebook: `cellcheck collect FILE` takes the notebooks out of it.")
    if data.lstrip()[:9].lower().startswith((b"<!doctype", b"<html")):
        raise Unreadable("This is a web page, not a notebook: download the notebook itself as .ipynb, and submit that.")
    try:
        notebook = json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise Unreadable(
            "This file is not in UTF-8, as notebooks are: open and save it in Jupyter, and submit that."
        ) from None
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a ValueError of its own
        where = f" (line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        raise Unreadable(
            f"This is not a notebook: it is not valid JSON{where}. Download it again as .ipynb, and submit that."
        ) from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if cells is None and isinstance(notebook, dict) and "worksheets" in notebook:
        raise Unreadable("This is a notebook of Jupyter's old format 3: open and save it in Jupyter, and submit that.")
    if not isinstance(cells, list):
        raise Unreadable("This is not a notebook of Jupyter's format 4: it has no cells. Open and save it in Jupyter.")
    if not cells:
        raise Unreadable("The notebook has no cells. Was an empty one submitted by mistake?")
    if len(cells) > MAX_CELLS:
        raise Unreadable(
            f"The notebook has {len(cells)} cells, and at most {MAX_CELLS} are allowed. Delete what is empty."
        )
    return cells


def too_large(size: int) -> str:
    """Said of a file of `size` bytes."""
    return (
        f"The notebook has {size // 2**20} MB, and at most {MAX_BYTES // 2**20} MB are allowed. "
        "Clear all outputs, save it, and submit it again."
    )


def source_of(cell: dict[str, Any]) -> str:
    """A cell's text, which nbformat keeps as one string or as a list of lines."""
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    return as_text(source) if isinstance(source, str) else ""


def as_text(text: str) -> str:
    """The same without halves of characters, which JSON can hold, and no file."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def cells_of(data: bytes) -> list[dict[str, Any]]:
    """The cells that have a form, as plain data that JSON can hold.

    Each has `number` (from 1, as a reader would count), `kind` ("code", "markdown" or "raw"), `source`, `grade_id` (or
    None), `retyped` (it was a code cell for nbgrader), `as_released` (what nbgrader's checksum says, if there is one),
    `points`, `tags`, `marks` (nbgrader's metadata where it is whole, else None); code has `defines` and
    `only_definitions`, texts have `pictures`.

    Raises:
        Unreadable: when it isn't a notebook, or there is too much in it.
    """
    cells = []
    text = pictures = 0
    for number, cell in enumerate(parse(data), start=1):
        if not isinstance(cell, dict):
            continue
        plain = _plain(number, cell)
        text += len(plain["source"])
        pictures += sum(len(code) for bundle in plain["pictures"].values() for code in bundle.values())
        if text > MAX_TEXT or pictures > MAX_PICTURES:
            what = "is too much text" if text > MAX_TEXT else "are too many pictures, or too large ones,"
            raise Unreadable(
                f"There {what} in the cells of this notebook. Leave out what is not needed, and submit it again."
            )
        if plain["kind"] == "code" or plain["retyped"]:
            plain["defines"], plain["only_definitions"] = definitions(plain["source"])
        cells.append(plain)
    return cells


def _plain(number: int, cell: dict[str, Any]) -> dict[str, Any]:
    metadata = cell.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    marks, tags = metadata.get("nbgrader"), metadata.get("tags")
    marks = marks if isinstance(marks, dict) else {}
    grade_id, points, kind = marks.get("grade_id"), marks.get("points"), cell.get("cell_type")
    kind = kind if isinstance(kind, str) and kind in ("code", "markdown") else "raw"
    named = isinstance(grade_id, str) and 0 < len(grade_id) <= MAX_NAME
    return {
        "number": number,
        "kind": kind,
        "source": source_of(cell),
        "grade_id": grade_id if named else None,
        "retyped": kind != "code" and named and marks.get("cell_type") == "code",
        "as_released": _is_released(source_of(cell), kind, marks) if named else None,
        "points": points if isinstance(points, int | float) else None,
        "tags": [tag for tag in tags if isinstance(tag, str) and len(tag) <= MAX_NAME]
        if isinstance(tags, list)
        else [],
        "marks": _whole(marks) if named else None,
        "pictures": _pictures(cell.get("attachments")) if kind == "markdown" else {},
    }


def _is_released(source: str, kind: str, marks: dict[str, Any]) -> bool | None:
    """Whether a cell is what it was when nbgrader wrote its checksum; see `nbgrader.utils.compute_checksum`."""
    if "checksum" not in marks:
        return None
    grade, solution = marks.get("grade", False), marks.get("solution", False)
    locked = not solution and (grade or marks.get("locked", False))
    points = marks.get("points")
    parts = [source, kind, grade, solution, bool(locked), marks["grade_id"]]
    parts += [float(points)] if grade and isinstance(points, int | float) else []
    text = "".join(map(str, parts)).encode("utf-8", "replace")
    return bool(hashlib.md5(text, usedforsecurity=False).hexdigest() == marks["checksum"])


def _whole(marks: dict[str, Any]) -> dict[str, Any] | None:
    """nbgrader's fields, of the types that they should have, and nothing else; None where one is missing."""
    if not all(isinstance(marks.get(name), kind) for name, kind in _MARKS.items()):
        return None
    kinds = {**_MARKS, **_OPTIONAL}
    return {name: marks[name] for name, kind in kinds.items() if isinstance(marks.get(name), kind)}  # type: ignore[arg-type]


def _pictures(attachments: Any) -> dict[str, dict[str, str]]:
    """Those of the pictures in a text that are pictures."""
    pictures: dict[str, dict[str, str]] = {}
    for name, bundle in attachments.items() if isinstance(attachments, dict) else ():
        images = {kind: bundle[kind] for kind in _PICTURES if kind in bundle} if isinstance(bundle, dict) else {}
        images = {kind: code for kind, code in images.items() if _is_base64(code)}
        if images and len(name) <= MAX_NAME:
            pictures[as_text(name)] = images
    return pictures


def _is_base64(code: Any) -> bool:
    try:
        base64.b64decode("".join(code.split()), validate=True)
    except (AttributeError, ValueError, binascii.Error):
        return False
    return True


def definitions(source: str) -> tuple[list[str], bool]:
    """The names a cell defines at its top level, and whether it does nothing but import and define."""
    if source.lstrip()[:2] == "%%":  # the rest of the cell is its argument
        return [], False
    try:
        body, magic = _parsed(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # A cell that does not parse may still be somebody's attempt: go by its first words.
        return sorted({*_DEFINED.findall(source)}), False
    names: set[str] = set()
    only = not magic
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
            only = False
        elif not isinstance(node, ast.Import | ast.ImportFrom):
            only = False
    return sorted(names), only


def imported(source: str) -> set[str]:
    """The packages that a cell imports at its top level."""
    try:
        body, _ = _parsed(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    names = {alias.name for node in body if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in body if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    return {name.partition(".")[0] for name in names}


def _parsed(source: str) -> tuple[list[ast.stmt], bool]:
    """The statements, and whether lines had to give way that IPython would turn into Python: `%time f()`, `x = !ls`."""
    try:
        return syntax_tree(source).body, False
    except SyntaxError:
        plain = "".join(map(_plain_line, source.splitlines(keepends=True)))
        if plain == source:
            raise
        return syntax_tree(plain).body, True


def _plain_line(line: str) -> str:
    """The line as it is, or `pass` in place of a magic one."""
    text = line.strip()
    if not (_MAGIC.match(text) or text.endswith("?")):
        return line
    return line[: len(line) - len(line.lstrip())] + "pass\n"
