"""`sees_order`, the bug clinic: does the order of the tokens count? The toy models stand in `patients`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from functools import partial
from itertools import combinations, permutations
from typing import Any

import numpy as np
import torch
from torch import nn

from course.positions import sees_order
from grader.authoring.aspects import KNOWN, modes, special, tells_apart
from grader.authoring.draw import dims
from grader.authoring.spec import Aspect, Case, Exercise, Mistake
from lessons.lesson_06.exercises.patients import ordered

VOCABULARY = 13
BLIND = ("bag", "attention", "never added", "largest", "rounding")

# (way of the model, kind of rows, tag, words for the learner)
_TRIED = [
    ("bag", "different", "blind", "with a model that adds up the vectors of its tokens"),
    ("attention", "different", "blind", "with attention that has no positions"),
    ("never added", "different", "blind", "with a model that computes positions and never uses them"),
    ("largest", "different", "blind", "with a model that looks for the largest and the smallest number"),
    ("rounding", "different", "rounding", "with a sum that is rounded otherwise in another order"),
    ("first place", "equal", "equal", "with rows in which all tokens are the same"),
    ("added", "single", "equal", "with rows of one token"),
    ("added", "different", "seeing", "with a model that adds positions"),
    ("first place", "different", "seeing", "with a model that reads the first token"),
    ("last place", "different", "seeing", "with a model that reads the last token"),
    ("ring", "different", "seeing", "with a model that looks at neighbours in a ring"),
    ("mirror", "different", "some", "with a model that reads the same forwards and backwards"),
    ("middle place", "ascending", "some", "with a model that notices the middle place alone"),
    ("halves", "descending", "some", "with a model that tells the first half from the second"),
    ("every other place", "different", "some", "with a model that tells even places from odd ones"),
    ("rare", "different", "some", "with a model that notices one certain token at the front"),
    ("first place", "twice", "some", "with rows in which most tokens are the same"),
    ("last place", "first", "some", "with rows in which only the first token is another one"),
    ("one logit", "different", "little", "with a model in which a single logit depends on order"),
    ("slightly", "different", "little", "with a model whose winning class never changes"),
    ("balanced", "different", "little", "with a model whose logits keep their sum"),
    ("first place", "last row", "rows", "where only the last row has different tokens"),
    ("added", "alone", "rows", "on a batch of one"),
    ("bag", "alone", "rows", "on a batch of one, with a model that is blind to order"),
    ("bag", "dropout", "dropout", "with a blind model in training mode, with dropout"),
    ("added", "dropout", "dropout", "with a model that adds positions, in training mode, with dropout"),
]


def _models(generator: np.random.Generator) -> list[Case]:
    def row(length: int) -> list[int]:
        return [int(t) for t in generator.choice(np.arange(1, VOCABULARY), size=length, replace=False)]

    def draw(way: str, kind: str, tag: str) -> dict[str, Any]:
        batch, classes = dims(generator, 2, 2, 4)
        length = int(generator.integers(5, 7))
        rows = [row(length) for _ in range(batch)]
        if kind == "equal":
            rows = [row(1) * length for _ in range(batch)]
        elif kind == "single":
            rows = [row(1) for _ in range(batch)]
        elif kind == "twice":  # the last token alone is another one
            rows = [[one] * (length - 1) + [other] for one, other in (row(2) for _ in range(batch))]
        elif kind == "first":
            rows = [[other] + [one] * (length - 1) for one, other in (row(2) for _ in range(batch))]
        elif kind == "last row":
            rows[:-1] = [row(1) * length for _ in range(batch - 1)]
        elif kind == "alone":
            rows = rows[:1]
        elif kind in ("ascending", "descending"):
            rows = [sorted(each, reverse=kind == "descending") for each in rows]
        # Small numbers where the model is blind, so that rounding stays below a millionth.
        size = 0.1 if way in BLIND else 1.0
        vectors = torch.from_numpy(generator.uniform(0.5, 1.5, (VOCABULARY, classes)) * size).float()
        winner_may_change = (way, kind) == ("first place", "different")
        if way not in BLIND and not winner_may_change:
            vectors[:, -1] += 3  # the last class always wins
        drawn = {
            "way": way,
            "tokens": torch.tensor(rows),
            "vectors": vectors,
            "places": torch.from_numpy(generator.uniform(0.5, 3.0, (length, classes))).float(),
            # The model that waits for a certain token finds it last: neighbours that swap don't bring it to the front.
            "special": rows[0][-1],
            "rate": 0.5 if kind == "dropout" else 0.0,
            "training": kind == "dropout",
        }
        plain = way not in BLIND and tag in ("seeing", "little", "rows", "dropout")
        telling = _telling(drawn, winner_may_change) and (not plain or _plain(drawn))
        return drawn if telling else draw(way, kind, tag)

    return [_case(label, draw(way, kind, tag), frozenset({tag})) for way, kind, tag, label in _TRIED]


def _case(label: str, drawn: dict[str, Any], tags: frozenset[str]) -> Case:
    """What is drawn, but for the patient's nature, which stays with the patient."""
    patient = {name: drawn.pop(name) for name in ("way", "special", "rate")}
    return Case(label, drawn, tags, partial(ordered, **patient))


def _telling(drawn: dict[str, Any], winner_changes: bool) -> bool:
    """Rows differ, rounding shows where it should, and so does another winner."""
    tokens, model = drawn["tokens"], _made(drawn)
    with torch.no_grad():
        logits, swapped = model(tokens), [model(changed) for changed in _swaps(tokens)]
    if len(tokens.unique(dim=0)) < len(tokens):
        return False
    if drawn["way"] == "rounding":
        return any(not torch.equal(other, logits) for other in swapped)
    return not winner_changes or any(not torch.equal(other.argmax(-1), logits.argmax(-1)) for other in swapped)


def _plain(drawn: dict[str, Any]) -> bool:
    """Sorting the tokens shows, and so does swapping the ends; where places are added, so does every other swap."""
    tokens, model = drawn["tokens"], _made(drawn)
    pairs = None if drawn["way"] == "added" else [(0, tokens.shape[1] - 1)]
    with torch.no_grad():
        logits = model(tokens)
        orders = [tokens.sort(dim=1).values, *_swaps(tokens, pairs)]
        return all(not torch.allclose(model(order), logits, rtol=1e-3, atol=1e-3) for order in orders)


def _made(drawn: dict[str, Any]) -> Callable[[torch.Tensor], torch.Tensor]:
    logits = ordered(drawn["way"], drawn["special"], drawn["rate"]).ways["logits"]
    return lambda tokens: logits(tokens, drawn, False)


def _swaps(tokens: torch.Tensor, pairs: Iterable[tuple[int, int]] | None = None) -> list[torch.Tensor]:
    """The rows with two places swapped, for each pair of places."""
    length = tokens.shape[1]
    swapped = []
    for i, j in pairs or combinations(range(length), 2):
        order = list(range(length))
        order[i], order[j] = j, i
        swapped.append(tokens[:, order])
    return swapped


def _close(one: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.allclose(one, other, rtol=1e-4, atol=1e-5)


Reorder = Callable[[torch.Tensor], list[torch.Tensor]]
Compare = Callable[[torch.Tensor, torch.Tensor], bool]


def _tester(reorder: Reorder = _swaps, same: Compare = _close, rows: slice = slice(None)) -> Callable[..., Any]:
    """A right answer with one step replaced: which orders are tried, what counts as the same, which rows."""

    def sees(model: nn.Module, tokens: torch.Tensor) -> bool:
        examined = copy.deepcopy(model).eval()
        looked_at = tokens[rows]
        with torch.no_grad():
            logits = examined(looked_at)
            return any(not same(examined(changed), logits) for changed in reorder(looked_at))

    return sees


_RIGHT = _tester()


def _in_training_mode(model: nn.Module, tokens: torch.Tensor) -> bool:
    logits = model(tokens)
    return any(not _close(model(changed), logits) for changed in _swaps(tokens))


def _left_in_eval_mode(model: nn.Module, tokens: torch.Tensor) -> bool:
    model.eval()
    return bool(_RIGHT(model, tokens))


def _all_orders_must(model: nn.Module, tokens: torch.Tensor) -> bool:
    examined = copy.deepcopy(model).eval()
    logits = examined(tokens)
    return all(not _close(examined(changed), logits) for changed in _swaps(tokens))


def _difference(model: nn.Module, tokens: torch.Tensor) -> float:
    examined = copy.deepcopy(model).eval()
    logits = examined(tokens)
    moved = [(examined(changed) - logits).abs().max().item() for changed in _swaps(tokens)]
    return max(moved, default=0.0)


def _in_place(model: nn.Module, tokens: torch.Tensor) -> bool:
    answer = bool(_RIGHT(model, tokens))
    tokens[:] = tokens.flip(1)
    return answer


def _mode_put_back(model: nn.Module, tokens: torch.Tensor) -> bool:
    """Without a copy: switched off, looked at, switched on again."""
    before = {module: module.training for module in model.modules()}
    model.eval()
    try:
        with torch.inference_mode():
            logits = model(tokens)
            return max([0.0] + [float((model(t) - logits).abs().max()) for t in _swaps(tokens)]) > 1e-4
    finally:
        for module, training in before.items():
            module.training = training


def _one_big_batch(model: nn.Module, tokens: torch.Tensor) -> np.bool_:
    """All orders of all rows at once."""
    examined = copy.deepcopy(model).eval()
    orders = torch.tensor(list(permutations(range(tokens.shape[1]))))[:720]
    many = tokens[:, orders]  # (batch, orders, length)
    logits = examined(many.flatten(0, 1)).detach().unflatten(0, many.shape[:2]).numpy()
    return np.bool_(np.ptp(logits, axis=1).max() > 1e-3)


def _shuffles(tokens: torch.Tensor) -> list[torch.Tensor]:
    return [tokens[:, torch.randperm(tokens.shape[1])] for _ in range(60)]


SEES_ORDER = Exercise(
    symbol="sees_order",
    points=3,
    cases=_models,
    references=(sees_order,),
    aspects=(
        *tells_apart(blind="blind models are found", seeing="seeing models are found"),
        special("some reorderings show nothing", "some", weight=2.0),
        special("rounding is no order", "rounding"),
        special("small changes", "little"),
        special("every row, and a row alone", "rows"),
        special("nothing to reorder", "equal"),
        special("no dropout while looking", "dropout"),
        modes("mode left as it was", 1.0),
        Aspect("model and tokens untouched", keys=("arguments",), kinds=KNOWN),
    ),
    mistakes=(
        Mistake(
            "never_sees",
            _tester(lambda tokens: [tokens.clone()]),
            "You never find an order that counts. Are the tokens in another order when the model sees them for the "
            "second time?",
        ),
        Mistake(
            "always_sees",
            _tester(lambda tokens: [tokens % (VOCABULARY - 1) + 1]),
            "Every model sees order to you, even one that counts its tokens. Do you put other tokens in, or the "
            "same ones elsewhere?",
        ),
        Mistake(
            "answer_turned_round",
            lambda model, tokens: not _RIGHT(model, tokens),
            "You tell them apart, and answer the other way round. What does True stand for?",
        ),
        Mistake(
            "rows_shuffled",
            _tester(lambda tokens: [tokens.flip(0), tokens.roll(1, 0)]),
            "You reorder the rows of the batch, and their answers move along. Along which axis do the tokens of a "
            "row stand?",
        ),
        Mistake(
            "backwards_only",
            _tester(lambda tokens: [tokens.flip(1)]),
            "You try one order, the row backwards. Can a model depend on order and read the same from both ends?",
        ),
        Mistake(
            "turned_like_a_ring_only",
            _tester(lambda tokens: [tokens.roll(i, 1) for i in range(tokens.shape[1])]),
            "You only move the whole row round. Which models can't tell where a ring begins?",
        ),
        Mistake(
            "first_two_only",
            _tester(lambda tokens: _swaps(tokens, [(0, 1)][: tokens.shape[1] - 1] or [(0, 0)])),
            "You swap the first two tokens and nothing else. What if a model reads another place?",
        ),
        Mistake(
            "ends_only",
            _tester(lambda tokens: _swaps(tokens, [(0, tokens.shape[1] - 1)])),
            "You swap the first and the last token and nothing else. What if a model reads another place?",
        ),
        Mistake(
            "neighbours_only",
            _tester(lambda tokens: _swaps(tokens, [(i, i + 1) for i in range(tokens.shape[1] - 1)] or [(0, 0)])),
            "You swap neighbours only. Can the last token come to the front that way?",
        ),
        Mistake(
            "sorted_only",
            _tester(lambda tokens: [tokens.sort(1).values]),
            "You try one order, the sorted one. Can a model depend on order and give the same for this one?",
        ),
        Mistake(
            "every_order_must_count",
            _all_orders_must,
            "You ask for every reordering to change something. How many are enough to show that order counts?",
        ),
        Mistake(
            "to_the_last_bit",
            _tester(same=torch.equal),
            "To you, rounding counts as order: a sum in another order has another last digit. How far apart may two "
            "numbers be that are the same?",
        ),
        Mistake(
            "winning_class_only",
            _tester(same=lambda one, other: torch.equal(one.argmax(-1), other.argmax(-1))),
            "You compare the winning classes. Can logits change while the winner stays?",
        ),
        Mistake(
            "sum_of_the_logits",
            _tester(same=lambda one, other: _close(one.sum(-1), other.sum(-1))),
            "You compare sums of logits. Can logits change while their sum stays?",
        ),
        Mistake(
            "first_row_only",
            _tester(rows=slice(1)),
            "You look at the first row only. What if reordering changes nothing there, because its tokens are all "
            "the same?",
        ),
        Mistake(
            "coarse",
            _tester(same=lambda one, other: torch.allclose(one, other, atol=0.2)),
            "Small changes get past you. By how much do two numbers differ when rounding alone is at work?",
        ),
        Mistake(
            "dropout_left_on",
            _in_training_mode,
            "With dropout on, a model answers differently each time, and you take that for order. In which mode do "
            "its answers stay the same?",
        ),
        Mistake(
            "left_in_eval_mode",
            _left_in_eval_mode,
            "The answers are right, but a model that was in training mode is in evaluation mode afterwards. How can "
            "you leave it as it was?",
        ),
        Mistake(
            "tokens_changed",
            _in_place,
            "The answers are right, but the caller's tokens stand in another order afterwards. How do you reorder a "
            "copy?",
        ),
        Mistake(
            "difference_returned",
            _difference,
            "You return how far the logits move. Which question does the caller want answered with True or False?",
        ),
    ),
    variants={
        "all swaps": _RIGHT,
        "all orders": _tester(
            lambda tokens: [tokens[:, list(o)] for o in list(permutations(range(tokens.shape[1])))[::-5]]
        ),
        "many shuffles": _tester(_shuffles),
        "mode put back": _mode_put_back,
        "one big batch, a NumPy answer": _one_big_batch,
        "a tensor for an answer": lambda model, tokens: torch.tensor(_RIGHT(model, tokens)),
    },
)
