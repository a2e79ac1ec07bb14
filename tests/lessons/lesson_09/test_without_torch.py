"""What travels to a learner's process, and what the lesson's cells run, needs NumPy and no torch."""

from __future__ import annotations

import subprocess
import sys

WITHOUT = "import sys\nsys.modules['torch'] = None\n"
PROBED = """
import numpy as np
from transformer_course.numpy_transformer import functions, layers, optimisers
from cellcheck.authoring.calls import in_order
from transformer_course.lessons.lesson_09.probes import PROBES

ones = np.ones((2, 3))
seen = PROBES["Linear"](
    layers.Linear,
    {
        "sizes": [3, 2],
        "weights": {"weight": np.ones((3, 2)), "bias": np.zeros(2)},
        "arguments": [ones],
        "gradient": np.ones((2, 2)),
        "other_arguments": [ones],
        "other_gradient": np.ones((2, 2)),
    },
)
assert seen["input_gradient"].tolist() == [[2.0] * 3] * 2
assert seen["weight_gradients"]["weight"].tolist() == [[2.0, 2.0]] * 3
assert seen["again"] == "what a new layer gives"
assert in_order(functions.softmax, {"x": np.zeros(2)})["output"].tolist() == [0.5, 0.5]
path = PROBES["SGD"](
    optimisers.SGD,
    {"parameters": [np.ones(1)], "gradients": [[np.ones(1)]] * 2, "learning_rate": 0.5},
)["output"]
assert [float(step[0][0]) for step in path] == [0.5, 0.0]
"""
TRAINED = """
import numpy as np

from transformer_course.numpy_transformer import functions, optimisers, tasks
from transformer_course.lessons.lesson_09 import experiments as lab

few = tasks.questions(0).train[:50]
record = lab.taught(lab.fresh_reader(), few, few, functions.cross_entropy, optimisers.Adam, epochs=(2,), rates=(0.01,))
assert record.train_loss[-1] < record.train_loss[0]
assert len(lab.heads(lab.fresh_reader(), few).table) == 20

from transformer_course.lessons.lesson_09.experiments import wrong_gradients as wrong
from transformer_course.numpy_transformer.tape import Tape, Variable

assert wrong.checked(functions.gradient_check, functions.cross_entropy, "block: dQ, without dK and dV") > 0.9
tape = lab.watched(Tape)
x = Variable(np.ones(3), tape)
y = x * x
assert tape.gradients(y.array, np.ones(3), [x.array])[0].tolist() == [2.0, 2.0, 2.0]
assert lab.kept_by(tape) == [24, 24]
"""


def test_probes_run_without_torch() -> None:
    subprocess.run([sys.executable, "-c", WITHOUT + PROBED], check=True)


def test_experiments_run_without_torch() -> None:
    subprocess.run([sys.executable, "-c", WITHOUT + TRAINED], check=True, stderr=subprocess.DEVNULL)
