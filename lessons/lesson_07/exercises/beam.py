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
    """All rows at once; an answer that has ended keeps its place in the beam, and padding costs nothing."""
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


def _search(name: str, advice: str, central: bool = False) -> Mistake:
    """One of the wrong ways to search, under the name that it has in `searching`."""
    return Mistake(name, searcher(WRONG[name]), advice, central)


BEAM = Exercise(
    symbol="beam_search",
    points=4,
    cases=beam_cases,
    references=(beam_search,),
    canonical=in_full_width,
    aspects=(
        shape(),
        main(
            "the best of several prefixes",
            meaning="The best answer in the beam is returned, even where greedy decoding would miss it.",
        ),
        special(
            "exactly beam_width prefixes",
            "narrow",
            weight=7.0,
            meaning="With beam_width = 1, no more than one prefix is kept at each step.",
        ),
        special(
            "the length penalty",
            "penalty",
            weight=3.0,
            meaning="length_penalty decides between short answers and long ones as the docstring says.",
        ),
        special(
            "answers that are cut off compete", "cut", meaning="An answer that is cut off at max_length can win too."
        ),
        special(
            "a batch of one, a wide beam",
            "small",
            meaning="A batch of one, max_length = 1 and a beam wider than the vocabulary give the right answer too.",
        ),
        *OF_IDS,
    ),
    mistakes=(
        Mistake(
            "greedy",
            lambda *arguments: greedy_decode(*arguments[:5]),
            "Your answers are the greedy ones: you keep a single prefix. How many should you keep after each step?",
            central=True,
        ),
        _search(
            "branches_once",
            "You start with several first tokens, and decode greedily from each. Which extensions compete with each "
            "other in the second step?",
            True,
        ),
        _search(
            "never_pruned",
            "You keep every extension, so nothing is ever missed, but the work grows exponentially. How many should "
            "you keep after each step?",
            True,
        ),
        _search(
            "one_more_kept",
            "Your beam is one too wide: with beam_width = 1 it isn't greedy. How many extensions should you keep after "
            "each step?",
        ),
        _search(
            "worst_kept",
            "You keep the least likely extensions. In which order does your sort put them?",
        ),
        _search(
            "last_token_alone",
            "You rank answers by their last token alone. What about the probabilities of the tokens before it?",
        ),
        _search(
            "raw_logits_added",
            "You add up logits, which can't be compared from step to step. What turns them into log-probabilities?",
        ),
        _search(
            "probabilities_added",
            "You add up probabilities, so the longer an answer, the better. Is the probability of a whole answer a sum "
            "or a product?",
        ),
        _search(
            "ends_not_seen",
            "Your answers go on after their end token. What should happen to an answer that has ended?",
        ),
        _search(
            "goes_on_for_one_step",
            "An answer that has ended goes on for one more token, and with a length penalty that can look better. When "
            "do you check whether it has ended?",
        ),
        _search(
            "ended_answers_forgotten",
            "In the end, only prefixes that never ended compete. Where are the answers that did?",
        ),
        _search(
            "cut_answers_forgotten",
            "Only answers that ended compete. What about those that were cut off at max_length?",
        ),
        _search(
            "first_to_end",
            "You stop as soon as one answer has ended. Could a longer one be more likely?",
        ),
        _search(
            "worst_of_all",
            "In the end you take the answer with the lowest score. Which one is the best?",
        ),
        _search(
            "penalty_ignored",
            "The length penalty has no effect. Where does it enter the score?",
        ),
        _search(
            "penalty_multiplied",
            "Your penalty makes long answers look even worse, because you multiply by it. What does dividing a "
            "negative sum by the length do?",
        ),
        _search(
            "penalty_without_a_power",
            "You divide by the length times the penalty, so its size makes no difference. Where is it in the formula?",
        ),
        _search(
            "end_not_counted",
            "Your lengths leave out the end token. Is its log-probability part of the sum?",
        ),
        _search(
            "start_counted",
            "Your lengths count the start token. Is it part of the answer?",
        ),
        Mistake(
            "start_kept",
            searcher(Ways(), finish=lambda ids, start, end: [start, *ids]),
            "Your rows begin with the start token. Does greedy_decode return it?",
        ),
        Mistake(
            "end_dropped",
            searcher(Ways(), finish=lambda ids, start, end: [i for i in ids if i != end]),
            "The end token is missing from your rows. Does greedy_decode return it?",
        ),
        Mistake(
            "one_source_for_all",
            searcher(Ways(), read=lambda source, row: source[0]),
            "Every row answers the first source. Which source belongs to which row?",
        ),
        Mistake(
            "lists_returned",
            _with_all(lambda ids: [[i for i in row if i] for row in ids.tolist()]),
            "You return lists. How do you turn rows of different lengths into one padded tensor?",
        ),
        Mistake(
            "one_row_too_deep",
            _with_all(lambda ids: ids.unsqueeze(1)),
            "There is one axis too many, as if every source had several answers. How many should you return?",
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
