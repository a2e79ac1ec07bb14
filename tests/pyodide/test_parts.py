"""Of lessons that need PyTorch, the part that opens in a browser: each of its cells runs where there is none."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import nbformat
import numpy as np
import pytest
import torch

from cellcheck.browser.lessons import notebook
from cellcheck.browser.parts import BrowserPart, names_in, part_of, without
from cellcheck.repository import Repository
from tests.nightly import later
from transformer_course.lessons.lesson_01 import experiments, in_browser
from transformer_course.tasks import curve

ROOT = Path(__file__).parents[2]
HERE = Repository.find(ROOT)
MISSING = ("tensorflow", "tokenizers", "torch")
SYMBOLS = {
    "01_pytorch_basics": ["mlp_predict_numpy", "mse_loss_numpy", "linear_gradients"],
    "02_tokenizer": [
        *("build_vocabulary", "encode", "decode", "byte_pair_merges", "apply_merges"),
        *("byte_pair_vocabulary", "byte_pair_ids", "ids_to_text", "round_trips"),
    ],
}
RUN = """
import json, sys
from importlib.machinery import PathFinder
import matplotlib
matplotlib.use("agg")
found = PathFinder.find_spec
missing = sys.argv[1:]
PathFinder.find_spec = lambda name, *more: None if name.partition(".")[0] in missing else found(name, *more)
space = {"__name__": "__main__"}
for source in json.load(sys.stdin):
    exec(compile(source, "a cell", "exec"), space)
import torch
try:
    torch.nn.Linear(2, 3)
except ImportError as error:
    print(*error._render_traceback_())
"""


@cache
def part(lesson: str) -> BrowserPart:
    return part_of(HERE, lesson, ["torch"])


def cells(lesson: str) -> list[nbformat.NotebookNode]:
    return list(nbformat.reads(notebook(HERE, lesson, SYMBOLS, part(lesson)), as_version=4).cells)


@pytest.mark.parametrize("lesson", SYMBOLS)
def test_a_part_holds_what_needs_no_pytorch(lesson: str) -> None:
    assert list(part(lesson).symbols) == SYMBOLS[lesson]
    text = "\n".join(cell.source for cell in cells(lesson))
    assert "import torch" not in text
    assert f"{len(SYMBOLS[lesson])} of its {part(lesson).of} exercises are here" in text
    for cell in cells(lesson):
        if cell.cell_type == "code":
            assert not [name for name, *_ in names_in(cell.source)[0] if name in ("torch", "nn", "F")]
    nbformat.validate(nbformat.from_dict({"cells": cells(lesson), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))


SAID = {
    "01_pytorch_basics": ["test inputs that also appear in the training data: 0", "loss before turning: 0.859"],
    "02_tokenizer": ["it is: 124,323", "it is: 48 of 426", "tokenizers is not installed here"],
}
"""What cells print, as in the executed solution."""


@pytest.mark.parametrize("lesson", ["01_pytorch_basics", pytest.param("02_tokenizer", marks=later)])
def test_its_cells_run_where_there_is_no_pytorch(lesson: str) -> None:
    """With our answers in them, from the first to the last."""
    ours = {cell.id: cell.source for cell in nbformat.read(HERE.solution(lesson), as_version=4).cells}
    code = [cell for cell in cells(lesson) if cell.cell_type == "code"]
    run = [ours[cell.id] if cell.id in SYMBOLS[lesson] else cell.source for cell in code]
    command = [sys.executable, "-c", RUN, *MISSING]
    done = subprocess.run(command, input=json.dumps(run), capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count(": right, ") == len(SYMBOLS[lesson])
    assert [line for line in SAID[lesson] if line not in done.stdout] == []
    assert done.stdout.endswith(
        "This needs PyTorch, which isn't here in the browser: open the lesson in Colab, or on your own machine.\n"
    )


@pytest.mark.parametrize("seed", range(3))
def test_lesson_1_has_the_same_points_and_networks_there(seed: int) -> None:
    there, here = in_browser.noisy_curve(seed), curve.noisy_curve(seed)
    for one, other in zip((*there.train, *there.test), (*here.train, *here.test), strict=True):
        assert np.abs(one.numpy() - other.numpy()).max() < 1e-6
    assert in_browser.baseline_losses(there) == pytest.approx(curve.baseline_losses(here), rel=1e-4)
    assert in_browser.shared_inputs(there) == curve.shared_inputs(here)
    assert np.allclose(in_browser.grid().numpy(), curve.grid().numpy())
    sizes = [1, 32, 32, 1]
    for layers in zip(in_browser.lab.random_params(sizes, seed), experiments.random_params(sizes, seed), strict=True):
        for one, other in zip(*layers, strict=True):
            assert torch.equal(torch.from_numpy(one.numpy()), other)


def test_what_a_cell_takes_and_leaves() -> None:
    taken, left = names_in(
        "%time\nimport numpy as np\nx = [lab.share(y) for y in data.rows]\ndef f(z): return z + torch.e\n"
    )
    assert {*taken} == {("lab", "share"), ("data", "rows"), ("torch", "e")}
    assert left == {"np", "x", "f"}


SETUP = """\
import numpy as np
import torch
from torch import nn
from course import (
    a,
    b,
)
torch.set_num_threads(1)
x = 1"""


def test_a_set_up_without_a_package() -> None:
    assert without(SETUP, ["torch"]) == "import numpy as np\nfrom course import (\n    a,\n    b,\n)\nx = 1"
    assert without(SETUP, ["torch"], ["a", "b", "c"]) == "import numpy as np\nx = 1"
