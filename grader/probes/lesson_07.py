"""How the symbols of lesson 07 are called."""

from __future__ import annotations

import torch

from course.cached_model import CachedSeq2SeqTransformer
from grader.probes.calls import call


def _model():
    torch.manual_seed(0)
    return CachedSeq2SeqTransformer(9, 12, 8, 2, 16, 1)


def _cache(symbol, i):
    cache = symbol()
    x = i["logits"].reshape(1, 2, 6, 2)
    return {"output": [cache.append(0, x, x), cache.append(0, -x, x)]}


PROBES = {
    "greedy_decode": lambda s, i: {"output": s(_model(), i["source"], 1, 2, 5)},
    "sample_with_temperature": lambda s, i: call(s, i["logits"], 0.0, torch.Generator()),
    "top_k_filter": lambda s, i: {"output": s(i["logits"], 2)},
    "top_p_filter": lambda s, i: {"output": s(i["logits"], 0.6)},
    "ends_each_sequence": lambda s, i: {"output": s(lambda m, x: x, None, i["source"])},
    "beam_search": lambda s, i: {"output": s(_model(), i["source"], 1, 2, 5, 2)},
    "best_of_n": lambda s, i: {"output": s(_model(), i["source"], 1, 2, 5, 50, torch.Generator().manual_seed(0)).shape},
    "KeyValueCache": _cache,
    "cached_greedy_decode": lambda s, i: {"output": s(_model(), i["source"], 1, 2, 5)},
}
