"""`continue_text`: cases, mistakes and variants. A toy model writes; of what is sampled, the sure part is compared."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from course.language_model.writing import continue_text
from course.sampling import sample_with_temperature, top_p_filter
from grader.authoring import draw
from grader.authoring.aspects import CONTENT, also, main, modes, special, untouched
from grader.authoring.spec import USUAL, Aspect, Case, Exercise, Mistake, tagged

VOCAB = 9


def _texts(generator: np.random.Generator) -> list[Case]:
    def text(length: int, new: int, temperature: float, top_p: float, sways: bool = False, **others: Any) -> Any:
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

    def always(shares: list[float], *settings: Any, **others: Any) -> dict[str, Any]:
        """A model that gives the first tokens of a random order these probabilities, whatever it reads."""
        order = torch.from_numpy(generator.permutation(VOCAB))
        row = torch.full((VOCAB,), -torch.inf)
        row[order[: len(shares)]] = torch.tensor(shares).log()
        inputs = text(2, *settings, **others)
        inputs |= {"table": row.repeat(VOCAB, 1), "first": torch.zeros(VOCAB, VOCAB)}
        return {**inputs, "rare": int(order[1])}

    a, b = draw.dims(generator, 2, 3, 6)
    rare = [1 - 1 / (1 + np.e**16), 1 / (1 + np.e**16)]
    crop = _until_the_past_shows(lambda: text(8, 5, 0.0, 1.0, True, max_length=3))
    return [
        Case("at temperature 0", _until_the_past_shows(lambda: text(a, 6, 0.0, 0.9, True)), USUAL),
        Case("where top_p leaves one token", text(b, 12, 0.9, 0.1), USUAL),
        Case("at temperature 0, with a model of many positions", text(a, b, 0.0, 1.0, max_length=30), USUAL),
        Case("with a text longer than the model's max_length", crop, tagged("long")),
        Case(
            "where the text outgrows the model's max_length",
            _until_the_past_shows(lambda: text(3, 7, 0.0, 1.0, True, max_length=4)),
            tagged("long"),
        ),
        Case("at temperature 8", always(rare, 200, 8.0, 1.0, look="share"), tagged("hot")),
        Case("at temperature 0.02", text(a, 12, 0.02, 1.0), tagged("cold")),
        Case("with top_p = 0.7", always([0.5, 0.25, 0.15, 0.1], 40, 1.0, 0.7, look="which"), tagged("top-p")),
        Case("with top_p = 1", always([0.4, 0.3, 0.3], 40, 1.0, 1.0, look="which"), tagged("top-p")),
        Case(
            "with temperature 4 and top_p = 0.6",
            always([0.9, 0.05, 0.03, 0.02], 40, 4.0, 0.6, look="which"),
            tagged("order"),
        ),
        Case("with a text of one token", text(1, a, 0.0, 1.0), tagged("one")),
        Case("with nothing to add", text(a, 0, 1.0, 1.0), tagged("one")),
        Case("with the same generator, and with others", text(4, 30, 1.1, 1.0, chance=True), tagged("chance")),
    ]


def _until_the_past_shows(make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """A text that goes on in another way when the wrong part of it is read, or the wrong logits."""

    def model(inputs: dict[str, Any]) -> Callable[[torch.Tensor], torch.Tensor]:
        def logits(tokens: torch.Tensor) -> torch.Tensor:
            result: torch.Tensor = inputs["table"][tokens] + inputs["first"][tokens[:, :1]]
            return result

        return logits

    while True:
        inputs = make()
        longest = inputs.get("max_length", 0)
        readings: list[dict[str, Any]] = [
            {"read": partial(_read, crop, longest)} for crop in (_CROPS if longest else _CROPS[-1:-3:-1])
        ]
        found = [
            _writer(**steps)(model(inputs), inputs["prompt"], inputs["new"], 0.0, 1.0, torch.Generator()).tolist()
            for steps in [*readings, {**readings[0], "place": 0}]
        ]
        if all(other != found[0] for other in found[1:]):
            return inputs


def _read(crop: Callable[[torch.Tensor, int], torch.Tensor], longest: int, ids: torch.Tensor, _: Any) -> torch.Tensor:
    return crop(ids, longest)


_CROPS: list[Callable[[torch.Tensor, int], torch.Tensor]] = [
    lambda ids, n: ids[-n:],
    lambda ids, n: ids[:n],
    lambda ids, n: ids[-(n - 1) :],
    lambda ids, n: ids[-1:],
    lambda ids, n: ids,
]

Pick = Callable[[torch.Tensor, float, float], torch.Tensor]


def _filtered(logits: torch.Tensor, temperature: float, p: float) -> torch.Tensor:
    return top_p_filter(logits / temperature, p)


def _without_crossing(logits: torch.Tensor, temperature: float, p: float) -> torch.Tensor:
    """Drops the token that brings the sum to p."""
    ordered, places = (logits / temperature).sort(dim=-1, descending=True)
    dropped = ordered.softmax(-1).cumsum(-1) >= p
    dropped[:, 0] = False
    return torch.empty_like(ordered).scatter(-1, places, ordered.masked_fill(dropped, -torch.inf))


def _writer(
    left: Pick = _filtered,
    read: Callable[[torch.Tensor, int | None], torch.Tensor] = lambda ids, n: ids if n is None else ids[-n:],
    own: Callable[[torch.Generator], Any] = lambda generator: generator,
    zero: bool = True,
    place: int = -1,
    more: int = 0,
    joined: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = lambda ids, token: torch.cat([ids, token]),
    told: Callable[[torch.Tensor, int], Any] = lambda ids, prompt: ids,
    recorded: bool = False,
) -> Callable[..., Any]:
    """`continue_text` with one step replaced."""

    def write(model: Any, prompt: torch.Tensor, new: int, temperature: float, p: float, generator: Any) -> Any:
        ids, chance = prompt.clone(), own(generator)
        with torch.set_grad_enabled(recorded):
            for _ in range(new + more):
                logits = model(read(ids, getattr(model, "max_length", None))[None])[:, place].detach()
                if zero and temperature == 0:
                    token = logits.argmax(-1)
                else:
                    token = torch.multinomial(left(logits, temperature, p).softmax(-1), 1, generator=chance)[0]
                ids = joined(ids, token)
        return told(ids, len(prompt))

    return write


def _slip(name: str, advice: str, central: bool = False, **steps: Any) -> Mistake:
    return Mistake(name, _writer(**steps), advice, central)


def _eval_left(model: Any, *rest: Any) -> Any:
    if isinstance(model, torch.nn.Module):
        model.train(not model.training)
    return continue_text(model, *rest)


def _in_a_list(model: Any, prompt: torch.Tensor, new: int, temperature: float, p: float, generator: Any) -> Any:
    """Keeps a list, and asks for the temperature in another place."""
    ids = prompt.tolist()
    longest = model.max_length if hasattr(model, "max_length") else 10**9
    for _ in range(new):
        with torch.inference_mode():
            row = model(torch.tensor([ids[-longest:]]))[0, -1:]
        if temperature == 0:
            ids.append(int(row.argmax()))
        else:
            kept = top_p_filter(row / temperature, p) * temperature
            ids.append(int(sample_with_temperature(kept, temperature, generator)))
    return torch.tensor(ids, dtype=prompt.dtype)


def _with_noise(model: Any, prompt: torch.Tensor, new: int, temperature: float, p: float, generator: Any) -> Any:
    """Gumbel noise, and everything written into a tensor made beforehand."""
    n = len(prompt)
    ids = torch.cat([prompt, prompt.new_zeros(new)])
    with torch.no_grad():
        for i in range(n, n + new):
            start = max(0, i - getattr(model, "max_length", i))
            logits = model(ids[start:i].reshape(1, -1))[0, -1]
            if temperature > 0:
                logits = top_p_filter(logits[None] / temperature, p)[0]
                logits = logits - torch.log(-torch.log(torch.rand(len(logits), generator=generator)))
            ids[i] = logits.argmax()
    return ids


def _of(name: str, tag: str, weight: float, meaning: str) -> Aspect:
    return special(name, tag, weight, meaning)


CONTINUE_TEXT = Exercise(
    symbol="continue_text",
    points=3,
    cases=_texts,
    references=(continue_text,),
    shown=lambda case: {name: case.inputs[name] for name in ("prompt", "temperature", "top_p")},
    aspects=(
        main(
            "the loop, where only one token is left",
            6.0,
            meaning="Where the temperature or top_p leaves a single token to choose from, the text is exactly that.",
        ),
        _of("long texts", "long", 8.0, "Of a text longer than max_length, the model reads the end, as much as it can."),
        _of("a high temperature", "hot", 5.0, "At temperature 8, tokens come up as often as they should."),
        _of("a low temperature", "cold", 1.0, "At a temperature near 0, the most likely token wins."),
        _of("top-p", "top-p", 6.0, "Tokens of the smallest set that reaches top_p come up, and no others."),
        _of(
            "temperature first, then top-p",
            "order",
            7.0,
            "The probabilities that sum to top_p are those after the temperature.",
        ),
        _of("short texts", "one", 1.0, "A prompt of one token works, and so does adding nothing."),
        Aspect(
            "randomness from the generator alone",
            ("chance",),
            CONTENT,
            weight=2.0,
            tags=tagged("chance"),
            meaning="The same seed gives the same text, another seed another one, and no other randomness is used.",
        ),
        also(
            "no gradients recorded", "recorded", weight=1.0, meaning="The model is called without recording gradients."
        ),
        modes("train and eval mode untouched", 0.5),
        untouched(),
    ),
    mistakes=(
        _slip(
            "greedy_always",
            "Your text is the greedy one, whatever the temperature. Where does your loop sample?",
            True,
            left=lambda logits, t, p: torch.where(logits == logits.amax(-1, keepdim=True), 0.0, -torch.inf),
        ),
        _slip(
            "temperature_ignored",
            "Your tokens come out as at temperature 1, whatever the temperature is. Where do you use it?",
            True,
            left=lambda logits, t, p: top_p_filter(logits, p),
        ),
        _slip(
            "temperature_multiplied",
            "You multiply the logits by the temperature, so a high one makes your text more cautious. What should "
            "happen to the differences between logits when the temperature rises?",
            True,
            left=lambda logits, t, p: top_p_filter(logits * t, p),
        ),
        _slip(
            "top_p_ignored",
            "Tokens come up that lie outside the smallest set with a total of top_p. Where does top_p enter?",
            True,
            left=lambda logits, t, p: logits / t,
        ),
        _slip(
            "top_p_before_temperature",
            "You filter first and apply the temperature afterwards. At which temperature should the probabilities sum "
            "to top_p?",
            left=lambda logits, t, p: top_p_filter(logits, p) / t,
        ),
        _slip(
            "crossing_token_dropped",
            "The token that brings the sum to top_p is dropped, so your set doesn't reach it. Does that token belong "
            "to the set?",
            left=_without_crossing,
        ),
        _slip(
            "temperature_twice",
            "You divide by the temperature twice: once before the filter, and once more when you sample. At which "
            "temperature should logits be sampled that have been divided already?",
            left=lambda logits, t, p: top_p_filter(logits / t, p) / t,
        ),
        _slip(
            "divided_by_zero",
            "At temperature 0 your code divides by zero. Which token should be taken there, every time?",
            True,
            zero=False,
        ),
        _slip(
            "the_beginning_is_read",
            "Of a long text the model gets the beginning, so it goes on from there again and again. Which end "
            "matters for what comes next?",
            read=lambda ids, n: ids if n is None else ids[:n],
        ),
        _slip(
            "never_cropped",
            "A text longer than max_length stops with an error. How much of it may the model read?",
            read=lambda ids, n: ids,
        ),
        _slip(
            "one_position_wasted",
            "Of a long text the model reads one token less than it could. How long may its input be?",
            read=lambda ids, n: ids if n is None else ids[-(n - 1) :],
        ),
        _slip(
            "the_last_token_alone",
            "The model reads the last token alone, and forgets the rest. What should it get?",
            True,
            read=lambda ids, n: ids[-1:],
        ),
        _slip(
            "logits_of_the_first_position",
            "You sample from the logits at the first position. Which position predicts what comes next?",
            True,
            place=0,
        ),
        _slip(
            "prompt_left_out",
            "You return the new tokens alone. What should the result begin with?",
            True,
            told=lambda ids, n: ids[n:],
        ),
        _slip(
            "an_axis_too_many",
            "Your result has an axis for the batch. What shape does the docstring give?",
            True,
            told=lambda ids, n: ids[None],
        ),
        _slip(
            "written_in_front",
            "Your new tokens stand in front of the text. On which side does a text go on?",
            True,
            joined=lambda ids, token: torch.cat([token, ids]),
        ),
        _slip("one_token_too_many", "Your text is one token too long. How often should your loop run?", more=1),
        _slip(
            "one_token_too_few",
            "Your text is one token too short. How often should your loop run?",
            more=-1,
        ),
        _slip(
            "generator_ignored",
            "The same seed gives different texts: the generator is never used. Which of your calls takes it as an "
            "argument?",
            own=lambda generator: None,
        ),
        _slip(
            "a_seed_of_its_own",
            "Whichever generator is passed in, your text is the same: you made one of your own. Whose randomness "
            "should it be?",
            own=lambda generator: torch.Generator().manual_seed(0),
        ),
        _slip(
            "gradients_recorded",
            "The text is right, but each step records gradients that nobody needs. Which context switches that off?",
            recorded=True,
        ),
        Mistake(
            "mode_changed",
            _eval_left,
            "The model isn't in the mode in which you got it. Who else may be using it?",
        ),
    ),
    variants={
        "step by step": _writer(),
        "a list, the temperature undone and done again": _in_a_list,
        "Gumbel noise": _with_noise,
    },
)
