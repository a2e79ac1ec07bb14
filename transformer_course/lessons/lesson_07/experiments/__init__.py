"""Lesson 7's experiments: a model that was stopped early, one that wasn't, and a small one that reads a book.

The tree comes from `tree.py`, work and time from `costs.py`, the book from `book.py`, the fairy tales from `tales.py`
and how it all is drawn from `charts.py`; all can be reached from here.

The learner's own decoders and samplers come in as arguments. All of it runs on the CPU: the models are small, and a
`torch.Generator` for the CPU can't draw on a GPU.
"""

import os
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import torch

from transformer_course.causal import CausalSeq2SeqTransformer
from transformer_course.lessons.lesson_07.experiments.book import (
    Reading,
    Settings,
    TextModel,
    passages,
    read_the_book,
    words_of,
)
from transformer_course.lessons.lesson_07.experiments.charts import draw_costs, draw_cuts, draw_many
from transformer_course.lessons.lesson_07.experiments.costs import (
    NEVER,
    Counting,
    PreallocatedCache,
    append_many,
    cache_bytes,
    long_writer,
    seconds,
    tokens_read,
)
from transformer_course.lessons.lesson_07.experiments.tales import tell
from transformer_course.lessons.lesson_07.experiments.tree import (
    TREE,
    TREE_END,
    TREE_START,
    TREE_SYMBOLS,
    TreeModel,
    tree_answers,
    tree_model,
    tree_text,
)
from transformer_course.progress import Progress
from transformer_course.seq2seq import Seq2SeqTransformer
from transformer_course.seq2seq_fitting import fit
from transformer_course.sequences import exact_match, token_accuracy
from transformer_course.tasks import reversal

__all__ = [
    "END",
    "END_MARK",
    "MAX_LENGTH",
    "NEVER",
    "START",
    "TREE",
    "TREE_END",
    "TREE_START",
    "TREE_SYMBOLS",
    "Counting",
    "Decoder",
    "Model",
    "Pairs",
    "PreallocatedCache",
    "Reading",
    "Settings",
    "TextModel",
    "TreeModel",
    "append_many",
    "as_wide_as",
    "cache_bytes",
    "draw_costs",
    "draw_cuts",
    "draw_many",
    "frequencies",
    "hesitation",
    "in_live_notebook",
    "letters_of",
    "log_likelihood",
    "long_writer",
    "luckiest",
    "pass_at",
    "passages",
    "read_the_book",
    "same_ids",
    "sample_answers",
    "scores",
    "seconds",
    "shown",
    "side_by_side",
    "sliders",
    "symbols",
    "tell",
    "tensors",
    "tokens_read",
    "train_reverser",
    "tree_answers",
    "tree_model",
    "tree_text",
    "vote_of",
    "words_of",
]

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


def side_by_side(source: torch.Tensor, answers: Mapping[str, torch.Tensor]) -> pd.DataFrame:
    """A row for each source, with its letters and what each of the named answers says to it.

    >>> side_by_side(torch.tensor([[1, 2, 0]]), {"yours": torch.tensor([[2, 1, 12]])}).iloc[0].to_dict()
    {'source': 'ab', 'yours': 'ba.'}
    """
    texts = {name: [shown(row) for row in ids] for name, ids in answers.items()}
    return pd.DataFrame({"source": [letters_of(row) for row in source]} | texts)


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
    logits = torch.nn.functional.one_hot(wide, reversal.VOCAB_SIZE).float()
    return {"tokens": token_accuracy(logits, target).item(), "rows": exact_match(ids, target).item()}


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
    by_draw = torch.stack(right)  # (most, n)
    return [by_draw[:count].any(dim=0).float().mean().item() for count in counts]


def vote_of(
    sampler: Callable[[torch.Tensor], torch.Tensor], model: Model, pairs: Pairs, counts: Sequence[int]
) -> list[float]:
    """The share of sources for which the most frequent of n sampled answers is right, for each n of `counts`.

    Where several are equally frequent, the one that came first.
    """
    source, target = pairs
    wanted = [shown(row).rstrip("_") for row in target]
    answers = [[shown(row).rstrip("_") for row in sample_answers(sampler, model, source)] for _ in range(max(counts))]
    shares = []
    for count in counts:
        votes = [Counter(texts).most_common(1)[0][0] for texts in zip(*answers[:count], strict=True)]
        shares.append(sum(vote == right for vote, right in zip(votes, wanted, strict=True)) / len(wanted))
    return shares


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
