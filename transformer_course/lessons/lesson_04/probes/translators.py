"""What can be seen of a whole encoder-decoder that a learner built: properties, since the contract names few parts.

Each look says in words what it found, under a name: {"padding in the encoder": "hidden"}. Models are looked at in
float64 with weights moved away from their start, so that what should not move does not, and what should move does.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from cellcheck.authoring.calls import gradients, state
from cellcheck.authoring.modules import as_it_is, built
from transformer_course.lessons.lesson_04.probes.parts import counting, flatten

Inputs = Mapping[str, Any]
Seen = dict[str, Any]
NEAR = 1e-9


def look_at(symbol: Any, inputs: Inputs) -> Seen:
    """The look that the case asks for."""
    with torch.set_grad_enabled(inputs["look"] == "usual"):
        return LOOKS[inputs["look"]](symbol, inputs)


def _made(symbol: Any, inputs: Inputs, **others: int) -> Any:
    """A model of the case's sizes, its parameters shaken."""
    sizes = {**inputs["sizes"], **others}
    model = built(symbol, *sizes.values())
    generator = torch.Generator().manual_seed(sum(sizes.values()))
    parameters = list(model.parameters())
    amounts = [parameter.numel() for parameter in parameters]
    numbers = 0.3 * torch.randn(sum(amounts), generator=generator)  # in one go, which takes a tenth of the time
    with torch.no_grad():
        for parameter, drawn in zip(parameters, torch.split(numbers, amounts), strict=True):
            parameter.add_(drawn.view(parameter.shape))
    return model


def _exact(symbol: Any, inputs: Inputs, **others: int) -> Any:
    return _made(symbol, inputs, **others).double().eval()


def _moves(before: torch.Tensor, after: torch.Tensor) -> torch.Tensor:
    """How far each vector moved: (batch, length)."""
    return (after - before).abs().amax(dim=-1) / (1 + before.abs().max())


def _still(before: torch.Tensor, after: torch.Tensor) -> bool:
    """Whether nothing moved. What is not finite has moved."""
    return bool((_moves(before, after) < NEAR).all())


def _moving(before: torch.Tensor, after: torch.Tensor) -> bool:
    """Whether every vector moved."""
    return bool((_moves(before, after) > NEAR).all())


def _choose(right: bool, yes: str, no: str) -> str:
    return yes if right else no


def _name_of(logits: torch.Tensor) -> str:
    return str(logits.dtype).removeprefix("torch.")


def _with(tokens: torch.Tensor, place: int) -> torch.Tensor:
    """Another token at one place of each row."""
    changed = tokens.clone()
    changed[:, place] = torch.where(tokens[:, place] > 2, tokens[:, place] - 1, tokens[:, place] + 2)
    return changed


def _swapped(x: torch.Tensor) -> torch.Tensor:
    """The first two columns exchanged."""
    return torch.cat([x[:, 1:2], x[:, :1], x[:, 2:]], dim=1)


def _usual(symbol: Any, inputs: Inputs) -> Seen:
    """Shapes, both ways to call it, modes, gradients, the parameters of a layer."""
    source, target = inputs["source"], inputs["target_input"]
    model = _made(symbol, inputs).train()
    norms = [getattr(model, name, None) for name in ("encoder_norm", "decoder_norm")]
    with counting(norms[0]) as in_encoder, counting(norms[1]) as in_decoder:
        logits = model(source, target)
    modes = [all(part.training for part in model.modules())]
    named = dict(model.named_parameters())
    flowing = gradients(logits, list(named.values()))
    unused = [] if isinstance(flowing, str) else [n for n, g in zip(named, flowing, strict=True) if g is None]
    chances = bool(((logits.sum(dim=-1) - 1).abs() < 1e-4).all())
    logarithms = bool(((logits.exp().sum(dim=-1) - 1).abs() < 1e-4).all())
    signs = _choose(bool((logits < 0).any()), "any numbers", "Your logits are never below 0.")
    numbers = "Your logits sum to 1 at each position, as probabilities do." if chances else signs
    if logarithms:
        numbers = "Your logits are the logarithms of probabilities."
    model.double().eval()
    with torch.no_grad():
        evaluated, states = model(source, target), model.encode(source)
        again = model.decode(target, states, source)
    modes.append(any(part.training for part in model.modules()))
    layers = inputs["sizes"]["num_layers"]
    other = built(symbol, *{**inputs["sizes"], "num_layers": layers - 1 or layers + 1}.values())
    added = abs(sum(p.numel() for p in other.parameters()) - sum(p.numel() for p in model.parameters()))
    return {
        "shape_of_the_logits": f"Your logits have the shape {tuple(logits.shape)}: is that a logit for each symbol?",
        "shape_of_the_states": f"Your encoder states are {tuple(states.shape)}: is that a vector for each token?",
        "the_logits": numbers,
        "dtype": f"With float32 parameters, your logits are {_name_of(logits)}.",
        "dtype_of_a_float64_model": f"With float64 parameters, your logits are {_name_of(evaluated)}.",
        "the_two_steps": _choose(
            _still(evaluated, again),
            "what forward does",
            "Encode, then decode: the logits are others than those of forward.",
        ),
        "training_mode": _choose(
            torch.allclose(logits.double(), evaluated.double(), atol=1e-4),
            "as evaluation mode",
            "In training mode your model gives other logits than in evaluation mode.",
        ),
        "modes": modes,
        **(
            dict.fromkeys(("blocks_in_use", "parameters_without_use"), flowing)
            if isinstance(flowing, str)
            else _in_use(model, unused)
        ),
        "one_more_layer": (
            f"With a different num_layers, your model's parameters change by {added}. Does it count on both sides?"
        ),
        "encoder_norm_is_called": _choose(
            in_encoder[0] <= 1, "once", "Your encoder_norm is called several times, not once after the last block."
        ),
        "decoder_norm_is_called": _choose(
            in_decoder[0] <= 1, "once", "Your decoder_norm is called several times, not once after the last block."
        ),
        "arguments": state([source, target]),
    }


def _padding(symbol: Any, inputs: Inputs) -> Seen:
    """Nobody sees the source's padding, and each row stands by itself."""
    model = _exact(symbol, inputs)
    source, target = inputs["source"], inputs["target_input"]
    mask = inputs.get("target_mask")
    real = source != 0
    longer = model.encode(torch.nn.functional.pad(source, (0, 1)))[:, : source.shape[1]]
    states = model.encode(source)
    logits = model.decode(target, states, source, mask)
    noise = torch.where(real[..., None], states, 3 - 2 * states)
    disturbed = model.decode(target, noise, source, mask)
    length = int(real[1].sum())
    alone = model(source[1:2, :length], target[1:2], mask)
    return {
        "padding_in_the_encoder": _choose(
            _still(states[real], longer[real]),
            "hidden",
            "Your encoder looks at padding: one more column of it moves the states of real tokens.",
        ),
        "padding_in_the_decoder": _choose(
            _still(logits, disturbed),
            "hidden",
            "Your decoder looks at padding: the encoder states at padded positions move its logits.",
        ),
        "a_row_by_itself": _choose(
            _still(logits[1:2], alone),
            "the same as in a batch",
            "A row gets other logits alone than beside longer rows.",
        ),
    }


def _reading(symbol: Any, inputs: Inputs) -> Seen:
    """All of the source reaches all of the logits, and its order matters."""
    model = _exact(symbol, inputs)
    source, target = inputs["source"], inputs["target_input"]
    others = [source, _with(source, 0), _with(source, -1), _swapped(source)]
    states, first, last, swapped = model.encode(torch.cat(others)).chunk(4)
    # The first row again and again, each time with the state at another place moved.
    length = source.shape[1]
    again = [tokens[:1].expand(length + 1, -1) for tokens in (target, source)]
    moved = model.encode(again[1]).clone()
    places = torch.arange(length)
    moved[places, places] = 3 - 2 * moved[places, places]
    *heard, untouched = model.decode(again[0], moved, again[1]).unsqueeze(1)
    one_row = torch.cat([others[1][:1], source[1:]])
    logits, beside = model(torch.cat([source, one_row]), torch.cat([target, target])).chunk(2)
    return {
        "a_source_token": _choose(
            _moving(states, first) and _moving(states, last),
            "seen by all",
            "Some positions of the source don't see its first token, or its last.",
        ),
        "an_encoder_state": _choose(
            all(_moving(untouched, each) for each in heard),
            "heard at every target place",
            "Some target positions don't see every encoder state."
            if any(_moving(untouched, each) for each in heard)
            else "Your logits don't change with the encoder states that decode is given. Which states does it use?",
        ),
        "the_source's_order": _choose(
            _moving(_swapped(states)[:, :2], swapped[:, :2]),
            "seen",
            "Your encoder doesn't notice when two source tokens swap places.",
        ),
        "another_row_of_the_batch": _choose(
            _still(logits[1:], beside[1:]),
            "without influence",
            "A change in one row of the batch moves the logits of another row.",
        ),
    }


def _writing(symbol: Any, inputs: Inputs) -> Seen:
    """Without a mask all target tokens see each other, and their order matters."""
    model = _exact(symbol, inputs)
    source, target = inputs["source"], inputs["target_input"]
    padded = torch.cat([target[:, :-1], torch.zeros_like(target[:, :1])], dim=1)
    others = [target, _with(target, 0), _with(target, -1), _swapped(target), padded]
    all_but_the_last = torch.ones(target.shape[1], dtype=torch.bool)
    all_but_the_last[-1] = False
    hidden = model(source, padded, all_but_the_last.expand(target.shape[1], -1))
    logits, first, last, swapped, free = model(source.repeat(5, 1), torch.cat(others)).chunk(5)
    seen_by_all = _moving(logits, first) and _moving(logits, last)
    return {
        "target_padding_without_a_mask": _choose(
            _moving(free, hidden) or not seen_by_all,  # who sees nothing hides nothing in particular
            "seen",
            "Without a mask, your decoder hides the target's padding. The docstring leaves that to target_mask.",
        ),
        "a_target_token": _choose(
            seen_by_all,
            "seen by all",
            "Without a mask, some target positions don't see the first target token, or the last.",
        ),
        "the_target's_order": _choose(
            _moving(_swapped(logits)[:, :2], swapped[:, :2]),
            "seen",
            "Your decoder doesn't notice when two target tokens swap places.",
        ),
    }


def _masking(symbol: Any, inputs: Inputs) -> Seen:
    """A target mask is kept in every block, in each shape that broadcasts."""
    model = _exact(symbol, inputs)
    source, target = inputs["source"], inputs["target_input"]
    (batch, length), heads = target.shape, inputs["sizes"]["num_heads"]
    lower, itself = torch.ones(length, length, dtype=torch.bool).tril(), torch.eye(length, dtype=torch.bool)
    changed = torch.cat([target, _with(target, -1), _with(target, 0)])
    logits, later, first = model(source.repeat(3, 1), changed, lower).chunk(3)
    alone = model(source.repeat(3, 1), changed, itself).chunk(3)
    expanded = model(source, target, lower.expand(batch, heads, length, length))
    return {
        "what_the_mask_hides": _choose(
            _still(logits[:, :-1], later[:, :-1]) and _still(alone[0][:, 1:], alone[2][:, 1:]),
            "hidden",
            "A target position still sees tokens that target_mask hides from it.",
        ),
        "what_the_mask_allows": _choose(
            _moving(logits, first), "seen", "A target position doesn't see a token that target_mask allows it to see."
        ),
        "a_mask_for_batch_and_heads": _choose(
            _still(logits, expanded),
            "the same as (length, length)",
            "A target_mask (batch, heads, length, length) gives other logits than the same mask as (length, length).",
        ),
        "the_mask_in_decode": _choose(
            _still(logits, model.decode(target, model.encode(source), source, lower)),
            "kept",
            "In decode, called by itself, target_mask has another effect than in forward.",
        ),
    }


def _norms(symbol: Any, inputs: Inputs) -> Seen:
    """One norm after each stack, and a Linear layer after the decoder's."""
    model = _exact(symbol, inputs)
    source, target = inputs["source"], inputs["target_input"]
    shared = model.encoder_norm.weight is model.decoder_norm.weight
    width = model.encoder_norm.bias.shape
    b, c = torch.linspace(-1, 2, width[0], dtype=torch.float64), torch.linspace(3, 1, width[0], dtype=torch.float64)
    states, answers = model.encode(source), {}
    for name, constant in (("0", 0 * b), ("b", b), ("c", c), ("b + c", b + c)):
        flatten(model.decoder_norm, constant)
        answers[name] = model.decode(target, states, source)
    flat = all(_still(answer[:1, :1].expand_as(answer), answer) for answer in answers.values())
    linear = _still(answers["b + c"] + answers["0"], answers["b"] + answers["c"])
    flatten(model.encoder_norm, b)
    states = model.encode(source[:1])
    return {
        "encoder_norm": _choose(
            _still(b.expand_as(states), states),
            "the last step of encode",
            "Your encoder_norm isn't the last step of encode.",
        ),
        "decoder_norm": _choose(
            flat,
            "between the last block and the logits",
            "Your decoder_norm isn't between the last block and the logits.",
        ),
        "the_step_to_the_logits": _choose(
            linear, "a Linear layer", "More than a Linear layer lies between decoder_norm and the logits."
        ),
        "the_two_norms": _choose(not shared, "two", "Your encoder_norm and decoder_norm are one and the same."),
    }


def _in_use(model: nn.Module, unused: list[str]) -> Seen:
    """Which blocks no gradient reaches, by their place, since a learner's lists have names of their own; what else."""
    idle, rest = [], set(unused)
    counts = {"encoder": 0, "decoder": 0}
    for name, part in model.named_modules():
        side = "decoder" if hasattr(part, "cross_attention") else "encoder"
        if not (hasattr(part, "feed_forward") and hasattr(part, "norm2")):
            continue
        counts[side] += 1
        inside = {f"{name}.{each}" for each, _ in part.named_parameters()}
        if inside and inside <= set(unused):
            idle.append(f"{side} block {counts[side]}")
            rest -= inside
    norms = [norm for norm in ("encoder_norm", "decoder_norm") if any(norm in name.split(".") for name in rest)]
    others = [] if idle or norms else sorted(rest)[:3]
    return {
        "blocks_in_use": f"No gradient reaches {', '.join(idle)}. Is it used?" if idle else "all",
        "parameters_without_use": f"No gradient reaches {', '.join(norms + others)}." if norms + others else "none",
    }


def _decoding(symbol: Any, inputs: Inputs) -> Seen:
    """`decode` reads the states that it is given, as they come, and nothing else of the source but its padding."""
    model = _exact(symbol, inputs)
    source, target = inputs["source"], inputs["target_input"]
    others = torch.where(source == 0, 0, source % (inputs["sizes"]["vocab_size"] - 1) + 1)
    model.encode(others.clamp(min=1))  # without padding
    in_between = model.decode(target, model.encode(source), source)
    states = model.encode(source)
    model.encode(others.clamp(min=1))
    afterwards = model.decode(target, states, source)
    states = 1000 * model.encode(source)  # so long that the eps of a norm adds nothing to them
    logits = model.decode(target, states, source)
    return {
        "source_tokens_in_decode": _choose(
            _still(logits, model.decode(target, states, others)),
            "not read again",
            "Your decode reads the source again, although it is given the encoder states.",
        ),
        "encoder_states_in_decode": _choose(
            _moving(logits, model.decode(target, 3 * states, source)),
            "used as they come",
            "Your decode normalises the encoder states, or leaves them out.",
        ),
        "the_padding_in_decode": _choose(
            _still(in_between, afterwards),
            "that of the source it is given",
            "Your decode hides the padding of whichever source was encoded last, not that of the source it is given.",
        ),
    }


def _sizes(symbol: Any, inputs: Inputs) -> Seen:
    """Rows as long as they may be, rows of one token, a source without any; heads that do something."""
    longest = inputs["sizes"]["max_length"]
    last = inputs["sizes"]["vocab_size"] - 1
    ids = 1 + torch.arange(2 * longest).reshape(2, longest) % last
    model = _exact(symbol, inputs)
    nothing = torch.zeros(2, 3, dtype=torch.int64)
    heads = built(symbol, *{**inputs["sizes"], "num_heads": 1}.values()).double().eval()
    its = dict(heads.named_parameters())
    for name, parameter in model.named_parameters():
        if name in its:
            its[name].copy_(parameter)
    logits = model(ids, ids)
    return {
        "the_longest_rows": str(tuple(logits.shape)),
        "rows_of_one_token": str(tuple(model(ids[:1, :1], ids[:1, :1]).shape)),
        "a_source_of_padding_alone": _choose(
            bool(model(nothing, ids).isfinite().all()), "finite numbers", "A source that is all padding gives NaN."
        ),
        "another_number_of_heads": _choose(
            _moving(logits, heads(ids, ids)),
            "another result",
            "Another number of heads makes no difference to your model.",
        ),
    }


def _closed(symbol: Any, inputs: Inputs) -> Seen:
    """The future is hidden in forward and in decode, the past is not, and a row may be written token by token."""
    model = _exact(symbol, inputs)
    as_new = as_it_is(model)
    source, target = inputs["source"], inputs["target_input"]
    length = target.shape[1]
    states = model.encode(source)
    changed = [_with(target, place) for place in range(length)]
    repeated = (torch.cat([target, *changed]), states.repeat(length + 1, 1, 1), source.repeat(length + 1, 1))
    logits, *moved = model.decode(*repeated).chunk(length + 1)
    pair = source.repeat(2, 1), torch.cat([target, changed[-1]])
    forward = model(*pair).chunk(2)
    opened = model(*pair, torch.ones(length, length, dtype=torch.bool)).chunk(2)
    prefixes = [model.decode(target[:, :n], states, source) for n in (1, length - 1)]
    as_new()  # so that the first that it reads is a single token
    states = model.encode(source)
    grown = [model.decode(target[:, :n], states, source) for n in (1, length)]
    return {
        "the_future_in_forward": _choose(
            _still(forward[0][:, :-1], forward[1][:, :-1]),
            "hidden",
            "In forward, positions see target tokens that come after them.",
        ),
        "the_future_in_decode": _choose(
            all(_still(logits[:, :place], after[:, :place]) for place, after in enumerate(moved) if place),
            "hidden",
            "In decode, positions see target tokens that come after them.",
        ),
        "the_future_under_a_mask_that_allows_all": _choose(
            _still(opened[0][:, :-1], opened[1][:, :-1]), "hidden", "A mask that allows everything opens the future."
        ),
        "the_past": _choose(
            all(_moving(logits[:, place:], after[:, place:]) for place, after in enumerate(moved)),
            "seen",
            "Some positions don't see a target token that comes before them, or their own.",
        ),
        "a_row_written_token_by_token": _choose(
            all(_still(logits[:, : each.shape[1]], each) for each in (*prefixes, *grown)),
            "the same",
            "Written token by token, a row gets other logits than all at once.",
        ),
    }


def _joined(symbol: Any, inputs: Inputs) -> Seen:
    """Its own mask hides future and padding; a mask handed in is joined to it, whatever its shape."""
    model = _exact(symbol, inputs)
    as_new = as_it_is(model)
    source, target, mask = inputs["source"], inputs["target_input"], inputs["target_mask"]
    free, free_pattern = _watched(model, source, target, None)
    handed, pattern = _watched(model, source, target, mask)
    in_decode = model.decode(target, model.encode(source), source, mask)
    as_new()
    model(source, target.clamp(min=1))  # a target of the same size, without padding
    after_another = _pattern(_watched(model, source, target, None)[1], target, None)
    return {
        "its_own_mask": _pattern(free_pattern, target, None),
        "its_mask_for_another_target": after_another,
        "the_joined_mask": _pattern(pattern, target, mask),
        "a_mask_handed_in": _choose(
            not _still(free, handed), "of influence", "The mask that is passed in has no effect."
        ),
        "a_mask_handed_to_decode": _choose(
            _still(handed, in_decode),
            "the same as in forward",
            "The mask that is passed to decode has another effect than in forward.",
        ),
        "the_logits": _choose(
            bool((free.isfinite() & handed.isfinite()).all()), "finite numbers", "There is NaN among the logits."
        ),
        "arguments": state([source, target, mask]),
    }


def _watched(
    model: Any, source: torch.Tensor, target: torch.Tensor, mask: torch.Tensor | None
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """The logits, and where each block's self-attention looked: (batch, heads, rows, columns), if blocks name it."""
    looked: list[torch.Tensor] = []

    def note(_part: Any, _inputs: Any, result: Any) -> None:
        if isinstance(result, tuple) and len(result) == 2 and isinstance(result[1], torch.Tensor):
            looked.append(result[1] > 0)

    parts = [getattr(part, "self_attention", None) for part in model.modules()]
    handles = [part.register_forward_hook(note) for part in parts if isinstance(part, nn.Module)]
    logits = model(source, target) if mask is None else model(source, target, mask)
    for handle in handles:
        handle.remove()
    return logits, looked


def _pattern(looked: list[torch.Tensor], target: torch.Tensor, mask: torch.Tensor | None) -> str:
    """What the blocks looked at, held against what they may look at. Rows that allow nothing are left out."""
    past = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).tril()
    real = (target != 0)[:, None, None, :]
    allowed = torch.ones_like(past) if mask is None else mask
    expected = past & real & allowed
    own_place = torch.eye(target.shape[1], dtype=torch.bool)
    faults = []
    answered = expected.any(dim=-1, keepdim=True)
    for weights in looked:
        seen = weights & answered
        if not (seen != expected).any():
            continue
        missed = expected & ~weights
        faults += ["lets a position see tokens after it"] * bool((seen & ~past).any())
        faults += ["lets positions see the target's padding"] * bool((seen & past & ~real).any())
        faults += ["lets positions see what the mask passed in forbids"] * bool((seen & past & real & ~allowed).any())
        faults += ["hides some tokens from their own position"] * bool((missed & own_place).any())
        faults += ["hides some tokens from positions after them"] * bool((missed & ~own_place).any())
    return f"Your mask {', and '.join(dict.fromkeys(faults))}." if faults else "exact"


LOOKS: dict[str, Callable[[Any, Inputs], Seen]] = {
    "usual": _usual,
    "padding": _padding,
    "reading": _reading,
    "writing": _writing,
    "masking": _masking,
    "norms": _norms,
    "decoding": _decoding,
    "sizes": _sizes,
    "closed": _closed,
    "joined": _joined,
}
