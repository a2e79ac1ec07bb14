"""`next_token_batches`: cases, mistakes and variants. What is random is looked at through the places in the text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course.language_model.batches import next_token_batches
from grader.authoring import draw
from grader.authoring.aspects import CONTENT, KNOWN, USUAL, also, main, untouched
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, tagged

MANY = 3000


def _texts(generator: np.random.Generator) -> list[Case]:
    def text(n: int, length: int, rows: int = MANY, **others: Any) -> dict[str, Any]:
        ids = torch.from_numpy(generator.choice(np.arange(100, 400), size=n, replace=False))
        return {"ids": ids, "length": length, "rows": rows, "seed": int(generator.integers(1, 10**6)), **others}

    length, more = draw.dims(generator, 2, 3, 6)
    return [
        Case("with a short text and many rows", text(length + more + 1, length), USUAL),
        Case("with windows of another length", text(2 * more + 3, more), USUAL),
        Case("with two windows to choose from", text(length + 2, length), USUAL),
        Case("with windows of one token", text(more + 3, 1), tagged("one")),
        Case("with just enough tokens for one window", text(length + 1, length, 4), tagged("whole")),
        Case("with a single row", text(length + 4, length, 1), tagged("row")),
        Case("with the same generator, and with others", text(60, length, 5, chance=True), tagged("chance")),
    ]


def _canonical(observation: dict[str, Any], case: Case) -> dict[str, Any]:
    """How the windows are drawn is looked at where there are many; with a single row, any start will do."""
    left_out = {"evenly", "random"} if not case.tags & USUAL else set()
    left_out |= {"starts"} if case.tags & {"row", "one"} else set()
    return {name: seen for name, seen in observation.items() if name not in left_out}


Start = Callable[[int, int, int, torch.Generator], torch.Tensor]


def _any(n: int, length: int, rows: int, generator: torch.Generator) -> torch.Tensor:
    return torch.randint(n - length, (rows,), generator=generator)


def _batch(
    starts: Start = _any,
    shift: int = 1,
    text: Callable[[torch.Tensor], torch.Tensor] = lambda ids: ids,
    told: Callable[[torch.Tensor, torch.Tensor], Any] = lambda inputs, targets: (inputs, targets),
    own: Callable[[torch.Generator], Any] = lambda generator: generator,
) -> Callable[..., Any]:
    """The right batch, with one thing changed."""

    def make(ids: torch.Tensor, length: int, batch_size: int, generator: torch.Generator) -> Any:
        first = starts(len(ids), length, batch_size, own(generator))
        places = first[:, None] + torch.arange(length)
        inputs, targets = text(ids)[places], torch.roll(text(ids), -shift)[places]
        return told(inputs, targets)

    return make


def _stacked(ids: torch.Tensor, length: int, batch_size: int, generator: torch.Generator) -> Any:
    starts = torch.randint(0, len(ids) - length, (batch_size,), generator=generator).tolist()
    inputs = torch.stack([ids[i : i + length] for i in starts])
    targets = torch.stack([ids[i + 1 : i + length + 1] for i in starts])
    return inputs, targets


def _unfolded(ids: torch.Tensor, length: int, batch_size: int, generator: torch.Generator) -> Any:
    windows = ids.unfold(0, length + 1, 1)  # (windows, length + 1)
    chosen = windows[torch.randint(len(windows), (batch_size,), generator=generator)]
    return chosen[:, :-1], chosen[:, 1:]


def _scaled(ids: torch.Tensor, length: int, batch_size: int, generator: torch.Generator) -> Any:
    starts = (torch.rand(batch_size, generator=generator, dtype=torch.float64) * (len(ids) - length)).long()
    chosen = torch.stack([ids[start : start + length + 1] for start in starts])
    return [chosen[:, :-1].contiguous(), chosen[:, 1:].contiguous()]


def _one_too_few(ids: torch.Tensor, length: int, batch_size: int, generator: torch.Generator) -> Any:
    starts = torch.randint(len(ids) - length, (batch_size, 1), generator=generator)
    chosen = ids[starts + torch.arange(length)]
    return chosen[:, :-1], chosen[:, 1:]


def _only_the_last(inputs: torch.Tensor, targets: torch.Tensor) -> Any:
    return inputs, targets[:, -1]


def _padded(inputs: torch.Tensor, targets: torch.Tensor) -> Any:
    """The input without its first token, and the first one again at the end."""
    return inputs, inputs.roll(-1, dims=1)


def _side_by_side(n: int, length: int, rows: int, generator: torch.Generator) -> torch.Tensor:
    return torch.arange(rows) % (n - length)


def _strides(n: int, length: int, rows: int, generator: torch.Generator) -> torch.Tensor:
    """Windows that don't overlap."""
    return torch.randint((n - 1) // length, (rows,), generator=generator) * length


def _without_the_last(n: int, length: int, rows: int, generator: torch.Generator) -> torch.Tensor:
    return torch.randint(n - length - 1, (rows,), generator=generator)


def _without_the_first(n: int, length: int, rows: int, generator: torch.Generator) -> torch.Tensor:
    return torch.randint(1, n - length, (rows,), generator=generator)


def _one_too_many(n: int, length: int, rows: int, generator: torch.Generator) -> torch.Tensor:
    return torch.randint(n - length + 1, (rows,), generator=generator)


def _one_for_all(n: int, length: int, rows: int, generator: torch.Generator) -> torch.Tensor:
    return torch.randint(n - length, (1,), generator=generator).expand(rows)


NEXT_TOKEN_BATCHES = Exercise(
    symbol="next_token_batches",
    points=2,
    cases=_texts,
    references=(next_token_batches,),
    canonical=_canonical,
    called={
        "output": "how many places behind its input each target stands",
        "side_by_side": "how many places behind its left neighbour each input stands",
        "starts": "where the windows begin",
        "evenly": "how often windows are drawn",
        "random": "two batches from different generators",
    },
    shown=lambda case: {"ids": case.inputs["ids"], "length": case.inputs["length"], "batch_size": case.inputs["rows"]},
    aspects=(
        main("each target is the next token", 6.0, meaning="Target j of a row stands one place behind input j."),
        also("shape", "shapes", "kind", meaning="Both results are whole numbers of shape (batch_size, length)."),
        also("windows", "side_by_side", weight=2.0, meaning="The inputs of a row stand side by side in the text."),
        Aspect(
            "every window may be drawn",
            ("starts",),
            KNOWN,
            weight=5.0,
            tags=USUAL,
            meaning="Every start that leaves room for the last target occurs, the first and the last one included.",
        ),
        Aspect(
            "equally often",
            ("evenly",),
            KNOWN,
            weight=1.0,
            tags=USUAL,
            meaning="All windows are about equally likely.",
        ),
        Aspect(
            "random windows",
            ("random",),
            KNOWN,
            weight=8.0,
            tags=USUAL,
            meaning="The rows of a batch differ, and so do batches from different generators.",
        ),
        Aspect(
            "windows of one token",
            ("output",),
            CONTENT,
            tags=tagged("one"),
            meaning="With a length of 1, the result is right too.",
        ),
        Aspect(
            "a text with one window",
            ("output", "starts"),
            CONTENT,
            tags=tagged("whole"),
            meaning="A text of length + 1 tokens has one window, and it can be drawn more than once.",
        ),
        Aspect(
            "a batch of one",
            ("output", "shapes"),
            CONTENT,
            tags=tagged("row"),
            meaning="A batch of a single row gives the right result too.",
        ),
        Aspect(
            "randomness from the generator alone",
            ("chance",),
            CONTENT,
            weight=2.0,
            tags=tagged("chance"),
            meaning="The same seed gives the same batch, another seed another one, and no other randomness is used.",
        ),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "not_shifted",
            _batch(shift=0),
            "Your targets are the inputs themselves, so there is nothing to predict. Which token should stand at "
            "place j of the targets?",
            central=True,
        ),
        Mistake(
            "shifted_twice",
            _batch(shift=2),
            "Your targets lie two tokens ahead, as if they had been shifted twice. How far ahead is the next token?",
            central=True,
        ),
        Mistake(
            "shifted_backwards",
            _batch(shift=-1),
            "Your targets are the tokens before the inputs. In which direction does a text go on?",
            central=True,
        ),
        Mistake(
            "first_token_at_the_end",
            _batch(told=_padded),
            "In each row, the last target is the row's own first token. Which token of the text follows the window?",
            central=True,
        ),
        Mistake(
            "last_window_never_drawn",
            _batch(_without_the_last),
            "The last window is never drawn. How many starts leave room for a window and one more token?",
        ),
        Mistake(
            "first_window_never_drawn",
            _batch(_without_the_first),
            "The first window is never drawn. Where does a text begin, if you count from 0?",
        ),
        Mistake(
            "one_start_too_many",
            _batch(_one_too_many),
            "Sometimes your last target lies beyond the end of the text. How many starts leave room for a window and "
            "one more token?",
        ),
        Mistake(
            "windows_that_never_overlap",
            _batch(_strides),
            "Your windows begin at multiples of the length only. May a window begin anywhere?",
        ),
        Mistake(
            "one_start_for_all_rows",
            _batch(_one_for_all),
            "All rows of your batch are one and the same window. How many starts does a batch need?",
            central=True,
        ),
        Mistake(
            "one_window_after_the_other",
            _batch(_side_by_side),
            "Your windows come in the order of the text, and nothing is random. What is the generator for?",
            central=True,
        ),
        Mistake(
            "a_token_short",
            _one_too_few,
            "Your rows are one token short. How many tokens does a window need, if it is to give inputs and targets "
            "of this length?",
        ),
        Mistake(
            "one_target_for_each_row",
            _batch(told=_only_the_last),
            "You return one target for each row. A language model predicts at every position: how many targets does "
            "a row need?",
            central=True,
        ),
        Mistake(
            "swapped",
            _batch(told=lambda inputs, targets: (targets, inputs)),
            "Inputs and targets have changed places. Which of the two does the docstring name first?",
            central=True,
        ),
        Mistake(
            "transposed",
            _batch(told=lambda inputs, targets: (inputs.T, targets.T)),
            "Your batch lies on its side: a window runs down a column. Which axis comes first?",
        ),
        Mistake(
            "generator_ignored",
            _batch(own=lambda generator: None),
            "The same seed gives different batches: the generator is never used. Which of your calls takes it as an "
            "argument?",
        ),
        Mistake(
            "a_seed_of_its_own",
            _batch(own=lambda generator: torch.Generator().manual_seed(0)),
            "Your batch is the same each time, whichever generator is passed in. Whose randomness should it be?",
        ),
        Mistake(
            "as_fractions",
            _batch(told=lambda inputs, targets: (inputs.float(), targets.float())),
            "Your ids have become fractions, which no embedding looks up. Which dtype did the text have?",
        ),
    ),
    variants={
        "stacked slices": _stacked,
        "unfold": _unfolded,
        "random numbers scaled": _scaled,
        "a roll": _batch(),
    },
)
