"""What lesson 8 says under "What you should see", measured again on two seeds."""

from functools import cache
from typing import Any

import pandas as pd
import pytest
import torch
from torch import nn

from tests.nightly import both_seeds, both_seeds_later
from transformer_course.attention import MultiHeadAttention, padding_mask
from transformer_course.blocks import EncoderBlock
from transformer_course.causal import causal_mask
from transformer_course.lessons.lesson_08 import experiments as lab
from transformer_course.lessons.tables import measured
from transformer_course.paper.batches import Batches
from transformer_course.paper.checkpoints import load_checkpoint
from transformer_course.paper.fitting import Parts
from transformer_course.paper.layers import DecoderLayer, EncoderLayer
from transformer_course.paper.masks import masks_are_sound
from transformer_course.paper.model import Decoder, Encoder, count_parameters
from transformer_course.paper.recipes import GPU
from transformer_course.paper.schedule import noam_learning_rate
from transformer_course.paper.smoothing import LabelSmoothingLoss
from transformer_course.positions import SinusoidalPositionalEncoding
from transformer_course.tasks.fairy_tales import THINGS, fairy_tales
from transformer_course.tasks.spelling import spelling_task
from transformer_course.tasks.ten_pairs import ten_pairs

PAPER_SIZES = {"d_model": 512, "num_layers": 6, "num_heads": 8, "d_ff": 2048, "dropout": 0.1}


DISTANCES = [1, 2, 5, 10, 20]


@cache
def influence(seed: int) -> pd.DataFrame:
    return lab.influence_by_distance(DISTANCES, length=21, seed=seed)


@both_seeds
def test_the_gru_forgets(seed: int) -> None:
    by_distance = influence(seed)["recurrent (GRU)"]
    assert by_distance.iloc[-1] < 0.001
    assert by_distance.is_monotonic_decreasing


@both_seeds
def test_attention_ignores_distance(seed: int) -> None:
    by_distance = influence(seed)["self-attention"]
    assert by_distance.between(0.4, 0.7).all()
    near, far = by_distance.iloc[:2].mean(), by_distance.iloc[-2:].mean()
    assert 0.8 < far / near < 1.25
    # The control: in a longer row each token counts for less, and a far one for no less than a near one.
    longer = lab.influence_by_distance([1, 2, 40, 80], length=81, seed=seed)["self-attention"]
    assert longer.mean() < 0.8 * by_distance.mean()
    assert 0.7 < longer.iloc[2:].mean() / longer.iloc[:2].mean() < 1.4


def test_attention_is_cheap_on_paper() -> None:
    attention, recurrent, *_ = lab.complexity_table(n=50, d=512)["as the paper counts"] / 1e6
    assert (round(attention, 1), round(recurrent, 1)) == (1.3, 13.1)
    assert attention < 0.1 * recurrent


def test_all_products_counted() -> None:
    attention, plain, gru, _ = lab.complexity_table(n=50, d=512)["all multiplications"] / 1e6
    assert [round(millions, 1) for millions in (attention, plain, gru)] == [55.0, 26.2, 78.6]
    assert (round(attention / plain, 1), round(attention / gru, 1)) == (2.1, 0.7)
    # The control: what the layers themselves multiply. Each entry of a weight is used once for each token.
    weights = [
        sum(one.numel() for name, one in layer.named_parameters() if "bias" not in name)
        for layer in (MultiHeadAttention(512, 8), nn.RNN(512, 512), nn.GRU(512, 512))
    ]
    assert [50 * count for count in weights] == [4 * 50 * 512**2, 2 * 50 * 512**2, 6 * 50 * 512**2]
    assert 2 * 1024**2 * 512 == 4 * 1024 * 512**2  # at n = 2 d the two parts are equal


@both_seeds
def test_post_norm_keeps_the_size(seed: int) -> None:
    sizes = lab.sizes_on_the_way(lambda: EncoderLayer(64, 4, 256, 0.1), seed=seed)
    assert all(abs(size - 1) < 0.005 for size in sizes[1:])


@both_seeds
def test_pre_norm_grows(seed: int) -> None:
    sizes = lab.sizes_on_the_way(lambda: EncoderBlock(64, 4, 256), seed=seed)
    assert sizes == sorted(sizes)
    assert len(set(sizes)) == 7


def movements(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """How far each of five outputs moves when one token of the target is replaced, and when one of the source is."""
    torch.manual_seed(seed)
    layer = DecoderLayer(16, 2, 32, 0.1).eval()
    read, written = torch.randn(1, 6, 16), torch.randn(1, 5, 16)
    by_target = lab.movements(lambda changed: layer(changed, read, causal_mask(5)), written)
    by_source = lab.movements(lambda changed: layer(written, changed, causal_mask(5)), read)
    return by_target, by_source


@both_seeds
def test_a_decoder_layer_sees_no_future(seed: int) -> None:
    moved, _ = movements(seed)
    assert moved.triu(1).eq(0).all()
    assert moved.diagonal().gt(0).all()


@both_seeds
def test_a_decoder_layer_reads_the_source(seed: int) -> None:
    _, moved = movements(seed)
    assert moved.gt(0).all()


@both_seeds
def test_the_factor_makes_words_heard(seed: int) -> None:
    torch.manual_seed(seed)
    embeddings = Encoder(1000, 512, 1, 8, 64, 0.1, 64).embedding.weight
    unscaled = embeddings.square().mean().sqrt().item()
    sinusoids = SinusoidalPositionalEncoding(512, 64)(torch.zeros(1, 64, 512)).square().mean().sqrt().item()
    assert round(sinusoids / unscaled) == 16
    assert unscaled * 512**0.5 > sinusoids


def test_the_decoder_is_larger() -> None:
    sizes = [
        (count_parameters(kind(vocab_size=3, max_length=64, **PAPER_SIZES)) - 3 * 512) / 1e6
        for kind in (Encoder, Decoder)
    ]
    assert [round(millions, 1) for millions in sizes] == [18.9, 25.2]


def test_base_model_parameters() -> None:
    counts = [count_parameters(lab.base_model(share_embeddings=share)) for share in (True, False)]
    assert counts == [63_119_496, 101_007_496]


@cache
def ten(seed: int) -> lab.Learnt:
    return lab.overfit_ten_pairs(seed=seed)


@both_seeds
def test_ten_pairs_by_heart(seed: int) -> None:
    assert ten(seed).exact == 1.0
    # The control: with masks that show the future the loss falls too, and nothing can be written.
    cheating = lab.Pieces(create_masks=lambda source, target: (padding_mask(source), padding_mask(target)))
    assert lab.overfit_ten_pairs(cheating.build, seed=seed).exact < 1.0


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
    targets = []
    for loss in (LabelSmoothingLoss(6, 0.3, 0), nn.CrossEntropyLoss(label_smoothing=0.3, ignore_index=0)):
        logits = torch.zeros(1, 6, requires_grad=True)
        loss(logits, torch.tensor([3])).backward()
        assert logits.grad is not None
        targets.append((torch.softmax(logits.detach(), dim=-1) - logits.grad)[0])
    ours, pytorchs = targets
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
    assert max(noam_learning_rate(step, 512, 1000) for step in range(1, 10_000)) == pytest.approx(2 * max(rates))
    assert round(noam_learning_rate(1, 512, 1) / max(rates)) == 63


@both_seeds
def test_resumed_bit_for_bit(seed: int) -> None:
    straight = lab.twenty_losses(seed=seed)
    assert lab.twenty_losses(stopped_after=10, seed=seed) == straight
    assert len(straight) == 20


@both_seeds
def test_without_the_random_state_they_diverge(seed: int) -> None:
    def forgetful(*run: Any) -> int:
        step = load_checkpoint(*run)
        torch.manual_seed(seed + 1)
        return step

    straight = lab.twenty_losses(seed=seed)
    resumed = lab.twenty_losses(parts=Parts(load=forgetful), stopped_after=10, seed=seed)
    assert straight[:10] == resumed[:10]
    assert all(one != other for one, other in zip(straight[10:], resumed[10:], strict=True))


@cache
def backwards(seed: int) -> lab.Learnt:
    return lab.reverse_letters(watch_every=1000, seed=seed)


@both_seeds_later
def test_reversal_by_the_average(seed: int) -> None:
    assert lab.REVERSAL.warmup_steps < lab.REVERSAL.steps / 2  # the rate has turned
    assert backwards(seed).curve["rows"].iloc[-1] > 0.99


@both_seeds_later
def test_the_mean_is_no_worse(seed: int) -> None:
    assert backwards(seed).curve["rows"].iloc[-1] >= backwards(seed).before_averaging["rows"]


@both_seeds_later
def test_the_map_is_a_mirror(seed: int) -> None:
    rows = list(backwards(seed).written["source"][:100])
    mirrored = {"the same way round": 0, "backwards": 0}
    for row in rows:
        heads, _ = lab.letters_mirrored(backwards(seed).model, row)
        looked_at = torch.stack(list(heads.values())).mean(dim=0)[: len(row)].argmax(dim=-1)
        mirrored["backwards"] += int((looked_at == torch.arange(len(row)).flip(0)).sum())
        mirrored["the same way round"] += int((looked_at == torch.arange(len(row))).sum())
    letters = sum(map(len, rows))
    assert mirrored["backwards"] > 0.95 * letters
    assert mirrored["the same way round"] < 0.3 * letters  # the middle letter, and rows of one


@both_seeds_later
def test_one_vector_is_the_bottleneck(seed: int) -> None:
    plain, attending = (
        lab.reverse_letters(kind, watch_every=1000, seed=seed).curve["rows"].iloc[-1]
        for kind in (lab.GruTranslator, lab.GruWithAttention)
    )
    assert 0.8 < plain < 0.95
    assert attending > 0.98
    assert backwards(seed).curve["rows"].iloc[-1] > plain


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
    table, (word_by_word,) = multi30k(), multi30k()["chrF of 200, word by word"]
    assert all(round(loss, 1) == 2.2 for loss in table["validation loss, 1200 steps"])
    assert table["BLEU of 200, 1200 steps"] == [22.5, 21.6]
    assert table["chrF of 200, 1200 steps"] == [47.9, 47.5]
    assert all(0 < word_by_word - chrf < 3 for chrf in table["chrF of 200, 1200 steps"])
    begun, whole = (sum(table[f"BLEU of 200, {steps} steps"]) for steps in (300, 1200))
    assert whole > 1.8 * begun


@both_seeds_later
@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here, and without one it takes hours")
def test_the_preset_for_a_gpu(seed: int) -> None:
    corpus = lab.corpus()
    model, _, curve = lab.train_translator(corpus, recipe=GPU, watch_every=500, seed=seed)
    assert 1.3 < curve["validation loss"].iloc[-1] < 1.45
    some = corpus.test[:200]
    table, _ = lab.score_table({"GPU": lab.translate(model, [one for one, _ in some], corpus.subwords)}, some)
    assert 31.5 < table["BLEU"][0] < 35.5
    assert 56.5 < table["chrF"][0] < 59.5


@both_seeds
def test_most_tales_are_flawless(seed: int) -> None:
    pairs = fairy_tales(100, seed=seed, test=True)
    model, subwords = lab.teller()
    told = lab.translate(model, [english for english, _ in pairs], subwords)
    scores = lab.tale_scores(told, pairs).set_index("translated by")
    assert scores["without a mistake"]["your model"] >= 0.97
    assert scores["without a mistake"]["word by word"] < 0.05
    assert scores["BLEU"]["your model"] > 99
    assert scores["BLEU"]["word by word"] < 20
    assert scores["chrF"]["your model"] > 99


def test_it_agrees_with_its_noun() -> None:
    model, subwords = lab.teller()
    english = [f"The witch found the {thing.english} and lost it." for thing in THINGS]
    translations = lab.translate(model, english, subwords)
    wanted = [{"m": "ihn", "f": "sie", "n": "es"}[thing.gender] for thing in THINGS]
    assert sum(f" und {it} verloren." in one for one, it in zip(translations, wanted, strict=True)) == len(THINGS) == 22
    assert max(wanted.count(it) for it in set(wanted)) <= 11  # one word for every "it" would be right that often


def test_it_follows_the_english_noun() -> None:
    model, subwords = lab.teller()
    table = lab.torn(model, subwords)
    assert list(table["follows"]) == ["the English noun"] * 310
    # The control: it doesn't write one and the same word, whatever it reads.
    assert set(table["writes"]) == {"ihn", "sie", "es"}


def test_a_head_finds_the_noun() -> None:
    model, subwords = lab.teller()
    weights, others = [], []
    for thing in THINGS:
        sentence = f"The witch found a {thing.english} and lost it."
        heads, pieces = lab.english_looks(model, sentence, subwords)
        of_noun = [place for place, piece in enumerate(pieces) if piece.strip() and piece.strip() in thing.english]
        of_noun = [place for place in of_noun if 4 <= place < len(pieces) - 3]
        weights.append(torch.stack([maps[-1, of_noun].sum() for maps in heads.values()]))
        rest = [place for place in range(len(pieces) - 1) if place != 3 and place not in of_noun]  # 3 is the article
        others.append(torch.stack([maps[rest][:, of_noun].sum(dim=-1).max() for maps in heads.values()]))
    best, head = torch.stack(weights).min(dim=0).values.max(dim=0)  # one head for all, the thing that it finds least
    assert best > 0.9
    # The control: in that head no other word looks at the noun, but for its article and the noun itself.
    assert torch.stack(others)[:, head].max() < 0.2
    assert torch.stack(weights).mean(dim=0).min() < 0.5  # not every head does
