"""The end of the ladder: fairy tales from English to German, by weights that somebody else has trained.

    python -m transformer_course.lessons.lesson_08.experiments.telling FILE

trains the course's model again, on one core, and writes its weights to FILE: a quarter of an hour of processor time.
"""

import re
import sys
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from torch import nn

from transformer_course.data import data_file
from transformer_course.fitting import device_of, evaluating
from transformer_course.lessons.lesson_08.experiments.translating import score_table
from transformer_course.paper.averaging import LastWeights
from transformer_course.paper.batches import Batches
from transformer_course.paper.checkpoints import load_checkpoint, random_state
from transformer_course.paper.fitting import NOAM, fit
from transformer_course.paper.looking import HIDDEN, translation_maps
from transformer_course.paper.model import Transformer
from transformer_course.paper.recipes import Recipe
from transformer_course.scoring import NoSacrebleu
from transformer_course.subwords import MergedSubwords, as_examples
from transformer_course.tasks.fairy_tales import THINGS, Pair, fairy_tales
from transformer_course.tasks.multi30k import word_by_word

TALES = Recipe(
    d_model=128, num_layers=2, num_heads=4, d_ff=512, dropout=0.0, max_length=64,
    steps=8000, warmup_steps=400, max_tokens=1200, share_embeddings=True,
)  # fmt: skip
TRAIN = 60_000
MERGES = 900
KEEP_EVERY, KEPT = 50, 10


def train(path: Path, steps: int = TALES.steps) -> nn.Module:
    """Train, average the last weights, and write them to `path`."""
    pairs = fairy_tales(TRAIN)
    subwords = MergedSubwords.learn((side for pair in pairs for side in pair), MERGES)
    model = TALES.build(subwords.size, subwords.size)
    last_weights = LastWeights(model, KEPT)
    batches = Batches(as_examples(subwords, pairs, TALES.max_length), TALES.max_tokens)
    fit(
        model, batches, TALES, vocab_size=subwords.size, steps=steps, watch=lambda _: last_weights.keep(),
        watch_every=KEEP_EVERY,
    )  # fmt: skip
    last_weights.average()
    save(path, model, subwords, steps)
    return model


def save(path: Path, model: nn.Module, subwords: MergedSubwords, steps: int) -> None:
    """A checkpoint in the form of `save_checkpoint`, with weights of 16 bits and the sub-words, and an optimiser that
    remembers nothing: nobody is to go on from here.
    """
    halved: dict[int, torch.Tensor] = {}  # a matrix that is used in three places is stored once
    weights = {name: halved.setdefault(tensor.data_ptr(), tensor.half()) for name, tensor in model.state_dict().items()}
    optimizer, schedule = _idle(model)
    content = {
        "model": weights,
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "step": steps,
        "random": random_state(),
        "merges": [list(merge) for merge in subwords.merges],
    }
    torch.save(content, path)


def teller(
    build: Callable[..., nn.Module] = Transformer, load: Callable[..., int] = load_checkpoint
) -> tuple[nn.Module, MergedSubwords]:
    """The learner's model with the trained weights, read by `load`; and the sub-words.

    Where the learner's model has other parts, or its parts other names, the course's model takes its place, and a
    sentence says so.
    """
    path = data_file("fairy_tales.pt")
    subwords = MergedSubwords(tuple((one, other) for one, other in torch.load(path, weights_only=True)["merges"]))
    try:
        model = TALES.build(subwords.size, subwords.size, build=build)
        load(path, model, *_idle(model))
    except Exception as problem:  # whatever a learner's class may do
        reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        print(
            "The trained weights don't fit your model, so here the course's Transformer takes its place. They need the "
            f"parts and names of the docstrings, and the option share_embeddings. It stopped with: {reason}"
        )
        model = TALES.build(subwords.size, subwords.size)
        load_checkpoint(path, model, *_idle(model))
    return model.eval(), subwords


def _idle(model: nn.Module) -> tuple[torch.optim.Optimizer, Any]:
    """An optimiser and a schedule that have nothing to remember."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.0)
    return optimizer, NOAM(optimizer, TALES.d_model, TALES.warmup_steps)


def tale_scores(told: Sequence[str], pairs: Sequence[Pair]) -> pd.DataFrame:
    """How good the translations are, beside the word-by-word baseline: the share without a mistake, BLEU and chrF.

    Without the library sacrebleu, the share alone.
    """
    look_up = word_by_word(fairy_tales(3_000))
    translations = {"word by word": [look_up(english) for english, _ in pairs], "your model": list(told)}
    flawless = [
        sum(one == german for one, (_, german) in zip(sentences, pairs, strict=True)) / len(pairs)
        for sentences in translations.values()
    ]
    try:
        table, _ = score_table(translations, pairs)
    except NoSacrebleu as problem:
        print(problem)
        table = pd.DataFrame({"translated by": list(translations)})
    return table.assign(**{"without a mistake": flawless})


IT = {"m": "ihn", "f": "sie", "n": "es"}


def torn(model: nn.Module, subwords: MergedSubwords) -> pd.DataFrame:
    """Which noun does "it" follow: that of the English sentence, or that of the German written so far?

    "The witch found the ... and lost it." is read with one noun, and "Die Hexe hat ... gefunden und" is put into the
    model's mouth with another, of another gender. A row for each pair of nouns, with the word that it writes next.
    """
    device, rows = device_of(model), []
    for read, written in product(THINGS, repeat=2):
        if read.gender == written.gender:
            continue
        source = subwords.encode(f"The witch found the {read.english} and lost it.")
        begun = subwords.encode(f"Die Hexe hat {_THE[written.gender]} {written.german} gefunden und")
        with evaluating(model):
            logits = model(
                torch.tensor([source], device=device), torch.tensor([[subwords.start_id, *begun]], device=device)
            )
        word = subwords.decode([int(logits[0, -1].argmax())])
        follows = {IT[read.gender]: "the English noun", IT[written.gender]: "the German noun"}
        rows.append(
            {
                "read": read.english,
                "put into its mouth": written.german,
                "writes": word,
                "follows": follows.get(word, ""),
            }
        )
    return pd.DataFrame(rows)


_THE = {"m": "den", "f": "die", "n": "das"}


def english_looks(
    model: nn.Module, sentence: str, subwords: MergedSubwords
) -> tuple[dict[str, torch.Tensor], list[str]]:
    """What each English sub-word looks at while it is being read: {head: (read, read)} in the encoder's last
    self-attention, and the sub-words. Both are empty where the model doesn't return what it looks at.
    """
    source = subwords.encode(sentence)
    maps = translation_maps(model, torch.tensor([source]), torch.tensor([[subwords.start_id]]))
    self_attentions = [weights for weights in maps.values() if weights.shape[-2:] == (len(source), len(source))]
    if not self_attentions:
        print(HIDDEN)
        return {}, []
    return {f"head {number}": weights for number, weights in enumerate(self_attentions[-1][0])}, subwords.pieces(source)


def tale_words() -> list[str]:
    """The English words of the tales, in alphabetical order."""
    return sorted({word for english, _ in fairy_tales(10_000) for word in re.findall(r"[a-z]+", english.lower())})


if __name__ == "__main__":
    torch.set_num_threads(1)
    train(Path(sys.argv[1]))
