"""How the symbols of lesson 17 are called whose cases know too much to travel, and all that samples."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import torch

from cellcheck.authoring.calls import Probe, plain_bool
from transformer_course.lessons.lesson_11.randomness import source_of_randomness
from transformer_course.lessons.watching import AS_ASKED, Unwatched, first_said

Inputs = Mapping[str, Any]


def _accept_or_replace(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    given = [inputs[name] for name in ("target", "draft", "proposed")]
    if inputs.get("chance"):

        def drawn(generator: torch.Generator) -> Any:
            return [part.tolist() for part in symbol(*(t.clone() for t in given), generator)]

        return {"chance": source_of_randomness(drawn, inputs["seed"])}
    before = [t.clone() for t in given]
    tokens, accepted = symbol(*given, torch.Generator().manual_seed(inputs["seed"]))
    untouched = all(torch.equal(one, other) for one, other in zip(before, given, strict=True))
    return {
        "output": [tokens, accepted],
        "kind": [_kind(tokens, "whole numbers"), _kind(accepted, "booleans")],
        "kept": "as they were" if untouched else "changed",
    }


def _kind(tensor: Any, wanted: str) -> str:
    """Whether it holds what is wanted. If it doesn't, it doesn't matter what it holds."""
    if not isinstance(tensor, torch.Tensor):
        return f"no tensor, but {type(tensor).__name__}"
    numbers = "fractions" if tensor.is_floating_point() else "whole numbers"
    numbers = "booleans" if tensor.dtype == torch.bool else numbers
    return f"{numbers if numbers == wanted else f'no {wanted}'}, {tensor.dim()} axes"


class _Chain:
    """A model whose logits depend on the token at each position and, a little, on the first one. Notes its calls."""

    def __init__(self, table: torch.Tensor, first: torch.Tensor) -> None:
        self.table, self.first = table.clone().requires_grad_(), first if first.any() else None
        self.read: list[list[int]] = []
        self.recorded = False

    def __call__(self, tokens: torch.Tensor) -> torch.Tensor:
        if tokens.dim() != 2 or len(tokens) != 1:
            raise ValueError(f"a model wants tokens of shape (1, n), and these are {tuple(tokens.shape)}")
        self.read.append(tokens[0].tolist())
        self.recorded |= torch.is_grad_enabled()
        logits = self.table[tokens]
        return logits if self.first is None else logits + self.first[tokens[:, :1]]


def _speculative_step(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    ids, count = inputs["ids"], inputs["count"]
    target, draft = _Chain(inputs["target"], inputs["first"]), _Chain(inputs["draft"], inputs["first"])
    generator = torch.Generator().manual_seed(inputs["seed"])
    if inputs.get("chance"):

        def drawn(generator: torch.Generator) -> Any:
            return [symbol(target, draft, ids.clone(), count, generator).tolist() for _ in range(4)]

        return {"chance": source_of_randomness(drawn, inputs["seed"])}
    if "calls" in inputs:
        return {"texts": [_texts(partial(symbol, target, draft), call, draft, generator) for call in inputs["calls"]]}
    if "proposals" in inputs:
        symbol(target, draft, ids.clone(), count, generator)
        return {"proposed": target.read[-1][len(ids) :] if target.read else []}
    before = ids.clone()
    output = symbol(target, draft, ids, count, generator)
    return {
        "output": output,
        "target_reads": target.read,
        "draft_reads": draft.read,
        "recorded": "recorded" if target.recorded or draft.recorded else "not recorded",
        "arguments": [before, ids],
    }


def _texts(step: Any, call: Inputs, draft: _Chain, generator: torch.Generator) -> list[list[int]]:
    """What many calls add to a text: until there are four kinds of it, by what the draft says, too, after the text."""
    ids = torch.tensor(call["ids"])
    says = dict(enumerate((draft.table[ids[-1]] > 0).tolist()))
    texts: list[list[int]] = []
    kinds: set[tuple[bool | None, ...]] = set()
    while len(texts) < call["least"] or (len(kinds) < 4 and len(texts) < call["most"]):
        texts.append(step(ids.clone(), call["count"], generator).tolist()[len(ids) :])
        kinds.add(tuple(map(says.get, texts[-1])))
    return texts


def _keeps_the_distribution(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    if inputs.get("by shares"):
        return {"forgives": first_said(partial(_forgives, symbol))}
    ask = inputs["patient"]
    drawn: dict[int, int] = {}  # how many tokens, by what chance begins with
    exchanged: list[bool] = []

    def speculate(target: Any, draft: Any, count: Any, generator: Any) -> Any:
        number = int(torch.randint(2**31, (1,), generator=generator))
        drawn[number] = max(drawn.get(number, 0), int(count))  # the same seed draws the same tokens again
        exchanged.append(_same(target, inputs["draft"]) and _same(draft, inputs["target"]))
        return ask("sample", target, draft, int(count), number)

    answer = plain_bool(symbol(speculate, inputs["target"], inputs["draft"]))
    total = sum(drawn.values())
    few = answer is True and total < 20_000
    hardly_any = next((f"under {bound}" for bound in (2_000, 10_000) if 0 < total < bound), "more")
    seen = {"output": answer, "drawn": "fewer than 20,000" if few else "enough", "in all": hardly_any}
    return {**seen, "handed over": "exchanged"} if exchanged and all(exchanged) else seen


_SHARES = (0.30, 0.22, 0.16, 0.14, 0.10, 0.08)
_PAIRS = ((0, 5), (1, 4), (2, 3), (3, 2), (4, 1), (5, 0))


def _forgives(symbol: Any) -> str:
    """With which differences the answer is still True, the largest first. No luck is in it: tokens come as often as
    the target says, to the last one, and then as often as that and a little more or less."""
    target = torch.tensor(_SHARES)

    def says(off: torch.Tensor) -> Any:
        def speculate(chances: Any, other: Any, count: Any, generator: Any) -> torch.Tensor:
            shares = torch.as_tensor(chances).double() + off
            if shares.shape != off.shape or bool((shares < 0).any()):
                raise ValueError("these aren't probabilities of six tokens")
            bounds = (shares.cumsum(0) / shares.sum() * int(count)).round().long()
            return torch.arange(len(shares)).repeat_interleave(bounds.diff(prepend=torch.zeros(1, dtype=torch.long)))

        try:
            return plain_bool(symbol(speculate, target.clone(), target.flip(0)))
        except NotImplementedError:  # a blank answer
            raise
        except Exception as error:
            raise Unwatched from error

    nothing = torch.zeros(len(target), dtype=torch.float64)
    if says(nothing) is not True:
        return AS_ASKED
    for by in (0.2, 0.1, 0.07, 0.05):
        for less, more in _PAIRS:
            if _SHARES[less] > by:
                off = nothing.clone()
                off[less], off[more] = -by, by
                if says(off) is True:
                    return (
                        f"You still say True where one token comes up too rarely by {by:g} and another too often by as "
                        "much. Does each token count in your comparison, and how far off may it be?"
                    )
    for sign, called in ((-1, "rarely"), (1, "often")):
        for token in range(len(target)):
            off = nothing - sign * 0.06 / (len(target) - 1)
            off[token] = sign * 0.06
            if says(off) is True:
                return (
                    f"You still say True where one token comes up too {called} by 0.06, and each of the others is "
                    "hardly off. Does each token count in your comparison, and how far off may it be?"
                )
    off = nothing + _SHARES[-1] / (len(target) - 1)
    off[-1] = -_SHARES[-1]
    if says(off) is True:
        return (
            f"You still say True where a token never comes up that the target gives {_SHARES[-1]:g}. Does each token "
            "count in your comparison, those too that you haven't seen?"
        )
    return AS_ASKED


def _same(one: Any, other: torch.Tensor) -> bool:
    return isinstance(one, torch.Tensor) and one.shape == other.shape and torch.equal(one.to(other.dtype), other)


def _serve(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    """What `serve` answers, and which texts were in each call. The next token of a text is 1 less than its last, or
    another where the case says so."""
    calls: list[list[list[int]]] = []
    others = {tuple(text): token for text, token in inputs["others"]}

    def step(texts: Any) -> list[int]:
        texts = [[int(i) for i in text] for text in texts]
        if not texts:
            raise ValueError("step was called without a text")
        if len(calls) > 400:
            raise RuntimeError("step has been called 400 times, and there is no end")
        calls.append(sorted(texts))
        return [others.get(tuple(text), text[-1] - 1) for text in texts]

    prompts = [list(prompt) for prompt in inputs["prompts"]]
    before = [list(prompt) for prompt in prompts]
    output = symbol(step, prompts, inputs["slots"], inputs["end_id"], inputs["max_new"])
    return {"output": output, "calls": calls, "arguments": [before, prompts]}


def _block_cache(symbol: Any, inputs: Inputs) -> dict[str, Any]:
    """Does what the case says, one thing after the other, and notes what comes back."""
    sizes = inputs["sizes"]
    text = next(step[2] for step in inputs["script"] if len(step) > 2)
    earlier = symbol(*sizes)
    shared = _holds(earlier, text)
    if not shared:
        earlier.append(text, torch.ones(sizes[2]), torch.ones(sizes[2]))
    caches = [symbol(*sizes) for _ in range(inputs.get("caches", 1))]
    if shared or _holds(caches[0], text):
        return {"output": ["a new cache isn't empty"], "kinds": [], "arguments": [], "refused": []}
    seen: list[Any] = []
    kinds: set[str] = set()
    given: list[torch.Tensor] = []
    refused: list[int] = []
    for at, (what, number, *arguments) in enumerate(inputs["script"]):
        cache = caches[number]
        if what == "append":
            text, key, value = arguments
            given += [key, value]
            try:
                cache.append(text, key, value)
            except MemoryError:
                seen.append("no block is free")
                refused.append(at)
        elif what == "append, then change":
            text, key, value = arguments
            mine = [key.clone(), value.clone()]
            cache.append(text, *mine)
            for tensor in mine:
                tensor.zero_()
        elif what == "read":
            keys, values = cache.read(*arguments)
            seen.append([keys.clone(), values.clone()])
            kinds |= {str(keys.dtype), str(values.dtype)}
        elif what == "read, then change":
            for tensor in cache.read(*arguments):
                tensor.zero_()
        elif what == "read, and keep":
            seen.append(list(cache.read(*arguments)))
        elif what == "truncate":
            cache.truncate(*arguments)
        elif what == "free":
            seen.append(int(cache.free()))
    return {"output": seen, "kinds": sorted(kinds), "arguments": given, "refused": refused}


def _holds(cache: Any, text: Any) -> bool:
    """Whether a cache says that it has something of a text; many stop at a text that they don't know."""
    try:
        return bool(cache.read(text)[0].numel() > 0)
    except Exception:
        return False


PROBES: dict[str, Probe] = {
    "BlockCache": _block_cache,
    "accept_or_replace": _accept_or_replace,
    "keeps_the_distribution": _keeps_the_distribution,
    "serve": _serve,
    "speculative_step": _speculative_step,
}
