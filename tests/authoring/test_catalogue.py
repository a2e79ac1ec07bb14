"""NAME.md: what is read from it, what becomes of edits, and what an author hears who gets something wrong."""

import importlib
import itertools
import re
import sys
import traceback
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from cellcheck.authoring.calls import in_order
from cellcheck.authoring.catalogue import HONEST, MISTAKES, WRONG, Catalogue, CatalogueEntry, exercise_of
from cellcheck.authoring.spec import Aspect, Case, Exercise, Trial, as_written
from cellcheck.checking.judge import Judge
from cellcheck.errors import GraderError

MODULE = '''
"""A library."""

from __future__ import annotations

import functools
import math


def spread(numbers: list[float], shift: float = 0) -> float:
    """The root of the mean square; math.sqrt(total / count) says it."""
    ### BEGIN SOLUTION
    total, count = 0.0, len(numbers)
    for number in numbers:
        total += (number - shift) ** 2
    return math.sqrt(total / count)
    ### END SOLUTION


class Base:
    def __init__(self, start: int) -> None:
        self.count = start


class Counter(Base):
    """Counts."""

    def __init__(self, start: int) -> None:
        ### BEGIN SOLUTION
        super().__init__(start)
        ### END SOLUTION

    @functools.lru_cache
    def twice(self) -> NotImportedAnywhere:
        """Twice the count."""
        ### BEGIN SOLUTION
        return 2 * self.count
        ### END SOLUTION
'''
_NUMBERS = itertools.count()


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    name = f"library_{next(_NUMBERS)}"
    (tmp_path / f"{name}.py").write_text(MODULE, "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return importlib.import_module(name)


def written(library: ModuleType, text: str, symbol: str = "spread") -> Exercise:
    path = Path(str(library.__file__)).with_name(f"{symbol}.py")
    path.with_suffix(".md").write_text(text, "utf-8")
    trial = Trial(module=library.__name__, points=1, cases=lambda generator: [], aspects=())
    return exercise_of(trial, path)


def only(library: ModuleType, text: str, symbol: str = "spread") -> object:
    """The implementation of the one mistake in a text."""
    (mistake,) = written(library, text, symbol).mistakes
    return mistake.implementation


def mistake(body: str) -> str:
    return f"# Mistakes\n\n## slip, central\n\n{body}\n\nWhich root?\n"


# --- what is made of it ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "result"),
    [
        ("- `math.sqrt(total / count)` → `total / count`", 12.5),
        ("- `/ count` -> `/ (count + 6)`\n- `0.0` → `7.0`", 2.0),
        ("- ` / count` → nothing", 5.0),
        ("- ``math.sqrt(total / count)`` → ``f'`{total}`'``", "`25.0`"),
        ("```diff\n-    for number in numbers:\n-        total += (number - shift) ** 2\n+    total = 8.0\n```", 2.0),
        ("```diff\n     total, count = 0.0, len(numbers)\n+    count = 1\n```", 5.0),
        ("- `shift: float = 0` → `shift: float = 3`", 0.5**0.5),
        ("```python\ndef spread(numbers):\n    return right(numbers) ** 2\n```", 12.5),
        ("```python\nfrom statistics import mean\n\nspread = mean\n```", 3.5),
    ],
)
def test_a_mistake_is_an_edit_or_stands_in_full(library: ModuleType, body: str, result: object) -> None:
    implementation = only(library, mistake(body))
    assert implementation([3.0, 4.0]) == pytest.approx(result)  # type: ignore[operator]
    assert library.spread([3.0, 4.0]) == 12.5**0.5  # nobody else gets the slip


def test_where_a_mistake_was_reported_is_no_part_of_the_advice(library: ModuleType) -> None:
    text = mistake("- `/ count` → `/ 2`\n- reported in: some-body/a.project_1#17")
    (slip,) = written(library, text).mistakes
    assert (slip.reported_in, slip.advice) == ("some-body/a.project_1#17", "Which root?")
    assert written(library, mistake("- `/ count` → `/ 2`")).mistakes[0].reported_in == ""


def test_classes_keep_super_decorators_and_their_modules_future(library: ModuleType) -> None:
    edited = only(library, mistake("- `2 * self.count` → `3 * self.count`"), "Counter")
    counter = edited(5)  # type: ignore[operator]
    assert isinstance(counter, library.Base)
    assert (counter.count, counter.twice()) == (5, 15)
    assert hasattr(edited.twice, "cache_info")  # type: ignore[attr-defined]
    block = "```python\nclass Counter(right):\n    def twice(self):\n        return super().twice() + 1\n```"
    assert only(library, mistake(block), "Counter")(5).twice() == 11  # type: ignore[operator]


def test_sections_names_and_what_blocks_share(library: ModuleType) -> None:
    exercise = written(
        library,
        """# Mistakes

```python
def _half(number):
    return number / 2
```

## halved, central

```python
def spread(numbers):
    return _half(right(numbers))
```

You take half
of it. Why?

## squared

- `math.sqrt(total / count)` → `total / count`

Where is the root?

# Other references

## negative

- `return ` → `return -`

# Right answers

## by power

- `math.sqrt(total / count)` → `(total / count) ** 0.5`

# Held back, right

## halved

```python
def spread(numbers):
    return 2 * _half(right(numbers))
```

# Held back, wrong

## plus_one

A remark.

- `return ` → `return 1 + `

# Equivalent mutants

- `count = 1` → `count = 2`
- `return` → nothing

Nobody can tell.
""",
    )
    assert [(m.name, m.central, m.advice) for m in exercise.mistakes] == [
        ("halved", True, "You take half of it. Why?"),
        ("squared", False, "Where is the root?"),
    ]
    assert exercise.mistakes[0].implementation([2.0]) == 1.0
    assert exercise.mistakes[0] is exercise.mistakes[0]
    assert exercise.references[0] is library.spread
    assert [reference([3.0]) for reference in exercise.references] == [3.0, -3.0]
    assert [(name, answer([3.0])) for name, answer in exercise.variants.items()] == [("by power", 3.0)]
    assert (exercise.honest["halved"]([3.0]), exercise.wrong["plus_one"]([3.0])) == (3.0, 4.0)
    assert dict(exercise.equivalents) == dict.fromkeys(
        ("count = 1 -> count = 2", "return -> (dropped)"), "Nobody can tell."
    )


TWO_SLIPS = """# Mistakes

## no_root, central

- `math.sqrt(total / count)` → `total / count`

Where is the root?

## from_one

- `0.0` → `1.0`

Where does a sum begin?

## no_mean, central

- ` / count` → nothing

How many numbers are there?

## in_full

```python
def spread(numbers):
    return 0.0
```

Nothing spreads. Why?

# Right answers

## by power

```python
def spread(numbers):
    total = 0.0
    for number in numbers:
        total += number**2
    return (total / len(numbers)) ** 0.5
```
"""


def test_mistakes_are_combined(library: ModuleType) -> None:
    """Also two that change the same place, where one fits what the other has put there, and one that is an edit of
    another written in full. Only one of them fits the answer that is written differently.
    """
    exercise = written(library, TWO_SLIPS)
    combinations = {each.answer.name: each for each in itertools.chain.from_iterable(exercise.combinations(as_written))}
    assert [*combinations] == [
        "from_one, in by power",
        "no_root, from_one",
        "no_root, no_mean",
        "from_one, no_mean",
        "from_one, in_full",
    ]
    assert combinations["no_root, from_one"].mistakes == (exercise.mistakes[0], exercise.mistakes[1])
    answers = {name: each.answer.implementation([2.0]) for name, each in combinations.items()}
    assert answers == {
        "from_one, in by power": 5**0.5,
        "no_root, from_one": 5.0,
        "no_root, no_mean": 4.0,
        "from_one, no_mean": 5**0.5,
        "from_one, in_full": 1.0,
    }


def test_whether_two_fit_together_is_found_out_once(library: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a judge knows of the two by now isn't compiled again; who asks what else they do gets an answer."""
    exercise = written(library, TWO_SLIPS)
    before = {
        each.answer.name: each.answer.implementation([2.0])
        for each in itertools.chain.from_iterable(exercise.combinations(as_written))
    }
    compiled: list[str] = []
    real = Catalogue.implementation

    def counted(self: Catalogue, entry: CatalogueEntry) -> Any:
        compiled.append(entry.name)
        return real(self, entry)

    monkeypatch.setattr(Catalogue, "implementation", counted)
    again = list(itertools.chain.from_iterable(exercise.combinations(as_written)))
    assert compiled == []
    assert {each.answer.name: each.answer.implementation([2.0]) for each in again} == before
    assert compiled == [*before]


def test_the_least_surprising_mistakes_are_tried_first(library: ModuleType) -> None:
    exercise = written(library, TWO_SLIPS)
    *_, pairs = exercise.combinations(lambda mistakes: int(exercise.mistakes[0] in mistakes))
    assert [each.answer.name for each in pairs][-2:] == ["no_root, from_one", "no_root, no_mean"]


def test_an_answer_with_two_slips_gets_both_names(library: ModuleType) -> None:
    exercise = replace(
        written(library, TWO_SLIPS),
        cases=lambda generator: [Case.of("on numbers", numbers=[3.0, 4.0]), Case.of("on another", numbers=[2.0, 2.0])],
        aspects=(Aspect("values", core=True),),
    )
    judge = Judge(exercise, in_order, 0)

    def both(numbers: list[float]) -> float:
        return (1 + sum(number**2 for number in numbers)) / len(numbers)

    verdict = judge.verdict(judge.observe(both))
    assert verdict.diagnosis == "no_root"
    assert "Where is the root? There seems to be a second mistake, too. Where does a sum begin?" in verdict.message
    assert Judge(exercise, in_order, 0, combinations=0).verdict(judge.observe(both)).diagnosis is None
    assert not {name for name, _ in judge.looked_up} - {mistake.name for mistake in exercise.mistakes}


def test_nothing_is_read_or_compiled_before_it_is_needed(library: ModuleType) -> None:
    exercise = written(library, "no such form")
    assert exercise.references[0] is library.spread  # all that a right answer needs
    with pytest.raises(GraderError):
        len(exercise.mistakes)
    good, broken = written(library, f"{mistake('- `0.0` → `1.0`')}\n## stops\n\n- `0.0` → `)`\n\nWhy?\n").mistakes
    assert callable(good.implementation)
    with pytest.raises(GraderError, match="not valid Python"):
        _ = broken.implementation


def test_an_error_leads_to_the_entry(library: ModuleType) -> None:
    for body, line in (
        ("- `/ count` → `/ 0`", 3),
        ("```python\ndef spread(numbers):\n    return 1 / 0\n```", 7),
    ):
        with pytest.raises(ZeroDivisionError) as caught:
            only(library, mistake(body))([1.0])  # type: ignore[operator]
        last = traceback.extract_tb(caught.value.__traceback__)[-1]
        assert (Path(last.filename).name, last.lineno) == ("spread.md", line)


# --- faults ------------------------------------------------------------------------------------------------------

BLOCK = "```python\ndef spread(numbers):\n    return 1\n```"
FAULTS = {
    "an edit that fits nowhere": (
        mistake("- `total / cuont` → `total`"),
        r"line 5: `total / cuont` stands no times in the code of spread, in \S+\.py\. Copy what is to be changed",
    ),
    "an edit that fits twice": (
        mistake("- `total` → `sum`"),
        r"line 5: `total` stands 3 times .* Take more of the line",
    ),
    "an edit of a docstring": (mistake("- `mean square` → `mean`"), "line 5: `mean square` stands no times"),
    "part of a line in a diff": (
        mistake("```diff\n-    total, count\n```"),
        "line 5: `    total, count` stands no times",
    ),
    "edits of one place": (
        mistake("- `total / count` → `total`\n- `/ count)` → `)`"),
        "line 6: another edit of this entry changes the same place",
    ),
    "an edit that breaks it": (
        mistake("- `total / count` → `total /`"),
        "line 3: with these edits, spread is not valid",
    ),
    "a report without a number": (
        mistake("- `0.0` → `1.0`\n- reported in: owner/project"),
        "line 6: where a mistake was reported is written so: - reported in: owner/project#17",
    ),
    "a report of a right answer": (
        f"# Right answers\n\n## ours\n\n- reported in: owner/project#17\n\n{BLOCK}\n",
        "line 5: where a mistake was reported",
    ),
    "an edit without backticks": (mistake("- `total` → sum"), "line 5: an edit is one line"),
    "edits and a block": (mistake(f"- `0.0` → `1.0`\n\n{BLOCK}"), "line 3: slip needs edits, .*, and has both"),
    "neither": (mistake("It is wrong."), "line 3: slip needs edits"),
    "no advice": (f"# Mistakes\n\n## slip\n\n{BLOCK}\n", "line 3: slip has no advice: say below what to tell"),
    "another symbol": (mistake(BLOCK.replace("spread", "sprad")), "line 5: this block doesn't define spread"),
    "broken Python": (mistake(BLOCK.replace("return", "retrun")), "line 7: this is not valid Python: .* Correct it"),
    "code that stops": (mistake(f"{BLOCK[:-3]}x = 1 / 0\n```"), "line 5: this code stops with ZeroDivisionError"),
    "another language": (mistake(BLOCK.replace("python", "text")), "line 5: a fenced block here is `python`"),
    "a block without end": (mistake(BLOCK[:-3]), "line 5: this block has no end"),
    "a diff of nothing": (mistake("```diff\n     total\n```"), "line 5: this diff changes nothing"),
    "a diff without marks": (mistake("```diff\ntotal\n```"), "line 5: each line of a diff begins with"),
    "a name that stands twice": (
        mistake(BLOCK) + f"\n## slip\n\n{BLOCK}\n\nWhy?\n",
        "line 12: slip stands in line 3 already",
    ),
    "a name that is none": (f"# Mistakes\n\n## A slip\n\n{BLOCK}\n", "line 3: 'A slip' should be in small letters"),
    "a misspelt mark": (
        f"# Mistakes\n\n## slip, centrla\n\n{BLOCK}\n",
        "line 3: '## slip, centrla' is no heading here",
    ),
    "a section that isn't there": (
        f"# Mistaeks\n\n## slip\n\n{BLOCK}\n",
        "line 1: there is no section called 'Mistaeks'",
    ),
    "no section": (f"## slip\n\n{BLOCK}\n", "line 1: '## slip' is no heading here"),
    "a text before all": ("People get this wrong.\n", "line 1: a text before the first heading"),
    "a central right answer": (f"# Right answers\n\n## ours, central\n\n{BLOCK}\n", "line 3: only a mistake can be"),
    "a mutant without reason": ("# Equivalent mutants\n\n- `a` → `b`\n", "line 3: an equivalent mutant is an edit"),
    "a mutant with its reason beside it": (
        "# Equivalent mutants\n\n- `a` → `b`: the same\n",
        "line 3: an edit is one line: .* → nothing\\. Its reason goes on a line of its own, below\\.",
    ),
    "a mutant with a name": ("# Equivalent mutants\n\n## one\n", "line 3: a mutant has no name"),
}


@pytest.mark.parametrize(("text", "sentence"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_a_sentence_with_its_line(library: ModuleType, text: str, sentence: str) -> None:
    exercise = written(library, text)
    with pytest.raises(GraderError) as caught:
        [each.implementation for each in exercise.mistakes]
    assert re.search(rf"spread\.md, {sentence}", str(caught.value)), caught.value


def test_files_that_are_missing(library: ModuleType) -> None:
    exercise = written(library, "")
    Path(str(library.__file__)).with_name("spread.md").unlink()
    with pytest.raises(GraderError, match=r"spread\.md is missing: write down there what people get wrong"):
        len(exercise.mistakes)
    with pytest.raises(GraderError, match=r"there is no average in library_\d+\. In TRIAL, let `module` name"):
        written(library, "", "average")


def test_the_text_of_an_answer(library: ModuleType) -> None:
    written(library, mistake("- `0.0` → `1.0`") + f"\n# Held back, right\n\n## same\n\n{BLOCK}\n")
    catalogue = Catalogue(Path(str(library.__file__)).with_name("spread.md"), library.spread)
    (slip,), (same,) = catalogue.entries(MISTAKES), catalogue.entries(HONEST)
    assert catalogue.text_of(same) == "def spread(numbers):\n    return 1\n"
    assert "total, count = 1.0, len(numbers)" in catalogue.text_of(slip)
    assert not catalogue.entries(WRONG)
