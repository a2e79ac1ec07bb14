"""The first two rungs: ten pairs learnt by heart, and letters written backwards.

The learner's own parts come in as `build`, the class of the model, and `parts`, what trains it.
"""

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import nn

from transformer_course.paper.averaging import LastWeights
from transformer_course.paper.batches import Batches
from transformer_course.paper.fitting import OURS, Parts, Run, fit
from transformer_course.paper.looking import HIDDEN, last_crossing
from transformer_course.paper.model import Transformer, count_parameters
from transformer_course.paper.recipes import Recipe
from transformer_course.paper.writing import write
from transformer_course.tasks.reversal import reversal_task
from transformer_course.tasks.symbols import Symbols
from transformer_course.tasks.ten_pairs import PAIRS, ten_pairs

Build = Callable[..., nn.Module]  # the class Transformer, or one with the same arguments

TEN = Recipe(32, 1, 2, 64, 0.0, 12, steps=100, warmup_steps=60, max_tokens=200, smoothing=0.0)
REVERSAL = Recipe(64, 1, 4, 128, 0.0, 12, steps=1000, warmup_steps=250, max_tokens=768)
KEPT, KEEP_EVERY = 10, 20  # as the paper does with its checkpoints, the last weights are averaged
LETTERS = Symbols(tuple("abcdefghij"))


@dataclass
class Learnt:
    """A model, what happened while it learnt, and what it wrote in the end: source, wanted, written."""

    model: nn.Module
    run: Run
    written: pd.DataFrame
    curve: pd.DataFrame = field(default_factory=pd.DataFrame)
    before_averaging: dict[str, float] = field(default_factory=dict)
    """The scores of the weights after the last step alone."""

    @property
    def exact(self) -> float:
        """The share of answers that are right as a whole."""
        return float((self.written["wanted"] == self.written["written"]).mean())


def overfit_ten_pairs(
    build: Build = Transformer, parts: Parts = OURS, *, steps: int | None = None, seed: int = 0
) -> Learnt:
    """Train on ten pairs until the model knows them by heart. If it can't, something is broken."""
    english, german, examples = ten_pairs()
    model = TEN.build(english.size, german.size, build=build, seed=seed)
    batches = Batches(examples, TEN.max_tokens, seed)
    run = fit(model, batches, TEN, vocab_size=german.size, parts=parts, steps=steps, seed=seed, name="ten pairs")
    ids_written = write(model, [source for source, _ in examples], max_length=TEN.max_length)
    written = [" ".join(german.decode(ids)) for ids in ids_written]
    table = pd.DataFrame(PAIRS, columns=["source", "wanted"]).assign(written=written)
    return Learnt(model, run, table)


def twenty_losses(
    build: Build = Transformer, parts: Parts = OURS, *, stopped_after: int | None = None, seed: int = 0
) -> list[float]:
    """The losses of 20 steps on the ten pairs, with dropout.

    A run that is stopped on the way leaves a checkpoint, and a new model goes on from there.
    """
    english, german, examples = ten_pairs()
    recipe, batches = replace(TEN, dropout=0.1), Batches(examples, max_tokens=40, seed=seed)

    def losses_of(steps: int, checkpoint: Path | None = None) -> list[float]:
        model = recipe.build(english.size, german.size, build=build, seed=seed)
        run = fit(
            model, batches, recipe, vocab_size=german.size, parts=parts, steps=steps, checkpoint=checkpoint, seed=seed
        )  # fmt: skip
        return run.losses

    if stopped_after is None:
        return losses_of(20)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Path(folder) / "checkpoint.pt"
        losses_of(stopped_after, checkpoint)
        return losses_of(20, checkpoint)


def reverse_letters(
    build: Build = Transformer,
    parts: Parts = OURS,
    *,
    recipe: Recipe = REVERSAL,
    steps: int | None = None,
    train: int = 10_000,
    watch_every: int = 200,
    seed: int = 0,
) -> Learnt:
    """Train a model to write one to ten letters backwards, and let it write 500 rows that it never saw.

    `curve` has the share of right tokens and of right rows, written without a teacher, every `watch_every` steps. In
    the end the model gets the mean of its last ten weights, noted every 20 steps, as in the paper's section 6.1:
    `written` and the curve's last row are about that mean.
    """
    data = reversal_task(seed, train=train)
    examples = [(LETTERS.encode(row), LETTERS.target(row[::-1])) for row in data.train]
    sources = [LETTERS.encode(row) for row in data.test]
    wanted = [row[::-1] for row in data.test]
    model = recipe.build(LETTERS.size, LETTERS.size, build=build, seed=seed)
    curve: list[dict[str, float]] = []
    written: list[str] = []

    last_weights = LastWeights(model, KEPT)

    def examine(step: int) -> None:
        written[:] = ["".join(LETTERS.decode(ids)) for ids in write(model, sources, max_length=recipe.max_length - 1)]
        curve.append({"step": step, **letter_scores(written, wanted)})

    def watch(step: int) -> None:
        last_weights.keep()
        if step % watch_every == 0:
            examine(step)

    # Rows of one length in a batch would pull the model this way and that: here lengths are mixed.
    batches = Batches(examples, recipe.max_tokens, seed, by_length=False)
    run = fit(
        model, batches, recipe, vocab_size=LETTERS.size, parts=parts, steps=steps, watch=watch,
        watch_every=KEEP_EVERY, seed=seed, name="writing backwards",
    )  # fmt: skip
    examine(len(run.losses))
    alone = curve.pop()
    last_weights.average()
    examine(len(run.losses))
    table = pd.DataFrame({"source": data.test, "wanted": wanted, "written": written})
    curves = pd.DataFrame(curve).drop_duplicates("step", keep="last")
    return Learnt(model, run, table, curves, {name: alone[name] for name in ("tokens", "rows")})


def letters_mirrored(model: nn.Module, row: str) -> tuple[dict[str, torch.Tensor], list[str]]:
    """Which letter of the row each written letter looks at: {head: (written, read)} in the last cross-attention, and
    what is written, its end included. Both are empty where the model doesn't return what it looks at.
    """
    source = LETTERS.encode(row)
    target = LETTERS.target(row[::-1])
    crossing = last_crossing(model, torch.tensor([source]), torch.tensor([target[:-1]]))
    if crossing is None:
        print(HIDDEN)
        return {}, []
    return {f"head {number}": weights for number, weights in enumerate(crossing)}, [*row[::-1], "(end)"]


def letter_scores(written: Sequence[str], wanted: Sequence[str]) -> dict[str, float]:
    """The share of right tokens, the end included, and of right rows.

    >>> letter_scores(["ab", "c"], ["ab", "d"])
    {'tokens': 0.8, 'rows': 0.5}
    """
    right = total = 0
    for row, answer in zip(written, wanted, strict=True):
        right += sum(one == other for one, other in zip(row + ".", answer + ".", strict=False))
        total += len(answer) + 1
    rows = sum(row == answer for row, answer in zip(written, wanted, strict=True))
    return {"tokens": right / total, "rows": rows / len(wanted)}


def rows_table(models: Mapping[str, Learnt]) -> pd.DataFrame:
    """A row for each model that learnt to write backwards: its size, and the share of rows that it gets right."""
    return pd.DataFrame(
        {
            "parameters": {name: count_parameters(learnt.model) for name, learnt in models.items()},
            "rows right": {name: learnt.exact for name, learnt in models.items()},
        }
    )


def norm_orders(build: Callable[..., nn.Module] = Transformer, **options: Any) -> dict[str, Learnt]:
    """Reversal with the paper's post-norm and with pre-norm, everything else the same."""
    runs = {}
    for name, norm_first in (("post-norm", False), ("pre-norm", True)):

        def ordered(*sizes: Any, order: bool = norm_first) -> nn.Module:
            return build(*sizes, norm_first=order)

        runs[name] = reverse_letters(ordered, **options)
    return runs
