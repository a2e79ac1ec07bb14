"""`continue_text`: how it is tried. A toy model writes; of what is sampled, the sure part is compared.

Its cases need texts that only the right reading gives: this file doesn't travel, and the probe stands in probes.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from grader.authoring.aspects import CONTENT, also, main, modes, special, untouched
from grader.authoring.draw import dims
from grader.authoring.spec import Aspect, Case, Trial, tagged
from lessons.drawing import Inputs

VOCAB = 9

LONG = special("long texts", "", 8.0, "Of a text longer than max_length, the model reads the end, as much as it can.")
HOT = special("a high temperature", "", 5.0, "At temperature 8, tokens come up as often as they should.")
COLD = special("a low temperature", "", 1.0, "At a temperature near 0, the most likely token wins.")
TOP_P = special("top-p", "", 6.0, "Tokens of the smallest set that reaches top_p come up, and no others.")
ORDER = special(
    "temperature first, then top-p", "", 7.0, "The probabilities that sum to top_p are those after the temperature."
)
SHORT = special("short texts", "", 1.0, "A prompt of one token works, and so does adding nothing.")
CHANCE = Aspect(
    "randomness from the generator alone",
    ("chance",),
    CONTENT,
    weight=2.0,
    tags=tagged("chance"),
    meaning="The same seed gives the same text, another seed another one, and no other randomness is used.",
)


def cases(generator: np.random.Generator) -> list[Case]:
    def text(length: int, new: int, temperature: float, top_p: float, sways: bool = False, **others: Any) -> Inputs:
        """A text of different tokens, and a model whose best token is never a close call. Where it `sways`, some first
        tokens have their way in all that follows."""
        order = generator.permutation(VOCAB)
        table = generator.permuted(np.tile(np.linspace(-2.0, 2.0, VOCAB), (VOCAB, 1)), axis=1)
        for token, follower in zip(order, np.roll(order, 1), strict=True):  # the most likely tokens run in a ring
            best = table[token].argmax()
            table[token, [best, follower]] = table[token, [follower, best]]
        first = torch.zeros(VOCAB, VOCAB)
        if sways:
            first[order[::2], generator.permutation(VOCAB)[: len(order[::2])]] = 5.0
        return {
            "prompt": torch.from_numpy(generator.permutation(VOCAB)[:length]),
            "new": new,
            "temperature": temperature,
            "top_p": top_p,
            "table": torch.from_numpy(table).float(),
            "first": first,
            "seed": int(generator.integers(1, 10**6)),
            "training": bool(generator.integers(2)),
            **others,
        }

    def always(shares: list[float], *settings: Any, **others: Any) -> Inputs:
        """A model that gives the first tokens of a random order these probabilities, whatever it reads."""
        order = torch.from_numpy(generator.permutation(VOCAB))
        row = torch.full((VOCAB,), -torch.inf)
        row[order[: len(shares)]] = torch.tensor(shares).log()
        inputs = text(2, *settings, **others)
        inputs |= {"table": row.repeat(VOCAB, 1), "first": torch.zeros(VOCAB, VOCAB)}
        return {**inputs, "rare": int(order[1])}

    a, b = dims(generator, 2, 3, 6)
    rare = [1 - 1 / (1 + np.e**16), 1 / (1 + np.e**16)]
    crop = _until_the_past_shows(lambda: text(8, 5, 0.0, 1.0, True, max_length=3))
    return [
        Case.of("at temperature 0", **_until_the_past_shows(lambda: text(a, 6, 0.0, 0.9, True))),
        Case.of("where top_p leaves one token", **text(b, 12, 0.9, 0.1)),
        Case.of("at temperature 0, with a model of many positions", **text(a, b, 0.0, 1.0, max_length=30)),
        Case.of("with a text longer than the model's max_length", LONG, **crop),
        Case.of(
            "where the text outgrows the model's max_length",
            LONG,
            **_until_the_past_shows(lambda: text(3, 7, 0.0, 1.0, True, max_length=4)),
        ),
        Case.of("at temperature 8", HOT, **always(rare, 200, 8.0, 1.0, look="share")),
        Case.of("at temperature 0.02", COLD, **text(a, 12, 0.02, 1.0)),
        Case.of("with top_p = 0.7", TOP_P, **always([0.5, 0.25, 0.15, 0.1], 40, 1.0, 0.7, look="which")),
        Case.of("with top_p = 1", TOP_P, **always([0.4, 0.3, 0.3], 40, 1.0, 1.0, look="which")),
        Case.of(
            "with temperature 4 and top_p = 0.6", ORDER, **always([0.9, 0.05, 0.03, 0.02], 40, 4.0, 0.6, look="which")
        ),
        Case.of("with a text of one token", SHORT, **text(1, a, 0.0, 1.0)),
        Case.of("with nothing to add", SHORT, **text(a, 0, 1.0, 1.0)),
        Case.of("with the same generator, and with others", CHANCE, **text(4, 30, 1.1, 1.0, chance=True)),
    ]


Read = Callable[[torch.Tensor], torch.Tensor]
"""Which part of a text the model reads."""


def _until_the_past_shows(draw: Callable[[], Inputs]) -> Inputs:
    """A text that goes on in another way when the wrong part of it is read, or the wrong logits."""
    while True:
        inputs = draw()
        longest = inputs.get("max_length")
        right, *wrong = _whole_readings() if longest is None else _cropped_readings(longest)
        text = _greedy(inputs, right)
        if all(_greedy(inputs, read) != text for read in wrong) and _greedy(inputs, right, place=0) != text:
            return inputs


def _whole_readings() -> list[Read]:
    return [lambda ids: ids, lambda ids: ids[-1:]]


def _cropped_readings(n: int) -> list[Read]:
    return [
        lambda ids: ids[-n:],
        lambda ids: ids[:n],
        lambda ids: ids[-(n - 1) :],
        lambda ids: ids[-1:],
        lambda ids: ids,
    ]


def _greedy(inputs: Inputs, read: Read, place: int = -1) -> list[int]:
    """The text with the most likely token each time, by the logits at this place."""
    ids: torch.Tensor = inputs["prompt"]
    for _ in range(inputs["new"]):
        tokens = read(ids)[None]
        logits = inputs["table"][tokens] + inputs["first"][tokens[:, :1]]
        ids = torch.cat([ids, logits[:, place].argmax(-1)])
    return ids.tolist()


TRIAL = Trial(
    module="course.language_model.writing",
    points=3,
    cases=cases,
    shown=lambda case: {name: case.inputs[name] for name in ("prompt", "temperature", "top_p")},
    aspects=(
        main(
            "the loop, where only one token is left",
            6.0,
            meaning="Where the temperature or top_p leaves a single token to choose from, the text is exactly that.",
        ),
        LONG,
        HOT,
        COLD,
        TOP_P,
        ORDER,
        SHORT,
        CHANCE,
        also("no gradients recorded", "recorded", meaning="The model is called without recording gradients."),
        modes("train and eval mode untouched", 0.5),
        untouched(),
    ),
)
