"""Mutants of the references that are as right as they are, and why. See `grader.audit`."""

from __future__ import annotations

_START = "where the embeddings start is no part of the contract: training moves them"
_TWO_AXES = "of the real tokens alone there are two axes, and axis 1 is the last one"
_ERROR = "without it another error says that something is wrong: a division by zero, or a power of it"
_TRUSTED = "of a file that save_checkpoint wrote, both read the same"

_EMBEDDING = {
    f"nn.init.normal_(self.embedding.weight, std=d_model ** (-0.5)) -> {changed}": _START
    for changed in (
        "(dropped)",
        "nn.init.normal_(self.embedding.weight, std=d_model ** 0.5)",
        "nn.init.normal_(self.embedding.weight, std=d_model ** (-1.5))",
    )
}
_LOGS = "log_probabilities = torch.log_softmax(logits[real], dim=-1)"
_TARGETS = "of_target = log_probabilities.gather(-1, targets[real].unsqueeze(-1)).squeeze(-1)"
_ALL = "of_all = log_probabilities.masked_fill(columns == self.pad_id, 0.0).sum(dim=-1)"

EQUIVALENTS: dict[str, dict[str, str]] = {
    "Encoder": _EMBEDDING,
    "Decoder": _EMBEDDING,
    "LabelSmoothingLoss": {
        f"{_LOGS} -> log_probabilities = torch.log_softmax(logits[real], dim=1)": _TWO_AXES,
        f"{_ALL} -> of_all = log_probabilities.masked_fill(columns == self.pad_id, 0.0).sum(dim=1)": _TWO_AXES,
        **{
            f"{_TARGETS} -> of_target = log_probabilities.{changed}": _TWO_AXES
            for changed in (
                "gather(1, targets[real].unsqueeze(-1)).squeeze(-1)",
                "gather(-1, targets[real].unsqueeze(1)).squeeze(-1)",
                "gather(-1, targets[real].unsqueeze(-1)).squeeze(1)",
            )
        },
        f"{_TARGETS} -> of_target = log_probabilities.gather(-1, targets[real].unsqueeze(-1)).squeeze(-2)": (
            "each target then meets each row, and the mean over all pairs is the sum of the two means"
        ),
    },
    "noam_learning_rate": {
        "if step < 1: -> (dropped)": _ERROR,
        "raise ValueError(f'steps count from 1, and this is step {step}') -> (dropped)": _ERROR,
    },
    "train_epoch": {
        "if tokens == 0: -> (dropped)": _ERROR,
        "if tokens == 0: -> if tokens == 1:": _ERROR,
        "raise ValueError('there is no batch to learn from') -> (dropped)": _ERROR,
    },
    "load_checkpoint": {
        "content = torch.load(path, map_location='cpu', weights_only=True)"
        " -> content = torch.load(path, map_location='cpu', weights_only=False)": _TRUSTED,
    },
}
