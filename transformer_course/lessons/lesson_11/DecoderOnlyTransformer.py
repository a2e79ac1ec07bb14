"""`DecoderOnlyTransformer`: how it is tried."""

from dataclasses import replace

import numpy as np
import torch

from cellcheck.authoring import Aspect, Case, Trial, aspects
from cellcheck.authoring.draw import normal
from cellcheck.authoring.spec import tagged
from transformer_course.lessons import drawing
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_11 import models
from transformer_course.lessons.lesson_11.drawing import classic_weights
from transformer_course.lessons.wordings import usually_in_words

POSITIONS = 7

FULL = aspects.special("as many tokens as positions", meaning="A text of max_length tokens is read in full.")
REFUSED = aspects.special(
    "more tokens than positions",
    weight=3.0,
    meaning="A text longer than max_length is refused with a ValueError that the model raises itself.",
)
AGAIN = aspects.special(
    "a longer text afterwards", meaning="A model that has read a short text then gets a longer one right."
)
NEW = Aspect(
    "starts with small numbers",
    ("new", "embedding_begins", "positions_begins", "norm_begins"),
    tags=tagged("new"),
    weight=8.0,
    meaning="Both tables of a new model are normal random numbers with a standard deviation of 0.02, and the final "
    "norm begins as a norm does.",
)


@usually_in_words
def cases(generator: np.random.Generator) -> list[Case]:
    def model(b: int, n: int, heads: int, layers: int) -> Inputs:
        sizes = models.sizes_of(generator, heads, layers)
        vocab, d_model = sizes["vocab_size"], sizes["d_model"]
        weights = {
            "embedding.weight": normal(generator, vocab, d_model),
            "positions.embedding.weight": normal(generator, POSITIONS, d_model),
            **drawing.norm(generator, "final_norm", d_model),
        }
        for i in range(layers):
            weights |= classic_weights(generator, f"blocks.{i}", d_model, sizes["d_ff"])
        tokens = models.tokens_of(generator, vocab, b, n)
        return {"sizes": {**sizes, "max_length": POSITIONS}, "tokens": tokens, "weights": weights}

    b, n = (int(k) for k in generator.permutation([3, 5]))
    trained, evaluated, *others = models.cases_of(model, b, n)
    usual = [
        replace(trained, inputs={**trained.inputs, "evaluated": False}),
        replace(evaluated, label=f"{evaluated.label}, in eval mode", inputs={**evaluated.inputs, "evaluated": True}),
        *others,
    ]
    new = model(4, 6, 4, 2)
    new["sizes"] |= {"vocab_size": 40, "d_model": 48}
    again = model(b, POSITIONS - 1, 4, 2)
    again["before"] = models.tokens_of(generator, again["sizes"]["vocab_size"], 2, 1)
    long = {**model(b, POSITIONS, 4, 1), "too_long": True}
    long["tokens"] = torch.cat([long["tokens"], long["tokens"][:, :1]], dim=1)
    return [
        *usual,
        Case.of(
            "with as many tokens as positions, in more rows than that", FULL, **model(POSITIONS + 1, POSITIONS, 4, 1)
        ),
        Case.of("with more tokens than positions", REFUSED, **long),
        Case.of("after a text of one token", AGAIN, **again),
        Case.of("when it is new", NEW, **new, new=True),
    ]


TRIAL = Trial(
    module="transformer_course.language_model.gpt",
    points=3,
    cases=cases,
    probe=models.probe_model,
    called={
        "stages": "what the blocks and the norm get",
        "size": "how many numbers your model learns",
        "new": "the logits of a new model",
        "embedding_begins": "the embedding's table in a new model",
        "positions_begins": "the table of positions in a new model",
        "norm_begins": "the final norm of a new model",
    },
    shown=models.sizes_and_tokens,
    aspects=models.aspects_of(
        aspects.also(
            "max_length kept", "positions", weight=2.0, meaning="The attribute max_length is the number of positions."
        ),
        FULL,
        REFUSED,
        AGAIN,
        NEW,
        gradients=9.0,
    ),
)
