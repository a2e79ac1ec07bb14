"""A class list: which learner of nbgrader's a platform's name, number or address stands for.

A CSV file with a header. The column `student` (or `id`, as in the file that `nbgrader db student import` reads) holds
nbgrader's id; every other column holds something by which that learner may be known: `name`, `email`, a student
number, whatever the platform exports. `first_name` and `last_name` are put together both ways. The numbers in a
download's names stand in columns of their own: `moodle_id` (or Moodle's own `Identifier`), `canvas_id` (or
`lms_user_id`), `gradescope_id`. A column `team` or `group` names the team whose work is this learner's too; several are
separated by semicolons.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from grader.collecting.entries import nfc
from grader.collecting.names import CANVAS, GRADESCOPE, MOODLE, Owner, folder_name
from grader.errors import GraderError

STUDENT_COLUMNS = ("student", "student_id", "id")
NUMBER_COLUMNS = {
    "moodle_id": MOODLE,
    "identifier": MOODLE,
    "canvas_id": CANVAS,
    "lms_user_id": CANVAS,
    "gradescope_id": GRADESCOPE,
}
TEAM_COLUMNS = ("team", "group", "groups")
NAME_COLUMNS = (("first_name",), ("last_name", "surname"))


@dataclass(frozen=True)
class Match:
    """A learner of nbgrader's."""

    student: str
    sure: bool
    """Known by a number or an address, not only by a name that two people may have."""


class Roster:
    """Finds learners by what platforms call them."""

    def __init__(self, known: Iterable[tuple[str, str]], teams: Iterable[tuple[str, str]] = ()) -> None:
        self._students: dict[str, set[str]] = {}
        self._teams: dict[str, set[str]] = {}
        for found, pairs in ((self._students, known), (self._teams, teams)):
            for text, student in pairs:
                if text:
                    found.setdefault(text, set()).add(student)
        self.students = tuple(sorted(set().union(*self._students.values())))

    @classmethod
    def read(cls, path: Path) -> Roster:
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
        known: list[tuple[str, str]] = []
        teams: list[tuple[str, str]] = []
        for number, row in enumerate(rows, start=2):
            student = (row[column] or "").strip()
            if not student and not any(isinstance(value, str) and value.strip() for value in row.values()):
                continue
            if not student or folder_name(student) != nfc(student):
                raise GraderError(f"The roster {path}, line {number}: {student!r} can't be a learner's folder.")
            cells = {nfc(k or "").strip().lower().replace(" ", "_"): v for k, v in row.items() if isinstance(v, str)}
            for name in TEAM_COLUMNS:
                teams += [(known_as(team), nfc(student)) for team in cells.pop(name, "").split(";")]
            known += [(text, nfc(student)) for text in _texts(cells)]
        return cls(known, teams)

    def find(self, owner: Owner) -> Match | None:
        """The learner; None when nobody or more than one person fits."""
        # Older versions of Moodle put the team before the name.
        places = [place.end() for place in re.finditer("-", owner.name)] if owner.platform == MOODLE else []
        for texts, sure in (
            ([numbered(owner.platform, owner.id), *(known_as(text) for text in owner.others)], True),
            *(([known_as(owner.name[place:])], False) for place in (0, *places)),
        ):
            found = set().union(*(self._students.get(text, set()) for text in texts if text))
            if len(found) == 1:
                return Match(found.pop(), sure)
            if found:
                return None
        return None

    def team(self, owner: Owner) -> list[Match]:
        """The members of the team of that name, which a person may also have given themselves."""
        return [Match(student, sure=False) for student in sorted(self._teams.get(known_as(owner.name), ()))]


def known_as(text: str) -> str:
    """A name for comparing: no case, no spaces or signs between its parts."""
    return re.sub(r"[\W_]+", "", nfc(text).casefold()) if "@" not in text else nfc(text).casefold().strip()


def numbered(platform: str, digits: str) -> str:
    """A platform's number for comparing. As a bare one it would also be another platform's, or a student number."""
    return f"{platform} {digits}" if digits else ""


def _texts(cells: dict[str, str]) -> list[str]:
    """All that one learner may be known by."""
    found = []
    for column, platform in NUMBER_COLUMNS.items():
        digits = re.search(r"\d+", cells.pop(column, ""))  # Moodle writes "Participant 123"
        found += [numbered(platform, digits[0])] if digits else []
    first, last = (next((cells.pop(name) for name in names if name in cells), "") for names in NAME_COLUMNS)
    # A first name alone is nobody's name.
    whole = [f"{first} {last}", f"{last} {first}"] if first and last else []
    return found + [text for value in [*cells.values(), *whole] if (text := known_as(value))]
