"""An adder that is told where it is in several ways: the encoder-decoder model of lessons 4 and 5, in one layer.

Sources: Vaswani et al. 2017, section 3.1 (encoder and decoder); Su et al. 2021, section 3.2 (rotary positions);
McLeish et al. 2024, section 3 (an embedding for each place, with an offset that is drawn anew in training).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import torch
from torch import nn

from transformer_course.attention import (
    MultiHeadAttention,
    merge_heads,
    padding_mask,
    scaled_dot_product_attention,
    split_heads,
)
from transformer_course.blocks import FeedForward, LayerNorm
from transformer_course.causal import decoder_mask
from transformer_course.length_generalization.letters import HINTS
from transformer_course.length_generalization.places import digit_positions
from transformer_course.length_generalization.positions import (
    PlaceEmbedding,
    random_offset_positions,
    windowed_mask,
)
from transformer_course.length_generalization.writing import FIRST_HINT, LAST_DIGIT, SumWriting
from transformer_course.positions import rotary_embedding

Positions = Literal["none", "index", "place", "rotary", "place and rotary"]
LONGEST = {"index": 4 * len(HINTS), "place": len(HINTS)}  # rows of a table of learned positions


@dataclass(frozen=True)
class Tools:
    """What lesson 14's learner writes and an adder is made of; the course's own, unless others are passed in."""

    digit_positions: Callable[[torch.Tensor], torch.Tensor] = digit_positions
    random_offset_positions: Callable[[int, int, torch.Generator], torch.Tensor] = random_offset_positions
    windowed_mask: Callable[[torch.Tensor, int], torch.Tensor] = windowed_mask
    place_embedding: Callable[[int, int], nn.Module] = PlaceEmbedding


class Read(NamedTuple):
    """A source that an adder has read."""

    source: torch.Tensor  # (batch, source_length)
    states: torch.Tensor  # (batch, source_length, d_model)
    places: torch.Tensor  # (batch, source_length)
    shift: torch.Tensor  # (batch, 1): how far the letters are moved
    start: torch.Tensor  # (batch, 1): the first position


class PlacedAttention(MultiHeadAttention):
    """Multi-head attention; queries and keys are turned by the places of their tokens, where these are given."""

    notes: list[torch.Tensor] | None = None
    """Where the weights (batch, heads, query_length, key_length) are noted, for whoever wants to see them."""

    def placed(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        mask: torch.Tensor,
        places: tuple[torch.Tensor, torch.Tensor] | None,
    ) -> torch.Tensor:
        """The output alone: (batch, query_length, d_model). `places` are those of queries and keys."""
        query, key = split_heads(self.query(queries), self.num_heads), split_heads(self.key(keys), self.num_heads)
        if places is not None:
            query, key = (
                rotary_embedding(x, place.unsqueeze(1))  # (batch, 1, length) -> the same for all heads
                for x, place in zip((query, key), places, strict=True)
            )
        value = split_heads(self.value(keys), self.num_heads)
        mixed, weights = scaled_dot_product_attention(query, key, value, mask)
        if self.notes is not None:
            self.notes.append(weights)
        output: torch.Tensor = self.output(merge_heads(mixed))
        return output


class AdderLayer(nn.Module):
    """A layer of the encoder, or, with `cross`, of the decoder: pre-norm, and a residual around each part."""

    def __init__(self, d_model: int, num_heads: int, d_ff: int, cross: bool) -> None:
        super().__init__()
        self.attention, self.norm1 = PlacedAttention(d_model, num_heads), LayerNorm(d_model)
        self.feed_forward, self.norm2 = FeedForward(d_model, d_ff), LayerNorm(d_model)
        if cross:
            self.cross_attention, self.norm3 = PlacedAttention(d_model, num_heads), LayerNorm(d_model)

    def forward(
        self,
        x: torch.Tensor,
        mask: torch.Tensor,
        places: torch.Tensor | None,
        states: torch.Tensor | None = None,
        states_mask: torch.Tensor | None = None,
        states_places: torch.Tensor | None = None,
        only_last: bool = False,
    ) -> torch.Tensor:
        keys, there = self.norm1(x), places
        queries = keys
        if only_last:  # nobody asks for the states of the other tokens
            x, queries, mask = x[:, -1:], keys[:, -1:], mask[..., -1:, :]
            places = None if places is None else places[:, -1:]
            states_mask = None if states_mask is None else states_mask[..., -1:, :]
        x = x + self.attention.placed(queries, keys, mask, _both(places, there))
        if states is not None and states_mask is not None:
            x = x + self.cross_attention.placed(self.norm3(x), states, states_mask, _both(places, states_places))
        x = x + self.feed_forward(self.norm2(x))
        return x


def _both(queries: torch.Tensor | None, keys: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor] | None:
    return None if queries is None or keys is None else (queries, keys)


class Adder(nn.Module):
    """Reads a sum, written as `writing` says, and predicts its answer: (batch, target_length, vocab_size).

    What the model is told about where a token is:

    - `positions="none"` tells it nothing, beside what a window shows
    - `positions="index"` adds a learned vector for each index in the row, as in lesson 3
    - `positions="place"` adds a learned vector for the place of each digit, the same in numbers and answer
    - `positions="rotary"` adds nothing, and turns queries and keys by the places of their tokens
    - `positions="place and rotary"` does both

    With `offsets`, the learned vectors begin at a random one in training, and so do the letters of index hints: each
    row has its own offsets. With a `window`, a token sees only tokens whose places differ by less than that.

    >>> model = Adder(SumWriting(), positions="rotary", window=3)
    >>> model(torch.tensor([[2, 3, 11, 4]]), torch.tensor([[12, 6]])).shape
    torch.Size([1, 2, 14])
    """

    def __init__(
        self,
        writing: SumWriting,
        *,
        positions: Positions = "index",
        offsets: bool = False,
        window: int | None = None,
        d_model: int = 64,
        num_heads: int = 4,
        d_ff: int = 128,
        num_layers: int = 1,
        seed: int = 0,
        tools: Tools | None = None,
    ) -> None:
        super().__init__()
        if positions not in get_args(Positions):
            raise ValueError(f"positions is one of {', '.join(get_args(Positions))}, not {positions!r}")
        sizes = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff, "num_layers": num_layers}
        self.settings = {"positions": positions, "offsets": offsets, "window": window, **sizes}
        self.writing, self.offsets, self.window = writing, offsets, window
        self.vectors = next((kind for kind in LONGEST if kind in positions), "")
        self.rotary = "rotary" in positions
        self.tools = tools or Tools()
        self.generator = torch.Generator().manual_seed(seed)
        vocab_size = writing.alphabet.size
        self.embedding = nn.Embedding(vocab_size, d_model)
        if self.vectors:
            table = self.tools.place_embedding if self.vectors == "place" else nn.Embedding
            self.table = table(LONGEST[self.vectors], d_model)
        self.encoder = nn.ModuleList(AdderLayer(d_model, num_heads, d_ff, cross=False) for _ in range(num_layers))
        self.decoder = nn.ModuleList(AdderLayer(d_model, num_heads, d_ff, cross=True) for _ in range(num_layers))
        self.encoder_norm, self.decoder_norm = LayerNorm(d_model), LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size)
        self._seen: dict[int, torch.Tensor] = {}

    def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        return self.decode(target_input, self.encode(source))

    def encode(self, source: torch.Tensor) -> Read:
        """What the decoder needs to know about a source (batch, source_length)."""
        places = self.source_places(source)  # (batch, source_length)
        shift, start = self._hint_shift(source, places), self._first_position(source, places)  # (batch, 1) each
        mask = padding_mask(source) & self._near(places, places)
        x = self._embedded(source, places, shift, start)
        for layer in self.encoder:
            x = layer(x, mask, self._turn(places))
        return Read(source, self.encoder_norm(x), places, shift, start)

    def decode(self, target_input: torch.Tensor, read: Read, only_last: bool = False) -> torch.Tensor:
        """The logits (batch, target_length, vocab_size) after each token of the target (batch, target_length).

        With `only_last`, those after the last token alone, (batch, 1, vocab_size): all that is asked for in writing.
        """
        places = self.target_places(read, target_input.shape[1])  # (batch, target_length)
        mask = decoder_mask(target_input) & self._near(places, places)
        source_mask = padding_mask(read.source) & self._near(places, read.places)
        x = self._embedded(target_input, places, read.shift, read.start)
        for layer in self.decoder:
            last = only_last and layer is self.decoder[-1]
            x = layer(x, mask, self._turn(places), read.states, source_mask, self._turn(read.places), last)
        logits: torch.Tensor = self.head(self.decoder_norm(x))
        return self._hints_back(logits, read.shift)

    # --- where each token is

    def source_places(self, source: torch.Tensor) -> torch.Tensor:
        """The place of each token of the source, (batch, source_length): 1 for the ones, 0 for plus and padding."""
        if self.writing.index_hints:  # the letters say it
            letters = (source >= FIRST_HINT) & (source < FIRST_HINT + len(HINTS))
            places = (source - FIRST_HINT + 1) * letters
            before = places.roll(1, dims=1) * (source <= LAST_DIGIT)  # a digit has the place of its letter
            return places + before
        if self.writing.operands_least_first:
            return self.tools.digit_positions(source.flip(1)).flip(1)
        return self.tools.digit_positions(source)

    def target_places(self, read: Read, length: int) -> torch.Tensor:
        """The place that is to be written after each token of the target, (batch, length)."""
        steps = torch.arange(length, device=read.source.device)
        if self.writing.index_hints:
            steps = steps // 2  # a letter and its digit
        if self.writing.least_first:
            return (steps + 1).expand(len(read.source), length)
        longest = read.places.amax(dim=1, keepdim=True)  # (batch, 1)
        return (longest + 1 - steps).clamp(min=0)  # the answer is one digit longer than the numbers

    def _turn(self, places: torch.Tensor) -> torch.Tensor | None:
        return places if self.rotary else None

    def _near(self, queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        """Which keys are within the window of which query, by their places: (batch, 1, query_length, key_length)."""
        if self.window is None:
            return torch.ones(1, 1, queries.shape[1], keys.shape[1], dtype=torch.bool, device=keys.device)
        most = int(torch.maximum(queries.max(), keys.max())) + 1
        if most not in self._seen:  # which place sees which: asked once, and looked up ever after
            self._seen[most] = self.tools.windowed_mask(torch.arange(most), self.window)
        seen = self._seen[most].to(keys.device)
        return seen[queries.unsqueeze(2), keys.unsqueeze(1)].unsqueeze(1)

    # --- offsets

    def _drawn(self, length: int, most: int, rows: int) -> torch.Tensor:
        """A random first position for each row, (rows, 1)."""
        firsts = [self.tools.random_offset_positions(length, most, self.generator)[:1] for _ in range(rows)]
        return torch.stack(firsts)

    def _first_position(self, source: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        if not self.vectors or not (self.offsets and self.training):
            return torch.zeros_like(source[:, :1])
        longest = source.shape[1] + 1 if self.vectors == "index" else int(places.max()) + 3
        return self._drawn(longest, LONGEST[self.vectors], len(source)).to(source.device)

    def _hint_shift(self, source: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        if not (self.offsets and self.training and self.writing.index_hints):
            return torch.zeros_like(source[:, :1])
        return self._drawn(int(places.max()) + 1, len(HINTS), len(source)).to(source.device)

    def _embedded(
        self, tokens: torch.Tensor, places: torch.Tensor, shift: torch.Tensor, start: torch.Tensor
    ) -> torch.Tensor:
        if self.writing.index_hints:
            tokens = tokens + shift * ((tokens >= FIRST_HINT) & (tokens < FIRST_HINT + len(HINTS)))
        x: torch.Tensor = self.embedding(tokens)
        if not self.vectors:
            return x
        last = LONGEST[self.vectors] - 1
        if self.vectors == "place":
            told: torch.Tensor = self.table(places.clamp(max=last), start)  # (batch, length, d_model)
        else:
            told = self.table((torch.arange(tokens.shape[1], device=tokens.device) + start).clamp(max=last))
        return x + told

    def _hints_back(self, logits: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
        """The logits of the letters, moved back by what they were shifted."""
        if not self.writing.index_hints or not self.training:
            return logits
        letters = torch.arange(len(HINTS), device=logits.device)
        columns = torch.arange(logits.shape[-1], device=logits.device).repeat(len(logits), 1)  # (batch, vocab_size)
        columns[:, FIRST_HINT : FIRST_HINT + len(HINTS)] = FIRST_HINT + (letters + shift) % len(HINTS)
        moved: torch.Tensor = logits.gather(-1, columns.unsqueeze(1).expand_as(logits))
        return moved
