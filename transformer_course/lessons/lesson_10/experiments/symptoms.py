"""From symptom to cause: a table to read from top to bottom, and the same table as code, which reads curves."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import pandas as pd
from torch import nn

from transformer_course.lessons.lesson_10.experiments.first_tests import Suspect, one_batch, sound_one, suspects
from transformer_course.lessons.lesson_10.experiments.gallery import BROKEN, CAUSES, cause_of, run, sound
from transformer_course.lessons.lesson_10.experiments.letters import Letters, Tensors
from transformer_course.tasks.reversal import VOCAB_SIZE

GUESSING = math.log(VOCAB_SIZE)
"""The loss of a model that gives each of the 13 symbols the same probability."""


@dataclass(frozen=True)
class Symptom:
    """One row of the table."""

    seen: str
    cause: str
    remedy: str
    fits: Callable[[pd.DataFrame, pd.DataFrame], bool]
    """Whether it is seen in a curve; the second curve is that of a sound run."""


def _looks(curve: pd.DataFrame) -> pd.Series:
    return curve["loss"].dropna()


def _norm(curve: pd.DataFrame) -> pd.Series:
    return curve["gradient norm"]


def _training(curve: pd.DataFrame) -> pd.Series:
    return curve["training loss"]


SYMPTOMS = (
    Symptom(
        "the loss is NaN",
        "a division, a root or a logarithm of 0; overflow in float16",
        "torch.autograd.set_detect_anomaly(True)",
        lambda curve, sound: bool(_training(curve).isna().any()),
    ),
    Symptom(
        f"the first loss is far above that of guessing (here {GUESSING:.2f})",
        "the first weights are too large",
        "look at the first logits; smaller weights in the last layer",
        lambda curve, sound: _training(curve).iloc[0] > 2 * GUESSING,
    ),
    Symptom(
        "the gradient's norm is exactly 0",
        "underflow in float16; a graph cut by detach or no_grad",
        "scale the loss; look for the cut",
        lambda curve, sound: bool((_norm(curve) == 0).all()),
    ),
    Symptom(
        "two measurements of the same model differ",
        "evaluation in train mode",
        "model.eval()",
        lambda curve, sound: bool((curve["token accuracy"] - curve["measured again"]).abs().max() > 0),
    ),
    Symptom(
        "spikes in the norm, a hundred times as large as the steps before and after",
        "a few bad rows",
        "clip, and find the rows",
        lambda curve, sound: bool((_norm(curve) > 100 * _norm(curve).rolling(9, center=True).median()).any()),
    ),
    Symptom(
        "there is a gradient, and the loss is the same to the last digit at every look",
        "the optimiser holds other weights, or its rate is 0",
        "compare the weights before and after a step",
        lambda curve, sound: _looks(curve).nunique() == 1,
    ),
    Symptom(
        "training loss near 0, validation loss never below guessing",
        "the answer is in the input",
        "change one token of the target and see which outputs move (lesson 5)",
        lambda curve, sound: _training(curve).iloc[-1] < 0.1 and _looks(curve).min() > GUESSING,
    ),
    Symptom(
        "training loss like a saw, in time with the epochs",
        "the data isn't shuffled",
        "shuffle",
        lambda curve, sound: (_training(curve).diff(3) > 0.5).sum() > 5,
    ),
    Symptom(
        "the loss jumps up in the first steps and gets stuck, or jumps about",
        "the learning rate is too high",
        "a tenth of the rate; warm-up; clipping",
        lambda curve, sound: _training(curve).iloc[:20].max() > _training(curve).iloc[0] + 0.5,
    ),
    Symptom(
        "the norm grows and grows, and the loss rises with it",
        "gradients aren't zeroed",
        "zero_grad",
        lambda curve, sound: _norm(curve).iloc[-30:].median() > 10 * _norm(curve).iloc[:3].median(),
    ),
    Symptom(
        "validation far better than that of a sound run",
        "a leak",
        "count the rows that are in both sets",
        lambda curve, sound: _looks(curve).iloc[9] < _looks(sound).iloc[9] / 4,
    ),
    Symptom(
        "training loss falls, validation loss falls and then rises",
        "over-fitting",
        "more rows, augmentation, dropout",
        lambda curve, sound: (
            _looks(curve).iloc[-1] > 1.1 * _looks(curve).min()
            and _training(curve).iloc[-1] < _looks(curve).iloc[-1] / 4
        ),
    ),
    Symptom(
        "falls a little, and stays where a model is that knows only which letters are common; small gradient",
        "the input doesn't reach the output: a dead layer, or an input that is never handed in",
        "follow two different rows through the layers: where do they become the same?",
        lambda curve, sound: (
            _training(curve).iloc[-30:].median() > 0.5 * GUESSING
            and _norm(curve).iloc[-30:].median() < 0.25 * _norm(sound).iloc[0]
        ),
    ),
    Symptom(
        "falls smoothly, but slowly, and the gradient is normal",
        "the learning rate is too low",
        "ten times the rate",
        lambda curve, sound: (
            _training(curve).iloc[-30:].median() > max(0.2, 5 * _training(sound).iloc[-30:].median())
            and _looks(curve).iloc[-1] < _looks(curve).iloc[0]
        ),
    ),
)
NOTHING = "nothing in this table"


def read(curve: pd.DataFrame, sound: pd.DataFrame) -> str:
    """The cause that the table names for a curve: that of the first row that fits."""
    return next((symptom.cause for symptom in SYMPTOMS if symptom.fits(curve, sound)), NOTHING)


def symptom_table() -> pd.DataFrame:
    """The table, row by row."""
    rows = [(symptom.seen, symptom.cause, symptom.remedy) for symptom in SYMPTOMS]
    return pd.DataFrame(rows, columns=["what you see", "what it may be", "what to do"])


def curve_of(suspect: Suspect, batch: Tensors, steps: int = 150) -> pd.DataFrame:
    """The curve of a model that is trained on a single batch, with its training step."""
    make, train_step = suspect
    learner, curve = make(), []
    for step in range(1, steps + 1):
        loss = train_step(learner, batch)
        gradients = [p.grad for p in learner.model.parameters() if p.grad is not None]
        row = {"step": step, "training loss": loss, "gradient norm": float(nn.utils.get_total_norm(gradients))}
        curve.append(row | ({"loss": loss, "token accuracy": 0.0, "measured again": 0.0} if step % 10 == 0 else {}))
    return pd.DataFrame(curve)


NAMED = {
    1: "the learning rate is too high",
    2: "the input doesn't reach the output",
    3: "gradients aren't zeroed",
    4: "the answer is in the input",
    5: "the data isn't shuffled",
    6: "evaluation in train mode",
    7: "a leak",
    8: "a few bad rows",
    9: "underflow in float16",
}
"""How the table begins to name each of the nine causes."""


def by_the_table(data: Letters, seed: int = 0) -> pd.DataFrame:
    """What the table says about each of the nine runs and the three suspects, beside what is wrong with it.

    The suspects are compared with a sound one of another seed: Ida with herself would prove nothing.
    """
    diagnoses = [
        (f"run {letter}", read(run(letter, seed), sound(seed)), CAUSES[cause_of(letter)], NAMED[cause_of(letter)])
        for letter in BROKEN
    ]
    people = {
        "Ida": ("nothing", NOTHING),
        "Jon": ("the optimiser holds another model", "the optimiser holds other weights"),
        "Kim": ("the letters are never handed in", "the input doesn't reach the output"),
    }
    batch = one_batch(data)
    another = curve_of(sound_one(seed + 1), batch)
    diagnoses += [
        (name, read(curve_of(suspect, batch), another), *people[name]) for name, suspect in suspects(seed).items()
    ]
    rows = [
        (name, diagnosis, wrong, "yes" if diagnosis.startswith(named) else "")
        for name, diagnosis, wrong, named in diagnoses
    ]
    return pd.DataFrame(rows, columns=["run", "the table says", "what is wrong", "right?"])
