"""Plain nbgrader assignments, and what learners hand in of them.

One is nbgrader's own, which `nbgrader quickstart` makes. The others are written here in the manner of public university
courses: a first course in programming (a value to assign, a test that it exists, hidden tests of what it is), numerical
methods (functions, data and a module beside the notebook, partial credit), cognitive science (data in a file, an answer
that writes another one, what must be refused, what is on a plot) and recommender systems (tables, a class whose methods
build on each other, `%%time`, names that nbgrader made up).

The courses' own notebooks aren't among them. Those that we read and tried (see docs/assignments.md) are public but
come without a licence: anyone may read them, and nobody may pass them on.
"""

import copy
import io
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import nbformat
import numpy as np
from nbformat import NotebookNode, v4
from nbgrader import utils

from cellcheck.running.assignment import Assignment
from cellcheck.running.cells import SourceCell

CONFIG = 'c = get_config()\nc.CourseDirectory.course_id = "mine"\n'
HEADER = "c.IncludeHeaderFooter.header = 'source/header.ipynb'\n"


def answer(name: str, source: str, points: float | None = None, kind: str = "code") -> NotebookNode:
    """A cell that learners write into; one with points is graded by hand."""
    return _cell(kind, source, grade_id=name, solution=True, grade=points is not None, points=points)


def test(name: str, points: float, source: str) -> NotebookNode:
    """A test cell."""
    return _cell("code", source, grade_id=name, grade=True, locked=True, points=points)


def locked(name: str, source: str, kind: str = "code") -> NotebookNode:
    """A cell that learners only read."""
    return _cell(kind, source, grade_id=name, locked=True)


def task(name: str, points: float, source: str) -> NotebookNode:
    """A task: learners answer below it, in cells of their own."""
    return _cell("markdown", source, grade_id=name, locked=True, task=True, points=points)


def plain(source: str, kind: str = "code") -> NotebookNode:
    """A cell that nbgrader knows nothing of."""
    return v4.new_code_cell(source) if kind == "code" else v4.new_markdown_cell(source)


def _cell(kind: str, source: str, **marks: Any) -> NotebookNode:
    cell = plain(source, kind)
    whole = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False, **marks}
    cell.metadata["nbgrader"] = {name: value for name, value in whole.items() if value is not None}
    return cell


def solved(stub: str, solution: str) -> str:
    """The text of an answer with its solution marked."""
    indent = solution[: len(solution) - len(solution.lstrip())]
    return f"{stub}{indent}### BEGIN SOLUTION\n{solution}\n{indent}### END SOLUTION"


def hidden(shown: str, secret: str) -> str:
    """The text of a test of which a part is hidden."""
    return f"{shown}\n### BEGIN HIDDEN TESTS\n{secret}\n### END HIDDEN TESTS"


def _saved(rows: list[list[float]]) -> bytes:
    """An array in NumPy's own format."""
    file = io.BytesIO()
    np.save(file, np.array(rows, float))
    return file.getvalue()


VARIABLES = [
    plain("# Variables\nEach cell asks for one thing.", "markdown"),
    answer("honour", solved("", "honest = True")),
    test("test_honour", 0.25, "assert honest"),
    answer("true_var", solved("", "true_var = 'abc'.isalpha()\nfalse_var = '!!'.isalpha()")),
    test("test_true_var", 0.5, hidden("assert true_var is not None", "assert true_var\nassert not false_var")),
    answer("consonants", solved("def consonants(text):\n", "    return sum(c not in 'aeiou' for c in text)\n")),
    plain("consonants('banana')"),
    test("test_consonants", 1.25, hidden("assert callable(consonants)", "assert consonants('banana') == 3")),
    answer("why", "Vowels are what remains.", 2, "markdown"),
    answer("own_example", "print(consonants('a word of my own'))", 1),
    task("show_it", 3, "Show it on three texts of your own."),
]

MEASURED = [
    plain("%matplotlib inline\nimport matplotlib.pyplot as plt"),
    locked("setup", "import csv\nimport numpy as np\nfrom helpers import close\n"),
    answer(
        "load",
        solved(
            "def load(path):\n", "    with open(path) as file:\n        return [float(r[0]) for r in csv.reader(file)]"
        ),
    ),
    test(
        "test_load", 1, hidden("values = load('data/values.csv')\nassert len(values) == 4", "assert values[3] == 2.5")
    ),
    answer("slope", solved("def slope(x, y):\n", "    return np.polyfit(x, y, 1)[0]")),
    # a helper that a later test needs
    test(
        "test_line",
        2,
        "def points_for(f, cases):\n    return sum(0.5 for x, y, m in cases if close(f(x, y), m))\n"
        "cases = [([0, 1], [0, 2], 2), ([0, 1], [1, 1], 0), ([0, 2], [0, 1], 0.5), ([0, 1, 2], [0, -1, -2], -1)]\n"
        "points_for(slope, cases)",
    ),
    test("test_again", 1, "0.25 + points_for(slope, [([0, 1], [0, 3], 3)]) * 1.5"),
    plain("plt.plot(load('data/values.csv'))\nplt.title('values');"),
    answer("summary", "summary = f'{slope([0, 1], [0, 1]):.1f}'"),
    test("test_summary", 1, "print(summary)\nassert summary == '1.0', 'the slope of y = x is 1'"),
]
MORE = [
    answer("image", solved("", "with open('picture.bin', 'rb') as file:\n    picture = file.read()")),
    test("test_image", 1, "assert picture[:3] == b'\\xff\\x00\\xfe'"),
    test("test_numpy", 1, "import numpy.testing as npt\nnpt.assert_allclose(len(picture), 4)"),
]
TRIALS = [
    plain("%matplotlib inline\nimport matplotlib.pyplot as plt\nimport numpy as np"),
    plain("times = np.load('data/times.npy')\ntimes[:2, :3]"),
    answer("save", solved("", "np.savez('data/all.npz', times=np.load('data/times.npy'), trials=np.arange(1, 7))")),
    plain("# Try it out here."),
    test(
        "test_save",
        0.5,
        hidden(
            "from numpy.testing import assert_array_equal\nmade = np.load('data/all.npz')\n"
            "assert_array_equal(made['times'], np.load('data/times.npy'))\nprint('Well done!')",
            "assert_array_equal(made['trials'], np.arange(1, 7))",
        ),
    ),
    answer(
        "gain",
        solved(
            "def gain(times):\n    # how much faster each person became\n",
            "    if times.ndim != 2:\n        raise ValueError('persons and trials')\n"
            "    half = times.shape[1] // 2\n    return times[:, :half].mean(axis=1) - times[:, half:].mean(axis=1)",
        ),
    ),
    test(
        "test_gain",
        1,
        hidden("assert gain(times).shape == (4,)", "np.testing.assert_allclose(gain(times), [3, 3, 3, 3])"),
    ),
    test(
        "test_refused",
        0.5,
        "try:\n    gain(np.zeros(3))\nexcept ValueError:\n    pass\nelse:\n"
        "    raise AssertionError('one row is not a table')",
    ),
    answer(
        "plot", solved("def plot(axes, times):\n", "    axes.plot(times.mean(axis=0))\n    axes.set_xlabel('trial')")
    ),
    test(
        "test_plot",
        1.5,
        "figure, axes = plt.subplots()\nplot(axes, times)\nlines = axes.get_lines()\nplt.close(figure)\n"
        "right = len(lines) == 1 and np.allclose(lines[0].get_ydata(), times.mean(axis=0))\n"
        "right + 0.5 * (axes.get_xlabel() == 'trial')",
    ),
    answer("why", "People learn.", 1, "markdown"),
]
POPULAR = [
    locked("cell-8d1f0c2a", "from collections import Counter\nimport pandas as pd"),
    locked("cell-11c0ffee", "%%time\nseen = pd.read_csv('data/seen.csv', parse_dates=['day'])\nseen.head(2)"),
    answer("cell-5e1ec7ed", solved("", "last = seen[seen.day > seen.day.max() - pd.Timedelta(days=2)]")),
    test(
        "cell-0ddba11a",
        3,
        hidden(
            "assert isinstance(last, pd.DataFrame)\nassert last.day.nunique() == 2", "assert set(last.who) == {1, 3}"
        ),
    ),
    answer(
        "cell-b01dface",
        solved(
            "class Popular:\n",
            "    def fit(self, table):\n        self.counts = Counter(table['what'])\n        return self\n\n"
            "    def best(self, k=2):\n        return [name for name, _ in self.counts.most_common(k)]\n\n"
            "    def best_for(self, who, table, k=1):\n        known = set(table[table.who == who]['what'])\n"
            "        return [name for name in self.best(99) if name not in known][:k]",
        ),
    ),
    test("cell-7e57ab1e", 1, "model = Popular()\nassert model.fit(seen) is model, 'fit returns the model'"),
    test("cell-7e57ab1f", 2, "float(model.best(1) == ['tea']) + (model.best() == ['tea', 'milk'])"),
    test(
        "cell-7e57ab20",
        2,
        hidden("assert len(model.best_for(1, seen)) == 1", "assert model.best_for(2, last) == ['tea']"),
    ),
]
PEOPLE = {
    "data/times.npy": _saved([[9, 8, 7, 6, 5, 4], [8, 8, 8, 5, 5, 5], [7, 9, 8, 4, 6, 5], [9, 9, 9, 6, 6, 6]]),
    "data/seen.csv": b"who,what,day\n1,tea,2026-01-01\n2,tea,2026-01-01\n2,milk,2026-01-02\n3,milk,2026-01-04\n"
    b"1,tea,2026-01-05\n1,cake,2026-01-05\n",
}
FILES = {
    "data/values.csv": b"0.5\n1.0\n2.0\n2.5\n",
    "helpers.py": "def close(a, b):\n    'über den Daumen'\n    return abs(a - b) < 1e-9\n".encode(),
    "picture.bin": b"\xff\x00\xfe\x01",
}
ASSIGNMENTS = {
    "intro": ({"variables": VARIABLES}, {}),
    "methods": ({"measured": MEASURED, "more": MORE}, FILES),
    "people": ({"trials": TRIALS, "popular": POPULAR}, PEOPLE),
}

STUB = "# YOUR CODE HERE\nraise NotImplementedError()"
_HIDDEN = re.compile(r"\n### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS", re.DOTALL)
_SOLUTION = re.compile(r"^([ ]*)### BEGIN SOLUTION\n.*?### END SOLUTION", re.MULTILINE | re.DOTALL)

Edits = Mapping[tuple[str, str], str]
"""What is written into a cell, by notebook and name."""


def add(
    root: Path,
    name: str,
    notebooks: Mapping[str, Iterable[NotebookNode]],
    files: Mapping[str, bytes] = {},
    source: str = "source",
) -> None:
    """Puts an assignment's source into a course."""
    folder = root / source / name
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    folder.mkdir(parents=True, exist_ok=True)
    for title, cells in notebooks.items():
        notebook = v4.new_notebook(cells=list(cells), metadata={"kernelspec": {"name": "python3", "display_name": "P"}})
        nbformat.write(v4.upgrade(notebook), folder / f"{title}.ipynb")


def answers(root: Path, name: str) -> dict[tuple[str, str], str]:
    """The instructor's own answers."""
    texts = {}
    for path in (root / "source" / name).glob("*.ipynb"):
        for cell in nbformat.read(path, as_version=4).cells:
            marks = cell.metadata.get("nbgrader", {})
            if marks.get("solution"):
                texts[path.stem, marks["grade_id"]] = cell.source
    return texts


def hand_in(root: Path, name: str, student: str, edits: Edits) -> Path:
    """Copies what was released, and writes into its cells."""
    folder = root / "submitted" / student / name
    shutil.copytree(root / "release" / name, folder)
    for path in folder.glob("*.ipynb"):
        edit(path, lambda cell, title=path.stem: edits.get((title, cell)))
    return folder


def edit(path: Path, text: Any) -> None:
    """Writes into a notebook's named cells what `text` gives for their names."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        written = text(cell.metadata.get("nbgrader", {}).get("grade_id"))
        cell.source = cell.source if written is None else written
    nbformat.write(notebook, path)


def assignment(
    name: str, notebooks: Mapping[str, Iterable[NotebookNode]], files: Mapping[str, bytes] = {}
) -> Assignment:
    """An assignment as a gradebook would know it, without a gradebook."""
    return Assignment(
        name, {title: dict(map(_known, filter(_marks, cells))) for title, cells in notebooks.items()}, None, files
    )


def _marks(cell: NotebookNode) -> dict[str, Any]:
    return dict(cell.metadata.get("nbgrader", {}))


def _known(cell: NotebookNode) -> tuple[str, SourceCell]:
    marks = _marks(cell)
    answer = marks["solution"] or marks["task"]
    known = SourceCell(
        cell.cell_type,
        utils.is_locked(cell),
        released_text(cell.source),
        utils.compute_checksum(cell),
        marks["points"] if marks["grade"] or marks["task"] else None,
        answer,
        marks["task"],
    )
    return marks["grade_id"], known


def released_text(source: str) -> str:
    """A cell's text as learners get it, with its hidden tests."""
    return _SOLUTION.sub(lambda blank: "".join(f"{blank[1]}{line}\n" for line in STUB.splitlines()).rstrip(), source)


def work(cells: Iterable[NotebookNode], edits: Mapping[str, str]) -> bytes:
    """A notebook as a learner hands it in: what was released, and what is written into its cells, by their names."""
    notebook = v4.new_notebook(cells=copy.deepcopy(list(cells)))
    for cell in notebook.cells:
        released = _HIDDEN.sub("", released_text(cell.source))
        cell.source = edits.get(_marks(cell).get("grade_id", ""), released)
    return nbformat.writes(notebook).encode()


def file_of(cells: Iterable[NotebookNode]) -> bytes:
    """A notebook's bytes."""
    return nbformat.writes(v4.new_notebook(cells=list(cells))).encode()
