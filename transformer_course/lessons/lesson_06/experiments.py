"""Lesson 6's experiments: models whose positions can be swapped out, and what each kind of position is good for.

The learner's own functions and modules are passed in as arguments; the rest of the model comes from lessons 3 to 5.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeVar

import torch
from torch import nn

from transformer_course import fitting, plots, seq2seq_fitting
from transformer_course.attention import (
    MultiHeadAttention,
    merge_heads,
    padding_mask,
    scaled_dot_product_attention,
    split_heads,
)
from transformer_course.blocks import EncoderBlock, LayerNorm
from transformer_course.causal import CausalSeq2SeqTransformer, causal_mask
from transformer_course.lengths import exact_by_length
from transformer_course.plots import Picture
from transformer_course.sequences import exact_match
from transformer_course.tasks import addition, digit_operations, reversal

Rotary = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]  # (x, positions) -> x
Model = TypeVar("Model", bound=nn.Module)
Places = Callable[[int], torch.Tensor]  # how long a row is -> the position of each of its tokens, (length,)


# --- a classifier that can't see order unless its positions tell it, or a causal mask does


class Reader(nn.Module):
    """Tokens in, one score per class out. The answer is read from the mean over all tokens.

    An embedding, the `positions` (any module that maps x to x), encoder blocks, a final norm, the mean over the
    tokens that aren't padding, and a Linear layer. Only `positions` knows where a token stands.
    """

    def __init__(
        self,
        positions: nn.Module,
        vocab_size: int = digit_operations.VOCAB_SIZE,
        num_classes: int = digit_operations.CLASSES,
        d_model: int = 64,
        num_heads: int = 4,
        d_ff: int = 128,
        num_layers: int = 2,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = positions
        self.blocks = nn.ModuleList(EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers))
        self.final_norm = LayerNorm(d_model)
        self.head = nn.Linear(d_model, num_classes)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.positions(self.embedding(tokens))  # (batch, length, d_model)
        for block in self.blocks:
            x = block(x, self.mask(tokens))
        real = (tokens != 0).unsqueeze(-1)  # (batch, length, 1)
        mean = (self.final_norm(x) * real).sum(dim=1) / real.sum(dim=1)  # (batch, d_model)
        logits: torch.Tensor = self.head(mean)
        return logits

    def mask(self, tokens: torch.Tensor) -> torch.Tensor:
        """Who may attend to whom: everyone to every token that isn't padding."""
        return padding_mask(tokens)


class CausalReader(Reader):
    """The same reader with lesson 5's causal mask: a token attends to itself and to what came before it."""

    def mask(self, tokens: torch.Tensor) -> torch.Tensor:
        """The padding and the future are hidden."""
        return padding_mask(tokens) & causal_mask(tokens.shape[1]).to(tokens.device)


class ColleaguesReader(Reader):
    """The bug clinic's patient: it computes its positions and never uses them."""

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        self.positions(x)
        for block in self.blocks:
            x = block(x)
        logits: torch.Tensor = self.head(self.final_norm(x).mean(dim=1))
        return logits


class Scaled(nn.Module):
    """Positions made larger or smaller: x plus `factor` times what the inner positions add."""

    def __init__(self, positions: nn.Module, factor: float) -> None:
        super().__init__()
        self.positions, self.factor = positions, factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        added: torch.Tensor = self.positions(x) - x
        return x + self.factor * added


def seeded(build: Callable[[], Model], seed: int) -> Model:
    """A model whose initial weights come from this seed; the global random numbers are left undisturbed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return build()


def by_operation(
    model: nn.Module, data: digit_operations.DigitData, *, steps: int = 600, seed: int = 0, name: str = "training"
) -> dict[str, float]:
    """Train on the digit operations: {operation: accuracy on the test inputs}."""
    fitting.fit(model, *digit_operations.tensors(data.train), steps=steps, learning_rate=3e-3, seed=seed, name=name)
    shares = {}
    for operation in digit_operations.OPERATIONS:
        asked = [example for example in data.test if example[0] == operation]
        shares[operation] = fitting.accuracy(model, *digit_operations.tensors(asked))
    return shares


def accuracy_map(readers: Mapping[str, Mapping[str, float]]) -> Picture:
    """What `by_operation` measured, a row for each reader."""
    shares = [list(row.values()) for row in readers.values()]
    return plots.heatmap(shares, list(readers), list(digit_operations.OPERATIONS), title="Test accuracy", low=0, high=1)


def by_scale(
    positions: Callable[[], nn.Module],
    factors: Sequence[float],
    data: digit_operations.DigitData,
    *,
    steps: int = 300,
    seed: int = 0,
) -> dict[float, dict[str, float]]:
    """{factor: accuracy where order matters and where it doesn't}, with the positions multiplied by that factor."""
    shares = {}
    for factor in factors:
        model = seeded(partial(_scaled_reader, positions, factor), seed)
        accuracy = by_operation(model, data, steps=steps, seed=seed, name=f"{factor} times")
        shares[factor] = {
            "first, second, last": sum(accuracy[name] for name in ("first", "second", "last")) / 3,
            "max, min": (accuracy["max"] + accuracy["min"]) / 2,
        }
    return shares


def draw_scales(by_scale: Mapping[float, Mapping[str, float]]) -> Picture:
    """What `by_scale` measured, a line for each kind of question.

    >>> draw_scales({0.1: {"max, min": 1.0}, 1: {"max, min": 0.5}})
    Waves, smaller and larger (accuracy by factor)
    max, min: 1 at 0.1, 0.5 at 1
    """
    kinds = next(iter(by_scale.values()))
    return plots.curves(
        {name: [shares[name] for shares in by_scale.values()] for name in kinds},
        x_names=[str(factor) for factor in by_scale],
        title="Waves, smaller and larger",
        x_label="factor",
        y_label="accuracy",
        y_limits=(0, 1.05),
    )


def _scaled_reader(positions: Callable[[], nn.Module], factor: float) -> Reader:
    return Reader(Scaled(positions(), factor))


# --- is a shift a matrix?


def naive_encodings(length: int) -> dict[str, torch.Tensor]:
    """Three first ideas for a row of this length: the index, the index scaled to 0..1, and binary digits.

    >>> naive_encodings(3)["binary digits"]
    tensor([[0., 0.],
            [0., 1.],
            [1., 0.]])
    """
    index = torch.arange(length)
    bits = max(1, (length - 1).bit_length())
    return {
        "index": index.float().unsqueeze(1),
        "normalised index": (index / max(length - 1, 1)).unsqueeze(1),
        "binary digits": (index.unsqueeze(1) >> torch.arange(bits).flip(0) & 1).float(),
    }


def draw_steps(steps: Mapping[str, torch.Tensor]) -> Picture:
    """How far it is from each position to the next, a line for each encoding."""
    title = "From each position to the next"
    return plots.curves(steps, title=title, x_label="position", y_label="distance", y_limits=(0, 2.5))


def shift_error(encoding: torch.Tensor, offset: int) -> float:
    """How badly the best single matrix moves all positions by `offset`: 0 is perfect, 1 is useless.

    The matrix is fitted by least squares; the error is relative to the size of the target.

    >>> shift_error(torch.eye(4), 1) < 1e-6  # one-hot positions: a permutation moves them
    True
    """
    here, there = encoding[:-offset].double(), encoding[offset:].double()
    fitted = torch.linalg.lstsq(here, there, driver="gelsd").solution
    return float((here @ fitted - there).norm() / there.norm())


# --- the other layout of rotary embeddings, and a third way to tell attention about distance


def rotary_halves(x: torch.Tensor, positions: torch.Tensor, base: float = 10000.0) -> torch.Tensor:
    """Rotary embedding in the half-split layout: column i forms a pair with column i + d / 2.

    x is (..., length, d), and so is the result. Hugging Face's `transformers` and GPT-NeoX write it this way.

    >>> rotary_halves(torch.tensor([[1.0, 0.0]]), torch.tensor([1]))
    tensor([[0.5403, 0.8415]])
    """
    d = x.shape[-1]
    frequencies = base ** (-torch.arange(0, d, 2, dtype=x.dtype, device=x.device) / d)  # (d / 2,)
    angles = (positions.unsqueeze(-1) * frequencies).repeat(1, 2)  # (length, d): all angles, then all again
    left, right = x.chunk(2, dim=-1)
    return x * angles.cos() + torch.cat([-right, left], dim=-1) * angles.sin()


def alibi_bias(length: int, num_heads: int) -> torch.Tensor:
    """What ALiBi adds to the scores: minus a slope times the distance, (num_heads, length, length); future keys too.

    Head h, counted from 1, has the slope 2 ** (-8 h / num_heads). Source: Press et al. 2022, section 3.

    >>> alibi_bias(3, num_heads=8)[0]
    tensor([[-0.0000, -0.5000, -1.0000],
            [-0.5000, -0.0000, -0.5000],
            [-1.0000, -0.5000, -0.0000]])
    """
    slopes = 2.0 ** (-8.0 * torch.arange(1, num_heads + 1) / num_heads)  # (num_heads,)
    places = torch.arange(length)
    distance = (places.unsqueeze(1) - places).abs()  # (length, length)
    bias: torch.Tensor = -slopes.view(-1, 1, 1) * distance
    return bias


# --- rotary attention, and a writer whose positions can be swapped out


class RotaryAttention(MultiHeadAttention):
    """Multi-head attention whose queries and keys are rotated by the positions of their tokens.

    `query_places(length)` and `key_places(length)` give those positions. With a `window`, a query sees only keys
    at most that far away.
    """

    def __init__(
        self,
        d_model: int,
        num_heads: int,
        rotary: Rotary,
        query_places: Places = torch.arange,
        key_places: Places = torch.arange,
        window: int | None = None,
    ) -> None:
        super().__init__(d_model, num_heads)
        self.rotary, self.window = rotary, window
        self.query_places, self.key_places = query_places, key_places

    def forward(
        self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        here = self.query_places(queries.shape[1]).to(queries.device)  # (query_length,)
        there = self.key_places(keys.shape[1]).to(keys.device)  # (key_length,)
        query = self.rotary(split_heads(self.query(queries), self.num_heads), here)
        key = self.rotary(split_heads(self.key(keys), self.num_heads), there)
        value = split_heads(self.value(values), self.num_heads)  # (batch, heads, key_length, d_head), not rotated
        if self.window is not None:
            near = (here.unsqueeze(1) - there).abs() <= self.window  # (query_length, key_length)
            mask = near if mask is None else mask & near
        heads, weights = scaled_dot_product_attention(query, key, value, mask)
        return self.output(merge_heads(heads)), weights


def rotary_reader(rotary: Rotary) -> Reader:
    """The reader without added positions; its attention rotates."""
    reader = Reader(nn.Identity())
    for block in reader.blocks:
        block.attention = RotaryAttention(64, 4, rotary)
    return reader


def writer(
    positions: Callable[[], nn.Module], vocab_size: int = reversal.VOCAB_SIZE, *, num_layers: int = 1, d_model: int = 64
) -> CausalSeq2SeqTransformer:
    """Lesson 5's model, with these positions instead of the learned ones."""
    model = CausalSeq2SeqTransformer(vocab_size, 1, d_model, 4, 2 * d_model, num_layers)
    model.source_positions, model.target_positions = positions(), positions()  # type: ignore[assignment]
    return model


def rotate(
    model: CausalSeq2SeqTransformer,
    rotary: Rotary,
    source_places: Places = torch.arange,
    window: int | None = None,
) -> CausalSeq2SeqTransformer:
    """Make all three attentions of each layer rotary. The tokens of the answer are at positions 0, 1, 2, ..."""
    d_model = model.embedding.embedding_dim

    def attention(here: Places, there: Places) -> RotaryAttention:
        return RotaryAttention(d_model, model.encoder[0].attention.num_heads, rotary, here, there, window)  # type: ignore[union-attr, arg-type]

    for block in model.encoder:
        block.attention = attention(source_places, source_places)
    for block in model.decoder:
        block.self_attention = attention(torch.arange, torch.arange)
        block.cross_attention.attention = attention(torch.arange, source_places)  # type: ignore[union-attr]
    return model


def train_writer(
    model: CausalSeq2SeqTransformer, data: reversal.ReversalData, *, steps: int, seed: int = 0, name: str = "training"
) -> list[float]:
    """Teach a writer to reverse rows of 1 to 10 letters: the loss before each step."""
    rows = reversal.tensors(data.train, 10, 11)  # (4000, 10) and (4000, 11)
    model.to(seq2seq_fitting.best_device())
    return seq2seq_fitting.fit(
        model, *rows, start_id=reversal.START_ID, steps=steps, learning_rate=3e-3, seed=seed, name=name
    )


def reversed_by_length(model: CausalSeq2SeqTransformer, data: reversal.ReversalData) -> dict[int, float]:
    """{length: share of new rows that the model reverses without a mistake, writing on its own}."""

    def on_its_own(source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return seq2seq_fitting.generate(
            model, source, start_id=reversal.START_ID, end_id=reversal.END_ID, max_length=target.shape[1]
        )

    return exact_by_length(on_its_own, exact_match, exclude=data.train)


# --- addition by place


NOWHERE = -100  # the position of the plus sign: far from every digit


def place_values(length: int) -> torch.Tensor:
    """The place of each token of "54321+98765", the ones being place 0. Both numbers count from 0.

    >>> place_values(7)
    tensor([   0,    1,    2, -100,    0,    1,    2])
    """
    digits = torch.arange(length // 2)
    return torch.cat([digits, torch.tensor([NOWHERE]), digits])


def place_adder(rotary: Rotary, window: int | None = 2) -> CausalSeq2SeqTransformer:
    """An adder that knows each digit's place, by rotation, and sees only places at most `window` apart."""
    return rotate(writer(nn.Identity, addition.VOCAB_SIZE), rotary, place_values, window)


def width_writing(width: int) -> addition.Writing:
    """Both numbers and the answer with the ones first, padded with zeros to one width."""
    return addition.Writing(operands_least_first=True, width=width)


def train_adder(
    model: CausalSeq2SeqTransformer, pairs: Sequence[addition.Pair], *, width: int = 5, steps: int, seed: int = 0
) -> list[float]:
    """Train an adder on sums of numbers with `width` digits: the loss before each step."""
    model.to(seq2seq_fitting.best_device())
    return seq2seq_fitting.fit(
        model,
        *width_writing(width).tensors(pairs),
        start_id=addition.START_ID,
        steps=steps,
        learning_rate=3e-3,
        seed=seed,
    )


def answers(model: CausalSeq2SeqTransformer, source: torch.Tensor, max_length: int) -> torch.Tensor:
    """The ids that the adder writes on its own."""
    return seq2seq_fitting.generate(
        model, source, start_id=addition.START_ID, end_id=addition.END_ID, max_length=max_length
    )


def sums_right(model: CausalSeq2SeqTransformer, pairs: Sequence[addition.Pair], width: int) -> float:
    """The share of sums that the adder gets completely right, writing on its own."""
    source, target = width_writing(width).tensors(pairs)
    return exact_match(answers(model, source, target.shape[1]), target).item()


WIDTHS = (5, 6, 7, 8, 10, 20, 50)


def sums_by_width(
    model: CausalSeq2SeqTransformer, learnt: Sequence[addition.Pair], widths: Sequence[int] = WIDTHS
) -> dict[int, float]:
    """{digits: share of 100 new sums of that width that the adder gets completely right}."""
    return {
        width: sums_right(model, addition.draw_pairs(1000, 100, width, min_digits=width, exclude=learnt), width)
        for width in widths
    }


def draw_widths(lines: Mapping[str, Mapping[int, float]]) -> Picture:
    """The share of sums that are right, by the width of the numbers."""
    return plots.curves(
        {name: list(line.values()) for name, line in lines.items()},
        x_names=[str(width) for width in next(iter(lines.values()))],
        title="Sums right, trained on five digits",
        x_label="digits of the numbers",
        y_label="exact match",
        y_limits=(-0.04, 1.06),
        legend=True,
    )


def one_long_sum(model: CausalSeq2SeqTransformer, width: int) -> str:
    """One sum of this width as it is written on paper, with the adder's answer and whether it is right."""
    first, second = addition.draw_pairs(7, 1, width, min_digits=width)[0]
    source, target = width_writing(width).tensors([(first, second)])
    answer = width_writing(width).number(answers(model, source, target.shape[1])[0])
    verdict = "right" if answer == first + second else f"wrong, it is {first + second}"
    shown = "no number" if answer is None else str(answer)
    return f"{first:>{width + 2}}\n+{second:>{width + 1}}\n={shown:>{width + 1}}\n{verdict}"
