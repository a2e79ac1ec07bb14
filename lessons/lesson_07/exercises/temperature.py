"""`sample_with_temperature`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import torch

from course.sampling import sample_with_temperature
from grader.authoring.aspects import also, main, shape, special, untouched
from grader.authoring.draw import dims, normal, strided
from grader.authoring.spec import Case, Exercise, Mistake, Observation, tagged
from lessons.lesson_07.exercises.chance import SAMPLED, distance, frequencies, from_the_generator, sampled, shows

DRAWS = 4000  # a row

# For each distribution, the probability of every token: the right one first, then those of the usual slips.
DISTRIBUTIONS: dict[str, Callable[[torch.Tensor, float], torch.Tensor]] = {
    "right": lambda logits, t: torch.softmax(logits / t, -1),
    "multiplied": lambda logits, t: torch.softmax(logits * t, -1),
    "ignored": lambda logits, t: torch.softmax(logits, -1),
    "squared": lambda logits, t: torch.softmax(logits / t**2, -1),
    "on probabilities": lambda logits, t: torch.softmax(torch.softmax(logits, -1) / t, -1),
    "greedy": lambda logits, t: torch.nn.functional.one_hot(logits.argmax(-1), logits.shape[-1]).to(logits.dtype),
    "first row": lambda logits, t: torch.softmax(logits[:1] / t, -1).expand_as(logits),
}


def _of(name: str, logits: torch.Tensor, temperature: float) -> torch.Tensor:
    return DISTRIBUTIONS[name](logits.double(), temperature)


def _logits(generator: np.random.Generator) -> list[Case]:
    def draw(temperature: float, rows: int, kind: torch.dtype = torch.float32, hidden: int = 0) -> dict[str, Any]:
        """Logits with which every wrong distribution shows."""
        while True:
            steps = torch.tensor([-1.2, -0.7, 0.0, 0.5, 1.4] + [-torch.inf] * hidden).expand(rows, -1)
            order = torch.from_numpy(generator.permuted(np.tile(np.arange(5 + hidden), (rows, 1)), axis=1))
            uneven = steps.gather(1, order) + normal(generator, rows, 5 + hidden) / 5
            logits = ((1.5 * temperature) ** 0.8 * uneven).to(kind)
            names = [n for n in DISTRIBUTIONS if rows > 1 or n != "first row"]
            if temperature == 1:  # where it makes no difference how it enters
                names = [n for n in names if n not in ("multiplied", "ignored", "squared")]
            right, *others = (_of(name, logits, temperature) for name in names)
            if shows(right, others, DRAWS) and all(distance(a, b) > 0.04 for a, b in combinations(others, 2)):
                return drawn(logits, temperature, DRAWS)

    def drawn(logits: torch.Tensor, temperature: float, repeat: int, chance: bool = False) -> dict[str, Any]:
        seed = int(generator.integers(2**31))
        return {"logits": logits, "temperature": temperature, "repeat": repeat, "seed": seed, "chance": chance}

    batch, vocabulary, other = dims(generator, 3, 3, 7)
    low, high = (round(float(generator.uniform(*span)), 2) for span in ((0.6, 0.7), (1.8, 2.2)))
    hidden = normal(generator, other, vocabulary + 1)
    hidden[:, 0], hidden[:, -1] = -torch.inf, hidden[:, :-1].max(dim=1).values + 1
    even = normal(generator, 60, 5) / 10
    usual, zero = frozenset({"usual", "likely"}), frozenset({"usual", "zero"})
    return [
        Case("at temperature 0", drawn(normal(generator, batch, vocabulary), 0.0, 0), zero),
        Case("at temperature 0, given as an int", drawn(normal(generator, 1, vocabulary), 0, 0), zero),
        Case("at temperature 0, where one token has the logit -inf", drawn(hidden, 0.0, 0), zero),
        Case(f"at temperature {low}", draw(low, 2), usual),
        Case(f"at temperature {high}", draw(high, 2), usual),
        Case("at temperature 1", draw(1.0, 2), frozenset({"one"})),
        Case("where some tokens have the logit -inf", draw(high, 2, hidden=2), frozenset({"hidden"})),
        Case(f"with one row, at temperature {low}", draw(low, 1), frozenset({"row"})),
        Case("with float64", draw(low, 2, torch.float64), frozenset({"row"})),
        Case("with large logits", _lifted(draw(high, 2), 300.0), frozenset({"large"})),
        Case("with logits far below 0", _lifted(draw(low, 2), -300.0), frozenset({"large"})),
        Case("with the same generator, and with others", drawn(even, 1.0, 0, True), frozenset({"chance"})),
        Case("with logits that are not contiguous", drawn(strided(normal(generator, 4, 6)), 0.0, 0), zero),
    ]


def _lifted(inputs: dict[str, Any], by: float) -> dict[str, Any]:
    """The same differences, far from 0, as whole steps of a sixteenth: nothing is rounded away."""
    logits = (inputs["logits"] * 16).round() / 16
    return {**inputs, "logits": logits + by}


def _as_shares(observation: Observation, case: Case) -> Observation:
    """Of what was sampled, the frequencies; where randomness itself is looked at, nothing else."""
    kept = dict(observation)
    logits, temperature = case.inputs["logits"], case.inputs["temperature"]
    if case.inputs["chance"]:
        del kept["output"]
    elif case.inputs["repeat"]:
        return sampled(kept, logits.shape, (_of(name, logits, temperature) for name in DISTRIBUTIONS))
    elif isinstance(kept["output"], torch.Tensor) and not kept["output"].is_floating_point():
        kept["output"] = kept["output"].long()
    return kept


def _from(name: str) -> Callable[..., torch.Tensor]:
    """Samples from one of the distributions above; temperature 0 is right."""

    def sample(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> torch.Tensor:
        if temperature == 0:
            return logits.argmax(dim=-1)
        return torch.multinomial(DISTRIBUTIONS[name](logits, temperature), 1, generator=generator)[:, 0]

    return sample


def _zero_not_seen(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> torch.Tensor:
    return torch.multinomial(torch.softmax(logits / temperature, -1), 1, generator=generator)[:, 0]


def _nearly_zero(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> torch.Tensor:
    return _zero_not_seen(logits, temperature + 1.0 * (temperature == 0), generator)


def _own_seed(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> torch.Tensor:
    return _from("right")(logits, temperature, torch.Generator().manual_seed(0))


def _seeded_again(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> torch.Tensor:
    return _from("right")(logits, temperature, generator.manual_seed(generator.initial_seed()))


def _global(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> torch.Tensor:
    return _from("right")(logits, temperature, None)


def _global_seeded(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> torch.Tensor:
    if temperature == 0:
        return logits.argmax(-1)
    torch.manual_seed(int(torch.randint(2**31, (1,), generator=generator)))
    return torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1).flatten()


def _one_for_all(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> torch.Tensor:
    """One token for the whole batch."""
    return _from("right")(logits, temperature, generator)[:1].expand(len(logits)).clone()


def _without_shift(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> torch.Tensor:
    if temperature == 0:
        return logits.argmax(-1)
    powers = torch.exp(logits / temperature)
    return torch.multinomial(powers / powers.sum(-1, keepdim=True), 1, generator=generator)[:, 0]


def _into_a_column(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> torch.Tensor:
    if temperature == 0:
        return logits.argmax(-1)
    return torch.multinomial(torch.softmax(logits / temperature, dim=-1), 1, generator=generator)


def _in_place(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> torch.Tensor:
    if temperature == 0:
        return logits.argmax(-1)
    logits /= temperature
    return _from("ignored")(logits, 1.0, generator)


def _gumbel(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> torch.Tensor:
    if temperature == 0:
        return logits.max(dim=-1).indices
    noise = -torch.log(-torch.log(torch.rand(logits.shape, generator=generator, dtype=torch.float64)))
    return torch.argmax(logits + temperature * noise, dim=-1)


def _inverse(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> torch.Tensor:
    if not temperature:
        return torch.argmax(logits, 1)
    heights = torch.cumsum(torch.softmax(logits.double() / temperature, dim=1), dim=1)
    line = torch.rand(len(logits), 1, generator=generator, dtype=torch.float64) * heights[:, -1:]
    return torch.searchsorted(heights, line, right=True).squeeze(1)


def _race(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> torch.Tensor:
    """Each token waits for a random time; the first one wins."""
    if temperature == 0:
        return logits.argsort(dim=-1)[:, -1]
    rates = torch.log_softmax(logits / temperature, dim=-1).exp()
    times = torch.empty_like(rates).exponential_(generator=generator) / rates
    return times.argmin(dim=-1)


def _row_by_row(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> torch.Tensor:
    if temperature == 0:
        return torch.tensor([int(row.argmax()) for row in logits])
    shares = torch.softmax(logits / temperature, dim=-1)
    rows = [torch.multinomial(shares[i : i + 50], 1, generator=generator) for i in range(0, len(shares), 50)]
    return torch.cat(rows).flatten()


def _many_at_once(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> torch.Tensor:
    if temperature == 0:
        return logits.argmax(-1)
    drawn = torch.multinomial((logits / temperature).softmax(-1), 3, replacement=True, generator=generator)
    return drawn[:, 1]


SAMPLE = Exercise(
    symbol="sample_with_temperature",
    points=3,
    cases=_logits,
    references=(sample_with_temperature,),
    canonical=_as_shares,
    aspects=(
        replace(shape(), tags=tagged("zero")),
        main(
            "sampled from softmax(logits / temperature)",
            5.0,
            (SAMPLED,),
            "Over many samples, tokens come up as often as softmax(logits / temperature) says.",
            "likely",
        ),
        special(
            "temperature 0 is argmax",
            "zero",
            weight=2.0,
            meaning="At temperature 0, each row gets its most likely token.",
        ),
        frequencies(
            "temperature 1",
            "one",
            meaning="At temperature 1, tokens come up as often as the model's own distribution says.",
        ),
        frequencies(
            "tokens that can't be sampled",
            "hidden",
            meaning="A token whose logit is -inf never comes up, and the others come up as often as they should.",
        ),
        frequencies(
            "one row, float64",
            "row",
            meaning="For a single row, and for float64 logits, tokens come up as often as they should.",
        ),
        frequencies(
            "large logits",
            "large",
            meaning="However large or small the logits are, tokens come up as often as they should.",
        ),
        from_the_generator(2.0),
        also(
            "whole numbers, one per row",
            "kind",
            "rows",
            meaning="The result holds integers and has the shape (batch,): one token for each row.",
        ),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "multiplied",
            _from("multiplied"),
            "A low temperature makes your sampler bolder and a high one more cautious: you multiply by it. What does "
            "dividing by a small number do to the differences between logits?",
            central=True,
        ),
        Mistake(
            "temperature_ignored",
            _from("ignored"),
            "Your tokens come up as at temperature 1, whatever the temperature is. Where do you use it?",
            central=True,
        ),
        Mistake(
            "divided_twice",
            _from("squared"),
            "You divide by the temperature twice. Which of the two divisions should go?",
        ),
        Mistake(
            "on_probabilities",
            _from("on probabilities"),
            "You divide probabilities by the temperature, and take the softmax of that. Which should come first, the "
            "division or the softmax?",
            central=True,
        ),
        Mistake(
            "greedy_always",
            _from("greedy"),
            "You always take the most likely token. At which temperature is that right?",
            central=True,
        ),
        Mistake(
            "first_row_for_all",
            _from("first row"),
            "Every row is sampled from the probabilities of row 0. Which axis of the logits is the batch?",
        ),
        Mistake(
            "one_sample_for_all",
            _one_for_all,
            "The whole batch gets the same token. How many tokens should be sampled?",
        ),
        Mistake(
            "divided_by_zero",
            _zero_not_seen,
            "At temperature 0 your code divides by zero. Which token is left as the temperature goes to 0, and how can "
            "you find it without dividing?",
        ),
        Mistake(
            "zero_taken_for_one",
            _nearly_zero,
            "At temperature 0 you sample as at temperature 1. Which token should come up every time?",
        ),
        Mistake(
            "softmax_by_hand",
            _without_shift,
            "With large logits exp overflows. What can you subtract from all logits of a row without changing the "
            "probabilities, or which function does that for you?",
        ),
        Mistake(
            "generator_ignored",
            _global,
            "The same seed gives different tokens each time: the generator is never used. Which argument of your call "
            "takes it?",
        ),
        Mistake(
            "a_seed_of_its_own",
            _own_seed,
            "Whichever generator is passed in, you sample the same tokens: you made one of your own. Which one should "
            "you use?",
        ),
        Mistake(
            "seeded_again_each_time",
            _seeded_again,
            "You reset the generator to its seed in every call, so a whole text would repeat the same choice. Who "
            "should decide when a generator starts over?",
        ),
        Mistake(
            "global_generator_seeded",
            _global_seeded,
            "You seed the global generator on the way, so everybody else who uses it gets different numbers. Which "
            "calls take a generator directly?",
        ),
        Mistake(
            "sampled_into_a_column",
            _into_a_column,
            "At temperature 0 you return (batch,), but what you sample is a column, (batch, 1), as multinomial returns "
            "it. Which axis can go?",
        ),
        Mistake(
            "column_kept",
            lambda logits, temperature, generator: _from("right")(logits, temperature, generator)[:, None],
            "Your tokens form a column, (batch, 1). Which axis can go?",
        ),
        Mistake(
            "logits_changed",
            _in_place,
            "The tokens are right, but the caller's logits were divided too. What does /= write into?",
        ),
        Mistake(
            "floats_returned",
            lambda logits, temperature, generator: _from("right")(logits, temperature, generator).float(),
            "The tokens are right, but they are floating-point numbers. What dtype should ids have?",
        ),
    ),
    variants={
        "multinomial": _from("right"),
        "Gumbel noise": _gumbel,
        "inverse of the distribution": _inverse,
        "a race": _race,
        "in parts": _row_by_row,
        "the second of three": _many_at_once,
    },
)
