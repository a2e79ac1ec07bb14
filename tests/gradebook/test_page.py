"""The feedback page: how each part stands is said in words, and shown by a sign."""

import re
from dataclasses import replace

import pytest

from cellcheck.checking.judge import FAILED, MISSING, PARTIAL, PASSED, Verdict
from cellcheck.gradebook.feedback import page
from cellcheck.running.result import HandResult, Result

VERDICT = Verdict("pick", 1.0, 2.0, PARTIAL, "Which axis should be gone?", ())


def signs_of(result: Result) -> list[tuple[str, str]]:
    return re.findall(r'<span class="sign" aria-hidden="true">(.?)</span> ([\w ]+)</td>', page(result, "ada"))


@pytest.mark.parametrize(
    ("status", "stands"),
    [
        (PASSED, ("✓", "right")),
        (PARTIAL, ("◐", "partly right")),
        (FAILED, ("✗", "not yet right")),
        (MISSING, ("○", "still blank")),
    ],
)
def test_a_sign_beside_the_words(status: str, stands: tuple[str, str]) -> None:
    result = Result("x", "01_pytorch_basics", (replace(VERDICT, status=status),), (), 1.0)
    assert signs_of(result) == [stands]


def test_what_a_person_grades_has_none() -> None:
    waiting = HandResult("plot", None, 2.0)
    result = Result("x", "01_pytorch_basics", (VERDICT,), (), 1.0, by_hand=(waiting,))
    assert signs_of(result)[1:] == [("", "to be graded by hand")]
