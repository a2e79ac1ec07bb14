"""Whose file is it? What each platform puts into the names of a download.

Moodle: `Ada Lovelace_12345_assignsubmission_file_/name.ipynb`, or without a folder in between, from
`mod/assign/locallib.php`; the number is another one in each assignment.
Canvas: `lovelaceada_LATE_12345_67890_name-1.ipynb`, from `app/models/content_zipper.rb`: name, late or not, the
learner's id, the file's id, and a number that counts resubmissions.
Gradescope: `submission_12345/name.ipynb`, and who that is in `submission_metadata.yml`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from grader.collecting.reading import DEVICES, is_zip, nfc

MOODLE, CANVAS, GRADESCOPE, PLAIN = "Moodle", "Canvas", "Gradescope", "folder"

_MOODLE = re.compile(r"(?P<name>.+?)_(?P<id>\d+)_assignsubmission_(?P<kind>[a-z]+)_?(?P<rest>.*)", re.DOTALL)
_CANVAS = re.compile(
    r"(?P<name>\w+?)(?P<late>_LATE)?_(?P<id>\d+)_(?P<file>\d+)_(?P<rest>.+)", re.DOTALL | re.IGNORECASE
)
_GRADESCOPE = re.compile(r"submission_(?P<id>\d+)")
_RESUBMITTED = re.compile(r"(?P<stem>.+)-(?P<count>\d{1,3})(?P<ending>\.\w+)", re.DOTALL)
MAX_NAME = 80


@dataclass(frozen=True)
class Owner:
    """Who handed something in, as far as a name tells."""

    platform: str
    name: str
    id: str = ""
    """The platform's number."""
    others: tuple[str, ...] = ()
    """What else the platform knows: an e-mail address, a student number."""

    @property
    def key(self) -> tuple[str, str]:
        """The same for one learner in one download."""
        return self.platform, self.id or self.name

    @property
    def shown(self) -> str:
        """For a person."""
        extra = ", ".join(self.others) or self.id
        return f"{self.name} ({extra})" if self.name and extra else self.name or extra


@dataclass(frozen=True)
class Label:
    """What the place of a file says about it."""

    owner: Owner | None
    inside: tuple[str, ...]
    """The file within what this learner handed in: its folders and its name."""
    rank: tuple[int, ...] = ()
    """The platform's own order of submissions: more is newer; empty when it has none."""
    late: bool = False
    ignore: bool = False
    """Written by the platform or in a text box: no file that was handed in."""


def label(parts: Sequence[str]) -> Label | None:
    """What the names in `parts` say, if a platform gave them.

    Within a zip file they are a learner's own, who could call a file anybody's: those are passed over.
    """
    for place, part in enumerate(parts):
        if any(is_zip(outer) for outer in parts[:place]):
            return None
        last = place == len(parts) - 1
        if found := _MOODLE.fullmatch(part):
            inside = (found["rest"],) if last else tuple(parts[place + 1 :])
            owner = Owner(MOODLE, nfc(found["name"]).strip(), found["id"])
            return Label(owner, inside, ignore=found["kind"] != "file" or not inside[-1])
        if found := _GRADESCOPE.fullmatch(part):
            if not last:
                return Label(Owner(GRADESCOPE, "", found["id"]), tuple(parts[place + 1 :]))
        elif found := _CANVAS.fullmatch(part):
            rest, count = found["rest"], 0
            if again := _RESUBMITTED.fullmatch(rest):
                rest, count = again["stem"] + again["ending"], int(again["count"])
            inside = (rest,) if last else tuple(parts[place + 1 :])
            rank = (count, int(found["file"][:18]))
            return Label(Owner(CANVAS, nfc(found["name"]), found["id"]), inside, rank, late=bool(found["late"]))
    return None


def looks_like_a_download(parts: Sequence[str]) -> bool:
    """Whether a platform's names stand within a zip file, where nobody may believe them."""
    zips = [place for place, part in enumerate(parts) if is_zip(part)]
    return bool(zips) and label(parts) is None and label(parts[zips[0] + 1 :]) is not None


def plain_label(parts: Sequence[str], holder: str, lessons: Sequence[str]) -> Label:
    """The label of a file that no platform named: the folder or zip file that it is in tells, else its own name.

    Names that are a lesson's tell nothing: they are passed over, from the inside out.
    """
    for place in range(len(parts) - 2, -1, -1):
        name = parts[place].removesuffix(".zip") if parts[place].lower().endswith(".zip") else parts[place]
        if rest := without_lesson(name, lessons):
            return Label(Owner(PLAIN, rest), tuple(parts[place + 1 :]))
    for name in (parts[-1].split(".")[0], holder):
        if rest := without_lesson(name, lessons):
            return Label(Owner(PLAIN, rest), (parts[-1],))
    return Label(None, (parts[-1],))


def without_lesson(name: str, lessons: Sequence[str]) -> str:
    """What a name says besides the lesson.

    >>> without_lesson("ada_01_intro (2)", ["01_intro"])
    'ada'
    >>> without_lesson("01_intro.submission", ["01_intro"])
    ''
    """
    rest = nfc(name)
    for lesson in lessons:
        rest = re.sub(re.escape(lesson), " ", rest, flags=re.IGNORECASE)
    rest = re.sub(r"\(\d+\)|\bcopy\d*\b|\.?submission\b", " ", rest, flags=re.IGNORECASE)
    return rest.strip(" _-.") if re.search(r"\w", rest.replace("_", "")) else ""


def folder_name(text: str) -> str:
    """A name for a learner's folder: letters of every script, digits, and `-_.@+`; "" when nothing of it is left.

    >>> folder_name("Ada  Lovelace"), folder_name("../../etc"), folder_name("con"), folder_name("Zoë")
    ('Ada_Lovelace', 'etc', 'con_', 'Zoë')
    """
    kept = "".join(c if unicodedata.category(c)[0] in "LMN" or c in "-_.@+" else "_" for c in nfc(text))
    kept = re.sub(r"_{2,}", "_", re.sub(r"\.{2,}", ".", kept))
    kept = kept.encode()[: 2 * MAX_NAME].decode("utf-8", "ignore")[:MAX_NAME].strip("-_.@+")
    kept = nfc(kept)
    return f"{kept}_" if kept.split(".")[0].lower() in DEVICES else kept
