"""A class list: which learner of nbgrader's a platform's name, number or address stands for.

A CSV file with a header. The column `student` (or `id`, as in the file that `nbgrader db student import` reads) holds
nbgrader's id; every other column holds something by which that learner may be known: `name`, `email`, a student
number, whatever the platform exports. `first_name` and `last_name` are put together both ways. The numbers in a
download's names stand in columns of their own: `moodle_id` (or Moodle's own `Identifier`), `canvas_id` (or
`lms_user_id`), `gradescope_id`. A column `team` or `group` names the team whose work is this learner's too; several are
separated by semicolons.

A column `submitted` says when somebody handed in, by the platform's record. Moodle's grading worksheet ("Download
grading worksheet") is a class list as it stands, if its participants have an ID number: `Last modified (submission)` is
that column there.
"""

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from cellcheck.collecting.file_names import nfc
from cellcheck.collecting.names import CANVAS, GRADESCOPE, MOODLE, Owner, folder_name
from cellcheck.errors import GraderError

STUDENT_COLUMNS = ("student", "student_id", "id", "id number")
NUMBER_COLUMNS = {
    "moodle_id": MOODLE,
    "identifier": MOODLE,
    "canvas_id": CANVAS,
    "lms_user_id": CANVAS,
    "gradescope_id": GRADESCOPE,
}
TEAM_COLUMNS = ("team", "group", "groups")
NAME_COLUMNS = (("first_name",), ("last_name", "surname"))
FULL_NAME_COLUMNS = ("full_name", "name")
EMAIL_COLUMNS = ("email", "email_address", "e-mail")
LMS_COLUMNS = ("lms_user_id", "canvas_id")
TIME_COLUMNS = ("submitted", "last_modified_(submission)")
MAX_FIELD = 128
"""Characters that nbgrader's gradebook takes."""
_EITHER_WAY = re.compile(r"\d{1,2}[./-]\d{1,2}[./-]\d{4}")
_YEAR = re.compile(r"\b\d{4}\b")


@dataclass(frozen=True)
class Match:
    """A learner of nbgrader's."""

    student: str
    sure: bool
    """Known by a number or an address, not only by a name that two people may have."""
    team: bool = False
    """Known as a member of a team."""


@dataclass(frozen=True)
class ListedPerson:
    """What a class list says about a learner; empty where it doesn't."""

    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""


class Roster:
    """Finds learners by what platforms call them."""

    def __init__(
        self,
        names: Iterable[tuple[str, str]],
        teams: Iterable[tuple[str, str]] = (),
        people: Mapping[str, ListedPerson] = {},
        times: Mapping[str, datetime] = {},
    ) -> None:
        self.people = people
        """By learner: what gradebooks and exports call them."""
        self.times = times
        """By learner: when they handed in."""
        self._students: dict[str, set[str]] = {}
        self._teams: dict[str, set[str]] = {}
        for by_text, pairs in ((self._students, names), (self._teams, teams)):
            for text, student in pairs:
                if text:
                    by_text.setdefault(text, set()).add(student)
        self.students = tuple(sorted(set().union(*self._students.values())))

    @classmethod
    def read(cls, path: Path) -> Self:
        """The roster in a CSV file.

        Raises:
            GraderError: when it is none.
        """
        try:
            text = path.read_text("utf-8-sig")
        except OSError as error:
            raise GraderError(f"The roster {path} can't be read: {error.strerror}.") from error
        except UnicodeDecodeError:
            raise GraderError(f"The roster {path} is not in UTF-8: save it as CSV UTF-8.") from None
        first = text.split("\n", 1)[0]
        try:
            rows = list(csv.DictReader(io.StringIO(text), delimiter=max(",;\t", key=first.count), restkey=""))
        except csv.Error as error:
            raise GraderError(f"The roster {path} is not a CSV file: {error}.") from None
        columns = {nfc(name or "").strip().lower(): name for name in (rows[0] if rows else {})}
        column = next((columns[name] for name in STUDENT_COLUMNS if name in columns), None)
        if column is None:
            raise GraderError(f"The roster {path} has no column student (or id) with nbgrader's ids, or no learner.")
        names: list[tuple[str, str]] = []
        teams: list[tuple[str, str]] = []
        people: dict[str, ListedPerson] = {}
        times: dict[str, datetime] = {}
        for number, row in enumerate(rows, start=2):
            student = (row[column] or "").strip()
            if not student and not any(isinstance(value, str) and value.strip() for value in row.values()):
                continue
            if not student or folder_name(student) != nfc(student):
                raise GraderError(f"The roster {path}, line {number}: {student!r} can't be a learner's folder.")
            cells = {nfc(k or "").strip().lower().replace(" ", "_"): v for k, v in row.items() if isinstance(v, str)}
            for name in TEAM_COLUMNS:
                teams += [(known_as(team), nfc(student)) for team in cells.pop(name, "").split(";")]
            for name in TIME_COLUMNS:
                if (time := cells.pop(name, "").strip()) not in ("", "-"):
                    try:
                        times[nfc(student)] = time_of(time)
                    except ValueError:
                        where = f"The roster {path}, line {number}"
                        raise GraderError(f"{where}: {time!r} is not a time: write it as 2026-03-01 23:59.") from None
            people[nfc(student)] = _person(cells)
            names += [(text, nfc(student)) for text in _texts(cells)]
        return cls(names, teams, people, times)

    def find(self, owner: Owner) -> Match | None:
        """The learner; None when nobody or more than one person fits."""
        # Older versions of Moodle put the team before the name.
        places = [place.end() for place in re.finditer("-", owner.name)] if owner.platform == MOODLE else []
        for texts, sure in (
            ([numbered(owner.platform, owner.id), *(known_as(text) for text in owner.others)], True),
            *(([known_as(owner.name[place:])], False) for place in (0, *places)),
        ):
            students = set().union(*(self._students.get(text, set()) for text in texts if text))
            if len(students) == 1:
                return Match(students.pop(), sure)
            if students:
                return None
        return None

    def team(self, owner: Owner) -> list[Match]:
        """The members of the team of that name, which a person may also have given themselves."""
        return [Match(student, sure=False, team=True) for student in sorted(self._teams.get(known_as(owner.name), ()))]


def known_as(text: str) -> str:
    """A name for comparing: no case, no spaces or signs between its parts."""
    return re.sub(r"[\W_]+", "", nfc(text).casefold()) if "@" not in text else nfc(text).casefold().strip()


def numbered(platform: str, digits: str) -> str:
    """A platform's number for comparing. As a bare one it would also be another platform's, or a student number."""
    return f"{platform} {digits}" if digits else ""


def _person(cells: Mapping[str, str]) -> ListedPerson:
    """Who somebody is, in nbgrader's terms. A name that is not in two parts is kept whole, as the last one."""
    first, last = (_first_of(cells, names) for names in NAME_COLUMNS)
    number = re.search(r"\d+", _first_of(cells, LMS_COLUMNS))
    if not last:
        first, last = "", _first_of(cells, FULL_NAME_COLUMNS) or first
    fields = (first, last, _first_of(cells, EMAIL_COLUMNS), number[0] if number else "")
    return ListedPerson(*(text[:MAX_FIELD] for text in fields))


def _first_of(cells: Mapping[str, str], names: Iterable[str]) -> str:
    return next((text for name in names if (text := nfc(cells.get(name, "")).strip())), "")


def time_of(text: str) -> datetime:
    """A date with its time, in UTC. Where it names no time zone, it is this machine's.

    Raises:
        ValueError: when it could be read in two ways, or in none.
    """
    from dateutil import parser  # type: ignore[import-untyped]

    if _EITHER_WAY.search(text) or not _YEAR.search(text):
        raise ValueError(text)
    try:
        time: datetime = parser.parse(text)
        return time.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(text) from error


def _texts(cells: dict[str, str]) -> list[str]:
    """All that one learner may be known by."""
    texts = []
    for column, platform in NUMBER_COLUMNS.items():
        digits = re.search(r"\d+", cells.pop(column, ""))  # Moodle writes "Participant 123"
        texts += [numbered(platform, digits[0])] if digits else []
    first, last = (next((cells.pop(name) for name in names if name in cells), "") for names in NAME_COLUMNS)
    # A first name alone is nobody's name.
    whole = [f"{first} {last}", f"{last} {first}"] if first and last else []
    return texts + [text for value in [*cells.values(), *whole] if (text := known_as(value))]
