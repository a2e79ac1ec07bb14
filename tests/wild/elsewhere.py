"""Runs the tests of TorchCode (`torch_judge`) or of TorchLeet (`torchleet`) on an answer to one of our exercises.

    python -m tests.wild.elsewhere torch_judge

Each line of the input is an answer, as JSON: the lesson, the symbol, the code. For each comes a line with a JSON list:
what failed, a text for each test; empty where all passed. PyTorch is imported once, and every answer has a process of
its own, with a limit of processor time.

The answer is wrapped into the signature that they ask for, and nothing else of it is changed. What goes with it, such
as the softmax behind a mask, is this course's own.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from cellcheck.syllabus import find_lesson, load_lesson

CPU_SECONDS = 60
Given = Callable[..., Any]
"""An answer, which nobody has looked at: a function or a class."""


def _attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)


def _called(*names: str) -> Iterator[Any]:
    """Attributes that lead to those of these names."""
    return (property(attrgetter(name)) for name in names)


# --- TorchCode: a task's name, and what stands for the function that it asks for


def _dot_product(answer: Given) -> Given:
    return lambda q, k, v: answer(q, k, v)[0]


def _multi_head(answer: Given) -> Given:
    class MultiHead(answer):  # type: ignore[valid-type, misc]
        W_q, W_k, W_v, W_o = _called("query", "key", "value", "output")

        def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Any:
            return super().forward(q, k, v)[0]

    return MultiHead


def _cross_attention(answer: Given) -> Given:
    class Cross(answer):  # type: ignore[valid-type, misc]
        def forward(self, x: torch.Tensor, states: torch.Tensor) -> Any:
            return super().forward(x, states)[0]

    return Cross


def _layer_norm(answer: Given) -> Given:
    def my_layer_norm(x: torch.Tensor, gamma: torch.Tensor, beta: torch.Tensor, eps: float = 1e-5) -> Any:
        return torch.func.functional_call(answer(x.shape[-1], eps), {"weight": gamma, "bias": beta}, (x,))

    return my_layer_norm


def _rms_norm(answer: Given) -> Given:
    def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float = 1e-6) -> Any:
        return torch.func.functional_call(answer(x.shape[-1], eps), {"weight": weight}, (x,))

    return rms_norm


def _swiglu(answer: Given) -> Given:
    class SwiGLUMLP(answer):  # type: ignore[valid-type, misc]
        gate_proj, up_proj, down_proj = _called("gate", "up", "down")

    return SwiGLUMLP


def _lora(answer: Given) -> Given:
    class LoRALinear(answer):  # type: ignore[valid-type, misc]
        linear, lora_A, lora_B = _called("base", "down", "up")  # noqa: N815 - their names

        def __init__(self, in_features: int, out_features: int, rank: int, alpha: float = 1.0) -> None:
            super().__init__(nn.Linear(in_features, out_features), rank, alpha)

    return LoRALinear


def _rope(answer: Given) -> Given:
    def apply_rope(q: torch.Tensor, k: torch.Tensor) -> tuple[Any, Any]:
        places = torch.arange(q.shape[-2])
        return answer(q, places), answer(k, places)

    return apply_rope


def _drawn(logits: torch.Tensor) -> int:
    return int(torch.multinomial(logits.softmax(dim=-1), 1))


def _sampling_top_k(answer: Given) -> Given:
    def sample(logits: torch.Tensor, top_k: int = 0, top_p: float = 1.0, temperature: float = 1.0) -> int:
        return _drawn(answer((logits / temperature)[None], top_k or len(logits)))

    return sample


def _sampling_top_p(answer: Given) -> Given:
    def sample(logits: torch.Tensor, top_k: int = 0, top_p: float = 1.0, temperature: float = 1.0) -> int:
        best = (logits / temperature).topk(top_k or len(logits))
        return int(best.indices[_drawn(answer(best.values[None], top_p))])

    return sample


def _numpy_softmax(answer: Given) -> Given:
    return lambda x, dim=-1: torch.from_numpy(answer(x.numpy(), dim))


def _cross_entropy(answer: Given) -> Given:
    return lambda logits, targets: answer(logits[:, None], targets[:, None], -100)


def _accumulated(answer: Given) -> Given:
    return lambda model, optimizer, loss_function, batches: answer(model, batches, loss_function, optimizer)


def _cosine(answer: Given) -> Given:
    def rate(step: int, total_steps: int, warmup_steps: int, max_lr: float, min_lr: float = 0.0) -> Any:
        return min_lr + answer(step, warmup_steps, total_steps, max_lr - min_lr)

    return rate


def _causal(answer: Given) -> Given:
    return lambda q, k, v: _attention(q, k, v, answer(q.shape[-2]))


def _window(answer: Given) -> Given:
    def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, window_size: int) -> torch.Tensor:
        return _attention(q, k, v, answer(torch.arange(q.shape[-2]), window_size + 1))

    return attend


def _beam(answer: Given) -> Given:
    def beam_search(scores: Given, start_token: int, max_len: int, beam_width: int, eos_token: int) -> list[int]:
        def model(source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
            return torch.stack([torch.stack([scores(row[: i + 1]) for i in range(len(row))]) for row in target_input])

        ids = answer(model, torch.zeros(1, 1).long(), start_token, eos_token, max_len, beam_width)[0].tolist()
        return [start_token, *(ids[: ids.index(eos_token) + 1] if eos_token in ids else ids)]

    return beam_search


def _patches(answer: Given) -> Given:
    class PatchEmbedding(nn.Module):
        def __init__(self, img_size: int, patch_size: int, in_channels: int, embed_dim: int) -> None:
            super().__init__()
            self.patch_size, self.num_patches = patch_size, (img_size // patch_size) ** 2
            self.proj = nn.Linear(in_channels * patch_size**2, embed_dim)

        def forward(self, x: torch.Tensor) -> Any:
            return self.proj(answer(x, self.patch_size))

    return PatchEmbedding


def _pairs(learn: Given, cut: Given) -> Given:
    class SimpleBPE:
        def train(self, corpus: list[str], num_merges: int) -> None:
            self.merges = learn(corpus, num_merges)

        def encode(self, text: str) -> Any:
            return cut(text, self.merges)

    return SimpleBPE


def _learning(answer: Given) -> Given:
    from transformer_course.byte_pairs import apply_merges

    return _pairs(answer, apply_merges)


def _cutting(answer: Given) -> Given:
    from transformer_course.byte_pairs import byte_pair_merges

    return _pairs(byte_pair_merges, answer)


def _speculating(answer: Given) -> Given:
    def speculative_decode(target: torch.Tensor, draft: torch.Tensor, tokens: torch.Tensor) -> list[int]:
        written: list[int] = []
        for i in range(len(tokens)):
            token, accepted = answer(target[i : i + 1], draft[i : i + 1], tokens[i : i + 1], torch.default_generator)
            written.append(int(token))
            if not accepted:
                break
        return written

    return speculative_decode


def _replacing(answer: Given) -> Given:
    def decide(
        target: torch.Tensor, draft: torch.Tensor, proposed: torch.Tensor, generator: torch.Generator
    ) -> tuple[torch.Tensor, torch.Tensor]:
        x = proposed[0]
        if torch.rand(()) * draft[0, x] < target[0, x]:
            return proposed, torch.tensor(True)
        return torch.multinomial(answer(target, draft), 1)[0], torch.tensor(False)

    return _speculating(decide)


# --- TorchLeet: a problem's id, its entries, and how the names of the tests that are about ours begin


def _entry(name: str, wrap: Given = lambda answer: answer) -> Callable[[Given], Mapping[str, Any]]:
    return lambda answer: {name: wrap(answer)}


def _leet_multi_head(answer: Given) -> Given:
    def multi_head_attention(
        q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, heads: int, d_model: int, mask: torch.Tensor | None = None
    ) -> Any:
        return answer(d_model, heads)(q, k, v, mask)

    return multi_head_attention


def _leet_waves(answer: Given) -> Given:
    return lambda max_len, d_model: SimpleNamespace(pe=answer(max_len, d_model))


def _leet_adding_waves(answer: Given) -> Given:
    return lambda max_len, d_model: lambda x: answer(d_model, max_len)(x)


def _leet_top_k(answer: Given) -> Given:
    return lambda logits, k: _drawn(answer(logits[None], k))


def _leet_temperature(answer: Given) -> Given:
    return lambda logits, temperature: answer(logits[None], temperature, torch.default_generator)[0]


def _leet_beam(answer: Given) -> Given:
    def beam_search(model: Given, start_token: int, beam_width: int, max_len: int) -> list[int]:
        def ours(source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
            return torch.stack([torch.cat([model(token) for token in row]) for row in target_input])

        ids = answer(ours, torch.zeros(1, 1).long(), start_token, -1, max_len - 1, beam_width)
        return [start_token, *ids[0].tolist()]

    return beam_search


def _leet_lora(answer: Given) -> Mapping[str, Any]:
    def apply_lora(model: nn.Module, rank: int, alpha: float, target_modules: list[str]) -> nn.Module:
        for name in target_modules:
            setattr(model, name, answer(getattr(model, name), rank, alpha))
        return model

    def merge_lora(model: nn.Module) -> nn.Module:
        part: Any
        for name, part in list(model.named_children()):
            setattr(model, name, part.merged())
        return model

    return {"LoRALinear": answer, "apply_lora": apply_lora, "merge_lora": merge_lora}


def _leet_cache(answer: Given) -> Mapping[str, Any]:
    class KVCache:
        def __init__(self) -> None:
            self.cache: Any = answer()

        def update(self, k: torch.Tensor, v: torch.Tensor) -> Any:
            return self.cache.append(0, k, v)

    class CachedAttention(nn.Module):
        def __init__(self, d_model: int, num_heads: int) -> None:
            super().__init__()
            self.heads, self.all, self.out = num_heads, nn.Linear(d_model, 3 * d_model), nn.Linear(d_model, d_model)

        def forward(self, x: torch.Tensor, kv_cache: KVCache | None = None) -> Any:
            q, k, v = self.all(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
            if kv_cache is not None:
                k, v = kv_cache.update(k, v)
            mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril(k.shape[-2] - q.shape[-2])
            return self.out(_attention(q, k, v, mask).transpose(1, 2).flatten(2))

    return {"KVCache": KVCache, "CachedAttention": CachedAttention}


def _leet_window(answer: Given) -> Mapping[str, Any]:
    return {
        "create_sliding_window_mask": lambda length, size: answer(torch.arange(length), size + 1),
        "full_attention": _attention,
        "sliding_window_attention": _window(answer),
    }


def _leet_advantages(answer: Given) -> Mapping[str, Any]:
    def advantages(rewards: torch.Tensor, size: int) -> Any:
        return answer(rewards.reshape(-1, size)).reshape(-1)

    return {"compute_group_advantages": advantages, "generate_group_completions": _drawn, "grpo_loss": _drawn}


CODE, LEET = "torch_judge", "torchleet"
ADAPTERS: Mapping[tuple[str, str, str], tuple[str, Given, tuple[str, ...]]] = {
    (CODE, "02", "byte_pair_merges"): ("bpe", _learning, ()),
    (CODE, "02", "apply_merges"): ("bpe", _cutting, ()),
    (CODE, "03", "scaled_dot_product_attention"): ("attention", _dot_product, ()),
    (CODE, "03", "MultiHeadAttention"): ("mha", _multi_head, ()),
    (CODE, "03", "LayerNorm"): ("layernorm", _layer_norm, ()),
    (CODE, "04", "CrossAttention"): ("cross_attention", _cross_attention, ()),
    (CODE, "04", "sequence_cross_entropy"): ("cross_entropy", _cross_entropy, ()),
    (CODE, "05", "causal_mask"): ("causal_attention", _causal, ()),
    (CODE, "06", "rotary_embedding"): ("rope", _rope, ()),
    (CODE, "07", "top_k_filter"): ("topk_sampling", _sampling_top_k, ()),
    (CODE, "07", "top_p_filter"): ("topk_sampling", _sampling_top_p, ()),
    (CODE, "07", "beam_search"): ("beam_search", _beam, ()),
    (CODE, "09", "softmax"): ("softmax", _numpy_softmax, ()),
    (CODE, "10", "Dropout"): ("dropout", lambda answer: answer, ()),
    (CODE, "10", "accumulated_step"): ("gradient_accumulation", _accumulated, ()),
    (CODE, "10", "clip_gradients"): ("gradient_clipping", lambda answer: answer, ()),
    (CODE, "10", "warmup_schedule"): ("cosine_lr", _cosine, ()),
    (CODE, "12", "RMSNorm"): ("rmsnorm", _rms_norm, ()),
    (CODE, "12", "SwiGLU"): ("mlp", _swiglu, ()),
    (CODE, "12", "LoRALinear"): ("lora", _lora, ()),
    (CODE, "13", "patchify"): ("vit_patch", _patches, ()),
    (CODE, "14", "windowed_mask"): ("sliding_window", _window, ()),
    (CODE, "17", "leftover"): ("speculative_decoding", _replacing, ()),
    (CODE, "17", "accept_or_replace"): ("speculative_decoding", _speculating, ()),
    (LEET, "03", "scaled_dot_product_attention"): (
        "implement-attention-from-scratch",
        _entry("scaled_dot_product_attention"),
        (),
    ),
    (LEET, "03", "MultiHeadAttention"): (
        "multi-head-attention",
        _entry("multi_head_attention", _leet_multi_head),
        (),
    ),
    (LEET, "06", "sinusoidal_positional_encoding"): (
        "sinusoidal-positional-embedding",
        _entry("SinusoidalPositionalEmbedding", _leet_waves),
        (),
    ),
    (LEET, "06", "SinusoidalPositionalEncoding"): (
        "sinusoidal-positional-embedding",
        _entry("SinusoidalPositionalEmbedding", _leet_adding_waves),
        (),
    ),
    (LEET, "07", "top_k_filter"): ("top-k-sampling", _entry("top_k_sample", _leet_top_k), ()),
    (LEET, "07", "top_p_filter"): (
        "top-p-sampling",
        lambda answer: {"top_p_sample": lambda logits, p: _drawn(answer(logits[None], p))},
        (),
    ),
    (LEET, "07", "sample_with_temperature"): (
        "temperature-sampling",
        _entry("temperature_sample", _leet_temperature),
        (),
    ),
    (LEET, "07", "beam_search"): ("beam-search", _entry("beam_search", _leet_beam), ()),
    (LEET, "07", "KeyValueCache"): ("kv-cache", _leet_cache, ()),
    (LEET, "09", "softmax"): ("softmax", _entry("softmax", _numpy_softmax), ()),
    (LEET, "12", "LoRALinear"): ("lora", _leet_lora, ()),
    (LEET, "14", "windowed_mask"): ("sliding-window-attention", _leet_window, ()),
    (LEET, "16", "group_advantages"): ("grpo", _leet_advantages, ("advantages", "normalisation", "constant")),
}
"""By package, lesson and symbol: their task, how our answer becomes theirs, and where their tests ask for more than
that, how the names of those begin that are about it."""


NOT_ASKED: Mapping[tuple[str, str], frozenset[str]] = {
    (CODE, "accept_or_replace"): frozenset({"one_number_for_the_batch"}),
    (CODE, "accumulated_step"): frozenset({"divided_by_batches", "graph_kept"}),
    (CODE, "leftover"): frozenset({"uniform_where_equal", "tiny_floor", "not_scaled", "nan_where_equal"}),
    (CODE, "LoRALinear"): frozenset({"merge_in_place", "merge_transposed"}),
    (CODE, "patchify"): frozenset({"channels_last", "rows_and_columns_swapped"}),
    (CODE, "softmax"): frozenset({"changes_its_argument"}),
    (CODE, "top_k_filter"): frozenset({"in_place"}),
    (CODE, "windowed_mask"): frozenset({"by_index"}),
    (LEET, "beam_search"): frozenset(
        {"finished_dropped", "length_without_end", "returns_first_finished", "stops_at_width"}
    ),
    (LEET, "group_advantages"): frozenset({"divided_by_all_samples"}),
    (LEET, "LoRALinear"): frozenset({"bias_not_frozen", "merge_in_place"}),
    (LEET, "MultiHeadAttention"): frozenset({"mask_repeated_per_element"}),
    (LEET, "SinusoidalPositionalEncoding"): frozenset({"scaled_here"}),
    (LEET, "softmax"): frozenset({"changes_its_argument"}),
    (LEET, "top_k_filter"): frozenset({"in_place"}),
    (LEET, "windowed_mask"): frozenset({"by_index"}),
}
"""By package and symbol, the wrong answers that break a promise of ours alone: their task doesn't ask for it."""


def asks_for(package: str, lesson: str, symbol: str, name: str) -> bool:
    """Whether one of their tasks is about what an answer does."""
    return (package, lesson[:2], symbol) in ADAPTERS and name not in NOT_ASKED.get((package, symbol), ())


def _torchcode_failures(task: str, function: Any) -> list[str]:
    from torch_judge.tasks import get_task  # type: ignore[import-not-found]

    described = get_task(task)
    name, failed = described["function_name"], []
    for test in described["tests"]:
        try:
            exec(test["code"].replace("{fn}", name), {name: function})
        except Exception as error:
            failed.append(f"{test['name']}: {error}")
    return failed


def _torchleet_failures(problem: str, entries: Mapping[str, Any], about: tuple[str, ...]) -> list[str]:
    from torchleet.runner import FAIL, run  # type: ignore[import-not-found]

    results = run(problem, dict(entries))
    return [f"{test}: {why}" for test, how, why in results if how == FAIL and (not about or test.startswith(about))]


def failures(package: str, lesson: str, symbol: str, code: str, around: Mapping[str, Any]) -> list[str]:
    """The tests of theirs that fail, with what they say; `around` is what the answer finds beside it."""
    task, adapt, about = ADAPTERS[package, lesson[:2], symbol]
    namespace = dict(around)
    try:
        exec(code, namespace)
        adapted = adapt(namespace[symbol])
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]
    torch.manual_seed(0)
    return _torchcode_failures(task, adapted) if package == CODE else _torchleet_failures(task, adapted, about)


@cache
def _surroundings(lesson: str) -> Mapping[str, Any]:
    """What the notebook's first cell imports, and the course's own exercises of the lesson."""
    syllabus, name = find_lesson(lesson)
    namespace: dict[str, Any] = {"__name__": "answer"}
    exec(syllabus.setup(name), namespace)
    return namespace | {exercise.symbol: exercise.references[0] for exercise in load_lesson(name).exercises}


def _in_a_process(package: str, lesson: str, symbol: str, code: str) -> list[str]:
    around = _surroundings(lesson)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        with contextlib.redirect_stdout(io.StringIO()), open(writing, "w", encoding="utf-8") as pipe:
            json.dump(failures(package, lesson, symbol, code, around), pipe)
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as pipe:
        reply = pipe.read()
    os.waitpid(child, 0)
    failed: list[str] = json.loads(reply) if reply else ["It took too long, or it ended its process."]
    return failed


def main(package: str) -> None:
    """Answers line by line."""
    torch.set_num_threads(1)  # more than one don't survive a fork
    for line in sys.stdin:
        print(json.dumps(_in_a_process(package, *json.loads(line))), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
