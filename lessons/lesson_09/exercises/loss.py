"""`cross_entropy`: cases, mistakes and variants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course.numpy_transformer.functions import cross_entropy, softmax
from grader.authoring.aspects import dtype, main, refused, special, untouched
from grader.authoring.draw import dims
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, Observation
from lessons.lesson_09.exercises.drawing import normal

Result = tuple[Any, Any]


def _batches(generator: np.random.Generator) -> list[Case]:
    n, length, vocab = dims(generator, 3, 4, 8)

    def targets(*sizes: int) -> np.ndarray:
        drawn = generator.integers(1, vocab, sizes)
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
        Case.of("with padding", "padded", logits=normal(generator, n, length, vocab), targets=padded),
        Case.of(
            "with another pad_id",
            "another",
            logits=normal(generator, n, length, vocab),
            targets=other,
            pad_id=vocab - 2,
        ),
        Case.of("on very large logits", "large", logits=large, targets=of_large),
        Case.of("on a batch of one", "one", logits=normal(generator, 1, vocab), targets=targets(1)),
        Case.of("with float32", "float32", logits=normal(generator, n, vocab, dtype=np.float32), targets=targets(n)),
        Case.of(
            "when everything is padding",
            "refused",
            logits=normal(generator, 2, vocab),
            targets=np.zeros(2, dtype=np.int64),
        ),
    ]


def _named(observation: Observation, case: Case) -> Observation:
    """The pair under the names of its two parts; the loss as a Python float."""
    pair = observation.get("output")
    if "error" in observation or not isinstance(pair, list | tuple) or len(pair) != 2:
        return {**observation, "loss": pair, "gradient": pair} if "error" not in observation else observation
    loss = pair[0]
    if isinstance(loss, np.ndarray) and loss.ndim == 0:
        loss = float(loss)
    return {"loss": loss, "gradient": pair[1], "arguments": observation.get("arguments")}


def _with(
    rule: Callable[[np.ndarray, np.ndarray, np.ndarray, int], Result],
) -> Callable[..., Result]:
    """`rule(log_probabilities, one_hot, counts, number)`: an answer that refuses all padding."""

    def answer(logits: np.ndarray, targets: np.ndarray, pad_id: int = 0) -> Result:
        counts = targets != pad_id
        if not counts.any():
            raise ValueError("all padding")
        one_hot = np.arange(logits.shape[-1]) == targets[..., None]
        return rule(logits - np.logaddexp.reduce(logits, axis=-1, keepdims=True), one_hot, counts, int(counts.sum()))

    return answer


def _loss(log_p: np.ndarray, one_hot: np.ndarray, counts: np.ndarray, number: float) -> float:
    return float(-log_p[one_hot].reshape(counts.shape)[counts].sum() / number)


def _rule(gradient: Callable[..., Any], loss: Callable[..., float] = _loss) -> Callable[..., Result]:
    return _with(
        lambda log_p, o, c, n: (
            loss(log_p, o, c, n),
            gradient(np.exp(log_p), o, c[..., None], n).astype(log_p.dtype),
        )
    )


def _no_refusal(logits: np.ndarray, targets: np.ndarray, pad_id: int = 0) -> Result:
    if (targets == pad_id).all():
        return 0.0, np.zeros_like(logits)
    return cross_entropy(logits, targets, pad_id)


def _pad_zero(logits: np.ndarray, targets: np.ndarray, pad_id: int = 0) -> Result:
    return cross_entropy(logits, targets)


def _padding_counts(logits: np.ndarray, targets: np.ndarray, pad_id: int = 0) -> Result:
    return cross_entropy(logits, targets, -1)


def _of_probabilities(logits: np.ndarray, targets: np.ndarray, pad_id: int = 0) -> Result:
    loss, _ = cross_entropy(logits, targets, pad_id)
    p, chosen = softmax(logits), np.arange(logits.shape[-1]) == targets[..., None]
    counts = (targets != pad_id)[..., None]
    with np.errstate(all="ignore"):
        return loss, np.where(chosen & counts, -1 / p, 0).astype(logits.dtype) / int(counts.sum())


def _overflowing(logits: np.ndarray, targets: np.ndarray, pad_id: int = 0) -> Result:
    with np.errstate(all="ignore"):
        p = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
        return _with(lambda _, o, c, n: (_loss(np.log(p), o, c, n), _gradient(p, o, c, n)))(logits, targets, pad_id)


def _gradient(p: np.ndarray, one_hot: np.ndarray, counts: np.ndarray, number: int) -> np.ndarray:
    return np.asarray((p - one_hot) * counts[..., None] / number, dtype=p.dtype)


def _log_of_the_softmax(logits: np.ndarray, targets: np.ndarray, pad_id: int = 0) -> Result:
    p = softmax(logits)
    with np.errstate(all="ignore"):
        return _with(lambda _, o, c, n: (_loss(np.log(p), o, c, n), _gradient(p, o, c, n)))(logits, targets, pad_id)


def _row_by_row(logits: np.ndarray, targets: np.ndarray, pad_id: int = 0) -> Result:
    gradient, total, number = np.zeros_like(logits), 0.0, 0
    for place in np.ndindex(targets.shape):
        if targets[place] == pad_id:
            continue
        row = logits[place] - logits[place].max()
        gradient[place] = np.exp(row) / np.exp(row).sum()
        gradient[place][targets[place]] -= 1
        total, number = total + np.log(np.exp(row).sum()) - row[targets[place]], number + 1
    if number == 0:
        raise RuntimeError("there is no target")
    return total / number, gradient / number


def _only_what_counts(logits: np.ndarray, targets: np.ndarray, pad_id: int = 0) -> Result:
    counts = targets != pad_id
    rows, chosen = logits[counts], targets[counts]
    if len(rows) == 0:
        raise ValueError("all padding")
    log_p = rows - np.logaddexp.reduce(rows, axis=-1, keepdims=True)
    gradient = np.zeros_like(logits)
    of_rows = np.exp(log_p)
    of_rows[np.arange(len(rows)), chosen] -= 1
    gradient[counts] = of_rows / len(rows)
    return float(-log_p[np.arange(len(rows)), chosen].mean()), gradient


_MEANING = "The second result is the gradient with respect to the logits."
CROSS_ENTROPY = Exercise(
    symbol="cross_entropy",
    points=2,
    cases=_batches,
    references=(cross_entropy,),
    canonical=_named,
    called={"loss": "the loss"},
    aspects=(
        main("the loss", 1.5, ("loss",), meaning="The first result is the mean cross-entropy, one number."),
        Aspect(
            "the gradient",
            ("gradient",),
            frozenset({"error", "type", "shape", "nan", "mask", "values"}),
            3.0,
            tags=frozenset({"usual"}),
            meaning=_MEANING,
        ),
        special(
            "padding", "padded", 2.0, "Padding counts neither in the loss nor in the gradient.", ("loss", "gradient")
        ),
        special(
            "another pad_id",
            "another",
            0.5,
            "The pad_id that is passed in is what counts as padding.",
            ("loss", "gradient"),
        ),
        special(
            "very large logits", "large", 1.0, "Large logits give no NaN and nothing infinite.", ("loss", "gradient")
        ),
        special("a batch of one", "one", 0.5, keys=("loss", "gradient")),
        special("float32", "float32", 0.5, keys=("loss", "gradient")),
        refused("nothing but padding", "refused", 0.5),
        Aspect("dtype kept", ("gradient",), frozenset({"dtype"}), 0.5, meaning=dtype().meaning),
        untouched(weight=0.5),
    ),
    mistakes=(
        Mistake(
            "gradient_of_the_sum",
            _rule(lambda p, o, c, n: (p - o) * c),
            "The loss is a mean, but your gradient belongs to the sum. By what is every position's share divided?",
            central=True,
        ),
        Mistake(
            "divided_by_all_entries",
            _rule(lambda p, o, c, n: (p - o) * c / p.size),
            "Your gradient is divided by the number of logits. How many positions does the mean in the loss run over?",
        ),
        Mistake(
            "gradient_divided_by_padding_too",
            _rule(lambda p, o, c, n: (p - o) * c / c.size),
            "With padding your gradient is too small: it is divided by the number of all positions. Which of them does "
            "the loss count?",
        ),
        Mistake(
            "mean_over_padding_too",
            _rule(lambda p, o, c, n: (p - o) * c / c.size, lambda p, o, c, n: _loss(p, o, c, c.size)),
            "Padding adds nothing to your sum, but you still divide by the number of all positions. How many count?",
        ),
        Mistake(
            "padding_gets_a_gradient",
            _rule(lambda p, o, c, n: (p - o) / n),
            "The loss leaves padding out, but your gradient doesn't. How does the loss change with a logit that it "
            "never reads?",
        ),
        Mistake(
            "padding_counts",
            _padding_counts,
            "Positions with the padding id count like all others. Which positions should the loss leave out?",
        ),
        Mistake(
            "pad_id_ignored",
            _pad_zero,
            "Right when the padding id is 0, and only then. Which argument says what counts as padding?",
        ),
        Mistake(
            "probabilities_only",
            _rule(lambda p, o, c, n: p * c / n),
            "Your gradient is the probabilities. It would push every logit down, the right one too: what is taken off "
            "at the target?",
            central=True,
        ),
        Mistake(
            "target_only",
            _rule(lambda p, o, c, n: -(o * c) / n),
            "Only the target's logit gets a gradient. When the right logit grows, the others lose: where do the "
            "probabilities come in?",
            central=True,
        ),
        Mistake(
            "sign_turned",
            _rule(lambda p, o, c, n: (o - p) * c / n),
            "Every sign of your gradient is turned round. If the right logit grows, does the loss rise or fall?",
            central=True,
        ),
        Mistake(
            "gradient_of_the_probabilities",
            _of_probabilities,
            "That is the gradient with respect to the probabilities: -1/p at the target. Which step lies between them "
            "and the logits?",
            central=True,
        ),
        Mistake(
            "sum_instead_of_mean",
            _rule(lambda p, o, c, n: (p - o) * c, lambda p, o, c, n: _loss(p, o, c, 1)),
            "Both are those of the sum over all positions. What turns a sum into a mean?",
            central=True,
        ),
        Mistake(
            "overflows",
            _overflowing,
            "Large logits give NaN. Which softmax have you already written that can't overflow?",
        ),
        Mistake(
            "log_of_the_softmax",
            _log_of_the_softmax,
            "Where another logit is 900 above the right one, the probability of the right one is rounded to 0, and its "
            "logarithm is minus infinity. Can you get the logarithm without going through the probability?",
        ),
        Mistake(
            "nothing_refused",
            _no_refusal,
            "A batch of nothing but padding gets the loss 0. It isn't perfect, there is nothing to judge: what does "
            "the docstring ask for?",
        ),
        Mistake(
            "loss_only",
            lambda logits, targets, pad_id=0: cross_entropy(logits, targets, pad_id)[0],
            "You return the loss alone. What is the second thing that the docstring asks for?",
        ),
    ),
    variants={
        "position by position": _row_by_row,
        "only the positions that count": _only_what_counts,
        "in one expression": _with(
            lambda log_p, o, c, n: (
                float(-(log_p * o).sum(axis=-1)[c].sum() / n),
                ((np.exp(log_p) - o) * c[..., None] / n).astype(log_p.dtype),
            )
        ),
    },
)
