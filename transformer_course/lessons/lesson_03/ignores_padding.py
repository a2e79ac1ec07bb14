"""`ignores_padding`, the bug clinic: how it is tried. Does a model read its padding? The models are `patients`."""

from functools import partial

import numpy as np
import torch

from cellcheck.authoring import draw
from cellcheck.authoring.aspects import main, modes, special, untouched
from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.aspects import explained
from transformer_course.lessons.lesson_03.patients import reader

# (model, rows of tokens, tags, words for the learner)
TRIED = [
    ("attention", "some", "sound leak", "with a sound model: masked attention, then a masked mean"),
    ("bag", "some", "sound leak", "with a sound model that has no attention, only a masked mean"),
    ("attention", "none", "sound leak", "with a sound model, on rows without any padding"),
    ("attention", "one", "sound leak", "with a sound model, on a batch of one"),
    ("positions", "some", "places", "with a sound model that has learned positions"),
    ("dropout", "some", "dropout", "with a sound model that has dropout and is in training mode"),
    ("rounding", "some", "rounding", "with a sound model whose last digits change with the length"),
    ("mean over all", "some", "broken leak", "with a model whose mean counts the padding"),
    ("no mask", "some", "broken leak", "with a model whose attention looks at the padding"),
    ("inverted", "some", "broken leak", "with a model whose mask is inverted"),
    ("another id", "some", "broken leak", "with a model whose mask hides another id"),
    ("last position", "some", "broken leak", "with a model that reads the last position, even if that is padding"),
    ("no mask", "one", "broken leak", "with a model whose attention looks at the padding, on a batch of one"),
    ("first row's mask", "some", "rows", "with a model that uses the first row's mask for every row"),
    ("last row open", "some", "rows", "with a model that hides the padding in every row but the last"),
    ("one logit", "some", "mild", "with a model in which padding moves only one of the logits"),
    ("small leak", "some", "mild", "with a model in which padding has a very small weight"),
    ("divided by the length", "some", "amount leak", "with a model that divides by the whole length, padding included"),
    ("any padding", "some", "taken leak", "with a model that adds 1 to its logits whenever a row has any padding"),
    ("mean over all", "some", "bare", "with a model without an embedding, whose mean counts the padding"),
    ("attention", "some", "bare", "with a sound model without an embedding"),
    ("places", "some", "amount leak", "with a model in which padding has no content, but still a position"),
    ("mean over all", "none", "none leak", "with a model whose mean would count padding, on rows that have none"),
    ("no mask", "none", "none leak", "with a model whose attention would look at padding, on rows that have none"),
    ("second column", "second", "second", "with a model that hides only the first column of padding"),
    ("zero row", "some", "content leak", "with a model that is sound only as long as the vector of id 0 is all zeros"),
    ("two logits", "some", "mild", "with a model in which padding moves one logit up and another as far down"),
]


def cases(generator: np.random.Generator) -> list[Case]:
    def rows(kind: str) -> torch.Tensor:
        """Ids from 1 to 9, padded on the right. No two rows have as much padding; the first has the least."""
        length = int(generator.integers(6, 8))
        amounts = {
            "some": [1, 3, 2],
            "none": [0, 0],
            "one": [int(generator.integers(2, 4))],
            "second": [1, 0, 1],
        }[kind]
        tokens = draw.integers(generator, 1, 10, len(amounts), length)
        for row, amount in zip(tokens, amounts, strict=True):
            row[length - amount :] = 0
        return tokens

    def tables(zeros: bool) -> dict[str, torch.Tensor]:
        drawn = {
            "embedding": draw.normal(generator, 10, 6),
            "positions": draw.normal(generator, 64, 6),
            "head": 3 * draw.normal(generator, 3, 6),
        }
        if zeros:
            drawn["embedding"][0] = 0.0
        return drawn

    return [
        Case(
            label,
            # Neither the mode nor a row of zeros tells a sound model from a broken one.
            {
                "tokens": rows(kind),
                **tables(model == "zero row" or (model, kind) == ("attention", "some")),
                "training": model in ("dropout", "bag", "mean over all"),
                "bare": tags == "bare",
            },
            frozenset(tags.split()),
            partial(reader, model),
        )
        for model, kind, tags, label in TRIED
    ]


MEANINGS = {
    "amount and content count, and nothing else": "Leaks are found, of the amount of padding and of its content, and "
    "sound models pass.",
    "every row counts": "A leak is found even if the model hides the padding in some of the rows.",
    "small leaks too": "A leak is found even if it is very small, or moves only one of the logits.",
    "leaks of the amount": "A leak is found if the logits depend on how much padding there is.",
    "padding taken away": "A leak is found even if only having any padding matters, and not how much.",
    "models without an embedding": "A model with no embedding attribute is judged too.",
    "rows without padding": "A leak is found even if the rows that are passed in have no padding.",
    "a leak after the first column": "A leak is found even if the model hides the first column of padding.",
    "leaks of the content alone": "A leak is found even if it goes away when the vector of id 0 is all zeros.",
    "dropout is no leak": "A sound model with dropout passes, even when it is in training mode.",
    "rounding is no leak": "A sound model passes even if the last digits of its logits depend on the length.",
}


TRIAL = Trial(
    module="transformer_course.classifier",
    points=3,
    cases=cases,
    aspects=explained(
        (
            main("sound models pass", 3.0, meaning="A model whose logits don't depend on padding passes.", tag="sound"),
            main("leaks are found", 3.0, meaning="A model whose logits depend on padding is found out.", tag="broken"),
            special("amount and content count, and nothing else", "leak", 27.0),
            special("every row counts", "rows", 3.0),
            special("small leaks too", "mild", 3.0),
            special("leaks of the amount", "amount"),
            special("padding taken away", "taken"),
            special("models without an embedding", "bare", 5.0),
            special("rows without padding", "none"),
            special("a leak after the first column", "second", 0.5),
            special("leaks of the content alone", "content"),
            special("dropout is no leak", "dropout"),
            special("rounding is no leak", "rounding"),
            special("positions are no leak", "places", meaning="A sound model with learned positions passes."),
            modes("train and eval mode restored", 1.0),
            untouched("the model is left as it was"),
        ),
        MEANINGS,
    ),
)
