"""`run_checkpointed`: cases, mistakes and variants. The probe counts what is kept for the backward pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.utils.checkpoint import checkpoint, checkpoint_sequential

from course.training_well.checkpointing import run_checkpointed
from grader.authoring import draw
from grader.authoring.aspects import also, main, special, untouched
from grader.authoring.spec import USUAL, Case, Exercise, Mistake, tagged


def _blocks(generator: np.random.Generator) -> list[Case]:
    rows, d, wide = draw.dims(generator, 3, 3, 7)

    def drawn(count: int, **others: Any) -> dict[str, Any]:
        weights = [
            {**draw.linear(generator, "linear_in", d, wide), **draw.linear(generator, "linear_out", wide, d)}
            for _ in range(count)
        ]
        return {"weights": weights, "x": draw.normal(generator, rows, d), "wanted": True, "p": 0.0, **others}

    return [
        Case("with three blocks", drawn(3), USUAL),
        Case("with four blocks", drawn(4), USUAL),
        Case("with an x that requires no gradient", drawn(3, wanted=False), tagged("leaf")),
        Case("with dropout in the blocks", drawn(3, p=0.4), tagged("dropout")),
        Case("with a single block", drawn(1), tagged("one")),
        Case("without any block", drawn(0), tagged("none")),
    ]


def _each(call: Callable[[Any, torch.Tensor], torch.Tensor]) -> Callable[..., torch.Tensor]:
    """One block after the other, called in this way."""

    def run(blocks: Any, x: torch.Tensor) -> torch.Tensor:
        for block in blocks:
            x = call(block, x)
        return x

    return run


def _first_alone(blocks: Any, x: torch.Tensor) -> torch.Tensor:
    for place, block in enumerate(blocks):
        x = checkpoint(block, x, use_reentrant=False) if place == 0 else block(x)
    return x


def _always_from_x(blocks: Any, x: torch.Tensor) -> torch.Tensor:
    output = x
    for block in blocks:
        output = checkpoint(block, x, use_reentrant=False)
    return output


def _returns_early(blocks: Any, x: torch.Tensor) -> torch.Tensor:
    for block in blocks:
        return checkpoint(block, x, use_reentrant=False)  # type: ignore[no-any-return]
    return x


def _one_segment(blocks: Any, x: torch.Tensor) -> torch.Tensor:
    """All blocks in one segment."""

    def through(x: torch.Tensor) -> torch.Tensor:
        for block in blocks:
            x = block(x)
        return x

    return checkpoint(through, x, use_reentrant=False) if len(blocks) else x


def _sequential(blocks: Any, x: torch.Tensor) -> torch.Tensor:
    """PyTorch's function for a whole stack, which wants at least one block."""
    blocks = list(blocks)
    if not blocks:
        return x
    first, last = blocks[:-1], blocks[-1]
    checked = checkpoint_sequential(first, len(first), x, use_reentrant=False) if first else x  # type: ignore[no-untyped-call]
    return checkpoint(last, checked, use_reentrant=False)  # type: ignore[no-any-return]


RUN_CHECKPOINTED = Exercise(
    symbol="run_checkpointed",
    points=2,
    cases=_blocks,
    references=(run_checkpointed,),
    called={"kept": "what is kept for the backward pass", "gradients": "the gradients"},
    aspects=(
        main("the output", 3.0, meaning="The output is that of the blocks, one after the other."),
        main("less is kept", 6.0, ("kept",), "Fewer numbers are saved for the backward pass than without checkpoints."),
        also("gradients flow", "gradients", weight=4.0, meaning="All gradients are those of the plain run."),
        special(
            "an x that requires no gradient",
            "leaf",
            3.0,
            "The blocks' weights get their gradients even if x requires none.",
            ("gradients", "output", "kept"),
        ),
        special(
            "dropout",
            "dropout",
            2.0,
            "What was dropped on the way forward is dropped again when it is computed anew.",
            ("gradients", "output", "kept"),
        ),
        special("a single block", "one", meaning="A stack of one block works too.", keys=("output", "kept")),
        special("no block at all", "none", meaning="An empty list of blocks returns x.", keys=("output", "kept")),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "nothing_forgotten",
            _each(lambda block, x: block(x)),
            "The output is right, but as much is kept as without checkpoints. Which function of PyTorch runs a "
            "block and "
            "forgets?",
            central=True,
        ),
        Mistake(
            "first_block_alone",
            _first_alone,
            "Only the first block forgets. Which ones should?",
            central=True,
        ),
        Mistake(
            "reentrant",
            _each(lambda block, x: checkpoint(block, x, use_reentrant=True)),
            "When x requires no gradient, no weight gets one: that is how the older of the two implementations works. "
            "Which argument chooses the other?",
        ),
        Mistake(
            "x_made_to_require_a_gradient",
            _each(lambda block, x: checkpoint(block, x.detach().requires_grad_(), use_reentrant=False)),
            "The gradient stops at each block: detach cuts it off. Does anything have to be done to x?",
            central=True,
        ),
        Mistake(
            "no_grad",
            _each(lambda block, x: torch.no_grad()(block)(x)),
            "Nothing is kept, and nothing can be computed again: under no_grad there is no gradient at all. "
            "Which function "
            "forgets, and knows how to compute again?",
            central=True,
        ),
        Mistake(
            "dropout_drawn_anew",
            _each(lambda block, x: checkpoint(block, x, use_reentrant=False, preserve_rng_state=False)),
            "When a block is computed again, dropout draws other numbers, so the gradients don't fit the output. Which "
            "argument did you turn off?",
        ),
        Mistake(
            "always_from_the_first_x",
            _always_from_x,
            "Each block gets the first x, so only the last block counts. What should the next block read?",
            central=True,
        ),
        Mistake(
            "return_inside_the_loop",
            _returns_early,
            "Only the first block is run. Is your return inside the loop?",
            central=True,
        ),
        Mistake(
            "backwards",
            lambda blocks, x: run_checkpointed(list(blocks)[::-1], x),
            "Your blocks run in reverse order. Which one comes first?",
            central=True,
        ),
    ),
    variants={
        "one segment": _one_segment,
        "PyTorch's sequence": _sequential,
        "recursive": lambda blocks, x: (
            x if not len(blocks) else run_checkpointed(list(blocks)[1:], checkpoint(blocks[0], x, use_reentrant=False))
        ),
    },
)
