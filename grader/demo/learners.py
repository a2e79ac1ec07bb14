"""Ten learners, and what they hand in of lesson 01: six honest notebooks, and four that something happened to.

The tests compare our marks on the honest ones with nbgrader's own.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import nbformat
from nbformat import NotebookNode

from grader.exercises import load_lesson
from grader.running.blanks import blank

LESSON = "01_pytorch_basics"


@dataclass(frozen=True)
class Learner:
    """Somebody who fills in a notebook.

    `begins` from the course's own answers for the first so many exercises; `types` other cells instead; `edits`
    are slips of the pen: in the answer to a symbol, one text in place of another.
    """

    name: str
    begins: int = 99
    types: Mapping[str, str] = field(default_factory=dict)
    edits: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    accident: Callable[[NotebookNode], str] = json.dumps
    """What happens to the file before it is handed in."""

    def hand_in(self, released: str) -> str:
        """The text of the file that the learner hands in."""
        return self.accident(self.fill_in(released))

    def fill_in(self, released: str) -> NotebookNode:
        """The learner's notebook, from the text of the released one."""
        notebook = nbformat.reads(released, as_version=4)
        answers = self._answers()
        for cell in notebook.cells:
            symbol = cell.metadata.get("nbgrader", {}).get("grade_id")
            if cell.cell_type == "code" and symbol in answers:
                cell.source = answers[symbol]
        return notebook

    def _answers(self) -> dict[str, str]:
        exercises = load_lesson(LESSON).exercises
        answers = {e.symbol: inspect.getsource(e.references[0]).rstrip() for e in exercises[: self.begins]}
        for symbol, (old, new) in self.edits.items():
            if old not in answers[symbol]:
                raise ValueError(f"{self.name} can't slip in {symbol}: {old!r} is not in the answer.")
            answers[symbol] = answers[symbol].replace(old, new)
        return {symbol: _without_marks(text) for symbol, text in (answers | dict(self.types)).items()}


def _without_marks(source: str) -> str:
    """A learner's cell has no solution marks."""
    assert blank(source) != source or "### BEGIN" not in source
    return "\n".join(line for line in source.splitlines() if "### " not in line)


IN_OTHER_WORDS = {
    "batched_dot": """\
def batched_dot(a, b):
    return a @ b.transpose(1, 2)""",
    "pick": """\
def pick(values, index):
    rows = torch.arange(len(index), device=values.device)
    return values[rows, index]""",
    "mlp_predict_numpy": """\
def mlp_predict_numpy(params, inputs):
    last = len(params) - 1
    for layer, (W, b) in enumerate(params):
        inputs = np.dot(inputs, W) + b
        if layer != last:
            inputs = inputs * (inputs > 0)
    return inputs""",
    "mse_loss_numpy": """\
def mse_loss_numpy(params, batch):
    wrong_by = batch[1] - mlp_predict_numpy(params, batch[0])
    return np.square(wrong_by).sum() / wrong_by.size""",
    "mlp_predict": """\
def mlp_predict(params, inputs):
    *hidden, (W, b) = params
    for V, c in hidden:
        inputs = F.relu(F.linear(inputs, V.T, c))
    return torch.addmm(b, inputs, W)""",
    "mse_loss": """\
def mse_loss(params, batch):
    inputs, targets = batch
    return F.mse_loss(mlp_predict(params, inputs), targets)""",
    "loss_gradients": """\
def loss_gradients(params, batch):
    copies = [[t.detach().clone().requires_grad_(True) for t in pair] for pair in params]
    mse_loss(copies, batch).backward()
    return [(W.grad, b.grad) for W, b in copies]""",
    "sgd_step": """\
def sgd_step(params, gradients, learning_rate):
    return [
        tuple((p - learning_rate * g).detach() for p, g in zip(pair, slopes))
        for pair, slopes in zip(params, gradients)
    ]""",
    "l2_penalty": """\
def l2_penalty(params):
    total = 0
    for W, _ in params:
        total = total + torch.sum(W * W)
    return total""",
    "MLP": """\
class MLP(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.ModuleList()
        for i in range(len(sizes) - 1):
            self.layers.append(nn.Linear(sizes[i], sizes[i + 1]))

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if i + 1 < len(self.layers):
                x = x.clamp(min=0)
        return x""",
    "train": """\
def train(model, inputs, targets, optimizer, steps):
    history = []
    while len(history) < steps:
        loss = F.mse_loss(model(inputs), targets)
        history.append(float(loss.detach()))
        model.zero_grad()
        loss.backward()
        optimizer.step()
    return history""",
    "loss_is_sound": """\
def loss_is_sound(loss_function):
    g = torch.Generator().manual_seed(3)
    predictions, targets = torch.rand(6, generator=g), torch.rand(6, generator=g)
    as_row = float(loss_function(predictions, targets))
    try:
        as_column = float(loss_function(predictions[:, None], targets))
    except Exception:
        return True
    return abs(as_row - as_column) < 1e-5""",
}


def stripped(notebook: NotebookNode) -> str:
    """An editor threw all metadata away."""
    for cell in notebook.cells:
        cell.metadata = {}
    return json.dumps(notebook)


def doubled(notebook: NotebookNode) -> str:
    """A solution cell was copied, id and metadata and all."""
    at = next(i for i, cell in enumerate(notebook.cells) if cell.id == "mse_loss")
    notebook.cells.insert(at, notebook.cells[at])
    return json.dumps(notebook)  # nbformat would refuse to write it


def a_letter(notebook: NotebookNode) -> str:
    """The wrong file."""
    return f"Dear teacher, I had trouble with the {len(notebook.cells)} cells. May I hand it in next week?"


HONEST = (
    Learner("ada"),
    Learner("bela", types=IN_OTHER_WORDS),
    Learner(
        "chidi",
        edits={
            "batched_dot": ("bnd,bmd->bnm", "bnd,bmd->bmn"),
            "mse_loss": (".mean()", ".sum()"),
            "sgd_step": ("W - learning_rate", "W + learning_rate"),
        },
    ),
    Learner(
        "dana",
        edits={
            "mlp_predict": ("return x @ W + b", "return torch.relu(x @ W + b)"),
            "MLP": (
                "nn.ModuleList(nn.Linear(d_in, d_out) for d_in, d_out in pairwise(sizes))",
                "[nn.Linear(d_in, d_out) for d_in, d_out in pairwise(sizes)]",
            ),
            "train": ("        optimizer.zero_grad()", "        # optimizer.zero_grad()"),
        },
    ),
    Learner("eli", begins=6),
    Learner("fay", begins=0),
)
DAMAGED = (
    Learner("gita", types={"pick": "def pick(values, index):\n    while True:\n        pass"}),
    Learner("hugo", accident=stripped),
    Learner("ines", accident=doubled),
    Learner("jan", accident=a_letter),
)
