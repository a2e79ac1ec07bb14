"""The capstone's contest: which sums are drawn, how they are written, and that Python's own addition gets no place."""

import random
import re
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy
import torch

from cellcheck.authoring.contest import Contest
from cellcheck.leaderboard.entries import find_entries, read_entry
from cellcheck.leaderboard.find_contest import load_contest
from cellcheck.leaderboard.scoring import Outcome, score
from transformer_course.length_generalization.adder import Adder
from transformer_course.length_generalization.entries import write_entry
from transformer_course.length_generalization.writing import SumWriting
from transformer_course.lessons.lesson_14.contest import CONTEST, LEARNT, hidden_sums, practice_sums

NAME, _, SETTING = load_contest("14")
ENTRIES = Path(__file__).parents[3] / "transformer_course" / "lessons" / "lesson_14" / "entries"
QUICK = replace(CONTEST, hidden={5: 6, 20: 3})


def carries(pair: tuple[int, int]) -> int:
    """Through how many places the longest carry runs on, after the place that makes it."""
    longest = running = carry = 0
    for place in range(len(str(max(pair)))):
        column = pair[0] // 10**place % 10 + pair[1] // 10**place % 10
        running = running + 1 if carry and column == 9 else 0
        longest = max(longest, running)
        carry = int(column + carry >= 10)
    return longest


def test_hidden_sums() -> None:
    for digits, count in CONTEST.hidden.items():
        sums = hidden_sums(random.Random(3), digits, count)
        assert len(set(sums)) == count
        assert {len(str(number)) for pair in sums for number in pair} == {digits}
        assert sum(carries(pair) >= 3 for pair in sums) >= count // 3
        assert sums != hidden_sums(random.Random(4), digits, count)
    assert (min(CONTEST.hidden), max(CONTEST.hidden)) == (5, 100)


def test_practice_sums() -> None:
    sums = practice_sums(random.Random(3), 2_001)
    assert len(sums) == 2_001
    lengths = [max(len(str(number)) for number in pair) for pair in sums]
    assert max(lengths) == LEARNT
    assert min(lengths) == 1
    assert 1000 <= sum(min(pair) >= 10_000 for pair in sums) < 1200
    assert practice_sums(random.Random(1), 1)
    assert len(CONTEST.draw(random.Random(1), 7, 1)) == 1


FORMATS = [
    {"least_first": a, "operands_least_first": b, "index_hints": c, "width": d}
    for a, b, c, d in product((True, False), (True, False), (True, False), (None, "padded"))
]


@pytest.mark.parametrize("format", FORMATS, ids=str)
def test_each_format_is_the_librarys_writing(format: dict[str, object]) -> None:
    notation, writing = CONTEST.notation(format), SumWriting(**format)  # type: ignore[arg-type]
    pair = (90_817, 345)
    source, target = notation.write(pair)
    expected = writing.tensors([pair])
    assert [source, target] == [rows[0].tolist() for rows in expected]
    assert target[-1] == notation.end_id
    assert writing.number(target) == sum(pair)
    assert 0 not in source + target
    assert max(source + target) < notation.vocab_size
    assert {notation.start_id, notation.end_id}.isdisjoint(notation.interchangeable)
    assert sorted(notation.interchangeable) == list(range(1, 11))
    CONTEST.notation(format).write((10**99, 10**100 - 1))  # the longest sums have letters enough


@pytest.mark.parametrize("format", [{"width": 5}, {"least_first": "yes"}, {"letters": True}, {"index_hints": None}])
def test_a_format_that_there_is_not(format: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"FORMAT may set least_first, .* and holds .*\."):
        CONTEST.notation(format)
    assert CONTEST.notation({}).vocab_size == SumWriting().alphabet.size


# --- entries


def scored(folder: Path, contest: Contest = QUICK, seed: int = 1) -> Outcome:
    return score(read_entry("ada", folder, contest), contest, SETTING, seed)


@pytest.mark.parametrize("with_weights", [False, True])
def test_what_the_library_writes_is_an_entry(tmp_path: Path, with_weights: bool) -> None:
    """Untrained, or nearly: it gets nothing right, and has its place."""
    writing = SumWriting(operands_least_first=True, index_hints=True, width="padded")
    model = Adder(writing, positions="rotary", window=3, d_model=16, num_heads=2, d_ff=32)
    write_entry(tmp_path / "entry", model, with_weights=with_weights, steps=2, sums=100)
    result = scored(tmp_path / "entry", replace(QUICK, hidden={5: 3}))
    assert (result.refused, result.trained) == ("", not with_weights)
    assert result.parameters == sum(parameter.numel() for parameter in model.parameters())
    assert list(result.right) == [5]


PYTHON = """
import torch
from torch import nn

FORMAT = {"least_first": True, "operands_least_first": True, "index_hints": False, "width": "padded"}

class Adder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(14, 14)

    def forward(self, source, target_input):
        rows = []
        for row in source.tolist():
            text = "".join("_0123456789+"[i] for i in row).replace("_", "")
            first, second = (int(number[::-1]) for number in text.split("+"))
            width = text.index("+") + 1
            answer = [int(digit) + 1 for digit in str(first + second).zfill(width)[::-1]] + [13]
            rows.append((answer + [0] * 200)[: target_input.shape[1]])
        return nn.functional.one_hot(torch.tensor(rows), 14).float()

def make_model():
    return Adder()

def train(model, draw):
    pass
"""


def test_an_adder_in_python(tmp_path: Path) -> None:
    """With weights for show it is found out; trained here, it doesn't know what the digits are called."""
    (tmp_path / "adder.py").write_text(PYTHON)
    here = scored(tmp_path)
    assert here.refused or here.score == 0
    layer = torch.nn.Linear(14, 14).state_dict()
    weights = {f"layer.{name}": np.asarray(value) for name, value in layer.items()}
    (tmp_path / "weights.safetensors").write_bytes(safetensors.numpy.save(weights))
    assert "after its weights have been shuffled" in scored(tmp_path).refused


# --- the three that come with the lesson


def samples() -> dict[str, Path]:
    return find_entries([ENTRIES], CONTEST, NAME)


def test_there_are_three_sample_entries() -> None:
    assert sorted(samples()) == ["learned_positions", "random_offsets", "rotary_window"]


@pytest.mark.parametrize("name", samples())
def test_a_sample_entry_runs(name: str, tmp_path: Path) -> None:
    """Cut short. `long/test_entries.py` trains it for as long as it wants."""
    code, cut = re.subn(r"steps=[\d_]+", "steps=2", (samples()[name] / CONTEST.code).read_text("utf-8"))
    assert cut == 1
    (tmp_path / CONTEST.code).write_text(code.replace("draw(20_000)", "draw(200)"))
    result = scored(tmp_path, replace(QUICK, hidden={5: 3}))
    assert result.refused == ""
    assert 0 < result.parameters <= CONTEST.allowance.parameters
