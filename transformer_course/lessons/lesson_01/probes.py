"""How those symbols of lesson 01 are called whose cases are drawn with the right answer, or stay behind as patients."""

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import nn

from cellcheck.authoring.calls import Probe, gradients, in_order_with_gradients, plain_bool, state, tensors_in
from cellcheck.authoring.modules import built

RANDOM = (
    "In training mode, your model draws random numbers: is there dropout in it? The same inputs should give the same "
    "predictions."
)
ALWAYS_RANDOM = (
    "Your model draws random numbers whenever it is called, in eval mode too. Is there a dropout that never stops, or "
    "a layer that forward makes anew?"
)


def _loss_gradients(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    params, batch = inputs["params"], inputs["batch"]
    if inputs["params_are"] != "plain":
        for tensor in tensors_in(params):
            tensor.requires_grad_()
            if inputs["params_are"] == "used":  # as after a backward pass
                tensor.grad = torch.full_like(tensor, 0.5)
    output = symbol(params, batch)
    return {"output": output, "arguments": state((params, batch))}


def _sgd_step(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    params, gradients = inputs["params"], inputs["gradients"]
    old = tensors_in(params)  # the tensors themselves, even where the list gets others
    output = symbol(params, gradients, inputs["learning_rate"])
    return {"output": output, "arguments": [state((params, gradients)), old]}


def _mlp(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Builds `symbol(sizes)`, puts the case's weights into its layers, and runs it forward and backward."""
    sizes, params, x = list(inputs["sizes"]), inputs["params"], inputs["inputs"]
    model = built(symbol, sizes)
    layers = getattr(model, "layers", None)
    numbers = sum(parameter.numel() for parameter in model.parameters())
    seen: dict[str, Any] = {
        "layers": "no attribute layers" if layers is None else [_describe(layer) for layer in layers],
        "parameters": f"{numbers} numbers in model.parameters()",
    }
    model = model.to(x.dtype)
    # A model without a proper `layers` can still compute the right thing: its other points are its own.
    linears = _fitting(layers or [], params) or _fitting(model.modules(), params)
    if linears is None:
        seen["output"] = _without_its_weights(model, layers, params)
        return seen
    seen["separate"] = f"{len({id(layer.weight) for layer in linears})} different weights"
    for layer, (weight, bias) in zip(linears, params, strict=True):
        layer.weight.data = weight.T.clone()  # (in, out) -> (out, in)
        if layer.bias is not None:
            layer.bias.data = bias.clone()
    model.train()  # where a dropout that nobody asked for would show
    chance = torch.get_rng_state()
    seen["output"] = model(x)
    drawn = not torch.equal(chance, torch.get_rng_state())
    modes = [model.training]
    tracked = x.detach().clone().requires_grad_()
    biases = [layer.bias for layer in linears if layer.bias is not None]
    leaves = [tracked, *(layer.weight for layer in linears), *biases]
    model.eval()
    always = drawn and not torch.equal(model(x), model(x))  # and not in training mode only, as an nn.Dropout
    if drawn:
        seen["output"] = ALWAYS_RANDOM if always else RANDOM
    try:
        seen["gradients"] = ALWAYS_RANDOM if always else gradients(model(tracked), leaves)
    except Exception as error:
        seen["gradients"] = f"stopped with {type(error).__name__}: {error}"
    if _ignores_its_layers(model, x, leaves[1:]):
        # Random numbers, which say nothing: two who make this mistake never see the same.
        seen["output"] = seen["gradients"] = "random numbers, on which the model's own weights have no influence"
    modes.append(model.training)
    seen["training_mode"] = modes
    seen["arguments"] = [state(x), state(tracked), sizes]
    return seen


def _ignores_its_layers(model: nn.Module, x: torch.Tensor, weights: Sequence[torch.Tensor]) -> bool:
    """Whether it gives other numbers at each call, and no gradient reaches any of these weights."""
    try:
        flowing = gradients(model(x), list(weights))
        return all(gradient is None for gradient in flowing) and not torch.equal(model(x), model(x))
    except Exception:
        return False


def _describe(layer: Any) -> str:
    weight, bias = getattr(layer, "weight", None), getattr(layer, "bias", None)
    if weight is None:
        return f"{type(layer).__name__}, which has no weights"
    return f"weight {tuple(weight.shape)}, {'no bias' if bias is None else f'bias {tuple(bias.shape)}'}"


def _without_its_weights(model: nn.Module, layers: Any, params: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> str:
    """Why the case's weights could not be handed in, as a sentence for a card."""
    shapes = ", ".join(str(tuple(weight.T.shape)) for weight, _ in params)
    if not list(model.parameters()):
        return "Once your model is made, model.parameters() is empty: there is nothing to put weights into."
    theirs = [tuple(w.shape) for w in (getattr(c, "weight", None) for c in layers or model.modules()) if w is not None]
    has = ", ".join(map(str, theirs)) or "none"
    return f"The weights of your Linear layers should have the shapes {shapes}, but they have: {has}."


def _fitting(candidates: Any, params: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> list[Any] | None:
    """Those of the candidates that have weights, if they are what the params fit into; else None."""
    layers = [c for c in candidates if isinstance(getattr(c, "weight", None), torch.Tensor)]
    shapes = [tuple(weight.T.shape) for weight, _ in params]
    return layers if [tuple(layer.weight.shape) for layer in layers] == shapes else None


def _loss_is_sound(symbol: Any, inputs: Mapping[str, Any]) -> dict[str, Any]:
    ask = inputs["patient"]
    answer = plain_bool(symbol(lambda predictions, targets: ask("loss", predictions, targets)))
    return {"output": answer}


PROBES: dict[str, Probe] = {
    "batched_dot": in_order_with_gradients(0, 1),
    "pick": in_order_with_gradients(0),
    "sgd_step": _sgd_step,
    "mlp_predict": in_order_with_gradients(0, 1),
    "mse_loss": in_order_with_gradients(0),
    "loss_gradients": _loss_gradients,
    "MLP": _mlp,
    "loss_is_sound": _loss_is_sound,
}
