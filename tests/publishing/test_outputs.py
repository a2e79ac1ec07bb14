"""On a page nobody has guessed, and what cells printed says so."""

import json
from pathlib import Path

import pytest

from cellcheck.publishing.outputs import shown_html, without_guess
from cellcheck.repository import Repository
from cellcheck.syllabus import lesson_names

REPOSITORY = Repository.find(Path(__file__).parent)


@pytest.mark.parametrize(
    ("printed", "left"),
    [
        ("your guess: None\nit is: (3, 4)\n", "it is: (3, 4)\n"),
        ("your guess: None  it is: 5\n", "It is: 5\n"),
        ("your guess: None%, measured: 30%\n", "Measured: 30%\n"),
        ("your guess: None of eight, it is: 0\n", "It is: 0\n"),
        ("your guesses: None, None; it beats: yes\n", "It beats: yes\n"),
        ("training: your guess is None, it is 1.00\n", "training: it is 1.00\n"),
        ("your guess: None\n", ""),
        ("with standardize=None: [3, 7]\n", "with standardize=None: [3, 7]\n"),
        ("a line\n\nand another", "a line\n\nand another"),
    ],
)
def test_without_a_guess(printed: str, left: str) -> None:
    assert without_guess(printed) == left


@pytest.mark.parametrize("name", lesson_names())
def test_no_lesson_shows_a_guess_that_nobody_made(name: str) -> None:
    asked = 0
    for cell in json.loads(REPOSITORY.solution(name).read_text("utf-8"))["cells"]:
        for output in cell.get("outputs", []):
            if output["output_type"] == "stream":
                text = "".join(output["text"])
                asked += text != without_guess(text)
                assert not [line for line in without_guess(text).splitlines() if "guess" in line and "None" in line]
    assert asked


def test_tables() -> None:
    board = (
        "<table><thead><tr><th></th><th>question</th>"
        "<th>your guess</th><th>what happened</th><th>right?</th></tr></thead>"
        "<tbody><tr><th>0</th><td>a share</td><td>-</td><td>0.4</td><td></td></tr></tbody></table>"
    )
    html = shown_html(board)
    assert "<td></td><th>question</th><th>what happened</th>" in html
    assert "guess" not in html
    assert "right?" not in html
    assert shown_html("<p>1 < 2</p>") == "<p>1 < 2</p>"
