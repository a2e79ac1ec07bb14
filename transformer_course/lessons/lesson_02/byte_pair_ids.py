"""`byte_pair_ids`: how it is tried."""

from collections.abc import Callable
from typing import Any

import numpy as np

from cellcheck.authoring.aspects import USUAL, main, special, spoken, untouched, worded
from cellcheck.authoring.spec import Aspect, Case, Observation, Trial
from transformer_course.byte_pairs import apply_merges, byte_pair_ids, byte_pair_vocabulary
from transformer_course.lessons.lesson_02.drawing import FOREIGN, draw_merges
from transformer_course.lessons.lesson_02.spelled import unlike
from transformer_course.lessons.watching import AS_ASKED

Merges = list[tuple[str, str]]

ANY = special("any text", "any", 20.0, "Whatever is in a text, nothing of it is lost: a text becomes all of its ids.")
TEXT = special(
    "spaces, capitals, punctuation", weight=6.0, meaning="Spaces, capitals and punctuation get the right ids too."
)
BYTES = special(
    "characters of several bytes",
    "",
    6.0,
    "Characters that take several bytes in UTF-8, such as 'é', get the right ids.",
)
ONE_FOR_SEVERAL = spoken(
    "ids for every byte", "characters", tag=BYTES.name, meaning="A character of several bytes has as many ids."
)
VOCABULARY = special(
    "the ids of the vocabulary",
    weight=8.0,
    meaning="Merged tokens get the ids that they have in `vocabulary`, whichever those are.",
)
UNKNOWN = special(
    "merged tokens without an id",
    weight=2.0,
    meaning="A merged token that isn't in `vocabulary` becomes the ids of all its bytes, and isn't added there.",
)
PLAIN = special("bytes alone", weight=2.0, meaning="A text without any merged token becomes its bytes' ids.")
EMPTY = special("an empty text", meaning="An empty text gives an empty list of ids.")


def cases(generator: np.random.Generator) -> list[Case]:
    def word(merges: Merges, times: int = 1) -> str:
        """Letters on which each merge counts, and so does their order. In "abcd", the longest token comes too late."""
        (a, b), (c, d), _, (_, e), _ = merges
        others = [merges[::-1], *(merges[:i] + merges[i + 1 :] for i in range(len(merges)))]
        while True:
            parts = [a + b + c + d, a + b + c, c + d + e, e + a, *generator.choice([a, b, c, d, e], 2)] * times
            text = "".join(str(part) for part in generator.permutation(parts))
            if all(apply_merges(text, other) != apply_merges(text, merges) for other in others):
                return text

    def case(label: str, text: Callable[[Merges], str], *about: Aspect, shift: int = 0, without: int = 0) -> Case:
        """Each token has the id that belongs to the one `shift` places further on; the first ones may have none."""
        merges = draw_merges(generator)
        tokens = list(byte_pair_vocabulary(merges))
        vocabulary = {token: 257 + (place + shift) % len(tokens) for place, token in enumerate(tokens)}
        known = {token: vocabulary[token] for token in tokens[without:]}
        return Case.of(label, *about, text=text(merges), merges=merges, vocabulary=known)

    def with_a_capital(merges: Merges) -> str:
        a, b = merges[0]
        return f" {a.upper()}{b} {word(merges)}.  {word(merges)}"

    two, three = [str(s) for s in generator.permutation(FOREIGN[:3])[:2]], str(generator.choice(FOREIGN[3:]))
    return [
        case("on a word", word),
        case("on a longer word", lambda merges: word(merges, times=2)),
        case("on a text with spaces and a capital", with_a_capital, TEXT, ANY),
        case("on letters that take several bytes", lambda merges: three.join([word(merges), *two]), BYTES, ANY),
        case("on a text without any merged token", lambda merges: "".join(merges[0][::-1]) + "?", PLAIN),
        case("on an empty text", lambda _: "", EMPTY),
        case("with ids in another order", word, VOCABULARY, shift=int(generator.integers(1, 5))),
        case("where one merged token isn't in the vocabulary", word, UNKNOWN, without=1),
    ]


def in_words(observation: Observation, case: Case) -> Observation:
    """The ids, and whether their bytes are those of another encoding, or characters became one id each."""
    if "output" not in observation:
        return observation
    output = observation["output"]
    if case.tags >= BYTES.tags:
        return {"characters": _characters(output, **case.inputs), **observation}
    if not case.tags >= USUAL:
        return observation
    return {"encoded": _encoded(output, **case.inputs), **observation}


def _encoded(output: Any, text: str, merges: Merges, vocabulary: dict[str, int]) -> str:
    right = byte_pair_ids(text, merges, vocabulary)
    if output == right:
        return AS_ASKED
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be"):
        for shift in (1, 0):
            ids: list[int] = []
            for token in apply_merges(text, merges):
                known = token in vocabulary
                ids += [vocabulary[token]] if known else [byte + shift for byte in token.encode(encoding)]
            if output == ids:
                return f"Your bytes are those of {encoding[:6].upper()}. Which encoding does the docstring name?"
    return unlike(output, right, "id")


def _characters(output: Any, text: str, merges: Merges, vocabulary: dict[str, int]) -> str:
    """Where each character that takes several bytes has become one id, whichever that is."""
    tokens = apply_merges(text, merges)
    ascii_only = [len(token) if token not in vocabulary else 1 for token in tokens]
    several = sum(len(symbol.encode()) > 1 for symbol in text)
    if not isinstance(output, list) or not all(type(one) is int for one in output):
        return AS_ASKED
    if len(output) != sum(ascii_only) or not several:
        return AS_ASKED
    return "Characters such as ï have become one id each. How many bytes does UTF-8 make of them?"


TRIAL = Trial(
    module="transformer_course.byte_pairs",
    points=2,
    cases=cases,
    canonical=in_words,
    called={"encoded": "what the bytes are", "characters": "what characters become"},
    aspects=(
        worded(main("the right ids", meaning="The text becomes the right ids, in order."), "encoded"),
        ANY,
        TEXT,
        BYTES,
        ONE_FOR_SEVERAL,
        VOCABULARY,
        UNKNOWN,
        PLAIN,
        EMPTY,
        untouched("the arguments stay as they were", 3.0),
    ),
)
