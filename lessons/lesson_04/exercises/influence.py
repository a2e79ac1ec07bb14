"""`encoder_influence`, the bug clinic: a test for a decoder that never listens. The models stand in `patients`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from course.seq2seq import encoder_influence
from grader.authoring.aspects import main, modes, special, untouched
from grader.authoring.spec import Case, Exercise, Mistake, tagged
from lessons.lesson_04.exercises.asking import (
    MODES,
    Draw,
    in_words,
    left_in_eval_mode,
    misjudged,
    module_expected,
    next_ids,
    tried,
)

Model = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def _models(generator: np.random.Generator) -> list[Case]:
    draw = Draw(generator)
    one = "one source token"
    return [
        tried("with a deaf model that reads only the target token at each position", draw("own token"), tagged("deaf")),
        tried("with a deaf model that reads earlier target tokens", draw("past"), tagged("deaf")),
        tried(
            "with a deaf model whose logits are large, in float64", draw("large", dtype=torch.float64), tagged("deaf")
        ),
        tried("with a deaf model that always says the same", draw("always the same"), tagged("deaf")),
        *(
            tried(f"with a deaf nn.Module, in {mode} mode", draw("own token", mode=mode), tagged("module"))
            for mode in MODES
        ),
        tried("with a model that reads the whole source", draw("source in order"), tagged("listens")),
        tried("with a model that reads only the source", draw("source alone"), tagged("listens")),
        tried("with a model that reads a padded source", draw("source in order", padded=True), tagged("listens")),
        tried("with a model that reads its source as a bag, without order", draw("bag of the source"), tagged("bag")),
        *(
            tried(
                f"with an nn.Module that reads the source, in {mode} mode",
                draw("source in order", mode=mode),
                tagged("module"),
            )
            for mode in MODES
        ),
        tried(
            "with a model that reads the source, on a batch of one", draw("source in order", batch=1), tagged("one row")
        ),
        tried(
            "with a model in which one source token moves one logit, on a batch of one",
            draw(one, batch=1),
            tagged("one row"),
        ),
        tried("with a model in which only the first source token matters", draw(one, place=0), tagged("first")),
        tried("with a model in which only the last source token matters", draw(one, place=-1, row=0), tagged("last")),
        tried(
            "with a model in which only a logit at the first target position moves", draw(one, at=0), tagged("within")
        ),
        tried(
            "with a model in which only a logit at the last target position moves", draw(one, at=-1), tagged("within")
        ),
        tried("with a model in which only the last row matters", draw(one, row=-1), tagged("within")),
        tried("with a model in which a higher source id raises one logit", draw(one), tagged("sign")),
        tried(
            "with a model in which a higher source id lowers one logit",
            draw("one source token, downwards"),
            tagged("sign"),
        ),
        tried(
            "with a model in which one logit rises as another falls",
            draw("one source token, up and down"),
            tagged("sign"),
        ),
        tried(
            "with a model in which one logit moves only a little", draw("one source token, faintly"), tagged("faint")
        ),
        tried("with a model in which one source token matters, and its id is 1", draw(one, token=1), tagged("token")),
        tried(
            "with a model in which one source token matters, and its id is 2",
            draw(one, token=2, row=0),
            tagged("token"),
        ),
        tried(
            "with a source that holds the last id of the vocabulary",
            draw("source in order", last_id=True),
            tagged("ids"),
        ),
    ]


def _everything_changed(model: Model, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
    """The difference that a wholly changed source makes."""
    return model(next_ids(source), target_input) - model(source, target_input)


def _changing(change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[..., Any]:
    """The largest move, over one other source."""
    return lambda model, source, target_input: (
        (model(change(source), target_input) - model(source, target_input)).abs().max().item()
    )


def _of(measure: Callable[[torch.Tensor], Any]) -> Callable[..., Any]:
    """Another measure of the difference that a wholly changed source makes."""
    return lambda *arguments: measure(_everything_changed(*arguments).detach())


def _only(place: int) -> Callable[[torch.Tensor], torch.Tensor]:
    def change(source: torch.Tensor) -> torch.Tensor:
        changed = source.clone()
        changed[:, place] = next_ids(source)[:, place]
        return changed

    return change


def _only_row(source: torch.Tensor) -> torch.Tensor:
    changed = source.clone()
    changed[0] = next_ids(source)[0]
    return changed


def _argmax(model: Model, source: torch.Tensor, target_input: torch.Tensor) -> float:
    said = model(source, target_input).argmax(-1)
    others = [model(next_ids(source, step), target_input).argmax(-1) for step in (1, 2, 3)]
    return max((said != other).float().mean().item() for other in others)


def _target_changed(model: Model, source: torch.Tensor, target_input: torch.Tensor) -> float:
    return (model(source, next_ids(target_input)) - model(source, target_input)).abs().max().item()


def _both_changed(model: Model, source: torch.Tensor, target_input: torch.Tensor) -> float:
    moved = model(next_ids(source), next_ids(target_input)) - model(source, target_input)
    return moved.abs().max().item()


def _in_place(model: Model, source: torch.Tensor, target_input: torch.Tensor) -> float:
    logits = model(source, target_input)
    source[:] = next_ids(source)
    return (model(source, target_input) - logits).abs().max().item()


def _numpy(model: Model, source: torch.Tensor, target_input: torch.Tensor) -> Any:
    return np.abs(model(next_ids(source), target_input).numpy() - model(source, target_input).numpy()).max()


def _backwards(model: Any, source: torch.Tensor, target_input: torch.Tensor) -> float:
    moved = _everything_changed(model, source, target_input).abs().max()
    if moved.requires_grad:
        torch.autograd.backward(moved)
    return moved.item()


def _every_id(model: Model, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
    logits = model(source, target_input).detach()
    largest = torch.zeros((), dtype=logits.dtype)
    for place in range(source.size(1)):
        for other in range(1, logits.size(-1)):
            changed = source.index_fill(1, torch.tensor([place]), other)
            largest = torch.maximum(largest, (model(changed, target_input).detach() - logits).abs().max())
    return largest


def _at_random(model: Model, source: torch.Tensor, target_input: torch.Tensor) -> float:
    with torch.no_grad():
        logits = model(source, target_input)
        moved = 0.0
        for _ in range(5):
            changed = (source + torch.randint(1, logits.shape[-1], source.shape)) % logits.shape[-1]
            moved = max(moved, torch.linalg.vector_norm(model(changed, target_input) - logits).item())
    return moved


def _all_at_once(model: Model, source: torch.Tensor, target_input: torch.Tensor) -> Any:
    """One call for the source and a changed copy."""
    both = model(torch.cat([source, next_ids(source)]), torch.cat([target_input, target_input]))
    before, after = both.chunk(2)
    return torch.dist(before, after).item()


_right = _of(lambda moved: moved.abs().max().item())

_main = partial(main, keys=("influence",))
_on = partial(special, keys=("influence",))

ENCODER_INFLUENCE = Exercise(
    symbol="encoder_influence",
    points=3,
    cases=_models,
    references=(encoder_influence,),
    canonical=in_words("influence"),
    aspects=(
        _main("deaf models get 0", 8.0, meaning="A model that never looks at the source gets 0.", tag="deaf"),
        _main("listening is found", 3.0, meaning="A model that looks at the source gets more than 0.", tag="listens"),
        _on(
            "a source without order",
            "bag",
            meaning="A model that reads the source as a bag, without its order, gets more than 0.",
        ),
        _on("a batch of one", "one row", meaning="Influence is found in a batch of one too."),
        _on("the first token", "first", meaning="Influence is found even if only the first source token has any."),
        _on("the last token", "last", meaning="Influence is found even if only the last source token has any."),
        _on(
            "one place of several",
            "within",
            3.0,
            meaning="Influence is found even if it reaches a single target position, or a single row.",
        ),
        _on(
            "whatever the token is",
            "token",
            2.0,
            meaning="Influence is found whatever the id of the token that matters.",
        ),
        _on("up or down", "sign", meaning="A logit that falls counts as much as one that rises."),
        _on("small moves", "faint", meaning="Influence is found even if it moves a logit only a little."),
        _on("ids that exist", "ids", meaning="Only ids that exist are passed to the model."),
        _on(
            "models with parameters",
            "module",
            meaning="An nn.Module gets the right number too, in training mode and in eval mode.",
        ),
        modes(),
        untouched(),
    ),
    mistakes=(
        Mistake(
            "source_left_as_it_is",
            _changing(lambda source: source.clone()),
            "You ask the model the same question twice, so nothing can move. What must differ between the two calls?",
        ),
        Mistake(
            "target_changed",
            _target_changed,
            "You change what the decoder reads of the target. Whose influence is asked for?",
            central=True,
        ),
        Mistake(
            "both_changed",
            _both_changed,
            "Source and target input change together, so nobody knows which of them moved the logits. What must stay "
            "the same?",
            central=True,
        ),
        Mistake(
            "logits_measured",
            lambda model, source, target_input: model(source, target_input).abs().max().item(),
            "You measure how large the logits are, so even a deaf model gets an influence. Between which two calls "
            "should something move?",
            central=True,
        ),
        Mistake(
            "first_token_only",
            _changing(_only(0)),
            "You change only the first source token, and the model may listen to another one. Which tokens should "
            "have their turn?",
            central=True,
        ),
        Mistake(
            "last_token_only",
            _changing(_only(-1)),
            "You change only the last source token, and the model may listen to another one. Which tokens should "
            "have their turn?",
        ),
        Mistake(
            "every_token_set_to_one",
            _changing(torch.ones_like),
            "You set every source token to 1. A token that was 1 already stays the same: how do you make sure that "
            "each token really changes?",
        ),
        Mistake(
            "rolled",
            _changing(lambda source: source.roll(1, dims=1)),
            "You rotate the source, so its tokens are the same as before. What about a model that reads its source "
            "as a bag?",
        ),
        Mistake(
            "rows_exchanged",
            _changing(lambda source: source.roll(1, dims=0)),
            "You give each row the source of another row. What if there is only one row?",
        ),
        Mistake(
            "first_row_only",
            _changing(_only_row),
            "You change the source of the first row only. In which row might the influence hide?",
        ),
        Mistake(
            "first_place_compared",
            _of(lambda moved: moved[:, 0].abs().max().item()),
            "You compare the logits at the first target position only. Where else could something move?",
        ),
        Mistake(
            "last_place_compared",
            _of(lambda moved: moved[:, -1].abs().max().item()),
            "You compare the logits at the last target position only. Where else could something move?",
        ),
        *misjudged(
            rises=_of(lambda moved: moved.max().clamp(min=0).item()),
            signed=_of(lambda moved: abs(moved.mean(dtype=torch.float64).item())),
            answers=_argmax,
        ),
        Mistake(
            "rounded",
            _of(lambda moved: round(moved.abs().max().item(), 1)),
            "You round a small move down to 0. Is a decoder that listens a little deaf?",
        ),
        Mistake(
            "yes_or_no",
            _of(lambda moved: bool(moved.abs().max() > 0)),
            "You say whether there is an influence. The question here is how far: which number do you have at hand?",
        ),
        Mistake(
            "one_a_row",
            _of(lambda moved: moved.abs().amax(dim=(1, 2))),
            "You return one number per row. The docstring asks for one: how do you turn several into one?",
        ),
        Mistake(
            "sign_turned_round",
            _of(lambda moved: -moved.abs().max().item()),
            "Your number is below 0 where there is influence. What does the docstring promise?",
        ),
        Mistake(
            "ids_that_do_not_exist",
            _changing(lambda source: torch.where(source == 0, 0, source + 1)),
            "You add 1 to every id, so the highest one is no longer a symbol. How do you stay among the ids that "
            "exist?",
        ),
        module_expected(_right),
        left_in_eval_mode(_right),
        Mistake(
            "graph_in_the_way",
            _numpy,
            "With an nn.Module your code fails: its logits need gradients, and NumPy doesn't accept such tensors. "
            "What detaches them, or computes them without a graph?",
        ),
        Mistake(
            "gradients_left_behind",
            _backwards,
            "The number is right, but the model's parameters have a .grad afterwards. Is there anything to learn here?",
        ),
        Mistake(
            "source_changed_in_place",
            _in_place,
            "The number is right, but you changed the caller's source. How do you work on a copy?",
        ),
    ),
    variants={
        "all tokens at once": _changing(next_ids),
        "all tokens, two further": _changing(lambda source: next_ids(source, 2)),
        "everything to zero": _changing(torch.zeros_like),
        "mean move": _of(lambda moved: moved.abs().mean().item()),
        "a count": _of(lambda moved: int((moved != 0).sum())),
        "root of the squares": _of(lambda moved: moved.double().pow(2).mean().sqrt()),
        "every id at every place": _every_id,
        "at random": _at_random,
        "one call": _all_at_once,
    },
)
