"""A folder that was handed in is looked at only so far, whatever lies in it."""

import os
import sys
from pathlib import Path

import pytest

from cellcheck.gradebook.journal import digest
from cellcheck.running import listing
from cellcheck.running.handed_in import MAX_OTHER_BYTES, other_files
from cellcheck.running.listing import MAX_DEPTH, MAX_FILES, files_below
from cellcheck.running.timestamp import timestamp


def test_files_come_in_order_and_links_do_not(tmp_path: Path) -> None:
    for name in ("b.txt", "a/c.txt", "a/b/d.txt", "__pycache__/x.pyc", "e.pyc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "link.txt").symlink_to(tmp_path / "b.txt")
    (tmp_path / "linked").symlink_to(tmp_path / "a")
    listing = files_below(tmp_path, ["*.pyc", "__pycache__"])
    assert [path.relative_to(tmp_path).as_posix() for path in listing.files] == ["a/b/d.txt", "a/c.txt", "b.txt"]
    assert listing.whole
    assert files_below(tmp_path / "linked").files == ()
    assert files_below(tmp_path / "nowhere").files == ()


def test_more_files_than_anybody_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(60):
        (tmp_path / f"{number:03}").touch()
    monkeypatch.setattr(listing, "MAX_FILES", 20)
    listed = files_below(tmp_path)
    assert [path.name for path in listed.files] == [f"{number:03}" for number in range(20)]
    assert not listed.whole
    monkeypatch.setattr(listing, "MAX_LOOKED_AT", 10)
    assert not files_below(tmp_path).whole
    monkeypatch.undo()
    assert files_below(tmp_path).whole
    assert MAX_FILES >= 1000


def test_folders_within_each_other(tmp_path: Path) -> None:
    """More of them than Python can follow, or than a path may be long."""
    before = os.getcwd()
    try:
        os.chdir(tmp_path)
        for _ in range(sys.getrecursionlimit() + 500):
            os.mkdir("d")
            os.chdir("d")
    finally:
        os.chdir(before)
    (tmp_path / "here.txt").write_text("here")
    listing = files_below(tmp_path)
    assert [path.name for path in listing.files] == ["here.txt"]
    assert not listing.whole
    assert len(digest(tmp_path, "")) == 64
    assert list(other_files(tmp_path)) == ["here.txt"]
    os.system(f"rm -rf '{tmp_path}/d'")  # Python's own can't


def test_a_file_within_the_depth_is_found(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["d"] * MAX_DEPTH)
    deep.mkdir(parents=True)
    (deep / "here.txt").touch()
    assert [path.name for path in files_below(tmp_path).files] == ["here.txt"]


def test_a_file_that_is_larger_than_it_looks_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(3 * 2**30)
    (tmp_path / "small").write_text("small")
    assert MAX_OTHER_BYTES < 3 * 2**30
    assert list(other_files(tmp_path)) == ["small"]
    before = digest(tmp_path, "")
    with (tmp_path / "sparse").open("r+b") as file:
        file.truncate(3 * 2**30 + 1)
    assert digest(tmp_path, "") != before


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("2026-03-01 12:00:00.123456 UTC", "2026-03-01 12:00:00.123456"),
        ("2026-03-01 12:00:00 Europe/Berlin\n", "2026-03-01 11:00:00"),
        ("2026-03-01T12:00:00+02:00", "2026-03-01 10:00:00"),
        ("2026-03-01 12:00", "2026-03-01 12:00:00"),
        ("2026-03-01 12:00:00 ../../etc/passwd", None),
        ("2026-03-01 12:00:00 /etc/localtime", None),
        ("1" * 2**20, None),
        (f"2026-03-01 12:00:00{' ' * 2**20}UTC", None),
        ("soon", None),
        ("", None),
        ("2026-02-30 12:00:00 UTC", None),
    ],
)
def test_a_time_is_read_only_where_it_is_short_and_looks_like_one(tmp_path: Path, text: str, read: str | None) -> None:
    (tmp_path / "timestamp.txt").write_text(text)
    time = timestamp(tmp_path)
    assert (None if time is None else str(time)) == read
