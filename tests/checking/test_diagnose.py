"""Diagnoses: a mistake is recognised although another slip comes along, and nothing else is called by its name."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import pytest
import torch

from cellcheck.authoring import aspects
from cellcheck.authoring.calls import call, in_order
from cellcheck.authoring.draw import dims, normal
from cellcheck.authoring.patients import Patient
from cellcheck.authoring.spec import Aspect, Case, Combination, Exercise, Mistake, Observation, Surprise
from cellcheck.checking.check import Checker
from cellcheck.checking.diagnose import MOST_COMBINATIONS
from cellcheck.checking.judge import PASSED, Judge, Verdict
from cellcheck.running.grade import without_hidden_cases


def row_means(x: torch.Tensor, weight: float) -> torch.Tensor:
    if weight < 0:
        raise ValueError("a weight is never negative")
    return weight * x.mean(dim=1) if x.shape[1] else torch.zeros(len(x), dtype=x.dtype)


def _sums(x: torch.Tensor, weight: float) -> torch.Tensor:
    if weight < 0:
        raise ValueError("a weight is never negative")
    return weight * x.sum(dim=1)


def _never_refuses(x: torch.Tensor, weight: float) -> torch.Tensor:
    return row_means(x, abs(weight)) * (1 if weight >= 0 else -1)


def _sign_dropped(x: torch.Tensor, weight: float) -> torch.Tensor:
    return row_means(x, abs(weight))


def _empty_is_nan(x: torch.Tensor, weight: float) -> torch.Tensor:
    return row_means(x, weight) if x.shape[1] else x.mean(dim=1)


def _cases(generator: np.random.Generator) -> list[Case]:
    n, d = dims(generator, 2, 3, 6)
    return [
        Case.of("on a matrix", x=normal(generator, n, d), weight=1.5),
        Case.of("on a wide matrix", x=normal(generator, n, d + 5), weight=0.5),
        Case.of("with float64", "float64", x=normal(generator, n, d, dtype=torch.float64), weight=2.0),
        Case.of("on empty rows", "empty", x=torch.zeros(n, 0), weight=1.0),
        Case.of("with a negative weight", "negative", x=normal(generator, n, d), weight=-1.0),
    ]


ALONE = "(Each of the two is described as if it were the only one.)"
SUM = Mistake("sum_not_mean", _sums, "Yours is the sum. What turns a sum into a mean?", central=True)
NEVER = Mistake("never_refuses", _never_refuses, "You never refuse a weight. Which ones make no sense?")
DROPPED = Mistake("sign_dropped", _sign_dropped, "You drop the sign. Is the weight the caller's or yours?")
NAN = Mistake("empty_is_nan", _empty_is_nan, "Empty rows give NaN. What is the mean of nothing here?")
EXERCISE = Exercise(
    symbol="row_means",
    points=3,
    cases=_cases,
    references=(row_means,),
    aspects=(
        aspects.shape(),
        aspects.values(),
        aspects.dtype(),
        aspects.special("float64", "float64"),
        aspects.special("empty rows", "empty"),
        aspects.refused("negative weights are refused", "negative"),
        aspects.untouched(),
    ),
    mistakes=(SUM, NEVER, DROPPED, NAN),
)


def probe(symbol: Any, inputs: Any) -> dict[str, Any]:
    return call(symbol, inputs["x"], inputs["weight"])


def verdict(symbol: Callable[..., Any], exercise: Exercise = EXERCISE) -> Verdict:
    judge = Judge(exercise, probe, 3)
    return judge.verdict(judge.observe(symbol))


def sums(x: torch.Tensor, weight: float) -> torch.Tensor:
    return weight * torch.einsum("ij->i", x)


def _another_error(x: torch.Tensor, weight: float) -> torch.Tensor:
    assert weight >= 0
    return sums(x, weight)


def _stops_on_empty_rows(x: torch.Tensor, weight: float) -> torch.Tensor:
    x[:, 0]
    return _another_error(x, weight)


def _changes_its_argument(x: torch.Tensor, weight: float) -> torch.Tensor:
    result = _another_error(x, weight)
    x += 1
    return result


@pytest.mark.parametrize(
    "answer",
    [
        _another_error,
        _stops_on_empty_rows,
        _changes_its_argument,
        lambda x, weight: _another_error(x, weight).float(),
        lambda x, weight: _another_error(x, weight).numpy(),
        lambda x, weight: _another_error(x, weight).tolist(),
    ],
)
def test_a_mistake_is_recognised_although_another_slip_comes_along(answer: Callable[..., Any]) -> None:
    judged = verdict(answer)
    assert judged.diagnosis == "sum_not_mean"
    assert judged.message.startswith(SUM.advice)


def test_of_mistakes_that_agree_in_the_core_it_is_the_one_that_agrees_elsewhere() -> None:
    """Whichever stands first in the catalogue. The answer has a slip more, so that it does the same as neither."""

    def sums_or(number: float) -> Callable[..., torch.Tensor]:
        return lambda x, weight: _another_error(x, weight) if x.shape[1] else torch.full((len(x),), number)

    def changes_too(x: torch.Tensor, weight: float) -> torch.Tensor:
        result = sums_or(2.0)(x, weight)
        x += 1
        return result

    ones, twos = (Mistake(f"empty_is_{n}", sums_or(n), f"Of empty rows you say {n}. Why?") for n in (1.0, 2.0))
    for order in ((ones, twos), (twos, ones)):
        assert verdict(changes_too, replace(EXERCISE, mistakes=order)).diagnosis == "empty_is_2.0"


def test_another_kind_of_result_is_said_besides() -> None:
    assert "but it is a NumPy array" in verdict(lambda x, weight: _another_error(x, weight).numpy()).message


def test_no_tensor_is_written_out_to_find_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer may hold thousands."""
    written: list[object] = []
    monkeypatch.setattr(torch.Tensor, "__repr__", lambda tensor: str(written.append(tensor)))
    assert verdict(lambda x, weight: row_means(x, weight) + 1).diagnosis is None
    assert written == []


def test_nothing_is_said_besides_where_the_core_is_right() -> None:
    def another_slip(x: torch.Tensor, weight: float) -> torch.Tensor:
        return _sign_dropped(x, weight) + (1 if x.dtype == torch.float64 else 0)

    assert verdict(another_slip).message == DROPPED.advice


def test_two_mistakes_are_reported_as_two() -> None:
    def nan_and_sign(x: torch.Tensor, weight: float) -> torch.Tensor:
        return _sign_dropped(x, weight) if x.shape[1] else x.mean(dim=1)

    judged = verdict(nan_and_sign)
    assert {judged.diagnosis} < {"sign_dropped", "empty_is_nan"}
    assert DROPPED.advice in judged.message
    assert NAN.advice in judged.message
    assert "There seems to be a second mistake, too." in judged.message
    (one,) = [m for m in (NEVER, DROPPED) if m is NEVER]
    only = replace(EXERCISE, mistakes=(SUM, one, NAN))
    both = verdict(lambda x, weight: weight * x.sum(dim=1), only)
    assert both.diagnosis == "sum_not_mean"
    assert both.message == f"{SUM.advice} There seems to be a second mistake, too. {NEVER.advice} {ALONE}"


def test_of_two_mistakes_neither_is_said_to_be_the_only_one() -> None:
    """ "The sums are right, but ..." is true of one mistake alone."""
    for alone, along in (
        ("The sums are right, but no weight comes in. Why?", "No weight comes in. Why?"),
        ("Your result is right, but it is a list. Of what?", "Your result is a list. Of what?"),
        ("The sums are right, but in one list. Why?", "The sums are right, but in one list. Why?"),
    ):
        only = replace(EXERCISE, mistakes=(SUM, replace(NEVER, advice=alone)))
        assert verdict(lambda x, weight: weight * x.sum(dim=1), only).message.endswith(f" too. {along} {ALONE}")
        assert verdict(_never_refuses, only).message == alone


def test_what_looks_alike_gets_no_name() -> None:
    """Two mistakes go on where an error is asked for: with a wrong core nobody can tell which of them it is."""
    assert verdict(sums).diagnosis == SUM.name
    assert verdict(sums).message.startswith(
        f"{SUM.advice} This may come of the same slip, or of another: It should stop"
    )


@pytest.mark.parametrize(
    "answer",
    [
        lambda x, weight: row_means(x, weight) * 3,
        lambda x, weight: row_means(x, max(weight, 0.0)),  # it goes on, and not like a mistake that is known
        lambda x, weight: row_means(x, weight).double(),
        lambda x, weight: x.no_such_thing,
    ],
)
def test_other_answers_get_no_name(answer: Callable[..., Any]) -> None:
    judged = verdict(answer)
    assert judged.diagnosis is None
    assert not any(mistake.advice in judged.message for mistake in EXERCISE.mistakes)


def _stops_on_nothing(stop: Callable[[], object]) -> Callable[..., Any]:
    """Right, but for empty rows."""

    def answer(x: torch.Tensor, weight: float) -> torch.Tensor:
        if not x.shape[1]:
            stop()
        return row_means(x, weight)

    return answer


def _raise() -> None:
    raise ValueError("no rows")


def _raise_in_other_words() -> None:
    raise ValueError("there is nothing here")


def test_no_error_is_recognised_by_its_type_alone() -> None:
    """A learner's typo isn't a mistake that has one of its author's."""
    everywhere = Mistake("everywhere", lambda x, weight: x.menas, "Is it a mean?")
    on_nothing = Mistake("on_nothing", _stops_on_nothing(lambda: [] + None), "What if there are no rows?")  # type: ignore[operator]
    exercise = replace(EXERCISE, mistakes=(everywhere, on_nothing))
    assert verdict(lambda x, weight: x.menas, exercise).diagnosis == "everywhere"
    assert verdict(lambda x, weight: x.maens, exercise).diagnosis is None
    assert verdict(_stops_on_nothing(lambda: [] + None), exercise).diagnosis == "on_nothing"  # type: ignore[operator]
    other = verdict(_stops_on_nothing(lambda: len(3)), exercise)  # type: ignore[arg-type]
    assert other.diagnosis is None
    assert other.message.startswith("It stops with TypeError: object of type 'int' has no len().")


def test_an_error_of_the_learners_own_has_words_of_its_own() -> None:
    exercise = replace(EXERCISE, mistakes=(Mistake("refused", _stops_on_nothing(_raise), "Why not?"),))
    judge = Judge(exercise, probe, 3)
    seen = judge.observe(_stops_on_nothing(_raise_in_other_words))
    assert judge.verdict(seen).diagnosis is None
    for one in seen:
        if "error" in one:
            one["error"]["line"] = 'raise ValueError("there is nothing here")'  # as it is seen in a notebook
    assert judge.verdict(seen).diagnosis == "refused"


def test_a_judge_without_a_mistake_does_not_know_it() -> None:
    judge = Judge(EXERCISE, probe, 3)
    seen = judge.keep(judge.observe(_sums))
    assert judge.judged(seen).diagnosis == "sum_not_mean"
    assert judge.without(SUM).judged(seen).diagnosis is None
    assert judge.judged(seen).diagnosis == "sum_not_mean"


# --- what only hidden cases tell ----------------------------------------------------------------------------------


def test_when_only_the_hidden_cases_recognise_the_mistake_its_advice_is_shown() -> None:
    hidden = verdict(_another_error)
    public = replace(hidden, diagnosis=None, advice="", message="Something is wrong.")
    shown = without_hidden_cases(hidden, public)
    assert (shown.diagnosis, shown.message) == ("sum_not_mean", f"{SUM.advice} Something is wrong.")
    passed = replace(public, status=PASSED, message="row_means is right.")
    assert without_hidden_cases(hidden, passed).message.endswith(SUM.advice)


# --- clinics -------------------------------------------------------------------------------------------------------


def patient(sound: bool) -> Patient:
    return Patient({"look": lambda: sound})


def _clinic(generator: np.random.Generator) -> list[Case]:
    tried = [("sound", True)] * 2 + [("broken", False)] * 3 + [("mild", False)] * 2
    return [
        Case(f"with model {number}", {}, frozenset({tag}), partial(patient, sound))
        for number, (tag, sound) in enumerate(tried)
    ]


CLINIC = Exercise(
    symbol="is_sound",
    points=2,
    cases=_clinic,
    references=(lambda ask: ask("look"),),
    aspects=(*aspects.tells_apart(sound="sound ones pass", broken="faults are found"), aspects.special("mild", "mild")),
    mistakes=(Mistake("always_true", lambda ask: True, "Every model passes. What do you compare?"),),
)


def treated(symbol: Callable[..., Any]) -> Verdict:
    judge = Judge(CLINIC, lambda test, inputs: {"output": test(inputs["patient"])}, 0)
    return judge.verdict(judge.observe(symbol))


def test_a_clinic_says_which_patients_a_test_misjudges() -> None:
    sentence = "It says True, where False is right, with model 2; with model 3; with model 4; and in 2 more cases."
    verdict = treated(lambda ask: True)
    assert verdict.message == f"Every model passes. What do you compare? {sentence}"
    assert verdict.patients == sentence
    assert treated(lambda ask: not ask("look")).message == (
        f"It says False, where True is right, with model 0; and with model 1. {sentence}"
    )
    assert treated(lambda ask: ask("look")).status == PASSED
    assert treated(lambda ask: 3).patients == ""
    assert treated(lambda ask: ask("look") / 0).patients == ""  # what stops it is said once, not of each patient


def test_hidden_grading_names_the_patients_too() -> None:
    hidden = treated(lambda ask: True)
    passed = replace(hidden, status=PASSED, message="is_sound is right.", advice="", patients="")
    assert without_hidden_cases(hidden, passed).message.endswith(hidden.patients)


def test_the_notebooks_check_names_the_patients_of_a_lesson() -> None:
    verdict = Checker("01").verdict("loss_is_sound", lambda loss: True)
    assert "It says True, where False is right, with the suspicious loss" in verdict.message


def _two_overlooked(*overlooked: str) -> Verdict:
    """What is said of a test that overlooks two of three faults, where each mistake of the catalogue overlooks one."""

    def overlooking(*kinds: str) -> Callable[..., Any]:
        return lambda ask: ask("look") in ("sound", *kinds)

    mistakes = tuple(Mistake(kind, overlooking(kind), f"What of {kind}?") for kind in ("a cough", "a limp"))
    exercise = replace(
        CLINIC,
        cases=lambda generator: [
            Case(f"with {kind}", {}, frozenset({tag}), partial(lambda kind: Patient({"look": lambda: kind}), kind))
            for tag, kind in (("sound", "sound"), ("broken", "a cough"), ("broken", "a limp"), ("broken", "fever"))
        ],
        references=(overlooking(),),
        aspects=aspects.tells_apart(sound="sound ones pass", broken="faults are found"),
        mistakes=mistakes,
        combinations=lambda surprise: [[Combination(mistakes, Mistake("both", overlooking(*overlooked), ""))]],
    )
    judge = Judge(exercise, lambda test, inputs: {"output": test(inputs["patient"])}, 0)
    return judge.verdict(judge.observe(overlooking(*overlooked)))


def test_two_mistakes_in_the_test_of_a_clinic_are_both_told() -> None:
    message = _two_overlooked("a cough", "a limp").message
    assert "What of a cough?" in message
    assert "What of a limp?" in message


def test_a_test_that_always_says_the_same_is_not_taken_for_two_mistakes() -> None:
    """Many a pair of mistakes comes down to True, always."""
    assert "What of" not in _two_overlooked("a cough", "a limp", "fever").message


def _mean_and_count(factor: int, more: int, more_in_float64: int) -> Callable[[torch.Tensor, float], Any]:
    """Row means, and how many there are: so many times, and so many more."""

    def answer(x: torch.Tensor, weight: float) -> tuple[torch.Tensor, int]:
        more_here = more_in_float64 if x.dtype == torch.float64 else more
        return factor * row_means(x, weight), len(x) + more_here

    return answer


def test_what_makes_up_for_a_mistake_is_no_second_one() -> None:
    """Where an answer is right although one of the two would be wrong by itself, nobody made them both."""
    counted = Mistake("counted", _mean_and_count(2, 1, 1), "Why twice?")
    less = Mistake("less", _mean_and_count(1, 0, -1), "One less?")
    both = Mistake("both", _mean_and_count(2, 1, 0), "")
    exercise = replace(
        EXERCISE,
        references=(_mean_and_count(1, 0, 0),),
        canonical=lambda observation, case: (
            dict(zip(("output", "count"), observation["output"], strict=True))
            if "output" in observation
            else observation
        ),
        aspects=(*EXERCISE.aspects, Aspect("count", keys=("count",))),
        mistakes=(counted, less),
        combinations=lambda surprise: [[Combination((counted, less), both)]],
    )
    judged = verdict(both.implementation, exercise)
    assert judged.diagnosis == "counted"
    assert "second mistake" not in judged.message


def test_the_same_is_not_said_twice() -> None:
    twice = replace(
        SPOKEN,
        canonical=lambda observation, case: (seen := _in_words(observation, case)) | {"again": seen.get("words")},
        aspects=(*SPOKEN.aspects, Aspect("again", keys=("again",))),
        mistakes=(),
    )
    message = verdict(lambda x, weight: 3 * row_means(x, weight), twice).message
    assert message.count("Yours is 3 times what it should be.") == 1


# --- what is shown of a case ---------------------------------------------------------------------------------------


def test_only_what_the_learner_passes_is_shown() -> None:
    hidden = replace(EXERCISE, cases=lambda g: [replace(c, inputs={**c.inputs, "way": "ring"}) for c in _cases(g)])
    message = verdict(lambda x, weight: x.sum(), hidden).message
    assert "ring" not in message
    assert "weight 1.5" in message or "weight 0.5" in message


def test_an_author_chooses_what_is_shown_and_how_it_is_called() -> None:
    chosen = replace(
        EXERCISE, called={"output": "the share of each row"}, shown=lambda case: {"p": torch.ones(2), "seed": 7}
    )
    judged = verdict(lambda x, weight: 3 * row_means(x, weight), chosen)
    assert "entries of the share of each row differ. Entry [0" in judged.message
    assert "(p of shape (2,), seed 7)" in judged.message
    assert judged.evidence.called == "the share of each row"
    assert list(judged.evidence.beside) == ["p", "seed"]


def _in_words(observation: Observation, case: Case) -> Observation:
    """How much too large the result is in all, in a sentence."""
    total = float(row_means(**case.inputs).sum()) if "output" in observation else 0.0
    times = float(observation["output"].sum()) / total if total else 1.0
    words = "as in the docstring" if abs(times - 1) < 1e-4 else f"Yours is {times:.3g} times what it should be."
    return observation if "error" in observation else {"words": words, **observation}


SPOKEN = replace(
    EXERCISE, canonical=_in_words, aspects=(aspects.shape(), replace(aspects.values(), keys=("words", "output")))
)


def test_what_a_sentence_speaks_of_is_shown_and_not_the_sentence() -> None:
    judged = verdict(lambda x, weight: 3 * row_means(x, weight), SPOKEN)
    assert judged.message.startswith("Yours is 3 times what it should be.")
    assert judged.evidence is not None
    assert isinstance(judged.evidence.got, torch.Tensor)


def test_pairs_of_mistakes_whose_sentences_are_said_are_tried_first() -> None:
    """Only so many are tried. A sentence may stand in place of a tensor: then it says nothing of a mistake."""
    names = ("doubled", "shifted", "thrice", "halved")
    does: tuple[Callable[[torch.Tensor], torch.Tensor], ...] = (
        lambda means: 2 * means,
        lambda means: means + 1,
        lambda means: 3 * means,
        lambda means: means / 2,
    )
    doubled, shifted, thrice, halved = (
        Mistake(name, lambda x, weight, do=do: do(row_means(x, weight)), f"You have {name} it. Why?")
        for name, do in zip(names, does, strict=True)
    )

    def in_words(observation: Observation, case: Case) -> Observation:
        if "error" in observation:
            return observation
        wrong = observation["output"] - row_means(**case.inputs)
        sentence = "Yours is larger by one. Why?" if bool((wrong - 1).abs().max() < 1e-4) else "as in the docstring"
        both = bool((wrong - row_means(**case.inputs) - 1).abs().max() < 1e-4)
        seen = {"words": "Yours is larger by one. Why? And doubled." if both else sentence, **observation}
        return {**seen, "output": "No numbers come out."} if bool(wrong.isnan().any()) else seen

    ranks: dict[tuple[str, ...], int | None] = {}

    def ranked(surprise: Surprise) -> list[list[Combination]]:
        for pair in ((thrice, halved), (doubled, shifted)):
            ranks[tuple(mistake.name for mistake in pair)] = surprise(pair)
        return []

    exercise = replace(
        SPOKEN,
        cases=lambda generator: [case for case in _cases(generator) if case.inputs["x"].numel()],
        canonical=in_words,
        mistakes=(doubled, shifted, thrice, halved),
        combinations=ranked,
    )
    verdict(lambda x, weight: 2 * row_means(x, weight) + 1, exercise)
    one, other = ranks["doubled", "shifted"], ranks["thrice", "halved"]
    assert one is not None
    assert other is not None
    assert one < other
    verdict(lambda x, weight: row_means(x, weight) * torch.nan, exercise)


def test_numbers_in_sentences_are_the_same_up_to_rounding() -> None:
    """What comes out of another order of sums may be rounded to another last digit."""
    thrice = Mistake("thrice", lambda x, weight: 3.1248 * row_means(x, weight), "Why three times?")
    judged = verdict(lambda x, weight: 3.12502 * row_means(x, weight), replace(SPOKEN, mistakes=(thrice,)))
    assert judged.diagnosis == "thrice"


def _halves(x: torch.Tensor) -> torch.Tensor:
    return x / 2


def _shifted(x: torch.Tensor) -> torch.Tensor:
    return x / 2 + 1


def _of_the_first_row(x: torch.Tensor) -> torch.Tensor:
    return _halves(x)[:1].expand_as(x)


def _names_told(
    answer: Callable[..., Any],
    one: Callable[..., Any],
    other: Callable[..., Any],
    another_kind: Iterable[Combination] = (),
) -> set[str]:
    """The mistakes that an answer is told, of two that do together what it does."""
    mistakes = tuple(Mistake(each.__name__, each, f"{each.__name__}?") for each in (one, other))
    exercise = replace(
        EXERCISE,
        references=(_halves,),
        mistakes=mistakes,
        cases=lambda generator: [Case.of(f"on {n} rows", x=normal(generator, n, 4)) for n in (3, 4, 5)],
        aspects=(aspects.shape(), aspects.values()),
        combinations=lambda surprise: [another_kind, [Combination(mistakes, Mistake("both", answer, ""))]],
    )
    judge = Judge(exercise, in_order, 3)
    message = judge.verdict(judge.observe(answer)).message
    return {mistake.name for mistake in mistakes if mistake.advice in message}


def test_no_more_of_a_kind_is_made_than_is_tried() -> None:
    """Each is compiled when it is asked for, and two mistakes have to wait for all of the first kind that are."""
    first = Mistake("first", torch.zeros_like, "first?")
    endless = (Combination((first,), replace(first, name=f"first, in {number}")) for number in count())
    assert _names_told(lambda x: x + 2, _shifted, torch.clone, endless) == {"_shifted", "clone"}
    assert next(endless).answer.name == f"first, in {MOST_COMBINATIONS}"


@pytest.mark.parametrize(
    "answer",
    [
        torch.zeros_like,
        lambda x: torch.full_like(x, torch.nan),
        lambda x: torch.tensor([[1.0, 2.0, 3.0, 4.0]]).expand_as(x),
    ],
)
def test_two_mistakes_that_leave_nothing_of_an_answer_are_not_told(answer: Callable[..., Any]) -> None:
    """Whoever returns zeros, or the same for all rows, need not have made either."""
    assert _names_told(answer, _shifted, torch.neg) == set()


def test_two_mistakes_are_told_where_one_of_them_alone_makes_all_rows_alike() -> None:
    answers = (lambda x: _shifted(x)[:1].expand_as(x)), _of_the_first_row, _shifted
    assert _names_told(*answers) == {"_of_the_first_row", "_shifted"}
