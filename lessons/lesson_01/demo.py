"""The class's answers to lesson 01: six honest notebooks, and four that something happened to."""

from __future__ import annotations

from grader.demo.learners import Learner, a_letter, doubled, stripped

LESSON = "01_pytorch_basics"

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
    "linear_gradients": """\
def linear_gradients(W, b, batch):
    x, y = batch
    slopes = 2 * (np.dot(x, W) + b - y) / y.size
    return np.dot(x.T, slopes), slopes.sum(axis=0)""",
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

HONEST = (
    Learner("ada", LESSON),
    Learner("bela", LESSON, types=IN_OTHER_WORDS),
    Learner(
        "chidi",
        LESSON,
        edits={
            "batched_dot": ("bnd,bmd->bnm", "bnd,bmd->bmn"),
            "mse_loss": (".mean()", ".sum()"),
            "sgd_step": ("W - learning_rate", "W + learning_rate"),
        },
    ),
    Learner(
        "dana",
        LESSON,
        edits={
            "mlp_predict": ("return x @ W + b", "return torch.relu(x @ W + b)"),
            "MLP": (
                "nn.ModuleList(nn.Linear(d_in, d_out) for d_in, d_out in pairwise(sizes))",
                "[nn.Linear(d_in, d_out) for d_in, d_out in pairwise(sizes)]",
            ),
            "train": ("        optimizer.zero_grad()", "        # optimizer.zero_grad()"),
        },
    ),
    Learner("eli", LESSON, begins=6),
    Learner("fay", LESSON, begins=0),
)
DAMAGED = (
    Learner("gita", LESSON, types={"pick": "def pick(values, index):\n    while True:\n        pass"}),
    Learner("hugo", LESSON, accident=stripped),
    Learner("ines", LESSON, accident=doubled),
    Learner("jan", LESSON, accident=a_letter),
)
LEARNERS = (*HONEST, *DAMAGED)
