"""What lesson 4 says under "What you should see", measured again on two seeds."""

import math
from functools import cache

import torch
from torch import nn

from tests.nightly import both_seeds, both_seeds_later
from transformer_course.attention import padding_mask
from transformer_course.lengths import exact_by_length
from transformer_course.lessons.lesson_04 import experiments as lab
from transformer_course.seq2seq import CrossAttention, Seq2SeqTransformer, encoder_influence
from transformer_course.seq2seq_fitting import fit, generate, predict
from transformer_course.sequences import exact_match, perplexity, sequence_cross_entropy, shift_right, token_accuracy
from transformer_course.tasks import addition, reversal

Tensors = tuple[torch.Tensor, torch.Tensor]
WRITING = addition.Writing()
SIZES = {"max_length": 16, "d_model": 64, "num_heads": 4, "d_ff": 128, "num_layers": 1}


class ColleaguesBlock(lab.BlockParts):
    """The lesson's broken block: its cross-attention asks the decoder."""

    def forward(
        self,
        x: torch.Tensor,
        encoder_states: torch.Tensor,
        self_mask: torch.Tensor | None = None,
        encoder_mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        row = self.norm1(x)
        x = x + self.self_attention(row, row, row, self_mask)[0]
        row = self.norm2(x)
        x = x + self.cross_attention(row, row, row)[0]
        moved: torch.Tensor = x + self.feed_forward(self.norm3(x))
        return moved


def fresh_model(vocab_size: int, seed: int, deaf: bool = False) -> nn.Module:
    if deaf:
        return lab.with_blocks(ColleaguesBlock, vocab_size, SIZES, seed)
    torch.manual_seed(seed)
    return Seq2SeqTransformer(vocab_size, **SIZES)


@cache
def sums(seed: int) -> tuple[Tensors, Tensors]:
    data = addition.addition_task(seed)
    return WRITING.tensors(data.train, 7, 5), WRITING.tensors(data.test, 7, 5)


@cache
def letters(seed: int) -> tuple[Tensors, Tensors]:
    data = reversal.reversal_task(seed)
    return reversal.tensors(data.train, 10, 11), reversal.tensors(data.test, 10, 11)


@cache
def adder(seed: int, deaf: bool = False) -> tuple[nn.Module, list[float], lab.Diary]:
    model = fresh_model(addition.VOCAB_SIZE, seed, deaf)
    train, test = sums(seed)
    measures = {"shift": shift_right, "loss_function": sequence_cross_entropy, "exact_match": exact_match}
    diary = lab.Diary(model, addition.ALPHABET, *test, **measures)
    watching = {} if deaf else {"watch": diary, "watch_every": 30}
    losses = fit(model, *train, start_id=addition.START_ID, steps=150, learning_rate=0.003, **watching)
    return model, losses, diary


@cache
def reverser(seed: int) -> nn.Module:
    model = fresh_model(reversal.VOCAB_SIZE, seed)
    fit(model, *letters(seed)[0], start_id=reversal.START_ID, steps=300, learning_rate=0.003)
    return model


def taught_sums(seed: int, deaf: bool = False) -> torch.Tensor:
    return predict(adder(seed, deaf)[0], *sums(seed)[1], start_id=addition.START_ID)


@cache
def written_sums(seed: int) -> torch.Tensor:
    source = sums(seed)[1][0]
    return generate(adder(seed)[0], source, start_id=addition.START_ID, end_id=addition.END_ID, max_length=5)


def by_length(seed: int, taught: bool) -> dict[int, float]:
    model = reverser(seed)

    def answer(source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        if taught:
            return predict(model, source, target, start_id=reversal.START_ID).argmax(-1)
        return generate(model, source, start_id=reversal.START_ID, end_id=reversal.END_ID, max_length=target.shape[1])

    return exact_by_length(answer, exact_match, exclude=reversal.reversal_task(seed).train, seed=seed)


def a_few_sums(seed: int) -> Tensors:
    source, target = sums(seed)[1]
    return source[:10], shift_right(target[:10], addition.START_ID)


@both_seeds
def test_padding_flatters(seed: int) -> None:
    assert 0.30 <= lab.share_of_padding(letters(seed)[1][1]) <= 0.335


@both_seeds
def test_padding_earns_nothing(seed: int) -> None:
    target = letters(seed)[1][1]
    assert token_accuracy(lab.sure_of(torch.zeros_like(target), reversal.VOCAB_SIZE), target) == 0


@both_seeds
def test_rows_are_stricter(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    wrong = torch.rand(20_000, 11, generator=generator) > 0.9
    assert 0.30 <= exact_match(1 + wrong.long(), torch.ones(20_000, 11, dtype=torch.long)) <= 0.33


@both_seeds
def test_order_is_not_seen(seed: int) -> None:
    torch.manual_seed(seed)
    layer, asking, asked = CrossAttention(16, 2), torch.randn(1, 3, 16), torch.randn(1, 5, 16)
    mask, order = padding_mask(torch.tensor([[3, 8, 11, 0, 0]])), torch.tensor([4, 2, 0, 3, 1])
    moved = layer(asking, asked, mask)[0] - layer(asking, asked[:, order], mask[..., order])[0]
    assert moved.abs().max() < 1e-5


@both_seeds
def test_padding_changes_nothing(seed: int) -> None:
    model = fresh_model(addition.VOCAB_SIZE, seed)
    source, target = WRITING.tensors([(27, 15), (4, 5)])
    shown = shift_right(target, addition.START_ID)
    moved = model(torch.nn.functional.pad(source, (0, 5)), shown) - model(source, shown)
    assert moved.abs().max() < 1e-5


@both_seeds
def test_careless_split(seed: int) -> None:
    for draw in range(12 * seed, 12 * seed + 12):
        drawn = addition.draw_with_repeats(draw, 4500)
        assert 85 <= addition.shared_pairs(drawn[:4000], drawn[4000:]) <= 130


@both_seeds
def test_clean_split(seed: int) -> None:
    pairs, rows = addition.addition_task(seed), reversal.reversal_task(seed)
    assert len(pairs.test) == len(rows.test) == 500
    assert addition.shared_pairs(pairs.train, pairs.test) == 0
    assert reversal.shared_rows(rows.train, rows.test) == 0


@both_seeds
def test_commonest_tokens(seed: int) -> None:
    (_, train), (_, target) = sums(seed)
    guess = lab.commonest_by_place(train, target)
    assert 0.29 <= token_accuracy(lab.sure_of(guess, addition.VOCAB_SIZE), target) <= 0.33
    assert exact_match(guess, target) < 0.02


@both_seeds
def test_no_carries(seed: int) -> None:
    for draw in range(12 * seed, 12 * seed + 12):
        assert 0.345 <= addition.baseline_exact(addition.addition_task(draw).test)["no carries"] <= 0.445


@both_seeds
def test_one_carry_is_enough(seed: int) -> None:
    for draw in range(12 * seed, 12 * seed + 12):
        shares = addition.baseline_exact(addition.addition_task(draw).test)
        assert 0.905 <= shares["carry from the neighbour only"] <= 0.955


@both_seeds
def test_it_begins_at_chance(seed: int) -> None:
    assert abs(adder(seed)[1][0] - math.log(14)) < 0.5


@both_seeds
def test_sums_are_perfect(seed: int) -> None:
    assert exact_match(taught_sums(seed).argmax(-1), sums(seed)[1][1]) > 0.99


@both_seeds
def test_hardly_hesitates(seed: int) -> None:
    assert perplexity(taught_sums(seed), sums(seed)[1][1]) < 1.05


@both_seeds_later
def test_letters_are_perfect(seed: int) -> None:
    test = letters(seed)[1]
    assert token_accuracy(predict(reverser(seed), *test, start_id=reversal.START_ID), test[1]) > 0.998


@both_seeds_later
def test_inside_the_range(seed: int) -> None:
    shares = by_length(seed, taught=True)
    assert all(shares[length] >= 0.97 for length in range(4, 11))


@both_seeds_later
def test_beyond_the_range(seed: int) -> None:
    shares = by_length(seed, taught=True)
    assert all(shares[length] < 0.05 for length in range(11, 15))


@both_seeds
def test_deaf_is_perfect(seed: int) -> None:
    assert exact_match(taught_sums(seed, deaf=True).argmax(-1), sums(seed)[1][1]) > 0.99


@both_seeds
def test_deaf_has_no_influence(seed: int) -> None:
    for model in (fresh_model(addition.VOCAB_SIZE, seed, deaf=True), adder(seed, deaf=True)[0]):
        assert encoder_influence(model, *a_few_sums(seed)) == 0


@both_seeds
def test_deaf_has_no_gradient(seed: int) -> None:
    model = fresh_model(addition.VOCAB_SIZE, seed, deaf=True)
    source, shown = a_few_sums(seed)
    sequence_cross_entropy(model(source, shown), sums(seed)[1][1][:10]).backward()
    silent = {name for name, parameter in model.named_parameters() if parameter.grad is None}
    assert silent == {
        name
        for name, _ in model.named_parameters()
        if name.startswith(("encoder.", "encoder_norm.", "source_positions."))
    }


@both_seeds_later
def test_the_cliff(seed: int) -> None:
    assert exact_match(written_sums(seed), sums(seed)[1][1]) < 0.02
    source, target = letters(seed)[1]
    start, end = reversal.START_ID, reversal.END_ID
    written = generate(reverser(seed), source, start_id=start, end_id=end, max_length=11)
    assert exact_match(written, target) < 0.02


@both_seeds
def test_the_gap_never_closes(seed: int) -> None:
    diary = adder(seed)[2]
    assert diary.taught[-1] > 0.99
    assert all(share < 0.05 for share in diary.alone)


@both_seeds
def test_the_first_token_is_wrong(seed: int) -> None:
    target = sums(seed)[1][1]
    assert lab.first_tokens_right(taught_sums(seed).argmax(-1), target) > 0.99
    assert 0.05 < lab.first_tokens_right(written_sums(seed), target) < 0.16


@both_seeds
def test_few_answers(seed: int) -> None:
    assert len({tuple(row) for row in written_sums(seed).tolist()}) < 20


@both_seeds
def test_the_encoder_is_quiet(seed: int) -> None:
    source, shown = a_few_sums(seed)
    model = adder(seed)[0]
    by_target = lab.target_influence(encoder_influence, model, source, shown)
    assert encoder_influence(model, source, shown) < by_target / 3


@both_seeds_later
def test_alone_at_no_length(seed: int) -> None:
    assert all(share < 0.05 for share in by_length(seed, taught=False).values())
