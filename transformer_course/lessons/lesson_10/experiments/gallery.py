"""Nine runs, each broken in one way, and one that isn't. `run(letter)` trains one; the learner says what is wrong."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Literal

import pandas as pd
import torch
from torch import nn

from transformer_course.lessons.lesson_10.experiments.letters import (
    LONGEST,
    Letters,
    Reverser,
    Tensors,
    letters,
    measured_on,
    row_loss,
    scores,
)

STEPS = 150
CAUSES = {
    1: "the learning rate is too high",
    2: "dead ReLUs",
    3: "gradients are not zeroed",
    4: "the decoder reads the token that it should say",
    5: "the data is not shuffled",
    6: "evaluation in train mode",
    7: "validation rows leaked into the training data",
    8: "a few exploding gradients",
    9: "float16 underflow",
}


class Sound:
    """A run that works: 150 steps of Adam. Each broken run changes one of its methods."""

    rows, others, rate, p = 4000, 250, 0.005, 0.0

    def __init__(self, seed: int = 0) -> None:
        torch.manual_seed(seed)
        self.generator = torch.Generator().manual_seed(seed)
        self.data = self.draw(seed)
        self.model = self.build()
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=self.rate)
        self.curve: list[dict[str, float]] = []

    def draw(self, seed: int) -> Letters:
        return letters(self.rows, seed, validation=self.others)

    def build(self) -> nn.Module:
        return Reverser(p=self.p)

    def batch(self, step: int) -> Tensors:
        rows = torch.randint(len(self.data.train[0]), (64,), generator=self.generator)
        return self.data.train[0][rows], self.data.train[1][rows]

    def loss(self, inputs: torch.Tensor, targets: torch.Tensor, step: int) -> torch.Tensor:
        return row_loss(self.model(inputs), targets)

    def clear(self) -> None:
        self.optimizer.zero_grad()

    def backward(self, loss: torch.Tensor) -> None:
        loss.backward()  # type: ignore[no-untyped-call]

    def step(self) -> None:
        self.optimizer.step()

    def clip(self) -> float:
        """The norm of all gradients together; none is clipped."""
        return float(nn.utils.get_total_norm([p.grad for p in self.model.parameters() if p.grad is not None]))

    def evaluate(self) -> dict[str, float]:
        return scores(self.model, self.data.validation)

    def run(self, steps: int = STEPS) -> pd.DataFrame:
        """The curve: training loss and gradient norm of each step, and every 10 steps the validation scores."""
        for step in range(1, steps + 1):
            inputs, targets = self.batch(step)
            self.model.train()
            loss = self.loss(inputs, targets, step)
            self.clear()
            self.backward(loss)
            norm = self.clip()
            self.step()
            seen: dict[str, float] = {}
            if step % 10 == 0:
                seen = {**self.evaluate(), "measured again": self.evaluate()["token accuracy"]}
            self.curve.append({"step": step, "training loss": loss.item(), "gradient norm": norm, **seen})
        return pd.DataFrame(self.curve)


class A(Sound):
    """5: the training rows stand in order of their length, and are taken in that order."""

    def draw(self, seed: int) -> Letters:
        data = super().draw(seed)
        order = (data.train[1] != 0).sum(dim=1).argsort(stable=True)
        return replace(data, train=(data.train[0][order], data.train[1][order]))

    def batch(self, step: int) -> Tensors:
        rows = torch.arange(64 * (step - 1), 64 * step) % self.rows
        return self.data.train[0][rows], self.data.train[1][rows]


class B(Sound):
    """9: the model in float16, and a loss with a weight of a millionth."""

    def loss(self, inputs: torch.Tensor, targets: torch.Tensor, step: int) -> torch.Tensor:
        with torch.autocast("cpu", dtype=torch.float16):
            logits = self.model(inputs)
        return row_loss(logits, targets)

    def backward(self, loss: torch.Tensor) -> None:
        (1e-6 * loss).backward()  # type: ignore[no-untyped-call]


class C(Sound):
    """3: nobody calls zero_grad."""

    def clear(self) -> None:
        pass


class D(Sound):
    """7: few rows to learn from, and the validation rows are among them."""

    rows, others = 40, 40

    def draw(self, seed: int) -> Letters:
        data = super().draw(seed)
        leaked = tuple(torch.cat(both) for both in zip(data.train, data.validation, strict=True))
        return replace(data, train=(leaked[0], leaked[1]))


class E(Sound):
    """1: the rate is forty times as high."""

    rate = 0.2


class F(Sound):
    """4: the decoder reads the target itself, and not the target moved one place to the right."""

    def loss(self, inputs: torch.Tensor, targets: torch.Tensor, step: int) -> torch.Tensor:
        unshifted = torch.cat([inputs[:, :LONGEST], targets], dim=1)
        return row_loss(self.model(unshifted), targets)


class G(Sound):
    """8: every fiftieth batch holds a broken row, whose loss counts ten thousand times."""

    def loss(self, inputs: torch.Tensor, targets: torch.Tensor, step: int) -> torch.Tensor:
        loss = super().loss(inputs, targets, step)
        if step % 50 != 30:
            return loss
        return loss + 10_000 * row_loss(self.model(inputs[:1]), targets[:1].roll(1, dims=1))


class H(Sound):
    """2: a hidden layer before the output, with ReLU, whose biases are so low that no unit ever fires."""

    def build(self) -> nn.Module:
        model = super().build()
        assert isinstance(model, Reverser)
        hidden = nn.Linear(32, 64)
        nn.init.constant_(hidden.bias, -30.0)
        model.model.head = nn.Sequential(hidden, nn.ReLU(), nn.Linear(64, 13))  # type: ignore[assignment]
        return model


class I(Sound):  # noqa: E742
    """6: a model with dropout is measured without calling eval()."""

    p = 0.2

    def evaluate(self) -> dict[str, float]:
        self.model.train()
        inputs, targets = self.data.validation
        with torch.no_grad():
            return measured_on(self.model(inputs), targets)


BROKEN: dict[str, type[Sound]] = {kind.__name__: kind for kind in (A, B, C, D, E, F, G, H, I)}


class Scaled(B):
    """The run with float16 underflow, repaired with PyTorch's scaler."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.scaler = torch.amp.GradScaler("cpu")

    def backward(self, loss: torch.Tensor) -> None:
        super().backward(self.scaler.scale(loss))
        self.scaler.unscale_(self.optimizer)

    def step(self) -> None:
        self.scaler.step(self.optimizer)
        self.scaler.update()


def with_scaler(steps: int = 60, seed: int = 0, eps: float = 1e-8) -> pd.DataFrame:
    """The run with float16 underflow again, shorter, with PyTorch's scaler, and with Adam's eps."""
    run = Scaled(seed)
    run.optimizer.param_groups[0]["eps"] = eps
    return run.run(steps)


Memory = Literal["everything", "the first moment", "the second moment"]


def with_memory_cleared(what: Memory = "everything", seed: int = 0) -> pd.DataFrame:
    """The run with exploding gradients again: after each broken step, Adam gets back what it remembered before it.

    Of its two running means, "the first moment" is that of the gradients, "the second moment" that of their squares;
    "everything" means that Adam starts with an empty memory.
    """
    name = {"the first moment": "exp_avg", "the second moment": "exp_avg_sq"}.get(what)

    class Cleared(G):
        taken = 0

        def step(self) -> None:
            self.taken += 1
            before = {p: memory[name].clone() for p, memory in self.optimizer.state.items()} if name else {}
            super().step()
            if self.taken % 50 != 30:
                return
            if name is None:
                self.optimizer.state.clear()
            for parameter, mean in before.items():
                self.optimizer.state[parameter][name] = mean

    return Cleared(seed).run()


def with_weights_put_back(seed: int = 0) -> pd.DataFrame:
    """The run with exploding gradients again: each broken step leaves Adam's memory as it is, and no other trace."""

    class PutBack(G):
        taken = 0

        def step(self) -> None:
            self.taken += 1
            before = [parameter.detach().clone() for parameter in self.model.parameters()]
            super().step()
            if self.taken % 50 == 30:
                with torch.no_grad():
                    for parameter, weight in zip(self.model.parameters(), before, strict=True):
                        parameter.copy_(weight)

    return PutBack(seed).run()


@cache
def _ran(letter: str, seed: int) -> Sound:
    trained = BROKEN[letter](seed) if letter else Sound(seed)
    trained.run()
    return trained


def run(letter: str, seed: int = 0) -> pd.DataFrame:
    """The curve of one broken run, which is trained when it is first asked for."""
    return pd.DataFrame(_ran(letter, seed).curve)


def sound(seed: int = 0) -> pd.DataFrame:
    """The curve of the run with nothing wrong."""
    return pd.DataFrame(_ran("", seed).curve)


def with_clipping(clip: Callable[..., float], max_norm: float, seed: int = 0) -> pd.DataFrame:
    """The run with exploding gradients again, clipped; the norms are those before clipping."""

    class Clipped(G):
        def clip(self) -> float:
            return float(clip(self.model.parameters(), max_norm))

    return Clipped(seed).run()


def leaked_and_fresh(seed: int = 0) -> dict[str, float]:
    """Exact match of the run with the leak: on its validation rows, and on rows that it has never seen."""
    broken = _ran("D", seed)
    return {
        "the leaked rows": broken.evaluate()["exact match"],
        "rows it has never seen": scores(broken.model, letters(1, seed=99).validation)["exact match"],
    }


def cause_of(letter: str) -> int:
    """The number of the cause of a broken run, from its first line."""
    return int((BROKEN[letter].__doc__ or "")[0])


def code_of(letter: str) -> str:
    """What a broken run does differently from a sound one, as code."""
    return inspect.getsource(BROKEN[letter])


def diagnosed(guesses: dict[str, int | None]) -> pd.DataFrame:
    """Your diagnosis of each broken run next to its cause."""
    rows = [
        {
            "run": letter,
            "your diagnosis": CAUSES.get(guesses.get(letter) or 0, "-"),
            "the cause": CAUSES[cause_of(letter)],
            "right?": "yes" if guesses.get(letter) == cause_of(letter) else "",
        }
        for letter in BROKEN
    ]
    return pd.DataFrame(rows)
