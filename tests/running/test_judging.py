"""Judging in a process of its own: the same verdicts, and whatever is too expensive costs one exercise."""

import secrets
from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch

from cellcheck.authoring.spec import Case, Observation
from cellcheck.checking.judge import PUBLIC_SEED, Judge
from cellcheck.running import limits
from cellcheck.running.hearing import _NOTES, Hearing, Undecided
from cellcheck.running.judging import Judging, of_tree, to_tree
from cellcheck.running.wire import decode, encode
from cellcheck.syllabus import load_lesson, load_probes
from tests.nightly import by_day

SEED = 5
LESSON = "02_tokenizer"
SYMBOL = "prepare_example"


@pytest.fixture
def hearing() -> Iterator[Hearing]:
    with Hearing(LESSON, SEED) as opened:
        yield opened


def of(symbol: str, lesson: str = LESSON, seed: int = SEED) -> Judge:
    return Judge(load_lesson(lesson)[symbol], load_probes(lesson)[symbol], seed)


def answers(judge: Judge, output: object) -> list[bytes]:
    """The same output in each case, as a learner's process would send it."""
    return [encode({"seen": {"output": output}})] * len(judge.cases)


def test_a_verdict_crosses_the_border_whole() -> None:
    judge = of(SYMBOL)
    mistake = judge.exercise.mistakes[0]
    verdict = judge.verdict(judge.observe(mistake.implementation))
    back = of_tree(decode(encode(to_tree(verdict))), judge.exercise)
    assert back.evidence is not None
    assert back.diagnosis == mistake.name
    assert repr(back) == repr(verdict)


@pytest.mark.parametrize(
    "lie", [{"score": 99.0}, {"score": float("nan")}, {"symbol": "another"}, {"aspects": []}, {"max_score": 0.5}]
)
def test_what_no_verdict_can_say_is_none(lie: dict[str, object]) -> None:
    judge = of(SYMBOL)
    tree = to_tree(judge.verdict(judge.observe(judge.exercise.references[0])))
    assert of_tree(tree, judge.exercise).score == judge.exercise.points
    with pytest.raises(ValueError, match="no verdict"):
        of_tree(tree | lie, judge.exercise)


@by_day("02", "05")
def test_behind_the_walls_each_mistake_and_each_right_answer_gets_the_same_verdict(lesson: str) -> None:
    """Whatever a case or an answer reads, imports or draws must be there, too."""
    with Hearing(lesson, SEED) as hearing:
        for exercise in load_lesson(lesson).exercises:
            for public, seed in ((False, SEED), (True, PUBLIC_SEED)):
                judge = of(exercise.symbol, lesson, seed)
                for symbol in (*exercise.references, exercise.mistakes[-1].implementation):
                    seen = judge.observe(symbol)
                    if any(case.patient is not None for case in judge.cases):
                        continue  # what a patient noted is known where it was asked
                    there = hearing.verdict(exercise, public, [encode({"seen": each}) for each in seen])
                    assert there.to_json() == judge.verdict(seen).to_json()


def test_what_one_child_had_to_look_up_the_next_one_knows() -> None:
    """Else each submission of a class would find out again what the mistakes of the catalogue do."""
    judge = of(SYMBOL)
    wrong = answers(judge, ([1], 1))
    known: list[object] = []
    with Hearing(LESSON, secrets.randbits(32)) as hearing:  # nobody has asked about these cases
        ask = hearing._ask

        def noting(order: dict[str, object], seconds: float) -> dict[str, object]:
            answer = ask(order, seconds)
            known.append(answer["known"])
            return answer

        hearing._ask = noting  # type: ignore[method-assign]
        first = hearing.verdict(judge.exercise, False, wrong).to_json()
        hearing._end()
        assert hearing.verdict(judge.exercise, False, wrong).to_json() == first
    assert known[0]
    assert known[1] == []


@by_day("05")
def test_whatever_a_child_had_to_look_up_the_warm_process_can(lesson: str) -> None:
    """All mistakes of a lesson, as if a class had made them all."""
    judging = Judging(lesson)
    known = [
        [PUBLIC_SEED, exercise.symbol, mistake.name, place]
        for exercise in load_lesson(lesson).exercises
        for cases in [len(of(exercise.symbol, lesson, PUBLIC_SEED).cases)]
        for mistake in exercise.mistakes
        for place in range(cases)
    ]
    judging.prepare(PUBLIC_SEED, known, lambda works: [message for work in works for message in work()])
    for exercise in load_lesson(lesson).exercises:
        looked_up = judging._judge(exercise.symbol, True).looked_up
        assert {mistake for mistake, _ in looked_up} == {mistake.name for mistake in exercise.mistakes}


def test_what_is_much_larger_than_any_right_answer_is_not_put_into_canonical_form() -> None:
    judge = of(SYMBOL)
    reduced: list[Observation] = []

    def canonical(seen: Observation, case: Case) -> Observation:
        reduced.append(seen)
        return judge.exercise.canonical(seen, case)

    counting = Judge(replace(judge.exercise, canonical=canonical), judge.probe, SEED)
    for output in (torch.zeros(4_000_000, dtype=torch.int8), torch.zeros(2**28, 0), [[0]] * 15_000):
        assert counting.verdict([{"output": output}] * len(judge.cases)).score == 0
        assert not [seen for seen in reduced if seen.get("output") is output]
    right = judge.observe(judge.exercise.references[0])
    assert counting.verdict(right).status == "passed"
    whole = next(iter(right[0].values()))
    assert [seen for seen in reduced if any(value is whole for value in seen.values())]


def test_as_many_notes_are_passed_on_as_fit_into_one_piece(hearing: Hearing) -> None:
    """A socket that also hands over a file cuts a longer order off."""
    notes = [[SEED, SYMBOL, f"{number:0100}", 0] for number in range(1000)]
    _NOTES[hearing._zygote] = notes.copy()
    hearing.begin()
    left = _NOTES[hearing._zygote]
    assert notes[-len(left) :] == left
    assert 0 < len(left) < len(notes)


# --- what goes wrong --------------------------------------------------------------------------------------------

ODD_COURSE = {
    "odd_lessons/__init__.py": "",
    "odd_lessons/lesson_01/__init__.py": "",
    "odd_lessons/lesson_01/01_odd.py": (
        '# %% [markdown] exercise="answer" kind="core" difficulty=1 minutes=5\n\n'
        '# %% [markdown] exercise="ask" kind="core" difficulty=1 minutes=5\n'
    ),
    "odd_lessons/lesson_01/work.py": """
import os
def work(what):
    while what == "loop": pass
    if what == "sum": sum(range(10**12))
    if what == "eat": "x" * 2**31
    if what == "die": os._exit(1)
    return what
""",
    "odd_lessons/lesson_01/answer.py": """
from cellcheck.authoring import Aspect, Case, Trial
from odd_lessons.lesson_01.work import work
def canonical(observation, case):
    return {"output": work(observation["output"])}
TRIAL = Trial(
    module="odd_library",
    points=1,
    cases=lambda generator: [Case.of("on a word", word="a")],
    aspects=(Aspect("values", core=True),),
    canonical=canonical,
)
""",
    "odd_lessons/lesson_01/ask.py": """
from cellcheck.authoring import Aspect, Case, Trial
from cellcheck.authoring.patients import Patient
from odd_lessons.lesson_01.work import work
CASES = lambda generator: [Case("with a patient", {}, patient=lambda: Patient({"work": work}))]
TRIAL = Trial(module="odd_library", points=1, cases=CASES, aspects=(Aspect("values", core=True),))
""",
    "odd_lessons/lesson_01/answer.md": "",
    "odd_lessons/lesson_01/ask.md": "",
    "odd_lessons/lesson_01/probes.py": """
PROBES = {"ask": lambda symbol, inputs: {"output": symbol(inputs["patient"])}}
""",
    "odd_library/__init__.py": """
def answer(word):
    return word
def ask(patient):
    return patient("work", "a")
""",
}


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hearing]:
    """Of a lesson whose canonical form and whose patient do what they are told."""
    root = tmp_path_factory.mktemp("odd")
    for name, text in ODD_COURSE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CELLCHECK_LESSONS", str(root / "odd_lessons"))
        patch.setattr(limits, "VERDICT_SECONDS", 0.5)
        patch.setattr(limits, "REPLY_SECONDS", 0.5)
        with Hearing("01_odd", SEED) as opened:
            yield opened


EXPENSIVE = {"loop": "timeout", "sum": "timeout", "die": "crashed"}


@pytest.mark.parametrize("what", EXPENSIVE)
def test_an_answer_that_is_too_expensive_costs_its_exercise_only(odd: Hearing, what: str) -> None:
    """The kernel ends the process in the middle of its work, in C too; the next exercise is judged by a fresh one."""
    exercise = load_lesson("01_odd")["answer"]
    with pytest.raises(Undecided) as undecided:
        odd.verdict(exercise, False, [encode({"seen": {"output": what}})])
    assert undecided.value.status == EXPENSIVE[what]
    assert odd.verdict(exercise, False, [encode({"seen": {"output": "a"}})]).status == "passed"
    assert odd.verdict(exercise, False, [encode({"seen": {"output": "b"}})]).status == "failed"


@pytest.mark.parametrize("what", EXPENSIVE)
def test_a_question_that_is_too_expensive_ends_there(odd: Hearing, what: str) -> None:
    with pytest.raises(Undecided) as undecided:
        odd.reply("ask", False, 0, encode({"ask": "work", "arguments": [what]}))
    assert undecided.value.status == EXPENSIVE[what]
    reply, _ = odd.reply("ask", False, 0, encode({"ask": "work", "arguments": ["b"]}))
    assert decode(reply) == {"value": "b"}


def test_what_does_not_fit_into_memory_is_an_error_or_no_canonical_form(odd: Hearing) -> None:
    exercise = load_lesson("01_odd")["answer"]
    assert odd.verdict(exercise, False, [encode({"seen": {"output": "eat"}})]).status == "failed"
    reply, _ = odd.reply("ask", False, 0, encode({"ask": "work", "arguments": ["eat"]}))
    assert decode(reply)["raised"]["type"] == "MemoryError"


def test_no_message_is_no_answer_and_leaves_no_process_behind(odd: Hearing) -> None:
    """What that process held would be missing where the next answer is judged."""
    with pytest.raises(Undecided) as undecided:
        odd.verdict(load_lesson("01_odd")["answer"], False, [b"nothing"])
    assert undecided.value.status == "crashed"
    assert odd._channel is None
