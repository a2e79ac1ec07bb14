"""`TransformerClassifier`: cases, mistakes and variants. The contract names no parts, so questions are asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from course.blocks import EncoderBlock
from course.classifier import TransformerClassifier
from grader.authoring import draw
from grader.authoring.aspects import CONTENT, KNOWN, USUAL, untouched
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, Observation, tagged
from lessons.drawing import Inputs
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
    "kind_of_logits",
    "finite",
    "reading",
    "padding",
    "attention",
    "order",
    "depth",
    "widths",
    "reads",
    "final_norm",
    "scores",
    "rows",
    "unused",
    "modes",
    "arguments",
)
FEW = ("kind_of_logits", "finite", "rows")


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
    padded = model(3, n, 2, ("kind_of_logits", "finite"))
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
    if kept.get("reads") in _ALLOWED:
        kept["reads"] = _ALLOWED[0]
    return kept


TRANSFORMER_CLASSIFIER = Exercise(
    symbol="TransformerClassifier",
    points=4,
    cases=_models,
    references=(TransformerClassifier,),
    canonical=_either_reading,
    aspects=(
        Aspect("logits (batch, num_classes)", keys=("kind_of_logits",), kinds=CONTENT, tags=USUAL),
        Aspect("every token is read", keys=("reading",), kinds=CONTENT, weight=3.0, core=True, tags=USUAL),
        Aspect("padding is hidden", keys=("padding", "attention"), kinds=KNOWN, weight=5.0),
        Aspect("the order matters", keys=("order",), kinds=KNOWN, weight=4.0),
        Aspect("num_layers blocks, each its own", keys=("depth",), kinds=KNOWN, weight=4.0),
        Aspect("num_heads and d_ff used", keys=("widths",), kinds=KNOWN, weight=2.0),
        Aspect("reads the last position or the masked mean", keys=("reads",), kinds=KNOWN, weight=3.0),
        Aspect("a norm behind the stack", keys=("final_norm",), kinds=KNOWN, weight=2.0),
        Aspect("raw scores", keys=("scores",), kinds=KNOWN, weight=2.0),
        Aspect("each row by itself", keys=("rows",), kinds=KNOWN),
        Aspect("every part is trained", keys=("unused",), kinds=KNOWN),
        Aspect("the same in training", keys=("modes",), kinds=KNOWN, weight=2.0),
        Aspect("any length up to max_length", FEW, CONTENT, tags=tagged("full")),
        Aspect("other sizes", FEW, CONTENT, tags=tagged("sizes")),
        Aspect("a batch of one, a single token", FEW, CONTENT, tags=tagged("one")),
        Aspect("a row of padding gives finite numbers", FEW, CONTENT, weight=0.5, tags=tagged("empty")),
        Aspect("float64", FEW, CONTENT, tags=tagged("float64")),
        Aspect("finite logits", keys=("finite",), kinds=KNOWN, weight=0.5),
        untouched("tokens untouched", 0.5),
    ),
    mistakes=(
        Mistake(
            "no_positions",
            embedding(lambda self, tokens: self.embedding(tokens)),
            "Turn the tokens of a row round and your logits stay the same: nobody tells the model who stands where. "
            "Which layer has not been asked?",
        ),
        Mistake(
            "positions_behind_the_blocks",
            made(
                embedded=lambda self, tokens: self.embedding(tokens),
                run=lambda self, x, tokens: self.positions(Model.run(self, x, tokens)),
            ),
            "Positions come in behind the blocks, where attention can't see them any more. When does it need them?",
        ),
        Mistake(
            "one_position_for_all",
            one_row_of_places,
            "Every token gets the vector of the same place. Which axis do the positions run along?",
        ),
        Mistake(
            "padding_not_hidden",
            masked_by(lambda mask: None),
            "Your attention looks at padding, and what padding holds moves the logits. Which mask do the blocks want?",
        ),
        Mistake(
            "mask_inverted",
            masked_by(lambda mask: ~mask),
            "Your attention looks at padding, and at nothing else. True means: may attend. Is there a ~ too many?",
        ),
        Mistake(
            "only_the_first_block_masked",
            only_first_masked,
            "The first block hides the padding, the later ones look at it. Who hands the mask to them?",
        ),
        Mistake(
            "first_rows_mask_for_all",
            masked_by(lambda mask: mask[:1]),
            "All rows use the padding mask of the first. Does every row have its padding in the same places?",
        ),
        Mistake(
            "causal",
            Causal,
            "Your tokens look only at what stands before them. That mask comes in lesson 05: what should an encoder "
            "see?",
        ),
        Mistake(
            "one_block_repeated",
            stacked(lambda d, h, f, layers: nn.ModuleList([EncoderBlock(d, h, f)] * layers)),
            "One block is asked num_layers times, so there is one set of weights. If you multiplied a list: what was "
            "copied, the block or the reference to it?",
        ),
        Mistake(
            "first_block_only",
            FirstBlockOnly,
            "The blocks are all there, and only the first is asked. Does the return stand inside the loop?",
        ),
        Mistake(
            "num_layers_ignored",
            stacked(lambda d, h, f, layers: nn.ModuleList([EncoderBlock(d, h, f)])),
            "There is one block, whatever num_layers says. What makes as many as asked for?",
        ),
        Mistake(
            "one_block_too_many",
            stacked(lambda d, h, f, layers: nn.ModuleList(EncoderBlock(d, h, f) for _ in range(layers + 1))),
            "There is a block too many. Where does your loop begin to count, and where does it end?",
        ),
        Mistake(
            "blocks_in_a_plain_list",
            PlainList,
            "Your blocks stand in a plain Python list, so model.parameters() does not find them, and they would never "
            "learn. Which kind of list does PyTorch look into?",
        ),
        Mistake(
            "each_block_from_the_start",
            made(run=lambda self, x, tokens: [block(x, self.mask(tokens)) for block in self.blocks][-1]),
            "Every block starts from the embeddings, so only the last one counts. What should a block work on?",
        ),
        Mistake(
            "one_head_only",
            stacked(lambda d, h, f, layers: nn.ModuleList(EncoderBlock(d, 1, f) for _ in range(layers))),
            "Your blocks have one head, whatever num_heads says. Where is it handed on?",
        ),
        Mistake(
            "width_ignored",
            stacked(lambda d, h, f, layers: nn.ModuleList(EncoderBlock(d, h, 4 * d) for _ in range(layers))),
            "Your feed-forward networks are four times d_model wide, whatever d_ff says. Where is it handed on?",
        ),
        Mistake(
            "reads_the_first_position",
            reading(lambda x, tokens: x[:, 0]),
            "Your last layer reads the first position. Where does the CLS token stand in this course's rows?",
        ),
        Mistake(
            "mean_counts_padding",
            reading(lambda x, tokens: x.mean(dim=1)),
            "Your mean counts the padding, so what padding holds moves the logits. Over which positions should it run?",
        ),
        Mistake(
            "sum_not_mean",
            reading(lambda x, tokens: (x * (tokens != 0)[..., None]).sum(dim=1)),
            "You add up the vectors of the real tokens, so long rows shout. What makes a mean of a sum?",
        ),
        Mistake(
            "largest_numbers",
            reading(lambda x, tokens: x.amax(dim=1)),
            "You take the largest number of each column, padding included. Which position does the docstring read?",
        ),
        Mistake(
            "logits_for_every_token",
            reading(lambda x, tokens: x),
            "There are logits for every token: (batch, length, num_classes). Which position speaks for the row?",
        ),
        Mistake(
            "no_final_norm",
            made(finished=lambda self, x: x),
            "Nothing is normed behind the stack, so the sum of all blocks reaches the last layer as it is. What stands "
            "between them?",
        ),
        Mistake(
            "softmax_at_the_end",
            finishing(lambda logits: logits.softmax(dim=-1)),
            "Your rows sum to 1: they are shares, not scores. Who takes the softmax, if the loss is a cross-entropy?",
        ),
        Mistake(
            "log_softmax_at_the_end",
            finishing(lambda logits: logits.log_softmax(dim=-1)),
            "You return logarithms of shares. Who takes the softmax, if the loss is a cross-entropy?",
        ),
        Mistake(
            "sigmoid_at_the_end",
            finishing(torch.sigmoid),
            "Your scores are squeezed between 0 and 1. What may a logit be?",
        ),
        Mistake(
            "one_score",
            finishing(lambda logits: logits[:, :1]),
            "There is one score a row. How many classes are there?",
        ),
        Mistake(
            "squeezed",
            finishing(torch.squeeze),
            "Axes of length one disappear from your logits. Is a batch of one row still a batch?",
        ),
        Mistake(
            "batch_norm",
            BatchNormed,
            "The norm behind your stack takes its mean over the batch, so a row's logits depend on its neighbours. "
            "Which norm keeps each token to itself?",
        ),
        Mistake(
            "dropout_added",
            Dropping,
            "In training your logits differ from call to call. Does the signature name a dropout?",
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
