"""Mutants of the references that are as right as they are, and why. See `grader.audit`."""

from __future__ import annotations

_AT_ZERO = "a ReLU has no slope at 0, and the docstring leaves open what comes back there"
_AS_LONG = "as many gradients as parameters are promised, and strict only says what happens to a broken promise"
_HIDDEN = "both are so far below every score that the exponential is 0"
_ON_THE_BORDER = "a random number that equals p exactly may be dropped or kept"
_LAST_AXIS = "the last axis is what NumPy takes when none is named"

_SCORES = "scores = np.where(mask, scores, np.array({}, dtype=scores.dtype))"
_KEPT = "kept = self.generator.random(x.shape) {} self.p if self.training else np.ones(x.shape, dtype=bool)"
_CHOSEN = "chosen = np.take_along_axis(logits - log_sums, targets[..., None]{})[..., 0]"
_ADAM = "for parameter, m, v, gradient in zip(self.parameters, self.means, self.squares, gradients, strict={}):"
_SGD = "for parameter, gradient in zip(self.parameters, gradients, strict={}):"

EQUIVALENTS: dict[str, dict[str, str]] = {
    "ReLU": {"self.positive = x > 0 -> self.positive = x >= 0": _AT_ZERO},
    "cross_entropy": {f"{_CHOSEN.format(', axis=-1')} -> {_CHOSEN.format('')}": _LAST_AXIS},
    "SGD": {f"{_SGD.format(True)} -> {_SGD.format(False)}": _AS_LONG},
    "Adam": {f"{_ADAM.format(True)} -> {_ADAM.format(False)}": _AS_LONG},
    "MultiHeadAttention": {f"{_SCORES.format('-1000000000.0')} -> {_SCORES.format('-2000000000.5')}": _HIDDEN},
    "Dropout": {f"{_KEPT.format('>=')} -> {_KEPT.format('>')}": _ON_THE_BORDER},
}
