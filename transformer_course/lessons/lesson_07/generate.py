"""`generate`: how it is tried. Where it samples, frequencies are judged; where it can't, the ids are."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import torch

from cellcheck.authoring.aspects import BATCH_OF_ONE, main, shape, special
from cellcheck.authoring.spec import Aspect, Case, Observation, Trial
from transformer_course.lessons.lesson_07 import drawing
from transformer_course.lessons.lesson_07.chance import distance, frequencies, from_the_generator, sampled, shows
from transformer_course.sampling import top_k_filter, top_p_filter

DRAWS = 3000  # of each source, where frequencies are looked at
ALL = 50  # a k above every vocabulary
Pick = Callable[[torch.Tensor, float, int, float], torch.Tensor]

TEMPERATURE = frequencies(
    "the temperature", "", 2.0, "Over many samples, tokens come up as often as they should at this temperature."
)
TOP_K = frequencies("top-k", "", 2.0, "Over many samples, tokens come up as often as temperature and k allow.")
TOP_P = frequencies("top-p", "", 2.0, "Over many samples, tokens come up as often as temperature and p allow.")
ALL_THREE = frequencies(
    "all three in their order",
    "",
    18.0,
    "With temperature, top-k and top-p together, tokens come up as often as they should.",
)
ZERO = special(
    "temperature 0 is greedy", "", 5.0, "At temperature 0, the answer is the one that greedy decoding gives."
)
FROM_THE_GENERATOR = from_the_generator(6.0)


def _greedy(logits: torch.Tensor) -> torch.Tensor:
    return torch.full_like(logits, drawing.HIDDEN).scatter(-1, logits.argmax(-1, keepdim=True), 0.0)


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
# What is looked at where tokens are sampled, words for the learner, and the slips that must show there.
FREE = (
    (
        TEMPERATURE,
        "with temperature {temperature}",
        ("temperature_ignored", "temperature_multiplied", "temperature_twice", "greedy_always"),
    ),
    (
        TOP_K,
        "with temperature {temperature} and k = {k}",
        ("temperature_ignored", "temperature_multiplied", "nothing_filtered", "greedy_always"),
    ),
    (
        TOP_P,
        "with temperature {temperature} and p = {p}",
        ("temperature_ignored", "filters_before_temperature", "nothing_filtered", "greedy_always"),
    ),
    (ALL_THREE, "with temperature {temperature}, k = {k} and p = {p}", tuple(name for name in LEFT if name != "right")),
)


def _distributions(logits: torch.Tensor, settings: dict[str, Any]) -> dict[str, torch.Tensor]:
    t, k, p = (settings[name] for name in ("temperature", "k", "p"))
    return {name: left(logits.double(), t, k, p).softmax(-1) for name, left in LEFT.items()}


def _first_logits(task: drawing.Task) -> torch.Tensor:
    """What the model says first, (batch, vocab_size)."""
    with torch.no_grad():
        logits: torch.Tensor = task.model()(task.source, torch.full_like(task.source[:, :1], task.start_id))
    return logits[:, -1]


def _far_from(p: float, probabilities: torch.Tensor) -> bool:
    """Whether no rounding can move a token across p."""
    sums = probabilities.sort(dim=-1, descending=True).values.cumsum(-1)
    return bool(((sums - p).abs() > 0.01).all())


def _draw_sampled(
    generator: np.random.Generator, about: Aspect, slips: tuple[str, ...]
) -> tuple[drawing.Task, dict[str, Any]]:
    """Two sources, many times each, of which one token is written; each of the slips shows for both."""
    while True:
        pool = drawing.draw_task(generator, 80, 1)
        bias = pool.tables["bias"]
        pool = replace(pool, tables={**pool.tables, "bias": bias.masked_fill(bias < 0, drawing.HIDDEN)})
        cold = about != ALL_THREE and bool(generator.random() < 0.5)  # a cold tail is too thin to show the order
        span = (0.55, 0.65) if cold else (1.5, 1.8)
        settings: dict[str, Any] = {
            "temperature": round(float(generator.uniform(*span)), 2),
            "k": 4 if about in (TOP_K, ALL_THREE) else ALL,
            "p": round(float(generator.uniform(0.75, 0.9)), 2) if about in (TOP_P, ALL_THREE) else 1.0,
        }
        logits = _first_logits(pool)
        ways = _distributions(logits, settings)
        left = top_k_filter(logits.double() / settings["temperature"], settings["k"]).softmax(-1)
        rows = []
        for row in range(len(logits)):
            if settings["p"] != 1 and not _far_from(settings["p"], left[row : row + 1]):
                continue
            others = [ways[name][row : row + 1] for name in slips]
            apart = about == ALL_THREE or all(
                max(distance(a, b), distance(b, a)) > 0.15 for a, b in combinations(others, 2)
            )
            if apart and shows(ways["right"][row : row + 1], others, DRAWS):
                rows.append(row)
            if len(rows) == 2:
                return replace(pool, source=pool.source[rows].repeat_interleave(DRAWS, dim=0)), settings


def cases(generator: np.random.Generator) -> list[Case]:
    """The batches of `greedy_decode`, with settings that leave no choice; and batches that are sampled."""
    by_k, by_p = {"temperature": 3.0, "k": 1, "p": 1.0}, {"temperature": 2.0, "k": ALL, "p": 1e-6}

    def more(kind: str = "certain") -> dict[str, Any]:
        return {"seed": int(generator.integers(2**31)), "chance": kind == "chance", "sampled": kind == "sampled"}

    certain = [
        replace(case, inputs={**case.inputs, **(by_k if place in (0, 3) else by_p), **more()})
        for place, case in enumerate(drawing.ending_cases(generator))
    ]
    cold = [
        Case.of(f"at temperature 0, {case.label}", ZERO, **case.inputs, temperature=t, k=3, p=0.9, **more())
        for t, case in zip((0.0, 0), drawing.ending_cases(generator)[3:5], strict=True)
    ]
    sampled_cases = []
    for about, label, slips in FREE:
        task, settings = _draw_sampled(generator, about, slips)
        sampled_cases.append(Case.of(label.format(**settings), about, **task.inputs(**settings, **more("sampled"))))
    task = drawing.draw_task(generator, 40, 3, letters=4, sharpness=0.3)
    free = {"temperature": 1.0, "k": ALL, "p": 1.0}
    return [
        *certain,
        *cold,
        *sampled_cases,
        Case.of(
            "with the same generator, and with others", FROM_THE_GENERATOR, **task.inputs(**free, **more("chance"))
        ),
    ]


def as_shares(observation: Observation, case: Case) -> Observation:
    """Of what was sampled, the frequencies; where randomness itself is looked at, nothing else."""
    inputs = case.inputs
    if inputs["chance"]:
        return {key: value for key, value in observation.items() if key != "output"}
    if not inputs["sampled"]:
        return drawing.in_full_width(observation, case)
    task = drawing.Task(**{name: inputs[name] for name in ("tables", "source", "start_id", "end_id", "max_length")})
    logits = _first_logits(replace(task, source=task.source[::DRAWS]))
    return sampled(observation, logits.shape, _distributions(logits, dict(inputs)).values())


TRIAL = Trial(
    module="transformer_course.sampling",
    points=4,
    cases=cases,
    canonical=as_shares,
    called=drawing.SAID,
    aspects=(
        shape(),
        main(
            "the loop, where only one token is left",
            3.0,
            meaning="Where k or p leaves only one token to choose from, the answer is exactly that.",
        ),
        TEMPERATURE,
        TOP_K,
        TOP_P,
        ALL_THREE,
        ZERO,
        replace(drawing.DIFFER, weight=4.0),
        drawing.CUT,
        replace(BATCH_OF_ONE, meaning="A batch of one gives the right answer too, and so does a model in eval mode."),
        FROM_THE_GENERATOR,
        *drawing.OF_IDS,
    ),
)
