"""`beam_search`: mistakes and variants. Its cases stand in `beam_cases`, its wrong ways in `searching`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course.beam import beam_search
from course.decoding import greedy_decode
from grader.authoring.aspects import main, shape, special
from grader.authoring.spec import Exercise, Mistake
from lessons.lesson_07.exercises.beam_cases import beam_cases
from lessons.lesson_07.exercises.drawing import OF_IDS, in_full_width
from lessons.lesson_07.exercises.searching import WRONG, Ways, searcher


def _greedy(model: Any, source: torch.Tensor, start: int, end: int, max_length: int, *_: Any) -> torch.Tensor:
    return greedy_decode(model, source, start, end, max_length)


def _with_all(change: Callable[[torch.Tensor], Any]) -> Callable[..., Any]:
    return lambda *arguments: change(beam_search(*arguments))


def _ended_in_the_beam(
    model: Any,
    source: torch.Tensor,
    start_id: int,
    end_id: int,
    max_length: int,
    beam_width: int,
    length_penalty: float = 0.0,
) -> torch.Tensor:
    """All rows at once; an answer that has ended keeps its place in the beam, and padding costs it nothing."""
    batch = len(source)
    with torch.no_grad():
        vocabulary = model(source, torch.full((batch, 1), start_id)).shape[-1]
        written = torch.full((batch, beam_width, 1), start_id)
        totals = torch.full((batch, beam_width), -torch.inf)
        totals[:, 0] = 0.0
        ended = torch.zeros(batch, beam_width, dtype=torch.bool)
        lengths = torch.zeros(batch, beam_width)
        stay = torch.full((vocabulary,), -torch.inf)
        stay[0] = 0.0
        for _ in range(max_length):
            logits = model(source.repeat_interleave(beam_width, 0), written.flatten(0, 1))[:, -1]
            steps = logits.log_softmax(-1).reshape(batch, beam_width, vocabulary)
            steps = torch.where(ended[..., None], stay, steps)
            totals, places = (totals[..., None] + steps).flatten(1).topk(beam_width)
            parents, tokens = places // vocabulary, places % vocabulary
            written = torch.cat([written.gather(1, parents[..., None].expand_as(written)), tokens[..., None]], -1)
            lengths = lengths.gather(1, parents) + ~ended.gather(1, parents)
            ended = ended.gather(1, parents) | (tokens == end_id)
        best = (totals / lengths**length_penalty).argmax(dim=1)
    return written[torch.arange(batch), best, 1:]


def _search(name: str, advice: str) -> Mistake:
    """One of the wrong ways to search, under the name that it has in `searching`."""
    return Mistake(name, searcher(WRONG[name]), advice)


BEAM = Exercise(
    symbol="beam_search",
    points=4,
    cases=beam_cases,
    references=(beam_search,),
    canonical=in_full_width,
    aspects=(
        shape(),
        main("the best of several beginnings"),
        special("as narrow as asked", "narrow", weight=2.0),
        special("the length penalty", "penalty", weight=2.0),
        special("what is cut competes", "cut"),
        special("a batch of one, a wide beam", "small"),
        *OF_IDS,
    ),
    mistakes=(
        Mistake(
            "greedy",
            _greedy,
            "Your answers are the greedy ones: one beginning at a time. How many should stay after each step?",
        ),
        _search(
            "branches_once",
            "You begin with several first tokens, and each goes its greedy way from there. Which continuations "
            "compete with each other in the second step?",
        ),
        _search(
            "never_pruned",
            "You keep everything, so nothing is ever missed, and the work grows without end. How many continuations "
            "stay after a step?",
        ),
        _search(
            "one_more_kept",
            "Your beam is one wider than asked: with beam_width = 1 it is not greedy. How many continuations stay "
            "after a step?",
        ),
        _search(
            "worst_kept",
            "You keep the unlikeliest continuations. In which order does your sort put them?",
        ),
        _search(
            "last_token_alone",
            "You rank answers by their last token alone. What about the probability of all the tokens before it?",
        ),
        _search(
            "raw_logits_added",
            "You add up logits, which have another zero in each step. What makes log-probabilities of them?",
        ),
        _search(
            "probabilities_added",
            "You add up probabilities, so the longer an answer the better. Is the probability of a row of tokens a "
            "sum, or a product?",
        ),
        _search(
            "ends_not_seen",
            "Your answers go on behind their end token. What should happen to an answer that has ended?",
        ),
        _search(
            "goes_on_for_one_step",
            "An answer that has ended goes on for one token more, and with a length penalty that can look better. When "
            "do you look whether it has ended?",
        ),
        _search(
            "ended_answers_forgotten",
            "Among the last ones standing only those that never ended compete. Where are those that did?",
        ),
        _search(
            "cut_answers_forgotten",
            "Only answers that ended compete. What about those that were cut at max_length?",
        ),
        _search(
            "first_to_end",
            "You stop when the first answer ends. Can a longer one be likelier?",
        ),
        _search(
            "worst_of_all",
            "In the end you take the answer with the lowest score. Which one is the best?",
        ),
        _search(
            "penalty_ignored",
            "The length penalty changes nothing. Where does it enter the score?",
        ),
        _search(
            "penalty_multiplied",
            "Your penalty makes long answers worse still: you multiply with it. Sums of logarithms are negative: what "
            "does a division by the length do?",
        ),
        _search(
            "penalty_without_a_power",
            "You divide by the length times the penalty, so the penalty's size changes nothing. Where does it stand in "
            "the formula?",
        ),
        _search(
            "end_not_counted",
            "Your lengths leave out the end token. Does its log-probability stand in the sum?",
        ),
        _search(
            "start_counted",
            "Your lengths count the start token. Is it part of the answer?",
        ),
        Mistake(
            "start_kept",
            searcher(Ways(), finish=lambda ids, start, end: [start, *ids]),
            "Your rows begin with the start token. In which form does greedy_decode return its rows?",
        ),
        Mistake(
            "end_dropped",
            searcher(Ways(), finish=lambda ids, start, end: [i for i in ids if i != end]),
            "The end token is gone from your rows. In which form does greedy_decode return its rows?",
        ),
        Mistake(
            "one_source_for_all",
            searcher(Ways(), read=lambda source, row: source[0]),
            "Every row answers the first source. Which source belongs to which row?",
        ),
        Mistake(
            "lists_returned",
            _with_all(lambda ids: [[i for i in row if i] for row in ids.tolist()]),
            "You return lists. What makes one tensor of rows, with padding behind the shorter ones?",
        ),
        Mistake(
            "one_row_too_deep",
            _with_all(lambda ids: ids.unsqueeze(1)),
            "There is an axis too many, as if every source had several answers. How many are to be returned?",
        ),
    ),
    variants={
        "lists of entries": searcher(Ways()),
        "all rows at once, ends stay in the beam": _ended_in_the_beam,
        "logarithms taken late": searcher(
            Ways(
                logs=lambda logits: logits.double().softmax(-1).clamp(min=1e-300),
                add=lambda total, more: total + float(np.log(more)),
            )
        ),
    },
)
