"""`sees_order`, the bug clinic: how it is tried. The toy models that see order, or don't, stand in `patients`."""

from functools import partial
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Aspect, Case, Trial, aspects
from cellcheck.authoring.draw import dims
from transformer_course.lessons.lesson_06.patients import ordered
from transformer_course.lessons.lesson_06.telling import plain, telling

VOCABULARY = 13
WITHOUT_ORDER = ("bag", "attention", "never added", "largest", "rounding")
"""The models that are blind to it."""

BLIND, SEEING = aspects.tells_apart(
    meanings={
        "blind": "False for a model whose logits stay the same, however you reorder its tokens.",
        "seeing": "True for a model whose logits change under most reorderings.",
    },
    blind="models that can't see order",
    seeing="models that see order",
)
SOME = aspects.special(
    "some reorderings change nothing",
    weight=3.0,
    meaning="True for a model that notices only some reorderings: one of them is enough.",
)
ROUNDING = aspects.special(
    "rounding isn't order",
    meaning="False for a model whose logits change only by rounding when its tokens are reordered.",
)
LITTLE = aspects.special(
    "small changes count",
    weight=3.0,
    meaning="True even if only one logit changes, or if the winning class stays the same.",
)
ROWS = aspects.special(
    "every row, and a single row",
    meaning="The last row of a batch counts as much as the first, and a batch may be one row.",
)
EQUAL = aspects.special("nothing to reorder", meaning="False for rows of one token, and for rows of equal tokens.")
DROPOUT = aspects.special(
    "dropout is off", weight=4.0, meaning="A model in training mode is tested with its dropout switched off."
)

# (way of the model, kind of rows, what looks at it, the patient in the lesson's words)
_TRIED: list[tuple[str, str, tuple[Aspect, ...], str]] = [
    ("bag", "different", (BLIND,), "with a bag that adds up the vectors of its tokens"),
    ("attention", "different", (BLIND,), "with attention that has no mask and no positions"),
    ("never added", "different", (BLIND,), "with a model that computes positions and never uses them"),
    ("largest", "different", (BLIND,), "with a model that looks only for the largest and the smallest number"),
    ("rounding", "different", (ROUNDING,), "with a sum over the tokens that rounds differently in another order"),
    ("first place", "equal", (EQUAL,), "with rows in which all tokens are the same"),
    ("added", "single", (EQUAL,), "with rows of a single token"),
    ("added", "different", (SEEING,), "with attention that has positions added to its tokens"),
    ("causal", "different", (SEEING,), "with attention that has a causal mask, and no positions"),
    ("first place", "different", (SEEING,), "with a model that reads the first token"),
    ("last place", "different", (SEEING,), "with a model that reads the last token"),
    ("ring", "different", (SEEING,), "with a model that looks at neighbours, the last token being next to the first"),
    ("mirror", "different", (SOME,), "with a model that reads the same forwards and backwards"),
    ("middle place", "ascending", (SOME,), "with a model that notices only the token in the middle"),
    ("halves", "descending", (SOME,), "with a model that only tells the first half of a row from the second"),
    ("every other place", "different", (SOME,), "with a model that only tells even places from odd ones"),
    ("rare", "different", (SOME,), "with a model that only notices one particular token in first place"),
    (
        "first place",
        "twice",
        (SOME,),
        "with a model that reads the first token, and rows whose last token alone differs",
    ),
    (
        "last place",
        "first",
        (SOME,),
        "with a model that reads the last token, and rows whose first token alone differs",
    ),
    ("one logit", "different", (LITTLE,), "with a model in which order changes a single logit"),
    ("slightly", "different", (LITTLE,), "with a model in which order never changes the winning class"),
    ("balanced", "different", (LITTLE, SEEING), "with a model in which order never changes the sum of the logits"),
    (
        "first place",
        "last row",
        (ROWS,),
        "with a model that reads the first token, where only the last row has different tokens",
    ),
    ("added", "alone", (ROWS,), "with attention that has positions, on a batch of one row"),
    ("bag", "alone", (ROWS,), "with a bag, on a batch of one row"),
    ("bag", "dropout", (DROPOUT,), "with a bag in training mode, with dropout"),
    ("added", "dropout", (DROPOUT,), "with attention that has positions, in training mode, with dropout"),
]


def cases(generator: np.random.Generator) -> list[Case]:
    def row(length: int) -> list[int]:
        return [int(t) for t in generator.choice(np.arange(1, VOCABULARY), size=length, replace=False)]

    def draw(way: str, kind: str, about: tuple[Aspect, ...]) -> dict[str, Any]:
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
        size = 0.1 if way in WITHOUT_ORDER else 1.0
        vectors = torch.from_numpy(generator.uniform(0.5, 1.5, (VOCABULARY, classes)) * size).float()
        winner_may_change = (way, kind) == ("first place", "different")
        if way not in WITHOUT_ORDER and not winner_may_change:
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
        common = way not in WITHOUT_ORDER and not {EQUAL, SOME} & set(about)
        tells = telling(drawn, winner_may_change) and (not common or plain(drawn))
        return drawn if tells else draw(way, kind, about)

    return [_case(label, draw(way, kind, about), about) for way, kind, about, label in _TRIED]


def _case(label: str, drawn: dict[str, Any], about: tuple[Aspect, ...]) -> Case:
    """What is drawn, but for the patient's nature, which stays with the patient."""
    patient = {name: drawn.pop(name) for name in ("way", "special", "rate")}
    tags: frozenset[str] = frozenset().union(*(aspect.tags for aspect in about))
    return Case(label, drawn, tags, partial(ordered, **patient))


TRIAL = Trial(
    module="transformer_course.positions",
    points=3,
    cases=cases,
    aspects=(
        BLIND,
        SEEING,
        SOME,
        ROUNDING,
        LITTLE,
        ROWS,
        EQUAL,
        DROPOUT,
        aspects.modes("mode as it was", 1.0, "A model in training mode is still in training mode afterwards."),
        aspects.untouched(
            "model and tokens untouched",
            meaning="After the call, the model's weights and the tokens are just as they were before.",
        ),
    ),
)
