"""How the symbols of lesson 05 are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.authoring.calls import Probe, call
from lessons.lesson_04.probes.asking import ask_about
from lessons.lesson_04.probes.translators import look_at

Inputs = Mapping[str, Any]


def _future_leak(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    return ask_about(symbol, inputs)


def _causal_mask(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    return {"output": symbol(inputs["length"])}


def _decoder_mask(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    return call(symbol, *(inputs[name] for name in ("targets", "pad_id") if name in inputs))


def _causal_seq2seq(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    return look_at(symbol, inputs)


PROBES: dict[str, Probe] = {
    "future_leak": _future_leak,
    "causal_mask": _causal_mask,
    "decoder_mask": _decoder_mask,
    "CausalSeq2SeqTransformer": _causal_seq2seq,
}
