"""Downloads that want to harm, or are too large: one sentence each, and nothing outside the folder."""

import os
import struct
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cellcheck.collecting import downloads as reading
from cellcheck.collecting import file_names as entries
from cellcheck.collecting.collect import collect
from cellcheck.collecting.downloads import DownloadReader, Found, TooMuch
from cellcheck.errors import GraderError
from tests.collecting.downloads import LESSON, download, notebook, students, zipped


def why(path: Path) -> dict[str, str]:
    """What there is to say about a download, per file."""
    return {file.shown: file.problem for file in read(path) if file.problem}


def read(path: Path) -> list[Found]:
    """The files of a download."""
    with tempfile.TemporaryDirectory() as spool:
        return DownloadReader(Path(spool)).read(path)


EVIL = [
    *("../x.ipynb", "../../../etc/x.ipynb", "/x.ipynb", "a/../../x.ipynb"),
    *("..\\x.ipynb", "C:\\x.ipynb", "a/con.ipynb"),
]


def test_names_that_leave_the_folder(tmp_path: Path) -> None:
    path = download(tmp_path / "a.zip", *((name, notebook()) for name in EVIL), ("ada/x.ipynb", notebook()))
    done = collect([path], tmp_path / "in" / "submitted")
    assert students(done) == ["ada"]
    assert sorted(doubt.where for doubt in done.doubts) == sorted(EVIL)
    assert all(doubt.why.endswith("it was left out.") for doubt in done.doubts)
    assert {path.name for path in tmp_path.rglob("*.ipynb")} == {f"{LESSON}.ipynb"}


@settings(max_examples=60, deadline=None)
@given(names=st.lists(st.one_of(st.text(max_size=12), st.sampled_from(EVIL)), max_size=4))
def test_whatever_entries_are_called(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    root = tmp_path_factory.mktemp("names")
    entries = []
    for place, name in enumerate(names):
        for ending in (".ipynb", ".py"):
            try:
                entries.append(
                    (f"Ada {ending}_{place + 1}_assignsubmission_file_/{name}{ending}", notebook(str(place)))
                )
                zipped(entries)
            except (ValueError, UnicodeError, struct.error):  # not even a zip file can hold that name
                entries.pop()
    path = download(root / "a.zip", *entries)
    collect([path], root / "in" / "submitted")
    outside = [file for file in root.rglob("*") if file.is_file() and "submitted" not in file.parts and file != path]
    assert outside == []


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.ipynb").write_bytes(notebook("secret"))
    (tmp_path / "all" / "ada").mkdir(parents=True)
    (tmp_path / "all" / "ada" / "x.ipynb").symlink_to(tmp_path / "secret.ipynb")
    (tmp_path / "all" / "bob").symlink_to(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "all")
    assert why(tmp_path / "all") == {
        "ada/x.ipynb": "It is a link: ask for the file itself.",
        "bob": "It is a link: ask for the file itself.",
    }
    with pytest.raises(GraderError, match="is a link: name what it points to"):
        read(tmp_path / "link")
    info = zipfile.ZipInfo("ada/x.ipynb")
    info.external_attr = 0o120777 << 16
    assert why(download(tmp_path / "a.zip", (info, b"/etc/passwd"))) == {
        "ada/x.ipynb": "It is a link, or not a file: it was left out."
    }


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.ipynb")
    assert why(tmp_path) == {"x.ipynb": "It is not a file."}


def test_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    zeros = bytes(2 * 2**20)
    path = download(tmp_path / "a.zip", ("ada/x.ipynb", zeros))
    assert why(path) == {"ada/x.ipynb": "It unpacks to more than 200 times its size: it was left out."}
    nested = zipped([("b.zip", zipped([("c.zip", zipped([("x.ipynb", notebook())]))]))])
    path = download(tmp_path / "b.zip", ("a.zip", nested))
    assert list(why(path).values()) == ["It is a zip file in a zip file in a zip file: unpack it, and collect that."]
    monkeypatch.setattr(entries, "MAX_BYTES", 1000)
    path = download(tmp_path / "c.zip", ("ada/x.ipynb", os.urandom(1001)))
    assert "Ask for it with its outputs cleared." in why(path)["ada/x.ipynb"]
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "x.ipynb").write_bytes(bytes(1001))
    assert "Ask for it with its outputs cleared." in why(tmp_path / "d")["x.ipynb"]


def test_a_size_that_lies(tmp_path: Path) -> None:
    """The table of contents says 10 bytes, and there are more."""
    path = download(tmp_path / "a.zip", ("ada/x.ipynb", os.urandom(5000)))
    data = bytearray(path.read_bytes())
    at = data.rfind(b"PK\x01\x02")
    data[at + 24 : at + 28] = (10).to_bytes(4, "little")
    path.write_bytes(data)
    assert why(path)["ada/x.ipynb"].startswith("It can't be unpacked")


def test_a_zip_file_of_nobody_knows_whose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no platform says what is whose, there is a limit for all of it; and other downloads are collected."""
    path = download(tmp_path / "a.zip", *((f"{i}/x.ipynb", notebook()) for i in range(5)))
    monkeypatch.setattr(reading, "MAX_TOTAL_FILES", 4)
    with pytest.raises(TooMuch, match="more than 4 files"):
        read(path)
    done = collect([path, download(tmp_path / "b.zip", ("ada/x.ipynb", notebook()))], tmp_path / "submitted")
    assert (students(done), [doubt.where for doubt in done.doubts]) == (["ada"], [str(path)])
    monkeypatch.setattr(reading, "MAX_TOTAL_FILES", 100)
    monkeypatch.setattr(reading, "MAX_TOTAL", 4 * len(notebook()))
    with pytest.raises(TooMuch, match="collect a part of it"):
        read(path)
    monkeypatch.setattr(reading, "MAX_DIRECTORY", 100)
    monkeypatch.setattr(zipfile, "ZipFile", None)  # it is not even opened
    with pytest.raises(TooMuch, match="Its table of contents"):
        read(path)


def test_one_learners_zip_file_does_not_stop_the_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = zipped((f"{i}.txt", b"") for i in range(1001))
    large = zipped([("x.ipynb", bytes(2000)), ("y.ipynb", bytes(2000))])
    path = download(tmp_path / "a.zip", ("ada/hw.zip", many), ("bob/hw.zip", large), ("cy/x.ipynb", notebook()))
    assert list(why(path)) == ["ada/hw.zip"]
    monkeypatch.setattr(reading, "MAX_SIZE", 3000)
    assert list(why(path)) == ["ada/hw.zip", "bob/hw.zip"]
    assert all("ask for less" in text for text in why(path).values())
    assert [file.shown for file in read(path) if not file.problem] == ["cy/x.ipynb"]


@pytest.mark.parametrize("content", [b"", b"Dear teacher", b"PK\x03\x04" + bytes(50)])
def test_zip_files_that_are_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.zip").write_bytes(content)
    assert why(tmp_path / "a.zip") == {"a.zip": "It is not a zip file that can be read: ask for it again."}
    path = download(tmp_path / "b.zip", ("ada/hw.zip", content), ("bob/x.ipynb", notebook()))
    assert why(path) == {"ada/hw.zip": "It is not a zip file that can be read: ask for it again."}


def test_what_systems_leave_behind_is_passed_over(tmp_path: Path) -> None:
    names = ["__MACOSX/ada/._x.ipynb", ".DS_Store", "ada/.ipynb_checkpoints/x-checkpoint.ipynb", "ada/x.ipynb"]
    path = download(tmp_path / "a.zip", *((name, notebook()) for name in names))
    assert [file.shown for file in read(path)] == ["ada/x.ipynb"]
    with zipfile.ZipFile(path) as archive:
        archive.extractall(tmp_path / "a")
    assert [file.shown for file in read(tmp_path / "a")] == ["ada/x.ipynb"]


def test_names_are_composed(tmp_path: Path) -> None:
    """macOS writes UTF-8 without saying so, and takes accents apart."""
    data = bytearray(zipped([("Zoe\u0308/x.ipynb", notebook())]))
    for mark, offset in ((b"PK\x03\x04", 7), (b"PK\x01\x02", 9)):
        data[data.find(mark) + offset] &= ~0x08  # bit 11 says: UTF-8
    path = tmp_path / "a.zip"
    path.write_bytes(data)
    (file,) = read(path)
    assert file.parts == ("Zo\u00eb", "x.ipynb")
