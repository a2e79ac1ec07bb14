"""Lesson 12 beyond its catalogue: odd but honest answers keep their points, nameless wrong ones lose some."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import nn

from course.beyond.forecasting import Forecaster
from course.beyond.series import seasonal_naive, windows
from course.beyond.vision import VisionTransformer, patchify
from course.beyond.words import bag_of_words, masked_mean
from course.blocks import EncoderBlock, LayerNorm, LearnedPositionalEmbedding

# --- bag_of_words


def counts_with_index_add(tokens, vocab_size, pad_id=0):
    flat = tokens + vocab_size * torch.arange(len(tokens))[:, None]
    counts = torch.zeros(len(tokens) * vocab_size).index_add_(0, flat.flatten(), torch.ones(tokens.numel()))
    counts = counts.view(-1, vocab_size)
    counts[:, pad_id] = 0.0
    return counts


def counts_with_numpy(tokens, vocab_size, pad_id=0):
    counts = np.zeros((tokens.shape[0], vocab_size))
    np.add.at(counts, (np.arange(len(tokens))[:, None], tokens.numpy()), 1)
    counts[:, pad_id] = 0
    return torch.from_numpy(counts)


def counts_pairs(tokens, vocab_size, pad_id=0):
    return bag_of_words(tokens, vocab_size, pad_id).cumsum(dim=1)


def counts_half(tokens, vocab_size, pad_id=0):
    return bag_of_words(tokens[:, ::2], vocab_size, pad_id)


def counts_without_the_last(tokens, vocab_size, pad_id=0):
    return bag_of_words(tokens[:, :-1], vocab_size, pad_id)


# --- masked_mean


def mean_of_nested(x, mask):
    means = []
    for row, kept in zip(x, mask, strict=True):
        chosen = row[kept]
        means.append(chosen.sum(0) / max(len(chosen), 1))
    return torch.stack(means)


def mean_by_multiplying(x, mask):
    counts = mask.sum(dim=-1)
    factor = torch.where(counts > 0, 1 / counts.clamp(min=1).to(x.dtype), torch.zeros((), dtype=x.dtype))
    return torch.matmul(mask.to(x.dtype)[:, None, :], x).squeeze(1) * factor[:, None]


def mean_with_epsilon(x, mask):
    weights = mask[..., None].to(x.dtype)
    return (x * weights).sum(1) / (weights.sum(1) + 0.01)


def first_that_counts(x, mask):
    return x[torch.arange(len(x)), mask.int().argmax(dim=1)]


def mean_of_squares(x, mask):
    return masked_mean(x**2, mask)


# --- seasonal_naive


def naive_by_loop(history, period, horizon):
    forecast = torch.empty(horizon, dtype=history.dtype)
    for step in range(horizon):
        forecast[step] = history[-period + step % period]
    return forecast


def naive_with_numpy(history, period, horizon):
    return torch.from_numpy(np.resize(history.numpy()[-period:], horizon))


def naive_of_half_a_period(history, period, horizon):
    return seasonal_naive(history, max(period // 2, 1), horizon)


def naive_damped(history, period, horizon):
    return seasonal_naive(history, period, horizon) * 0.9


def naive_two_periods_ago(history, period, horizon):
    return seasonal_naive(history[: max(len(history) - period, period)], period, horizon)


# --- windows


def windows_from_lists(series, input_length, horizon):
    size = input_length + horizon
    if series.shape[0] < size:
        raise AssertionError("too short")
    pieces = [series[start : start + size] for start in range(series.shape[0] - size + 1)]
    return torch.stack([p[:input_length] for p in pieces]), torch.stack([p[input_length:] for p in pieces])


def windows_by_splitting(series, input_length, horizon):
    places = torch.stack(
        [torch.arange(s, s + input_length + horizon) for s in range(len(series) - input_length - horizon + 1)]
    )
    return tuple(series[places].split([input_length, horizon], dim=1))


def windows_of_the_past_reversed(series, input_length, horizon):
    inputs, targets = windows(series, input_length, horizon)
    return inputs.flip(1), targets


def windows_of_every_second(series, input_length, horizon):
    inputs, targets = windows(series, input_length, horizon)
    return inputs[::2], targets[::2]


def windows_of_means(series, input_length, horizon):
    inputs, targets = windows(series, input_length, horizon)
    return inputs, targets.mean(dim=1, keepdim=True).expand_as(targets)


# --- Forecaster


class SinusoidForecaster(nn.Module):
    """Sinusoids for positions, and a last layer for the mean."""

    def __init__(self, input_length, horizon, d_model, num_heads, d_ff, num_layers):
        super().__init__()
        angles = torch.arange(input_length)[:, None] / 100 ** (torch.arange(d_model) / d_model)
        self.register_buffer("waves", torch.sin(angles))
        self.enter = nn.Linear(1, d_model)
        self.layers = nn.ModuleList([EncoderBlock(d_model, num_heads, d_ff) for _ in range(num_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.leave = nn.Linear(d_model, horizon)

    def forward(self, x):
        h = self.enter(x[:, :, None]) + self.waves.to(x.dtype)
        for layer in self.layers:
            h = layer(h)
        return self.leave(self.norm(h).mean(1))


class ConvolvedForecaster(Forecaster):
    """The numbers become vectors through a convolution of width one."""

    def __init__(self, input_length, horizon, d_model, num_heads, d_ff, num_layers):
        super().__init__(input_length, horizon, d_model, num_heads, d_ff, num_layers)
        self.embedding = nn.Conv1d(1, d_model, 1)

    def forward(self, x):
        h = self.positions(self.embedding(x.unsqueeze(1)).transpose(1, 2))
        for block in self.blocks:
            h = block(h)
        return self.head(self.final_norm(h).flatten(1))


class LinearForecaster(nn.Module):
    def __init__(self, input_length, horizon, d_model, num_heads, d_ff, num_layers):
        super().__init__()
        self.layer = nn.Linear(input_length, horizon)

    def forward(self, x):
        return self.layer(x)


class ForgetfulForecaster(Forecaster):
    def forward(self, x):
        return super().forward(torch.cat([torch.zeros_like(x[:, :2]), x[:, 2:]], dim=1))


class BackwardsForecaster(Forecaster):
    """Positions are added twice, and the blocks run twice."""

    def forward(self, x):
        h = self.positions(self.embedding(x.unsqueeze(-1)))
        for block in [*self.blocks, *self.blocks]:
            h = block(h)
        return self.head(self.final_norm(h).flatten(1))


# --- looks_ahead


def peeks_by_many_scales(pipeline, series, cut):
    said = torch.as_tensor(pipeline(series, cut))
    for scale in (-50.0, 0.0, 3.0, 80.0):
        other = series.clone()
        other[cut:] = scale * torch.linspace(1, 2, len(series) - cut) ** 2
        if (torch.as_tensor(pipeline(other, cut)) - said).abs().max() > 1e-4:
            return True
    return False


def peeks_with_two_seeds(pipeline, series, cut):
    before = pipeline(series, cut)
    for seed in range(8):
        noise = torch.randn(len(series), generator=torch.Generator().manual_seed(seed)) * 40
        noise[:cut] = 0
        if not torch.allclose(before, pipeline(series + noise, cut)):
            return True
    return False


def peeks_at_the_middle(pipeline, series, cut):
    other = series.clone()
    other[(cut + len(series)) // 2] += 100
    return not torch.equal(pipeline(series, cut), pipeline(other, cut))


def peeks_if_it_raises(pipeline, series, cut):
    try:
        pipeline(series[:cut], cut)
    except Exception:
        return True
    return False


def peeks_by_halves(pipeline, series, cut):
    other = series.clone()
    other[cut:] /= 2
    return bool((pipeline(series, cut) - pipeline(other, cut)).abs().sum() > 5)


# --- patchify


def patches_by_index(images, patch_size):
    _, _, height, width = images.shape
    assert height % patch_size == width % patch_size == 0
    patches = []
    for top in range(0, height, patch_size):
        for left in range(0, width, patch_size):
            patches.append(images[..., top : top + patch_size, left : left + patch_size].reshape(len(images), -1))
    return torch.stack(patches, 1)


def patches_with_rearranged_views(images, patch_size):
    b, c, h, w = images.shape
    if h % patch_size != 0 or w % patch_size != 0:
        raise RuntimeError("cannot be divided")
    x = images.contiguous().view(b, c, h // patch_size, patch_size, w // patch_size, patch_size)
    return x.transpose(3, 4).permute(0, 2, 3, 1, 4, 5).flatten(1, 2).flatten(2)


def patches_upside_down(images, patch_size):
    return patchify(images, patch_size).flip(1)


def patches_flipped(images, patch_size):
    return patchify(images.flip(-1), patch_size)


def patches_of_the_transpose(images, patch_size):
    return patchify(images.transpose(2, 3), patch_size)


# --- VisionTransformer


class PatchLast(VisionTransformer):
    """A class token at the end, which is read."""

    def __init__(self, image_size, patch_size, channels, d_model, num_heads, d_ff, num_layers, num_classes):
        super().__init__(image_size, patch_size, channels, d_model, num_heads, d_ff, num_layers, num_classes)
        self.token = nn.Parameter(torch.zeros(d_model))
        self.positions = LearnedPositionalEmbedding((image_size // patch_size) ** 2 + 1, d_model)

    def forward(self, images):
        x = self.embedding(patchify(images, self.patch_size))
        x = self.positions(torch.cat([x, self.token.expand(len(x), 1, -1)], dim=1))
        for block in self.blocks:
            x = block(x)
        return self.head(self.final_norm(x)[:, -1])


class TwoDimensionalPlaces(VisionTransformer):
    """A vector for the row and one for the column."""

    def __init__(self, image_size, patch_size, channels, d_model, num_heads, d_ff, num_layers, num_classes):
        super().__init__(image_size, patch_size, channels, d_model, num_heads, d_ff, num_layers, num_classes)
        del self.positions
        side = image_size // patch_size
        self.rows, self.columns = (nn.Parameter(torch.randn(side, d_model)) for _ in range(2))

    def forward(self, images):
        places = (self.rows[:, None] + self.columns[None]).flatten(0, 1)
        x = self.embedding(patchify(images, self.patch_size)) + places
        for block in self.blocks:
            x = block(x)
        return self.head(self.final_norm(x).mean(1))


class PixelNetwork(nn.Module):
    def __init__(self, image_size, patch_size, channels, d_model, num_heads, d_ff, num_layers, num_classes):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Flatten(), nn.Linear(channels * image_size**2, d_ff), nn.ReLU(), nn.Linear(d_ff, num_classes)
        )

    def forward(self, images):
        return self.layers(images)


class UpperHalf(VisionTransformer):
    def forward(self, images):
        seen = images.clone()
        seen[..., images.shape[-2] // 2 :, :] = 0
        return super().forward(seen)


class NormBeforeTheStack(VisionTransformer):
    def __init__(self, *sizes):
        super().__init__(*sizes)
        self.final_norm = LayerNorm(sizes[3])

    def forward(self, images):
        x = self.final_norm(self.positions(self.embedding(patchify(images, self.patch_size))))
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(dim=1)) / math.sqrt(2)


HONEST = {
    "bag_of_words": [counts_with_index_add, counts_with_numpy],
    "masked_mean": [mean_of_nested, mean_by_multiplying],
    "seasonal_naive": [naive_by_loop, naive_with_numpy],
    "windows": [windows_from_lists, windows_by_splitting],
    "Forecaster": [SinusoidForecaster, ConvolvedForecaster],
    "looks_ahead": [peeks_by_many_scales, peeks_with_two_seeds],
    "patchify": [patches_by_index, patches_with_rearranged_views],
    "VisionTransformer": [PatchLast, TwoDimensionalPlaces],
}
WRONG = {
    "bag_of_words": [counts_pairs, counts_half, counts_without_the_last],
    "masked_mean": [mean_with_epsilon, first_that_counts, mean_of_squares],
    "seasonal_naive": [naive_of_half_a_period, naive_damped, naive_two_periods_ago],
    "windows": [windows_of_the_past_reversed, windows_of_every_second, windows_of_means],
    "Forecaster": [LinearForecaster, ForgetfulForecaster, BackwardsForecaster],
    "looks_ahead": [peeks_at_the_middle, peeks_if_it_raises, peeks_by_halves],
    "patchify": [patches_upside_down, patches_flipped, patches_of_the_transpose],
    "VisionTransformer": [PixelNetwork, UpperHalf, NormBeforeTheStack],
}
