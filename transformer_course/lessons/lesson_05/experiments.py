"""Lesson 5's experiments: who moves whom, both scores while a model learns, and the order of digits."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pandas as pd
import torch
from torch import nn

from transformer_course import plots
from transformer_course.plots import Picture
from transformer_course.progress import Progress
from transformer_course.seq2seq_fitting import fit, generate, predict
from transformer_course.sequences import exact_match, shift_right
from transformer_course.tasks import addition
from transformer_course.tasks.addition import Pair, Writing, draw_pairs, long_carries
from transformer_course.tasks.reversal import ALPHABET, END_ID, START_ID, VOCAB_SIZE

Model = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
Tensors = tuple[torch.Tensor, torch.Tensor]
Kind = TypeVar("Kind", bound=nn.Module)
SIZES = (VOCAB_SIZE, 16, 64, 4, 128, 1)  # symbols, max_length, d_model, heads, d_ff, blocks
WAYS = ("with a teacher", "on its own")
DIGITS = 5  # so many digits are written for each number of the digit-order experiment


def fresh_model(kind: Callable[..., Kind], seed: int = 0) -> Kind:
    """A new model for the letters; the same seed gives the same weights to start from."""
    torch.manual_seed(seed)
    return kind(*SIZES)


@dataclass(frozen=True)
class OneRow:
    """One row of letters, and how to draw what is measured on it: a line for each output."""

    place: int
    """Where it stands among the test rows."""
    source: torch.Tensor  # (1, source_length)
    target_input: torch.Tensor  # (1, length)
    letters: list[str]
    says: list[str]
    reads: list[str]

    def grid(self, moved: torch.Tensor, title: str, columns: str = "target token that is nudged") -> Picture:
        """How far each output moves for each target token; framed is the token that the output should say."""
        answers = [(place, place + 1) for place in range(len(self.letters))]
        says = self.says[: len(moved)]
        return plots.heatmap(moved, says, self.reads, title=title, columns=columns, outline=answers)

    def who_looks(self, mask: torch.Tensor, title: str) -> Picture:
        """A mask for this row's target input: 1 = may look."""
        reads = self.reads
        return plots.heatmap(mask.long(), reads, reads, title=title, rows="who looks", columns="who is looked at")

    def looks(self, weights: torch.Tensor, title: str) -> Picture:
        """Where a head looks when the letters of this row are to be said; the weights are those of all test rows."""
        count = len(self.letters)
        own = weights[self.place][:count, :count].round(decimals=3)
        return plots.heatmap(own, self.says[:count], self.letters, title=title, low=0, high=1)


def one_row(texts: Sequence[str], rows: Tensors, length: int) -> OneRow:
    """The first of the rows with so many letters.

    >>> from transformer_course.tasks.reversal import tensors
    >>> row = one_row(["a", "abc"], tensors(["a", "abc"]), length=3)
    >>> row.place, "".join(row.reads), row.says[0]
    (1, '^cba', 'should say c')
    """
    place = next(place for place, text in enumerate(texts) if len(text) == length)
    source, target = (ids[place : place + 1] for ids in rows)
    target = target[:, : length + 1]  # with the end mark
    target_input = shift_right(target, START_ID)
    says = [f"should say {symbol}" for symbol in ALPHABET.text(target[0])]
    return OneRow(place, source, target_input, list(texts[place]), says, list(ALPHABET.text(target_input[0])))


def nudges(model: Model, source: torch.Tensor, target_input: torch.Tensor, highest: int) -> torch.Tensor:
    """How far the logits at place i move when the target token at place j changes: (length, length), row i, column j.

    For one row: `source` is (1, source_length), `target_input` (1, length). Each token is replaced by each other id
    from 1 to `highest`, and the largest movement counts.
    """
    length = target_input.shape[1]
    moved = torch.zeros(length, length)
    # Before and after run in batches of one size: in another size, a processor may round the same row differently.
    sources, same = source.expand(highest, -1), target_input.repeat(highest, 1)  # a row for each new id
    with torch.no_grad():
        before = model(sources, same)  # (highest, length, vocab_size)
        for place in range(length):
            others = same.clone()
            others[:, place] = torch.arange(1, highest + 1, device=target_input.device)
            after = model(sources, others)
            moved[:, place] = (after - before).abs().amax(dim=(0, 2)).cpu()
    return moved


def slopes(model: nn.Module, source: torch.Tensor, target_input: torch.Tensor, embedding: nn.Embedding) -> torch.Tensor:
    """The same question asked of autograd: the gradient of the logits at place i on the embedded token j.

    For one row. Returns (length, length): the size of the gradient of the highest logit in row i, for column j.
    """
    embedded: list[torch.Tensor] = []

    def keep(_layer: nn.Module, inputs: tuple[torch.Tensor, ...], result: torch.Tensor) -> torch.Tensor:
        if inputs[0].shape != target_input.shape or not torch.equal(inputs[0], target_input):
            return result
        embedded.append(result.detach().requires_grad_())
        return embedded[-1]

    hook = embedding.register_forward_hook(keep)
    try:
        logits = model(source, target_input)[0]  # (length, vocab_size)
        rows = []
        for place in range(len(logits)):
            (gradient,) = torch.autograd.grad(logits[place].max(), embedded[-1], retain_graph=True)
            rows.append(gradient[0].norm(dim=-1))
    finally:
        hook.remove()
    return torch.stack(rows).cpu()


@dataclass
class Record:
    """What was seen of a model while it learnt: a score of each kind, and its own writing, every `every` steps."""

    every: int
    scores: dict[str, list[float]] = field(default_factory=dict)
    """Exact match under "with a teacher" and "on its own"; under "tokens, ..." the share of right tokens, and under
    "after a mistake, ..." their share among the tokens after a row's first mistake (NaN where there are none)."""
    written: list[torch.Tensor] = field(default_factory=list)
    """What it wrote on its own for the first few test rows: (few, target_length) each time."""

    @property
    def steps(self) -> range:
        """The steps at which it was measured."""
        return range(0, self.every * len(self.written), self.every)

    @property
    def largest_gap(self) -> float:
        """How far apart exact match with a teacher and on its own ever were."""
        taught, alone = (self.scores[way] for way in WAYS)
        return max(abs(a - b) for a, b in zip(taught, alone, strict=True))

    def both(self, score: str = "") -> dict[str, list[float]]:
        """A score, "tokens" or "after a mistake", with a teacher and on its own; exact match if none is named."""
        return {way: self.scores[f"{score}, {way}" if score else way] for way in WAYS}

    def at(self, step: int, score: str = "") -> dict[str, float]:
        """The same after so many steps."""
        return {way: values[step // self.every] for way, values in self.both(score).items()}

    def curves(self, title: str, score: str = "") -> Picture:
        """A score with a teacher and on its own, while it learns."""
        label = "token accuracy" if score == "tokens" else "exact match"
        return plots.curves(self.both(score), x=self.steps, title=title, y_label=label, y_limits=(-0.04, 1.06))

    def samples(self, texts: Sequence[str], at: Sequence[int]) -> pd.DataFrame:
        """What the model wrote for the first rows, `texts`, after the steps `at`: a row for each text."""
        columns = {f"after {step} steps": self._texts(len(texts), step // self.every) for step in at}
        return pd.DataFrame({"letters": list(texts), "wanted": [text[::-1] for text in texts], **columns})

    def _texts(self, few: int, place: int) -> list[str]:
        return [ALPHABET.text(row).split(ALPHABET.text([END_ID]))[0] for row in self.written[place][:few]]


def watched(
    model: nn.Module, train: Tensors, test: Tensors, *, steps: int, every: int = 50, few: int = 8, seed: int = 0
) -> Record:
    """Train a model on the letters, and note both scores and its writing every `every` steps."""
    source, target = test
    real, record = target != 0, Record(every)

    def watch(_step: int) -> None:
        taught = predict(model, source, target, start_id=START_ID).argmax(-1)
        alone = generate(model, source, start_id=START_ID, end_id=END_ID, max_length=target.shape[1])
        for name, answers in zip(WAYS, (taught, alone), strict=True):
            record.scores.setdefault(name, []).append(float(exact_match(answers, target)))
            right = answers == target  # (n, target_length)
            record.scores.setdefault(f"tokens, {name}", []).append(float(right[real].float().mean()))
            later = real & (~right & real).cumsum(dim=1).cumsum(dim=1).gt(1)  # after the row's first mistake
            record.scores.setdefault(f"after a mistake, {name}", []).append(float(right[later].float().mean()))
        record.written.append(alone[:few])

    fit(model, *train, start_id=START_ID, steps=steps, learning_rate=0.003, seed=seed, watch=watch, watch_every=every)
    return record


def in_probabilities(model: Model) -> Model:
    """The same model, with probabilities instead of logits: these are comparable from model to model."""
    return lambda source, target_input: model(source, target_input).softmax(dim=-1)


def draw_leaks(leaks: dict[str, float]) -> Picture:
    """How far a later token moves an earlier probability, model by model."""
    title = "How far a later token moves an earlier output"
    return plots.bars(leaks, title=title, x_label="largest change of a probability")


def leak_table(leaks: dict[str, float]) -> pd.DataFrame:
    """Which of these masks let the future through.

    >>> leak_table({"Ann": 0.25, "you": 0.0})["leaks?"].tolist()
    ['yes', 'no']
    """
    table = pd.DataFrame({"leak": leaks}).round(3)
    table["leaks?"] = ["yes" if leak > 0 else "no" for leak in leaks.values()]
    return table


def moved_by_another_source(model: nn.Module, source: torch.Tensor, target: torch.Tensor) -> float:
    """The share of the probability that moves to other tokens when each row gets the source of another row.

    Mean over all real tokens, with a teacher: 0 for a model that doesn't look at the source, 1 at most.
    """
    others = torch.randperm(len(source), generator=torch.Generator().manual_seed(0))
    right, wrong = (predict(model, some, target, start_id=START_ID).softmax(-1) for some in (source, source[others]))
    return float(((right - wrong).abs().sum(dim=-1) / 2)[target != 0].mean())


def share_right(answer: Model, source: torch.Tensor, target: torch.Tensor) -> float:
    """Exact match with a teacher, of any callable from (source, target_input) to logits."""
    with torch.no_grad():
        return float(exact_match(answer(source, shift_right(target, START_ID)).argmax(-1), target))


def digit_order_pairs(seed: int, train: int = 8000, test: int = 500) -> dict[str, list[Pair]]:
    """The sums of the digit-order experiment: "train", and the tests "random sums", "long carries" and "no carry".

    The training numbers have one to five digits, so that there is something easy to begin with. In the tests all
    numbers have five. "no carry" holds a twin of each long carry; see `without_the_carry`. No random sum and no long
    carry is a training sum.

    >>> {name: len(pairs) for name, pairs in digit_order_pairs(seed=0).items()}
    {'train': 8000, 'random sums': 500, 'long carries': 500, 'no carry': 500}
    """
    pairs = draw_pairs(seed, train, DIGITS)
    carries = long_carries(seed, test, DIGITS, exclude=pairs)
    return {
        "train": pairs,
        "random sums": draw_pairs(seed + 1000, test, DIGITS, min_digits=DIGITS, exclude=pairs),
        "long carries": carries,
        "no carry": without_the_carry(carries, seed),
    }


def without_the_carry(pairs: Sequence[Pair], seed: int = 0) -> list[Pair]:
    """Twins of these `long_carries`: the same columns that sum to 9, but no carry that travels through them.

    In each twin, the columns below the run of nines are drawn again, so that none of them makes a carry.

    >>> without_the_carry([(23456, 16547)])
    [(23456, 16541)]
    """
    generator = random.Random(seed)
    twins = []
    for first, second in pairs:
        columns = [[first // 10**place % 10, second // 10**place % 10] for place in range(DIGITS)]
        sums = [sum(column) for column in columns]
        start = next(p for p in range(DIGITS) if sums[p] >= 10 and sums[p + 1 : p + 4] == [9, 9, 9])
        for column in columns[: start + 1]:
            column[1] = generator.randint(0, 8 - column[0]) if column[0] < 9 else 0
            column[0] = min(column[0], 8)
        a, b = (sum(column[i] * 10**place for place, column in enumerate(columns)) for i in (0, 1))
        twins.append((a, b))
    return twins


def by_digit_order(
    build: Callable[..., nn.Module],
    writings: dict[str, Writing],
    *,
    seed: int = 0,
    train: int = 8000,
    steps: int = 1000,
    every: int = 100,
    learning_rate: float = 0.003,
    num_layers: int = 1,
) -> dict[str, dict[str, list[float]]]:
    """{way of writing: {test: exact matches}}, measured every `every` steps; see `digit_order_pairs` for the tests.

    `build` is the class of a model that can't see the future. So it may be asked with a teacher: exact match is the
    same number as on its own, and takes one pass instead of one for each token.
    """
    curves: dict[str, dict[str, list[float]]] = {}
    for name, writing in (bar := Progress(list(writings.items()), desc="ways of writing")):
        data = {kind: writing.tensors(pairs) for kind, pairs in digit_order_pairs(seed, train).items()}
        torch.manual_seed(seed)
        model = build(addition.VOCAB_SIZE, 16, 64, 4, 128, num_layers)
        curve: dict[str, list[float]] = {test: [] for test in data if test != "train"}
        curves[name] = curve

        def watch(_step: int, model: nn.Module = model, data: dict[str, Tensors] = data, curve: Any = curve) -> None:
            for test, shares in curve.items():
                answers = predict(model, *data[test], start_id=addition.START_ID).argmax(-1)
                shares.append(float(exact_match(answers, data[test][1])))

        losses = fit(
            model,
            *data["train"],
            start_id=addition.START_ID,
            steps=steps,
            learning_rate=learning_rate,
            seed=seed,
            watch=watch,
            watch_every=every,
            name=name,
        )
        bar.show_loss(losses[-1])
    return curves


def draw_orders(by_order: dict[str, dict[str, list[float]]], shortcut: float, every: int = 100) -> Picture:
    """What `by_digit_order` measured on random sums and long carries, with the shortcut's share of the random sums.

    >>> draw_orders({"last": {"random sums": [0.0, 1.0], "long carries": [0.0, 0.5]}}, shortcut=0.8)
    Two orders, two tests (exact match by step)
    last, random sums: 0 at 0, 1 at 100
    last, long carries: 0 at 0, 0.5 at 100
    level shortcut: 0.8
    """
    tests = ("random sums", "long carries")
    lines = {f"{order}, {test}": shares[test] for order, shares in by_order.items() for test in tests}
    steps = range(0, every * len(next(iter(lines.values()))), every)
    return plots.curves(
        lines,
        x=steps,
        title="Two orders, two tests",
        y_label="exact match",
        y_limits=(-0.04, 1.06),
        levels={"shortcut": shortcut},
    )


def surest_map(
    model: nn.Module, rows: Sequence[str], test: Tensors, start_id: int
) -> tuple[float, torch.Tensor] | None:
    """Of all heads that look from the target at the source, the one that looks most at the letter to be said.

    Returns its mean weight on that letter, over all letters of all rows, and its weights (n, target_length,
    source_length). None for a model whose layers don't return such weights.
    """
    source, target = test
    right = torch.zeros(len(rows), target.shape[1], source.shape[1], dtype=torch.bool)
    for place, row in enumerate(rows):
        for step in range(len(row)):
            right[place, step, len(row) - 1 - step] = True  # the last letter is to be said first
    heads = [
        head
        for weights in _looks(model, source, shift_right(target, start_id))
        for head in weights.unbind(dim=1)  # (n, target_length, source_length)
    ]
    if not heads:
        return None
    best = max(heads, key=lambda head: head[right].mean().item())
    return best[right].mean().item(), best


def _looks(model: nn.Module, source: torch.Tensor, target_input: torch.Tensor) -> list[torch.Tensor]:
    """The attention weights of each layer, whatever its class, that looks from the target at the source."""
    wanted = (len(source), target_input.shape[1], source.shape[1])
    seen: list[torch.Tensor] = []

    def keep(_layer: nn.Module, _inputs: object, result: object) -> None:
        for part in result if isinstance(result, tuple) else ():
            if isinstance(part, torch.Tensor) and part.dim() == 4 and (part.shape[0], *part.shape[2:]) == wanted:
                seen.append(part.detach())

    hooks = [layer.register_forward_hook(keep) for layer in model.modules()]
    try:
        with torch.no_grad():
            model(source, target_input)
    finally:
        for hook in hooks:
            hook.remove()
    return seen
