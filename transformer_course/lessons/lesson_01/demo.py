"""The class's answers to lesson 01: six honest notebooks, and four that something happened to."""

from cellcheck.demo.learners import Learner, a_letter, doubled, stripped

LESSON = "01_pytorch_basics"

HONEST = (
    Learner("ada", LESSON),
    Learner("bela", LESSON, otherwise=True),
    Learner(
        "chidi",
        LESSON,
        edits={
            "batched_dot": ("bnd,bmd->bnm", "bnd,bmd->bmn"),
            "mse_loss": (".mean()", ".sum()"),
            "sgd_step": (" - learning_rate", " + learning_rate"),
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
