"""The feedback page: how each part stands is said in words, and shown by a sign."""

import re
from dataclasses import replace
from datetime import datetime

import pytest

from cellcheck.checking.judge import FAILED, MISSING, PARTIAL, PASSED, Verdict
from cellcheck.gradebook.feedback import failure_page, page
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


def test_it_says_when_it_was_handed_in_where_that_is_known() -> None:
    result, when = Result("x", "01_pytorch_basics", (VERDICT,), (), 1.0), datetime(2026, 11, 20, 14, 5, 9)
    line = '<p class="for">Feedback for ada · handed in 2026-11-20 14:05 UTC</p>'
    assert line in page(result, "ada", when=when)
    assert line in failure_page("01_pytorch_basics", "ada", "The file is empty.", when)
    assert '<p class="for">Feedback for ada</p>' in page(result, "ada")
