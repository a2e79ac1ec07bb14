"""Mutants of the references that are as right as they are, and why. See `grader.audit`."""

from __future__ import annotations

_TWO_AXES = "with two axes, axis 1 is the last one, and so it is by default"
_LATER = "without it the loop runs to max_length, and everything after the ends is padding: more work, the same answer"
_STRICT = "both have one entry for each row, so strict never finds a difference"

EQUIVALENTS: dict[str, dict[str, str]] = {
    "greedy_decode": {
        "next_ids = logits.argmax(dim=-1).masked_fill(ended, 0)"
        " -> next_ids = logits.argmax(dim=1).masked_fill(ended, 0)": _TWO_AXES,
        "if ended.all(): -> (dropped)": _LATER,
    },
    "sample_with_temperature": {
        "return logits.argmax(dim=-1) -> return logits.argmax(dim=1)": _TWO_AXES,
        "probabilities = torch.softmax(logits / temperature, dim=-1)"
        " -> probabilities = torch.softmax(logits / temperature, dim=1)": _TWO_AXES,
    },
    "top_k_filter": {
        f"largest = logits.topk(min(k, logits.shape[-1]), dim=-1).values -> {changed}": _TWO_AXES
        for changed in (
            "largest = logits.topk(min(k, logits.shape[-1])).values",
            "largest = logits.topk(min(k, logits.shape[1]), dim=-1).values",
            "largest = logits.topk(min(k, logits.shape[-1]), dim=1).values",
        )
    },
    "top_p_filter": {
        "ordered, places = logits.sort(dim=-1, descending=True)"
        " -> ordered, places = logits.sort(descending=True)": _TWO_AXES,
        "ordered, places = logits.sort(dim=-1, descending=True)"
        " -> ordered, places = logits.sort(dim=1, descending=True)": _TWO_AXES,
        "probabilities = torch.softmax(ordered, dim=-1) -> probabilities = torch.softmax(ordered, dim=1)": _TWO_AXES,
        "before = probabilities.cumsum(dim=-1) - probabilities"
        " -> before = probabilities.cumsum(dim=1) - probabilities": _TWO_AXES,
        "return torch.empty_like(logits).scatter(-1, places, kept)"
        " -> return torch.empty_like(logits).scatter(1, places, kept)": _TWO_AXES,
        "dropped = before >= p -> dropped = before > p": (
            "they differ where a sum of probabilities is p to the last bit, and rounding decides about that bit"
        ),
    },
    "generate": {
        "next_ids = logits.argmax(dim=-1) -> next_ids = logits.argmax(dim=1)": _TWO_AXES,
        "if ended.all(): -> (dropped)": _LATER,
    },
    "ends_each_sequence": {
        "for row, source in zip(together, sources, strict=True):"
        " -> for row, source in zip(together, sources, strict=False):": _STRICT,
    },
    "beam_search": {
        "totals = so_far + torch.log_softmax(logits, dim=-1)"
        " -> totals = so_far + torch.log_softmax(logits, dim=1)": _TWO_AXES,
        "for total, place in zip(best.values.tolist(), best.indices.tolist(), strict=True):"
        " -> for total, place in zip(best.values.tolist(), best.indices.tolist(), strict=False):": _STRICT,
    },
    "best_of_n": {
        "of_drawn = torch.log_softmax(logits, dim=-1).gather(1, drawn.unsqueeze(1)).squeeze(1)"
        " -> of_drawn = torch.log_softmax(logits, dim=1).gather(1, drawn.unsqueeze(1)).squeeze(1)": _TWO_AXES,
        "if ended.all(): -> (dropped)": _LATER,
    },
    "cached_greedy_decode": {"if ended.all(): -> (dropped)": _LATER},
}
