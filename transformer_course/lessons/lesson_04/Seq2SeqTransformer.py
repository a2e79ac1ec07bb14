"""`Seq2SeqTransformer`: how it is tried. The probe looks at properties and says them in words."""

from dataclasses import replace
from typing import Any

import numpy as np

from cellcheck.authoring import Case, Trial, aspects
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_04.looks import ESSENTIALS, LAST_LOOKS, USUAL_LOOKS, looked_at, lower, seen

WEIGHTS = {"encoder_norm": 4.0, "decoder_norm": 4.0, "a Linear layer to the logits": 3.0}


def cases(generator: np.random.Generator) -> list[Case]:
    def look(name: str, **others: Any) -> Inputs:
        return looked_at(generator, name, **others)

    return [
        Case.of("with two blocks", "usual", **look("usual", num_layers=2, padded=True)),
        Case.of(
            "with padding in the source and a target mask",
            "padding",
            **lower(look("padding", num_layers=2, padded=True, square=True)),
        ),
        Case.of("with other sources", "reading", **look("reading")),
        Case.of("with other targets", "writing", **look("writing")),
        Case.of("with two blocks and a target mask", "masking", **look("masking", num_layers=2)),
        Case.of("with one block, and a target as long as the source", "masking", **look("masking", square=True)),
        Case.of("with norms that always return the same", "norms", **look("norms")),
        Case.of("with encoder states passed to decode", "decoding", **look("decoding", padded=True)),
        Case.of("with rows from the shortest to the longest", "sizes", **look("sizes")),
    ]


TRIAL = Trial(
    module="transformer_course.seq2seq",
    points=4,
    cases=cases,
    aspects=(
        ESSENTIALS,
        *USUAL_LOOKS,
        seen(
            "target tokens see each other",
            "writing",
            "a_target_token",
            "target_padding_without_a_mask",
            weight=2.0,
            meaning="Without a mask, every target position sees the first and the last target token.",
        ),
        seen(
            "the target has an order",
            "writing",
            "the_target's_order",
            weight=2.0,
            meaning="When two target tokens swap places, the decoder notices.",
        ),
        seen(
            "target_mask",
            "masking",
            "what_the_mask_hides",
            "what_the_mask_allows",
            "a_mask_for_batch_and_heads",
            "the_mask_in_decode",
            weight=4.0,
            meaning="target_mask decides what each target position sees, in forward and in decode.",
        ),
        *(replace(look, weight=WEIGHTS.get(look.name, look.weight)) for look in LAST_LOOKS),
        aspects.untouched(),
    ),
)
