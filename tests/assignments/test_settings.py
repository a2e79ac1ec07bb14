"""What an instructor has set in nbgrader, and put beside the notebooks, counts here too, or is named."""

import json
import shutil
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import nbgrader.apps
import nbgrader.auth
import nbgrader.converters
import nbgrader.coursedir
import nbgrader.exchange
import nbgrader.plugins
import nbgrader.preprocessors
import pytest
from nbformat import NotebookNode, v4
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute
from traitlets.config import Application, Config, Configurable
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.errors import GraderError
from cellcheck.gradebook.agreement import in_source
from cellcheck.gradebook.course import Course
from cellcheck.gradebook.settings import HONOURED, NARROWED, REPLACED, not_honoured
from cellcheck.running.grade import grade_submission
from tests.assignments import sources
from tests.assignments.sources import answer, assignment, hand_in, locked, plain, work
from tests.assignments.sources import test as check_cell

RIGHT = {("one", "double"): "def double(x): return 2 * x"}
WRONG = {("one", "double"): "def double(x): return x"}
SECRET = "secret_number = 31415"


def course_with(root: Path, settings: str = "", name: str = "hw") -> Path:
    """A course with one assignment, whose test has a hidden part; two have handed in."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "nbgrader_config.py").write_text(sources.CONFIG + settings)
    begins, ends = ("VERSTECKT", "ENDE") if "VERSTECKT" in settings else ("BEGIN HIDDEN TESTS", "END HIDDEN TESTS")
    test = f"assert double(0) == 0\n### {begins}\n{SECRET}\nassert double(2) == 4, secret_number\n### {ends}"
    cells = [answer("double", "def double(x): raise NotImplementedError()"), check_cell("test_double", 2, test)]
    sources.add(root, name, {"one": cells})
    Course.open(root).ensure_assignment(name, plain=True)
    hand_in(root, name, "ada", RIGHT)
    hand_in(root, name, "bob", WRONG)
    return root


def autograde(root: Path, name: str = "hw") -> tuple[int, str]:
    """What `cellcheck autograde` ends with, and says."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        done = CliRunner().invoke(cli.app, ["autograde", name, "--seed", "1"])
    if isinstance(done.exception, GraderError):
        return 2, str(done.exception)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done.exit_code, done.output


GERMAN = 'c.ClearHiddenTests.begin_test_delimeter = "VERSTECKT"\nc.ClearHiddenTests.end_test_delimeter = "ENDE"\n'


@pytest.mark.parametrize("settings", ["", GERMAN], ids=["nbgrader's own", "a course's own"])
def test_hidden_tests_stay_hidden(settings: str, tmp_path: Path) -> None:
    root = course_with(tmp_path / "course", settings)
    code, output = autograde(root)
    assert code == 0, output
    page = (root / "feedback" / "bob" / "hw" / "one.html").read_text("utf-8")
    assert "A hidden test fails" in page
    assert "secret_number" not in page + output


def test_a_plugin_in_the_courses_folder_is_found(tmp_path: Path) -> None:
    root = tmp_path / "course"
    root.mkdir()
    (root / "rule_of_this_course.py").write_text(
        "from nbgrader.plugins import BasePlugin\n\n\nclass Half(BasePlugin):\n"
        "    def late_submission_penalty(self, student_id, score, total_seconds_late):\n        return score / 2\n"
    )
    course_with(root, "c.AssignLatePenalties.plugin_class = 'rule_of_this_course.Half'\n")
    code, output = autograde(root)
    assert code == 0, output


@pytest.mark.parametrize(
    ("settings", "name", "sentence"),
    [
        ("c.AssignLatePenalties.plugin_class = 'no_such_rule.Half'\n", "hw", "the plugin for late work"),
        (
            "c.CourseDirectory.directory_structure = '{nbgrader_step}/{assignment_id}/{student_id}'\n",
            "hw",
            "c.CourseDirectory.directory_structure",
        ),
        (
            "c.ClearSolutions.enforce_metadata = 'x'\n",
            "new",
            "nbgrader refuses what nbgrader_config.py says: The 'enforce",
        ),
        ("", "lab+1", "should not contain the following characters: +"),
    ],
)
def test_what_can_not_be_taken_is_refused_in_a_sentence(
    settings: str, name: str, sentence: str, tmp_path: Path
) -> None:
    root = course_with(tmp_path / "course")
    with (root / "nbgrader_config.py").open("a") as file:
        file.write(settings)
    if name != "hw":
        for step in ("source", "submitted/ada"):
            shutil.copytree(root / step / "hw", root / step / name)
    code, output = autograde(root, name)
    assert code == 2
    assert sentence in output
    assert output.strip().endswith(".")


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("1 / 0", "nbgrader_config.py, line 3, stops with ZeroDivisionError: division by zero. Mend it."),
        ("c.", "nbgrader_config.py, line 3, stops with SyntaxError: invalid syntax. Mend it."),
        ("raise SystemExit(0)", "line 3, stops with SystemExit: 0."),
        ("c.Execute.timeout = 'long'", "nbgrader refuses what nbgrader_config.py says: The 'timeout' trait of"),
        ("c.ClearHiddenTests.end_test_delimeter = 3", "nbgrader refuses what nbgrader_config.py says: The 'end_test"),
        ("c.CourseDirectory.ignore = [3]", "c.CourseDirectory.ignore has something else than text"),
        ("c.Autograde.permissions = 999", "c.Autograde.permissions is 999: write three digits from 0 to 7"),
        ("c.Autograde.exclude_overwriting = {'hw': 3}", "c.Autograde.exclude_overwriting of hw isn't a list"),
        ("c.CourseDirectory.autograded_directory = './submitted'", "so one would overwrite the other: name two."),
    ],
)
def test_no_setting_is_lost_because_a_file_of_them_stops(line: str, sentence: str, tmp_path: Path) -> None:
    """nbgrader goes on without what it can't read: hidden tests are shown then, and nobody is late."""
    (tmp_path / "nbgrader_config.py").write_text(f"{sources.CONFIG}{line}\n")
    with pytest.raises(GraderError) as refused:
        Course.open(tmp_path)
    assert sentence in str(refused.value)


@pytest.mark.parametrize(("body", "why"), [("1 / 0", "ZeroDivisionError"), ("return float('nan')", "ValueError")])
def test_a_rule_for_late_work_that_stops_is_named(body: str, why: str, tmp_path: Path) -> None:
    root = tmp_path / "course"
    root.mkdir()
    rule = f"rule_with_{why.lower()}"
    (root / f"{rule}.py").write_text(
        "from nbgrader.plugins import BasePlugin\n\n\nclass Rule(BasePlugin):\n"
        f"    def late_submission_penalty(self, student_id, score, total_seconds_late):\n        {body}\n"
    )
    course_with(root, f"c.AssignLatePenalties.plugin_class = '{rule}.Rule'\n")
    (root / "submitted" / "ada" / "hw" / "timestamp.txt").write_text("2026-01-02 00:00:00 UTC")
    with Course.open(root).gradebook() as book:
        book.update_or_create_assignment("hw", duedate="2026-01-01 00:00:00 UTC")
    code, output = autograde(root)
    output = " ".join(output.split())
    assert (code, f"The plugin for late work that nbgrader_config.py names stops with {why}" in output) == (1, True), (
        output
    )
    assert "itself failed" not in output


def test_settings_that_change_nothing_are_named(tmp_path: Path) -> None:
    root = course_with(tmp_path / "course", "c.Execute.kernel_name = 'other'\nc.Execute.timeout = 20\n")
    code, output = autograde(root)
    assert code == 0
    assert "settings that change nothing here, see docs/assignments.md: c.Execute.kernel_name." in output
    assert "c.Execute.timeout" not in output


def test_every_setting_of_nbgraders_counts_or_is_known_not_to() -> None:
    """Each class that can be set is nbgrader's own affair, or one whose work is done here."""
    rooms = (nbgrader.apps, nbgrader.auth, nbgrader.converters, nbgrader.exchange, nbgrader.plugins)
    classes = {
        of.__name__: of
        for room in (*rooms, nbgrader.coursedir, nbgrader.preprocessors)
        for one in vars(room).values()
        if isinstance(one, type) and issubclass(one, Configurable)
        for of in one.__mro__
        if issubclass(of, Configurable) and of.class_own_traits(config=True)
    }
    apps = {name for name, of in classes.items() if issubclass(of, Application)}
    assert classes.keys() - REPLACED - OF_NBGRADERS_OWN_STEPS - apps == set()
    assert not REPLACED & OF_NBGRADERS_OWN_STEPS
    for of, names in HONOURED.items():
        assert names <= {*classes.get(of, Execute).class_trait_names(config=True)}
    assert {*CourseDirectory.class_own_traits(config=True)} == NARROWED | OF_THE_COURSE


OF_NBGRADERS_OWN_STEPS = {
    *("Application", "Authenticator", "NbGrader", "GenerateAssignment", "GenerateSolution", "GenerateSourceWithTests"),
    *("ClearHiddenTests", "ClearMarkScheme", "ClearOutputPreprocessor", "ClearSolutions", "IncludeHeaderFooter"),
    *("InstantiateTests", "LockCells", "Exchange", "ExchangeCollect", "ExchangeFactory", "ExchangeFetchAssignment"),
    *("ExchangeList", "ExchangeReleaseAssignment", "ExchangeSubmit", "ExportPlugin", "ExtractorPlugin"),
    *("FileNameCollectorPlugin", "LateSubmissionPlugin", "CourseDirectory", "NbGraderAPI"),
}
OF_THE_COURSE = {
    *("autograded_directory", "course_id", "db_url", "directory_structure", "feedback_directory", "groupshared"),
    *("ignore", "include", "max_dir_size", "max_file_size", "release_directory", "root", "solution_directory"),
    *("source_directory", "source_with_tests_directory", "student_id_exclude", "submitted_directory"),
}


@pytest.mark.parametrize(
    "setting",
    [
        *("Autograde.force", "Execute.allow_errors", "NotebookClient.startup_timeout", "OverwriteCells.enabled"),
        *("CourseDirectory.notebook_id", "GenerateFeedback.permissions", "HTMLExporter.theme"),
    ],
)
def test_a_setting_that_changes_nothing_is_named(setting: str) -> None:
    config = Config()
    of, name = setting.split(".")
    config[of][name] = "x"
    assert not_honoured(config) == [f"c.{setting}"]


def test_a_course_is_where_its_settings_are(tmp_path: Path) -> None:
    root = course_with(tmp_path / "course")
    with (root / "nbgrader_config.py").open("a") as file:
        file.write("import os\nc.CourseDirectory.root = os.getcwd()\n")
    assert autograde(root)[0] == 0
    with (root / "nbgrader_config.py").open("a") as file:
        file.write("c.CourseDirectory.root = '/srv/other'\n")
    code, output = autograde(root)
    assert (code, "sets c.CourseDirectory.root to /srv/other" in output) == (2, True)


def test_a_group_may_write_what_it_shares(tmp_path: Path) -> None:
    root = course_with(tmp_path / "course", "c.CourseDirectory.groupshared = True\n")
    assert autograde(root)[0] == 0
    graded = root / "autograded" / "ada" / "hw"
    assert [path.stat().st_mode & 0o7777 for path in (graded.parent, graded, graded / "one.ipynb")] == [
        0o2775,
        0o2775,
        0o664,
    ]


def test_penalties_that_are_switched_off_are_off(tmp_path: Path) -> None:
    rule = "from nbgrader.plugins import BasePlugin\n\n\nclass All(BasePlugin):\n"
    rule += "    def late_submission_penalty(self, student_id, score, total_seconds_late):\n        return score\n"
    root = tmp_path / "course"
    root.mkdir()
    (root / "rule_for_all.py").write_text(rule)
    course_with(root, "c.AssignLatePenalties.plugin_class = 'rule_for_all.All'\n")
    (root / "submitted" / "ada" / "hw" / "timestamp.txt").write_text("2026-01-02 00:00:00 UTC")
    with Course.open(root).gradebook() as book:
        book.update_or_create_assignment("hw", duedate="2026-01-01 00:00:00 UTC")
    assert "0 / 2" in autograde(root)[1]
    with (root / "nbgrader_config.py").open("a") as file:
        file.write("c.AssignLatePenalties.enabled = False\n")
    assert "2 / 2" in autograde(root)[1]


def kernel(root: Path, name: str, language: str = "python", imports: str = "math") -> Path:
    """A course whose notebook names a kernel, and whose locked cell imports something."""
    root.mkdir()
    (root / "nbgrader_config.py").write_text(sources.CONFIG)
    cells = [locked("setup", f"import {imports}"), answer("n", "n = None"), check_cell("test_n", 1, "assert n == 4")]
    sources.add(root, "hw", {"one": cells})
    notebook = root / "source" / "hw" / "one.ipynb"
    content = json.loads(notebook.read_text("utf-8"))
    content["metadata"]["kernelspec"] = {"name": name, "display_name": name, "language": language}
    notebook.write_text(json.dumps(content), "utf-8")
    folder = root / "submitted" / "ada" / "hw"
    folder.mkdir(parents=True)
    shutil.copy(notebook, folder)
    return root


def test_a_notebook_in_another_language_is_refused(tmp_path: Path) -> None:
    code, output = autograde(kernel(tmp_path / "course", "ir", "R"))
    assert code == 2
    assert "one.ipynb is a notebook in R, and only Python is graded here: grade it with nbgrader autograde." in output


class EditableFinder:
    """As setuptools makes one for a project that was installed where it is developed."""

    @staticmethod
    def find_spec(name: str, *_: object) -> ModuleSpec | None:
        return ModuleSpec(name, None) if name == "surely_not_there" else None


def test_another_environments_kernel_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = tmp_path / "jupyter" / "kernels" / "conda-ml"
    spec.mkdir(parents=True)
    argv = ["/opt/ml/bin/python", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (spec / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "ml", "language": "python"}))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    code, output = autograde(kernel(tmp_path / "course", "conda-ml"))
    assert (code, "name the kernel conda-ml (/opt/ml/bin/python). Submissions run in" in output) == (0, True), output
    without = kernel(tmp_path / "without", "conda-ml", imports="surely_not_there.part")
    code, output = autograde(without)
    assert (code, "which has no surely_not_there." in output) == (2, True), output
    assert not (without / "autograded").exists()
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, EditableFinder])
    assert autograde(without)[0] == 0  # though its own test can't be passed: nothing by that name can be imported
    code, output = autograde(kernel(tmp_path / "gone", "python [root]"))
    assert (code, "python [root] (which is not installed here)" in output) == (0, True), output
    code, output = autograde(kernel(tmp_path / "usual", "python3"))
    assert (code, "kernel" in output) == (0, False), output


def test_whom_a_course_excludes_is_not_graded(tmp_path: Path) -> None:
    root = course_with(tmp_path / "course", "c.CourseDirectory.student_id_exclude = 'bob, eve'\n")
    assert Course.open(root).handed_in("hw") == ["ada"]


def test_data_that_are_links_are_there(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    (shared / "more").mkdir(parents=True)
    (shared / "numbers.csv").write_text("4")
    (shared / "more" / "five.csv").write_text("5")
    root = tmp_path / "course"
    source = root / "source" / "hw"
    source.mkdir(parents=True)
    (source / "numbers.csv").symlink_to(shared / "numbers.csv")
    (source / "more").symlink_to(shared / "more")
    (shared / "more" / "round").symlink_to(shared)  # back to where it came from
    (root / "nbgrader_config.py").write_text(sources.CONFIG)
    reads = "assert open('numbers.csv').read() + open('more/five.csv').read() == str(n)"
    sources.add(root, "hw", {"one": [answer("n", "n = None"), check_cell("test_n", 1, reads)]})
    Course.open(root).ensure_assignment("hw", plain=True)
    hand_in(root, "hw", "ada", {("one", "n"): "n = 45"})
    code, output = autograde(root)
    assert (code, "1 / 1" in output) == (0, True), output


def test_it_is_said_which_cell_had_stopped_before_a_test_failed() -> None:
    cells = [
        plain("import math\nimport surely_not_there"),
        answer("double", "def double(x): ..."),
        check_cell("test_double", 2, "assert double(2) == 4"),
    ]
    one = assignment("one", {"one": cells})
    done = grade_submission({"one": work(cells, {"double": "double = surely_not_there.double"})}, one, seed=1)
    (test,) = done.own_tests
    assert test.message.startswith("It stops with NameError")
    assert "Cell 1 had stopped before that. It stops with ModuleNotFoundError" in test.message
    harmless = [plain("import not_there_either"), *cells]
    harmless.insert(2, plain("double = surely_not_there.double"))
    one = assignment("one", {"one": harmless})
    done = grade_submission({"one": work(harmless, {"double": "1 / 0"})}, one, seed=1)
    (test,) = done.own_tests  # the cell that was to define what is missing comes first
    assert test.message.index("Cell 3 had stopped") < test.message.index("Cell 2 had stopped")
    one = assignment("one", {"one": cells})
    right = grade_submission({"one": work(cells, {"double": "def double(x): return 2 * x"})}, one, seed=1)
    assert (right.score, right.repairs) == (2, ())


def test_who_grades_is_told_to_the_notebook_as_nbgrader_tells_it() -> None:
    cells = [
        answer("how", "how = None"),
        check_cell("test_how", 1, "assert how == 'autograde'"),
    ]
    one = assignment("one", {"one": cells})
    told = "import os\nhow = os.environ.get('NBGRADER_EXECUTION')"
    assert grade_submission({"one": work(cells, {"how": told})}, one, seed=1).score == 1


def badly_marked(cell: NotebookNode, **marks: object) -> NotebookNode:
    """The cell with other marks; None takes one away."""
    there = {**cell.metadata["nbgrader"], **marks}
    cell.metadata["nbgrader"] = {name: value for name, value in there.items() if value is not None}
    return cell


IS_TRUE = check_cell("true", 1, "assert True")


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ([plain("a text", "markdown"), plain("1 + 1")], "There is nothing to grade in hw"),
        (
            [plain("1 + 1"), badly_marked(check_cell("", 1, "assert True"), grade_id=None)],
            "one.ipynb: cell 2 is marked for nbgrader and has no grade_id.",
        ),
        ([IS_TRUE, IS_TRUE], "cell 2 has the grade_id true, as cell 1 has. Give one of them another"),
        (
            [badly_marked(check_cell("five", 1, "assert 5"), points=None)],
            "cell 1 (five) is to be graded, and nobody has said for how many points. Give it points",
        ),
        (
            [badly_marked(answer("why", "because", 1, "markdown"), solution=False)],
            "cell 1 (why) is a test made of text, and only code can test. Mark it as a manually graded answer",
        ),
        (
            [badly_marked(locked("read", "1 + 1"), cell_type="markdown")],
            "cell 1 (read) was markdown when it was marked, and is code now. Change it back, or mark it again",
        ),
        ([v4.new_raw_cell("# BEGIN QUESTION\nname: q1"), plain("1")], "let cellcheck import otter make"),
    ],
    ids=["nothing marked", "no name", "one name twice", "no points", "a test of text", "another type", "Otter's"],
)
def test_a_source_that_is_no_assignment_is_refused_in_a_sentence(
    cells: list[NotebookNode], sentence: str, tmp_path: Path
) -> None:
    (tmp_path / "nbgrader_config.py").write_text(sources.CONFIG)
    sources.add(tmp_path, "hw", {"one": cells})
    folder = tmp_path / "submitted" / "ada" / "hw"
    folder.mkdir(parents=True)
    shutil.copy(tmp_path / "source" / "hw" / "one.ipynb", folder)
    code, output = autograde(tmp_path)
    assert code == 2
    assert sentence in output
    assert not (tmp_path / "feedback").exists()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"cell_type": None}, "cell 1 is damaged: its cell_type is neither code nor markdown nor raw."),
        ({"source": 3}, "cell 1 is damaged: its source isn't text."),
        ({"metadata": []}, "cell 1 is damaged: its metadata aren't a dictionary."),
        ({"metadata": {"tags": 3}}, "cell 1 is damaged: its tags aren't a list."),
        (
            {"metadata": {"nbgrader": "x"}},
            "cell 1 is damaged: what its metadata say about nbgrader isn't a dictionary.",
        ),
        ({"metadata": {"nbgrader": {"schema_version": "3"}}}, "cell 1 is damaged: its schema_version isn't a number."),
        ({"metadata": {"nbgrader": {"grade_id": ["a"]}}}, "cell 1 is damaged: its grade_id isn't text."),
    ],
    ids=str,
)
def test_a_damaged_cell_of_the_source_is_named(change: dict[str, object], sentence: str, tmp_path: Path) -> None:
    notebook = json.loads(sources.file_of([plain("1")]))
    notebook["cells"][0].update(change)
    (tmp_path / "one.ipynb").write_text(json.dumps(notebook), "utf-8")
    with pytest.raises(GraderError) as refused:
        in_source(tmp_path)
    assert sentence in str(refused.value)


def test_a_source_that_is_no_notebook_is_named(tmp_path: Path) -> None:
    (tmp_path / "one.ipynb").write_text("[" * 5000)
    with pytest.raises(GraderError, match=r"one.ipynb can't be read: "):
        in_source(tmp_path)
