"""Sixty learners on three platforms, every third with an odd upload: everybody has their own work, or a sentence."""

import gzip
import json
import re
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from cellcheck.collecting.collect import Collected, collect
from cellcheck.collecting.roster import Roster
from cellcheck.collecting.who_is_who import doubt_lines, missing_lines
from tests.collecting.downloads import LESSON, OTHER, Entry, download, notebook, zipped

NAMES = [
    *("O'Neil Jim, Jr.", "שרה כהן", "محمد علي", "李 小龙", unicodedata.normalize("NFD", "Zoë Müller"), "Max 2_3"),
    *("=cmd|A1", "Nguyễn Thị Ánh", "Ann; DROP", "X Æ A-12", "ada lovelace", "Ada Lovelace"),
]
PEOPLE = [*NAMES, *(f"First{number} Last{number}" for number in range(len(NAMES), 60))]
FILE = "x.ipynb"


def mine(number: int, more: str = "") -> bytes:
    return notebook(f"I am {number}. {more}")


def of_format_3(number: int) -> bytes:
    return json.dumps({"nbformat": 3, "worksheets": [{"cells": [{"input": f"I am {number}."}]}]}).encode()


def twice(number: int) -> bytes:
    notebook = json.loads(mine(number))
    notebook["cells"] *= 2
    return json.dumps(notebook).encode()


ODD: dict[str, Callable[[int], list[Entry]]] = {
    "UTF-16": lambda n: [(FILE, mine(n).decode().encode("utf-16"))],
    "Latin-1": lambda n: [(FILE, mine(n).replace(b"I am", "für".encode("latin-1")))],
    "a BOM and CRLF": lambda n: [(FILE, b"\xef\xbb\xbf" + mine(n).replace(b", ", b",\r\n"))],
    "a zip in a zip": lambda n: [("a.zip", zipped([("b.zip", zipped([(FILE, mine(n))]))]))],
    "format 3": lambda n: [(FILE, of_format_3(n))],
    "0 bytes": lambda n: [(FILE, b"")],
    "cells twice": lambda n: [(FILE, twice(n))],
    "two notebooks": lambda n: [("a.ipynb", mine(n)), ("b.ipynb", mine(n, "Or so."))],
    "one notebook twice": lambda n: [(FILE, mine(n)), ("x (1).ipynb", mine(n))],
    "capitals": lambda n: [("X.IPYNB", mine(n))],
    "gzip": lambda n: [(FILE, gzip.compress(mine(n)))],
    "a command as a name": lambda n: [("a;$(touch x)`b`.ipynb", mine(n))],
    "half a download": lambda n: [("x.ipynb.crdownload", mine(n)[:50])],
    "cut off": lambda n: [(FILE, mine(n)[:-5])],
    "an old copy": lambda n: [
        ("a.zip", zipped([(".ipynb_checkpoints/x-checkpoint.ipynb", mine(99)), (FILE, mine(n))]))
    ],
    "a folder called so": lambda n: [("a.zip", zipped([("x.ipynb/y.ipynb", mine(n))]))],
    "RAR": lambda n: [("a.zip", b"Rar!\x1a\x07\x00")],
    "a link": lambda n: [("link.txt", b"https://notebooks.example/drive/1")],
    "null": lambda n: [(FILE, b"null")],
    "another lesson": lambda n: [(FILE, notebook("x", OTHER))],
}
ALONE = {"a BOM and CRLF", "cells twice", "one notebook twice", "capitals", "a command as a name", "an old copy"}
ALONE |= {"a folder called so"}


def handed_in(number: int) -> tuple[str, list[Entry]]:
    """What somebody hands in: the last ones something odd."""
    kinds = [*["honest"] * (len(PEOPLE) - len(ODD)), *ODD]
    kind = kinds[number]
    return kind, ODD[kind](number) if kind in ODD else [(FILE, mine(number))]


def moodle(number: int, name: str) -> str:
    return f"{re.sub(r'[/:*?<>|]', '', name)}_{1000 + number}_assignsubmission_file/"


def canvas(number: int, name: str) -> str:
    short = "".join(reversed(re.sub(r"[^\w ]", "", name).lower().split()))
    return f"{short}_{1000 + number}_{9000 + number}_"


def gradescope(number: int, name: str) -> str:
    return f"assignment_1_export/submission_{number}/"


def people() -> bytes:
    entry = 'submission_{0}:\n  :submitters:\n  - :name: "{1}"\n    :sid: "{2}"\n    :email: {0}@example.org\n'
    return "".join(entry.format(number, name, 1000 + number) for number, name in enumerate(PEOPLE)).encode()


@pytest.mark.parametrize("place", [moodle, canvas, gradescope])
def test_nobody_is_lost_or_mixed_up(place: Callable[[int, str], str], tmp_path: Path) -> None:
    entries = [
        (place(number, name) + str(file), data)
        for number, name in enumerate(PEOPLE)
        for file, data in handed_in(number)[1]
    ]
    if place is gradescope:
        entries.append(("assignment_1_export/submission_metadata.yml", people()))
    path = download(tmp_path / "all.zip", *entries)
    ids = "".join(f's{n},"{name}",{1000 + n},{1000 + n},{1000 + n}\n' for n, name in enumerate(PEOPLE))
    (tmp_path / "list.csv").write_text(f"id,name,moodle_id,canvas_id,number\n{ids}", "utf-8")
    done = collect([path], tmp_path / "in", lesson=LESSON, roster=Roster.read(tmp_path / "list.csv"))
    assert missing_lines(done) == []
    assert collected(done, tmp_path / "in") == {
        f"s{number}": {str(number)} for number in range(60) if handed_in(number)[0] in {"honest", *ALONE}
    }
    lines = doubt_lines(done)
    for number, name in enumerate(PEOPLE):
        told = [line for line in lines if str(1000 + number) in line or name in line]
        assert bool(told) == (handed_in(number)[0] in ODD.keys() - ALONE), (name, told)
        assert len(told) <= 2


def collected(done: Collected, into: Path) -> dict[str, set[str]]:
    """Whose work each learner has."""
    return {
        submission.student: {
            number
            for path in (into / submission.student / LESSON).glob("*.ipynb")
            for number in re.findall(r"I am (\d+)\.", path.read_text("utf-8"))
        }
        for submission, _ in done.placed
    }
