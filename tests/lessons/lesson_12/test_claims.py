"""What lesson 12 says under "What you should see", measured again on two seeds.

Reviews and passengers are no part of the course: they are downloaded once, or read from the folder that COURSE_MIRROR
names. Where they can't be had, what is said about them can't be measured.
"""

from functools import cache

import pandas as pd
import pytest
import torch

from course.beyond.series import looks_ahead
from course.beyond.words import bag_of_words, masked_mean
from course.downloads import NotAvailable
from course.fitting import accuracy
from course.tasks.handwriting import handwriting
from course.tasks.monthly import carbon_dioxide, passengers
from lessons.lesson_12.experiments import forecasting, reading, seeing
from tests.nightly import both_seeds_later, later


@cache
def corpus(seed: int) -> reading.Corpus:
    try:
        return reading.corpus(seed)
    except NotAvailable as problem:
        pytest.skip(str(problem))


@cache
def counting(seed: int) -> reading.Learnt:
    return reading.count_words(corpus(seed), bag_of_words, seed)[1]


@cache
def read(seed: int) -> tuple[reading.Reading, reading.Learnt]:
    return reading.read_words(corpus(seed), masked_mean, seed)


@cache
def flights() -> torch.Tensor:
    try:
        return passengers()
    except NotAvailable as problem:
        pytest.skip(str(problem))


@both_seeds_later
def test_counting_wins(seed: int) -> None:
    counted, transformer = counting(seed).test, read(seed)[1].test
    assert 0.74 < counted < 0.775
    assert 0.725 < transformer < 0.758
    assert 0.005 < counted - transformer < 0.025
    assert reading.majority(corpus(seed)) < 0.51


@both_seeds_later
def test_both_learn_by_heart(seed: int) -> None:
    assert counting(seed).train > 0.9
    assert read(seed)[1].train > 0.9


@both_seeds_later
def test_order_is_not_used(seed: int) -> None:
    data, (model, learnt) = corpus(seed), read(seed)
    assert abs(accuracy(model, reading.shuffled(data.test[0]), data.test[1]) - learnt.test) < 0.01


def test_naive_is_behind() -> None:
    naive = forecasting.last_year()
    assert forecasting.mase(naive, carbon_dioxide()) == pytest.approx(1.32, abs=0.005)
    assert forecasting.mase(naive, flights()) == pytest.approx(1.27, abs=0.005)


def test_growth_helps() -> None:
    growing = forecasting.last_year_and_growth()
    for series in (carbon_dioxide(), flights()):
        assert forecasting.mase(growing, series) == pytest.approx(0.73, abs=0.006)


@cache
def on_passengers(seed: int) -> pd.Series:
    return forecasting.compare({"": flights()}, forecasting.pipelines(seed=seed))[""]


@cache
def on_carbon_dioxide(seed: int) -> pd.Series:
    return forecasting.compare({"": carbon_dioxide()}, forecasting.pipelines(seed=seed))[""]


@both_seeds_later
def test_passengers_are_lost(seed: int) -> None:
    found = on_passengers(seed)
    assert found.idxmin() == "one Linear layer"
    assert 0.6 < found["one Linear layer"] < 0.63
    better = found[["Transformer", "Transformer, windows scaled"]].min()
    assert better == found["Transformer, windows scaled"]
    assert 0.86 < better < 0.92


@both_seeds_later
def test_carbon_dioxide_is_won(seed: int) -> None:
    found = on_carbon_dioxide(seed)
    assert found.idxmin() == "Transformer, windows scaled"
    assert found.min() == pytest.approx(0.37, abs=0.006)
    assert 0.415 < found[["one Linear layer", "one Linear layer, windows scaled"]].min() < 0.436


@both_seeds_later
def test_scaling_helps(seed: int) -> None:
    assert 0.87 < on_carbon_dioxide(seed)["Transformer"] < 1.03


def test_leaks_are_found() -> None:
    series = carbon_dioxide()[:96]
    cut = forecasting.origins(series)[-1]
    on_trial = {
        forecasting.last_year(): False,
        forecasting.linear(): False,
        forecasting.linear(leaking=True): True,
        forecasting.transformer(leaking=True): True,
    }
    for pipeline, ahead in on_trial.items():
        assert looks_ahead(pipeline, series, cut) == ahead


@both_seeds_later
def test_leaks_flatter(seed: int) -> None:
    layer = forecasting.mase(forecasting.linear(seed=seed, leaking=True), flights())
    transformer = forecasting.mase(forecasting.transformer(seed=seed, leaking=True), flights())
    assert 0.43 < layer < 0.495
    assert 0.54 < transformer < 0.615
    honest = on_passengers(seed)
    gained = honest["Transformer, windows scaled"] - transformer
    assert gained > honest["one Linear layer"] - layer + 0.05


@cache
def digits(seed: int) -> pd.DataFrame:
    data = handwriting(seed)
    moved = seeing.moved(data.test[0])
    rows = {"neighbour": (seeing.neighbours(data), seeing.neighbours(data, moved), 1.0)}
    for size in (8, 4, 2):
        model = seeing.learn(data, size, seed=seed)
        rows[str(size)] = (
            seeing.right(model, data),
            seeing.right(model, data, moved),
            accuracy(model, *data.train),
        )
    return pd.DataFrame(rows, index=["test", "moved", "train"]).T


@both_seeds_later
def test_neighbours_win(seed: int) -> None:
    test = digits(seed)["test"]
    assert 0.975 < test["neighbour"] < 0.99
    assert 0.94 < test["4"] < 0.98
    assert 0.915 < test["2"] < 0.925
    assert 0.95 < digits(seed)["train"]["2"] < 0.985


@both_seeds_later
def test_larger_patches_win(seed: int) -> None:
    test = digits(seed)["test"]
    assert 0.96 < test["8"] < 0.99
    assert test["8"] > test["4"] > test["2"]


@both_seeds_later
def test_nobody_copes(seed: int) -> None:
    moved = digits(seed)["moved"]
    assert moved["neighbour"] == pytest.approx(0.63, abs=0.01)
    assert moved[["8", "4", "2"]].max() < 0.53


@later
@pytest.mark.parametrize("seed", [0, 1])
def test_one_of_four(seed: int) -> None:
    won = [read(seed)[1].test > counting(seed).test, digits(seed)["test"]["4"] > digits(seed)["test"]["neighbour"]]
    for found in (on_passengers(seed), on_carbon_dioxide(seed)):
        ours = found["Transformer, windows scaled"]
        assert ours < found["seasonal naive"]
        won.append(ours < found[["one Linear layer", "one Linear layer, windows scaled"]].min())
    assert won == [False, False, False, True]
    assert read(seed)[1].test > reading.majority(corpus(seed)) + 0.2
