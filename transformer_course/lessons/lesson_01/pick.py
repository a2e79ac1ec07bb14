"""`pick`: how it is tried. The probe is in `probes`: this module says what is right."""

from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import dims, integers, normal, with_gaps
from transformer_course.lessons.lesson_01.graphs import GRAPH, behind
from transformer_course.lessons.watching import AS_ASKED

SINGLE_ROW = aspects.special("a single row", meaning="A single row gives the right result too.")
A_ROW = aspects.spoken("one row of entries", "form", meaning="The entries are in one row, of shape (n,).")
ONE_ENTRY = aspects.special("rows of one entry", meaning="Rows with a single entry give the right result too.")


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(n: int, k: int, dtype: torch.dtype = torch.float32) -> dict[str, Any]:
        while True:
            index, values = integers(generator, 0, k, n), normal(generator, n, k, dtype=dtype)
            # Neither the diagonal nor one column, nor the same from the end, and not 0 in the first row: otherwise some
            # wrong ways to pick would look right. Nor does a sorted row have the same numbers in these places.
            likely = (torch.arange(n), index[:1].expand(n), index.flip(0))
            told_apart = n == 1 or k == 1 or not any(torch.equal(index, other) for other in likely)
            in_order = values.sort(dim=1).values
            if k == 1 or (told_apart and index[0] > 0 and bool((in_order != values)[torch.arange(n), index].any())):
                return {"values": values, "index": index}

    small, large = sorted(dims(generator, 2, 3, 8))
    side = int(generator.integers(4, 7))
    ends = {**drawn(5, 4), "index": torch.tensor([3, 0, 3, 3, 0])}
    n, k = dims(generator, 2, 3, 6)
    laid_out = with_gaps(drawn(k, n))
    return [
        Case.of("with more columns than rows", **drawn(small, large)),
        Case.of("with more rows than columns", **drawn(large, small)),
        Case.of("with as many rows as columns", **drawn(side, side)),
        Case.of("with the first and the last entry of a row", **ends),
        Case.of("on a single row", SINGLE_ROW, **drawn(1, k)),
        Case.of("with rows of one entry", ONE_ENTRY, **drawn(n, 1)),
        Case.of("with float64", aspects.FLOAT64, **drawn(n, k, torch.float64)),
        Case.of("with tensors that are not contiguous", aspects.LAYOUT, **laid_out),
    ]


def in_words(observation: Observation, case: Case) -> Observation:
    """The picked entries, and where else than asked they come from, if that can be seen."""
    if "output" not in observation or not case.tags >= aspects.USUAL:
        return observation
    words, output = _picked(observation["output"], **case.inputs), observation["output"]
    form = AS_ASKED
    if words != AS_ASKED and getattr(output, "shape", ()) == (len(case.inputs["index"]), 1):
        form = "Your entries come in a column of shape (n, 1). Which axis has done its work and can go?"
    graph = behind(observation, right=words == AS_ASKED)
    return {"picked": words, "form": form, "graph": graph, **observation}


def _picked(output: Any, values: torch.Tensor, index: torch.Tensor) -> str:
    entries = _entries(output)
    rows = torch.arange(len(index))
    if entries.shape != rows.shape or bool((entries == values[rows, index]).all()):
        return AS_ASKED
    places = [(values == entry).nonzero().tolist() for entry in entries]
    if any(len(place) != 1 for place in places):
        return AS_ASKED
    from_rows, columns = torch.tensor([place for (place,) in places]).unbind(dim=1)
    if torch.equal(from_rows, rows):
        for name, taken in {"largest": values.argmax(dim=1), "smallest": values.argmin(dim=1)}.items():
            if torch.equal(columns, taken):
                return f"You pick the {name} entry of each row. Which argument says which one to pick?"
        if bool((columns == columns[0]).all()):
            return f"You pick from column {int(columns[0])} in every row. Which entry of index belongs to row i?"
    at = int(((from_rows != rows) | (columns != index)).nonzero()[0])
    row, column = int(from_rows[at]), int(columns[at])
    question = "column" if row == at else "row and which column"
    return (
        f"Entry {at} of yours is values[{row}, {column}], and index[{at}] is {int(index[at])}. Which {question} should "
        "it be from?"
    )


def _entries(output: Any) -> torch.Tensor:
    """The picked entries in one row, whatever they came in; nothing where they are no numbers."""
    try:
        return torch.stack([torch.as_tensor(entry).detach() for entry in output]).squeeze(-1)
    except (RuntimeError, TypeError, ValueError, IndexError):
        return torch.zeros(0)


TRIAL = Trial(
    module="transformer_course.tensors",
    points=1,
    cases=cases,
    canonical=in_words,
    called={"picked": "what is picked"},
    aspects=(*aspects.with_words(aspects.of_tensors(SINGLE_ROW, ONE_ENTRY), "picked"), A_ROW, GRAPH),
)
