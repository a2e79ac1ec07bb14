"""`cross_entropy`: how it is tried."""

from __future__ import annotations

from typing import Any

import numpy as np

from cellcheck.authoring.aspects import dtype, main, refused, special, untouched
from cellcheck.authoring.draw import dims
from cellcheck.authoring.spec import USUAL, Aspect, Case, Observation, Trial
from transformer_course.lessons.lesson_09.drawing import normal
from transformer_course.lessons.wordings import usually_in_words

BOTH = ("loss", "gradient")
PADDED = special("padding", "", 2.0, "Padding counts neither in the loss nor in the gradient.", BOTH)
OTHER_PAD = special("another pad_id", "", 0.5, "The pad_id that is passed in is what counts as padding.", BOTH)
LARGE = special("very large logits", "", 1.0, "Large logits give no NaN and nothing infinite.", BOTH)
BATCH_OF_ONE = special("a batch of one", weight=0.5, keys=BOTH)
FLOAT32 = special("float32", weight=0.5, keys=BOTH)
ALL_PADDING = refused("nothing but padding", weight=0.5)


@usually_in_words
def cases(generator: np.random.Generator) -> list[Case]:
    n, length, vocab = dims(generator, 3, 4, 8)

    def targets(*sizes: int) -> np.ndarray:
        drawn = generator.integers(1, vocab, sizes).astype(np.intp)
        drawn.flat[0], drawn.flat[-1] = 1, vocab - 1
        return drawn

    padded = targets(n, length)
    padded[:, -1] = padded[1, 2:] = 0
    large, of_large = normal(generator, n, vocab), targets(n)
    large[0] += 900.0
    large[1, 2], of_large[1] = 900.0, 3  # one logit far above the others, and it isn't the right one
    other = targets(n, length)
    other[:, -2:] = vocab - 2
    return [
        Case.of("on a row of logits each", logits=normal(generator, n, vocab), targets=targets(n)),
        Case.of("on rows of positions", logits=normal(generator, n, length, vocab), targets=targets(n, length)),
        Case.of("with padding", PADDED, logits=normal(generator, n, length, vocab), targets=padded),
        Case.of(
            "with another pad_id",
            OTHER_PAD,
            logits=normal(generator, n, length, vocab),
            targets=other,
            pad_id=vocab - 2,
        ),
        Case.of("on very large logits", LARGE, logits=large, targets=of_large),
        Case.of("on a batch of one", BATCH_OF_ONE, logits=normal(generator, 1, vocab), targets=targets(1)),
        Case.of("with float32", FLOAT32, logits=normal(generator, n, vocab, dtype=np.float32), targets=targets(n)),
        Case.of(
            "when everything is padding",
            ALL_PADDING,
            logits=normal(generator, 2, vocab),
            targets=np.zeros(2, dtype=np.intp),
        ),
    ]


OVERFLOWN = "With large logits, an exponential overflows, or becomes 0. What can be subtracted from a whole row first?"
NO_NUMBER = "Your loss is an array without axes, and not a Python float. What makes a number of it?"
FLOORED = "The loss is far too small where the right logit is 900 below the largest."


def by_name(observation: Observation, case: Case) -> Observation:
    """The pair under the names of its two parts; the loss as a Python float.

    What keeps probabilities away from 0 is one slip, whatever its size: no float64 above 0 has a loss of 800.
    """
    pair = observation.get("output")
    if case.tags == ALL_PADDING.tags and "error" not in observation:
        return dict.fromkeys(BOTH, "accepted")
    if "error" in observation or not isinstance(pair, list | tuple) or len(pair) != 2:
        return {**observation, "loss": pair, "gradient": pair} if "error" not in observation else observation
    loss = pair[0]
    if isinstance(loss, np.ndarray) and loss.ndim == 0:
        loss = NO_NUMBER if case.tags == FLOAT32.tags else float(loss)
    if case.tags == LARGE.tags and isinstance(loss, float) and 0 < loss < 800 / len(case.inputs["targets"]):
        loss = FLOORED
    gradient = pair[1]
    if case.tags == LARGE.tags:
        loss = OVERFLOWN if isinstance(loss, float) and not np.isfinite(loss) else loss
        gradient = OVERFLOWN if isinstance(gradient, np.ndarray) and not np.isfinite(gradient).all() else gradient
    if isinstance(gradient, np.ndarray) and gradient.shape != case.inputs["logits"].shape:
        gradient = f"Your gradient has the shape {gradient.shape}, and the logits have another. Which step changes it?"
    elif case.tags == PADDED.tags and isinstance(gradient, np.ndarray) and gradient[case.inputs["targets"] == 0].any():
        gradient = "Where the target is padding, your gradient isn't 0. Does the loss change when a logit there grows?"
    if case.tags == PADDED.tags and isinstance(loss, float):
        loss = _with_padding(loss, **case.inputs) or loss
    return {**observation, "loss": loss, "gradient": gradient}


def _with_padding(loss: float, logits: np.ndarray, targets: np.ndarray, **_: Any) -> str:
    """In words, over what a loss with padding is a mean, if that can be seen and it is something else."""
    powers = np.log(np.exp(logits).sum(axis=-1)) - np.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]
    real = targets != 0
    rows = [row[each].mean() for row, each in zip(powers, real, strict=True) if each.any()]
    ways = {
        "": powers[real].mean(),
        "Your loss is the mean of the rows' own means, so a token counts for more in a row with much padding. Over "
        "what does the docstring take the mean?": np.mean(rows),
        "Your loss adds up what all positions cost, padded ones too, and divides by the number of the others. Which "
        "of them should be in the sum?": powers.sum() / real.sum(),
        "Your loss is the mean over all positions, padded ones too. Which of them count?": powers.mean(),
        "Your loss adds up the right positions, and divides by the number of all of them. How many count?": (
            powers[real].sum() / real.size
        ),
    }
    return next((words for words, way in ways.items() if np.isclose(loss, way)), "")


TRIAL = Trial(
    module="transformer_course.numpy_transformer.functions",
    points=2,
    cases=cases,
    canonical=by_name,
    called={"mean": "the loss of logits that are all alike", "slopes": "how gradient and loss fit", "loss": "the loss"},
    aspects=(
        main("the loss", 1.5, ("mean", "loss"), meaning="The first result is the mean cross-entropy, one number."),
        Aspect(
            "the gradient",
            ("slopes", "gradient"),
            frozenset({"error", "type", "shape", "nan", "mask", "values"}),
            3.0,
            tags=USUAL,
            meaning="The second result is the gradient with respect to the logits.",
        ),
        PADDED,
        OTHER_PAD,
        LARGE,
        BATCH_OF_ONE,
        FLOAT32,
        ALL_PADDING,
        Aspect("dtype kept", ("gradient",), frozenset({"dtype"}), 0.5, meaning=dtype().meaning),
        untouched(weight=0.5),
    ),
)
