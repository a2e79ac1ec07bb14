"""How the symbols of lesson 08 are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cellcheck.authoring.calls import Probe
from transformer_course.lessons.lesson_08.probes import layers, resuming, stacks, whole


def _masks_are_sound(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    ask = inputs["patient"]
    return {"output": symbol(lambda source, target_input: ask("masks", source, target_input))}


PROBES: dict[str, Probe] = {
    "PositionwiseFeedForward": layers.feed_forward,
    "EncoderLayer": layers.encoder_layer,
    "DecoderLayer": layers.decoder_layer,
    "masks_are_sound": _masks_are_sound,
    "Encoder": stacks.look_at,
    "Decoder": stacks.look_at,
    "Transformer": whole.look_at,
    "save_checkpoint": resuming.save,
    "load_checkpoint": resuming.load,
}
