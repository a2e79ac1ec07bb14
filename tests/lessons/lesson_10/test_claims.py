"""What lesson 10 says under "What you should see", measured again on two seeds."""

import math
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

from tests.nightly import both_seeds, both_seeds_later
from transformer_course.lessons.lesson_10 import experiments as lab
from transformer_course.lessons.lesson_10.experiments.gallery import Scaled, Sound
from transformer_course.lessons.lesson_10.experiments.letters import Reverser, row_loss
from transformer_course.lessons.lesson_10.experiments.speed import fused
from transformer_course.lessons.tables import measured
from transformer_course.training_well.gradients import accumulated_step, clip_gradients
from transformer_course.training_well.overfitting import can_overfit
from transformer_course.training_well.stopping import EarlyStopping


@cache
def data(seed: int) -> lab.Letters:
    return lab.letters(seed=seed)


@both_seeds_later
def test_the_yardstick(seed: int) -> None:
    last = lab.train(lab.PLAIN, data(seed), seed=seed).last
    assert last["token accuracy"] > 0.999
    assert last["exact match"] > 0.99


@both_seeds
def test_rows_have_about_6_6_tokens(seed: int) -> None:
    targets = torch.cat([data(seed).train[1], data(seed).validation[1]])
    length = (targets != 0).sum(dim=1).float().mean()
    assert 6.55 < length < 6.7
    end_marks = 1 / length
    letters_by_chance = 0.1 * (length - 1) / length
    assert 1 / 6.7 < end_marks < 1 / 6.5
    assert 1 / 12.5 < letters_by_chance < 1 / 11.5


@both_seeds_later
def test_only_ida_learns(seed: int) -> None:
    batch = lab.one_batch(data(seed))
    learns = {name: can_overfit(*suspect, batch) for name, suspect in lab.suspects(seed).items()}
    assert learns == {"Ida": True, "Jon": False, "Kim": False}
    for name, (make, train_step) in lab.suspects(seed).items():
        learner = make()
        first, second, third = (train_step(learner, batch) for _ in range(3))
        assert 2.65 < first < 3.05
        assert first == second == third if name == "Jon" else first > second > third


def entropy_by_position(targets: torch.Tensor) -> float:
    """The lowest loss of a model that knows only which symbols are common at each position; a row counts as one."""
    real = targets != 0
    shares = real / real.sum(dim=1, keepdim=True) / len(targets)
    entropy = 0.0
    for position in range(targets.shape[1]):
        counts = torch.zeros(13).index_add(0, targets[:, position], shares[:, position])
        some = counts[counts > 0]
        entropy -= float((some * (some / some.sum()).log()).sum())
    return entropy


@both_seeds_later
def test_kim_knows_what_is_common(seed: int) -> None:
    batch = lab.one_batch(data(seed))
    make, train_step = lab.suspects(seed)["Kim"]
    learner = make()
    last = [train_step(learner, batch) for _ in range(300)][-1]
    assert 1.8 < last < 1.9
    assert last == pytest.approx(entropy_by_position(batch[1]), abs=0.02)


@both_seeds_later
def test_the_test_has_conditions(seed: int) -> None:
    batch = lab.one_batch(data(seed))
    for others in ({"rate": 1e-4}, {"rate": 0.2}, {"smoothing": 0.1}):
        assert not can_overfit(*lab.sound_one(seed, **others), batch)


@cache
def curve(letter: str, seed: int) -> pd.DataFrame:
    return lab.run(letter, seed) if letter else lab.sound(seed)


@both_seeds_later
def test_one_row_ruins_it(seed: int) -> None:
    assert curve("G", seed)["loss"].iloc[-1] > 2


@both_seeds_later
def test_clipping_saves_it(seed: int) -> None:
    assert lab.with_clipping(clip_gradients, 1.0, seed)["loss"].iloc[-1] < 0.2
    assert curve("", seed)["loss"].iloc[-1] < 0.2


@both_seeds_later
def test_it_was_adams_memory(seed: int) -> None:
    assert 0.1 <= lab.with_memory_cleared(seed=seed)["loss"].iloc[-1] < 0.3


@both_seeds_later
def test_it_was_not_the_weights(seed: int) -> None:
    assert lab.with_weights_put_back(seed)["loss"].iloc[-1] > 2


@both_seeds_later
def test_both_halves_of_the_memory(seed: int) -> None:
    assert lab.with_memory_cleared("the first moment", seed)["loss"].iloc[-1] > 1.3
    assert lab.with_memory_cleared("the second moment", seed)["loss"].iloc[-1] > 100


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
    jumps = {letter: (curve(letter, seed)["training loss"].diff(3) > 0.5).sum() for letter in ("A", "")}
    assert jumps["A"] > 10
    assert jumps[""] == 0


@both_seeds_later
def test_two_flat_runs(seed: int) -> None:
    curves, sound = {letter: curve(letter, seed) for letter in "AEFHI"}, curve("", seed)
    assert 1.75 < curves["A"]["loss"].min() < curves["A"]["loss"].max() < 3
    assert curves["E"]["training loss"].iloc[:10].max() > 3
    assert 2.1 < curves["E"]["training loss"].iloc[-30:].median() < 2.4
    assert 0.5 < curves["E"]["gradient norm"].iloc[20:].median() / sound["gradient norm"].iloc[20:].median() < 2
    assert curves["F"]["training loss"].iloc[49] < 0.1
    assert 2.4 < curves["H"]["training loss"].iloc[-1] < 2.5
    assert 0 < curves["H"]["gradient norm"].iloc[-30:].median() < 0.12
    looked = curves["I"].dropna()
    assert 0.01 < (looked["token accuracy"] - looked["measured again"]).abs().max() < 0.035


@both_seeds_later
def test_a_high_peak_needs_a_warm_up(seed: int) -> None:
    exact = {
        (rate, warmup): lab.train(
            lab.Recipe(steps=120, rate=rate, warmup=warmup, schedule="warm-up and cosine", watch_every=120),
            data(seed),
            seed=seed,
        ).last["exact match"]
        for rate in (0.02, 0.08)
        for warmup in (1, 60)
    }
    assert exact.pop((0.08, 1)) < 0.02
    assert all(0.8 < share < 0.995 for share in exact.values())


class _Scarce(Sound):
    rows = 60


class _Timid(Sound):
    rate = 1e-4


class _Certain(Sound):
    def build(self) -> Any:
        model: Any = super().build()
        with torch.no_grad():
            model.model.head.weight.mul_(30)
        return model


class _NotANumber(Sound):
    def loss(self, inputs: torch.Tensor, targets: torch.Tensor, step: int) -> torch.Tensor:
        return super().loss(inputs, targets, step) * (math.nan if step > 5 else 1.0)


@both_seeds_later
def test_the_table_diagnoses(seed: int) -> None:
    table = lab.by_the_table(data(seed), seed).set_index("run")
    diagnoses = table["the table says"]
    assert (table["right?"] == "yes").all()
    dead, causes = "the input doesn't reach the output", [symptom.cause for symptom in lab.SYMPTOMS]
    expected = {
        "run A": "the data isn't shuffled",
        "run B": "underflow in float16",
        "run C": "gradients aren't zeroed",
        "run D": "a leak",
        "run E": "the learning rate is too high",
        "run F": "the answer is in the input",
        "run G": "a few bad rows",
        "run H": dead,
        "run I": "evaluation in train mode",
        "Ida": lab.NOTHING,
        "Jon": "the optimiser holds other weights",
        "Kim": dead,
    }
    assert [cause for run, cause in expected.items() if not diagnoses[run].startswith(cause)] == []
    for another in (seed, 1 - seed):
        assert lab.read(curve("", seed), curve("", another)) == lab.NOTHING
    others = {
        _Scarce: "over-fitting",
        _Timid: "the learning rate is too low",
        _Certain: "the first weights are too large",
        _NotANumber: "a division, a root or a logarithm of 0",
    }
    for kind, cause in others.items():
        assert lab.read(kind(seed).run(), curve("", seed)).startswith(cause)
    # every row is some run's
    assert all(any(cause.startswith(named) for named in [*expected.values(), *others.values()]) for cause in causes)


@both_seeds_later
def test_the_leak_flatters(seed: int) -> None:
    shares = lab.leaked_and_fresh(seed)
    assert shares["the leaked rows"] > 0.95
    assert shares["rows it has never seen"] < 0.2


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


@cache
def lost(stack: str) -> list[float]:
    """How much of the gradient a stack loses, with each of twelve seeds."""
    return [lab.lost(lab.gradient_by_depth(seed=seed)[stack]) for seed in range(12)]


def test_the_gradient_gets_lost() -> None:
    assert all(2e7 < factor < 1.2e8 for factor in lost("neither"))


def test_either_is_enough() -> None:
    assert all(1.3 < factor < 5.5 for factor in lost("norm only"))
    for name in ("residual only", "norm and residual"):
        assert all(0.7 < factor < 1.3 for factor in lost(name))


def test_or_larger_weights() -> None:
    assert all(4.5 < factor < 20 for factor in lost("neither, larger weights"))


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


def test_early_stopping_gets_the_loss() -> None:
    assert (of(lab.FEW, "early stopping", "loss") < of(lab.FEW, "plain", "loss")).all()
    assert (of(lab.FEW, "early stopping", "exact") - of(lab.FEW, "plain", "exact")).between(-0.06, 0).all()


@both_seeds_later
def test_watching_exact_match_stops_no_run(seed: int) -> None:
    seen = lab.train(lab.LONG, lab.letters(lab.FEW, seed), seed=seed).curve
    model, stopping = torch.nn.Linear(1, 1), EarlyStopping(patience=4)
    assert not any(stopping.step(-exact, model) for exact in seen["exact match"])


def test_checkpoints_save_memory() -> None:
    peaks = [
        lab.memory_of(lab.Recipe(num_layers=8, checkpointed=forgets), data(0))["peak"] for forgets in (True, False)
    ]
    assert peaks[0] is not None
    assert peaks[1] is not None
    assert 0.12 < peaks[0] / peaks[1] < 0.18


def test_v_remembers_for_long() -> None:
    m = v = 1.0
    for step in range(131):
        gradient = 10_000.0 if step == 30 else 1.0
        m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
    assert round(m, 1) == 1.0
    assert 300 <= v**0.5 < 302
    assert 290 < v**0.5 / m < 302


def test_a_mountain_and_many_teeth() -> None:
    plain, checkpointed = (
        lab.memory_over_a_step(lab.Recipe(num_layers=8, checkpointed=forgets), data(0)) for forgets in (False, True)
    )
    top = int(plain.argmax())
    assert 25 < top < 40
    assert plain[top] > 3 * max(plain[0], plain[-1])
    assert (np.diff(plain[:top]) > 0).all()
    assert (np.diff(plain[top:]) <= 0).all()
    rises = np.diff(checkpointed) > 0
    assert (rises[1:] & ~rises[:-1]).sum() >= 16


def test_the_grid_around_one() -> None:
    one = torch.tensor(1.0, dtype=torch.bfloat16)
    assert (one + 0.002).item() == 1.0
    assert (one - 0.002).item() == 0.99609375
    numbers = torch.tensor(lab.bits_of([1.0, 1.0078125, 0.99609375], torch.bfloat16))
    whole = (numbers * 2 ** torch.arange(15, -1, -1)).sum(dim=1)
    assert (whole - whole[0]).tolist() == [0, 1, -1]  # neighbours


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


def after_sixty(curve: pd.DataFrame) -> float:
    return float(curve["training loss"].iloc[59])


@both_seeds_later
def test_a_scaler_is_not_enough(seed: int) -> None:
    assert after_sixty(lab.with_scaler(60, seed)) > 2
    assert after_sixty(curve("", seed)) < 1


@both_seeds
def test_below_eps(seed: int) -> None:
    steps = 20
    scaled = Scaled(seed)
    scaled.run(steps)
    squares = torch.cat([state["exp_avg_sq"].flatten() for state in scaled.optimizer.state.values()])
    roots = (squares / (1 - 0.999**steps)).sqrt()
    assert (roots < scaled.optimizer.defaults["eps"]).float().mean() > 0.95


@both_seeds_later
def test_eps_drowned_them(seed: int) -> None:
    assert abs(after_sixty(lab.with_scaler(60, seed, eps=1e-15)) - after_sixty(curve("", seed))) < 0.05


@both_seeds_later
def test_bfloat16_follows(seed: int) -> None:
    full, half = (
        lab.train(lab.Recipe(steps=100, precision=precision), data(seed), seed=seed).losses
        for precision in (None, torch.bfloat16)
    )
    assert max(abs(a - b) for a, b in zip(full, half, strict=True)) < 0.05


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
    }.items():
        assert of(lab.ENOUGH, trick, "exact").to_numpy() == pytest.approx(plain.to_numpy(), abs=most)


def test_the_fused_gradient_is_the_same_up_to_rounding() -> None:
    inputs, targets = (part[:64] for part in data(0).train)
    gradients = []
    for change in (lambda model: None, fused):
        torch.manual_seed(0)
        model = Reverser()
        change(model)
        row_loss(model(inputs), targets).backward()  # type: ignore[no-untyped-call]
        gradients.append(torch.cat([parameter.grad.flatten() for parameter in model.parameters()]))  # type: ignore[union-attr]
    torch.testing.assert_close(gradients[1], gradients[0], rtol=1e-3, atol=1e-6)


def test_what_checkpoints_cost() -> None:
    share = of(lab.ENOUGH, "checkpointed", "saved") / of(lab.ENOUGH, "plain", "saved")
    assert share.between(0.15, 0.25).all()
    assert (times("checkpointed") > 1).all()


def test_nothing_to_gain_here() -> None:
    plain = of(lab.ENOUGH, "plain", "tokens")
    for trick in table(lab.ENOUGH).index.unique(level="trick"):
        assert (of(lab.ENOUGH, trick, "tokens") - plain).abs().max() < 0.01


def test_not_with_every_seed() -> None:
    assert 0.995 < of(lab.ENOUGH, "plain", "tokens").min() < 0.9987
    assert 0.965 < of(lab.ENOUGH, "plain", "exact").min() < 0.98
