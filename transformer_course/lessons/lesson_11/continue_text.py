"""`continue_text`: how it is tried. A toy model writes; of what is sampled, the sure part is compared.

Its cases need texts that only the right reading gives: this file doesn't travel, and the probe stands in probes.py.
"""

from collections.abc import Callable
from itertools import combinations
from typing import Any

import numpy as np
import torch

from cellcheck.authoring.aspects import CONTENT, also, central, dtype, main, modes, special, untouched
from cellcheck.authoring.draw import dims
from cellcheck.authoring.spec import Aspect, Case, Trial, tagged
from transformer_course.lessons.drawing import Inputs

VOCAB = 9

LONG = special("long texts", "", 8.0, "Of a text longer than max_length, the model reads the end, as much as it can.")
HOT = central(
    special("a high temperature", "", 16.0, "At temperature 8, tokens come up as often as they should.", ("share",))
)
COLD = special(
    "a low temperature",
    "",
    4.0,
    "At temperature 0.02, tokens come up as often as they should.",
    ("share", "draws"),
)
ZERO = special(
    "a close call at temperature 0", "", 2.0, "At temperature 0 the most likely token is taken, however small its lead."
)
WHOLE = special("a model without max_length", "", 4.0, "A model that has no max_length reads the whole text.")
TOP_P = special("top-p", "", 10.0, "Tokens of the smallest set that reaches top_p come up, and no others.", ("which",))
ORDER = special(
    "temperature first, then top-p",
    "",
    7.0,
    "The probabilities that sum to top_p are those after the temperature.",
    ("which",),
)
DRAWN = Aspect(
    "each token drawn anew",
    ("draws",),
    CONTENT,
    weight=5.0,
    tags=tagged("drawn"),
    meaning="After the same tokens, sometimes one token follows and sometimes another.",
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

    def sure(inputs: Inputs) -> Inputs:
        """The same, with a model that is sure of its best tokens at temperature 1, too."""
        return {**inputs, "table": 40 * inputs["table"]}

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
    close = [1 / (1 + 7**-0.02), 1 - 1 / (1 + 7**-0.02)]  # nearly equal; at temperature 0.02, one is 7 times as likely
    lead = torch.full((VOCAB,), -1.0)
    lead[torch.from_numpy(generator.permutation(VOCAB)[:2])] = torch.tensor([1 + 1e-6, 1.0])
    close_call = {**text(2, 40, 0.0, 1.0, max_length=60), "table": lead.repeat(VOCAB, 1)}
    crop = _until_the_past_shows(lambda: text(8, 5, 0.0, 1.0, True, max_length=3))
    return [
        Case.of("at temperature 0", **_until_the_past_shows(lambda: text(a, 6, 0.0, 0.9, True))),
        Case.of("where top_p leaves one token", **_until_the_past_shows(lambda: text(b, 12, 0.9, 0.1, True))),
        Case.of(
            "at temperature 0, with a model of many positions",
            **_until_the_past_shows(lambda: text(a, b, 0.0, 1.0, True)),
            max_length=30,
        ),
        Case.of("at temperature 0, where two tokens are almost equally likely", ZERO, **close_call),
        Case.of("with 3,000 tokens, and a model without max_length", WHOLE, **_until_the_first_token_shows(text)),
        Case.of("with a text longer than the model's max_length", LONG, **crop),
        Case.of(
            "where the text outgrows the model's max_length",
            LONG,
            **_until_the_past_shows(lambda: text(3, 7, 0.0, 1.0, True, max_length=4)),
        ),
        Case.of("with 40 tokens at temperature 4", DRAWN, **text(2, 40, 4.0, 1.0, look="draws")),
        Case.of("with 40 tokens at temperature 0.5", DRAWN, **text(2, 40, 0.5, 1.0, look="draws")),
        Case.of("at temperature 8", HOT, **always(rare, 200, 8.0, 1.0, look="share")),
        Case.of("at temperature 0.02, with a model that is sure", COLD, **sure(text(a, 30, 0.02, 1.0, look="draws"))),
        Case.of("at temperature 0.02", COLD, **always(close, 200, 0.02, 1.0, look="share")),
        Case.of("with top_p = 0.7", TOP_P, **always([0.5, 0.25, 0.15, 0.1], 40, 1.0, 0.7, look="which")),
        Case.of("with top_p = 1", TOP_P, **always([0.4, 0.3, 0.3], 40, 1.0, 1.0, look="which")),
        Case.of(
            "with temperature 4 and top_p = 0.74",
            ORDER,
            # 4 of them after the temperature, 2 before it, 3 after its root, 5 after its square
            **always([0.661, 0.23, 0.054, 0.023, 0.018, 0.014], 120, 4.0, 0.74, look="which"),
        ),
        Case.of("with a text of one token", SHORT, **text(1, a, 0.0, 1.0)),
        Case.of("with nothing to add", SHORT, **text(a, 0, 1.0, 1.0)),
        Case.of("with the same generator, and with others", CHANCE, **text(4, 15, 1.1, 1.0, chance=True)),
    ]


Read = Callable[[torch.Tensor], torch.Tensor]
"""Which part of a text the model reads."""


def _until_the_past_shows(draw: Callable[[], Inputs]) -> Inputs:
    """A text that goes on in another way for each wrong part of it that is read, and by the wrong logits."""
    while True:
        inputs = draw()
        longest = inputs.get("max_length")
        readings = _whole_readings() if longest is None else _cropped_readings(longest)
        texts = [_greedy(inputs, read) for read in readings]
        if all(one != other for one, other in combinations(texts, 2)) and texts[0] != _greedy(inputs, readings[0], 0):
            return inputs


def _until_the_first_token_shows(text: Callable[..., Inputs]) -> Inputs:
    """A long text whose first token comes up nowhere else, and that goes on in another way after any other."""
    while True:
        inputs = text(VOCAB, 3, 0.0, 1.0, True)
        first, *others = inputs["prompt"]
        inputs["prompt"] = torch.stack([first, *others] + others * 375)[:3000]
        right = _greedy(inputs, lambda ids: ids)
        if all(_greedy(inputs, _with_first(other))[3000:] != right[3000:] for other in others):
            return inputs


def _with_first(token: torch.Tensor) -> Read:
    return lambda ids: torch.cat([token[None], ids[1:]])


def _whole_readings() -> list[Read]:
    return [lambda ids: ids, lambda ids: ids[-1:]]


def _cropped_readings(n: int) -> list[Read]:
    return [
        lambda ids: ids[-n:],
        lambda ids: ids[:n],
        lambda ids: ids[-(n - 1) :],
        lambda ids: ids[-1:],
        lambda ids: ids,  # the model tells by the first token and the last: so does whoever reads these and the end
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
    module="transformer_course.language_model.writing",
    points=3,
    cases=cases,
    called={
        "sure": "where one token is left to choose from",
        "share": "how often an unlikely token comes up",
        "which": "the tokens that come up",
        "draws": "which token follows when the text so far ends in the same way",
        "chance": "your text",
    },
    shown=lambda case: {name: case.inputs[name] for name in ("prompt", "temperature", "top_p")},
    aspects=(
        central(
            main(
                "the loop, where only one token is left",
                11.0,
                ("sure", "output"),
                meaning="Where the temperature or top_p leaves a single token to choose from, the text is just that.",
            )
        ),
        ZERO,
        LONG,
        WHOLE,
        DRAWN,
        HOT,
        COLD,
        TOP_P,
        ORDER,
        SHORT,
        CHANCE,
        dtype("ids come back as ids", meaning="The result has the dtype of the prompt, so a model can read it again."),
        also("no gradients recorded", "recorded", meaning="The model is called without recording gradients."),
        modes("train and eval mode untouched", 0.5),
        untouched(),
    ),
)
