"""The fourth rung: English to German, with a tokenizer, real batches, real scores, and a close look at mistakes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import nn

from transformer_course.decoding import greedy_decode
from transformer_course.paper.batches import Batches, Example
from transformer_course.paper.fitting import OURS, Parts, Run, fit, mean_loss
from transformer_course.paper.looking import HIDDEN, last_crossing
from transformer_course.paper.model import Transformer
from transformer_course.paper.recipes import CPU, Recipe
from transformer_course.paper.smoothing import LabelSmoothingLoss
from transformer_course.paper.writing import write
from transformer_course.scoring import TranslationScore, sentence_chrf, translation_score
from transformer_course.subwords import LibrarySubwords, Subwords, as_examples
from transformer_course.tasks.multi30k import Pair, copy, multi30k, word_by_word

LONGEST = 60
"""No translation is longer, in sub-words."""


@dataclass(frozen=True)
class Corpus:
    """Multi30k, with one vocabulary of sub-words for both languages."""

    train: list[Pair]
    val: list[Pair]
    test: list[Pair]
    subwords: Subwords

    def examples(self, pairs: Sequence[Pair], recipe: Recipe = CPU) -> list[tuple[list[int], list[int]]]:
        """Pairs as ids, none of them longer than the recipe allows."""
        return as_examples(self.subwords, pairs, recipe.max_length)


def corpus(vocab_size: int = 2000, learn: Callable[[list[str]], Subwords] | None = None) -> Corpus:
    """Download or read Multi30k, and learn sub-words from its training sentences.

    `learn` turns sentences into sub-words; without it, the library `tokenizers` does.

    Raises:
        transformer_course.downloads.NotAvailable: when the files can't be had; the message says what to do.
        transformer_course.subwords.NoTokenizers: when the library is missing.
    """
    train, val, test = multi30k("train"), multi30k("val"), multi30k("test_2016_flickr")
    sentences = [sentence for pair in train for sentence in pair]
    subwords = learn(sentences) if learn else LibrarySubwords.learn(sentences, vocab_size)
    return Corpus(train, val, test, subwords)


def seen_before(data: Corpus) -> float:
    """The share of test pairs of which the English or the German is a training sentence, word for word."""
    english, german = ({pair[side] for pair in data.train} for side in (0, 1))
    return sum(one in english or other in german for one, other in data.test) / len(data.test)


def padding_shares(data: Corpus, recipe: Recipe = CPU) -> dict[str, float]:
    """How much of a batch is padding, with sentences of similar length together and with all lengths mixed."""
    examples: Sequence[Example] = data.examples(data.train, recipe)
    return {
        name: Batches(examples, recipe.max_tokens, by_length=by_length).padding_share()
        for name, by_length in (("similar lengths together", True), ("all lengths mixed", False))
    }


def train_translator(
    data: Corpus,
    build: Callable[..., nn.Module] = Transformer,
    parts: Parts = OURS,
    *,
    recipe: Recipe = CPU,
    steps: int | None = None,
    checkpoint: Path | None = None,
    watch_every: int = 100,
    seed: int = 0,
    **options: Any,
) -> tuple[nn.Module, Run, pd.DataFrame]:
    """Train by `recipe`; the model, the run, and the loss on the validation set (nats per token, no smoothing)."""
    size = data.subwords.size
    model = recipe.build(size, size, build=build, seed=seed)
    held_out = Batches(data.examples(data.val, recipe), recipe.max_tokens)
    surprise = LabelSmoothingLoss(size, 0.0, 0)
    curve: list[dict[str, float]] = []

    def watch(step: int) -> None:
        curve.append({"step": step, "validation loss": mean_loss(model, held_out, surprise)})

    run = fit(
        model,
        Batches(data.examples(data.train, recipe), recipe.max_tokens, seed),
        recipe,
        vocab_size=size,
        parts=parts,
        steps=steps,
        checkpoint=checkpoint,
        watch=watch,
        watch_every=watch_every,
        seed=seed,
        name="English to German",
        **options,
    )
    return model, run, pd.DataFrame(curve)


def translate(
    model: nn.Module,
    sentences: Sequence[str],
    subwords: Subwords,
    decode: Callable[..., torch.Tensor] = greedy_decode,
    **options: Any,
) -> list[str]:
    """Translate sentences with `decode`: greedy_decode, or beam_search with `beam_width` and `length_penalty`."""
    sources = [subwords.encode(sentence) for sentence in sentences]
    return [subwords.decode(ids) for ids in write(model, sources, max_length=LONGEST, decode=decode, **options)]


def baseline_translations(data: Corpus, pairs: Sequence[Pair]) -> dict[str, list[str]]:
    """What the two baselines make of the English sentences."""
    lookup = word_by_word(data.train)
    return {"copy": [copy(one) for one, _ in pairs], "word by word": [lookup(one) for one, _ in pairs]}


def score_table(translations: dict[str, list[str]], pairs: Sequence[Pair]) -> tuple[pd.DataFrame, TranslationScore]:
    """BLEU and chrF of each kind of translation; the last score is returned too, for its signatures."""
    rows, last = [], None
    for name, sentences in translations.items():
        last = translation_score(sentences, [german for _, german in pairs])
        rows.append({"translated by": name, "BLEU": round(last.bleu, 1), "chrF": round(last.chrf, 1)})
    if last is None:
        raise ValueError("there is nothing to score")
    return pd.DataFrame(rows), last


def hardest(translations: Sequence[str], pairs: Sequence[Pair], count: int = 5) -> pd.DataFrame:
    """The sentences that went wrong the most, by chrF: English, wanted, written."""
    rows = [
        {"English": english, "wanted": german, "written": one, "chrF": round(sentence_chrf(one, german))}
        for one, (english, german) in zip(translations, pairs, strict=True)
    ]
    return pd.DataFrame(rows).sort_values("chrF", kind="stable").head(count).reset_index(drop=True)


def words_looked_at(
    model: nn.Module, sentence: str, subwords: Subwords
) -> tuple[dict[str, torch.Tensor], list[str], list[str]]:
    """Which source tokens each written token looks at: {head: (written, source)}, the written and the source tokens.

    Of the last cross-attention. The last row belongs to the end, if the model wrote one. All are empty where the model
    doesn't return what it looks at.
    """
    source = subwords.encode(sentence)
    (ids,) = write(model, [source], max_length=LONGEST)
    device = next(model.parameters()).device
    shown = [subwords.start_id, *ids[:-1]]
    crossing = last_crossing(model, torch.tensor([source], device=device), torch.tensor([shown], device=device))
    if crossing is None:
        print(HIDDEN)
        return {}, [], []
    written = [*subwords.pieces(ids), "(end)"][: len(ids)]
    return {f"head {number}": weights for number, weights in enumerate(crossing)}, written, subwords.pieces(source)
