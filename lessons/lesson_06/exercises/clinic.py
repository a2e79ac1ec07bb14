"""`sees_order`, the bug clinic: does the order of the tokens count? The toy models stand in `patients`."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
import torch
from torch import nn

from course.positions import sees_order
from grader.authoring.aspects import modes, special, tells_apart, untouched
from grader.authoring.draw import dims
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_06.exercises.patients import ordered
from lessons.lesson_06.exercises.telling import plain, swaps, telling

VOCABULARY = 13
BLIND = ("bag", "attention", "never added", "largest", "rounding")

# (way of the model, kind of rows, tags, the patient in the lesson's words)
_TRIED = [
    ("bag", "different", "blind", "with a bag that adds up the vectors of its tokens"),
    ("attention", "different", "blind", "with attention that has no mask and no positions"),
    ("never added", "different", "blind", "with a model that computes positions and never uses them"),
    ("largest", "different", "blind", "with a model that looks only for the largest and the smallest number"),
    ("rounding", "different", "rounding", "with a sum over the tokens that rounds differently in another order"),
    ("first place", "equal", "equal", "with rows in which all tokens are the same"),
    ("added", "single", "equal", "with rows of a single token"),
    ("added", "different", "seeing", "with attention that has positions added to its tokens"),
    ("causal", "different", "seeing", "with attention behind a causal mask, without positions"),
    ("first place", "different", "seeing", "with a model that reads the first token"),
    ("last place", "different", "seeing", "with a model that reads the last token"),
    ("ring", "different", "seeing", "with a model that looks at neighbours, the last token being next to the first"),
    ("mirror", "different", "some", "with a model that reads the same forwards and backwards"),
    ("middle place", "ascending", "some", "with a model that notices only the token in the middle"),
    ("halves", "descending", "some", "with a model that only tells the first half of a row from the second"),
    ("every other place", "different", "some", "with a model that only tells even places from odd ones"),
    ("rare", "different", "some", "with a model that only notices one particular token in first place"),
    (
        "first place",
        "twice",
        "some",
        "with a model that reads the first token, and rows whose last token alone differs",
    ),
    ("last place", "first", "some", "with a model that reads the last token, and rows whose first token alone differs"),
    ("one logit", "different", "little", "with a model in which order changes a single logit"),
    ("slightly", "different", "little", "with a model in which order never changes the winning class"),
    ("balanced", "different", "little seeing", "with a model in which order never changes the sum of the logits"),
    (
        "first place",
        "last row",
        "rows",
        "with a model that reads the first token, where only the last row has different tokens",
    ),
    ("added", "alone", "rows", "with attention that has positions, on a batch of one row"),
    ("bag", "alone", "rows", "with a bag, on a batch of one row"),
    ("bag", "dropout", "dropout", "with a bag in training mode, with dropout"),
    ("added", "dropout", "dropout", "with attention that has positions, in training mode, with dropout"),
]


def _models(generator: np.random.Generator) -> list[Case]:
    def row(length: int) -> list[int]:
        return [int(t) for t in generator.choice(np.arange(1, VOCABULARY), size=length, replace=False)]

    def draw(way: str, kind: str, tags: str) -> dict[str, Any]:
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
        common = way not in BLIND and not {"equal", "some"} & set(tags.split())
        tells = telling(drawn, winner_may_change) and (not common or plain(drawn))
        return drawn if tells else draw(way, kind, tags)

    return [_case(label, draw(way, kind, tags), frozenset(tags.split())) for way, kind, tags, label in _TRIED]


def _case(label: str, drawn: dict[str, Any], tags: frozenset[str]) -> Case:
    """What is drawn, but for the patient's nature, which stays with the patient."""
    patient = {name: drawn.pop(name) for name in ("way", "special", "rate")}
    return Case(label, drawn, tags, partial(ordered, **patient))


def _close(one: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.allclose(one, other, rtol=1e-4, atol=1e-5)


def _same_winner(one: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.equal(one.argmax(-1), other.argmax(-1))


Reorder = Callable[[torch.Tensor], list[torch.Tensor]]
Compare = Callable[[torch.Tensor, torch.Tensor], bool]


def _tester(reorder: Reorder = swaps, same: Compare = _close, rows: slice = slice(None)) -> Callable[..., Any]:
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
    return any(not _close(model(changed), logits) for changed in swaps(tokens))


def _left_in_eval_mode(model: nn.Module, tokens: torch.Tensor) -> bool:
    model.eval()
    return bool(_RIGHT(model, tokens))


def _all_orders_must(model: nn.Module, tokens: torch.Tensor) -> bool:
    examined = copy.deepcopy(model).eval()
    logits = examined(tokens)
    return all(not _close(examined(changed), logits) for changed in swaps(tokens))


def _difference(model: nn.Module, tokens: torch.Tensor) -> float:
    examined = copy.deepcopy(model).eval()
    logits = examined(tokens)
    moved = [(examined(changed) - logits).abs().max().item() for changed in swaps(tokens)]
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
            return max([0.0] + [float((model(t) - logits).abs().max()) for t in swaps(tokens)]) > 1e-4
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
        *tells_apart(
            meanings={
                "blind": "False for a model whose logits stay the same, however you reorder its tokens.",
                "seeing": "True for a model whose logits change under most reorderings.",
            },
            blind="models that can't see order",
            seeing="models that see order",
        ),
        special(
            "some reorderings change nothing",
            "some",
            weight=3.0,
            meaning="True for a model that notices only some reorderings: one of them is enough.",
        ),
        special(
            "rounding isn't order",
            "rounding",
            meaning="False for a model whose logits change only by rounding when its tokens are reordered.",
        ),
        special(
            "small changes count",
            "little",
            weight=3.0,
            meaning="True even if only one logit changes, or if the winning class stays the same.",
        ),
        special(
            "every row, and a single row",
            "rows",
            meaning="The last row of a batch counts as much as the first, and a batch may be one row.",
        ),
        special("nothing to reorder", "equal", meaning="False for rows of one token, and for rows of equal tokens."),
        special(
            "dropout is off", "dropout", meaning="A model in training mode is tested with its dropout switched off."
        ),
        modes("mode as it was", 1.0, "A model in training mode is still in training mode afterwards."),
        untouched(
            "model and tokens untouched",
            meaning="After the call, the model's weights and the tokens are just as they were before.",
        ),
    ),
    mistakes=(
        Mistake(
            "never_sees",
            _tester(lambda tokens: [tokens.clone()]),
            "Your test never says True. When the model sees the tokens for the second time, are they in a "
            "different order?",
            central=True,
        ),
        Mistake(
            "always_sees",
            _tester(lambda tokens: [tokens % (VOCABULARY - 1) + 1]),
            "Your test says True for every model, even one that only counts its tokens. Do you give it different "
            "tokens, or the same ones in other places?",
            central=True,
        ),
        Mistake(
            "answer_turned_round",
            lambda model, tokens: not _RIGHT(model, tokens),
            "You tell the models apart, but your answers are the wrong way round. What does True stand for?",
        ),
        Mistake(
            "rows_shuffled",
            _tester(lambda tokens: [tokens.flip(0), tokens.roll(1, 0)]),
            "You reorder the rows of the batch, and the answers move along with them. Which axis do the "
            "tokens of a row lie on?",
            central=True,
        ),
        Mistake(
            "backwards_only",
            _tester(lambda tokens: [tokens.flip(1)]),
            "You try a single order, the row backwards. Can a model depend on order and still read the same from "
            "both ends?",
        ),
        Mistake(
            "turned_like_a_ring_only",
            _tester(lambda tokens: [tokens.roll(i, 1) for i in range(tokens.shape[1])]),
            "You only rotate the whole row. Is there a model that sees order but can't tell where the row starts?",
        ),
        Mistake(
            "first_two_only",
            _tester(lambda tokens: swaps(tokens, [(0, 1)][: tokens.shape[1] - 1] or [(0, 0)])),
            "You swap the first two tokens and nothing else. What if a model reads another place?",
        ),
        Mistake(
            "ends_only",
            _tester(lambda tokens: swaps(tokens, [(0, tokens.shape[1] - 1)])),
            "You swap the first and the last token and nothing else. What if a model reads another place?",
        ),
        Mistake(
            "neighbours_only",
            _tester(lambda tokens: swaps(tokens, [(i, i + 1) for i in range(tokens.shape[1] - 1)] or [(0, 0)])),
            "You swap only neighbours. Does that ever bring the last token to the front?",
        ),
        Mistake(
            "sorted_only",
            _tester(lambda tokens: [tokens.sort(1).values]),
            "You try a single order, the sorted one. Can a model depend on order and still answer the same for "
            "this one?",
        ),
        Mistake(
            "every_order_must_count",
            _all_orders_must,
            "You ask for every reordering to change something. How many are enough to show that order matters?",
        ),
        Mistake(
            "to_the_last_bit",
            _tester(same=torch.equal),
            "You count rounding as order: a sum in another order may have a different last digit. How far apart "
            "may two numbers be and still count as equal?",
        ),
        Mistake(
            "winning_class_only",
            _tester(same=_same_winner),
            "You compare only the winning classes. Can logits change while the winner stays the same?",
            central=True,
        ),
        Mistake(
            "sum_of_the_logits",
            _tester(same=lambda one, other: _close(one.sum(-1), other.sum(-1))),
            "You compare sums of logits. Can logits change while their sum stays the same?",
        ),
        Mistake(
            "first_row_only",
            _tester(rows=slice(1)),
            "You look only at the first row. What if all its tokens are the same, so that reordering them changes"
            " nothing?",
        ),
        Mistake(
            "coarse",
            _tester(same=lambda one, other: torch.allclose(one, other, atol=0.2)),
            "Small changes get past your test. How far apart are two numbers that differ only by rounding?",
        ),
        Mistake(
            "dropout_left_on",
            _in_training_mode,
            "With dropout on, a model answers differently each time, and your test takes that for order. In which"
            " mode do its answers stay the same?",
        ),
        Mistake(
            "left_in_eval_mode",
            _left_in_eval_mode,
            "Your answers are right, but a model that was in training mode is in evaluation mode afterwards. How "
            "can you leave it as it was?",
        ),
        Mistake(
            "tokens_changed",
            _in_place,
            "Your answers are right, but the caller's tokens are in a different order afterwards. How do you "
            "reorder a copy?",
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
