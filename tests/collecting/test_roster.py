"""Who is who, by a class list."""

from pathlib import Path

import pytest

from cellcheck.collecting.names import CANVAS, GRADESCOPE, MOODLE, PLAIN, Owner
from cellcheck.collecting.roster import Match, Roster
from cellcheck.errors import GraderError

LIST = """\ufeffid,first_name,last_name,email,lms_user_id,moodle_id
ada,Ada,Lovelace,Ada@Example.org,41,Participant 12
zoe,Zoë,O'Hara,zoe@example.org,42,13
sam1,Sam,Same,sam1@example.org,43,
sam2,Sam,Same,sam2@example.org,44,
"""


@pytest.fixture
def roster(tmp_path: Path) -> Roster:
    (tmp_path / "students.csv").write_text(LIST, "utf-8")
    return Roster.read(tmp_path / "students.csv")


@pytest.mark.parametrize(
    ("owner", "match"),
    [
        (Owner(MOODLE, "Ada Lovelace", "99"), Match("ada", False)),
        (Owner(MOODLE, "Participant", "12"), Match("ada", True)),
        (Owner(MOODLE, "Zoe\u0308 O'Hara", "98"), Match("zoe", False)),
        (Owner(CANVAS, "lovelaceada", "99"), Match("ada", False)),
        (Owner(CANVAS, "x", "41"), Match("ada", True)),
        (Owner(MOODLE, "x", "41"), None),  # that number is Canvas's
        (Owner(GRADESCOPE, "x", "7", ("0777", "ada@example.org")), Match("ada", True)),
        (Owner(PLAIN, "ada"), Match("ada", False)),
        (Owner(MOODLE, "Sam Same", "97"), None),
        (Owner(CANVAS, "samesam", "44"), Match("sam2", True)),
        (Owner(MOODLE, "Sam", "97"), None),  # a first name is nobody's name
        (Owner(MOODLE, "", ""), None),
    ],
)
def test_who_is_found(roster: Roster, owner: Owner, match: Match | None) -> None:
    assert roster.find(owner) == match


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separators(tmp_path: Path, separator: str) -> None:
    path = tmp_path / "r.csv"
    path.write_text(separator.join(["Student", "Name"]) + "\n" + separator.join(["ada", "Ada L"]) + "\n\n", "utf-8")
    assert Roster.read(path).find(Owner(MOODLE, "ada l")) == Match("ada", False)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "has no column student"),
        (b"name\nAda\n", "has no column student"),
        (b"student,name\n", "has no column student"),
        (b"student,name\n,Ada\n", "line 2: '' can't be a learner's folder"),
        (b"student,name\n../ada,Ada\n", "line 2: '../ada' can't be a learner's folder"),
        ("student,name\nzoë,Zoë\n".encode("latin-1"), "is not in UTF-8"),
    ],
)
def test_lists_that_are_none(tmp_path: Path, content: bytes, words: str) -> None:
    (tmp_path / "r.csv").write_bytes(content)
    with pytest.raises(GraderError, match=r"\.$") as caught:
        Roster.read(tmp_path / "r.csv")
    assert words in str(caught.value)
    with pytest.raises(GraderError, match="can't be read"):
        Roster.read(tmp_path / "gone.csv")
