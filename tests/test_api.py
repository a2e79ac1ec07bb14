"""Grading from Python: every example of docs/api.md, the JSON and its schema, and what a service may rely on.

All tests share one warm process, which costs more than everything that they grade.
"""

import contextlib
import dataclasses
import inspect
import io
import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast, get_args, get_type_hints

import jsonschema
import pytest

import cellcheck
from cellcheck import (
    Failure,
    GraderError,
    MissingProtection,
    Result,
    Unreadable,
    Verdict,
    grade_notebook,
    grade_notebooks,
)
from cellcheck.cli import contests, grading
from cellcheck.demo.learners import Learner
from cellcheck.repository import Repository
from cellcheck.running import warming, zygotes
from tests.attacks.attacks import wait_until
from transformer_course.lessons.lesson_01.demo import LESSON

REPOSITORY = Repository.find(Path(__file__).parent)
PAGE = (REPOSITORY.root / "docs" / "api.md").read_text("utf-8")
BOXES = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SCHEMA = json.loads((REPOSITORY.root / "grader" / "cellcheck" / "results.schema.json").read_text("utf-8"))
ENTRIES = SCHEMA["$defs"]


@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A working folder, far from the course, with what three learners handed in."""
    folder = tmp_path_factory.mktemp("api") / "submitted"
    folder.mkdir()
    released = REPOSITORY.notebook(LESSON).read_text("utf-8")
    wrong = {"mse_loss": (".mean()", ".sum()")}
    (folder / "ada.ipynb").write_text(Learner("ada", LESSON, edits=wrong).hand_in(released), "utf-8")
    (folder / "bob.ipynb").write_text("", "utf-8")
    (folder / "cy.ipynb").write_text(Learner("cy", LESSON, begins=3).hand_in(released), "utf-8")
    course = folder.parent / "my_course"
    source = course / "solutions" / LESSON / f"{LESSON}.ipynb"
    source.parent.mkdir(parents=True)
    shutil.copy(REPOSITORY.root / "nbgrader_config.py", course)
    shutil.copy(REPOSITORY.solution(LESSON), source)
    for notebook in folder.glob("*.ipynb"):
        place = course / "submitted" / notebook.stem / LESSON
        place.mkdir(parents=True)
        shutil.copy(notebook, place / f"{LESSON}.ipynb")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingProtection)
        patch.chdir(folder.parent)
        yield folder


# --- the page ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def space(submitted: Path) -> dict[str, Any]:
    """The examples' names once all of them have run, each having printed what the page shows."""
    space: dict[str, Any] = {"__name__": "__main__"}
    for (language, text), (follows, shown) in zip(BOXES, [*BOXES[1:], ("", "")], strict=True):
        if language != "python":
            continue
        with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.redirect_stderr(io.StringIO()):
            exec(text, space)
        expected = shown if follows == "text" else ""
        pattern = ".*".join(re.escape(part) for part in expected.split("..."))
        assert re.fullmatch(pattern, printed.getvalue()), f"{text}\nprinted\n{printed.getvalue()}"
    return space


def test_the_examples_print_what_the_page_shows(space: dict[str, Any]) -> None:
    assert {"result", "marks", "report", "again", "mark"} <= set(space)
    assert sum(language == "text" for language, _ in BOXES) >= 5


def test_the_functions_take_what_the_commands_take() -> None:
    """Except the files that a command writes from what comes back."""
    for command, function, otherwise in (
        (grading.autograde, cellcheck.autograde, {"lesson": "assignment", "json_file": None, "learner": "again"}),
        (contests.leaderboard, cellcheck.score_entries, {"json_file": "table", "html": None}),
        (grading.grade, grade_notebooks, {"json_file": None}),
    ):
        asked = {otherwise.get(name, name) for name in inspect.signature(command).parameters} - {None}
        assert asked <= inspect.signature(function).parameters.keys()


def test_the_json_that_the_page_shows_is_real(space: dict[str, Any]) -> None:
    (shown,) = (json.loads(text) for language, text in BOXES if language == "json")
    failures = [Failure("submitted/bob.ipynb", "The file is empty. Save the notebook, and submit it again.")]
    real = cellcheck.to_json([space["result"], *failures])
    jsonschema.validate(shown, SCHEMA)
    jsonschema.validate(real, SCHEMA)
    (short,), (whole,) = shown["results"], real["results"]
    (exercise,) = (entry for entry in whole["exercises"] if entry["symbol"] == "mse_loss")
    exercise["aspects"] = exercise["aspects"][:2]
    assert short == whole | {"seconds": short["seconds"], "exercises": [exercise]}
    assert shown["errors"] == real["errors"]


def test_the_page_lists_every_status() -> None:
    assert re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE) == list(get_args(cellcheck.Status))


# --- the JSON ---------------------------------------------------------------------------------------------------


def test_the_schema_says_what_is_written_and_no_more(space: dict[str, Any]) -> None:
    own = cellcheck.OwnResult("test_mine", 1.0, 2.0, "It ran without an error.")
    document = cellcheck.to_json([dataclasses.replace(space["result"], own_tests=(own,)), Failure("a.ipynb", "No.")])
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(document, SCHEMA)
    (result,), (failure,) = document["results"], document["errors"]
    written = {
        "result": result,
        "exercise": result["exercises"][0],
        "aspect": result["exercises"][0]["aspects"][0],
        "forgeable": result["forgeable"][0],
        "failure": failure,
    }
    assert list(document) == SCHEMA["required"] == list(SCHEMA["properties"])
    assert {name: list(entry) for name, entry in written.items()} == {
        name: list(entry["properties"]) for name, entry in ENTRIES.items()
    }
    for name, entry in ENTRIES.items():
        assert set(entry["properties"]) - set(entry["required"]) == ({"forgeable"} if name == "result" else set())
    assert ENTRIES["exercise"]["properties"]["status"]["enum"] == list(get_args(cellcheck.Status))


@pytest.mark.parametrize(
    ("where", "value"),
    [("status", "excellent"), ("score", "2"), ("message", "two\nlines"), ("aspects", ["values"]), ("diagnosis", 3)],
)
def test_the_schema_refuses_what_is_not_the_contract(space: dict[str, Any], where: str, value: object) -> None:
    document = cellcheck.to_json([space["result"]])
    document["results"][0]["exercises"][0][where] = value
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, SCHEMA)


def test_it_can_be_read_back_by_an_older_release(space: dict[str, Any]) -> None:
    """Keys of a later release are left alone; another version is refused."""
    outcomes = [space["result"], Failure("a.ipynb", "No.")]
    document = cellcheck.to_json(outcomes)
    result, failure = cellcheck.from_json(json.loads(json.dumps(document)))
    assert failure == outcomes[1]
    assert isinstance(result, Result)
    assert (result.score, result.max_score, result.lesson) == (23.0, 24.0, LESSON)
    assert cellcheck.to_json([result, failure]) == document
    for entry in (document, document["results"][0], document["results"][0]["exercises"][0], document["errors"][0]):
        entry["later"] = 1
    assert cellcheck.from_json(document) == [result, failure]
    with pytest.raises(GraderError, match="of version 2"):
        cellcheck.from_json(document | {"version": 2})
    for broken in ({}, {"version": 1, "results": [{}], "errors": []}, [], {"version": 1, "results": 3, "errors": []}):
        with pytest.raises(GraderError, match="not what cellcheck grade --json writes"):
            cellcheck.from_json(broken)  # type: ignore[arg-type]


# --- what a service relies on -----------------------------------------------------------------------------------


def test_a_missing_protection_is_a_warning_or_a_refusal(submitted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cellcheck.running.protection.missing_walls", lambda lesson: {"landlock": "an old kernel"})
    monkeypatch.setattr("cellcheck.running.grade.grade", lambda *_, **__: "graded")
    with pytest.warns(MissingProtection, match="landlock") as one:
        assert grade_notebook("submitted/ada.ipynb") == "graded"  # type: ignore[comparison-overlap]
    with pytest.warns(MissingProtection, match="landlock") as many:
        grade_notebooks(["submitted/ada.ipynb"])
    assert [warning.filename for warning in (*one, *many)] == [__file__, __file__]
    for call in (
        lambda: grade_notebook("submitted/ada.ipynb", require_sandbox=True),
        lambda: grade_notebooks(["submitted/ada.ipynb"], require_sandbox=True),
    ):
        with pytest.raises(GraderError, match="Nothing was graded"):
            call()


def test_each_notebook_may_stand_in_a_folder_of_its_own(
    submitted: Path, space: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a service keeps what is uploaded: no process is started for a folder."""
    idle = list(zygotes._POOL.idle)
    monkeypatch.setattr(warming, "start", lambda *_: pytest.fail("another process was started"))
    paths = [tmp_path / name / "upload.ipynb" for name in ("one", "two", "three")]
    for path in paths:
        path.parent.mkdir()
        path.write_bytes((submitted / "cy.ipynb").read_bytes())
        assert grade_notebook(path, seed=7).score == 5.0
    outcomes = list(grade_notebooks(paths, seed=7))
    assert [outcome.score for outcome in outcomes if isinstance(outcome, Result)] == [5.0, 5.0, 5.0]
    assert set(zygotes._POOL.idle) == set(idle)


def test_a_notebook_among_pythons_own_files_is_refused_and_nothing_else(submitted: Path, space: dict[str, Any]) -> None:
    with pytest.raises(GraderError, match="Move what you grade to a folder of its own"):
        grade_notebook(Path(os.__file__).with_name("nowhere.ipynb"), seed=7)
    assert grade_notebook("submitted/cy.ipynb", seed=7).score == 5.0


def test_a_class_is_stopped_by_what_its_progress_raises_and_goes_on(space: dict[str, Any]) -> None:
    """As a service stops a run; what was graded by then is not graded again."""
    news: list[cellcheck.Progress] = []

    def stop(latest: cellcheck.Progress) -> None:
        if latest.student:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cellcheck.autograde("my_course", LESSON, seed=8, progress=stop)
    with pytest.raises(GraderError, match=r"the seed that the run began with, 8: leave the seed out\."):
        cellcheck.autograde("my_course", LESSON, seed=7, resume=True)
    report = cellcheck.autograde("my_course", LESSON, resume=True, progress=news.append)
    assert report.seed == 8
    assert {name: type(outcome) for name, outcome in report.outcomes.items()} == {
        "ada": Result,
        "bob": Failure,
        "cy": Result,
    }
    assert report.failures == {"bob": report.outcomes["bob"]}
    done = [step for step in news if step.student]
    assert [step.done for step in done] == list(range(1, done[-1].total + 1))
    assert {step.student: type(step.outcome) for step in done} == {
        name: type(outcome) for name, outcome in report.outcomes.items() if name in {step.student for step in done}
    }
    assert len(done) < 3
    assert "of 3 are graded already." in news[0].notes[0]


def test_wrong_arguments_are_told_at_once(submitted: Path) -> None:
    for call in (
        lambda: grade_notebooks([], jobs=0),
        lambda: grade_notebooks([], seed=-1),
        lambda: grade_notebook("submitted/ada.ipynb", seed=-1),
    ):
        with pytest.raises(ValueError, match="must be"):
            call()
    for unmeant in ({"jobs": 0}, {"seed": -1}, {"jobs": 2, "cluster": "tcp://somewhere:8786"}):
        with pytest.raises(ValueError, match=r"must be|jobs is for this machine"):
            cellcheck.autograde("my_course", "01", **unmeant)
    for unmeant in ({"jobs": 0}, {"seed": -1}, {"resume": True}):
        with pytest.raises(ValueError, match=r"must be|resume goes on with a table"):
            cellcheck.score_entries("14", **unmeant)
    with pytest.raises(GraderError, match="There is no lesson '99'"):
        grade_notebooks([], lesson="99")
    with pytest.raises(GraderError, match="There is no lesson '99'"):
        cellcheck.autograde("my_course", "99")
    with pytest.raises(GraderError, match="is not an nbgrader course"):
        cellcheck.autograde("submitted", "01")
    with pytest.raises(GraderError, match="is not the address of a Dask scheduler"):
        cellcheck.autograde("my_course", "01", cluster="somewhere")
    with pytest.raises(Unreadable, match="There is no such file"):
        grade_notebook("submitted/nobody.ipynb")
    with pytest.raises(Unreadable, match="can't be read: File name too long"):
        grade_notebook((submitted / "ada.ipynb").read_text("utf-8"))
    assert list(grade_notebooks([])) == []


def test_a_missing_package_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cellcheck.batch", None)
    with pytest.raises(GraderError, match=r"Grading needs .*extra `grading`\.$"):
        grade_notebooks([])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_refuses(space: dict[str, Any]) -> None:
    """It would speak with its parent's warm process, between two of the parent's own questions."""
    ours, theirs = os.pipe()
    idle = list(zygotes._POOL.idle)
    assert idle
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads have run here
        pid = os.fork()
    if pid == 0:
        try:
            grade_notebook("submitted/cy.ipynb")
        except GraderError as error:
            os.write(theirs, str(error).encode())
        finally:
            os._exit(0)
    os.close(theirs)
    assert os.waitpid(pid, 0)[1] == 0
    with os.fdopen(ours) as pipe:
        assert "forked from one that had graded already" in pipe.read()
    assert zygotes._POOL.idle == idle
    assert grade_notebook("submitted/cy.ipynb", seed=7).score == 5.0


# --- the package ------------------------------------------------------------------------------------------------


def test_every_name_is_there_and_documented() -> None:
    assert set(cellcheck.__all__) <= set(dir(cellcheck))
    for name in {*cellcheck.__all__} - {"Status"}:  # a Literal has no docstring of its own
        assert getattr(cellcheck, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'grade_notebok'"):
        cellcheck.grade_notebok  # type: ignore[attr-defined]  # noqa: B018
    kinds = (Result, Verdict, Failure, *map(cellcheck.__getattr__, ("AspectResult", "Evidence", "OwnResult", "Limits")))
    for kind in (*kinds, cellcheck.Progress, cellcheck.Report, cellcheck.Standings):
        with pytest.raises(dataclasses.FrozenInstanceError):
            object.__new__(kind).anything = 1
    assert get_type_hints(Verdict)["status"] == cellcheck.Status


def test_a_learners_notebook_pays_nothing_for_it() -> None:
    """`import cellcheck` brings in nothing but itself, and naming the functions brings in nothing heavy."""
    script = """
        import sys
        before = set(sys.modules)
        import cellcheck
        print(*sorted({name for name in set(sys.modules) - before if name.partition(".")[0] == "cellcheck"}))
        from cellcheck import GraderError, Limits, MissingProtection, grade_notebook, grade_notebooks, hidden_seed
        from cellcheck import autograde, score_entries
        print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before} - sys.stdlib_module_names))
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["cellcheck", "cellcheck"]


def test_closing_a_batch_ends_its_own_work_only(submitted: Path, space: dict[str, Any]) -> None:
    """The last one here: it ends the warm process."""
    notebook = Learner("eve", LESSON, begins=0).fill_in(REPOSITORY.notebook(LESSON).read_text("utf-8"))
    waits = {"cell_type": "code", "source": "import time\ntime.sleep(9999)", "metadata": {}, "outputs": []}
    notebook.cells.insert(2, waits)
    (submitted.parent / "waits.ipynb").write_text(json.dumps(notebook), "utf-8")
    outcomes = grade_notebooks(["nowhere.ipynb", "waits.ipynb"], limits=cellcheck.Limits(cell_seconds=9999.0))
    assert next(outcomes) == Failure("nowhere.ipynb", "There is no such file.")
    wait_until(lambda: bool(zygotes._POOL.lent))
    its = list(zygotes._POOL.lent)
    somebody_elses = cast("zygotes.Zygote", SimpleNamespace(borrower=threading.get_ident()))
    zygotes._POOL.lent.append(somebody_elses)
    outcomes.close()
    assert zygotes._POOL.lent == [somebody_elses]
    assert all(zygote._process.process.poll() is not None for zygote in its)
    zygotes._POOL.lent.remove(somebody_elses)
