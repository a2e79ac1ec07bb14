"""Which patients a learner's test misjudges, in the words of the lesson.

The labels of the cases say all that is told here, and the notebook's own check shows them too.
"""

from collections.abc import Sequence

from cellcheck.authoring.spec import Case, Exercise, Observation
from cellcheck.checking.diagnose import core_keys, says_little

MOST_NAMED = 3


def misjudged(
    exercise: Exercise, cases: Sequence[Case], expected: Sequence[Observation], got: Sequence[Observation]
) -> str:
    """The patients that the test got wrong, by its answer; empty where the question is not whether one is sound, and
    where the test never comes to an answer: what stops it is said anyway.

    >>> misjudged(clinic, cases, expected, got)
    'It says True, where False is right, with a model that reads its padding; and with a model without a mask.'
    """
    keys = core_keys(exercise)
    if not any(case.patient for case in cases) or not says_little(keys, expected):
        return ""
    if all("error" in seen for seen in got):
        return ""
    answers = {seen[key] for seen in expected if "error" not in seen for key in keys if key in seen}
    wrong: dict[str, list[str]] = {}
    for case, right, seen in zip(cases, expected, got, strict=True):
        if case.patient is None or "error" in right:
            continue
        if "error" in seen:
            wrong.setdefault("It stops with an error", []).append(case.label)
            continue
        for key in keys:
            asked, answer = right.get(key), seen.get(key)
            # Only what some patient deserves is repeated: anything else is for the message to describe.
            if type(answer) is type(asked) and answer != asked and answer in answers:
                wrong.setdefault(f"It says {answer}, where {asked} is right,", []).append(case.label)
    return " ".join(f"{what} {_named(labels)}." for what, labels in wrong.items())


def _named(labels: Sequence[str]) -> str:
    """At most three of them, and how many more."""
    named = list(labels[:MOST_NAMED])
    if len(labels) > MOST_NAMED:
        named.append(f"in {len(labels) - MOST_NAMED} more cases" if len(labels) > MOST_NAMED + 1 else "in 1 more case")
    return named[0] if len(named) == 1 else f"{'; '.join(named[:-1])}; and {named[-1]}"
