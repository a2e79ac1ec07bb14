"""Lesson 15's experiments: a model that learns to copy, what its heads are for, and what the adder of lesson 14 keeps.

What the learner has written is passed in as `Tools`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import combinations
from typing import cast

import numpy as np
import pandas as pd
import torch
from torch import nn

from transformer_course import plots
from transformer_course.attention import MultiHeadAttention, merge_heads, split_heads
from transformer_course.circuits import intervening, looking, reading
from transformer_course.circuits.copying import (
    LENGTH,
    SYMBOLS,
    as_tokens,
    copied,
    fit_copying,
    new_model,
    repeated_rows,
)
from transformer_course.circuits.copying import copying_accuracy as copying_accuracy
from transformer_course.circuits.model import AttentionOnly, Edit, Trace
from transformer_course.length_generalization.adder import Adder, AdderLayer
from transformer_course.length_generalization.examining import right_by_length
from transformer_course.lessons.lesson_14 import experiments as adders
from transformer_course.plots.picture import Picture
from transformer_course.sequences import shift_right
from transformer_course.tasks import addition

ROW = LENGTH // 2
STEPS = 1500


@dataclass(frozen=True)
class Tools:
    """What lesson 15's learner writes; the course's own, unless others are passed in."""

    previous_token_score: Callable[[torch.Tensor], torch.Tensor] = looking.previous_token_score
    follower_mask: Callable[[torch.Tensor], torch.Tensor] = looking.follower_mask
    attention_on: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = looking.attention_on
    without_heads: Callable[[Sequence[tuple[int, int]]], Edit] = intervening.without_heads
    patch_heads: Callable[..., Edit] = intervening.patch_heads
    recovered: Callable[..., float] = intervening.recovered
    head_writes: Callable[[torch.Tensor, torch.Tensor], torch.Tensor] = reading.head_writes
    ov_circuit: Callable[..., torch.Tensor] = reading.ov_circuit
    linear_probe: Callable[..., torch.Tensor] = reading.linear_probe


OURS = Tools()


def new_rows(seed: int, batch: int = 256) -> torch.Tensor:
    """Rows of sixteen symbols that come twice, (batch, 32)."""
    return repeated_rows(torch.Generator().manual_seed(seed), batch)


def names(model: AttentionOnly) -> list[tuple[int, int]]:
    """All heads of a model: (layer, head)."""
    return [(layer, head) for layer in range(len(model.attention)) for head in range(model.num_heads)]


# --- learning to copy


@dataclass
class Diary:
    """What was measured while a model learnt."""

    steps: list[int] = field(default_factory=list)
    lines: dict[str, list[float]] = field(default_factory=dict)

    def note(self, step: int, **values: float) -> None:
        """Writes down what holds at a step."""
        self.steps.append(step)
        for name, value in values.items():
            self.lines.setdefault(name.replace("_", " "), []).append(value)

    def curves(self, title: str, *which: str) -> Picture:
        """Some of the lines, or all of them, over the steps."""
        chosen = {name: line for name, line in self.lines.items() if not which or name in which}
        return plots.curves(chosen, x=self.steps, title=title, y_label="share", y_limits=(-0.04, 1.06), legend=True)

    def first(self, line: str, above: float) -> int | None:
        """The first step at which a line is above a value."""
        return next((step for step, value in zip(self.steps, self.lines[line], strict=True) if value > above), None)


def how_often(tokens: torch.Tensor) -> torch.Tensor:
    """How often each symbol that is read in the second copy, (batch, 15), occurs in the row of sixteen."""
    return (tokens[:, -ROW:].unsqueeze(1) == tokens[:, -ROW:-1].unsqueeze(2)).sum(dim=-1)


def right_by_how_often(model: AttentionOnly, edit: Edit | None = None, seed: int = 99) -> dict[str, float]:
    """The share that is right in the second copy: after a symbol that the row has once, and after any other."""
    tokens = new_rows(seed)
    with torch.no_grad():
        right = copied(model(tokens, edit), tokens).float()
    once = how_often(tokens) == 1
    return {"all": right.mean().item(), "once": right[once].mean().item(), "more": right[~once].mean().item()}


def back(weights: torch.Tensor, offset: int) -> torch.Tensor:
    """The mean attention of each head to the position `offset` before, (heads,)."""
    return weights.diagonal(-offset, -2, -1).mean(dim=(0, 2))


def learn_to_copy(
    num_layers: int, seed: int = 0, steps: int = STEPS, every: int = 50, tools: Tools = OURS
) -> tuple[AttentionOnly, Diary]:
    """A trained model, and what could be seen on the way."""
    model, diary = new_model(num_layers, seed), Diary()
    tokens = new_rows(5, 64)
    followers = tools.follower_mask(tokens)

    def look(step: int) -> None:
        shares = right_by_how_often(model)
        with torch.no_grad():
            weights = model.trace(tokens).weights
        diary.note(
            step,
            copied_right=shares["all"],
            after_symbols_that_come_once=shares["once"],
            after_all_others=shares["more"],
            previous_token=float(tools.previous_token_score(weights[0]).max()),
            two_back=float(back(weights[0], 2).max()),
            follower=float(tools.attention_on(weights[-1], followers).max()),
        )

    fit_copying(model, steps=steps, seed=seed, name=f"{num_layers} layers", look=look, every=every)
    return model.eval(), diary


# --- looking, and taking out


def scores(model: AttentionOnly, tools: Tools = OURS, seed: int = 5) -> pd.DataFrame:
    """For each head: attention to the position before, to two before, and to what came after the same symbol."""
    tokens = new_rows(seed)
    with torch.no_grad():
        weights = model.trace(tokens).weights
    followers = tools.follower_mask(tokens)
    by_head = {
        name_of(layer, head): {
            "position before": float(tools.previous_token_score(of_layer)[head]),
            "two before": float(back(of_layer, 2)[head]),
            "followers": float(tools.attention_on(of_layer, followers)[head]),
        }
        for layer, of_layer in enumerate(weights)
        for head in range(model.num_heads)
    }
    return pd.DataFrame(by_head).T


def name_of(layer: int, head: int) -> str:
    """What a head is called in tables.

    >>> name_of(1, 0)
    '1.0'
    """
    return f"{layer}.{head}"


def previous_token_head(model: AttentionOnly, tools: Tools = OURS) -> tuple[int, int]:
    """The head of layer 0 that attends most to the position before."""
    with torch.no_grad():
        weights = model.trace(new_rows(5)).weights[0]
    return 0, int(tools.previous_token_score(weights).argmax())


def taken_out(model: AttentionOnly, tools: Tools = OURS) -> pd.DataFrame:
    """What is left without one head, without both of a layer, and of all: the share that is right."""
    heads = names(model)
    sets: dict[str, list[tuple[int, int]]] = {"nothing": []}
    sets |= {name_of(*pair): [pair] for pair in heads}
    sets |= {f"layer {layer}": [pair for pair in heads if pair[0] == layer] for layer in range(len(model.attention))}
    return pd.DataFrame({name: right_by_how_often(model, tools.without_heads(pairs)) for name, pairs in sets.items()}).T


def fewest_heads(model: AttentionOnly, share: float = 0.9, tools: Tools = OURS) -> list[list[tuple[int, int]]]:
    """The smallest sets of heads with which the model still gets this share right: all of that size."""
    heads = names(model)
    for size in range(len(heads) + 1):
        enough = []
        for rest in combinations(heads, size):
            gone = [pair for pair in heads if pair not in rest]
            if right_by_how_often(model, tools.without_heads(gone))["all"] >= share:
                enough.append(list(rest))
        if enough:
            return enough
    return []


Way = Callable[[torch.Tensor, list[tuple[int, int]]], tuple[torch.Tensor, list[torch.Tensor]]]
"""Runs a model without some heads: the logits, and what each head wrote, for each layer."""


def ways_to_take_out(model: AttentionOnly, tools: Tools = OURS) -> dict[str, Way]:
    """Four pieces of code that are meant to take out heads. One of them does."""
    damaged = deepcopy(model)

    def told(of: AttentionOnly, trace: Trace) -> tuple[torch.Tensor, list[torch.Tensor]]:
        layers = [cast(MultiHeadAttention, attention) for attention in of.attention]
        written = [
            tools.head_writes(heads, layer.output.weight) for heads, layer in zip(trace.heads, layers, strict=True)
        ]
        return trace.logits, written

    def with_an_edit(tokens: torch.Tensor, which: list[tuple[int, int]]) -> tuple[torch.Tensor, list[torch.Tensor]]:
        return told(model, model.trace(tokens, intervening.without_heads(which)))

    def at_the_end(tokens: torch.Tensor, which: list[tuple[int, int]]) -> tuple[torch.Tensor, list[torch.Tensor]]:
        def edit(layer: int, heads: torch.Tensor) -> torch.Tensor:
            gone = intervening.without_heads(which)(layer, heads)
            return torch.cat([heads[:, :, :-1], gone[:, :, -1:]], dim=2)

        return told(model, model.trace(tokens, edit))

    def in_the_weights(tokens: torch.Tensor, which: list[tuple[int, int]]) -> tuple[torch.Tensor, list[torch.Tensor]]:
        for layer, head in which:
            weight = cast(MultiHeadAttention, damaged.attention[layer]).output.weight
            width = len(weight) // model.num_heads
            weight.data[:, head * width : (head + 1) * width] = 0
        return told(damaged, damaged.trace(tokens))

    def in_the_report(tokens: torch.Tensor, which: list[tuple[int, int]]) -> tuple[torch.Tensor, list[torch.Tensor]]:
        logits, written = told(model, model.trace(tokens))
        return logits, [intervening.without_heads(which)(layer, one) for layer, one in enumerate(written)]

    ways = {"A": with_an_edit, "B": at_the_end, "C": in_the_weights, "D": in_the_report}
    return {name: torch.no_grad()(way) for name, way in ways.items()}


def right_in_turn(way: Way, pairs: Sequence[tuple[int, int]], seed: int = 99) -> list[float]:
    """The share that is right without the first of these heads, then without the second, and so on."""
    tokens = new_rows(seed)
    return [copied(way(tokens, [pair])[0], tokens).float().mean().item() for pair in pairs]


def verdicts(model: AttentionOnly, sound: Mapping[str, bool], pairs: Sequence[tuple[int, int]]) -> pd.DataFrame:
    """Whether each way is sound, and what it says: the share that is right without one head, then without another.

    >>> verdicts(new_model(2), {"A": True, "B": False, "C": False, "D": False}, [(0, 1), (1, 0)]).columns.tolist()
    ['sound?', 'right without 0.1', 'then without 1.0']
    """
    table: dict[str, dict[str, bool | float]] = {}
    first, second = (name_of(*pair) for pair in pairs)
    for name, way in ways_to_take_out(model).items():  # made afresh: one of them does some damage
        right, then_right = right_in_turn(way, pairs)
        table[name] = {
            "sound?": sound[name],
            f"right without {first}": round(right, 2),
            f"then without {second}": round(then_right, 2),
        }
    return pd.DataFrame(table).T


def attention_on_text(model: AttentionOnly, text: str, layer: int, head: int) -> Picture:
    """What a head looks at in a text of your own, of up to 32 letters."""
    tokens = as_tokens(text[:LENGTH])
    shown = [SYMBOLS[int(token)].replace(" ", "_") for token in tokens[0]]
    with torch.no_grad():
        weights = model.trace(tokens).weights[layer][0, head]
    return plots.heatmap(weights, shown, shown, title=f"Head {name_of(layer, head)}", rows="reads", columns="looks at")


def guessed_text(model: AttentionOnly, text: str) -> str:
    """The text, and below each letter what the model expected there."""
    tokens = as_tokens(text[:LENGTH])
    with torch.no_grad():
        guesses = model(tokens)[0].argmax(dim=-1).tolist()
    return "".join(SYMBOLS[one] for one in tokens[0]) + "\n " + "".join(SYMBOLS[one] for one in guesses[:-1])


def with_others_between(model: AttentionOnly, between: int, row: int = 12, seed: int = 3) -> float:
    """The share that is right in a second copy that comes after so many other symbols."""
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randint(len(SYMBOLS), (256, row + between), generator=generator)
    tokens = torch.cat([drawn, drawn[:, :row]], dim=1)
    with torch.no_grad():
        return copied(model(tokens), tokens, row).float().mean().item()


# --- what heads write


def votes(model: AttentionOnly, tools: Tools = OURS, seed: int = 5) -> dict[str, float]:
    """How much more each head, and the embedding, adds to the right logit than to the others on average."""
    tokens = new_rows(seed)
    right = tokens[:, -ROW + 1 :]
    with torch.no_grad():
        trace = model.trace(tokens)

        def more(written: torch.Tensor) -> float:
            logits = written[:, -ROW:-1] @ model.readout.weight.T  # (batch, row - 1, vocab_size)
            return (logits.gather(-1, right.unsqueeze(-1)).squeeze(-1) - logits.mean(dim=-1)).mean().item()

        adds = {"embedding": more(trace.stream[0])}
        for layer, attention in enumerate(model.attention):
            weight = cast(MultiHeadAttention, attention).output.weight
            written = tools.head_writes(trace.heads[layer], weight)
            adds |= {name_of(layer, head): more(written[:, head]) for head in range(model.num_heads)}
    return adds


def circuits_of(model: AttentionOnly, layer: int, tools: Tools = OURS) -> torch.Tensor:
    """The OV circuits of a layer, (heads, symbols, symbols), of symbols as they are before any attention."""
    attention, norm = cast(MultiHeadAttention, model.attention[layer]), model.norms[layer]
    with torch.no_grad():
        return tools.ov_circuit(
            norm(model.embedding.weight),
            attention.value.weight,
            attention.output.weight,
            model.readout.weight,
            model.num_heads,
        )


def copying_share(circuit: torch.Tensor) -> float:
    """For how many symbols a head votes most for the symbol itself."""
    return (circuit.argmax(dim=-1) == torch.arange(len(circuit))).float().mean().item()


# --- patching


@dataclass(frozen=True)
class Swapped:
    """Rows of sixteen different symbols and the beginning of a second copy; the same with two symbols swapped."""

    clean: torch.Tensor  # (batch, length)
    corrupted: torch.Tensor  # (batch, length): the symbols at `asked` and `other` have changed places in the first copy
    right: torch.Tensor  # (batch,): what comes next in the clean rows
    wrong: torch.Tensor  # (batch,): what comes next in the others
    asked: int  # where the symbol that is read last is in the first copy
    other: int


def swapped(seed: int = 8, batch: int = 128, asked: int = 5, other: int = 11) -> Swapped:
    """In the clean rows A is followed by B and X by D; in the corrupted ones X by B and A by D. Last comes an A."""
    generator = torch.Generator().manual_seed(seed)
    rows = torch.stack([torch.randperm(len(SYMBOLS), generator=generator)[:ROW] for _ in range(batch)])
    changed = rows.clone()
    changed[:, [asked, other]] = rows[:, [other, asked]]
    again = rows[:, : asked + 1]
    return Swapped(
        torch.cat([rows, again], dim=1),
        torch.cat([changed, again], dim=1),
        rows[:, asked + 1],
        rows[:, other + 1],
        asked,
        other,
    )


def patched(
    model: AttentionOnly,
    rows: Swapped,
    which: Sequence[tuple[int, int]],
    positions: Sequence[int] | None = None,
    tools: Tools = OURS,
) -> float:
    """How much of the clean answer comes back when these heads are put in at these positions."""
    with torch.no_grad():
        clean = model.trace(rows.clean)
        corrupted = model(rows.corrupted)
        edit = tools.patch_heads(clean.heads, which, positions)
        after = model(rows.corrupted, edit)
    return tools.recovered(after[:, -1], corrupted[:, -1], clean.logits[:, -1], rows.right, rows.wrong)


def patched_everywhere(model: AttentionOnly, rows: Swapped, tools: Tools = OURS) -> Picture:
    """How much comes back by each head at each position."""
    length = rows.clean.shape[1]
    heads = names(model)
    shares = [[patched(model, rows, [pair], [place], tools) for place in range(length)] for pair in heads]
    columns = [str(place) for place in range(length)]
    return plots.heatmap(
        shares,
        [name_of(*pair) for pair in heads],
        columns,
        title="How much of the clean answer comes back",
        rows="head",
        columns="position that is put in",
        low=0,
        high=1,
    )


# --- probes


def probed(
    states: Callable[[torch.Tensor], torch.Tensor],
    labels: Callable[[torch.Tensor], torch.Tensor],
    tools: Tools = OURS,
    shuffled: bool = False,
) -> float:
    """How often a probe that was fitted to 400 rows finds the label of a position, but the first, in 100 others."""

    def both(tokens: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        with torch.no_grad():
            return states(tokens)[:, 1:].flatten(0, 1), labels(tokens).flatten()

    (x, y), (new_x, new_y) = both(new_rows(6, 400)), both(new_rows(7, 100))
    if shuffled:
        y = y[torch.randperm(len(y), generator=torch.Generator().manual_seed(1))]
    return probe_accuracy(tools.linear_probe(x, y, len(SYMBOLS)), new_x, new_y)


def probe_accuracy(weight: torch.Tensor, states: torch.Tensor, labels: torch.Tensor) -> float:
    """How often the largest entry of [state, 1] W is the label."""
    scores = torch.cat([states, torch.ones_like(states[:, :1])], dim=1) @ weight
    return (scores.argmax(dim=1) == labels).float().mean().item()


def previous_symbol(tokens: torch.Tensor) -> torch.Tensor:
    """The symbol before each position but the first, (batch, length - 1)."""
    return tokens[:, :-1]


def probe_table(model: AttentionOnly, tools: Tools = OURS) -> dict[str, float]:
    """Where the symbol before can be read: in the embeddings, after layer 0, without a head, and the controls."""
    untrained = new_model(len(model.attention), seed=1234).eval()
    layer, head = previous_token_head(model, tools)
    without_it, without_the_other = tools.without_heads([(layer, head)]), tools.without_heads([(layer, 1 - head)])
    places: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
        "before layer 0": lambda tokens: model.trace(tokens).stream[0],
        "after layer 0": lambda tokens: model.trace(tokens).stream[1],
        "after layer 0, without the previous-token head": lambda tokens: model.trace(tokens, without_it).stream[1],
        "after layer 0, without the other head": lambda tokens: model.trace(tokens, without_the_other).stream[1],
        "after layer 0, untrained model": lambda tokens: untrained.trace(tokens).stream[1],
    }
    shares = {name: probed(states, previous_symbol, tools) for name, states in places.items()}
    return shares | {"after layer 0, shuffled labels": probed(places["after layer 0"], previous_symbol, tools, True)}


# --- the adder of lesson 14

ADDER_HEADS = 4
PARTS = ("reading", "writing", "looking back")
"""The adder's three layers of attention: over the sum, over the answer so far, and from the answer to the sum."""


def adder(seed: int = 0, steps: int = adders.STEPS) -> Adder:
    """Lesson 14's adder: ones first, rotary by place, a window of three."""
    model = adders.Recipe(reversed=True, window=True).model(seed)
    adders.train(model, adders.learnt_sums(seed), steps=steps, seed=seed, name="the adder")
    return model.eval()


def attention_of(model: Adder, part: str) -> MultiHeadAttention:
    """One of the three layers of attention, by its name in `PARTS`."""
    encoder, decoder = cast(AdderLayer, model.encoder[0]), cast(AdderLayer, model.decoder[0])
    return {"reading": encoder.attention, "writing": decoder.attention, "looking back": decoder.cross_attention}[part]


@contextmanager
def edited(model: Adder, part: str, edit: Edit) -> Iterator[None]:
    """Within it, the adder's heads in one part go through an edit; afterwards it is as it was."""

    def hook(_: nn.Module, arguments: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        return (merge_heads(edit(0, split_heads(arguments[0], ADDER_HEADS))),)

    handle = attention_of(model, part).output.register_forward_pre_hook(hook)
    try:
        yield
    finally:
        handle.remove()


def adder_without(model: Adder, digits: int = 20, count: int = 100, seed: int = 0, tools: Tools = OURS) -> pd.DataFrame:
    """The share of sums that are right without each head, and without all heads of a part."""
    shares: dict[str, dict[str, float]] = {}
    for part in PARTS:
        sets = {f"head {head}": [(0, head)] for head in range(ADDER_HEADS)}
        sets["all four"] = [(0, head) for head in range(ADDER_HEADS)]
        shares[part] = {}
        for name, pairs in sets.items():
            with edited(model, part, tools.without_heads(pairs)):
                shares[part][name] = right_by_length(
                    model, [], lengths=(digits,), count=count, carries=False, seed=seed
                )[digits]
    return pd.DataFrame(shares).T


def draw_without(table: pd.DataFrame, title: str) -> Picture:
    """What `adder_without` measured: a row for each part, a column for each head, and one for all four.

    >>> draw_without(pd.DataFrame({"head 0": {"reading": 0.5, "writing": 1.0}}), title="Right without")
    Right without
    rows: attention; columns: taken out
            head 0
    reading    0.5
    writing      1
    """
    rows, columns = list(table.index), list(table.columns)
    return plots.heatmap(
        table.to_numpy(), rows, columns, title=title, rows="attention", columns="taken out", low=0, high=1
    )


def carries(pairs: Sequence[addition.Pair], digits: int) -> torch.Tensor:
    """For each place, ones first, whether a carry comes into it: (sums, digits + 1)."""
    return torch.tensor(
        [[int(a % 10**place + b % 10**place >= 10**place) for place in range(digits + 1)] for a, b in pairs]
    )


def adder_states(model: Adder, pairs: Sequence[addition.Pair]) -> dict[str, torch.Tensor]:
    """What the adder's stream holds at the step that writes each place: (sums, digits + 1, d_model).

    Before any attention, after it has looked at what it has written, and after it has looked back at the sum.
    """
    source, target = model.writing.tensors(pairs)
    target_input = shift_right(target, model.writing.alphabet.start_id)
    noted: dict[str, torch.Tensor] = {}
    layer = cast(AdderLayer, model.decoder[0])
    hooks = [
        (layer.norm1, "before attention"),
        (layer.norm3, "after looking at the answer"),
        (layer.norm2, "after looking back at the sum"),
        (model.decoder_norm, "at the end"),
    ]

    def noting(name: str) -> Callable[[nn.Module, tuple[torch.Tensor, ...]], None]:
        def hook(_: nn.Module, arguments: tuple[torch.Tensor, ...]) -> None:
            noted[name] = arguments[0]

        return hook

    handles = [module.register_forward_pre_hook(noting(name)) for module, name in hooks]
    with torch.no_grad():
        model(source, target_input)
    for handle in handles:
        handle.remove()
    digits = max(len(str(number)) for pair in pairs for number in pair)
    return {name: states[:, : digits + 1] for name, states in noted.items()}


def carry_probes(model: Adder, seed: int = 0, tools: Tools = OURS, long: int = 30) -> pd.DataFrame:
    """How often a probe says rightly whether a carry comes into a place: fitted to sums of five digits, and tried on
    others of five and on sums of thirty. The last line is a probe that was fitted to shuffled labels.
    """
    drawn = {
        "fitted": addition.draw_pairs(seed + 70, 1500, 5, min_digits=5),
        "five digits": addition.draw_pairs(seed + 71, 400, 5, min_digits=5),
        f"{long} digits": addition.draw_pairs(seed + 72, 100, long, min_digits=long),
    }
    states = {name: adder_states(model, pairs) for name, pairs in drawn.items()}
    labels = {name: carries(pairs, long if name.startswith(str(long)) else 5) for name, pairs in drawn.items()}

    def of(name: str, place: str) -> tuple[torch.Tensor, torch.Tensor]:
        """The places from the tens on: no carry comes into the ones, and the last place is known by itself."""
        return states[name][place][:, 1:-1].flatten(0, 1), labels[name][:, 1:-1].flatten()

    table: dict[str, dict[str, float]] = {}
    end = next(reversed(states["fitted"]))
    for place in [*states["fitted"], "shuffled labels"]:
        x, y = of("fitted", end if place == "shuffled labels" else place)
        if place == "shuffled labels":
            y = y[torch.from_numpy(np.random.default_rng(seed).permutation(len(y)))]
        weight = tools.linear_probe(x, y, 2)
        where = end if place == "shuffled labels" else place
        table[place] = {name: probe_accuracy(weight, *of(name, where)) for name in drawn if name != "fitted"}
    return pd.DataFrame(table).T


def forged(model: Adder, digits: int = 20, count: int = 200, seed: int = 0) -> dict[str, float]:
    """Whether the adder believes the sum or what it has written.

    At one place, the two digits add up to 9. If a carry came in, the answer has a 0 there and a carry goes on; if none
    came, it has a 9 and none goes on. We write the other of the two, and read the next digit: does it go with the sum,
    or with what is written? The keys say so; the rest goes with neither.
    """
    place = digits // 2
    counts = {"the sum": 0, "what is written": 0}
    for carry in (True, False):
        pairs = adders.sums_with_a_chain(digits, place, 1, carry, count // 2, seed)
        source, target = model.writing.tensors(pairs)
        target_input = shift_right(target, model.writing.alphabet.start_id)
        written = target_input[:, place - 1]  # the digit of the place below, as an id: 1 for a 0, 10 for a 9
        assert set(written.tolist()) == {1 if carry else 10}
        target_input[:, place - 1] = 11 - written
        with torch.no_grad():
            digit = model(source, target_input)[:, place - 1].argmax(dim=-1) - 1
        above = torch.tensor([sum(number // 10 ** (place - 1) % 10 for number in pair) for pair in pairs])
        counts["the sum"] += int((digit == (above + int(carry)) % 10).sum())
        counts["what is written"] += int((digit == (above + int(not carry)) % 10).sum())
    return {name: right / (2 * (count // 2)) for name, right in counts.items()}
