"""What is looked at in a whole encoder-decoder, here and in lesson 5: how its cases are drawn, and the aspects."""

import numpy as np
import torch

from cellcheck.authoring.aspects import CONTENT, KNOWN
from cellcheck.authoring.draw import dims
from cellcheck.authoring.spec import Aspect, tagged
from transformer_course.lessons.aspects import explained
from transformer_course.lessons.drawing import Inputs


def sizes_of(generator: np.random.Generator, num_layers: int, max_length: int) -> dict[str, int]:
    """The six sizes in the order of the signature, all different."""
    num_heads = int(generator.integers(2, 4))
    return {
        "vocab_size": int(generator.integers(13, 17)),
        "max_length": max_length,
        "d_model": num_heads * int(generator.choice([4, 6])),
        "num_heads": num_heads,
        "d_ff": int(generator.integers(18, 24)),
        "num_layers": num_layers,
    }


def looked_at(
    generator: np.random.Generator,
    look: str,
    num_layers: int = 1,
    padded: bool = False,
    square: bool = False,
    batch: int = 3,
) -> Inputs:
    """A case for one look: sizes and tokens."""
    source_length, target_length = dims(generator, 2, 4, 7)
    target_length = source_length if square else target_length
    sizes = sizes_of(generator, num_layers, max(source_length, target_length) + 1)
    lengths = [source_length, 2, source_length - 1][:batch] if padded else [source_length] * batch
    return {
        "look": look,
        "sizes": sizes,
        "source": _distinct(generator, lengths, source_length, sizes["vocab_size"]),
        "target_input": _distinct(generator, [target_length] * batch, target_length, sizes["vocab_size"]),
    }


def _distinct(generator: np.random.Generator, lengths: list[int], width: int, vocab_size: int) -> torch.Tensor:
    """Rows without repetition; the ids 1 and `vocab_size - 1` stand in the first."""
    tokens = np.zeros((len(lengths), width), dtype=np.int64)
    for row, length in enumerate(lengths):
        tokens[row, :length] = 1 + generator.permutation(vocab_size - 1)[:length]
    first = np.setdiff1d(tokens[0], [0, 1, vocab_size - 1])[: lengths[0] - 2]
    tokens[0, : len(first) + 2] = generator.permutation([1, vocab_size - 1, *first])
    return torch.from_numpy(tokens)


def lower(inputs: Inputs) -> Inputs:
    """The same case with a lower triangle for a target mask."""
    length = inputs["target_input"].shape[1]
    return {**inputs, "target_mask": torch.ones(length, length, dtype=torch.bool).tril()}


def seen(name: str, tag: str, *keys: str, meaning: str = "", weight: float = 1.0, core: bool = False) -> Aspect:
    """What one look found under these names."""
    return Aspect(name, keys, KNOWN | CONTENT, weight, core, tagged(tag), meaning)


SHAPES = seen(
    "shapes",
    "usual",
    "shape_of_the_logits",
    "shape_of_the_states",
    meaning="The logits and the encoder's states have the shapes that the docstring gives.",
)
TWO_STEPS = seen(
    "encode, then decode",
    "usual",
    "the_two_steps",
    meaning="Calling encode and then decode gives the same logits as forward.",
)
MEANINGS = {
    "num_layers blocks on each side, all in use": "The encoder and the decoder have num_layers blocks each, and all "
    "of them are used.",
    "no dropout, modes untouched": "Training mode and eval mode give the same logits, and the model stays in the mode "
    "it is in.",
    "dtype kept": "A float32 model gives float32 logits, and a float64 model float64 logits.",
    "one norm a stack, called once": "encoder_norm and decoder_norm are called once each, not after every block.",
    "padding of the source is hidden": "Neither the encoder nor the decoder sees the source's padding, so a row gets "
    "the same logits alone and in a batch.",
    "the source reaches the logits": "Every source token reaches every logit of its own row, and of no other row.",
    "the source has an order": "When two source tokens swap places, the encoder notices.",
    "encoder_norm": "encoder_norm is the last step of encode, and the decoder has a norm of its own.",
    "a Linear layer to the logits": "The logits come straight from a Linear layer.",
    "decode uses what it is given": "decode uses the encoder states just as it gets them, hides the padding of the "
    "source that comes with them, and doesn't encode it again.",
    "rows of every length": "Rows may be as short as one token or as long as max_length, and a source may be all "
    "padding.",
    "num_heads": "The blocks use num_heads: another number of heads gives other logits.",
}


USUAL_LOOKS = explained(
    (
        SHAPES,
        TWO_STEPS,
        seen(
            "num_layers blocks on each side, all in use",
            "usual",
            "one_more_layer",
            "blocks_in_use",
            "parameters_without_use",
            weight=3.0,
        ),
        seen("no dropout, modes untouched", "usual", "training_mode", "modes"),
        seen("dtype kept", "usual", "dtype", "dtype_of_a_float64_model"),
        seen("one norm a stack, called once", "usual", "encoder_norm_is_called", "decoder_norm_is_called"),
        seen(
            "padding of the source is hidden",
            "padding",
            "padding_in_the_encoder",
            "padding_in_the_decoder",
            "a_row_by_itself",
            weight=5.0,
        ),
        seen(
            "the source reaches the logits",
            "reading",
            "a_source_token",
            "an_encoder_state",
            "another_row_of_the_batch",
            weight=3.0,
            core=True,
        ),
        seen("the source has an order", "reading", "the_source's_order", weight=2.0),
    ),
    MEANINGS,
)
LAST_LOOKS = explained(
    (
        seen("encoder_norm", "norms", "encoder_norm", "the_two_norms"),
        seen(
            "decoder_norm", "norms", "decoder_norm", meaning="decoder_norm comes between the last block and the logits."
        ),
        # In two looks; where one of them stops with an error, its other aspects say so.
        Aspect(
            "a Linear layer to the logits", keys=("the_logits", "the_step_to_the_logits"), kinds=CONTENT - {"error"}
        ),
        seen(
            "decode uses what it is given",
            "decoding",
            "source_tokens_in_decode",
            "encoder_states_in_decode",
            "the_padding_in_decode",
        ),
        seen("rows of every length", "sizes", "the_longest_rows", "rows_of_one_token", "a_source_of_padding_alone"),
        seen("num_heads", "sizes", "another_number_of_heads", weight=0.5),
    ),
    MEANINGS,
)


ESSENTIALS = Aspect(
    "the essentials",
    keys=(
        "blocks_in_use",
        "one_more_layer",
        "padding_in_the_encoder",
        "padding_in_the_decoder",
        "a_source_token",
        "an_encoder_state",
        "the_source's_order",
        "the_target's_order",
        "a_target_token",
        "what_the_mask_hides",
        "the_mask_in_decode",
        "the_logits",
    ),
    kinds=(KNOWN | CONTENT) - {"error"},
    weight=35.0,
    meaning="The source reaches the logits and its padding doesn't, both sides know their order, the target mask "
    "decides what is seen, and every block is used.",
)
