""" "The grader itself failed" is a bug by definition: whatever a person can put into a course folder ends in marks, or
in a sentence that says what to do.

There is one course with one assignment. To it, each example does some of what people do: to notebooks, names, files
and settings.
"""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.assignments.test_settings import autograde, course_with

odd_values = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2**70), st.floats(), st.text(max_size=9), st.just([]), st.just({}),
    st.just([{"a": [1]}]), st.just("\ud800"), st.just("../../x"), st.just("\x1b]0;x\x07"),
)  # fmt: skip
places = st.sampled_from(
    [
        *[("metadata",), ("metadata", "kernelspec"), ("metadata", "kernelspec", "name"), ("metadata", "language_info")],
        *[("nbformat",), ("nbformat_minor",), ("cells",), ("cells", 0), ("cells", 0, "source"), ("cells", 0, "id")],
        *[("cells", 0, "metadata"), ("cells", 0, "metadata", "nbgrader"), ("cells", 0, "cell_type")],
        *[("cells", 0, "metadata", "nbgrader", "grade_id"), ("cells", 1, "metadata", "nbgrader", "points")],
        *[("cells", 1, "metadata", "nbgrader", "schema_version"), ("cells", 1, "metadata", "tags")],
        *[("cells", 1, "outputs"), ("cells", 1, "metadata", "nbgrader", "checksum"), ("cells", 1, "attachments")],
    ]
)
files = st.sampled_from(
    [b"\xff\xfe", b"", b"PK\x03\x04", b"<html>", b"[" * 5000, b'{"cells": [{}]}', b"null", b"1e999"]
)
names = st.sampled_from(
    [
        b"hw (1).ipynb",
        b"d\xff.csv",
        b"a\nb.txt",
        b"nbgrader_config.py",
        b"timestamp.txt",
        b"-rf",
        b"one.ipynb",
        b".x",
        b"*",
    ]
)
students = st.sampled_from(
    [b"x\xff", b"a b", b"-", b"..x", b"a\nb", b"=1+1", b"[b]", "Zoë".encode(), b"o'b\"<i>", b"a;b,c"]
)
lines = st.sampled_from(
    [
        *(
            "c.Execute.timeout = -1",
            "c.Execute.timeout = 'long'",
            "c.CourseDirectory.course_id = '../x'",
            "1 / 0",
            "c.",
        ),
        *("c.CourseDirectory.ignore = ['*']", "c.CourseDirectory.root = '/nowhere'", "raise SystemExit(3)"),
        *("c.CourseDirectory.student_id_exclude = 'ada,,'", "c.Autograde.permissions = 999", "import not_there"),
        *("c.CourseDirectory.submitted_directory = '/proc'", "c.CourseDirectory.autograded_directory = 'source'"),
        *("c.CourseDirectory.db_url = 'x'", "c.ClearHiddenTests.begin_test_delimeter = ''", "c.NoSuch.thing = 1"),
        *("c.AssignLatePenalties.plugin_class = 3", "c.Execute.skip_cells_with_tag = ''", "c = 3"),
    ]
)

Doing = Callable[[Path], None]


def put(notebook: Path, at: tuple[Any, ...], value: Any) -> None:
    """Puts an odd value somewhere into a notebook."""
    try:
        whole: Any = json.loads(notebook.read_text("utf-8"))
        part = whole
        for step in at[:-1]:
            part = part[step]
        part[at[-1]] = value
        notebook.write_text(json.dumps(whole), "utf-8")
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        pass  # what was done before has left no such place


def doing(role: str) -> st.SearchStrategy[Doing]:
    """One thing that somebody does to the notebook of an instructor ("source") or of a learner."""
    where = {"source": "source/hw/one.ipynb", "learner": "submitted/ada/hw/one.ipynb"}[role]
    return st.one_of(
        st.builds(lambda at, value: lambda root: put(root / where, at, value), places, odd_values),
        st.builds(lambda data: lambda root: write(root / where, data), files),
        st.builds(
            lambda name, data: lambda root: write((root / where).with_name(os.fsdecode(name)), data), names, files
        ),
    )


def write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def call(root: Path, name: bytes) -> None:
    shutil.copytree(root / "submitted" / "ada", root / "submitted" / os.fsdecode(name))


def configure(root: Path, line: str) -> None:
    with (root / "nbgrader_config.py").open("a") as file:
        file.write(f"{line}\n")


learners = st.builds(lambda name: lambda root: call(root, name), students)
settings_of = st.builds(lambda line: lambda root: configure(root, line), lines)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return course_with(tmp_path_factory.mktemp("odd") / "course")


@settings(
    max_examples=8, deadline=None, derandomize=True, database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip
@given(
    done=st.lists(
        st.one_of(doing("learner"), doing("learner"), doing("source"), learners, settings_of), min_size=1, max_size=3
    )
)
def test_there_are_marks_or_a_sentence(course: Path, tmp_path: Path, done: list[Doing]) -> None:
    root = tmp_path / "course"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(course, root)
    for one in done:
        one(root)
    code, said = autograde(root)
    assert code in (0, 1, 2), said
    assert "itself failed" not in said
    assert "Traceback" not in said
    assert code == 0 or said.strip()
