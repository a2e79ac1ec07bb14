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

Inputs = Mapping[str, Any]
Seen = dict[str, Any]


MISSING = "there is no such option"
PRE_NORM = "norm_first: "
"""What a name begins with where it was seen with norm_first=True."""


def look_at(symbol: Any, inputs: Inputs) -> Seen:
    """The look that the case asks for, in both orders of norms if it does."""
    name = inputs["look"]
    look = LOOKS[name]
    with torch.set_grad_enabled(name in ("usual", "norms")):
        seen = look(symbol, inputs)
        if name not in IN_BOTH_ORDERS:
            return seen
        maker = with_option(symbol, "norm_first")
        pre_norm = dict.fromkeys(seen, MISSING) if maker is None else look(maker, inputs)
        return seen | {f"{PRE_NORM}{key}": value for key, value in pre_norm.items()}


def _built(symbol: Any, inputs: Inputs, **others: float) -> Any:
    """A stack of the case's sizes, with the case's embedding."""
    return _with_embedding(_new(symbol, inputs, **others), inputs)


def _new(symbol: Any, inputs: Inputs, **others: float) -> Any:
    return built(symbol, *{**inputs["sizes"], **others}.values())


def _with_embedding(model: nn.Module, inputs: Inputs) -> nn.Module:
    table = _table(model, inputs["sizes"]["vocab_size"], inputs["sizes"]["d_model"])
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


def _repeated(inputs: Inputs, tokens: list[torch.Tensor]) -> list[torch.Tensor]:
    """The same for several batches at once, which all get the case's encoder states."""
    given = [torch.cat(tokens)]
    return [*given, inputs["states"].double().repeat(len(tokens), 1, 1)] if "states" in inputs else given


def _first_readings(
    model: nn.Module,
    *arguments: Any,
    each: dict[nn.Module, torch.Tensor] | None = None,
    beside: list[torch.Tensor] | None = None,
) -> tuple[list[Any], Any]:
    """What the first layer reads, each time that it is called; and what comes out in the end.

    What each layer reads goes to `each`, by layer, and other vectors that the layers are given go to `beside`.

    The first layer is the first part with a matrix in it that is called with vectors.
    """
    first: list[nn.Module] = []
    read: list[Any] = []

    def note(part: nn.Module, positional: Any, named: Any) -> None:
        given = [value for value in (*positional, *named.values()) if isinstance(value, torch.Tensor)]
        vectors = [value for value in given if value.dim() > 2]
        if not vectors or not vectors[0].is_floating_point():
            return
        if not first or part is first[0]:
            first.append(part)
            read.append(vectors[0].detach().clone())
        if each is not None and type(part) is type(first[0]):
            each[part] = vectors[0].detach().clone()
            if beside is not None:
                beside.extend(vectors[1:])

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
    new, fewer = _new(symbol, inputs), _new(symbol, inputs, num_layers=inputs["sizes"]["num_layers"] - 1)
    with_random_numbers = starts(new, fewer)
    model = _with_embedding(new, inputs).train()
    tokens, *states = given = [inputs[name] for name in ("tokens", "states") if name in inputs]
    fellows: dict[nn.Module, torch.Tensor] = {}
    read, output = _first_readings(model, *given, each=fellows)
    there = sum(type(part) in map(type, fellows) for part in model.modules())
    modes = [all(part.training for part in model.modules())]
    idle = out_of_use(model, gradients(output, list(model.parameters())))
    numbers = numbers_in(model)
    model.double().eval()
    with torch.no_grad():
        evaluated = model(tokens, *(each.double() for each in states))
    modes.append(any(part.training for part in model.modules()))
    return {
        "shape": str(tuple(output.shape)),
        "dtype": str(output.dtype),
        "dtype_of_a_float64_model": str(evaluated.dtype),
        "what_the_first_layer_reads": read[0],
        "calls_of_the_first_layer": len(read),
        "layers_that_are_called": say(len(fellows) == there, "all there are", f"{len(fellows)} of {there}"),
        "training_mode": say(
            torch.allclose(output.double(), evaluated, atol=1e-4), "as evaluation mode", "another result"
        ),
        "modes": modes,
        "parameters": idle,
        "one_more_layer": f"{numbers - numbers_in(fewer)} learnable numbers",
        "all_layers": f"{numbers} learnable numbers",
        "the_size_of_new_embeddings": _size_at_first(symbol, inputs),
        "starts": with_random_numbers,
        "states_of_a_new_model": say(_normalised(evaluated), "normalised", "not normalised"),
        "arguments": state(given),
    }


def _normalised(states: torch.Tensor) -> bool:
    """Whether each vector has the mean 0 and the variance 1."""
    means, variances = states.mean(dim=-1), states.var(dim=-1, correction=0)
    return bool((means.abs().max() < 1e-3) & ((variances - 1).abs().max() < 0.05))


def _size_at_first(symbol: Any, inputs: Inputs) -> str:
    """The standard deviation of new embeddings, of so many that chance hardly moves it."""
    d = inputs["sizes"]["d_model"]
    model = _new(symbol, inputs, vocab_size=400, num_layers=1)
    table = next((p for p in model.parameters() if tuple(p.shape) in ((400, d), (d, 400))), None)
    if table is None:
        return "about 1 / sqrt(d_model)"
    size = float(table.detach().std())
    for words, wanted in (
        ("1 / sqrt(d_model)", d**-0.5),
        ("1", 1.0),
        ("1 / d_model", 1 / d),
        ("sqrt(d_model)", d**0.5),
    ):
        if abs(size / wanted - 1) < 0.1:
            return f"about {words}"
    return f"about {size:.2g}, with d_model = {d}"


def _norms(symbol: Any, inputs: Inputs) -> Seen:
    """How many norms x itself passes through, and where a single one is.

    Where all matrices are 0, nothing else takes part in the result.
    """
    sizes = inputs["sizes"]
    model = _new(symbol, inputs).double().eval()
    norms = [p for p in model.parameters() if tuple(p.shape) == (sizes["d_model"],) and bool((p == 1).all())]
    with torch.no_grad():
        normalised = _normalised(model(*_given(inputs)))
        for parameter in model.parameters():
            if parameter.dim() > 1 and sizes["vocab_size"] not in parameter.shape:
                parameter.zero_()
    numbers = {id(norm): number for number, norm in enumerate(norms)}
    calls: list[int] = []
    handles = []
    for module in model.modules():
        owned = [numbers[id(own)] for own in module.parameters(recurse=False) if id(own) in numbers]
        if owned:
            handles.append(module.register_forward_hook(lambda *_, owned=owned: calls.extend(owned)))
    result = model(*_given(inputs))
    for handle in handles:
        handle.remove()
    of_norms = gradients(result, norms) if norms else []
    if isinstance(of_norms, str):
        return {"norms": f"{len(norms)} norms", "norms_on_the_way": of_norms}
    passed = [n for n, gradient in enumerate(of_norms) if gradient is not None and bool(gradient.abs().max() > 1e-9)]
    words = {0: "no norm", 1: "a single norm"}.get(len(passed), f"{len(passed)} of {len(norms)} norms")
    if len(passed) == 1 < len(norms):
        words = _place(passed[0], calls, normalised)
    return {
        "norms": f"{len(norms)} norms",
        "norms_on_the_way": "every norm" if len(passed) == len(norms) > 1 else words,
    }


def _place(norm: int, calls: list[int], normalised: bool) -> str:
    """Where in the stack the one norm is, from the calls of all norms in turn; a norm that is no module leaves none."""
    times = calls.count(norm)
    if times and calls[-1] != norm:
        return "a single norm, before the layers" if times == 1 else "a single norm, before each layer"
    if times > 1:
        return f"a single norm, {times} times"
    return say(normalised, "a single norm", "a single norm, whose result isn't what comes out")


def _repeating(symbol: Any, inputs: Inputs) -> Seen:
    """What is kept from one call to the next."""
    model, tokens = _exact(symbol, inputs), inputs["tokens"]
    length = tokens.shape[1]
    lower = torch.ones(length, length, dtype=torch.bool).tril()
    if "states" not in inputs:
        return {
            "later_calls": later_calls(
                model,
                {
                    "first": (tokens[:, :2], lower[:2, :2]),
                    "with more tokens": (tokens, lower),
                    "with other tokens": (tokens.flip(0), lower),
                    "with another mask": (tokens, lower.mT),
                    "without a mask": (tokens,),
                },
            )
        }
    states = inputs["states"].double()
    some, others = torch.arange(states.shape[1]) < 2, states.flip(0)
    calls = {
        "first": (tokens[:, :2], states, lower[:2, :2]),
        "with more tokens": (tokens, states, lower),
        "with other tokens": (tokens.flip(0), states, lower),
        "with another mask": (tokens, states, lower.mT),
        "without a mask": (tokens, states),
        "with other encoder states": (tokens, others, lower, some),
        "with another encoder_mask": (tokens, others, lower, some.flip(0)),
        "without encoder_mask": (tokens, others, lower),
    }
    return {"later_calls": later_calls(model, calls)}


def _seeing(symbol: Any, inputs: Inputs) -> Seen:
    """Without a mask each token sees all of its own row, and no other row."""
    model = _exact(symbol, inputs)
    tokens = inputs["tokens"]
    # The same token everywhere: what is different then comes from the positions.
    states, first = model(*_repeated(inputs, [tokens, another_token(tokens, 0)])).chunk(2)
    last, same = model(*_repeated(inputs, [another_token(tokens, -1), torch.full_like(tokens, 3)])).chunk(2)
    one_row = torch.cat([another_token(tokens, 0)[:1], tokens[1:]])
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
    without_last = torch.ones(4 * batch, 1, 1, length, dtype=torch.bool)
    without_last[: 3 * batch + 1, ..., -1] = False  # of the last batch, for its first row alone
    first, last = another_token(tokens, 0), another_token(tokens, -1)
    causal, causal_first, causal_last = model(*_repeated(inputs, [tokens, first, last]), lower).chunk(3)
    padded, padded_first, padded_last, apart = model(
        *_repeated(inputs, [tokens, first, last, tokens]), without_last
    ).chunk(4)
    of_all_heads = torch.stack([lower, itself, itself]).repeat_interleave(batch, 0)[:, None].expand(-1, heads, -1, -1)
    causal_again, alone, alone_first = model(*_repeated(inputs, [tokens, tokens, first]), of_all_heads).chunk(3)
    hidden = (
        still(causal[:, :-1], causal_last[:, :-1])
        and still(alone[:, 1:], alone_first[:, 1:])
        and still(padded[:, :-1], padded_last[:, :-1])
    )
    allowed = moving(causal, causal_first) and moving(padded, padded_first)
    whole = model(*_given(inputs))
    own = still(apart[1:], whole[1:]) and still(apart[:1], padded[:1])
    return {
        "a_mask_for_each_row": say(own, "each row follows its own", "rows follow another row's"),
        "a_mask": say(moving(whole, padded), "of influence", "without influence"),
        "what_the_mask_hides": say(hidden, "hidden", "seen"),
        "what_the_mask_allows": say(allowed, "seen", "not seen"),
        "a_mask_for_batch_and_heads": say(
            still(causal, causal_again),
            "the same as (length, length)",
            "another than (length, length)",
        ),
    }


ENCODER_MASK = (
    "an_encoder_mask",
    "what_the_encoder_mask_hides",
    "what_the_encoder_mask_allows",
    "an_encoder_mask_for_each_row",
)


def _listening(symbol: Any, inputs: Inputs) -> Seen:
    """A decoder hears every encoder state that its mask allows, and takes it as it comes."""
    model = _exact(symbol, inputs)
    tokens, states = inputs["tokens"], inputs["states"].double()
    length = states.shape[1]
    changed = [another_state(states, place) for place in range(length)]
    # The last two are so long that the eps of a norm adds nothing to them.
    before, *after, long, longer = model(
        tokens.repeat(length + 3, 1), torch.cat([states, *changed, 1000 * states, 3000 * states])
    ).chunk(length + 3)
    return {
        "x_for_encoder_states": _x_for_states(model, tokens, states),
        "an_encoder_state": say(
            all(moving(before, each) for each in after), "heard everywhere", "not heard everywhere"
        ),
        "the_size_of_encoder_states": say(moving(long, longer), "used as they come", "normed or left out"),
        **_obeying_encoder_masks(model, tokens, states, before),
    }


def _x_for_states(model: Any, tokens: torch.Tensor, states: torch.Tensor) -> str:
    """Which layers are given x where the encoder states belong: always, or where both are equally long."""
    if (layers := _given_x_twice(model, tokens, states)) != "in no layer":
        return layers
    length = min(tokens.shape[1], states.shape[1])
    if (layers := _given_x_twice(model, tokens[:, :length], states[:, :length])) != "in no layer":
        return f"{layers}, where source and target are equally long"
    return layers


def _given_x_twice(model: Any, tokens: torch.Tensor, states: torch.Tensor) -> str:
    """A layer is whatever is of the kind of the first part with a matrix in it that is called with vectors."""
    first: list[type] = []
    twice: list[bool] = []

    def note(part: nn.Module, positional: Any, named: Any) -> None:
        given = [one for one in (*positional, *named.values()) if isinstance(one, torch.Tensor)]
        if not given or not given[0].is_floating_point() or given[0].dim() < 3:
            return
        first.append(type(part))
        if type(part) is first[0]:
            x, *others = given
            twice.append(any(x.shape == one.shape and x.equal(one) for one in others))

    parts = [part for part in model.modules() if part is not model and any(p.dim() > 1 for p in part.parameters())]
    handles = [part.register_forward_pre_hook(note, with_kwargs=True) for part in parts]
    try:
        model(tokens, states)
    finally:
        for handle in handles:
            handle.remove()
    if not any(twice):
        return "in no layer"
    return "in every layer" if all(twice) else "in every layer but the first" if all(twice[1:]) else "in some layers"


def _obeying_encoder_masks(model: Any, tokens: torch.Tensor, states: torch.Tensor, before: torch.Tensor) -> Seen:
    """What becomes of encoder masks; `before` is what comes out without one."""
    length = states.shape[1]
    changed = [another_state(states, place) for place in (0, length - 1)]
    without_last = torch.ones(1, 1, 1, length, dtype=torch.bool)
    without_last[..., -1] = False
    three = torch.cat([states, *changed])
    try:
        masked, first, last = model(tokens.repeat(3, 1), three, None, without_last).chunk(3)
    except RuntimeError:
        return dict.fromkeys(ENCODER_MASK, "stopped by it: something else in the layer is not as long")
    of_the_first = without_last.expand(len(tokens), 1, 1, length) | (torch.arange(len(tokens)) > 0)[:, None, None, None]
    apart = model(tokens, states, None, of_the_first)
    own = still(apart[1:], before[1:]) and still(apart[:1], masked[:1])
    return {
        "an_encoder_mask_for_each_row": say(own, "each row follows its own", "rows follow another row's"),
        "an_encoder_mask": say(moving(before, masked), "of influence", "without influence"),
        "what_the_encoder_mask_hides": say(still(masked, last), "hidden", "heard"),
        "what_the_encoder_mask_allows": say(moving(masked, first), "heard", "not heard"),
    }


def _sizes(symbol: Any, inputs: Inputs) -> Seen:
    """Rows as long as they may be, rows of one token, a batch of one; heads that do something."""
    longest, last = inputs["sizes"]["max_length"], inputs["sizes"]["vocab_size"] - 1
    batch = len(inputs["tokens"])
    ids = 1 + torch.arange(batch * longest).reshape(batch, longest) % last
    model, heads = _exact(symbol, inputs), _new(symbol, inputs, num_heads=1).double().eval()
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
    layers: dict[nn.Module, torch.Tensor] = {}
    states: list[torch.Tensor] = []
    (read, *_), once = _first_readings(half.train(), *given, each=layers, beside=states)
    # An eighth of what a pre-norm layer returns is 0 anyway: both of its parts and its input dropped in the same place.
    once_more = any(_gone(each) > 0.3 for each in [*layers.values()][1:])
    twice, again = half(*given), half.eval()(*given)
    words = read
    if isinstance(read, torch.Tensor):
        dropped, doubled = (read == 0) & (whole != 0), (read - 2 * whole).abs() < 1e-5
        words = say(
            bool((dropped | doubled).all() and dropped.any() and doubled.any()), "half of it is gone", "something else"
        )
        words = "nothing is gone" if torch.equal(read, whole) else words
    nothing = _built(symbol, inputs, dropout=1.0, num_layers=1).train()(*given)
    return {
        "the_sum_of_embedding_and_position": words,
        "what_layers_return": say(once_more, "dropped once more", "not dropped again"),
        "states": say(_gone(once) > 0.3, "dropped, too", "whole"),
        "in_training": say(torch.equal(once, twice), "the same twice", "different each time"),
        "in_evaluation": say(torch.equal(evaluated, again), "the same twice", "different each time"),
        "with_a_dropout_of_1": _through(nothing),
        "encoder_states_in_training": say(any(_halved(one, given[-1]) for one in states), "dropped, too", "whole"),
    }


def _halved(states: torch.Tensor, whole: torch.Tensor) -> bool:
    """Whether these are the others after a dropout of a half."""
    return states.shape == whole.shape and bool(((states == 0) | ((states - 2 * whole).abs() < 1e-5)).all())


def _gone(states: torch.Tensor) -> float:
    """The share of what is 0."""
    return float((states == 0).double().mean())


def _through(states: torch.Tensor) -> str:
    """What gets through a dropout of 1: of biases, all places get the same."""
    if (states == 0).all():
        return "nothing gets through"
    alike = bool(((states - states[:1, :1]).abs() < 1e-5).all())
    return say(alike, "what the layers add gets through", "what the tokens are gets through")


LOOKS: dict[str, Callable[[Any, Inputs], Seen]] = {
    "usual": _usual,
    "seeing": _seeing,
    "masking": _masking,
    "listening": _listening,
    "sizes": _sizes,
    "dropping": _dropping,
    "norms": _norms,
    "repeating": _repeating,
}
IN_BOTH_ORDERS = frozenset({"masking", "listening", "norms", "repeating"})
