"""`accumulated_step`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course.training_well.gradients import accumulated_step
from grader.authoring import draw
from grader.authoring.aspects import main, special
from grader.authoring.spec import USUAL, Aspect, Case, Exercise, Mistake, tagged


def _pieces(generator: np.random.Generator) -> list[Case]:
    wide, out = draw.dims(generator, 2, 2, 5)

    def drawn(*rows: int, **others: Any) -> dict[str, Any]:
        batches = []
        for place, count in enumerate(rows):
            targets = draw.normal(generator, count, out) + 2 * place  # each piece pulls another way
            batches.append((draw.normal(generator, count, wide), targets))
        weight, bias = draw.normal(generator, out, wide) / 2, draw.normal(generator, out)
        return {"batches": batches, "weight": weight, "bias": bias, **others}

    a, b, c = draw.dims(generator, 3, 2, 7)
    return [
        Case("with two batches of the same size", drawn(a, a), USUAL),
        Case("with three batches of the same size", drawn(b, b, b), USUAL),
        Case("with three batches of different sizes", drawn(8, b, 1), tagged("unequal")),
        Case("with a large batch and a batch of one", drawn(1, 9), tagged("unequal")),
        Case("with a single batch", drawn(c), tagged("one")),
        Case("with gradients left over from before", drawn(a, a, left_over=True), tagged("left")),
        Case("with a loss that isn't a square", drawn(b, b, absolute=True), tagged("loss")),
    ]


def _mean_of_rows(losses: list[float], rows: list[int]) -> float:
    return sum(loss * count for loss, count in zip(losses, rows, strict=True)) / sum(rows)


def _step(
    *,
    share: Callable[[int, int, int], float] = lambda rows, all_rows, pieces: rows / all_rows,
    clear: str = "first",
    steps: str = "once",
    told: Callable[[list[float], list[int]], Any] = _mean_of_rows,
) -> Callable[..., Any]:
    """The right step, with one thing changed."""

    def step(model: Any, batches: Any, loss_function: Any, optimizer: Any) -> Any:
        rows = [len(inputs) for inputs, _ in batches]
        losses = []
        if clear == "first":
            optimizer.zero_grad()
        for (inputs, targets), count in zip(batches, rows, strict=True):
            if clear == "each":
                optimizer.zero_grad()
            loss = loss_function(model(inputs), targets)
            (loss * share(count, sum(rows), len(rows))).backward()
            losses.append(loss.item())
            if steps == "each":
                optimizer.step()
        if clear == "late":
            optimizer.zero_grad()
        if steps == "once":
            optimizer.step()
        return told(losses, rows)

    return step


def _all_at_once(model: Any, batches: Any, loss_function: Any, optimizer: Any) -> float:
    """One large batch: right, if memory allows."""
    inputs, targets = (torch.cat(parts) for parts in zip(*batches, strict=True))
    loss = loss_function(model(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss)


def _one_backward(model: Any, batches: Any, loss_function: Any, optimizer: Any) -> float:
    """All losses in one sum."""
    rows = [len(targets) for _, targets in batches]
    parts = [
        loss_function(model(inputs), targets) * count for (inputs, targets), count in zip(batches, rows, strict=True)
    ]
    mean = torch.stack(parts).sum() / sum(rows)
    optimizer.zero_grad(set_to_none=True)
    torch.autograd.backward(mean)
    optimizer.step()
    return mean.item()


def _divided_afterwards(model: Any, batches: Any, loss_function: Any, optimizer: Any) -> float:
    """Sums first, and the gradients divided at the end."""
    optimizer.zero_grad()
    total = rows = 0.0
    for inputs, targets in batches:
        loss = loss_function(model(inputs), targets) * inputs.size(0)
        loss.backward()
        total, rows = total + loss.detach(), rows + inputs.size(0)
    for group in optimizer.param_groups:
        for parameter in group["params"]:
            if parameter.grad is not None:
                parameter.grad /= rows
    optimizer.step()
    return float(total / rows)


def _last_batch(model: Any, batches: Any, loss_function: Any, optimizer: Any) -> float:
    return accumulated_step(model, batches[-1:], loss_function, optimizer)


def _mean(losses: list[float], rows: list[int]) -> float:
    return sum(losses) / len(losses)


ACCUMULATED_STEP = Exercise(
    symbol="accumulated_step",
    points=3,
    cases=_pieces,
    references=(accumulated_step,),
    called={"output": "the mean loss", "weights": "the weights afterwards", "steps": "how often the optimiser stepped"},
    aspects=(
        Aspect(
            "a Python float",
            kinds=frozenset({"error", "type", "shape"}),
            tags=USUAL,
            meaning="The result is a plain number.",
        ),
        main("the weights afterwards", 3.0, ("weights",), "The weights are those after one step with the large batch."),
        main("the mean loss", 2.0, meaning="The result is the mean loss over all rows, before the step."),
        Aspect(
            "one step of the optimiser",
            ("steps",),
            weight=2.0,
            meaning="However many batches there are, one step is taken.",
        ),
        special(
            "batches of different sizes",
            "unequal",
            6.0,
            "A row counts the same, whichever batch it is in.",
            ("weights", "output"),
        ),
        special("a single batch", "one", meaning="A single batch is an ordinary step.", keys=("weights", "output")),
        special(
            "gradients left over from before",
            "left",
            2.0,
            "What a parameter's .grad holds before the call has no effect.",
            ("weights", "output"),
        ),
        special(
            "another loss", "loss", meaning="The loss function that is passed in is used.", keys=("weights", "output")
        ),
    ),
    mistakes=(
        Mistake(
            "mean_of_the_means",
            _step(share=lambda rows, all_rows, pieces: 1 / pieces, told=_mean),
            "Each batch counts the same, so a row in a small batch counts more than one in a large batch. What "
            "share of "
            "all rows is in each batch?",
            central=True,
        ),
        Mistake(
            "never_divided",
            _step(share=lambda rows, all_rows, pieces: 1.0),
            "You add up the batches' gradients as they are, so the step is as many times too long as there are "
            "batches. "
            "What turns the sum into a mean?",
            central=True,
        ),
        Mistake(
            "sum_of_the_rows",
            _step(share=lambda rows, all_rows, pieces: rows),
            "Your gradient is that of the sum over all rows. What do you divide by?",
            central=True,
        ),
        Mistake(
            "a_step_for_each_batch",
            _step(share=lambda rows, all_rows, pieces: 1.0, clear="each", steps="each"),
            "You take a step after each batch. When should the optimiser step?",
            central=True,
        ),
        Mistake(
            "steps_while_it_collects",
            _step(steps="each"),
            "The gradients add up as they should, but you take a step after each batch. Should the step stand inside "
            "the loop?",
            central=True,
        ),
        Mistake(
            "cleared_in_between",
            _step(clear="each"),
            "The gradients are cleared before each batch, so only the last one counts. When should they be cleared?",
            central=True,
        ),
        Mistake(
            "cleared_too_late",
            _step(clear="late"),
            "The gradients are cleared between backward and step, so nothing is learnt. Where does zero_grad belong?",
            central=True,
        ),
        Mistake(
            "never_cleared",
            _step(clear="never"),
            "Gradients left over from earlier are added to yours. What clears them before the first batch?",
        ),
        Mistake(
            "never_steps",
            _step(steps="never"),
            "The weights stay as they were. Who changes them, once the gradients are there?",
            central=True,
        ),
        Mistake(
            "last_batch_alone",
            _last_batch,
            "Only your last batch counts. What should the others add?",
            central=True,
        ),
        Mistake(
            "told_a_mean_of_means",
            _step(told=_mean),
            "The step is right, but the loss that you return is a mean of means. How much should each batch count?",
        ),
        Mistake(
            "told_the_last_loss",
            _step(told=lambda losses, rows: losses[-1]),
            "The step is right, but you return the loss of the last batch. Whose mean is asked for?",
        ),
        Mistake(
            "told_the_sum",
            _step(told=lambda losses, rows: sum(losses)),
            "The step is right, but you return the sum of the losses. What turns it into the mean over all rows?",
        ),
        Mistake(
            "nothing_returned",
            _step(told=lambda losses, rows: None),
            "The step is right, but your function returns None. What should it return?",
        ),
    ),
    variants={
        "all at once": _all_at_once,
        "one backward": _one_backward,
        "divided afterwards": _divided_afterwards,
    },
)
