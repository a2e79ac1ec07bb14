"""What lesson 12 says under "What you should see", measured again on two seeds; of the plays, from the long tables
(the parts on three)."""

from functools import cache

import pandas as pd
import pytest
import torch

from tests.nightly import both_seeds, both_seeds_later
from transformer_course.attention import split_heads
from transformer_course.language_model.adapting import LoRALinear
from transformer_course.language_model.gpt import DecoderOnlyTransformer
from transformer_course.language_model.modern import GroupedQueryAttention, ModernLanguageModel, share_heads
from transformer_course.language_model.words import Words
from transformer_course.lessons.lesson_12 import experiments as lab
from transformer_course.lessons.lesson_12.experiments.stories import hang_together
from transformer_course.lessons.tables import measured
from transformer_course.positions import rotary_embedding


@cache
def plays() -> pd.DataFrame:
    """Of each quantity, the values on two seeds."""
    return measured("12_plays").pivot_table(index="seed", columns="what", values="value")


def test_new_parts_get_further() -> None:
    table = plays()
    assert table["bits, byte pairs, new parts"].between(2.59, 2.69).all()
    assert table["bits, byte pairs"].between(3.0, 3.1).all()


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


@cache
def teller() -> tuple[torch.nn.Module, Words]:
    return lab.story_teller()


@both_seeds_later  # `make test` asks the same in test_experiments.py
def test_same_as_published(seed: int) -> None:
    assert largest(lab.held_against_published(*teller(), lab.some_stories(1, seed)[0].text)) < 1e-4


@cache
def remembered(seed: int) -> pd.DataFrame:
    return lab.remembered(*teller(), seed=seed + 1)


@both_seeds
def test_it_remembers_the_beginning(seed: int) -> None:
    table = remembered(seed).loc[["the animal", "the thing"]]
    assert (table["how often"] > 60).all()
    assert (table["the whole beginning"] == 1).all()
    short = table["the last 32 tokens"]
    assert 0.14 < short["the animal"] < 0.22
    assert table["by chance"]["the animal"] == pytest.approx(1 / 10)
    assert short["the thing"] < 0.1
    assert table["by chance"]["the thing"] == pytest.approx(1 / 18)


@both_seeds
def test_it_forgets_the_colour(seed: int) -> None:
    colour, villain = (remembered(seed).loc[what] for what in ("the colour of the thing", "the villain"))
    assert colour["by chance"] == pytest.approx(1 / 8)
    assert 0.1 < colour["the whole beginning"] < 0.2
    assert villain["by chance"] == pytest.approx(1 / 7)
    assert 0.18 < villain["the whole beginning"] < 0.34
    assert colour["the whole beginning"] < villain["the whole beginning"]


@both_seeds_later
def test_it_copies_names(seed: int) -> None:
    new, known = (
        hang_together(lab.told(*teller(), lab.beginnings(40, seed + 1, new_names=new), seed=seed + 1))["the name"]
        for new in (True, False)
    )
    assert 0.65 < new < 0.82
    assert 0.72 < known < 0.82


@both_seeds_later
def test_heat_breaks_the_story(seed: int) -> None:
    table = lab.by_temperature(*teller(), seed=seed + 1)
    assert (table.loc["temperature 0.5", ["the animal", "the call"]] >= 0.95).all()
    assert (table.loc["temperature 1.5", ["the name", "all four"]] == 0).all()
    assert (table.loc["temperature 1.5"] <= 0.15).all()


@both_seeds
def test_close_to_what_was_drawn(seed: int) -> None:
    alone, after_four, model, drawn = lab.story_bits(*teller(), seed=seed + 1)["bits per character"]
    assert 2.2 < alone < 2.3
    assert 0.53 < after_four < 0.59
    assert 0.084 < model < 0.088
    assert drawn == pytest.approx(0.056, abs=0.0007)


@both_seeds_later
def test_it_has_no_word_for_an_umbrella(seed: int) -> None:
    shares = lab.last_named(*teller(), ["green kettle", "purple umbrella"], seed=seed + 1)
    assert shares["green kettle"] >= 0.95
    assert shares["purple umbrella"] == 0


def test_a_few_kilobytes_help() -> None:
    table = plays()
    assert table["Moby-Dick, before"].between(3.05, 3.15).all()
    assert (table["Moby-Dick, LoRA"] < 2.8).all()
    assert table["kilobytes, LoRA"].between(36.5, 37.5).all()
    assert table["kilobytes, model"].between(645, 647).all()


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
    table = plays()
    assert table["Shakespeare, LoRA"].between(2.81, 2.91).all()
    assert (table["Shakespeare, LoRA"] > table["bits, byte pairs, new parts"] + 0.15).all()


def test_all_weights_get_further() -> None:
    table = plays()
    assert table["Moby-Dick, all weights"].between(2.55, 2.65).all()
    assert (table["Shakespeare, all weights"] - table["Shakespeare, LoRA"]).between(0.015, 0.05).all()


@cache
def sizes() -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """The small models, those with a width of 32 at all numbers of steps, and the one that the line predicts."""
    table = measured("12_sizes")
    small = table[(table["steps"] == lab.STEPS) & (table["width"] != lab.NEXT)]
    return small, table[table["width"] == 32], table[table["width"] == lab.NEXT]


def test_a_straight_line() -> None:
    small, _, _ = sizes()
    assert 1 - 2 ** lab.line(small)[0] == pytest.approx(0.042, abs=0.002)
    promised = [lab.predicted(small, size) for size in small["parameters"]]
    assert ((small["bits"] / promised - 1).abs() <= 0.0154).all()


def test_steps_bend() -> None:
    bits = sizes()[1].pivot_table(index="seed", columns="steps", values="bits")
    saved = [[round(100 * (1 - bits[2 * n][seed] / bits[n][seed])) for n in (75, 150, 300)] for seed in (0, 1)]
    assert saved == [[10, 12, 6], [10, 13, 7]]


def test_tokens_for_each_weight() -> None:
    small, _, larger = sizes()
    read = lab.STEPS * 16 * 32  # windows in a batch, tokens in a window
    assert read == 307_200
    assert round(read / small["parameters"].min()) == 215
    assert round(read / larger["parameters"].iloc[0], 1) == 1.5


def test_the_line_bends() -> None:
    small, _, larger = sizes()
    promised = lab.predicted(small, larger["parameters"].iloc[0])
    assert round(promised, 2) == 2.49
    assert sorted(larger["bits"].round(2)) == [2.56, 2.58]
    assert (larger["bits"] / promised - 1).between(0.025, 0.04).all()


@both_seeds
def test_only_distances_count(seed: int) -> None:
    torch.manual_seed(seed + 1)
    same = torch.randn(1, 1, 32).expand(1, 12, 32)
    layer = GroupedQueryAttention(32, num_heads=4, num_kv_heads=2)
    with torch.no_grad():
        queries = rotary_embedding(split_heads(layer.query(same), 4), torch.arange(12))
        keys = rotary_embedding(share_heads(split_heads(layer.key(same), 2), 4), torch.arange(12))
    scores = (queries @ keys.mT / 8**0.5)[0, 0]
    diagonals = [scores.diagonal(offset) for offset in range(-11, 12)]
    assert max(float(each.max() - each.min()) for each in diagonals) < 1e-5
    assert float(torch.stack([each[0] for each in diagonals]).std()) > 0.01


@cache
def parts() -> pd.DataFrame:
    """Bits per character after the same number of steps: a row a seed, a column for each choice of parts."""
    return measured("12_parts").pivot_table(index="seed", columns="parts", values="bits")


def saved(name: str, than: str = "GPT, all old") -> list[float]:
    """How many bits fewer than the GPT needs, by seed."""
    return [round(value, 2) for value in parts()[than] - parts()[name]]


def test_rotary_buys_most() -> None:
    assert saved("rotary") == [0.15, 0.24, 0.28]
    assert saved("rotary, keys shared") == [0.20, 0.22, 0.22]
    assert all(parts()[["RMSNorm", "SwiGLU", "rotary"]].idxmin(axis=1) == "rotary")


def test_the_table_buys_nothing() -> None:
    assert all(abs(bits) <= 0.02 for bits in saved("no positions"))
    assert all(bits > 0.1 for bits in saved("rotary", than="no positions"))


def test_sharing_costs_little() -> None:
    assert saved("rotary, keys shared", than="rotary") == [0.04, -0.02, -0.05]


def test_the_gate_buys_a_little() -> None:
    assert saved("SwiGLU") == [0.07, 0.01, 0.05]


def test_the_norm_saves_no_bits() -> None:
    assert saved("RMSNorm") == [-0.01, -0.01, -0.01]


def test_time_is_a_matter_of_code() -> None:
    cost = measured("12_times").set_index("parts")["milliseconds"]
    ours, rms, theirs = cost["GPT, all old"], cost["RMSNorm"], cost["PyTorch's LayerNorm"]
    assert [round(100 * (1 - share)) for share in (rms / ours, theirs / ours, theirs / rms)] == [13, 21, 9]


def test_all_together() -> None:
    assert saved("Llama, all new") == [0.25, 0.23, 0.27]


@cache
def outputs() -> pd.DataFrame:
    """Bits per character of old and new models, by how the output matrix is made: a row a seed."""
    return measured("12_outputs").pivot_table(index="seed", columns="model", values="bits")


def fewer(name: str, than: str = "GPT, tied") -> list[float]:
    return [round(value, 2) for value in outputs()[than] - outputs()[name]]


def test_own_output_is_worth_four_parts() -> None:
    assert fewer("GPT, own output") == [0.24, 0.29]


def test_it_is_the_start() -> None:
    assert fewer("GPT, tied, starts larger") == [0.22, 0.30]
    assert fewer("GPT, own output, starts at 0.02") == [0.09, 0.10]


def test_the_start_closes_half_of_the_gap() -> None:
    closed, gap = outputs()["GPT, tied, starts larger"], outputs()["Llama, own output"]
    share = (outputs()["GPT, tied"] - closed) / (outputs()["GPT, tied"] - gap)
    assert 0.55 < share.min() <= share.max() < 0.715


def test_more_weights_do_not_do_it() -> None:
    assert all(abs(bits) <= 0.03 for bits in fewer("GPT, tied, wider"))
    size = measured("12_outputs").groupby("model")["parameters"].first()
    assert abs(size["GPT, tied, wider"] / size["GPT, own output"] - 1) < 0.001


def test_the_embedding_may_start_anywhere() -> None:
    for name, at in (("GPT, own output", "1"), ("Llama, own output", "0.02")):
        assert all(abs(bits) <= 0.03 for bits in fewer(f"{name}, embedding starts at {at}", than=name))


def test_the_same_for_llama() -> None:
    assert fewer("Llama, own output", than="Llama, tied") == [0.20, 0.11]
    assert all(bits <= 0 for bits in fewer("Llama, own output", than="Llama, tied, starts larger"))


def test_what_is_left_for_the_parts() -> None:
    own = fewer("Llama, own output", than="GPT, own output")
    tied = fewer("Llama, tied, starts larger", than="GPT, tied, starts larger")
    assert (min(own + tied), max(own + tied)) == (0.14, 0.18)
