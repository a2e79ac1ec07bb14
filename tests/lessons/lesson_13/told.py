"""Wrong answers that no mistake has: the cards still say what they do, in words, whatever the seed."""

import torch

from tests.lessons.words import Told
from transformer_course.beyond import forecasting, series, vision

Pair = tuple[torch.Tensor, torch.Tensor]
Three = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def next_id_counted(tokens: torch.Tensor, vocab_size: int, pad_id: int = 0) -> torch.Tensor:
    counts = (tokens[:, :, None] == torch.arange(1, vocab_size + 1)).sum(1)
    counts[:, pad_id] = 0
    return counts


def runs_counted(tokens: torch.Tensor, vocab_size: int, pad_id: int = 0) -> torch.Tensor:
    rows = [torch.bincount(torch.unique_consecutive(row), minlength=vocab_size) for row in tokens]
    counts = torch.stack(rows)
    counts[:, pad_id] = 0
    return counts


def mean_of_the_others(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    others = ~mask
    return (x * others[..., None]).sum(1) / others.sum(1, keepdim=True)


def one_left_out(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    parts = [row[real][:-1] for row, real in zip(x, mask, strict=True)]
    return torch.stack([part.sum(0) / max(len(part), 1) for part in parts])


def one_step_ahead(values: torch.Tensor, input_length: int, horizon: int) -> Pair:
    inputs, targets = series.windows(values, input_length, horizon)
    return inputs, targets[:, -1]


def no_window(values: torch.Tensor, input_length: int, horizon: int) -> Pair:
    inputs, targets = series.windows(values, input_length, horizon)
    return (inputs[:0], targets[:0]) if len(inputs) == 1 else (inputs, targets)


def short_and_backwards(values: torch.Tensor, input_length: int, horizon: int) -> Pair:
    inputs, targets = series.windows(values, input_length, horizon)
    last = max(len(inputs) - 1, 1)
    return inputs[:last], targets[:last].flip(1)


def inputs_in_one_row(values: torch.Tensor, input_length: int, horizon: int) -> Pair:
    inputs, targets = series.windows(values, input_length, horizon)
    return inputs.flatten(1), targets


def measured_from_0(windows: torch.Tensor) -> Three:
    mean = windows.mean(1, keepdim=True)
    spread = windows.square().mean(1, keepdim=True).sqrt()
    return (windows - mean) / spread, mean, spread


def columns(windows: torch.Tensor) -> Three:
    mean, spread = windows.mean(0), windows.std(0, correction=0)
    return (windows - mean) / spread, mean[:, None], spread[:, None]


def another_spread_returned(windows: torch.Tensor) -> Three:
    scaled, mean, spread = series.scale_windows(windows)
    return scaled * spread / (spread + 0.01), mean, spread


def variance_in_a_row(windows: torch.Tensor) -> Three:
    mean, spread = windows.mean(1), windows.var(1).clamp(min=1e-9)
    return (windows - mean[:, None]) / spread[:, None], mean, spread


def largest_step_first(windows: torch.Tensor) -> Three:
    mean, spread = windows.mean(1, keepdim=True), windows.diff(dim=1).abs().mean(1, keepdim=True).clamp(min=1e-9)
    return (windows - mean) / spread, spread, mean


def large_squares(windows: torch.Tensor) -> Three:
    mean = windows.mean(1, keepdim=True)
    spread = (windows.square().mean(1, keepdim=True) - mean.square()).clamp(min=0).sqrt()
    spread = torch.where(spread > 0, spread, 1)
    return (windows - mean) / spread, mean, spread


def from_below(images: torch.Tensor, patch_size: int) -> torch.Tensor:
    patches = vision.patchify(images, patch_size)
    across = images.shape[3] // patch_size
    rows = patches.reshape(len(images), -1, across, patches.shape[2])
    return rows.flip(1).reshape(patches.shape)


def both_turned(images: torch.Tensor, patch_size: int) -> torch.Tensor:
    return vision.patchify(images, patch_size).flip(1, 2)


def channels_backwards(images: torch.Tensor, patch_size: int) -> torch.Tensor:
    return vision.patchify(images.flip(1), patch_size)


def a_token_for_each_channel(images: torch.Tensor, patch_size: int) -> torch.Tensor:
    vision.patchify(images, patch_size)  # refuses what doesn't fit
    return (
        images.unfold(2, patch_size, patch_size)
        .unfold(3, patch_size, patch_size)
        .reshape(len(images), -1, patch_size**2)
    )


class Rounded(forecasting.Forecaster):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return super().forward(x.round())


class BlackIsHidden(vision.VisionTransformer):
    def forward(self, images: torch.Tensor) -> torch.Tensor:
        patches = vision.patchify(images, self.patch_size)
        tokens = self.positions(self.embedding(patches))
        for block in self.blocks:
            tokens = block(tokens, patches.ne(0).any(dim=2)[:, None, None])
        logits: torch.Tensor = self.head(self.final_norm(tokens).mean(dim=1))
        return logits


class FirstChannel(vision.VisionTransformer):
    def forward(self, images: torch.Tensor) -> torch.Tensor:
        return super().forward(images * (torch.arange(images.shape[1]) == 0)[:, None, None])


ON_CARDS: list[Told] = [
    ("bag_of_words", next_id_counted, "Every count is one column too far to the left."),
    ("bag_of_words", runs_counted, "A word that comes several times in a row counts once."),
    ("masked_mean", mean_of_the_others, "the vectors that don't count. What does True mean in this mask?"),
    ("masked_mean", one_left_out, "The last vector that counts is left out."),
    ("windows", one_step_ahead, "Your targets are single values, one for each example."),
    ("windows", no_window, "There are no inputs, though a window fits."),
    ("windows", inputs_in_one_row, "Your inputs have no axis for the channels."),
    ("scale_windows", measured_from_0, "you return the root mean square of its values, which is measured from 0."),
    ("scale_windows", columns, "As the mean of a window, you return that of each column."),
    ("scale_windows", another_spread_returned, "Your scaled * spread + mean doesn't give the windows back."),
    ("scale_windows", variance_in_a_row, "you return its variance."),
    ("scale_windows", variance_in_a_row, "mean and spread lack their second axis"),
    ("scale_windows", largest_step_first, "Spread and mean have changed places."),
    ("scale_windows", largest_step_first, "you return the mean step from one value to the next."),
    ("windows", short_and_backwards, "Counted from 0, your inputs begin at"),
    ("windows", short_and_backwards, "Within each example, your targets run backwards in time."),
    ("patchify", both_turned, "Your patches come in another order: 7, 6, 5, 4"),
    ("patchify", both_turned, "but those are in another order, too: 7, 6, 5, 4"),
    ("scale_windows", large_squares, "On a high level, your spread loses its digits."),
    ("patchify", from_below, "The patches are right, but they come in another order: 6, 7, 4, 5"),
    (
        "patchify",
        channels_backwards,
        "Each patch has the right numbers, but in another order: 4, 5, 6, 7",
    ),
    ("patchify", a_token_for_each_channel, "Each channel of a square is a token of its own."),
    ("Forecaster", Rounded, "Some changes of a number reach no token, though larger ones do."),
    ("VisionTransformer", BlackIsHidden, "A token whose numbers are all 0 isn't seen by every other"),
    ("VisionTransformer", FirstChannel, "Some numbers of the input reach no token."),
]
