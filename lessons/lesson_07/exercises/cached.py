"""`cached_greedy_decode`: cases, mistakes and variants. The model is in `patients`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence

from course.caching import KeyValueCache, cached_greedy_decode
from course.decoding import greedy_decode
from grader.authoring.aspects import KNOWN, also, main, shape
from grader.authoring.spec import Aspect, Case, Exercise, Mistake
from lessons.aspects import special
from lessons.lesson_07.exercises.drawing import (
    OF_IDS,
    Begin,
    Behind,
    in_full_width,
    slips,
    with_padding,
    with_the_start,
)
from lessons.lesson_07.exercises.greedy import ending_cases
from lessons.lesson_07.exercises.patients import counting_model


def _cases(generator: np.random.Generator) -> list[Case]:
    """Those of `greedy_decode`, and one in which sources are padded."""
    cases = ending_cases(generator)
    padded = dict(cases[0].inputs)
    padded["source"] = torch.cat([padded["source"], torch.zeros_like(padded["source"][:, :2])], dim=1)
    return [_counted(case) for case in (*cases, Case("with padded sources", padded, frozenset({"one"})))]


def _counted(case: Case) -> Case:
    """The same case, with a model that stays where nobody can set its counts."""
    inputs = {name: value for name, value in case.inputs.items() if name != "tables"}
    return replace(case, inputs=inputs, patient=partial(counting_model, inputs, case.inputs["tables"]))


def _stepper(
    encode: Callable[[Any, torch.Tensor], torch.Tensor] = lambda model, source: model.encode(source),
    feed: Callable[[torch.Tensor, int], torch.Tensor] = lambda written, start: written[:, -1:],
    remember: Callable[[Any], Any] = lambda cache: cache,
    begin: Begin = with_the_start,
    behind: Behind = with_padding,
    stop: Callable[[torch.Tensor], bool] = lambda ended: bool(ended.all()),
    steps: Callable[[int], int] = lambda max_length: max_length,
    finish: Callable[[torch.Tensor, int], torch.Tensor] = lambda written, end: written[:, 1:],
) -> Callable[..., torch.Tensor]:
    """The right way with one step replaced."""

    def decode(model: Any, source: torch.Tensor, start_id: int, end_id: int, max_length: int) -> torch.Tensor:
        written = begin(source, start_id, end_id)
        ended = torch.zeros(len(source), dtype=torch.bool)
        cache = KeyValueCache()
        with torch.no_grad():
            states = encode(model, source)
            for _ in range(steps(max_length)):
                cache = remember(cache)
                logits = model.decode_step(feed(written, start_id), states, cache)[:, -1]
                chosen = behind(logits.argmax(dim=-1), ended, end_id)
                written = torch.cat([written, chosen[:, None]], dim=1)
                ended = ended | (chosen == end_id)
                if stop(ended):
                    break
        return finish(written, end_id)

    return decode


def _all_read_again(anew: bool) -> Callable[..., torch.Tensor]:
    """Everything written so far is read once more in every step: by one cache, or `anew` by a cache of its own."""

    def decode(model: Any, source: torch.Tensor, start_id: int, end_id: int, max_length: int) -> torch.Tensor:
        cache, states = KeyValueCache(), model.encode(source)
        written = torch.full_like(source[:, :1], start_id)
        ended = torch.zeros(len(source), dtype=torch.bool)
        for _ in range(max_length):
            if anew:
                cache = KeyValueCache()
            for place in range(written.shape[1]):
                logits = model.decode_step(written[:, place : place + 1], states, cache)
            chosen = logits[:, -1].argmax(-1).masked_fill(ended, 0)
            written = torch.cat([written, chosen[:, None]], dim=1)
            ended = ended | (chosen == end_id)
        return written[:, 1:]

    return decode


def _encoded_each_step(model: Any, source: torch.Tensor, start_id: int, end_id: int, max_length: int) -> torch.Tensor:
    cache = KeyValueCache()
    tokens = torch.full_like(source[:, :1], start_id)
    ended = torch.zeros_like(tokens, dtype=torch.bool)
    columns = []
    for _ in range(max_length):
        tokens = model.decode_step(tokens, model.encode(source), cache).argmax(-1).masked_fill(ended, 0)
        ended |= tokens == end_id
        columns.append(tokens)
    return torch.cat(columns, dim=1)


def _row_by_row(model: Any, source: torch.Tensor, start_id: int, end_id: int, max_length: int) -> torch.Tensor:
    """Each row with a cache of its own; the sources are encoded together."""
    answers = []
    states = model.encode(source)
    for state in states:
        cache, ids = KeyValueCache(), [start_id]
        while len(ids) <= max_length and ids[-1] != end_id:
            ids.append(int(model.decode_step(torch.tensor([ids[-1:]]), state[None], cache).argmax()))
        answers.append(torch.tensor(ids[1:]))
    return pad_sequence(answers, batch_first=True)


def _in_a_buffer(model: Any, source: torch.Tensor, start_id: int, end_id: int, max_length: int) -> torch.Tensor:
    """Rows that have ended go on being read; what they would write is thrown away."""
    answer = source.new_zeros(source.shape[0], max_length)
    going = torch.ones(source.shape[0], dtype=torch.bool)
    cache, states = KeyValueCache(), model.encode(source).detach()
    newest = torch.full((source.shape[0], 1), start_id)
    for t in range(max_length):
        newest = model.decode_step(newest, states, cache).detach().argmax(dim=2)
        answer[:, t] = torch.where(going, newest[:, 0], 0)
        going = going & (newest[:, 0] != end_id)
    return answer


def _own_cache(model: Any, source: torch.Tensor, start_id: int, end_id: int, max_length: int) -> torch.Tensor:
    """A memory of one's own, made on the spot."""

    class Memory:
        def __init__(self) -> None:
            self.store: dict[int, tuple[torch.Tensor, ...]] = {}

        def append(self, layer: int, *new: torch.Tensor) -> tuple[torch.Tensor, ...]:
            old = self.store.get(layer, tuple(t[:, :, :0] for t in new))
            self.store[layer] = tuple(torch.cat(pair, 2) for pair in zip(old, new, strict=True))
            return self.store[layer]

    memory = Memory()
    return _stepper(remember=lambda cache: memory)(model, source, start_id, end_id, max_length)


_SLIPS = slips(_stepper)

CACHED = Exercise(
    symbol="cached_greedy_decode",
    points=3,
    cases=_cases,
    references=(cached_greedy_decode,),
    canonical=in_full_width,
    aspects=(
        shape(),
        main("the ids of greedy_decode", meaning="The ids are the ones that greedy_decode gives."),
        Aspect(
            "one new token at a time",
            keys=("way",),
            kinds=KNOWN,
            core=True,
            meaning="The model reads through decode_step, and is never called with the whole prefix.",
        ),
        also(
            "nothing is read twice",
            "work",
            weight=7.0,
            meaning="Each source is encoded once, and each token goes through decode_step once.",
        ),
        special("rows that end at different times", "differ", weight=2.0),
        special("cut off at max_length", "cut"),
        special(
            "a batch of one, padded sources",
            "one",
            meaning="A batch of one, padded sources and a model in eval mode give the right answer too.",
        ),
        *OF_IDS,
    ),
    mistakes=(
        Mistake(
            "no_cache_at_all",
            greedy_decode,
            "The ids are right, but the model reads everything again for each token, as in greedy_decode. Which method "
            "reads a single new token?",
            central=True,
        ),
        Mistake(
            "a_new_cache_each_step",
            _stepper(remember=lambda cache: KeyValueCache()),
            "In every step the model forgets what it has read. Should you make the cache inside the loop, or before "
            "it?",
            central=True,
        ),
        Mistake(
            "whole_prefix_each_step",
            _all_read_again(anew=False),
            "In every step you pass in everything written so far, and the cache stores it all again. Which tokens "
            "hasn't the model read yet?",
            central=True,
        ),
        Mistake(
            "read_anew_each_step",
            _all_read_again(anew=True),
            "The ids are right, but every token is read again and again, with a new cache each time. What is the cache "
            "for?",
            central=True,
        ),
        Mistake(
            "encoded_each_step",
            _encoded_each_step,
            "The ids are right, but you encode the source in every step. Does it change while the answer is written?",
        ),
        Mistake(
            "start_fed_each_step",
            _stepper(feed=lambda written, start: written[:, :1]),
            "You pass in the start token in every step. What doesn't the model know yet after it has written a token?",
        ),
        Mistake(
            "one_token_behind",
            _stepper(feed=lambda written, start: written[:, -2:-1] if written.shape[1] > 1 else written),
            "You pass in the last token but one, so the model is always one behind. Which one was written last?",
        ),
        _SLIPS["start_never_fed"],
        _SLIPS["begins_with_the_end"],
        Mistake(
            "states_of_row_0",
            _stepper(encode=lambda model, source: model.encode(source)[:1].expand(len(source), -1, -1)),
            "Every row answers the first source. Which encoder states belong to which row?",
        ),
        _SLIPS["start_kept"],
        _SLIPS["goes_on_after_the_end"],
        _SLIPS["end_repeated"],
        _SLIPS["stops_with_the_first_end"],
        _SLIPS["start_counted"],
        _SLIPS["one_token_too_many"],
        _SLIPS["left_in_eval_mode"],
    ),
    variants={
        "step by step": _stepper(),
        "row by row": _row_by_row,
        "in a buffer": _in_a_buffer,
        "a memory of its own": _own_cache,
        "never stops early": _stepper(stop=lambda ended: False),
    },
)
