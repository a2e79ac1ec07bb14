"""What an import writes, what it says, and what it refuses."""

import ast
from collections.abc import Sequence
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode, v4

from cellcheck.importing import otter
from cellcheck.importing.answers import answer_text
from cellcheck.importing.cases import OtterCase, QuestionTests, cell_text, of_file
from cellcheck.importing.unknown import Unknown
from tests.assignments.sources import CONFIG
from tests.importing.assignments import ASSIGNMENTS, Assignment, block, code, question, raw, text
from tests.shell import Run

ASKED = [text("What is one?"), block("SOLUTION", code("one = 1  # SOLUTION")), block("TESTS", code("one", "1"))]
ONE = question("name: q1", *ASKED)


def written(path: Path) -> list[NotebookNode]:
    return list(nbformat.read(path, as_version=4).cells)


def imported(cells: Sequence[NotebookNode], folder: Path) -> list[NotebookNode]:
    """The cells that a master notebook becomes."""
    notebook = otter.read(Assignment(cells, {}).write(folder, "hw")).notebook
    return list(notebook.cells)


def test_what_is_written_and_said(tmp_path: Path, grader: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nbgrader_config.py").write_text(CONFIG)
    path = ASSIGNMENTS["shown"].write(tmp_path / "theirs", "shown")
    monkeypatch.chdir(tmp_path)
    ran = grader("import", "otter", path)
    assert ran.code == 0, ran.err
    folder = tmp_path / "source" / "shown"
    assert [str(file.relative_to(folder)) for file in sorted(folder.rglob("*.*"))] == [
        "data/numbers.txt",
        "shown.ipynb",
        "words.py",
    ]
    assert "shown.ipynb: 13 points by tests, 5.5 by hand." in ran.out
    assert "Left out: the text in the solution of q3, which Otter gives to nobody." in ran.out
    assert "no mark depends on it: a question's check_cell, generate.pdf, requirements, run_tests." in ran.out
    assert "c.ClearSolutions.code_stub = {'python': '...'}" in ran.out
    assert ran.out.splitlines()[-2:] == [
        "Release it: nbgrader generate_assignment shown",
        "Try it, before learners do: cellcheck grade NOTEBOOK --lesson shown",
    ]
    # A second time, nothing is overwritten.
    before = (folder / "shown.ipynb").read_bytes()
    ran = grader("import", "otter", path)
    assert ran.code == 2
    assert "is there already, and nothing was changed: name another folder with --into." in ran.err
    assert (folder / "shown.ipynb").read_bytes() == before


def test_another_folder_needs_no_course(tmp_path: Path, grader: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Assignment(ONE, {}).write(tmp_path / "theirs", "my hw")
    monkeypatch.chdir(tmp_path)
    assert "not an nbgrader course" in grader("import", "otter", path).err
    assert grader("import", "otter", path, "--into", "here/first").code == 0
    assert [file.name for file in (tmp_path / "here" / "first").iterdir()] == ["my_hw.ipynb"]


def test_marks_that_a_course_has_given_other_lines(
    tmp_path: Path, grader: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is hidden would be handed out there."""
    (tmp_path / "nbgrader_config.py").write_text(f"{CONFIG}c.ClearHiddenTests.begin_test_delimeter = 'SECRET'\n")
    path = Assignment(ONE, {}).write(tmp_path / "theirs", "hw")
    monkeypatch.chdir(tmp_path)
    ran = grader("import", "otter", path)
    assert ran.code == 2
    assert "nbgrader_config.py sets c.ClearHiddenTests.begin_test_delimeter" in ran.err
    assert not (tmp_path / "source").exists()


def test_the_cells_are_nbgraders(tmp_path: Path) -> None:
    cells = {cell.id: cell for cell in otter.read(ASSIGNMENTS["shown"].write(tmp_path, "shown")).notebook.cells}
    kinds = {
        name: "".join(kind[0] for kind in ("grade", "solution", "locked") if cell.metadata.nbgrader[kind])
        for name, cell in cells.items()
        if "nbgrader" in cell.metadata
    }
    assert kinds["q1_text"] == kinds["q6_text"] == "l"
    assert kinds["q1"] == kinds["q5"] == "s"
    assert kinds["test_q1_1"] == kinds["test_q3"] == kinds["test_q8"] == "gl"
    assert kinds["q6"] == kinds["q7"] == "gs"
    assert cells["q6"].source == ("*We sort because ...*\n### BEGIN SOLUTION\nWe find things faster.\n### END SOLUTION")
    assert cells["q1"].source == "nine = ...\n### BEGIN SOLUTION\nnine = 3 * 3\n### END SOLUTION\nnine"
    assert not any("otter" in str(cell.metadata) or "IGNORE" in cell.source for cell in cells.values())


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("x = 3 # SOLUTION\nx", "x = ...\n### BEGIN SOLUTION\nx = 3\n### END SOLUTION\nx"),
        # What follows each other is one solution; the names are asked for above it.
        (
            "a = 1 # SOLUTION\nb = a # SOLUTION\nc = 2 # SOLUTION NO PROMPT",
            "a = ...\nb = ...\n### BEGIN SOLUTION\na = 1\nb = a\nc = 2\n### END SOLUTION",
        ),
        # A solution that reads the old value would find `...` there.
        ("x = sorted(x) # SOLUTION", "# x = ...\n### BEGIN SOLUTION\nx = sorted(x)\n### END SOLUTION"),
        ("x['a'] = 1 # SOLUTION", "# x['a'] = ...\n### BEGIN SOLUTION\nx['a'] = 1\n### END SOLUTION"),
        ("x += 1; # SOLUTION", "### BEGIN SOLUTION\nx += 1;\n### END SOLUTION"),
        (
            "def f(x):\n    # BEGIN SOLUTION\n    y = x\n    return y\n    # END SOLUTION\nf(1) # SOLUTION",
            "def f(x):\n    ### BEGIN SOLUTION\n    y = x\n    return y\n    ### END SOLUTION\n"
            "### BEGIN SOLUTION\nf(1)\n### END SOLUTION",
        ),
        (
            "# BEGIN SOLUTION NO PROMPT\nplt.plot(x)\n# END SOLUTION\n"
            "''' # BEGIN PROMPT\nplt.plot(...)\n'''; # END PROMPT",
            "# plt.plot(...)\n### BEGIN SOLUTION\nplt.plot(x)\n### END SOLUTION",
        ),
        ("''' # BEGIN PROMPT\n# Try.\n''' # END PROMPT\nx = 1", "# Try.\nx = 1"),
        # From what does something on, nothing of a prompt is run.
        (
            "a = f(1) # SOLUTION NO PROMPT\n''' # BEGIN PROMPT\na = [1, ...]\n\nb = f(a)\nc = 1\n'''; # END PROMPT",
            "a = [1, ...]\n\n# b = f(a)\n# c = 1\n### BEGIN SOLUTION\na = f(1)\n### END SOLUTION",
        ),
        ("x = 1", "x = 1"),
    ],
)
def test_answers(written: str, expected: str) -> None:
    assert answer_text(1, written) == expected


@pytest.mark.parametrize(
    ("total", "each", "worth"),
    [
        (None, [None, None], [0.5, 0.5]),
        (None, [2, None], [2, 0]),
        (None, [0, None, None], [0, 0.5, 0.5]),
        (None, [0, 0], [0, 0]),
        (6, [2, 2, None, None], [2, 2, 1, 1]),
        (6, [1, 2], [1, 2]),
        (0, [None, None], [0, 0]),
        ([1, None, 2.5], [7, 7, 7], [1, 0, 2.5]),
        ([None, 0], [7, 7], [1, 0]),
    ],
)
def test_points_are_shared_out_by_otters_rules(
    total: float | list[float | None] | None, each: list[float | None], worth: list[float]
) -> None:
    assert QuestionTests("q", [OtterCase("", points=points) for points in each], total).worth(1) == worth


def test_a_test_is_the_learners_only_where_otter_has_it_so() -> None:
    """A doctest sees the learner's names, and a function does not: `sum = 3` costs nobody a mark there."""
    names: dict[str, object] = {"sum": 3, "total": 6}
    function = OtterCase(
        "def test(total, env):\n    assert sum([1, 2, 3]) == total == env['total']", "test", ("total", "env")
    )
    exec(cell_text(function, "one"), names)
    assert set(names) == {"sum", "total", "one", "__builtins__"}
    shows = OtterCase(
        ">>> sum\n3\n>>> print('a\\n\\nb')\na\n<BLANKLINE>\nb\n>>> 1 / 0\nTraceback (most recent call last):\n"
        "ZeroDivisionError: division by zero\n>>> range(99) # doctest: +ELLIPSIS\nrange(...)"
    )
    exec(cell_text(shows, "two"), names)
    with pytest.raises(AssertionError, match=r"Look again\."):
        exec(cell_text(OtterCase(">>> total\n7", failure="Look again."), "three"), names)
    with pytest.raises(AssertionError, match=r"^$"):  # what is expected stays hidden
        exec(cell_text(OtterCase(">>> total\n7", hidden=True), "four"), names)


def test_no_line_of_a_test_is_taken_for_a_prompt() -> None:
    """IPython takes `>>>` away wherever a line begins so; the doctest would then compare nothing."""
    from IPython.core.inputtransformer2 import TransformerManager

    described = OtterCase(
        'def test(f):\n    """\n    >>> f(1)\n    ...\n    """\n    assert f(1) == 1\n', "test", ("f",)
    )
    shown = OtterCase(">>> for i in range(2):\n...     print(i, '\\n...')\n0\n...\n1\n...")
    for case in (described, shown):
        source = cell_text(case, "one")
        assert ast.dump(ast.parse(TransformerManager().transform_cell(source))) == ast.dump(ast.parse(source))


CONFIGURED = "# ASSIGNMENT CONFIG\n"
TESTED = "OK_FORMAT = True\ntest = "


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        (
            [raw(f"{CONFIGURED}seed:\n    variable: rng\n"), *ONE],
            "in cell 1, the assignment has seed, which isn't known",
        ),
        ([raw(f"{CONFIGURED}generate:\n    score_threshold: 0.5"), *ONE], "has generate.score_threshold, which isn't"),
        ([raw(f"{CONFIGURED}plugins:\n    - mine"), *ONE], "has plugins, which isn't known here: a plugin may change"),
        (
            [raw(f"{CONFIGURED}autograder_files: [a.txt]"), *ONE],
            "has autograder_files, which isn't known here: learners",
        ),
        ([raw(f"{CONFIGURED}surprise: 1"), *ONE], "in cell 1, the assignment has surprise, which isn't known here."),
        # 0 is a seed, and a threshold that everybody reaches.
        ([raw(f"{CONFIGURED}generate:\n    seed: 0"), *ONE], "has generate.seed, which isn't known here"),
        ([raw(f"{CONFIGURED}generate:\n    score_threshold: 0"), *ONE], "has generate.score_threshold, which isn't"),
        ([raw(f"{CONFIGURED}files: [hw.ipynb]"), *ONE], "hw.ipynb, which files names, holds the notebook with its sol"),
        ([raw(f"{CONFIGURED}files: ['.']"), *ONE], "., which files names, holds the notebook with its solu"),
        (
            [code("import otter\ngrader = otter.Notebook()\ngrader.check('q1')"), *ONE],
            "in cell 1, q1 is checked, which",
        ),
        (
            [*ONE, code("x = otter.Notebook().check('q1')")],
            "in cell 10, Otter is used in a way that isn't known here: x",
        ),
        (
            [raw(f"{CONFIGURED}files: [../secret.txt]"), *ONE],
            "../secret.txt, which files names, isn't in the notebook's",
        ),
        ([raw(f"{CONFIGURED}files: [link.txt]"), *ONE], "link.txt, which files names, isn't in the notebook's folder."),
        ([raw(f"{CONFIGURED}files: [nowhere.txt]"), *ONE], "nowhere.txt, which files names, isn't there."),
        ([raw(f"{CONFIGURED}: :"), *ONE], "in cell 1, the configuration isn't valid YAML."),
        ([*ONE, *ONE], "in cell 10, there is a second question q1."),
        (ONE[:-1], "in cell 1, the question q1 begins, and END QUESTION is missing."),
        ([ONE[0], ONE[-2]], "in cell 2, END TESTS doesn't fit what stands before it."),
        (question("name: q1\npoints: [1, 2]", *ASKED), "in cell 1, q1 has points for 2 test cases, and 1 cases."),
        (
            question("name: q1\npoints: -1", *ASKED),
            "in cell 1, q1 has points that aren't numbers, or are less than nothing.",
        ),
        (question("name: q1\npoints: .inf", *ASKED), "in cell 1, q1 has points that aren't numbers, or are less"),
        (
            question("name: q1\npoints: {each: .nan}", *ASKED),
            "in cell 1, q1 has points that aren't numbers, or are less",
        ),
        (
            question("name: q1\nmanual: true\npoints: .nan", block("PROMPT", text("?"))),
            "the points of q1 aren't a number",
        ),
        (question("name: q1\nmanual: true", *ASKED), "in cell 1, q1 is graded by hand and has tests: make two"),
        (question("name: q1\nmanual: true", text("Why?")), "q1 is graded by hand and has no cell to answer in."),
        ([code("import random\nrandom.seed(1) # SEED")], "isn't an assignment of Otter's"),
        (question("name: q1", block("SOLUTION", code("x = 1 # SEED"))), "in cell 3, a line ends in # SEED"),
        (
            question("name: q1", block("SOLUTION", code("# BEGIN SOLUTION"))),
            "in cell 3, the line # END SOLUTION is missing",
        ),
        (question("name: q1", block("TESTS", code("1 +"))), "in cell 3, the tests aren't valid Python."),
        (
            question("name: q1", block("TESTS", text("1"))),
            "in cell 3, there is something else than code among the tests.",
        ),
        ([*ONE, code('""" # BEGIN PLUGIN\nplugin: p\n""" # END PLUGIN')], "in cell 10, a plugin of Otter's is called."),
        (
            question("name: q1", block("TESTS", code("'### END HIDDEN TESTS'"))),
            "a line has END HIDDEN TESTS, which means",
        ),
        ([*ONE, text("### BEGIN SOLUTION")], "in cell 10, a line has BEGIN SOLUTION"),
        (
            [raw(f"{CONFIGURED}tests:\n    ok_format: false"), *ONE],
            "in cell 8, a test is more than one function and a call of it.",
        ),
    ],
)
def test_what_is_refused(cells: Sequence[NotebookNode], sentence: str, tmp_path: Path, grader: Run) -> None:
    """In one sentence, with the cell; nothing is written."""
    (tmp_path / "secret.txt").write_text("secret")
    path = Assignment(cells, {}).write(tmp_path / "theirs", "hw")
    (path.parent / "link.txt").symlink_to(tmp_path / "secret.txt")
    ran = grader("import", "otter", path, "--into", tmp_path / "made")
    assert sentence in ran.err
    assert len(ran.err.splitlines()) == 1
    assert ran.code == (2 if "isn't an assignment of Otter's" in sentence else 1)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("cells", "tests", "sentence"),
    [
        (
            [code("import otter\ngrader = otter.Notebook()\ngrader.run_plugin('p')")],
            "",
            "in cell 1, Otter is used in a",
        ),
        (
            [code("g = otter.Notebook()"), code("for q in 'ab':\n    g.check(q)")],
            "",
            "in cell 2, Otter is used in a way that isn't known here: for q in 'ab':.",
        ),
        ([code("import numpy as np, otter")], "", "in cell 1, Otter and something else are imported in one line"),
        ([code("from otter import *")], "", "in cell 1, everything is imported from Otter"),
        ([code("import otter; x = 1")], "", "in cell 1, Otter is called in a line that does something else, too"),
        (
            [code("g: object = otter.Notebook()")],
            "",
            "in cell 1, Otter is used in a way that isn't known here: g: object",
        ),
        (
            [code("try:\n    import otter\nexcept ImportError:\n    x = 1")],
            "",
            "in cell 1, Otter is used in a way that isn't known here: try:.",
        ),
        (
            [code("g = otter.Notebook()\ng.check('q1')\nx = 1")],
            "",
            "in cell 1, something follows the check of q1: give it a cell of its own.",
        ),
        ([code("g = otter.Notebook()\ng.check('q7')")], "", "in cell 1, q7 is checked, and there are no tests of it"),
        ([code("%%capture\ngrader.check(1)\n)")], "", "in cell 1, Otter is used, and the cell isn't valid Python."),
        ([code("x = 1", tags=["otter_assign_solution_cell"])], "", "otter assign made this notebook for graders"),
        ([], "OK_FORMAT = True\ntest = dict(name='q1')", "in tests/q1.py, a value is worked out and not written out"),
        ([], "test = {}", "in tests/q1.py, OK_FORMAT isn't set"),
        (
            [],
            f"{TESTED}{{'name': 'q1', 'suites': [{{}}, {{}}]}}",
            "in tests/q1.py, the tests aren't one suite of cases.",
        ),
        ([], f"{TESTED}{{'name': 'q1', 'suites': [{{'cases': [], 'setup': '>>> 1'}}]}}", "aren't plain doctests"),
        (
            [],
            "from otter.test_files import test_case\nOK_FORMAT = False\nname = 'q1'\nf = test_case()(print)",
            "test_case is used for more than to mark",
        ),
        ([], "from otter.test_files import *\nOK_FORMAT = False\nname = 'q1'", "everything is imported from Otter"),
    ],
)
def test_what_is_refused_of_what_learners_get(
    cells: Sequence[NotebookNode], tests: str, sentence: str, tmp_path: Path
) -> None:
    tests = tests or f"{TESTED}{{'name': 'q1', 'suites': [{{'cases': []}}]}}"
    path = Assignment(cells, {}, {"tests/q1.py": tests}).write(tmp_path, "hw")
    with pytest.raises(Unknown) as error:
        otter.read(path)
    assert sentence in str(error.value)


def test_other_languages_are_refused(tmp_path: Path) -> None:
    path = Assignment(ONE, {}, metadata={"kernelspec": {"name": "ir", "language": "R", "display_name": "R"}})
    with pytest.raises(Unknown, match="isn't in Python"):
        otter.read(path.write(tmp_path, "hw"))
    with pytest.raises(Unknown, match="R Markdown and Quarto aren't known"):
        otter.read(tmp_path / "hw.Rmd")


def test_tests_in_the_metadata(tmp_path: Path) -> None:
    """As Otter Assign writes them by default, hidden ones only for graders."""
    specification = {"name": "q1", "points": 2, "suites": [{"cases": [{"code": ">>> x\n1", "hidden": False}]}]}
    cells = [v4.new_code_cell("x = ..."), code("grader = otter.Notebook()\ngrader.check('q1')")]
    metadata = {"otter": {"OK_FORMAT": True, "tests": {"q1": specification}}}
    imported = otter.read(Assignment(cells, {}, metadata=metadata).write(tmp_path, "hw"))
    assert (imported.tested, "otter" in imported.notebook.metadata) == (2, False)
    answer, test = imported.notebook.cells
    assert answer.source == "x = ...\n### BEGIN SOLUTION\n### END SOLUTION"
    assert (test.id, test.metadata.nbgrader.points) == ("test_q1", 2)


def test_what_a_person_grades_of_what_learners_get(tmp_path: Path) -> None:
    imported = otter.read(ASSIGNMENTS["given"].write(tmp_path, "given"))
    (answer,) = (cell for cell in imported.notebook.cells if cell.id == "answer")
    assert answer.metadata.nbgrader.points == 0
    assert imported.notes == (
        "A person grades the answers in Otter's cells 12, and only the master notebook says for how many points: give "
        "them some in JupyterLab's sidebar.",
    )


@pytest.mark.parametrize(
    "set_up",
    [
        "import otter as o\nimport math\ng = o.Notebook('hw.ipynb')",
        "from otter import Notebook as N\nimport math\ng = N()",
        "import math\nfrom otter.check import notebook\ng = notebook.Notebook()",
    ],
)
def test_otter_under_another_name(set_up: str, tmp_path: Path) -> None:
    cells = [code(set_up), code("x = ..."), code("_ = g.check('q1')")]
    path = Assignment(cells, {}, {"tests/q1.py": f"{TESTED}{{'name': 'q1', 'suites': [{{'cases': []}}]}}"}).write(
        tmp_path, "hw"
    )
    assert otter.read(path).notebook.cells[0].source == "import math"


def test_an_author_who_sets_otter_up(tmp_path: Path) -> None:
    """With `init_cell: false`; Otter isn't there when this is graded, and the rest of the cell is needed."""
    cells = [code("import math\nimport otter\ngrader = otter.Notebook()"), *ONE, code("grader.check_all()")]
    imported = otter.read(Assignment(cells, {}).write(tmp_path, "hw"))
    assert [cell.source for cell in imported.notebook.cells if "nbgrader" not in cell.metadata] == ["import math"]
    assert imported.left_out == ("the cells in which Otter is set up and called",)


@pytest.mark.parametrize(
    "head",
    [
        "from otter.test_files import test_case as mark",
        "import otter.test_files\nmark = 3",
        "from otter import test_files as files",
    ],
)
def test_a_function_is_marked_under_any_name(head: str) -> None:
    name = {"f": "mark", "i": "otter.test_files.test_case"}[head[0]] if "as files" not in head else "files.test_case"
    tests = of_file(
        "q1.py",
        f"{head}\nOK_FORMAT = False\nname = 'q1'\ntest_cases = [9]\n@{name}(points=2)\ndef test_one(nine):\n"
        "    assert nine in test_cases\n",
    )
    (case,) = tests.cases
    assert (case.points, "test_cases = [9]" in case.text, "otter" in case.text) == (2, True, False)


def test_what_otter_does_not_run_is_not_run(tmp_path: Path) -> None:
    cells = [*ONE, code("one = 2", tags=["otter_ignore", "mine"]), code("one = 3", otter={"ignore": True})]
    plain = [cell for cell in imported(cells, tmp_path) if "nbgrader" not in cell.metadata]
    assert [cell.metadata.tags for cell in plain] == [["mine", "skip-execution"], ["skip-execution"]]


def test_the_marks_of_another_nbgrader_are_gone(tmp_path: Path) -> None:
    old = {"nbgrader": {"grade": True, "points": 7, "grade_id": "old", "locked": True, "solution": False}}
    assert [cell.metadata for cell in imported([*ONE, code("x = 1", **old)], tmp_path)][-1] == {}


def test_each_cell_has_an_id_of_its_own(tmp_path: Path) -> None:
    """A long name, one without a letter, and names that other cells have."""
    names = ["q" * 90, "q" * 90 + "x", "''", "cell", "q1_text"]
    cells = [code("x = 1"), *(cell for name in names for cell in question(f"name: {name}", *ASKED)), *ONE]
    notebook = imported(cells, tmp_path)
    assert len({cell.id for cell in notebook}) == len(notebook)
    assert all(cell.id == cell.metadata.get("nbgrader", {}).get("grade_id", cell.id) for cell in notebook)
    nbformat.validate(v4.new_notebook(cells=notebook))


def test_all_or_nothing_keeps_the_order_of_the_tests(tmp_path: Path) -> None:
    """One may use up what the next one needs."""
    tests = block("TESTS", code("# HIDDEN\none.pop()", "3"), code("one.pop()", "2"))
    (test,) = [
        cell
        for cell in imported(question("name: q1\nall_or_nothing: true", ASKED[1], tests), tmp_path)
        if cell.id == "test_q1"
    ]
    first, second = (test.source.index(f"def test_q1_{number}") for number in (1, 2))
    assert test.source.index("### BEGIN HIDDEN") < first < test.source.index("### END HIDDEN") < second


def test_types_in_a_test_need_not_be_known(tmp_path: Path) -> None:
    """Otter takes them away, so marks don't depend on them."""
    test = code("def twice(f: Unheard, x) -> Unheard:\n    return f(f(x))\ntwice(abs, -1)", "1")
    cells = imported(question("name: q1", ASKED[1], block("TESTS", test)), tmp_path)
    assert "Unheard" not in cells[-1].source
    assert "def twice(f, x):" in cells[-1].source


def test_files_beside_a_notebook_that_is_named_from_elsewhere(
    tmp_path: Path, grader: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / "nbgrader_config.py").write_text(CONFIG)
    cells = [raw(f"{CONFIGURED}files: [data]"), *ONE]
    Assignment(cells, {}, {"data/a.txt": "a"}).write(tmp_path / "theirs", "hw")
    monkeypatch.chdir(tmp_path / "course")
    ran = grader("import", "otter", "../theirs/hw.ipynb")
    assert ran.code == 0, ran.err
    assert (tmp_path / "course" / "source" / "hw" / "data" / "a.txt").read_text() == "a"


@pytest.mark.parametrize(
    "damaged",
    [
        b"",
        b"{}",
        b'{"nbformat": 4, "nbformat_minor": Infinity, "metadata": {}, "cells": []}',
        b"\xff\xfe",
        b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "code", "source": 3}]}',
        b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "raw", "id": "a", "metadata": {'
        b'}, "source": "# BEGIN QUESTION\\nname: \\ud800"}]}',
    ],
)
def test_a_damaged_notebook_is_one_sentence(damaged: bytes, tmp_path: Path, grader: Run) -> None:
    (tmp_path / "hw.ipynb").write_bytes(damaged)
    ran = grader("import", "otter", tmp_path / "hw.ipynb", "--into", tmp_path / "made")
    assert (ran.code, len(ran.err.splitlines())) == (2, 1), ran.err
    assert "hw.ipynb can't be read: " in ran.err
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("metadata", [{"otter": None}, {"otter": ["tests"]}, {"otter": {"tests": ["q1"]}}])
def test_odd_metadata_is_one_sentence(metadata: dict[str, object], tmp_path: Path, grader: Run) -> None:
    path = Assignment([code("x = 1", otter={"tests": 3}), code("y = 2", otter=[])], {}, metadata=metadata)
    ran = grader("import", "otter", path.write(tmp_path, "hw"), "--into", tmp_path / "made")
    assert (bool(ran.code), len(ran.err.splitlines())) == (True, 1), ran.err


def test_code_that_is_nested_too_deeply_is_one_sentence(tmp_path: Path, grader: Run) -> None:
    deep = question("name: q1", ASKED[1], block("TESTS", code(" + ".join(["one"] * 5000))))
    ran = grader("import", "otter", Assignment(deep, {}).write(tmp_path, "hw"), "--into", tmp_path / "made")
    assert (ran.code, len(ran.err.splitlines())) == (1, 1), ran.err
    assert "nested too deeply" in ran.err


def test_the_functions_of_a_file_share_what_stands_above_them() -> None:
    """Otter runs that once; a generator of random numbers, say, goes on from one to the next."""
    tests = of_file(
        "q1.py",
        "import otter.test_files as t\nOK_FORMAT = False\nname = 'q1'\nturns = iter('ab')\n"
        "@t.test_case()\ndef test_one(mine):\n    assert mine == next(turns) == 'a'\n"
        "@t.test_case()\ndef test_two(mine):\n    assert mine == 'a' and next(turns) == 'b'\n",
    )
    names: dict[str, object] = {"mine": "a"}
    for number, case in enumerate(tests.cases, start=1):
        exec(cell_text(case, f"test_q1_{number}"), names)


def test_a_raw_cell_stays_as_it_is(tmp_path: Path) -> None:
    """nbgrader's gradebook has no place for a locked one."""
    (cell, *_) = imported(question("name: q1", raw("A remark."), *ASKED), tmp_path)
    assert (cell.cell_type, cell.source, "nbgrader" in cell.metadata) == ("raw", "A remark.", False)


def test_where_a_blank_may_earn_something_else_it_is_said(tmp_path: Path) -> None:
    """`x, y = ...` stops the cell with Otter, and a solution below it could not run."""
    two = question(
        "name: q2", block("SOLUTION", code("x, y = 1, 2  # SOLUTION\nz = 3")), block("TESTS", code("z", "3"))
    )
    imported = otter.read(Assignment([*ONE, *two], {}).write(tmp_path, "hw"))
    assert imported.notes == (
        "A blank of q2 may earn other points than with Otter, which runs `x, y = ...` there; here it is a comment.",
    )
