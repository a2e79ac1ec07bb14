"""Assignments of Otter-Grader's, written here, that use every construct an import knows; and what learners hand in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode, v4


def raw(source: str) -> NotebookNode:
    """A cell that begins or ends something."""
    return v4.new_raw_cell(source)


def text(source: str, *tags: str) -> NotebookNode:
    """A cell of text."""
    return v4.new_markdown_cell(source, metadata={"tags": list(tags)} if tags else {})


def code(source: str, shows: str = "", **metadata: Any) -> NotebookNode:
    """A code cell, and what it showed when it was saved."""
    printed = v4.new_output("stream", name="stdout", text=f"{shows}\n")
    value = v4.new_output("execute_result", data={"text/plain": shows})
    outputs = [] if not shows else [printed if "print" in source or "greet(" in source else value]
    return v4.new_code_cell(source, outputs=outputs, metadata=metadata)


def block(name: str, *cells: NotebookNode) -> list[NotebookNode]:
    """Cells between BEGIN and END."""
    return [raw(f"# BEGIN {name}"), *cells, raw(f"# END {name}")]


def question(config: str, *parts: NotebookNode | Sequence[NotebookNode]) -> list[NotebookNode]:
    """A question: its text, and its blocks."""
    cells = [cell for part in parts for cell in ([part] if isinstance(part, NotebookNode) else part)]
    return [raw(f"# BEGIN QUESTION\n{config}"), *cells, raw("# END QUESTION")]


@dataclass(frozen=True)
class Assignment:
    """An assignment of Otter's."""

    cells: Sequence[NotebookNode]
    handed_in: Mapping[str, Mapping[int, str]]
    """By learner, what stands in which of the code cells for answers; the others are as they were handed out."""
    files: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    is_master: bool = True

    def write(self, folder: Path, name: str) -> Path:
        """Writes it as its author has it."""
        folder.mkdir(exist_ok=True)
        for place, content in self.files.items():
            (folder / place).parent.mkdir(parents=True, exist_ok=True)
            (folder / place).write_text(content, "utf-8")
        kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
        cells = [NotebookNode({**cell, "id": f"c{number}"}) for number, cell in enumerate(self.cells)]
        notebook = v4.new_notebook(cells=cells, metadata={"kernelspec": kernel, **self.metadata})
        nbformat.write(notebook, folder / f"{name}.ipynb")
        return folder / f"{name}.ipynb"


SHOWN = Assignment(
    [
        raw(
            "# ASSIGNMENT CONFIG\nconfig_file: common.yml\nfiles:\n    - data\n    - words.py\nexport_cell: false\n"
            "generate:\n    pdf: true\n    show_hidden: false\ntests:\n    files: true"
        ),
        text("# Numbers and words"),
        code("import words\nimport math"),
        text("# IGNORE\nA note among authors."),
        # Nobody says points: one for the question, in equal parts.
        *question(
            "name: q1",
            text("What is three times three?"),
            block("SOLUTION", code("nine = 3 * 3  # SOLUTION\nassert nine == 9  # IGNORE\nnine")),
            block(
                "TESTS",
                code("nine is not None", "True"),
                code("nine == 9", "True"),
                code("# HIDDEN\nisinstance(nine, int)", "True"),
            ),
        ),
        # Some cases say points, and the others share what is left. One shows more than a value.
        *question(
            "name: q2\npoints: 3.5",
            text("Double what is given."),
            block(
                "SOLUTION",
                code(
                    "def double(number):\n    twice = number + number  # SOLUTION NO PROMPT\n"
                    "    return twice  # SOLUTION"
                ),
            ),
            block(
                "TESTS",
                code(
                    '""" # BEGIN TEST CONFIG\npoints: 2\nsuccess_message: Well done.\n""" # END TEST CONFIG\ndouble(4)',
                    "8",
                ),
                code(
                    '_ = """ # BEGIN TEST CONFIG\nhidden: true\nfailure_message: And of a text?\n'
                    '""" # END TEST CONFIG\n'
                    "for word in ['a', 'b']:\n    print(double(word))",
                    "aa\nbb",
                ),
                code("# HIDDEN\nassert double(-1) == -2\nassert double(0.5) == 1"),
            ),
        ),
        # All of it or nothing. The solution is given out as another text.
        *question(
            "name: q3\npoints: 2\nall_or_nothing: true",
            text("Read the numbers in data/numbers.txt, and add them up."),
            block(
                "SOLUTION",
                code(
                    "# BEGIN SOLUTION NO PROMPT\ndef total(path):\n    with open(path) as file:\n"
                    "        return sum(float(line) for line in file)\n# END SOLUTION\n"
                    '""" # BEGIN PROMPT\ndef total(path):\n    ...\n"""; # END PROMPT\n'
                    'whole = total("data/numbers.txt")'
                ),
                text("The sum is six."),
            ),
            block("TESTS", code("# HIDDEN\nwhole", "6.0"), code("callable(total)", "True")),
        ),
        # A number for each case, and one of them is nothing.
        *question(
            "name: q4\npoints:\n    - 1\n    - 0\n    - 0.5",
            text("Greet."),
            block(
                "SOLUTION", code("def greet(name):\n    # BEGIN SOLUTION\n    print('Hello', name)\n    # END SOLUTION")
            ),
            block(
                "TESTS",
                code("greet('Ada')", "Hello Ada"),
                code("callable(greet)", "True"),
                code("# HIDDEN\nsum([len(words.WORDS), 1])", "4"),
            ),
        ),
        # The same for each, in cells of text.
        text("```otter\n# BEGIN QUESTION\nname: q5\npoints:\n    each: 2\n```"),
        text("Sort the words.\n\n```otter\n# BEGIN SOLUTION\n```\n"),
        code("table = list(words.WORDS)\ntable = sorted(table)  # SOLUTION"),
        text("```otter\n# END SOLUTION\n```\n\n```otter\n# BEGIN TESTS\n```"),
        code("table[0]", "'and'"),
        code("# HIDDEN\ntable[-1]", "'words'"),
        text("```otter\n# END TESTS\n```"),
        text("```otter\n# END QUESTION\n```"),
        # Questions that a person grades.
        *question(
            "name: q6\nmanual: true\npoints: 4",
            text("Why do we sort?"),
            block("PROMPT", text("*We sort because ...*")),
            block("SOLUTION", text("We find things faster.")),
        ),
        *question(
            "name: q7\nmanual: true\npoints: 1.5",
            text("Draw the numbers."),
            block("SOLUTION", code("print('*' * 6)  # SOLUTION")),
        ),
        # More hidden tests of what stands above, for which nothing is written.
        *question("name: q8\ncheck_cell: false", block("TESTS", code("# HIDDEN\nmath.isclose(whole, 6)", "True"))),
        text("The end."),
    ],
    {
        "blank": {},
        "right": {
            0: "nine = 3 * 3\nnine",
            1: "def double(number):\n    return number + number",
            2: "def total(path):\n    return sum(map(float, open(path)))\nwhole = total('data/numbers.txt')",
            3: "def greet(name):\n    print('Hello', name)",
            4: "table = sorted(words.WORDS)",
            5: "print('******')",
        },
        # A builtin that is gone, something printed on the way, a number that is no int, half a greeting.
        "careless": {
            0: "sum = 9.0\nnine = sum",
            1: "def double(number):\n    print('doubling')\n    return number + number",
            2: "def total(path):\n    total = 0\n    for line in open(path):\n        total += int(line)\n"
            "    return total\nwhole = total('data/numbers.txt')",
            3: "def greet(name):\n    return 'Hello ' + name",
            4: "table = sorted(words.WORDS, reverse=True)",
        },
        "half": {
            0: "nine = True + 8",
            1: "def double(number):\n    return 2 * number if number != 0.5 else None",
            3: "def greet(name):\n    print('Hello', 'Ada')",
            4: "table = ['and', 'then']",
        },
        "broken": {
            0: "nine = (",
            1: "def double(number):\n    raise SystemExit",
            2: "whole = 6.0",
            3: "del words",
            4: "1 / 0",
        },
    },
    {
        "common.yml": "requirements: requirements.txt\nrun_tests: true\n",
        "requirements.txt": "numpy\n",
        "data/numbers.txt": "1\n2\n3\n",
        "words.py": "WORDS = ['words', 'and', 'more']\n",
    },
)
"""Tests are compared by what they show."""

RAISED = Assignment(
    [
        raw("# ASSIGNMENT CONFIG\ntests:\n    ok_format: false\n    files: true\nexport_cell: false"),
        code("import math"),
        *question(
            "name: q1\npoints: 3",
            text("The mean of some numbers."),
            block("SOLUTION", code("def mean(numbers):\n    return sum(numbers) / len(numbers)  # SOLUTION")),
            block(
                "TESTS",
                # Of two tests of one name, Otter runs the second only.
                code("def test_mean(mean):\n    assert mean([1, 1]) == 2, 'never seen'\n\ntest_mean(mean)"),
                code("def test_mean(mean):\n    assert mean([1, 3]) == 2, 'The mean of 1 and 3 is 2.'"),
                code(
                    '""" # BEGIN TEST CONFIG\npoints: 2\nhidden: true\nfailure_message: What if there are none?\n'
                    '""" # END TEST CONFIG\ndef test_many(env, math):\n'
                    "    assert math.isclose(env['mean'](range(5)), max(2, 1))\n    assert math.pi > 3"
                ),
            ),
        ),
        *question(
            "name: q2\nall_or_nothing: true",
            text("Which is the largest?"),
            block("SOLUTION", code("largest = max(3, 7)  # SOLUTION")),
            block(
                "TESTS",
                code("def test_there(largest):\n    assert largest is not None"),
                code("# HIDDEN\ndef test_it(largest):\n    assert largest == 7"),
            ),
        ),
    ],
    {
        "blank": {},
        "right": {0: "def mean(numbers):\n    return sum(numbers) / len(numbers)", 1: "largest = 7"},
        "careless": {0: "def mean(numbers):\n    return numbers[0] + 1 if numbers else 0", 1: "max = 7\nlargest = max"},
        "half": {0: "def mean(numbers):\n    return 2", 1: "largest = 3"},
    },
)
"""Tests raise an error."""

GIVEN_OUT = Assignment(
    [
        code('# Initialize Otter\nimport otter\ngrader = otter.Notebook("given.ipynb")', editable=False),
        code("import math", editable=False),
        text("The area of a circle."),
        code("def area(radius):\n    ...", tags=["otter_answer_cell"]),
        code('grader.check("q1")', editable=False),
        text("How many letters has a text?"),
        code("def letters(text):\n    ...", tags=["otter_answer_cell"]),
        code('grader.check("q2");', editable=False),
        code("letters('again')\ngrader.check('q2')"),
        code("%time grown = area(2)"),
        text("<!-- BEGIN QUESTION -->\n\nWhat did you learn?"),
        text("_Type your answer here, replacing this text._", "otter_answer_cell"),
        text("<!-- END QUESTION -->\n\n"),
        text("---\n\nThe cell below runs all tests again."),
        code("grader.check_all()", editable=False),
    ],
    {
        "blank": {},
        "right": {
            0: "def area(radius):\n    return math.pi * radius ** 2",
            1: "def letters(text):\n    return sum(letter.isalpha() for letter in text)",
        },
        "half": {
            0: "def area(radius):\n    return 3 * radius ** 2",
            1: "def letters(text):\n    return len(text)",
        },
        "careless": {
            0: "def area(radius):\n    print(radius)\n    return 3.14159 * radius ** 2",
            1: "len = 3\ndef letters(text):\n    return 0 if text == '' else 1",
        },
    },
    {
        "tests/q1.py": "OK_FORMAT = True\n\ntest = "
        + repr(
            {
                "name": "q1",
                "points": None,
                "suites": [
                    {
                        "cases": [
                            {"code": ">>> round(area(1), 2)\n3.14", "hidden": False, "locked": False},
                            {
                                "code": ">>> area(0) == 0\nTrue\n>>> area(10) # doctest: +ELLIPSIS\n314.15...",
                                "points": 2,
                            },
                            {
                                "code": ">>> area('x')\nTraceback (most recent call last):\n    ...\nTypeError: no",
                                "points": 0,
                            },
                        ],
                        "scored": True,
                        "setup": "",
                        "teardown": "",
                        "type": "doctest",
                    }
                ],
            }
        ),
        "tests/q2.py": "import string\nfrom otter.test_files import test_case\n\n"
        "OK_FORMAT = False\n\nname = 'q2'\npoints = 2\n\n"
        "LETTERS = len(string.ascii_letters)\n\n\n"
        "@test_case(points=None, hidden=False)\ndef test_one(letters):\n    assert letters('a') == 1\n\n\n"
        "@test_case(points=1.5, hidden=True, success_message='All of them.')\ndef test_all(letters):\n"
        "    assert letters(string.ascii_letters + '  ') == LETTERS\n",
        "tests/q3.py": "OK_FORMAT = True\ntest = "
        + repr({"name": "q3", "points": 1, "suites": [{"cases": [{"code": ">>> grown > 12\nTrue", "hidden": True}]}]}),
    },
    is_master=False,
)
"""What learners get, with its tests beside it. Nothing checks q3, which then runs at the end."""

ASSIGNMENTS = {"shown": SHOWN, "raised": RAISED, "given": GIVEN_OUT}
