"""What waves and rotations promise, for any sizes: one matrix shifts every position, and only distances count."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course.positions import (
    relative_attention_scores,
    rotary_embedding,
    shift_matrix,
    sinusoidal_positional_encoding,
)

widths = st.integers(1, 12).map(lambda pairs: 2 * pairs)
bases = st.floats(2.0, 1e5)
seeds = st.integers(0, 2**31 - 1)
quick = settings(max_examples=60, deadline=None, derandomize=True)


@quick
@given(offset=st.integers(-40, 40), d_model=widths, base=bases)
def test_one_matrix_shifts_every_position(offset: int, d_model: int, base: float) -> None:
    encoding = sinusoidal_positional_encoding(80, d_model, base)
    matrix = shift_matrix(offset, d_model, base)
    here = encoding[max(0, -offset) : 80 - max(0, offset)]
    there = encoding[max(0, offset) : 80 - max(0, -offset)]
    assert torch.allclose(here @ matrix.T, there, atol=1e-4)


@quick
@given(one=st.integers(-30, 30), other=st.integers(-30, 30), d_model=widths, base=bases)
def test_shifts_add_up_and_can_be_undone(one: int, other: int, d_model: int, base: float) -> None:
    both = shift_matrix(one, d_model, base) @ shift_matrix(other, d_model, base)
    assert torch.allclose(both, shift_matrix(one + other, d_model, base), atol=1e-4)
    assert torch.allclose(shift_matrix(-one, d_model, base), shift_matrix(one, d_model, base).T, atol=1e-6)


@quick
@given(length=st.integers(1, 9), d=widths, moved=st.integers(0, 200), seed=seeds)
def test_scores_know_distances_alone(length: int, d: int, moved: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    query, key = torch.randn(2, 3, length, d, generator=generator, dtype=torch.float64)
    positions = torch.randint(0, 50, (length,), generator=generator)
    here = relative_attention_scores(query, key, positions)
    assert torch.allclose(here, relative_attention_scores(query, key, positions + moved), atol=1e-6)


@quick
@given(length=st.integers(1, 9), d=widths, base=bases, seed=seeds)
def test_a_rotation_keeps_lengths_and_is_the_shift_backwards(length: int, d: int, base: float, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(length, d, generator=generator)
    positions = torch.randint(0, 50, (length,), generator=generator)
    turned = rotary_embedding(x, positions, base)
    assert torch.allclose(turned.norm(dim=-1), x.norm(dim=-1), atol=1e-4)
    for vector, place, result in zip(x, positions.tolist(), turned, strict=True):
        assert torch.allclose(shift_matrix(-place, d, base) @ vector, result, atol=1e-4)


@pytest.mark.parametrize("d_model", [2, 6])
def test_the_first_pair_turns_by_one_radian(d_model: int) -> None:
    encoding = sinusoidal_positional_encoding(5, d_model)
    assert torch.allclose(encoding[:, 0], torch.arange(5).sin())
    assert torch.allclose(encoding[:, 1], torch.arange(5).cos())
