"""The model of lesson 15, its edits and its rows, without any training."""

import torch

from transformer_course.circuits.copying import LENGTH, SYMBOLS, as_tokens, new_model, repeated_rows
from transformer_course.circuits.intervening import patch_heads, without_heads
from transformer_course.circuits.reading import head_writes
from transformer_course.lessons.lesson_15 import experiments as lab

MODEL = new_model(2, seed=3).eval()
TOKENS = repeated_rows(torch.Generator().manual_seed(1), 5)


def test_what_heads_write_is_what_the_stream_gains() -> None:
    trace = MODEL.trace(TOKENS)
    for layer, attention in enumerate(MODEL.attention):
        output = attention.output
        assert isinstance(output, torch.nn.Linear)
        written = head_writes(trace.heads[layer], output.weight).sum(dim=1) + output.bias
        torch.testing.assert_close(trace.stream[layer + 1] - trace.stream[layer], written)
    torch.testing.assert_close(MODEL.readout(trace.stream[-1]), trace.logits)


def test_it_cannot_see_what_comes_later() -> None:
    changed = TOKENS.clone()
    changed[:, 20:] = (changed[:, 20:] + 1) % len(SYMBOLS)
    assert torch.equal(MODEL(changed)[:, :20], MODEL(TOKENS)[:, :20])
    assert not torch.equal(MODEL(changed)[:, 20:], MODEL(TOKENS)[:, 20:])


def test_an_edit_that_puts_all_heads_in_brings_back_the_heads_of_the_other_run() -> None:
    other = repeated_rows(torch.Generator().manual_seed(2), 5)
    clean = MODEL.trace(TOKENS)
    patched = MODEL.trace(other, patch_heads(clean.heads, lab.names(MODEL)))
    for one, two in zip(clean.heads, patched.heads, strict=True):
        assert torch.equal(one, two)
    assert torch.equal(MODEL(other, without_heads([])), MODEL(other))


def test_without_any_head_only_token_and_position_are_left() -> None:
    edit = without_heads(lab.names(MODEL))
    changed = TOKENS.clone()
    changed[:, :20] = 7
    assert torch.equal(MODEL(changed, edit)[:, 20:], MODEL(TOKENS, edit)[:, 20:])


def test_rows_come_twice() -> None:
    for row in (6, 11, 16):
        tokens = repeated_rows(torch.Generator().manual_seed(row), 40, row)
        assert tokens.shape == (40, LENGTH)
        assert torch.equal(tokens[:, -row:], tokens[:, -2 * row : -row])
        assert set(tokens.flatten().tolist()) == set(range(len(SYMBOLS)))


def test_a_text_of_ones_own() -> None:
    assert len(SYMBOLS) == len(set(SYMBOLS)) == 32
    assert "".join(SYMBOLS[one] for one in as_tokens("To be, or not?")[0]) == "to be, or not?"


def test_swapped_rows_differ_in_two_places() -> None:
    rows = lab.swapped()
    assert (rows.clean != rows.corrupted).sum(dim=1).tolist() == [2] * len(rows.clean)
    for tokens, answer in ((rows.clean, rows.right), (rows.corrupted, rows.wrong)):
        places = (tokens[:, :16] == tokens[:, -1:]).int().argmax(dim=1)
        assert torch.equal(tokens[torch.arange(len(tokens)), places + 1], answer)
