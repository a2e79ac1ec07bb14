"""How the symbols of lesson 05 are called that models are involved in: as lesson 4 does it."""

from __future__ import annotations

from grader.authoring.calls import Probe
from lessons.lesson_04.probes.asking import ask_about
from lessons.lesson_04.probes.translators import look_at

PROBES: dict[str, Probe] = {"future_leak": ask_about, "CausalSeq2SeqTransformer": look_at}
