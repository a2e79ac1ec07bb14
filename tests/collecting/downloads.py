"""Downloads as platforms make them, in small."""

import io
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path

from cellcheck.collecting.collect import Collected

LESSON, OTHER = "01_pytorch_basics", "02_tokenizer"


def notebook(text: str = "", lesson: str | None = LESSON) -> bytes:
    """A small notebook of a lesson; other text makes it another one."""
    setup = f'import cellcheck\ncheck = cellcheck.checks("{lesson}")' if lesson else "x = 1"
    cells = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": source} for source in (setup, f"# {text}")]
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}).encode()


Entry = tuple[str | zipfile.ZipInfo, bytes]


def zipped(entries: Iterable[Entry]) -> bytes:
    """A zip file with these entries, whatever their names."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return file.getvalue()


def download(path: Path, *entries: Entry) -> Path:
    """A zip file on disk."""
    path.write_bytes(zipped(entries))
    return path


def at(name: str, minute: int) -> zipfile.ZipInfo:
    """An entry's name and time."""
    return zipfile.ZipInfo(name, (2026, 3, 1, 12, minute, 0))


def folder(root: Path, **files: bytes) -> Path:
    """A folder with files; `__` stands for a slash, and endings are `.ipynb`."""
    for name, data in files.items():
        path = root / f"{name.replace('__', '/')}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


def tree(into: Path) -> set[str]:
    """The files in a folder, but for the record."""
    return {
        path.relative_to(into).as_posix()
        for path in into.rglob("*")
        if path.is_file() and path.name != ".collected.json"
    }


def students(done: Collected) -> list[str]:
    """Who has a folder now."""
    return [submission.student for submission, _ in done.placed]
