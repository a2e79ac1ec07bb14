"""A Transformer that writes fairy tales, lesson 12's storyteller, and what samplers make of it."""

import json
import re
from collections.abc import Callable, Sequence

import pandas as pd
import torch
from torch import nn

from transformer_course.byte_pairs import byte_pair_ids, byte_pair_vocabulary, ids_to_text
from transformer_course.data import data_file
from transformer_course.language_model.modern import ModernLanguageModel
from transformer_course.language_model.published import load_llama
from transformer_course.lessons.lesson_07.experiments.book import words_of
from transformer_course.progress import Progress
from transformer_course.tasks.stories import Storyteller, hero_names

END = 0
"""The token before a tale, and after it."""


class TaleModel(nn.Module):
    """The storyteller with its published weights, as this lesson's decoders call it, with (source, target_input).

    The source is the beginning of a tale, and whatever follows the start token in `target_input` is appended to it.
    """

    def __init__(self) -> None:
        super().__init__()
        said = json.loads(data_file("storyteller/config.json").read_text("utf-8"))
        heads = said["num_attention_heads"]
        self.model = ModernLanguageModel(
            said["vocab_size"],
            said["hidden_size"],
            heads,
            said["num_key_value_heads"],
            said["intermediate_size"],
            said["num_hidden_layers"],
        )
        load_llama(self.model, data_file("storyteller/model.safetensors"), heads)
        pairs = json.loads(data_file("storyteller/tokenizer.json").read_text("utf-8"))["model"]["merges"]
        plain = str.maketrans("ĠĊ", " \n")  # how the file writes a space and a line end
        self.merges = [(first.translate(plain), second.translate(plain)) for first, second in map(_pair, pairs)]
        self.vocabulary = byte_pair_vocabulary(self.merges)

    def ids(self, text: str) -> torch.Tensor:
        """The ids of a tale's beginning, (length,). A space belongs to the word that follows it."""
        pieces = re.findall(r" ?[A-Za-z]+| ?[^A-Za-z\s]+|\s", text)
        return torch.tensor([END] + [i for piece in pieces for i in byte_pair_ids(piece, self.merges, self.vocabulary)])

    def text(self, ids: torch.Tensor) -> str:
        """The text of a row of ids; half a character, which the model may write, is a question mark."""
        tokens = ids.tolist()
        try:
            return ids_to_text(tokens, self.vocabulary)
        except UnicodeDecodeError:
            return "".join(ids_to_text([i], self.vocabulary) if i <= 128 or i > 256 else "?" for i in tokens)

    def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.model(torch.cat([source, target_input[:, 1:].to(source.dtype)], dim=1))
        return logits[:, source.shape[1] - 1 :]


def _pair(merge: str | Sequence[str]) -> Sequence[str]:
    return merge.split(" ") if isinstance(merge, str) else merge


def tell(
    generate: Callable[..., torch.Tensor],
    beginning: str,
    temperatures: Sequence[float],
    length: int = 80,
    copies: int = 4,
    seed: int = 0,
) -> pd.DataFrame:
    """How the storyteller goes on at each temperature: one passage, and how many words of all copies are in 500 tales.

    These tales are of the kind that it learnt from. A copy's last word may be cut off, and isn't counted.
    """
    model, teller = TaleModel().eval(), Storyteller(2_000_000, hero_names())
    usual = {word for _ in range(500) for word in words_of(teller.story().text)}
    source = model.ids(beginning).expand(copies, -1)
    every = len(model.vocabulary) + 257  # with k = every, top-k is off
    rows = []
    for temperature in Progress(temperatures, desc="telling"):
        generator = torch.Generator().manual_seed(seed)
        ids = generate(model, source, 1, END, length, temperature, every, 1.0, generator)
        passages = [model.text(row) for row in ids]
        said = [word for passage in passages for word in words_of(passage)[:-1]]
        share = sum(word in usual for word in said) / len(said)
        rows.append(
            {
                "temperature": temperature,
                "words in the tales": f"{100 * share:.0f}%",
                "passage": beginning + passages[0],
            }
        )
    return pd.DataFrame(rows)
