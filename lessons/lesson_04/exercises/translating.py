"""`Seq2SeqTransformer`: cases, mistakes and variants. The probe looks at properties and says them in words."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from torch import nn

from course.attention import padding_mask
from course.blocks import LayerNorm
from course.seq2seq import Seq2SeqTransformer
from grader.authoring.aspects import untouched
from grader.authoring.spec import Case, Exercise, Mistake, tagged
from lessons.drawing import Inputs
from lessons.lesson_04.exercises import models as written
from lessons.lesson_04.exercises.looks import ESSENTIALS, LAST_LOOKS, USUAL_LOOKS, looked_at, lower, seen
from lessons.lesson_04.exercises.models import Model, model


def _cases(generator: np.random.Generator) -> list[Case]:
    def look(name: str, **others: Any) -> Inputs:
        return looked_at(generator, name, **others)

    return [
        Case("with two blocks", look("usual", num_layers=2, padded=True), tagged("usual")),
        Case(
            "with padding in the source and a target mask",
            lower(look("padding", num_layers=2, padded=True, square=True)),
            tagged("padding"),
        ),
        Case("with other sources", look("reading"), tagged("reading")),
        Case("with other targets", look("writing"), tagged("writing")),
        Case("with two blocks and a target mask", look("masking", num_layers=2), tagged("masking")),
        Case("with one block, and a target as long as the source", look("masking", square=True), tagged("masking")),
        Case("with norms that always return the same", look("norms"), tagged("norms")),
        Case("with encoder states passed to decode", look("decoding", padded=True), tagged("decoding")),
        Case("with rows from the shortest to the longest", look("sizes"), tagged("sizes")),
    ]


def _relu(self: Any, x: Any) -> Any:
    return Model.finish(self, x).relu()


SEQ2SEQ_TRANSFORMER = Exercise(
    symbol="Seq2SeqTransformer",
    points=4,
    cases=_cases,
    references=(Seq2SeqTransformer,),
    aspects=(
        ESSENTIALS,
        *USUAL_LOOKS,
        seen(
            "target tokens see each other",
            "writing",
            "a_target_token",
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
        *(replace(look, weight=3.0) if look.name == "a Linear layer to the logits" else look for look in LAST_LOOKS),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "deaf_decoder",
            model(step=lambda self, i, layer, x, states, target_mask, mask: layer(x, x, target_mask, None)),
            "Your decoder blocks get x twice, so nothing from the source ever reaches the logits. What are the "
            "encoder's states for?",
            central=True,
        ),
        Mistake(
            "embeddings_instead_of_states",
            model(forward=written.embeddings_for_states),
            "Your forward hands the embeddings of the source to the decoder, so the encoder's blocks work for "
            "nothing. Which states belong there?",
        ),
        Mistake(
            "encoder_sees_padding",
            model(source_mask=lambda self, source: None),
            "The encoder's blocks look at the padding. Which mask do they need?",
        ),
        Mistake(
            "cross_attention_sees_padding",
            model(cross_mask=lambda self, source: None),
            "The encoder doesn't look at the padding, but the decoder does: its cross-attention looks at the source "
            "too. Which mask do the decoder's blocks need?",
        ),
        Mistake(
            "padding_never_hidden",
            model(source_mask=lambda self, source: None, cross_mask=lambda self, source: None),
            "Padding in the source moves your logits. Which two attentions look at the source?",
            central=True,
        ),
        Mistake(
            "padding_mask_inverted",
            model(
                source_mask=lambda self, source: ~padding_mask(source),
                cross_mask=lambda self, source: ~padding_mask(source),
            ),
            "Your masks show the padding and hide the tokens. What does True stand for?",
        ),
        Mistake(
            "another_id_hidden",
            model(
                source_mask=lambda self, source: padding_mask(source, pad_id=1),
                cross_mask=lambda self, source: padding_mask(source, pad_id=1),
            ),
            "Your masks hide id 1. Which id is padding in this course?",
        ),
        Mistake(
            "target_mask_dropped",
            model(step=lambda self, i, layer, x, states, target_mask, mask: layer(x, states, None, mask)),
            "A target mask that is passed in changes nothing. Which argument of the decoder's blocks is it for?",
            central=True,
        ),
        Mistake(
            "target_mask_for_the_first_block",
            model(step=written.first_only),
            "Only the first block of the decoder gets the target mask, and the others look around it. Does your loop "
            "pass it to each block?",
        ),
        Mistake(
            "target_mask_not_handed_on",
            model(
                forward=lambda self, source, target_input, target_mask=None: self.decode(
                    target_input, self.encode(source), source
                )
            ),
            "decode applies a target mask, but forward doesn't pass it on. Where does it get lost?",
        ),
        Mistake(
            "masks_swapped",
            model(step=lambda self, i, layer, x, states, target_mask, mask: layer(x, states, mask, target_mask)),
            "The decoder's blocks get the source's mask where the target's belongs. In which order do they take the "
            "two?",
        ),
        Mistake(
            "causal_anyway",
            model(decode=written.causal_anyway),
            "Your decoder hides the future without being told to. That is the next lesson's step: what does the "
            "docstring say about a model without a target mask?",
        ),
        Mistake(
            "no_positions_for_the_source",
            model(embed_source=lambda self, source: self.source_embedding(source)),
            "The encoder can't tell the order of its tokens. What did you add to the embeddings in lesson 3?",
        ),
        Mistake(
            "no_positions_for_the_target",
            model(embed_target=lambda self, target: self.target_embedding(target)),
            "The decoder can't tell the order of its tokens. What did you add to the embeddings in lesson 3?",
        ),
        Mistake(
            "positions_of_the_batch",
            model(embed_source=written.by_row),
            "Your positions count the rows of the batch instead of the places within a row. Along which axis do the "
            "tokens lie?",
        ),
        Mistake(
            "one_decoder_block",
            model(__init__=written.one_decoder_block),
            "Your decoder has one block, however many are asked for. On which sides does num_layers count?",
        ),
        Mistake(
            "one_block_repeated",
            written.OneBlockRepeated,
            "All your blocks are one and the same object, with one set of weights. What does multiplying a list "
            "copy: the blocks, or references to one of them?",
        ),
        Mistake(
            "plain_lists",
            written.PlainLists,
            "Your blocks are in plain Python lists, so model.parameters() doesn't find them. Which kind of list does "
            "PyTorch look into?",
        ),
        Mistake(
            "first_block_only",
            model(encode=written.first_layer_only),
            "You use only the first block of the encoder. Is the return inside the loop?",
        ),
        Mistake(
            "each_block_starts_anew",
            model(encode=written.from_the_start_each_time),
            "Each block of the encoder starts from the embeddings again, so only the last one counts. What should "
            "the second block be given?",
        ),
        Mistake(
            "last_decoder_block_only",
            model(decode=written.last_decoder_block_only),
            "Each block of the decoder starts from the embeddings again, so only the last one counts. What should "
            "the second block be given?",
            central=True,
        ),
        Mistake(
            "first_decoder_block_only",
            model(decode=written.first_decoder_block_only),
            "You use only the first block of the decoder. Is the return inside the loop?",
        ),
        Mistake(
            "encoder_norm_left_out",
            model(encode=written.not_normed),
            "The encoder's states aren't normalised after the last block. Which part do you never call?",
        ),
        Mistake(
            "encoder_norm_first",
            model(encode=written.normed_before_the_stack),
            "encoder_norm comes before the blocks. In the pre-norm layout, where does the one extra norm belong?",
        ),
        Mistake(
            "encoder_norm_after_each_block",
            model(encode=written.normed_after_each),
            "You call encoder_norm after each block. How many norms come after the stack?",
        ),
        Mistake(
            "decoder_norm_left_out",
            model(finish=lambda self, x: self.to_logits(x)),
            "The decoder's last states aren't normalised before they become logits. Which part do you never call?",
        ),
        Mistake(
            "one_norm_for_both",
            model(__init__=written.one_norm),
            "You use one norm for both stacks. Shouldn't two places learn two scales of their own?",
        ),
        Mistake(
            "states_normed_again",
            model(decode=written.normed_again),
            "decode normalises the states that it is given, although encode has done so. Who normalises them, and "
            "how often?",
        ),
        Mistake(
            "encoded_again",
            model(decode=written.encoded_again),
            "decode ignores the states that it is given and encodes the source again. A generator calls decode once "
            "per token: what did the encoder work for?",
        ),
        Mistake(
            "probabilities_returned",
            model(finish=lambda self, x: Model.finish(self, x).softmax(-1)),
            "You return probabilities. The loss takes its own softmax: what does it expect as its input?",
            central=True,
        ),
        Mistake(
            "relu_on_the_logits",
            model(finish=_relu),
            "Your logits are never negative: there is a ReLU after the last layer. Does a score have to be positive?",
        ),
        Mistake(
            "states_returned",
            model(finish=lambda self, x: self.decoder_norm(x)),
            "You return the decoder's states. Which layer turns each of them into one number per symbol?",
        ),
        Mistake(
            "last_place_only",
            model(finish=lambda self, x: Model.finish(self, x[:, -1])),
            "You return the logits of the last position only. At how many positions does a token have to be predicted?",
        ),
        Mistake(
            "dropout_added",
            model(finish=lambda self, x: Model.finish(self, nn.functional.dropout(x, 0.3, self.training))),
            "In training mode some of your numbers are dropped at random. Does the signature name a dropout?",
        ),
        Mistake(
            "one_head",
            model(stack=lambda self, kind, n, d, heads, d_ff: nn.ModuleList(kind(d, 1, d_ff) for _ in range(n))),
            "Your blocks have one head each, whatever num_heads is. Where does the argument come in?",
        ),
    ),
    variants={
        "in small steps": Model,
        "one embedding, tied and scaled": written.SharedAndTied,
        "a model inside": written.ApartModules,
        "sinusoids": written.Sinusoidal,
        "the course's own norms": model(Norm=LayerNorm),
        "masks by name": model(
            step=lambda self, i, layer, x, states, target_mask, mask: layer(
                x, encoder_states=states, self_mask=target_mask, encoder_mask=mask
            )
        ),
    },
)
