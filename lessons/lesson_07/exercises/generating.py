"""`generate`: cases, mistakes and variants. Where it samples, frequencies are judged; where it can't, the ids are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import torch

from course.decoding import greedy_decode
from course.sampling import generate, sample_with_temperature, top_k_filter, top_p_filter
from grader.authoring.aspects import main, shape
from grader.authoring.spec import Case, Exercise, Mistake, Observation
from lessons.aspects import special
from lessons.lesson_07.exercises.chance import distance, frequencies, from_the_generator, sampled, shows
from lessons.lesson_07.exercises.drawing import HIDDEN, OF_IDS, Task, draw_task, in_full_width, slips, writer
from lessons.lesson_07.exercises.greedy import ending_cases

DRAWS = 3000  # of each source, where frequencies are looked at
ALL = 50  # a k above every vocabulary
Pick = Callable[[torch.Tensor, float, int, float], torch.Tensor]


def _greedy(logits: torch.Tensor) -> torch.Tensor:
    return torch.full_like(logits, HIDDEN).scatter(-1, logits.argmax(-1, keepdim=True), 0.0)


# What is left of logits (batch, vocab_size) at a temperature above 0: the right way first, then the usual slips.
LEFT: dict[str, Pick] = {
    "right": lambda logits, t, k, p: top_p_filter(top_k_filter(logits / t, k), p),
    "temperature_ignored": lambda logits, t, k, p: top_p_filter(top_k_filter(logits, k), p),
    "temperature_multiplied": lambda logits, t, k, p: top_p_filter(top_k_filter(logits * t, k), p),
    "temperature_twice": lambda logits, t, k, p: top_p_filter(top_k_filter(logits / t, k), p) / t,
    "filters_before_temperature": lambda logits, t, k, p: top_p_filter(top_k_filter(logits, k), p) / t,
    "top_p_before_top_k": lambda logits, t, k, p: top_k_filter(top_p_filter(logits / t, p), k),
    "nothing_filtered": lambda logits, t, k, p: logits / t,
    "top_k_forgotten": lambda logits, t, k, p: top_p_filter(logits / t, p),
    "top_p_forgotten": lambda logits, t, k, p: top_k_filter(logits / t, k),
    "greedy_always": lambda logits, t, k, p: _greedy(logits),
}
# Which slips must show in a case, by its tag.
SHOWN = {
    "temperature": ("temperature_ignored", "temperature_multiplied", "temperature_twice", "greedy_always"),
    "top-k": ("temperature_ignored", "temperature_multiplied", "nothing_filtered", "greedy_always"),
    "top-p": ("temperature_ignored", "filters_before_temperature", "nothing_filtered", "greedy_always"),
    "all": tuple(name for name in LEFT if name != "right"),
}


def _distributions(logits: torch.Tensor, settings: dict[str, Any]) -> dict[str, torch.Tensor]:
    t, k, p = (settings[name] for name in ("temperature", "k", "p"))
    return {name: left(logits.double(), t, k, p).softmax(-1) for name, left in LEFT.items()}


def _first_logits(task: Task) -> torch.Tensor:
    """What the model says first, (batch, vocab_size)."""
    with torch.no_grad():
        logits: torch.Tensor = task.model()(task.source, torch.full_like(task.source[:, :1], task.start_id))
    return logits[:, -1]


def _far_from(p: float, probabilities: torch.Tensor) -> bool:
    """Whether no rounding can move a token across p."""
    sums = probabilities.sort(dim=-1, descending=True).values.cumsum(-1)
    return bool(((sums - p).abs() > 0.01).all())


def _draw_sampled(generator: np.random.Generator, tag: str) -> tuple[Task, dict[str, Any]]:
    """Two sources, many times each, of which one token is written; each slip in `SHOWN` shows for both."""
    while True:
        pool = draw_task(generator, 80, 1)
        bias = pool.tables["bias"]
        pool = replace(pool, tables={**pool.tables, "bias": bias.masked_fill(bias < 0, HIDDEN)})
        cold = tag != "all" and bool(generator.random() < 0.5)  # a cold tail is too thin to show the order
        span = (0.55, 0.65) if cold else (1.5, 1.8)
        settings: dict[str, Any] = {
            "temperature": round(float(generator.uniform(*span)), 2),
            "k": 4 if tag in ("top-k", "all") else ALL,
            "p": round(float(generator.uniform(0.75, 0.9)), 2) if tag in ("top-p", "all") else 1.0,
        }
        logits = _first_logits(pool)
        rows = []
        for row in range(len(logits)):
            found = _distributions(logits[row : row + 1], settings)
            others = [found[name] for name in SHOWN[tag]]
            kept = top_k_filter(logits[row : row + 1].double() / settings["temperature"], settings["k"]).softmax(-1)
            clear = settings["p"] == 1 or _far_from(settings["p"], kept)
            apart = tag == "all" or all(max(distance(a, b), distance(b, a)) > 0.15 for a, b in combinations(others, 2))
            if clear and apart and shows(found["right"], others, DRAWS):
                rows.append(row)
            if len(rows) == 2:
                return replace(pool, source=pool.source[rows].repeat_interleave(DRAWS, dim=0)), settings


def _cases(generator: np.random.Generator) -> list[Case]:
    """The batches of `greedy_decode`, with settings that leave no choice; and batches that are sampled."""
    by_k, by_p = {"temperature": 3.0, "k": 1, "p": 1.0}, {"temperature": 2.0, "k": ALL, "p": 1e-6}

    def more(kind: str = "certain") -> dict[str, Any]:
        return {"seed": int(generator.integers(2**31)), "chance": kind == "chance", "sampled": kind == "sampled"}

    cases = [
        Case(case.label, {**case.inputs, **(by_k if place in (0, 3) else by_p), **more()}, case.tags)
        for place, case in enumerate(ending_cases(generator))
    ]
    cold = [
        Case(
            f"at temperature 0, {case.label}",
            {**case.inputs, "temperature": t, "k": 3, "p": 0.9, **more()},
            frozenset({"zero"}),
        )
        for t, case in zip((0.0, 0), ending_cases(generator)[3:5], strict=True)
    ]
    cases += cold
    for tag in SHOWN:
        task, settings = _draw_sampled(generator, tag)
        t, k, p = (settings[name] for name in ("temperature", "k", "p"))
        labels = {
            "temperature": f"with temperature {t}",
            "top-k": f"with temperature {t} and k = {k}",
            "top-p": f"with temperature {t} and p = {p}",
            "all": f"with temperature {t}, k = {k} and p = {p}",
        }
        label = labels[tag]
        cases.append(Case(label, task.inputs(**settings, **more("sampled")), frozenset({tag})))
    task = draw_task(generator, 40, 3, letters=4, sharpness=0.3)
    free = {"temperature": 1.0, "k": ALL, "p": 1.0}
    return [
        *cases,
        Case("with the same generator, and with others", task.inputs(**free, **more("chance")), frozenset({"chance"})),
    ]


def _kept(observation: Observation, case: Case) -> Observation:
    """Of what was sampled, the frequencies; where randomness itself is looked at, nothing else."""
    inputs = case.inputs
    if inputs["chance"]:
        return {key: value for key, value in observation.items() if key != "output"}
    if not inputs["sampled"]:
        return in_full_width(observation, case)
    task = Task(**{name: inputs[name] for name in ("tables", "source", "start_id", "end_id", "max_length")})
    logits = _first_logits(replace(task, source=task.source[::DRAWS]))
    return sampled(observation, logits.shape, _distributions(logits, dict(inputs)).values())


def _sampler(
    left: Pick = LEFT["right"],
    own: Callable[[torch.Generator], Any] = lambda generator: generator,
    zero: bool = True,
    spread: bool = True,
    **steps: Any,
) -> Callable[..., torch.Tensor]:
    """`generate` with one step replaced."""

    def way(
        model: Any,
        source: torch.Tensor,
        start: int,
        end: int,
        max_length: int,
        temperature: float,
        k: int,
        p: float,
        generator: torch.Generator,
    ) -> torch.Tensor:
        chance = own(generator)

        def choose(logits: torch.Tensor) -> torch.Tensor:
            if zero and temperature == 0:
                return logits.argmax(dim=-1)
            shares = left(logits, temperature, k, p).softmax(-1)
            ids = torch.multinomial(shares, 1, generator=chance)[:, 0]
            return ids if spread else ids[:1].expand(len(ids)).clone()

        return writer(choose=choose, **steps)(model, source, start, end, max_length)

    return way


def _slip(name: str, advice: str, central: bool = False) -> Mistake:
    return Mistake(name, _sampler(LEFT[name]), advice, central)


def _in_two_steps(
    model: Any, source: torch.Tensor, start: int, end: int, max_length: int, t: float, k: int, p: float, g: Any
) -> torch.Tensor:
    """Temperature 0 is decoded by `greedy_decode`; else the filters come first, with the temperature undone."""
    if t == 0:
        return greedy_decode(model, source, start, end, max_length)
    return writer(
        choose=lambda logits: sample_with_temperature(t * top_p_filter(top_k_filter(logits, k) / t, p), t, g)
    )(model, source, start, end, max_length)


def _row_by_row(model: Any, source: torch.Tensor, *rest: Any) -> torch.Tensor:
    """Parts of the batch one after the other."""
    max_length = rest[2]
    parts = [_sampler()(model, part, *rest) for part in torch.split(source, 500)]
    return torch.cat([torch.nn.functional.pad(ids, (0, max_length - ids.shape[1])) for ids in parts])


def _with_noise(
    model: Any, source: torch.Tensor, start: int, end: int, max_length: int, t: float, k: int, p: float, g: Any
) -> torch.Tensor:
    """Gumbel noise instead of multinomial; temperature 0 as k = 1."""
    count = 1 if t == 0 else k

    def choose(logits: torch.Tensor) -> torch.Tensor:
        left = top_p_filter(top_k_filter(logits / (t or 1), count), p)
        noise = -torch.log(-torch.log(torch.rand(left.shape, generator=g, dtype=torch.float64)))
        return (left + noise).argmax(dim=-1)

    return writer(choose=choose)(model, source, start, end, max_length)


def _seeded(generator: torch.Generator) -> torch.Generator:
    return torch.Generator().manual_seed(0)


_SLIPS = slips(_sampler)


GENERATE = Exercise(
    symbol="generate",
    points=4,
    cases=_cases,
    references=(generate,),
    canonical=_kept,
    aspects=(
        shape(),
        main(
            "the loop, where only one token is left",
            3.0,
            meaning="Where k or p leaves only one token to choose from, the answer is exactly that.",
        ),
        frequencies(
            "the temperature",
            "temperature",
            2.0,
            "Over many samples, tokens come up as often as they should at this temperature.",
        ),
        frequencies("top-k", "top-k", 2.0, "Over many samples, tokens come up as often as temperature and k allow."),
        frequencies("top-p", "top-p", 2.0, "Over many samples, tokens come up as often as temperature and p allow."),
        frequencies(
            "all three in their order",
            "all",
            4.0,
            "With temperature, top-k and top-p together, tokens come up as often as they should.",
        ),
        special(
            "temperature 0 is greedy",
            "zero",
            meaning="At temperature 0, the answer is the one that greedy decoding gives.",
        ),
        special("rows that end at different times", "differ", weight=4.0),
        special("cut at max_length", "cut"),
        special(
            "a batch of one",
            "one",
            meaning="A batch of one gives the right answer too, and so does a model in eval mode.",
        ),
        from_the_generator(2.0),
        *OF_IDS,
    ),
    mistakes=(
        _slip(
            "greedy_always",
            "Your answers are the greedy ones, whatever the temperature. Where does your loop sample?",
            central=True,
        ),
        _slip(
            "temperature_ignored",
            "Your samples come out as at temperature 1, whatever the temperature is. Where do you use it?",
            central=True,
        ),
        _slip(
            "temperature_multiplied",
            "You multiply the logits by the temperature, so a high one makes your samples more cautious. What should "
            "happen to the differences between logits when the temperature rises?",
        ),
        _slip(
            "nothing_filtered",
            "Tokens come up that top-k or top-p should have removed. Which distribution do you sample from: the one "
            "before the filters, or the one after them?",
            central=True,
        ),
        _slip(
            "top_k_forgotten",
            "Tokens outside the k most likely ones come up. Where does k enter?",
        ),
        _slip(
            "top_p_forgotten",
            "Tokens come up that lie outside the smallest set with a total of p. Where does p enter?",
        ),
        _slip(
            "filters_before_temperature",
            "You filter first and apply the temperature afterwards. Top-p adds up probabilities: at which temperature "
            "should they be taken?",
        ),
        _slip(
            "top_p_before_top_k",
            "You apply top-p before top-k. Among which tokens should the probabilities sum to p?",
        ),
        _slip(
            "temperature_twice",
            "You divide by the temperature twice: once before the filters, and once more when you sample. At which "
            "temperature should logits be sampled that have been divided already?",
        ),
        Mistake(
            "divided_by_zero",
            _sampler(zero=False),
            "At temperature 0 your code divides by zero. Which token should be taken there, every time?",
        ),
        Mistake(
            "one_sample_for_all",
            _sampler(spread=False),
            "Every row of the batch gets the same token. How many tokens should be sampled in each step?",
        ),
        Mistake(
            "generator_ignored",
            _sampler(own=lambda generator: None),
            "The same seed gives different answers each time: the generator is never used. Which of your calls takes "
            "it as an argument?",
        ),
        Mistake(
            "a_seed_of_its_own",
            _sampler(own=_seeded),
            "Whichever generator is passed in, your answers are the same: you made one of your own. Whose randomness "
            "should it be?",
        ),
        _SLIPS["start_kept"],
        _SLIPS["goes_on_after_the_end"],
        _SLIPS["stops_with_the_first_end"],
        _SLIPS["end_repeated"],
        _SLIPS["start_never_fed"],
        _SLIPS["start_counted"],
        _SLIPS["one_token_too_many"],
        _SLIPS["left_in_eval_mode"],
    ),
    variants={
        "step by step": _sampler(),
        "the temperature undone and done again": _in_two_steps,
        "in parts": _row_by_row,
        "Gumbel noise": _with_noise,
    },
)
