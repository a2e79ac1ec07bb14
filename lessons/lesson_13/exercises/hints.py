"""`index_hints`: cases, mistakes and variants."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from course.length_generalization.letters import HINTS
from course.length_generalization.places import index_hints
from grader.authoring.aspects import USUAL, main, special, untouched
from grader.authoring.draw import dims
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, tagged
from lessons.lesson_13.exercises.places import draw_number

Hinted = Callable[[str], str]


def _problems(generator: np.random.Generator) -> list[Case]:
    a, b, c = dims(generator, 3, 2, 6)

    def drawn(*digits: int) -> str:
        """A sum of numbers with so many digits each, the first of which is no zero."""
        numbers = [draw_number(generator, 1, "0") + draw_number(generator, count - 1, "") for count in digits]
        return "+".join(numbers)

    def case(label: str, tag: str, problem: str) -> Case:
        return Case(label, {"problem": problem}, tagged(tag) if tag else USUAL)

    answer = draw_number(generator, c, "0")
    return [
        case("on a sum of numbers with different lengths", "", drawn(a, b) + "="),
        case("where the second number is longer", "", drawn(2, a + 3) + "="),
        case("on a sum with its answer", "", f"{drawn(b, c)}={answer}"),
        case("where the problem ends with a digit", "ends", drawn(c, a)),
        case("on a single number", "ends", draw_number(generator, a, "0")),
        case("on a sum of three numbers", "several", drawn(a, b, c) + "="),
        case("where numbers hold zeros, in front too", "zeros", f"0{answer}0+00{answer}00="),
        case("on numbers of one digit", "one", f"{draw_number(generator, 1)}+{draw_number(generator, 1)}="),
        case("with spaces around the plus", "others", f"{drawn(a)} + {drawn(b)} ="),
        case("on a problem without digits", "others", "+="),
        case("on an empty text", "others", ""),
        case("on numbers of 27 and more digits", "long", drawn(27, 40) + "="),
        case("on numbers of more than 52 digits", "long", drawn(int(generator.integers(60, 113)), 55) + "="),
    ]


def _side_by_side(letters: list[str], digits: list[str]) -> str:
    return "".join(letter + digit for letter, digit in zip(letters, digits, strict=True))


def _runs(
    letter: Callable[[int, int], str] = lambda left, size: HINTS[size - left - 1],
    written: Callable[[list[str], list[str]], str] = _side_by_side,
    find: str = "[0-9]+",
) -> Hinted:
    """Each number by itself; `letter(how many digits stand left of it, how many there are)`."""

    def hinted(problem: str) -> str:
        def one(match: re.Match[str]) -> str:
            digits = list(match.group())
            return written([letter(left, len(digits)) for left in range(len(digits))], digits)

        return re.sub(find, one, problem)

    return hinted


def _across(problem: str) -> str:
    """The places count on through the whole problem, from its end."""
    left = sum(one.isdigit() for one in problem)
    pieces = []
    for one in problem:
        if one.isdigit():
            left -= 1
            pieces.append(HINTS[left % len(HINTS)])
        pieces.append(one)
    return "".join(pieces)


def _only_digits(problem: str) -> str:
    return re.sub(r"[^0-9a-zA-ZÀ-ÿ]", "", index_hints(problem))


def _last_forgotten(problem: str) -> str:
    """A number is written when the character after it is met; nobody meets one at the end."""
    pieces, number = [], ""
    for one in problem:
        if one.isdigit():
            number += one
            continue
        pieces += [index_hints(number), one]
        number = ""
    return "".join(pieces)


def _without_zeros_in_front(problem: str) -> str:
    return re.sub("[0-9]+", lambda match: index_hints(str(int(match.group()))), problem)


def _at_the_sign(problem: str) -> str:
    """Split at the plus and put together again: three numbers lose one."""
    first, _, rest = problem.partition("+")
    rest = rest.split("+")[-1]
    return index_hints(first) + ("+" if "+" in problem else "") + index_hints(rest)


def _reversed(problem: str) -> str:
    """Backwards, so that the count restarts at each sign."""
    pieces: list[str] = []
    place = 0
    for one in reversed(problem):
        if one in "0123456789":
            pieces += [one, HINTS[place]]
            place += 1
        else:
            pieces.append(one)
            place = 0
    return "".join(reversed(pieces))


def _ahead(problem: str) -> str:
    result = ""
    for start, one in enumerate(problem):
        if one.isdecimal():
            end = start
            while end + 1 < len(problem) and problem[end + 1].isdecimal():
                end += 1
            result += HINTS[end - start]
        result += one
    return result


INDEX_HINTS = Exercise(
    symbol="index_hints",
    points=1,
    cases=_problems,
    references=(index_hints,),
    aspects=(
        Aspect(
            "a text",
            kinds=frozenset({"error", "type", "shape", "dtype"}),
            tags=USUAL,
            meaning="The function returns a text.",
        ),
        main("a letter for each place", 8.0, meaning="Each digit has the letter of its place before it."),
        special("a number at the end", "ends", 1.5, "The last number has its letters too, where nothing follows it."),
        special("more than two numbers", "several", meaning="Each number of a longer sum has its letters."),
        special("zeros", "zeros", meaning="A zero is a digit and keeps its place, in front of a number too."),
        special("numbers of one digit", "one", meaning="A number of one digit has the letter a."),
        special("other characters", "others", 1.5, "What is no digit stays as it is, and an empty text stays empty."),
        special("numbers of many digits", "long", 1.5, "Beyond z, the letters are those of HINTS."),
        untouched(weight=0.5),
    ),
    mistakes=(
        Mistake(
            "letters_from_the_left",
            _runs(lambda left, size: HINTS[left]),
            "The first digit of each number gets a from you, whatever it counts. Which digit of 345 counts ones?",
            central=True,
        ),
        Mistake(
            "letter_after_the_digit",
            _runs(written=lambda letters, digits: "".join(d + l for d, l in zip(digits, letters, strict=True))),
            "Your letters come after their digits. A reader should know the place first: what comes before what?",
            central=True,
        ),
        Mistake(
            "numbers_turned_around",
            _runs(
                written=lambda letters, digits: "".join(l + d for l, d in list(zip(letters, digits, strict=True))[::-1])
            ),
            "The letters fit, but each number stands backwards. In which order are its digits in the problem?",
            central=True,
        ),
        Mistake(
            "never_restarted",
            _across,
            "Your letters go on from one number to the next. Which letter has the ones digit of each number?",
            central=True,
        ),
        Mistake(
            "ones_are_b",
            _runs(lambda left, size: HINTS[size - left]),
            "Your ones have the letter b. Which one is the first letter?",
            central=True,
        ),
        Mistake(
            "one_letter_for_a_number",
            _runs(written=lambda letters, digits: letters[0] + "".join(digits)),
            "Each number has only one letter. Which other digits have a place?",
            central=True,
        ),
        Mistake(
            "letters_in_front",
            _runs(written=lambda letters, digits: "".join(letters) + "".join(digits)),
            "All letters of a number stand in front of it. Where does the letter of the last digit belong?",
            central=True,
        ),
        Mistake(
            "letters_instead_of_digits",
            _runs(written=lambda letters, digits: "".join(letters)),
            "Your letters replace the digits. Who could still add them?",
            central=True,
        ),
        Mistake(
            "signs_have_letters",
            _runs(find="[0-9]+|[^0-9]"),
            "Other characters get a letter from you as well. What place has a plus?",
        ),
        Mistake(
            "signs_dropped",
            _only_digits,
            "Only digits and their letters are left. What should become of all other characters?",
        ),
        Mistake(
            "last_number_forgotten",
            _last_forgotten,
            "Where the problem ends with a number, that number is missing. What tells your code that a number is over, "
            "where nothing comes after it?",
        ),
        Mistake(
            "zeros_in_front_dropped",
            _without_zeros_in_front,
            "Zeros at the front of a number are lost, as int() loses them. Is 007 the same text as 7?",
        ),
        Mistake(
            "two_numbers_only",
            _at_the_sign,
            "Of three numbers, one is missing. How many parts does split give?",
        ),
        Mistake(
            "characters_after_z",
            _runs(lambda left, size: chr(ord("a") + size - left - 1)),
            "After z, your letters are braces and other characters that happen to come next. Which string holds the "
            "letters of all places?",
        ),
        Mistake(
            "after_z_comes_a",
            _runs(lambda left, size: HINTS[(size - left - 1) % 26]),
            "After z, you begin again with a, so two places share a letter. Which string holds all letters?",
        ),
        Mistake(
            "upper_case",
            _runs(lambda left, size: HINTS[size - left - 1].upper()),
            "Your letters are upper-case ones. Which does the docstring show?",
            central=True,
        ),
        Mistake(
            "as_a_list",
            lambda problem: list(index_hints(problem)),
            "Every letter is right, but they come as a list. Which method joins texts?",
        ),
    ),
    variants={
        "from the end": _reversed,
        "looking ahead": _ahead,
        "split at other characters": lambda problem: "".join(
            "".join(HINTS[len(part) - i - 1] + one for i, one in enumerate(part)) if part[:1].isdigit() else part
            for part in re.split("([0-9]+)", problem)
        ),
        "runs": _runs(),
    },
)
