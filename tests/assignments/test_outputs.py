"""What a learner's cells showed reaches whoever grades them, and the learner's page; nothing else of it does."""

import base64
import contextlib
import json
from pathlib import Path
from typing import Any

import nbformat
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.gradebook.course import Course
from cellcheck.running.outputs import LEFT_OUT, MAX_ALL, MAX_PICTURES, MAX_WORDS, NO_PICTURE, outputs_of
from tests.assignments import sources
from tests.assignments.sources import answer, hand_in, plain, task
from tests.assignments.sources import test as check_cell
from tests.assignments.test_settings import autograde

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(40)).decode()
EVIL = "<script>alert(1)</script>"


def shown(*outputs: dict[str, Any]) -> list[dict[str, Any]]:
    """What is kept of a cell's outputs."""
    cell = {"cell_type": "code", "source": "1", "metadata": {}, "outputs": list(outputs)}
    return outputs_of(json.dumps({"cells": [cell]}).encode()).get("1", [])


def display(**bundle: Any) -> dict[str, Any]:
    data = {name.replace("_", "/"): value for name, value in bundle.items()}
    return {"output_type": "display_data", "data": data, "metadata": {"image/png": {"width": EVIL}}}


def stream(text: Any) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def test_words_and_pictures_are_kept_and_nothing_else() -> None:
    (picture,) = shown(display(image_png=[PNG[:10], "\n" + PNG[10:]], text_html=EVIL, text_plain="<Figure>"))
    assert picture == {"output_type": "display_data", "data": {"image/png": PNG}, "metadata": {}}
    (table,) = shown(display(text_html=EVIL, text_plain="a  b", application_javascript="alert(1)"))
    assert table["data"] == {"text/plain": "a  b"}
    assert shown(display(text_html=EVIL)) == [stream(NO_PICTURE)]
    assert shown(display(image_png=base64.b64encode(b"<svg onload=x>").decode()))[0] == stream(NO_PICTURE)
    (error,) = shown({"output_type": "error", "ename": "E", "evalue": "\x1b[31mno\x1b[0m", "traceback": [EVIL]})
    assert error["traceback"] == ["E: no"]
    assert shown(stream(["10%\r50%\r100%\n", "\x1b]0;told\x07 done"]))[0]["text"].startswith("100%\n")
    assert "\x1b" not in shown(stream("\x1b]0;told\x07"))[0]["text"]
    odd: list[Any] = [3, None, {}, {"output_type": ["stream"]}, {"output_type": "display_data", "data": "x"}]
    assert shown(*odd) == []


def test_there_is_an_end_to_it() -> None:
    (long,) = shown(stream("x" * 50 * MAX_WORDS))
    assert len(long["text"]) <= MAX_WORDS
    assert LEFT_OUT.strip() in long["text"]
    large = base64.b64encode(base64.b64decode(PNG) + bytes(MAX_PICTURES // 2)).decode()
    assert [output["output_type"] for output in shown(*[display(image_png=large)] * 3)] == ["display_data", "stream"]
    cells = [{"cell_type": "code", "source": "", "outputs": [display(image_png=large)]} for _ in range(30)]
    assert len(json.dumps(outputs_of(json.dumps({"cells": cells}).encode()))) < 1.1 * MAX_ALL
    assert len(shown(*[stream("x")] * 5000)) == 101


CELLS = [
    answer("draw", "# YOUR CODE HERE\nraise NotImplementedError()", 3),
    answer("n", "n = None"),
    check_cell("test_n", 1, "assert n == 4"),
    task("explore", 2, "Explore the data."),
    plain("explored = 1"),
]


def test_a_person_sees_the_plot_and_the_learner_too(tmp_path: Path) -> None:
    (tmp_path / "nbgrader_config.py").write_text(sources.CONFIG)
    sources.add(tmp_path, "hw", {"one": CELLS})
    Course.open(tmp_path).ensure_assignment("hw", plain=True)
    folder = hand_in(tmp_path, "hw", "ada", {("one", "draw"): f"plot(x)  # {EVIL}", ("one", "n"): "n = 4"})
    notebook = json.loads((folder / "one.ipynb").read_text("utf-8"))
    draw, _, test, _, explored = notebook["cells"]
    draw["outputs"] = [display(image_png=PNG, text_html=EVIL), {**stream(f"drawn {EVIL}")}]
    test["outputs"] = [stream("I passed")]
    explored["outputs"] = [stream("much was found")]
    (folder / "one.ipynb").write_text(json.dumps(notebook), "utf-8")
    code, printed = autograde(tmp_path)
    assert code == 0, printed
    graded = json.loads((tmp_path / "autograded" / "ada" / "hw" / "one.ipynb").read_text("utf-8"))
    draw, _, test, _, explored = graded["cells"]
    assert [output["output_type"] for output in draw["outputs"]] == ["display_data", "stream"]
    assert "I passed" not in json.dumps(test)
    assert explored["outputs"][0]["text"] == "much was found"
    with Course.open(tmp_path).gradebook() as book:
        assert book.find_grade("draw", "one", "hw", "ada").needs_manual_grade
    page = tmp_path / "feedback" / "ada" / "hw" / "one.html"
    for again in (False, True):
        if again:
            page.unlink()
            saved = tmp_path / "autograded" / "ada" / "hw" / "one.ipynb"
            nbformat.write(nbformat.read(saved, as_version=4), saved)  # as Jupyter does
            with contextlib.chdir(tmp_path):
                assert CliRunner().invoke(cli.app, ["feedback", "hw"]).exit_code == 0
        text = page.read_text("utf-8")
        assert f'<img src="data:image/png;base64,{PNG}"' in text
        assert "much was found" in text
        assert "drawn &lt;script&gt;" in text
        assert EVIL not in text


def test_words_and_errors_count_too() -> None:
    error = {"output_type": "error", "ename": "x" * MAX_WORDS, "evalue": "x" * MAX_WORDS, "traceback": []}
    for output in (stream("x" * MAX_WORDS), error):
        cells = [{"cell_type": "code", "source": "", "outputs": [output] * 3} for _ in range(1000)]
        assert len(json.dumps(outputs_of(json.dumps({"cells": cells}).encode()))) < 1.2 * MAX_ALL


def test_what_stands_below_a_picture_that_is_too_large_is_kept() -> None:
    large = base64.b64encode(base64.b64decode(PNG) + bytes(MAX_PICTURES)).decode()
    assert shown(display(image_png=large), stream("So it grows.")) == [stream("So it grows."), stream(LEFT_OUT)]
