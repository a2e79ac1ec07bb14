"""What `ablation_is_sound` is tried on: code that takes out heads, right or not quite. It knows the answer.

The model behind it is a small one: what a head writes is its own, and later layers see what earlier ones wrote.
"""

from collections.abc import Callable
from typing import Any

import torch

from cellcheck.authoring.patients import Patient

Written = list[torch.Tensor]
Pairs = list[tuple[int, int]]


class Model:
    """Layers of heads, each of which moves and turns what it finds in the stream: (batch, heads, length, d_model)."""

    def __init__(self, seed: int, layers: int, heads: int, width: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.embedding = torch.randn(40, width, generator=generator, dtype=torch.float64)
        self.turns = torch.randn(layers, heads, width, width, generator=generator, dtype=torch.float64) / width**0.5
        self.layers, self.heads = layers, heads

    def run(self, tokens: torch.Tensor, taken: Callable[[int, torch.Tensor], torch.Tensor]) -> Written:
        """What each head writes; `taken(layer, written)` is what the layer goes on with."""
        stream = self.embedding[tokens]
        written = []
        for layer in range(self.layers):
            before = stream.cumsum(dim=1) / torch.arange(1, tokens.shape[1] + 1).unsqueeze(1)  # the mean so far
            heads = torch.einsum("bnd,hde->bhne", torch.tanh(before), self.turns[layer])
            heads = taken(layer, heads + heads.sign() * 0.1)  # nothing is zero by itself
            written.append(heads)
            stream = stream + heads.sum(dim=1)
        return written


def _taken_out(which: Pairs) -> Callable[[int, torch.Tensor], torch.Tensor]:
    def taken(layer: int, written: torch.Tensor) -> torch.Tensor:
        written = written.clone()
        for of_layer, head in which:
            if of_layer == layer:
                written[:, head] = 0
        return written

    return taken


def _other_pairs(change: Callable[[int, int, Model], Pairs]) -> Any:
    """Takes out other heads than asked for."""

    def run(model: Model, tokens: torch.Tensor, which: Pairs) -> Written:
        return model.run(tokens, _taken_out([pair for layer, head in which for pair in change(layer, head, model)]))

    return run


def _in_part(part: Callable[[torch.Tensor, int], None]) -> Any:
    """Does something else to the head's results than setting them all to zero."""

    def run(model: Model, tokens: torch.Tensor, which: Pairs) -> Written:
        def taken(layer: int, written: torch.Tensor) -> torch.Tensor:
            written = written.clone()
            for of_layer, head in which:
                if of_layer == layer:
                    part(written, head)
            return written

        return model.run(tokens, taken)

    return run


def _sound(model: Model, tokens: torch.Tensor, which: Pairs) -> Written:
    return model.run(tokens, _taken_out(which))


def _nearly_zero(written: torch.Tensor, head: int) -> None:
    written[:, head] *= 1e-7


def _half(written: torch.Tensor, head: int) -> None:
    written[:, head] *= 0.5


def _mean(written: torch.Tensor, head: int) -> None:
    written[:, head] = written[:, head].mean(dim=(0, 1), keepdim=True)


def _first_row(written: torch.Tensor, head: int) -> None:
    written[0, head] = 0


def _last_position(written: torch.Tensor, head: int) -> None:
    written[:, head, -1] = 0


def _but_the_first_position(written: torch.Tensor, head: int) -> None:
    written[:, head, 1:] = 0
    written[:, head, 0, 0], written[:, head, 0, 1] = 0.7, -0.7  # whoever looks in one direction should see something


def _one_number_left(written: torch.Tensor, head: int) -> None:
    written[:, head] = 0
    written[0, head, :, -1], written[1:, head, :, -1] = 0.7, -0.7


def _first_row_and_last_position(written: torch.Tensor, head: int) -> None:
    """What is left is where neither a look at the first row nor one at the last position finds it."""
    written[0, head] = 0
    written[:, head, -1] = 0


def _one_number_of_a_neighbour(written: torch.Tensor, head: int) -> None:
    """So little, and in so few places, that no mean shows it."""
    written[:, head] = 0
    written[0, (head + 1) % written.shape[1], -1, -1] -= 5e-4


def _balanced(written: torch.Tensor, head: int) -> None:
    """What is left adds up to nothing: a sum or a mean doesn't show it."""
    width = written.shape[-1]
    signs = torch.ones(width, dtype=written.dtype)
    signs[width // 2 :] = -1
    written[:, head] = 0.3 * signs


def _rescaled(written: torch.Tensor, head: int) -> None:
    written[:, head] = 0
    written *= written.shape[1] / max(written.shape[1] - 1, 1)


def _downwards(written: torch.Tensor, head: int) -> None:
    """A neighbour writes a little less, and never more."""
    written[:, head] = 0
    written[:, (head + 1) % written.shape[1]] -= 5e-4


def _upwards(written: torch.Tensor, head: int) -> None:
    """A neighbour writes a little more, and never less."""
    written[:, head] = 0
    written[:, (head + 1) % written.shape[1]] += 5e-4


def _frozen(model: Model, tokens: torch.Tensor, which: Pairs) -> Written:
    """Takes the head out of what it reports; what follows was worked out with it."""
    written = model.run(tokens, lambda _, heads: heads)
    return [_taken_out(which)(layer, heads) for layer, heads in enumerate(written)]


def _last_frozen(model: Model, tokens: torch.Tensor, which: Pairs) -> Written:
    """Only the last layer still reads what was there before, unless the head is in it."""
    written = model.run(tokens, _taken_out(which))
    if all(layer < model.layers - 1 for layer, _ in which):
        written[-1] = model.run(tokens, lambda _, heads: heads)[-1]
    return written


def _next_frozen(model: Model, tokens: torch.Tensor, which: Pairs) -> Written:
    """Only the layer after the head's still reads what was there before."""
    written = model.run(tokens, _taken_out(which))
    usual = model.run(tokens, lambda _, heads: heads)
    for layer, _ in which:
        written[layer + 1] = usual[layer + 1]
    return written


def _hardly_noticed(model: Model, tokens: torch.Tensor, which: Pairs) -> Written:
    """Takes the head out; each later layer notices at one position, which is enough."""
    written = model.run(tokens, _taken_out(which))
    usual = model.run(tokens, lambda _, heads: heads)
    for of_layer, _ in which:
        for layer in range(of_layer + 1, model.layers):
            written[layer] = usual[layer].clone()
            written[layer][0, 0, -1, 0] += 0.3
            written[layer][0, 0, -1, 1] -= 0.2
    return written


def _disturbs_one(back: Callable[[int], int]) -> Any:
    """Takes the head out, and changes what one earlier layer says that it wrote."""

    def run(model: Model, tokens: torch.Tensor, which: Pairs) -> Written:
        written = model.run(tokens, _taken_out(which))
        for layer, _ in which:
            written[back(layer)] = written[back(layer)] * 0.9
        return written

    return run


def _disturbs_earlier(model: Model, tokens: torch.Tensor, which: Pairs) -> Written:
    """Takes the head out, and changes what the layers before it write."""
    written = model.run(tokens, _taken_out(which))
    for layer, _ in which:
        for earlier in range(layer):
            written[earlier] = written[earlier] * 0.9
    return written


Run = Callable[[Model, torch.Tensor, Pairs], Written]
CODES: dict[str, Run] = {
    "sound": _sound,
    "nearly_zero": _in_part(_nearly_zero),
    "nothing": _other_pairs(lambda *_: []),
    "half": _in_part(_half),
    "mean": _in_part(_mean),
    "first_row": _in_part(_first_row),
    "last_position": _in_part(_last_position),
    "first_row_and_last_position": _in_part(_first_row_and_last_position),
    "but_the_first_position": _in_part(_but_the_first_position),
    "one_number_left": _in_part(_one_number_left),
    "balanced": _in_part(_balanced),
    "neighbour": _other_pairs(lambda layer, head, model: [(layer, (head + 1) % model.heads)]),
    "neighbour_too": _other_pairs(lambda layer, head, model: [(layer, head), (layer, (head + 1) % model.heads)]),
    "neighbour_below_too": _other_pairs(lambda layer, head, model: [(layer, head), (layer, (head - 1) % model.heads)]),
    "one_number_of_a_neighbour": _in_part(_one_number_of_a_neighbour),
    "every_layer": _other_pairs(lambda _, head, model: [(layer, head) for layer in range(model.layers)]),
    "earlier_layers": _other_pairs(lambda last, head, model: [(layer, head) for layer in range(last + 1)]),
    "whole_layer": _other_pairs(lambda layer, _, model: [(layer, head) for head in range(model.heads)]),
    "rescaled": _in_part(_rescaled),
    "downwards": _in_part(_downwards),
    "upwards": _in_part(_upwards),
    "frozen": _frozen,
    "last_frozen": _last_frozen,
    "next_frozen": _next_frozen,
    "hardly_noticed": _hardly_noticed,
    "disturbs_earlier": _disturbs_earlier,
    "disturbs_the_first": _disturbs_one(lambda _: 0),
    "disturbs_the_one_before": _disturbs_one(lambda layer: layer - 1),
}
STAYS, WEARS, SHAKY = "stays", "wears", "shaky"
NOT_BACK = {"first_not_back": 0, "middle_not_back": 1, "last_not_back": 2}
"""After an ablation, one layer never is what it was: its number."""


def code_of(name: str, seed: int, layers: int = 3, heads: int = 3) -> Patient:
    """A patient that answers `run`, with tokens and pairs."""
    model = Model(seed, layers, heads, 4)
    gone: Pairs = []
    calls = [0]

    def run(tokens: torch.Tensor, which: Any) -> Written:
        calls[0] += 1
        pairs = [(int(layer), int(head)) for layer, head in which]
        if name == STAYS:  # a head that was taken out never comes back
            gone.extend(pairs)
            written = _sound(model, tokens, gone)
        elif name == WEARS:  # each time, something of the first layer is lost
            written = _sound(model, tokens, pairs)
            if pairs:
                model.turns[0, 0] *= 0.99
        elif name == SHAKY:
            written = _sound(model, tokens, pairs)
        elif name in NOT_BACK:
            written = _sound(model, tokens, pairs)
            if gone and not pairs:
                written[NOT_BACK[name]][0, 0, -1] += 0.01
            gone.extend(pairs)
        else:
            written = CODES[name](model, tokens, pairs)
        answer = [one.float() for one in written]
        if name == SHAKY:  # the last digit differs in every second call
            answer = [one * (1 + 1e-7 * (calls[0] % 2)) for one in answer]
        return answer

    return Patient({"run": run})
