"""How the symbols of lesson 02 are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.authoring.calls import Probe, call


def _build_vocabulary(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return call(symbol, inputs["corpus"])


def _encode(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return call(symbol, inputs["text"], inputs["vocabulary"])


def _decode(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return call(symbol, inputs["ids"], inputs["vocabulary"])


def _pad_sequences(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    extra = [inputs["pad_id"]] if "pad_id" in inputs else []
    return call(symbol, inputs["sequences"], inputs["max_length"], *extra)


def _prepare_example(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    names = ("text", "label", "vocabulary", "max_length", "cls_id")
    return call(symbol, *(inputs[name] for name in names))


def _byte_pair_merges(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return call(symbol, inputs["words"], inputs["num_merges"])


def _apply_merges(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    merges = [tuple(pair) for pair in inputs["merges"]]
    return call(symbol, inputs["word"], merges)


def _byte_pair_decode(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return call(symbol, inputs["tokens"])


def _byte_pair_vocabulary(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return call(symbol, [tuple(pair) for pair in inputs["merges"]])


def _byte_pair_ids(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return call(symbol, inputs["text"], [tuple(pair) for pair in inputs["merges"]], inputs["vocabulary"])


def _ids_to_text(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return call(symbol, inputs["ids"], inputs["vocabulary"])


def _round_trips(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    ask = inputs["patient"]
    return {"output": symbol(lambda text: ask("encode", text), lambda ids: ask("decode", ids), inputs["text"])}


PROBES: dict[str, Probe] = {
    "build_vocabulary": _build_vocabulary,
    "encode": _encode,
    "decode": _decode,
    "pad_sequences": _pad_sequences,
    "prepare_example": _prepare_example,
    "byte_pair_merges": _byte_pair_merges,
    "apply_merges": _apply_merges,
    "byte_pair_decode": _byte_pair_decode,
    "byte_pair_vocabulary": _byte_pair_vocabulary,
    "byte_pair_ids": _byte_pair_ids,
    "ids_to_text": _ids_to_text,
    "round_trips": _round_trips,
}
