"""Whatever is written in one step is there whole, or stays as it was, and nothing lies about."""

import errno
import json
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import cellcheck
from cellcheck import files, whole_class
from cellcheck.collecting import placing
from cellcheck.errors import GraderError
from cellcheck.files import remove_folder, write_whole
from cellcheck.gradebook.agreement import put_release
from cellcheck.gradebook.journal import Journal
from cellcheck.learning import progress
from cellcheck.learning.reset import reset
from cellcheck.submitting.not_submitted import NotSubmitted
from tests.learning.learners import LESSON, own
from tests.submitting.small_notebooks import notebook

Write = Callable[[], object]
Writer = Callable[[Path, int], tuple[Path, Write]]
"""From a folder and a number to the file that is written, and what writes it, with other content for each number."""


def _journal(folder: Path, number: int) -> tuple[Path, Write]:
    journal = Journal(folder, LESSON)
    return journal.path, lambda: journal.begin(number)


def _contest(folder: Path, number: int) -> tuple[Path, Write]:
    standings: Any = SimpleNamespace(to_json=lambda: {"seed": number})
    return folder / "table.json", lambda: whole_class._write(standings, folder / "table.json")


def _progress(folder: Path, number: int) -> tuple[Path, Write]:
    return folder / progress.FILE, lambda: progress.remember(folder, LESSON, "pick", float(number))


def _reset(folder: Path, number: int) -> tuple[Path, Write]:
    mine = folder / LESSON / f"{LESSON}.ipynb"
    if not mine.exists():
        own(folder, LESSON)
    content = json.loads(mine.read_text("utf-8"))
    content["metadata"]["number"] = number
    mine.write_text(json.dumps(content), "utf-8")
    return mine, lambda: reset(mine)


def _submission(folder: Path, number: int) -> tuple[Path, Write]:
    handed = folder / "mine.ipynb"
    handed.write_bytes(notebook(f"answer = {number}"))
    return folder / f"{LESSON}.submission.zip", lambda: cellcheck.submit(path=handed)


def _collected(folder: Path, number: int) -> tuple[Path, Write]:
    place = placing.SubmittedFolder(folder)
    place._record["ada"] = number
    place._changed = True
    return folder / placing.RECORD, place.remember


def _release(folder: Path, number: int) -> tuple[Path, Write]:
    release = folder.with_name(f"{folder.name} {number}")
    (release / "data").mkdir(parents=True)
    (release / "data" / "numbers.csv").write_text(str(number))
    return folder / "data" / "numbers.csv", lambda: put_release(release, folder)


def _text(folder: Path, number: int) -> tuple[Path, Write]:
    return folder / "page.html", lambda: write_whole(folder / "page.html", f"<p>{number}</p>")


WRITERS = [_journal, _contest, _progress, _reset, _submission, _collected, _release, _text]
every_writer = pytest.mark.parametrize("writer", WRITERS, ids=lambda writer: writer.__name__.strip("_"))


def _what_is_there(folder: Path) -> dict[str, bytes]:
    """All files but the copies that `reset` keeps, which it makes before it writes."""
    paths = [path for path in folder.rglob("*") if path.is_file() and path.parent.name != "earlier"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


@every_writer
@pytest.mark.parametrize("fails", ["while it is written", "when it takes its place"])
def test_a_failing_write_leaves_the_old_file_and_no_half_of_a_new_one(
    writer: Writer, fails: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    path, write = writer(folder, 1)
    write()
    path, write = writer(folder, 2)
    before = _what_is_there(folder)
    assert path.is_file()

    def full(*anything: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    with monkeypatch.context() as patch:
        patch.setattr(*((files, "keep") if fails == "while it is written" else (os, "replace")), full)
        with suppress(OSError, GraderError, NotSubmitted):  # the record of scores says nothing
            write()
    assert _what_is_there(folder) == before
    write()  # and what failed then goes well now
    assert _what_is_there(folder)[str(path.relative_to(folder))] != before[str(path.relative_to(folder))]


@every_writer
def test_a_power_cut_takes_neither_the_content_nor_the_name(
    writer: Writer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The content is on the disk before it takes the old one's place, and the folder's list of names after that."""
    if not Path("/proc/self/fd").exists():
        pytest.skip("looks in /proc which file is kept")
    folder = tmp_path / "here"
    folder.mkdir()
    path, write = writer(folder, 1)
    happened: list[tuple[str, Path, bytes]] = []
    keep, replace = files.keep, os.replace

    def kept(file: int) -> None:
        where = Path(os.readlink(f"/proc/self/fd/{file}"))
        happened.append(("kept", where, b"" if where.is_dir() else where.read_bytes()))
        keep(file)

    def replaced(fresh: Path, final: Path) -> None:
        happened.append(("replaced", Path(final), Path(fresh).read_bytes()))
        replace(fresh, final)

    monkeypatch.setattr(files, "keep", kept)
    monkeypatch.setattr(os, "replace", replaced)
    write()
    place = happened.index(("replaced", path, path.read_bytes()))
    first, _, last = happened[place - 1 : place + 2]
    assert (first[0], first[2]) == ("kept", path.read_bytes())
    assert last == ("kept", path.parent, b"")


def test_what_a_kill_left_gives_way(tmp_path: Path) -> None:
    (tmp_path / ".page.html.new").write_text("the half of a pa")
    write_whole(tmp_path / "page.html", "a page")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_permissions_are_as_asked_for(tmp_path: Path) -> None:
    write_whole(tmp_path / "data.csv", b"1", 0o440)
    write_whole(tmp_path / "data.csv", b"2", 0o444)  # though nobody may write to what is there
    assert stat.S_IMODE((tmp_path / "data.csv").stat().st_mode) == 0o444


def test_a_text_that_no_encoding_has_is_written_all_the_same(tmp_path: Path) -> None:
    write_whole(tmp_path / "page.html", "\ud800 and é")
    assert (tmp_path / "page.html").read_text("utf-8") == "\\ud800 and é"


def test_a_folder_goes_whatever_is_called_as_what_is_moved_up(tmp_path: Path) -> None:
    """A kill may have left such folders there, or a learner may have handed them in."""
    for name in (".removed-1/x", "a/y", "a/b/z"):
        (tmp_path / "top" / name).mkdir(parents=True)
    remove_folder(tmp_path / "top")
    assert not (tmp_path / "top").exists()
