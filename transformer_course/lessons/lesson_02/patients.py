"""Toy tokenizers, each sound on some texts and broken on others: what `round_trips` is tried on."""

from collections.abc import Callable
from typing import Any

import numpy as np

from cellcheck.authoring.patients import Patient


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


def _without_capitals(text: str) -> list[int]:
    ids: list[Any] = [None if symbol.isupper() else ord(symbol) for symbol in text]
    return [code + 0 for code in ids]  # a TypeError where there is none


def _dividing(ids: Any) -> str:
    return _text([code + 0 // (code - ord(" ")) for code in ids])  # a ZeroDivisionError at a space


def _swapped(text: str) -> str:
    """The first two neighbours that differ, exchanged."""
    for i in range(len(text) - 1):
        if text[i] != text[i + 1]:
            return text[:i] + text[i + 1] + text[i] + text[i + 2 :]
    return text


# {name: (encode, decode)}. Each is sound on some texts and broken on others: the drawn text decides.
PAIRS: dict[str, tuple[Callable[[str], Any], Callable[[Any], Any]]] = {
    "character codes": (_codes, _text),
    "bytes": (lambda text: list(text.encode()), lambda ids: bytes(ids).decode()),
    "words": (lambda text: text.split(" "), " ".join),
    "ids backwards": (lambda text: _codes(text)[::-1], lambda ids: _text(ids[::-1])),
    "an array of ids": (lambda text: np.array(_codes(text)), lambda ids: _text(ids.tolist())),
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
    "has no id for a capital": (_without_capitals, _text),
    "divides by an id": (_codes, _dividing),
}


def pair(name: str) -> Patient:
    """The two ways of that pair: a text in and ids out, and back."""
    encode, decode = PAIRS[name]
    return Patient({"encode": encode, "decode": decode})
