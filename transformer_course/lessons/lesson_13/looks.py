"""What is looked at in a whole model that reads numbers: aspects that `Forecaster` and `VisionTransformer` share."""

from dataclasses import replace

from cellcheck.authoring import Aspect, aspects
from transformer_course.lessons.aspects import explained

FEW = ("shape_and_dtype", "each_row")
ESSENTIAL = (
    "shape_and_dtype",
    "what_a_token_is",
    "what_attention_sees",
    "how_attention_tells_places_apart",
    "the_stack",
    "what_you_return",
    "what_is_left_of_the_input",
)
CORE = (*ESSENTIAL, "what_reaches_the_result")
"""What is asked of every usual model: whoever fails everywhere earns nothing."""
EVERYTHING = (
    *CORE,
    "each_row",
    "each_block",
    "what_positions_are_made_of",
    "what_follows_the_stack",
    "what_is_never_trained",
    "the_mode",
    "arguments",
)
SIZES = aspects.special("other sizes", meaning="Other sizes give the right result too.", keys=FEW)


MEANINGS = {
    "a model as a whole": "It all works together: the tokens, their places, attention, every block and the last layer.",
    "every number is read": "Changing any number of the input changes the result of its row.",
    "attention sees every token": "All tokens are known, so every token looks at every other: there is nothing to "
    "mask.",
    "places are known": "Positions are added before the blocks, so that attention can tell one place from another.",
    "positions are learned": "Positions are trained with the rest of the model.",
    "num_layers blocks, each its own": "There are num_layers blocks with weights of their own, and each is called "
    "once.",
    "num_heads and d_ff used": "Every block is made with the given num_heads and d_ff.",
    "a norm after the stack": "The residual stream is normalised once more before the last layer reads it.",
    "nothing after the last layer": "The numbers of the last Linear layer are returned as they are, and may be any "
    "real numbers.",
    "the last layer reads vectors": "The last layer reads the numbers of tokens, or a mean of tokens. The mean of a "
    "token's own numbers says nothing: a norm makes it 0.",
    "a gradient for every parameter": "A gradient reaches every parameter of the model.",
    "the same in training": "Training mode and eval mode give the same result, since there is no dropout.",
}


def looks(result: str, token: str, *also: Aspect) -> tuple[Aspect, ...]:
    """The aspects of a model that returns `result` and whose tokens are `token`, in words; and those of it alone."""
    whole = (*ESSENTIAL, *(key for aspect in also for key in aspect.keys))
    return explained(
        (
            Aspect("a model as a whole", keys=whole, kinds=aspects.KNOWN, weight=13.0, tags=aspects.USUAL),
            Aspect(
                result,
                keys=("shape_and_dtype",),
                kinds=aspects.CONTENT,
                tags=aspects.USUAL,
                central=True,
                meaning=f"The result is {result}, in the model's dtype.",
            ),
            aspects.main("every number is read", 3.0, keys=("what_reaches_the_result",)),
            aspects.central(
                aspects.also(
                    f"each token is {token}",
                    "what_a_token_is",
                    weight=3.0,
                    meaning=f"Before the first block, every number has reached one token, and each token is {token}.",
                )
            ),
            aspects.central(aspects.also("attention sees every token", "what_attention_sees", weight=2.0)),
            aspects.central(aspects.also("places are known", "how_attention_tells_places_apart", weight=3.0)),
            aspects.also("positions are learned", "what_positions_are_made_of"),
            aspects.central(aspects.also("num_layers blocks, each its own", "the_stack", weight=3.0)),
            aspects.also("num_heads and d_ff used", "each_block", weight=2.0),
            aspects.also("a norm after the stack", "what_follows_the_stack", weight=2.0),
            aspects.central(aspects.also("nothing after the last layer", "what_you_return", weight=2.0)),
            aspects.also("the last layer reads vectors", "what_is_left_of_the_input"),
            aspects.also("each row by itself", "each_row", meaning="A row gets the same result alone and in a batch."),
            aspects.also("a gradient for every parameter", "what_is_never_trained"),
            *also,
            aspects.also("the same in training", "the_mode"),
            SIZES,
            replace(aspects.BATCH_OF_ONE, keys=FEW),
            replace(aspects.FLOAT64, keys=FEW, meaning="A float64 model works too, and gives float64 results."),
            aspects.untouched("input untouched", 0.5),
        ),
        MEANINGS,
    )
