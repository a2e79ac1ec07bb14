"""What is looked at in `Encoder` and `Decoder`: how their cases are drawn, and the aspects."""

from __future__ import annotations

import numpy as np

from cellcheck.authoring.aspects import CONTENT, KNOWN, untouched
from cellcheck.authoring.draw import dims, integers, normal
from cellcheck.authoring.spec import Aspect, Case, tagged
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_04.looks import seen
from transformer_course.lessons.lesson_08.probes.stacks import PRE_NORM


def sizes_of(generator: np.random.Generator, num_layers: int, max_length: int) -> dict[str, float]:
    """The seven sizes in the order of the signature, all different."""
    num_heads = int(generator.integers(2, 4))
    return {
        "vocab_size": int(generator.integers(24, 28)),
        "d_model": num_heads * int(generator.choice([4, 6])),
        "num_layers": num_layers,
        "num_heads": num_heads,
        "d_ff": int(generator.integers(19, 23)),
        "dropout": 0.0,
        "max_length": max_length,
    }


def cases_of(generator: np.random.Generator, decoder: bool) -> list[Case]:
    """A case for each look."""

    def look(name: str, num_layers: int = 2) -> Inputs:
        batch, length, source_length = 3, *dims(generator, 2, 5, 7)  # never d_model
        sizes = sizes_of(generator, num_layers, length + 1)
        inputs = {
            "look": name,
            "sizes": sizes,
            "embedding": normal(generator, int(sizes["vocab_size"]), int(sizes["d_model"])) / sizes["d_model"] ** 0.5,
            "tokens": integers(generator, 1, int(sizes["vocab_size"]), batch, length),
        }
        if decoder:
            inputs["states"] = normal(generator, batch, source_length, int(sizes["d_model"]))
        return inputs

    cases = [
        Case("with two layers", look("usual"), tagged("usual")),
        Case("with other tokens", look("seeing"), tagged("seeing")),
        Case("with a mask", look("masking"), tagged("masking", "masks")),
        Case("with rows of every length", look("sizes", 1), tagged("sizes")),
        Case("with dropout", look("dropping"), tagged("dropping")),
        Case("in both orders of norms", look("norms"), tagged("norms")),
        Case("called again", look("repeating", 1), tagged("repeating")),
    ]
    if decoder:
        cases.append(Case("with other encoder states", look("listening"), tagged("listening", "masks")))
    return cases


READING = seen(
    "what the first layer reads",
    "usual",
    "what_the_first_layer_reads",
    weight=3.0,
    meaning="The first layer reads the embeddings times sqrt(d_model), plus the sinusoids.",
)
LAYERS = seen(
    "num_layers layers, all in use",
    "usual",
    "one_more_layer",
    "parameters",
    "calls_of_the_first_layer",
    "layers_that_are_called",
    weight=3.0,
    meaning="There are num_layers layers, each with weights of its own, and all of them are used.",
)
ESSENTIALS = Aspect(
    "the essentials",
    keys=(
        "what_the_first_layer_reads",
        "one_more_layer",
        "parameters",
        "what_the_mask_hides",
        "what_the_mask_allows",
        "x_for_encoder_states",
        "an_encoder_state",
        "what_the_encoder_mask_hides",
        "what_the_encoder_mask_allows",
        "a_mask_for_each_row",
        "an_encoder_mask_for_each_row",
    ),
    kinds=(KNOWN | CONTENT) - {"error"},
    weight=70.0,
    meaning="Scaled embeddings and sinusoids go in, every layer works on them, and the masks are obeyed.",
)
USUAL_LOOKS = (
    ESSENTIALS,
    seen("shape", "usual", "shape", meaning="The states have the shape that the docstring gives."),
    READING,
    LAYERS,
    seen(
        "nothing after the last layer",
        "usual",
        "all_layers",
        "states_of_a_new_model",
        weight=2.0,
        meaning="Post-norm layers end with a norm, and what the last one returns is the result.",
    ),
    seen(
        "how embeddings start",
        "usual",
        "the_size_of_new_embeddings",
        weight=6.0,
        meaning="New embeddings have a standard deviation of 1 / sqrt(d_model), as large as the sinusoids once scaled.",
    ),
    seen(
        "random numbers of its own",
        "usual",
        "starts",
        weight=0.5,
        meaning="Each new module starts with other random numbers.",
    ),
    seen(
        "pre-norm as an option",
        "norms",
        "norms_on_the_way",
        "norms",
        f"{PRE_NORM}norms_on_the_way",
        f"{PRE_NORM}norms",
        weight=12.0,
        meaning="With norm_first=True the layers are in pre-norm order, and one norm follows the stack.",
    ),
    seen(
        "dtype kept",
        "usual",
        "dtype",
        "dtype_of_a_float64_model",
        meaning="A float32 model gives float32 states, and a float64 model float64 states.",
    ),
    seen(
        "modes untouched",
        "usual",
        "training_mode",
        "modes",
        weight=0.5,
        meaning="Without dropout, both modes give the same states, and the model stays in the mode it is in.",
    ),
    seen("tokens count", "seeing", "a_token", core=True, meaning="Another token gets another state."),
    seen(
        "tokens see their row",
        "seeing",
        "another_token_of_the_row",
        "another_row_of_the_batch",
        weight=2.0,
        meaning="Without a mask each token sees all tokens of its own row, and none of another row.",
    ),
    seen("the order counts", "seeing", "the_order", weight=2.0, meaning="One token at two positions gets two states."),
)
LAST_LOOKS = (
    seen(
        "rows of every length",
        "sizes",
        "the_longest_rows",
        "rows_of_one_token",
        "a_batch_of_one",
        meaning="Rows may be as short as one token and as long as max_length, and a batch may be a single row.",
    ),
    seen(
        "num_heads",
        "sizes",
        "another_number_of_heads",
        weight=0.5,
        meaning="The layers use num_heads: another number of heads gives other states.",
    ),
    seen(
        "dropout on the sum",
        "dropping",
        "the_sum_of_embedding_and_position",
        weight=10.0,
        meaning="In training mode some numbers of the sum of embedding and position are dropped.",
    ),
    seen(
        "dropout in the layers, and only in training",
        "dropping",
        "in_training",
        "in_evaluation",
        "with_a_dropout_of_1",
        "what_layers_return",
        "encoder_states_in_training",
        "states",
        weight=10.0,
        meaning="The layers get the rate too, what they return isn't dropped again, and in evaluation mode nothing is.",
    ),
    seen(
        "later calls",
        "repeating",
        "later_calls",
        f"{PRE_NORM}later_calls",
        weight=2.0,
        meaning="Each call is by itself: nothing is kept of the tokens and the masks of earlier ones.",
    ),
    untouched(),
)
CALLED = {
    "one_more_layer": "what one more layer brings along",
    "layers_that_are_called": "which layers are called",
    "all_layers": "what there is to learn",
    "the_size_of_new_embeddings": "the standard deviation of new embeddings",
    "starts": "how two new modules start",
    "norms": "what there is to normalise",
    "states": "what dropout does to the states in the end",
    "what_layers_return": "what dropout does to what a layer returns",
    "norms_on_the_way": "what x passes on its way up the stack",
    "later_calls": "what a later call returns",
    "parameters": "what learns",
    "x_for_encoder_states": "taking x for the encoder states",
    "what_the_encoder_mask_hides": "what encoder_mask hides",
    "a_mask_for_each_row": "a mask that differs from row to row",
    "an_encoder_mask_for_each_row": "an encoder_mask that differs from row to row",
}
SEEN_WITH_NORM_FIRST = (
    "norms",
    "norms_on_the_way",
    "later_calls",
    "a_mask",
    "what_the_mask_hides",
    "what_the_mask_allows",
    "a_mask_for_batch_and_heads",
    "a_mask_for_each_row",
    "x_for_encoder_states",
    "an_encoder_state",
    "the_size_of_encoder_states",
    "an_encoder_mask",
    "what_the_encoder_mask_hides",
    "what_the_encoder_mask_allows",
    "an_encoder_mask_for_each_row",
)
CALLED |= {
    f"{PRE_NORM}{key}": f"with norm_first=True, {CALLED.get(key, key.replace('_', ' '))}"
    for key in SEEN_WITH_NORM_FIRST
}


def masked_in_pre_norm(*keys: str, weight: float = 8.0) -> Aspect:
    """The aspect of all that is seen of masks and states with norm_first=True."""
    return seen(
        "masks with norm_first=True",
        "masks",
        *(f"{PRE_NORM}{key}" for key in keys),
        weight=weight,
        meaning="The masks are obeyed in the other order of norms too.",
    )


MASK_KEYS = SEEN_WITH_NORM_FIRST[3:8]
STATE_KEYS = SEEN_WITH_NORM_FIRST[8:]


def masked(name: str, weight: float = 3.0) -> Aspect:
    """The aspect of the self-attention's mask, which has this name."""
    return seen(
        name,
        "masking",
        "a_mask",
        "what_the_mask_hides",
        "what_the_mask_allows",
        "a_mask_for_batch_and_heads",
        "a_mask_for_each_row",
        weight=weight,
        meaning="The mask decides what each token sees, in every layer, whatever shape it broadcasts from.",
    )
