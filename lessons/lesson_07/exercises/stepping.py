"""`decode_one_step`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from course.attention import merge_heads, scaled_dot_product_attention, split_heads
from course.caching import decode_one_step
from course.causal import CausalSeq2SeqTransformer
from grader.authoring.aspects import also, main, shape, special, untouched
from grader.authoring.draw import dims, normal
from grader.authoring.spec import Case, Exercise, Mistake


def _models(generator: np.random.Generator) -> list[Case]:
    def draw(batch: int, length: int, heads: int, num_layers: int, padded: bool = False) -> dict[str, Any]:
        """A model with drawn weights, as large as those after training, sources and answers of these sizes."""
        vocab_size, d_head, longest = (*dims(generator, 2, 7, 11), 9)
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

    batch, length = dims(generator, 2, 3, 5)
    return [
        Case("with one block", draw(batch, length, 2, 1)),
        Case("with two blocks and four heads", draw(batch, length, 4, 2)),
        Case("with the very first token", draw(batch, 1, 2, 1), frozenset({"first"})),
        Case("with two blocks", draw(batch, length, 2, 2), frozenset({"blocks"})),
        Case("with three blocks", draw(batch, length, 2, 3), frozenset({"blocks"})),
        Case("with padded sources", draw(3, length, 2, 1, padded=True), frozenset({"padded"})),
        Case("on a batch of one", draw(1, length, 2, 1), frozenset({"one"})),
        Case("up to max_length", draw(2, 9, 1, 1), frozenset({"one"})),
    ]


def _one(name: str) -> float:
    """Norms begin with ones."""
    return float("norm" in name and name.endswith("weight"))


def _heads(attention: Any, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return tuple(
        split_heads(linear(x), attention.num_heads) for linear in (attention.query, attention.key, attention.value)
    )


def _looking(attention: Any, x: torch.Tensor, cache: Any, layer: int) -> torch.Tensor:
    """The right self-attention of the newest token."""
    query, key, value = _heads(attention, x)
    mixed, _ = scaled_dot_product_attention(query, *cache.append(layer, key, value))
    return merge_heads(mixed)


def _at_position(model: Any, tokens: torch.Tensor, position: int) -> torch.Tensor:
    placed: torch.Tensor = model.embedding(tokens) + model.target_positions.embedding.weight[position]
    return placed


def _stepper(
    read: Callable[[Any, torch.Tensor, int], torch.Tensor] = _at_position,
    look: Callable[[Any, torch.Tensor, Any, int], torch.Tensor] = _looking,
    mix: Callable[[Any, torch.Tensor], torch.Tensor] = lambda attention, seen: attention.output(seen),
    norm: Callable[[Any, torch.Tensor], torch.Tensor] = lambda block, x: block.norm1(x),
    number: Callable[[int], int] = lambda layer: layer,
    add: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = lambda x, more: x + more,
    cross: Callable[[Any, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor] = lambda block, x, states, mask: (
        block.cross_attention(block.norm2(x), states, mask)[0]
    ),
    finish: Callable[[Any, torch.Tensor], torch.Tensor] = lambda model, x: model.head(model.decoder_norm(x)),
) -> Callable[..., torch.Tensor]:
    """The right step with one part replaced."""

    def step(
        model: Any, tokens: torch.Tensor, position: int, states: torch.Tensor, mask: torch.Tensor, cache: Any
    ) -> torch.Tensor:
        x = read(model, tokens, position)
        for layer, block in enumerate(model.decoder):
            x = add(x, mix(block.self_attention, look(block.self_attention, norm(block, x), cache, number(layer))))
            x = add(x, cross(block, x, states, mask))
            x = add(x, block.feed_forward(block.norm3(x)))
        return finish(model, x)

    return step


def _itself_alone(attention: Any, x: torch.Tensor, cache: Any, layer: int) -> torch.Tensor:
    query, key, value = _heads(attention, x)
    cache.append(layer, key, value)
    return merge_heads(scaled_dot_product_attention(query, key, value)[0])


def _causal_again(attention: Any, x: torch.Tensor, cache: Any, layer: int) -> torch.Tensor:
    query, key, value = _heads(attention, x)
    keys, values = cache.append(layer, key, value)
    return merge_heads(F.scaled_dot_product_attention(query, keys, values, is_causal=True))


def _appended_twice(attention: Any, x: torch.Tensor, cache: Any, layer: int) -> torch.Tensor:
    query, key, value = _heads(attention, x)
    keys, values = cache.append(layer, key, value)[0], cache.append(layer, key, value)[1]
    return merge_heads(scaled_dot_product_attention(query, keys, values[:, :, : keys.shape[2]])[0])


def _one_head(attention: Any, x: torch.Tensor, cache: Any, layer: int) -> torch.Tensor:
    query, key, value = (linear(x).unsqueeze(1) for linear in (attention.query, attention.key, attention.value))
    return scaled_dot_product_attention(query, *cache.append(layer, key, value))[0].squeeze(1)


def _values_for_keys(attention: Any, x: torch.Tensor, cache: Any, layer: int) -> torch.Tensor:
    query, key, value = _heads(attention, x)
    values, keys = cache.append(layer, key, value)
    return merge_heads(scaled_dot_product_attention(query, keys, values)[0])


def _everything_again(
    model: Any, tokens: torch.Tensor, position: int, states: torch.Tensor, mask: torch.Tensor, cache: Any
) -> torch.Tensor:
    """The cache keeps the tokens, and the whole prefix is read once more."""
    column = tokens[:, None, :, None].float()
    prefix = cache.append(0, column, column)[0].flatten(1).long()
    source = mask[:, 0, 0].long()
    logits: torch.Tensor = model.decode(prefix, states, source)[:, -1:]
    return logits


def _by_torch(attention: Any, x: torch.Tensor, cache: Any, layer: int) -> torch.Tensor:
    query, key, value = _heads(attention, x)
    return F.scaled_dot_product_attention(query, *cache.append(layer, key, value)).transpose(1, 2).flatten(2)


def _by_hand(attention: Any, x: torch.Tensor, cache: Any, layer: int) -> torch.Tensor:
    query, key, value = _heads(attention, x)
    keys, values = cache.append(layer, key, value)
    scores = torch.einsum("bhqd,bhkd->bhqk", query, keys) / keys.shape[-1] ** 0.5
    return torch.einsum("bhqk,bhkd->bqhd", scores.softmax(-1), values).reshape(x.shape)


def _cross_cached(block: Any, x: torch.Tensor, states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    attention, normed = block.cross_attention.attention, block.norm2(x)
    query = split_heads(attention.query(normed), attention.num_heads)
    keys, values = (split_heads(part(states), attention.num_heads) for part in (attention.key, attention.value))
    mixed: torch.Tensor = attention.output(merge_heads(scaled_dot_product_attention(query, keys, values, mask)[0]))
    return mixed


STEP = Exercise(
    symbol="decode_one_step",
    points=4,
    cases=_models,
    references=(decode_one_step,),
    aspects=(
        shape(),
        main(
            "the logits of the whole prefix",
            meaning="Each step gives the logits that the model gives when it reads the whole prefix.",
        ),
        special(
            "every block has its own cache",
            "blocks",
            weight=3.0,
            meaning="In a model with several blocks, each uses its own keys and values.",
        ),
        special(
            "the first token", "first", meaning="The very first token, with an empty cache, gives the right logits too."
        ),
        special("padding in the source", "padded", meaning="Padded sources give the right logits too."),
        special(
            "a batch of one, a full cache",
            "one",
            meaning="A batch of one gives the right logits too, and so does a prefix of max_length tokens.",
        ),
        also(
            "one new token in each step",
            "work",
            weight=7.0,
            meaning="The feed-forward networks see only the newest position; the older ones are in the cache.",
        ),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "itself_alone",
            _stepper(look=_itself_alone),
            "The newest token attends to itself alone. Its keys and values are in the cache, but which ones does the "
            "query meet?",
            central=True,
        ),
        Mistake(
            "always_position_0",
            _stepper(read=lambda model, tokens, position: model.target_positions(model.embedding(tokens))),
            "Every token gets the position 0, because target_positions only sees a row of length 1. Which position "
            "does the newest token have?",
            central=True,
        ),
        Mistake(
            "no_position",
            _stepper(read=lambda model, tokens, position: model.embedding(tokens)),
            "Your tokens have no positions. What does the model add to an embedding before the first block?",
        ),
        Mistake(
            "one_number_for_all_blocks",
            _stepper(number=lambda layer: 0),
            "All blocks share one entry of the cache and read each other's keys. Which argument of append keeps them "
            "apart?",
            central=True,
        ),
        Mistake(
            "everything_again",
            _everything_again,
            "The logits are right, but the whole prefix goes through every block again. What does the cache save if "
            "not that?",
            central=True,
        ),
        Mistake(
            "causal_again",
            _stepper(look=_causal_again),
            "With is_causal=True a single query counts as position 0 and sees only the first key. Is there anything "
            "in the cache that the newest token must not see?",
        ),
        Mistake(
            "appended_twice",
            _stepper(look=_appended_twice),
            "You call append twice per block, so every token is in the cache twice. How do you get both results from "
            "one call?",
        ),
        Mistake(
            "one_head",
            _stepper(look=_one_head),
            "You attend with one wide head. How does MultiHeadAttention divide d_model before the dot products?",
        ),
        Mistake(
            "values_for_keys",
            _stepper(look=_values_for_keys),
            "You take the cache's values for its keys, and the other way round. In which order does append return "
            "them?",
        ),
        Mistake(
            "no_output_projection",
            _stepper(mix=lambda attention, seen: seen),
            "You merge the heads and stop there. Which layer of the attention comes after that?",
        ),
        Mistake(
            "not_normalised",
            _stepper(norm=lambda block, x: x),
            "The query, key and value are computed from x as it is. What comes before the attention in a pre-norm "
            "block?",
        ),
        Mistake(
            "no_residual",
            _stepper(add=lambda x, more: more),
            "The output of each part replaces x. What happens to x around every part of a block?",
        ),
        Mistake(
            "source_padding_seen",
            _stepper(cross=lambda block, x, states, mask: block.cross_attention(block.norm2(x), states)[0]),
            "With padded sources your logits differ: the cross-attention sees the padding. Which argument is for that?",
        ),
        Mistake(
            "no_final_norm",
            _stepper(finish=lambda model, x: model.head(x)),
            "The last x goes into the head as it is. What comes after the stack of blocks?",
        ),
        Mistake(
            "axis_dropped",
            _stepper(finish=lambda model, x: model.head(model.decoder_norm(x))[:, -1]),
            "Your logits have the shape (batch, vocab_size). Which axis does the docstring keep?",
        ),
    ),
    variants={
        "part by part": _stepper(),
        "PyTorch's attention": _stepper(look=_by_torch),
        "einsum, other numbers": _stepper(look=_by_hand),
        "cross-attention by hand": _stepper(cross=_cross_cached),
    },
)
