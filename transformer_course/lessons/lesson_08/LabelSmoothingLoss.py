"""`LabelSmoothingLoss`: how it is tried."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from cellcheck.authoring import draw
from cellcheck.authoring.aspects import (
    BATCH_OF_ONE,
    CONTENT,
    LAYOUT,
    USUAL,
    gradients,
    main,
    refused,
    special,
    untouched,
)
from cellcheck.authoring.calls import call_and_follow, given
from cellcheck.authoring.spec import Aspect, Case, Observation, Trial
from transformer_course.lessons.lesson_04.drawing import draw_tokens, ragged
from transformer_course.lessons.watching import AS_ASKED, Unwatched, asked, first_said
from transformer_course.lessons.wordings import usually_in_words, without_the_wish

FLAT = special("a list of tokens", meaning="Logits (tokens, vocab_size) with targets (tokens,) work too.")
PAD_ID = special("another pad_id", meaning="The symbol that gets no share is the one that pad_id names.")
NO_SMOOTHING = special("without smoothing", meaning="With smoothing = 0 it is the plain cross-entropy.")
LARGE = special(
    "logits of any size",
    weight=2.0,
    meaning="Where a probability is too small for a float, its logarithm is right too.",
)
LATER = Aspect(
    "later calls",
    keys=("later",),
    kinds=CONTENT - {"error"},
    weight=0.5,
    meaning="The next batch may have another size, and counts by itself.",
)
EMPTY = refused("nothing but padding is refused")


@usually_in_words
def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(
        batch: int, length: int, vocab_size: int, *, pad_id: int = 0, smoothing: float | None = None, **how: Any
    ) -> dict[str, Any]:
        targets = draw_tokens(generator, ragged(generator, batch, length), length, vocab_size, pad_id)
        # So small that no probability is lost in what somebody may add before the logarithm; the target's is larger,
        # as in a model that has learnt something, so that its share counts.
        logits = (2 * draw.normal(generator, batch, length, vocab_size, **how)).clamp(-2, 2)
        logits += 2 * torch.nn.functional.one_hot(targets, vocab_size)
        share = float(generator.choice([0.2, 0.3, 0.4])) if smoothing is None else smoothing
        return {
            "vocab_size": vocab_size,
            "smoothing": share,
            "pad_id": pad_id,
            "logits": logits,
            "targets": targets,
        }

    b, n, v = draw.dims(generator, 3, 4, 9)
    flat = drawn(b, n, v)
    flat |= {"logits": flat["logits"].flatten(0, 1), "targets": flat["targets"].flatten()}
    large = drawn(b, n, v)
    large["logits"][..., 1] += 150.0
    large["logits"][..., 2] -= 150.0
    large["targets"][large["targets"] == 1] = 3  # no target is the one that the model is sure of
    laid_out = drawn(b, n, v)
    laid_out["logits"] = draw.strided(laid_out["logits"])
    padding = drawn(b, n, v)
    padding["targets"] = torch.zeros_like(padding["targets"])
    return [
        Case.of("with rows of different lengths", **drawn(b, n, v)),
        Case.of("with another vocabulary", **drawn(n, v, b)),
        Case.of("with a list of tokens, (tokens, vocab_size)", FLAT, **flat),
        Case.of("with another pad_id", PAD_ID, **drawn(b, n, v, pad_id=int(generator.integers(1, v - 1)))),
        Case.of("without smoothing", NO_SMOOTHING, **drawn(b, n, v, smoothing=0.0)),
        Case.of("on a batch of one", BATCH_OF_ONE, **drawn(1, n, v)),
        Case.of("with logits of 150 and -150", LARGE, **large),
        Case.of("with logits that are not contiguous", LAYOUT, **laid_out),
        Case.of("with nothing but padding", EMPTY, **padding),
    ]


FLOORED = "The loss is far too small where the model is sure of another symbol."
LEAST = 105.0
"""Less than any right loss in the case of 150 and -150; what keeps a float32 away from 0 makes it smaller than that."""


def floor_in_words(observation: Observation, case: Case) -> Observation:
    """One slip, whatever number keeps the probabilities away from 0."""
    observation = dict(observation)
    floored, output = observation.pop("floored", False), observation.get("output")
    if not floored or case.tags != LARGE.tags or not isinstance(output, torch.Tensor) or output.numel() != 1:
        return observation
    return observation | {"output": FLOORED} if 0 < float(output) < LEAST else observation


def probe(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    inputs, in_words = without_the_wish(inputs)
    loss = symbol(*given(inputs, "vocab_size", "smoothing", "pad_id"))
    logits, targets = given(inputs, "logits", "targets")
    seen = call_and_follow(loss, logits, targets)
    shorter = targets[..., 1:]
    if bool((shorter != inputs["pad_id"]).any()):
        seen["later"] = loss(logits.detach()[..., 1:, :], shorter)
    if float(inputs["logits"].max()) > _HUGE:
        seen["floored"] = first_said(lambda: _floored(loss, *given(inputs, "vocab_size", "pad_id"))) != AS_ASKED
    return ({"made_of": first_said(lambda: _made_of(symbol))} if in_words else {}) | seen


_HUGE = 100.0


def _floored(loss: Any, vocab_size: int, pad_id: int) -> str:
    """Whether the loss of a token stays the same, however sure the model is of another symbol."""
    target, sure = [symbol for symbol in range(vocab_size) if symbol != pad_id][:2]

    def of(logit: float) -> float:
        logits = torch.zeros(1, 1, vocab_size)
        logits[..., sure] = logit
        return float(asked(loss, logits, torch.tensor([[target]])))

    return FLOORED if of(2 * _HUGE) == of(3 * _HUGE) else AS_ASKED


def _made_of(symbol: Any) -> str:
    """What a loss is made of: what each symbol gets where one token is real, and what each token counts among others.

    Where all six symbols are equally likely, the gradient of a token says what it takes for the target.
    """
    shares = _shares(symbol)
    told = []
    wanted = torch.tensor([0.0, 0.1, 0.6, 0.1, 0.1, 0.1])
    if not torch.allclose(shares, wanted, atol=1e-4):
        told.append(_of_shares(shares, wanted))
    rows = torch.tensor([[2, 3, 0], [4, 0, 0]])
    _, slopes = _followed(symbol, torch.zeros(2, 3, 6), rows)
    _, alone = _followed(symbol, torch.zeros(1, 1, 6), torch.tensor([[2]]))
    if alone.norm() < 1e-6:
        raise Unwatched
    counts = slopes.norm(dim=-1) / alone.norm()
    real, padding = counts[rows != 0], counts[rows == 0]
    if padding.max() > 1e-4:
        told.append("A token whose target is padding still takes part in your loss. Which tokens is the mean over?")
    elif (real - 1 / 3).abs().max() > 1e-3:
        told.append(_of_counts([float(one) for one in real]))
    return " ".join(told) or AS_ASKED


def _followed(symbol: Any, logits: torch.Tensor, targets: torch.Tensor) -> tuple[float, torch.Tensor]:
    logits.requires_grad_()
    loss = asked(lambda: symbol(6, 0.4, 0)(logits, targets))
    if not isinstance(loss, torch.Tensor) or loss.shape != () or not loss.requires_grad:
        raise Unwatched
    (slopes,) = torch.autograd.grad(loss, [logits])
    return loss.item(), slopes


def _shares(symbol: Any) -> torch.Tensor:
    """What symbols get in the loss of one token whose target is 2, as far as it is a cross-entropy."""
    target = torch.tensor([[2]])
    loss, slopes = _followed(symbol, torch.zeros(1, 1, 6), target)
    shares = loss / float(np.log(6)) / 6 - slopes[0, 0]
    others = torch.tensor([[[0.3, -0.2, 0.9, 1.4, -0.7, 0.1]]])
    wanted = -float((shares * others.log_softmax(dim=-1)).sum())
    if not np.isclose(wanted, _followed(symbol, others, target)[0], rtol=1e-4, atol=1e-4):
        raise Unwatched
    return shares


def _of_shares(shares: torch.Tensor, wanted: torch.Tensor) -> str:
    factor = float(shares[2] / wanted[2])
    if torch.allclose(shares, factor * wanted, atol=1e-4):
        return f"For a single token, your loss is {factor:.4g} times what it should be. What is it multiplied by?"
    padding, _, target, *others = (round(float(share), 3) + 0.0 for share in shares)
    each = (
        f"each other {others[0]:g}" if len({*others}) == 1 else f"the others {', '.join(f'{one:g}' for one in others)}"
    )
    return (
        f"With 6 symbols and smoothing = 0.4, the target gets {target:g}, padding {padding:g} and {each}. How much "
        "should each get, so that they add up to 1?"
    )


def _of_counts(real: list[float]) -> str:
    """Of two real tokens in the first row and one in the second, and three of padding."""
    if max(real) - min(real) < 1e-3:
        return (
            f"Of 3 real tokens, beside 3 of padding, each counts {real[0]:.3g}, and not a third. What do you divide "
            "the sum by?"
        )
    return (
        f"Of the real tokens, two in the first row and one in the second, the first counts {real[0]:.3g} and the last "
        f"{real[-1]:.3g}. How much does each count in the mean over all of them?"
    )


TRIAL = Trial(
    module="transformer_course.paper.smoothing",
    points=2,
    cases=cases,
    probe=probe,
    canonical=floor_in_words,
    called={"made_of": "what the loss is made of"},
    aspects=(
        Aspect(
            "a single number",
            kinds=frozenset({"error", "type", "shape"}),
            tags=USUAL,
            meaning="The loss is a tensor of shape ().",
        ),
        main(
            "values",
            weight=6.0,
            keys=("made_of", "output"),
            meaning="The loss is the cross-entropy with the softened targets, averaged over real tokens.",
        ),
        gradients(6.0),
        FLAT,
        PAD_ID,
        NO_SMOOTHING,
        BATCH_OF_ONE,
        EMPTY,
        LARGE,
        LATER,
        replace(LAYOUT, weight=0.5),
        untouched(),
    ),
)
