"""Lesson 7's experiments: a model that was stopped early, one that wasn't, and a small one that reads a book.

The learner's own decoders and samplers come in as arguments. All of it runs on the CPU: the models are small, and a
`torch.Generator` for the CPU can't draw on a GPU.
"""

import os
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import torch
from torch import nn

from course.cached_model import Cache, CachedSeq2SeqTransformer
from course.causal import CausalSeq2SeqTransformer
from course.data import moby_dick
from course.progress import Progress
from course.seq2seq import Seq2SeqTransformer
from course.seq2seq_fitting import fit, predict
from course.sequences import exact_match, token_accuracy
from course.tasks import reversal
from course.timing import median_seconds

Model = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]  # (source, target_input) -> logits
Decoder = Callable[..., torch.Tensor]  # (model, source, start_id, end_id, max_length) -> ids
START, END = reversal.START_ID, reversal.END_ID
MAX_LENGTH = 11  # ten letters and the end

Pairs = tuple[torch.Tensor, torch.Tensor]  # source (n, source_length) and target (n, target_length)
END_MARK = "."  # how this lesson writes the end token


def shown(ids: torch.Tensor) -> str:
    """A row of ids as a text: `^` is the start, `.` the end, `_` padding.

    >>> shown(torch.tensor([3, 2, 1, 12, 0]))
    'cba._'
    """
    return reversal.ALPHABET.text(ids).replace("$", END_MARK)


def letters_of(ids: torch.Tensor) -> str:
    """The letters of a source, without its padding.

    >>> letters_of(torch.tensor([1, 2, 3, 0, 0]))
    'abc'
    """
    return shown(ids).rstrip("_")


# --- the models


def tensors(rows: Sequence[str]) -> Pairs:
    """Rows of 1 to 10 letters as source (n, 10) and target (n, 11)."""
    return reversal.tensors(rows, MAX_LENGTH - 1, MAX_LENGTH)


def train_reverser(
    data: reversal.ReversalData,
    steps: int,
    *,
    seed: int = 0,
    kind: type[Seq2SeqTransformer] = CausalSeq2SeqTransformer,
    watch: Callable[[int, Seq2SeqTransformer], None] | None = None,
    name: str = "training",
) -> Seq2SeqTransformer:
    """A model with one block on each side, trained for this many steps to write rows of letters backwards."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = kind(reversal.VOCAB_SIZE, 16, 64, 4, 128, 1)
    fit(
        model,
        *tensors(data.train),
        start_id=START,
        steps=steps,
        learning_rate=3e-3,
        seed=seed,
        watch=None if watch is None else lambda step: watch(step, model),
        watch_every=25,
        name=name,
    )
    return model


def as_wide_as(target: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    """`ids` as int64, padded or cut to the width of `target`: decoders may return any width, and any integers."""
    return torch.nn.functional.pad(ids.long(), (0, max(0, target.shape[1] - ids.shape[1])))[:, : target.shape[1]]


def same_ids(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Whether two tensors hold the same ids, whatever their width and kind of integers."""
    wider = max(one, other, key=lambda ids: ids.shape[1])
    return torch.equal(as_wide_as(wider, one), as_wide_as(wider, other))


def scores(ids: torch.Tensor, target: torch.Tensor) -> dict[str, float]:
    """The share of tokens that are right, and of rows that are right as a whole; narrower ids are padded."""
    wide = as_wide_as(target, ids)
    said = torch.nn.functional.one_hot(wide, reversal.VOCAB_SIZE).float()
    return {"tokens": token_accuracy(said, target).item(), "rows": exact_match(ids, target).item()}


def gap_while_learning(
    greedy_decode: Decoder, data: reversal.ReversalData, *, steps: int = 300, seed: int = 0
) -> tuple[dict[str, list[float]], Seq2SeqTransformer]:
    """Tokens and rows right, with a teacher and on its own, every 25 steps; and the model that was trained."""
    source, target = tensors(data.test)
    found: dict[str, list[float]] = {
        f"{kind}, {how}": [] for kind in ("tokens", "rows") for how in ("teacher", "on its own")
    }

    def watch(_step: int, model: Seq2SeqTransformer) -> None:
        with_teacher = predict(model, source, target, start_id=START).argmax(dim=-1)
        alone = greedy_decode(model, source, START, END, MAX_LENGTH)
        for how, ids in (("teacher", with_teacher), ("on its own", alone)):
            for kind, share in scores(ids, target).items():
                found[f"{kind}, {how}"].append(share)

    model = train_reverser(data, steps, seed=seed, kind=CachedSeq2SeqTransformer, watch=watch)
    return found, model


def largest_difference(one: Sequence[float], other: Sequence[float]) -> float:
    """The largest amount by which `one` is above `other`, point by point."""
    return max(a - b for a, b in zip(one, other, strict=True))


def errors_by_position(ids: torch.Tensor, target: torch.Tensor) -> list[float]:
    """The share of wrong tokens at each position of the target, without padding."""
    wide = as_wide_as(target, ids)
    real = target != 0
    wrong = ((wide != target) & real).sum(dim=0) / real.sum(dim=0)
    return [float(share) for share in wrong]


# --- one distribution, and what samplers do to it


def hesitation(model: Model, source: torch.Tensor, target: torch.Tensor) -> tuple[int, int, torch.Tensor]:
    """Where a model hesitates between about four letters: (row, position, its logits there, (1, vocab_size)).

    Of all positions under teacher forcing, the one whose perplexity is closest to 4.
    """
    read = torch.cat([torch.full_like(target[:, :1], START), target[:, :-1]], dim=1)
    with torch.no_grad():
        logits = model(source, read)  # (n, length, vocab_size)
    logs = torch.log_softmax(logits, dim=-1)
    choices = (-(logs.exp() * logs).sum(dim=-1)).exp()  # perplexity at each position
    choices[target == 0] = 0.0
    row, position = divmod(int((choices - 4).abs().argmin()), target.shape[1])
    return row, position, logits[row, position].unsqueeze(0)


def symbols() -> list[str]:
    """What each id of the reversal task is called, in order: padding, the letters, start and end."""
    names = {0: "padding", START: "start", END: "end"}
    return [names.get(i, shown(torch.tensor([i]))) for i in range(reversal.VOCAB_SIZE)]


def frequencies(sampler: Callable[[torch.Tensor], torch.Tensor], logits: torch.Tensor, samples: int) -> torch.Tensor:
    """How often each token is sampled, as a share: `sampler` takes (samples, vocab_size) to ids (samples,)."""
    ids = sampler(logits.repeat(samples, 1))
    return torch.bincount(ids.long(), minlength=logits.shape[-1]) / samples


def in_live_notebook() -> bool:
    """Is there anybody who could move a slider, in JupyterLab or Colab?"""
    return "JPY_SESSION_NAME" in os.environ or "google.colab" in sys.modules


def sliders(show: Callable[..., Any], **ranges: tuple[float, float, float]) -> None:
    """Sliders that call `show` again whenever they are moved; without a live notebook, one sentence instead.

    `ranges` are {argument: (lowest, highest, first value)}; integers give a slider of integers.
    """
    if not in_live_notebook():
        print("In JupyterLab and Colab there are sliders here. The figure above shows the same for one setting.")
        return
    import ipywidgets  # type: ignore[import-untyped]

    def slider(low: float, high: float, value: float) -> Any:
        if isinstance(low, int):
            return ipywidgets.IntSlider(min=low, max=high, value=value, continuous_update=False)
        return ipywidgets.FloatSlider(min=low, max=high, value=value, step=0.05, continuous_update=False)

    ipywidgets.interact(show, **{name: slider(*values) for name, values in ranges.items()})


# --- a model small enough to know all its answers

TREE_SYMBOLS = "_.^ab"  # padding, end, start, and two letters
TREE_END, TREE_START = 1, 2
TREE: Mapping[str, Mapping[str, float]] = {
    "": {"a": 0.6, "b": 0.4},
    "a": {"a": 0.4, "b": 0.3, ".": 0.3},
    "b": {".": 0.9, "a": 0.1},
}  # whatever isn't listed ends for certain


class TreeModel(nn.Module):
    """A model made by hand: the probabilities of `TREE`, whatever the source. (batch, length, 5 symbols)

    >>> tree_model(torch.tensor([[3]]), torch.tensor([[2, 3]])).exp()[0, -1]
    tensor([0.0000, 0.3000, 0.0000, 0.4000, 0.3000])
    """

    def __init__(self) -> None:
        super().__init__()
        self.device = nn.Parameter(torch.zeros(()), requires_grad=False)  # for decoders that ask where a model lives

    def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        probabilities = torch.zeros(*target_input.shape, len(TREE_SYMBOLS))
        for row, ids in enumerate(target_input.tolist()):
            text = "".join(TREE_SYMBOLS[i] for i in ids)
            for position in range(len(ids)):
                for symbol, probability in TREE.get(text[1 : position + 1], {".": 1.0}).items():
                    probabilities[row, position, TREE_SYMBOLS.index(symbol)] = probability
        return probabilities.log()


tree_model = TreeModel()


def tree_answers(prefix: str = "", probability: float = 1.0) -> dict[str, float]:
    """All answers that the tree can give, with their probabilities.

    >>> {answer: round(probability, 2) for answer, probability in tree_answers().items()}
    {'aa.': 0.24, 'ab.': 0.18, 'a.': 0.18, 'b.': 0.36, 'ba.': 0.04}
    """
    answers: dict[str, float] = {}
    for symbol, share in TREE.get(prefix, {".": 1.0}).items():
        if symbol == ".":
            answers[f"{prefix}."] = probability * share
        else:
            answers |= tree_answers(prefix + symbol, probability * share)
    return answers


def tree_text(ids: torch.Tensor) -> str:
    """A row of the tree's ids as a text, without padding.

    >>> tree_text(torch.tensor([4, 1, 0]))
    'b.'
    """
    return "".join(TREE_SYMBOLS[int(i)] for i in ids).rstrip("_")


# --- several answers


def log_likelihood(model: Model, source: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    """How likely the model finds each answer: the sum of the log-probabilities of its tokens, (n,)."""
    ids = ids.long()
    read = torch.cat([torch.full_like(ids[:, :1], START), ids[:, :-1]], dim=1)
    with torch.no_grad():
        logs = torch.log_softmax(model(source, read), dim=-1)
    of_ids = logs.gather(-1, ids.unsqueeze(-1)).squeeze(-1)
    return of_ids.masked_fill(ids == 0, 0.0).sum(dim=1)


def sample_answers(
    sampler: Callable[[torch.Tensor], torch.Tensor], model: Model, source: torch.Tensor, max_length: int = MAX_LENGTH
) -> torch.Tensor:
    """An answer to each source, (n, max_length), each token sampled by `sampler` from the logits (n, vocab_size)."""
    written = torch.full_like(source[:, :1], START)
    ended = torch.zeros(len(source), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(max_length):
            sampled = sampler(model(source, written)[:, -1]).masked_fill(ended, 0)
            written = torch.cat([written, sampled.unsqueeze(1)], dim=1)
            ended |= sampled == END
    return written[:, 1:]


def pass_at(
    sampler: Callable[[torch.Tensor], torch.Tensor], model: Model, pairs: Pairs, counts: Sequence[int]
) -> list[float]:
    """pass@n: the share of sources for which at least one of n sampled answers is right, for each n of `counts`.

    Measured on the first n of the answers. Chen et al. 2021, section 2.1, average over all choices of n instead.
    """
    source, target = pairs
    right = []
    for _ in Progress(range(max(counts)), desc="sampling"):
        ids = sample_answers(sampler, model, source)
        right.append(((ids == target) | (target == 0)).all(dim=1))  # (n,)
    found = torch.stack(right)  # (most, n)
    return [found[:count].any(dim=0).float().mean().item() for count in counts]


def luckiest(
    sampler: Callable[[torch.Tensor], torch.Tensor],
    model: Model,
    source: torch.Tensor,
    target: torch.Tensor,
    samples: int,
) -> torch.Tensor:
    """Of several sampled answers a right one if there is one: ids like `target`. It needs to know the target."""
    best = sample_answers(sampler, model, source, target.shape[1])
    for _ in range(samples - 1):
        ids = sample_answers(sampler, model, source, target.shape[1])
        right = ((ids == target) | (target == 0)).all(dim=1, keepdim=True)  # (n, 1)
        best = torch.where(right, ids, best)
    return best


# --- work and time


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


# --- real text


class TextModel(nn.Module):
    """A model that continues a text, character by character. It isn't trained: it counts what follows what.

    The probability of a character after the last `context` characters is its share among the characters that followed
    them in the text, mixed with what shorter contexts say (Witten and Bell 1991): the fewer different characters have
    followed, the more the longest context counts.

    To fit the decoders of this lesson it is called with (source, target_input): the source is the beginning of a text,
    and whatever follows the start token in `target_input` is appended to it.
    """

    def __init__(self, text: str, context: int = 5) -> None:
        super().__init__()
        self.unused = nn.Parameter(torch.zeros(()), requires_grad=False)  # for decoders that ask where a model lives
        self.characters, self.context = sorted(set(text)), context  # ids from 2 on: 0 is padding, 1 the start
        self.ids_of = {character: i for i, character in enumerate(self.characters, start=2)}
        self.followers: dict[tuple[int, ...], Counter[int]] = defaultdict(Counter)
        ids = [self.ids_of[character] for character in text]
        for place, follower in enumerate(ids):
            for length in range(min(context, place) + 1):
                self.followers[tuple(ids[place - length : place])][follower] += 1
        self._known: dict[tuple[int, ...], torch.Tensor] = {}

    def ids(self, text: str) -> torch.Tensor:
        """The ids of a text, (length,)."""
        return torch.tensor([self.ids_of[character] for character in text])

    def text(self, ids: torch.Tensor) -> str:
        """The text of a row of ids."""
        return "".join(self.characters[i - 2] for i in ids.tolist() if i > 1)

    def probabilities(self, context: tuple[int, ...]) -> torch.Tensor:
        """Of every character after this context, (vocab_size,)."""
        if context not in self._known:
            if context:
                shorter = self.probabilities(context[1:])
            else:
                shorter = torch.ones(len(self.characters) + 2) / len(self.characters)
                shorter[:2] = 0.0
            counts = torch.zeros_like(shorter)
            for follower, count in self.followers.get(context, Counter()).items():
                counts[follower] = count
            different = (counts > 0).sum()
            total = counts.sum() + different
            self._known[context] = (counts + different * shorter) / total if total else shorter
        return self._known[context]

    def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        read = torch.cat([source, target_input[:, 1:].to(source.dtype)], dim=1).tolist()
        first = source.shape[1]
        rows = [
            torch.stack([self.probabilities(tuple(ids[max(0, end - self.context) : end])) for end in ends])
            for ids in read
            for ends in [range(first, len(ids) + 1)]
        ]
        return torch.stack(rows).log()


@dataclass(frozen=True)
class Reading:
    """A text model, its loss on text that it hasn't seen, in nats per character, and the words of the book."""

    model: TextModel
    loss: float
    words: frozenset[str]

    def known(self, text: str) -> float:
        """The share of words in `text` that occur in the book; the last one may be cut off, and isn't counted."""
        words = words_of(text)[:-1]
        return sum(word in self.words for word in words) / max(len(words), 1)


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case.

    >>> words_of("Call me Ishmael.")
    ['call', 'me', 'ishmael']
    """
    return re.findall(r"[a-z']+", text.lower())


def read_the_book() -> Reading:
    """Counts the first nineteen twentieths of the bundled chapters; the rest is held out."""
    book = " ".join(moby_dick().split())
    cut = len(book) * 19 // 20
    model = TextModel(book[:cut] + "".join(sorted(set(book[cut:]) - set(book[:cut]))))
    ids = model.ids(book[cut - model.context :]).unsqueeze(0)
    with torch.no_grad():
        logs = model(ids[:, : model.context], ids[:, model.context - 1 : -1])[0]
    loss = nn.functional.nll_loss(logs, ids[0, model.context :]).item()
    return Reading(model, loss, frozenset(words_of(book)))


Settings = tuple[float, int, float]  # temperature, k and p


def passages(
    generate: Callable[..., torch.Tensor],
    reading: Reading,
    prompt: str,
    settings: Sequence[Settings],
    length: int = 120,
    copies: int = 8,
    seed: int = 0,
) -> pd.DataFrame:
    """What the model makes of a prompt at each setting: one passage, and how many of the words are in the book.

    The share is taken over `copies` passages; `different` counts how many of them begin with different characters.
    """
    model, rows = reading.model, []
    source = model.ids(prompt).expand(copies, -1)
    for temperature, k, p in Progress(settings, desc="writing"):
        generator = torch.Generator().manual_seed(seed)
        ids = generate(model, source, 1, NEVER, length, temperature, k, p, generator)
        texts = [model.text(row) for row in ids]
        rows.append(
            {
                "temperature": temperature,
                "k": k,
                "p": p,
                "words in the book": f"{100 * sum(map(reading.known, texts)) / copies:.0f} %",
                "different": len({text[:40] for text in texts}),
                "passage": prompt + texts[0],
            }
        )
    return pd.DataFrame(rows)
