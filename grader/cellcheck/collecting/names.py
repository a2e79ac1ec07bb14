"""Whose file is it? What each platform puts into the names of a download.

Moodle (`mod/assign/classes/downloader.php`): `Ada Lovelace_12345_assignsubmission_file/name.ipynb`, or without a folder
in between; the number is another one in each assignment. What was typed is in `..._assignsubmission_onlinetext`. A
team's work is there once since Moodle 4.0, as `Team name_17_...`, and as `Default group_...` that of all who are in no
team; before that it was there once for each member, as `Team name-Ada Lovelace_12345_...`.
Canvas (`lib/content_zipper.rb`): `lovelaceada_LATE_12345_67890_name-1.ipynb`: name, late or not, the learner's id, the
file's id, and a number in the file's name that counts resubmissions; without a name `anon_aB3xY_67890_name.ipynb`. What
was typed is `lovelaceada_12345_text.html`, an address `lovelaceada_12345_link.html`.
Gradescope: `submission_12345/name.ipynb`, and who that is in `submission_metadata.yml`.
Blackboard: `Homework 1_alovelace_attempt_2026-01-31-20-30-10_name.ipynb`: the assignment, the learner, the time. Beside
it lies `Homework 1_alovelace_attempt_2026-01-31-20-30-10.txt`, with what was typed.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from cellcheck.collecting.file_names import DEVICES, is_zip, nfc
from cellcheck.plain import draws_nothing

MOODLE, CANVAS, GRADESCOPE, BLACKBOARD, PLAIN = "Moodle", "Canvas", "Gradescope", "Blackboard", "folder"
CLAIM = "submit()"
"""Not a platform: a name that a learner gave, and that nobody has checked."""

_MOODLE = re.compile(r"(?P<name>.+?)(?:_(?P<id>\d+))?_assignsubmission_(?P<kind>[a-z]+)_?(?P<rest>.*)", re.DOTALL)
_CANVAS = re.compile(
    r"(?P<name>\w+?)(?P<late>_LATE)?_(?P<id>\d+)_(?P<file>\d+)_(?P<rest>.+)", re.DOTALL | re.IGNORECASE
)
_CANVAS_NAMELESS = re.compile(r"(?P<late>LATE_)?(?P<name>anon_[0-9A-Za-z]+)_(?P<file>\d+)_(?P<rest>.+)", re.DOTALL)
_CANVAS_TYPED = re.compile(
    r"(?:(?P<name>\w+?)(?P<late>_LATE)?_(?P<id>\d+)|(?:LATE_)?(?P<nameless>anon_[0-9A-Za-z]+))_(?P<kind>text|link)\.html"
)
_BLACKBOARD = re.compile(  # the first time in it is Blackboard's own: what follows is a name that the learner gave
    r"(?P<place>[^/]+?_(?P<name>[^_/]+))_attempt_(?P<time>\d{4}(?:-\d\d){5})(?:_(?P<rest>.+)|\.txt)", re.DOTALL
)
_GRADESCOPE = re.compile(r"submission_(?P<id>\d+)")
_RESUBMITTED = re.compile(r"(?P<stem>.+)-(?P<count>\d{1,3})(?P<ending>\.\w+)", re.DOTALL)
FILE, TYPED, LINKED = "file", "text", "link"
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
    place: str = ""
    """Without a platform: the folder that bears the name. Two of them may be two people's."""

    @property
    def key(self) -> tuple[str, str]:
        """The same for one learner in one download."""
        return self.platform, self.id or self.place or self.name

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
    kind: str = FILE
    """A file, or something that was handed in and is none."""
    own_name: bool = False
    """Whether only the file's own name tells whose it is."""


def label(parts: Sequence[str]) -> Label | None:
    """What the names in `parts` say, if a platform gave them.

    Within a zip file they are a learner's own, who could call a file anybody's: those are passed over.
    """
    for place, part in enumerate(parts):
        if place and is_zip(parts[place - 1]):
            return None
        last = place == len(parts) - 1
        if match := _MOODLE.fullmatch(part):
            inside = (match["rest"],) if last else tuple(parts[place + 1 :])
            kind = TYPED if match["kind"] == "onlinetext" else match["kind"]
            return Label(Owner(MOODLE, nfc(match["name"]).strip(), match["id"] or ""), inside, kind=kind)
        if match := _GRADESCOPE.fullmatch(part):
            if not last:
                return Label(Owner(GRADESCOPE, "", match["id"]), tuple(parts[place + 1 :]))
        elif match := _CANVAS.fullmatch(part) or _CANVAS_NAMELESS.fullmatch(part):
            rest = match["rest"]
            if again := _RESUBMITTED.fullmatch(rest):
                rest = again["stem"] + again["ending"]
            inside = (rest,) if last else tuple(parts[place + 1 :])
            owner = Owner(CANVAS, nfc(match["name"]), match.groupdict().get("id") or "")
            # The count stands in a name that the learner gave; the file's number is Canvas's own, and grows.
            return Label(owner, inside, (int(match["file"][:18]),), late=bool(match["late"]))
        elif match := _BLACKBOARD.fullmatch(part):
            inside = (match["rest"] or part,) if last else tuple(parts[place + 1 :])
            rank = (int(match["time"].replace("-", "")),)
            return Label(
                Owner(BLACKBOARD, nfc(match["name"]), place=nfc(match["place"])),
                inside,
                rank,
                kind=FILE if match["rest"] else TYPED,
            )
        elif last and (match := _CANVAS_TYPED.fullmatch(part)):
            owner = Owner(CANVAS, nfc(match["name"] or match["nameless"]), match["id"] or "")
            return Label(owner, (part,), late=bool(match["late"]), kind=match["kind"])
    return None


def as_named(platform: str, place: str) -> str:
    """What a platform called a learner's part of a download: Moodle their folder, Canvas what their files begin with.

    >>> as_named(MOODLE, "all/Ada Lovelace_7_assignsubmission_file_x.ipynb")
    'Ada Lovelace_7_assignsubmission_file_'
    >>> as_named(MOODLE, "Ada Lovelace_7_assignsubmission_file/deep/x.ipynb")
    'Ada Lovelace_7_assignsubmission_file'
    >>> as_named(CANVAS, "lovelaceada_LATE_1_22_x-1.ipynb"), as_named(CANVAS, "x.ipynb")
    ('lovelaceada_LATE_1_22_', '')

    Args:
        platform: `MOODLE` or `CANVAS`.
        place: where a file stood in the download, with slashes.
    """
    parts = place.split("/")
    for number, part in enumerate(parts):
        if number and is_zip(parts[number - 1]):  # what is inside is the learner's own
            break
        if platform == CANVAS and (match := _CANVAS.fullmatch(part)):
            return part[: match.start("rest")]
        if platform == MOODLE and (match := _MOODLE.fullmatch(part)):
            return part[: match.start("rest")] if part == parts[-1] or is_zip(part) else part
    return ""


def looks_like_a_download(parts: Sequence[str]) -> bool:
    """Whether a platform's names stand within a zip file, where nobody may believe them."""
    zips = [place for place, part in enumerate(parts) if is_zip(part)]
    return bool(zips) and label(parts) is None and label(parts[zips[0] + 1 :]) is not None


def plain_label(
    parts: Sequence[str], holder: str, lessons: Sequence[str], entries: Collection[str] = frozenset()
) -> Label:
    """The label of a file that no platform named: the folder or zip file that it is in tells, else its own name.

    Names that are a lesson's tell nothing, nor do those of the folders that entries to a contest stand in: they are
    passed over, from the inside out. Within a zip file names are a learner's own, and are passed over too.
    """
    packed = next((place for place, part in enumerate(parts) if is_zip(part)), len(parts))
    for place in range(min(packed, len(parts) - 2), -1, -1):
        name = parts[place][: -len(".zip")] if is_zip(parts[place]) else parts[place]
        if name in entries:
            continue
        if rest := without_lesson(name, lessons):
            owner = Owner(PLAIN, rest, place="/".join((*parts[:place], rest)))
            return Label(owner, tuple(parts[place + 1 :]))
    alone = packed >= len(parts) - 1
    for name, own_name in ((parts[-1].split(".")[0] if alone else "", True), (holder, False)):
        if rest := without_lesson(name, lessons):
            place_of_it = "/".join((*parts[:-1], rest)) if own_name else rest
            return Label(Owner(PLAIN, rest, place=place_of_it), (parts[-1],), own_name=own_name)
    return Label(None, (parts[-1],))


def without_teams(names: Sequence[str]) -> dict[str, str]:
    """The names of a Moodle download without the team that older versions put before them; as they are, if they don't.

    It did so with all names or with none, and members share their team; so a hyphen in a name is left alone.

    >>> without_teams(["Red-Ada Lovelace", "Red-Anne-Marie Bo", "Blue-Cy Brown"])["Red-Anne-Marie Bo"]
    'Anne-Marie Bo'
    >>> without_teams(["Anne-Marie Bo", "Anne-Sophie Li", "Cy Brown"])["Anne-Marie Bo"]
    'Anne-Marie Bo'
    """
    prefixes = {name: [match.end() for match in re.finditer("-", name)] for name in set(names)}
    counts = Counter(name[:end] for name, ends in prefixes.items() for end in ends)
    if not all(prefixes.values()) or max(counts.values(), default=0) < 2:
        return {name: name for name in names}
    cut = {
        name: max((end for end in ends if counts[name[:end]] > 1), default=ends[0]) for name, ends in prefixes.items()
    }
    return {name: name[cut[name] :].strip() or name for name in names}


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
    safe = "".join(
        c if c in "-_.@+" or (unicodedata.category(c)[0] in "LMN" and not draws_nothing(c)) else "_"
        for c in nfc(text[: 10 * MAX_NAME])
    )
    safe = re.sub(r"_{2,}", "_", re.sub(r"\.{2,}", ".", safe))
    safe = safe.encode()[: 2 * MAX_NAME].decode("utf-8", "ignore")[:MAX_NAME].strip("-_.@+")
    safe = nfc(safe)
    return f"{safe}_" if safe.split(".")[0].lower() in DEVICES else safe
