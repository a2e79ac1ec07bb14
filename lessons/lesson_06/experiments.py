"""Lesson 6's experiments: models whose positions can be exchanged, and what each kind of position is good for.

The learner's own functions and modules come in as arguments; the rest of the model is that of lessons 3 to 5.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import torch
from torch import nn

from course import fitting, seq2seq_fitting
from course.attention import MultiHeadAttention, merge_heads, padding_mask, scaled_dot_product_attention, split_heads
from course.blocks import EncoderBlock, LayerNorm
from course.causal import CausalSeq2SeqTransformer
from course.lengths import exact_by_length
from course.sequences import exact_match
from course.tasks import addition, digit_operations, reversal

Rotary = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]  # (x, positions) -> x
Model = TypeVar("Model", bound=nn.Module)
Places = Callable[[int], torch.Tensor]  # how long a row is -> where its tokens stand, (length,)


# --- a classifier that has no idea of order, unless its positions tell it


class Reader(nn.Module):
    """Tokens in, one score for each class out; the answer is read off the mean of all tokens.

    An embedding, the `positions` (any module from x to x), encoder blocks, one last norm, the mean over the tokens
    that are no padding, and a Linear layer. Nothing but `positions` knows where a token stands.
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
            x = block(x, padding_mask(tokens))
        real = (tokens != 0).unsqueeze(-1)  # (batch, length, 1)
        mean = (self.final_norm(x) * real).sum(dim=1) / real.sum(dim=1)  # (batch, d_model)
        logits: torch.Tensor = self.head(mean)
        return logits


class Scaled(nn.Module):
    """Positions made louder or quieter: x plus `factor` times what the inner positions add."""

    def __init__(self, positions: nn.Module, factor: float) -> None:
        super().__init__()
        self.positions, self.factor = positions, factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        added: torch.Tensor = self.positions(x) - x
        return x + self.factor * added


def seeded(build: Callable[[], Model], seed: int) -> Model:
    """A model with the first weights of this seed; the reader's own random numbers go on undisturbed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return build()


def by_operation(
    model: nn.Module, data: digit_operations.DigitData, *, steps: int = 600, seed: int = 0, name: str = "training"
) -> dict[str, float]:
    """Train on the digit operations: {operation: share of test inputs that come out right}."""
    fitting.fit(model, *digit_operations.tensors(data.train), steps=steps, learning_rate=3e-3, seed=seed, name=name)
    shares = {}
    for operation in digit_operations.OPERATIONS:
        asked = [example for example in data.test if example[0] == operation]
        shares[operation] = fitting.accuracy(model, *digit_operations.tensors(asked))
    return shares


def by_scale(
    positions: Callable[[], nn.Module],
    factors: Sequence[float],
    data: digit_operations.DigitData,
    *,
    steps: int = 300,
    seed: int = 0,
) -> dict[float, dict[str, float]]:
    """{factor: accuracy where order counts and where it does not}, with positions that are that much louder."""
    shares = {}
    for factor in factors:
        model = seeded(partial(_scaled_reader, positions, factor), seed)
        found = by_operation(model, data, steps=steps, seed=seed, name=f"{factor} times")
        shares[factor] = {
            "first, second, last": sum(found[name] for name in ("first", "second", "last")) / 3,
            "max, min": (found["max"] + found["min"]) / 2,
        }
    return shares


def _scaled_reader(positions: Callable[[], nn.Module], factor: float) -> Reader:
    return Reader(Scaled(positions(), factor))


# --- is a shift a matrix?


def naive_encodings(length: int) -> dict[str, torch.Tensor]:
    """Three first ideas for a row of this length: the index, the index from 0 to 1, and binary digits.

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


def shift_error(encoding: torch.Tensor, offset: int) -> float:
    """How badly the best single matrix moves all positions by `offset`: 0 is perfect, 1 is no use at all.

    The matrix is fitted by least squares; the error is relative to the size of what it should have hit.

    >>> shift_error(torch.eye(4), 1) < 1e-6  # one switch a position: a permutation moves it
    True
    """
    here, there = encoding[:-offset].double(), encoding[offset:].double()
    fitted = torch.linalg.lstsq(here, there, driver="gelsd").solution
    return float((here @ fitted - there).norm() / there.norm())


def concatenated(encoding: torch.Tensor) -> torch.Tensor:
    """The other layout: all sines first, then all cosines. The same columns in another order."""
    return torch.cat([encoding[:, 0::2], encoding[:, 1::2]], dim=1)


# --- rotary attention, and a writer whose positions can be exchanged


class RotaryAttention(MultiHeadAttention):
    """Multi-head attention whose queries and keys are turned by the places where their tokens stand.

    `query_places(length)` and `key_places(length)` say where. With a `window`, only keys at most that far from the
    query are seen.
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
        value = split_heads(self.value(values), self.num_heads)  # (batch, heads, key_length, d_head), not turned
        if self.window is not None:
            near = (here.unsqueeze(1) - there).abs() <= self.window  # (query_length, key_length)
            mask = near if mask is None else mask & near
        heads, weights = scaled_dot_product_attention(query, key, value, mask)
        return self.output(merge_heads(heads)), weights


def writer(
    positions: Callable[[], nn.Module], vocab_size: int = reversal.VOCAB_SIZE, *, num_layers: int = 1, d_model: int = 64
) -> CausalSeq2SeqTransformer:
    """The model of lesson 5, with these positions in the place of the learned ones."""
    model = CausalSeq2SeqTransformer(vocab_size, 1, d_model, 4, 2 * d_model, num_layers)
    model.source_positions, model.target_positions = positions(), positions()  # type: ignore[assignment]
    return model


def rotate(
    model: CausalSeq2SeqTransformer,
    rotary: Rotary,
    source_places: Places = torch.arange,
    window: int | None = None,
) -> CausalSeq2SeqTransformer:
    """Put rotary attention into all three attentions of each layer; the answer's tokens stand at 0, 1, 2, ..."""
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
    """{length: share of new rows that the model, writing on its own, reverses without a mistake}."""

    def on_its_own(source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return seq2seq_fitting.generate(
            model, source, start_id=reversal.START_ID, end_id=reversal.END_ID, max_length=target.shape[1]
        )

    return exact_by_length(on_its_own, exact_match, exclude=data.train)


# --- addition by place


NOWHERE = -100  # where the plus sign stands: far from every digit


def place_values(length: int) -> torch.Tensor:
    """Which place each token of "54321+98765" has, the ones being place 0: both numbers count from 0.

    >>> place_values(7)
    tensor([   0,    1,    2, -100,    0,    1,    2])
    """
    digits = torch.arange(length // 2)
    return torch.cat([digits, torch.tensor([NOWHERE]), digits])


def place_adder(rotary: Rotary, window: int | None = 2) -> CausalSeq2SeqTransformer:
    """An adder that knows of each digit its place, by rotation, and sees only places at most `window` apart."""
    return rotate(writer(nn.Identity, addition.VOCAB_SIZE), rotary, place_values, window)


def width_writing(width: int) -> addition.Writing:
    """Both numbers and the answer with their ones first, filled up with zeros to one width."""
    return addition.Writing(operands_least_first=True, width=width)


def train_adder(
    model: CausalSeq2SeqTransformer, pairs: Sequence[addition.Pair], *, width: int = 5, steps: int, seed: int = 0
) -> list[float]:
    """Teach an adder sums of numbers with `width` digits: the loss before each step."""
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
    """The share of sums that the adder, writing on its own, gets wholly right."""
    source, target = width_writing(width).tensors(pairs)
    return exact_match(answers(model, source, target.shape[1]), target).item()
