"""The model that `cached_greedy_decode` writes with: it counts its calls, out of the learner's reach."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import torch

from cellcheck.authoring.patients import Patient
from transformer_course.lessons.lesson_07.writing_models import WritingModel


def counting_model(inputs: Mapping[str, Any], tables: Mapping[str, torch.Tensor]) -> Patient:
    """A `WritingModel` with these tables. `inputs` are the case's: they say how much there is to read."""
    model = WritingModel(tables)
    asked: Counter[str] = Counter()

    def whole(source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        asked["whole"] += 1
        logits: torch.Tensor = model(source, target_input)
        return logits

    def encode(source: torch.Tensor) -> torch.Tensor:
        asked["rows"] += len(source)
        return model.encode(source)

    def read(tokens: torch.Tensor, first: int) -> torch.Tensor:
        asked["tokens"] += tokens.numel()
        return model.read(tokens, first)

    def noted() -> dict[str, Any]:
        work = "each source is encoded once, each token read once"
        if asked["rows"] > len(inputs["source"]):
            work = "Sources are encoded again and again: once is enough."
        elif asked["tokens"] > len(inputs["source"]) * inputs["max_length"]:
            work = "Tokens are read again and again: each should go through decode_step once."
        way = "one new token at a time"
        if asked["whole"]:
            way = "You call model(source, target_input), which reads the whole prefix. What reads one token?"
        return {"way": way, "work": work}

    return Patient({"whole": whole, "encode": encode, "read": read, "logits": model.logits}, noted)
