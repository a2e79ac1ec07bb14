"""What is looked at in a whole model that reads numbers: aspects that `Forecaster` and `VisionTransformer` share."""

from __future__ import annotations

from dataclasses import replace

from grader.authoring.aspects import BATCH_OF_ONE, CONTENT, FLOAT64, KNOWN, USUAL, also, main, special, untouched
from grader.authoring.spec import Aspect

FEW = ("shape_and_dtype", "each_row")
ESSENTIAL = (
    "shape_and_dtype",
    "what_a_token_is",
    "what_attention_sees",
    "the_places",
    "the_stack",
    "what_you_return",
)
EVERYTHING = (
    *ESSENTIAL,
    "each_row",
    "what_reaches_the_result",
    "each_block",
    "what_follows_the_stack",
    "what_is_never_trained",
    "the_mode",
    "arguments",
)
SIZES = special("other sizes", meaning="Other sizes give the right result too.", keys=FEW)


def looks(result: str, token: str) -> tuple[Aspect, ...]:
    """The aspects of a model that returns `result` and whose tokens are `token`, in words."""
    return (
        Aspect(
            "a model as a whole",
            keys=ESSENTIAL,
            kinds=KNOWN,
            weight=13.0,
            tags=USUAL,
            meaning="It all works together: the tokens, their places, attention, every block and the last layer.",
        ),
        Aspect(
            result,
            keys=("shape_and_dtype",),
            kinds=CONTENT,
            tags=USUAL,
            meaning=f"The result is {result}, in the model's dtype.",
        ),
        main(
            "every number is read",
            3.0,
            keys=("what_reaches_the_result",),
            meaning="Changing any number of the input changes the result of its row.",
        ),
        also(
            f"each token is {token}",
            "what_a_token_is",
            weight=3.0,
            meaning=f"Before the first block, every number has reached one token, and each token is {token}.",
        ),
        also(
            "attention sees every token",
            "what_attention_sees",
            weight=2.0,
            meaning="All tokens are known, so every token looks at every other: there is nothing to mask.",
        ),
        also(
            "places are known",
            "the_places",
            weight=3.0,
            meaning="Positions are added before the blocks, so that attention can tell one place from another.",
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
            "a norm after the stack",
            "what_follows_the_stack",
            weight=2.0,
            meaning="The residual stream is normalised once more before the last layer reads it.",
        ),
        also(
            "nothing after the last layer",
            "what_you_return",
            weight=2.0,
            meaning="The numbers of the last Linear layer are returned as they are, and may be any real numbers.",
        ),
        also("each row by itself", "each_row", meaning="A row gets the same result alone and in a batch."),
        also(
            "every part is trained", "what_is_never_trained", meaning="A gradient reaches every parameter of the model."
        ),
        also(
            "the same in training",
            "the_mode",
            meaning="Training mode and eval mode give the same result, since there is no dropout.",
        ),
        SIZES,
        replace(BATCH_OF_ONE, keys=FEW),
        replace(FLOAT64, keys=FEW, meaning="A float64 model works too, and gives float64 results."),
        untouched("input untouched", 0.5),
    )
