"""A course without its answers in sight: nothing to find in its files, and everything works."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cellcheck import cli, sealing
from cellcheck.errors import GraderError
from cellcheck.files import write_whole
from cellcheck.learning import progress
from cellcheck.learning.answers import ours
from cellcheck.learning.reset import place
from cellcheck.sealing import FILE, readable, seal, text_of
from tests.learning.learners import answer
from tests.tutoring.leaks import leaks, whole_answers

ROOT = Path(__file__).parents[2]
LESSON, SYMBOL = "05_causal_masks", "causal_mask"

ELSEWHERE = {
    "10_training_well half_precision_step",
    "03_classification_transformer padding_mask",
    "08_attention_is_all_you_need create_padding_mask",
}
"""Exercises whose answer, of one long statement, the course's own experiments have as well."""


def copied(folder: Path) -> Path:
    """The course's package, as pip puts it there, on top of what may be there already."""
    package = folder / "transformer_course"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "transformer_course", package, ignore=ignored, dirs_exist_ok=True)
    return package


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What pip puts into an environment, sealed."""
    folder = tmp_path_factory.mktemp("site")
    package = copied(folder)
    shutil.copytree(ROOT / "notebooks", package / "notebooks")
    shutil.copytree(ROOT / "data", package / "data")
    assert seal(package, package / "lessons") > 150
    assert seal(package, package / "lessons") == 0
    return folder


def said(site: Path, folder: Path, *command: str) -> str:
    env = {**os.environ, "PYTHONPATH": str(site), "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, *command], cwd=folder, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def test_a_search_finds_no_answer(site: Path) -> None:
    """Single statements stand elsewhere, too, in the course's own experiments; whole answers don't."""
    package = site / "transformer_course"
    for path in readable(package):
        text = path.read_text("utf-8")
        assert "\n    ### BEGIN SOLUTION" not in text, path
        assert path.suffix != ".md" or not path.parent.name.startswith("lesson_") or len(text) < 100, path
        assert whole_answers(text) <= ELSEWHERE, path
    assert leaks((package / FILE).read_text("ascii")) == []


def test_the_texts_are_all_there(site: Path) -> None:
    for path in readable(ROOT / "transformer_course"):
        sealed = site / path.relative_to(ROOT)
        if path != ROOT / "transformer_course" / "__init__.py":
            assert text_of(sealed) == path.read_text("utf-8"), path


@pytest.mark.parametrize("written", [0, 1, 2, 30])
def test_an_interruption_costs_nothing_and_the_next_time_goes_on(
    written: int, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, left = copied(tmp_path), iter(range(written))

    def interrupted(path: Path, content: str | bytes) -> None:
        if next(left, None) is None:
            raise KeyboardInterrupt
        write_whole(path, content)

    with monkeypatch.context() as patched:
        patched.setattr(sealing, "write_whole", interrupted)
        with pytest.raises(KeyboardInterrupt):
            seal(package, package / "lessons")
    for path in readable(package):
        if path != package / "__init__.py":
            assert text_of(path) == (ROOT / path.relative_to(tmp_path)).read_text("utf-8"), path
    assert seal(package, package / "lessons") > 150 - written
    for path in readable(package):
        assert path.read_text("utf-8") == (site / path.relative_to(tmp_path)).read_text("utf-8"), path


def test_a_course_that_is_installed_again_is_open_and_can_be_sealed_again(tmp_path: Path) -> None:
    package = copied(tmp_path)
    seal(package, package / "lessons")
    changed = copied(tmp_path) / "causal.py"
    changed.write_text("# a newer one\n" + changed.read_text("utf-8"), "utf-8")
    assert text_of(changed).startswith("# a newer one")
    assert seal(package, package / "lessons") > 150
    assert "tril" not in changed.read_text("utf-8")
    assert text_of(changed).startswith("# a newer one")
    assert "tril" in text_of(changed)


WORKS = f"""
import inspect, sys
import transformer_course.causal as causal
assert "site" in causal.__file__, causal
assert causal.causal_mask(3).sum() == 6
assert "tril" in inspect.getsource(causal.causal_mask)
assert "def decode" in inspect.getsource(causal.CausalSeq2SeqTransformer)
from cellcheck.checking.check import Checker
from cellcheck.syllabus import load_lesson
check = Checker("{LESSON}")
for exercise in load_lesson("{LESSON}").exercises:
    for mistake in exercise.mistakes[:3]:
        assert check.verdict(exercise.symbol, mistake.implementation).diagnosis == mistake.name, mistake.name
    for name, right in list(exercise.variants.items())[:2]:
        assert check.verdict(exercise.symbol, right).status == "passed", name
print("all right")
"""


def test_lessons_and_checks_work(site: Path, tmp_path: Path) -> None:
    assert "all right" in said(site, tmp_path, "-c", WORKS)


GRADES = """
import json, sys
from pathlib import Path
from cellcheck.tutoring.desk import Desk
if __name__ == "__main__":
    desk = Desk(Path("."))
    print(json.dumps([desk.check("causal_mask"), desk.check("decoder_mask")]))
"""


def test_the_tutor_works(site: Path, tmp_path: Path) -> None:
    notebook = place(LESSON, tmp_path)
    right = (
        "def decoder_mask(targets, pad_id=0):\n"
        "    return causal_mask(targets.shape[1]) & padding_mask(targets, pad_id)\n"
    )
    wrong = "def causal_mask(length):\n    return torch.ones(length, length, dtype=torch.bool).triu()\n"
    answer(notebook, causal_mask=wrong, decoder_mask=right)
    (tmp_path / "ask.py").write_text(GRADES)
    first, second = json.loads(said(site, tmp_path, "ask.py").splitlines()[-1])
    assert (first["diagnosis"], second["status"]) == ("future_kept", "passed")


def test_ours_is_shown_one_at_a_time_and_recorded(site: Path, tmp_path: Path) -> None:
    place(LESSON, tmp_path)
    shown = said(site, tmp_path, "-m", "cellcheck", "ours", SYMBOL)
    assert "tril" in shown
    assert "def decoder_mask" not in shown
    assert "SOLUTION" not in shown
    assert set(progress.record(tmp_path).ours[LESSON]) == {SYMBOL}
    assert "tril" not in (site / "transformer_course" / "causal.py").read_text("utf-8")


@pytest.mark.parametrize("symbol", ["create_padding_mask", "masks_are_sound"])
def test_ours_is_shown_as_it_is_written(symbol: str, tmp_path: Path) -> None:
    """No line is broken, and nothing in brackets or between colons is taken for a style."""
    place("08_attention_is_all_you_need", tmp_path)
    asked = ["ours", symbol, "--lesson", "08", "--folder", str(tmp_path)]
    done = CliRunner().invoke(cli.app, asked, env={"COLUMNS": "40"})
    assert done.exit_code == 0, done.output
    assert done.output == ours(tmp_path, symbol, "08")


def test_a_repository_is_not_sealed() -> None:
    with pytest.raises(GraderError, match="copy of the repository"):
        seal(ROOT / "transformer_course", ROOT / "transformer_course" / "lessons")
