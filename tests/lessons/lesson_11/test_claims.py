"""What lesson 11 says under "What you should see", measured again on two seeds; of the plays, from the long tables."""

import math
from functools import cache

import pandas as pd
import pytest
import torch

from course.language_model.adapting import LoRALinear
from course.language_model.gpt import DecoderOnlyTransformer
from course.language_model.modern import ModernLanguageModel
from lessons.lesson_11 import experiments as lab
from lessons.tables import measured
from tests.nightly import both_seeds, both_seeds_later


@cache
def names(seed: int) -> lab.Corpus:
    return lab.names(seed)


@both_seeds
def test_guessing_costs_the_logarithm(seed: int) -> None:
    torch.manual_seed(seed)
    model = lab.new_gpt(names(seed), lab.NAMES)
    assert names(seed).vocab_size == 28
    assert lab.losses_of(model, names(seed).held_out, 16).mean().item() == pytest.approx(math.log(28), abs=0.1)


@cache
def inventor(seed: int) -> lab.Run:
    """The run of the lesson; a text of its own for the second seed."""
    return lab.read(lab.new_gpt, names(seed), lab.NAMES, seed=seed)


@both_seeds_later
def test_most_names_are_new(seed: int) -> None:
    lots = lab.invented(inventor(seed).model, names(seed), count=200, seed=1)
    found = lab.judged(lots)
    assert 13 <= 200 * found["in the list"] <= 20
    assert 0.885 < found["new, and shaped like a name"] < 0.93


@both_seeds_later
def test_names_get_better(seed: int) -> None:
    corpus = names(seed)
    counts = torch.bincount(corpus.train, minlength=28).double()
    by_frequency = -(counts / counts.sum())[corpus.held_out[1:]].log2().mean().item()
    held_out = lab.bits(inventor(seed).model, corpus, 16)
    assert 3.05 < held_out < 3.15
    assert held_out < by_frequency - 1


@both_seeds_later
def test_hardly_any_by_heart(seed: int) -> None:
    corpus = names(seed)
    read = lab.bits(inventor(seed).model, corpus, 16, ids=corpus.train[:8000])
    gap = lab.bits(inventor(seed).model, corpus, 16) - read
    assert 0.035 < gap < 0.065


@cache
def plays() -> pd.DataFrame:
    """Of each quantity, the values on two seeds."""
    return measured("11_plays").pivot_table(index="seed", columns="what", values="value")


def test_byte_pairs_get_further() -> None:
    found = plays()
    assert found["bits, byte pairs"].between(3.0, 3.1).all()
    assert found["bits, characters"].between(3.35, 3.5).all()
    assert (found["seconds, byte pairs"] < 1.1 * found["seconds, characters"]).all()


def test_it_does_not_quote() -> None:
    found = plays()
    assert found["longest copy, model"].between(12, 13).all()
    assert (found["longest copy, held out, median"].round() >= 20).all()
    assert (found["longest copy, held out, most"] == 31).all()


def test_new_parts_get_further() -> None:
    found = plays()
    assert found["bits, byte pairs, new parts"].between(2.59, 2.69).all()
    assert found["bits, byte pairs"].between(3.0, 3.1).all()


def largest(comparison: pd.DataFrame | None) -> float:
    if comparison is None:
        pytest.skip("transformers is not installed")
    return float(comparison["largest difference of all logits"].iloc[-1])


@both_seeds_later  # `make test` asks the same of the library in tests/course/test_language_model.py
def test_same_as_gpt2(seed: int) -> None:
    assert largest(lab.held_against_gpt2(DecoderOnlyTransformer, seed)) < 1e-4


@both_seeds_later
def test_same_as_llama(seed: int) -> None:
    assert largest(lab.held_against_llama(ModernLanguageModel, seed)) < 1e-4


def test_the_formula_holds() -> None:
    costs = lab.cache_costs(ModernLanguageModel, length=40)
    assert (costs["bytes, measured"] == costs["bytes, by the formula"]).all()
    assert costs["same tokens"].all()


def test_the_first_words_help() -> None:
    found = plays()
    assert (found["bits per token after 1"] - found["bits per token after 2"]).between(0.3, 0.6).all()
    assert (found["bits per token after 2"] - found["bits per token after 4"]).between(0.05, 0.25).all()


def test_the_rest_does_not() -> None:
    found = plays()
    assert (found["bits per token after 4"] - found["bits per token after 16"] < 0).all()


def test_a_few_kilobytes_help() -> None:
    found = plays()
    assert found["Moby-Dick, before"].between(3.05, 3.15).all()
    assert (found["Moby-Dick, LoRA"] < 2.8).all()
    assert found["kilobytes, LoRA"].between(36.5, 37.5).all()
    assert found["kilobytes, model"].between(645, 647).all()


@both_seeds
def test_merging_changes_nothing(seed: int) -> None:
    torch.manual_seed(seed)
    model = lab.with_lora(ModernLanguageModel(50, 32, 4, 2, 80, 2), 4, 8.0, LoRALinear)
    for name, parameter in model.named_parameters():
        if name.endswith("up"):
            torch.nn.init.normal_(parameter, std=0.1)
    tokens = torch.randint(50, (3, 12))
    with torch.no_grad():
        corrected = model(tokens)
        assert (lab.merged(model)(tokens) - corrected).abs().max() < 1e-4


def test_plays_suffer() -> None:
    found = plays()
    assert found["Shakespeare, LoRA"].between(2.81, 2.91).all()
    assert (found["Shakespeare, LoRA"] > found["bits, byte pairs, new parts"] + 0.15).all()


def test_all_weights_get_further() -> None:
    assert plays()["Moby-Dick, all weights"].between(2.55, 2.65).all()


@cache
def sizes() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The small models, those with a width of 32 at all numbers of steps, and the one that the line predicts."""
    found = measured("11_sizes")
    small = found[(found["steps"] == lab.STEPS) & (found["width"] != lab.NEXT)]
    return small, found[found["width"] == 32], found[found["width"] == lab.NEXT]


def test_a_straight_line() -> None:
    small, _, _ = sizes()
    assert 1 - 2 ** lab.line(small)[0] == pytest.approx(0.042, abs=0.002)
    promised = [lab.predicted(small, size) for size in small["parameters"]]
    assert ((small["bits"] / promised - 1).abs() <= 0.0154).all()


def test_steps_too() -> None:
    assert 1 - 2 ** lab.line(sizes()[1], "steps")[0] == pytest.approx(0.1, abs=0.005)


def test_the_line_bends() -> None:
    small, _, larger = sizes()
    promised = lab.predicted(small, larger["parameters"].iloc[0])
    assert round(promised, 2) == 2.49
    assert sorted(larger["bits"].round(2)) == [2.56, 2.58]
    assert (larger["bits"] / promised - 1).between(0.025, 0.04).all()


@cache
def parts(equal: str, column: str = "bits") -> pd.DataFrame:
    """Bits per character after as many steps, or as much time: a row a seed, a column for each choice of parts."""
    some = measured("11_parts")
    return some[some["equal"] == equal].pivot_table(index="seed", columns="parts", values=column)


def saved(name: str, equal: str = "steps", than: str = "GPT, all old") -> list[float]:
    """How many bits fewer than the GPT needs, by seed."""
    found = parts(equal)
    return [round(value, 2) for value in found[than] - found[name]]


def test_rotary_buys_most() -> None:
    assert saved("rotary") == [0.18, 0.24]
    assert all(parts("steps")[["RMSNorm", "SwiGLU", "rotary"]].idxmin(axis=1) == "rotary")


def test_the_gate_buys_a_little() -> None:
    assert saved("SwiGLU") == [0.09, 0.0]


def test_the_norm_saves_time() -> None:
    assert all(abs(bits) < 0.02 for bits in saved("RMSNorm"))
    assert saved("RMSNorm", "time") == [0.07, 0.03]
    cost = parts("steps", "milliseconds")
    assert (cost["RMSNorm"] / cost["GPT, all old"]).between(0.84, 0.9).all()


def test_sharing_costs_little() -> None:
    assert saved("rotary, keys shared", than="rotary") == [0.03, -0.05]


def test_all_together() -> None:
    assert saved("Llama, all new") == [0.27, 0.22]
