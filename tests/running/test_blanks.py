"""Blanked modules of the course, and what becomes of a blank that other modules have imported."""

from __future__ import annotations

import inspect
import subprocess
import sys

from course.attention import MultiHeadAttention
from grader.running.blanks import blank, sources

ASK = """
import sys
from grader.running.blanks import blank_modules, restore
blank_modules(["course.attention", "course.blocks"])
import course.blocks  # holds the blank of MultiHeadAttention now
import torch
try:
    course.blocks.MultiHeadAttention(4, 2)
except NotImplementedError:
    print("blank")
for line in sys.stdin:
    symbol, module, source = eval(line)
    restore(module, source, symbol, ("course",))
print(type(course.blocks.MultiHeadAttention(4, 2).query).__name__)
"""


def test_a_restored_symbol_reaches_the_modules_that_imported_its_blank() -> None:
    (text,) = sources({"MultiHeadAttention": MultiHeadAttention}).values()
    said = subprocess.run(
        [sys.executable, "-c", ASK],
        input=repr(("MultiHeadAttention", text["module"], text["source"])),
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.stdout.split() == ["blank", "Linear"], said.stderr


def test_a_blank_raises_where_the_solution_stood() -> None:
    text = blank(inspect.getsource(MultiHeadAttention))
    assert "nn.Linear" not in text
    assert text.count("raise NotImplementedError()") == 2
