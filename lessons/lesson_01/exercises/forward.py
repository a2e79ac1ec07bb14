"""Mistakes of a forward pass, written so that they run on NumPy arrays and on tensors alike."""

from __future__ import annotations

from functools import reduce
from typing import Any

from grader.authoring.spec import Mistake
from lessons.lesson_01.exercises.drawing import Params, forward, relu


def _popped(params: Params, inputs: Any) -> Any:
    W, b = params.pop()
    x = inputs
    for hidden_W, hidden_b in params:
        x = relu(x @ hidden_W + hidden_b)
    return x @ W + b


def _two_layers(params: Params, inputs: Any) -> Any:
    (W1, b1), (W2, b2) = params
    return relu(inputs @ W1 + b1) @ W2 + b2


def _never_chained(params: Params, inputs: Any) -> Any:
    for W, b in params[:-1]:
        relu(inputs @ W + b)
    W, b = params[-1]
    return inputs @ W + b


def _relu_wherever(params: Params, inputs: Any, first: int, last: int) -> Any:
    """ReLU after the layers from `first` to `last - 1`."""
    x = inputs
    for i, (W, b) in enumerate(params):
        x = x @ W + b
        if first <= i < last:
            x = relu(x)
    return x


def all_but_the_last(params: Params, inputs: Any) -> Any:
    return _relu_wherever(params[:-1], inputs, 0, len(params))


def with_activation(function: Any) -> Any:
    def predict(params: Params, inputs: Any) -> Any:
        x = inputs
        for W, b in params[:-1]:
            x = function(x @ W + b)
        W, b = params[-1]
        return x @ W + b

    return predict


FORWARD_MISTAKES = (
    Mistake(
        "relu_after_last",
        lambda params, inputs: _relu_wherever(params, inputs, 0, len(params)),
        "Your result is the right one with every negative number replaced by 0. Which layer has no ReLU after it?",
        central=True,
    ),
    Mistake(
        "no_relu",
        lambda params, inputs: _relu_wherever(params, inputs, 0, 0),
        "Without ReLU all your layers together are one linear map. What belongs between two layers?",
        central=True,
    ),
    Mistake(
        "relu_misplaced",
        lambda params, inputs: _relu_wherever(params, inputs, 1, len(params)),
        "The first layer has no ReLU after it, and the last layer has one. Which layer should go without?",
    ),
    Mistake(
        "relu_on_the_inputs",
        lambda params, inputs: reduce(lambda x, pair: relu(x) @ pair[0] + pair[1], params, inputs),
        "The inputs went through ReLU before the first layer, so their negative numbers are lost. Does ReLU come "
        "before a layer, or between two?",
    ),
    Mistake(
        "relu_before_bias",
        lambda params, inputs: (
            reduce(lambda x, pair: relu(x @ pair[0]) + pair[1], params[:-1], inputs) @ params[-1][0] + params[-1][1]
        ),
        "You add the bias after ReLU. Shouldn't it have a say in what counts as negative?",
    ),
    Mistake(
        "relu_after_first_only",
        lambda params, inputs: _relu_wherever(params, inputs, 0, 1 if len(params) > 1 else 0),
        "Two layers come out right, deeper networks don't: only the first layer has a ReLU after it. Which other "
        "layers need one?",
    ),
    Mistake(
        "bias_forgotten",
        lambda params, inputs: forward([(W, 0 * b) for W, b in params], inputs),
        "That is the result with every bias at 0. What does a layer add after it has multiplied?",
    ),
    Mistake(
        "last_bias_forgotten",
        lambda params, inputs: forward([*params[:-1], (params[-1][0], 0 * params[-1][1])], inputs),
        "Only the bias of the last layer is missing. ReLU is what the last layer goes without: is it the only thing?",
    ),
    Mistake(
        "weights_transposed",
        lambda params, inputs: forward([(W.T, b) for W, b in params], inputs),
        "You multiply by the transpose of W. W is (d_in, d_out) here: which of its axes meets the columns of the "
        "inputs?",
    ),
    Mistake(
        "stopped_after_first_layer",
        lambda params, inputs: _relu_wherever(params[:1], inputs, 0, len(params) - 1),
        "Your result is that of the first layer. Is the return inside the loop?",
    ),
    Mistake(
        "last_layer_left_out",
        all_but_the_last,
        "Your result is what goes into the last layer. Which pair of params haven't you used yet?",
    ),
    Mistake(
        "never_chained",
        _never_chained,
        "Every layer was given the inputs themselves. What should the second layer be given?",
    ),
    Mistake(
        "two_layers_only",
        _two_layers,
        "It works for two layers and for no other number. How would you walk through params without knowing how many "
        "pairs there are?",
        central=True,
    ),
    Mistake(
        "last_layer_popped",
        _popped,
        "The result is right, but the caller's list has lost its last layer, so a second call would go wrong. How can "
        "you look at the last pair without removing it?",
    ),
)


def bent_otherwise(tanh: Any, sigmoid: Any) -> tuple[Mistake, ...]:
    """Another function where ReLU belongs, of whichever library; and a result that lost its axes."""
    return (
        Mistake(
            "tanh_instead_of_relu",
            with_activation(tanh),
            "Your layers use tanh. What does ReLU do to a negative number, and what to a positive one?",
        ),
        Mistake(
            "sigmoid_instead_of_relu",
            with_activation(sigmoid),
            "Your layers use a sigmoid. What does ReLU do to a negative number, and what to a positive one?",
        ),
        Mistake(
            "squeezed",
            lambda params, inputs: forward(params, inputs).squeeze(),
            "Axes of length one disappear from your result. Is a batch of one example still a batch?",
        ),
    )
