"""`train_epoch`: cases, mistakes and variants. The probe lends it a small model that keeps a diary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course.paper.training import train_epoch
from grader.authoring import draw
from grader.authoring.aspects import main, special
from grader.authoring.spec import USUAL, Aspect, Case, Exercise, Mistake, Observation, tagged
from lessons.lesson_04.drawing import draw_tokens, ragged

VOCAB = 7


def _epochs(generator: np.random.Generator) -> list[Case]:
    def batch(rows: int, source_length: int, target_length: int) -> tuple[torch.Tensor, torch.Tensor]:
        target = draw_tokens(generator, ragged(generator, rows, target_length), target_length, VOCAB)
        target = torch.cat([torch.ones(rows, 1, dtype=torch.long), target], dim=1)  # a start, then the rest
        return draw_tokens(generator, ragged(generator, rows, source_length), source_length, VOCAB), target

    def draw_inputs(*sizes: tuple[int, int, int], **others: Any) -> dict[str, Any]:
        return {
            "batches": [batch(*size) for size in sizes],
            "table": draw.normal(generator, VOCAB, VOCAB),
            "memory": draw.normal(generator, VOCAB, VOCAB),
            **others,
        }

    a, b, c = draw.dims(generator, 3, 2, 6)
    return [
        Case("with batches of different sizes", draw_inputs((a, b, c + 1), (1, c, b), (c, a, 4)), USUAL),
        Case("with two other batches", draw_inputs((b, c, a + 2), (c + 2, 2, 2)), USUAL),
        Case("with a single batch", draw_inputs((c, a, b + 1)), tagged("one")),
        Case("with batches that can be seen only once", draw_inputs((a, c, b), (b, a, 3), once=True), tagged("once")),
        Case("with gradients left over from before", draw_inputs((b, a, c), (a, 2, 4), left_over=True), tagged("left")),
        Case("with a model in evaluation mode", draw_inputs((c, b, a), evaluating=True), tagged("mode")),
    ]


def _epoch(
    *,
    parts: Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]] = lambda target: (target[:, :-1], target[:, 1:]),
    steps: Callable[[Any, Any, Any], None] | None = None,
    count: Callable[[torch.Tensor], float] = lambda output: float((output != 0).sum()),
    result: Callable[[float, float], Any] = lambda total, tokens: total / tokens,
    train: bool = True,
) -> Callable[..., Any]:
    """The right loop, with one thing changed."""

    def run(model: Any, batches: Any, loss_function: Any, optimizer: Any, schedule: Any) -> Any:
        if train:
            model.train()
        total = tokens = 0.0
        for source, target in batches:
            target_input, target_output = parts(target)
            loss = loss_function(model(source, target_input), target_output)
            (steps or _steps)(loss, optimizer, schedule)
            total += loss.item() * count(target_output)
            tokens += count(target_output)
        return result(total, tokens)

    return run


def _steps(loss: Any, optimizer: Any, schedule: Any) -> None:
    optimizer.zero_grad()
    loss.backward()
    schedule.step()
    optimizer.step()


def _schedule_after(loss: Any, optimizer: Any, schedule: Any) -> None:
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()


def _no_schedule(loss: Any, optimizer: Any, schedule: Any) -> None:
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def _gradients_add_up(loss: Any, optimizer: Any, schedule: Any) -> None:
    loss.backward()
    schedule.step()
    optimizer.step()


def _never_steps(loss: Any, optimizer: Any, schedule: Any) -> None:
    optimizer.zero_grad()
    loss.backward()
    schedule.step()


def _cleared_too_late(loss: Any, optimizer: Any, schedule: Any) -> None:
    loss.backward()
    optimizer.zero_grad()
    schedule.step()
    optimizer.step()


def _schedule_first(loss: Any, optimizer: Any, schedule: Any) -> None:
    schedule.step()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()


def _cleared_afterwards(model: Any, batches: Any, loss_function: Any, optimizer: Any, schedule: Any) -> float:
    """Sums of losses, a list of the batches, and gradients cleared before and after."""
    model.train()
    optimizer.zero_grad()
    losses, counts = [], []
    for source, target in list(batches):
        logits = model(source, target[:, : target.shape[1] - 1])
        loss = loss_function(logits, target[:, 1:])
        loss.backward()
        schedule.step()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.detach())
        counts.append(target[:, 1:].ne(0).sum())
    weights = torch.stack(counts).to(losses[0].dtype)
    return float((torch.stack(losses) * weights).sum() / weights.sum())


_LOOKED_AT = {"one": ("output",), "once": ("output",), "left": ("weights",), "mode": ("mode",)}


def _what_the_case_is_about(observation: Observation, case: Case) -> Observation:
    """Each special case is there for one thing; the usual ones are there for the rest."""
    (tag,) = case.tags
    return {name: observation[name] for name in _LOOKED_AT.get(tag, ("output", "weights", "diary"))}


TRAIN_EPOCH = Exercise(
    symbol="train_epoch",
    points=2,
    cases=_epochs,
    references=(train_epoch,),
    canonical=_what_the_case_is_about,
    called={"output": "the mean loss", "weights": "the weights afterwards", "diary": "what was done, in order"},
    aspects=(
        Aspect(
            "a Python float",
            kinds=frozenset({"error", "type", "shape"}),
            tags=USUAL,
            meaning="The result is a plain number.",
        ),
        main(
            "the model learns",
            keys=("weights",),
            meaning="After the epoch the model has the weights that one step per batch leads to.",
        ),
        main(
            "the mean loss per token",
            weight=3.0,
            meaning="A batch counts as much as it has target tokens that aren't padding.",
        ),
        main(
            "the order of steps", weight=3.0, keys=("diary",), meaning="The schedule steps before the optimiser does."
        ),
        special("a single batch", "one", meaning="An epoch of a single batch gives the right result too."),
        special("batches that can be seen only once", "once", meaning="Batches may come from a generator."),
        Aspect(
            "gradients left over from before",
            keys=("weights",),
            tags=tagged("left"),
            meaning="What a parameter's .grad holds before the epoch has no effect.",
        ),
        Aspect(
            "training mode",
            keys=("mode",),
            tags=tagged("mode"),
            meaning="While it learns, the model is in training mode, so that dropout acts.",
        ),
    ),
    mistakes=(
        Mistake(
            "not_shifted",
            _epoch(parts=lambda target: (target, target)),
            "The decoder reads the token that it has to write. What should it be shown of the target, and what should "
            "it write?",
            central=True,
        ),
        Mistake(
            "shifted_the_wrong_way",
            _epoch(parts=lambda target: (target[:, 1:], target[:, :-1])),
            "The decoder reads the token after the one it has to write. Which end of the target does each part lose?",
            central=True,
        ),
        Mistake(
            "never_steps",
            _epoch(steps=_never_steps),
            "The weights stay as they were. Who changes them, once the gradients are there?",
            central=True,
        ),
        Mistake(
            "cleared_too_late",
            _epoch(steps=_cleared_too_late),
            "The gradients are cleared between backward and step, so nothing is learnt. Where does zero_grad belong?",
            central=True,
        ),
        Mistake(
            "gradients_add_up",
            _epoch(steps=_gradients_add_up),
            "Each step uses the gradients of all batches so far. What clears them?",
            central=True,
        ),
        Mistake(
            "schedule_after_the_optimiser",
            _epoch(steps=_schedule_after),
            "The schedule steps after the optimiser, so every step is taken at the rate of the one before. Which comes "
            "first?",
            central=True,
        ),
        Mistake(
            "schedule_forgotten",
            _epoch(steps=_no_schedule),
            "The learning rate never changes. Who sets it?",
            central=True,
        ),
        Mistake(
            "mean_of_batch_means",
            _epoch(count=lambda output: 1.0),
            "You average the batches' losses, so a small batch counts as much as a large one. What should each be "
            "weighted by?",
        ),
        Mistake(
            "padding_counted",
            _epoch(count=lambda output: float(output.numel())),
            "You weight each batch by all its places, padding included. Which tokens is its loss the mean of?",
        ),
        Mistake(
            "weighed_by_rows",
            _epoch(count=lambda output: float(len(output))),
            "You weight each batch by its number of sentences. The result should be per token: what do you count?",
        ),
        Mistake(
            "summed",
            _epoch(result=lambda total, tokens: total),
            "You return the sum over all tokens. Which division makes it a mean?",
        ),
        Mistake(
            "not_training",
            _epoch(train=False),
            "A model in evaluation mode stays in it, so its dropout never acts. Which call changes that?",
        ),
        Mistake(
            "a_tensor",
            _epoch(result=lambda total, tokens: torch.tensor(total / tokens)),
            "The number is right, but it is a tensor. What turns it into a Python float?",
        ),
    ),
    variants={
        "one loop": _epoch(),
        "schedule at the very beginning of a step": _epoch(steps=_schedule_first),
        "gradients cleared afterwards": _cleared_afterwards,
    },
)
