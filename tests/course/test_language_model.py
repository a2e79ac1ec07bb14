"""The parts of lesson 11's models, held against PyTorch's and against `transformers`, with random weights."""

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from transformer_course.language_model.gpt import DecoderOnlyTransformer
from transformer_course.language_model.modern import ModernLanguageModel
from transformer_course.language_model.published import from_gpt2, from_llama, load_llama, read_safetensors, to_llama

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


def test_llama_takes_the_modern_models_weights() -> None:
    theirs, ours = llama(), scattered(ModernLanguageModel(**SIZES))
    theirs.load_state_dict(to_llama(ours.state_dict(), SIZES["num_heads"]))
    with torch.no_grad():
        assert close(ours(TOKENS), theirs(TOKENS).logits)


@pytest.mark.parametrize("kind", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_a_safetensors_file_is_read_as_its_own_library_does(kind: torch.dtype, tmp_path: Path) -> None:
    weights = {
        "one": torch.randn(3, 5).to(kind),
        "another": torch.randn(7).to(kind),
        "none": torch.zeros(0, 2, dtype=kind),
    }
    save_file(weights, tmp_path / "some.safetensors", metadata={"format": "pt"})
    ours, theirs = read_safetensors(tmp_path / "some.safetensors"), load_file(tmp_path / "some.safetensors")
    assert ours.keys() == theirs.keys() == weights.keys()
    for name, tensor in theirs.items():
        assert ours[name].dtype == kind
        assert torch.equal(ours[name], tensor)


def test_numbers_that_are_no_weights_are_refused(tmp_path: Path) -> None:
    save_file({"some": torch.arange(3)}, tmp_path / "some.safetensors")
    with pytest.raises(ValueError, match="keeps some as I64"):
        read_safetensors(tmp_path / "some.safetensors")


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
