"""Uploads that are meant to harm others: each costs its owner, and Ada's is collected as if nothing had happened."""

import csv
import io
import os
import struct
import zipfile
from collections import deque
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
import yaml
from rich.console import Console
from rich.table import Table

from cellcheck.batch import progress
from cellcheck.cli.shared import PlainConsole
from cellcheck.collecting import downloads as reading
from cellcheck.collecting import gradescope_export as gradescope
from cellcheck.collecting import sorting
from cellcheck.collecting.collect import collect
from cellcheck.collecting.gradescope_export import submissions
from cellcheck.collecting.who_is_who import doubt_lines
from cellcheck.exporting import FORMATS, Mark, text
from cellcheck.plain import cell, draws_nothing, visible
from cellcheck.submitting.zip_file import Note, pack
from tests.collecting.downloads import LESSON, Entry, at, download, folder, notebook, students, tree, zipped
from tests.shell import Run

ADA = ("Ada_1_assignsubmission_file_/x.ipynb", notebook("Ada's"))
EVE = "Eve_2_assignsubmission_file_/"


def eves(tmp_path: Path, *entries: Entry) -> list[str]:
    """The lines about what Eve handed in, once Ada's has been collected beside it."""
    done = collect([download(tmp_path / "m.zip", *entries, ADA)], tmp_path / "submitted")
    assert students(done) == ["Ada"]
    assert tree(tmp_path / "submitted") == {f"Ada/{LESSON}/{LESSON}.ipynb"}
    assert {path.name for path in tmp_path.iterdir()} == {"m.zip", "submitted"}
    return doubt_lines(done)


# --- zip files --------------------------------------------------------------------------------------------------


def forged(change: Callable[[bytearray, int, int], None], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip file with a notebook, changed at its local header and its line in the table of contents."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("x.ipynb", notebook("Eve's"))
    data = bytearray(file.getvalue())
    change(data, data.find(b"PK\x03\x04"), data.rfind(b"PK\x01\x02"))
    return bytes(data)


def method(number: int) -> Callable[[bytearray, int, int], None]:
    def change(data: bytearray, local: int, central: int) -> None:
        struct.pack_into("<H", data, local + 8, number)
        struct.pack_into("<H", data, central + 10, number)

    return change


def password(data: bytearray, local: int, central: int) -> None:
    data[local + 6] |= 1
    data[central + 8] |= 1


def wrong_sum(data: bytearray, local: int, central: int) -> None:
    data[local + 14] ^= 1
    data[central + 16] ^= 1


def far_away(data: bytearray, local: int, central: int) -> None:
    struct.pack_into("<I", data, central + 42, 0xFFFFFFF0)


def no_utf8(data: bytearray, local: int, central: int) -> None:
    """The table of contents has a good name; the entry itself says that it is UTF-8, and it is not."""
    data[local + 7] |= 8
    data[local + 30] = 0xFF


FORGED = {
    "Deflate64": forged(method(9)),
    "LZMA that is none": forged(method(14)),
    "Zstandard": forged(method(93)),
    "an unknown method": forged(method(0xFFFF)),
    "a password": forged(password),
    "a wrong sum": forged(wrong_sum),
    "an offset out of the file": forged(far_away),
    "a name that is no UTF-8": forged(no_utf8),
    "a dictionary of four gigabytes": forged(
        lambda data, local, central: struct.pack_into("<I", data, local + 42, 0xFFFFFFFF), zipfile.ZIP_LZMA
    ),
    "properties that LZMA has not": forged(
        lambda data, local, central: struct.pack_into("<B", data, local + 41, 0xFF), zipfile.ZIP_LZMA
    ),
}


@pytest.mark.parametrize("kind", FORGED)
def test_an_entry_that_can_not_be_unpacked(tmp_path: Path, kind: str) -> None:
    (line,) = eves(tmp_path, (f"{EVE}hw.zip", FORGED[kind]))
    assert line.startswith(f"{EVE}hw.zip")
    assert " can't be " in line or "no zip file that can be read" in line


@pytest.mark.parametrize("kind", FORGED)
def test_the_same_entry_in_the_download_itself(tmp_path: Path, kind: str) -> None:
    """Platforms unpack what was handed in, and one entry that raises must not end the reading of the rest."""
    evil = FORGED[kind]
    (tmp_path / "eve.zip").write_bytes(evil)
    (tmp_path / "ada.zip").write_bytes(zipped([(f"{LESSON}.ipynb", notebook("Ada's"))]))
    assert students(collect([tmp_path], tmp_path / "submitted")) == ["ada"]
    done = collect([tmp_path / "eve.zip", tmp_path / "ada.zip"], tmp_path / "again")
    assert students(done) == ["ada"]
    assert len(done.doubts) == 1


def test_one_owner_has_one_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many zip files, or many files that a platform unpacked, add up; and not with those of others."""
    monkeypatch.setattr(reading, "MAX_SIZE", 50_000)
    large = os.urandom(20_000)
    entries = [(f"{EVE}{i}/x.ipynb", large) for i in range(9)] + [
        (f"{EVE}{i}.zip", zipped([("a.py", large)])) for i in "ab"
    ]
    line, *rest = [line for line in eves(tmp_path, *entries) if "MB of one learner" in line]
    assert line.endswith("this and the rest of it were left out; ask for less.")
    assert rest == []
    monkeypatch.setattr(reading, "MAX_SIZE", 10**8)
    monkeypatch.setattr(reading, "MAX_FILES", 20)
    assert "ask for less" in "".join(eves(tmp_path, *((f"{EVE}{i}.txt", b"") for i in range(50))))


def test_entries_that_lie_on_top_of_each_other(tmp_path: Path) -> None:
    """A thousand lines in the table of contents, and one large entry for them all."""
    one = zipped([("0.txt", bytes(2**20))])
    local, central, end = one[: one.find(b"PK\x01\x02")], one[one.find(b"PK\x01\x02") : -22], one[-22:]
    lines = b"".join(central.replace(b"0.txt", b"%05d" % i) for i in range(1000))
    tail = end[:8] + struct.pack("<HHII", 1000, 1000, len(lines), len(local)) + end[20:]
    (line,) = eves(tmp_path, (f"{EVE}hw.zip", local + lines + tail))
    assert "ask for less" in line


@pytest.mark.parametrize("packed", [True, False], ids=["packed", "unpacked"])
def test_a_thousand_nested_folders(tmp_path: Path, packed: bool) -> None:
    deep = "a/" * 1000
    names = [f"{deep}{i}.py" for i in range(100)] + [f"{deep}x.ipynb"]
    files = [(name, notebook("Eve's")) for name in names]
    stored = zipfile.ZipInfo(f"{EVE}hw.zip")  # not compressed: it would look like a bomb
    entries = [(stored, zipped(files))] if packed else [(f"{EVE}{name}", data) for name, data in files]
    lines = eves(tmp_path, *entries)
    assert len(lines) == sorting.MAX_DOUBTS + 1
    assert "is nested deeper than 30 folders" in lines[0]
    assert lines[-1] == "Eve (2): The same goes for 98 more files."


def test_nested_folders_on_disk(tmp_path: Path) -> None:
    """Fewer than a thousand, which not even pytest can delete."""
    root = folder(tmp_path / "all", ada__x=notebook("Ada's"), **{f"{'eve__' * 100}x": notebook("Eve's")})
    done = collect([root], tmp_path / "submitted")
    assert students(done) == ["ada"]
    assert [doubt.why for doubt in done.doubts] == ["It is nested deeper than 30 folders: it was left out."]


def test_long_names(tmp_path: Path) -> None:
    lines = eves(tmp_path, (f"{EVE}{'x' * 300}.ipynb", notebook()), (f"{EVE}{'é' * 130}.py", b""))
    assert ["is longer than 255 bytes" in line for line in lines] == [True, True]
    assert max(map(len, lines)) < 400


def test_more_notebooks_than_anybody_hands_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bytes] = []
    first = sorting.intake.read_submission
    monkeypatch.setattr(sorting.intake, "read_submission", lambda *a: (read.append(a[0]), first(*a))[1])
    collect([download(tmp_path / "m.zip", *((f"{EVE}{i}.ipynb", b"{") for i in range(100)), ADA)], tmp_path / "in")
    assert len(read) == sorting.MAX_NOTEBOOKS + 1


@pytest.mark.parametrize("error", [MemoryError(), RecursionError("deep"), AttributeError("x")], ids=repr)
def test_a_notebook_on_which_the_grader_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    first = sorting.intake.read_submission

    def read(data: bytes, lesson: str | None = None) -> object:
        if b"Eve" in data:
            raise error
        return first(data, lesson)

    monkeypatch.setattr(sorting.intake, "read_submission", read)
    (line,) = eves(tmp_path, (f"{EVE}x.ipynb", notebook("Eve's")))
    assert "The grader itself failed on it" in line


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder(tmp_path / "all", ada__x=notebook("Ada's"), eve__x=notebook("Eve's"))
    first = Path.open

    def opened(path: Path, *rest: object, **more: object) -> object:
        if "eve" in path.parts:
            raise PermissionError(13, "Permission denied", str(path))
        return first(path, *rest, **more)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", opened)
    done = collect([tmp_path / "all"], tmp_path / "submitted")
    assert students(done) == ["ada"]
    assert [doubt.why for doubt in done.doubts] == ["It can't be read: Permission denied."]


def test_files_that_get_into_each_others_way(tmp_path: Path) -> None:
    """A file and a folder of one name, or a folder called like the notebook."""
    for inner in ([("a", b""), ("a/b.py", b"")], [(f"{LESSON}.ipynb/b.py", b"")]):
        lines = eves(tmp_path, (f"{EVE}hw.zip", zipped([*inner, ("x.ipynb", notebook("Eve's"))])))
        assert len(lines) == 1
        assert "can't be written" in lines[0]


# --- Gradescope's notes -----------------------------------------------------------------------------------------

GOOD = """\
submission_1:
  :submitters:
  - :name: Ada Lovelace
    :sid: 0777
    :email: ada@example.org
  :created_at: 2026-02-03 10:11:12.123456789 -08:00
"""
LAUGHS = "a: &a0 [x, x]\n" + "".join(f"b{i}: &a{i} [*a{i - 1}, *a{i - 1}, *a{i - 1}]\n" for i in range(1, 40))
CRAFTED = {
    "a billion laughs": LAUGHS,
    "merge keys": "a0: &a0 {x: 1}\n" + "".join(f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}]}}\n" for i in range(1, 40)),
    "base sixty": f"a: {'1' + ':59' * 300_000}\n",
    "a long number": f"a: {'9' * 100_000}\n",
    "a number that is long in base two": f"a: 0b{'1' * 100_000}\n",
    "a date that is none": "a: 2026-99-99\n",
    "a key that is a list": "? [a, b]\n: c\n",
    "a key twice": "submission_1: x\n" * 3,
    "tags of Ruby and Python": "a: !!python/object/apply:os.system [ls]\nb: !ruby/object:Kernel {x: 1}\n",
    "aliases where people stand": "a: &a b\nsubmission_3:\n  :submitters:\n  - *a\n  - :name: *a\n    :sid: *b\n",
}


@pytest.mark.parametrize("kind", CRAFTED)
def test_crafted_notes_cost_nobody_anything(kind: str) -> None:
    known = submissions((CRAFTED[kind] + GOOD).encode())
    assert known["submission_1"].people == (("Ada Lovelace", "0777", "ada@example.org"),)


@pytest.mark.parametrize("loader", ["CSafeLoader", "SafeLoader"])
def test_notes_are_read_in_linear_time(monkeypatch: pytest.MonkeyPatch, loader: str) -> None:
    """Counted, not timed: how many events, and how deep."""
    monkeypatch.setattr(gradescope, "_LOADER", getattr(yaml, loader, yaml.SafeLoader))
    for deep in ("[" * 20_000, "{a: " * 20_000, "? " * 20_000, "- " * 20_000):
        counted = gradescope._events(deep.encode())
        with pytest.raises((gradescope._TooDeep, yaml.YAMLError)):
            deque(islice(counted, 3 * gradescope.MAX_DEPTH), maxlen=0)
        assert submissions((GOOD + deep).encode()).keys() == {"submission_1"}


def test_notes_that_a_learner_handed_in_say_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bytes] = []
    monkeypatch.setattr(sorting, "submissions", lambda data: (read.append(data), submissions(data))[1])
    lie = GOOD.replace("submission_1", "submission_2")
    path = download(
        tmp_path / "g.zip",
        ("submission_metadata.yml", GOOD.encode()),
        ("submission_1/x.ipynb", notebook("Ada's")),
        ("submission_2/x.ipynb", notebook("Eve's")),
        ("submission_2/submission_metadata.yml", lie.encode()),
        ("submission_2/in.zip", zipped([("submission_metadata.yml", lie.encode())])),
    )
    assert students(collect([path], tmp_path / "submitted")) == ["0777"]
    assert read == [GOOD.encode()]


# --- whose is it? -----------------------------------------------------------------------------------------------


def test_a_folder_in_a_zip_file_names_nobody(tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    download(tmp_path / "all" / "ada.zip", (at("x.ipynb", 1), notebook("Ada's")))
    download(tmp_path / "all" / "eve.zip", (at("ada/x.ipynb", 50), notebook("Eve's")))
    done = collect([tmp_path / "all"], tmp_path / "submitted")
    assert students(done) == ["ada", "eve"]
    assert (tmp_path / "submitted" / "ada" / LESSON / f"{LESSON}.ipynb").read_bytes() == notebook("Ada's")


def test_a_folder_with_somebody_elses_name_replaces_nothing(tmp_path: Path) -> None:
    done = collect([folder(tmp_path / "all", ada__x=notebook("Ada's"), eve__ada__x=notebook("Eve's"))], tmp_path / "s")
    assert students(done) == []
    assert doubt_lines(done)[0].startswith("ada/x.ipynb: Two learners would get the folder ada (ada and eve/ada)")


def test_a_name_that_was_only_claimed_replaces_nothing(tmp_path: Path) -> None:
    """In the file of submit() a learner may write any name."""
    (tmp_path / "all").mkdir()
    download(tmp_path / "all" / "ada.zip", ("x.ipynb", notebook("Ada's")))
    eve = notebook("Eve's")
    (tmp_path / "all" / f"{LESSON}.submission.zip").write_bytes(pack(eve, Note.of(eve, LESSON, "ada")))
    done = collect([tmp_path / "all"], tmp_path / "submitted")
    assert (tmp_path / "submitted" / "ada" / LESSON / f"{LESSON}.ipynb").read_bytes() == notebook("Ada's")
    assert len(done.doubts) == 1
    assert "whose is it?" in done.doubts[0].why


def test_a_number_in_a_file_name_is_no_resubmission(tmp_path: Path) -> None:
    """Canvas adds "-1" to a name, and a learner may as well; the number of the file is Canvas's own."""
    first = download(tmp_path / "1.zip", ("ada_1_9001_x-999.ipynb", notebook("first")))
    second = download(tmp_path / "2.zip", ("ada_1_9002_x.ipynb", notebook("second")))
    collect([first], tmp_path / "submitted")
    collect([second], tmp_path / "submitted")
    assert (tmp_path / "submitted" / "ada" / LESSON / f"{LESSON}.ipynb").read_bytes() == notebook("second")


@pytest.mark.parametrize("filler", ["\u3164", "\u034f", "\U000e0101", "\u202e", "\u200b"])
def test_a_name_that_only_looks_like_adas_is_refused(tmp_path: Path, filler: str) -> None:
    (line,) = eves(tmp_path, (f"Ada{filler}_2_assignsubmission_file_/x.ipynb", notebook("Eve's")))
    assert line.endswith("Its name has letters that can't be seen: it was left out.")


@pytest.mark.parametrize("joiner", ["\u200c", "\u200d", "\ufe0f"])
def test_what_scripts_and_emoji_need_makes_no_second_folder(tmp_path: Path, joiner: str) -> None:
    """So it is two learners of one name, and a person decides."""
    path = download(tmp_path / "m.zip", ADA, (f"Ada{joiner}_2_assignsubmission_file_/x.ipynb", notebook("Eve's")))
    done = collect([path], tmp_path / "submitted")
    assert students(done) == []
    assert [line.count("Two learners would get the folder Ada (") for line in doubt_lines(done)] == [1, 1]
    alone = download(tmp_path / "a.zip", (f"A{joiner}da_2_assignsubmission_file_/x.ipynb", notebook()))
    assert students(collect([alone], tmp_path / "alone")) == ["A_da"]


# --- what reaches the terminal, and files -----------------------------------------------------------------------

STEERING = ["\x1b[2J", "\x1b]0;title\x07", "\n", "\r", "\x9b31m", "\x00", "\x08"]
UNSEEN = ["\u202e", "\u2066", "\u2028", "\udcff", "\u200b"]
NASTY = [*STEERING, *UNSEEN]


@pytest.mark.parametrize("letters", NASTY, ids=ascii)
def test_nothing_controls_the_terminal(tmp_path: Path, grader: Run, letters: str) -> None:
    name = f"Eve{letters}ada/x.ipynb: collected"
    record = Note.of(notebook(), LESSON, f"Eve{letters}").to_json() if letters != "\udcff" else b"{}"
    entries: list[Entry] = [
        (f"Eve{letters.replace(chr(0), '')}_2_assignsubmission_file_/x.ipynb", b"{"),
        (f"Bob_3_assignsubmission_file_/{name.replace(chr(0), '')}.pdf", b""),
        (f"{LESSON}.submission.zip", zipped([("x.ipynb", notebook()), ("submission.json", record)])),
        ADA,
    ]
    if letters == "\udcff":  # no zip file holds it, and a folder may
        (tmp_path / "m").mkdir()
        for entry, data in entries:
            path = tmp_path / "m" / str(entry).replace("/", "_")
            path.write_bytes(data)
        path = tmp_path / "m"
    else:
        path = download(tmp_path / "m.zip", *entries)
    ran = grader("collect", path, "--into", tmp_path / "in")
    assert ran.code == 1
    printed = ran.out + ran.err
    assert "Ada" in printed
    for line in printed.split("\n"):
        assert line == "" or visible(line, limit=10**6) == line
    assert "\nada/x.ipynb: collected" not in printed
    assert all(visible(path.name) == path.name for path in (tmp_path / "in").rglob("*"))


@pytest.mark.parametrize("letters", NASTY, ids=ascii)
def test_no_command_passes_control_on(letters: str) -> None:
    """The one console of all commands: text, tables, markup, and the name beside a progress bar."""
    written = io.StringIO()
    console = PlainConsole(file=written, force_terminal=True, color_system=None, width=60)
    table = Table("who")
    table.add_row(f"Eve{letters}!")
    console.print(f"Eve{letters}!", markup=False)
    console.print(table)
    with progress(console, "grading", 1) as advance:
        advance(f"[/b]Eve{letters}![red]")
    sent = written.getvalue()
    for own in ("\x1b[?25l", "\x1b[?25h", "\x1b[2K", "\x1b[1A", "\r"):  # what rich itself sends to move a bar
        sent = sent.replace(own, "")
    assert [letter for letter in letters if draws_nothing(letter) and letter != "\n" and letter in sent] == []


def test_a_console_of_richs_own_does_pass_it_on() -> None:
    """The test above can fail."""
    written = io.StringIO()
    Console(file=written, force_terminal=True, color_system=None).print("Eve\x1b[2J\u202e", markup=False)
    assert "\x1b[2J" in written.getvalue()
    assert "\u202e" in written.getvalue()


@pytest.mark.parametrize("name", ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(1)", "\t=1", "  =1", "\r=1", "\uff1d1"])
def test_a_spreadsheet_runs_no_name(name: str) -> None:
    assert cell(name)[0] in ("'", "\ufffd")
    assert cell("Zoë O'Hara, Jr.") == "Zoë O'Hara, Jr."


def test_an_export_holds_no_formula_and_no_extra_line() -> None:
    eve = Mark("eve", "=HYPERLINK(1)", "Eve\nada,100", "@x", "+1", 9.0, 7.0)
    for to in FORMATS:
        rows = list(csv.reader(io.StringIO(text([eve], to, LESSON))))
        assert len(rows) == (3 if to == "canvas" else 2)
        assert not [value for row in rows for value in row if value.startswith(("=", "+", "-", "@"))]


def test_names_in_scripts_that_join_are_left_alone() -> None:
    for name in ("\u0645\u06cc\u200c\u062e", "\u0915\u094d\u200d\u0937", "O'Hara-Li", "李 伟"):
        assert visible(name) == name
