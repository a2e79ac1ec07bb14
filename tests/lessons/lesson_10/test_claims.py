"""What lesson 10 says under "What you should see", measured again on two seeds."""

from functools import cache
from typing import Any

import pandas as pd
import pytest
import torch

from course.training_well.gradients import accumulated_step, clip_gradients
from course.training_well.overfitting import can_overfit
from lessons.lesson_10 import experiments as lab
from lessons.tables import measured
from tests.nightly import both_seeds, both_seeds_later, later


@cache
def data(seed: int) -> lab.Letters:
    return lab.letters(seed=seed)


@both_seeds_later
def test_the_yardstick(seed: int) -> None:
    last = lab.train(lab.PLAIN, data(seed), seed=seed).last
    assert last["token accuracy"] > 0.9987
    assert last["exact match"] > 0.99


@both_seeds_later
def test_only_ida_learns(seed: int) -> None:
    batch = lab.one_batch(data(seed))
    found = {name: can_overfit(*suspect, batch) for name, suspect in lab.suspects(seed).items()}
    assert found == {"Ida": True, "Jon": False, "Kim": False}


@cache
def curve(letter: str, seed: int) -> pd.DataFrame:
    return lab.run(letter, seed)


@both_seeds_later
def test_one_row_ruins_it(seed: int) -> None:
    assert curve("G", seed)["loss"].iloc[-1] > 2


@both_seeds_later
def test_clipping_saves_it(seed: int) -> None:
    assert lab.with_clipping(clip_gradients, 1.0, seed)["loss"].iloc[-1] < 0.1


@both_seeds
def test_pieces_equal_the_whole(seed: int) -> None:
    whole = lab.one_step(data(seed), (64,), accumulated_step, seed)["weights"]
    steps: dict[Any, tuple[float, float]] = {accumulated_step: (0, 1e-5), lab.mean_of_means: (1e-3, 1.0)}
    for step, (least, most) in steps.items():
        apart = (lab.one_step(data(seed), (28, 20, 12, 4), step, seed)["weights"] - whole).abs().max()
        assert least <= apart < most


def test_pieces_save_memory() -> None:
    pieces = lab.memory_of(lab.Recipe(pieces=(28, 20, 12, 4)), data(0))["saved"]
    whole = lab.memory_of(lab.PLAIN, data(0))["saved"]
    assert pieces is not None
    assert whole is not None
    assert pieces < whole / 2


@both_seeds
def test_underflow_is_zero(seed: int) -> None:
    assert (lab.BROKEN["B"](seed).run(10)["gradient norm"] == 0).all()


@both_seeds_later
def test_waves_of_run_a(seed: int) -> None:
    jumps = {letter: (curve(letter, seed)["training loss"].diff(3) > 0.5).sum() for letter in "AH"}
    assert jumps["A"] > 10
    assert jumps["H"] == 0


@both_seeds_later
def test_the_leak_flatters(seed: int) -> None:
    found = lab.leaked_and_fresh(seed)
    assert found["the leaked rows"] > 0.95
    assert found["rows it has never seen"] < 0.2


@both_seeds_later
def test_unshifted_is_too_good(seed: int) -> None:
    last = curve("F", seed).iloc[-1]
    assert last["training loss"] < 0.02
    assert last["loss"] > 5


@both_seeds
def test_two_measurements(seed: int) -> None:
    for letter, differ in (("I", True), ("G", False)):
        looked = lab.BROKEN[letter](seed).run(20).dropna()
        assert (looked["token accuracy"] != looked["measured again"]).any() == differ


@both_seeds
def test_the_gradient_gets_lost(seed: int) -> None:
    bare = lab.gradient_by_depth(seed=seed)["no norm, no residual"]
    assert bare[0] < bare[-1] / 1e6


@both_seeds
def test_residuals_carry_it(seed: int) -> None:
    found = lab.gradient_by_depth(seed=seed)
    for name in ("pre-norm, residual", "post-norm, residual"):
        assert 0.5 < found[name][0] / found[name][-1] < 2


@cache
def table(rows: int) -> pd.DataFrame:
    some = measured("10_tricks")
    return some[some["rows"] == rows].set_index(["trick", "seed"])


def of(rows: int, trick: str, column: str) -> pd.Series:
    """One column of a trick, by seed."""
    return table(rows).loc[trick][column]


def test_three_hundred_by_heart() -> None:
    assert (of(lab.FEW, "plain", "training") < 0.01).all()
    assert of(lab.FEW, "plain", "exact").between(0.38, 0.67).all()


def test_augmentation_wins() -> None:
    assert (of(lab.FEW, "augmentation", "exact") > 0.99).all()


def test_dropout_comes_second() -> None:
    plain, dropout = (of(lab.FEW, name, "exact") for name in ("plain", "dropout 0.1"))
    assert dropout.between(0.79, 0.95).all()
    for name in ("weight decay 0.1", "label smoothing 0.1"):
        assert (dropout - of(lab.FEW, name, "exact") > 0.1).all()
        assert (of(lab.FEW, name, "exact") - plain > 0.1).all()


def test_early_stopping_saves_time() -> None:
    assert (of(lab.FEW, "early stopping", "exact") - of(lab.FEW, "plain", "exact")).abs().max() < 0.06


@later
def test_checkpoints_save_memory() -> None:
    plain = lab.memory_of(lab.Recipe(num_layers=8), data(0))
    forgetful = lab.memory_of(lab.Recipe(num_layers=8, checkpointed=True), data(0))
    assert plain["saved"] is not None
    assert plain["peak"] is not None
    assert forgetful["saved"] is not None
    assert forgetful["peak"] is not None
    assert forgetful["saved"] < plain["saved"] / 5
    assert forgetful["peak"] < plain["peak"] / 2


def test_scaling_brings_them_back() -> None:
    small = torch.tensor([3e-4, 5e-6, 2e-8, 1e-9])
    assert (small.half() == 0).sum() == 2
    torch.testing.assert_close((small * 2**16).half().float() / 2**16, small, rtol=1e-3, atol=0)


def test_an_infinite_gradient_is_skipped() -> None:
    weight = torch.nn.Parameter(torch.ones(1))
    optimizer, scaler = torch.optim.SGD([weight], lr=1.0), torch.amp.GradScaler("cpu")
    scaler.scale(weight.sum() * float("inf")).backward()  # type: ignore[no-untyped-call]
    scaler.step(optimizer)
    scaler.update()
    assert (weight.item(), scaler.get_scale()) == (1.0, 2**15)


@both_seeds_later
def test_a_scaler_repairs_run_b(seed: int) -> None:
    alone, scaled = lab.BROKEN["B"](seed).run(60), lab.with_scaler(60, seed)
    assert scaled["training loss"].tail(5).mean() < alone["training loss"].tail(5).mean() - 0.3


@both_seeds_later
def test_bfloat16_follows(seed: int) -> None:
    full, half = (
        lab.train(lab.Recipe(steps=100, precision=precision), data(seed), seed=seed).losses
        for precision in (None, torch.bfloat16)
    )
    assert max(abs(a - b) for a, b in zip(full, half, strict=True)) < 0.3


def times(trick: str) -> pd.Series:
    return of(lab.ENOUGH, trick, "milliseconds") / of(lab.ENOUGH, "plain", "milliseconds")


def test_what_is_faster() -> None:
    assert (times("compiled") < 1).all()
    assert (times("bfloat16") > 1).all()
    assert (times("float16 with a scaler") > 1).all()


def test_same_scores() -> None:
    plain = of(lab.ENOUGH, "plain", "exact")
    for trick, most in {
        "checkpointed": 0,
        "fused attention": 0.05,
        "four pieces, of 28, 20, 12 and 4 rows": 0.05,
    }.items():
        assert of(lab.ENOUGH, trick, "exact").to_numpy() == pytest.approx(plain.to_numpy(), abs=most)


def test_what_checkpoints_cost() -> None:
    share = of(lab.ENOUGH, "checkpointed", "saved") / of(lab.ENOUGH, "plain", "saved")
    assert share.between(0.15, 0.25).all()
    assert (times("checkpointed") > 1).all()


def test_nothing_to_gain_here() -> None:
    plain = of(lab.ENOUGH, "plain", "tokens")
    for trick in table(lab.ENOUGH).index.unique(level="trick"):
        assert (of(lab.ENOUGH, trick, "tokens") - plain).abs().max() < 0.01
    exact = table(lab.ENOUGH)["exact"]
    for trick in ("plain", "label smoothing 0.1", "weight decay 0.1"):
        assert (exact[trick] == 1).sum() == (2 if trick == "plain" else 3)
    assert (exact["clipping at 0.5"] <= exact["plain"]).all()


def test_not_with_every_seed() -> None:
    slowest = table(lab.ENOUGH).loc["plain"].sort_values("tokens").iloc[0]
    assert 0.995 < slowest["tokens"] < 0.9987
    assert 0.965 < slowest["exact"] < 0.98
