"""`future_leak`, the bug clinic: how to see that a model reads ahead. The models stand in `patients`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from course.causal import future_leak
from grader.authoring.aspects import main, modes, special, untouched
from grader.authoring.spec import Case, Exercise, Mistake, tagged
from lessons.lesson_04.asking import HIGHEST, MODES, Draw, in_words, tried
from lessons.lesson_05.exercises import measures as written

CONSTANTS = (1, 2, 3, HIGHEST)
"""Ids that a test may put in place of every token. Where the token has that id already, nothing changes."""


def _models(generator: np.random.Generator) -> list[Case]:
    draw = Draw(generator)

    def one(model: str = "one later token", place: int = 2, at: int = 1, **others: Any) -> dict[str, Any]:
        length = int(generator.integers(6, 8))
        return draw(model, place=place, at=at, length=length, of_target=True, **others)

    def already(constant: int) -> dict[str, Any]:
        """One leaking token, which is `constant` in each row, and found nowhere else in it."""
        drawn = one()
        target, place = drawn["target_input"], drawn["place"]
        target = torch.where(target == constant, target[:, place : place + 1], target)
        target[:, place] = constant
        return {**drawn, "target_input": target}

    return [
        tried("with a model that only looks at its own token", draw("own token"), tagged("closed")),
        tried("with a model that looks back", draw("past"), tagged("closed")),
        tried("with a model that looks back, but not at its own token", draw("strictly past"), tagged("closed")),
        tried("with a model that looks at the source and back", draw("source and past"), tagged("closed")),
        tried("with an honest model and a target of two tokens", draw("past", length=2), tagged("closed")),
        tried("with an honest model whose logits are large", draw("large", dtype=torch.float64), tagged("closed")),
        tried("with a model that always gives the same answer", draw("always the same"), tagged("closed")),
        *(
            tried(f"with an nn.Module that looks back, in {mode} mode", draw("past", mode=mode), tagged("module"))
            for mode in MODES
        ),
        tried("with a target of a single token", draw("past", length=1), tagged("single")),
        tried("with a model that peeks at the next token", draw("next token"), tagged("leaks")),
        tried("with a model that peeks at all target tokens", draw("bag of the target"), tagged("leaks")),
        *(
            tried(f"with an nn.Module that peeks, in {mode} mode", draw("next token", mode=mode), tagged("module"))
            for mode in MODES
        ),
        tried("with a model that peeks two tokens ahead", draw("two ahead"), tagged("far")),
        tried("with a model that peeks at the last token", draw("last token"), tagged("far")),
        tried("with a model that peeks, on a batch of one", draw("next token", batch=1), tagged("one row")),
        tried("on a batch of one, where one token moves one logit", one(batch=1), tagged("one row")),
        tried("where the last token leaks to the first place", one(place=-1, at=0), tagged("first and last")),
        tried("where only the second token leaks, to the first place", one(place=1, at=0), tagged("place")),
        tried("where only the last token leaks, to the place before it", one(place=-1, at=-2), tagged("place")),
        tried("where only the third token leaks, to the second place", one(), tagged("place")),
        tried("where only the first row of the batch leaks", one(row=0), tagged("row")),
        tried("where only the last row of the batch leaks", one(row=-1), tagged("row")),
        tried("where the leak pushes one logit down", one("one later token, downwards"), tagged("sign")),
        tried("where one logit rises and another falls", one("one later token, up and down"), tagged("sign")),
        tried("where the leak is too small to change an answer", one("one later token, faintly"), tagged("faint")),
        tried("with a model that peeks, and padding", draw("next token", padded=True), tagged("leaks")),
        tried("where one token has the vocabulary's last id", draw("next token", last_id=True), tagged("ids")),
        *(
            tried(f"where the token that leaks is {constant} already", already(constant), tagged("already"))
            for constant in CONSTANTS
        ),
    ]


def module_expected(right: Callable[..., Any]) -> Mistake:
    """The right test, which asks more of the model than that it can be called."""

    def test(model: Any, source: torch.Tensor, target_input: torch.Tensor) -> Any:
        mode = model.training
        model.eval()
        number = right(model, source, target_input)
        model.train(mode)
        return number

    return Mistake(
        "module_expected",
        test,
        "Your test works only with an nn.Module. The docstring allows any callable: what do you really need from the "
        "model?",
    )


def left_in_eval_mode(right: Callable[..., Any]) -> Mistake:
    """The right test, which does not put the model back."""

    def test(model: Any, source: torch.Tensor, target_input: torch.Tensor) -> Any:
        if isinstance(model, torch.nn.Module):
            model.eval()
        return right(model, source, target_input)

    return Mistake(
        "left_in_eval_mode",
        test,
        "The number is right, but you leave the model in evaluation mode. Which mode did you find it in?",
    )


def misjudged(rises: Any, signed: Any, answers: Any) -> tuple[Mistake, ...]:
    """Three ways to overlook that logits have moved."""
    return (
        Mistake(
            "no_absolute_value",
            rises,
            "You look for the largest rise, so you miss a logit that falls. What makes both directions count?",
        ),
        Mistake(
            "signed_mean",
            signed,
            "You average the differences with their signs, so a rise and a fall cancel out. What should happen to "
            "the signs first?",
        ),
        Mistake(
            "answers_compared",
            answers,
            "You compare which symbol comes out on top, but a logit may move without changing that. What is it that "
            "moves?",
        ),
    )


_main = partial(main, keys=("leak",))
_on = partial(special, keys=("leak",))

FUTURE_LEAK = Exercise(
    symbol="future_leak",
    points=3,
    cases=_models,
    references=(future_leak,),
    canonical=in_words("leak"),
    aspects=(
        _main("honest models get 0", 12.0, meaning="A model that never looks ahead gets 0.", tag="closed"),
        _main("leaks are found", 6.0, meaning="A model that reads later tokens gets more than 0.", tag="leaks"),
        _on(
            "far ahead",
            "far",
            meaning="A leak is found even when the model skips the next token and reads a later one.",
        ),
        _on("from the last place to the first", "first and last", 3.0, "A leak across the whole row is found."),
        _on("one place of several", "place", meaning="A leak is found when a single token leaks to a single position."),
        _on("one row of several", "row", meaning="A leak is found when only one row of the batch leaks."),
        _on("a batch of one", "one row", meaning="A batch with a single row gets the right number too."),
        _on("up or down", "sign", meaning="A leak counts whether it raises a logit or lowers it."),
        _on("small moves", "faint", meaning="A leak counts even if it is too small to change the answer."),
        _on("a single target token", "single", meaning="With one target token there is no future, so the leak is 0."),
        _on("ids that exist", "ids", meaning="The new tokens are ids that the model knows."),
        _on(
            "a token that really changes", "already", 2.0, "The new token differs from the old one, whatever that was."
        ),
        _on("models with parameters", "module", meaning="An nn.Module gets the right number too, in either mode."),
        modes(),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "all_logits_compared",
            written.leaking(written.largest),
            "You compare the logits at every place, including the changed token's own and those after it. Those may "
            "move. Which ones may not?",
            central=True,
        ),
        Mistake(
            "own_place_compared",
            written.leaking(
                lambda moves: written.largest([moved[:, : place + 1] for place, moved in enumerate(moves)])
            ),
            "You also compare the logits at the changed token's own place, so every honest model is flagged. May a "
            "place look at its own token?",
            central=True,
        ),
        Mistake(
            "later_logits_compared",
            written.leaking(
                lambda moves: written.largest([moved[:, place + 1 :] for place, moved in enumerate(moves)])
            ),
            "You compare the logits after the changed token. Those may move. Which ones may not?",
            central=True,
        ),
        Mistake(
            "rows_cut_instead_of_places",
            written.leaking(lambda moves: written.largest([moved[:place] for place, moved in enumerate(moves)])),
            "`[:place]` takes the first rows of the batch, and all places of them. Which axis are the places on?",
        ),
        Mistake(
            "source_changed",
            written.source_changed,
            "You change the source, and every place may look at all of that. Which of the two inputs has a future?",
        ),
        Mistake(
            "target_left_as_it_is",
            lambda model, source, target_input: written.largest(
                [model(source, target_input) - model(source, target_input)]
            ),
            "You ask the model the same question twice, so nothing can move. What must differ between the two calls?",
        ),
        Mistake(
            "always_the_same_id",
            written.replaced(torch.ones_like),
            "You set each token to 1. A token that is 1 already doesn't change, so its leak goes unseen. How do you "
            "make sure that the new token is a different one?",
        ),
        Mistake(
            "last_token_only",
            written.last_changed,
            "Only the last target token counts in your result. Does each turn of your loop overwrite the one before?",
        ),
        Mistake(
            "one_cut_only",
            written.cut_in_the_middle,
            "You cut the target once, in the middle, so a leak within one of the halves goes unseen. How many cuts "
            "are there?",
        ),
        Mistake(
            "second_token_only",
            written.leaking(lambda moves: written.largest([moved[:, :1] for moved in moves[1:2]])),
            "Only the second token is ever changed. Is `return` inside your loop?",
        ),
        Mistake(
            "place_before_only",
            written.leaking(
                lambda moves: written.largest([moved[:, place - 1] for place, moved in enumerate(moves) if place])
            ),
            "You only look at the place right before the changed token, but a model may read further ahead. Which "
            "places come earlier?",
        ),
        Mistake(
            "first_place_only",
            written.leaking(lambda moves: written.largest([moved[:, :1] for moved in moves[1:]])),
            "You only look at the first place. Which places come before the changed token?",
        ),
        Mistake(
            "place_before_left_out",
            written.leaking(
                lambda moves: written.largest([moved[:, : max(place - 1, 0)] for place, moved in enumerate(moves)])
            ),
            "You stop one place too early: you never look at the place right before the changed token. Where does "
            "your slice end?",
        ),
        Mistake(
            "last_place_left_out",
            written.leaking(lambda moves: written.largest(written.earlier(moves)[:-1])),
            "The last token never gets its turn. Where does your loop end?",
        ),
        Mistake(
            "neighbours_swapped",
            written.swapped,
            "You swap neighbouring tokens, so the last one is never changed on its own, and a model that reads the "
            "target as a bag notices nothing. How else can you get a different token?",
        ),
        Mistake(
            "rows_exchanged",
            written.one_by_one(
                lambda target, place: torch.cat([target[:, :place], target.roll(1, dims=0)[:, place:]], dim=1)
            ),
            "You take the later tokens from another row of the batch. What happens when there is only one row?",
        ),
        Mistake(
            "first_row_compared",
            written.leaking(lambda moves: written.largest([moved[:1] for moved in written.earlier(moves)])),
            "You only compare the first row. In which rows might there be a leak?",
        ),
        *misjudged(
            rises=written.leaking(lambda moves: max((m.max().item() for m in written.earlier(moves)[1:]), default=0.0)),
            signed=written.leaking(
                lambda moves: max((abs(m.double().mean().item()) for m in written.earlier(moves)[1:]), default=0.0)
            ),
            answers=written.answers,
        ),
        Mistake(
            "rounded",
            written.leaking(lambda moves: round(written.largest(written.earlier(moves)), 1)),
            "You round a small leak down to 0. Is a mask that lets a little through closed?",
        ),
        Mistake(
            "yes_or_no",
            written.leaking(lambda moves: written.largest(written.earlier(moves)) > 0),
            "You say whether there is a leak. The question is how far the logits move: which number have you already "
            "got?",
        ),
        Mistake(
            "one_a_place",
            written.leaking(lambda moves: [written.largest([part]) for part in written.earlier(moves)]),
            "You return one number for each place, and the docstring asks for a single one. Which of them is the leak?",
        ),
        Mistake(
            "single_token_not_thought_of",
            written.at_least_two,
            "With a single target token there is nothing to compare, and your code stops with an error. How much can "
            "leak when there is no future?",
        ),
        Mistake(
            "ids_that_do_not_exist",
            written.replaced(lambda target: torch.where(target == 0, 0, target + 1)),
            "You add 1 to each id, and the highest one then leaves the vocabulary. How do you stay among the ids that "
            "exist?",
        ),
        module_expected(written.right),
        left_in_eval_mode(written.right),
        Mistake(
            "changed_in_place",
            written.piled_up(lambda target: target),
            "You write into the caller's own tensor, and the changes pile up: by the time token 2 has its turn, "
            "token 1 is different as well. How do you change a copy instead?",
        ),
        Mistake(
            "one_copy_for_all_places",
            written.piled_up(torch.clone),
            "You make one copy for the whole loop, so the changes pile up: by the time token 2 has its turn, "
            "token 1 is different as well. Where does the copy belong?",
        ),
        Mistake(
            "left_changed",
            written.in_place,
            "Your number is right, but you've written into the caller's target. How do you change a copy instead?",
        ),
    ),
    variants={
        "place by place": written.right,
        "every cut": written.every_cut,
        "prefixes": written.prefixes,
        "below the diagonal": written.masked,
        "mean move": written.leaking(lambda moves: sum(m.abs().mean().item() for m in written.earlier(moves)[1:])),
        "a count": written.leaking(lambda moves: sum(int((m != 0).sum()) for m in written.earlier(moves))),
        "random ids": written.by_random_ids,
    },
)
