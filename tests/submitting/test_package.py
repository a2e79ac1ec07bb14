"""The note that travels with a notebook."""

import io
import json
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellcheck.submitting.zip_file import NOTE, Damaged, Note, made_before, pack


@given(st.binary(max_size=50), st.one_of(st.none(), st.text(min_size=1, max_size=30)))
def test_what_is_packed_is_found_again(notebook: bytes, name: str | None) -> None:
    note = Note.of(notebook, "01_pytorch_basics", name)
    with zipfile.ZipFile(io.BytesIO(pack(notebook, note))) as archive:
        again = Note.read(archive.read(NOTE))
        assert again.fits(archive.read("01_pytorch_basics.ipynb"))
    assert (again.lesson, again.sha256, again.name) == (note.lesson, note.sha256, note.name)
    assert abs(again.time - note.time).total_seconds() < 1
    assert not again.fits(notebook + b" ")


GOOD = json.loads(Note.of(b"", "01_pytorch_basics").to_json())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b"{}",
        json.dumps(GOOD | {"format": "other"}).encode(),
        json.dumps(GOOD | {"version": 2}).encode(),
        json.dumps(GOOD | {"time": "yesterday"}).encode(),
        json.dumps(GOOD | {"time": 5}).encode(),
        json.dumps(GOOD | {"lesson": ["a"]}).encode(),
        json.dumps(GOOD | {"name": 5}).encode(),
        json.dumps(GOOD | {"time": "0001-01-01T00:00:00+23:00"}).encode(),
        b"[" * 100_000,
    ],
)
def test_a_damaged_note_is_one_sentence(content: bytes) -> None:
    with pytest.raises(Damaged, match=r"\.$"):
        Note.read(content)


def test_files_that_are_not_ours(tmp_path: Path) -> None:
    assert made_before(tmp_path / "gone.zip") is None
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("a.txt", "a")
    for path in (other, tmp_path):
        with pytest.raises(Damaged):
            made_before(path)
