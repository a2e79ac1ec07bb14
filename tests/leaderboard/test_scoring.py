"""What a score is made of: hidden problems, names of ids, places, and weights that are counted once."""

import io
import random
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from rich.console import Console

from cellcheck.authoring.contest import Notation
from cellcheck.leaderboard import scoring, standings, suspicion
from cellcheck.leaderboard.entries import count, find_entries, read_entry, shared
from cellcheck.leaderboard.entry_files import EntryRefused
from cellcheck.leaderboard.scoring import Names, Outcome, hidden_problems, rows
from cellcheck.leaderboard.sitting import sitting
from tests.leaderboard.small import CONTEST, COPY, HONEST, LESSON, MODEL, SETTING, TRAINING, outcome, put

FULL = {3: (10, 10), 12: (6, 6)}


@cache
def learnt() -> dict[str, np.ndarray]:
    """Weights that copy, with each id under its own name: the digits' embeddings agree with the head's rows."""
    generator = np.random.default_rng(0)
    vectors = np.linalg.qr(generator.standard_normal((16, 16)))[0][:13].astype(np.float32)
    head = 5 * vectors
    head[[0, 12]] = head[[12, 0]]  # after the last digit comes the end
    return {"embedding.weight": vectors, "head.weight": head, "head.bias": np.zeros(13, np.float32)}


@pytest.mark.parametrize("seed", [1, 2])
def test_a_model_that_is_trained_here(tmp_path: Path, seed: int) -> None:
    result = outcome(put(tmp_path / "ada", HONEST), seed=seed)
    assert (result.right, result.trained, result.parameters, result.refused) == (FULL, True, 429, "")
    assert result.score == 1
    assert result.training_seconds > 0
    assert result.answering_seconds > 0


def test_weights_that_are_handed_in(tmp_path: Path) -> None:
    folder = put(tmp_path / "ada", MODEL + "\ndef train(model, draw):\n    raise ValueError('not called')\n")
    (folder / CONTEST.weights).write_bytes(safetensors.numpy.save(learnt()))
    result = outcome(folder)
    assert (result.right, result.trained, result.training_seconds, result.refused) == (FULL, False, 0, "")


@pytest.mark.parametrize("kind", [np.float16, np.float64])
def test_weights_of_other_kinds(tmp_path: Path, kind: type) -> None:
    weights = {name: array.astype(kind) for name, array in learnt().items()}
    assert outcome(put(tmp_path / "ada", MODEL, safetensors.numpy.save(weights))).right == FULL


def test_a_format_is_what_the_entry_meets(tmp_path: Path) -> None:
    code = HONEST + "\nFORMAT = {'backwards': True}\n"
    result = outcome(put(tmp_path / "ada", code))
    assert result.refused == ""
    assert result.right[12] == (0, 6)  # it copies, and is asked for the mirror image
    mirrored = code.replace("pad(source,", "pad(mirrored(source),").replace(
        "class Copier",
        "def mirrored(source):\n    lengths = (source != 0).sum(1, keepdim=True)\n"
        "    at = lengths - 1 - torch.arange(source.shape[1])\n"
        "    return source.gather(1, at.clamp(min=0)) * (at >= 0)\n\nclass Copier",
    )
    assert outcome(put(tmp_path / "bob", mirrored)).right == FULL


def test_a_run_can_be_repeated(tmp_path: Path) -> None:
    """With one seed, an entry trains on the same problems from the same start."""
    code = HONEST.replace("range(60)", "range(4)")
    first, second = (outcome(put(tmp_path / name, code), seed=5, name=name) for name in ("ada", "bob"))
    assert first.right == second.right


def test_hidden_problems() -> None:
    once, again, other = (hidden_problems(CONTEST, seed) for seed in (1, 1, 2))
    assert once == again != other
    assert {size: len(problems) for size, problems in once.items()} == CONTEST.hidden


def test_rows_are_renamed_and_padded() -> None:
    names = Names(np.array([0, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 11, 12]))
    source, target = rows([(0, 9), (3,)], CONTEST.notation({}), names)
    assert source.tolist() == [[10, 1], [7, 0]]
    assert target.tolist() == [[10, 1, 12], [7, 12, 0]]


def _next(asked: Mapping[str, Any]) -> Notation:
    """0 is to be answered with 1, 1 with 2, and 9 with 0: here it matters which digit is which."""
    written = CONTEST.notation(asked)

    def write(problem: tuple[int, ...]) -> tuple[list[int], list[int]]:
        source, target = written.write(problem)
        return source, [*(one % 10 + 1 for one in target[:-1]), target[-1]]

    return replace(written, write=write)


def test_digits_are_told_apart_by_training_alone(tmp_path: Path) -> None:
    """A program that counts on the ids of the digits is lost, and a model that learns them isn't."""
    contest = replace(CONTEST, notation=_next)
    assert outcome(put(tmp_path / "ada", HONEST), contest).right == FULL
    counts = COPY.replace("torch.where(ids == 0, 12, ids)", "torch.where(ids == 0, 12, ids % 10 + 1)")
    code = MODEL.replace("return self.head(", "return copied(source, target_input)\n        return self.head(") + counts
    result = outcome(put(tmp_path / "eve", code + "\ndef train(model, draw):\n    pass\n"), contest)
    assert result.right[12] == (0, 6)
    # Where nothing is renamed, since the weights are handed in, it is found by shuffling these.
    result = outcome(put(tmp_path / "fay", code, safetensors.numpy.save(learnt())), contest)
    assert "after its weights have been shuffled" in result.refused


def test_what_layers_share_is_counted_once() -> None:
    one = np.arange(6, dtype=np.float32).reshape(2, 3)
    arrays = {"a": one, "b": one.copy(), "c": one.T.copy(), "d": one.astype(np.float64)}
    assert count(arrays) == 18
    assert sorted(map(sorted, shared(arrays))) == [["a", "b"], ["c"], ["d"]]


def test_a_tied_model_is_scored_and_counted_once(tmp_path: Path) -> None:
    tied = HONEST.replace(
        "self.head = nn.Linear(16, 13)", "self.head = nn.Linear(16, 13)\n        self.also = self.embedding"
    )
    result = outcome(put(tmp_path / "ada", tied))
    assert result.refused == ""
    assert result.parameters == 429


def test_dropout_and_batch_norm_are_off_when_it_answers(tmp_path: Path) -> None:
    code = HONEST.replace("self.head(self.embedding", "self.head(self.drop(self.embedding").replace(
        "[:, :length]))", "[:, :length])))"
    )
    code = code.replace("self.head = nn", "self.drop = nn.Dropout(0.2)\n        self.head = nn")
    assert outcome(put(tmp_path / "ada", code)).right == FULL


def test_the_questions_are_about_what_was_right() -> None:
    right = {3: (np.array([[1, 2, 3], [4, 5, 6]]), np.array([[1, 2, 3, 12], [4, 5, 12, 0]])), 9: (np.ones((0, 9)),) * 2}
    questions = suspicion.questions(right, 11, random.Random(0))  # type: ignore[arg-type]
    assert len(questions) == 4
    for question in questions:
        step = question.written.shape[1] - 1
        assert (question.written[:, 0] == 11).all()
        assert len(question.source) == len(question.expected) == (2 if step < 3 else 1)
        assert 0 not in question.expected
    assert suspicion.share_right(questions, lambda s, w: np.eye(13)[[3] * len(s)]) < 0.3
    answers = {q.written.shape[1]: q.expected for q in questions}
    assert suspicion.share_right(questions, lambda s, w: np.eye(13)[answers[w.shape[1]]]) == 1


def test_nothing_is_suspected_of_what_got_nothing_right() -> None:
    suspicion.look_at({}, [], lambda weights: pytest.fail("nobody asks"), random.Random(0))


@pytest.mark.parametrize(
    ("shares", "sentence"),
    [
        ([1.0, 1.0, 0.1, 0.2], ""),
        ([0.5], "in another order"),
        ([1.0, 0.2], "ten-thousandth"),
        ([1.0, 1.0, 0.9, 0.9], "shuffled"),
        ([1.0, 1.0, 1.0, 0.0], ""),  # one shuffle may happen to do no harm
    ],
)
def test_what_is_suspicious(shares: list[float], sentence: str) -> None:
    question = suspicion.NextTokenQuestion(np.ones((4, 2)), np.ones((4, 1)), np.array([1, 2, 3, 4]))
    asked = iter(shares)
    weights = {"a": np.arange(5, dtype=np.float32), "b": np.arange(5)}
    seen = []

    def ask(changed: dict[str, np.ndarray]) -> float:
        seen.append(changed)
        return next(asked)

    if sentence:
        with pytest.raises(EntryRefused, match=sentence):
            suspicion.look_at(weights, [question], ask, random.Random(0))  # type: ignore[arg-type]
    else:
        suspicion.look_at(weights, [question], ask, random.Random(0))  # type: ignore[arg-type]
        assert all((changed["b"] == weights["b"]).all() for changed in seen)  # whole numbers may be indices
        assert sorted(seen[2]["a"]) == sorted(weights["a"])
        assert 0 < np.abs(seen[1]["a"] - weights["a"]).max() < 0.01


# --- places


def line(name: str, right: int, parameters: int = 1, trained: bool = True) -> Outcome:
    return Outcome(name, trained, {3: (right, 10), 12: (6, 6)}, parameters)


def test_places() -> None:
    table = standings.ranked(
        [
            Outcome("x", refused="no"),
            line("handed in, right", 10, 1, trained=False),
            line("fewer", 7, 10),
            line("large", 9, 99),
            line("small", 9, 9),
            line("small too", 9, 9),
        ]
    )
    assert [(one.place, one.outcome.name) for one in table] == [
        (1, "small"),
        (1, "small too"),
        (3, "large"),
        (4, "fewer"),
        (1, "handed in, right"),
        (0, "x"),
    ]


@pytest.mark.parametrize(
    ("right", "of", "shown"), [(0, 30, "0"), (30, 30, "100"), (299, 300, "99"), (1, 300, "1"), (15, 30, "50")]
)
def test_all_and_none_are_shown_only_where_it_is_so(right: int, of: int, shown: str) -> None:
    assert standings.percent(right, of) == shown


def test_the_table_fits_into_a_terminal() -> None:
    sizes = (5, 6, 7, 8, 10, 20, 50, 100)
    contest = replace(CONTEST, hidden=dict.fromkeys(sizes, 30))
    outcomes = [
        Outcome(name, trained, dict.fromkeys(sizes, (30, 30)), 123_456, 119.6, 99.9)
        for name, trained in (("Ada_Lovelace", True), ("somebody_with_a_long_name", False))
    ]
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(standings.table(standings.ranked(outcomes), contest))
    text = console.export_text()
    assert "…" not in text
    assert re.search(r"^1\. +Ada_Lovela", text, re.MULTILINE)
    assert text.count("123,456") == text.count("120 s") + 1 == 2


# --- finding


def test_entries_are_found(tmp_path: Path) -> None:
    put(tmp_path / "ada" / LESSON / "entry", MODEL)
    put(tmp_path / "bob" / "entry", MODEL)
    put(tmp_path / "cy", MODEL)
    put(tmp_path / "dee" / LESSON / "entry", None)
    (tmp_path / "eve" / LESSON).mkdir(parents=True)
    (tmp_path / "fay").mkdir()
    put(tmp_path / ".earlier" / "1", MODEL)
    entries = find_entries([tmp_path], CONTEST, LESSON)
    inside = {name: folder.relative_to(tmp_path).as_posix() for name, folder in entries.items()}
    assert inside == {
        "ada": f"ada/{LESSON}/entry",
        "bob": "bob/entry",
        "cy": "cy",
        "dee": f"dee/{LESSON}/entry",
    }
    assert list(find_entries([tmp_path / "bob" / "entry"], CONTEST, LESSON)) == ["bob"]
    with pytest.raises(Exception, match="two entries called cy"):
        find_entries([tmp_path, tmp_path / "cy"], CONTEST, LESSON)


def test_an_entry_is_the_same_under_any_name(tmp_path: Path) -> None:
    weights = safetensors.numpy.save(learnt())
    one = read_entry("a", put(tmp_path / "a", MODEL, weights), CONTEST)
    assert one.digest == read_entry("b", put(tmp_path / "b", MODEL, weights), CONTEST).digest
    assert one.digest != read_entry("c", put(tmp_path / "c", MODEL + "\n", weights), CONTEST).digest


def test_a_process_knows_only_the_library_and_its_own_code(tmp_path: Path) -> None:
    entry = read_entry("a", put(tmp_path / "a", MODEL + TRAINING), CONTEST)
    with sitting(CONTEST, SETTING, entry, 10) as asked:
        asked.make(0)
        weights = asked.weights()
    assert sorted(weights) == ["embedding.weight", "head.bias", "head.weight"]
    assert all(array.dtype == np.float32 for array in weights.values())
    assert scoring.count(weights) == 429
