"""Lesson 3's experiments: the difference task in tensors, one attention layer, and variants of the whole model."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import torch
from torch import nn

from course.fitting import accuracy, fit, predict
from course.tasks.difference import Example, baseline_accuracies, difference_task, draw_differences, operands
from course.vocabulary import build_vocabulary, prepare_example

Batch = tuple[torch.Tensor, torch.Tensor]  # tokens (n, length) and labels (n,)

SYMBOLS = "0123456789-"
VOCABULARY = build_vocabulary([SYMBOLS])  # in this order, so that digit d has the id d + 1
CLS_ID = len(SYMBOLS) + 1
VOCAB_SIZE = CLS_ID + 1  # padding is id 0
MAX_LENGTH = 8  # three digits, a minus sign, three digits, CLS
SIZES = {"vocab_size": VOCAB_SIZE, "max_length": MAX_LENGTH, "d_model": 32, "num_heads": 4, "d_ff": 64}
SIZES |= {"num_layers": 2, "num_classes": 2}  # of the lesson's TransformerClassifier


# --- the data


@dataclass(frozen=True)
class Sets:
    """What to learn from, and three test sets, each harder than the one before; no test text is learnt from."""

    train: list[Example]
    tests: dict[str, list[Example]]


def prepared(examples: Sequence[Example], max_length: int = MAX_LENGTH) -> Batch:
    """Texts as tokens (n, max_length) with the CLS token last, and their labels (n,).

    >>> prepared([("21-4", 1)])
    (tensor([[ 3,  2, 11,  5,  0,  0,  0, 12]]), tensor([1]))
    """
    rows = [prepare_example(text, label, VOCABULARY, max_length, CLS_ID)[0] for text, label in examples]
    return torch.stack(rows), torch.tensor([label for _, label in examples])


def symbols_of(tokens: torch.Tensor) -> list[str]:
    """One row of tokens, readable: padding is a dot, and CLS is CLS.

    >>> symbols_of(prepared([("21-4", 1)])[0][0])
    ['2', '1', '-', '4', '·', '·', '·', 'CLS']
    """
    names = {0: "·", CLS_ID: "CLS"} | {place: symbol for symbol, place in VOCABULARY.items()}
    return [names[int(token)] for token in tokens]


def mirrored(examples: Sequence[Example]) -> list[Example]:
    """Each example with its mirror image: the two numbers change places, and the label changes with them.

    >>> mirrored([("21-4", 1)])
    [('21-4', 1), ('4-21', 0)]
    """
    pairs = []
    for text, label in examples:
        first, second = operands(text)
        pairs += [(text, label), (f"{second}-{first}", 1 - label)]
    return pairs


def draw_sets(seed: int, train: int = 20_000, test: int = 1000, *, equal_lengths: bool = False) -> Sets:
    """Training texts, and tests: "all" texts, those of "equal lengths", and those with the "same first digit" too.

    With `equal_lengths` the training texts, too, have two numbers of one length. The tests stay the same.
    """
    data = difference_task(seed, train, test)
    learnt = {text for text, _ in data.train}
    equal = draw_differences(seed + 1000, 15 * test, equal_lengths=True, exclude=learnt)
    alike = [(text, label) for text, label in equal if same_start(text)][:test]
    tests = {"all": data.test, "equal lengths": equal[:test], "same first digit": alike}
    if not equal_lengths:
        return Sets(data.train, tests)
    tested = {text for examples in tests.values() for text, _ in examples}
    return Sets(draw_differences(seed, train, equal_lengths=True, exclude=tested), tests)


def same_start(text: str) -> bool:
    """Do both numbers begin with the same digit?

    >>> same_start("31-37"), same_start("31-47")
    (True, False)
    """
    first, second = operands(text)
    return first[0] == second[0]


def baselines(sets: Sets) -> dict[str, dict[str, float]]:
    """{trivial rule: {test set: accuracy}}."""
    shares = {name: baseline_accuracies(sets.train, examples) for name, examples in sets.tests.items()}
    return {rule: {name: shares[name][rule] for name in shares} for rule in shares["all"]}


def accuracies(model: nn.Module, sets: Sets) -> dict[str, float]:
    """{test set: accuracy of the model}."""
    return {name: accuracy(model, *prepared(examples)) for name, examples in sets.tests.items()}


# --- one attention layer, and what may stand around it


class OneLayer(nn.Module):
    """Tokens, perhaps positions, one attention layer, perhaps a feed-forward network, and a score for each class.

    The parts are the learner's modules; the score is read at the last position, where the CLS token stands.
    `forward(tokens)`: (batch, length) -> logits (batch, 2).
    """

    def __init__(
        self,
        d_model: int,
        attention: nn.Module,
        feed_forward: nn.Module | None = None,
        positions: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCAB_SIZE, d_model)
        self.positions = positions
        self.attention = attention
        self.feed_forward = feed_forward
        self.head = nn.Linear(d_model, 2)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)  # (batch, length, d_model)
        if self.positions is not None:
            x = self.positions(x)
        x = self.attention(x)[0]  # (output, weights): the weights are for looking at
        if self.feed_forward is not None:
            x = self.feed_forward(x)
        logits: torch.Tensor = self.head(x[:, -1])  # (batch, d_model) -> (batch, 2)
        return logits


# --- the whole model, with one thing changed


@dataclass(frozen=True)
class Parts:
    """The learner's classes and functions, of which every variant is built."""

    attention: type[nn.Module]  # MultiHeadAttention
    feed_forward: type[nn.Module]  # FeedForward
    positions: type[nn.Module]  # LearnedPositionalEmbedding
    norm: type[nn.Module]  # LayerNorm
    padding_mask: Any


@dataclass(frozen=True)
class Recipe:
    """Which parts a model has, and how large they are. As it stands: the complete classifier of the lesson."""

    positions: bool = True
    feed_forward: bool = True
    residual: bool = True
    norm: str = "pre"  # "pre", "post" or "none"
    d_model: int = 32
    num_heads: int = 4
    d_ff: int = 64
    num_layers: int = 2


COMPLETE = Recipe()
VARIANTS = {
    "complete": COMPLETE,
    "no positions": Recipe(positions=False),
    "no feed-forward": Recipe(feed_forward=False),
    "no residual": Recipe(residual=False),
    "no norm": Recipe(norm="none"),
    "post-norm": Recipe(norm="post"),
    "1 head": Recipe(num_heads=1),
    "2 heads": Recipe(num_heads=2),
    "8 heads": Recipe(num_heads=8),
    "1 layer": Recipe(num_layers=1),
    "width 16": Recipe(d_model=16, d_ff=32),
    "width 64": Recipe(d_model=64, d_ff=128),
}
SIX_LAYERS = {
    "pre-norm": Recipe(num_layers=6),
    "post-norm": Recipe(num_layers=6, norm="post"),
    "no norm": Recipe(num_layers=6, norm="none"),
    "pre-norm, no residual": Recipe(num_layers=6, residual=False),
    "post-norm, no residual": Recipe(num_layers=6, norm="post", residual=False),
}


class VariantBlock(nn.Module):
    """One encoder block after a recipe: a sub-layer, its norm before it or after the sum, a residual or none."""

    def __init__(self, parts: Parts, recipe: Recipe) -> None:
        super().__init__()
        self.recipe = recipe
        self.attention = parts.attention(recipe.d_model, recipe.num_heads)
        self.feed_forward = parts.feed_forward(recipe.d_model, recipe.d_ff) if recipe.feed_forward else None
        self.norm1 = parts.norm(recipe.d_model) if recipe.norm != "none" else nn.Identity()
        self.norm2 = parts.norm(recipe.d_model) if recipe.norm != "none" else nn.Identity()

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        def attend(y: torch.Tensor) -> torch.Tensor:
            output: torch.Tensor = self.attention(y, y, y, mask)[0]
            return output

        x = self._around(attend, self.norm1, x)
        return x if self.feed_forward is None else self._around(self.feed_forward, self.norm2, x)

    def _around(self, sublayer: Any, norm: nn.Module, x: torch.Tensor) -> torch.Tensor:
        before = norm(x) if self.recipe.norm == "pre" else x
        after: torch.Tensor = sublayer(before) + (x if self.recipe.residual else 0)
        return norm(after) if self.recipe.norm == "post" else after


class Variant(nn.Module):
    """The classifier after a recipe: tokens (batch, length) -> logits (batch, 2), read at the CLS token."""

    def __init__(self, parts: Parts, recipe: Recipe) -> None:
        super().__init__()
        self.padding_mask = parts.padding_mask
        self.embedding = nn.Embedding(VOCAB_SIZE, recipe.d_model)
        self.positions = parts.positions(MAX_LENGTH, recipe.d_model) if recipe.positions else nn.Identity()
        self.blocks = nn.ModuleList(VariantBlock(parts, recipe) for _ in range(recipe.num_layers))
        # A post-norm block ends in a norm already.
        self.final_norm = parts.norm(recipe.d_model) if recipe.norm == "pre" else nn.Identity()
        self.head = nn.Linear(recipe.d_model, 2)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        mask = self.padding_mask(tokens)  # (batch, 1, 1, length)
        x = self.positions(self.embedding(tokens))  # (batch, length, d_model)
        for block in self.blocks:
            x = block(x, mask)
        logits: torch.Tensor = self.head(self.final_norm(x[:, -1]))
        return logits


@dataclass(frozen=True)
class Result:
    """What became of one run: a line of the ablation table."""

    variant: str
    seed: int
    accuracies: dict[str, float]
    losses: list[float]


def run(
    parts: Parts, name: str, recipe: Recipe, sets: Sets, *, seed: int = 0, steps: int = 800, rate: float = 3e-3
) -> Result:
    """Build, train and test one variant. The seed decides its first weights and the order of the examples."""
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


def focus(maps: Mapping[str, torch.Tensor], tokens: torch.Tensor) -> pd.DataFrame:
    """Where the CLS token looks, averaged over all rows: a line for each head, a column for each kind of token.

    `maps` is {layer: weights (batch, heads, length, length)}, `tokens` is (batch, length) and made by `prepared`.

    >>> tokens = prepared([("21-4", 1)])[0]
    >>> focus({"layer": torch.full((1, 1, 8, 8), 1 / 8)}, tokens).round(2).values.tolist()
    [[0.25, 0.12, 0.12, 0.38, 0.12]]
    """
    minus = tokens == VOCABULARY["-"]
    start = minus.roll(1, dims=1)  # the second number's first digit stands behind the minus sign
    start[:, 0] = True
    cls, padding = tokens == CLS_ID, tokens == 0
    kinds = {"first digits": start, "other digits": ~(minus | start | cls | padding), "minus": minus}
    kinds |= {"padding": padding, "CLS": cls}
    rows = {}
    for layer, weights in maps.items():
        for head in range(weights.shape[1]):
            looks = weights[:, head, -1]  # (batch, length): the row of the CLS token
            rows[f"{layer}, head {head}"] = {kind: float((looks * of).sum(1).mean()) for kind, of in kinds.items()}
    return pd.DataFrame(rows).T
