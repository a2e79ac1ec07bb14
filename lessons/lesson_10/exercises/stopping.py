"""`EarlyStopping`: cases, mistakes and variants."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import torch

from course.training_well.stopping import EarlyStopping
from grader.authoring.aspects import main, special, untouched
from grader.authoring.spec import USUAL, Case, Exercise, Mistake, tagged


def _losses(generator: np.random.Generator) -> list[Case]:
    start = float(generator.uniform(2.0, 3.0))

    def case(label: str, tag: str, *falls: float, patience: int = 3, **others: float) -> Case:
        losses = [round(start + fall, 4) for fall in falls]
        tags = tagged(tag) if tag else USUAL
        return Case(label, {"losses": losses, "patience": patience, **others}, tags)

    return [
        case("with losses that fall and then rise", "", 0, -0.5, -0.9, -0.7, -0.6, -0.5, -0.4),
        case("with losses that go up and down", "", 0, -0.4, -0.1, -0.2, -0.6, -0.3, -0.5, -0.4, -0.2),
        case("with a better loss just in time", "reset", 0, 0.2, 0.1, -0.3, -0.1, -0.2, -0.5, 0, -0.1, 0.1),
        case("with losses that don't change", "equal", 0, -0.4, -0.4, -0.4, -0.4),
        case("with a patience of one", "one", 0, -0.3, -0.2, -0.4, patience=1),
        case("with losses that creep down", "delta", 0, -0.04, -0.08, -0.09, -0.3, -0.33, -0.36, -0.39, min_delta=0.1),
        case(
            "with losses that creep down for long",
            "delta",
            0,
            -0.07,
            -0.14,
            -0.21,
            -0.28,
            -0.35,
            min_delta=0.1,
            patience=2,
        ),
        case("with losses a little above the best", "delta", 0, -0.3, -0.25, -0.28, -0.22, min_delta=0.1),
        case("with a loss that is NaN", "nan", 0, -0.2, math.nan, math.nan, math.nan),
        case("with a first loss above all others", "first", 40, 39, 40, 41),
    ]


class _Written:
    """The right class, in pieces that mistakes change."""

    start = math.inf

    def __init__(self, patience: int, min_delta: float = 0.0) -> None:
        self.patience, self.min_delta = patience, min_delta
        self.best, self.count, self.saved = self.start, 0, None

    def better(self, loss: float) -> bool:
        return loss < self.best - self.min_delta

    def kept(self, model: Any) -> Any:
        return copy.deepcopy(model.state_dict())

    def succeeded(self, loss: float, model: Any) -> None:
        self.best, self.count, self.saved = loss, 0, self.kept(model)

    def failed(self, loss: float, model: Any) -> None:
        self.count += 1

    def enough(self) -> Any:
        return self.count >= self.patience

    def step(self, loss: float, model: Any) -> Any:
        if self.better(loss):
            self.succeeded(loss, model)
        else:
            self.failed(loss, model)
        return self.enough()

    def restore(self, model: Any) -> None:
        model.load_state_dict(self.saved)


def _but(**members: Any) -> type[_Written]:
    return type("EarlyStopping", (_Written,), members)


def _count_goes_on(self: Any, loss: float, model: Any) -> None:
    self.best, self.saved = loss, self.kept(model)


def _compares_with_the_last(self: Any, loss: float, model: Any) -> Any:
    better = loss < self.best - self.min_delta
    if better:
        self.succeeded(loss, model)
    else:
        self.failed(loss, model)
    self.best = loss
    return self.enough()


def _saves_always(self: Any, loss: float, model: Any) -> Any:
    self.saved = self.kept(model)
    self.count = 0 if self.better(loss) else self.count + 1
    self.best = min(self.best, loss)
    return self.enough()


def _best_creeps(self: Any, loss: float, model: Any) -> None:
    self.count += 1
    if loss < self.best:
        self.best = loss


def _saves_the_lowest(self: Any, loss: float, model: Any) -> Any:
    if loss < getattr(self, "lowest", math.inf):
        self.lowest, self.saved = loss, self.kept(model)
    if self.better(loss):
        self.best, self.count = loss, 0
    else:
        self.count += 1
    return self.enough()


def _restores_nothing(self: Any, model: Any) -> None:
    pass


def _restores_at_once(self: Any, loss: float, model: Any) -> Any:
    stop = _Written.step(self, loss, model)
    if stop:
        self.restore(model)
    return stop


class _History:
    """Remembers everything, and works the answer out anew each time."""

    def __init__(self, patience: int, min_delta: float = 0.0) -> None:
        self.options = patience, min_delta
        self.losses: list[float] = []
        self.parameters: list[list[torch.Tensor]] = []

    def step(self, loss: float, model: Any) -> bool:
        self.losses.append(loss)
        self.parameters.append([parameter.detach().clone() for parameter in model.parameters()])
        return len(self.losses) - 1 - self._best() >= self.options[0]

    def _best(self) -> int:
        best = 0
        for place, loss in enumerate(self.losses):
            if self.losses[best] - loss > self.options[1]:
                best = place
        return best

    def restore(self, model: Any) -> None:
        with torch.no_grad():
            for parameter, saved in zip(model.parameters(), self.parameters[self._best()], strict=True):
                parameter.copy_(saved)


EARLY_STOPPING = Exercise(
    symbol="EarlyStopping",
    points=2,
    cases=_losses,
    references=(EarlyStopping, _Written),
    called={"output": "what step returns, loss by loss", "restored": "the weights after restore"},
    aspects=(
        main("when to stop", 4.0, meaning="step returns True after `patience` losses in a row without a better one."),
        main("the best weights come back", 4.0, ("restored",), "restore loads the weights of the best loss."),
        special(
            "a better loss starts the count again",
            "reset",
            2.0,
            "Only failures in a row count.",
            ("output", "restored"),
        ),
        special(
            "losses that don't change",
            "equal",
            meaning="A loss as good as the best doesn't beat it.",
            keys=("output", "restored"),
        ),
        special(
            "a patience of one", "one", meaning="With patience=1, the first failure stops.", keys=("output", "restored")
        ),
        special("min_delta", "delta", 2.0, "A loss must beat the best by more than min_delta.", ("output", "restored")),
        special("a loss that is NaN", "nan", meaning="NaN beats nothing.", keys=("output", "restored")),
        special(
            "a large first loss",
            "first",
            meaning="The first loss is the best so far, however large.",
            keys=("output", "restored"),
        ),
        untouched("the model is left alone", meaning="step changes nothing in the model."),
    ),
    mistakes=(
        Mistake(
            "a_reference",
            _but(kept=lambda self, model: model.state_dict()),
            "restore brings back the weights as they are now: state_dict holds the very tensors that training changes. "
            "What would a copy do?",
            central=True,
        ),
        Mistake(
            "restores_nothing",
            _but(restore=_restores_nothing),
            "After restore the model is as it was. How do saved weights get back into a model?",
            central=True,
        ),
        Mistake(
            "saves_always",
            _but(step=_saves_always),
            "You save the weights at every loss, so restore brings back the last ones. Which ones were the best?",
            central=True,
        ),
        Mistake(
            "never_stops",
            _but(enough=lambda self: False),
            "step never returns True. What should it compare with patience?",
            central=True,
        ),
        Mistake(
            "stops_at_the_first_failure",
            _but(enough=lambda self: self.count > 0),
            "You stop at the first loss that isn't better. What is patience for?",
            central=True,
        ),
        Mistake(
            "compares_with_the_last",
            _but(step=_compares_with_the_last),
            "You compare each loss with the one before. Which one does the docstring compare it with?",
            central=True,
        ),
        Mistake(
            "higher_is_better",
            _but(start=-math.inf, better=lambda self, loss: loss > self.best + self.min_delta),
            "You wait for higher losses. Which way should a loss go?",
            central=True,
        ),
        Mistake(
            "count_never_starts_again",
            _but(succeeded=_count_goes_on),
            "A better loss doesn't start your count again, so failures long ago still count. What does 'in a "
            "row' mean?",
        ),
        Mistake(
            "one_too_patient",
            _but(enough=lambda self: self.count > self.patience),
            "You stop one loss too late. With a patience of 3, at which failure should step return True?",
            central=True,
        ),
        Mistake(
            "one_too_eager",
            _but(enough=lambda self: self.count >= self.patience - 1 and self.count > 0),
            "You stop one loss too early. With a patience of 3, at which failure should step return True?",
            central=True,
        ),
        Mistake(
            "equal_is_better",
            _but(better=lambda self, loss: loss <= self.best - self.min_delta),
            "A loss that is only as good as the best starts your count again. Has it beaten it?",
        ),
        Mistake(
            "min_delta_forgotten",
            _but(better=lambda self, loss: loss < self.best),
            "min_delta plays no part. By how much must a loss beat the best?",
        ),
        Mistake(
            "min_delta_the_wrong_way",
            _but(better=lambda self, loss: loss < self.best + self.min_delta),
            "You let slightly worse losses pass as better. On which side does min_delta belong?",
        ),
        Mistake(
            "best_creeps_down",
            _but(failed=_best_creeps),
            "A loss that isn't better by min_delta becomes your best all the same. Which loss is the best, by the "
            "docstring?",
        ),
        Mistake(
            "saves_the_lowest",
            _but(step=_saves_the_lowest),
            "You save the weights of the lowest loss, even if it beat the best by less than min_delta. Which "
            "weights are "
            "asked for?",
        ),
        Mistake(
            "nan_is_better",
            _but(better=lambda self, loss: not loss >= self.best - self.min_delta),
            "NaN starts your count again, since no comparison with NaN is True. Which way round should you ask?",
        ),
        Mistake(
            "starts_at_ten",
            _but(start=10.0),
            "Your best loss starts at a number that the first loss may not beat. Which number is above all others?",
        ),
        Mistake(
            "restores_by_itself",
            _but(step=_restores_at_once),
            "step itself brings the best weights back. Who decides when that happens?",
        ),
    ),
    variants={
        "in pieces": _Written,
        "the whole history": _History,
        "counts backwards": _but(
            succeeded=lambda self, loss, model: self.__dict__.update(
                best=loss, count=0, saved={name: t.clone() for name, t in model.state_dict().items()}
            ),
            enough=lambda self: self.patience - self.count <= 0,
        ),
    },
)
