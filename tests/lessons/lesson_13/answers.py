"""Lesson 13 beyond its catalogue: odd but honest answers keep their points, nameless wrong ones lose some."""

from __future__ import annotations

import numpy as np
import torch

from course.length_generalization.letters import HINTS
from course.length_generalization.places import digit_positions, index_hints
from course.length_generalization.positions import random_offset_positions, windowed_mask
from course.tasks.addition import ALPHABET

# --- index_hints


def hints_by_splitting(problem):
    parts, current = [], ""
    for one in problem + "\n":
        if one in "0123456789":
            current += one
            continue
        for place, digit in zip(range(len(current) - 1, -1, -1), current, strict=True):
            parts.append(HINTS[place])
            parts.append(digit)
        current = ""
        parts.append(one)
    return "".join(parts)[:-1]


def hints_with_a_table(problem):
    letters = dict(enumerate(HINTS))
    places, place = [], 0
    for one in problem[::-1]:
        place = place + 1 if one.isdigit() else 0
        places.insert(0, place)
    return "".join(f"{letters[place - 1]}{one}" if place else one for one, place in zip(problem, places, strict=True))


def hints_for_the_longest(problem):
    """Every number begins with the letter of the longest one."""
    runs = "".join(one if one.isdigit() else " " for one in problem).split()
    longest = max(map(len, runs), default=0)
    pieces, seen = [], 0
    for one in problem:
        seen = seen + 1 if one.isdigit() else 0
        pieces.append(HINTS[longest - seen] + one if seen else one)
    return "".join(pieces)


def hints_on_every_second_digit(problem):
    hinted = index_hints(problem)
    return "".join(one for one in hinted if one not in HINTS[1::2])


def hints_by_value(problem):
    return "".join(HINTS[int(one)] + one if one.isdigit() else one for one in problem)


# --- random_offset_positions


def offset_with_rand(length, max_length, generator):
    if max_length - length < 0:
        raise RuntimeError("no room")
    chances = torch.ones(max_length - length + 1)
    return torch.arange(length).add(torch.multinomial(chances, 1, generator=generator))


def offset_by_counting(length, max_length, generator):
    assert 0 < length <= max_length
    first = torch.randint(high=max_length - length + 1, size=(1,), generator=generator).item()
    return torch.tensor([first + step for step in range(length)], dtype=torch.long)


def offset_in_tens(length, max_length, generator):
    positions = random_offset_positions(length, max_length, generator)
    return positions - positions[0] % 2


def offset_with_a_gap(length, max_length, generator):
    positions = random_offset_positions(length, max_length, generator)
    return torch.cat([positions[: length // 2], positions[length // 2 :] + 1])


def offset_from_both_ends(length, max_length, generator):
    positions = random_offset_positions(length, max_length, generator)
    middle = (max_length - length) / 2
    return torch.arange(length) + (0 if positions[0] < middle else max_length - length)


# --- digit_positions


def places_with_numpy(tokens):
    ids = tokens.numpy()
    places = np.zeros_like(ids)
    for column in range(ids.shape[1]):
        back = ids.shape[1] - 1 - column
        before = places[:, back + 1] if column else 0
        places[:, back] = np.where((ids[:, back] > 0) & (ids[:, back] < 11), before + 1, 0)
    return torch.from_numpy(places)


def places_from_text(tokens):
    rows = []
    for row in tokens:
        text = ALPHABET.text(row)
        rows.append([0 if not one.isdigit() else _run(text[place:]) for place, one in enumerate(text)])
    return torch.tensor(rows)


def _run(text):
    return next((place for place, one in enumerate(text) if not one.isdigit()), len(text))


def places_by_scanning(tokens):
    """Doubling: after k steps, runs of up to 2 ** k digits are counted."""
    digits = ((tokens > 0) & (tokens < 11)).long()
    places, whole, step = digits.clone(), digits.clone(), 1
    while step < tokens.shape[1]:
        shifted = torch.nn.functional.pad(places[:, step:], (0, step))
        still = torch.nn.functional.pad(whole[:, step:], (0, step))
        places, whole, step = places + whole * shifted, whole * still, 2 * step
    return places


def places_up_to_four(tokens):
    return digit_positions(tokens).clamp(max=4)


def places_of_the_longest(tokens):
    """The largest place of a row is the same in both numbers."""
    places = digit_positions(tokens)
    return torch.where(places > 0, places.max(dim=1, keepdim=True).values + 1 - places, 0)


def places_of_sorted_rows(tokens):
    return digit_positions(tokens).sort(dim=1, descending=True).values


# --- windowed_mask


def window_with_outer(positions, window):
    distances = torch.tensor(np.abs(np.subtract.outer(positions.numpy(), positions.numpy())))
    return distances.lt(window)


def window_by_shifts(positions, window):
    same = positions.reshape(-1, 1)
    mask = same == positions
    for shift in range(1, min(window, int(positions.max() - positions.min()) + 1)):
        mask = mask | (same + shift == positions) | (same - shift == positions)
    return mask


def window_of_even_distances(positions, window):
    distances = (positions[:, None] - positions).abs()
    return (distances < window) & (distances % 2 == 0)


def window_at_least_two(positions, window):
    return windowed_mask(positions, max(window, 2))


def window_from_sorted(positions, window):
    return windowed_mask(positions.sort().values, window)


HONEST = {
    "index_hints": [hints_by_splitting, hints_with_a_table],
    "random_offset_positions": [offset_with_rand, offset_by_counting],
    "digit_positions": [places_with_numpy, places_from_text, places_by_scanning],
    "windowed_mask": [window_with_outer, window_by_shifts],
}
WRONG = {
    "index_hints": [hints_for_the_longest, hints_on_every_second_digit, hints_by_value],
    "random_offset_positions": [offset_in_tens, offset_with_a_gap, offset_from_both_ends],
    "digit_positions": [places_up_to_four, places_of_the_longest, places_of_sorted_rows],
    "windowed_mask": [window_of_even_distances, window_at_least_two, window_from_sorted],
}
