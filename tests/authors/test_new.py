"""`cellcheck new`, and what an author hears who gets something wrong: one sentence that says where, and what to do."""

import itertools
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cellcheck import syllabus
from cellcheck.errors import GraderError
from cellcheck.running.setting import setting_of
from cellcheck.running.zygotes import borrowed
from cellcheck.starting import new_course, new_lesson
from cellcheck.syllabus import VARIABLE, Syllabus, UnknownLesson, course_around, find_lesson
from cellcheck.testing import faults
from tests.shell import Run

ROOT = Path(__file__).parents[2]
LESSON = "01_first_steps"
_NUMBERS = itertools.count()
Say = Callable[..., str]


@pytest.fixture
def refused(grader: Run) -> Say:
    """Runs a command that is to fail with exit code 2; gives its one sentence."""

    def run(*arguments: str) -> str:
        ran = grader(*arguments)
        assert ran.code == 2
        assert ran.err.count("\n") == 1, ran.err
        return ran.err.strip()

    return run


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh course, and the working folder. Its packages have names that no other test imports."""
    course = new_course(tmp_path / f"fresh-{next(_NUMBERS)}")
    monkeypatch.chdir(course.root)
    monkeypatch.setenv(VARIABLE, "")  # --lessons sets it
    monkeypatch.setattr(sys, "path", [*sys.path])
    return course.root


def lesson_folder(root: Path) -> Path:
    (folder,) = root.glob("*/lessons/lesson_01")
    return folder


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


# --- cellcheck new ----------------------------------------------------------------------------------------------


def test_a_fresh_course_is_sound_and_tidy(root: Path) -> None:
    files = new_lesson("02_more_steps")
    assert all((root / path).is_file() for path in files.edit_first)
    assert [faults(LESSON), faults("02_more_steps")] == [[], []]
    assert Syllabus(lesson_folder(root).parent).title == root.name.replace("-", " ").capitalize()
    ruff = [sys.executable, "-m", "ruff"]
    for check in (
        ["check", "--isolated", "--select", "E,F,I,W", "--per-file-ignores", "[0-9]*.py:F821"],
        ["format", "--check", "--isolated"],
    ):
        done = subprocess.run([*ruff, *check, "--line-length", "120", "."], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout


def test_a_check_that_works_by_luck(root: Path) -> None:
    """With some seeds a name is in capitals, and somebody who leaves small letters as they are gets it right."""
    drawn = 'name=("a b", "A B")[draw.whole_number(generator, 0, 1)]'
    edit(lesson_folder(root) / "initials.py", 'name=" ".join(draw.words(generator, 2))', drawn)
    (sentence,) = faults(LESSON)
    assert re.fullmatch(
        r"initials: what the mistake 'small_letters_kept' earns depends on the seed: \S+ with 0, .*, \S+ with 12345\. "
        r"Draw inputs on which it goes wrong every time\.",
        sentence,
    ), sentence


ONE_NAME_LEFT_ALONE = """# Mistakes

## one_name_left_alone, central
```python
def initials(name):
    parts = name.split()
    return name if len(parts) < 2 else "".join(part[0].upper() + "." for part in parts)
```

What do you do with a single name?
"""


@pytest.mark.parametrize("is_central", [False, True])
def test_a_central_mistake_costs_at_least_half(root: Path, is_central: bool) -> None:
    edit(lesson_folder(root) / "initials.md", "# Mistakes\n", ONE_NAME_LEFT_ALONE)
    if is_central:
        aspect = 'aspects.special("a single name")'
        edit(lesson_folder(root) / "initials.py", aspect, f"aspects.central({aspect})")
        assert faults(LESSON) == []
        return
    (sentence,) = faults(LESSON)
    assert sentence.startswith("initials: the central mistake 'one_name_left_alone' earns 1.75 of 2 points, ")
    assert sentence.endswith("more than half: give the aspects it fails more weight, or make one of them central.")


@pytest.mark.parametrize("name", ["My Course", "1st", "a--b", "café", "-x"])
def test_a_bad_name_for_a_course(name: str, refused: Say, tmp_path: Path) -> None:
    sentence = refused("new", "course", *(["--"] if name.startswith("-") else []), str(tmp_path / name))
    assert sentence.endswith("can't be a course's name: use lower-case letters, digits and hyphens, as in my-course.")
    assert not list(tmp_path.iterdir())


def test_nothing_is_overwritten(refused: Say, root: Path, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    assert "exists already, and nothing was changed" in refused("new", "course", str(root))
    assert "would lie inside the course" in refused("new", "course", "another-one")
    assert "Python has something called statistics already" in refused("new", "course", str(tmp_path / "statistics"))
    assert "Python has something called cellcheck already" in refused("new", "course", str(tmp_path / "cellcheck"))
    assert "Lesson 01 is there already, as 01_first_steps: 02_sums would be free." in refused(
        "new", "lesson", "01_sums"
    )
    assert f"{root / lesson_folder(root).parents[1].name / 'first_steps.py'} exists" in refused(
        "new", "lesson", "02_first_steps"
    )
    for bad in ("sums", "2_sums", "02_Sums", "02-sums", "02_", "../02_sums"):
        assert "can't be a lesson's name" in refused("new", "lesson", bad)
    assert {
        path: path.read_bytes() for path in root.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    } == (before)


def test_only_packages_are_courses(root: Path) -> None:
    """A class's folders are not looked into, whatever its learners are called, and however many they are."""
    theirs = root / "a_class" / "lesson_01" / "01_first_steps.py"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("", "utf-8")
    course = course_around(root)
    assert course.folder == lesson_folder(root).parent
    (course.folder / "__init__.py").unlink()
    assert course_around(root) is None


def test_a_notebook_outside_its_course(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownLesson, match=r"These exist: 01_first_steps\. If it is another course's, go to that"):
        find_lesson("02_sums")
    monkeypatch.chdir(root.parent)
    monkeypatch.setattr(syllabus, "installed", tuple)
    with pytest.raises(UnknownLesson, match="There is no course here: go to its folder, install it, or name its"):
        find_lesson("02_sums")


def test_a_lesson_needs_a_course(refused: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert "is not inside a course's repository" in refused("new", "lesson", "01_sums")
    assert "make a course with cellcheck new course FOLDER" in refused("build")


# --- faults --------------------------------------------------------------------------------------------------

TRIED, ANSWERS = "initials.py", "initials.md"
FAULTS = {
    "no TRIAL": (TRIED, "TRIAL =", "TRIALS =", r"initials\.py should define TRIAL, a cellcheck"),
    "no Python": (TRIED, "points=2,", "points=2,,", r"initials\.py, line 22, is not valid Python: .* Correct it"),
    "a name that is not there": (TRIED, "points=2,", "points=two,", r"initials\.py, line \d+, stops with Name"),
    "a text that is not valid Python": (f"{LESSON}.py", "initials(", "initials((", r"is not valid Python"),
    "no core aspect": (
        TRIED,
        "(*aspects.of_function(), SINGLE, SPACES)",
        "(aspects.shape(),)",
        r"initials in .*initials\.py has no core aspect.*: begin with aspects\.of_function",
    ),
    "no cases": (TRIED, "    return [\n        Case", "    return []\n    return [\n        Case", "has no cases"),
    "an aspect of no case": (
        TRIED,
        '"on a single name", SINGLE, ',
        '"on a single name", ',
        r"has no case for its aspect 'a single name': give .* 'a single name'",
    ),
    "no points": (TRIED, "points=2", "points=0", "is worth 0 points"),
    "another module": (TRIED, 'first_steps"', '__init__"', r"there is no initials in .*\. In TRIAL, let `module` name"),
    "two of one label": (TRIED, "on three names", "on two names", "has 2 of the case 'on two names'"),
    "no exercise in the text": (
        f"{LESSON}.py",
        '# %% [markdown] exercise="initials" kind="core" difficulty=1 minutes=5',
        "# %% [markdown]",
        "has no exercises: name at least one in its text",
    ),
    "an exercise without files": (
        f"{LESSON}.py",
        'exercise="initials"',
        'exercise="letters"',
        r"01_first_steps\.py names the exercise letters, and \S+letters\.py is missing: say there how it is tried",
    ),
    "no word for the time": (
        f"{LESSON}.py",
        "# SITTINGS",
        "#",
        "so SITTINGS should begin one line of the prose, and 0",
    ),
    "a word twice": (f"{LESSON}.py", "# SITTINGS", "# GIVES\n#\n# SITTINGS", "GIVES should begin one line .* and 2 do"),
    "a word for nothing": (f"{LESSON}.py", "# SITTINGS", "# SITTINGS\n#\n# BUILDS_ON", "the head has no builds_on"),
    "a claim that nobody measures": (
        f"{LESSON}.py",
        "# SITTINGS",
        "# <!-- claim: experts_learn -->\n#\n# SITTINGS",
        r"01_first_steps\.py, line \d+, claims experts_learn, and nothing in tests/ measures it: write a test called "
        r"test_experts_learn, or take the mark out\.",
    ),
    "a slip in an import": (
        TRIED,
        "import numpy as np",
        "import numpy as np\nimport statistic",
        r"initials\.py, line 4, imports statistic, and there is no such package here\. Did you mean statistics\?",
    ),
    "a package that isn't there": (
        TRIED,
        "import numpy as np",
        "import numpy as np\nimport a_package_of_nobody",
        r"isn't installed in this Python, .*; else install it: \S+ -m pip install a_package_of_nobody$",
    ),
}


@pytest.mark.parametrize(("name", "old", "new", "sentence"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_a_sentence(refused: Say, root: Path, name: str, old: str, new: str, sentence: str) -> None:
    edit(lesson_folder(root) / name, old, new)
    assert re.search(sentence, refused("build")), sentence
    assert not (root / "notebooks").exists()
    assert not (root / "solutions").exists()


def test_an_answer_without_marks(refused: Say, root: Path) -> None:
    edit(root / root.name.replace("-", "_") / "first_steps.py", "    ### BEGIN SOLUTION\n", "")
    for command in ("build", "audit"):
        assert re.search(r"first_steps\.py does not say what learners are to write: put .* BEGIN", refused(command))


def test_a_class_needs_a_probe(refused: Say, root: Path) -> None:
    library = root / root.name.replace("-", "_") / "first_steps.py"
    text = (
        'class initials:\n    """The first letters."""\n\n    def __init__(self):\n        """Nothing to do."""\n'
        "        ### BEGIN SOLUTION\n        pass\n        ### END SOLUTION\n"
    )
    library.write_text(text, "utf-8")
    (lesson_folder(root) / ANSWERS).write_text("", "utf-8")
    sentence = refused("audit")
    assert (
        "initials is a class, and nothing says how to try it out: give it a probe, in its TRIAL or in PROBES"
        in sentence
    )


def test_probes_without_probes(refused: Say, root: Path) -> None:
    (lesson_folder(root) / "probes.py").write_text("WRONG = {}\n", "utf-8")
    assert "should define PROBES, a dict with a probe for each symbol." in refused("audit")


def test_no_configuration(refused: Say, root: Path) -> None:
    (root / "nbgrader_config.py").unlink()
    sentence = refused("--lessons", str(lesson_folder(root).parent), "build")
    assert "has no nbgrader_config.py, which nbgrader needs" in sentence


# --- probes that bring an answer along ----------------------------------------------------------------------------

KNOWS = "which knows the answers: take that import out."
WRITES = "first_steps.initials, which the learner is to write: take that import out."
LEAKS = {
    "a class to try": ("from {lessons}.lesson_01.demo import LEARNERS", KNOWS),
    "a class to try, relatively": ("from .demo import LEARNERS", KNOWS),
    "the folder's own": ("from . import demo", KNOWS),
    "inside a function": ("def f():\n    import {lessons}.lesson_01.demo", KNOWS),
    "the symbol": ("from {library}.first_steps import initials", WRITES),
    "all symbols": ("from {library}.first_steps import *", WRITES),
    "by way of a helper": (
        "from {lessons}.helper import LEARNERS",
        f"helper.py travels to the learner's process, .* {KNOWS}",
    ),
}


@pytest.mark.parametrize(("line", "sentence"), LEAKS.values(), ids=LEAKS)
def test_a_probe_that_imports_an_answer_is_refused(refused: Say, root: Path, line: str, sentence: str) -> None:
    lesson = lesson_folder(root)
    names = {"lessons": f"{lesson.parents[1].name}.lessons", "library": root.name.replace("-", "_")}
    (lesson.parent / "helper.py").write_text("from .lesson_01.demo import LEARNERS\n", "utf-8")
    (lesson / "probes.py").write_text(f"{line.format(**names)}\nPROBES = {{}}\n", "utf-8")
    message = refused("audit", LESSON)
    assert re.search(sentence, message), message
    assert "travels to the learner's process, and it imports" in message


def test_an_import_that_no_syntax_shows_is_caught_in_the_learners_process(root: Path) -> None:
    lesson = lesson_folder(root)
    (lesson / "demo.py").write_text("LEARNERS = ()\n", "utf-8")
    hidden = f"{lesson.parents[1].name}.lessons.lesson_01.demo"
    text = f'import importlib\nimportlib.import_module("{hidden[:-2]}" + "{hidden[-2:]}")\nPROBES = {{}}\n'
    (lesson / "probes.py").write_text(text, "utf-8")
    setting = setting_of(LESSON)
    with (
        pytest.raises(GraderError, match=r"did not start: ImportError: .* brings .*demo along"),
        borrowed(setting),
    ):
        raise AssertionError("it started")
