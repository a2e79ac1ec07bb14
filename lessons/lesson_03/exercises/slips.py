"""Mistakes that people make in several of lesson 3's layers, and are told the same about each time."""

from __future__ import annotations

from typing import Any

from grader.authoring.spec import Mistake

_ADVICE = {
    "mask_not_passed_on": "The mask changes nothing: forward takes it and never passes it on. Which call needs it?",
    "mask_inverted": (
        "The mask gets inverted on its way. Doesn't the next function read it as you do, True = may attend?"
    ),
    "weights_forgotten": "The output is right, but it comes alone. What else should forward return?",
    "pair_swapped": "Output and weights have changed places. Which one comes first?",
    "no_bias": "Your layers have no bias. Which argument switched it off?",
    "squeezed": "Axes of length 1 disappear from your result. Isn't a batch of one row still a batch?",
    "dropout_added": "Some of your numbers are dropped at random. Does the signature ask for dropout?",
    "x_changed": (
        "The result is right, but the caller's x has changed too. What does += do to a tensor that somebody else holds?"
    ),
    "filled_in_float32": (
        "Whatever comes in, float32 comes out. What dtype does a new tensor of zeros have unless you say otherwise?"
    ),
    "graph_cut": "The numbers are right, but no gradient flows back. Where do they leave the graph?",
}


def slip(name: str, implementation: Any) -> Mistake:
    """The mistake of that name, as it is made in this layer."""
    return Mistake(name, implementation, _ADVICE[name])
