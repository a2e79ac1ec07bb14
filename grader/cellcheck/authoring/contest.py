"""An open-ended task with a table: learners hand in models, and `cellcheck leaderboard` scores them on hidden problems.

A lesson with such a task has a `contest.py` that defines `CONTEST`. All that is special about the task stands there:
how problems are drawn, how they become ids, how an answer is generated, and what an entry may use. The module stays in
the process that judges; an entry's code never sees it.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

Problem = Any
Ids = list[int]
Decode = Callable[..., "torch.Tensor"]
"""`decode(model, source, start_id, end_id, max_length)` -> ids (batch, columns), as the course generates an answer:
`source` is (batch, source_length), and `model(source, written)` gives logits (batch, length, vocab_size). A row ends
with `end_id`, and holds padding (id 0) after that."""


@dataclass(frozen=True)
class Notation:
    """How problems are written for one entry."""

    write: Callable[[Problem], tuple[Ids, Ids]]
    """The ids that a model reads, and those that it is to answer with, the end included and the start left out. None of
    them is 0, which is padding."""
    vocab_size: int
    start_id: int
    end_id: int
    interchangeable: tuple[int, ...] = ()
    """Ids that only training can tell apart, such as those of the ten digits. An entry that is trained by the engine
    meets them under names that are drawn anew in each run."""


@dataclass(frozen=True)
class Allowance:
    """What one entry may use. Seconds are processor time."""

    training_seconds: float = 60.0
    answering_seconds: float = 60.0
    """For all hidden problems together."""
    memory_bytes: int = 2**30
    parameters: int = 500_000
    """Numbers in the model's state dict, buffers included: a buffer can hold whatever a parameter can."""
    text_bytes: int = 2**15
    """Of an entry's code. What is written there is not counted as a parameter, so there isn't much room for it."""
    drawn: int = 20_000
    """Problems in one call of `draw`; an entry may call it as often as it likes."""


@dataclass(frozen=True)
class Contest:
    """What there is to know of one such task."""

    title: str
    hidden: Mapping[int, int]
    """How many hidden problems there are of each size."""
    draw: Callable[[random.Random, int, int], list[Problem]]
    """`draw(generator, size, count)`: hidden problems."""
    practise: Callable[[random.Random, int], list[Problem]]
    """`practise(generator, count)`: what an entry that is trained by the engine learns from."""
    notation: Callable[[Mapping[str, Any]], Notation]
    """The notation that an entry asks for; raises ValueError, with a sentence for the learner, for one there isn't."""
    decode: Decode
    allowance: Allowance = field(default_factory=Allowance)
    size: str = "length"
    """What the size of a problem is called: "digits"."""
    folder: str = "entry"
    """Where an entry stands, beside the notebook."""
    code: str = "entry.py"
    """The file that defines the three names that follow."""
    weights: str = "weights.safetensors"
    """The file with trained weights; an entry without it is trained by the engine."""
    make: str = "make_model"
    """`make_model()` -> a fresh `torch.nn.Module`. It is called as `model(source, target_input)`, with ids
    (batch, source_length) and (batch, target_length), and returns logits (batch, target_length, vocab_size)."""
    learn: str = "fit"
    """`fit(model, draw)` trains the model in place. `draw(count)` gives pairs of lists of ids: what is read, and what
    is to be answered, the end included."""
    asks: str = "FORMAT"
    """A dict that says how problems are to be written; see `notation`."""
    answers: str = "answers"
    """What correct outputs are called in the table: "sums"."""
