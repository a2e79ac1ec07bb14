"""`index_hints`: how it is tried."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import dims
from transformer_course.length_generalization.letters import HINTS
from transformer_course.lessons.lesson_14.counting import counted
from transformer_course.lessons.lesson_14.drawing import draw_number, draw_sum

ENDS = aspects.special("a number at the end", "", 1.5, "The last number has its letters too, where nothing follows it.")
SEVERAL = aspects.special("more than two numbers", meaning="Each number of a longer sum has its letters.")
ZEROS = aspects.special("zeros", meaning="A zero is a digit and keeps its place, in front of a number too.")
ONE_DIGIT = aspects.special("numbers of one digit", meaning="A number of one digit has the letter a.")
OTHERS = aspects.special(
    "other characters", "", 1.5, "Anything that isn't a digit stays as it is, and an empty text stays empty."
)
LONG = aspects.special("numbers of many digits", "", 1.5, "Beyond z, the letters are those of HINTS.")


def cases(generator: np.random.Generator) -> list[Case]:
    a, b, c = dims(generator, 3, 2, 6)

    def drawn(*digits: int) -> str:
        """A sum of numbers with so many digits each, and without zeros: those are a case of their own."""
        return draw_sum(generator, *digits, without="0")

    def answered() -> str:
        """A sum with its answer, which has no zero either."""
        while True:
            asked = drawn(b, c)
            total = str(sum(map(int, asked.split("+"))))
            if "0" not in total:
                return f"{asked}={total}"

    answer = draw_number(generator, c, "0")
    return [
        Case.of("on a sum of numbers with different lengths", problem=drawn(a, b) + "="),
        Case.of("where the second number is longer", problem=drawn(2, a + 3) + "="),
        Case.of("on a sum with its answer", problem=answered()),
        Case.of("where the problem ends with a digit", ENDS, problem=drawn(c, a)),
        Case.of("on a single number", ENDS, problem=draw_number(generator, a, "0")),
        Case.of("on a sum of three numbers", SEVERAL, problem=drawn(a, b, c) + "="),
        Case.of("where numbers hold zeros, in front too", ZEROS, problem=f"0{answer}0+00{answer}00="),
        Case.of(
            "on numbers of one digit", ONE_DIGIT, problem=f"{draw_number(generator, 1)}+{draw_number(generator, 1)}="
        ),
        Case.of("with spaces around the plus", OTHERS, problem=f"{drawn(a)} + {drawn(b)} ="),
        Case.of("with a space between numbers", OTHERS, problem=f"{drawn(b)} {drawn(c)}"),
        Case.of("with other signs between numbers", OTHERS, problem=f"{drawn(c)}-{drawn(a)}*{drawn(b)}"),
        Case.of("on a problem without digits", OTHERS, problem="+="),
        Case.of("on an empty text", OTHERS, problem=""),
        Case.of("on numbers of 27 and more digits", LONG, problem=drawn(27, 40) + "="),
        Case.of("on numbers of more than 52 digits", LONG, problem=drawn(len(HINTS), 54) + "="),
    ]


def in_words(observation: Observation, case: Case) -> Observation:
    """What is done with digits and letters, if not what is asked for."""
    output = observation.get("output")
    if "output" not in observation:
        return observation
    words = _told(output, case.inputs["problem"]) if isinstance(output, str) else ""
    return {"hinted": words or AS_ASKED, **observation}


def _told(output: str, problem: str) -> str:
    left = "".join(one for one in output if one not in HINTS)
    if left != problem:
        where = f"Without its letters, your text is {left!r}, but the problem was {problem!r}."
        if left and sorted(left) == sorted(problem):
            return _short(f"{where} In which order should they come?")
        return _short(f"{where} What should be left of its characters?")
    pieces = re.findall(f"([{HINTS}]*)([^{HINTS}])", output)  # the letters before each character
    behind = [(letters, one) for one, letters in re.findall(f"([^{HINTS}])([{HINTS}]*)", output)]
    after = (_strays(pieces) or output[-1:] in HINTS) and not (_strays(behind) or output[:1] in HINTS)
    if after and problem:
        pieces = behind
    sentences = ["Your letters come after their digits. What comes first?"] if after and problem else []
    if others := _strays(pieces):
        return " ".join([*sentences, f"Your text has a letter for {others!r}. Which characters have a place?"])
    begins = [run.span() for run in re.finditer("[0-9]+", problem)]
    hints = [["".join(letters) for letters, _ in pieces[begin:end]] for begin, end in begins]
    if all(one and len(one) == 1 for number in hints for one in number):
        places = [(0, [HINTS.index(one) + 1 for one in number]) for number in hints]
        if words := counted(places, lambda place: f"has the letter {HINTS[place - 1]}", "letters", ""):
            return " ".join([*sentences, words])
    for begin, end in begins:
        letters = ["".join(letters) for letters, _ in pieces[begin:end]]
        number = problem[begin:end]
        if not any(letters):
            return _short(
                " ".join([*sentences, f"The number {number} has no letters. Which numbers should have some?"])
            )
        for place, own in enumerate(reversed(letters)):
            if own != HINTS[place]:
                has = f"the letter {own}" if len(own) == 1 else f"the letters {own}" if own else "no letter"
                names = {0: "ones digit", 1: "tens digit", 2: "hundreds digit"}
                which = names.get(place, f"digit at place {place + 1} from the right")
                return _short(" ".join([*sentences, f"In {number}, the {which} has {has}. Which should it have?"]))
    return " ".join(sentences)


def _strays(pieces: Sequence[tuple[str, str]]) -> str:
    """A character that isn't a digit and has letters; nothing where there is none."""
    return next((one for letters, one in pieces if letters and not one.isdigit()), "")


def _short(words: str) -> str:
    """Sentences about numbers of many digits are none that anybody reads."""
    return re.sub(r"[0-9]{20,}", lambda number: f"{number[0][:6]}... ({len(number[0])} digits)", words)


AS_ASKED = "a letter for each digit"
KEYS = ("hinted", "output")


TRIAL = Trial(
    module="transformer_course.length_generalization.places",
    points=1,
    cases=cases,
    canonical=in_words,
    called={"hinted": "what your letters say"},
    aspects=(
        aspects.right_kind("a text", "The function returns a text."),
        aspects.main("a letter for each place", 8.0, KEYS, "Each digit has the letter of its place before it."),
        *(replace(aspect, keys=KEYS) for aspect in (ENDS, SEVERAL, ZEROS, ONE_DIGIT, OTHERS, LONG)),
        aspects.untouched(weight=0.5),
    ),
)
