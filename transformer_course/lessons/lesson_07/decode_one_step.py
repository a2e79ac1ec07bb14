"""`decode_one_step`: how it is tried. A small model reads an answer token by token, with a plain cache."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring.aspects import also, central, main, shape, special
from cellcheck.authoring.draw import dims, normal
from cellcheck.authoring.spec import Case, Trial
from transformer_course.attention import padding_mask
from transformer_course.causal import CausalSeq2SeqTransformer

BLOCKS = central(
    special(
        "every block has its own cache", "", 14.0, "In a model with several blocks, each uses its own keys and values."
    )
)
FIRST = special("the first token", meaning="The very first token, with an empty cache, gives the right logits too.")
PADDED = special("padding in the source", weight=6.0, meaning="Padded sources give the right logits too.")
EXTREMES = special(
    "a batch of one, a full cache",
    meaning="A batch of one gives the right logits too, and so does a prefix of max_length tokens.",
)

LONGEST = 6
"""What `max_length` is: no source is longer."""


def cases(generator: np.random.Generator) -> list[Case]:
    def draw(batch: int, length: int, heads: int, num_layers: int, padded: bool = False) -> dict[str, Any]:
        """A model with drawn weights, as large as those after training, sources and answers of these sizes."""
        vocab_size, d_head, longest = (*dims(generator, 2, 7, 11), LONGEST)
        d_model = heads * d_head
        sizes = [vocab_size, longest, d_model, heads, 2 * d_model, num_layers]
        with torch.random.fork_rng(devices=[]):
            empty = CausalSeq2SeqTransformer(*sizes).state_dict()
        weights = {
            name: normal(generator, *value.shape) / (1 if value.dim() == 1 else value.shape[-1] ** 0.5) + _one(name)
            for name, value in empty.items()
        }
        weights["target_positions.embedding.weight"] *= 3
        source, answer = (
            torch.from_numpy(generator.integers(1, vocab_size, (batch, columns))) for columns in (6, length)
        )
        if padded:
            source[0, 2:], source[-1, 4:] = 0, 0
        return {"sizes": sizes, "weights": weights, "source": source, "answer": answer}

    batch, length = int(generator.integers(4, 6)), 3  # to an empty cache, to one token, to several
    return [
        Case.of("with one block", **draw(batch, length, 2, 1)),
        Case.of("with two blocks and four heads", **draw(batch, length, 4, 2)),
        Case.of("with the very first token", FIRST, **draw(batch, 1, 2, 1)),
        Case.of("with two blocks", BLOCKS, **draw(batch, length, 2, 2)),
        Case.of("with three blocks", BLOCKS, **draw(batch, length, 2, 3)),
        Case.of("with padded sources", PADDED, **draw(3, 2, 2, 1, padded=True)),
        Case.of("on a batch of one", EXTREMES, **draw(1, 2, 2, 1)),
        Case.of("up to max_length", EXTREMES, **draw(2, LONGEST, 1, 1)),
    ]


def _one(name: str) -> float:
    """Norms begin with ones."""
    return float("norm" in name and name.endswith("weight"))


Pair = tuple[torch.Tensor, torch.Tensor]


class PlainCache:
    """As a `KeyValueCache`."""

    def __init__(self) -> None:
        self.pairs: dict[Any, Pair] = {}

    def append(self, layer: Any, keys: torch.Tensor, values: torch.Tensor) -> Pair:
        """Adds new keys and values after those of this layer; returns everything so far."""
        if layer in self.pairs:
            earlier = self.pairs[layer]
            keys, values = torch.cat([earlier[0], keys], dim=2), torch.cat([earlier[1], values], dim=2)
        self.pairs[layer] = (keys, values)
        return keys, values


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The logits of each step, and whether earlier positions went through the blocks again."""
    with torch.random.fork_rng(devices=[]):
        model = CausalSeq2SeqTransformer(*inputs["sizes"])
    for name, parameter in model.named_parameters():
        parameter.data = inputs["weights"][name]  # `load_state_dict` takes eight times as long
        parameter.requires_grad = False
    positions: list[int] = []
    source, answer, cache = inputs["source"], inputs["answer"], PlainCache()
    states, mask = model.encode(source), padding_mask(source)
    blocks: Any = model.decoder
    watch = blocks[0].feed_forward.register_forward_pre_hook(lambda _, x: positions.append(x[0].shape[1]))
    output = [symbol(model, answer[:, t : t + 1], t, states, mask, cache) for t in range(answer.shape[1])]
    watch.remove()
    again = any(count != 1 for count in positions)
    return {
        "output": output,
        "work": "Earlier tokens are read again in each step: what is in the cache?"
        if again
        else "each token is read once",
    }


TRIAL = Trial(
    module="transformer_course.caching",
    points=4,
    cases=cases,
    probe=probe,
    aspects=(
        shape(),
        main(
            "the logits of the whole prefix",
            meaning="Each step gives the logits that the model gives when it reads the whole prefix.",
        ),
        BLOCKS,
        FIRST,
        PADDED,
        EXTREMES,
        also(
            "one new token in each step",
            "work",
            weight=27.0,
            meaning="The feed-forward networks see only the newest position; the older ones are in the cache.",
        ),
    ),
)
