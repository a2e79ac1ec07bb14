"""`greedy_decode`: cases, mistakes and variants. The toy models live in the probe."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from course.decoding import greedy_decode
from grader.authoring.aspects import USUAL, main, shape
from grader.authoring.draw import dims
from grader.authoring.spec import Case, Exercise, Mistake
from lessons.aspects import special
from lessons.lesson_07.exercises.drawing import OF_IDS, draw_ending, in_full_width, slips, writer


def ending_cases(generator: np.random.Generator) -> list[Case]:
    """Batches whose rows end at the same time, at different times, at the first token, or never."""

    def draw(*wanted: int, width: int) -> dict[str, Any]:
        return draw_ending(generator, list(wanted), width).inputs()

    early, late = sorted(dims(generator, 2, 2, 4))
    differ, cut = frozenset({"differ"}), frozenset({"cut"})
    return [
        Case("with rows that all end at the same step", draw(late, late, width=6), USUAL),
        Case("with more rows that all end at the same step", draw(3, 3, 3, width=5), USUAL),
        Case("with rows that end in the last column", draw(4, 4, 4, width=4), USUAL),
        Case("with rows that end at different times", draw(late, early, 5, width=6), differ),
        Case("with a row whose first token is the end", draw(3, 5, 1, early, width=6), differ),
        Case("with a row that is cut off at max_length", draw(early, 0, 3, width=5), differ),
        Case("with rows that never end", draw(0, 0, 0, 0, width=3), cut),
        Case("with max_length = 1", draw(0, 0, width=1), cut),
        Case("on a batch of one", draw(late, width=6), frozenset({"one"})),
        Case("on a batch of one that never ends", draw(0, width=4), frozenset({"one"})),
        Case("with a model in evaluation mode", {**draw(early, early, width=5), "training": False}, frozenset({"one"})),
    ]


def _row_by_row(model: Any, source: torch.Tensor, start_id: int, end_id: int, max_length: int) -> torch.Tensor:
    answers = []
    for row in source:
        ids = [start_id]
        while len(ids) <= max_length and ids[-1] != end_id:
            ids.append(int(model(row[None], torch.tensor([ids]))[0, -1].argmax()))
        answers.append(torch.tensor(ids[1:]))
    return pad_sequence(answers, batch_first=True)


def _in_a_buffer(model: Any, source: torch.Tensor, start_id: int, end_id: int, max_length: int) -> torch.Tensor:
    """A buffer of full width: what isn't written yet is padding, which a causal model doesn't look at."""
    buffer = source.new_zeros(len(source), max_length + 1)
    buffer[:, 0] = start_id
    going = torch.ones(len(source), dtype=torch.bool)
    for t in range(max_length):
        best = model(source, buffer).detach()[:, t].max(dim=-1).indices
        buffer[going, t + 1] = best[going]
        going &= best != end_id
    return buffer[:, 1:]


def _only_those_alive(model: Any, source: torch.Tensor, start_id: int, end_id: int, max_length: int) -> torch.Tensor:
    answers = torch.zeros(len(source), max_length, dtype=torch.long)
    alive = torch.arange(len(source))
    written = torch.full((len(source), 1), start_id)
    for t in range(max_length):
        if len(alive) == 0:
            break
        chosen = model(source[alive], written)[:, -1, :].argmax(-1)
        answers[alive, t] = chosen
        stays = chosen != end_id
        alive, written = alive[stays], torch.cat([written, chosen[:, None]], 1)[stays]
    return answers


def _cleaned_afterwards(model: Any, source: torch.Tensor, start_id: int, end_id: int, max_length: int) -> torch.Tensor:
    """Everything is written first; what comes after the first end is erased."""
    written = torch.full((source.size(0), 1), start_id, dtype=source.dtype)
    with torch.inference_mode():
        for _ in range(max_length):
            written = torch.hstack([written, model(source, written)[:, -1:].argmax(-1)])
    ids = written[:, 1:].clone()
    ends = (ids == end_id).long()
    return ids * (ends.cumsum(1) - ends == 0)


def _mode_put_back(model: Any, source: torch.Tensor, start_id: int, end_id: int, max_length: int) -> torch.Tensor:
    training = model.training
    model.eval()
    device = next(model.parameters()).device
    ids = _cleaned_afterwards(model, source.to(device), start_id, end_id, max_length)
    model.train(training)
    return ids


def _never_generates(model: Any, source: torch.Tensor, start_id: int, end_id: int, max_length: int) -> torch.Tensor:
    """One pass over a target that doesn't exist: nothing is ever generated."""
    ids: torch.Tensor = model(source, source).argmax(dim=-1)
    return ids[:, :max_length]


def _last_token_cleaned(written: torch.Tensor, end: int) -> torch.Tensor:
    return written[:, 1:].masked_fill(written[:, 1:] == end, 0)


def _one_late(model: Any, source: torch.Tensor, start_id: int, end_id: int, max_length: int) -> torch.Tensor:
    """Looks for the end one step too late."""
    ids = writer(behind=lambda chosen, ended, end: chosen, stop=lambda ended: False)(
        model, source, start_id, end_id, max_length
    )
    ends = (ids == end_id).long().cumsum(1)
    late = torch.cat([torch.zeros_like(ends[:, :2]), ends[:, :-2]], dim=1)[:, : ids.shape[1]]
    return ids * (late == 0)


_SLIPS = slips(writer)

GREEDY = Exercise(
    symbol="greedy_decode",
    points=4,
    cases=ending_cases,
    references=(greedy_decode,),
    canonical=in_full_width,
    aspects=(
        shape(),
        main(
            "the most likely token each time",
            meaning="At every step, each row gets its most likely token.",
        ),
        special("rows that end at different times", "differ", weight=6.0),
        special("cut off at max_length", "cut"),
        special(
            "a batch of one",
            "one",
            meaning="A batch of one gives the right answer too, and so does a model in eval mode.",
        ),
        *OF_IDS,
    ),
    mistakes=(
        _SLIPS["start_kept"],
        Mistake(
            "end_dropped",
            writer(finish=_last_token_cleaned),
            "The end token is missing from your rows. How could anybody tell whether a row ended or was cut off?",
        ),
        replace(_SLIPS["goes_on_after_the_end"], central=True),
        Mistake(
            "writes_to_the_last_column",
            writer(behind=lambda chosen, ended, end: chosen, stop=lambda ended: False),
            "Your rows never stop before max_length. Where do you look for the end token?",
            central=True,
        ),
        replace(_SLIPS["stops_with_the_first_end"], central=True),
        Mistake(
            "stops_with_row_0",
            writer(stop=lambda ended: bool(ended[0])),
            "The whole batch stops when row 0 ends. What about the rows that haven't ended yet?",
        ),
        _SLIPS["end_repeated"],
        Mistake(
            "one_token_after_the_end",
            _one_late,
            "One more token is written after each end. When do you check whether a row has ended: before a token is "
            "written, or after?",
        ),
        Mistake(
            "first_place_read",
            writer(look=lambda logits: logits[:, 0]),
            "You use the logits at the first position, so the same token comes up again and again. Which position "
            "tells you about the next token?",
            central=True,
        ),
        Mistake(
            "last_token_fed_alone",
            writer(feed=lambda written: written[:, -1:]),
            "The model only gets to see the last token. How can it know what was written before that?",
        ),
        _SLIPS["start_never_fed"],
        _SLIPS["begins_with_the_end"],
        Mistake(
            "begins_with_the_source",
            writer(begin=lambda source, start, end: source[:, :1]),
            "Your rows start with the first token of the source. What should the model read first?",
        ),
        Mistake(
            "never_generates",
            _never_generates,
            "You run the model once, with the source in place of the answer. Where does what it wrote go back in?",
            central=True,
        ),
        Mistake(
            "one_source_for_all",
            writer(read=lambda source: source[:1].expand(len(source), -1)),
            "Every row answers the first source. Which source belongs to which row?",
        ),
        _SLIPS["start_counted"],
        _SLIPS["one_token_too_many"],
        Mistake(
            "never_cut",
            writer(steps=lambda max_length: max_length + 9),
            "Rows that don't end run past max_length. What stops the loop for them?",
        ),
        Mistake(
            "least_likely_token",
            writer(choose=lambda logits: logits.argmin(dim=-1)),
            "You take the token with the lowest logit. Which one is the most likely?",
        ),
        Mistake(
            "scores_returned",
            lambda model, source, start_id, end_id, max_length: greedy_decode(
                model, source, start_id, end_id, max_length
            ).float(),
            "The ids are right, but they are floating-point numbers, and an embedding can't take those. What dtype "
            "should ids have?",
        ),
        Mistake(
            "lists_returned",
            lambda model, source, start_id, end_id, max_length: greedy_decode(
                model, source, start_id, end_id, max_length
            ).tolist(),
            "You return lists. How do you turn rows of equal length into one tensor?",
        ),
        _SLIPS["left_in_eval_mode"],
    ),
    variants={
        "row by row": _row_by_row,
        "in a buffer": _in_a_buffer,
        "only rows that are alive": _only_those_alive,
        "cleaned afterwards": _cleaned_afterwards,
        "mode put back": _mode_put_back,
        "step by step": writer(),
        "wide, whole numbers of 32 bits": lambda model, source, start_id, end_id, max_length: _in_a_buffer(
            model, source, start_id, end_id, max_length
        ).int(),
    },
)
