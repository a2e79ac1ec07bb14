"""A cell that asks for a guess reveals nothing before there is one; whoever grades and builds is not asked."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.kernels import outputs_in_a_kernel

SHOWS = 'known = 42\nprint("it is 42")\nknown'
CELLS = {
    "set-up": 'import cellcheck\nfor _ in range(2):\n    check = cellcheck.checks("01_pytorch_basics")',
    "no guess": f"guess_known = None  # a number\n{SHOWS}",
    "nothing ran": "print('known' in globals(), guess_known)",
    "one of two": f"guess_a, guess_b = 1, None\n{SHOWS}",
    "a number": f"guess_known = 41  # a number\n{SHOWS}",
    "words": "guess_winner = on its own  # or\nprint(repr(guess_winner))",
    "a word": "guess_mode = eval\nguess_other = 'train'\nprint(guess_mode, guess_other)",
    "no idea": "guess_share = ?\nprint(guess_share)",
    "no guess at all": "other = None\nprint(other)",
}


def said(folder: Path, surroundings: Mapping[str, str]) -> dict[str, str]:
    """What each cell printed, in a kernel with these variables."""
    outputs = outputs_in_a_kernel(CELLS, folder, os.environ | dict(surroundings))
    return {
        name: "".join(output.get("text", output.get("data", {}).get("text/plain", "")) for output in shown)
        for name, shown in outputs.items()
    }


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """In JupyterLab, whose server says which notebook this is."""
    folder = tmp_path_factory.mktemp("person")
    return said(folder, {"JPY_SESSION_NAME": str(folder / "notebook.ipynb")})


@pytest.mark.parametrize("cell", ["no guess", "one of two"])
def test_without_a_guess_nothing_runs_and_one_is_asked_for(person: dict[str, str], cell: str) -> None:
    assert "Write your guess in place of None, and run this cell again" in person[cell]
    assert person[cell].count("What do you think?") == 1  # set up twice, asked once
    assert "42" not in person[cell]
    assert person["nothing ran"] == "False None\n"


def test_with_a_guess_it_runs(person: dict[str, str]) -> None:
    assert person["a number"] == "it is 42\n42"
    assert person["no guess at all"] == "None\n"


def test_words_need_no_quotes(person: dict[str, str]) -> None:
    assert person["words"] == "'on its own'\n"
    assert person["a word"] == "eval train\n"
    assert person["no idea"] == "?\n"


@pytest.mark.parametrize("grades", [True, False])
def test_whoever_grades_or_builds_is_not_asked(tmp_path: Path, grades: bool) -> None:
    grading = {"JPY_SESSION_NAME": str(tmp_path / "notebook.ipynb"), "NBGRADER_EXECUTION": "autograde"}
    assert said(tmp_path, grading if grades else {})["no guess"] == "it is 42\n42"
