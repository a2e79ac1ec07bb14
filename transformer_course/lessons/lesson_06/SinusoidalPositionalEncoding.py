"""`SinusoidalPositionalEncoding`: how it is tried."""

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import nn

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.calls import gradients as gradients_of
from cellcheck.authoring.calls import state
from cellcheck.authoring.draw import dims, normal, with_gaps
from transformer_course.lessons.aspects import explained, special
from transformer_course.lessons.lesson_06.precision import ANY_NUMBERS, in_single_precision, name_of_dtype

FULL = special("rows of max_length", meaning="A row of max_length tokens gets the right positions too.")
ONE = special("a batch of one, rows of one")


def cases(generator: np.random.Generator) -> list[Case]:
    def draw(batch: int, length: int, half: int, spare: int, kind: torch.dtype = torch.float32) -> dict[str, Any]:
        spare += 2 * (spare > 0 and (length + spare + 1) // 2 == half)  # the two sizes differ, rounded up too
        x = normal(generator, batch, length, 2 * half, dtype=kind)
        follow = kind == torch.float32 and spare > 0  # into the gradients of the cases that are nothing special
        return {"d_model": 2 * half, "max_length": length + spare, "x": x, "follow": follow}

    batch, length, half, spare = dims(generator, 4, 2, 6)
    few, many = sorted((batch, length))  # so that the batch's size is never taken for the length by luck
    laid_out = with_gaps(draw(half, batch, length, spare))
    return [
        Case.of("with rows shorter than max_length", **draw(batch, length, half, spare)),
        Case.of("with more columns than positions", **draw(length, batch, spare + 3, half)),
        Case.of("with as many rows as positions", **draw(length, length, spare, batch)),
        Case.of("with rows of max_length", FULL, **draw(few, many, spare, 0)),
        Case.of("on a batch of one", ONE, **draw(1, length, half, spare)),
        Case.of("with rows of one token", ONE, **draw(batch, 1, half, spare)),
        Case.of("with a model and inputs in float64", aspects.FLOAT64, **draw(batch, length, half, 2, torch.float64)),
        Case.of("with inputs that are not contiguous", aspects.LAYOUT, **laid_out),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Builds `symbol(d_model, max_length)`, and runs it forward twice and backward once."""
    d_model, max_length, x = inputs["d_model"], inputs["max_length"], inputs["x"]
    model = symbol(d_model, max_length)
    if not isinstance(model, nn.Module):
        kind = type(model).__name__
        raise TypeError(f"SinusoidalPositionalEncoding(...) should return an nn.Module, but it returns a {kind}")
    other = symbol(d_model, max_length)
    if x.dtype == torch.float64:
        model, other = model.double(), other.double()
    table = any(buffer.numel() >= max_length * d_model for buffer in model.buffers())
    numbers = sum(parameter.numel() for parameter in model.parameters())
    learned = sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)
    seen: dict[str, Any] = {
        "learned": f"{learned} numbers to learn",
        "parameters": f"{numbers} numbers in model.parameters()",
        "buffers": "a table in model.buffers()" if table else "no table in model.buffers()",
    }
    model.eval()
    seen["output"] = model(x)
    seen["dtype"] = name_of_dtype(seen["output"])
    modes = [model.training]
    model.train()  # where a dropout that nobody asked for would show
    tracked = x.detach().clone().requires_grad_()
    try:
        output = model(tracked)
        same = torch.equal(output.detach(), seen["output"].detach())
        followed = gradients_of(output, [tracked])
    except Exception as error:
        same, followed = True, f"stopped with {type(error).__name__}: {error}"
    if inputs["follow"]:
        seen["gradients"] = followed
    seen["again"] = "the same result" if same else "another result"
    if same and not _as_after_a_shorter_row(other.eval(), x.clone(), seen["output"]):
        seen["again"] = "another result after a shorter row"
    if table and not _reads_its_buffers(model, x, seen["output"]):
        seen["buffers"] = NOT_READ
    seen["training_mode"] = [*modes, model.training]
    seen["arguments"] = [state(x), state(tracked)]
    return seen


NOT_READ = "The numbers in your buffer could be any: forward never reads them. Where does it find its table?"


def _reads_its_buffers(model: nn.Module, x: torch.Tensor, output: Any) -> bool:
    """Whether other numbers in the buffers make another result. Where nothing can be seen, nothing is said."""
    try:
        other = copy.deepcopy(model).eval()
        for buffer in other.buffers():
            if buffer.is_floating_point():
                buffer += 1.0
        return not torch.equal(other(x.clone()), output)
    except Exception:
        return True


def _as_after_a_shorter_row(model: nn.Module, x: torch.Tensor, output: Any) -> bool:
    """Whether a single token that comes first makes no difference. Where such a row stops, another case says so."""
    try:
        model(x[:1, :1].clone())
    except Exception:
        return True
    try:
        return torch.equal(model(x), output)
    except Exception:
        return False


def canonical(observation: Observation, case: Case) -> Observation:
    """Adding one wave to all tokens is one mistake, whichever wave it is: a wave of ones stands for all of them."""
    seen = in_single_precision(observation, case)
    output, x = seen.get("output"), case.inputs["x"]
    if not isinstance(output, torch.Tensor) or output.shape != x.shape or x.shape[1] == 1:
        return seen
    wave = output.detach() - x
    first = wave[:1, :1]
    the_same = torch.allclose(wave, first.expand_as(wave), atol=1e-4) and not torch.allclose(first, 0 * first)
    return {**seen, "output": (x + 1.0).to(output.dtype)} if the_same else seen


MEANINGS = {
    "nothing to learn": "The waves are fixed: an optimiser finds nothing to train in the module.",
    "a buffer": "The table is among model.buffers(), not model.parameters(), so that it moves with the model.",
    "the same each time": "A second call gives the same result, in either mode, and so does one after a shorter row.",
}


TRIAL = Trial(
    module="transformer_course.positions",
    points=2,
    cases=cases,
    probe=probe,
    canonical=canonical,
    aspects=explained(
        (
            aspects.values(),
            aspects.also("nothing to learn", "learned", weight=7.0),
            aspects.also("a buffer", "parameters", "buffers", weight=22.0),
            aspects.gradients(1.0),
            FULL,
            ONE,
            *ANY_NUMBERS,
            aspects.also("the same each time", "again", "training_mode", weight=3.0),
            aspects.untouched(),
        ),
        MEANINGS,
    ),
)
