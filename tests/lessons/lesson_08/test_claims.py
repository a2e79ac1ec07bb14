"""What lesson 8 says under "What you should see", measured again on two seeds."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pandas as pd
import pytest
import torch
from torch import nn

from course.attention import padding_mask
from course.blocks import EncoderBlock
from course.causal import causal_mask
from course.paper.batches import Batches
from course.paper.fitting import fit
from course.paper.layers import DecoderLayer, EncoderLayer, PositionwiseFeedForward
from course.paper.masks import masks_are_sound
from course.paper.model import Decoder, Encoder, count_parameters
from course.paper.schedule import NoamSchedule, noam_learning_rate
from course.paper.smoothing import LabelSmoothingLoss
from course.positions import SinusoidalPositionalEncoding
from course.tasks.spelling import spelling_task
from course.tasks.ten_pairs import ten_pairs
from lessons.lesson_08 import experiments as lab
from lessons.tables import measured
from tests.nightly import both_seeds, both_seeds_later

PAPER_SIZES = {"d_model": 512, "num_layers": 6, "num_heads": 8, "d_ff": 2048, "dropout": 0.1}


@cache
def influence(seed: int) -> pd.Series:
    return lab.influence_by_distance([20], seed=seed).iloc[0]


@both_seeds
def test_the_gru_forgets(seed: int) -> None:
    assert influence(seed)["recurrent (GRU)"] < 0.001


@both_seeds
def test_attention_reaches_far(seed: int) -> None:
    assert influence(seed)["self-attention"] > 0.1


def test_attention_is_cheap_for_sentences() -> None:
    attention, recurrent, _ = lab.complexity_table(n=50, d=512)["multiplications"] / 1e6
    assert (round(attention, 1), round(recurrent, 1)) == (1.3, 13.1)
    assert attention < 0.1 * recurrent


@both_seeds
def test_feed_forward_is_two_convolutions(seed: int) -> None:
    torch.manual_seed(seed)
    network, x = PositionwiseFeedForward(8, 32, 0.1).eval(), torch.randn(2, 5, 8)
    as_images = lab.as_convolutions(network)(x.transpose(1, 2)).transpose(1, 2)
    assert torch.allclose(as_images, network(x), rtol=0, atol=1e-5)


def sizes_on_the_way(seed: int, make_layer: Callable[[], nn.Module]) -> list[float]:
    torch.manual_seed(seed)
    x = torch.randn(4, 10, 64)
    sizes = [x.std().item()]
    with torch.no_grad():
        for _ in range(6):
            x = make_layer().eval()(x)
            sizes.append(x.std().item())
    return sizes


@both_seeds
def test_post_norm_keeps_the_size(seed: int) -> None:
    sizes = sizes_on_the_way(seed, lambda: EncoderLayer(64, 4, 256, 0.1))
    assert all(abs(size - 1) < 0.005 for size in sizes[1:])


@both_seeds
def test_pre_norm_grows(seed: int) -> None:
    sizes = sizes_on_the_way(seed, lambda: EncoderBlock(64, 4, 256))
    assert sizes == sorted(sizes)
    assert len(set(sizes)) == 7


@torch.no_grad()
def movements(seed: int, of_target: bool) -> torch.Tensor:
    """How far each of five outputs moves when one token of the target, or of the source, is replaced."""
    torch.manual_seed(seed)
    layer = DecoderLayer(16, 2, 32, 0.1).eval()
    read, written = torch.randn(1, 6, 16), torch.randn(1, 5, 16)
    before, columns = layer(written, read, causal_mask(5)), []
    for place in range(5 if of_target else 6):
        changed = (written if of_target else read).clone()
        changed[:, place] = torch.randn(16)
        after = layer(changed, read, causal_mask(5)) if of_target else layer(written, changed, causal_mask(5))
        columns.append((after - before).norm(dim=-1)[0])
    return torch.stack(columns, dim=1)


@both_seeds
def test_a_decoder_layer_sees_no_future(seed: int) -> None:
    moved = movements(seed, of_target=True)
    assert moved.triu(1).eq(0).all()
    assert moved.diagonal().gt(0).all()


@both_seeds
def test_a_decoder_layer_reads_the_source(seed: int) -> None:
    assert movements(seed, of_target=False).gt(0).all()


@both_seeds
def test_the_factor_makes_words_heard(seed: int) -> None:
    torch.manual_seed(seed)
    embeddings = Encoder(1000, 512, 1, 8, 64, 0.1, 64).embedding.weight
    unscaled = embeddings.square().mean().sqrt().item()
    sinusoids = SinusoidalPositionalEncoding(512, 64)(torch.zeros(1, 64, 512)).square().mean().sqrt().item()
    assert round(sinusoids / unscaled) == 16
    assert unscaled * 512**0.5 > sinusoids


def test_the_decoder_is_larger() -> None:
    found = [
        (count_parameters(kind(vocab_size=3, max_length=64, **PAPER_SIZES)) - 3 * 512) / 1e6
        for kind in (Encoder, Decoder)
    ]
    assert [round(millions, 1) for millions in found] == [18.9, 25.2]


def test_base_model_parameters() -> None:
    counts = [count_parameters(lab.base_model(share_embeddings=share)) for share in (True, False)]
    assert counts == [63_119_496, 101_007_496]


@cache
def ten(seed: int) -> lab.Learnt:
    return lab.overfit_ten_pairs(seed=seed)


@both_seeds
def test_ten_pairs_by_heart(seed: int) -> None:
    assert ten(seed).exact == 1.0


@both_seeds
def test_same_as_the_built_in(seed: int) -> None:
    english, german, examples = ten_pairs()
    model, theirs = lab.side_by_side(ten(seed).model, lab.TEN, english.size, german.size)
    assert model is ten(seed).model
    source, target = next(Batches(examples, max_tokens=200).epoch(0))
    target_input = target[:, :-1]
    with torch.no_grad():
        apart = (model(source, target_input) - theirs(source, target_input))[target_input != 0]
    assert apart.abs().max() < 1e-4


def test_only_gus_is_sound() -> None:
    def eve(source: torch.Tensor, target_input: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return padding_mask(source), padding_mask(target_input).expand(-1, 1, target_input.shape[1], -1)

    def finn(source: torch.Tensor, target_input: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        square = padding_mask(source).expand(-1, 1, source.shape[1], -1)
        return square, padding_mask(target_input) & causal_mask(target_input.shape[1])

    def gus(source: torch.Tensor, target_input: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return padding_mask(source), causal_mask(target_input.shape[1])[None, None]

    assert [masks_are_sound(make) for make in (eve, finn, gus)] == [False, False, True]


def test_padding_gets_nothing() -> None:
    found = []
    for loss in (LabelSmoothingLoss(6, 0.3, 0), nn.CrossEntropyLoss(label_smoothing=0.3, ignore_index=0)):
        logits = torch.zeros(1, 6, requires_grad=True)
        loss(logits, torch.tensor([3])).backward()
        assert logits.grad is not None
        found.append((torch.softmax(logits.detach(), dim=-1) - logits.grad)[0])
    ours, pytorchs = found
    assert ours[[0, 3]].tolist() == pytest.approx([0.0, 0.7], abs=1e-6)
    assert pytorchs[[0, 3]].tolist() == pytest.approx([0.05, 0.75], abs=1e-6)


@both_seeds
def test_without_smoothing_they_agree(seed: int) -> None:
    torch.manual_seed(seed)
    logits, targets = torch.randn(4, 7, 6), torch.randint(0, 6, (4, 7))
    pytorchs = nn.CrossEntropyLoss(ignore_index=0)(logits.flatten(0, 1), targets.flatten())
    assert abs(LabelSmoothingLoss(6, 0.0, 0)(logits, targets) - pytorchs) < 1e-5


def test_peak_of_the_schedule() -> None:
    rates = [noam_learning_rate(step, 512, 4000) for step in range(1, 10_000)]
    assert rates.index(max(rates)) + 1 == 4000
    assert round(max(rates), 4) == 0.0007


def test_lambda_lr_agrees() -> None:
    weights = [torch.zeros(1, requires_grad=True)]
    by_hand, by_library = torch.optim.SGD(weights, lr=1.0), torch.optim.SGD(weights, lr=1.0)
    schedule = NoamSchedule(by_hand, d_model=512, warmup_steps=50)
    library = torch.optim.lr_scheduler.LambdaLR(by_library, lambda taken: noam_learning_rate(taken + 1, 512, 50))
    for _ in range(200):
        schedule.step()
        assert abs(by_hand.param_groups[0]["lr"] - by_library.param_groups[0]["lr"]) < 1e-9
        by_library.step()
        library.step()


@both_seeds
def test_resumed_bit_for_bit(seed: int, tmp_path: Path) -> None:
    english, german, examples = ten_pairs()
    recipe, path = replace(lab.TEN, dropout=0.1), tmp_path / "checkpoint.pt"

    def losses(steps: int, checkpoint: Path | None = None) -> list[float]:
        model = recipe.build(english.size, german.size, seed=seed)
        batches = Batches(examples, max_tokens=40, seed=seed)
        return fit(model, batches, recipe, vocab_size=german.size, steps=steps, checkpoint=checkpoint, seed=seed).losses

    straight = losses(20)
    losses(10, path)
    assert losses(20, path) == straight
    assert len(straight) == 20


@cache
def backwards(seed: int) -> lab.Learnt:
    return lab.reverse_letters(steps=1000, watch_every=1000, seed=seed)


@both_seeds_later
def test_reversal_clears_the_bar(seed: int) -> None:
    assert backwards(seed).curve["tokens"].iloc[-1] > 0.9987


@both_seeds_later
def test_the_mean_is_no_worse(seed: int) -> None:
    assert backwards(seed).curve["rows"].iloc[-1] >= backwards(seed).before_averaging["rows"]


@both_seeds_later
def test_the_gru_is_behind(seed: int) -> None:
    recurrent = lab.reverse_letters(lab.GruTranslator, steps=1000, watch_every=1000, seed=seed)
    assert recurrent.curve["rows"].iloc[-1] < backwards(seed).curve["rows"].iloc[-1]


@cache
def lookups(seed: int) -> pd.DataFrame:
    words = spelling_task(seed)
    return lab.spelling_scores(lab.baselines(words), words)


@both_seeds
def test_letters_alone(seed: int) -> None:
    words, sounds = lookups(seed).iloc[0][["words", "sounds"]]
    assert 0.03 < words < 0.06
    assert 0.52 < sounds < 0.57


@both_seeds
def test_letters_and_neighbours(seed: int) -> None:
    words, sounds = lookups(seed).iloc[1][["words", "sounds"]]
    assert 0.13 < words < 0.18
    assert 0.68 < sounds < 0.73


@cache
def spelling() -> pd.DataFrame:
    """What the speller scored, a row for each seed; training it takes a minute."""
    return measured("08_spelling").set_index("said by").loc["the model"]


def test_the_speller_says_unseen_words() -> None:
    assert list((100 * spelling()["words"]).round()) == [39, 40]
    assert list((100 * spelling()["sounds"]).round()) == [81, 82]


def test_twice_the_look_up() -> None:
    look_up = measured("08_spelling").set_index("said by").loc["with both neighbours"]
    assert (spelling()["words"].to_numpy() > 2 * look_up["words"].to_numpy()).all()


def test_relatives_help() -> None:
    assert list((100 * spelling()["words without"]).round()) == [36, 37]
    assert list((100 * spelling()["words with a relative"]).round()) == [45, 45]


@cache
def multi30k() -> pd.Series:
    """What was measured on Multi30k, which isn't part of the course: {what: values by seed}."""
    return measured("08_multi30k").groupby("what")["value"].apply(list)


def test_buckets_save_half() -> None:
    assert round(100 * multi30k()["padding, all lengths mixed"][0]) == 46
    assert round(100 * multi30k()["padding, similar lengths together"][0], 1) == 2.3


def test_copying_is_no_translation() -> None:
    assert multi30k()["BLEU, copy"] == [0.5]
    assert multi30k()["chrF, copy"] == [16.3]


def test_word_by_word_gets_somewhere() -> None:
    assert multi30k()["BLEU, word by word"] == [10.9]
    assert multi30k()["chrF, word by word"] == [50.9]


def test_translation_begins() -> None:
    assert all(3.1 < loss < 3.5 for loss in multi30k()["validation loss, 300 steps"])
    for before, after in zip(
        multi30k()["validation loss, 200 steps"], multi30k()["validation loss, 300 steps"], strict=True
    ):
        assert after < before - 0.4


def test_bleu_says_yes() -> None:
    (baseline,) = multi30k()["BLEU of 200, word by word"]
    assert all(bleu > baseline + 1 for bleu in multi30k()["BLEU of 200, 300 steps"])


def test_chrf_says_no() -> None:
    (baseline,) = multi30k()["chrF of 200, word by word"]
    assert all(chrf < baseline - 10 for chrf in multi30k()["chrF of 200, 300 steps"])


def test_the_whole_preset() -> None:
    found, (word_by_word,) = multi30k(), multi30k()["chrF of 200, word by word"]
    assert all(round(loss, 1) == 2.2 for loss in found["validation loss, 1200 steps"])
    assert found["BLEU of 200, 1200 steps"] == [22.5, 21.6]
    assert found["chrF of 200, 1200 steps"] == [47.9, 47.5]
    assert all(0 < word_by_word - chrf < 3 for chrf in found["chrF of 200, 1200 steps"])
    begun, whole = (sum(found[f"BLEU of 200, {steps} steps"]) for steps in (300, 1200))
    assert whole > 1.8 * begun
