"""`ov_circuit`: how it is tried."""

from itertools import product
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.battery import Battery
from cellcheck.authoring.calls import in_order_with_gradients
from cellcheck.authoring.draw import normal

SINGLE = aspects.special("a single head", meaning="With a single head, the result is right too.")
NARROW = aspects.special("heads of width one", meaning="With heads of width one, the result is right too.")


def cases(generator: np.random.Generator) -> list[Case]:
    h, width = (int(size) for size in generator.permutation([3, 4]))

    def drawn(v: int, h: int, width: int, dtype: Any = None) -> dict[str, Any]:
        d = h * width
        return {
            "embedded": normal(generator, v, d, dtype=dtype),
            "value": normal(generator, d, d, dtype=dtype) / d**0.5,
            "output": normal(generator, d, d, dtype=dtype) / d**0.5,
            "readout": normal(generator, v, d, dtype=dtype),
            "num_heads": h,
        }

    usual = Battery(drawn, v=8, h=h, width=width)
    return [
        usual.different(),
        Case.of("with as many heads as numbers a head", **drawn(5, 3, 3)),
        Case.of("with as many symbols as the stream is wide", **drawn(12, h, width)),
        Case.of("with a single symbol", aspects.BATCH_OF_ONE, **drawn(1, h, width)),
        Case.of("with a single head", SINGLE, **drawn(5, 1, 4)),
        Case.of("with heads of width one", NARROW, **drawn(7, 4, 1)),
        usual.float64(),
        usual.not_contiguous(),
    ]


AS_ASKED = "from value to read-out"


def with_its_way(observation: Observation, case: Case) -> Observation:
    """What a result is made of instead, where it is a product of other matrices, or of other blocks of them."""
    if "error" in observation:
        return observation
    result, words = observation.get("output"), AS_ASKED
    if isinstance(result, torch.Tensor) and result.dim() == 3 and len(result) == 1 < case.inputs["num_heads"]:
        embedded, value, output, readout = (case.inputs[n].detach() for n in ("embedded", "value", "output", "readout"))
        if _near(result[0].detach().double(), (embedded @ value.T @ output.T @ readout.T).double()):
            return {
                "way": "Your result is the votes of all heads, added up. Which of the blocks belong to head h?",
                **observation,
            }
    elif isinstance(result, torch.Tensor) and result.dim() == 3 and case.inputs["num_heads"] > 1:
        tensors = [case.inputs[name].detach().double() for name in ("embedded", "value", "output", "readout")]
        words = _way(result.detach().double(), tensors, case.inputs["num_heads"])
    return {"way": None if words == AS_ASKED else words, **observation}  # a sentence comes before a shape then


def _way(result: torch.Tensor, tensors: list[torch.Tensor], heads: int) -> str:
    """Each head reads something of a symbol, (symbols, heads, d_head), and votes with it."""
    embedded, value, output, readout = tensors
    symbols, width = len(embedded), len(value) // heads

    def blocks(of_all: torch.Tensor) -> torch.Tensor:
        return of_all.reshape(-1, heads, width)

    def dealt(of_all: torch.Tensor) -> torch.Tensor:
        return of_all.reshape(-1, width, heads).transpose(1, 2)

    def first(of_all: torch.Tensor) -> torch.Tensor:
        return blocks(of_all)[:, :1].expand(-1, heads, -1)

    def cut(of_all: torch.Tensor) -> torch.Tensor:
        """Cut up without regard to the symbols, as a reshape does that begins with the heads."""
        return of_all.reshape(heads, symbols, width).transpose(0, 1)

    read, voted = embedded @ value.T, readout @ output
    reads = {
        "": blocks(read),
        "You multiply by the weight of `value` itself, where a Linear layer multiplies by its transpose.": blocks(
            embedded @ value
        ),
        "You deal out what `value` returns to the heads one number at a time.": dealt(read),
        "All your heads read the first block of what `value` returns.": first(read),
        "You take the blocks of what `value` returns in reverse.": blocks(read).flip(1),
        "You cut what `value` returns into heads across the symbols.": cut(read),
        "Your heads read the embeddings as they are, without `value`.": blocks(embedded),
        "Your heads read the read-out, not the embeddings.": blocks(readout @ value.T),
        "You read with `output`, not with `value`.": blocks(embedded @ output.T),
        "You cut into blocks both what `value` returns and what it takes in.": torch.einsum(
            "shm,hdhm->shd", blocks(embedded), value.reshape(heads, width, heads, width)
        ),
    }
    votes = {
        "": blocks(voted),
        "You take rows of `output` for a head, where it comes in at columns.": blocks(readout @ output.T),
        "You deal out the columns of `output` to the heads one by one.": dealt(voted),
        "All your heads go through the first block of `output`.": first(voted),
        "You take the blocks of `output` in reverse.": blocks(voted).flip(1),
        "You cut the read-out and `output` into heads across the symbols.": cut(voted),
        "Your heads vote without `output`.": blocks(readout),
        "Your heads vote without `output`, and with the embeddings, not with the read-out.": blocks(embedded),
        "Your heads vote with the embeddings, not with the read-out.": blocks(embedded @ output),
        "You vote with `value`, not with `output`.": blocks(readout @ value),
    }
    right = torch.einsum("shd,thd->hst", reads[""], votes[""])
    if _near(result, right):
        return AS_ASKED
    ways = {f"{one} {other}".strip(): (r, v) for (one, r), (other, v) in product(reads.items(), votes.items())}
    products = {words: torch.einsum("shd,thd->hst", *pair) for words, pair in ways.items()}
    owned = torch.arange(len(value)) // width == torch.arange(heads).reshape(-1, 1, 1)  # (heads, 1, d_model)
    products |= {
        "You cut the embeddings into blocks for the heads, and not what `value` returns.": (embedded * owned)
        @ value.T
        @ voted.T,
        "You cut what `output` returns into blocks for the heads, and not what it takes in.": read
        @ output.T
        @ (readout * owned).mT,
        "Your vectors go through `output` first, and through `value` after it, neither of them transposed.": (
            embedded @ output.T.reshape(heads, width, -1).mT @ value.reshape(heads, width, -1) @ readout.T
        ),
        "Your result is right but for a mean that is subtracted from each row.": right - right.mean(-1, keepdim=True),
        "You add the way past the head, from the embedding to the read-out.": right + embedded @ readout.T,
    }
    factor = result.flatten()[0] / right.flatten()[0]
    products |= {f"Your votes are {float(factor):.4g} times what they should be.": factor * right}
    fits = [words for words, one in products.items() if _near(result, one)]
    turned = [words for words, one in products.items() if _near(result.mT, one)]
    if not fits and turned:
        fits = [f"Your rows are the symbols that are voted for. {turned[0]}".strip()]
    if not fits:
        return AS_ASKED
    return f"{fits[0]} Which way does a symbol go, and which block of it belongs to head h?"


def _near(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one, other, rtol=1e-3, atol=1e-3)


TRIAL = Trial(
    module="transformer_course.circuits.reading",
    points=2,
    cases=cases,
    probe=in_order_with_gradients(0, 1, 2, 3),
    canonical=with_its_way,
    called={"way": "which way a symbol goes"},
    aspects=(
        aspects.shape("shape (heads, vocab_size, vocab_size)", "The result has a square of all symbols for each head."),
        aspects.worded(aspects.values(8.0), "way"),
        aspects.gradients(weight=1.0),
        SINGLE,
        NARROW,
        aspects.special("a single symbol", "one", 0.5, "With a single symbol, the result is right too."),
        *aspects.any_numbers(0.5),
        aspects.untouched(weight=0.5),
    ),
)
