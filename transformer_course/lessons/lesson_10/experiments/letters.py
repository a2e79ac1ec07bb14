"""The task of lesson 10, the model that learns it, and what is measured of it: letters, to be written backwards."""

from dataclasses import dataclass

import torch
from torch import nn

from transformer_course.causal import CausalSeq2SeqTransformer
from transformer_course.fitting import evaluating
from transformer_course.sequences import exact_match, sequence_cross_entropy, shift_right, token_accuracy
from transformer_course.tasks import reversal
from transformer_course.tasks.reversal import ALPHABET, END_ID, START_ID, VOCAB_SIZE
from transformer_course.training_well.dropout import Dropout

SHORTEST, LONGEST = 3, 8
Tensors = tuple[torch.Tensor, torch.Tensor]


@dataclass(frozen=True)
class Letters:
    """Rows to learn from and rows to be judged by; none is in both.

    Inputs are (n, 17): the letters, and beside them what the decoder reads. Targets are (n, 9).
    """

    train: Tensors
    validation: Tensors
    texts: tuple[str, ...]
    """The validation rows as text."""


def letters(rows: int = 4000, seed: int = 0, *, validation: int = 500) -> Letters:
    """So many rows of 3 to 8 letters to learn from, and 500 others for validation."""
    data = reversal.reversal_task(seed, rows, validation, LONGEST, min_length=SHORTEST)
    return Letters(side_by_side(data.train), side_by_side(data.test), tuple(data.test))


def side_by_side(texts: list[str]) -> Tensors:
    """Inputs (n, 17) and targets (n, 9): a model with one input reads the letters and the target input from one row."""
    source, target = reversal.tensors(texts, LONGEST, LONGEST + 1)  # (n, 8), (n, 9)
    return torch.cat([source, shift_right(target, START_ID)], dim=1), target


class Reverser(nn.Module):
    """Lesson 5's model with a single input, and with dropout behind the embeddings and each feed-forward network."""

    def __init__(self, d_model: int = 32, num_layers: int = 1, dropout: type[nn.Module] = Dropout, p: float = 0.0):
        super().__init__()
        self.model = CausalSeq2SeqTransformer(VOCAB_SIZE, LONGEST + 2, d_model, 4, 2 * d_model, num_layers)
        if p > 0:
            for name in ("source_positions", "target_positions"):
                setattr(self.model, name, nn.Sequential(getattr(self.model, name), dropout(p)))
            for block in [*self.model.encoder, *self.model.decoder]:
                block.feed_forward = nn.Sequential(block.feed_forward, dropout(p))

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Inputs (batch, 8 + target_length) -> logits (batch, target_length, vocab_size)."""
        logits: torch.Tensor = self.model(inputs[:, :LONGEST], inputs[:, LONGEST:])
        return logits


def row_loss(logits: torch.Tensor, targets: torch.Tensor, smoothing: float = 0.0) -> torch.Tensor:
    """The mean over rows of each row's mean cross-entropy per token, padding left out."""
    losses = nn.functional.cross_entropy(
        logits.float().mT, targets, ignore_index=0, reduction="none", label_smoothing=smoothing
    )  # (batch, length)
    real = targets != 0
    return ((losses * real).sum(dim=1) / real.sum(dim=1)).mean()


def renamed(inputs: torch.Tensor, targets: torch.Tensor, generator: torch.Generator) -> Tensors:
    """The same rows under other names: in each row, every letter is replaced by another, the same one everywhere.

    A row written backwards under new names is still a row written backwards, so the answers stay right.
    """
    names = torch.arange(VOCAB_SIZE).repeat(len(inputs), 1)  # (batch, vocab_size)
    letters_ = torch.rand(len(inputs), len(ALPHABET.characters), generator=generator).argsort(dim=1) + 1
    names[:, 1 : len(ALPHABET.characters) + 1] = letters_
    return names.gather(1, inputs), names.gather(1, targets)


def scores(model: nn.Module, rows: Tensors) -> dict[str, float]:
    """Loss per token, token accuracy and exact match, with a teacher, in evaluation mode.

    Whether a row is right doesn't depend on the teacher: lesson 5 shows why, for a model that can't look ahead.
    """
    inputs, targets = rows
    with evaluating(model):
        logits = torch.cat([model(some).float() for some in torch.split(inputs, 500)])
    return measured_on(logits, targets)


def measured_on(logits: torch.Tensor, targets: torch.Tensor) -> dict[str, float]:
    """The three scores of these logits."""
    return {
        "loss": float(sequence_cross_entropy(logits, targets)),
        "token accuracy": float(token_accuracy(logits, targets)),
        "exact match": float(exact_match(logits.argmax(-1), targets)),
    }


def said_by(model: nn.Module, rows: Tensors) -> list[str]:
    """What the model answers, row by row, as text up to the end mark."""
    inputs, _ = rows
    with evaluating(model):
        ids = model(inputs).argmax(-1)
    return [ALPHABET.text(row).split(ALPHABET.text([END_ID]))[0] for row in ids]
