"""The order in which a walk asks and has judged."""

from types import SimpleNamespace
from typing import Any, cast

from cellcheck.checking.judge import CRASHED, FAILED, PASSED, Status, Verdict, drawn, without_score
from cellcheck.running.hearing import Hearing, Undecided
from cellcheck.running.limits import Limits
from cellcheck.running.session import Answers, Question, Session
from cellcheck.running.walk import Walk
from tests.running.submissions import EXERCISES


def walk_of(questions: dict[str, Question], probe: Any, verdict: Any) -> Walk:
    """Through the first exercises, with a session and a hearing that only do this."""
    session = SimpleNamespace(limits=Limits(), probe=probe, restore=lambda *_, **__: None)
    sources = {symbol: {"module": "", "source": ""} for symbol in questions}
    hearing = SimpleNamespace(verdict=verdict)
    return Walk(cast(Session, session), EXERCISES[: len(questions)], cast(Hearing, hearing), questions, sources)


def test_nothing_is_judged_while_patients_are_asked() -> None:
    """The process that judges remembers what its patients were asked: an answer that ends it must not end them too,
    and whoever asks them would wait at the expense of their own time."""
    judged_by_then: dict[str, set[str]] = {}
    questions = {each.symbol: Question.of(each.symbol, drawn(each, 5), 5) for each in EXERCISES}
    asked = {question.message: symbol for symbol, question in questions.items()}

    def probe(question: Question, reply: Any) -> Answers:
        judged_by_then[asked[question.message]] = {*walk.verdicts}
        return Answers((b"",))

    def verdict(exercise: Any, public: bool, messages: Any) -> Verdict:
        return without_score(exercise, FAILED, "")

    walk = walk_of(questions, probe, verdict)
    walk.go([*questions], {})
    symbols = [*questions]
    (clinic,) = [symbol for symbol in symbols if questions[symbol].with_patients]
    assert judged_by_then[clinic] == {*symbols[: symbols.index(clinic)]}
    assert symbols[0] not in judged_by_then[symbols[1]]  # elsewhere the one is judged while the next is asked for


def test_an_answer_is_judged_once_more_where_the_process_was_ended() -> None:
    """The system may end it for lack of memory. Whoever is to blame for it gets no further."""
    for deaths, status in ((1, PASSED), (2, CRASHED)):
        left = [CRASHED] * deaths

        def verdict(exercise: Any, public: bool, messages: Any, left: list[Status] = left) -> Verdict:
            if left:
                raise Undecided(left.pop())
            return without_score(exercise, PASSED, "")

        questions = {each.symbol: Question.of(each.symbol, [], 5) for each in EXERCISES[:1]}
        walk = walk_of(questions, lambda *_: Answers((b"",)), verdict)
        walk.go([*questions], {})
        assert [each.status for each in walk.verdicts.values()] == [status]
