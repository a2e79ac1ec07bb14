"""`save_checkpoint` and `load_checkpoint`: cases, mistakes and variants. The probe runs a small training run."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course.paper.checkpoints import load_checkpoint, save_checkpoint
from grader.authoring import draw
from grader.authoring.aspects import CONTENT, KNOWN
from grader.authoring.spec import Aspect, Case, Exercise, Mistake, tagged
from lessons.lesson_08.exercises import written

USUAL = tagged("usual")


def _runs(generator: np.random.Generator, interrupted: bool) -> list[Case]:
    def run(optimizer: str, as_text: bool, look: str = "usual") -> dict[str, Any]:
        d = int(generator.integers(3, 6))
        done, step = draw.dims(generator, 2, 2, 6)
        return {
            "look": look,
            "weights": draw.normal(generator, d + 1, d),
            "optimizer": optimizer,
            "as_text": as_text,
            "seed": int(generator.integers(1, 1000)),
            "done": done,
            "step": 10 * step + 1,
        }

    cases = [
        Case("with Adam, and a path that is a text", run("Adam", True), USUAL),
        Case("with momentum, and a Path", run("SGD", False), USUAL),
    ]
    if interrupted:
        cases.append(Case("on a full disk", run("Adam", False, "interrupted"), tagged("interrupted")))
    return cases


def _aspect(name: str, *keys: str, weight: float, meaning: str, core: bool = False) -> Aspect:
    return Aspect(name, keys, KNOWN | CONTENT, weight, core, USUAL, meaning)


_PARTS = (
    _aspect(
        "the same losses",
        "losses",
        weight=5.0,
        meaning="A run that goes on from the checkpoint has the losses that it would have had without a break.",
    ),
    _aspect("a part of the run", "something", weight=0.5, core=True, meaning="Some of the run's state is there."),
    _aspect("weights", "model", weight=2.0, meaning="All of the model's state is there, buffers included."),
    _aspect("optimiser", "optimizer", weight=2.0, meaning="The optimiser's state is there: moments and learning rate."),
    _aspect("schedule", "schedule", weight=2.0, meaning="The schedule's state is there."),
    _aspect("torch's random state", "torch", weight=2.0, meaning="PyTorch's random numbers go on where they stopped."),
    _aspect(
        "NumPy's and Python's random state",
        "numpy",
        "python",
        weight=1.0,
        meaning="NumPy's and Python's random numbers go on where they stopped, too.",
    ),
)


SAVE_CHECKPOINT = Exercise(
    symbol="save_checkpoint",
    points=2,
    cases=lambda generator: _runs(generator, interrupted=True),
    references=(save_checkpoint,),
    called={"losses": "the losses of a run that goes on from it", "file": "the file", "run": "the run"},
    aspects=(
        *_PARTS,
        _aspect("step", "step", weight=1.0, meaning="The step is there, as it was handed in."),
        _aspect(
            "a dictionary of plain data",
            "file",
            weight=1.0,
            meaning="The file is at the path, and holds a dictionary that can be read without running any code.",
        ),
        _aspect(
            "the run untouched",
            "run",
            "modes",
            weight=1.0,
            meaning="Saving changes neither the run nor its mode, and draws no random numbers.",
        ),
        Aspect(
            "an interrupted save",
            ("the_checkpoint_before", "the_error"),
            KNOWN | CONTENT,
            tags=tagged("interrupted"),
            meaning="A save that fails halfway leaves the checkpoint before as it was, and its error is passed on.",
        ),
    ),
    mistakes=(
        Mistake(
            "weights_alone",
            written.without("optimizer", "schedule", "step", "random"),
            "Only the model's weights are in the file. What else would have to be as it was for the run to go on?",
            central=True,
        ),
        Mistake(
            "optimizer_forgotten",
            written.without("optimizer"),
            "The optimiser isn't in the file. What does Adam remember from step to step?",
            central=True,
        ),
        Mistake(
            "moments_forgotten",
            written.saving(written.groups_alone),
            "The optimiser's settings are in the file, but not its moments. What does its state_dict() hold?",
            central=True,
        ),
        Mistake(
            "schedule_forgotten",
            written.without("schedule"),
            "The schedule isn't in the file, so a resumed run would warm up again. How do you get its state?",
            central=True,
        ),
        Mistake(
            "step_forgotten",
            written.without("step"),
            "The step isn't in the file. How would a resumed run know how far it has got?",
        ),
        Mistake(
            "random_state_forgotten",
            written.without("random"),
            "The random state isn't in the file, so dropout would drop other numbers. What gives you that state?",
            central=True,
        ),
        Mistake(
            "torch_alone",
            written.saving(written.torch_alone),
            "Only PyTorch's random state is in the file. Who else draws random numbers?",
        ),
        Mistake(
            "seeds_saved",
            written.saving(written.seeds),
            "You keep the seeds that the run started from, so it would draw its first numbers again. What says how "
            "far the generators have got?",
            central=True,
        ),
        Mistake(
            "parameters_alone",
            written.saving(written.parameters_alone),
            "The model's parameters are in the file, but not its buffers. What holds both?",
        ),
        Mistake(
            "whole_objects",
            written.saving(written.whole_objects),
            "You save the objects themselves. Reading such a file runs code, and breaks when a class is renamed. What "
            "does each of them offer instead?",
        ),
        Mistake(
            "one_step_too_many",
            written.saving(lambda content, *_: {**content, "step": content["step"] + 1}),
            "The step in the file isn't the one that was handed in. Who counts the steps?",
        ),
        Mistake(
            "written_in_place",
            written.saving(write=torch.save),
            "You write straight into the file, so a save that is interrupted destroys the checkpoint before. Where "
            "could the new one be written first?",
        ),
        Mistake(
            "another_name",
            written.saving(write=lambda content, path: torch.save(content, f"{path}.pt")),
            "The file isn't where the caller wants it. Which name does it end up under?",
        ),
        Mistake(
            "other_keys",
            written.saving(written.long_names),
            "Not all of the dictionary's keys are those of the docstring. What does it call the parts?",
        ),
        Mistake(
            "a_list",
            written.saving(lambda content, *_: list(content.values())),
            "The file holds a list. How does the docstring say that the parts are found?",
        ),
        Mistake(
            "left_in_evaluation_mode",
            written.saving(written.into_evaluation),
            "After your save the model is in evaluation mode, so the rest of the run has no dropout. Does a state_dict "
            "depend on the mode?",
        ),
        Mistake(
            "draws_a_number",
            written.saving(written.drawing_on),
            "Your save draws a random number, so the run goes on with others than without it. Which line does that?",
        ),
    ),
    variants={
        "in two steps": written.saving(),
        "in memory first": written.saving(write=written.in_memory_first),
        "by hand": written.saving(written.by_hand),
    },
)


LOAD_CHECKPOINT = Exercise(
    symbol="load_checkpoint",
    points=2,
    cases=lambda generator: _runs(generator, interrupted=False),
    references=(load_checkpoint,),
    called={"output": "the step", "losses": "the losses that follow", "file": "the file"},
    aspects=(
        *_PARTS,
        _aspect("step", "output", weight=1.5, meaning="The result is the step in the file, as a Python int."),
        _aspect("modes untouched", "modes", weight=0.5, meaning="The model stays in the mode it is in."),
        _aspect(
            "a second load",
            "file",
            "a_second_load",
            weight=0.5,
            meaning="The file can be loaded again, and brings the same random numbers again.",
        ),
    ),
    mistakes=(
        Mistake(
            "names_rebound",
            written.names_rebound,
            "You read the file, but the caller's model is as it was before. What does `model = ...` change inside a "
            "function?",
            central=True,
        ),
        Mistake(
            "weights_alone",
            written.loading("optimizer", "schedule", "random"),
            "Only the model's weights come back. What else is in the file?",
            central=True,
        ),
        Mistake(
            "weights_forgotten",
            written.loading("model"),
            "Everything comes back except the weights. Who takes them?",
            central=True,
        ),
        Mistake(
            "optimizer_forgotten",
            written.loading("optimizer"),
            "The optimiser starts afresh, without its moments. How do you hand it its state?",
            central=True,
        ),
        Mistake(
            "schedule_forgotten",
            written.loading("schedule"),
            "The schedule starts afresh, so the run warms up again. How do you hand it its state?",
            central=True,
        ),
        Mistake(
            "schedule_walked",
            written.loading("schedule", change=written.walked),
            "You step the schedule as often as the run has stepped, from wherever it was. What does the file know "
            "about it?",
        ),
        Mistake(
            "random_state_forgotten",
            written.loading("random"),
            "The random state doesn't come back, so dropout drops other numbers. Who restores it?",
            central=True,
        ),
        Mistake(
            "torch_alone",
            written.loading("random", change=written.torch_loaded),
            "Only PyTorch's random state comes back. Who else draws random numbers?",
        ),
        Mistake(
            "seeded_instead",
            written.loading("random", change=written.seeded),
            "You seed the generators again. Do they then go on where they stopped?",
            central=True,
        ),
        Mistake(
            "draws_afterwards",
            written.loading(change=written.drawn_afterwards),
            "After the random state is back, your function draws a number itself. Which line does that?",
        ),
        Mistake(
            "parameters_alone",
            written.loading("model", change=written.parameters_loaded),
            "The model's parameters come back, but not its buffers. What restores both?",
        ),
        Mistake(
            "no_step",
            written.loading(change=lambda *_: None),
            "You return nothing. What does the caller need to know?",
        ),
        Mistake(
            "next_step",
            written.loading(change=lambda content, *_: content["step"] + 1),
            "You return the step after the one in the file. Which one does the docstring ask for?",
        ),
        Mistake(
            "all_of_it_returned",
            written.loading(change=lambda content, *_: {"step": content["step"]}),
            "You return a dictionary. Which part of it does the docstring ask for?",
        ),
        Mistake(
            "left_in_evaluation_mode",
            written.loading(change=written.evaluating),
            "After your function the model is in evaluation mode, so the run has no dropout. Who chooses the mode?",
        ),
        Mistake(
            "file_removed",
            written.removing,
            "You remove the file after reading it. What if the run stops again before its next save?",
        ),
    ),
    variants={
        "part by part": written.loading(),
        "one by one": written.by_parts,
        "weights copied in": written.copied_in,
    },
)
