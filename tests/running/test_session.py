"""What a learner's process can do, as in a notebook, and where it is stopped, with a sentence for each limit."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from nbformat import v4

from cellcheck.authoring.spec import Case
from cellcheck.errors import GraderError
from cellcheck.running import zygotes
from cellcheck.running.grade import grade, grade_submission
from cellcheck.running.limits import Limits
from cellcheck.running.result import OwnTest, Result
from cellcheck.running.session import Answers, Question, Session, Stopped
from cellcheck.running.setting import setting_of
from tests.running.submissions import FULL, LESSON, answer, as_bytes, filled_in, place_of, with_tests

ROOMY = Limits(cell_seconds=60.0, probe_seconds=60.0, cpu_seconds=300.0, memory_bytes=2**30)
QUICK = replace(ROOMY, cell_seconds=1.0)  # for cells that never end


@pytest.fixture
def session() -> Iterator[Session]:
    with Session(setting_of(LESSON), ROOMY) as session:
        yield session


# --- as in a notebook -------------------------------------------------------------------------------------------

AS_IN_A_KERNEL = {
    "magics": "%matplotlib inline\n%time x = 1\nassert x == 1",
    "cell magics": "%%capture told\nprint('hello')",
    "await at the top": "import asyncio\nassert await asyncio.sleep(0, result=3) == 3",
    "display": "from IPython.display import HTML\ndisplay(HTML('<b>x</b>'), 3)",
    "history": "1 + 1\nassert In and get_ipython() is not None",
    "the last result": "assert _ is not None or True",
    "progress bars": "from tqdm.auto import tqdm\nassert sum(tqdm(range(5))) == 10",
    "figures": "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()",
    "pandas": "import pandas as pd\nassert pd.DataFrame({'a': [1, 2]})._repr_html_()",
    "gradients": "import torch\nx = torch.ones(3, requires_grad=True)\n(x * x).sum().backward()\n"
    "assert x.grad.sum() == 6",
    "an optimiser": "import torch\nmodel = torch.nn.Linear(2, 1)\n"
    "optimizer = torch.optim.Adam(model.parameters())\nmodel(torch.ones(1, 2)).sum().backward()\noptimizer.step()",
    "threads": "from concurrent.futures import ThreadPoolExecutor\n"
    "with ThreadPoolExecutor(4) as pool:\n    assert list(pool.map(abs, [-1, -2])) == [1, 2]",
    "processes": "import subprocess\nassert subprocess.run(['true']).returncode == 0",
    "a data loader with workers": "import torch\nfrom torch.utils.data import DataLoader, TensorDataset\n"
    "loader = DataLoader(TensorDataset(torch.arange(4)), batch_size=2, num_workers=1)\nassert len(list(loader)) == 2",
    "files": "with open('mine.txt', 'w') as file:\n    file.write('hi')\nassert open('mine.txt').read() == 'hi'",
    "temporary files": "import tempfile\nwith tempfile.TemporaryFile() as file:\n    file.write(b'x')",
    "random numbers": "import random, os, numpy as np\nrandom.random(), os.urandom(2), np.random.rand()",
    "time": "import time, datetime\ntime.time(), datetime.datetime.now()",
    "the course": "from transformer_course import plots\nplots.bars({'a': 1.0}, title='t')",
    "the home folder": "from pathlib import Path\n(Path.home() / 'x').write_text('y')",
}


def test_a_cell_works_as_in_a_kernel(session: Session) -> None:
    failed = {name: error for name, source in AS_IN_A_KERNEL.items() if (error := session.run(source)) is not None}
    assert failed == {}


def test_variables_stay_from_cell_to_cell_and_what_a_cell_did_before_its_error_stays_too(session: Session) -> None:
    assert session.run("a = 1\nb = 1 / 0")["type"] == "ZeroDivisionError"  # type: ignore[index]
    assert session.run("assert a == 1") is None


def test_other_files_of_the_submission_can_be_imported_and_read(session: Session) -> None:
    session.hand_over({"helper.py": b"def double(x):\n    return 2 * x\n", "data/numbers.csv": b"1,2\n", "empty": b""})
    session.hand_over({"bytes": bytes(range(256)) * 2**17})  # more than fits into one message
    assert session.run("from helper import double\nassert double(2) == 4") is None
    assert session.run("assert open('data/numbers.csv').read() == '1,2\\n' and open('empty').read() == ''") is None
    assert session.run("assert open('bytes', 'rb').read() == bytes(range(256)) * 2**17") is None


@pytest.mark.parametrize("around", ["%%capture\n1 / 0", "%%capture\n1 +", "%run broken.py"])
def test_an_error_within_a_magic_is_an_error(session: Session, around: str) -> None:
    session.hand_over({"broken.py": b"1 / 0\n"})
    error = session.run(around)
    assert error["type"] in ("ZeroDivisionError", "SyntaxError")
    assert session.run("1 + 1") is None


# What the README says is different.


def test_nobody_answers_input() -> None:
    notebook = filled_in({"pick": "name = input('Your name?')\n" + answer("pick")})
    result = grade(as_bytes(notebook), seed=5)
    (pick,) = [verdict for verdict in result.verdicts if verdict.symbol == "pick"]
    assert pick.status == "error"
    assert "input() has nobody to ask while a notebook is graded" in pick.message
    assert result.score == FULL - pick.max_score


# --- limits -----------------------------------------------------------------------------------------------------


def graded(limits: Limits = ROOMY, **types: str) -> Result:
    return grade(as_bytes(filled_in(types)), seed=5, limits=limits)


# Time, and what ends the process, stand in test_grade.py.
@pytest.mark.parametrize(
    ("before", "status", "sentence"),
    [
        ("x = bytearray(2**31)\n", "memory", "MemoryError"),
        ("while True: print('x' * 100_000)\n", "error", "characters were printed: is there a loop that never stops"),
        ("open('big', 'wb').write(b'x' * 2**27)\n", "error", "It stops with OSError"),
    ],
)
def test_each_limit_has_its_status_and_its_sentence_and_costs_one_exercise(
    before: str, status: str, sentence: str
) -> None:
    result = graded(pick=before + answer("pick"))
    (pick,) = [verdict for verdict in result.verdicts if verdict.symbol == "pick"]
    assert (pick.status, pick.score) == (status, 0.0)
    assert sentence in pick.message
    assert f"Cell {place_of(filled_in(), 'pick') + 1}" in pick.message
    assert result.score == FULL - pick.max_score


def test_memory_is_counted_over_all_processes() -> None:
    eater = "    if os.fork() == 0:\n        filled = b'x' * 10**8\n        time.sleep(60)\n"
    cell = f"import os, time\nfor _ in range(4):\n{eater}time.sleep(60)\n" + answer("pick")
    result = graded(replace(ROOMY, memory_bytes=2**28), pick=cell)
    (pick,) = [verdict for verdict in result.verdicts if verdict.symbol == "pick"]
    assert (pick.status, pick.score) == ("memory", 0.0)
    assert "filled more than 0.25 GB of memory, all its processes together" in pick.message
    assert result.score == FULL - pick.max_score


def test_an_evening_of_loops_ends() -> None:
    loops = dict.fromkeys(("batched_dot", "pick", "mse_loss", "mlp_predict", "sgd_step"), "while True: pass")
    result = graded(replace(QUICK, cpu_seconds=2.0), **loops)
    assert any("had used up the 2 s of processor time" in v.message for v in result.verdicts)
    assert {v.status for v in result.verdicts if v.symbol in loops} == {"timeout"}


def test_a_forked_zygote_that_was_ended_is_replaced(session: Session) -> None:
    session._zygote._process.process.kill()
    session._zygote._process.process.wait()
    with pytest.raises(Stopped):
        session.run("1")
    session.restart()
    assert session.run("1") is None


def test_an_answer_is_asked_for_in_one_message(session: Session) -> None:
    session.run("def pick(values, index):\n    return values")
    question = Question.of("pick", [])
    assert session.probe(question) == Answers()
    assert session.probe(Question.of("nowhere", [Case("", {}), Case("", {})])) == Answers(absent=True)


# --- an instructor's own tests ----------------------------------------------------------------------------------


def test_own_tests_run_where_they_stand_in_the_learners_process() -> None:
    sources = {
        "right": "assert pick is not None and later == 'not yet'",
        "wrong": "assert 1 == 2, 'one is not two'",
        "half": "0.5 * 2",
        "too much": "100.0",
        "nothing": "float('nan')",
        "endless": "while True: pass",
        "lost": "assert later == 'not yet'",  # it was behind the endless one
    }
    own = [OwnTest(name, source, 2.0) for name, source in sources.items()]
    notebook = filled_in()
    cells = [
        v4.new_code_cell("'a learner's copy'", metadata={"nbgrader": {"grade_id": test.name}}) for test in own[:-1]
    ]
    notebook.cells += [v4.new_code_cell("later = 'not yet'"), *cells, v4.new_code_cell("later = 'now'")]
    result = grade_submission({LESSON: as_bytes(notebook)}, with_tests(own), 5, limits=QUICK)
    assert [test.score for test in result.own_tests] == [2.0, 0.0, 1.0, 2.0, 0.0, 0.0, 2.0]
    assert "one is not two" in result.own_tests[1].message
    assert "ran longer than 1 s" in result.own_tests[5].message
    assert result.score == FULL + 7
    assert [entry["name"] for entry in result.to_json()["forgeable"]] == list(sources)
    assert Result.from_json(result.to_json()).to_json() == result.to_json()


# --- zygotes ----------------------------------------------------------------------------------------------------


def test_a_lesson_whose_modules_are_missing_is_one_sentence() -> None:
    with pytest.raises(GraderError, match="did not start"):
        zygotes.Zygote(
            replace(setting_of(LESSON), lesson="99_nothing", probes=("transformer_course.lessons.lesson_99.probes",))
        )


def test_so_is_one_that_ends_as_often_as_it_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(*_: object) -> None:
        raise ConnectionError("it ended")

    monkeypatch.setattr(zygotes.Zygote, "_fork", ended)
    zygote = zygotes.Zygote(setting_of(LESSON))
    with pytest.raises(GraderError, match="starts, and ends at once: it gave no reason"):
        zygote.fork(QUICK)
    zygote.close()
