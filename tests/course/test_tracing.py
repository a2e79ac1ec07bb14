"""The shape tracer and the attention maps: they hear every call, and leave the model as it was."""

import pytest
import torch
from torch import nn

from transformer_course.attention import SelfAttention
from transformer_course.classifier import TransformerClassifier
from transformer_course.tracing import attention_maps, trace

SIZES = {"vocab_size": 13, "max_length": 8, "d_model": 12, "num_heads": 3, "d_ff": 20, "num_layers": 2}
TOKENS = torch.randint(1, 13, (5, 7), generator=torch.Generator().manual_seed(0))


def model() -> TransformerClassifier:
    return TransformerClassifier(**SIZES, num_classes=4)


def test_every_module_has_its_row_in_the_order_of_the_calls() -> None:
    table = trace(model(), TOKENS)
    names = list(table["module"])
    assert names[0] == "model"
    assert names.index("embedding") < names.index("blocks.0") < names.index("blocks.0.norm1") < names.index("blocks.1")
    assert names[-1] == "head"
    assert len(set(names)) == len(names)


def test_shapes_and_parameters_are_the_real_ones() -> None:
    fresh = model()
    table = trace(fresh, TOKENS).set_index("module")
    assert table.loc["model", "input"] == "(5, 7)"
    assert table.loc["model", "output"] == "(5, 4)"
    assert table.loc["model", "parameters"] == sum(p.numel() for p in fresh.parameters())
    assert table.loc["blocks.0.attention", "input"] == "3 x (5, 7, 12), (5, 1, 1, 7)"
    assert table.loc["blocks.0.attention", "output"] == "(5, 7, 12), (5, 3, 7, 7)"
    assert table.loc["head", "type"] == "Linear"


def test_a_module_that_is_called_twice_has_two_rows() -> None:
    layer = nn.Linear(3, 3)
    table = trace(nn.Sequential(layer, nn.ReLU(), layer), torch.zeros(2, 3))
    assert list(table["type"]) == ["Sequential", "Linear", "ReLU", "Linear"]


def test_attention_maps_are_the_weights_of_each_layer() -> None:
    fresh = model()
    maps = attention_maps(fresh, TOKENS)
    assert list(maps) == ["blocks.0.attention", "blocks.1.attention"]
    for weights in maps.values():
        assert weights.shape == (5, 3, 7, 7)
        assert not weights.requires_grad
        assert torch.allclose(weights.sum(dim=-1), torch.ones(5, 3, 7))


def test_a_bare_attention_layer_is_found_too() -> None:
    layer = SelfAttention(6)
    x = torch.randn(2, 4, 6)
    assert torch.equal(attention_maps(layer, x)[""], layer(x)[1])


@pytest.mark.parametrize("listen", [trace, attention_maps])
def test_the_model_is_left_as_it_was(listen: object) -> None:
    fresh = model().train()
    listen(fresh, TOKENS)  # type: ignore[operator]
    assert fresh.training
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in fresh.modules())
    assert all(parameter.grad is None for parameter in fresh.parameters())


def test_no_hook_stays_when_the_model_fails() -> None:
    fresh = model()
    with pytest.raises(IndexError):
        trace(fresh, torch.full((1, 3), 99))
    assert not any(module._forward_hooks or module._forward_pre_hooks for module in fresh.modules())
