"""The reader once more in PyTorch, with the same weights: equal losses, and the time of both. Only this needs torch."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.nn import functional as F

from transformer_course.numpy_transformer.functions import cross_entropy
from transformer_course.numpy_transformer.optimisers import Adam
from transformer_course.numpy_transformer.reader import Reader
from transformer_course.numpy_transformer.walking import gradients_of, prepared, weights_of


class Twin:
    """The forward pass of `Reader`, with a NumPy reader's weights as tensors; autograd does the rest."""

    def __init__(self, model: Any, num_heads: int) -> None:
        arrays: Mapping[str, np.ndarray] = weights_of(model)
        self.weights = {name: nn.Parameter(torch.from_numpy(array.copy())) for name, array in arrays.items()}
        self.num_heads, self.num_layers = num_heads, len(model.blocks)

    def _linear(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return x @ self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def _norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return F.layer_norm(x, x.shape[-1:], self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def _heads(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, d_model = x.shape
        return x.view(batch, length, self.num_heads, d_model // self.num_heads).transpose(1, 2)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Tokens (batch, length) -> logits (batch, vocab_size)."""
        x = self.weights["embedding.weight"][tokens] + self.weights["positions.weight"][: tokens.shape[1]]
        for place in range(self.num_layers):
            name = f"blocks.{place}"
            n = self._norm(x, f"{name}.norm1")
            q, k, v = (self._heads(self._linear(n, f"{name}.attention.{part}")) for part in ("query", "key", "value"))
            heads = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
            x = x + self._linear(heads, f"{name}.attention.output")
            hidden = torch.relu(self._linear(self._norm(x, f"{name}.norm2"), f"{name}.feed_forward.linear_in"))
            x = x + self._linear(hidden, f"{name}.feed_forward.linear_out")
        return self._linear(self._norm(x[:, 0], "final_norm"), "output")


def side_by_side(
    model: Any,
    tokens: np.ndarray,
    answers: np.ndarray,
    loss_function: Any = cross_entropy,
    optimiser: Any = Adam,
    num_heads: int = 4,
    steps: int = 100,
    batch_size: int = 32,
    learning_rate: float = 1e-3,
) -> pd.DataFrame:
    """The losses of both for so many steps on the same batches, each with its own gradients and its own Adam."""
    twin = Twin(model, num_heads)
    mine = optimiser(list(weights_of(model).values()), learning_rate)
    theirs = torch.optim.Adam(twin.weights.values(), lr=learning_rate)
    generator, lines = np.random.default_rng(0), []
    for _ in range(steps):
        rows = generator.integers(0, len(tokens), batch_size)
        loss, gradient = loss_function(model.forward(tokens[rows]), answers[rows])
        model.backward(gradient)
        mine.step(list(gradients_of(model).values()))
        other = F.cross_entropy(twin.forward(torch.from_numpy(tokens[rows])), torch.from_numpy(answers[rows]))
        theirs.zero_grad()
        other.backward()  # type: ignore[no-untyped-call]
        theirs.step()
        lines.append((float(loss), other.item()))
    return pd.DataFrame(lines, columns=["NumPy", "PyTorch"])


SIZES: Mapping[str, dict[str, int]] = {
    "small": {"d_model": 32, "num_heads": 4, "d_ff": 64, "num_layers": 1, "length": 4, "batch": 32},
    "medium": {"d_model": 128, "num_heads": 4, "d_ff": 512, "num_layers": 2, "length": 32, "batch": 32},
    "large": {"d_model": 256, "num_heads": 8, "d_ff": 1024, "num_layers": 2, "length": 128, "batch": 16},
}


@contextmanager
def one_thread_each() -> Iterator[None]:
    """PyTorch gets one thread, and so does NumPy's matrix library, where `threadpoolctl` is there to see to it."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        limits: Any = importlib.import_module("threadpoolctl").threadpool_limits(1)
    except ModuleNotFoundError:
        print("threadpoolctl isn't installed: PyTorch gets one thread, NumPy as many as its matrix library takes.")
        limits = nullcontext()
    with limits:
        yield
    torch.set_num_threads(before)


def times(repeats: int = 5) -> pd.DataFrame:
    """Milliseconds of a step, forward and backward, float32, one thread each: the fastest of a few, at three sizes."""
    with one_thread_each():
        return _times(repeats)


def _times(repeats: int) -> pd.DataFrame:
    rows = []
    for name, size in SIZES.items():
        sizes = (16, size["length"], size["d_model"], size["num_heads"], size["d_ff"], size["num_layers"])
        model = prepared(Reader(*sizes), seed=0)
        twin = Twin(model, size["num_heads"])
        tokens = np.random.default_rng(0).integers(1, 16, (size["batch"], size["length"]))
        answers = tokens[:, 0]
        ids, wanted = torch.from_numpy(tokens), torch.from_numpy(answers)

        def by_hand(model: Any = model, tokens: Any = tokens, answers: Any = answers) -> None:
            model.backward(cross_entropy(model.forward(tokens), answers)[1])

        def by_autograd(twin: Twin = twin, ids: Any = ids, wanted: Any = wanted) -> None:
            F.cross_entropy(twin.forward(ids), wanted).backward()  # type: ignore[no-untyped-call]

        mine, theirs = _fastest(by_hand, repeats), _fastest(by_autograd, repeats)
        numbers = sum(array.size for array in weights_of(model).values())
        rows.append((name, f"{numbers:,}", size["batch"] * size["length"], mine, theirs, mine / theirs))
    columns = ["size", "weights", "tokens in a batch", "NumPy, ms", "PyTorch, ms", "NumPy / PyTorch"]
    return pd.DataFrame(rows, columns=columns).round({"NumPy, ms": 1, "PyTorch, ms": 1, "NumPy / PyTorch": 2})


def _fastest(step: Any, repeats: int) -> float:
    step()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        step()
        times.append((time.perf_counter() - start) * 1000)
    return min(times)
