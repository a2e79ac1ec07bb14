"""The special cases that exercises of several lessons share: what their names mean is written here, once."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from cellcheck.authoring import aspects
from cellcheck.authoring.spec import Aspect

MEANINGS: Mapping[str, str] = {
    # the networks of lesson 1
    "a single layer": "A network with only one layer gives the right result too.",
    "layers of width one": "Layers with only one input or one output give the right result too.",
    # masks
    "masks that broadcast": "A mask may have fewer axes than the scores, or axes of length one: it broadcasts.",
    "a row with nothing allowed": "A row in which the mask allows nothing gives finite numbers, not NaN.",
    "rows with nothing allowed": "Rows in which the mask allows nothing give finite numbers, not NaN.",
    "a source that is all padding": "A source of nothing but padding gives finite numbers, not NaN.",
    "large scores": "Very large scores give the right result too, not NaN.",
    # padding
    "another pad_id": "The result is also right when pad_id isn't 0.",
    "padding anywhere in a row": "Padding is recognised anywhere in a row, not only at the end.",
    "padding counts nowhere": "Padding has no influence on the result, however much of it there is.",
    # small batches
    "a batch of one, a single token": "A batch of one and rows of a single token give the right result too.",
    "a batch of one, a row of one": "A batch of one and rows of a single token give the right result too.",
    "a batch of one, rows of one": "A batch of one and rows of a single token give the right result too.",
    # the numbers
    "logits of any size": "The result is right however large or small the logits are.",
    "another base": "The base that is passed in is used.",
    "two columns": "With d_model = 2, the result is right too.",
    "logits that are -inf already": "Logits that are already -inf stay -inf, and the rest of the row is right.",
    # answers that end
    "rows that end at different times": "Each row stops at its own end, even if the others go on.",
    "cut off at max_length": "A row that doesn't end by itself is cut off at max_length tokens.",
}
"""What a special case with one of these names means, unless its exercise says something else."""


def special(
    name: str, tag: str = "", weight: float = 1.0, meaning: str = "", keys: tuple[str, ...] = ("output",)
) -> Aspect:
    """The right result in some special cases. A name in `MEANINGS` needs no `meaning`."""
    return aspects.special(name, tag, weight, meaning or MEANINGS.get(name, ""), keys)


def explained(aspects: Iterable[Aspect], meanings: Mapping[str, str]) -> tuple[Aspect, ...]:
    """The aspects, each with the sentence that these meanings have for its name, if there is one."""
    return tuple(replace(aspect, meaning=meanings.get(aspect.name, aspect.meaning)) for aspect in aspects)
