"""How the symbols of lesson 05 are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.authoring.calls import Probe, call, given
from lessons.lesson_04.probes.asking import ask_about
from lessons.lesson_04.probes.translators import look_at

Inputs = Mapping[str, Any]


def _causal_mask(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    return {"output": symbol(inputs["length"])}


def _decoder_mask(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    return call(symbol, *given(inputs, "targets", "pad_id"))


PROBES: dict[str, Probe] = {
    "future_leak": ask_about,
    "causal_mask": _causal_mask,
    "decoder_mask": _decoder_mask,
    "CausalSeq2SeqTransformer": look_at,
}
