"""`Transformer`: cases, mistakes and variants. The probe looks at properties and says them in words."""

from __future__ import annotations

import numpy as np
from torch import nn

from course.causal import causal_mask
from course.paper.masks import create_masks, create_padding_mask
from course.paper.model import Encoder, Transformer
from grader.authoring.aspects import CONTENT, KNOWN, untouched
from grader.authoring.draw import dims, integers
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, tagged
from lessons.drawing import Inputs
from lessons.lesson_04.looks import seen
from lessons.lesson_08.exercises import wholes
from lessons.lesson_08.exercises.stacks import sizes_of


def _cases(generator: np.random.Generator) -> list[Case]:
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
    ]


TRANSFORMER = Exercise(
    symbol="Transformer",
    points=4,
    cases=_cases,
    references=(Transformer, wholes.Model),  # the option to share may be there or not
    aspects=(
        Aspect(
            "the essentials",
            keys=(
                "padding_in_the_encoder",
                "padding_in_the_cross_attention",
                "a_source_token",
                "an_encoder_state",
                "the_future_in_decode",
                "the_past",
                "the_logits",
                "parameters",
                "one_more_layer",
            ),
            kinds=(KNOWN | CONTENT) - {"error"},
            weight=13.0,
            meaning="The source reaches the logits, its padding and the future don't, every layer is used, and logits "
            "come out.",
        ),
        seen(
            "shapes",
            "usual",
            "shape_of_the_logits",
            "shape_of_the_states",
            meaning="The logits and the encoder's states have the shapes that the docstring gives.",
        ),
        seen(
            "encode, then decode",
            "usual",
            "the_two_steps",
            meaning="Calling encode and then decode gives the same logits as forward.",
        ),
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
            "logits", "usual", "the_logits", weight=2.0, meaning="The output layer's numbers are returned as they come."
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
            "a_row_by_itself",
            weight=3.0,
            meaning="Neither stack sees the source's padding, so a row gets the same logits alone and in a batch.",
        ),
        seen(
            "padding of the target",
            "padding",
            "padding_of_the_target",
            meaning="No target token sees a padding token of the target, wherever that stands.",
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
            meaning="Both stacks get the rate; it acts in training mode, and in evaluation mode it doesn't.",
        ),
        seen(
            "shared embeddings as an option",
            "sharing",
            "shared_numbers",
            "vocabularies_of_two_sizes",
            meaning="With share_embeddings=True one matrix serves three times, and two vocabularies are refused.",
        ),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "future_not_hidden",
            wholes.made(masks=lambda self, source, target: (create_padding_mask(source), create_padding_mask(target))),
            "Your target mask hides padding alone, so each token sees the next one. What else is to be hidden?",
            central=True,
        ),
        Mistake(
            "target_padding_seen",
            wholes.made(masks=lambda self, source, target: (create_padding_mask(source), causal_mask(target.shape[1]))),
            "Your target mask hides the future alone. What else does `create_masks` hide?",
        ),
        Mistake(
            "encoder_sees_padding",
            wholes.made(encoder_mask=lambda self, source: None),
            "The encoder's layers look at the padding. Which mask do they need?",
            central=True,
        ),
        Mistake(
            "cross_attention_sees_padding",
            wholes.made(masks=lambda self, source, target: (None, create_masks(source, target)[1])),
            "The encoder doesn't look at the padding, but the decoder does: its cross-attention looks at the source "
            "too. Which mask does it need?",
            central=True,
        ),
        Mistake(
            "no_masks",
            wholes.made(encoder_mask=lambda self, source: None, masks=lambda self, source, target: (None, None)),
            "Nothing is hidden: neither padding nor the future. Who makes the masks, and who needs which?",
            central=True,
        ),
        Mistake(
            "source_mask_inverted",
            wholes.made(
                encoder_mask=lambda self, source: ~create_padding_mask(source),
                masks=lambda self, source, target: (~create_padding_mask(source), create_masks(source, target)[1]),
            ),
            "Your source mask shows the padding and hides the tokens. What does True stand for?",
            central=True,
        ),
        Mistake(
            "masks_swapped",
            wholes.made(masks=lambda self, source, target: create_masks(source, target)[::-1]),
            "The decoder gets each mask in the other one's place. In which order does it take the two?",
        ),
        Mistake(
            "decode_without_the_future_mask",
            wholes.made(decode=wholes.future_in_decode, forward=wholes.masked_forward),
            "forward hides the future, but decode on its own doesn't. Where do you make the masks?",
        ),
        Mistake(
            "deaf",
            wholes.made(
                forward=lambda self, source, target: self.decode(target, 0 * self.encode(source), source),
                decode=lambda self, target, states, source: wholes.Model.decode(self, target, 0 * states, source),
            ),
            "Whatever the source says, your logits stay the same. What does the decoder get from the encoder?",
            central=True,
        ),
        Mistake(
            "embeddings_for_states",
            wholes.made(forward=wholes.embedded),
            "forward hands the source's embeddings to the decoder, so the encoder's layers work for nothing. Which "
            "states belong there?",
            central=True,
        ),
        Mistake(
            "encoded_again",
            wholes.made(
                decode=lambda self, target, _, source: wholes.Model.decode(self, target, self.encode(source), source)
            ),
            "decode ignores the states that it is given and encodes the source again. Decoding calls it once per "
            "token: what did the encoder work for?",
            central=True,
        ),
        Mistake(
            "vocabularies_swapped",
            wholes.changed(wholes.swap_vocabularies),
            "Each stack has the other one's vocabulary. Which side reads the source?",
        ),
        Mistake(
            "logits_for_the_source",
            wholes.changed(lambda self, src, tgt, d, *_: self.add_module("output", nn.Linear(d, src))),
            "You return a number for each symbol of the source's vocabulary. In which language does the model write?",
        ),
        Mistake(
            "probabilities_returned",
            wholes.made(finish=lambda self, states: self.output(states).softmax(-1)),
            "You return probabilities. The loss takes its own softmax: what does it expect as its input?",
            central=True,
        ),
        Mistake(
            "log_probabilities_returned",
            wholes.made(finish=lambda self, states: self.output(states).log_softmax(-1)),
            "You return logarithms of probabilities. What are logits, before any softmax?",
            central=True,
        ),
        Mistake(
            "relu_on_the_logits",
            wholes.made(finish=lambda self, states: self.output(states).relu()),
            "Your logits are never negative: there is a ReLU after the last layer. Does a score have to be positive?",
            central=True,
        ),
        Mistake(
            "states_returned",
            wholes.made(finish=lambda self, states: states),
            "You return the decoder's states. Which layer turns each of them into one number per symbol?",
            central=True,
        ),
        Mistake(
            "last_place_only",
            wholes.made(forward=wholes.only_last),
            "forward returns the logits of the last place only. At how many places is a token to be predicted?",
        ),
        Mistake(
            "shifted_inside",
            wholes.made(forward=lambda self, source, target: wholes.Model.forward(self, source, target[:, :-1])),
            "forward drops the last token of its input, but the caller has shifted the target already. Who does what?",
        ),
        Mistake(
            "states_returned_too",
            wholes.made(
                forward=lambda self, source, target: (wholes.Model.forward(self, source, target), self.encode(source))
            ),
            "forward returns a pair. What does the docstring ask for?",
        ),
        Mistake(
            "one_layer_each",
            wholes.sized(lambda kind, vocab, d, layers, *rest: (vocab, d, 1, *rest)),
            "Your stacks have one layer each, whatever num_layers says. Where is it handed on?",
            central=True,
        ),
        Mistake(
            "one_decoder_layer",
            wholes.sized(lambda kind, vocab, d, layers, *rest: (vocab, d, layers if kind is Encoder else 1, *rest)),
            "Your decoder has one layer, however many are asked for. On which sides does num_layers count?",
            central=True,
        ),
        Mistake(
            "one_head",
            wholes.sized(lambda kind, vocab, d, layers, heads, *rest: (vocab, d, layers, 1, *rest)),
            "Your layers have one head each, whatever num_heads says. Where is it handed on?",
        ),
        Mistake(
            "never_drops",
            wholes.sized(lambda kind, *sizes: (*sizes[:-2], 0.0, sizes[-1])),
            "Nothing is ever dropped, whatever the rate. Where does `dropout` go?",
        ),
        Mistake(
            "decoder_never_drops",
            wholes.sized(lambda kind, *sizes: sizes if kind is Encoder else (*sizes[:-2], 0.0, sizes[-1])),
            "Your decoder never drops anything. Which of the two stacks gets `dropout`?",
        ),
        Mistake(
            "logits_dropped",
            wholes.made(finish=lambda self, states: nn.functional.dropout(self.output(states), 0.1, self.training)),
            "Some of your logits are dropped in training, whatever the rate. Does the docstring ask for that?",
        ),
        Mistake(
            "pre_norm",
            wholes.sized(lambda kind, *sizes: (*sizes, True)),
            "Your stacks are in pre-norm order, although nobody asked for it. Which order is the default?",
        ),
    ),
    variants={
        "step by step": wholes.Model,
        "names and masks of its own": wholes.Apart,
        "PyTorch's layers": wholes.PyTorchs,
    },
)
