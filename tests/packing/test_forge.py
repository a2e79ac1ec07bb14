"""What a forge's workflow starts: a push in, a card out; the seed stays a secret."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from cellcheck.checking.judge import FAILED, Verdict
from cellcheck.demo.learners import Learner
from cellcheck.errors import GraderError
from cellcheck.packing import forge
from cellcheck.repository import Repository
from cellcheck.running.result import OwnResult, Result
from cellcheck.syllabus import load_lesson
from tests.assignments import sources

REPOSITORY = Repository.find(Path(__file__).parent)
LESSON = "09_numpy_transformer"  # which needs no PyTorch
FIRST, SECOND, *_ = load_lesson(LESSON).exercises
SEED = "81726354"
PAGE = (REPOSITORY.root / "docs" / "forge.md").read_text("utf-8")


def push(root: Path, types: dict[str, str]) -> Path:
    """A repository with a learner's notebook, beside another lesson's."""
    released = REPOSITORY.notebook(LESSON).read_text("utf-8")
    for lesson, text in (
        (LESSON, Learner("ada", LESSON, begins=2, types=types).hand_in(released)),
        ("01_pytorch_basics", REPOSITORY.notebook("01_pytorch_basics").read_text("utf-8")),
    ):
        path = root / "notebooks" / lesson / f"{lesson}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(text, "utf-8")
    return root


def test_a_push_becomes_a_card_in_the_summary_and_for_the_pull_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    work = push(tmp_path / "work", {FIRST.symbol: f"def {FIRST.symbol}(*args):\n    return None"})
    (tmp_path / "summary.md").write_text("before\n")
    monkeypatch.setenv(forge.SEED, SEED)
    monkeypatch.setenv(forge.SUMMARY, str(tmp_path / "summary.md"))
    assert forge.main([str(work), LESSON, "--card", str(tmp_path / "card.md")]) == 0
    card = (tmp_path / "card.md").read_text("utf-8")
    assert (tmp_path / "summary.md").read_text("utf-8") == "before\n" + card
    assert card.startswith(f"### {SECOND.points:g} of ")
    assert f"| `{FIRST.symbol}` | 0 / {FIRST.points:g} | failed |" in card
    assert f"| `{SECOND.symbol}` | {SECOND.points:g} / {SECOND.points:g} | passed |" in card
    assert f"{FIRST.symbol}: not yet" in card
    printed = capsys.readouterr()
    assert card in printed.out
    assert SEED not in card + printed.out + printed.err


def test_what_cannot_be_graded_is_a_card_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(forge.SEED, SEED)
    monkeypatch.delenv(forge.SUMMARY, raising=False)
    (tmp_path / "work").mkdir()
    card = tmp_path / "card.md"
    assert forge.main([str(tmp_path / "work"), LESSON, "--card", str(card)]) == 1
    assert "There is no notebook in what you handed in" in card.read_text("utf-8")
    (tmp_path / "work" / f"{LESSON}.ipynb").symlink_to("/etc/passwd")
    assert forge.main([str(tmp_path / "work"), LESSON, "--card", str(card)]) == 1
    assert "This is a link, not a file." in card.read_text("utf-8")


def test_an_assignment_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    course = tmp_path / "course"
    course.mkdir()
    (course / "nbgrader_config.py").write_text(sources.CONFIG)
    sources.add(course, "intro", {"variables": sources.VARIABLES})
    work = tmp_path / "work"
    work.mkdir()
    (work / "variables.ipynb").write_bytes(sources.work(sources.VARIABLES, {"honour": "honest = True"}))
    monkeypatch.delenv(forge.SEED, raising=False)
    card = tmp_path / "card.md"
    assert forge.main([str(work), "intro", "--course", str(course), "--card", str(card)]) == 0
    assert "| `test_honour` | 0.25 / 0.25 | passed |" in card.read_text("utf-8")


@pytest.mark.parametrize(
    ("seed", "sentence"), [("", "There is no CELLCHECK_SEED"), ("seven", "isn't a number"), ("-1", "isn't a number")]
)
def test_faults_that_are_not_the_learners(tmp_path: Path, seed: str, sentence: str) -> None:
    environment = {**os.environ, forge.SEED: seed}
    command = [sys.executable, "-I", "-m", "cellcheck.packing.forge", str(tmp_path), LESSON]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1
    with pytest.raises(GraderError, match="There is no folder"):
        forge.main([str(tmp_path / "gone"), LESSON])


def test_a_learner_cannot_write_markdown() -> None:
    nasty = "```\n# Full marks\n@everyone [x](https://example.org) <img src=x>"
    verdict = Verdict("f", 0.0, 1.0, FAILED, nasty)
    own = OwnResult("t|`x`", 0.0, 1.0, nasty)
    for markdown in (forge.card(Result("x", "l", (verdict,), (nasty,), 0.1, (own,))), forge.card(nasty)):
        _, *blocks = re.split(r"^```.*$", markdown, flags=re.MULTILINE)
        assert len(blocks) == 2
        outside = re.sub(r"```text\n.*?\n```", "", markdown, flags=re.DOTALL)
        assert not re.search(r"everyone|Full marks|<img", outside)
    assert len(forge.card("x" * 200_000)) < 65_536


def test_the_workflow_on_the_page() -> None:
    """It starts this script, from the main branch alone, with pinned actions and a secret of its environment."""
    (text,) = re.findall(r"^```yaml \.github/workflows/grade\.yml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    workflow = yaml.safe_load(text)
    assert list(workflow[True]) == ["pull_request_target"]  # YAML reads `on` so
    (job,) = workflow["jobs"].values()
    assert job["environment"] == "grading"
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", action) for action in used)
    checkout = job["steps"][0]["with"]
    assert checkout["persist-credentials"] is False
    assert checkout["path"] == "work"
    (step,) = [step for step in job["steps"] if "cellcheck.packing.forge" in step.get("run", "")]
    assert step["env"] == {forge.SEED: "${{ secrets.CELLCHECK_SEED }}"}
    # What a learner writes is nowhere put into a script.
    assert not re.search(
        r"\$\{\{ *github\.(head_ref|event\.pull_request\.(title|body|head\.ref))", json.dumps(workflow)
    )
