"""What lesson 13 builds, beside NumPy's and PyTorch's own, and its data."""

import json
import zipfile
from pathlib import Path

import pytest
import torch

from transformer_course import downloads
from transformer_course.tasks.handwriting import handwriting
from transformer_course.tasks.monthly import carbon_dioxide, passengers
from transformer_course.tasks.reviews import ARCHIVE, as_tokens, reviews, word_vocabulary


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
