"""`GroupedQueryAttention`: how it is tried. The probe hands the weights in by name."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.calls import given
from cellcheck.authoring.draw import normal, with_gaps
from cellcheck.authoring.modules import answered_rows, followed, hand_in
from transformer_course.causal import causal_mask
from transformer_course.lessons import drawing
from transformer_course.lessons.aspects import special
from transformer_course.lessons.attending import attention_weights, where_answered
from transformer_course.lessons.drawing import Inputs
from transformer_course.lessons.lesson_11.fresh_modules import fresh, learned_numbers
from transformer_course.lessons.lesson_12.drawing import grouped_weights
from transformer_course.lessons.watching import AS_ASKED, Unwatched, asked, first_said
from transformer_course.lessons.wordings import usually_in_words, without_the_wish

MASKS = aspects.central(
    special("masks", weight=8.0, meaning="A mask of any shape that broadcasts decides who sees whom.")
)
SHARED = special("one key head for all", meaning="With num_kv_heads = 1, all query heads share it.")
OWN = special("a key head for each", meaning="With num_kv_heads = num_heads, nothing is shared.")
ONE = special("axes of length one", weight=0.5)
LONG = special("a long text", weight=2.0, meaning="Positions go on as far as the text does.")
EMPTY = special(
    "a row with nothing allowed",
    weight=0.5,
    meaning="Where a row of the mask allows nothing, the results are finite numbers, not NaN.",
)
AGAIN = special(
    "called again",
    weight=4.0,
    meaning="A later call, with a text of another length or without a mask, is as right as the first.",
)


@usually_in_words
def cases(generator: np.random.Generator) -> list[Case]:
    def row(b: int, n: int, heads: int, kv: int, d_head: int, dtype: torch.dtype = torch.float32) -> Inputs:
        d_model = heads * d_head
        return {
            "num_heads": heads,
            "num_kv_heads": kv,
            "x": normal(generator, b, n, d_model, dtype=dtype),
            "weights": grouped_weights(generator, "", d_model, kv * d_head, dtype),
        }

    b, n = (int(k) for k in generator.choice([(2, 5), (3, 5), (3, 7), (2, 7)]))
    wide = 4
    sizes = (b, n, 6, 2, wide)  # groups of three: not as many as there are key heads
    laid_out = with_gaps(row(*sizes))
    again, masked = (row(*sizes) | {"forwards": True} for _ in range(2))
    return [
        Case.of("with two key heads for six query heads", **row(*sizes)),
        Case.of("with three key heads for six query heads", **row(2, n, 6, 3, wide)),
        Case.of("with two key heads for eight query heads", **row(b, n, 8, 2, 2)),
        Case.of("with a mask", MASKS, **row(*sizes), mask=drawing.mask(generator, b, 6, n, n)),
        Case.of("with the causal mask", MASKS, **row(*sizes), mask=causal_mask(n)),
        Case.of("with one key head for all", SHARED, **row(b, n, 4, 1, wide)),
        Case.of("with a key head for each query head", OWN, **row(b, n, 3, 3, wide)),
        Case.of("with a text of 80 tokens", LONG, **row(1, 80, 2, 1, 4), forwards=True),
        Case.of("on a batch of one, with a single token", ONE, **row(1, 1, 4, 2, wide)),
        Case.of(
            "with a row in which nothing is allowed",
            EMPTY,
            **row(*sizes),
            mask=drawing.with_an_empty_row(drawing.mask(generator, b, 6, n, n)),
        ),
        Case.of("in a call that follows one with a single token", AGAIN, **again, before={"x": again["x"][:, :1]}),
        Case.of(
            "in a call without a mask that follows one with a mask",
            AGAIN,
            **masked,
            before={"x": masked["x"], "mask": causal_mask(n)},
        ),
        Case.of("with float64", aspects.FLOAT64, **row(*sizes, dtype=torch.float64)),
        Case.of("with inputs that are not contiguous", aspects.LAYOUT, **laid_out),
    ]


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    inputs, in_words = without_the_wish(inputs)
    x = inputs["x"]
    words = {"turned": first_said(lambda: _turned(symbol))} if in_words else {}
    words["kept"] = first_said(lambda: _kept(symbol))
    module = fresh(symbol, x.shape[-1], inputs["num_heads"], inputs["num_kv_heads"])
    if "before" in inputs:
        hand_in(module, inputs["weights"])
        with torch.no_grad():
            module(*given(inputs["before"], "x", "mask"))
    rows = answered_rows(inputs.get("mask"), x.shape[:-1])
    with torch.set_grad_enabled("forwards" not in inputs):  # where only the output counts, nothing is recorded
        seen = followed(module, inputs["weights"], given(inputs, "x", "mask"), rows, pair=True)
    return {**words, "biased": _biased(module), "size": learned_numbers(module), **seen}


def _with_equal_tokens(symbol: Any, length: int) -> list[list[float]]:
    """The weights of a single head, whose queries and keys are the tokens themselves, where all tokens are equal.

    A position is all that tells one of them from another.
    """
    layer = asked(fresh, symbol, 2, 1, 1).eval()
    _, places = hand_in(layer, {f"{name}.weight": 3 * torch.eye(2) for name in ("query", "key")})
    with torch.no_grad():
        result = asked(layer, torch.tensor([1.0, 0.0]).expand(1, length, 2).clone())
    weights = result[1] if isinstance(result, list | tuple) and len(result) == 2 else None
    if len(places) < 2 or not isinstance(weights, torch.Tensor) or weights.shape != (1, 1, length, length):
        raise Unwatched
    numbers: list[list[float]] = weights[0, 0].tolist()
    return numbers


def _turned(symbol: Any) -> str:
    """Whether queries stand at other positions than keys: each token should look at itself most, if all are equal."""
    length = 5
    weights = _with_equal_tokens(symbol, length)
    most = [max(range(length), key=row.__getitem__) for row in weights]
    away = most[2] - 2
    near = [row for row in range(length) if 0 <= row + away < length]
    if not away or abs(away) > 2 or any(most[row] != row + away for row in near):
        return AS_ASKED
    if any(weights[row][row] < 1e-4 * weights[row][row + away] for row in near):  # it may not look at itself
        return AS_ASKED
    where = f"the {'next' if away > 0 else 'previous'} one{' but one' if abs(away) > 1 else ''}"
    return (
        f"If all tokens are equal, and queries and keys too, each should look at itself most, but it looks at {where}. "
        "Which positions do queries get, and which do keys?"
    )


def _kept(symbol: Any) -> str:
    """Whether the same layer gives the same for the same text once more."""
    torch.manual_seed(0)
    layer = asked(fresh, symbol, 8, 2, 1).eval()
    x = torch.linspace(-2, 2, 48).sin().reshape(2, 3, 8)
    with torch.no_grad():
        first, second = (_output(asked(layer, x.clone())) for _ in range(2))
    if torch.allclose(first, second, rtol=1e-4, atol=1e-5):
        return AS_ASKED
    return "Called again with the same x, your layer gives another output. What does it keep from one call to the next?"


def _output(result: Any) -> torch.Tensor:
    output = result[0] if isinstance(result, list | tuple) and len(result) == 2 else None
    if not isinstance(output, torch.Tensor) or output.shape != (2, 3, 8):
        raise Unwatched
    return output


def _biased(module: torch.nn.Module) -> str:
    """Which of the four layers has a bias: how many numbers there are doesn't say whose they are."""
    layers = {name: getattr(module, name, None) for name in ("query", "key", "value", "output")}
    names = [name for name, layer in layers.items() if isinstance(getattr(layer, "bias", None), torch.Tensor)]
    if not names:
        return AS_ASKED
    if len(names) == 1:
        return f"Your {names[0]} layer has a bias. How many of the four should have one?"
    return f"These of your layers have a bias: {', '.join(names)}. Which argument switches it off?"


def canonical(observation: Observation, case: Case) -> Observation:
    """What a later call gives, or a long text, is asked for once, in the output. See `where_answered` for the rest."""
    apart = (AGAIN.tags | LONG.tags) & case.tags
    seen = {
        name: value for name, value in observation.items() if not apart or name not in ("gradients", "weights", "kept")
    }
    return where_answered(seen, case)


OF_MODULE = aspects.of_module(
    MASKS,
    SHARED,
    OWN,
    LONG,
    ONE,
    EMPTY,
    AGAIN,
    begins=[
        aspects.also(
            "fewer keys and values",
            "biased",
            "size",
            meaning="Key and value learn d_model * num_kv_heads * d_head numbers each.",
        )
    ],
    returned=[attention_weights()],
    parts_weight=2.0,
    values_weight=8.0,
)

# A layer that keeps something fails in its gradients, which a second call follows.
TRIAL = Trial(
    module="transformer_course.language_model.modern",
    points=4,
    cases=cases,
    probe=probe,
    canonical=canonical,
    called={
        "biased": "which layers have a bias",
        "turned": "which token is looked at",
        "kept": "what a second call gives",
        "size": "how many numbers it learns",
        "weights": "the matrix of attention weights",
    },
    aspects=aspects.with_words(aspects.with_words(OF_MODULE, "turned"), "kept", "gradients flow"),
)
