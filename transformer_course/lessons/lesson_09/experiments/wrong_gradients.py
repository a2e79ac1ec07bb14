"""Eight backward passes with a line missing: what a gradient check says about each, and what a training curve says.

A flaw changes the backward pass of a finished model, whoever wrote its classes, and leaves the forward pass alone. It
uses nothing but the attributes that the exercises promise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from transformer_course.lessons.lesson_09 import experiments as lab
from transformer_course.lessons.lesson_09.experiments import extensions
from transformer_course.numpy_transformer import tasks
from transformer_course.numpy_transformer.attention import merge_heads, split_heads
from transformer_course.numpy_transformer.fitting import Loss
from transformer_course.numpy_transformer.functions import cross_entropy
from transformer_course.numpy_transformer.optimisers import Adam
from transformer_course.numpy_transformer.reader import Parts
from transformer_course.numpy_transformer.walking import gradients_of, weights_of

Flaw = Callable[[Any], None]
Check = Callable[[Callable[[np.ndarray], tuple[float, np.ndarray]], np.ndarray], float]
SMALL = {"d_model": 4, "num_heads": 2, "d_ff": 4}
"""The size at which every single weight of a reader can be moved in less than a second."""


def norms_without(mean: bool = False, variance: bool = False) -> Flaw:
    """No norm has the paths that are named here. The gradients of its own weight and bias stay right."""

    def break_one(layer: Any) -> None:
        forward, backward = layer.forward, layer.backward
        seen: dict[str, np.ndarray] = {}

        def remembering(x: np.ndarray) -> np.ndarray:
            seen["x"] = x
            result: np.ndarray = forward(x)
            return result

        def wrong(gradient: np.ndarray) -> np.ndarray:
            backward(gradient)
            centred = seen["x"] - seen["x"].mean(axis=-1, keepdims=True)
            root = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
            normalised, g = centred / root, gradient * layer.weight
            left = g if mean else g - g.mean(axis=-1, keepdims=True)
            if not variance:
                left = left - normalised * (g * normalised).mean(axis=-1, keepdims=True)
            result: np.ndarray = left / root
            return result

        layer.forward, layer.backward = remembering, wrong

    def flaw(model: Any) -> None:
        for layer in (model.final_norm, *(norm for block in model.blocks for norm in (block.norm1, block.norm2))):
            break_one(layer)

    return flaw


def queries_alone(model: Any) -> None:
    """In each block, x gets what comes back for the queries; what comes back for keys and values is dropped."""
    for block in model.blocks:

        def wrong(gradient: np.ndarray, backward: Any = block.attention.backward) -> tuple[np.ndarray, ...]:
            by_query, by_key, by_value = backward(gradient)
            return by_query, np.zeros_like(by_key), np.zeros_like(by_value)

        block.attention.backward = wrong


def no_residuals(model: Any) -> None:
    """In each block, the gradient goes back through the sub-layers only, and never past them."""
    for block in model.blocks:

        def wrong(gradient: np.ndarray, block: Any = block) -> np.ndarray:
            gradient = block.norm2.backward(block.feed_forward.backward(gradient))
            result: np.ndarray = block.norm1.backward(sum(block.attention.backward(gradient)))
            return result

        block.backward = wrong


def last_one_wins(model: Any) -> None:
    """In the table of tokens, an id that occurs several times gets the gradient of its last occurrence alone."""
    table, seen = model.embedding, dict[str, np.ndarray]()
    forward, backward = table.forward, table.backward

    def remembering(tokens: np.ndarray) -> np.ndarray:
        seen["tokens"] = tokens
        rows: np.ndarray = forward(tokens)
        return rows

    def wrong(gradient: np.ndarray) -> None:
        backward(gradient)
        table.weight_grad = np.zeros_like(table.weight)
        table.weight_grad[seen["tokens"]] += gradient

    table.forward, table.backward = remembering, wrong


def idle_biases(model: Any) -> None:
    """No linear layer has a gradient for its bias."""
    for layer in _linear_layers(model):

        def wrong(gradient: np.ndarray, layer: Any = layer, backward: Any = layer.backward) -> np.ndarray:
            result: np.ndarray = backward(gradient)
            layer.bias_grad = np.zeros_like(layer.bias)
            return result

        layer.backward = wrong


def softmax_without_the_sum(model: Any) -> None:
    """In the attention, each weight's gradient is handed to its own score, and the other scores of the row get none."""
    for block in model.blocks:
        _break_attention(block.attention)


def _break_attention(layer: Any) -> None:
    forward, seen = layer.forward, dict[str, Any]()

    def remembering(
        queries: np.ndarray, keys: np.ndarray, values: np.ndarray, mask: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        output, weights = forward(queries, keys, values, mask)
        seen.update(inputs=(queries, keys, values), weights=weights)
        return output, weights

    def wrong(gradient: np.ndarray) -> tuple[np.ndarray, ...]:
        weights, heads = seen["weights"], seen["weights"].shape[1]
        projections = (layer.query, layer.key, layer.value)
        q, k, v = (split_heads(each.forward(x), heads) for each, x in zip(projections, seen["inputs"], strict=True))
        back = split_heads(layer.output.backward(gradient), heads)
        scores = weights * (back @ v.mT) * q.shape[-1] ** -0.5  # here the sum over the row is missing
        wrong_ones = scores @ k, scores.mT @ q, weights.mT @ back
        return tuple(each.backward(merge_heads(one)) for each, one in zip(projections, wrong_ones, strict=True))

    layer.forward, layer.backward = remembering, wrong


def _linear_layers(model: Any) -> list[Any]:
    layers = [model.output]
    for block in model.blocks:
        attention, feed_forward = block.attention, block.feed_forward
        layers += [attention.query, attention.key, attention.value, attention.output]
        layers += [feed_forward.linear_in, feed_forward.linear_out]
    return layers


def only_the_last_layer(model: Any) -> None:
    """The control: everything below the output layer stays as it was drawn."""
    backward = model.backward

    def wrong(gradient: np.ndarray) -> None:
        backward(gradient)
        for name, array in gradients_of(model).items():
            if not name.startswith("output."):
                array[...] = 0

    model.backward = wrong


FLAWS: Mapping[str, Flaw] = {
    "LayerNorm without the mean": norms_without(mean=True),
    "LayerNorm without the variance": norms_without(variance=True),
    "LayerNorm without either": norms_without(mean=True, variance=True),
    "block: dQ, without dK and dV": queries_alone,
    "block: nothing past a sub-layer": no_residuals,
    "Embedding: the last one wins": last_one_wins,
    "Linear: no gradient for the bias": idle_biases,
    "softmax without the sum": softmax_without_the_sum,
}


CONTROL = "control: only the output layer learns"
MODELS: Mapping[str, Flaw | None] = {"right": None, **FLAWS, CONTROL: only_the_last_layer}
EPOCHS = (4, 1)
"""Epochs with the usual learning rate, and then with a tenth of it."""


def checked(gradient_check: Check, loss_function: Loss, name: str, parts: Parts | None = None, seed: int = 0) -> float:
    """What a gradient check says about a small reader with this backward pass: all its weights in one row."""
    model = lab.fresh_reader(parts, seed=seed, dtype=np.float64, **SMALL)
    generator = np.random.default_rng(seed)
    for array in weights_of(model).values():  # no bias at 0 and no norm's weight at 1: nothing cancels by chance
        array += 0.3 * generator.standard_normal(array.shape)
    break_backward(model, name)
    tokens, answers = tasks.as_arrays([("first", (4, 7, 4)), ("max", (2, 9, 5)), ("min", (3, 3, 8))])
    arrays = list(weights_of(model).values())
    ends = np.cumsum([array.size for array in arrays])[:-1]

    def f(row: np.ndarray) -> tuple[float, np.ndarray]:
        for array, piece in zip(arrays, np.split(row, ends), strict=True):
            array[...] = piece.reshape(array.shape)
        return _loss_and_gradient(model, loss_function, tokens, answers)

    return gradient_check(f, np.concatenate([array.ravel() for array in arrays]))


def break_backward(model: Any, name: str) -> Any:
    """The same model, with the backward pass of that name."""
    flaw = MODELS[name]
    if flaw is not None:
        flaw(model)
    return model


def _loss_and_gradient(
    model: Any, loss_function: Loss, tokens: np.ndarray, answers: np.ndarray
) -> tuple[float, np.ndarray]:
    """The loss, and the gradients of all weights in one row."""
    loss, gradient = loss_function(model.forward(tokens), answers)
    model.backward(gradient)
    return loss, np.concatenate([array.ravel() for array in gradients_of(model).values()])


def direction(loss_function: Loss, name: str, parts: Parts | None = None, seed: int = 0) -> float:
    """The cosine of the angle between this gradient and the right one, before training, on 256 training questions."""
    tokens, answers = tasks.as_arrays(tasks.questions(seed).train[:256])
    right, claimed = (
        _loss_and_gradient(break_backward(lab.fresh_reader(parts, seed=seed), each), loss_function, tokens, answers)[1]
        for each in ("right", name)
    )
    return float(right @ claimed / (np.linalg.norm(right) * np.linalg.norm(claimed)))


def trained(
    name: str,
    data: tasks.Split,
    loss_function: Loss,
    optimiser: lab.Optimiser,
    parts: Parts | None = None,
    seed: int = 0,
) -> lab.Record:
    """The curves of a reader with this backward pass: always the same weights at the start, and the same batches."""
    model = break_backward(lab.fresh_reader(parts, seed=seed), name)
    return lab.taught(model, data.train, data.validation, loss_function, optimiser, epochs=EPOCHS, seed=seed)


def all_trained(
    data: tasks.Split, loss_function: Loss, optimiser: lab.Optimiser, parts: Parts | None = None, seed: int = 0
) -> dict[str, lab.Record]:
    """The right backward pass, the eight wrong ones and the control, each trained."""
    return {name: trained(name, data, loss_function, optimiser, parts, seed) for name in MODELS}


def in_disguise(names: Iterable[str], seed: int = 3) -> dict[str, str]:
    """A letter for each model but the control, in an order that says nothing."""
    shuffled = np.random.default_rng(seed).permutation([name for name in names if name != CONTROL])
    return dict(zip("ABCDEFGHI", shuffled.tolist(), strict=True))


def judged(
    gradient_check: Check,
    loss_function: Loss,
    records: Mapping[str, lab.Record],
    parts: Parts | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    """A line for each backward pass: what the check says, where the gradient points, and what its curve reached."""
    lines = {
        name: {
            "gradient check": f"{checked(gradient_check, loss_function, name, parts, seed):.1e}",
            "direction": round(direction(loss_function, name, parts, seed), 2),
            "after one epoch": round(record.validation_right[1], 3),
            "after five epochs": round(record.validation_right[-1], 3),
        }
        for name, record in records.items()
    }
    return pd.DataFrame(lines).T.rename_axis("backward pass")


def nested_right(name: str, seed: int) -> float:
    """The share of nested questions that a reader with two blocks and this backward pass answers after 6 + 2 epochs."""
    task = extensions.nested(seed)
    model = break_backward(extensions.fresh(task, lab.Reader, num_layers=2, seed=seed), name)
    extensions.taught(task, model, cross_entropy, Adam, epochs=(6, 2), rates=(3e-3, 3e-4))
    return float(task.score(model)["all"])


def over_seeds(table: pd.DataFrame) -> pd.DataFrame:
    """The long table, a line for each backward pass: the lowest and the highest share over all seeds of each task."""
    lines: dict[str, dict[str, str]] = {}
    for task in ("three digits", "nested"):
        of_task = table[table["task"] == task]
        for name in MODELS:
            shares = of_task.loc[of_task["backward pass"] == name, "validation"]
            lines.setdefault(name, {})[f"{task}, {len(shares)} seeds"] = f"{shares.min():.1%} to {shares.max():.1%}"
    return pd.DataFrame(lines).T.rename_axis("backward pass")
