"""How the digits of numbers are counted, in words: what is said of places, and of the letters that stand for them."""

from collections.abc import Callable, Sequence
from itertools import pairwise


def counted(numbers: Sequence[tuple[int, Sequence[int]]], gets: Callable[[int], str], counts: str, where: str) -> str:
    """What holds for all numbers, each given as its row and what its digits get, from left to right; else nothing.

    `gets` says in words what one digit gets, and `counts` what all of them are called. A number is the last one
    `where`: "of a row", say.
    """
    steps = {before - after for _, number in numbers for before, after in pairwise(number)}
    if len(numbers) < 2 or steps not in ({1}, {-1}):  # too little, or nothing that is the same in all numbers
        return ""
    begins = [min(number) for _, number in numbers]
    rises = steps == {-1}
    beside = [number[0] for number in numbers]  # the row of each
    neighbours = [None, *beside[:-1]] if rises else [*beside[1:], None]
    at_end = [row != other for row, other in zip(beside, neighbours, strict=True)]
    of_end, of_others = (
        {one for one, end in zip(begins, at_end, strict=True) if end is which} for which in (True, False)
    )
    end, digit, others = ("first", "first digit", "after") if rises else ("last", "ones digit", "before")
    sentences = []
    if rises:
        sentences.append(f"Within a number, your {counts} rise from left to right. Which digit counts ones?")
    if len(of_end | of_others) == 1 and 1 not in of_end:
        sentences.append(f"The {digit} of every number {gets(begins[0])}. What should the ones get?")
    elif len(of_end) == 1 and of_others and not of_end & of_others:
        sentences.append(
            f"In the {end} number{where}, the {digit} {gets(min(of_end))}, and in the numbers {others} it, it never "
            "does. What becomes of the count between two numbers, and where does it begin?"
        )
    return " ".join(sentences)
