"""Mutants of the references that are as right as they are, and why. See `grader.audit`."""

from __future__ import annotations

_ON_THE_BORDER = "a random number that equals p exactly may be dropped or kept"
_FIRST_LOSS = "the first loss is better than infinity, and sets the count and the best"

_KEPT = "kept = torch.rand(x.shape, device=x.device) {} self.p"

EQUIVALENTS: dict[str, dict[str, str]] = {
    "can_overfit": {
        "loss = math.inf -> (dropped)": "the loop gives it a value before it is read",
        "for _ in range(300): -> for _ in range(301):": "what step 301 returns is the loss after 300 steps",
        "return bool(loss < 0.05) -> return bool(loss <= 0.05)": "no loss is exactly 0.05",
    },
    "warmup_schedule": {
        "if step <= warmup_steps: -> if step < warmup_steps:": "at warmup_steps, both formulas give the peak",
        "if step >= total_steps: -> if step > total_steps:": "at total_steps, the cosine is -1 and the rate 0",
    },
    "clip_gradients": {"if norm > max_norm: -> if norm >= max_norm:": "at max_norm, the factor is 1"},
    "Dropout": {f"{_KEPT.format('>=')} -> {_KEPT.format('>')}": _ON_THE_BORDER},
    "EarlyStopping": {
        "self.failures = 0 -> (dropped)": _FIRST_LOSS,
        "self.failures = 0 -> self.failures = 1": _FIRST_LOSS,
    },
}
