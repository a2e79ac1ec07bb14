"""What lesson 14 builds: sums in every writing, an adder that is told where it is, and entries to the capstone."""

import importlib.util
import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

from tests.nightly import drawn
from transformer_course.causal import future_leak
from transformer_course.length_generalization.adder import Adder, Positions
from transformer_course.length_generalization.entries import write_entry
from transformer_course.length_generalization.examining import right_by_length, share_right, write_answers
from transformer_course.length_generalization.letters import HINTS
from transformer_course.length_generalization.places import index_hints
from transformer_course.length_generalization.writing import FIRST_HINT, MOST_DIGITS, SUMS, SumWriting
from transformer_course.seq2seq import encoder_influence
from transformer_course.seq2seq_fitting import fit
from transformer_course.sequences import shift_right
from transformer_course.tasks import addition

FLAGS = (False, True)
WRITINGS = [SumWriting(*flags, width=width) for flags in product(FLAGS, repeat=3) for width in (None, "padded")]
KINDS: list[tuple[Positions, bool, int | None]] = [
    ("none", False, 3),
    ("index", False, None),
    ("index", True, None),
    ("place", True, None),
    ("rotary", False, 3),
    ("place and rotary", True, 3),
]


def small(writing: SumWriting, kind: tuple[Positions, bool, int | None]) -> Adder:
    torch.manual_seed(0)
    positions, offsets, window = kind
    model = Adder(writing, positions=positions, offsets=offsets, window=window, d_model=16, num_heads=2, num_layers=2)
    return model.eval()


def test_letters_of_places_are_all_different_letters() -> None:
    assert len(set(HINTS)) == len(HINTS) >= 101
    assert HINTS.startswith("abcdefghijklmnopqrstuvwxyzABC")
    assert all(letter.isalpha() for letter in HINTS)
    assert SUMS.encode("0123456789+") == addition.ALPHABET.encode("0123456789+")
    assert index_hints("1" * MOST_DIGITS)[0] == HINTS[MOST_DIGITS - 1]


@pytest.mark.parametrize("writing", WRITINGS, ids=str)
def test_what_is_written_can_be_read_back(writing: SumWriting) -> None:
    generator = random.Random(0)
    for digits in (1, 2, 5, 30, 100):
        pair = (generator.randrange(10**digits), generator.randrange(10 ** generator.randint(1, digits)))
        source, target = writing.tensors([pair, pair[::-1]])
        assert writing.number(target[0]) == writing.number(target[1]) == sum(pair)
        assert int(max(source.max(), target.max())) < writing.alphabet.size
        first, second = writing.alphabet.text(source[0]).rstrip("_").split("+")
        read = ["".join(one for one in number if one not in HINTS) for number in (first, second)]
        assert tuple(int(one[::-1] if writing.operands_least_first else one) for one in read) == pair
        if writing.width:
            assert len(read[0]) == len(read[1])


def test_letters_stand_before_their_digits_either_way_round() -> None:
    for flags in product(FLAGS, repeat=2):
        for text in SumWriting(*flags, index_hints=True).texts((9876, 54321)):
            pairs = [text[i : i + 2] for i in range(0, len(text), 2) if "+" not in text]
            assert all(letter in HINTS and digit.isdigit() for letter, digit in pairs)


def test_other_positions_are_refused() -> None:
    with pytest.raises(ValueError, match="positions is one of"):
        Adder(SumWriting(), positions="places")  # type: ignore[arg-type]


@drawn(24)
@pytest.mark.parametrize("writing", WRITINGS, ids=str)
@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_an_adder_reads_the_source_and_not_the_future(writing: SumWriting, kind: Any) -> None:
    model = small(writing, kind)
    source, target = writing.tensors([(12, 345), (9, 10)])
    shown = shift_right(target, writing.alphabet.start_id)
    assert model(source, shown).shape == (*target.shape, writing.alphabet.size)
    assert future_leak(model, source, shown) < 1e-4
    assert encoder_influence(model, source, shown) > 1e-4


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_the_last_token_alone_gets_the_same_logits(kind: Any) -> None:
    model = small(SumWriting(index_hints=True, width="padded"), kind)
    source, target = model.writing.tensors([(12, 345), (99999, 10)])
    with torch.no_grad():
        read = model.encode(source)
        last = model.decode(target, read, only_last=True)
        torch.testing.assert_close(last, model.decode(target, read)[:, -1:])


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_an_adder_does_not_know_which_id_is_which_digit(kind: Any) -> None:
    """With the digits' ids renamed, and its embedding and head in step, it says the same in the new names."""
    model = small(SumWriting(), kind)
    source, target = model.writing.tensors([(12, 345), (908, 17)])
    names = torch.arange(model.writing.alphabet.size)
    names[1:11] = torch.randperm(10, generator=torch.Generator().manual_seed(3)) + 1
    with torch.no_grad():
        logits = model(source, target)
        model.embedding.weight[names] = model.embedding.weight.clone()
        model.head.weight[names], model.head.bias[names] = model.head.weight.clone(), model.head.bias.clone()
        torch.testing.assert_close(model(names[source], names[target])[..., names], logits)


def test_letters_move_in_training_and_come_back() -> None:
    """Where the vectors of all letters are alike, a shift of the letters changes nothing."""
    model = small(SumWriting(index_hints=True), ("rotary", True, 3))
    letters = slice(FIRST_HINT, FIRST_HINT + len(HINTS))
    with torch.no_grad():
        model.embedding.weight[letters] = model.embedding.weight[FIRST_HINT].clone()
        model.head.weight[letters] = torch.linspace(0, 1, len(HINTS)).unsqueeze(1)
        source, target = model.writing.tensors([(12, 345), (908, 17)])
        still = model(source, target)
        moved = model.train()(source, target)
        torch.testing.assert_close(moved[..., :FIRST_HINT], still[..., :FIRST_HINT])
        assert not torch.allclose(moved[..., letters], still[..., letters])
        read = model.encode(source)
        assert (read.shift >= 0).all()
        assert (read.shift + read.places.max() + 1 <= len(HINTS)).all()
        columns = torch.arange(len(HINTS)) + read.shift  # (batch, letters): where each letter is looked up
        states = model.decode(target, read)[..., letters]
        model.writing = SumWriting()  # nothing is moved back any more
        raw = model.decode(target, read)[..., letters]
        torch.testing.assert_close(
            states, raw.gather(-1, (columns % len(HINTS)).unsqueeze(1).expand_as(raw)), rtol=1e-4, atol=1e-4
        )


def test_offsets_reach_every_row_of_the_table() -> None:
    model = small(SumWriting(width="padded"), ("place", True, None)).train()
    source, target = model.writing.tensors(addition.draw_pairs(0, 1500, 5))
    model(source, target).sum().backward()
    used = (model.table.vectors.weight.grad.abs().sum(dim=1) > 0).nonzero().flatten()
    assert {int(used.min()), int(used.max())} <= {0, 1, len(HINTS) - 1, len(HINTS) - 2}
    assert len(used) > len(HINTS) - 4


def test_it_learns_short_sums_and_leaves_everything_as_it_was() -> None:
    model = Adder(SumWriting(operands_least_first=True, width="padded"), positions="rotary", window=3)
    pairs = addition.draw_pairs(0, 90, 1)
    source, target = model.writing.tensors(pairs)
    fit(model, source, target, start_id=model.writing.alphabet.start_id, steps=250, learning_rate=5e-3)
    assert share_right(model, pairs) > 0.9
    model.train()
    state = torch.get_rng_state()
    assert sum(total == sum(pair) for total, pair in zip(write_answers(model, pairs), pairs, strict=True)) > 80
    assert set(right_by_length(model, pairs, lengths=(5,), count=5, carries=True)) == {5}
    assert model.training
    assert torch.equal(state, torch.get_rng_state())


def entry_of(folder: Path) -> Any:
    spec = importlib.util.spec_from_file_location("entry", folder / "adder.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_an_entry_is_the_model_that_it_was_written_from(tmp_path: Path) -> None:
    writing = SumWriting(operands_least_first=True, width="padded")
    model = Adder(
        writing, positions="place and rotary", offsets=True, window=2, d_model=16, num_heads=2, d_ff=24
    ).eval()
    message = write_entry(tmp_path / "entry", model, with_weights=True, steps=2, sums=70)
    assert "weights.safetensors" in message
    entry = entry_of(tmp_path / "entry")
    again = entry.make_model()
    assert SumWriting(**entry.FORMAT) == writing
    assert again.settings == model.settings
    again.load_state_dict(safetensors.torch.load_file(tmp_path / "entry" / "weights.safetensors"))
    source, target = writing.tensors([(12, 345)])
    torch.testing.assert_close(again.eval()(source, target), model(source, target))

    def draw(count: int) -> list[tuple[list[int], list[int]]]:
        texts = [writing.texts(pair) for pair in addition.draw_pairs(0, count, 5)]
        encode, end_id = writing.alphabet.encode, writing.alphabet.end_id
        return [(encode(source), [*encode(target), end_id]) for source, target in texts]

    before = again.head.weight.detach().clone()
    entry.train(again, draw)
    assert not torch.equal(before, again.head.weight)
    assert "retrained" in write_entry(tmp_path / "entry", model)
    assert not (tmp_path / "entry" / "weights.safetensors").exists()
