"""`half_precision_step`: how it is tried."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import nn

from cellcheck.authoring import draw, optim
from cellcheck.authoring.aspects import CONTENT, USUAL, also, main, modes, special
from cellcheck.authoring.spec import Aspect, Case, Trial
from transformer_course.lessons.lesson_10.probes import A_FLOAT, number_and_kind
from transformer_course.lessons.watching import AS_ASKED, asked, first_said
from transformer_course.lessons.wordings import usually_in_words, without_the_wish

KEYS = ("computed_in", "weights", "output")
FLOAT16 = special("float16", meaning="The dtype that is passed in is used.", keys=KEYS)
LEFT_OVER = special(
    "gradients left over from before", "", 2.0, "What a parameter's .grad holds before the call has no effect.", KEYS
)
BATCH_OF_ONE = special("a batch of one", keys=KEYS)
IDS = special("inputs and targets that are ids", "", 6.0, "Ids are passed on as they are.", KEYS)
DEVICE = special(
    "another device",
    "",
    2.0,
    "Autocast is switched on for the type of device that the inputs are on.",
    ("asked_for", *KEYS),
)


@usually_in_words
def cases(generator: np.random.Generator) -> list[Case]:
    d, wide, out = draw.dims(generator, 3, 3, 7)

    def drawn(rows: int, dtype: str, **others: Any) -> dict[str, Any]:
        weights = {**draw.linear(generator, "linear_in", d, wide), **draw.linear(generator, "linear_out", wide, out)}
        inputs, targets = draw.normal(generator, rows, d), 3 + draw.normal(generator, rows, out)
        return {"weights": weights, "inputs": inputs, "targets": targets, "dtype": dtype, **others}

    def ids(rows: int) -> dict[str, Any]:
        words = 300  # bfloat16 has no 257
        return drawn(rows, "bfloat16") | {
            "table": draw.normal(generator, words, d),
            "inputs": words - 1 - draw.integers(generator, 0, 40, rows),
            "targets": draw.integers(generator, 0, out, rows),
        }

    a, b = draw.dims(generator, 2, 3, 9)
    return [
        Case.of("in bfloat16", **drawn(a, "bfloat16")),
        Case.of("in float16", **drawn(b, "float16")),
        Case.of("in float16 with other weights", FLOAT16, **drawn(a, "float16")),
        Case.of("with gradients left over from before", LEFT_OVER, **drawn(b, "bfloat16", left_over=True)),
        Case.of("with a batch of one", BATCH_OF_ONE, **drawn(1, "bfloat16")),
        Case.of("with ids", IDS, **ids(a)),
        Case.of("with inputs on another device", DEVICE, **drawn(a, "bfloat16", device="xpu")),
    ]


class _Watched(nn.Module):
    """A network of two layers that notes what its first layer computes in. Ids go through a table first."""

    def __init__(self, weights: Mapping[str, torch.Tensor], table: torch.Tensor | None) -> None:
        super().__init__()
        (wide, narrow), (out, _) = weights["linear_in.weight"].shape, weights["linear_out.weight"].shape
        self.linear_in, self.linear_out = nn.Linear(narrow, wide), nn.Linear(wide, out)
        self.load_state_dict(dict(weights))
        self.table = None if table is None else nn.Embedding(len(table), len(table.T), _weight=table.clone())
        self.dtypes: list[str] = []
        self.held: list[str] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.linear_in(x if self.table is None else self.table(x))
        self.dtypes.append(str(hidden.dtype))
        self.held.append(str(self.linear_in.weight.dtype))
        result: torch.Tensor = self.linear_out(torch.relu(hidden))
        return result


class _Elsewhere(torch.Tensor):
    """Numbers that say they are on another device, in another dtype as well. No machine has every device."""

    __torch_function__ = torch._C._disabled_torch_function_impl  # type: ignore[assignment]
    device = property(lambda self: torch.device("xpu", 0))

    def to(self, *arguments: Any, **options: Any) -> torch.Tensor:
        return super().to(*arguments, **options).as_subclass(_Elsewhere)

    def half(self, *arguments: Any, **options: Any) -> torch.Tensor:
        return super().half(*arguments, **options).as_subclass(_Elsewhere)

    def bfloat16(self, *arguments: Any, **options: Any) -> torch.Tensor:
        return super().bfloat16(*arguments, **options).as_subclass(_Elsewhere)


class _WeightElsewhere(nn.Parameter):
    """The same for a weight."""

    device = property(lambda self: torch.device("xpu", 0))


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The loss, the weights after a step of SGD, the dtypes on the way there, and what autocast was asked for."""
    inputs, in_words = without_the_wish(inputs)
    model = _Watched(inputs["weights"], inputs.get("table"))
    if inputs.get("left_over"):
        for parameter in model.parameters():
            parameter.grad = torch.full_like(parameter, 2.0)
    rows = inputs["inputs"]
    if "device" in inputs:
        rows = rows.as_subclass(_Elsewhere)
        for parameter in model.parameters():
            parameter.__class__ = _WeightElsewhere
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    steps: list[int] = []
    optimizer.register_step_post_hook(lambda *_: steps.append(1))
    dtype = getattr(torch, inputs["dtype"])
    half: list[bool] = []

    def loss_function(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        half.append(torch.is_autocast_enabled("cpu"))
        if not targets.is_floating_point():
            return nn.functional.cross_entropy(outputs.float(), targets)
        return (outputs.float() - targets.float()).square().mean()

    with _autocast_for_any_device() as devices:
        output = symbol(model, rows, inputs["targets"], loss_function, optimizer, dtype)
    words = {"step": first_said(lambda: _step(symbol, dtype))} if in_words else {}
    parameters = list(model.parameters())
    seen = {
        **words,
        **number_and_kind(output),
        "weights": [torch.as_tensor(parameter.detach()).float() for parameter in parameters],
        "computed_in": model.dtypes,
        "held_in": sorted({str(parameter.dtype) for parameter in parameters} | set(model.held)),
        "loss_under": "under autocast" if all(half) else "outside it",
        "steps": len(steps),
        "training_mode": model.training,
    }
    if "device" in inputs:
        seen["asked_for"] = sorted({_kind(device) for device in devices})
    return seen


def _step(symbol: Any, dtype: torch.dtype) -> str:
    """How long the step is on one weight, from 0 towards 1, where all numbers are exact in 16 bits."""
    model = nn.Linear(1, 1, bias=False)
    model.weight.data.zero_()
    ones = torch.ones(3, 1)
    with _autocast_for_any_device():
        asked(symbol, model, ones, ones, nn.functional.mse_loss, optim.SGD(model.parameters(), lr=0.5), dtype)
    times = model.weight.item()
    if not abs(times) > 1e-3 or abs(times - 1) < 0.1:
        return AS_ASKED
    if times < 0:
        return "Your step goes the wrong way: the loss rises. Which sign has the gradient that the optimiser gets?"
    return f"Your step is {times:.3g} times as long as it should be. By what is the loss, or its gradient, multiplied?"


def _kind(device: str) -> str:
    """A device that isn't alone has a number, which is no part of its type."""
    if device.startswith("xpu"):
        return "that of the inputs" if device == "xpu" else "a device with its number"
    return f"{device}, wherever the inputs are"


@contextmanager
def _autocast_for_any_device() -> Iterator[list[str]]:
    """Autocast works on the CPU, whatever type of device it is asked for; the list gets what it was asked for."""
    kind: Any = torch.amp.autocast_mode.autocast
    usual: Callable[..., None] = kind.__init__
    devices: list[str] = []

    def noting(self: Any, device_type: Any, *arguments: Any, **options: Any) -> None:
        devices.append(str(device_type))
        usual(self, "cpu" if isinstance(device_type, str) else device_type, *arguments, **options)

    kind.__init__ = noting
    try:
        yield devices
    finally:
        kind.__init__ = usual


TRIAL = Trial(
    module="transformer_course.training_well.half",
    points=2,
    cases=cases,
    probe=probe,
    called={
        "output": "the loss",
        "kind": "what is returned",
        "step": "the length of the step",
        "weights": "the weights afterwards",
        "computed_in": "what the layers compute in",
        "held_in": "what the weights are held in",
        "loss_under": "where the loss is computed",
        "asked_for": "the device that autocast is switched on for",
        "steps": "how often the optimiser stepped",
    },
    aspects=(
        A_FLOAT,
        main("layers compute in dtype", 5.0, ("computed_in",), "In the forward pass the layers compute in dtype."),
        main("the weights afterwards", 4.0, ("step", "weights"), "The weights are those after one step."),
        Aspect("the loss", ("output",), CONTENT, 2.0, tags=USUAL, meaning="The result is the loss before the step."),
        also(
            "weights stay float32",
            "held_in",
            weight=6.0,
            meaning="The weights themselves are never turned into dtype.",
        ),
        also("the loss under autocast", "loss_under", meaning="The loss function is called under autocast, too."),
        also("one step of the optimiser", "steps", meaning="The optimiser that is passed in takes one step."),
        FLOAT16,
        DEVICE,
        IDS,
        LEFT_OVER,
        BATCH_OF_ONE,
        modes(),
    ),
)
