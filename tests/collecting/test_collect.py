"""Downloads as platforms name them end where nbgrader looks; doubts are said, and nothing is overwritten."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cellcheck.collecting.collect import Collected, collect
from cellcheck.collecting.roster import Roster
from cellcheck.collecting.who_is_who import in_a_line, to_know
from cellcheck.running.timestamp import timestamp
from cellcheck.submitting.zip_file import Note, pack
from tests.collecting.downloads import LESSON, OTHER, at, download, folder, notebook, students, tree, zipped

FILE = f"{LESSON}/{LESSON}.ipynb"


def said(done: Collected) -> str:
    return "\n".join(f"{doubt.where}: {doubt.why}" for doubt in done.doubts)


def test_moodle(tmp_path: Path) -> None:
    inner = zipped([("work/x.ipynb", notebook("b")), ("work/helper.py", b"x = 1"), ("work/deep/y.txt", b"y")])
    path = download(
        tmp_path / "course-assignment-12.zip",
        ("Ada Lovelace_11_assignsubmission_file_/answers.ipynb", notebook("a")),
        ("Ada Lovelace_11_assignsubmission_file_/helper.py", b"a = 1"),
        ("Ada Lovelace_11_assignsubmission_onlinetext_/onlinetext.html", b"<p>"),
        ("Zoë O'Hara_12_assignsubmission_file_hw.zip", inner),
        ("Bo Li_13_assignsubmission_file_b.ipynb", notebook("c")),
    )
    into = tmp_path / "submitted"
    done = collect([path], into)
    assert said(done) == ""
    assert tree(into) == {
        *(f"Ada_Lovelace/{LESSON}/{name}" for name in (f"{LESSON}.ipynb", "helper.py")),
        *(f"Zoë_O_Hara/{LESSON}/{name}" for name in (f"{LESSON}.ipynb", "helper.py", "deep/y.txt")),
        f"Bo_Li/{FILE}",
    }
    assert (into / "Ada_Lovelace" / FILE).read_bytes() == notebook("a")
    again = collect([path], into)
    assert in_a_line(again) == "3 already there"


def test_canvas_counts_resubmissions(tmp_path: Path) -> None:
    into = tmp_path / "submitted"
    first = download(
        tmp_path / "first.zip",
        ("lovelaceada_1_9001_x.ipynb", notebook("old")),
        ("lovelaceada_1_9002_helper.py", b"a = 1"),
        ("liwei_LATE_2_9003_x.ipynb", notebook("b")),
    )
    done = collect([first], into)
    assert students(done) == ["liwei", "lovelaceada"]
    assert [to_know(submission) for submission, _ in done.placed] == ["late", "1 other file"]
    second = download(tmp_path / "second.zip", ("lovelaceada_1_9100_x-1.ipynb", notebook("new")))
    done = collect([second], into)
    assert in_a_line(done) == "1 newer: replaced"
    assert (into / "lovelaceada" / FILE).read_bytes() == notebook("new")
    assert (into / ".earlier" / "1" / "lovelaceada" / FILE).read_bytes() == notebook("old")
    back = collect([first], into)  # the older one does not come back
    assert "nothing says that this one is newer" in said(back)
    assert (into / "lovelaceada" / FILE).read_bytes() == notebook("new")


METADATA = """\
submission_1:
  :submitters:
  - :name: Ada Lovelace
    :sid: "0777"
    :email: ada@example.org
  - :name: Bob
    :sid:
    :email: bob@example.org
  :created_at: 2026-02-03 10:11:12.123456789 -08:00
  :score: !ruby/object:BigDecimal 18:0.1e1
  :history: []
submission_2:
  :submitters: what
submission_3:
  :submitters:
  - :name: [&a [x, x], *a, *a]
"""


def test_gradescope(tmp_path: Path) -> None:
    path = download(
        tmp_path / "submissions.zip",
        ("assignment_9_export/submission_metadata.yml", METADATA.encode()),
        ("assignment_9_export/submission_1/x.ipynb", notebook("a")),
        ("assignment_9_export/submission_2/x.ipynb", notebook("b")),
        ("assignment_9_export/submission_3/x.ipynb", notebook("c")),
    )
    into = tmp_path / "submitted"
    done = collect([path], into)
    assert students(done) == ["0777", "bob@example.org"]
    assert "handed in by 2 together" in to_know(done.placed[0][0])
    assert timestamp(into / "0777" / LESSON) == datetime(2026, 2, 3, 18, 11, 12, 123456)
    assert said(done).count("has a name that no folder can have: use --roster") == 2


def test_gradescopes_notes_may_be_broken(tmp_path: Path) -> None:
    for content in (b"[", b"\xff\xfe\x00", b"- a", b"a: &a [*a]", b"!!python/object:os.system [ls]", b"[" * 5000):
        path = download(
            tmp_path / "a.zip", ("submission_metadata.yml", content), ("submission_1/x.ipynb", notebook("a"))
        )
        assert "use --roster" in said(collect([path], tmp_path / "submitted"))


def test_the_files_of_submit(tmp_path: Path) -> None:
    note = Note(LESSON, "0.1.0", Note.of(notebook("a"), LESSON).sha256, datetime(2026, 3, 1, 8, 0, 5, tzinfo=UTC))
    packed = pack(notebook("a"), note)
    (tmp_path / "all" / "ada").mkdir(parents=True)
    (tmp_path / "all" / "ada" / f"{LESSON}.submission.zip").write_bytes(packed)
    named = pack(notebook("b"), Note.of(notebook("b"), LESSON, "Bob B"))
    (tmp_path / "all" / f"{LESSON}.submission (1).zip").write_bytes(named)
    (tmp_path / "all" / f"{LESSON}.submission.zip").write_bytes(packed)
    into = tmp_path / "submitted"
    done = collect([tmp_path / "all"], into)
    assert students(done) == ["ada", "Bob_B"]
    assert timestamp(into / "ada" / LESSON) == datetime(2026, 3, 1, 8, 0, 5)
    assert tree(into) == {
        f"{name}/{LESSON}/{file}" for name in ("ada", "Bob_B") for file in ("timestamp.txt", f"{LESSON}.ipynb")
    }
    assert said(done) == (
        f"{LESSON}.submission.zip/{LESSON}.ipynb: It doesn't say whose it is: "
        "put it into a folder with the learner's name."
    )
    # The file itself may be named, and what a platform says goes first.
    single = download(tmp_path / "m.zip", (f"Cy_5_assignsubmission_file_{LESSON}.submission.zip", named))
    assert students(collect([single], into)) == ["Cy"]


def test_a_file_of_submit_that_was_changed(tmp_path: Path) -> None:
    other = zipped([(f"{LESSON}.ipynb", notebook("b")), ("submission.json", Note.of(notebook("a"), LESSON).to_json())])
    broken = zipped([(f"{LESSON}.ipynb", notebook("b")), ("submission.json", b"{}")])
    path = download(tmp_path / "a.zip", ("ada/hw.zip", other), ("bob/hw.zip", broken))
    text = said(collect([path], tmp_path / "submitted"))
    assert "It is not the notebook that submit() packed" in text
    assert "submission.json can't be read" in text


def test_folders_as_people_make_them(tmp_path: Path) -> None:
    root = folder(tmp_path / "all", ada__x=notebook("a"), bob=notebook("b"), cy__01_pytorch_basics__y=notebook("c"))
    done = collect([root], tmp_path / "submitted")
    assert students(done) == ["ada", "bob", "cy"]
    single = collect(
        [root / "bob.ipynb", download(tmp_path / "dan.zip", (f"{LESSON}.ipynb", notebook("d")))], tmp_path / "s2"
    )
    assert students(single) == ["bob", "dan"]


def test_nobody_hands_in_for_somebody_else(tmp_path: Path) -> None:
    """What a learner packed may be called anything; only the platform's own names are believed."""
    forged = zipped([("Bob_2_assignsubmission_file_x.ipynb", notebook("forged")), ("bob_2_3_y.ipynb", notebook("too"))])
    export = [("submission_metadata.yml", METADATA.encode()), ("submission_1/x.ipynb", notebook("three"))]
    path = download(
        tmp_path / "m.zip",
        ("Eve_1_assignsubmission_file_a.zip", zipped([*export, ("submission_1/y.ipynb", notebook("four"))])),
        ("Bob_2_assignsubmission_file_/x.ipynb", notebook("bob's")),
    )
    done = collect([path], tmp_path / "submitted")
    assert students(done) == ["Bob"]
    assert said(done).count("two different notebooks of Eve (1),") == 2  # both Eve's
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "eve.zip").write_bytes(forged)
    done = collect([tmp_path / "all"], tmp_path / "s2")
    assert students(done) == []
    assert said(done).count("looks like a platform's download: collect it by its own name.") == 2


def test_the_lesson_is_in_the_notebook_not_in_its_name(tmp_path: Path) -> None:
    path = download(
        tmp_path / "a.zip",
        (f"ada/{LESSON}.ipynb", notebook("a", OTHER)),
        ("bob/x.ipynb", notebook("b", None)),
        ("cy/x.ipynb", b"{"),
        ("dan/x.ipynb", notebook("d")),
    )
    done = collect([path], tmp_path / "submitted")
    assert [(submission.student, submission.lesson) for submission, _ in done.placed] == [
        ("dan", LESSON),
        ("ada", OTHER),
    ]
    assert "bob/x.ipynb: No lesson of this course fits this notebook." in said(done)
    assert "cy/x.ipynb: This is not a notebook" in said(done)
    done = collect([path], tmp_path / "other", lesson=LESSON)
    assert students(done) == ["dan"]
    assert f"It is a notebook of lesson {OTHER}, not of {LESSON}." in said(done)


# --- doubts -----------------------------------------------------------------------------------------------------


def test_two_learners_of_one_name(tmp_path: Path) -> None:
    path = download(
        tmp_path / "a.zip",
        *((f"Sam Same_{number}_assignsubmission_file_x.ipynb", notebook(str(number))) for number in (1, 2)),
        ("Ada_3_assignsubmission_file_x.ipynb", notebook()),
    )
    done = collect([path], tmp_path / "submitted")
    assert students(done) == ["Ada"]
    assert said(done).count("Two learners would get the folder Sam_Same (Sam Same (1) and Sam Same (2))") == 2
    (tmp_path / "r.csv").write_text("student,name,moodle_id\nsam1,Sam Same,1\nsam2,Sam Same,2\nada,Ada,\n", "utf-8")
    done = collect([path], tmp_path / "submitted2", roster=Roster.read(tmp_path / "r.csv"))
    assert (students(done), said(done)) == (["ada", "sam1", "sam2"], "")


def test_the_same_name_in_two_lessons_is_one_learner(tmp_path: Path) -> None:
    """Moodle numbers learners anew in each assignment."""
    path = download(
        tmp_path / "a.zip",
        ("Ada_1_assignsubmission_file_x.ipynb", notebook()),
        ("Ada_2_assignsubmission_file_x.ipynb", notebook("b", OTHER)),
    )
    assert students(collect([path], tmp_path / "submitted")) == ["Ada", "Ada"]


def test_two_notebooks_of_one_learner(tmp_path: Path) -> None:
    path = download(
        tmp_path / "a.zip",
        (at("ada/new.ipynb", 30), notebook("new")),
        (at("ada/old.ipynb", 10), notebook("old")),
        (at("bob/one.ipynb", 10), notebook("one")),
        (at("bob/two.ipynb", 10), notebook("two")),
        (at("cy/one.ipynb", 10), notebook("one")),
        (at("cy/copy.ipynb", 20), notebook("one")),
    )
    into = tmp_path / "submitted"
    done = collect([path], into)
    assert students(done) == ["ada", "cy"]
    assert (into / "ada" / FILE).read_bytes() == notebook("new")
    assert to_know(done.placed[0][0]) == "2 notebooks; the newest counts, ada/new.ipynb"
    assert said(done).count("nothing says which is newer") == 2


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    into = tmp_path / "submitted"
    theirs = into / "ada" / FILE
    theirs.parent.mkdir(parents=True)
    theirs.write_bytes(notebook("by hand"))
    for path in (
        download(tmp_path / "a.zip", ("ada/x.ipynb", notebook("other"))),
        download(tmp_path / "b.zip", ("ada_1_2_x-7.ipynb", notebook("other"))),
    ):
        done = collect([path], into)
        assert "move that folder away and collect again." in said(done)
        assert theirs.read_bytes() == notebook("by hand")
    assert tree(into) == {f"ada/{FILE}"}


def test_links_and_files_in_the_way(tmp_path: Path) -> None:
    into, elsewhere = tmp_path / "submitted", tmp_path / "elsewhere"
    into.mkdir()
    elsewhere.mkdir()
    (into / "ada").symlink_to(elsewhere)
    (into / "bob").write_text("a file")
    (into / "Cy").mkdir()
    names = ("ada", "bob", "cy")
    path = download(tmp_path / "a.zip", *((f"{name}/x.ipynb", notebook()) for name in names))
    text = said(collect([path], into))
    assert text.count("is a link or a file, not a folder: move it away.") == 2
    assert "There is a learner Cy already" in text
    assert list(elsewhere.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_no_right_to_write(tmp_path: Path) -> None:
    into = tmp_path / "submitted"
    into.mkdir(mode=0o500)
    assert "can't be written" in said(collect([download(tmp_path / "a.zip", ("ada/x.ipynb", notebook()))], into))


def test_other_files_that_are_left_out(tmp_path: Path) -> None:
    path = download(
        tmp_path / "a.zip",
        ("a_1_1_x.ipynb", notebook()),
        ("a_1_2_timestamp.txt", b"1999-01-01 00:00:00 UTC"),
        ("a_1_3_.hidden", b""),
        ("a_1_4_..", b""),
        ("a_1_5_big.csv", bytes(2**20 + 1)),
        ("a_1_6_con.py", b""),
        ("b_2_7_theirs.py", b""),
        ("a_1_8_mine.py", b""),
    )
    into = tmp_path / "submitted"
    collect([path], into)
    assert tree(into) == {f"a/{LESSON}/{name}" for name in (f"{LESSON}.ipynb", "mine.py")}
    many = download(tmp_path / "b.zip", ("bo/x.ipynb", notebook()), *((f"bo/{i:03}.txt", b"") for i in range(210)))
    done = collect([many], into)
    assert len(tree(into / "bo")) == 201
    assert to_know(done.placed[0][0]) == "200 other files; 10 files beside it left out: at most 200 are taken"


def test_the_time_that_nbgrader_noted_is_kept(tmp_path: Path) -> None:
    """Hand-ins are copied from another course of nbgrader's; what stands in a learner's zip file proves nothing."""
    late, later = b"2026-03-02 12:00:00.000000 CET", b"2026-03-05 11:00:00 UTC"
    root = folder(
        tmp_path / "all", **{f"{who}__{LESSON}__x": notebook(who) for who in ("ada", "bob")}, cy=notebook("c")
    )
    (root / "ada" / LESSON / "timestamp.txt").write_bytes(late)
    (root / "bob" / LESSON / "timestamp.txt").write_text("yesterday")
    (root / "timestamp.txt").write_bytes(later)  # which isn't about cy
    download(root / "dan.zip", (f"{LESSON}/x.ipynb", notebook("d")), (f"{LESSON}/timestamp.txt", later))
    into = tmp_path / "submitted"
    done = collect([root], into)
    times = {name: timestamp(into / name / LESSON) for name in ("ada", "bob", "cy", "dan")}
    assert times == {"ada": datetime(2026, 3, 2, 11), "bob": None, "cy": None, "dan": None}
    known = {submission.student: to_know(submission) for submission, _ in done.placed}
    assert known == {"ada": "2026-03-02 11:00 UTC", "bob": "its timestamp.txt holds no time", "cy": "", "dan": ""}
    # One that was handed in later takes its place.
    newer = [("ada/x.ipynb", notebook("new")), ("ada/timestamp.txt", later)]
    again = download(tmp_path / "all.zip", *newer)
    assert [what for _, what in collect([again], into).placed] == ["newer: replaced"]
    assert timestamp(into / "ada" / LESSON) == datetime(2026, 3, 5, 11)
