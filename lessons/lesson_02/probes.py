"""How `round_trips` is called. Its toy tokenizers stay where its cases are, so its probe is here, by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.authoring.calls import Probe


def _round_trips(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    ask = inputs["patient"]
    return {"output": symbol(lambda text: ask("encode", text), lambda ids: ask("decode", ids), inputs["text"])}


PROBES: dict[str, Probe] = {"round_trips": _round_trips}
