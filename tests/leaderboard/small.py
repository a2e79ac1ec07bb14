"""A contest that takes no time: rows of digits are to be copied. And entries to it, honest and otherwise."""

import random
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from cellcheck.authoring.contest import Allowance, Contest, Notation
from cellcheck.leaderboard.entries import read_entry
from cellcheck.leaderboard.entry_files import EntryRefused
from cellcheck.leaderboard.find_contest import entry_setting
from cellcheck.leaderboard.scoring import Outcome, score
from transformer_course.decoding import greedy_decode

START, END, SIZE = 11, 12, 13  # the digit d has id d + 1
LESSON = "01_some_topic"


def _draw(generator: random.Random, size: int, count: int) -> list[tuple[int, ...]]:
    return [tuple(generator.randrange(10) for _ in range(size)) for _ in range(count)]


def _practise(generator: random.Random, count: int) -> list[tuple[int, ...]]:
    return [problem for _ in range(count) for problem in _draw(generator, generator.randint(1, 3), 1)]


def _notation(asked: Mapping[str, Any]) -> Notation:
    backwards = asked.get("backwards", False)
    if not isinstance(backwards, bool) or asked.keys() - {"backwards"}:
        raise ValueError("FORMAT may say whether rows are written backwards: {'backwards': True}.")

    def write(problem: tuple[int, ...]) -> tuple[list[int], list[int]]:
        ids = [digit + 1 for digit in problem]
        return ids, [*(ids[::-1] if backwards else ids), END]

    return Notation(write, SIZE, START, END, interchangeable=tuple(range(1, 11)))


CONTEST = Contest(
    title="Copying",
    hidden={3: 10, 12: 6},
    draw=_draw,
    practise=_practise,
    notation=_notation,
    decode=greedy_decode,
    # Seconds that no honest entry here needs, however busy the machine is.
    allowance=Allowance(
        training_seconds=30.0, answering_seconds=30.0, memory_bytes=2**29, parameters=2_000, text_bytes=4096, drawn=256
    ),
    size="digits",
    code="adder.py",
    learn="train",
    answers="rows",
)
SETTING = entry_setting("", "", ())


def impatient(**seconds: float) -> Contest:
    """The same contest with little time."""
    return replace(CONTEST, allowance=replace(CONTEST.allowance, **seconds))  # type: ignore[arg-type]


MODEL = """
import torch
from torch import nn

class Copier(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(13, 16)
        self.head = nn.Linear(16, 13)

    def forward(self, source, target_input):
        length = target_input.shape[1]
        return self.head(self.embedding(nn.functional.pad(source, (0, length))[:, :length]))

def make_model():
    return Copier()
"""
TRAINING = """
def train(model, draw):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(60):
        pairs = draw(32)
        width = max(len(target) for _, target in pairs)
        source = torch.tensor([s + [0] * (width - len(s)) for s, _ in pairs])
        target = torch.tensor([t + [0] * (width - len(t)) for _, t in pairs])
        loss = nn.functional.cross_entropy(model(source, target).transpose(1, 2), target, ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
HONEST = MODEL + TRAINING
# What copies without having learnt anything.
COPY = """
def copied(source, target_input):
    length = target_input.shape[1]
    ids = nn.functional.pad(source, (0, length))[:, :length]
    return nn.functional.one_hot(torch.where(ids == 0, 12, ids), 13).float()
"""


def put(folder: Path, code: str | bytes | None, weights: bytes | None = None) -> Path:
    """An entry's folder."""
    folder.mkdir(parents=True, exist_ok=True)
    if code is not None:
        (folder / CONTEST.code).write_bytes(code if isinstance(code, bytes) else code.encode())
    if weights is not None:
        (folder / CONTEST.weights).write_bytes(weights)
    return folder


def outcome(folder: Path, contest: Contest = CONTEST, seed: int = 1, name: str = "ada") -> Outcome:
    """What comes of the entry in a folder."""
    try:
        return score(read_entry(name, folder, contest), contest, SETTING, seed)
    except EntryRefused as refused:
        return Outcome(name, refused=str(refused))
