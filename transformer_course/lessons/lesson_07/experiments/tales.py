"""A Transformer that writes fairy tales, lesson 12's storyteller, and what samplers make of it."""

from collections.abc import Callable, Sequence

import pandas as pd
import torch
from torch import nn

from transformer_course.language_model.storyteller import END, published_model, published_words, story_ids
from transformer_course.lessons.lesson_07.experiments.book import words_of
from transformer_course.progress import Progress
from transformer_course.tasks.stories import Storyteller, hero_names


class TaleModel(nn.Module):
    """The storyteller with its published weights, as this lesson's decoders call it, with (source, target_input).

    The source is the beginning of a tale, and whatever follows the start token in `target_input` is appended to it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.model = published_model()

    def forward(self, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        logits: torch.Tensor = self.model(torch.cat([source, target_input[:, 1:].to(source.dtype)], dim=1))
        return logits[:, source.shape[1] - 1 :]


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
    model, words, teller = TaleModel().eval(), published_words(), Storyteller(2_000_000, hero_names())
    usual = {word for _ in range(500) for word in words_of(teller.story().text)}
    source = story_ids(words, beginning)[:-1].expand(copies, -1)  # without the end
    rows = []
    for temperature in Progress(temperatures, desc="telling"):
        generator = torch.Generator().manual_seed(seed)
        ids = generate(model, source, 1, END, length, temperature, words.size, 1.0, generator)  # top-k is off
        passages = [words.decode(row) for row in ids]
        told = [word for passage in passages for word in words_of(passage)[:-1]]
        share = sum(word in usual for word in told) / len(told)
        rows.append(
            {
                "temperature": temperature,
                "words in the tales": f"{100 * share:.0f}%",
                "passage": beginning + passages[0],
            }
        )
    return pd.DataFrame(rows)
