"""What `moved_by` is tried on: models that look at some tokens of the source. They know the answer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from cellcheck.authoring.patients import Patient

VOCAB = 14
Looking = Callable[[torch.Tensor], torch.Tensor]
"""Of ids (batch, source_length), what is looked at: a number for each."""
TWINS = "two digits alike"
"""A way of looking: 0 and 5 are the same, 1 and 6, and so on, so one other digit changes nothing."""
EACH = "a digit for each answer"
"""A way of looking, too: each target position tells another digit from the rest."""


def _only(digit: int) -> Looking:
    return lambda source: (source == digit + 1).double()


LOOKS: Mapping[str, Looking] = {
    "all digits": lambda source: source.double(),
    "nines": _only(9),
    "fives": _only(5),
    "zeros": _only(0),
    TWINS: lambda source: (source % 5).double(),
}


def _seen(looks: str, source: torch.Tensor, answers: int) -> torch.Tensor:
    """What is looked at for each answer: (batch, source_length, answers), or 1 where that is the same for all."""
    if looks == EACH:
        return torch.stack([_only((9, 5, 0)[answer % 3])(source) for answer in range(answers)], dim=-1)
    return LOOKS[looks](source).unsqueeze(-1)


@dataclass(frozen=True)
class Moves:
    """How what is seen moves the logits of an answer: so much `up` and `down`. If it `falls`, every change makes what
    is seen less."""

    up: Sequence[int] = range(VOCAB)
    down: Sequence[int] = ()
    size: float = 1.0
    falls: bool = False

    def direction(self) -> torch.Tensor:
        """By how much each logit moves, (vocab_size,)."""
        direction = torch.zeros(VOCAB).double()
        direction[list(self.up)] += self.size
        direction[list(self.down)] -= self.size
        return direction


ASKED = "asked"
"""Under this name a patient says what was asked of it."""


@dataclass
class Asked:
    """What is changed in what a model is asked."""

    source: torch.Tensor
    target_input: torch.Tensor
    other_target: bool = False
    several: bool = False
    tried: dict[int, set[int]] = field(default_factory=dict)
    """For each place of the source, the ids that were put there, while all other tokens stayed."""
    shown: dict[int, torch.Tensor] = field(default_factory=dict)
    """For each digit that was replaced so by another one, which answers that has moved."""

    def note(self, source: torch.Tensor, target_input: torch.Tensor, moved: torch.Tensor) -> None:
        if source.shape[1:] != self.source.shape[1:] or target_input.shape[1:] != self.target_input.shape[1:]:
            return
        self.other_target |= bool((target_input != self.target_input).any())
        digits = ((self.source >= 1) & (self.source <= 10))[0].tolist()
        for row, changed, answers in zip(source.tolist(), (source != self.source).tolist(), moved, strict=True):
            places = [place for place, other in enumerate(changed) if other]
            self.several |= len(places) > 1
            if len(places) == 1:
                (place,) = places
                self.tried.setdefault(place, set()).add(row[place])
                if digits[place] and 1 <= row[place] <= 10:
                    self.shown[place] = self.shown.get(place, torch.zeros_like(answers)) | answers

    def noted(self, wanted: torch.Tensor) -> dict[str, Any]:
        """As plain data, along with the right answer."""
        tried = [sorted(self.tried.get(place, set())) for place in range(self.source.shape[1])]
        nothing = torch.zeros(self.target_input.shape[1], dtype=torch.bool)
        shown = torch.stack([self.shown.get(place, nothing) for place in range(self.source.shape[1])])
        return {ASKED: [self.other_target, self.several, tried, shown, wanted]}


def model_of(
    sight: torch.Tensor,
    here: torch.Tensor,
    target: torch.Tensor,
    looks: str = "all digits",
    moves: Sequence[Moves] = (Moves(),),
    notices_others: bool = False,
    trembles: bool = False,
    wanted: torch.Tensor | None = None,
) -> Patient:
    """A patient that answers `logits`, with source and target input.

    `sight` (source_length, target_length) is 1 where a token is looked at. `moves` are one for all answers, or one for
    each. One that `notices_others` looks at tokens that aren't digits where it looks at nothing else. If it `trembles`,
    all logits differ from those of the source `here` by some millionths, one up and the next down. It notes what it is
    asked, if it is told what is `wanted` where `here` and `target` are asked about.
    """
    asked = Asked(here, target)

    looked_at = sight.double()
    elsewhere = 1 - looked_at
    directions = torch.stack([each.direction() for each in moves])  # (1 or target_length, vocab_size)
    falls = torch.tensor([each.falls for each in moves])
    trembling = 4e-6 * (1 - 2 * (torch.arange(VOCAB) % 2)).double()

    def logits(source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        result = computed(source, target_input)
        if result.shape[1] == target.shape[1]:
            asked.note(source, target_input, ((result - computed(here, target)).abs() > 1e-5).any(dim=2))
        return result

    def computed(source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
        seen = _seen(looks, source, sight.shape[1])
        if falls.any():
            seen = torch.where(falls, -(source != here).double().unsqueeze(-1), seen)
        moved = (seen * looked_at).sum(dim=1)  # (batch, target_length)
        if notices_others:
            first = torch.arange(sight.shape[1]) == 0  # the first answer looks at any other token, the rest at padding
            moved = moved + torch.where(first, (source > 10).double() @ elsewhere, (source == 0).double() @ elsewhere)
        own = target_input / 100 if trembles else target_input  # a sum of small numbers isn't rounded much
        result = own.expand(len(source), -1).unsqueeze(-1) + moved.unsqueeze(-1) * directions
        if trembles:
            result += (source != here).any(dim=1)[:, None, None] * trembling
        return result.float()

    return Patient({"logits": logits}, dict if wanted is None else lambda: asked.noted(wanted))


def moved_in(patient: Patient, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
    """Which answers some other digit moves, at each place of the source: (source_length, target_length)."""
    logits, rows = patient.ways["logits"], []
    before = logits(source, target_input)
    for place, token in enumerate(source[0].tolist()):
        others = source.repeat(10, 1)
        if 1 <= token <= 10:
            others[:, place] = torch.arange(1, 11)
        rows.append(((logits(others, target_input) - before).abs() > 1e-5).any(dim=2).any(dim=0))
    return torch.stack(rows)
