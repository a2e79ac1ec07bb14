"""The verdict: partial credit, the core rule, what is said first, and which mistake it is."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from cellcheck.authoring.aspects import spoken
from cellcheck.authoring.calls import call_and_follow
from cellcheck.authoring.draw import dims, normal
from cellcheck.authoring.spec import Aspect, Case, Exercise, Mistake, Observation
from cellcheck.checking.judge import ERROR, FAILED, MISSING, PARTIAL, PASSED, Judge, Verdict

SHAPE = Aspect("shape", kinds=frozenset({"error", "type", "shape"}))
VALUES = Aspect("values", weight=2.0, core=True)
GRADIENTS = Aspect("gradients", keys=("gradients",))
UNTOUCHED = Aspect("leaves its input alone", keys=("arguments",))
ASPECTS = (SHAPE, VALUES, GRADIENTS, UNTOUCHED)


def cases(generator: np.random.Generator) -> list[Case]:
    n, d = dims(generator, 2)
    return [
        Case("on a matrix", {"x": normal(generator, n, d)}, frozenset({"wide"})),
        Case("on one row", {"x": normal(generator, 1, d)}),
        Case("on one number", {"x": normal(generator, 1, 1)}),
    ]


def row_means(x: torch.Tensor) -> torch.Tensor:
    return x.mean(dim=1)


def row_sums(x: torch.Tensor) -> torch.Tensor:
    return x.sum(dim=1)


EXERCISE = Exercise(
    symbol="row_means",
    points=5,
    cases=cases,
    references=(row_means,),
    aspects=ASPECTS,
    mistakes=(
        Mistake("sum_instead_of_mean", row_sums, "Yours is the sum. What turns a sum into a mean?"),
        Mistake("column_means", lambda x: x.mean(dim=0), "Yours has an entry a column. Which axis should be gone?"),
    ),
    variants={},
)


def probe(symbol: Any, inputs: Any) -> dict[str, Any]:
    return call_and_follow(symbol, inputs["x"])


def verdict(symbol: Callable[..., Any], exercise: Exercise = EXERCISE, seed: int = 0) -> Verdict:
    judge = Judge(exercise, probe, seed)
    return judge.verdict(judge.observe(symbol))


def passed(judged: Verdict) -> list[str]:
    return [aspect.name for aspect in judged.aspects if aspect.passed]


def test_a_right_answer() -> None:
    judged = verdict(lambda x: x.sum(1) / x.shape[1])
    assert (judged.score, judged.max_score, judged.status) == (5.0, 5.0, PASSED)
    assert passed(judged) == [aspect.name for aspect in ASPECTS]
    assert [aspect.core for aspect in judged.aspects] == [aspect.core for aspect in ASPECTS]
    assert judged.message == "row_means is right."
    assert judged.diagnosis is None
    assert judged.evidence is None


def test_points_are_shared_by_weight() -> None:
    """Weights 1, 2, 1, 1: without gradients 4 of 5 parts are left, and without its input 4 of 5."""
    cut = verdict(lambda x: x.detach().mean(dim=1))
    assert (cut.score, cut.status, passed(cut)) == (4.0, PARTIAL, ["shape", "values", "leaves its input alone"])
    assert cut.message.startswith("No gradient flows back")

    def changes(x: torch.Tensor) -> torch.Tensor:
        means = x.mean(dim=1)
        x.data.add_(1)
        return means

    changed = verdict(changes)
    assert (changed.score, passed(changed)) == (4.0, ["shape", "values", "gradients"])
    assert changed.message.startswith("An argument isn't what it was before the call.")


@pytest.mark.parametrize(
    ("symbol", "told"),
    [
        (lambda x: x.mean(dim=0), ["shape"]),
        (lambda x: x.mean(dim=1).tolist(), ["shape"]),
        (lambda x: x.mean(dim=1) + 1, []),
        (lambda x: x.detach().mean(dim=1), []),
        (lambda x: x.nothing, []),
    ],
)
def test_of_which_form_the_message_speaks(symbol: Callable[..., Any], told: list[str]) -> None:
    assert [aspect.name for aspect in verdict(symbol).aspects if aspect.told] == told


def test_a_probes_own_sentence_is_no_result_to_look_at() -> None:
    sentence = "Your module can't be given its weights."
    judged = verdict(lambda x: sentence)
    assert judged.message.startswith(sentence)
    assert judged.evidence is None
    assert verdict(lambda x: "words").evidence is not None


def test_what_nobody_could_look_at_is_not_called_right() -> None:
    """Nothing is deducted for the dtype of a result that isn't there, but it isn't kept either."""
    dtype = Aspect("dtype kept", kinds=frozenset({"dtype"}))
    exercise = replace(EXERCISE, aspects=(*ASPECTS, dtype))

    def seen(symbol: Callable[..., Any]) -> list[str]:
        return [aspect.name for aspect in verdict(symbol, exercise).aspects if aspect.seen]

    everything = [aspect.name for aspect in (*ASPECTS, dtype)]
    assert seen(row_means) == seen(row_sums) == everything
    assert seen(lambda x: None) == [name for name in everything if name != "dtype kept"]
    assert seen(lambda x: x.mean(dim=1)[:, None]) == seen(lambda x: None)

    def only_wide(x: torch.Tensor) -> torch.Tensor:
        return x.mean(dim=1) if len(x) > 1 else x.oops  # type: ignore[attr-defined, no-any-return]

    assert seen(only_wide) == everything
    asked_of_one = replace(
        exercise, aspects=(VALUES, replace(UNTOUCHED, kinds=frozenset({"values"}), tags=frozenset({"wide"})))
    )
    stops = verdict(lambda x: x.oops if len(x) > 1 else x.mean(dim=1), asked_of_one)
    assert [aspect.seen for aspect in stops.aspects] == [True, False]


def test_the_right_shape_alone_earns_nothing() -> None:
    zeros = verdict(lambda x: torch.zeros(x.shape[0]))
    assert "shape" in passed(zeros)
    assert (zeros.score, zeros.status) == (0.0, FAILED)
    without_core = replace(EXERCISE, aspects=(SHAPE, replace(VALUES, core=False), GRADIENTS, UNTOUCHED))
    assert verdict(lambda x: torch.zeros(x.shape[0]), without_core).score > 0


def test_a_core_that_holds_in_one_case_counts_as_work() -> None:
    """A sum is a mean in the case of a single number: not right, but no zero either."""
    judged = verdict(row_sums)
    assert (judged.score, judged.status) == (2.0, PARTIAL)
    assert passed(judged) == ["shape", "leaves its input alone"]


def test_what_else_goes_wrong_is_told_unless_nan_is_the_reason() -> None:
    """A probe's own sentence stands for itself, but of NaN nothing comes out right."""

    def in_words(observation: Observation, case: Case) -> Observation:
        output, x = observation.get("output"), case.inputs["x"]
        fits = isinstance(output, torch.Tensor) and bool((output.sum() - x.mean(dim=1).sum()).abs() < 1e-4)
        return {**observation, "sums": "as asked" if fits else "Your means have another sum."}

    aspects = (*ASPECTS, Aspect("sums", keys=("sums",), tags=frozenset({"wide"})))
    exercise = replace(EXERCISE, aspects=aspects, canonical=in_words, mistakes=())
    assert "Your means have another sum." in verdict(lambda x: x.mean(dim=1) + 1, exercise).message
    assert "Your means" not in verdict(lambda x: x.mean(dim=1) * torch.nan, exercise).message


def test_an_aspect_that_weighs_nothing_only_speaks() -> None:
    """It has no box and costs nothing; where the answer is wrong anyway, it is told."""

    def in_words(observation: Observation, case: Case) -> Observation:
        output, x = observation.get("output"), case.inputs["x"]
        signed = isinstance(output, torch.Tensor) and bool(torch.signbit(output).any()) and bool((x >= 0).all())
        return {**observation, "signs": "Yours has a minus sign." if signed else "as asked"}

    only_speaks = spoken("signs", "signs", meaning="Means of positive numbers are positive.")

    def positive(_: np.random.Generator) -> list[Case]:
        return [Case(f"on {rows} rows of ones", {"x": torch.ones(rows, 3)}) for rows in (1, 2)]

    exercise = replace(EXERCISE, cases=positive, aspects=(*ASPECTS, only_speaks), canonical=in_words, mistakes=())
    wrong = verdict(lambda x: -x.mean(dim=1), exercise)
    assert "Yours has a minus sign." in wrong.message
    assert [aspect.name for aspect in wrong.aspects] == [aspect.name for aspect in ASPECTS]
    harmless = replace(exercise, canonical=lambda seen, case: {**seen, "signs": f"Seen {case.label}."})
    judge = Judge(harmless, probe, 0)
    other = [seen | {"signs": "Something to say."} for seen in judge.references[0]]
    assert (judge.judged(other).status, judge.judged(other).score) == (PASSED, 5.0)


def test_words_that_only_a_canonical_form_has_cost_nothing_where_there_is_none() -> None:
    """What an answer returns besides may be of a kind that no form is made for. The result is compared all the same."""

    def in_words(observation: Observation, case: Case) -> Observation:
        return {"halves": "as asked" if observation["gradients"][0].sum() else "nothing", **observation}

    looks_first = replace(VALUES, keys=("halves", "output"))
    exercise = replace(EXERCISE, aspects=(SHAPE, looks_first, GRADIENTS, UNTOUCHED), canonical=in_words, mistakes=())
    cut, right = (lambda x: x.detach().mean(dim=1)), row_means
    assert (verdict(right, exercise).score, passed(verdict(cut, exercise))) == (
        5.0,
        ["shape", "values", UNTOUCHED.name],
    )
    assert "values" not in passed(verdict(lambda x: x.detach().sum(dim=1), exercise))
    alone = replace(exercise, aspects=(replace(VALUES, keys=("halves",)), GRADIENTS))
    assert passed(verdict(cut, alone)) == []


def test_without_a_central_aspect_an_answer_is_half_done_at_most() -> None:
    """What is left of 5 points is 4 without gradients and 3 without its input, too: whichever of two is missed."""

    def changes(x: torch.Tensor) -> torch.Tensor:
        means = x.detach().mean(dim=1)
        x.data.add_(1)
        return means

    cut, right = (lambda x: x.detach().mean(dim=1)), row_means
    both = (SHAPE, VALUES, replace(GRADIENTS, central=True), replace(UNTOUCHED, central=True))
    exercise = replace(EXERCISE, aspects=both)
    assert [verdict(symbol, exercise).score for symbol in (right, cut, changes)] == [5.0, 2.5, 2.5]
    assert passed(verdict(cut, exercise)) == passed(verdict(cut))
    assert [aspect.central for aspect in verdict(cut, exercise).aspects] == [False, False, True, True]
    little = replace(EXERCISE, aspects=(replace(GRADIENTS, weight=9.0, central=True), VALUES))
    assert verdict(cut, little).score == pytest.approx(5 * 2 / 11, abs=0.005)  # what costs more goes on costing more


def test_a_core_with_tags_counts_in_its_own_cases_only() -> None:
    only_wide = replace(EXERCISE, aspects=(SHAPE, replace(VALUES, tags=frozenset({"wide"})), GRADIENTS, UNTOUCHED))
    assert verdict(row_sums, only_wide).score == 0.0


def test_an_aspect_with_tags_overlooks_other_cases() -> None:
    def wrong_on_one_row(x: torch.Tensor) -> torch.Tensor:
        return x.mean(dim=1) + (7 if x.shape[0] == 1 else 0)

    only_wide = Aspect("on matrices", tags=frozenset({"wide"}))
    judged = verdict(wrong_on_one_row, replace(EXERCISE, aspects=(*ASPECTS, only_wide)))
    assert passed(judged) == ["shape", "gradients", "leaves its input alone", "on matrices"]


def test_the_core_is_said_first_and_seen_on_the_smallest_case() -> None:
    def all_wrong(x: torch.Tensor) -> torch.Tensor:
        x.data.add_(1)
        return x.detach().mean(dim=1) * 3

    judged = verdict(all_wrong)
    assert judged.message.startswith("The result")
    assert judged.evidence.label == "on one number"
    assert judged.evidence.path == "output"
    assert judged.message.endswith("Seen on one number (x of shape (1, 1)).")


def test_cases_stand_in_the_order_of_their_size() -> None:
    assert [case.label for case in Judge(EXERCISE, probe, 3).cases] == ["on one number", "on one row", "on a matrix"]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_mistake_is_diagnosed_by_what_it_does(seed: int) -> None:
    by_hand = verdict(lambda x: torch.einsum("ij->i", x), seed=seed)
    assert by_hand.diagnosis == "sum_instead_of_mean"
    assert by_hand.message == "Yours is the sum. What turns a sum into a mean?"
    assert verdict(lambda x: x.mean(0), seed=seed).diagnosis == "column_means"
    assert verdict(lambda x: x.amax(1), seed=seed).diagnosis is None


def raising(error: BaseException) -> Callable[..., Any]:
    def symbol(x: torch.Tensor) -> torch.Tensor:
        raise error

    return symbol


def test_blank_wrong_and_stopped_are_told_apart() -> None:
    blank = verdict(raising(NotImplementedError()))
    assert (blank.status, blank.score) == (MISSING, 0.0)
    assert blank.message == "row_means is still blank: write it in its cell, run that cell, then check again."
    stopped = verdict(raising(SystemExit(3)))
    assert (stopped.status, stopped.score) == (ERROR, 0.0)
    assert stopped.message.startswith("It stops with SystemExit: 3.")
    assert stopped.evidence is None

    def half(x: torch.Tensor) -> torch.Tensor:
        if x.numel() == 1:
            raise NotImplementedError
        return x.mean(dim=1)

    begun = verdict(half)
    assert (begun.status, begun.score) == (FAILED, 0.0)
    assert "NotImplementedError" in begun.message


def test_an_interrupt_is_the_learners_own() -> None:
    with pytest.raises(KeyboardInterrupt):
        verdict(raising(KeyboardInterrupt()))


def test_the_best_of_several_references_counts() -> None:
    either = replace(EXERCISE, references=(row_means, lambda x: -x.mean(dim=1)), mistakes=())
    assert verdict(lambda x: -x.mean(dim=1), either).status == PASSED
    assert verdict(row_means, either).status == PASSED
    assert verdict(lambda x: x.mean(dim=1).abs() * 2, either).status != PASSED


def test_a_canonical_form_forgives_what_is_free_and_survives_what_it_does_not_expect() -> None:
    def without_sign(observation: Observation, case: Case) -> Observation:
        return observation | {"output": observation["output"].abs(), "gradients": None}

    free = replace(EXERCISE, canonical=without_sign)
    assert verdict(lambda x: -x.mean(dim=1), free).status == PASSED
    strange = verdict(lambda x: "a text", free)
    assert strange.score == 0.0
    assert "the text 'a text'" in strange.message


def test_anything_may_come_over_the_border() -> None:
    judge = Judge(EXERCISE, probe, 0)
    for junk in (
        {},
        {"output": None},
        {"output": {"a": [1]}, "gradients": 3},
        {"error": {"type": "", "message": "", "line": ""}},
    ):
        judged = judge.verdict([junk] * len(judge.cases))
        assert judged.score == 0.0
        assert judged.message


def test_seeds_and_symbols_draw_different_cases_and_the_same_seed_the_same() -> None:
    def first(exercise: Exercise, seed: int) -> torch.Tensor:
        drawn: torch.Tensor = Judge(exercise, probe, seed).cases[0].inputs["x"]
        return drawn

    assert torch.equal(first(EXERCISE, 1), first(EXERCISE, 1))
    assert not torch.equal(first(EXERCISE, 1), first(EXERCISE, 2))
    assert not torch.equal(first(EXERCISE, 1), first(replace(EXERCISE, symbol="other"), 1))


def test_what_only_a_canonical_form_says_is_not_taken_from_a_learner() -> None:
    """Whoever sends the form itself, and nothing that it is made of, has shown nothing."""
    exercise = replace(
        EXERCISE,
        canonical=lambda seen, case: {"output": bool(seen["weights"].sum() > 0), "kept": seen["kept"]},
        aspects=(Aspect("it learns", core=True), Aspect("kept", keys=("kept",))),
        mistakes=(),
    )
    judge = Judge(exercise, lambda symbol, inputs: {"weights": torch.ones(3), "kept": 1.0}, 3)
    assert judge.verdict(judge.observe(None)).status == "passed"
    forged = judge.verdict([{"output": True, "kept": 1.0}] * len(judge.cases))
    assert (forged.score, [aspect.passed for aspect in forged.aspects]) == (0.0, [False, True])


def test_of_gradients_that_alone_are_wrong_it_is_asked_what_cuts_them_off() -> None:
    question = "is a part of the way back cut off"
    assert question in verdict(lambda x: x.mean(dim=1) + (x - x.detach()).sum(dim=1)).message
    assert question not in verdict(lambda x: 2 * x.mean(dim=1)).message
    assert question not in verdict(lambda x: x.detach().mean(dim=1)).message  # that says what is wrong itself
