"""Wrong answers that no mistake has: the cards still say what they do, in words, whatever the seed."""

from collections.abc import Callable

import torch

from tests.lessons.words import Told
from transformer_course.length_generalization import places, positions

Model = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def from_two(tokens: torch.Tensor) -> torch.Tensor:
    right = places.digit_positions(tokens)
    return right + (right > 0)


def from_the_left_and_three(tokens: torch.Tensor) -> torch.Tensor:
    right = places.digit_positions(tokens.flip(1)).flip(1)
    return right + 2 * (right > 0)


def every_token_counts(tokens: torch.Tensor) -> torch.Tensor:
    others = (tokens < 1) | (tokens > 10)
    return places.digit_positions(tokens) + others


def counted_on(tokens: torch.Tensor) -> torch.Tensor:
    digits = ((tokens >= 1) & (tokens <= 10)).long()
    return (digits.flip(1).cumsum(1).flip(1) + 2) * digits


def of_the_first_row(tokens: torch.Tensor) -> torch.Tensor:
    return places.digit_positions(tokens)[:1] * ((tokens >= 1) & (tokens <= 10))


def fives_left_out(tokens: torch.Tensor) -> torch.Tensor:
    return places.digit_positions(tokens) * (tokens != 6)


class AHigherRowForAll(positions.PlaceEmbedding):
    """A token without a place gets a vector, too."""

    def forward(self, places: torch.Tensor, start: torch.Tensor) -> torch.Tensor:
        told: torch.Tensor = self.vectors((places + start - 1).clamp(min=0))
        return told


def one_digit_by_the_most_likely(model: Model, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
    moved = torch.zeros(source.shape[1], target_input.shape[1], dtype=torch.bool)
    before = model(source, target_input).argmax(-1)[0]
    for place in range(source.shape[1]):
        if 1 <= source[0, place] <= 10:
            other = source.clone()
            other[0, place] = 1 if source[0, place] > 1 else 2
            moved[place] = model(other, target_input).argmax(-1)[0] != before
    return moved


def everything_moves(model: Model, source: torch.Tensor, target_input: torch.Tensor) -> torch.Tensor:
    moved = torch.zeros(source.shape[1], target_input.shape[1], dtype=torch.bool)
    for place in range(source.shape[1]):
        for digit in range(1, 11) if 1 <= source[0, place] <= 10 else ():
            other = source.clone()
            other[0, place] = digit
            model(other, target_input)
            moved[place] = True
    return moved


def indices_and_the_window(positions: torch.Tensor, window: int) -> torch.Tensor:
    indices = torch.arange(len(positions))
    return (indices[:, None] - indices).abs() <= window


def further_by_one(positions: torch.Tensor, window: int) -> torch.Tensor:
    return (positions[:, None] - positions).abs() > window + 1


ON_CARDS: list[Told] = [
    ("digit_positions", from_two, "The ones digit of every number gets 2."),
    ("digit_positions", from_the_left_and_three, "Within a number, your places rise from left to right."),
    ("digit_positions", from_the_left_and_three, "The first digit of every number gets 3."),
    ("digit_positions", every_token_counts, "gets 1. Which tokens should get 0?"),
    ("digit_positions", counted_on, "In the last number of a row, the ones digit gets 3"),
    ("digit_positions", of_the_first_row, "Each row gets the places of the first one."),
    ("digit_positions", fives_left_out, "Each 5 gets 0, and no other digit does."),
    ("PlaceEmbedding", AHigherRowForAll, "A token at place 0 gets numbers other than 0."),
    ("moved_by", one_digit_by_the_most_likely, "Some source that you try moves a logit by more than 0.00001"),
    ("moved_by", one_digit_by_the_most_likely, "In place of a 2, you try 0."),
    ("moved_by", everything_moves, "Your result is True where no other digit that you try"),
    ("windowed_mask", indices_and_the_window, "Your mask compares indices in the row."),
    ("windowed_mask", indices_and_the_window, "And differences of 3 are seen, though the window is 3."),
    ("windowed_mask", further_by_one, "Your mask is True for tokens that are far apart."),
]
BESIDE: list[Told] = [
    ("windowed_mask", further_by_one, "And it turns from one to the other between differences of"),
]
