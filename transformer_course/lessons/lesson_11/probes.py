"""How the symbols of lesson 11 are called whose cases know too much to travel."""

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import torch
from torch import nn

from cellcheck.authoring.calls import Probe, given, plain_bool
from transformer_course.lessons.lesson_11.randomness import source_of_randomness
from transformer_course.lessons.watching import AS_ASKED

Inputs = Mapping[str, Any]


def _targets_are_next(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    ask, ids, asked = inputs["patient"], inputs["ids"], [0]

    def make_batch(ids: Any, generator: Any) -> Any:
        asked[0] += 1
        number = int(torch.randint(2**31, (1,), generator=generator))
        return tuple(ask("batch", ids, number))

    answer = plain_bool(symbol(make_batch, ids))
    return {"output": answer, "batches": _looked_at(asked[0]) if answer is True else "enough"}


def _looked_at(batches: int) -> str:
    """Whether as many batches are looked at as should be before an answer says True."""
    if batches >= 100:
        return "enough"
    if batches == 1:
        return "You say True after a single batch. A fault of one batch in ten gets past you: how many should there be?"
    so_far = "after fewer batches than the docstring asks for" if batches else "without a look at a batch"
    return f"You say True {so_far}. How likely is it that you see a fault of one batch in ten?"


class _Toy(nn.Module):
    """Logits by the last token, and a little by the first one it reads."""

    def __init__(self, table: torch.Tensor, first: torch.Tensor, max_length: int | None) -> None:
        super().__init__()
        self.table, self.first = nn.Parameter(table), first if first.any() else None
        self.longest, self.recorded = max_length, False
        if max_length is not None:
            self.max_length = max_length

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        if tokens.dim() != 2 or len(tokens) != 1:
            raise ValueError(f"a model wants tokens of shape (1, length), and these are {tuple(tokens.shape)}")
        if self.longest is not None and tokens.shape[1] > self.longest:
            raise ValueError(f"{tokens.shape[1]} tokens are too many: this model has {self.longest} positions")
        self.recorded = self.recorded or torch.is_grad_enabled()
        logits = self.table[tokens]
        return logits if self.first is None else logits + self.first[tokens[:, :1]]


def _continue(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    prompt, settings = inputs["prompt"], given(inputs, "new", "temperature", "top_p")
    model = _Toy(inputs["table"], inputs["first"], inputs.get("max_length"))

    def drawn(generator: torch.Generator) -> Any:
        return symbol(model, prompt.clone(), *settings, generator).tolist()

    if inputs.get("chance"):
        return {"chance": source_of_randomness(drawn, inputs["seed"])}
    model.train(inputs["training"])
    before = prompt.clone()
    generator = torch.Generator().manual_seed(inputs["seed"])
    output = symbol(model, prompt, *settings, generator)
    seen = {
        "arguments": [before, prompt],
        "training_mode": model.training,
        "recorded": "recorded" if model.recorded else "not recorded",
    }
    look = inputs.get("look")
    if look is None:
        return {"sure": _sure(drawn, inputs), **seen, "output": output}
    if not isinstance(output, torch.Tensor) or output.dim() != 1:
        return {**seen, look: "no text of shape (length,)"}
    text = output.long().tolist()
    if look == "draws":
        words = _draws(text[len(prompt) - 1 :], model.table.argmax(-1).tolist())
        if inputs["temperature"] > 1 and words == SAMPLED and _begins_alike(symbol, model, inputs):
            words = (
                "The first token that you add is the same with every seed, and the later ones aren't. From where on "
                "does your loop sample?"
            )
        return {**seen, look: words}
    written = text[len(prompt) :]
    if look == "share":
        return {**seen, look: _in_words(written.count(inputs["rare"]) / max(len(written), 1))}
    if len(set(written)) == 1:
        return {**seen, look: "the same one every time"}
    return {**seen, look: ", ".join(map(str, sorted(set(written))))}


def _sure(drawn: Callable[[torch.Generator], Any], inputs: Inputs) -> str:
    """Whether chance has no say where a single token is left to choose from."""
    if inputs.get("look") or inputs["new"] > 20 or (inputs["temperature"] > 0 and inputs["top_p"] > 0.1):
        return AS_ASKED
    try:
        texts = [drawn(torch.Generator().manual_seed(inputs["seed"] + more)) for more in range(3)]
    except Exception:  # the case itself shows what it stops with
        return AS_ASKED
    if all(text == texts[0] for text in texts):
        return AS_ASKED
    if inputs["temperature"] == 0:
        return "At temperature 0, another seed gives you another text. Which token should be taken there, every time?"
    return (
        "Here top_p leaves one token to choose from, but another seed gives you another text. Where does top_p enter?"
    )


def _in_words(share: float) -> str:
    """A share of 200 draws so coarsely that chance never changes the words, neither for 1/8 nor for what people make
    of it: hardly ever without the temperature, with its root or multiplied, and 4 in 9 with its square."""
    if share <= 0.025:
        return "hardly ever"
    if share < 0.27:
        return "about one time in eight"
    return "nearly half of the time" if share < 0.62 else "most of the time"


def _draws(text: list[int], best: list[int]) -> str:
    """How a long text was drawn from a model that looks at the last token alone, and is never sure."""
    steps = list(pairwise(text))
    if all(best[token] == follower for token, follower in steps):
        return "always the most likely one"
    if len(set(steps)) == len(set(text[:-1])):
        return "always the same one"
    return SAMPLED


SAMPLED = "now this one, now that one"


def _begins_alike(symbol: Any, model: torch.nn.Module, inputs: Inputs) -> bool:
    """Whether the first of the new tokens is the same with 20 seeds, by chance once in 10¹⁵ times, and others not."""
    length = len(inputs["prompt"])
    settings = given(inputs, "temperature", "top_p")
    try:
        seeds = (torch.Generator().manual_seed(seed) for seed in range(20))
        texts = [symbol(model, inputs["prompt"].clone(), 3, *settings, seed).tolist()[length:] for seed in seeds]
    except Exception:  # the other cases show what it stops with
        return False
    return len({tuple(text[:1]) for text in texts}) == 1 < len(set(map(tuple, texts)))


PROBES: dict[str, Probe] = {"targets_are_next": _targets_are_next, "continue_text": _continue}
