"""`DecoderOnlyTransformer`: how it is tried."""

from __future__ import annotations

import numpy as np
import torch

from grader.authoring.aspects import also, refused, special
from grader.authoring.draw import normal
from grader.authoring.spec import Aspect, Case, Observation, Trial, tagged
from lessons import drawing
from lessons.drawing import Inputs
from lessons.lesson_11.drawing import classic_weights
from lessons.lesson_11.models import aspects_of, cases_of, probe_model, sizes_and_tokens, sizes_of, tokens_of

POSITIONS = 7

FULL = special("as many tokens as positions", meaning="A text of max_length tokens is read in full.")
REFUSED = refused("more tokens than positions")
NEW = Aspect(
    "starts with small numbers",
    ("new",),
    tags=tagged("new"),
    weight=1.5,
    meaning="A new model's logits are close to 0: no token is much more likely than another.",
)


def cases(generator: np.random.Generator) -> list[Case]:
    def model(b: int, n: int, heads: int, layers: int) -> Inputs:
        sizes = sizes_of(generator, heads, layers)
        vocab, d_model = sizes["vocab_size"], sizes["d_model"]
        weights = {
            "embedding.weight": normal(generator, vocab, d_model),
            "positions.embedding.weight": normal(generator, POSITIONS, d_model),
            **drawing.norm(generator, "final_norm", d_model),
        }
        for i in range(layers):
            weights |= classic_weights(generator, f"blocks.{i}", d_model, sizes["d_ff"])
        tokens = tokens_of(generator, vocab, b, n)
        return {"sizes": {**sizes, "max_length": POSITIONS}, "tokens": tokens, "weights": weights}

    b, n = (int(k) for k in generator.permutation([3, 5]))
    usual = cases_of(model, b, n)
    new = model(4, 6, 4, 2)
    new["sizes"] |= {"vocab_size": 40, "d_model": 48}
    long = model(b, POSITIONS, 4, 1)
    long["tokens"] = torch.cat([long["tokens"], long["tokens"][:, :1]], dim=1)
    return [
        *usual,
        Case.of("with as many tokens as positions", FULL, **model(b, POSITIONS, 4, 1)),
        Case.of("with more tokens than positions", REFUSED, **long),
        Case.of("when it is new", NEW, **new, new=True),
    ]


def canonical(observation: Observation, case: Case) -> Observation:
    """Of a model that should refuse, only that."""
    if case.tags & REFUSED.tags and "error" not in observation:
        return {"output": observation.get("output")}
    return observation


TRIAL = Trial(
    module="course.language_model.gpt",
    points=3,
    cases=cases,
    probe=probe_model,
    canonical=canonical,
    called={"new": "the logits of a new model"},
    shown=sizes_and_tokens,
    aspects=aspects_of(
        also(
            "max_length kept",
            "positions",
            weight=0.5,
            meaning="The attribute max_length is the number of positions.",
        ),
        FULL,
        REFUSED,
        NEW,
    ),
)
