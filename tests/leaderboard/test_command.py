"""`cellcheck leaderboard`: a class's table in text, as data and as a page, and what it says when something is wrong."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import safetensors.numpy

from cellcheck.leaderboard import contest_run as run
from tests.leaderboard.small import COPY, HONEST, LESSON, MODEL, put
from tests.leaderboard.test_scoring import learnt
from tests.shell import Run

IDLE = MODEL + "\ndef train(model, draw):\n    pass\n"
CHEATS = MODEL.replace("return self.head(", "return copied(source, target_input)\n        return self.head(") + COPY
SMALLER = HONEST.replace("Embedding(13, 16)", "Embedding(13, 12)").replace("Linear(16,", "Linear(12,")


def hand_in(klass: Path, name: str, code: str | None, weights: bytes | None = None) -> Path:
    return put(klass / "submitted" / name / LESSON / "entry", code, weights)


def test_a_class_has_its_table(klass: Path, grader: Run, tmp_path: Path) -> None:
    hand_in(klass, "ada", HONEST)
    hand_in(klass, "bob", SMALLER)
    hand_in(klass, "cy", IDLE)
    hand_in(klass, "eve", CHEATS + "\ndef train(model, draw):\n    pass\n")
    hand_in(klass, "fay", MODEL, safetensors.numpy.save(learnt()))
    hand_in(klass, "gus [b]<i>", HONEST, b"PK")
    hand_in(klass, "hal", None)
    (klass / "submitted" / "ivy" / LESSON).mkdir(parents=True)  # a notebook and no entry: not in the contest
    data, page = tmp_path / "table.json", tmp_path / "table.html"
    ran = grader("leaderboard", "01", "--seed", "3", "--json", data, "--html", page)
    assert ran.code == 1  # not all of them have a place
    lines = ran.out.splitlines()
    places = [re.split(r"  +", line.strip()) for line in lines if re.match(r" *\d\.", line)]
    assert [(place[0].split()[0], place[0].split()[-1] if " " in place[0] else place[1]) for place in places] == [
        ("1.", "bob"),  # as right as ada, with fewer parameters
        ("2.", "ada"),
        ("3.", "cy"),
        ("1.", "fay"),  # with the others whose weights were handed in
    ]
    assert "No place: eve: It still answers after its weights have been shuffled" in ran.out
    assert "No place: gus [b]<i>: weights.safetensors is a pickle" in ran.out
    assert "No place: hal: There is no adder.py in entry/." in ran.out
    assert "hidden rows drawn from seed 3" in ran.out
    assert "ivy" not in ran.out

    table = {entry["name"]: entry for entry in json.loads(data.read_text())["entries"]}
    assert table["ada"]["right"] == {"3": {"right": 10, "of": 10}, "12": {"right": 6, "of": 6}}
    assert (table["ada"]["place"], table["ada"]["mean"], table["ada"]["parameters"]) == (2, 1.0, 429)
    assert table["eve"]["place"] is None
    assert (table["fay"]["trained_here"], table["fay"]["training_seconds"]) == (False, 0)
    assert json.loads(data.read_text())["seed"] == 3

    text = page.read_text("utf-8")
    assert "gus [b]&lt;i&gt;" in text
    assert "<i>" not in text
    assert text.index("bob") < text.index("ada") < text.index("fay") < text.index("eve")
    assert "http" not in text  # it needs nothing from anywhere


def test_one_entry_alone(klass: Path, grader: Run) -> None:
    """As a learner tries out their own."""
    mine = put(klass / "work" / "entry", HONEST)
    ran = grader("leaderboard", LESSON, mine)
    assert ran.code == 0, ran
    assert "1." in ran.out
    assert "work" in ran.out  # the name of the folder around it


def test_what_can_be_named(klass: Path, grader: Run) -> None:
    for place in ("samples/one", "samples/two", "samples/.hidden"):
        put(klass / place, IDLE)
    (klass / "samples" / "notes.txt").write_text("")
    ran = grader("leaderboard", "01", "samples")
    assert ran.code == 0
    assert ("one" in ran.out, "two" in ran.out, "hidden  " in ran.out) == (True, True, False)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["02"], "Lesson 02_another has no contest"),
        (["07"], "There is no lesson '07'"),
        (["01"], "Nothing has been handed in yet"),
        (["01", "nowhere"], "There is no folder nowhere."),
        (["01", "empty"], "There is no entry/adder.py"),
        (["01", "one", "--json", "nowhere/table.json"], "nowhere/table.json can't be written"),
        (["01", "one", "--html", "nowhere/table.html"], "nowhere/table.html can't be written"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(klass: Path, grader: Run, arguments: list[str], sentence: str) -> None:
    (klass / "empty").mkdir()
    put(klass / "one", IDLE)
    ran = grader("leaderboard", *arguments)
    assert ran.code == 2
    assert sentence in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (KeyboardInterrupt(), "The run was stopped before its turn."),
        (
            ZeroDivisionError("one of ours"),
            "The grader itself failed (ZeroDivisionError: one of ours). Please report it.",
        ),
    ],
    ids=["stopped", "a fault of ours"],
)
def test_what_has_a_place_by_then_keeps_it(
    klass: Path, grader: Run, monkeypatch: pytest.MonkeyPatch, error: BaseException, why: str
) -> None:
    for name in ("ada", "bob"):
        hand_in(klass, name, IDLE)
    score = run.score

    def broken(entry: Any, *more: Any) -> Any:
        if entry.name == "bob":
            raise error
        return score(entry, *more)

    monkeypatch.setattr(run, "score", broken)
    ran = grader("leaderboard", "01", "--jobs", "1")
    assert ran.code == 1
    assert re.search(r"^1\. +ada ", ran.out, re.MULTILINE)
    assert f"No place: bob: {why}" in ran.out


def test_a_run_goes_on_where_it_was_stopped(klass: Path, grader: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """What has a place and hasn't changed is not scored again, and comes out as it was."""
    for name in ("ada", "bob", "cy"):
        hand_in(klass, name, IDLE + f"# {name}\n")
    score, scored = run.score, []

    def noted(entry: Any, *more: Any) -> Any:
        scored.append(entry.name)
        if entry.name == "cy" and len(scored) < 4:
            raise KeyboardInterrupt
        return score(entry, *more)

    monkeypatch.setattr(run, "score", noted)
    first = grader("leaderboard", "01", "--json", "table.json")
    assert (first.code, scored) == (1, ["ada", "bob", "cy"])
    before = json.loads(Path("table.json").read_text())
    hand_in(klass, "bob", IDLE)
    second = grader("leaderboard", "01", "--json", "table.json", "--resume", "--html", "table.html")
    assert (second.code, scored[3:]) == (0, ["bob", "cy"])
    after = json.loads(Path("table.json").read_text())
    assert after["seed"] == before["seed"]
    entries = [{one["name"]: one for one in table["entries"]} for table in (before, after)]
    assert entries[0]["ada"] == entries[1]["ada"]
    assert entries[0]["bob"]["sha256"] != entries[1]["bob"]["sha256"]
    assert [entry["place"] for entry in after["entries"]] == [1, 1, 1]
    third = grader("leaderboard", "01", "--json", "table.json", "--resume")
    assert (third.code, len(scored)) == (0, 5)
    assert json.loads(Path("table.json").read_text()) == after
    assert sorted(path.name for path in klass.iterdir() if "table" in path.name) == ["table.html", "table.json"]


@pytest.mark.parametrize(
    ("written", "arguments", "sentence"),
    [
        (None, ["--resume"], "name that file with --json"),
        ("[]", ["--resume", "--json", "table.json"], "isn't a table that cellcheck leaderboard wrote"),
        ("{", ["--resume", "--json", "table.json"], "isn't a table that cellcheck leaderboard wrote"),
        (
            '{"lesson": "x", "terms": {}, "seed": 1, "entries": []}',
            ["--resume", "--json", "table.json"],
            "another contest",
        ),
    ],
)
def test_a_run_that_cannot_go_on(
    klass: Path, grader: Run, written: str | None, arguments: list[str], sentence: str
) -> None:
    hand_in(klass, "ada", IDLE)
    if written is not None:
        Path("table.json").write_text(written)
    ran = grader("leaderboard", "01", *arguments)
    assert ran.code == 2
    assert sentence in ran.err
    assert written is None or Path("table.json").read_text() == written
