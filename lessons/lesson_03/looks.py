"""What is looked at in a whole classifier: the aspects of `TransformerClassifier`."""

from __future__ import annotations

from grader.authoring.aspects import CONTENT, KNOWN, USUAL, also, main, untouched
from grader.authoring.spec import Aspect
from lessons.aspects import special

FEW = ("shape_and_dtype", "every_logit", "each_row")
ESSENTIAL = (
    "what_reaches_the_logits",
    "the_influence_of_padding",
    "what_attention_sees",
    "the_order_of_the_tokens",
    "the_stack",
    "what_the_last_layer_reads",
    "what_you_return",
)

LOOKS = (
    Aspect(
        "a classifier as a whole",
        keys=ESSENTIAL,
        kinds=KNOWN,
        weight=13.0,
        tags=USUAL,
        meaning="It all works together: padding stays unread, every other token and its place count, all blocks are "
        "used, and raw scores come from the right position.",
    ),
    Aspect(
        "logits (batch, num_classes)",
        keys=("shape_and_dtype",),
        kinds=CONTENT,
        tags=USUAL,
        meaning="The logits have the shape (batch, num_classes) and the model's dtype.",
    ),
    main(
        "every token is read",
        3.0,
        keys=("what_reaches_the_logits",),
        meaning="Changing any real token of a row changes its logits.",
    ),
    also(
        "padding is hidden",
        "the_influence_of_padding",
        "what_attention_sees",
        weight=4.0,
        meaning="No block's attention looks at padding, and the vector of id 0 doesn't affect the logits.",
    ),
    also(
        "the order matters",
        "the_order_of_the_tokens",
        weight=3.0,
        meaning="The same tokens in a different order get different logits.",
    ),
    also(
        "num_layers blocks, each its own",
        "the_stack",
        weight=3.0,
        meaning="There are num_layers blocks with weights of their own, and each is called once.",
    ),
    also(
        "num_heads and d_ff used",
        "each_block",
        weight=2.0,
        meaning="Every block is made with the given num_heads and d_ff.",
    ),
    also(
        "reads the last position or the masked mean",
        "what_the_last_layer_reads",
        weight=3.0,
        meaning="The last layer reads the CLS token's vector, or the mean of the real tokens.",
    ),
    also(
        "a norm after the stack",
        "what_follows_the_stack",
        weight=2.0,
        meaning="The residual stream is normalised once more before the last layer reads it.",
    ),
    also(
        "raw scores",
        "what_you_return",
        weight=2.0,
        meaning="The logits are returned as they are; the cross-entropy takes the softmax.",
    ),
    also(
        "each row by itself",
        "each_row",
        meaning="A row gets the same logits alone and in a batch.",
    ),
    also(
        "every part is trained",
        "what_is_never_trained",
        meaning="A gradient reaches every parameter of the model.",
    ),
    also(
        "the same in training",
        "the_mode",
        meaning="Training mode and eval mode give the same logits, since there is no dropout.",
    ),
    special(
        "any length up to max_length",
        "full",
        meaning="The model takes short rows as well as rows of max_length tokens.",
        keys=FEW,
    ),
    special(
        "other sizes", "sizes", meaning="Other numbers of rows, heads and classes give the right result too.", keys=FEW
    ),
    special("a batch of one, a single token", "one", keys=FEW),
    special(
        "a row of padding gives finite numbers",
        "empty",
        0.5,
        "A row of nothing but padding gives finite logits, not NaN.",
        FEW,
    ),
    special("float64", "float64", meaning="A float64 model works too, and gives float64 logits.", keys=FEW),
    also("finite logits", "every_logit", weight=0.5, meaning="Every logit is a finite number."),
    untouched("tokens untouched", 0.5),
)
