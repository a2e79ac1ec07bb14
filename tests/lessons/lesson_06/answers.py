"""Lesson 06 beyond its catalogue: odd but honest answers keep their points, nameless wrong ones lose some."""

from __future__ import annotations

import copy
import math
from itertools import permutations
from typing import Any

import numpy as np
import torch
from torch import nn

from course.positions import (
    relative_attention_scores,
    rotary_embedding,
    sees_order,
    shift_matrix,
    sinusoidal_positional_encoding,
)

# --- sinusoids


def waves_by_columns(length, d_model, base=10000.0):
    places = torch.arange(length, dtype=torch.float64)
    columns = [
        wave(places * base ** (-2 * i / d_model)).float()
        for i in range(d_model // 2)
        for wave in (torch.sin, torch.cos)
    ]
    return torch.stack(columns, dim=1)


def waves_by_einsum(length, d_model, base=10000.0):
    rates = torch.logspace(0, -(d_model - 2) / d_model, d_model // 2, base=base, dtype=torch.float64)
    angles = torch.einsum("p,i->pi", torch.arange(length).double(), rates)
    encoding = torch.empty(length, d_model // 2, 2, dtype=torch.float64)
    encoding[..., 0], encoding[..., 1] = angles.sin(), angles.cos()
    return encoding.view(length, d_model).to(torch.get_default_dtype())


def waves_by_shifts(length, d_model, base=10000.0):
    first = torch.tensor([0.0, 1.0]).repeat(d_model // 2)
    return torch.stack([shift_matrix(p, d_model, base) @ first for p in range(length)])


# --- shift


def shift_by_outer(offset, d_model, base=10000.0):
    parity = torch.arange(d_model) % 2
    pair = torch.arange(d_model) // 2
    angle = offset / base ** (2 * pair / d_model)
    same_pair = pair[:, None] == pair[None, :]
    cos = torch.eye(d_model) * angle.cos()
    sign = (parity[None, :] - parity[:, None]).float()
    return cos + same_pair * sign * angle.sin()[:, None]


def shift_least_squares(offset, d_model, base=10000.0):
    """Solved from many pairs of encodings, in float64."""
    places = torch.linspace(0, 2 * math.pi * base, 400, dtype=torch.float64)
    rates = base ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)

    def table(p):
        angles = p[:, None] * rates
        return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)

    return torch.linalg.lstsq(table(places), table(places + offset)).solution.T.float()


# --- module


class NewBuffer(nn.Module):
    def __init__(self, d_model, max_length):
        super().__init__()
        self.waves = nn.Buffer(waves_by_columns(max_length, d_model))

    def forward(self, x):
        return torch.stack([row + self.waves[: len(row)] for row in x])


class ByGather(nn.Module):
    def __init__(self, d_model, max_length):
        super().__init__()
        self.register_buffer("encoding", sinusoidal_positional_encoding(max_length, d_model)[None].clone())

    def forward(self, x):
        _, length, _ = x.size()
        return x.clone().add_(self.encoding[:, :length].type_as(x).expand(x.size(0), -1, -1))


class OwnNames(nn.Module):
    """Other names for the arguments and the table; the tables of all lengths are views of one."""

    def __init__(self, dim, max_len):
        super().__init__()
        rates = torch.exp(-math.log(10000.0) * torch.arange(0, dim, 2) / dim)
        angles = torch.outer(torch.arange(max_len), rates)
        self.register_buffer("pos", torch.stack((angles.sin(), angles.cos()), dim=2).reshape(1, max_len, dim))

    def forward(self, inputs):
        return inputs + self.pos.narrow(1, 0, inputs.size(1))


class BufferUnused(nn.Module):
    def __init__(self, d_model, max_length):
        super().__init__()
        self.register_buffer("encoding", sinusoidal_positional_encoding(max_length, d_model))

    def forward(self, x):
        assert self.encoding[: x.shape[1]].shape == x.shape[1:]
        return x


class MadeAnew(nn.Module):
    def __init__(self, d_model, max_length):
        super().__init__()

    def forward(self, x):
        return x + sinusoidal_positional_encoding(x.shape[1], x.shape[2]).to(x.dtype)


class Averaged(ByGather):
    def forward(self, x):
        return (super().forward(x) + x) / 2


class Centred(ByGather):
    def forward(self, x):
        return super().forward(x - x.mean(dim=-1, keepdim=True))


class Backwards(ByGather):
    def forward(self, x):
        return x + self.encoding[:, : x.shape[1]].flip(1)


# --- rotary


def rotary_by_matrix_of_all(x, positions, base=10000.0):
    d = x.shape[-1]
    rows = []
    for p, vectors in zip(positions.tolist(), x.unbind(-2), strict=True):
        rows.append(vectors @ shift_matrix(-p, d, base).to(x.dtype).T)
    return torch.stack(rows, dim=-2)


def rotary_rotate_half(x, positions, base=10000.0):
    """As libraries write it, with neighbours instead of halves."""
    angles = torch.einsum(
        "p,i->pi", positions.to(x), 1.0 / base ** (torch.arange(0, x.shape[-1], 2).to(x) / x.shape[-1])
    )
    cos, sin = angles.cos().repeat_interleave(2, -1), angles.sin().repeat_interleave(2, -1)
    crossed = torch.stack((-x[..., 1::2], x[..., 0::2]), dim=-1).flatten(-2)
    return x * cos + crossed * sin


def rotary_from_a_table(x, positions, base=10000.0):
    """A lookup table that is too short for some positions, and reads negative ones from its end."""
    table = (torch.arange(64)[:, None] * base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1]))[positions].to(
        x.dtype
    )
    even, odd = x[..., 0::2], x[..., 1::2]
    cos, sin = table.cos(), table.sin()
    return torch.stack((even * cos - odd * sin, even * sin + odd * cos), dim=-1).flatten(-2)


def rotary_polar(x, positions, base=10000.0):
    even, odd = x.unflatten(-1, (x.shape[-1] // 2, 2)).unbind(-1)
    rate = torch.exp(-math.log(base) * torch.arange(0, x.shape[-1], 2).to(x) / x.shape[-1])
    angle = torch.outer(positions.to(x), rate)
    point = torch.complex(even, odd) * torch.exp(1j * angle)
    return torch.stack([point.real, point.imag], -1).flatten(-2).to(x.dtype)


def rotary_only_in_three_axes(x, positions, base=10000.0):
    _batch, _length, _d = x.shape
    return rotary_embedding(x, positions, base)


def rotary_over_heads(x, positions, base=10000.0):
    if x.dim() < 4:
        return rotary_embedding(x, positions, base)
    return rotary_embedding(x.transpose(1, 2), torch.arange(x.shape[1]), base).transpose(1, 2)


def rotary_interpolated(x, positions, base=10000.0):
    return rotary_embedding(x, positions / 2, base)


def rotary_first_half_only(x, positions, base=10000.0):
    half = x.shape[-1] // 2 // 2 * 2
    return torch.cat([rotary_embedding(x[..., :half], positions, base), x[..., half:]], dim=-1)


def rotary_normed(x, positions, base=10000.0):
    return rotary_embedding(x / x.norm(dim=-1, keepdim=True), positions, base)


# --- the clinic


def sees_by_counting(model, tokens):
    was = model.training
    model.eval()
    found = 0
    for order in permutations(range(tokens.size(1))):
        with torch.no_grad():
            found += int((model(tokens[:, order]) - model(tokens)).abs().max() > 1e-3)
        if found:
            break
    model.train(was)
    return found > 0


def sees_by_reordering_until_it_shows(model, tokens):
    """Random orders, with the model's mode put back by hand."""
    mode = model.training
    model.eval()
    torch.manual_seed(3)
    try:
        with torch.no_grad():
            before = model(tokens)
            gap = 0.0
            for _ in range(150):
                after = model(tokens[:, torch.randperm(tokens.size(1))])
                gap = max(gap, float((after - before).abs().max()))
        return gap > 1e-3
    finally:
        model.train(mode)


def sees_row_by_row(model, tokens):
    examined = copy.deepcopy(model)
    examined.eval()
    generator = np.random.default_rng(5)
    for row in tokens:
        expected = examined(row[None])
        for _ in range(80):
            changed = row[torch.from_numpy(generator.permutation(len(row)))]
            if not torch.allclose(examined(changed[None]), expected):
                return True
    return False


def sees_a_parameter(model, tokens):
    return any("position" in name or "places" in name for name, _ in model.named_buffers())


def sees_by_one_shuffle(model, tokens):
    examined = copy.deepcopy(model).eval()
    order = torch.randperm(tokens.shape[1], generator=torch.Generator().manual_seed(1))
    return not torch.allclose(examined(tokens[:, order]), examined(tokens), rtol=1e-4)


def sees_and_trains(model, tokens):
    answer = sees_order(model, tokens)
    with torch.no_grad():
        next(model.parameters()).mul_(1.001)
    return answer


def waves(**changes):
    def encoding(length, d_model, base=10000.0):
        return sinusoidal_positional_encoding(changes.get("length", length), changes.get("d_model", d_model), base)

    return encoding


HONEST: dict[str, list[Any]] = {
    "sinusoidal_positional_encoding": [waves_by_columns, waves_by_einsum, waves_by_shifts],
    "shift_matrix": [
        shift_by_outer,
        shift_least_squares,
        lambda offset, d_model, base=10000.0: torch.linalg.inv(shift_matrix(-offset, d_model, base).double()).float(),
        lambda offset, d_model, base=10000.0: shift_matrix(offset - 5, d_model, base) @ shift_matrix(5, d_model, base),
    ],
    "SinusoidalPositionalEncoding": [NewBuffer, ByGather, OwnNames],
    "rotary_embedding": [
        rotary_by_matrix_of_all,
        rotary_polar,
        rotary_rotate_half,
        lambda x, positions, base=10000.0: rotary_embedding(x.double(), positions, base).to(x.dtype),
        lambda x, positions, base=10000.0: rotary_embedding(
            rotary_embedding(x, positions - 7, base), positions * 0 + 7, base
        ),
    ],
    "relative_attention_scores": [
        lambda query, key, positions: (
            rotary_embedding(query, positions)[..., :, None, :] * rotary_embedding(key, positions)[..., None, :, :]
        ).sum(-1),
        lambda query, key, positions: relative_attention_scores(query, key, positions - positions.min()),
        lambda query, key, positions: relative_attention_scores(key, query, positions).mT,
    ],
    "sees_order": [sees_by_counting, sees_row_by_row, sees_by_reordering_until_it_shows],
}

WRONG: dict[str, list[Any]] = {
    "sinusoidal_positional_encoding": [
        waves(length=5),
        waves(d_model=8),
        lambda length, d_model, base=10000.0: sinusoidal_positional_encoding(length, d_model, base) / d_model**0.5,
        lambda length, d_model, base=10000.0: sinusoidal_positional_encoding(length, d_model, base).flip(0),
        lambda length, d_model, base=10000.0: sinusoidal_positional_encoding(length, d_model, base).half(),
        lambda length, d_model, base=10000.0: sinusoidal_positional_encoding(length, d_model, base).tolist(),
        lambda length, d_model, base=10000.0: -sinusoidal_positional_encoding(length, d_model, base),
        lambda length, d_model, base=10000.0: sinusoidal_positional_encoding(length, d_model, base / 2),
        lambda length, d_model, base=10000.0: sinusoidal_positional_encoding(length + 1, d_model, base),
        lambda length, d_model, base=10000.0: sinusoidal_positional_encoding(length, d_model, base).round(decimals=2),
    ],
    "shift_matrix": [
        lambda offset, d_model, base=10000.0: torch.eye(d_model),
        lambda offset, d_model, base=10000.0: torch.eye(d_model).roll(offset, 0),
        lambda offset, d_model, base=10000.0: shift_matrix(offset % 20, d_model, base),
        lambda offset, d_model, base=10000.0: shift_matrix(-abs(offset), d_model, base),
        lambda offset, d_model, base=10000.0: shift_matrix(offset, d_model, base) * 2,
        lambda offset, d_model, base=10000.0: torch.diag_embed(shift_matrix(offset, d_model, base).diagonal()),
        lambda offset, d_model, base=10000.0: torch.matrix_power(shift_matrix(1, d_model, base), abs(offset)),
        lambda offset, d_model, base=10000.0: shift_matrix(offset, d_model, base).numpy(),
        lambda offset, d_model, base=10000.0: sinusoidal_positional_encoding(d_model, d_model, base),
    ],
    "SinusoidalPositionalEncoding": [
        BufferUnused,
        MadeAnew,
        Averaged,
        Centred,
        Backwards,
        lambda d_model, max_length: ByGather(max_length, d_model),
        lambda d_model, max_length: ByGather(d_model, max_length).forward,
        lambda d_model, max_length: nn.Identity(),
    ],
    "rotary_embedding": [
        rotary_only_in_three_axes,
        rotary_over_heads,
        rotary_interpolated,
        rotary_from_a_table,
        rotary_first_half_only,
        rotary_normed,
        lambda x, positions, base=10000.0: rotary_embedding(x, positions, base).flatten(),
        lambda x, positions, base=10000.0: rotary_embedding(x, positions.unique(), base),
        lambda x, positions, base=10000.0: rotary_embedding(x, positions.sort().values, base),
        lambda x, positions, base=10000.0: rotary_embedding(x, positions - positions[0], base),
        lambda x, positions, base=10000.0: rotary_embedding(x, positions % 16, base),
        lambda x, positions, base=10000.0: rotary_embedding(x, positions, base).clone().detach().requires_grad_(),
    ],
    "relative_attention_scores": [
        lambda query, key, positions: relative_attention_scores(query, key, positions).tril(),
        lambda query, key, positions: relative_attention_scores(query, key, positions).abs(),
        lambda query, key, positions: relative_attention_scores(query, query, positions),
        lambda query, key, positions: relative_attention_scores(query, key, positions).mean(0),
        lambda query, key, positions: relative_attention_scores(query, key, 2 * positions),
        lambda query, key, positions: relative_attention_scores(query, key, -positions),
        lambda query, key, positions: relative_attention_scores(query, key, positions) / query.shape[-1],
        lambda query, key, positions: query @ key.mT - (positions[:, None] - positions).abs(),
    ],
    "sees_order": [
        lambda model, tokens: True,
        lambda model, tokens: False,
        sees_a_parameter,
        lambda model, tokens: model(tokens).std().item() > 1e-3,
        lambda model, tokens: not torch.allclose(model(tokens), model(tokens.flip(0))),
        sees_by_one_shuffle,
        sees_and_trains,
        lambda model, tokens: str(sees_order(model, tokens)),
        lambda model, tokens: sees_order(model, tokens[:, :3]),
        lambda model, tokens: sees_order(model, tokens[:, 1:]),
        lambda model, tokens: int(sees_order(model, tokens)),
    ],
}
