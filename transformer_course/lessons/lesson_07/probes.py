"""How most symbols of lesson 07 are called. What travels is here: their cases know answers, or patients, and stay."""

import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring.calls import Probe, call, plain_bool, state
from transformer_course.lessons.lesson_07.toy_answers import answer_of
from transformer_course.lessons.lesson_07.writing_models import CachedStandIn, WritingModel

TASK = ("source", "start_id", "end_id", "max_length")


def _kind(ids: Any) -> str:
    if not isinstance(ids, torch.Tensor):
        return "The ids should be a tensor."
    whole = not (ids.is_floating_point() or ids.is_complex() or ids.dtype == torch.bool)
    dtype = str(ids.dtype).removeprefix("torch.")
    return "whole numbers" if whole else f"Your ids are {dtype}. What kind of number is an id?"


def _written(symbol: Any, inputs: Mapping[str, Any], *more: Any) -> tuple[WritingModel, dict[str, Any]]:
    """Lets a decoder write with a fresh toy model."""
    model = WritingModel(inputs["tables"])
    return model, _tried(symbol, model, inputs, *more)


def _tried(symbol: Any, model: Any, inputs: Mapping[str, Any], *more: Any) -> dict[str, Any]:
    model.train(inputs.get("training", True))
    output = symbol(model, *(inputs[name] for name in TASK), *more)
    return {
        "output": output,
        "kind": _kind(output),
        "training_mode": model.training,
        "arguments": state([inputs["source"], *model.parameters()]),
    }


def _greedy_decode(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    return _written(symbol, inputs)[1]


def _beam_search(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    penalty = [inputs["length_penalty"]] if "length_penalty" in inputs else []
    return _written(symbol, inputs, inputs["beam_width"], *penalty)[1]


class _Remembering:
    """A model that says the end at once, and notes whether the cache it is given has been used before."""

    def __init__(self, end_id: int) -> None:
        self.end_id, self.steps, self.used = end_id, 0, False

    def encode(self, source: torch.Tensor) -> torch.Tensor:
        return torch.zeros(*source.shape, 1)

    def decode_step(self, tokens: torch.Tensor, encoder_states: torch.Tensor, cache: Any) -> torch.Tensor:
        column = torch.zeros(len(tokens), 1, 1, 1)
        length = cache.append(0, column, column)[0].shape[2]
        self.steps += 1
        self.used = self.used or length > self.steps
        return torch.nn.functional.one_hot(torch.full((len(tokens), 1), self.end_id), self.end_id + 1).float()


def _kept_from_call_to_call(symbol: Any, inputs: Mapping[str, Any]) -> bool:
    """Whether a second call finds in its cache what the first one left there."""
    task = [inputs[name] for name in ("start_id", "end_id")]
    try:
        for _ in range(2):
            model = _Remembering(inputs["end_id"])
            symbol(model, inputs["source"][:1], *task, 1)
    except Exception:  # the case itself will say what is wrong
        return False
    return model.used


def _cached_greedy_decode(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Lets it write.

    Raises:
        RuntimeError: when the cache is kept from one call to the next. All that follows would go wrong.
    """
    if _kept_from_call_to_call(symbol, inputs):
        raise RuntimeError("the cache isn't empty when a new call begins: it holds what an earlier call has read")
    return _tried(symbol, CachedStandIn(inputs["patient"], {"weight": torch.ones(3)}), inputs)


def _followed(draw: Callable[[torch.Generator], Any], seed: int) -> str:
    """Where the randomness comes from: the same seed twice, another one, one generator twice, the global generator."""

    def state_of_all() -> list[Any]:
        return [torch.get_rng_state().tolist(), np.random.get_state()[1].tolist(), random.getstate()]  # type: ignore[index]

    def ids(generator: torch.Generator) -> Any:
        drawn = draw(generator)
        return drawn.tolist() if isinstance(drawn, torch.Tensor | np.ndarray) else drawn

    before = state_of_all()
    generator = torch.Generator().manual_seed(seed)
    first, second = ids(generator), ids(generator)
    if first != ids(torch.Generator().manual_seed(seed)):
        return "The same seed gives another result: does all randomness come from the generator?"
    if first == ids(torch.Generator().manual_seed(seed + 1)):
        return "Another seed gives the same result: does the randomness come from the generator?"
    if first == second:
        return "A second call with the same generator gives the same result: do you seed it again?"
    if state_of_all() != before:
        return "The global random numbers are used too: does all randomness come from the generator?"
    return "from the generator alone"


def _sample_with_temperature(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    logits, temperature, seed = inputs["logits"], inputs["temperature"], inputs["seed"]
    if inputs["repeat"]:
        logits = logits.repeat_interleave(inputs["repeat"], dim=0)
    seen = call(lambda logits: symbol(logits, temperature, torch.Generator().manual_seed(seed)), logits)
    seen["kind"] = _kind(seen["output"])
    shape = getattr(seen["output"], "shape", None)
    seen["rows"] = (
        "one token per row"
        if shape == logits.shape[:1]
        else f"Your result should be one token per row: {tuple(logits.shape[:1])}."
    )
    if inputs["chance"]:
        seen["chance"] = _followed(lambda generator: symbol(logits, temperature, generator), seed)
    return seen


def _best_of_n(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    n, seed = inputs["n"], inputs["seed"]
    _, seen = _written(symbol, inputs, n, torch.Generator().manual_seed(seed))
    if inputs["chance"]:
        model = WritingModel(inputs["tables"])
        task = [inputs[name] for name in TASK]
        seen["chance"] = _followed(lambda generator: symbol(model, *task, n, generator), seed)
    return seen


def _generate(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    settings = [inputs[name] for name in ("temperature", "k", "p")]
    _, seen = _written(symbol, inputs, *settings, torch.Generator().manual_seed(inputs["seed"]))
    if inputs["chance"]:
        model = WritingModel(inputs["tables"])
        task = [inputs[name] for name in TASK]
        seen["chance"] = _followed(lambda generator: symbol(model, *task, *settings, generator), inputs["seed"])
    return seen


def _filter(parameter: str) -> Probe:
    def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
        logits = inputs["logits"]
        seen = call(symbol, logits, inputs[parameter])
        output = seen["output"]
        same = isinstance(output, torch.Tensor) and output.data_ptr() == logits.data_ptr()
        return {
            **seen,
            "tensor": "You return the caller's own tensor. How do you make a new one?" if same else "a new one",
        }

    return probe


def _ends_each_sequence(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    sources = inputs["sources"]
    ask = inputs["patient"]

    def decode(model: Any, sources: Any) -> Any:
        return ask("decode", sources, model(sources), [model(source[None]) for source in sources])

    answer = plain_bool(symbol(decode, answer_of, sources))
    return {"output": answer, "arguments": sources}


PROBES: dict[str, Probe] = {
    "greedy_decode": _greedy_decode,
    "sample_with_temperature": _sample_with_temperature,
    "top_k_filter": _filter("k"),
    "top_p_filter": _filter("p"),
    "generate": _generate,
    "ends_each_sequence": _ends_each_sequence,
    "beam_search": _beam_search,
    "best_of_n": _best_of_n,
    "cached_greedy_decode": _cached_greedy_decode,
}
