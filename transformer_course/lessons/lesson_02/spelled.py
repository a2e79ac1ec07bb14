"""What is missing from a text or a list of ids, or stands in another place, in words."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from transformer_course.lessons.watching import AS_ASKED


def unlike(output: Any, right: Sequence[Any], one: str) -> str:
    """How the output differs from what is right as a whole. `one` says what each part of it is: "id", "character"."""
    if not isinstance(output, type(right)) or len(right) < 3 or output == right:
        return AS_ASKED
    if output == right[:-1]:
        return f"The last {one} is missing. How far does your loop run?"
    if output == right[1:]:
        return f"The first {one} is missing. Where does your loop begin?"
    try:
        others = Counter(output) == Counter(right)
    except TypeError:  # a list of what can't be counted
        return AS_ASKED
    if others and output != right[::-1]:
        return f"Each {one} is there, and some are in another place. In which order do they come in?"
    return AS_ASKED
