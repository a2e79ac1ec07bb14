"""`linear_gradients`: how it is tried. The one gradient of the lesson that is worked out by hand."""

from typing import Any

import numpy as np

from cellcheck.authoring import Case, Observation, Trial, aspects
from cellcheck.authoring.draw import dims
from transformer_course.lessons.lesson_01.networks import Float

FLOAT32 = aspects.special("float32")


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
    canonical=in_the_dtype_of_w,
    aspects=(aspects.shape(), aspects.values(), aspects.BATCH_OF_ONE, FLOAT32, aspects.untouched()),
)
