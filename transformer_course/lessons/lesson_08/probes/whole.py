"""What can be seen of the whole model: `forward`, `encode` and `decode`, and who sees which tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import combinations
from typing import Any

import torch
from torch import nn

from cellcheck.authoring.calls import gradients, state
from cellcheck.authoring.modules import built
from transformer_course.lessons.lesson_08.probes.moving import (
    another_state,
    another_token,
    moving,
    numbers_in,
    out_of_use,
    say,
    shaken,
    still,
    with_option,
)
from transformer_course.lessons.lesson_08.probes.repeating import later_calls, starts

OURS = "Here your code runs with the course's Encoder and Decoder, whose parts have the docstrings' names"
Inputs = Mapping[str, Any]
Seen = dict[str, Any]
MISSING = "there is no such option"
BOTH = "both options: "


def look_at(symbol: Any, inputs: Inputs) -> Seen:
    """The look that the case asks for."""
    with torch.set_grad_enabled(inputs["look"] == "usual"):
        try:
            return LOOKS[inputs["look"]](symbol, inputs)
        except AttributeError as error:
            if "'Encoder' object" in str(error) or "'Decoder' object" in str(error):
                # Below the line of the learner's own that the error brings along.
                error.args = (f"{error}. {OURS}",)
            raise


def _built(symbol: Any, inputs: Inputs, **others: float) -> Any:
    return built(symbol, *{**inputs["sizes"], **others}.values())


def _exact(symbol: Any, inputs: Inputs, **others: float) -> Any:
    return shaken(_built(symbol, inputs, **others))


def _usual(symbol: Any, inputs: Inputs) -> Seen:
    """Shapes, both ways to call it, modes, gradients, how many numbers are learnt."""
    source, target = inputs["source"], inputs["target_input"]
    model, fewer = _built(symbol, inputs), _built(symbol, inputs, num_layers=inputs["sizes"]["num_layers"] - 1)
    with_random_numbers = starts(model.train(), fewer)
    logits = model(source, target)
    modes = [all(part.training for part in model.modules())]
    idle = out_of_use(model, gradients(logits, list(model.parameters())))
    # Whether the last layer has a bias is left open.
    numbers = sum(p.numel() for p in model.parameters() if tuple(p.shape) != (inputs["sizes"]["tgt_vocab_size"],))
    model.double().eval()
    with torch.no_grad():
        (evaluated, output_layer), states = _output_layer(model, source, target), model.encode(source)
        again = model.decode(target, states, source)
    modes.append(any(part.training for part in model.modules()))
    return {
        "the_output_layer": output_layer,
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
        "one_more_layer": f"{numbers_in(model) - numbers_in(fewer)} learnable numbers",
        "all_parts": f"{numbers} learnable numbers",
        "starts": with_random_numbers,
        "arguments": state([source, target]),
    }


def _output_layer(model: nn.Module, source: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, str]:
    """The logits; what the output layer reads, and what becomes of its result, where decoder and output layer are
    called by their names.
    """
    reads_states = "reads the decoder's states, and its result is returned"
    parts = [getattr(model, name, None) for name in ("decoder", "output")]
    calls: dict[nn.Module, tuple[Any, Any]] = {}
    handles = [
        part.register_forward_hook(lambda part, given, result: calls.update({part: (given, result)}))
        for part in parts
        if isinstance(part, nn.Module)
    ]
    logits = model(source, target)
    for handle in handles:
        handle.remove()
    if len(calls) < 2:
        return logits, reads_states
    (_, states), ((*given,), result_of_output) = (calls[part] for part in parts if part is not None)
    if not given or not all(isinstance(each, torch.Tensor) for each in (states, given[0], result_of_output, logits)):
        return logits, reads_states
    if changed := _changed(states, given[0]):
        return logits, f"reads the decoder's states {changed}"
    return logits, f"has its result {changed}" if (changed := _changed(result_of_output, logits)) else reads_states


def _changed(before: torch.Tensor, after: torch.Tensor) -> str:
    """How numbers were changed, as a word; nothing where they weren't, or where their shape tells enough."""
    if before.shape != after.shape or torch.allclose(before, after, atol=1e-6):
        return ""
    factor = (before * after).sum() / before.square().sum()
    return say(torch.allclose(factor * before, after, atol=1e-6), "scaled by a number", "changed")


def _kind(logits: torch.Tensor) -> str:
    for numbers, kind in ((logits, "probabilities"), (logits.exp(), "logarithms of probabilities")):
        if ((numbers.sum(dim=-1) - 1).abs() < 1e-6).all():
            return kind
    return say(bool((logits < 0).any()), "any numbers", "never below 0")


def _padding(symbol: Any, inputs: Inputs) -> Seen:
    """Nobody sees padding, and each row stands by itself."""
    return _padding_of(_exact(symbol, inputs), inputs)


def _padding_of(model: Any, inputs: Inputs) -> Seen:
    source, target = inputs["source"], inputs["target_input"]
    real = source != 0
    states = model.encode(source)
    longer = model.encode(nn.functional.pad(source, (0, 1)))[:, : source.shape[1]]
    noise = torch.where(real[..., None], states, 3 - 2 * states)
    gap = target.clone()
    gap[:, 1] = 0
    unheard, before = model.decode(torch.cat([target, gap]), torch.cat([noise, states]), source.repeat(2, 1)).chunk(2)
    length = int(real[1].sum())
    alone = model(source[1:2, :length], target[1:2])
    # One call after the other of the same sizes, with other padding.
    logits, flipped = model.decode(target, states, source), model(source.flip(0), target.flip(0))
    apart = (
        "that of another row" if still(logits, model(source, target)) else "hidden in decode otherwise than in forward"
    )
    seen = {
        "padding_in_the_encoder": say(still(states[real], longer[real]), "hidden", "seen"),
        "padding_in_the_cross_attention": say(still(logits, unheard), "hidden", "seen"),
        "the_padding_of_each_row": say(still(logits, flipped.flip(0)), "its own", apart),
        "a_row_by_itself": say(still(logits[1:2], alone), "the same as in a batch", "another than in a batch"),
    }
    for part in model.modules():  # another vector for padding, after all the rest: it may be the output layer's, too
        if isinstance(part, nn.Embedding) and part.num_embeddings == inputs["sizes"]["tgt_vocab_size"]:
            part.weight[0] = 3 - 2 * part.weight[0]
    after = model.decode(gap, states, source)
    places = [0, *range(2, gap.shape[1])]
    return {**seen, "padding_of_the_target": say(still(before[:, places], after[:, places]), "hidden", "seen")}


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
    decoded, *heard, long, longer, others = model.decode(
        target.repeat(length + 4, 1),
        torch.cat([states, *moved, 1000 * states, 3000 * states, states]),
        torch.cat([source.repeat(length + 3, 1), another_token(source, 0)]),
    ).chunk(length + 4)
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
    return _writing_of(_exact(symbol, inputs), inputs)


def _writing_of(model: Any, inputs: Inputs) -> Seen:
    source, target = inputs["source"], inputs["target_input"]
    length = target.shape[1]
    states = model.encode(source)
    changed = [another_token(target, place) for place in range(length)]
    logits, *moved, same = model.decode(
        torch.cat([target, *changed, torch.full_like(target, 3)]),
        states.repeat(length + 2, 1, 1),
        source.repeat(length + 2, 1),
    ).chunk(length + 2)
    forward, later = model(source.repeat(2, 1), torch.cat([target, changed[-1]])).chunk(2)
    beginning = model.decode(target[:, :-2], states, source)
    return {
        "a_target_token": say(
            logits.is_floating_point()
            and all(moving(logits[:, [place]], after[:, [place]]) for place, after in enumerate(moved)),
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
    model, heads = _exact(symbol, inputs), _built(symbol, inputs, num_heads=1).double().eval()
    heads.load_state_dict(model.state_dict(), strict=False)
    logits, unread = model(torch.cat([ids, torch.zeros_like(ids)]), ids.repeat(2, 1)).chunk(2)
    return {
        "the_longest_rows": str(tuple(logits.shape)),
        "rows_of_one_token": str(tuple(model(ids[:1, :1], ids[:1, :1]).shape)),
        "a_source_of_padding_alone": say(bool(unread.isfinite().all()), "finite numbers", "NaN"),
        "another_number_of_heads": say(
            not logits.is_floating_point() or moving(logits, heads(ids, ids)), "another result", "no difference"
        ),
    }


def _dropping(symbol: Any, inputs: Inputs) -> Seen:
    """With a dropout of a half; and with one that leaves nothing, so that all places are alike."""
    source, target = inputs["source"], inputs["target_input"]
    half = _built(symbol, inputs, dropout=0.5).train()
    in_training = torch.equal(half(source, target), half(source, target))
    _, way_in_training = _output_layer(half, source, target)
    half.eval()
    in_evaluation = torch.equal(half(source, target), half(source, target))
    _, way_in_evaluation = _output_layer(half, source, target)
    nothing = _built(symbol, inputs, dropout=1.0).train()
    states, logits = nothing.encode(source), nothing(source, target)
    alike = bool((states == states[:1, :1]).all() and (logits == logits[:1, :1]).all())
    return {
        "in_training": say(in_training, "the same twice", "different each time"),
        "in_evaluation": say(in_evaluation, "the same twice", "different each time"),
        "with_a_dropout_of_1": say(alike, "nothing gets through", "something gets through"),
        "around_the_output_layer": say(
            way_in_evaluation == way_in_training, "nothing is dropped", "something is dropped"
        ),
    }


def _sharing(symbol: Any, inputs: Inputs) -> Seen:
    """One matrix for both embeddings and the output layer, where the model is asked for that."""
    make = with_option(symbol, "share_embeddings")
    if make is None:
        _built(symbol, inputs)  # a blank says so
        return dict.fromkeys(("with_share_embeddings", "vocabularies_of_two_sizes"), MISSING)
    sizes = inputs["sizes"]
    same = [sizes["tgt_vocab_size"] if name == "src_vocab_size" else size for name, size in sizes.items()]
    shape = (sizes["tgt_vocab_size"], sizes["d_model"])
    shared, apart = make(*same), symbol(*same)
    try:
        make(*sizes.values())
        refused = "accepted"
    except Exception:
        refused = "refused"
    logits = shared(inputs["target_input"], inputs["target_input"])
    return {
        "with_share_embeddings": _matrices(shared, shape),
        "without_share_embeddings": _matrices(apart, shape),
        "logits_of_a_shared_matrix": str(tuple(logits.shape)),
        "vocabularies_of_two_sizes": refused,
    }


def _matrices(model: Any, shape: tuple[int, int]) -> str:
    """How many matrices serve as embeddings and output layer."""
    matrices = [parameter for parameter in model.parameters() if tuple(parameter.shape) == shape]
    if len(matrices) == 2:
        return f"one matrix for {_pair(model)}, and another one"
    if len(matrices) != 3:
        return {1: "one matrix in three places"}.get(len(matrices), f"{len(matrices)} matrices")
    if len({parameter.data_ptr() for parameter in matrices}) < 3:
        return "three parameters that write to the same memory"
    alike = (
        torch.equal(matrices[0], matrices[1])
        or torch.equal(matrices[1], matrices[2])
        or torch.equal(matrices[0], matrices[2])
    )
    return "three matrices, copies of each other" if alike else "three matrices"


def _pair(model: Any) -> str:
    """Which two share, by the docstring's names."""
    places = {
        "the source's embedding": "encoder.embedding.weight",
        "the target's embedding": "decoder.embedding.weight",
        "the output layer": "output.weight",
    }
    by_name = dict(model.named_parameters(remove_duplicate=False))
    for one, other in combinations(places, 2):
        first, second = by_name.get(places[one]), by_name.get(places[other])
        if first is not None and first is second:
            return f"{one} and {other}"
    return "two of the three"


def _options(symbol: Any, inputs: Inputs) -> Seen:
    """Both options at once: the same tokens are hidden and seen."""
    names = ("norm_first", "share_embeddings")
    if any(with_option(symbol, name) is None for name in names):
        _built(symbol, inputs)  # a blank says so
        return dict.fromkeys((f"{BOTH}{key}" for key in ("the_future_in_decode", "padding_in_the_encoder")), MISSING)
    vocabulary = inputs["sizes"]["src_vocab_size"]
    both = {**inputs, "sizes": {**inputs["sizes"], "tgt_vocab_size": vocabulary}}
    model = shaken(
        built(lambda *sizes: symbol(*sizes, norm_first=True, share_embeddings=True), *both["sizes"].values())
    )
    looks = _writing_of(model, both) | _padding_of(model, both)  # which moves an embedding in the end
    del looks["padding_of_the_target"]  # whose embedding is that of the source here
    return {f"{BOTH}{key}": value for key, value in looks.items()}


def _pre_norm(symbol: Any, inputs: Inputs) -> Seen:
    """Whether norm_first reaches both stacks: each has one norm more then, after its last layer."""
    make = with_option(symbol, "norm_first")
    if make is None:
        _built(symbol, inputs)
        return {"norms_with_norm_first": MISSING}
    width = inputs["sizes"]["d_model"]
    with_norms, plain = (_numbers_by_part(m) for m in (make(*inputs["sizes"].values()), _built(symbol, inputs)))
    more = {part: with_norms.get(part, 0) - plain.get(part, 0) for part in with_norms | plain}
    grown = [part for part, numbers in more.items() if numbers]
    words = {4 * width: "a final norm for each stack", 0: "no final norm"}.get(sum(more.values()), "other parts")
    if len(grown) == 1 and more[grown[0]] == 2 * width:
        words = f"a final norm in {grown[0]} alone"
    return {"norms_with_norm_first": words}


def _numbers_by_part(model: nn.Module) -> dict[str, int]:
    return {name: numbers_in(part) for name, part in model.named_children()}


def _repeating(symbol: Any, inputs: Inputs) -> Seen:
    """What is kept from one call to the next."""
    model, source, target = _exact(symbol, inputs), inputs["source"], inputs["target_input"]
    other = source.flip(0)
    calls = {
        "first": (source[:, :3], target[:, :2]),
        "with more tokens": (source, target),
        "with another source": (other, target),
        "with another target": (other, target.flip(0)),
        "with fewer tokens": (source[:, :2], target[:, :1]),
        "in two steps": (source, target),
    }
    ways = {"in two steps": lambda m, source, target: m.decode(target, m.encode(source), source)}
    return {"later_calls": later_calls(model, calls, ways)}


LOOKS: dict[str, Callable[[Any, Inputs], Seen]] = {
    "usual": _usual,
    "padding": _padding,
    "reading": _reading,
    "writing": _writing,
    "sizes": _sizes,
    "dropping": _dropping,
    "sharing": _sharing,
    "options": _options,
    "pre_norm": _pre_norm,
    "repeating": _repeating,
}
