"""`linear_gradients`: how it is tried. The one gradient of the lesson that is worked out by hand."""

from collections.abc import Callable
from typing import Any

import numpy as np

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import dims
from transformer_course.lessons.lesson_01.networks import Float
from transformer_course.lessons.watching import AS_ASKED

FLOAT32 = aspects.special("float32")
WITH_RELU = "the errors stop where a ReLU would"


def cases(generator: np.random.Generator) -> list[Case]:
    def drawn(n: int, d_in: int, d_out: int, dtype: Float = np.float64) -> Any:
        """Some prediction is negative: a ReLU shows."""

        def normal(*size: int) -> np.ndarray:
            return generator.standard_normal(size).astype(dtype)

        while True:
            W, b, inputs, targets = normal(d_in, d_out), normal(d_out), normal(n, d_in), normal(n, d_out)
            if (inputs @ W + b).min() < -0.5:
                return {"W": W, "b": b, "batch": (inputs, targets)}

    n, d_in, d_out = dims(generator, 3, 2, 8)
    side = int(generator.integers(3, 6))
    return [
        Case.of("with several inputs and several outputs", **drawn(n, d_in, d_out)),
        Case.of("with one output", **drawn(n, d_in, 1)),
        Case.of("with one input", **drawn(d_in, 1, d_out)),
        Case.of("with n, d_in and d_out all equal", **drawn(side, side, side)),
        Case.of("on a batch of one", aspects.BATCH_OF_ONE, **drawn(1, d_in, d_out)),
        Case.of("with float32", FLOAT32, **drawn(n, d_in, d_out, np.float32)),
    ]


def in_words(observation: Observation, case: Case) -> Observation:
    """The slopes, and which two slips in the same line they come from, or which one in one of them, if that shows."""
    if "output" not in observation:
        return observation
    observation = in_the_dtype_of_w(observation, case)
    if not case.tags >= aspects.USUAL:
        return observation
    return {"worked_out": _worked_out(observation["output"], **case.inputs), **observation}


def _worked_out(output: Any, W: np.ndarray, b: np.ndarray, batch: tuple[np.ndarray, np.ndarray]) -> str:
    inputs, targets = batch
    if not isinstance(output, list | tuple) or [getattr(each, "shape", None) for each in output] != [W.shape, b.shape]:
        return AS_ASKED
    z = inputs @ W + b
    errors = {
        "": z - targets,
        "the targets are left out": z,
        "the bias is left out of the errors": inputs @ W - targets,
        "the predictions went through a ReLU": z.clip(0) - targets,
        WITH_RELU: (z.clip(0) - targets) * (z > 0),
    }
    factors = {
        "": 2 / targets.size,
        "the factor of 2 is missing": 1 / targets.size,
        "the sign is turned round": -2 / targets.size,
        "you don't divide": 2.0,
    }
    if len(inputs) != targets.size:
        factors["you divide by the number of rows"] = 2 / len(inputs)

    def origins(slope: np.ndarray, of: Callable[[np.ndarray], np.ndarray]) -> list[tuple[str, str]]:
        return [
            (error, factor)
            for error, e in errors.items()
            for factor, times in factors.items()
            if np.allclose(slope, times * of(e), rtol=1e-4, atol=1e-6)
        ]

    of_weights = origins(output[0], lambda e: inputs.T @ e)
    of_biases = origins(output[1], lambda e: e.sum(axis=0))
    if len(of_weights) != 1 or len(of_biases) != 1:
        return AS_ASKED
    return _slips(of_weights[0], of_biases[0])


def _slips(of_weights: tuple[str, str], of_biases: tuple[str, str]) -> str:
    """Two slips in both, or what is wrong in one of the two; what is wrong in the same way in both is a mistake."""
    right = ("", "")
    if of_weights == of_biases:
        if of_weights == (WITH_RELU, ""):
            return "Your slopes are those of a layer with a ReLU. Does this layer have one?"
        words = " and ".join(of_weights) if all(of_weights) else ""
        return (
            f"{words[0].upper()}{words[1:]}. What does the docstring say about each of the two?" if words else AS_ASKED
        )
    if right not in (of_weights, of_biases):
        return AS_ASKED
    good, bad, slips = ("db", "dW", of_weights) if of_biases == right else ("dW", "db", of_biases)
    words = " and ".join(slip for slip in slips if slip)
    return f"Your {good} is right, and your {bad} isn't: {words}. What do the two have in common?"


def in_the_dtype_of_w(observation: Observation, case: Case) -> Observation:
    """The contract says nothing about the dtype, and a NumPy number on the way makes float64 of float32."""
    output, like = observation["output"], case.inputs["W"].dtype
    if isinstance(output, list | tuple) and all(isinstance(each, np.ndarray) for each in output):
        output = type(output)(each.astype(like) if each.dtype.kind == "f" else each for each in output)
    return {**observation, "output": output}


TRIAL = Trial(
    module="transformer_course.mlp_numpy",
    points=2,
    cases=cases,
    canonical=in_words,
    called={"worked_out": "how the slopes are worked out"},
    aspects=(
        aspects.shape(),
        aspects.worded(aspects.values(), "worked_out"),
        aspects.BATCH_OF_ONE,
        FLOAT32,
        aspects.untouched(),
    ),
)
