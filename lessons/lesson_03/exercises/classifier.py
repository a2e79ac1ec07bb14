"""`TransformerClassifier`: cases, mistakes and variants. The contract names no parts, so questions are asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from course.blocks import EncoderBlock
from course.classifier import TransformerClassifier
from grader.authoring import draw
from grader.authoring.aspects import USUAL
from grader.authoring.spec import Case, Exercise, Mistake, Observation, tagged
from lessons.drawing import Inputs
from lessons.lesson_03.exercises.looks import FEW, LOOKS
from lessons.lesson_03.exercises.models import (
    Bare,
    BatchNormed,
    Causal,
    Dropping,
    FirstBlockOnly,
    Joined,
    Model,
    PlainList,
    Stack,
    embedding,
    finishing,
    made,
    masked_by,
    mean,
    one_row_of_places,
    only_first_masked,
    reading,
    stacked,
)
from lessons.lesson_03.probes.classifier import SIZES

EVERYTHING = (
    "shape_and_dtype",
    "every_logit",
    "what_reaches_the_logits",
    "the_influence_of_padding",
    "what_attention_sees",
    "the_order_of_the_tokens",
    "the_stack",
    "each_block",
    "what_the_last_layer_reads",
    "what_follows_the_stack",
    "what_you_return",
    "each_row",
    "what_is_never_trained",
    "the_mode",
    "arguments",
)


def _models(generator: np.random.Generator) -> list[Case]:
    def model(batch: int, length: int, layers: int, ask: tuple[str, ...] = EVERYTHING, **other: Any) -> Inputs:
        """Rows as `prepare_example` makes them: a text, padding, and a last token that is no padding."""
        vocab_size, d_ff = draw.dims(generator, 2, 11, 15)
        heads = int(generator.integers(2, 4))
        sizes = dict(zip(SIZES, (vocab_size, length + 1, 2 * heads, heads, d_ff, layers, 3), strict=True))
        sizes |= {name: other.pop(name) for name in SIZES if name in other}
        tokens = draw.integers(generator, 1, vocab_size - 1, batch, length)
        tokens[:, :2] = torch.tensor([1, 2])[:length]  # so that turning the order round changes something
        for row in range(1, batch):  # the first row has no padding
            tokens[row, max(2, length - 1 - row) : -1] = 0
        return {"sizes": sizes, "tokens": tokens, "ask": list(ask), "dtype": "float32", **other}

    n = int(generator.integers(6, 9))
    padded = model(3, n, 2, ("shape_and_dtype", "every_logit"))
    padded["tokens"][1] = 0
    return [
        Case("with one block", model(3, n, 1), USUAL),
        Case("with three blocks", model(2, n + 1, 3), USUAL),
        Case("where the row is as long as can be", model(3, n, 1, FEW, max_length=n), tagged("full")),
        Case("where the row is short", model(4, 3, 2, FEW, max_length=n), tagged("full")),
        Case("with as many rows as tokens", model(6, 6, 1, FEW), tagged("sizes")),
        Case("with five classes and one head", model(3, n, 1, FEW, num_classes=5, num_heads=1), tagged("sizes")),
        Case("on a batch of one", model(1, n, 1, FEW), tagged("one")),
        Case("with a single token", model(2, 1, 1, FEW), tagged("one")),
        Case("with a row that is all padding", padded, tagged("empty")),
        Case("with float64", model(3, n, 1, FEW, dtype="float64"), tagged("float64")),
    ]


_ALLOWED = ("the last position", "the mean of the real tokens")


def _either_reading(observation: Observation, case: Case) -> Observation:
    """The last position or the masked mean: the contract leaves the choice."""
    kept = dict(observation)
    if kept.get("what_the_last_layer_reads") in _ALLOWED:
        kept["what_the_last_layer_reads"] = _ALLOWED[0]
    return kept


TRANSFORMER_CLASSIFIER = Exercise(
    symbol="TransformerClassifier",
    points=4,
    cases=_models,
    references=(TransformerClassifier,),
    canonical=_either_reading,
    aspects=LOOKS,
    mistakes=(
        Mistake(
            "no_positions",
            embedding(lambda self, tokens: self.embedding(tokens)),
            "Put the tokens of a row in another order and your logits stay the same: nothing tells the model where a "
            "token is. Which layer is never called?",
            central=True,
        ),
        Mistake(
            "positions_after_the_blocks",
            made(
                embedded=lambda self, tokens: self.embedding(tokens),
                run=lambda self, x, tokens: self.positions(Model.run(self, x, tokens)),
            ),
            "The positions are added after the blocks, too late for attention to use them. When does it need them?",
        ),
        Mistake(
            "one_position_for_all",
            one_row_of_places,
            "Every token gets the vector of the same position. Along which axis do positions count?",
        ),
        Mistake(
            "padding_not_hidden",
            masked_by(lambda mask: None),
            "Your attention looks at padding, so whatever the padding holds moves the logits. Which mask do the blocks "
            "need?",
            central=True,
        ),
        Mistake(
            "mask_inverted",
            masked_by(lambda mask: ~mask),
            "Your attention looks at padding and at nothing else. True means: may attend. Is there a ~ too many?",
        ),
        Mistake(
            "only_the_first_block_masked",
            only_first_masked,
            "The first block hides the padding, but the others look at it. Do they get the mask too?",
        ),
        Mistake(
            "first_rows_mask_for_all",
            masked_by(lambda mask: mask[:1]),
            "Every row uses the padding mask of the first. Is the padding in the same places in every row?",
        ),
        Mistake(
            "causal",
            Causal,
            "Your tokens look only at what comes before them. That mask belongs in lesson 05: what should an encoder "
            "see?",
        ),
        Mistake(
            "one_block_repeated",
            stacked(lambda d, h, f, layers: nn.ModuleList([EncoderBlock(d, h, f)] * layers)),
            "One block is called num_layers times, so there is only one set of weights. If you multiplied a list: did "
            "that copy the block, or only the reference to it?",
        ),
        Mistake(
            "first_block_only",
            FirstBlockOnly,
            "All the blocks are there, but only the first is called. Is the return inside the loop?",
        ),
        Mistake(
            "num_layers_ignored",
            stacked(lambda d, h, f, layers: nn.ModuleList([EncoderBlock(d, h, f)])),
            "There is one block, whatever num_layers says. How do you make as many as you were asked for?",
        ),
        Mistake(
            "one_block_too_many",
            stacked(lambda d, h, f, layers: nn.ModuleList(EncoderBlock(d, h, f) for _ in range(layers + 1))),
            "There is one block too many. Where does your loop start counting, and where does it stop?",
        ),
        Mistake(
            "blocks_in_a_plain_list",
            PlainList,
            "Your blocks are in a plain Python list, where model.parameters() can't find them, so they would never "
            "learn. Which kind of list does PyTorch look into?",
        ),
        Mistake(
            "each_block_from_the_start",
            made(run=lambda self, x, tokens: [block(x, self.mask(tokens)) for block in self.blocks][-1]),
            "Every block starts from the embeddings again, so only the last one counts. What should each block work "
            "on?",
        ),
        Mistake(
            "one_head_only",
            stacked(lambda d, h, f, layers: nn.ModuleList(EncoderBlock(d, 1, f) for _ in range(layers))),
            "Your blocks have one head, whatever num_heads says. Is it passed on to them?",
        ),
        Mistake(
            "width_ignored",
            stacked(lambda d, h, f, layers: nn.ModuleList(EncoderBlock(d, h, 4 * d) for _ in range(layers))),
            "Your feed-forward networks are four times d_model wide, whatever d_ff says. Is it passed on to them?",
        ),
        Mistake(
            "reads_the_first_position",
            reading(lambda x, tokens: x[:, 0]),
            "Your last layer reads the first position. Where is the CLS token in this course's rows?",
            central=True,
        ),
        Mistake(
            "mean_counts_padding",
            reading(lambda x, tokens: x.mean(dim=1)),
            "Your mean includes the padding, so whatever the padding holds moves the logits. Which positions should it "
            "run over?",
        ),
        Mistake(
            "sum_not_mean",
            reading(lambda x, tokens: (x * (tokens != 0)[..., None]).sum(dim=1)),
            "You add up the vectors of the real tokens, so longer rows get larger numbers. What turns a sum into a "
            "mean?",
        ),
        Mistake(
            "largest_numbers",
            reading(lambda x, tokens: x.amax(dim=1)),
            "You take the largest number of each column, padding included. Which position does the docstring read?",
        ),
        Mistake(
            "logits_for_every_token",
            reading(lambda x, tokens: x),
            "You return logits for every token: (batch, length, num_classes). Which position speaks for the whole row?",
        ),
        Mistake(
            "no_final_norm",
            made(finished=lambda self, x: x),
            "There is no norm after the stack, so the last layer reads the sum of all blocks as it is. What belongs "
            "between the two?",
        ),
        Mistake(
            "softmax_at_the_end",
            finishing(lambda logits: logits.softmax(dim=-1)),
            "Each of your rows sums to 1: these are shares, not scores. Who takes the softmax if the loss is a "
            "cross-entropy?",
            central=True,
        ),
        Mistake(
            "log_softmax_at_the_end",
            finishing(lambda logits: logits.log_softmax(dim=-1)),
            "You return the logarithms of shares. Doesn't the cross-entropy take both softmax and logarithm?",
        ),
        Mistake(
            "sigmoid_at_the_end",
            finishing(torch.sigmoid),
            "All your scores lie between 0 and 1. Which numbers may a logit be?",
        ),
        Mistake(
            "one_score",
            finishing(lambda logits: logits[:, :1]),
            "You return one score per row. How many classes are there?",
        ),
        Mistake(
            "squeezed",
            finishing(torch.squeeze),
            "Axes of length 1 disappear from your logits. Isn't a batch of one row still a batch?",
        ),
        Mistake(
            "batch_norm",
            BatchNormed,
            "The norm after your stack takes its mean over the batch, so a row's logits depend on its neighbours. "
            "Which norm keeps each token to itself?",
        ),
        Mistake(
            "dropout_added",
            Dropping,
            "In training mode your logits differ from call to call. Does the signature ask for dropout?",
        ),
    ),
    variants={
        "the last position": Model,
        "the masked mean": reading(mean),
        "mean, then norm": made(
            forward=lambda self, tokens: self.head(
                self.final_norm(mean(self.run(self.embedded(tokens), tokens), tokens))
            )
        ),
        "the last real token": reading(
            lambda x, tokens: x[torch.arange(len(x)), x.shape[1] - 1 - (tokens != 0).int().flip(1).argmax(dim=1)]
        ),
        "PyTorch's parts": Bare,
        "blocks one by one": Stack,
        "embeddings times the root": embedding(
            lambda self, tokens: self.positions(self.embedding(tokens) * self.embedding.weight.shape[1] ** 0.5)
        ),
        "padding without content": embedding(
            lambda self, tokens: self.positions(self.embedding(tokens)) * (tokens != 0)[..., None]
        ),
        "norm and head joined": Joined,
    },
)
