"""What lesson 9 says under "What you should see", measured again on two seeds."""

from functools import cache

import numpy as np
import pytest

from course.numpy_transformer import tasks
from course.numpy_transformer.attention import MultiHeadAttention
from course.numpy_transformer.functions import cross_entropy, gradient_check
from course.numpy_transformer.layers import Linear, ReLU
from course.numpy_transformer.model import Transformer
from course.numpy_transformer.optimisers import SGD, Adam
from course.numpy_transformer.reader import Reader
from course.numpy_transformer.walking import gradients_of, weights_of
from lessons.lesson_09 import experiments as lab
from lessons.lesson_09.experiments import twin
from tests.lessons.seeds import both_seeds, both_seeds_later


@cache
def data(seed: int) -> tasks.Split:
    return tasks.questions(seed)


@cache
def reader(seed: int) -> tuple[Reader, lab.Record]:
    model = lab.fresh_reader(seed=seed)
    return model, lab.taught(model, data(seed).train, data(seed).test, cross_entropy, Adam, seed=seed)


def error_of(layer: object, x: np.ndarray) -> float:
    gradient = np.cos(np.arange(layer.forward(x).size)).reshape(layer.forward(x).shape)  # type: ignore[attr-defined]

    def f(changed: np.ndarray) -> tuple[float, np.ndarray]:
        output = layer.forward(changed)  # type: ignore[attr-defined]
        return float((output * gradient).sum()), layer.backward(gradient)  # type: ignore[attr-defined]

    return gradient_check(f, x)


def test_the_best_step() -> None:
    errors = {}
    for exponent in range(-1, -16, -1):
        h = 10.0**exponent
        errors[exponent] = abs((np.sin(1 + h) - np.sin(1 - h)) / (2 * h) - np.cos(1.0)) / np.cos(1.0)
    assert -7 <= min(errors, key=lambda exponent: errors[exponent]) <= -5
    assert errors[-1] > 1e-3
    assert errors[-14] > errors[-1]


@both_seeds
def test_linear_passes(seed: int) -> None:
    assert error_of(Linear(4, 5), np.random.default_rng(seed).standard_normal((2, 3, 4))) < 1e-5


@both_seeds
def test_a_kink(seed: int) -> None:
    assert error_of(ReLU(), np.random.default_rng(seed).standard_normal((2, 3, 4))) < 1e-5
    assert error_of(ReLU(), np.array([0.0, 1.0])) == pytest.approx(1.0)


@both_seeds
def test_baselines(seed: int) -> None:
    assert not set(data(seed).train) & set(data(seed).test)
    shares = tasks.baselines(data(seed))
    for name in ("first", "second", "last"):
        assert 0.05 < shares["most common answer"][name] < 0.1
    for name in ("max", "min"):
        assert 0.2 < shares["most common answer"][name] < 1 / 3
    assert all(0.37 < share < 0.43 for share in shares["any of the three"].values())


@both_seeds
def test_a_plain_network(seed: int) -> None:
    scores = {}
    for name, optimiser, rate in (("SGD", SGD, 0.1), ("Adam", Adam, 0.005)):
        model = lab.plain(Linear, ReLU, seed)
        train, test = data(seed).train, data(seed).test
        record = lab.taught(model, train, test, cross_entropy, optimiser, epochs=(10,), rates=(rate,), seed=seed)
        scores[name] = record.test_right
    assert 0.98 < scores["Adam"][-1] < 1.0
    assert 0.78 < scores["SGD"][-1] < 0.9
    assert scores["SGD"][-1] > scores["SGD"][-3]


@both_seeds
def test_the_keys_bias(seed: int) -> None:
    generator = np.random.default_rng(seed)
    layer, x = MultiHeadAttention(8, 2), generator.standard_normal((2, 5, 8))
    layer.backward(generator.standard_normal(layer.forward(x, x, x)[0].shape))
    sizes = {name: float(np.abs(found).max()) for name, found in gradients_of(layer).items()}
    assert sizes.pop("key.bias") < 1e-12
    assert min(sizes.values()) > 1e-3


@pytest.mark.parametrize(
    "seed", [0, pytest.param(1, marks=pytest.mark.later), pytest.param(2, marks=pytest.mark.later)]
)
def test_every_question(seed: int) -> None:
    record = reader(seed)[1]
    assert record.test_right[1] > 0.97
    assert record.test_right[-1] == 1.0


@both_seeds
def test_heads_follow_the_question(seed: int) -> None:
    before = lab.heads(lab.fresh_reader(seed=seed), data(seed).test).table
    assert (before["reading"] == "spread").sum() >= 15
    after = lab.heads(reader(seed)[0], data(seed).test).table.set_index("operation")
    for name, place in zip(("first", "second", "last"), lab.PLACES[1:], strict=True):
        assert set(after.loc[name, "looks most at"]) == {place}
        assert after.loc[name, "weight there"].min() > 0.8


@both_seeds
def test_heads_find_the_largest(seed: int) -> None:
    table = lab.heads(reader(seed)[0], data(seed).test).table.set_index("operation").loc[["max", "min"]]
    assert (table["weight there"] < 0.6).mean() > 0.7  # spread over the places, on average
    assert (table["reading"] == "focused").mean() > 0.7
    assert table["weight on the answer"].median() > 0.8


@both_seeds
def test_without_a_head(seed: int) -> None:
    for head in range(4):
        assert lab.without_head(reader(seed)[0], head, data(seed).test).min() > 0.95


@both_seeds
def test_overfitting(seed: int) -> None:
    model, few = lab.fresh_reader(seed=seed), data(seed).train[:40]
    record = lab.taught(
        model, few, data(seed).test, cross_entropy, Adam, epochs=(100,), rates=(3e-3,), batch_size=16, seed=seed
    )
    assert record.train_right[-1] == 1.0
    assert 0.3 < max(record.test_right) < 0.55
    assert 3 <= record.best_epoch <= 6
    assert record.test_loss[-1] > 1.4 * min(record.test_loss)
    assert record.train_loss[-1] < 0.01


@both_seeds_later
def test_letters_backwards(seed: int) -> None:
    letters, model = lab.backwards(seed), lab.letters_model(Transformer, seed)
    last = lab.read_backwards(model, letters, cross_entropy, Adam, seed=seed).iloc[-1]
    assert last["tokens, on its own"] > 0.998
    assert last["rows, on its own"] > 0.99
    assert last["rows, on its own"] == last["rows, with a teacher"]


@both_seeds
def test_the_same_losses(seed: int) -> None:
    model = lab.fresh_reader(seed=seed, dtype=np.float64)
    both = twin.side_by_side(model, *tasks.as_arrays(data(seed).train))
    assert (both["NumPy"] - both["PyTorch"]).abs().max() < 1e-8
    assert both["NumPy"].iloc[-1] < both["NumPy"].iloc[0] / 2


@both_seeds
def test_what_a_step_keeps(seed: int) -> None:
    model = reader(seed)[0]
    model.forward(tasks.as_arrays(data(seed).train[:32])[0])
    kept, weights = lab.remembered(model.blocks[0]), sum(array.nbytes for array in weights_of(model).values())
    assert round(kept / 1024) == 217
    assert 3.5 < kept / weights < 4.5
