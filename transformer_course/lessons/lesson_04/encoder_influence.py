"""`encoder_influence`, the bug clinic: a test for a decoder that never listens. The models stand in `patients`."""

from functools import partial

import numpy as np
import torch

from cellcheck.authoring.aspects import main, modes, special, untouched
from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.lesson_04.clinics import AMOUNT, MODES, Draw, in_words, tried

_main = partial(main, keys=("influence",))
_special = partial(special, keys=("influence",))

DEAF = _main("deaf models get 0", 20.0, meaning="A model that never looks at the source gets 0.", tag="deaf")
LISTENS = _main("listening is found", 3.0, meaning="A model that looks at the source gets more than 0.", tag="listens")
FAR = special("how far", "", 24.0, "The number is the largest difference of a logit, up or down.", (AMOUNT,))
BAG = _special(
    "a source without order",
    weight=12.0,
    meaning="A model that reads the source as a bag, without its order, gets more than 0.",
)
ONE_ROW = _special("a batch of one", weight=10.0, meaning="Influence is found in a batch of one too.")
FIRST = _special("the first token", meaning="Influence is found even if only the first source token has any.")
LAST = _special("the last token", meaning="Influence is found even if only the last source token has any.")
WITHIN = _special(
    "one place of several",
    weight=3.0,
    meaning="Influence is found even if it reaches a single target position, or a single row.",
)
TOKEN = _special(
    "whatever the token is", weight=8.0, meaning="Influence is found whatever the id of the token that matters."
)
SIGN = _special("up or down", meaning="A logit that falls counts as much as one that rises.")
FAINT = _special("small moves", meaning="Influence is found even if it moves a logit only a little.")
IDS = _special(
    "ids that exist",
    weight=3.0,
    meaning="Only ids that exist are passed to the model, and no source that is nothing but padding.",
)
MODULE = _special(
    "models with parameters", meaning="An nn.Module gets the right number too, in training mode and in eval mode."
)


def cases(generator: np.random.Generator) -> list[Case]:
    draw = Draw(generator, "source")
    one = "one source token"
    return [
        tried("with a deaf model that reads only the target token at each position", draw("own token"), DEAF),
        tried("with a deaf model that reads earlier target tokens", draw("past"), DEAF),
        tried("with a deaf model whose logits are large, in float64", draw("large", dtype=torch.float64), DEAF),
        tried("with a deaf model that always says the same", draw("always the same"), DEAF),
        *(tried(f"with a deaf nn.Module, in {mode} mode", draw("own token", mode=mode), MODULE) for mode in MODES),
        tried("with a model that reads the whole source", draw("source in order"), LISTENS),
        tried("with a model that reads only the source", draw("source alone"), LISTENS),
        tried("with a model that reads a padded source", draw("source in order", padded=True), LISTENS),
        tried("with a model that reads its source as a bag, without order", draw("bag of the source"), BAG),
        *(
            tried(
                f"with an nn.Module that reads the source, in {mode} mode", draw("source in order", mode=mode), MODULE
            )
            for mode in MODES
        ),
        tried("with a model that reads the source, on a batch of one", draw("source in order", batch=1), ONE_ROW),
        tried("with a model in which one source token moves one logit, on a batch of one", draw(one, batch=1), ONE_ROW),
        tried("with a model in which only the first source token matters", draw(one, place=0), FIRST),
        tried("with a model in which only the last source token matters", draw(one, place=-1, row=0), LAST),
        tried("with a model in which only a logit at the first target position moves", draw(one, at=0), WITHIN),
        tried(
            "with a model in which only a logit at the last target position moves",
            draw(f"{one}, downwards", at=-1),
            WITHIN,
        ),
        tried("with a model in which only the last row matters", draw(one, row=-1), WITHIN),
        tried("with a model in which a higher source id raises one logit", draw(one), SIGN),
        tried("with a model in which a higher source id lowers one logit", draw(f"{one}, downwards"), SIGN),
        tried("with a model in which one logit rises as another falls", draw(f"{one}, up and down"), SIGN),
        tried("with a model in which one logit moves only a little", draw(f"{one}, faintly"), FAINT),
        tried(
            "where another source token moves one logit by 0.75 and another by -1.25",
            draw("a source token, by a known number"),
            FAR,
        ),
        tried(
            "where another source token moves one logit by 0.25 and another by 0.5",
            draw("a source token, by another known number", batch=1),
            FAR,
        ),
        tried("with a model in which one source token matters, and its id is 1", draw(one, token=1), TOKEN),
        tried("with a model in which one source token matters, and its id is 2", draw(one, token=2, row=0), TOKEN),
        tried(
            "with a model that can't read a source of nothing but padding", draw("a source that is never empty"), IDS
        ),
        tried("with a source that holds the last id of the vocabulary", draw("source in order", last_id=True), IDS),
    ]


TRIAL = Trial(
    module="transformer_course.seq2seq",
    points=3,
    cases=cases,
    canonical=in_words("influence"),
    aspects=(
        DEAF,
        LISTENS,
        FAR,
        BAG,
        ONE_ROW,
        FIRST,
        LAST,
        WITHIN,
        TOKEN,
        SIGN,
        FAINT,
        IDS,
        MODULE,
        modes(),
        untouched(),
    ),
)
