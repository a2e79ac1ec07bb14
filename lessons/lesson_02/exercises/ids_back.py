"""`ids_to_text`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from course.byte_pairs import byte_pair_ids, byte_pair_vocabulary, ids_to_text
from grader.authoring.aspects import main, refused, special, untouched
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.lesson_02.exercises.ids import FOREIGN, Vocabulary, draw_merges


def _ids(generator: np.random.Generator) -> list[Case]:
    merges = draw_merges(generator)
    vocabulary = byte_pair_vocabulary(merges)
    tokens = list(vocabulary)
    letters = list(dict.fromkeys("".join(tokens)))

    def draw(*extra: str) -> str:
        """Merged tokens, one of them twice, and single letters between them."""
        parts = [tokens[0], tokens[2], tokens[0], *generator.choice(letters, 3), *extra]
        while True:
            text = "".join(str(part) for part in generator.permutation(parts))
            if text != text[::-1] and text[0] not in extra:
                return text

    def case(label: str, ids: list[int], *tags: str) -> Case:
        mixed = [tokens[i] for i in generator.permutation(len(tokens))]  # in another order than the ids
        return Case.of(label, *tags, ids=ids, vocabulary={token: vocabulary[token] for token in mixed})

    def encoded(*extra: str) -> list[int]:
        return byte_pair_ids(draw(*extra), merges, vocabulary)

    one, two = (str(symbol) for symbol in generator.permutation(FOREIGN)[:2])
    inside = encoded()
    return [
        case("on a few ids", encoded()),
        case("on more ids", [*encoded(" ", "."), *encoded()]),
        case("on letters that take several bytes", encoded(one, two), "bytes"),
        case("on spaces at both ends", [33, *encoded(), 33], "spaces"),
        case("on padding at the end", [*encoded(), 0, 0], "padding"),
        case("on padding in the middle", [*inside[:2], 0, *inside[2:]], "padding"),
        case("on an empty list of ids", [], "empty"),
        case("on an id that stands for nothing", [*encoded(), 257 + len(vocabulary)], "unknown"),
    ]


def _table(vocabulary: Vocabulary) -> dict[int, bytes]:
    pieces = {place: token.encode() for token, place in vocabulary.items()}
    return {0: b"", **{byte + 1: bytes([byte]) for byte in range(256)}, **pieces}


def _tokens(vocabulary: Vocabulary) -> dict[int, str]:
    return {place: token for token, place in vocabulary.items()}


def _one_by_one(byte: Callable[[int], str]) -> Callable[[list[int], Vocabulary], str]:
    """Turns each id into text by itself, as far as it goes."""

    def text(ids: list[int], vocabulary: Vocabulary) -> str:
        tokens = _tokens(vocabulary)
        return "".join(byte(i - 1) if 0 < i < 257 else {0: "", **tokens}[i] for i in ids)

    return text


def _without_padding(ids: list[int], vocabulary: Vocabulary) -> str:
    table = _table(vocabulary)
    del table[0]
    return b"".join(table[i] for i in ids).decode()


def _only_tokens(ids: list[int], vocabulary: Vocabulary) -> str:
    return "".join({0: "", **_tokens(vocabulary)}[i] for i in ids)


def _unknown_left_out(ids: list[int], vocabulary: Vocabulary) -> str:
    return b"".join(_table(vocabulary).get(i, b"") for i in ids).decode()


def _not_shifted(ids: list[int], vocabulary: Vocabulary) -> str:
    table = _table(vocabulary) | {byte: bytes([byte]) for byte in range(1, 256)}
    return b"".join(table[i] for i in ids).decode()


def _in_a_bytearray(ids: list[int], vocabulary: Vocabulary) -> str:
    tokens = _tokens(vocabulary)
    data = bytearray()
    for i in ids:
        if i == 0:
            continue
        if i <= 256:
            data.append(i - 1)
        else:
            data += tokens[i].encode("utf-8")
    return data.decode("utf-8")


def _by_numbers(ids: list[int], vocabulary: Vocabulary) -> str:
    numbers: list[int] = []
    for i in ids:
        if i > 256:
            numbers.extend(next(token for token, place in vocabulary.items() if place == i).encode())
        elif i > 0:
            numbers.append(i - 1)
    return bytes(numbers).decode()


def _latin(ids: list[int], vocabulary: Vocabulary) -> str:
    text = _one_by_one(chr)(ids, vocabulary)
    return text.encode("latin-1").decode("utf-8")


IDS_TO_TEXT = Exercise(
    symbol="ids_to_text",
    points=2,
    cases=_ids,
    references=(ids_to_text,),
    aspects=(
        main("the right text", meaning="The ids are turned back into the right text."),
        special(
            "characters of several bytes",
            "bytes",
            weight=6.0,
            meaning="Characters that take several bytes in UTF-8, such as 'é', come back whole.",
        ),
        special(
            "padding becomes nothing",
            "padding",
            weight=2.0,
            meaning="Padding adds nothing to the text, whether at the end or in the middle.",
        ),
        special("spaces count", "spaces", meaning="Spaces at either end of the text come back."),
        special("no ids", "empty", meaning="An empty list of ids gives an empty text."),
        refused("unknown ids are refused", "unknown"),
        untouched("the arguments stay as they were"),
    ),
    mistakes=(
        Mistake(
            "byte_by_byte",
            _one_by_one(chr),
            "Each byte became a character of its own, so ï comes back as two. When should bytes be decoded: one by "
            "one, or all together?",
            central=True,
        ),
        Mistake(
            "decoded_one_by_one",
            _one_by_one(lambda byte: bytes([byte]).decode()),
            "Your code stops at a byte that is only part of a character. When should bytes be decoded: one by one, or "
            "all together?",
            central=True,
        ),
        Mistake(
            "broken_bytes_ignored",
            _one_by_one(lambda byte: bytes([byte]).decode(errors="ignore")),
            "Characters of several bytes are gone: each of their bytes was decoded alone, and ignored. When should "
            "bytes be decoded?",
            central=True,
        ),
        Mistake(
            "merged_tokens_only",
            _only_tokens,
            "Your code stops at ids from 1 to 256. What do those stand for?",
            central=True,
        ),
        Mistake(
            "padding_is_an_error",
            _without_padding,
            "Your code stops at padding. What should id 0 become?",
        ),
        Mistake(
            "bytes_not_shifted",
            _not_shifted,
            "Your characters are one too high. Which byte does id b + 1 stand for?",
        ),
        Mistake(
            "unknown_left_out",
            _unknown_left_out,
            "Ids that stand for nothing vanish silently. What should happen to them?",
        ),
        Mistake(
            "joined_with_spaces",
            lambda ids, vocabulary: b" ".join(_table(vocabulary)[i] for i in ids if i).decode(errors="replace"),
            "You put a space between every two tokens. What should be between them?",
        ),
        Mistake(
            "ends_stripped",
            lambda ids, vocabulary: ids_to_text(ids, vocabulary).strip(),
            "Spaces at the ends of the text are lost. Were they padding?",
        ),
        Mistake(
            "bytes_returned",
            lambda ids, vocabulary: b"".join(_table(vocabulary)[i] for i in ids),
            "You return bytes. Which method turns them into a text?",
        ),
        Mistake(
            "list_returned",
            lambda ids, vocabulary: list(ids_to_text(ids, vocabulary)),
            "You return a list of characters. What type is a text?",
        ),
        Mistake(
            "return_inside_the_loop",
            lambda ids, vocabulary: ids_to_text(ids[:1], vocabulary),
            "Only the first id was turned into text. Is the return inside the loop?",
        ),
    ),
    variants={
        "a bytearray": _in_a_bytearray,
        "a list of numbers": _by_numbers,
        "by way of Latin-1": _latin,
        "padding first": lambda ids, vocabulary: b"".join([_table(vocabulary)[i] for i in ids if i != 0]).decode(),
    },
)
