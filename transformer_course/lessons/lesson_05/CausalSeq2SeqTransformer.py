"""`CausalSeq2SeqTransformer`: how it is tried. The probe looks at properties and says them in words."""

from typing import Any

import numpy as np

from cellcheck.authoring import Case, Trial, aspects
from transformer_course.lessons import drawing
from transformer_course.lessons.aspects import explained
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_04.looks import LAST_LOOKS, USUAL_LOOKS, looked_at, seen


def cases(generator: np.random.Generator) -> list[Case]:
    def look(name: str, **others: Any) -> Inputs:
        return looked_at(generator, name, **others)

    def joined(*sizes: str, num_layers: int = 1) -> Inputs:
        inputs = look("joined", num_layers=num_layers)
        target = inputs["target_input"]
        target[0, 1], target[1, 0] = 0, 0  # padding between tokens, and in front
        known = {"batch": target.shape[0], "heads": inputs["sizes"]["num_heads"], "length": target.shape[1], "1": 1}
        return {**inputs, "target_mask": drawing.mask(generator, *(known[size] for size in sizes))}

    return [
        Case.of("with one block", **look("usual", padded=True)),
        Case.of("with padding in the source", "padding", **look("padding", padded=True)),
        Case.of("with other sources", "reading", **look("reading")),
        Case.of("with two blocks and other targets", "closed", **look("closed", num_layers=2)),
        Case.of("with a target as long as the source", "closed", **look("closed", square=True)),
        Case.of(
            "with padding, and a mask (length, length) passed in", "joined", **joined("length", "length", num_layers=2)
        ),
        Case.of("with a mask for batch and heads passed in", "joined", **joined("batch", "heads", "length", "length")),
        Case.of("with norms that always return the same", "norms", **look("norms")),
        Case.of("when decode is called on its own", "decoding", **look("decoding", padded=True)),
        Case.of("with rows of every length", "sizes", **look("sizes")),
    ]


MEANINGS = {
    "the future is hidden": "No position sees the target tokens after it, and every position sees those before it.",
    "in decode too": "decode hides the future as well, so an answer can be written token by token.",
    "a mask that is passed in opens nothing": "The future stays hidden even under a mask that allows everything.",
    "the target's padding is hidden": "No position sees the target's padding, and the logits are finite.",
    "a mask that is passed in counts as well": "What a mask that is passed in forbids is hidden too, in forward and "
    "in decode.",
}


TRIAL = Trial(
    module="transformer_course.causal",
    points=3,
    cases=cases,
    aspects=explained(
        (
            seen("the future is hidden", "closed", "the_future_in_forward", "the_past", weight=9.0, core=True),
            seen("in decode too", "closed", "the_future_in_decode", "a_row_written_token_by_token", weight=36.0),
            seen(
                "a mask that is passed in opens nothing",
                "closed",
                "the_future_under_a_mask_that_allows_all",
                weight=9.0,
            ),
            seen(
                "the target's padding is hidden",
                "joined",
                "its_own_mask",
                "its_mask_for_another_target",
                "the_logits",
                weight=20.0,
            ),
            seen(
                "a mask that is passed in counts as well",
                "joined",
                "the_joined_mask",
                "a_mask_handed_in",
                "a_mask_handed_to_decode",
                weight=20.0,
            ),
            *USUAL_LOOKS,
            *LAST_LOOKS,
            aspects.untouched(),
        ),
        MEANINGS,
    ),
)
