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
from course.numpy_transformer.walking import copied, gradients_of, restore, weights_of
from lessons.lesson_09 import experiments as lab
from lessons.lesson_09.experiments import extensions, twin
from tests.nightly import both_seeds, both_seeds_later


@cache
def data(seed: int) -> tasks.Split:
    return tasks.questions(seed)


@cache
def reader(seed: int) -> tuple[Reader, lab.Record]:
    model = lab.fresh_reader(seed=seed)
    return model, lab.taught(model, data(seed).train, data(seed).validation, cross_entropy, Adam, seed=seed)


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
    parts = data(seed).train, data(seed).validation, data(seed).test
    assert len(set().union(*parts)) == sum(len(part) for part in parts) == 5000
    shares = tasks.baselines(data(seed))
    for name in ("first", "second", "last"):
        assert shares["most common answer"][name] < 0.1
    for name in ("max", "min"):
        assert 0.15 < shares["most common answer"][name] < 1 / 3
    assert all(0.37 < share < 0.43 for share in shares["any of the three"].values())


@both_seeds
def test_a_plain_network(seed: int) -> None:
    scores = {}
    for name, optimiser, rate in (("SGD", SGD, 0.1), ("Adam", Adam, 0.005)):
        model = lab.plain(Linear, ReLU, seed)
        train, others = data(seed).train, data(seed).validation
        record = lab.taught(model, train, others, cross_entropy, optimiser, epochs=(10,), rates=(rate,), seed=seed)
        scores[name] = record.validation_right
    assert 0.975 < scores["Adam"][-1] < 1.0
    assert 0.75 < scores["SGD"][-1] < 0.85
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
    model, record = reader(seed)
    assert record.validation_right[1] > 0.97
    assert len(data(seed).test) == 1000
    assert lab.accuracies(model, data(seed).test).eq(1.0).all()


@both_seeds
def test_heads_follow_the_question(seed: int) -> None:
    before = lab.heads(lab.fresh_reader(seed=seed), data(seed).validation).table
    assert (before["reading"] == "spread").sum() >= 15
    after = lab.heads(reader(seed)[0], data(seed).validation).table.set_index("operation")
    for name, place in zip(("first", "second", "last"), lab.PLACES[1:], strict=True):
        assert set(after.loc[name, "looks most at"]) == {place}
        assert after.loc[name, "weight there"].min() > 0.8


@both_seeds
def test_heads_find_the_largest(seed: int) -> None:
    table = lab.heads(reader(seed)[0], data(seed).validation).table.set_index("operation").loc[["max", "min"]]
    assert (table["weight there"] < 0.6).mean() > 0.7  # spread over the places, on average
    assert (table["reading"] == "focused").mean() > 0.7
    assert table["weight on the answer"].median() > 0.8


@both_seeds
def test_without_a_head(seed: int) -> None:
    for head in range(4):
        assert lab.without_head(reader(seed)[0], head, data(seed).validation).min() > 0.88


@cache
def starved(seed: int) -> tuple[Reader, lab.Record]:
    model, few = lab.fresh_reader(seed=seed), data(seed).train[:40]
    slowly = {"epochs": (100,), "rates": (3e-3,), "batch_size": 16, "seed": seed}
    return model, lab.taught(model, few, data(seed).validation, cross_entropy, Adam, **slowly)  # type: ignore[arg-type]


@both_seeds
def test_overfitting(seed: int) -> None:
    record = starved(seed)[1]
    assert record.train_right[-1] == 1.0
    assert 0.33 < max(record.validation_right) < 0.6
    assert 9 <= record.best_epoch <= 13
    assert 1.2 < record.validation_loss[-1] / min(record.validation_loss) < 1.37
    assert record.train_loss[-1] < 0.01


@both_seeds
def test_loss_and_accuracy_part(seed: int) -> None:
    model, record = starved(seed)
    at_the_end, last = lab.tested(model, data(seed).test, cross_entropy), copied(model)
    chosen = lab.tested(lab.held(model, record), data(seed).test, cross_entropy)
    restore(model, last)
    assert chosen["loss"] < at_the_end["loss"] / 1.1
    assert 0.05 < at_the_end["right"] - chosen["right"] < 0.1


@both_seeds_later
def test_letters_backwards(seed: int) -> None:
    letters, model = lab.backwards(seed), lab.letters_model(Transformer, seed)
    lab.read_backwards(model, letters, cross_entropy, Adam, seed=seed)
    last = lab.letters_scores(model, letters.test)
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


def verdict(kind: str, layers: int, epochs: tuple[int, ...], rate: float, seed: int) -> tuple[float, float]:
    """What a model with the course's own layers reaches on validation and test questions."""
    task = getattr(extensions, kind)(seed)
    model = extensions.fresh(task, Transformer if task.marks else Reader, num_layers=layers, seed=seed)
    extensions.taught(task, model, cross_entropy, Adam, epochs, (rate, rate / 10))
    return task.score(model)["all"], task.score(model, task.test)["all"]


@both_seeds_later
def test_nested_questions_need_two_blocks(seed: int) -> None:
    shares = {}
    task = extensions.nested(seed)
    for layers in (1, 2):
        model = extensions.fresh(task, Reader, num_layers=layers, seed=seed)
        extensions.taught(task, model, cross_entropy, Adam, (6, 2), (3e-3, 3e-4))
        shares[layers] = task.score(model)
    assert 0.9 < shares[1]["all"] < 0.945
    assert 0.975 < shares[2]["all"] < 0.995
    lost = shares[2] - shares[1]
    assert lost[["max", "min"]].min() > lost[["first", "second", "last"]].max()


@both_seeds_later
def test_the_other_three_goals(seed: int) -> None:
    for kind, epochs, rate in (("longer", (12, 4), 3e-3), ("arithmetic", (20, 8), 5e-3)):
        assert min(verdict(kind, 1, epochs, rate, seed)) > 0.95, kind
    low, high = sorted(verdict("sums", 1, (4, 2), 3e-3, seed))
    assert low > 0.99 if seed == 1 else high < 0.1
