"""A course that somebody has: whatever is in its folder ends in marks, or in a sentence that says what to do.

"The grader itself failed" is a bug by definition, and so is a traceback. There is one course with one assignment. To
it, each example does some of what happens to courses: to the structure, metadata, encoding and size of its notebooks,
to names, to folders and files, and to its settings. Then a command or two are run, as people do.
"""

import contextlib
import copy
import gzip
import json
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.errors import GraderError
from tests.assignments.test_settings import autograde, course_with
from tests.nightly import later

Doing = Callable[[Path], None]
"""What happens to the course in a folder."""

SOURCE, RELEASE, HANDED_IN = "source/hw/one.ipynb", "release/hw/one.ipynb", "submitted/ada/hw/one.ipynb"
GONE = object()

VALUES: dict[str, Any] = {
    "gone": GONE, "None": None, "True": True, "-2": -2, "2**70": 2**70, "1.5": 1.5, "NaN": float("nan"),
    "infinite": float("inf"), "empty": "", "long": "x" * 300, "[]": [], "{}": {}, "nested": [{"a": [1]}],
    "half a letter": "\ud800", "path": "../../x", "escape": "\x1b]0;x\x07", "markup": "[/b]<script>", "NUL": "a\0b",
}  # fmt: skip
_MARKS = ("cells", 1, "metadata", "nbgrader")
PLACES: list[tuple[str | int, ...]] = [
    ("metadata",), ("metadata", "kernelspec"), ("metadata", "kernelspec", "name"), ("metadata", "language_info"),
    ("nbformat",), ("nbformat_minor",), ("cells",), ("cells", 0), ("cells", 0, "source"), ("cells", 0, "id"),
    ("cells", 0, "metadata"), ("cells", 0, "metadata", "nbgrader"), ("cells", 0, "cell_type"),
    ("cells", 0, "metadata", "nbgrader", "grade_id"), ("cells", 0, "metadata", "nbgrader", "cell_type"),
    ("cells", 0, "outputs"), ("cells", 0, "metadata", "tags"), ("cells", 0, "attachments"), ("cells", 1, "source"),
    *[(*_MARKS, name) for name in ("points", "schema_version", "checksum", "grade", "solution", "locked", "task")],
    (*_MARKS, "grade_id"), ("cells", 1, "metadata", "tags"), ("cells", 1, "outputs"),
]  # fmt: skip
OUTPUTS = [{"output_type": "stream", "name": "stdout", "text": "x" * 2**20}]


def with_value(at: tuple[str | int, ...], value: Any) -> Callable[[Any], None]:
    """Puts a value into a notebook."""

    def put(notebook: Any) -> None:
        part = notebook
        for step in at[:-1]:
            part = part.setdefault(step, {}) if isinstance(part, dict) else part[step]
        if value is GONE:
            del part[at[-1]]
        else:
            part[at[-1]] = copy.deepcopy(value)

    return put


def nested(depth: int) -> Any:
    thing: Any = 1
    for _ in range(depth):
        thing = [thing]
    return thing


SIZES: dict[str, Callable[[Any], None]] = {
    "3 MB of code": lambda notebook: notebook["cells"][0].update(source="x = 1\n" * 2**19),
    "a long line": lambda notebook: notebook["cells"][0].update(source=f"x = '{'x' * 2**20}'"),
    "deep code": lambda notebook: notebook["cells"][0].update(source="(" * 10**4 + ")" * 10**4),
    "a long number": lambda notebook: notebook["cells"][0].update(source=f"x = {'1' * 10**4}"),
    "2,001 cells": lambda notebook: notebook["cells"].extend(notebook["cells"][:1] * 2000),
    "300 cells that are one": lambda notebook: notebook["cells"].extend(notebook["cells"][-1:] * 300),
    "8 MB of outputs": lambda notebook: notebook["cells"][0].update(outputs=OUTPUTS * 8),
    "deep metadata": lambda notebook: notebook["metadata"].update(deep=nested(900)),
    "no cells": lambda notebook: notebook["cells"].clear(),
    "the last cell first": lambda notebook: notebook["cells"].reverse(),
    "cells twice": lambda notebook: notebook["cells"].extend(copy.deepcopy(notebook["cells"])),
    "format 3": lambda notebook: notebook.update(nbformat=3, worksheets=[{"cells": notebook.pop("cells")}]),
}
ENCODINGS: dict[str, Callable[[bytes], bytes]] = {
    "UTF-16": lambda data: data.decode().encode("utf-16"),
    "UTF-32": lambda data: data.decode().encode("utf-32"),
    "a byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "two byte order marks": lambda data: b"\xef\xbb\xbf" * 2 + data,
    "Latin-1": lambda data: data.replace(b"double", b"d\xfcble"),
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "CR": lambda data: data.replace(b"\n", b"\r"),
    "a NUL": lambda data: data[:50] + b"\0" + data[50:],
    "half of it": lambda data: data[: len(data) // 2],
    "twice": lambda data: data * 2,
    "gzip": gzip.compress,
    "a merge conflict": lambda data: b"<<<<<<< HEAD\n" + data + b"=======\n" + data + b">>>>>>> x\n",
    "nothing": lambda data: b"",
    "spaces": lambda data: b" " * 1000,
    "a web page": lambda data: b"<!DOCTYPE html><html>",
    "a zip file": lambda data: b"PK\x03\x04",
    "brackets": lambda data: b"[" * 5000,
    "objects": lambda data: b'{"cells":' * 5000,
    "null": lambda data: b"null",
    "a number": lambda data: b"1" * 6000,
    "an empty cell": lambda data: b'{"cells": [{}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
}
NAMES = [
    b"hw (1).ipynb", b"d\xff.csv", b"a\nb.txt", b"nbgrader_config.py", b"timestamp.txt", b"-rf", b"two.ipynb", b".x",
    b"*", b"one.ipynb.", b"One.ipynb", "\u202eone.ipynb".encode(), b"n" * 255, b"a;b,c.py", b"json.py", b"numpy.py",
    b"sitecustomize.py", b"IPython.py", b"con", b"one.IPYNB", b"submission_secret.txt", b"feedback.html", b"[x].ipynb",
]  # fmt: skip
LEARNERS = [
    b"x\xff", b"a b", b"-", b"..x", b"a\nb", b"=1+1", b"[b]", "Zoë".encode(), b"o'b\"<i>", b"a;b,c", b"n" * 255, b"%s",
    "李 小龙".encode(), "\u202eada".encode(), b"ADA", b"{x}", b"a\\b", b"a+b", b"*", b"con", b"0", b"ada.", b"\x1b[31m",
]  # fmt: skip
SETTINGS = [
    "c.Execute.timeout = -1", "c.Execute.timeout = 'long'", "c.CourseDirectory.course_id = '../x'", "1 / 0", "c.",
    "c.CourseDirectory.ignore = ['*']", "c.CourseDirectory.root = '/nowhere'", "raise SystemExit(3)", "c = 3",
    "c.CourseDirectory.student_id_exclude = 'ada,,'", "c.Autograde.permissions = 999", "import not_there", "\0",
    "c.CourseDirectory.submitted_directory = '/proc'", "c.CourseDirectory.autograded_directory = 'source'", "\xff",
    "c.CourseDirectory.autograded_directory = 'submitted'", "c.CourseDirectory.release_directory = 'source'",
    "c.CourseDirectory.db_url = 'x'", "c.CourseDirectory.db_url = 'sqlite:////nowhere/x.db'", "c.NoSuch.thing = 1",
    "c.ClearHiddenTests.begin_test_delimeter = ''", "c.ClearHiddenTests.end_test_delimeter = 3", "c.Execute = 3",
    "c.AssignLatePenalties.plugin_class = 3", "c.AssignLatePenalties.plugin_class = 'not_there.Rule'",
    "c.AssignLatePenalties.plugin_class = 'x'", "c.Execute.skip_cells_with_tag = ''", "c.Execute.timeout = 10**30",
    "c.CourseDirectory.ignore = [3]", "c.Autograde.exclude_overwriting = {'hw': 3}", "c.CourseDirectory = 3",
    "c.CourseDirectory.feedback_directory = '../feedback'", "c.CourseDirectory.source_directory = 'a\\0b'",
    "c.IncludeHeaderFooter.header = 'not there.ipynb'", "c.ClearSolutions.code_stub = 3", "c.Autograde.permissions = 0",
    "c.ClearSolutions.enforce_metadata = 'x'", "c.CourseDirectory.submitted_directory = 'nbgrader_config.py'",
    "c.GenerateAssignment.preprocessors = ['x']", "c.CourseDirectory.source_directory = ''", "print('hello')",
    "c.ClearSolutions.begin_solution_delimeter = ''", "c.CourseDirectory.groupshared = 'x'", "c.Exchange.root = 3",
]  # fmt: skip
PARTS = [
    "source", "source/hw", SOURCE, "release", "release/hw", RELEASE, "submitted", "submitted/ada", "submitted/ada/hw",
    HANDED_IN, "submitted/ada/hw/timestamp.txt", "submitted/ada/hw/data.csv", "source/hw/data.csv", "autograded",
    "autograded/ada", "autograded/ada/hw", "feedback", "feedback/ada", "feedback/ada/hw", "gradebook.db", ".cellcheck",
    ".cellcheck/hw.jsonl", "submitted/.collected.json", "gradebook.db.lock", "feedback/ada/hw/one.html",
    "autograded/ada/hw/one.ipynb",
]  # fmt: skip


def removed(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one, pytest.MonkeyPatch.context() as patch:
        patch.chdir(path.parent)  # a socket's path may have a hundred letters only
        one.bind(path.name)


def a_deep_folder(path: Path) -> None:
    (path / "/".join("d" * 40)).mkdir(parents=True)


BECOMES: dict[str, Callable[[Path], object]] = {
    "gone": lambda path: None,
    "a folder": Path.mkdir,
    "a folder in a folder": a_deep_folder,
    "an empty file": Path.touch,
    "a file of bytes": lambda path: path.write_bytes(b"\xff\xfe\0x" * 100),
    "a file of brackets": lambda path: path.write_bytes(b"[" * 5000),
    "a file of JSON": lambda path: path.write_text('{"version": 2, "seed": "x", "student": 3}\n' * 3),
    "a link to nowhere": lambda path: path.symlink_to("/not/there"),
    "a link to itself": lambda path: path.symlink_to(path),
    "a link to the course": lambda path: path.symlink_to("/".join([".."] * 3)),
    "a socket": a_socket,
}
WITHOUT_END: dict[str, Callable[[Path], object]] = {
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "a pipe": os.mkfifo,
}
"""Only learners hand in what can be read for ever."""


def happenings() -> Iterator[dict[str, Doing]]:
    """By kind, what may happen to a course, each by its name."""

    def changed(file: str, change: Callable[[Any], None]) -> Doing:
        def do(root: Path) -> None:
            notebook = json.loads((root / file).read_text("utf-8"))
            change(notebook)
            (root / file).write_text(json.dumps(notebook), "utf-8")

        return do

    def written(file: str, encode: Callable[[bytes], bytes]) -> Doing:
        return lambda root: (root / file).write_bytes(encode((root / file).read_bytes())) and None

    def copied(file: str, name: bytes) -> Doing:
        return lambda root: shutil.copy(root / file, (root / file).with_name(os.fsdecode(name))) and None

    def called(name: bytes) -> Doing:
        return lambda root: shutil.copytree(root / "submitted" / "ada", root / "submitted" / os.fsdecode(name)) and None

    def configured(line: str) -> Doing:
        def do(root: Path) -> None:
            with (root / "nbgrader_config.py").open("ab") as file:
                file.write(line.encode("latin-1") + b"\n")

        return do

    def became(part: str, make: Callable[[Path], object]) -> Doing:
        def do(root: Path) -> None:
            removed(root / part)
            make(root / part)

        return do

    for file in (SOURCE, HANDED_IN):
        yield {
            f"{file}: {'.'.join(map(str, at))} is {name}": changed(file, with_value(at, value))
            for at in PLACES
            for name, value in VALUES.items()
        }
        yield {f"{file}: {name}": changed(file, change) for name, change in SIZES.items()}
        yield {f"{file}: {name}": written(file, encode) for name, encode in ENCODINGS.items()}
        yield {f"{file}: a copy called {name!r}": copied(file, name) for name in NAMES}
    yield {f"a learner called {name!r}": called(name) for name in LEARNERS}
    yield {f"setting {line}": configured(line) for line in SETTINGS}
    yield {
        f"{part} is {name}": became(part, make)
        for part in PARTS
        for name, make in (BECOMES | (WITHOUT_END if part.startswith("submitted/ada") else {})).items()
    }


KINDS = list(happenings())
HAPPENINGS = {name: doing for kind in KINDS for name, doing in kind.items()}
COMMANDS = [
    ("report", "hw"), ("export", "hw"), ("export", "hw", "--to", "moodle"), ("feedback", "hw"), ("similar", "hw"),
    ("due", "hw", "2026-03-01"), ("due", "hw"), ("collect", "submitted", "--lesson", "hw", "--into", "again"),
    ("autograde", "hw", "--resume"), ("grade", HANDED_IN, "--lesson", "hw"), ("handback", "hw", "--to", "folders"),
    ("forget", "ada"), ("report", "hw", "--html", "class.html"),
]  # fmt: skip


def said_by(root: Path, command: tuple[str, ...]) -> tuple[int, str]:
    """What a command ends with, and says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        done = CliRunner().invoke(cli.app, list(command))
    if isinstance(done.exception, GraderError):
        return 2, str(done.exception)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


def marks_or_a_sentence(course: Path, root: Path, what: list[str], command: tuple[str, ...]) -> None:
    """Lets something happen to a copy of the course, grades it, and runs another command.

    Raises:
        AssertionError: when one of them doesn't end as it should.
    """
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(course, root)
    for name in what:
        with contextlib.suppress(OSError, LookupError, TypeError, ValueError, AttributeError):
            HAPPENINGS[name](root)  # unless what happened before has left nothing of the kind
    for code, output in (autograde(root), said_by(root, command)):
        assert code in (0, 1, 2), output
        assert "itself failed" not in output
        assert "Traceback" not in output
        assert code == 0 or output.strip()


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return course_with(tmp_path_factory.mktemp("odd") / "course")


drawn = given(
    what=st.lists(st.one_of([st.sampled_from(sorted(kind)) for kind in KINDS]), min_size=1, max_size=3),
    command=st.sampled_from(COMMANDS),
)
usual = {"deadline": None, "database": None, "suppress_health_check": [HealthCheck.function_scoped_fixture]}


@settings(max_examples=8, **usual)  # type: ignore[arg-type]
@drawn
def test_there_are_marks_or_a_sentence(course: Path, tmp_path: Path, what: list[str], command: tuple[str, ...]) -> None:
    marks_or_a_sentence(course, tmp_path / "course", what, command)


@later
@settings(max_examples=150, **usual)  # type: ignore[arg-type]
@drawn
def test_at_night(course: Path, tmp_path: Path, what: list[str], command: tuple[str, ...]) -> None:
    marks_or_a_sentence(course, tmp_path / "course", what, command)
