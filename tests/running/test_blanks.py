"""Blanked modules of the course, and what becomes of a blank that other modules have imported."""

import inspect
import subprocess
import sys

from cellcheck.running.blanks import blank, sources
from transformer_course.attention import MultiHeadAttention

ASK = """
import sys
from cellcheck.running.blanks import blank_modules, restore
blank_modules(["transformer_course.attention", "transformer_course.blocks"])
import transformer_course.blocks  # holds the blank of MultiHeadAttention now
import torch
try:
    transformer_course.blocks.MultiHeadAttention(4, 2)
except NotImplementedError:
    print("blank")
for line in sys.stdin:
    symbol, module, source = eval(line)
    restore(module, source, symbol, ("transformer_course",))
print(type(transformer_course.blocks.MultiHeadAttention(4, 2).query).__name__)
"""


def test_a_restored_symbol_reaches_the_modules_that_imported_its_blank() -> None:
    (text,) = sources({"MultiHeadAttention": MultiHeadAttention}).values()
    output = subprocess.run(
        [sys.executable, "-c", ASK],
        input=repr(("MultiHeadAttention", text["module"], text["source"])),
        capture_output=True,
        text=True,
        check=False,
    )
    assert output.stdout.split() == ["blank", "Linear"], output.stderr


def test_a_blank_raises_where_the_solution_stood() -> None:
    text = blank(inspect.getsource(MultiHeadAttention))
    assert "nn.Linear" not in text
    assert text.count("raise NotImplementedError()") == 2
