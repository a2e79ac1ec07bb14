"""`cellcheck.score_entries`: the page's example, and what a run that is stopped leaves behind."""

import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest

from cellcheck import GraderError, score_entries
from cellcheck.leaderboard import contest_run as run
from tests.leaderboard.small import HONEST
from tests.leaderboard.test_command import IDLE, hand_in

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text("utf-8")


def test_the_example_prints_what_the_page_shows(klass: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its lesson is another one here, and its class has two models that take no time."""
    hand_in(klass, "ada", HONEST)
    hand_in(klass, "bob", IDLE)
    (example,) = re.findall(r"^```py\n(.*?)^```\n\n```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    source, shown = example
    klass.rename(klass.with_name("my_course"))
    monkeypatch.chdir(klass.parent)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(source.replace('"14"', '"01"'), {})
    assert re.fullmatch(".*".join(re.escape(part) for part in shown.split("...")), printed.getvalue())
    table = json.loads(Path("table.json").read_text("utf-8"))
    assert [(entry["name"], entry["place"]) for entry in table["entries"]] == [("ada", 1), ("bob", 2)]


def test_closing_it_stops_the_work_and_resume_goes_on(klass: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ada", "bob"):
        hand_in(klass, name, IDLE + f"# {name}\n")
    score, scored = run.score, []

    def noted(entry: Any, *more: Any) -> Any:
        scored.append(entry.name)
        if scored == ["ada", "bob"]:
            raise GraderError("no room")
        return score(entry, *more)

    monkeypatch.setattr(run, "score", noted)
    standings = score_entries("01", seed=5, table="table.json")
    assert not next(standings).ok
    assert [line.place for line in next(standings).lines] == [1, 0]
    standings.close()
    *_, last = score_entries("01", table="table.json", resume=True)
    assert (last.seed, last.ok, set(last.outcomes)) == (5, True, {"ada", "bob"})
    assert scored.count("ada") == 1
    assert last.to_json() == json.loads(Path("table.json").read_text("utf-8"))
    with pytest.raises(GraderError, match="began with seed 5: leave the seed out"):
        score_entries("01", seed=6, table="table.json", resume=True)
