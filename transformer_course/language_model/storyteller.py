"""The storyteller, a small model of tales: its sizes, weights and byte pairs, as they are published in `data/`."""

import json
from collections.abc import Callable

import torch
from torch import nn

from transformer_course.data import data_file
from transformer_course.language_model.modern import ModernLanguageModel
from transformer_course.language_model.published import load_llama
from transformer_course.language_model.words import Words

END = 0
"""The token before a story, and after it."""
SIZES = (
    "vocab_size", "hidden_size", "num_attention_heads", "num_key_value_heads", "intermediate_size", "num_hidden_layers",
)  # fmt: skip
"""What `transformers` calls the sizes of a `ModernLanguageModel`, in its order."""


def published_sizes() -> dict[str, int]:
    """The sizes in the published `config.json`."""
    config = json.loads(data_file("storyteller/config.json").read_text("utf-8"))
    return {name: config[name] for name in SIZES}


def published_words() -> Words:
    """The byte pairs in the published `tokenizer.json`, which writes a space as Ġ and a line end as Ċ."""
    content = json.loads(data_file("storyteller/tokenizer.json").read_text("utf-8"))
    pairs = (pair if isinstance(pair, list) else pair.split(" ") for pair in content["model"]["merges"])
    plain = str.maketrans("ĠĊ", " \n")
    return Words(tuple((first.translate(plain), second.translate(plain)) for first, second in pairs))


def published_model(kind: Callable[..., nn.Module] = ModernLanguageModel) -> nn.Module:
    """A model with the published weights, of any kind that has the parts and names of a `ModernLanguageModel`.

    Raises:
        ValueError: when it hasn't.
    """
    sizes = published_sizes()
    model = kind(*sizes.values())
    load_llama(model, data_file("storyteller/model.safetensors"), sizes["num_attention_heads"])
    return model.eval()


def story_ids(words: Words, text: str) -> torch.Tensor:
    """A story from beginning to end, in ids."""
    end = torch.tensor([END])
    return torch.cat([end, words.encode(text), end])
