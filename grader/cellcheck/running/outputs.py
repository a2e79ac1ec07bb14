"""What a learner's cells showed when the notebook was saved: as much of it as a person who grades them needs.

A plot, a table or a print may be the answer. Words and pictures are kept, so far as somebody looks at them, and nothing
that a page would run: of a table in HTML, its words. Nobody runs the cells for this, so it is what the learner says
that they showed.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

from cellcheck.plain import visible_lines
from cellcheck.running.plain_cells import as_text, parse

MAX_WORDS = 20_000  # characters of a cell
MAX_READ = 2**20  # characters of one output's words
MAX_PICTURES = 2**20  # the same, in base64
MAX_ALL = 8 * 2**20  # of a notebook
MAX_OUTPUTS = 100  # of a cell
LEFT_OUT = "(More that this cell showed was left out.)\n"
NO_PICTURE = "(Something that only runs in a browser was left out.)\n"

_BEGINS = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}m")


def outputs_of(data: bytes) -> dict[str, list[dict[str, Any]]]:
    """By the number of the cell (from 1, as text), its outputs in nbformat's form, sanitised and bounded.

    Raises:
        Unreadable: when it isn't a notebook.
    """
    left = MAX_ALL
    by_number = {}
    for number, cell in enumerate(parse(data), start=1):
        outputs = cell.get("outputs") if isinstance(cell, dict) and cell.get("cell_type") == "code" else None
        if isinstance(outputs, list) and outputs:
            by_number[str(number)] = list(_kept(outputs, left))
            left -= sum(map(_size, by_number[str(number)]))
    return by_number


def _kept(outputs: list[Any], left: int) -> Iterator[dict[str, Any]]:
    words, pictures, all_kept = min(MAX_WORDS, left), min(MAX_PICTURES, left), len(outputs) <= MAX_OUTPUTS
    for output in outputs[:MAX_OUTPUTS]:
        sound = _sound(output) if isinstance(output, dict) else None
        if sound is None:
            continue
        is_picture = sound["output_type"] == "display_data" and "text/plain" not in sound["data"]
        size = _size(sound)
        if size > (pictures if is_picture else words):
            all_kept = False
            continue
        pictures, words = (pictures - size, words) if is_picture else (pictures, words - size)
        yield sound
    if not all_kept:
        yield _stream(LEFT_OUT)


def _size(output: dict[str, Any]) -> int:
    if "data" in output:
        return sum(map(len, output["data"].values()))
    return len(output.get("text", "")) + 2 * (len(output.get("ename", "")) + len(output.get("evalue", "")))


def _sound(output: dict[str, Any]) -> dict[str, Any] | None:
    """One output without all that isn't words or a picture."""
    match output.get("output_type"):
        case "stream":
            return _stream(_words(output.get("text")), "stderr" if output.get("name") == "stderr" else "stdout")
        case "error":
            name, value = (_words(output.get(part))[:MAX_WORDS] for part in ("ename", "evalue"))
            return {"output_type": "error", "ename": name, "evalue": value, "traceback": [f"{name}: {value}"]}
        case "display_data" | "execute_result":
            return _display(output.get("data"))
    return None


def _stream(text: str, name: str = "stdout") -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": text}


def _display(bundle: Any) -> dict[str, Any] | None:
    if not isinstance(bundle, dict):
        return None
    for kind, begins in _BEGINS.items():
        if picture := _picture(bundle.get(kind), begins):
            return {"output_type": "display_data", "data": {kind: picture}, "metadata": {}}
    words = _words(bundle.get("text/plain"))
    data = {"text/plain": words}
    return {"output_type": "display_data", "data": data, "metadata": {}} if words else _stream(NO_PICTURE)


def _picture(code: Any, begins: bytes) -> str:
    """A picture in base64; empty where it is none."""
    try:
        code = "".join(_joined(code).split())
        return code if base64.b64decode(code, validate=True).startswith(begins) else ""
    except (ValueError, binascii.Error):
        return ""


def _words(text: Any) -> str:
    """A text as it can be shown, without colours, and without what a progress bar has overwritten."""
    text = _COLOUR.sub("", as_text(_joined(text)[:MAX_READ]))
    text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    if len(text) > MAX_WORDS:
        text = f"{text[: MAX_WORDS - len(LEFT_OUT) - 1]}\n{LEFT_OUT}"
    return visible_lines(text.expandtabs(4))[:MAX_WORDS]


def _joined(text: Any) -> str:
    """nbformat keeps a text as one string, or as a list of lines."""
    if isinstance(text, list):
        return "".join(part for part in text if isinstance(part, str))
    return text if isinstance(text, str) else ""
