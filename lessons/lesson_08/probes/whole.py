"""What can be seen of the whole model: `forward`, `encode` and `decode`, and who sees which tokens."""

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
    has_option,
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
    return built(symbol, *{**inputs["sizes"], **others}.values())


def _exact(symbol: Any, inputs: Inputs, **others: float) -> Any:
    return shaken(_built(symbol, inputs, **others))


def _usual(symbol: Any, inputs: Inputs) -> Seen:
    """Shapes, both ways to call it, modes, gradients, how many numbers are learnt."""
    source, target = inputs["source"], inputs["target_input"]
    model = _built(symbol, inputs).train()
    logits = model(source, target)
    modes = [all(part.training for part in model.modules())]
    idle = out_of_use(model, gradients(logits, list(model.parameters())))
    more = _built(symbol, inputs, num_layers=inputs["sizes"]["num_layers"] + 1)
    # Whether the last layer has a bias is left open.
    numbers = sum(p.numel() for p in model.parameters() if tuple(p.shape) != (inputs["sizes"]["tgt_vocab_size"],))
    model.double().eval()
    with torch.no_grad():
        evaluated, states = model(source, target), model.encode(source)
        again = model.decode(target, states, source)
    modes.append(any(part.training for part in model.modules()))
    return {
        "shape_of_the_logits": str(tuple(logits.shape)),
        "shape_of_the_states": str(tuple(states.shape)),
        "the_logits": _kind(evaluated),
        "dtype": str(logits.dtype),
        "dtype_of_a_float64_model": str(evaluated.dtype),
        "the_two_steps": say(still(evaluated, again), "what forward does", "something else than forward"),
        "training_mode": say(
            torch.allclose(logits.double(), evaluated.double(), atol=1e-4), "as evaluation mode", "another result"
        ),
        "modes": modes,
        "parameters": idle,
        "one_more_layer": f"{numbers_in(more) - numbers_in(model)} numbers more",
        "all_parts": f"{numbers} numbers",
        "arguments": state([source, target]),
    }


def _kind(logits: torch.Tensor) -> str:
    for numbers, kind in ((logits, "probabilities"), (logits.exp(), "logarithms of probabilities")):
        if ((numbers.sum(dim=-1) - 1).abs() < 1e-6).all():
            return kind
    return say(bool((logits < 0).any()), "any numbers", "never below 0")


def _padding(symbol: Any, inputs: Inputs) -> Seen:
    """Nobody sees padding, and each row stands by itself."""
    model = _exact(symbol, inputs)
    source, target = inputs["source"], inputs["target_input"]
    real = source != 0
    states = model.encode(source)
    longer = model.encode(nn.functional.pad(source, (0, 1)))[:, : source.shape[1]]
    logits = model.decode(target, states, source)
    noise = torch.where(real[..., None], states, 3 - 2 * states)
    length = int(real[1].sum())
    alone = model(source[1:2, :length], target[1:2])
    gap = target.clone()
    gap[:, 1] = 0
    before = model.decode(gap, states, source)
    for part in model.modules():  # another vector for padding
        if isinstance(part, nn.Embedding) and part.num_embeddings == inputs["sizes"]["tgt_vocab_size"]:
            part.weight[0] = 3 - 2 * part.weight[0]
    after = model.decode(gap, states, source)
    places = [0, *range(2, gap.shape[1])]
    return {
        "padding_in_the_encoder": say(still(states[real], longer[real]), "hidden", "seen"),
        "padding_in_the_cross_attention": say(still(logits, model.decode(target, noise, source)), "hidden", "seen"),
        "a_row_by_itself": say(still(logits[1:2], alone), "the same as in a batch", "another than in a batch"),
        "padding_of_the_target": say(still(before[:, places], after[:, places]), "hidden", "seen"),
    }


def _reading(symbol: Any, inputs: Inputs) -> Seen:
    """All of the source reaches all of the logits, its order counts, and decode takes the states that it is given."""
    model = _exact(symbol, inputs)
    source, target = inputs["source"], inputs["target_input"]
    turned = source.flip(1)
    one_row = torch.cat([another_token(source, 0)[:1], source[1:]])
    sources = torch.cat([source, another_token(source, 0), another_token(source, -1), one_row])
    logits, first, last, beside = model(sources, target.repeat(4, 1)).chunk(4)
    states, backwards = model.encode(torch.cat([source, turned])).chunk(2)
    length = source.shape[1]
    moved = [another_state(states, place) for place in range(length)]
    decoded, *heard = model.decode(
        target.repeat(length + 1, 1), torch.cat([states, *moved]), source.repeat(length + 1, 1)
    ).chunk(length + 1)
    others = model.decode(target, states, another_token(source, 0))
    long, longer = model.decode(
        target.repeat(2, 1), torch.cat([1000 * states, 3000 * states]), source.repeat(2, 1)
    ).chunk(2)
    return {
        "a_source_token": say(moving(logits, first) and moving(logits, last), "reaches all", "doesn't reach all"),
        "an_encoder_state": say(
            all(moving(decoded, each) for each in heard), "heard at every target place", "not heard at every place"
        ),
        "the_source's_order": say(moving(states.flip(1)[:, :1], backwards[:, :1]), "seen", "not seen"),
        "another_row_of_the_batch": say(still(logits[1:], beside[1:]), "without influence", "of influence"),
        "source_tokens_in_decode": say(still(decoded, others), "not read again", "read again"),
        "the_size_of_encoder_states": say(moving(long, longer), "used as they come", "normed or left out"),
    }


def _writing(symbol: Any, inputs: Inputs) -> Seen:
    """The future is hidden, the past is not, and a row may be written token by token."""
    model = _exact(symbol, inputs)
    source, target = inputs["source"], inputs["target_input"]
    length = target.shape[1]
    states = model.encode(source)
    changed = [another_token(target, place) for place in range(length)]
    logits, *moved = model.decode(
        torch.cat([target, *changed]), states.repeat(length + 1, 1, 1), source.repeat(length + 1, 1)
    ).chunk(length + 1)
    forward, later = model(source.repeat(2, 1), torch.cat([target, changed[-1]])).chunk(2)
    beginning = model.decode(target[:, :-2], states, source)
    same = model.decode(torch.full_like(target, 3), states, source)
    return {
        "a_target_token": say(
            all(moving(logits[:, [place]], after[:, [place]]) for place, after in enumerate(moved)),
            "counts",
            "doesn't count",
        ),
        "the_future_in_decode": say(
            all(still(logits[:, :place], after[:, :place]) for place, after in enumerate(moved) if place),
            "hidden",
            "seen",
        ),
        "the_future_in_forward": say(still(forward[:, :-1], later[:, :-1]), "hidden", "seen"),
        "the_past": say(
            all(moving(logits[:, place:], after[:, place:]) for place, after in enumerate(moved)), "seen", "not seen"
        ),
        "the_target's_order": say(moving(same[:, :1], same[:, 1:]), "seen", "not seen"),
        "a_row_written_token_by_token": say(still(logits[:, :-2], beginning), "the same", "another one"),
    }


def _sizes(symbol: Any, inputs: Inputs) -> Seen:
    """Rows as long as they may be, rows of one token, a source without any; heads that do something."""
    longest = inputs["sizes"]["max_length"]
    last = inputs["sizes"]["tgt_vocab_size"] - 1
    ids = 1 + torch.arange(2 * longest).reshape(2, longest) % last
    model, heads = _exact(symbol, inputs), _exact(symbol, inputs, num_heads=1)
    heads.load_state_dict(model.state_dict(), strict=False)
    logits = model(ids, ids)
    return {
        "the_longest_rows": str(tuple(logits.shape)),
        "rows_of_one_token": str(tuple(model(ids[:1, :1], ids[:1, :1]).shape)),
        "a_source_of_padding_alone": say(
            bool(model(torch.zeros(2, 3, dtype=torch.int64), ids).isfinite().all()), "finite numbers", "NaN"
        ),
        "another_number_of_heads": say(moving(logits, heads(ids, ids)), "another result", "no difference"),
    }


def _dropping(symbol: Any, inputs: Inputs) -> Seen:
    """With a dropout of a half; and with one that leaves nothing, so that all places are alike."""
    source, target = inputs["source"], inputs["target_input"]
    half = _built(symbol, inputs, dropout=0.5).train()
    in_training = torch.equal(half(source, target), half(source, target))
    half.eval()
    in_evaluation = torch.equal(half(source, target), half(source, target))
    nothing = _built(symbol, inputs, dropout=1.0).train()
    states, logits = nothing.encode(source), nothing(source, target)
    alike = bool((states == states[:1, :1]).all() and (logits == logits[:1, :1]).all())
    return {
        "in_training": say(in_training, "the same twice", "different each time"),
        "in_evaluation": say(in_evaluation, "the same twice", "different each time"),
        "with_a_dropout_of_1": say(alike, "nothing gets through", "something gets through"),
    }


def _sharing(symbol: Any, inputs: Inputs) -> Seen:
    """One matrix for both embeddings and the output layer, where the model has that option."""
    if not has_option(symbol, "share_embeddings"):
        _built(symbol, inputs)  # a blank says so
        return dict.fromkeys(("shared_numbers", "vocabularies_of_two_sizes"), "there is no such option")
    sizes = inputs["sizes"]
    same = [sizes["tgt_vocab_size"] if name == "src_vocab_size" else size for name, size in sizes.items()]
    shared, apart = symbol(*same, share_embeddings=True), symbol(*same)
    try:
        symbol(*sizes.values(), share_embeddings=True)
        refused = "accepted"
    except Exception:
        refused = "refused"
    logits = shared(inputs["target_input"], inputs["target_input"])
    return {
        "shared_numbers": f"{numbers_in(apart) - numbers_in(shared)} numbers fewer, logits of {tuple(logits.shape)}",
        "vocabularies_of_two_sizes": refused,
    }


LOOKS: dict[str, Callable[[Any, Inputs], Seen]] = {
    "usual": _usual,
    "padding": _padding,
    "reading": _reading,
    "writing": _writing,
    "sizes": _sizes,
    "dropping": _dropping,
    "sharing": _sharing,
}
