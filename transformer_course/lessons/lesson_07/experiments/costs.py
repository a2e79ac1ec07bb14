"""What a decoder costs: tokens read, seconds, and the memory of a cache."""

from collections.abc import Callable, Sequence

import torch
from torch import nn

from transformer_course.cached_model import Cache, CachedSeq2SeqTransformer
from transformer_course.progress import Progress
from transformer_course.tasks import reversal
from transformer_course.timing import median_seconds

START = reversal.START_ID
Decoder = Callable[..., torch.Tensor]  # (model, source, start_id, end_id, max_length) -> ids


class Counting(nn.Module):
    """A model that counts how many tokens its decoder was given to read."""

    def __init__(self, model: CachedSeq2SeqTransformer) -> None:
        super().__init__()
        self.model, self.tokens_read = model, 0

    def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        self.tokens_read += target_input.shape[1]
        logits: torch.Tensor = self.model(source, target_input)
        return logits

    def encode(self, source: torch.Tensor) -> torch.Tensor:
        return self.model.encode(source)

    def decode_step(self, tokens: torch.Tensor, encoder_states: torch.Tensor, cache: Cache) -> torch.Tensor:
        self.tokens_read += tokens.shape[1]
        return self.model.decode_step(tokens, encoder_states, cache)


NEVER = -1  # an end token that no model ever writes: every row runs to its full length


def long_writer(longest: int, seed: int = 0) -> CachedSeq2SeqTransformer:
    """An untrained model for long answers: what it writes doesn't matter here, only how long it takes."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return CachedSeq2SeqTransformer(reversal.VOCAB_SIZE, longest + 1, 64, 4, 128, 2).eval()


def tokens_read(decode: Decoder, model: CachedSeq2SeqTransformer, lengths: Sequence[int]) -> list[int]:
    """How many tokens the decoder reads for an answer of each length."""
    counts = []
    for length in lengths:
        counting = Counting(model)
        decode(counting, torch.ones(1, 5, dtype=torch.long), START, NEVER, length)
        counts.append(counting.tokens_read)
    return counts


def seconds(decode: Decoder, model: CachedSeq2SeqTransformer, lengths: Sequence[int], batch: int = 4) -> list[float]:
    """How long an answer of each length takes: the median of three runs."""
    source = torch.ones(batch, 5, dtype=torch.long)
    return [
        median_seconds(decode, model, source, START, NEVER, length, repeats=3)
        for length in Progress(lengths, desc="timing")
    ]


def cache_bytes(layers: int, heads: int, d_head: int, length: int, bytes_per_number: int = 4) -> int:
    """What the keys and values of one text take up in memory.

    >>> cache_bytes(layers=2, heads=4, d_head=16, length=100)
    102400
    """
    return 2 * layers * heads * d_head * length * bytes_per_number


class PreallocatedCache:
    """A cache that makes room once and then only writes: nothing that was stored is ever copied again."""

    def __init__(self, room: int) -> None:
        self.room, self.filled, self.buffers = room, dict[int, int](), dict[int, torch.Tensor]()

    def append(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        batch, heads, new, d_head = keys.shape
        if layer not in self.buffers:
            self.buffers[layer] = keys.new_empty(2, batch, heads, self.room, d_head)
        start = self.filled.get(layer, 0)
        self.filled[layer] = end = start + new
        self.buffers[layer][0, :, :, start:end] = keys
        self.buffers[layer][1, :, :, start:end] = values
        return self.buffers[layer][0, :, :, :end], self.buffers[layer][1, :, :, :end]


def append_many(make: Callable[[], Cache], length: int) -> float:
    """Seconds to append so many tokens, one by one, to a new cache: the median of three runs."""
    new = torch.ones(4, 8, 1, 64)

    def run() -> None:
        cache = make()
        for _ in range(length):
            cache.append(0, new, new)

    return median_seconds(run, repeats=3)
