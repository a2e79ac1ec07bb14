"""What is looked at in a whole classifier: the aspects of `TransformerClassifier`."""

from cellcheck.authoring import Aspect, aspects
from transformer_course.lessons.aspects import explained, special

FEW = ("shape_and_dtype", "every_logit", "each_row")
ESSENTIAL = (
    "what_reaches_the_logits",
    "the_influence_of_padding",
    "what_attention_sees",
    "the_order_of_the_tokens",
    "the_stack",
    "what_the_last_layer_reads",
    "what_you_return",
    "what_training_reaches",
    "shape_and_dtype",
    "what_came_before",
)

MEANINGS = {
    "a classifier as a whole": "It all works together: padding stays unread, every token and its place count, and "
    "raw scores come from the right position, with gradients.",
    "logits (batch, num_classes)": "The logits have the shape (batch, num_classes) and the model's dtype.",
    "every token is read": "Changing any real token of a row changes its logits.",
    "padding is hidden": "No block's attention looks at padding, and the vector of id 0 doesn't affect the logits.",
    "the order matters": "The same tokens in a different order get different logits.",
    "num_layers blocks, each its own": "There are num_layers blocks with weights of their own, and each is called "
    "once.",
    "num_heads and d_ff used": "Every block is made with the given num_heads and d_ff.",
    "reads the last position or the masked mean": "The last layer reads the CLS token's vector, or the mean of the "
    "real tokens.",
    "a norm after the stack": "The residual stream is normalised once: after the last block, before the last layer.",
    "raw scores": "The logits are returned as they are; the cross-entropy takes the softmax.",
    "called again": "The logits depend on the tokens that are passed in now, and not on an earlier call.",
    "a gradient for every parameter": "A gradient reaches every parameter of the model.",
    "a row of padding gives finite numbers": "A row of nothing but padding gives finite logits, not NaN.",
    "the same in training": "Training mode and eval mode give the same logits, since there is no dropout.",
    "any length up to max_length": "The model takes short rows as well as rows of max_length tokens.",
    "other sizes": "Other numbers of rows, heads and classes give the right result too.",
}


LOOKS = explained(
    (
        Aspect("a classifier as a whole", keys=ESSENTIAL, kinds=aspects.KNOWN, weight=40.0, tags=aspects.USUAL),
        Aspect("logits (batch, num_classes)", keys=("shape_and_dtype",), kinds=aspects.CONTENT, tags=aspects.USUAL),
        aspects.main("every token is read", 3.0, keys=("what_reaches_the_logits",)),
        aspects.also("padding is hidden", "the_influence_of_padding", "what_attention_sees", weight=4.0),
        aspects.also("the order matters", "the_order_of_the_tokens", weight=3.0),
        aspects.also("num_layers blocks, each its own", "the_stack", weight=3.0),
        aspects.also("num_heads and d_ff used", "each_block", weight=2.0),
        aspects.also("reads the last position or the masked mean", "what_the_last_layer_reads", weight=3.0),
        aspects.also("a norm after the stack", "what_follows_the_stack", weight=6.0),
        aspects.also("raw scores", "what_you_return", weight=2.0),
        aspects.also(
            "each row by itself", "each_row", weight=3.0, meaning="A row gets the same logits alone and in a batch."
        ),
        aspects.also("called again", "what_came_before", weight=3.0),
        aspects.also("a gradient for every parameter", "what_is_never_trained", "what_training_reaches", weight=3.0),
        aspects.also("the same in training", "the_mode"),
        special("any length up to max_length", "full", keys=FEW),
        special("other sizes", "sizes", keys=FEW),
        special("a batch of one, a single token", "one", keys=FEW),
        special("a row of padding gives finite numbers", "empty", 0.5, keys=FEW),
        special("float64", "float64", meaning="A float64 model works too, and gives float64 logits.", keys=FEW),
        aspects.also("finite logits", "every_logit", weight=0.5, meaning="Every logit is a finite number."),
        aspects.untouched("tokens untouched", 0.5),
    ),
    MEANINGS,
)
