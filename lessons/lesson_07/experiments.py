"""Lesson 7's experiments: a model trained in haste and one trained well, and what each way of writing makes of them.

The learner's own decoders and samplers come in as arguments. All of it runs on the CPU: the models are small, and a
`torch.Generator` for the CPU can't draw on a GPU.
"""

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from course.cached_model import Cache, CachedSeq2SeqTransformer
from course.causal import CausalSeq2SeqTransformer
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
    """A model with one block on each side, trained for so many steps to write rows of letters backwards."""
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


def scores(ids: torch.Tensor, target: torch.Tensor) -> dict[str, float]:
    """The share of right tokens and of rows that are right as a whole; narrower ids count as padded."""
    wide = torch.nn.functional.pad(ids, (0, max(0, target.shape[1] - ids.shape[1])))[:, : target.shape[1]]
    said = torch.nn.functional.one_hot(wide, reversal.VOCAB_SIZE).float()
    return {"tokens": token_accuracy(said, target).item(), "rows": exact_match(ids, target).item()}


def gap_while_learning(
    greedy_decode: Decoder, data: reversal.ReversalData, *, steps: int = 300, seed: int = 0
) -> dict[str, list[float]]:
    """Tokens and rows right, with a teacher and on its own, before training and after each 25 steps of it."""
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

    train_reverser(data, steps, seed=seed, watch=watch)
    return found


def errors_by_place(ids: torch.Tensor, target: torch.Tensor) -> list[float]:
    """The share of wrong tokens at each place of the target, padding left out."""
    wide = torch.nn.functional.pad(ids, (0, max(0, target.shape[1] - ids.shape[1])))[:, : target.shape[1]]
    real = target != 0
    wrong = ((wide != target) & real).sum(dim=0) / real.sum(dim=0)
    return [float(share) for share in wrong]


# --- one distribution, and what samplers do to it


def hesitation(model: Model, source: torch.Tensor, target: torch.Tensor) -> tuple[int, int, torch.Tensor]:
    """Where a model hesitates between about four letters: (row, place, its logits there, (1, vocab_size)).

    Among all places under teacher forcing, the one whose perplexity is closest to 4.
    """
    shown = torch.cat([torch.full_like(target[:, :1], START), target[:, :-1]], dim=1)
    with torch.no_grad():
        logits = model(source, shown)  # (n, length, vocab_size)
    logs = torch.log_softmax(logits, dim=-1)
    choices = (-(logs.exp() * logs).sum(dim=-1)).exp()  # perplexity of each place
    choices[target == 0] = 0.0
    row, place = divmod(int((choices - 4).abs().argmin()), target.shape[1])
    return row, place, logits[row, place].unsqueeze(0)


def symbols() -> list[str]:
    """What each id of the reversal task is called, from padding on."""
    return [reversal.ALPHABET.text([i]) for i in range(reversal.VOCAB_SIZE)]


def sampled_shares(sampler: Callable[[torch.Tensor], torch.Tensor], logits: torch.Tensor, draws: int) -> torch.Tensor:
    """How often each token is drawn, as shares: `sampler` takes (draws, vocab_size) to ids (draws,)."""
    ids = sampler(logits.expand(draws, -1))
    return torch.bincount(ids, minlength=logits.shape[-1]) / draws


def in_live_notebook() -> bool:
    """Is somebody there who could move a slider: JupyterLab, or Colab?"""
    return "JPY_SESSION_NAME" in os.environ or "google.colab" in sys.modules


def sliders(show: Callable[..., Any], **ranges: tuple[float, float, float]) -> None:
    """Sliders that call `show` anew when they are moved, where somebody can move them; else one sentence.

    `ranges` are {argument: (lowest, highest, first value)}; whole numbers give a slider of whole numbers.
    """
    if not in_live_notebook():
        print("In JupyterLab and Colab there are sliders here. The figure above shows the same for some settings.")
        return
    import ipywidgets  # type: ignore[import-untyped]

    def slider(low: float, high: float, value: float) -> Any:
        if isinstance(low, int):
            return ipywidgets.IntSlider(min=low, max=high, value=value, continuous_update=False)
        return ipywidgets.FloatSlider(min=low, max=high, value=value, step=0.05, continuous_update=False)

    ipywidgets.interact(show, **{name: slider(*values) for name, values in ranges.items()})


# --- a model small enough to know all its answers

TREE_SYMBOLS = "_$^ab"  # padding, end, start, and two letters
TREE_END, TREE_START = 1, 2
TREE: Mapping[str, Mapping[str, float]] = {
    "": {"a": 0.6, "b": 0.4},
    "a": {"a": 0.4, "b": 0.3, "$": 0.3},
    "b": {"$": 0.9, "a": 0.1},
}  # whatever is not listed ends for certain


def tree_model(source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
    """A model made by hand: the chances of `TREE`, whatever the source. (batch, length, 5 symbols)

    >>> tree_model(torch.tensor([[3]]), torch.tensor([[2, 3]])).exp()[0, -1]
    tensor([0.0000, 0.3000, 0.0000, 0.4000, 0.3000])
    """
    chances = torch.zeros(*target_input.shape, len(TREE_SYMBOLS))
    for row, ids in enumerate(target_input.tolist()):
        text = "".join(TREE_SYMBOLS[i] for i in ids)
        for place in range(len(ids)):
            for symbol, chance in TREE.get(text[1 : place + 1], {"$": 1.0}).items():
                chances[row, place, TREE_SYMBOLS.index(symbol)] = chance
    return chances.log()


def tree_answers(beginning: str = "", chance: float = 1.0) -> dict[str, float]:
    """All answers that the tree can give, with their chances.

    >>> {answer: round(chance, 2) for answer, chance in tree_answers().items()}
    {'aa$': 0.24, 'ab$': 0.18, 'a$': 0.18, 'b$': 0.36, 'ba$': 0.04}
    """
    answers: dict[str, float] = {}
    for symbol, share in TREE.get(beginning, {"$": 1.0}).items():
        if symbol == "$":
            answers[f"{beginning}$"] = chance * share
        else:
            answers |= tree_answers(beginning + symbol, chance * share)
    return answers


def tree_text(ids: torch.Tensor) -> str:
    """A row of the tree's ids as a text.

    >>> tree_text(torch.tensor([4, 1, 0]))
    'b$_'
    """
    return "".join(TREE_SYMBOLS[int(i)] for i in ids)


# --- several answers


def log_likelihood(model: Model, source: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    """How likely the model finds each answer: the sum of the log-probabilities of its tokens, (n,)."""
    shown = torch.cat([torch.full_like(ids[:, :1], START), ids[:, :-1]], dim=1)
    with torch.no_grad():
        logs = torch.log_softmax(model(source, shown), dim=-1)
    of_ids = logs.gather(-1, ids.unsqueeze(-1)).squeeze(-1)
    return of_ids.masked_fill(ids == 0, 0.0).sum(dim=1)


def write_by_lot(
    sampler: Callable[[torch.Tensor], torch.Tensor], model: Model, source: torch.Tensor, max_length: int = MAX_LENGTH
) -> torch.Tensor:
    """An answer to each source, (n, max_length), each token drawn by `sampler` from the logits (n, vocab_size)."""
    written = torch.full_like(source[:, :1], START)
    ended = torch.zeros(len(source), dtype=torch.bool)
    with torch.no_grad():
        for _ in range(max_length):
            drawn = sampler(model(source, written)[:, -1]).masked_fill(ended, 0)
            written = torch.cat([written, drawn.unsqueeze(1)], dim=1)
            ended |= drawn == END
    return written[:, 1:]


def any_right(
    sampler: Callable[[torch.Tensor], torch.Tensor], model: Model, pairs: Pairs, counts: Sequence[int]
) -> list[float]:
    """top@n: the share of sources for which at least one of n drawn answers is right, for each n of `counts`."""
    source, target = pairs
    right = []
    for _ in Progress(range(max(counts)), desc="drawing"):
        ids = write_by_lot(sampler, model, source)
        right.append(((ids == target) | (target == 0)).all(dim=1))  # (n,)
    found = torch.stack(right)  # (most, n)
    return [found[:count].any(dim=0).float().mean().item() for count in counts]


def luckiest(
    sampler: Callable[[torch.Tensor], torch.Tensor],
    model: Model,
    source: torch.Tensor,
    target: torch.Tensor,
    draws: int,
) -> torch.Tensor:
    """Of several drawn answers a right one where there is one: ids like `target`. It has to know the target."""
    best = write_by_lot(sampler, model, source, target.shape[1])
    for _ in range(draws - 1):
        ids = write_by_lot(sampler, model, source, target.shape[1])
        right = ((ids == target) | (target == 0)).all(dim=1, keepdim=True)  # (n, 1)
        best = torch.where(right, ids, best)
    return best


# --- work and time


class Counting:
    """A model that counts how many tokens its decoder was given to read."""

    def __init__(self, model: CachedSeq2SeqTransformer) -> None:
        self.model, self.tokens_read = model, 0

    def __call__(self, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        self.tokens_read += target_input.shape[1]
        logits: torch.Tensor = self.model(source, target_input)
        return logits

    def encode(self, source: torch.Tensor) -> torch.Tensor:
        return self.model.encode(source)

    def decode_step(self, tokens: torch.Tensor, encoder_states: torch.Tensor, cache: Cache) -> torch.Tensor:
        self.tokens_read += tokens.shape[1]
        return self.model.decode_step(tokens, encoder_states, cache)


NEVER = -1  # an end token that no model says: every row runs to its full length


def long_writer(longest: int, seed: int = 0) -> CachedSeq2SeqTransformer:
    """An untrained model for long answers: what it says is of no interest here, only how long it takes."""
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
