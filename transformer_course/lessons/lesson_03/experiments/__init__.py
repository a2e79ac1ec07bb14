"""Lesson 3's experiments: training, comparing and looking into models made of the learner's parts.

The data come from `data.py`, the models from `models.py`, the drawings from `charts.py`; all can be reached from here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import torch
from torch import nn

from transformer_course.fitting import accuracy, fit, predict
from transformer_course.lessons.lesson_03.experiments.charts import (
    ablations_chart,
    depth_chart,
    extremes,
    factor_chart,
    focus_chart,
    heads,
    looks_chart,
    losses_chart,
    padding_chart,
    progress_chart,
    rates_chart,
    seeds_chart,
    share_of_padding,
    splits_chart,
    weights_chart,
    widths_chart,
)
from transformer_course.lessons.lesson_03.experiments.data import (
    CLS_ID,
    MAX_LENGTH,
    SIZES,
    VOCAB_SIZE,
    VOCABULARY,
    Batch,
    Sets,
    baselines,
    draw_sets,
    mirrored,
    padded_right,
    prepared,
    same_start,
    symbols_of,
)
from transformer_course.lessons.lesson_03.experiments.models import (
    SIX_LAYERS,
    VARIANTS,
    MeanClassifier,
    OneLayer,
    Parts,
    Recipe,
    Variant,
    VariantBlock,
    mean_of_all,
    mean_of_real,
)
from transformer_course.tracing import attention_maps

__all__ = [
    "CLS_ID",
    "MAX_LENGTH",
    "SIX_LAYERS",
    "SIZES",
    "VARIANTS",
    "VOCABULARY",
    "VOCAB_SIZE",
    "Batch",
    "MeanClassifier",
    "OneLayer",
    "Parts",
    "Recipe",
    "Result",
    "Sets",
    "Variant",
    "VariantBlock",
    "ablations_chart",
    "accuracies",
    "as_table",
    "baselines",
    "batch_norm",
    "compare",
    "depth_chart",
    "difference_from_pytorch",
    "differences_by_depth",
    "draw_sets",
    "extremes",
    "factor_chart",
    "focus",
    "focus_chart",
    "head_maps",
    "heads",
    "largest_weights",
    "looks_chart",
    "losses_chart",
    "mean_of_all",
    "mean_of_real",
    "mirrored",
    "padded_right",
    "padding_chart",
    "prepared",
    "progress_chart",
    "rates_chart",
    "run",
    "same_start",
    "scores",
    "seeds_chart",
    "share_of_padding",
    "slopes_at_queries",
    "splits_chart",
    "symbols_of",
    "weights_chart",
    "widths_chart",
]

# --- training and testing


def accuracies(model: nn.Module, sets: Sets) -> dict[str, float]:
    """{test set: accuracy of the model}."""
    return {name: accuracy(model, *prepared(examples)) for name, examples in sets.tests.items()}


@dataclass(frozen=True)
class Result:
    """How one run went: a line of the ablation table."""

    variant: str
    seed: int
    accuracies: dict[str, float]
    losses: list[float]


def run(
    parts: Parts, name: str, recipe: Recipe, sets: Sets, *, seed: int = 0, steps: int = 800, rate: float = 3e-3
) -> Result:
    """Build, train and test one variant. The seed sets its first weights and the order of the examples."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = Variant(parts, recipe)
    losses = fit(model, *prepared(sets.train), steps=steps, learning_rate=rate, seed=seed, name=name)
    return Result(name, seed, accuracies(model, sets), losses)


def compare(
    parts: Parts,
    recipes: Mapping[str, Recipe],
    sets: Sets,
    *,
    seeds: Iterable[int] = (0,),
    steps: int = 800,
    rate: float = 3e-3,
) -> list[Result]:
    """Train every recipe with every seed, on the same texts."""
    batch_of_seeds = list(seeds)
    return [
        run(parts, name, recipe, sets, seed=seed, steps=steps, rate=rate)
        for name, recipe in recipes.items()
        for seed in batch_of_seeds
    ]


def as_table(results: Sequence[Result]) -> pd.DataFrame:
    """One row a run: the variant, the seed, an accuracy for each test set, and the mean loss of the last 50 steps."""
    return pd.DataFrame(
        [
            {"variant": result.variant, "seed": result.seed, **result.accuracies}
            | {"final loss": sum(result.losses[-50:]) / len(result.losses[-50:])}
            for result in results
        ]
    )


# --- where the heads look


def head_maps(model: nn.Module, tokens: torch.Tensor) -> list[torch.Tensor]:
    """The weights of each attention layer with heads, from the first layer on: (batch, heads, length, length).

    A layer is known by the weights that it returns, so it doesn't matter what a model calls its parts.
    """
    length = tokens.shape[1]
    maps = attention_maps(model, tokens).values()
    return [weights for weights in maps if weights.dim() == 4 and weights.shape[-2:] == (length, length)]


def focus(maps: Sequence[torch.Tensor], tokens: torch.Tensor) -> pd.DataFrame:
    """Where the CLS token looks, averaged over all rows: a line for each head, a column for each kind of token.

    `maps` holds each layer's weights, (batch, heads, length, length), and `tokens` is (batch, length), made by
    `prepared`. Layers and heads are counted from 0: "L1 h3" is the last of four heads in the second layer.

    >>> tokens = prepared([("21-4", 1)])[0]
    >>> focus([torch.full((1, 1, 8, 8), 1 / 8)], tokens).round(2)
           first digits  other digits  minus  padding   CLS
    L0 h0          0.25          0.12   0.12     0.38  0.12
    """
    minus = tokens == VOCABULARY["-"]
    start = minus.roll(1, dims=1)  # the second number's first digit comes right after the minus sign
    start[:, 0] = True
    cls, padding = tokens == CLS_ID, tokens == 0
    kinds = {"first digits": start, "other digits": ~(minus | start | cls | padding), "minus": minus}
    kinds |= {"padding": padding, "CLS": cls}
    rows = {}
    for layer, weights in enumerate(maps):
        for head in range(weights.shape[1]):
            looks = weights[:, head, -1]  # (batch, length): the row of the CLS token
            rows[f"L{layer} h{head}"] = {kind: float((looks * of).sum(1).mean()) for kind, of in kinds.items()}
    return pd.DataFrame(rows).T


# --- deep stacks, before any training


def differences_by_depth(
    parts: Parts, recipes: Mapping[str, Recipe], depths: Sequence[int], *, seed: int = 0
) -> dict[str, list[float]]:
    """How different the tokens of a row still are after so many untrained blocks: {name: one number per depth}.

    The number is the spread of the tokens around their mean, divided by the size of the vectors. Near 0, all tokens
    of a row have become the same vector, and nothing can tell them apart.
    """
    shares: dict[str, list[float]] = {}
    for name, recipe in recipes.items():
        with torch.random.fork_rng(devices=[]), torch.no_grad():
            torch.manual_seed(seed)
            x = torch.randn(32, MAX_LENGTH, recipe.d_model)
            mask = torch.ones(1, 1, 1, MAX_LENGTH, dtype=torch.bool)
            shares[name] = []
            for depth in range(max(depths) + 1):
                if depth in depths:
                    spread = (x - x.mean(dim=1, keepdim=True)).norm() / x.norm()
                    shares[name].append(float(spread))
                x = VariantBlock(parts, recipe)(x, mask)
    return shares


# --- small things to look at


def largest_weights(
    attention: Callable[..., tuple[torch.Tensor, torch.Tensor]], widths: Iterable[int], *, seed: int = 0
) -> dict[str, list[float]]:
    """The largest of eight attention weights on random vectors, averaged: {"divided": one a width, "not divided"}.

    `attention(query, key, value)` divides by the root of the width. To undo it, the query is made longer by the root.
    """
    generator = torch.Generator().manual_seed(seed)
    shares: dict[str, list[float]] = {"divided by the root": [], "not divided": []}
    for width in widths:
        query = torch.randn(500, 1, width, generator=generator)
        key = torch.randn(500, 8, width, generator=generator)
        for name, factor in (("divided by the root", 1.0), ("not divided", width**0.5)):
            weights = attention(query * factor, key, key)[1]  # (500, 1, 8)
            shares[name].append(weights.max(dim=-1).values.mean().item())
    return shares


def slopes_at_queries(attention: Any, width: int, *, seed: int = 0) -> dict[str, torch.Tensor]:
    """How far each of 500 queries can move its largest weight: the norm of that slope, for random vectors.

    As in `largest_weights`, a query is made longer to undo the division. The slope is with respect to the query itself.
    """
    generator = torch.Generator().manual_seed(seed)
    query = torch.randn(500, 1, width, generator=generator)
    key = torch.randn(500, 8, width, generator=generator)
    slopes = {}
    for name, factor in (("divided by the root", 1.0), ("not divided", width**0.5)):
        followed = query.clone().requires_grad_()
        attention(followed * factor, key, key)[1].max(dim=-1).values.sum().backward()
        assert followed.grad is not None
        slopes[name] = followed.grad.norm(dim=-1).flatten()  # (500,)
    return slopes


def scores(model: nn.Module, texts: Sequence[str]) -> list[float]:
    """How much more the model says "yes" than "no" to each text: above 0 it means yes."""
    logits = predict(model, prepared([(text, 0) for text in texts])[0])  # (n, 2)
    return (logits[:, 1] - logits[:, 0]).tolist()


def difference_from_pytorch(attention: Any, num_heads: int, x: torch.Tensor) -> float:
    """The largest difference between a `MultiHeadAttention` and PyTorch's own with the same weights.

    `x` is (batch, length, d_model): queries, keys and values at once.
    """
    theirs = nn.MultiheadAttention(x.shape[-1], num_heads, batch_first=True)
    projections = [attention.query, attention.key, attention.value]
    with torch.no_grad():
        theirs.in_proj_weight.copy_(torch.cat([layer.weight for layer in projections]))
        theirs.in_proj_bias.copy_(torch.cat([layer.bias for layer in projections]))
        theirs.out_proj.weight.copy_(attention.output.weight)
        theirs.out_proj.bias.copy_(attention.output.bias)
        expected, _ = theirs(x, x, x)
        return float((attention(x, x, x)[0] - expected).abs().max())


def batch_norm(d_model: int) -> Callable[[torch.Tensor], torch.Tensor]:
    """PyTorch's BatchNorm in training mode, for x (batch, length, d_model): the features are the last axis."""
    norm = nn.BatchNorm1d(d_model)
    return lambda x: norm(x.transpose(1, 2)).transpose(1, 2)
