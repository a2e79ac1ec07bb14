"""`masked_mean`: how it is tried."""

from dataclasses import replace

import numpy as np
import torch

from cellcheck.authoring import Case, Observation, Trial, aspects, draw
from cellcheck.authoring.calls import in_order_with_gradients
from transformer_course.lessons import drawing

ANYWHERE = aspects.special(
    "gaps anywhere", meaning="What counts may be anywhere in a row, or everywhere, not only on the left."
)
EMPTY = aspects.special(
    "a row in which nothing counts", weight=3.0, meaning="A row in which nothing counts gives zeros, not NaN."
)
ZEROS = aspects.special(
    "a vector of zeros counts", meaning="The mask alone says what counts: a vector of zeros may count as well."
)
SMALLEST = aspects.special(
    "a batch of one, a single token", meaning="A batch of one and rows of a single token work too."
)


def cases(generator: np.random.Generator) -> list[Case]:
    b, n, d = draw.dims(generator, 3, 3, 7)
    side = int(generator.integers(3, 6))

    def vectors(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return draw.normal(generator, *sizes, dtype=dtype) + 3.0  # away from 0, so that a wrong count shows

    def padded(batch: int, length: int) -> torch.Tensor:
        """Padding on the right, but for the first of several rows: not all of them count as many."""
        mask = drawing.padding(generator, batch, length)[:, 0, 0]
        mask[: batch > 1] = True
        return mask

    empty = padded(b, n)
    empty[1] = False
    with_zeros, counting = vectors(b, n, d), padded(b, n)
    with_zeros[:, 0] = 0.0
    scattered = drawing.mask(generator, b, n)
    scattered[0] = False
    scattered[0, 1:3] = True  # the first one doesn't count
    return [
        Case.of("with padding on the right", x=vectors(b, n, d), mask=padded(b, n)),
        Case.of("with other sizes", x=vectors(n, b, d + 1), mask=padded(n, b)),
        Case.of("with as many rows as tokens", x=vectors(side, side, side), mask=padded(side, side)),
        Case.of("with gaps anywhere", ANYWHERE, x=vectors(b, n, d), mask=scattered),
        Case.of("where everything counts", ANYWHERE, x=vectors(b, n, d), mask=torch.ones(b, n).bool()),
        Case.of("with a row in which nothing counts", EMPTY, x=vectors(b, n, d), mask=empty),
        Case.of("where a vector of zeros counts", ZEROS, x=with_zeros, mask=counting),
        Case.of("with large numbers", x=1e3 * vectors(b, n, d), mask=padded(b, n)),
        Case.of("on a batch of one", SMALLEST, x=vectors(1, n, d), mask=padded(1, n)),
        Case.of("with a single token", SMALLEST, x=vectors(b, 1, d), mask=torch.ones(b, 1).bool()),
        Case.of("with float64", aspects.FLOAT64, x=vectors(b, n, d, dtype=torch.float64), mask=padded(b, n)),
        Case.of(
            "with x and mask that are not contiguous",
            aspects.LAYOUT,
            x=draw.strided(vectors(b, n, d)),
            mask=draw.strided(padded(b, n)),
        ),
    ]


AS_ASKED = "what counts"


def canonical(observation: Observation, case: Case) -> Observation:
    """A row that is NaN has cost its points: no gradient of it is asked for. A tiny number may be added to every count;
    who adds more makes one mistake, whatever the number is.
    """
    output, flowing = observation.get("output"), observation.get("gradients")
    if "output" in observation:
        observation = {"averaged": AS_ASKED, **observation}
    x, mask = case.inputs["x"], case.inputs["mask"]
    if not isinstance(output, torch.Tensor) or output.shape != (x.shape[0], x.shape[2]):
        return observation
    gradient, *others = flowing if isinstance(flowing, list) and flowing else [None]
    factor = _as_if_0_or_1_were_added(output.detach(), x, mask)
    averaged = _averaged(output.detach(), x, mask) or AS_ASKED
    comparable = {**observation, "averaged": averaged, "output": output.detach() * factor}
    if isinstance(gradient, torch.Tensor) and gradient.shape == x.shape:
        lost = output.detach().isnan().all(dim=1)
        comparable["gradients"] = [(gradient * factor.unsqueeze(-1)).masked_fill(lost[:, None, None], 0), *others]
    return comparable


def _averaged(output: torch.Tensor, x: torch.Tensor, mask: torch.Tensor) -> str:
    """What stands there instead of a mean, in words, by those rows that are numbers; nothing where nothing can be."""
    sound = output.isfinite().all(dim=1) & mask.any(dim=1)
    if sound.sum() < 2:
        return ""
    of_the_first = mask[:1].expand_as(mask)[sound].unsqueeze(-1)
    output, x, mask = output[sound].to(x.dtype), x[sound], mask[sound].unsqueeze(-1)
    rows, count = torch.arange(len(x)), mask.sum(dim=1)
    total, length = (x * mask).sum(dim=1), x.shape[1]
    first = mask[..., 0].int().argmax(dim=1)
    last = length - 1 - mask[..., 0].flip(1).int().argmax(dim=1)
    others = {
        "You take the mean of the vectors that don't count. What does True mean in this mask?": (
            (x * ~mask).sum(dim=1) / (length - count).clamp(min=1)
        ),
        "You take the first vector that counts. Which summary does the docstring ask for?": x[rows, first],
        "You take the last vector that counts. Which summary does the docstring ask for?": x[rows, last],
        "The last vector that counts is left out. Where does it end?": (total - x[rows, last]) / (count - 1),
        "The first vector that counts is left out. Where does it begin?": (total - x[rows, first]) / (count - 1),
        "The last vector that counts isn't added. Where does the sum end?": (total - x[rows, last]) / count,
        "The first vector that counts isn't added. Where does the sum begin?": (total - x[rows, first]) / count,
        "You use the first row's mask for all rows. Which vectors of a row count?": (
            (x * of_the_first).sum(dim=1) / of_the_first.sum(dim=1).clamp(min=1)
        ),
        "After a softmax of the mask, padding still counts a little. Which weight should it have?": (
            (x * mask.to(x.dtype).softmax(dim=1)).sum(dim=1)
        ),
        "You divide by one less than what counts. How many vectors did you add up?": total / (count - 1),
        "A row in which one vector counts is divided by 2. What is the least that you may divide by?": (
            total / count.clamp(min=2)
        ),
        "You divide by the root of the count. How many vectors did you add up?": total / count.sqrt(),
        "You divide by the count times d. How many vectors did you add up?": total / count / x.shape[2],
        "You take the smallest numbers. Which summary does the docstring ask for?": (
            x.masked_fill(~mask, float("inf")).amin(dim=1)
        ),
        "You take the middle number of each column, the median. Which summary does the docstring ask for?": (
            x.masked_fill(~mask, float("nan")).nanmedian(dim=1).values
        ),
    }
    if torch.allclose(output, total / count):
        return ""
    if torch.allclose(output, (x * ~mask).sum(dim=1)):  # a sum, or a mean of one vector at most
        return "Your result is made of the vectors that don't count. What does True mean in this mask?"
    return next((words for words, other in others.items() if torch.allclose(output, other)), "")


def _as_if_0_or_1_were_added(output: torch.Tensor, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """What each row is multiplied by, (batch, 1): 1 in most answers."""
    count = mask.sum(dim=1, keepdim=True).to(output.dtype)
    some = count[:, 0] > 0
    total = (x * mask.unsqueeze(-1)).sum(dim=1).to(output.dtype)
    added = (total / output - count)[some]
    if not some.any() or added.min() < 1e-9 or not torch.allclose(added, added.mean(), rtol=0.05, atol=0):
        return torch.ones_like(count)
    wanted = count + 1 if added.mean() > 1e-4 else count
    return torch.where(count > 0, (count + added.mean()) / wanted, 1)


TRIAL = Trial(
    module="transformer_course.beyond.words",
    points=2,
    cases=cases,
    probe=in_order_with_gradients(0),
    canonical=canonical,
    called={"averaged": "what is averaged"},
    aspects=(
        aspects.shape("shape (batch, d)", "The result has the shape (batch, d): one vector for each row."),
        aspects.worded(aspects.values(8.0), "averaged"),
        ANYWHERE,
        EMPTY,
        ZEROS,
        replace(SMALLEST, keys=("averaged", "output")),
        aspects.gradients(),
        *aspects.any_numbers(0.5),
        aspects.untouched(weight=0.5),
    ),
)
