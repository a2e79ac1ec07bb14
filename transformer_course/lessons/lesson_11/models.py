"""How both models of this lesson are tried."""

import dis
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Aspect, Case, aspects
from cellcheck.authoring.calls import given
from cellcheck.authoring.modules import built, followed
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_11.fresh_modules import fresh, learned_numbers, looked_at_in_both_modes
from transformer_course.lessons.watching import AS_ASKED, asked, first_said
from transformer_course.lessons.wordings import without_the_wish

ONE_BLOCK = aspects.special("one block", meaning="A model with a single block is right too.")
ONE = aspects.special("axes of length one")


def aspects_of(*own: Aspect, gradients: float = 2.0) -> tuple[Aspect, ...]:
    """What matters about either model, and about one of them only. The gradients have a weight of their own."""
    return (
        aspects.parts(4.0),
        aspects.also(
            "nothing else to learn",
            "size",
            weight=5.0,
            meaning="Nothing learns but the parts that the docstring names.",
        ),
        aspects.shape(),
        aspects.central(aspects.worded(aspects.values(10.0), "stages")),
        aspects.gradients(gradients),
        ONE_BLOCK,
        ONE,
        *own,
        aspects.modes(),
        aspects.untouched(),
    )


def sizes_of(generator: np.random.Generator, num_heads: int, num_layers: int) -> dict[str, int]:
    """The sizes of a model with heads of two columns each."""
    d_ff, vocab_size = int(generator.integers(9, 12)), int(generator.integers(12, 16))
    return {
        "vocab_size": vocab_size,
        "d_model": 2 * num_heads,
        "num_heads": num_heads,
        "d_ff": d_ff,
        "num_layers": num_layers,
    }


def tokens_of(generator: np.random.Generator, vocab_size: int, b: int, n: int) -> torch.Tensor:
    """Rows of different tokens."""
    return torch.from_numpy(np.stack([generator.permutation(vocab_size)[:n] for _ in range(b)]))


def cases_of(model: Callable[[int, int, int, int], Inputs], b: int, n: int) -> list[Case]:
    """The cases of either model. `model` draws one: batch, length, heads and blocks."""
    return [
        Case.of("with two blocks", **model(b, n, 4, 2)),
        Case.of("with three blocks", **model(n, b, 2, 3)),
        Case.of("with one block", ONE_BLOCK, **model(b, n, 4, 1)),
        Case.of("on a batch of one, with a single token", ONE, **model(1, 1, 4, 2)),
    ]


def sizes_and_tokens(case: Case) -> dict[str, Any]:
    """What a card shows of a case."""
    return {**case.inputs["sizes"], "tokens": case.inputs["tokens"]}


SIZES = ("vocab_size", "max_length", "d_model", "num_heads", "num_kv_heads", "d_ff", "num_layers")
"""What a model is made with, in this order."""


def probe_model(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """What is seen of a model with the case's sizes and weights; of a new one, how large its logits are."""
    inputs, in_words = without_the_wish(inputs)
    tokens, before, sizes = inputs["tokens"], inputs["tokens"].clone(), given(inputs["sizes"], *SIZES)
    if inputs.get("new"):
        return _beginning(symbol, sizes, tokens)
    module = fresh(symbol, *sizes)
    if "before" in inputs:
        module(inputs["before"])
    if inputs.get("too_long"):
        return _refusal(module, tokens)
    learning = inputs.get("evaluated") is False
    seen = {"size": learned_numbers(module), **followed(module, inputs["weights"], [tokens], learning=learning)}
    if "evaluated" in inputs and isinstance(seen["output"], torch.Tensor):
        seen |= looked_at_in_both_modes(module.to(torch.float32), before, inputs["evaluated"])
    if in_words:
        seen = {"stages": first_said(lambda: asked(_stages, module, before)), **seen}
    if "max_length" in inputs["sizes"]:
        seen["positions"] = getattr(module, "max_length", "missing")
    return seen


def _stages(module: torch.nn.Module, tokens: torch.Tensor) -> str:
    """Whether each block runs once, in order, on what the one before it returned, and the final norm after the last."""
    with torch.no_grad():
        once, twice = (asked(module.train(), tokens) for _ in range(2))
    if not torch.equal(once, twice):
        return AS_ASKED  # what is drawn anew at each call tells nothing
    blocks = list(getattr(module, "blocks", []))
    names = {block: f"block {place}" for place, block in enumerate(blocks)}
    norm = getattr(module, "final_norm", None)
    calls: list[tuple[Any, torch.Tensor, torch.Tensor]] = []

    def note(part: Any, arguments: Any, result: Any) -> None:
        calls.append((part, arguments[0].detach().clone(), result.detach().clone()))

    parts = [part for part in (*blocks, norm) if isinstance(part, torch.nn.Module)]
    hooks = [part.register_forward_hook(note) for part in dict.fromkeys(parts)]
    try:
        with torch.no_grad():
            asked(module.eval(), tokens)
    finally:
        for hook in hooks:
            hook.remove()
    run = [names[part] for part, _, _ in calls if part in names]
    if run != list(names.values()) or not run:
        in_words = ", ".join(run) or "no block at all"
        return f"Counted from 0, you run {in_words}. Which blocks are there, and in which order does each run once?"
    order = [part for part, _, _ in calls]
    if norm in order and (order.count(norm) > 1 or order[-1] is not norm):
        where = "more than once" if order.count(norm) > 1 else "before the last block has run"
        return f"Your final_norm is applied {where}. Where alone does the docstring have it?"
    for (one, _, result), (other, taken, _) in pairwise(calls):
        if taken.shape == result.shape and not torch.allclose(taken, result, rtol=1e-4, atol=1e-4):
            name = "final_norm" if other is norm else names[other]
            return f"What goes into {name} isn't what {names[one]} returned. What happens to it in between?"
    return AS_ASKED


def _beginning(symbol: Any, sizes: list[Any], tokens: torch.Tensor) -> dict[str, Any]:
    """How large a new model's logits are; of one with a table of positions, also how its tables begin."""
    torch.default_generator.manual_seed(0)
    model, another = built(symbol, *sizes), built(symbol, *sizes)
    logits = model(tokens)
    spread = float(logits.detach().std()) if isinstance(logits, torch.Tensor) else float("nan")
    seen: dict[str, Any] = {"new": "small numbers" if spread < 1.5 else "large numbers"}
    if len(sizes) != len(SIZES) - 1 or not hasattr(model, "positions"):
        return seen
    for name, part in (("embedding", "embedding"), ("positions", "positions.embedding")):
        tables = [_table(module, part) for module in (model, another)]
        seen[f"{name}_begins"] = _in_words(*tables)
    norm = [part.detach() for name, part in model.named_parameters() if name.startswith("final_norm.")]
    seen["norm_begins"] = "as a norm begins" if all(bool((p == p[0]).all()) for p in norm) else "with other numbers"
    return seen


def _table(model: torch.nn.Module, part: str) -> torch.Tensor | None:
    """The weight of a part; where somebody's positions are a table themselves, of that."""
    module: Any = model
    for step in part.split("."):
        module = getattr(module, step, module)
    weight = getattr(module, "weight", None)
    return weight.detach() if isinstance(weight, torch.Tensor) else None


def _in_words(table: torch.Tensor | None, another: torch.Tensor | None) -> str:
    """The numbers with which a table begins, coarsely: of so few, the standard deviation is known to some percent."""
    if table is None or another is None:
        return "no such table"
    spread = float(table.std())
    if torch.equal(table, another):
        return "the same numbers in every new model"
    if not 0.016 < spread < 0.025:
        about = next((word for word, value in SPREADS.items() if value / 1.25 < spread < value * 1.25), None)
        return about or f"a standard deviation {'above' if spread > 0.02 else 'below'} 0.02"
    if abs(float(table.mean())) > 0.005:
        return "a mean that isn't 0"
    normal = float(table.abs().max()) > 2.1 * spread
    return "normal random numbers with a standard deviation of 0.02" if normal else "numbers that aren't normal"


SPREADS = {"a standard deviation of 1": 1.0, "a standard deviation of 0.01": 0.01}
"""Those that people leave as they are, or know from elsewhere."""


def _refusal(module: torch.nn.Module, tokens: torch.Tensor) -> dict[str, Any]:
    """Whether a model refuses a text by itself, in both modes, or only stops somewhere inside."""
    by_mode = {mode: _refused(module.train(mode == "training"), tokens) for mode in ("training", "eval")}
    alone = [mode for mode, what in by_mode.items() if what is REFUSED]
    if len(alone) == 1:
        return {"output": f"{REFUSED}, in {alone[0]} mode only"}
    return {"output": by_mode["training"]}


REFUSED = "an error of the model's own"


def _refused(module: torch.nn.Module, tokens: torch.Tensor) -> Any:
    try:
        return module(tokens)
    except (ValueError, AssertionError):
        return REFUSED
    except Exception as error:
        frame = error.__traceback__
        while frame is not None and frame.tb_next is not None:
            frame = frame.tb_next
        raised = frame is not None and frame.tb_frame.f_code.co_code[frame.tb_lasti] == dis.opmap["RAISE_VARARGS"]
        return "another error of its own" if raised and _is_theirs(frame, module) else "only an error from within"


def _is_theirs(frame: Any, module: torch.nn.Module) -> bool:
    """Whether a line stands in the model's own class, and not in PyTorch's."""
    return bool(frame.tb_frame.f_globals.get("__name__") == type(module).__module__)
