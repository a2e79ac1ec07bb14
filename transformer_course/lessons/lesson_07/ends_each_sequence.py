"""`ends_each_sequence`, the bug clinic: does a source get the same answer alone and in a batch? See `decoders`."""

from functools import partial

import numpy as np
import torch

from cellcheck.authoring.aspects import special, tells_apart, untouched
from cellcheck.authoring.spec import Case, Trial
from transformer_course.lessons.lesson_07.decoders import decoder
from transformer_course.lessons.lesson_07.toy_answers import END, answer_of

SOUND, BROKEN = tells_apart(
    meanings={
        "sound": "True for a decoder whose rows get the same answer alone and in the batch.",
        "broken": "False for a decoder whose rows get a different answer in the batch.",
    },
    sound="sound decoders pass",
    broken="broken decoders are found",
)
WIDTH = special(
    "padding does not count", meaning="True even if the decoder adds columns of padding or returns 32-bit ids."
)
ALIKE = special(
    "the same alone and in the batch is sound",
    meaning="True however odd the answers are, as long as each row gets the same one alone and in the batch.",
)
ENDS = special(
    "the end belongs to the answer",
    "",
    2.0,
    "False if an end token is missing or repeated, or if another token follows it.",
)
ONE_ROW = special("every row is checked", "", 14.0, "False even if a single row goes wrong, whichever row that is.")
ORDER = special("each row is compared with its own answer", meaning="False if the rows come back in a different order.")
BATCHES = special("the whole batch at once", meaning="False even if the decoder goes wrong only in larger batches.")
ALONE = special(
    "a batch of one", meaning="On a batch of one, every decoder gets True: alone and in the batch are the same."
)

# (decoder, kind of sources, what looks at it, words for the learner)
TRIED = [
    ("padded", "different", SOUND, "with a sound decoder that pads its answers"),
    ("row by row", "different", SOUND, "with a sound decoder that works row by row"),
    ("wide", "different", WIDTH, "with a sound decoder that returns extra columns of padding"),
    ("of 32 bits", "different", WIDTH, "with a sound decoder whose ids are 32-bit integers"),
    ("without ends", "different", ALIKE, "with a decoder that leaves out every end, alone or in a batch"),
    ("cut short", "equal", ALIKE, "with a decoder that stops at the first end, where all rows end together"),
    ("goes on", "equal", ALIKE, "with a decoder that goes on after an end, where all rows end together"),
    (
        "one for all",
        "same",
        ALIKE,
        "with a decoder that gives every row the first answer, where all sources are the same",
    ),
    ("goes on", "different", BROKEN, "with a decoder that goes on after an end"),
    ("cut short", "different", BROKEN, "with a decoder that stops all rows at the first end"),
    ("one for all", "different", BROKEN, "with a decoder that gives every row the first answer"),
    ("end repeated", "different", ENDS, "with a decoder that pads with more end tokens"),
    ("ends lost", "different", ENDS, "with a decoder that loses the ends of shorter rows"),
    ("one too many", "different", ENDS, "with a decoder that writes one more token after an end"),
    ("last row", "different", ONE_ROW, "with a decoder that gets only the last row wrong"),
    (
        "goes on",
        "first long",
        ONE_ROW,
        "with a decoder that goes on after an end, where the longest answer is in row 0",
    ),
    (
        "cut short",
        "first short",
        ONE_ROW,
        "with a decoder that stops all rows at the first end, where row 0 ends first",
    ),
    (
        "goes on",
        "first short",
        ONE_ROW,
        "with a decoder that goes on after an end, where the longest answer is in the last row",
    ),
    ("by length", "different", ORDER, "with a decoder that sorts rows by length and doesn't put them back"),
    ("row before", "different", ORDER, "with a decoder that gives each row the answer of the row before it"),
    (
        "other branch",
        "different",
        BATCHES,
        "with a decoder that writes single rows, and returns the sources of a larger batch",
    ),
    (
        "large batches",
        "different",
        BATCHES,
        "with a decoder that goes on after an end in batches of more than two rows",
    ),
    ("goes on", "alone", ALONE, "on a batch of one, with a decoder that goes wrong only in larger ones"),
    ("padded", "alone", ALONE, "on a batch of one, with a sound decoder"),
    ("first row", "different", ONE_ROW, "with a decoder that gets only row 0 wrong"),
    ("padded", "with padding", ALIKE, "with a sound decoder, where a source holds padding"),
]


def cases(generator: np.random.Generator) -> list[Case]:
    def draw(kind: str) -> torch.Tensor:
        """Sources (batch, length); the first token says how long the answer is."""
        batch = int(generator.integers(4, 6))
        counts = [int(n) for n in generator.permutation(np.arange(1, 7))[:batch]]
        if kind == "equal":
            counts = counts[:1] * batch
        elif kind == "first long":
            counts.sort(reverse=True)
        elif kind == "first short":
            counts.sort()
        elif {counts[0], counts[-1]} & {min(counts), max(counts)}:  # a row in the middle is the first to end
            return draw(kind)
        rest = generator.integers(1, 9, (batch, 3))
        rest[:, 1] = END  # where sources come back as answers, tokens follow an end
        sources = torch.from_numpy(np.concatenate([np.array(counts)[:, None], rest], axis=1))
        if kind == "with padding":  # without it, this would be another source, of which nobody has heard
            sources[counts.index(max(counts)), -1] = 0  # a long answer depends on all of the source
        if kind == "same":
            sources = sources[:1].repeat(batch, 1)
        elif kind == "alone":
            sources = sources[:1]
        answers = answer_of(sources)
        first = answers[:, 0].tolist()
        if kind not in ("same", "alone") and len(set(first)) < len(first):  # every row has another answer at once
            return draw(kind)
        return sources

    return [
        Case(label, {"sources": draw(kind)}, about.tags, partial(decoder, name)) for name, kind, about, label in TRIED
    ]


TRIAL = Trial(
    module="transformer_course.decoding",
    points=3,
    cases=cases,
    aspects=(
        SOUND,
        BROKEN,
        WIDTH,
        ALIKE,
        ENDS,
        ONE_ROW,
        ORDER,
        BATCHES,
        ALONE,
        untouched("sources untouched", meaning="After the call, the sources are just as they were before."),
    ),
)
