"""`batched_dot` and `pick`: held against plain loops, on shapes where a swapped axis would show."""

import pytest
import torch

from course.tensors import batched_dot, pick


@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (1, 1, 1, 1), (1, 4, 2, 3), (3, 2, 2, 1)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_batched_dot_is_a_loop_of_dot_products(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    batch, n, m, d = shape
    a, b = torch.randn(batch, n, d, dtype=dtype), torch.randn(batch, m, d, dtype=dtype)
    result = batched_dot(a, b)
    assert result.shape == (batch, n, m)
    assert result.dtype == dtype
    for i in range(batch):
        for j in range(n):
            for k in range(m):
                torch.testing.assert_close(result[i, j, k], (a[i, j] * b[i, k]).sum())


def test_batched_dot_does_not_mix_the_batch() -> None:
    a, b = torch.randn(3, 2, 4), torch.randn(3, 5, 4)
    changed = b.clone()
    changed[1] += 1.0
    moved = (batched_dot(a, b) - batched_dot(a, changed)).abs().amax(dim=(1, 2))
    assert moved[0] == moved[2] == 0
    assert moved[1] > 0


def test_batched_dot_takes_non_contiguous_inputs_and_refuses_rows_of_another_length() -> None:
    a, b = torch.randn(2, 4, 3).transpose(1, 2), torch.randn(2, 4, 5).transpose(1, 2)
    torch.testing.assert_close(batched_dot(a, b), a @ b.transpose(1, 2))
    with pytest.raises(RuntimeError):
        batched_dot(torch.randn(2, 3, 4), torch.randn(2, 3, 5))


@pytest.mark.parametrize(("n", "k"), [(4, 3), (3, 4), (1, 5), (5, 1), (3, 3)])
def test_pick_takes_one_entry_a_row(n: int, k: int) -> None:
    values, index = torch.randn(n, k, dtype=torch.float64), torch.randint(k, (n,))
    picked = pick(values, index)
    assert picked.shape == (n,)
    assert picked.dtype == values.dtype
    assert picked.tolist() == [values[i, index[i]].item() for i in range(n)]


def test_pick_lets_gradients_through_to_what_it_picked() -> None:
    values = torch.zeros(2, 3, requires_grad=True)
    pick(values, torch.tensor([2, 0])).sum().backward()
    assert values.grad is not None
    assert values.grad.tolist() == [[0, 0, 1], [1, 0, 0]]


def test_pick_refuses_an_index_beyond_its_row() -> None:
    with pytest.raises((RuntimeError, IndexError)):
        pick(torch.zeros(2, 3), torch.tensor([0, 3]))


def test_arguments_stay_as_they_were() -> None:
    values, index = torch.randn(3, 4), torch.tensor([1, 0, 3])
    before = values.clone(), index.clone()
    pick(values, index)
    batched_dot(values.unsqueeze(0), values.unsqueeze(0))
    assert torch.equal(values, before[0])
    assert torch.equal(index, before[1])
