"""The proof: with the same weights, the learner's models and those of the library `transformers` say the same."""

from typing import Any

import pandas as pd
import torch
from torch import nn

from transformer_course.language_model.published import from_gpt2, from_llama
from transformer_course.libraries import quiet, try_to_import


def held_against_gpt2(kind: type[nn.Module], seed: int = 0) -> pd.DataFrame | None:
    """The learner's first model beside GPT2LMHeadModel, with random weights; None where `transformers` is missing."""
    library = try_to_import("transformers")
    if library is None:
        return None
    with quiet():
        config = library.GPT2Config(
            vocab_size=50, n_positions=16, n_embd=48, n_head=4, n_inner=192, n_layer=3, activation_function="relu"
        )
        theirs = _scattered(library.GPT2LMHeadModel(config), seed)
    return _compared(kind(50, 16, 48, 4, 192, 3), theirs, from_gpt2(theirs.state_dict()), seed)


def held_against_llama(kind: type[nn.Module], seed: int = 0) -> pd.DataFrame | None:
    """The learner's second model beside LlamaForCausalLM, with random weights; None where `transformers` is missing."""
    library = try_to_import("transformers")
    if library is None:
        return None
    with quiet():
        config = library.LlamaConfig(
            vocab_size=50,
            hidden_size=48,
            num_attention_heads=6,
            num_key_value_heads=2,
            intermediate_size=128,
            num_hidden_layers=3,
            rms_norm_eps=1e-5,
        )
        theirs = _scattered(library.LlamaForCausalLM(config), seed)
    return _compared(kind(50, 48, 6, 2, 128, 3), theirs, from_llama(theirs.state_dict(), num_heads=6), seed)


def _scattered(model: Any, seed: int) -> Any:
    """Every weight random, those of the norms too: nothing is right because it is 1 or 0."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) / 5)
    return model.eval()


def _compared(ours: nn.Module, theirs: Any, weights: dict[str, torch.Tensor], seed: int) -> pd.DataFrame:
    odd = ours.load_state_dict(weights, strict=False).unexpected_keys
    if odd:
        raise ValueError(f"your model has no place for {', '.join(odd[:3])}: which names does the docstring give?")
    tokens = torch.randint(50, (4, 16), generator=torch.Generator().manual_seed(seed + 1))
    with torch.no_grad():
        one, other = ours.eval()(tokens), theirs(tokens).logits
    return pd.DataFrame(
        {
            "": ["yours", type(theirs).__name__],
            "parameters": [sum(p.numel() for p in model.parameters()) for model in (ours, theirs)],
            "the first three logits": [
                ", ".join(f"{number:.4f}" for number in logits[0, 0, :3].tolist()) for logits in (one, other)
            ],
            "largest difference of all logits": ["", f"{(one - other).abs().max().item():.1e}"],
        }
    )
