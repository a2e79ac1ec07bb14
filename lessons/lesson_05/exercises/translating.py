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
from lessons.lesson_04.exercises.models import Model
from lessons.lesson_04.exercises.translating import LAST_LOOKS, USUAL_LOOKS, looked_at, seen
from lessons.lesson_05.exercises import models as written
from lessons.lesson_05.exercises.models import masking, with_members


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
        Case("with padding and a mask (length, length)", joined("length", "length", num_layers=2), tagged("joined")),
        Case("with a mask for batch and heads", joined("batch", "heads", "length", "length"), tagged("joined")),
        Case("with norms that answer one thing", look("norms"), tagged("norms")),
        Case("with states handed to decode", look("decoding", padded=True), tagged("decoding")),
        Case("with rows of every length", look("sizes"), tagged("sizes")),
    ]


CAUSAL_SEQ2SEQ_TRANSFORMER = Exercise(
    symbol="CausalSeq2SeqTransformer",
    points=3,
    cases=_cases,
    references=(CausalSeq2SeqTransformer,),
    aspects=(
        seen("the future is hidden", "closed", "the_future_in_forward", "the_past", weight=6.0, core=True),
        seen("in decode too", "closed", "the_future_in_decode", "a_row_written_token_by_token", weight=6.0),
        seen("a mask handed in opens nothing", "closed", "the_future_under_a_mask_that_allows_all", weight=3.0),
        seen("its own mask hides the target's padding", "joined", "its_own_mask", "the_logits", weight=4.0),
        seen(
            "a mask handed in is joined to its own",
            "joined",
            "the_joined_mask",
            "a_mask_handed_in",
            "a_mask_handed_to_decode",
            weight=4.0,
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
        ),
        Mistake(
            "forward_alone",
            with_members(forward=written.in_forward_alone),
            "forward hides the future, but decode by itself does not, and a generator calls decode. Which of the two "
            "should make the mask?",
        ),
        Mistake(
            "handed_in_mask_replaces_its_own",
            masking(lambda target, source, mask: decoder_mask(target) if mask is None else mask),
            "When a mask is handed in, your own one is forgotten, and the future is open again. What does it mean to "
            "join two masks?",
        ),
        Mistake(
            "handed_in_mask_ignored",
            masking(lambda target, source, mask: decoder_mask(target)),
            "A mask that is handed in changes nothing. What should a position see when two masks speak about it?",
        ),
        Mistake(
            "either_is_enough",
            masking(lambda target, source, mask: decoder_mask(target) if mask is None else decoder_mask(target) | mask),
            "A position is seen when one of the two masks allows it, so a mask that is handed in opens the future. "
            "Must one of them allow it, or both?",
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
        ),
        Mistake(
            "inverted",
            masking(lambda target, source, mask: ~written.joined(target, source, mask)),
            "Your mask is turned round: the decoder sees the future and nothing else. What does True stand for?",
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
            "Your decoder sees the future and not the past. Which side of the diagonal stays?",
        ),
        Mistake(
            "own_position_hidden",
            masking(lambda target, source, mask: decoder_mask(target).tril(-1) & (True if mask is None else mask)),
            "No position looks at its own token. Does the diagonal belong to the past or to the future?",
        ),
        Mistake(
            "first_block_only",
            written.FirstBlockOnly,
            "The first block is masked, the later ones look around it. Which blocks need the mask?",
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
            "The mask is made of the first row of the batch, so every row hides the first one's padding. Whose "
            "padding should a row hide?",
        ),
        Mistake(
            "nothing_returned",
            with_members(decode=lambda *_, **__: None),
            "decode makes its mask and returns nothing. What does it call, and what comes back from there?",
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
