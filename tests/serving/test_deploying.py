"""The unit and the container, as far as a machine without systemd and without containers can try them."""

from __future__ import annotations

import configparser
import re
import shlex
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import typer.main

from cellcheck import cli
from tests.warm import PATH

DEPLOY = Path(str(files("cellcheck.serving"))) / "deploy"
ROOT = Path(__file__).parents[2]


def options(command: str) -> set[str]:
    """The options in a command line, each of which must exist."""
    words = shlex.split(command)
    known = {
        name
        for parameter in typer.main.get_command(cli.app).commands["serve"].params  # type: ignore[attr-defined]
        for name in parameter.opts
    }
    used = {word for word in words[words.index("serve") :] if word.startswith("--")}
    assert used <= known, used - known
    return used


def test_the_unit_starts_the_service_as_it_is() -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.optionxform = str  # type: ignore[assignment,method-assign]
    unit.read(DEPLOY / "cellcheck-serve.service")
    service = unit["Service"]
    assert "--address" in options(service["ExecStart"])
    assert "https://" in service["ExecStart"]
    assert service["User"] == "cellcheck"
    # Whatever took the namespaces away would take the walls away.
    assert not {"RestrictNamespaces", "SystemCallFilter", "PrivateUsers"} & service.keys()
    if tool := shutil.which("systemd-analyze"):
        output = subprocess.run(
            [tool, "verify", str(DEPLOY / "cellcheck-serve.service")], capture_output=True, text=True, check=False
        ).stderr.splitlines()
        assert [line for line in output if "/srv/venv/bin/cellcheck is not executable" not in line] == []


def test_the_container_starts_it_too() -> None:
    text = (DEPLOY / "Containerfile").read_text("utf-8")
    (command,) = re.findall(r"^CMD (\[.*\])$", text, re.MULTILINE)
    assert "--host" in options(" ".join(re.findall(r'"([^"]+)"', command)))
    assert re.search(r"^USER 1000$", text, re.MULTILINE)
    assert "--uid 1000 cellcheck" in text
    if tool := shutil.which("hadolint", path=PATH["PATH"]):
        done = subprocess.run(
            [tool, "--no-color", str(DEPLOY / "Containerfile")], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (0, "")


def test_the_guide_says_what_there_is() -> None:
    guide = (ROOT / "docs" / "serving.md").read_text("utf-8")
    from cellcheck.serving import lti_tables
    from cellcheck.serving.settings import Rules

    for name in lti_tables.Base.metadata.tables:
        assert f"| `{name}` |" in guide, name
    for name in Rules.__dataclass_fields__:
        assert name == "title" or f"| `{name} = " in guide, name
    for command in re.findall(r"^cellcheck serve .*$", guide, re.MULTILINE):
        options(command)
