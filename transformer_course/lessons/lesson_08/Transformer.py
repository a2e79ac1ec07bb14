"""`Transformer`: how it is tried. The probe looks at properties and says them in words."""

from __future__ import annotations

import numpy as np

from cellcheck.authoring.aspects import CONTENT, KNOWN, untouched
from cellcheck.authoring.draw import dims, integers
from cellcheck.authoring.spec import Aspect, Case, Trial, tagged
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_04.looks import SHAPES, TWO_STEPS, seen
from transformer_course.lessons.lesson_08.probes.whole import BOTH
from transformer_course.lessons.lesson_08.stack_cases import sizes_of


def cases(generator: np.random.Generator) -> list[Case]:
    def look(name: str, num_layers: int = 1, padded: bool = False) -> Inputs:
        source_length, target_length = dims(generator, 2, 4, 7)
        stack = sizes_of(generator, num_layers, max(source_length, target_length) + 1)
        sizes = {"src_vocab_size": stack.pop("vocab_size"), "tgt_vocab_size": int(generator.integers(14, 18)), **stack}
        source = integers(generator, 1, int(sizes["src_vocab_size"]), 3, source_length)
        source[0, 0] = sizes["src_vocab_size"] - 1  # no id of the target
        if padded:
            source[1, 2:] = source[2, -1:] = 0
        target = integers(generator, 1, int(sizes["tgt_vocab_size"]), 3, target_length)
        return {"look": name, "sizes": sizes, "source": source, "target_input": target}

    return [
        Case("with two layers", look("usual", 2, padded=True), tagged("usual")),
        Case("with padding", look("padding", padded=True), tagged("padding")),
        Case("with other sources", look("reading"), tagged("reading")),
        Case("with other targets", look("writing"), tagged("writing")),
        Case("with rows from the shortest to the longest", look("sizes"), tagged("sizes")),
        Case("with dropout", look("dropping", padded=True), tagged("dropping")),
        Case("with share_embeddings=True", look("sharing"), tagged("sharing")),
        Case("with norm_first=True", look("pre_norm"), tagged("pre_norm")),
        Case("with norm_first=True and share_embeddings=True", look("options", padded=True), tagged("options")),
        Case("called again", look("repeating", padded=True), tagged("repeating")),
    ]


TRIAL = Trial(
    module="transformer_course.paper.model",
    points=4,
    cases=cases,
    called={
        "parameters": "what learns",
        "one_more_layer": "what one more layer on each side brings along",
        "all_parts": "what there is to learn",
        "starts": "how two new models start",
        "the_output_layer": "the output layer",
        "later_calls": "what a later call returns",
        "with_share_embeddings": "embeddings and output layer with share_embeddings=True",
        "without_share_embeddings": "embeddings and output layer without the option",
        "norms_with_norm_first": "what norm_first=True adds",
        "around_the_output_layer": "the way from the states to the logits",
    },
    aspects=(
        Aspect(
            "the essentials",
            keys=(
                "padding_in_the_encoder",
                "padding_in_the_cross_attention",
                "the_padding_of_each_row",
                "a_source_token",
                "an_encoder_state",
                "the_future_in_decode",
                "the_past",
                "the_logits",
                "parameters",
                "one_more_layer",
            ),
            kinds=(KNOWN | CONTENT) - {"error"},
            weight=50.0,
            meaning="The source reaches the logits, its padding and the future don't, every layer is used, and logits "
            "come out.",
        ),
        SHAPES,
        TWO_STEPS,
        seen(
            "two stacks and an output layer",
            "usual",
            "parameters",
            "one_more_layer",
            "all_parts",
            weight=2.0,
            meaning="Both stacks have num_layers layers, all are used, and nothing comes on top but a Linear layer.",
        ),
        seen(
            "logits",
            "usual",
            "the_logits",
            "the_output_layer",
            weight=2.0,
            meaning="The output layer's numbers are returned as they come.",
        ),
        seen(
            "dtype kept",
            "usual",
            "dtype",
            "dtype_of_a_float64_model",
            meaning="A float32 model gives float32 logits, and a float64 model float64 logits.",
        ),
        seen(
            "modes untouched",
            "usual",
            "training_mode",
            "modes",
            weight=0.5,
            meaning="Without dropout, both modes give the same logits, and the model stays in the mode it is in.",
        ),
        seen(
            "padding of the source",
            "padding",
            "padding_in_the_encoder",
            "padding_in_the_cross_attention",
            "the_padding_of_each_row",
            "a_row_by_itself",
            weight=3.0,
            meaning="Neither stack sees the source's padding, so a row gets the same logits alone and in a batch.",
        ),
        seen(
            "padding of the target",
            "padding",
            "padding_of_the_target",
            weight=5.0,
            meaning="No target token sees a padding token of the target, wherever that is.",
        ),
        seen(
            "the source reaches the logits",
            "reading",
            "a_source_token",
            "an_encoder_state",
            "another_row_of_the_batch",
            weight=3.0,
            meaning="Every source token reaches every logit of its own row, and of no other row.",
        ),
        seen(
            "decode uses what it is given",
            "reading",
            "source_tokens_in_decode",
            "the_size_of_encoder_states",
            meaning="decode uses the encoder states as they come, and doesn't encode the source again.",
        ),
        seen(
            "order",
            "reading",
            "the_source's_order",
            meaning="When the source's tokens change places, the encoder notices.",
        ),
        seen("target tokens count", "writing", "a_target_token", core=True, meaning="Another token gets other logits."),
        seen(
            "the future is hidden, the past isn't",
            "writing",
            "the_future_in_decode",
            "the_future_in_forward",
            "the_past",
            "the_target's_order",
            "a_row_written_token_by_token",
            weight=3.0,
            meaning="Each target token sees itself and those before it, in forward and in decode.",
        ),
        seen(
            "rows of every length",
            "sizes",
            "the_longest_rows",
            "rows_of_one_token",
            "a_source_of_padding_alone",
            meaning="Rows may be as short as one token or as long as max_length, and a source may be all padding.",
        ),
        seen(
            "num_heads",
            "sizes",
            "another_number_of_heads",
            weight=0.5,
            meaning="The layers use num_heads: another number of heads gives other logits.",
        ),
        seen(
            "dropout",
            "dropping",
            "in_training",
            "in_evaluation",
            "with_a_dropout_of_1",
            "around_the_output_layer",
            weight=8.0,
            meaning="Both stacks get the rate; it acts in training mode, and in evaluation mode it doesn't.",
        ),
        seen(
            "shared embeddings as an option",
            "sharing",
            "with_share_embeddings",
            "without_share_embeddings",
            "logits_of_a_shared_matrix",
            "vocabularies_of_two_sizes",
            weight=8.0,
            meaning="With share_embeddings=True one matrix serves three times, and two vocabularies are refused.",
        ),
        seen(
            "pre-norm as an option",
            "pre_norm",
            "norms_with_norm_first",
            weight=3.0,
            meaning="norm_first reaches both stacks.",
        ),
        seen(
            "padding and future with both options",
            "options",
            *(
                f"{BOTH}{key}"
                for key in (
                    "padding_in_the_encoder",
                    "padding_in_the_cross_attention",
                    "the_padding_of_each_row",
                    "a_row_by_itself",
                    "a_target_token",
                    "the_future_in_decode",
                    "the_future_in_forward",
                    "the_past",
                    "the_target's_order",
                    "a_row_written_token_by_token",
                )
            ),
            weight=3.0,
            meaning="With both options the same tokens are hidden, and the same are seen.",
        ),
        seen(
            "later calls",
            "repeating",
            "later_calls",
            weight=3.0,
            meaning="Each call is by itself: nothing is kept of the sources, targets and masks of earlier ones.",
        ),
        seen(
            "random numbers of its own",
            "usual",
            "starts",
            weight=0.5,
            meaning="Each new model starts with other random numbers.",
        ),
        untouched(),
    ),
)
