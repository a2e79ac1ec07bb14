"""How `round_trips` and `byte_pair_vocabulary` are called. What their cases are drawn with stays behind."""

from collections.abc import Mapping
from typing import Any

from cellcheck.authoring.calls import Probe, in_order
from transformer_course.lessons.watching import AS_ASKED


def _round_trips(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    ask = inputs["patient"]
    return {"output": symbol(lambda text: ask("encode", text), lambda ids: ask("decode", ids), inputs["text"])}


def _byte_pair_vocabulary(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Of a dictionary whose keys are no texts, only that can be seen: which kind of key it has is said here."""
    merges = [*inputs["merges"]]  # as they are before the call
    seen = {"again": AS_ASKED, **in_order(symbol, inputs)}
    if seen["output"] != in_order(symbol, {"merges": [*merges]})["output"]:
        seen["again"] = "Two calls with the same merges give different ids. What is left over from the first call?"
    others = [key for key in seen["output"] if not isinstance(key, str)] if isinstance(seen["output"], dict) else []
    if others:
        seen["output"] = f"The keys of your dictionary should be texts, but there is a {type(others[0]).__name__}."
    return seen


PROBES: dict[str, Probe] = {"byte_pair_vocabulary": _byte_pair_vocabulary, "round_trips": _round_trips}
