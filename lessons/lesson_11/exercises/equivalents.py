"""Mutants of the references that are as right as they are, and why. See `grader.audit`."""

from __future__ import annotations

_REFUSED_ANYWAY = "the table of positions refuses a position that it doesn't have, and any error will do"
_TOO_MANY = "raise ValueError(f'{tokens.shape[1]} tokens are too many: this model has {self.max_length} positions')"
_HOW_LARGE = "the docstring leaves open how large the random numbers of down are"
_DOWN = "self.down = nn.Parameter(torch.randn(rank, linear.in_features).to(like) {})"

EQUIVALENTS: dict[str, dict[str, str]] = {
    "DecoderOnlyTransformer": {
        "if tokens.shape[1] > self.max_length: -> (dropped)": _REFUSED_ANYWAY,
        f"{_TOO_MANY} -> (dropped)": _REFUSED_ANYWAY,
        f"{_TOO_MANY} -> {_TOO_MANY.replace('tokens.shape[1]', 'tokens.shape[2]')}": _REFUSED_ANYWAY,
    },
    "continue_text": {
        "token = logits.argmax(dim=-1) -> token = logits.argmax(dim=1)": "with two axes, axis 1 is the last one",
    },
    "LoRALinear": {
        f"{_DOWN.format('/ linear.in_features ** 0.5')} -> {_DOWN.format(other)}": _HOW_LARGE
        for other in (
            "* linear.in_features ** 0.5",
            "/ (linear.in_features * 0.5)",
            "/ linear.in_features ** 1.5",
        )
    },
}
