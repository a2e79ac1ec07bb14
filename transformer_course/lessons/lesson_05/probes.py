"""How those symbols of lesson 05 are called that a model is involved in, as lesson 4 does it, and `causal_mask`."""

from collections.abc import Mapping
from typing import Any

from cellcheck.authoring.calls import Probe
from transformer_course.lessons.lesson_04.probes.asking import ask_about
from transformer_course.lessons.lesson_04.probes.translators import look_at


def _causal_mask(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """There are no arguments that it could change."""
    return {"output": symbol(inputs["length"])}


PROBES: dict[str, Probe] = {"future_leak": ask_about, "causal_mask": _causal_mask, "CausalSeq2SeqTransformer": look_at}
