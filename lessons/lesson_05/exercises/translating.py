"""`CausalSeq2SeqTransformer`: cases, mistakes and variants. The probe looks at properties and says them in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course.attention import padding_mask
from course.causal import CausalSeq2SeqTransformer, causal_mask, decoder_mask
from course.seq2seq import Seq2SeqTransformer
from grader.authoring.aspects import untouched
from grader.authoring.spec import Case, Exercise, Mistake, tagged
from lessons import drawing
from lessons.drawing import Inputs
from lessons.lesson_04.looks import LAST_LOOKS, USUAL_LOOKS, looked_at, seen
from lessons.lesson_05.exercises import models as written
from lessons.lesson_05.exercises.models import Model, masking, with_members


def _cases(generator: np.random.Generator) -> list[Case]:
    def look(name: str, **others: Any) -> Inputs:
        return looked_at(generator, name, **others)

    def joined(*sizes: str, num_layers: int = 1) -> Inputs:
        inputs = look("joined", num_layers=num_layers)
        target = inputs["target_input"]
        target[0, 1], target[1, 0] = 0, 0  # padding between tokens, and in front
        known = {"batch": target.shape[0], "heads": inputs["sizes"]["num_heads"], "length": target.shape[1], "1": 1}
        return {**inputs, "target_mask": drawing.mask(generator, *(known[size] for size in sizes))}

    return [
        Case("with one block", look("usual", padded=True), tagged("usual")),
        Case("with padding in the source", look("padding", padded=True), tagged("padding")),
        Case("with other sources", look("reading"), tagged("reading")),
        Case("with two blocks and other targets", look("closed", num_layers=2), tagged("closed")),
        Case("with a target as long as the source", look("closed", square=True), tagged("closed")),
        Case(
            "with padding, and a mask (length, length) passed in",
            joined("length", "length", num_layers=2),
            tagged("joined"),
        ),
        Case(
            "with a mask for batch and heads passed in", joined("batch", "heads", "length", "length"), tagged("joined")
        ),
        Case("with norms that always return the same", look("norms"), tagged("norms")),
        Case("when decode is called on its own", look("decoding", padded=True), tagged("decoding")),
        Case("with rows of every length", look("sizes"), tagged("sizes")),
    ]


CAUSAL_SEQ2SEQ_TRANSFORMER = Exercise(
    symbol="CausalSeq2SeqTransformer",
    points=3,
    cases=_cases,
    references=(CausalSeq2SeqTransformer,),
    aspects=(
        seen(
            "the future is hidden",
            "closed",
            "the_future_in_forward",
            "the_past",
            weight=9.0,
            core=True,
            meaning="No position sees the target tokens after it, and every position sees those before it.",
        ),
        seen(
            "in decode too",
            "closed",
            "the_future_in_decode",
            "a_row_written_token_by_token",
            weight=21.0,
            meaning="decode hides the future as well, so an answer can be written token by token.",
        ),
        seen(
            "a mask that is passed in opens nothing",
            "closed",
            "the_future_under_a_mask_that_allows_all",
            weight=9.0,
            meaning="The future stays hidden even under a mask that allows everything.",
        ),
        seen(
            "the target's padding is hidden",
            "joined",
            "its_own_mask",
            "the_logits",
            weight=4.0,
            meaning="No position sees the target's padding, and the logits are finite.",
        ),
        seen(
            "a mask that is passed in counts as well",
            "joined",
            "the_joined_mask",
            "a_mask_handed_in",
            "a_mask_handed_to_decode",
            weight=4.0,
            meaning="What a mask that is passed in forbids is hidden too, in forward and in decode.",
        ),
        *USUAL_LOOKS,
        *LAST_LOOKS,
        untouched(),
    ),
    mistakes=(
        Mistake(
            "nothing_masked",
            with_members(),
            "This is the model of lesson 4: its decoder still sees the future. Where does decoder_mask come in?",
            central=True,
        ),
        Mistake(
            "forward_alone",
            with_members(forward=written.in_forward_alone),
            "forward hides the future, but decode on its own does not, and code that writes token by token calls "
            "decode. Which of the two should make the mask?",
            central=True,
        ),
        Mistake(
            "handed_in_mask_replaces_its_own",
            masking(lambda target, source, mask: decoder_mask(target) if mask is None else mask),
            "When a mask is passed in, yours is forgotten, and the future is open again. How do you combine two masks?",
        ),
        Mistake(
            "handed_in_mask_ignored",
            masking(lambda target, source, mask: decoder_mask(target)),
            "A mask that is passed in changes nothing. What may a position see when there are two masks?",
        ),
        Mistake(
            "either_is_enough",
            masking(lambda target, source, mask: decoder_mask(target) if mask is None else decoder_mask(target) | mask),
            "A position is seen if either mask allows it, so a mask that is passed in can open the future. Should "
            "one of them allow it, or both?",
        ),
        Mistake(
            "causal_alone",
            masking(
                lambda target, source, mask: (
                    causal_mask(target.shape[1]) if mask is None else causal_mask(target.shape[1]) & mask
                )
            ),
            "The future is hidden, the target's padding is not. Which of this lesson's masks hides both?",
        ),
        Mistake(
            "padding_alone",
            masking(lambda target, source, mask: padding_mask(target) if mask is None else padding_mask(target) & mask),
            "The target's padding is hidden, the future is not. Which of this lesson's masks hides both?",
            central=True,
        ),
        Mistake(
            "inverted",
            masking(lambda target, source, mask: ~written.joined(target, source, mask)),
            "Your mask is the wrong way round: the decoder sees the future and nothing else. What does True mean?",
            central=True,
        ),
        Mistake(
            "future_kept",
            masking(
                lambda target, source, mask: (
                    written.joined(target, source, mask)
                    if target.shape[1] == 1
                    else padding_mask(target) & causal_mask(target.shape[1]).mT & (True if mask is None else mask)
                )
            ),
            "Your decoder sees the future and not the past. Which side of the diagonal do you keep?",
        ),
        Mistake(
            "own_position_hidden",
            masking(lambda target, source, mask: decoder_mask(target).tril(-1) & (True if mask is None else mask)),
            "No position attends to its own token. Does the diagonal belong to the past or to the future?",
        ),
        Mistake(
            "first_block_only",
            written.FirstBlockOnly,
            "The first block is masked, the later ones see everything. Which blocks need the mask?",
        ),
        Mistake(
            "encoder_masked_too",
            type("CausalSeq2SeqTransformer", (CausalSeq2SeqTransformer,), {"encode": written.encoder_masked}),
            "Your encoder may not look ahead either, although the whole source is there from the start. Which side "
            "writes, and which one reads?",
        ),
        Mistake(
            "first_row_of_the_batch",
            masking(lambda target, source, mask: written.joined(target[:1], source, mask)),
            "You make the mask from the first row of the batch, so every row hides that row's padding. Whose padding "
            "should a row hide?",
        ),
        Mistake(
            "mask_of_the_source",
            masking(lambda target, source, mask: decoder_mask(source) if mask is None else decoder_mask(source) & mask),
            "You make the mask from the source, so it has the source's length. Whose future needs hiding?",
        ),
        Mistake(
            "nothing_returned",
            with_members(decode=lambda *_, **__: None),
            "decode makes its mask and returns nothing. Is there a `return` in front of super().decode(...)?",
        ),
    ),
    variants={
        "joined with &": masking(written.joined),
        "joined by hand": masking(written.by_hand),
        "a forward of its own": type(
            "CausalSeq2SeqTransformer", (CausalSeq2SeqTransformer,), {"forward": written.in_decode_too}
        ),
        "from scratch": written.FromScratch,
        "a model inside": written.Inside,
        "over another right model": masking(written.joined, Model),
        "masked in forward as well": type(
            "CausalSeq2SeqTransformer", (CausalSeq2SeqTransformer,), {"forward": written.in_forward_alone}
        ),
        "a mask of floats turned back": masking(
            lambda target, source, mask: (
                decoder_mask(target).float() * (torch.ones(1) if mask is None else mask.float())
            ).bool(),
            Seq2SeqTransformer,
        ),
    },
)
