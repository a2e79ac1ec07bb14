"""Published weights in the learner's own models: what GPT-2 and Llama call each part, and what to do to it.

Two things differ beyond the names. GPT-2 keeps the weights of its layers the other way round, and those of query, key
and value in one piece. And Llama's weights, as `transformers` lays them out, have another order of the columns. Meta's
own code rotates columns 2i and 2i + 1 together, as lesson 6 does; `transformers` rotates column i of a head with column
i + d_head / 2, and its conversion script reorders the rows of query and key to fit. Here that is undone.
"""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import torch
from torch import nn

Weights = dict[str, torch.Tensor]

GPT2_NAMES = {
    r"^transformer\.": "",
    r"^h\.": "blocks.",
    r"^wte\.": "embedding.",
    r"^wpe\.": "positions.embedding.",
    r"^ln_f\.": "final_norm.",
    r"\.ln_(\d)\.": r".norm\1.",
    r"\.attn\.c_proj\.": ".attention.output.",
    r"\.mlp\.c_fc\.": ".feed_forward.linear_in.",
    r"\.mlp\.c_proj\.": ".feed_forward.linear_out.",
}
LLAMA_NAMES = {
    r"^model\.": "",
    r"^embed_tokens\.": "embedding.",
    r"^norm\.": "final_norm.",
    r"^layers\.": "blocks.",
    r"^lm_head\.": "output.",
    r"\.input_layernorm\.": ".norm1.",
    r"\.post_attention_layernorm\.": ".norm2.",
    r"\.self_attn\.q_proj\.": ".attention.query.",
    r"\.self_attn\.k_proj\.": ".attention.key.",
    r"\.self_attn\.v_proj\.": ".attention.value.",
    r"\.self_attn\.o_proj\.": ".attention.output.",
    r"\.mlp\.(gate|up|down)_proj\.": r".feed_forward.\1.",
}

NAMES_FOR_LLAMA: dict[str, str | Callable[[re.Match[str]], str]] = {
    r"^embedding\.": "model.embed_tokens.",
    r"^final_norm\.": "model.norm.",
    r"^blocks\.": "model.layers.",
    r"^output\.": "lm_head.",
    r"\.norm1\.": ".input_layernorm.",
    r"\.norm2\.": ".post_attention_layernorm.",
    r"\.attention\.(query|key|value|output)\.": lambda letter: f".self_attn.{letter[1][0]}_proj.",
    r"\.feed_forward\.(gate|up|down)\.": r".mlp.\1_proj.",
}
NUMBERS = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
"""What a `safetensors` file calls the kinds of numbers that weights are made of."""


def from_gpt2(published: Mapping[str, torch.Tensor]) -> Weights:
    """GPT-2's weights, under the names that a `DecoderOnlyTransformer` has for them.

    >>> sorted(from_gpt2({"transformer.h.0.attn.c_attn.bias": torch.arange(6)}))
    ['blocks.0.attention.key.bias', 'blocks.0.attention.query.bias', 'blocks.0.attention.value.bias']
    """
    renamed: Weights = {}
    for name, tensor in published.items():
        ours = _renamed(name, GPT2_NAMES)
        if ours.startswith("lm_head") or ours.endswith((".attn.bias", ".attn.masked_bias")):
            continue  # the embedding once more, and masks that old files carry along
        if ".c_" in name and name.endswith("weight"):
            tensor = tensor.T
        if "attn.c_attn" in ours:
            for part, piece in zip(("query", "key", "value"), tensor.chunk(3), strict=True):
                renamed[ours.replace("attn.c_attn", f"attention.{part}")] = piece
        else:
            renamed[ours] = tensor
    return renamed


def from_llama(published: Mapping[str, torch.Tensor], num_heads: int) -> Weights:
    """Llama's weights as `transformers` has them, under the names that a `ModernLanguageModel` has for
    them, and with its order of columns.

    A file without a matrix for the output shares the embedding's.

    >>> list(from_llama({"model.layers.2.mlp.up_proj.weight": torch.zeros(4, 2)}, num_heads=1))
    ['blocks.2.feed_forward.up.weight']
    """
    renamed: Weights = {}
    for name, tensor in published.items():
        ours = _renamed(name, LLAMA_NAMES)
        if ours.endswith("rotary_emb.inv_freq"):
            continue  # numbers that old files carry along, and everybody can compute
        if ours.endswith(("query.weight", "key.weight")):
            d_head = tensor.shape[1] // num_heads
            halves = tensor.reshape(-1, 2, d_head // 2, tensor.shape[1])  # (heads, half, pair, d_model)
            tensor = halves.transpose(1, 2).flatten(0, 2)  # (heads * d_head, d_model): the two of a pair side by side
        renamed[ours] = tensor
    if "embedding.weight" in renamed:
        renamed.setdefault("output.weight", renamed["embedding.weight"])
    return renamed


def to_llama(weights: Mapping[str, torch.Tensor], num_heads: int) -> Weights:
    """The other way round: the weights of a `ModernLanguageModel` as `transformers` wants
    them.

    >>> ours = {"blocks.0.attention.key.weight": torch.randn(8, 16), "output.weight": torch.randn(5, 16)}
    >>> back = from_llama(to_llama(ours, num_heads=4), num_heads=4)
    >>> all(torch.equal(back[name], ours[name]) for name in ours)
    True
    """
    renamed: Weights = {}
    for name, tensor in weights.items():
        if name.endswith(("query.weight", "key.weight")):
            d_head = tensor.shape[1] // num_heads
            pairs = tensor.reshape(-1, d_head // 2, 2, tensor.shape[1])  # (heads, pair, half, d_model)
            tensor = pairs.transpose(1, 2).flatten(0, 2)  # (heads * d_head, d_model): all first ones, then all second
        renamed[_renamed(name, NAMES_FOR_LLAMA)] = tensor.contiguous()
    return renamed


def read_safetensors(file: str | Path) -> Weights:
    """The tensors in a `safetensors` file, by name.

    It begins with 8 bytes that say how long the header is. The header, in JSON, says for each tensor of which kind its
    numbers are, what shape it has, and where its bytes are in all that follows. Nothing in it can be run, as it could
    in a pickle.

    Raises:
        ValueError: when it holds numbers of a kind that no weights are made of.
    """
    content = bytearray(Path(file).read_bytes())
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header.pop("__metadata__", None)
    tensors: Weights = {}
    for name, about in header.items():
        if about["dtype"] not in NUMBERS:
            raise ValueError(
                f"{Path(file).name} keeps {name} as {about['dtype']}, which is none of {', '.join(NUMBERS)}"
            )
        begin, end = (start + place for place in about["data_offsets"])
        kind = NUMBERS[about["dtype"]]
        flat = torch.frombuffer(content[begin:end], dtype=kind) if begin < end else torch.empty(0, dtype=kind)
        tensors[name] = flat.reshape(about["shape"])
    return tensors


def load_llama(model: nn.Module, file: str | Path, num_heads: int) -> None:
    """Puts the weights of a published `safetensors` file into a `ModernLanguageModel` of
    the same sizes.

    Raises:
        ValueError: when the file's weights don't fit the model; nothing is changed then.
    """
    weights = from_llama(read_safetensors(file), num_heads)
    own = dict(model.named_parameters())
    odd = sorted(own.keys() ^ weights.keys())
    odd += [name for name in own if name in weights and own[name].shape != weights[name].shape]
    if odd:
        raise ValueError(
            f"{Path(file).name} doesn't fit this model, as {', '.join(odd[:3])} shows: are vocab_size, d_model, "
            "num_heads, num_kv_heads, d_ff and num_layers those of the file?"
        )
    model.load_state_dict(weights, strict=False)  # what else a model may keep is none of the file's business


def _renamed(name: str, names: Mapping[str, str | Callable[[re.Match[str]], str]]) -> str:
    for theirs, ours in names.items():
        name = re.sub(theirs, ours, name)
    return name
