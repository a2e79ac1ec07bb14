"""`digit_positions`: how it is tried."""

from dataclasses import replace
from itertools import groupby

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import dims, strided
from transformer_course.lessons.aspects import special
from transformer_course.lessons.lesson_14.counting import counted
from transformer_course.lessons.lesson_14.drawing import draw_sum
from transformer_course.tasks.addition import ALPHABET, END_ID, PLUS_ID, START_ID

LONG = special("numbers of many digits", meaning="A number may have more digits than those of the example.")
DIGITS = special("all ten digits", "", 1.5, "The digits 0 and 9 are digits like any other.")
MARKS = special("start and end tokens", meaning="A start or end token isn't a digit, and it ends a number.")
ANYWHERE = special("padding anywhere", meaning="Padding ends a number, wherever it is.")
SMALLEST = special("one digit, one row, one token", meaning="The smallest inputs give the right result too.")


def _ids(*texts: str, columns: int = 0) -> torch.Tensor:
    """The texts as rows of ids, padded on the right, the longest last; `^` is the start, `.` the end, `_` padding."""
    marks = "_" + ALPHABET.characters + "^."
    length = max([columns, *map(len, texts)])
    rows = [text.ljust(length, "_") for text in sorted(texts, key=len)]  # what is kept from row to row shows
    return torch.tensor([[marks.index(one) for one in row] for row in rows])


def cases(generator: np.random.Generator) -> list[Case]:
    a, b, c = dims(generator, 3, 2, 5)

    def sums(*lengths: tuple[int, ...], without: str = "09") -> list[str]:
        return [draw_sum(generator, *digits, without=without) for digits in lengths]

    zeros = [f"{one[0]}0{one[1:]}0+{two[0]}00" for one, two in [sums((a,), (b,))]]
    leading = [f"0{one}+00{two}" for one, two in [sums((b,), (a,)), sums((c,), (b,))]]
    nines = [f"9{one}+{two}9" for one, two in [sums((b,), (c,))]]
    marked = [f"^{sums((a,))[0]}.", f"^{sums((b + 4,))[0]}."]
    between = [f"{sums((b,))[0]}.{sums((a,))[0]}", f"{sums((a,))[0]}^{sums((c,))[0]}.{sums((b,))[0]}"]
    scattered = [f"_{sums((2, 1))[0]}", f"{sums((b,))[0]}__{sums((c,))[0]}"]
    padded = a + b + 7  # or a row that is full would go on in the next one, by chance
    return [
        Case.of("on sums of numbers with different lengths", tokens=_ids(*sums((a, b), (b, c), (c, a)))),
        Case.of("on sums of two numbers of one length", tokens=_ids(*sums((a, a), (a, a)))),
        Case.of("on rows with much padding", tokens=_ids(*sums((a, b + 3), (1, 1)), columns=a + b + 8)),
        Case.of("on sums of three numbers", tokens=_ids(*sums((a, b, c), (c, b, a)))),
        Case.of("on numbers of many digits", LONG, tokens=_ids(*sums((31, 28), (27, 33)))),
        Case.of("on numbers that hold zeros", DIGITS, tokens=_ids(*zeros, *sums((a, b), without="9"), columns=padded)),
        Case.of("on numbers that begin with zeros", DIGITS, tokens=_ids(*leading, columns=padded)),
        Case.of("on numbers that hold nines", DIGITS, tokens=_ids(*nines, *sums((c, b), without="0"))),
        Case.of("on numbers of one digit", SMALLEST, tokens=_ids(*sums((1, 1), (1, 1)))),
        Case.of("on a single row", SMALLEST, tokens=_ids(*sums((b, a)))),
        Case.of("on rows of a single token", SMALLEST, tokens=torch.tensor([[3], [PLUS_ID], [0]])),
        Case.of("on answers, with their start and end tokens", MARKS, tokens=_ids(*marked)),
        Case.of("with start and end tokens between numbers", MARKS, tokens=_ids(*between)),
        Case.of("on rows of nothing but other tokens", MARKS, tokens=torch.tensor([[0, PLUS_ID], [START_ID, END_ID]])),
        Case.of("with padding before and between numbers", ANYWHERE, tokens=_ids(*scattered)),
        Case.of("on tokens that are not contiguous", aspects.LAYOUT, tokens=strided(_ids(*sums((a, c), (c, b))))),
    ]


AS_ASKED = "each digit's place in its number"


def whole(observation: Observation, case: Case) -> Observation:
    """Any kind of whole number will do. In words what is told of them, where they aren't those asked for."""
    if "output" not in observation:
        return observation
    output = observation["output"]
    observation = {"told": AS_ASKED, **observation}
    if isinstance(output, torch.Tensor) and not output.is_floating_point() and output.dtype != torch.bool:
        return {**observation, "told": _told(output.long(), case.inputs["tokens"]) or AS_ASKED, "output": output.long()}
    return observation


def _told(output: torch.Tensor, tokens: torch.Tensor) -> str:
    """What can be said of all numbers, or of all other tokens; nothing where nothing can be."""
    if output.shape != tokens.shape:
        return ""
    numbers = _numbers(tokens)
    wanted = torch.zeros_like(tokens)
    for row, columns in numbers:
        wanted[row, columns.start : columns.stop] = torch.arange(len(columns), 0, -1)
    if torch.equal(output, wanted):
        return ""
    first = output[:1] * (wanted > 0)
    if torch.equal(first[0], wanted[0]) and torch.equal(output, first):
        return "Each row gets the places of the first one. Does every row have numbers of the same lengths?"
    others = ((wanted == 0) & (output != 0)).nonzero().tolist()
    if others:
        row, column = others[0]
        what = {0: "Padding", PLUS_ID: "A plus", START_ID: "A start token", END_ID: "An end token"}
        return f"{what[int(tokens[row, column])]} gets {int(output[row, column])}. Which tokens should get 0?"
    lost = {int(token) - 1 for token in tokens[(wanted > 0) & (output == 0)]}
    if len(lost) == 1:
        (digit,) = lost
        alike = tokens == digit + 1
        if not output[alike].any() and alike.any(dim=0).sum() > 1:
            return f"Each {digit} gets 0, and no other digit does. Which ids are digits?"
    places = [(row, output[row, columns.start : columns.stop].tolist()) for row, columns in numbers]
    return counted(places, "gets {}".format, "places", " of a row")


def _numbers(tokens: torch.Tensor) -> list[tuple[int, range]]:
    """Of each number its row and its columns, in the order of reading."""
    numbers = []
    for row, digits in enumerate(((tokens >= 1) & (tokens <= 10)).tolist()):
        for is_digit, run in groupby(range(len(digits)), key=digits.__getitem__):
            columns = list(run)
            if is_digit:
                numbers.append((row, range(columns[0], columns[-1] + 1)))
    return numbers


TRIAL = Trial(
    module="transformer_course.length_generalization.places",
    points=2,
    cases=cases,
    canonical=whole,
    called={"told": "what your places say"},
    aspects=(
        aspects.right_kind("whole numbers, shape kept", "The result holds whole numbers, one for each token."),
        *(aspects.worded(aspect, "told") for aspect in (aspects.values(8.0), LONG, DIGITS, MARKS, ANYWHERE)),
        SMALLEST,
        replace(aspects.LAYOUT, weight=0.5),
        aspects.untouched(weight=0.5),
    ),
)
