"""The parts of lesson 11's models, held against PyTorch's and against `transformers`, with random weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from course.language_model.adapting import LoRALinear
from course.language_model.batches import bits_per_character, next_token_batches, targets_are_next
from course.language_model.gpt import DecoderOnlyTransformer
from course.language_model.modern import ModernLanguageModel, RMSNorm
from course.language_model.published import from_gpt2, from_llama, load_llama
from course.language_model.writing import continue_text

TOKENS = torch.tensor([[3, 1, 4, 1, 5, 9, 2, 6], [5, 3, 5, 8, 9, 7, 9, 3]])
SIZES = {"vocab_size": 31, "d_model": 48, "num_heads": 6, "num_kv_heads": 2, "d_ff": 80, "num_layers": 3}


def scattered(model: nn.Module) -> nn.Module:
    """Every weight random, those of the norms too."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) / 5)
    return model.eval()


def llama(**changes: Any) -> Any:
    transformers = pytest.importorskip("transformers")
    names = {"num_heads": "num_attention_heads", "num_kv_heads": "num_key_value_heads", "d_model": "hidden_size"}
    names |= {"d_ff": "intermediate_size", "num_layers": "num_hidden_layers"}
    sizes = {names.get(name, name): size for name, size in SIZES.items()}
    return scattered(transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes, rms_norm_eps=1e-5, **changes)))


def close(one: torch.Tensor, other: torch.Tensor) -> bool:
    return torch.allclose(one, other, rtol=1e-4, atol=1e-4)


def test_the_modern_model_is_llama() -> None:
    theirs, ours = llama(), ModernLanguageModel(**SIZES)
    ours.load_state_dict(from_llama(theirs.state_dict(), SIZES["num_heads"]))
    with torch.no_grad():
        assert close(ours(TOKENS), theirs(TOKENS).logits)


@pytest.mark.parametrize("tied", [False, True])
def test_a_published_file_is_read(tied: bool, tmp_path: Path) -> None:
    theirs, ours = llama(tie_word_embeddings=tied), ModernLanguageModel(**SIZES)
    weights = {name: tensor.clone() for name, tensor in theirs.state_dict().items()}
    if tied:
        del weights["lm_head.weight"]
    save_file(weights, tmp_path / "model.safetensors")
    load_llama(ours, tmp_path / "model.safetensors", SIZES["num_heads"])
    with torch.no_grad():
        assert close(ours(TOKENS), theirs(TOKENS).logits)


def test_a_file_that_does_not_fit_changes_nothing(tmp_path: Path) -> None:
    save_file({name: tensor.clone() for name, tensor in llama().state_dict().items()}, tmp_path / "model.safetensors")
    ours = ModernLanguageModel(**SIZES | {"num_layers": 2})
    before = ours.embedding.weight.detach().clone()
    with pytest.raises(ValueError, match="num_layers"):
        load_llama(ours, tmp_path / "model.safetensors", SIZES["num_heads"])
    assert torch.equal(ours.embedding.weight, before)


@pytest.mark.parametrize("prefix", ["transformer.", ""])
def test_the_first_model_is_gpt2(prefix: str) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.GPT2Config(
        vocab_size=31, n_positions=8, n_embd=48, n_head=6, n_inner=80, n_layer=3, activation_function="relu"
    )
    theirs = scattered(transformers.GPT2LMHeadModel(config))
    ours = DecoderOnlyTransformer(31, 8, 48, 6, 80, 3)
    weights = {name.replace("transformer.", prefix, 1): tensor for name, tensor in theirs.state_dict().items()}
    ours.load_state_dict(from_gpt2(weights))
    with torch.no_grad():
        assert close(ours(TOKENS), theirs(TOKENS).logits)


def test_the_norm_is_pytorchs() -> None:
    x = torch.randn(3, 4, 10, dtype=torch.float64) / 100
    ours, theirs = RMSNorm(10, eps=0.01), nn.RMSNorm(10, eps=0.01).double()
    assert torch.allclose(ours(x), theirs(x))


def test_every_window_is_drawn_about_as_often() -> None:
    inputs, targets = next_token_batches(torch.arange(10), 3, 7000, torch.Generator().manual_seed(0))
    assert torch.equal(targets, inputs + 1)
    counts = torch.bincount(inputs[:, 0])
    assert counts.shape == (7,)
    assert counts.min() > 850


def test_a_fault_at_the_end_of_the_text_is_found() -> None:
    ids = torch.tensor([5, 2, 8, 1, 9, 4])

    def wraps(ids: torch.Tensor, generator: torch.Generator) -> tuple[torch.Tensor, torch.Tensor]:
        starts = torch.randint(len(ids) - 2, (2, 1), generator=generator) + torch.arange(3)
        return ids[starts], ids.roll(-1)[starts]

    assert not targets_are_next(wraps, ids)


def test_uniform_guessing_costs_the_logarithm() -> None:
    assert bits_per_character(7 * torch.tensor(32.0).log().item(), 7) == pytest.approx(5)


def test_a_text_longer_than_the_model_is_cropped_from_the_front() -> None:
    seen: list[list[int]] = []

    def model(tokens: torch.Tensor) -> torch.Tensor:
        seen.append(tokens[0].tolist())
        return nn.functional.one_hot((tokens + 1) % 9, 9).float()

    model.max_length = 3  # type: ignore[attr-defined]
    ids = continue_text(model, torch.tensor([8, 7, 0, 1]), 2, 0.0, 1.0, torch.Generator())
    assert ids.tolist() == [8, 7, 0, 1, 2, 3]
    assert seen == [[7, 0, 1], [0, 1, 2]]


@pytest.mark.parametrize("bias", [True, False])
def test_only_the_correction_learns_and_merging_changes_nothing(bias: bool) -> None:
    linear = nn.Linear(6, 4, bias=bias).double()
    before, x = linear.weight.detach().clone(), torch.randn(5, 6, dtype=torch.float64)
    layer = LoRALinear(linear, rank=2, alpha=6.0)
    assert torch.equal(layer(x), linear(x))
    optimizer = torch.optim.Adam([p for p in layer.parameters() if p.requires_grad], lr=0.1)
    for _ in range(3):
        layer(x).square().sum().backward()
        optimizer.step()
    assert torch.equal(layer.base.weight, before)
    assert not torch.allclose(layer(x), linear(x))
    assert torch.allclose(layer.merged()(x), layer(x))
