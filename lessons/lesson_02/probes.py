"""How the symbols of lesson 02 are called, and the toy tokenizers that the bug clinic's test is tried on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

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


def _codes(text: str) -> list[int]:
    return [ord(symbol) for symbol in text]


def _text(ids: Any) -> str:
    return "".join(chr(int(code)) for code in ids)


def _stop_at(symbol: str) -> Callable[[str], list[int]]:
    def encode(text: str) -> list[int]:
        if symbol in text:
            raise KeyError(symbol)
        return _codes(text)

    return encode


def _stop_decoding(ids: Any) -> str:
    text = _text(ids)
    if " " in text:
        raise ValueError("no symbol for this id")
    return text


def _swapped(text: str) -> str:
    """The first two neighbours that differ, exchanged."""
    for i in range(len(text) - 1):
        if text[i] != text[i + 1]:
            return text[:i] + text[i + 1] + text[i] + text[i + 2 :]
    return text


# {name: (encode, decode)}. Each is sound on some texts and broken on others: the drawn text decides.
_PAIRS: dict[str, tuple[Callable[[str], Any], Callable[[Any], Any]]] = {
    "character codes": (_codes, _text),
    "bytes": (lambda text: list(text.encode()), lambda ids: bytes(ids).decode()),
    "words": (lambda text: text.split(" "), " ".join),
    "ids backwards": (lambda text: _codes(text)[::-1], lambda ids: _text(ids[::-1])),
    "a tensor of ids": (lambda text: torch.tensor(_codes(text)), lambda ids: _text(ids.tolist())),
    "drops spaces": (lambda text: _codes(text.replace(" ", "")), _text),
    "drops spaces when decoding": (_codes, lambda ids: _text(ids).replace(" ", "")),
    "small letters": (lambda text: _codes(text.lower()), _text),
    "drops what is no letter": (lambda text: _codes("".join(s for s in text if s.isalpha() or s == " ")), _text),
    "replaces what is no letter": (
        lambda text: _codes("".join(s if s.isalpha() or s == " " else "?" for s in text)),
        _text,
    ),
    "off by one": (_codes, lambda ids: _text([code + 1 for code in ids])),
    "sorts": (lambda text: sorted(_codes(text)), _text),
    "swaps two neighbours": (_codes, lambda ids: _swapped(_text(ids))),
    "strips": (lambda text: _codes(text.strip()), _text),
    "loses the last character": (lambda text: _codes(text)[:-1], _text),
    "doubles the last character": (lambda text: _codes(text + text[-1:]), _text),
    "one space for two": (lambda text: text.split(), " ".join),
    "stops encoding at a full stop": (_stop_at("."), _text),
    "stops decoding at a space": (_codes, _stop_decoding),
}


def _round_trips(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    encode, decode = _PAIRS[inputs["pair"]]
    return {"output": symbol(encode, decode, inputs["text"])}


PROBES: dict[str, Probe] = {
    "build_vocabulary": _build_vocabulary,
    "encode": _encode,
    "decode": _decode,
    "pad_sequences": _pad_sequences,
    "prepare_example": _prepare_example,
    "byte_pair_merges": _byte_pair_merges,
    "apply_merges": _apply_merges,
    "byte_pair_decode": _byte_pair_decode,
    "round_trips": _round_trips,
}
