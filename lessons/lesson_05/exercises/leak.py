"""`future_leak`, the bug clinic: how to see that a model reads ahead. The models stand in `patients`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course.causal import future_leak
from grader.authoring.aspects import modes, tells_apart, untouched
from grader.authoring.spec import Case, Exercise, Mistake, tagged
from lessons.lesson_04.exercises.asking import (
    MODES,
    Draw,
    in_words,
    left_in_eval_mode,
    misjudged,
    module_expected,
    next_ids,
    on,
    tried,
)

Model = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def _models(generator: np.random.Generator) -> list[Case]:
    draw = Draw(generator)

    def one(model: str = "one later token", place: int = 2, at: int = 1, **others: Any) -> dict[str, Any]:
        length = int(generator.integers(6, 8))
        return draw(model, place=place, at=at, length=length, of_target=True, **others)

    return [
        tried("with a model that reads its own token alone", draw("own token"), tagged("closed")),
        tried("with a model that looks back", draw("past"), tagged("closed")),
        tried("with a model that looks back, and not at its own token", draw("strictly past"), tagged("closed")),
        tried("with a model that looks at the source and back", draw("source and past"), tagged("closed")),
        tried("with large logits in float64", draw("large", dtype=torch.float64), tagged("closed")),
        tried("with a model that always says the same", draw("always the same"), tagged("closed")),
        *(
            tried(f"with an nn.Module that looks back, in {mode} mode", draw("past", mode=mode), tagged("module"))
            for mode in MODES
        ),
        tried("with a single target token", draw("past", length=1), tagged("single")),
        tried("with a model that reads the next token", draw("next token"), tagged("leaks")),
        tried("with a model that reads all target tokens", draw("bag of the target"), tagged("leaks")),
        *(
            tried(
                f"with an nn.Module that reads ahead, in {mode} mode",
                draw("next token", mode=mode),
                tagged("module"),
            )
            for mode in MODES
        ),
        tried("with a model that reads two tokens ahead", draw("two ahead"), tagged("far")),
        tried("with a model that reads the last token", draw("last token"), tagged("far")),
        tried("on a batch of one", draw("next token", batch=1), tagged("one row")),
        tried("on a batch of one, one token, one logit", one(batch=1), tagged("one row")),
        tried("where the last token moves the first place", one(place=-1, at=0), tagged("first and last")),
        tried("where the second token moves the first place", one(place=1, at=0), tagged("place")),
        tried("where the last token moves the place before it", one(place=-1, at=-2), tagged("place")),
        tried("where the third token moves the second place", one(), tagged("place")),
        tried("where one token of the first row leaks", one(row=0), tagged("row")),
        tried("where one token of the last row leaks", one(row=-1), tagged("row")),
        tried("where a changed token raises one logit", one("one later token, downwards"), tagged("sign")),
        tried("where one logit rises as another falls", one("one later token, up and down"), tagged("sign")),
        tried("where the answer stays and one logit moves a little", one("one later token, faintly"), tagged("faint")),
        tried("with padding", draw("next token", padded=True), tagged("leaks")),
        tried("where an id is the vocabulary's last", draw("next token", last_id=True), tagged("ids")),
    ]


def changed_from(target: torch.Tensor, place: int, until: int | None = None) -> torch.Tensor:
    """Other tokens from `place` on."""
    changed = target.clone()
    changed[:, place:until] = next_ids(target)[:, place:until]
    return changed


def _moves(model: Model, source: torch.Tensor, target: torch.Tensor) -> list[torch.Tensor]:
    """For each place, the change of all logits when the token there is another one."""
    with torch.no_grad():
        logits = model(source, target)
        return [model(source, changed_from(target, place, place + 1)) - logits for place in range(target.shape[1])]


def leaking(measure: Callable[[list[torch.Tensor]], Any]) -> Callable[..., Any]:
    """A measure made of the moves: one tensor (batch, length, vocab) for each changed place."""
    return lambda model, source, target_input: measure(_moves(model, source, target_input))


def largest(parts: list[torch.Tensor]) -> float:
    """The largest size in any of the tensors; 0 for none."""
    return max((part.abs().max().item() for part in parts if part.numel()), default=0.0)


def _earlier(moves: list[torch.Tensor]) -> list[torch.Tensor]:
    return [moved[:, :place] for place, moved in enumerate(moves)]


def _cut_in_the_middle(model: Model, source: torch.Tensor, target: torch.Tensor) -> float:
    middle = target.shape[1] // 2
    moved = model(source, changed_from(target, middle)) - model(source, target)
    return largest([moved[:, :middle]])


def _last_changed(model: Model, source: torch.Tensor, target: torch.Tensor) -> float:
    moved = model(source, changed_from(target, target.shape[1] - 1)) - model(source, target)
    return largest([moved[:, :-1]])


def _source_changed(model: Model, source: torch.Tensor, target: torch.Tensor) -> float:
    return largest([model(next_ids(source), target) - model(source, target)])


def _swapped(model: Model, source: torch.Tensor, target: torch.Tensor) -> float:
    logits, found = model(source, target), []
    for place in range(1, target.shape[1] - 1):
        changed = target.clone()
        changed[:, [place, place + 1]] = target[:, [place + 1, place]]
        found.append((model(source, changed) - logits)[:, :place])
    return largest(found)


def _rows_exchanged(model: Model, source: torch.Tensor, target: torch.Tensor) -> float:
    logits, found = model(source, target), []
    for place in range(1, target.shape[1]):
        changed = torch.cat([target[:, :place], target.roll(1, dims=0)[:, place:]], dim=1)
        found.append((model(source, changed) - logits)[:, :place])
    return largest(found)


def _answers(model: Model, source: torch.Tensor, target: torch.Tensor) -> float:
    said = model(source, target).argmax(-1)
    found = 0.0
    for place in range(1, target.shape[1]):
        for step in (1, 2, 3):
            changed = target.clone()
            changed[:, place] = next_ids(target, step)[:, place]
            other = model(source, changed).argmax(-1)
            found = max(found, (said != other)[:, :place].float().mean().item())
    return found


def _beyond(model: Model, source: torch.Tensor, target: torch.Tensor) -> float:
    logits, found = model(source, target), []
    for place in range(1, target.shape[1]):
        changed = target.clone()
        changed[:, place] = torch.where(target == 0, 0, target + 1)[:, place]
        found.append((model(source, changed) - logits)[:, :place])
    return largest(found)


def _in_place(model: Model, source: torch.Tensor, target: torch.Tensor) -> float:
    logits, found = model(source, target), []
    for place in range(target.shape[1] - 1, 0, -1):
        target[:, place] = next_ids(target)[:, place]
        found.append((model(source, target) - logits)[:, :place])
    return largest(found)


def _at_least_two(model: Model, source: torch.Tensor, target: torch.Tensor) -> float:
    return max(part.abs().max().item() for part in _earlier(_moves(model, source, target))[1:])


def _prefixes(model: Model, source: torch.Tensor, target: torch.Tensor) -> float:
    """Right too: a model that can't look ahead says the same when what comes later is cut off."""
    whole = model(source, target)
    return largest([model(source, target[:, :n]) - whole[:, :n] for n in range(1, target.shape[1])])


def _every_cut(model: Model, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """All later tokens at once, for every cut; the sum of the sizes as a tensor."""
    logits = model(source, target).detach()
    total = torch.zeros((), dtype=torch.float64)
    for place in range(1, target.size(1)):
        for step in (1, 2):
            changed = torch.cat([target[:, :place], next_ids(target, step)[:, place:]], 1)
            total += (model(source, changed).detach() - logits)[:, :place].abs().double().sum()
    return total


def _masked(model: Model, source: torch.Tensor, target: torch.Tensor) -> Any:
    """One row of changes a place, compared above the diagonal."""
    moves = torch.stack(_moves(model, source, target))  # (changed place, batch, place, vocab)
    sizes = moves.abs().amax(dim=(1, 3))  # (changed place, place)
    return sizes.tril(-1).max()


def _by_random_ids(model: Model, source: torch.Tensor, target: torch.Tensor) -> float:
    with torch.no_grad():
        logits = model(source, target)
        vocab, leak = logits.shape[-1], 0.0
        for place in range(target.shape[1]):
            for _ in range(3):
                changed = target.clone()
                changed[:, place] = (changed[:, place] + torch.randint(1, vocab, (len(target),))) % vocab
                before = (model(source, changed) - logits)[:, :place]
                leak += before.abs().mean().item() if place else 0.0
    return leak


_right = leaking(lambda moves: largest(_earlier(moves)))

FUTURE_LEAK = Exercise(
    symbol="future_leak",
    points=3,
    cases=_models,
    references=(future_leak,),
    canonical=in_words("leak"),
    aspects=(
        *tells_apart("leak", closed="closed models get 0", leaks="leaks are found"),
        on("leak", "far ahead", "far"),
        on("leak", "from the last place to the first", "first and last"),
        on("leak", "one place of several", "place"),
        on("leak", "one row of several", "row"),
        on("leak", "a batch of one", "one row"),
        on("leak", "up or down", "sign"),
        on("leak", "small moves", "faint"),
        on("leak", "a single target token", "single"),
        on("leak", "ids that exist", "ids"),
        on("leak", "models with parameters", "module"),
        modes(),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "all_logits_compared",
            leaking(largest),
            "You compare the logits at every place, also at and behind the token that was changed. Which of them "
            "may move, and which may not?",
        ),
        Mistake(
            "own_place_compared",
            leaking(lambda moves: largest([moved[:, : place + 1] for place, moved in enumerate(moves)])),
            "You also compare the logits at the changed token's own place. May a place look at its own token?",
        ),
        Mistake(
            "later_logits_compared",
            leaking(lambda moves: largest([moved[:, place + 1 :] for place, moved in enumerate(moves)])),
            "You compare the logits behind the changed token. They may move: which ones may not?",
        ),
        Mistake(
            "source_changed",
            _source_changed,
            "You change the source, which every place may look at. Whose later tokens should be changed?",
        ),
        Mistake(
            "target_left_as_it_is",
            lambda model, source, target_input: largest([model(source, target_input) - model(source, target_input)]),
            "You ask the model the same question twice, so nothing can move. What must differ between the two calls?",
        ),
        Mistake(
            "last_token_only",
            _last_changed,
            "You change the last target token only, and a leak may come from another one. Which tokens should have "
            "their turn?",
        ),
        Mistake(
            "one_cut_only",
            _cut_in_the_middle,
            "You cut the target once, in the middle, so a leak inside one of the halves stays hidden. How many cuts "
            "are there?",
        ),
        Mistake(
            "second_token_only",
            leaking(lambda moves: largest([moved[:, :1] for moved in moves[1:2]])),
            "You change the second token only. Which tokens should have their turn?",
        ),
        Mistake(
            "place_before_only",
            leaking(lambda moves: largest([moved[:, place - 1] for place, moved in enumerate(moves) if place])),
            "You look at the place right before the changed token. A model may read further ahead: which places "
            "are earlier?",
        ),
        Mistake(
            "first_place_only",
            leaking(lambda moves: largest([moved[:, :1] for moved in moves[1:]])),
            "You look at the first place only. Which places are earlier than the changed token?",
        ),
        Mistake(
            "place_before_left_out",
            leaking(lambda moves: largest([moved[:, : max(place - 1, 0)] for place, moved in enumerate(moves)])),
            "You stop one place too soon: the place right before the changed token is not looked at. Where does "
            "the slice end?",
        ),
        Mistake(
            "last_place_left_out",
            leaking(lambda moves: largest(_earlier(moves)[:-1])),
            "The last token never has its turn. Where does your loop end?",
        ),
        Mistake(
            "neighbours_swapped",
            _swapped,
            "You swap neighbours among the later tokens, so the last place never stands alone, and a bag of tokens "
            "stays the same. How do you get another token than the one that is there?",
        ),
        Mistake(
            "rows_exchanged",
            _rows_exchanged,
            "You take the later tokens from another row. What if there is a single row?",
        ),
        Mistake(
            "first_row_compared",
            leaking(lambda moves: largest([moved[:1] for moved in _earlier(moves)])),
            "You compare the first row only. In which row may the leak hide?",
        ),
        *misjudged(
            rises=leaking(lambda moves: max((m.max().item() for m in _earlier(moves)[1:]), default=0.0)),
            signed=leaking(
                lambda moves: max((abs(m.double().mean().item()) for m in _earlier(moves)[1:]), default=0.0)
            ),
            answers=_answers,
        ),
        Mistake(
            "rounded",
            leaking(lambda moves: round(largest(_earlier(moves)), 1)),
            "A small leak is 0 to you. Is a mask that lets a little through closed?",
        ),
        Mistake(
            "yes_or_no",
            leaking(lambda moves: largest(_earlier(moves)) > 0),
            "You say whether there is a leak. How far is the question here: which number do you have in hand?",
        ),
        Mistake(
            "one_a_place",
            leaking(lambda moves: [largest([part]) for part in _earlier(moves)]),
            "You return one number a place. The docstring asks for one: how do you make one of several?",
        ),
        Mistake(
            "single_token_not_thought_of",
            _at_least_two,
            "With a single target token there is nothing to compare, and your code stops. What leaks out of a "
            "future that does not exist?",
        ),
        Mistake(
            "ids_that_do_not_exist",
            _beyond,
            "You add 1 to an id, and the highest of them is then no symbol any more. How do you stay among the ids "
            "that exist?",
        ),
        module_expected(_right),
        left_in_eval_mode(_right),
        Mistake(
            "target_changed_in_place",
            _in_place,
            "The number is right, but the caller's target is another one now. How do you work on a copy?",
        ),
    ),
    variants={
        "place by place": _right,
        "every cut": _every_cut,
        "prefixes": _prefixes,
        "below the diagonal": _masked,
        "mean move": leaking(lambda moves: sum(m.abs().mean().item() for m in _earlier(moves)[1:])),
        "a count": leaking(lambda moves: sum(int((m != 0).sum()) for m in _earlier(moves))),
        "random ids": _by_random_ids,
    },
)
