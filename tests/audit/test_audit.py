"""The audit is itself a test of tests, so it is tested for being able to fail."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from grader.audit.audit import (
    FLOORS,
    LESSON_FLOORS,
    SEED,
    Count,
    Row,
    _mistakes_and_variants,
    audit_lesson,
    below_the_floors,
    report,
    total,
)
from grader.audit.mutants import mutants
from grader.audit.slips import failing, slipped
from grader.audit.tables import readme_row, write_into_readme
from grader.authoring.spec import USUAL, Exercise
from grader.checking.diagnose import _Search
from grader.checking.judge import PASSED, Judge
from grader.cli import app
from grader.errors import GraderError
from grader.syllabus import lesson_names, load_lesson, load_probes
from tests.nightly import one_lesson

README = Path(__file__).parents[2] / "README.md"
SOURCE = '''
def mean_above(values: list[float], limit: float = 0.5) -> float:
    """The mean of what is above 3 limits."""
    total, count = 0.0, 0
    for value in values:
        if value > limit and value >= -1:
            total += value
            count = count + 1
    return total / max(count, 1)
'''


def changes() -> set[str]:
    return {mutant.change for mutant in mutants(SOURCE)}


@pytest.mark.parametrize(
    "change",
    [
        "return total / max(count, 1) -> return total * max(count, 1)",
        "return total / max(count, 1) -> return total / max(count, 2)",
        "return total / max(count, 1) -> (dropped)",
        "total += value -> total -= value",
        "count = count + 1 -> (dropped)",
        "if value > limit and value >= -1: -> if value > limit or value >= -1:",
        "if value > limit and value >= -1: -> if value >= limit and value >= -1:",
        "if value > limit and value >= -1: -> if value > limit and value >= 1:",
        "for value in values: -> (dropped)",
    ],
)
def test_each_kind_of_change_is_made(change: str) -> None:
    assert change in changes()


def test_strings_annotations_and_defaults_stay() -> None:
    for mutant in mutants(SOURCE):
        assert "def mean_above(values: list[float], limit: float=0.5) -> float:" in mutant.source
        assert '"""The mean of what is above 3 limits."""' in mutant.source


def test_every_mutant_is_another_program_and_none_stands_twice() -> None:
    sources = [mutant.source for mutant in mutants(SOURCE)]
    assert len(set(sources)) == len(sources) > 12
    for source in sources:
        compile(source, "mutant", "exec")


@one_lesson
@pytest.mark.parametrize("lesson", lesson_names())
def test_every_lesson_reaches_the_floors(lesson: str) -> None:
    rows = audit_lesson(load_lesson(lesson), lambda symbol: None)
    assert below_the_floors(rows) == []
    assert readme_row(lesson, rows) in README.read_text("utf-8"), "run: grader audit --readme"
    assert all(row.caught.total >= 3 and row.accepted.total >= 3 for row in rows)
    assert total(rows).mutants.total >= 20


def blind(exercise: Exercise) -> Exercise:
    """The exercise with a check that looks at the shape only, and at usual cases only."""
    shape = next(aspect for aspect in exercise.aspects if aspect.name == "shape")
    return dataclasses.replace(
        exercise,
        aspects=(dataclasses.replace(shape, core=True),),
        cases=lambda generator: [case for case in exercise.cases(generator) if case.tags == USUAL],
    )


def test_a_blind_check_falls_below_every_floor_but_one() -> None:
    lesson = load_lesson("01")
    lesson = dataclasses.replace(lesson, exercises=(blind(lesson["mlp_predict"]),))
    (row,) = audit_lesson(lesson, lambda symbol: None)
    below = {line.split(":")[0] for line in row.below()}
    assert {"caught", "diagnosed", "mutants"} <= below


def test_slips_and_unknown_answers_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge who only recognises what matches everywhere falls below the floor for second slips."""
    lesson = load_lesson("01")
    judge = Judge(lesson["pick"], load_probes(lesson.name)["pick"], SEED)
    row = Row("pick")
    _mistakes_and_variants(judge, row)
    assert row.second_slip.total > 3 * len(judge.exercise.mistakes)
    assert row.not_misnamed.total > len(judge.exercise.mistakes)
    assert below_the_floors([row]) == []
    monkeypatch.setattr(_Search, "_of_the_core", lambda self, recast=False: None)
    monkeypatch.setattr(_Search, "_beside_the_core", lambda *_: None)
    strict = Row("pick")
    _mistakes_and_variants(judge, strict)
    assert strict.below() == []
    assert [line.split(":")[1] for line in below_the_floors([strict])] == [" second_slip"]
    monkeypatch.setattr(_Search, "_of_the_core", lambda self, recast=False: self.exercise.mistakes[0])
    careless = Row("pick")
    _mistakes_and_variants(judge, careless)
    assert "not_misnamed" in {line.split(":")[0] for line in careless.below(LESSON_FLOORS)}


def test_slips_change_what_they_should_and_nothing_else() -> None:
    lesson = load_lesson("01")
    judge = Judge(lesson["pick"], load_probes(lesson.name)["pick"], SEED)
    right = judge.references[0]
    spoilt = {slip.slip: failing(judge, slip.seen, right) for slip in slipped(judge, right)}
    assert spoilt["changes an argument"] == {"arguments untouched"}
    assert spoilt["cuts the gradients"] == {"gradients flow"}
    assert spoilt["loses float64"] == {"dtype kept"}
    assert all(spoilt.values())
    assert all(judge.judged(slip.seen).status != PASSED for slip in slipped(judge, right))


def test_an_equivalent_that_is_no_mutant_any_more_is_reported() -> None:
    lesson = load_lesson("01")
    lesson = dataclasses.replace(
        lesson, exercises=(lesson["pick"],), equivalents={"pick": {"a line -> another": "why"}}
    )
    (row,) = audit_lesson(lesson, lambda symbol: None)
    assert any("a line -> another" in name for name in row.mutants.missed)


def test_the_report_is_plain_json() -> None:
    row = Row("pick", Count(3, 4, ["off_by_one"]), Count(1, 1), mutants=Count(2, 2))
    written = json.loads(json.dumps(report({"01": [row]})))
    assert written["lessons"]["01"][0]["caught"] == {"hits": 3, "total": 4, "missed": ["off_by_one"]}
    assert written["floors"] == FLOORS | LESSON_FLOORS


def test_the_readme_gets_the_summary_between_its_marks(tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("before\n<!-- audit: begin -->\nold\n<!-- audit: end -->\nafter\n")
    write_into_readme(readme, {"01_x": [Row("a", Count(2, 2)), Row("b", Count(3, 4))]})
    text = readme.read_text()
    assert "| 01_x | 5 / 6 |" in text
    assert "diagnosed when another slip comes along | false diagnoses" in text
    assert "old" not in text
    assert text.startswith("before")
    assert text.endswith("after\n")
    readme.write_text("no marks")
    with pytest.raises(GraderError, match="marks"):
        write_into_readme(readme, {})


def test_an_unknown_lesson_is_one_sentence() -> None:
    result = CliRunner().invoke(app, ["audit", "77"])
    assert isinstance(result.exception, GraderError)
    assert "There is no lesson" in str(result.exception)
