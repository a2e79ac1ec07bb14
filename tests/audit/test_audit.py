"""The audit is itself a test of tests, so it is tested for being able to fail."""

import dataclasses
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cellcheck.audit.audit import (
    FLOORS,
    LESSON_FLOORS,
    MOST_LINES,
    SEED,
    Count,
    Row,
    _mistakes_and_variants,
    audit_exercise,
    audit_lesson,
    below_the_floors,
    report,
    total,
)
from cellcheck.audit.audit_table import row_of, write_into
from cellcheck.audit.mutants import mutants
from cellcheck.audit.slips import failing, slipped
from cellcheck.authoring.spec import USUAL, Exercise
from cellcheck.checking.diagnose import _Search
from cellcheck.checking.judge import PASSED, Judge
from cellcheck.cli import app
from cellcheck.errors import GraderError
from cellcheck.syllabus import lesson_names, load_lesson, load_probes
from tests.nightly import by_day

PAGE = Path(__file__).parents[2] / "docs" / "audit.md"
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


@by_day("02")
def test_every_lesson_reaches_the_floors(lesson: str) -> None:
    rows = audit_lesson(load_lesson(lesson), lambda symbol: None)
    assert below_the_floors(rows) == []
    assert row_of(lesson, rows) in PAGE.read_text("utf-8"), "run: cellcheck audit --into docs/audit.md"
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
    """Measured below the rehearsal, which refuses such an exercise before anything is counted."""
    lesson = load_lesson("01")
    exercise = blind(lesson["mlp_predict"])
    row = audit_exercise(lesson, exercise, load_probes(lesson.name)[exercise.symbol])
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
    pick = dataclasses.replace(lesson["pick"], equivalents={"a line -> another": "why"})
    lesson = dataclasses.replace(lesson, exercises=(pick,))
    (row,) = audit_lesson(lesson, lambda symbol: None)
    assert any("a line -> another" in name for name in row.mutants.missed)


def test_the_report_is_plain_json() -> None:
    row = Row("pick", Count(3, 4, ["off_by_one"]), Count(1, 1), mutants=Count(2, 2))
    written = json.loads(json.dumps(report({"01": [row]})))
    assert written["lessons"]["01"][0]["caught"] == {"hits": 3, "total": 4, "missed": ["off_by_one"]}
    assert written["floors"] == FLOORS | LESSON_FLOORS


def test_a_text_gets_the_summary_between_its_marks(tmp_path: Path) -> None:
    page = tmp_path / "audit.md"
    page.write_text("before\n<!-- audit: begin -->\nold\n<!-- audit: end -->\nafter\n")
    write_into(page, {"01_x": [Row("a", Count(2, 2)), Row("b", Count(3, 4))]})
    text = page.read_text()
    assert "| 01_x | 5 / 6 |" in text
    assert "diagnosed when another slip comes along | false diagnoses" in text
    assert "old" not in text
    names = sorted(lesson_names())[:2]
    write_into(page, {name: [Row("a", Count(1, 1))] for name in reversed(names)})
    write_into(page, {names[1]: [Row("a", Count(7, 8))]})
    rows = [line.split(" | ")[:2] for line in page.read_text().splitlines() if line.startswith("| 0")]
    assert rows == [[f"| {names[0]}", "1 / 1"], [f"| {names[1]}", "7 / 8"]]  # 01_x is no lesson
    assert text.startswith("before")
    assert text.endswith("after\n")
    page.write_text("no marks")
    with pytest.raises(GraderError, match="marks"):
        write_into(page, {})


def test_what_is_missed_stands_on_lines_of_its_own() -> None:
    """With the reason; what goes into the exercise's NAME.md can be copied from there; and the rest is counted."""
    row = Row("a", diagnosed=Count(1, 1), mutants=Count())
    row.diagnosed.add(False, "off_by_one", "is taken for swapped")
    for number in range(MOST_LINES + 3):
        row.mutants.add(False, f"f(a, 'b') -> f(a, {number})")
    diagnosed, mutants_ = row.below()
    assert diagnosed == (
        "diagnosed: 1 / 2 is below 95%. Where two do the same in all cases, add a case that tells them apart, or make "
        "them one:\n    off_by_one is taken for swapped"
    )
    head, first, *_, last = mutants_.split("\n    ")
    assert head.startswith("mutants: 0 / 15 is below 98%. Add a case that notices them;")
    assert first == "- `f(a, 'b')` → `f(a, 0)`"
    assert last == "and 3 more"
    assert mutants_.count("\n") == MOST_LINES + 1


def test_what_a_mistake_is_taken_for_and_where_a_variant_fails_are_told() -> None:
    lesson = load_lesson("01")
    exercise = lesson["pick"]
    mistakes = tuple(dataclasses.replace(mistake, name=f"{mistake.name}_again") for mistake in exercise.mistakes[:1])
    exercise = dataclasses.replace(
        exercise,
        mistakes=(*exercise.mistakes, *mistakes),
        variants={"not really": exercise.mistakes[0].implementation},
    )
    row = Row("pick")
    _mistakes_and_variants(Judge(exercise, load_probes(lesson.name)["pick"], SEED), row)
    name = exercise.mistakes[0].name
    told = "\n".join(row.below({"diagnosed": 1.0, "accepted": 1.0}))
    assert f"    {name}_again is taken for {name}" in told
    assert f"    not really gets 0 of 1 point: {exercise.mistakes[0].advice}" in told


def test_an_author_can_read_the_cards_of_an_exercise() -> None:
    exercise = load_lesson("01")["pick"]
    result = CliRunner().invoke(app, ["audit", "01", "--show", "pick"])
    assert result.exit_code == 0
    for mistake in exercise.mistakes:
        assert f"{mistake.name}{' (central)' if mistake.central else ''}\n  pick: " in result.output
        assert f"    {mistake.advice}\n" in result.output
    assert "of 1 point" in result.output
    result = CliRunner().invoke(app, ["audit", "01", "--show", "pikc"])
    assert str(result.exception) == "There is no exercise 'pikc' in 01_pytorch_basics: try pick."


def test_an_unknown_lesson_is_one_sentence() -> None:
    result = CliRunner().invoke(app, ["audit", "77"])
    assert isinstance(result.exception, GraderError)
    assert "There is no lesson" in str(result.exception)
