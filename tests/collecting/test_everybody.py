"""Everybody is accounted for: who handed in no notebook, who handed in nothing, and which notebook counts."""

import json
import shutil
import sys
from pathlib import Path

import pytest

from cellcheck import cli
from cellcheck.collecting.collect import collect
from cellcheck.collecting.names import without_teams
from cellcheck.collecting.roster import Roster
from cellcheck.collecting.who_is_who import doubt_lines, missing_lines, stranger_lines, to_know
from cellcheck.repository import Repository
from tests.collecting.downloads import LESSON, OTHER, at, download, notebook, students, zipped
from tests.shell import Run

BLANK = (Repository.find(Path(__file__).parent).root / "notebooks" / LESSON / f"{LESSON}.ipynb").read_bytes()
FILE = f"{LESSON}/{LESSON}.ipynb"


def work(text: str = "x = 1") -> bytes:
    """The released notebook with something written in its first exercise."""
    notebook = json.loads(BLANK)
    cell = next(cell for cell in notebook["cells"] if "# YOUR CODE HERE" in "".join(cell["source"]))
    cell["source"] = (
        "".join(cell["source"]).replace("raise NotImplementedError()", text).replace("# YOUR CODE HERE", "")
    )
    return json.dumps(notebook).encode()


def in_words() -> bytes:
    """The released notebook with nothing but its question answered."""
    return BLANK.replace(b"YOUR ANSWER HERE", b"Because the gradients are added up.")


def roster(tmp_path: Path, text: str) -> Roster:
    (tmp_path / "students.csv").write_text(text, "utf-8")
    return Roster.read(tmp_path / "students.csv")


def test_a_line_for_each_owner_without_a_notebook(tmp_path: Path) -> None:
    path = download(
        tmp_path / "moodle.zip",
        ("Ada_1_assignsubmission_file_/x.ipynb", notebook()),
        ("Ada_1_assignsubmission_onlinetext_/onlinetext.html", b"<p>See my file"),
        ("Bo_2_assignsubmission_file_/scan.pdf", b"%PDF" + bytes(3 * 2**20)),
        ("Cy_3_assignsubmission_file_/hw.rar", b"Rar!"),
        ("Cy_3_assignsubmission_file_/notes.txt", b"hello"),
        ("Di_4_assignsubmission_file_answers.py", b"x = 1"),
        ("Ed_5_assignsubmission_onlinetext_/onlinetext.html", b"<p>My answer"),
        ("Fy_6_assignsubmission_file_/hw.zip", zipped([("scan.jpg", b"")])),
        ("Gus_7_assignsubmission_comments_/c.txt", b""),
    )
    done = collect([path], tmp_path / "submitted")
    assert students(done) == ["Ada"]
    lines = {line.split(":")[0]: line for line in doubt_lines(done)}
    assert list(lines) == ["Bo_2_assignsubmission_file_/scan.pdf", "Cy (3)", "Di (4)", "Ed (5)", "Fy (6)"]
    assert lines["Cy (3)"] == "Cy (3): There is no notebook, only hw.rar, notes.txt. Ask for the .ipynb file."
    assert "only text typed into a box" in lines["Ed (5)"]
    assert "scan.jpg" in lines["Fy (6)"]


def test_what_canvas_and_gradescope_give_out_without_a_notebook(tmp_path: Path) -> None:
    metadata = (
        "submission_1:\n  :submitters:\n  - :name: Ada\n    :email: a@x.org\n  - :name: Bo\n    :email: b@x.org\n"
    )
    canvas = download(
        tmp_path / "canvas.zip",
        ("adal_LATE_1_text.html", b""),
        ("bob_2_link.html", b""),
        ("cy_3_77_hw.pdf", b""),
        ("LATE_anon_aB3xY_78_x.ipynb", notebook()),
    )
    gradescope = download(
        tmp_path / "g.zip", ("e/submission_metadata.yml", metadata.encode()), ("e/submission_1/hw.pdf", b"")
    )
    done = collect([canvas, gradescope], tmp_path / "submitted")
    owners = [line.split(":")[0] for line in doubt_lines(done)]
    assert owners == ["adal (1)", "bob (2)", "cy (3)", "Ada (a@x.org)", "Bo (b@x.org)"]
    assert [(submission.student, submission.late) for submission, _ in done.placed] == [("anon_aB3xY", True)]


def test_a_broken_notebook_from_gradescope_has_a_name(tmp_path: Path) -> None:
    metadata = b"submission_1:\n  :submitters:\n  - :name: Ada\n    :email: a@x.org\n"
    path = download(tmp_path / "g.zip", ("submission_metadata.yml", metadata), ("submission_1/x.ipynb", b"{"))
    (line,) = doubt_lines(collect([path], tmp_path / "submitted"))
    assert line.startswith("Ada (a@x.org), submission_1/x.ipynb: This is not a notebook")


def test_nobody_handed_in_a_notebook(tmp_path: Path) -> None:
    path = download(tmp_path / "m.zip", ("Ada_1_assignsubmission_file_/x.pdf", b""))
    done = collect([path], tmp_path / "submitted", roster=roster(tmp_path, "student,name\nada,Ada\nbo,Bo\n"))
    assert missing_lines(done) == ["1 on the roster handed in nothing: bo"]


def test_what_lies_about_is_nobodys(tmp_path: Path) -> None:
    for name in ("ada.ipynb", "students.csv", "plot.png", "bob.pdf"):
        (tmp_path / "all").mkdir(exist_ok=True)
        (tmp_path / "all" / name).write_bytes(notebook() if name == "ada.ipynb" else b"x")
    done = collect([tmp_path / "all"], tmp_path / "submitted")
    assert doubt_lines(done) == ["bob: There is no notebook, only bob.pdf. Ask for the .ipynb file."]


@pytest.mark.parametrize("ending", [".ipynb.txt", ".json", ".ipynb.json", ".IPYNB"])
def test_notebooks_by_other_names(tmp_path: Path, ending: str) -> None:
    path = download(
        tmp_path / "m.zip",
        (f"Ada_1_assignsubmission_file_/x{ending}", notebook()),
        ("Bo_2_assignsubmission_file_/x.ipynb", notebook()),
        ("Bo_2_assignsubmission_file_/data.json", b'{"cells": 1}'),
    )
    done = collect([path], tmp_path / "submitted")
    assert (students(done), doubt_lines(done)) == (["Ada", "Bo"], [])
    assert (tmp_path / "submitted" / "Ada" / FILE).read_bytes() == notebook()
    assert (tmp_path / "submitted" / "Bo" / LESSON / "data.json").is_file()


def test_who_handed_in_nothing(tmp_path: Path) -> None:
    known = roster(tmp_path, "student,name\nada,Ada\nbo,Bo\ncy,Cy\ndi,Di\n")
    path = download(
        tmp_path / "m.zip",
        ("Ada_1_assignsubmission_file_/x.ipynb", notebook()),
        ("Bo_2_assignsubmission_file_/x.pdf", b""),
    )
    into = tmp_path / "submitted"
    assert missing_lines(collect([path], into, roster=known)) == [
        f"{LESSON}: 2 on the roster handed in nothing: cy, di"
    ]
    late = download(tmp_path / "late.zip", ("Cy_3_assignsubmission_file_/x.ipynb", notebook()))
    assert missing_lines(collect([late], into, roster=known)) == [
        f"{LESSON}: 2 on the roster handed in nothing: bo, di"
    ]  # Ada's is there from before


def test_who_was_collected_before_there_was_a_roster(tmp_path: Path) -> None:
    path = download(tmp_path / "m.zip", ("Ada Lovelace_1_assignsubmission_file_/x.ipynb", notebook()))
    into = tmp_path / "submitted"
    assert stranger_lines(collect([path], into)) == []
    known = roster(tmp_path, "student,name\nada,Ada Lovelace\n")
    (line,) = stranger_lines(collect([path], into, roster=known))
    assert line.startswith(
        "Collected earlier and not on the roster (1): Ada_Lovelace. If one of them is on the roster under"
    )
    shutil.rmtree(into / "Ada_Lovelace")
    assert stranger_lines(collect([path], into, roster=known)) == []


@pytest.mark.parametrize("real", [work(), in_words()], ids=["code", "words"])
def test_work_is_preferred_to_a_later_blank(tmp_path: Path, real: bytes) -> None:
    path = download(tmp_path / "a.zip", (at("ada/1.ipynb", 10), real), (at("ada/2.ipynb", 50), BLANK))
    into = tmp_path / "submitted"
    done = collect([path], into)
    assert (into / "ada" / FILE).read_bytes() == real
    assert to_know(done.placed[0][0]) == "a blank one was ignored"


def test_a_blank_resubmission_replaces_no_work(tmp_path: Path) -> None:
    into = tmp_path / "submitted"
    downloads = {
        number: download(tmp_path / f"{number}.zip", (f"ada_1_{number}_x.ipynb", data))
        for number, data in ((1, BLANK), (2, work()), (3, BLANK), (4, work("x = 2")))
    }
    assert [collect([downloads[1]], into).placed[0][1], collect([downloads[2]], into).placed[0][1]] == [
        "collected",
        "newer: replaced",
    ]
    (line,) = doubt_lines(collect([downloads[3]], into))
    assert "It is still blank, and there is work in" in line
    assert (into / "ada" / FILE).read_bytes() == work()
    assert collect([downloads[4]], into).placed[0][1] == "newer: replaced"


def of_lessons(tmp_path: Path, **lessons: str) -> Path:
    return download(tmp_path / "c.zip", *((f"{name}/x.ipynb", notebook(name, of)) for name, of in lessons.items()))


def test_a_notebook_of_another_lesson_than_the_rest(tmp_path: Path) -> None:
    path = of_lessons(tmp_path, ada=LESSON, bo=LESSON, cy=OTHER, di=LESSON)
    done = collect([path], tmp_path / "submitted")
    assert students(done) == ["ada", "bo", "di"]
    assert doubt_lines(done) == [
        f"cy/x.ipynb: It is a notebook of {OTHER}, and the rest (3) are of {LESSON}. "
        f"If it should count, collect again with --lesson {OTHER}."
    ]
    asked: list[str] = []
    done = collect([path], tmp_path / "asked", ask=lambda question: not asked.append(question))
    assert (students(done), len(asked)) == (["ada", "bo", "di", "cy"], 1)
    assert students(collect([path], tmp_path / "submitted", OTHER)) == ["cy"]


def test_a_download_of_two_lessons_is_taken_as_it_is(tmp_path: Path) -> None:
    path = of_lessons(tmp_path, ada=LESSON, bo=LESSON, cy=OTHER, di=OTHER)
    done = collect([path], tmp_path / "submitted", ask=None)
    assert (len(done.placed), done.doubts) == (4, ())


@pytest.mark.parametrize("answer", [True, False])
def test_the_question_is_asked_at_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grader: Run, answer: bool
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(cli.classes.err, "_force_terminal", True)
    monkeypatch.setattr(cli.classes.typer, "confirm", lambda text, err: (asked.append(text), answer)[1])
    path = of_lessons(tmp_path, ada=LESSON, bo=LESSON, cy=OTHER)
    assert grader("collect", path, "--into", tmp_path / "in").code == (0 if answer else 1)
    assert len(asked) == 1
    assert asked[0].endswith("Collect it?")
    assert (tmp_path / "in" / "cy").exists() == answer


# --- Moodle's teams ---------------------------------------------------------------------------------------------


def test_the_team_before_the_name(tmp_path: Path) -> None:
    """Moodle until 3.11: once for each member."""
    members = {"Red-Ada Lovelace": 1, "Red-Anne-Marie Bo": 2, "Default group-Cy Brown": 3}
    path = download(
        tmp_path / "m.zip",
        *((f"{name}_{number}_assignsubmission_file_/x.ipynb", notebook(name[:3])) for name, number in members.items()),
    )
    assert students(collect([path], tmp_path / "submitted")) == ["Ada_Lovelace", "Anne-Marie_Bo", "Cy_Brown"]
    known = roster(tmp_path, "student,name\nada,Ada Lovelace\nbo,Anne-Marie Bo\ncy,Cy Brown\n")
    assert students(collect([path], tmp_path / "r", roster=known)) == ["ada", "bo", "cy"]


def test_hyphens_in_names_are_left_alone() -> None:
    for names in (["Anne-Marie Bo"], ["Anne-Marie Bo", "Jean-Luc Li"], ["Anne-Marie Bo", "Anne-Sophie Li", "Cy"]):
        assert without_teams(names) == {name: name for name in names}


def test_once_for_a_team(tmp_path: Path) -> None:
    """Moodle since 4.0: the team's name and number, or "Default group" without one."""
    path = download(
        tmp_path / "m.zip",
        ("Team Red_17_assignsubmission_file/x.ipynb", notebook("red")),
        ("Default group_assignsubmission_file/x.ipynb", notebook("rest")),
    )
    teams = "student,name,team\nada,Ada,Team Red\nbo,Bo,Blue; Team Red\ncy,Cy,Default group\ndi,Di,Green\n"
    done = collect([path], tmp_path / "submitted", roster=roster(tmp_path, teams))
    assert (students(done), doubt_lines(done)) == (["ada", "bo", "cy"], [])
    assert [to_know(submission) for submission, _ in done.placed[:2]] == ["handed in by 2 together"] * 2
    assert missing_lines(done) == [f"{LESSON}: 1 on the roster handed in nothing: di"]
    alone = collect([path], tmp_path / "alone")
    assert students(alone) == ["Team_Red"]
    assert (
        "the work of everyone who is in no group (Default group): say who they are with --roster"
        in doubt_lines(alone)[0]
    )


def test_canvas_gives_a_teams_work_the_number_of_one_member(tmp_path: Path) -> None:
    path = download(tmp_path / "c.zip", ("teamred_41_9001_x.ipynb", notebook()))
    known = roster(tmp_path, "student,canvas_id,team\nada,41,Team Red\nbo,42,Team Red\n")
    assert students(collect([path], tmp_path / "submitted", roster=known)) == ["ada", "bo"]


def test_a_folder_may_be_a_teams(tmp_path: Path) -> None:
    """Clones of the teams' repositories, say; somebody of that name goes first."""
    for folder in ("team-red", "blue"):
        (tmp_path / "clones" / folder).mkdir(parents=True)
        (tmp_path / "clones" / folder / "x.ipynb").write_bytes(notebook(folder))
    known = "student,name,team\nada,Ada,Team Red\nbo,Bo,Team Red\nblue,Blue,\ncy,Cy,Blue\n"
    done = collect([tmp_path / "clones"], tmp_path / "submitted", roster=roster(tmp_path, known))
    assert (students(done), doubt_lines(done)) == (["ada", "blue", "bo"], [])
    assert missing_lines(done) == [f"{LESSON}: 1 on the roster handed in nothing: cy"]


def test_a_members_own_work_is_not_replaced_by_a_folder_of_the_teams_name(tmp_path: Path) -> None:
    for folder in ("ada", "Team Red"):
        (tmp_path / "in" / folder).mkdir(parents=True)
        (tmp_path / "in" / folder / "x.ipynb").write_bytes(notebook(folder))
    known = roster(tmp_path, "student,team\nada,Team Red\nbo,Team Red\n")
    done = collect([tmp_path / "in"], tmp_path / "submitted", roster=known)
    assert students(done) == ["bo"]
    assert [line for line in doubt_lines(done) if "ada" in line]


def test_somebody_who_calls_themselves_a_team_replaces_nothing(tmp_path: Path) -> None:
    path = download(
        tmp_path / "m.zip",
        ("Team Red_17_assignsubmission_file/x.ipynb", notebook("theirs")),
        (at("Team Red_99_assignsubmission_file/x.ipynb", 50), notebook("Eve's")),
    )
    done = collect([path], tmp_path / "submitted", roster=roster(tmp_path, "student,team\nada,Team Red\neve,\n"))
    assert students(done) == []
    assert doubt_lines(done)[0].endswith("(Team Red (17) and Team Red (99)): tell them apart with --roster.")
