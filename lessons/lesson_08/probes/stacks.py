"""What can be seen of an encoder or a decoder that a learner built: properties, since parts may bear any name.

Each look says in words what it found. What the first layer reads is compared as it is: there, embeddings and
positions have met, and nothing else has happened yet. An encoder takes (tokens, mask), a decoder
(tokens, encoder_states, self_mask, encoder_mask): in both, the mask of the self-attention comes after what is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from grader.authoring.calls import gradients, state
from grader.authoring.modules import built
from lessons.lesson_08.probes.moving import (
    another_state,
    another_token,
    moving,
    numbers_in,
    out_of_use,
    say,
    shaken,
    still,
)

Inputs = Mapping[str, Any]
Seen = dict[str, Any]


def look_at(symbol: Any, inputs: Inputs) -> Seen:
    """The look that the case asks for."""
    with torch.set_grad_enabled(inputs["look"] == "usual"):
        return LOOKS[inputs["look"]](symbol, inputs)


def _built(symbol: Any, inputs: Inputs, **others: float) -> Any:
    """A stack of the case's sizes, with the case's embedding."""
    sizes = {**inputs["sizes"], **others}
    model = built(symbol, *sizes.values())
    table = _table(model, sizes["vocab_size"], sizes["d_model"])
    if table is not None:
        with torch.no_grad():
            table.copy_(inputs["embedding"])
    return model


def _table(model: nn.Module, vocab_size: int, d_model: int) -> torch.Tensor | None:
    """The embedding, whatever it is called: the first parameter of that shape."""
    return next((p for p in model.parameters() if tuple(p.shape) == (vocab_size, d_model)), None)


def _exact(symbol: Any, inputs: Inputs, **others: float) -> Any:
    return shaken(_built(symbol, inputs, **others))


def _given(inputs: Inputs, tokens: torch.Tensor | None = None) -> list[Any]:
    """What comes before the masks."""
    given = [inputs["tokens"] if tokens is None else tokens]
    return [*given, inputs["states"].double()] if "states" in inputs else given


def _first_readings(model: nn.Module, *arguments: Any) -> tuple[list[Any], Any]:
    """What the first layer reads, each time that it is called; and what comes out in the end.

    The first layer is the first part with a matrix in it that is called with vectors.
    """
    first: list[nn.Module] = []
    read: list[Any] = []

    def note(part: nn.Module, positional: Any, named: Any) -> None:
        vectors = [each for each in (*positional, *named.values()) if isinstance(each, torch.Tensor) and each.dim() > 2]
        if vectors and vectors[0].is_floating_point() and (not first or part is first[0]):
            first.append(part)
            read.append(vectors[0].detach().clone())

    handles = [
        part.register_forward_pre_hook(note, with_kwargs=True)
        for part in model.modules()
        if part is not model and any(parameter.dim() > 1 for parameter in part.parameters())
    ]
    result = model(*arguments)
    for handle in handles:
        handle.remove()
    return (read or ["no layer was called"]), result


def _usual(symbol: Any, inputs: Inputs) -> Seen:
    """Shape, modes, gradients, how many numbers are learnt; what goes into the first layer."""
    model = _built(symbol, inputs).train()
    tokens, *states = given = [inputs[name] for name in ("tokens", "states") if name in inputs]
    read, output = _first_readings(model, *given)
    modes = [all(part.training for part in model.modules())]
    idle = out_of_use(model, gradients(output, list(model.parameters())))
    more = built(symbol, *{**inputs["sizes"], "num_layers": inputs["sizes"]["num_layers"] + 1}.values())
    numbers = numbers_in(model)
    model.double().eval()
    with torch.no_grad():
        evaluated = model(tokens, *(each.double() for each in states))
    modes.append(any(part.training for part in model.modules()))
    spread = (evaluated.mean(-1).abs().max() < 1e-3) & ((evaluated.var(-1, correction=0) - 1).abs().max() < 0.05)
    return {
        "shape": str(tuple(output.shape)),
        "dtype": str(output.dtype),
        "dtype_of_a_float64_model": str(evaluated.dtype),
        "what_the_first_layer_reads": read[0],
        "calls_of_the_first_layer": len(read),
        "training_mode": say(
            torch.allclose(output.double(), evaluated, atol=1e-4), "as evaluation mode", "another result"
        ),
        "modes": modes,
        "parameters": idle,
        "one_more_layer": f"{numbers_in(more) - numbers} numbers more",
        "all_layers": f"{numbers} numbers",
        "states_of_a_new_model": say(bool(spread), "normalised", "not normalised"),
        "arguments": state(given),
    }


def _seeing(symbol: Any, inputs: Inputs) -> Seen:
    """Without a mask each token sees all of its own row, and no other row."""
    model = _exact(symbol, inputs)
    tokens = inputs["tokens"]
    states = model(*_given(inputs))
    first, last = (model(*_given(inputs, another_token(tokens, place))) for place in (0, -1))
    one_row = torch.cat([another_token(tokens, 0)[:1], tokens[1:]])
    # The same token everywhere: what is different then comes from the positions.
    same = model(*_given(inputs, torch.full_like(tokens, 3)))
    return {
        "a_token": say(moving(states[:, :1], first[:, :1]), "counts", "doesn't count"),
        "another_token_of_the_row": say(
            moving(states, first) and moving(states, last), "seen by all", "not seen by all"
        ),
        "another_row_of_the_batch": say(
            still(states[1:], model(*_given(inputs, one_row))[1:]), "without influence", "of influence"
        ),
        "the_order": say(moving(same[:, :1], same[:, 1:]), "seen", "not seen"),
    }


def _masking(symbol: Any, inputs: Inputs) -> Seen:
    """The mask of the self-attention is kept in every layer, in each shape that broadcasts."""
    model = _exact(symbol, inputs)
    tokens, heads = inputs["tokens"], inputs["sizes"]["num_heads"]
    batch, length = tokens.shape
    lower, itself = torch.ones(length, length, dtype=torch.bool).tril(), torch.eye(length, dtype=torch.bool)
    without_last = torch.ones(3 * batch, 1, 1, length, dtype=torch.bool)
    without_last[..., -1] = False
    three = [torch.cat([tokens, another_token(tokens, 0), another_token(tokens, -1)])]
    three += [inputs["states"].double().repeat(3, 1, 1)] if "states" in inputs else []
    causal, causal_first, causal_last = model(*three, lower).chunk(3)
    alone, alone_first, _ = model(*three, itself).chunk(3)
    padded, padded_first, padded_last = model(*three, without_last).chunk(3)
    hidden = (
        still(causal[:, :-1], causal_last[:, :-1])
        and still(alone[:, 1:], alone_first[:, 1:])
        and still(padded[:, :-1], padded_last[:, :-1])
    )
    allowed = moving(causal, causal_first) and moving(padded, padded_first)
    return {
        "a_mask": say(moving(model(*_given(inputs)), padded), "of influence", "without influence"),
        "what_the_mask_hides": say(hidden, "hidden", "seen"),
        "what_the_mask_allows": say(allowed, "seen", "not seen"),
        "a_mask_for_batch_and_heads": say(
            still(causal, model(*_given(inputs), lower.expand(batch, heads, length, length))),
            "the same as (length, length)",
            "another than (length, length)",
        ),
    }


def _listening(symbol: Any, inputs: Inputs) -> Seen:
    """A decoder hears every encoder state that its mask allows, and takes it as it comes."""
    model = _exact(symbol, inputs)
    tokens, states = inputs["tokens"], inputs["states"].double()
    length = states.shape[1]
    changed = [another_state(states, place) for place in range(length)]
    before, *after = model(tokens.repeat(length + 1, 1), torch.cat([states, *changed])).chunk(length + 1)
    # So long that the eps of a norm adds nothing to them.
    long, longer = model(tokens.repeat(2, 1), torch.cat([1000 * states, 3000 * states])).chunk(2)
    without_last = torch.ones(1, 1, 1, length, dtype=torch.bool)
    without_last[..., -1] = False
    three = torch.cat([states, changed[0], changed[-1]])
    masked, first, last = model(tokens.repeat(3, 1), three, None, without_last).chunk(3)
    return {
        "an_encoder_state": say(
            all(moving(before, each) for each in after), "heard everywhere", "not heard everywhere"
        ),
        "the_size_of_encoder_states": say(moving(long, longer), "used as they come", "normed or left out"),
        "an_encoder_mask": say(moving(before, masked), "of influence", "without influence"),
        "what_the_encoder_mask_hides": say(still(masked, last), "hidden", "heard"),
        "what_the_encoder_mask_allows": say(moving(masked, first), "heard", "not heard"),
    }


def _sizes(symbol: Any, inputs: Inputs) -> Seen:
    """Rows as long as they may be, rows of one token, a batch of one; heads that do something."""
    longest, last = inputs["sizes"]["max_length"], inputs["sizes"]["vocab_size"] - 1
    batch = len(inputs["tokens"])
    ids = 1 + torch.arange(batch * longest).reshape(batch, longest) % last
    model, heads = _exact(symbol, inputs), _exact(symbol, inputs, num_heads=1)
    heads.load_state_dict(model.state_dict(), strict=False)
    given = _given(inputs, ids)
    states = model(*given)
    one = model(*(each[:1] for each in given))
    short = model(*_given(inputs, ids[:, :1]))
    return {
        "the_longest_rows": str(tuple(states.shape)),
        "rows_of_one_token": str(tuple(short.shape)),
        "a_batch_of_one": say(one.shape == states[:1].shape and still(one, states[:1]), "as in a batch", "another"),
        "another_number_of_heads": say(moving(states, heads(*given)), "another result", "no difference"),
    }


def _dropping(symbol: Any, inputs: Inputs) -> Seen:
    """With a dropout of a half, and with one that leaves nothing."""
    half = _built(symbol, inputs, dropout=0.5)
    given = [inputs[name] for name in ("tokens", "states") if name in inputs]
    (whole, *_), evaluated = _first_readings(half.eval(), *given)
    (read, *_), once = _first_readings(half.train(), *given)
    twice, again = half(*given), half.eval()(*given)
    found = read
    if isinstance(read, torch.Tensor):
        dropped, kept = (read == 0) & (whole != 0), (read - 2 * whole).abs() < 1e-5
        found = say(
            bool((dropped | kept).all() and dropped.any() and kept.any()), "half of it is gone", "something else"
        )
        found = "nothing is gone" if torch.equal(read, whole) else found
    nothing = _built(symbol, inputs, dropout=1.0).train()(*given)
    return {
        "the_sum_of_embedding_and_position": found,
        "in_training": say(torch.equal(once, twice), "the same twice", "different each time"),
        "in_evaluation": say(torch.equal(evaluated, again), "the same twice", "different each time"),
        "with_a_dropout_of_1": say(bool((nothing == 0).all()), "nothing gets through", "something gets through"),
    }


LOOKS: dict[str, Callable[[Any, Inputs], Seen]] = {
    "usual": _usual,
    "seeing": _seeing,
    "masking": _masking,
    "listening": _listening,
    "sizes": _sizes,
    "dropping": _dropping,
}
