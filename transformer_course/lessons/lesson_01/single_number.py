"""Where the result is one number, in whichever form."""

import numpy as np

from cellcheck.authoring.arrays import as_tensor, is_array, is_tensor
from cellcheck.authoring.aspects import CONTENT, USUAL
from cellcheck.authoring.spec import Aspect, Case, Observation

ONE_NUMBER = Aspect(
    "one number", keys=("form",), kinds=CONTENT, tags=USUAL, meaning="The result is a single number, of shape ()."
)


def one_number(observation: Observation, case: Case) -> Observation:
    """The number, as exact as the parameters are, apart from its form.

    A float, a NumPy number and an array without axes are all one number. In an axis of length one it still is
    the right number, in the wrong form; that no gradient flows through a plain number, the gradients tell.
    """
    output, like = observation["output"], case.inputs["params"][0][0]
    array = is_array(output)
    form = f"of shape {tuple(output.shape)}" if array else "of shape ()"
    if array and np.prod(output.shape) == 1:
        output = output.reshape(())
    if isinstance(output, float):
        output = as_tensor(output, like.dtype) if is_tensor(like) else np.asarray(output, dtype=like.dtype)
    return {**observation, "output": output, "form": form}
