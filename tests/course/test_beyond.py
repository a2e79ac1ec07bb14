"""What lesson 12 builds, beside NumPy's and PyTorch's own, and its data."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from course import downloads
from course.beyond.forecasting import Forecaster
from course.beyond.series import looks_ahead, seasonal_naive, windows
from course.beyond.vision import VisionTransformer, patchify
from course.beyond.words import bag_of_words, masked_mean
from course.tasks.handwriting import handwriting
from course.tasks.monthly import carbon_dioxide, passengers
from course.tasks.reviews import ARCHIVE, as_tokens, reviews, word_vocabulary


def test_patches_are_those_of_unfold() -> None:
    images = torch.randn(3, 2, 6, 9)
    torch.testing.assert_close(patchify(images, 3), F.unfold(images, 3, stride=3).transpose(1, 2))
    with pytest.raises(ValueError, match="don't fit"):
        patchify(images, 2)


def test_a_convolution_embeds_patches_just_as_well() -> None:
    images = torch.randn(2, 3, 8, 8)
    convolution = nn.Conv2d(3, 5, 4, stride=4)
    linear = nn.Linear(48, 5)
    with torch.no_grad():
        linear.weight.copy_(convolution.weight.flatten(1))
        linear.bias.copy_(convolution.bias)  # type: ignore[arg-type]
    torch.testing.assert_close(linear(patchify(images, 4)), convolution(images).flatten(2).transpose(1, 2))


def test_windows_are_numpys_sliding_ones() -> None:
    series = torch.randn(20)
    inputs, targets = windows(series, 5, 3)
    expected = np.lib.stride_tricks.sliding_window_view(series.numpy(), 8)
    assert np.array_equal(torch.cat([inputs, targets], dim=1).numpy(), expected)
    assert len(windows(series[:8], 5, 3)[0]) == 1
    with pytest.raises(ValueError, match="too few"):
        windows(series[:7], 5, 3)


def test_a_bag_is_a_bincount_without_padding() -> None:
    tokens = torch.randint(0, 7, (5, 30))
    counts = bag_of_words(tokens, 9, pad_id=2)
    expected = torch.stack([torch.bincount(row, minlength=9) for row in tokens])
    expected[:, 2] = 0
    assert torch.equal(counts, expected)


def test_an_empty_row_has_mean_and_gradient_zero() -> None:
    x = torch.randn(2, 4, 3, dtype=torch.float64, requires_grad=True)
    mean = masked_mean(x, torch.tensor([[True, False, True, False], [False] * 4]))
    torch.testing.assert_close(mean[0], x[0, [0, 2]].mean(dim=0))
    mean.sum().backward()  # type: ignore[no-untyped-call]
    assert x.grad is not None
    assert not mean[1].any()
    assert not x.grad[1].any()
    assert x.grad.isfinite().all()


def test_a_periodic_series_is_forecast_without_error() -> None:
    series = torch.randn(5).repeat(9)
    for cut in (5, 13, 22):
        assert torch.equal(seasonal_naive(series[:cut], 5, 14), series[cut : cut + 14])


def test_models_have_the_shapes_that_they_promise() -> None:
    assert Forecaster(7, 3, 8, 2, 12, 2)(torch.randn(4, 7)).shape == (4, 3)
    assert VisionTransformer(6, 3, 2, 8, 2, 12, 2, 5)(torch.randn(4, 2, 6, 6)).shape == (4, 5)


def test_a_look_at_any_one_value_is_found() -> None:
    series = torch.arange(12.0)
    for place in range(12):
        assert looks_ahead(lambda s, cut, place=place: s[place] * 1e-3, series, 7) == (place >= 7)  # type: ignore[misc]
    assert torch.equal(series, torch.arange(12.0))
    assert not looks_ahead(lambda s, cut: s[:cut].sum() * len(s), series, 7)


def test_the_series_have_no_gaps() -> None:
    series = carbon_dioxide()
    assert series.shape == (452,)
    assert series.isfinite().all()
    assert 315 < series.min() < series.max() < 375


def test_digits_are_split_without_overlap() -> None:
    data = handwriting(seed=3)
    images, digits = (torch.cat(parts) for parts in zip(data.train, data.test, strict=True))
    assert images.shape == (1797, 1, 8, 8)
    assert (images.min(), images.max()) == (0, 1)
    assert torch.bincount(digits).min() > 170


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with small files in place of the real ones, and a list that knows them."""
    archive, flights = tmp_path / ARCHIVE, tmp_path / "flights" / "flights.csv"
    archive.parent.mkdir()
    flights.parent.mkdir()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("sentence_polarity/rt-polarity.neg", "a bore .\na mess .\nso so\n  a   bore . \n")
        file.writestr("sentence_polarity/rt-polarity.pos", "a gem .\na joy .\nso so\n")
    flights.write_text("year,month,passengers\n1949,January,112\n1949,February,118\n")
    entries = {
        str(path.relative_to(tmp_path)): downloads.Listed("", path.stat().st_size, downloads._sha256(path), "")
        for path in (archive, flights)
    }
    monkeypatch.setattr(downloads, "listed", lambda: entries)
    monkeypatch.setenv(downloads.MIRROR, str(tmp_path))
    return tmp_path


def test_reviews_are_each_in_one_part(mirror: Path) -> None:
    data = reviews(val=1, test=1)
    everything = [*data.train, *data.val, *data.test]
    assert sorted(everything) == [("a bore .", 0), ("a gem .", 1), ("a joy .", 1), ("a mess .", 0)]
    tokens, labels = as_tokens(data.train, word_vocabulary(text for text, _ in data.train), 2)
    assert tokens.shape == (2, 2)
    assert labels.tolist() == [label for _, label in data.train]


def test_passengers_are_read_from_the_mirror(mirror: Path) -> None:
    assert passengers().tolist() == [112, 118]


def test_what_is_downloaded_is_listed_with_its_terms() -> None:
    listed = json.loads((Path(__file__).parents[2] / "data" / "downloads.json").read_text())
    for name in (ARCHIVE, "flights/flights.csv"):
        assert listed[name]["terms"]
        assert len(listed[name]["sha256"]) == 64
