"""The texts in `data/`: what the catalogue says they are, and found from anywhere."""

import hashlib
import json
from pathlib import Path

import pytest

from transformer_course import data

FOLDER = Path(__file__).resolve().parents[2] / "data"
CATALOGUE = json.loads((FOLDER / "catalogue.json").read_text())


@pytest.mark.parametrize("name", list(CATALOGUE))
def test_each_file_is_what_the_catalogue_says(name: str) -> None:
    content = (FOLDER / name).read_bytes()
    assert len(content) == CATALOGUE[name]["bytes"]
    assert hashlib.sha256(content).hexdigest() == CATALOGUE[name]["sha256"]
    assert name in (FOLDER / "README.md").read_text()


def test_every_file_is_in_the_catalogue() -> None:
    files = {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*") if path.is_file()}
    assert files - {"README.md", "catalogue.json", "downloads.json"} == set(CATALOGUE)


def test_it_is_found_from_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data.moby_dick.cache_clear()
    assert data.moby_dick().startswith("CHAPTER 1.")


def test_without_a_repository_the_installed_one_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "moby_dick.txt").write_text("found")
    monkeypatch.setattr(data, "_PLACES", (tmp_path, FOLDER))
    assert data.data_file("moby_dick.txt") == tmp_path / "moby_dick.txt"
    assert data.data_file("co2.csv") == FOLDER / "co2.csv"


def test_a_missing_file_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "_PLACES", (tmp_path, tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match="copy that folder too"):
        data.data_file("moby_dick.txt")
