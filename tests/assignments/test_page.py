"""docs/assignments.md: every command in its boxes is run, in order."""

import contextlib
import csv
import io
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.repository import Repository
from tests.assignments import sources
from tests.importing.assignments import ASSIGNMENTS

DOCS = Repository.find(Path(__file__).parent).root / "docs"
PAGE = (DOCS / "assignments.md").read_text("utf-8")
COMMANDS = [
    line for box in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) for line in box.splitlines()
]


def test_every_command_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nbgrader_config.py").write_text(sources.CONFIG)
    sources.add(tmp_path, "intro", {"variables": sources.VARIABLES})
    answers = {name: text for (_, name), text in sources.answers(tmp_path, "intro").items()}
    (tmp_path / "downloads").mkdir()
    (tmp_path / "downloads" / "ada.ipynb").write_bytes(sources.work(sources.VARIABLES, answers))
    ASSIGNMENTS["shown"].write(tmp_path / "otter", "hw01")
    monkeypatch.chdir(tmp_path)
    outputs = {}
    for line in COMMANDS:
        program, *arguments = shlex.split(line)
        assert program == "cellcheck"
        done = CliRunner().invoke(cli.app, arguments)
        assert done.exit_code == 0, f"{line}\n{done.output}"
        outputs[arguments[0]] = done.stdout
    assert set(outputs) == {"collect", "autograde", "report", "feedback", "export", "grade", "import"}
    ((example, shown),) = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(example, {})
    assert printed.getvalue() == shown
    assert re.search(r"^ada +2 / 8 ", outputs["autograde"], re.MULTILINE)
    assert re.search(r"^ada.ipynb +2 / 2 ", outputs["grade"], re.MULTILINE)
    (row,) = csv.DictReader((tmp_path / "marks.csv").read_text("utf-8").splitlines())
    assert row["Grade"] == "2"
    # an assignment that is neither a lesson nor here
    done = CliRunner().invoke(cli.app, ["report", "nowhere"])
    assert done.exit_code != 0
    assert "Nor are there notebooks of an assignment 'nowhere'" in str(done.exception)
