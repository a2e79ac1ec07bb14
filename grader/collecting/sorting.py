"""From files to submissions: whose, of which lesson, and which one counts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from typing import Any

import yaml

from grader.collecting.names import (
    GRADESCOPE,
    PLAIN,
    Label,
    Owner,
    folder_name,
    label,
    looks_like_a_download,
    plain_label,
)
from grader.collecting.reading import MAX_OTHER, METADATA, Doubt, Found, hidden, inner_parts
from grader.collecting.roster import Match, Roster
from grader.running.intake import Unreadable, read_submission
from grader.submitting.package import NOTE, Damaged, Note
from grader.syllabus import lesson_names

MAX_OTHER_FILES = 50


@dataclass(frozen=True)
class Submission:
    """A notebook that somebody handed in."""

    student: str
    sure: bool
    """Whether a roster told by a number, so that two of them can't be two people of one name."""
    owner: Owner
    lesson: str
    data: bytes
    shown: str
    rank: tuple[int, ...]
    modified: float
    time: datetime | None = None
    late: bool = False
    others: Mapping[str, bytes] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass
class Sorter:
    """Sorts the files of downloads, one download after the other."""

    lesson: str | None = None
    roster: Roster | None = None
    doubts: list[Doubt] = field(default_factory=list)
    submissions: list[Submission] = field(default_factory=list)

    def add(self, files: Sequence[Found]) -> None:
        """Sorts the files of one download."""
        about = {file.parts[:-1]: gradescope(file.data) for file in files if file.name == METADATA}
        notes = {file.parts[:-1]: file for file in files if file.name == NOTE}
        labels = {file.parts: self._label(file) for file in files}
        for file in files:
            if file.name.lower().endswith(".ipynb"):
                self._notebook(file, labels, files, about, notes.get(file.parts[:-1]))

    def _label(self, file: Found) -> Label:
        return label(file.parts) or plain_label(file.parts, file.holder, lesson_names())

    def _notebook(
        self,
        file: Found,
        labels: Mapping[tuple[str, ...], Label],
        files: Sequence[Found],
        about: Mapping[tuple[str, ...], Mapping[str, Any]],
        note_file: Found | None,
    ) -> None:
        said = labels[file.parts]
        if said.ignore:
            return
        if looks_like_a_download(file.parts):
            self._doubt(file, "This zip file looks like a platform's download: collect it by its own name.")
            return
        note: Note | None = None
        try:
            lesson = read_submission(file.data, self.lesson).lesson.name
            if note_file is not None:
                note = Note.read(note_file.data)
        except (Unreadable, Damaged) as error:
            self._doubt(file, str(error))
            return
        if note is not None and not note.fits(file.data):
            self._doubt(
                file, "It is not the notebook that submit() packed: it was damaged or changed. Ask for it again."
            )
            return
        if self.lesson is not None and lesson != self.lesson:
            self._doubt(file, f"It is a notebook of lesson {lesson}, not of {self.lesson}.")
            return
        time = note.time if note is not None else None
        rank = said.rank or ((int(time.timestamp()),) if time else ())
        owners = [said.owner] if said.owner is not None else []
        if said.owner is not None and said.owner.platform == GRADESCOPE:
            owners, time = _submitters(file, said.owner, about)
            rank = (int(time.timestamp()) if time else 0, int(said.owner.id[:18]))
        if not owners and note is not None and note.name:
            owners = [Owner(PLAIN, note.name)]
        if not owners:
            self._doubt(file, "Nobody knows whose it is: put it into a folder with the learner's name.")
        others = _others(said, file, labels, files) if note is None else {}
        for owner in owners:
            match = self._who(file, owner)
            if match is not None:
                together = (f"handed in by {len(owners)} together",) if len(owners) > 1 else ()
                made = Submission(
                    match.student, match.sure, owner, lesson, file.data, file.shown, rank, file.modified, time
                )
                self.submissions.append(replace(made, late=said.late, others=others, notes=together))

    def _who(self, file: Found, owner: Owner) -> Match | None:
        if self.roster is not None:
            match = self.roster.find(owner)
            if match is None:
                self._doubt(file, f"{owner.shown} is not in the roster, or is there more than once.")
            return match
        # Gradescope's learners have a number and an address, which tell people of one name apart.
        known = next((text for text in (*owner.others, owner.name) if folder_name(text)), "")
        if not known:
            self._doubt(file, f"{owner.shown or 'Its learner'} has no name that a folder could have: use --roster.")
            return None
        return Match(folder_name(known), sure=bool(owner.others))

    def counting(self) -> list[Submission]:
        """Of each learner and lesson, the submission that counts; what can't be decided is listed instead."""
        groups: dict[tuple[str, str], list[Submission]] = {}
        for made in self.submissions:
            groups.setdefault((made.lesson, made.student.casefold()), []).append(made)
        found = []
        for _, group in sorted(groups.items()):
            one, why = choose(group)
            if one is not None:
                found.append(one)
            else:
                self.doubts += [Doubt(made.shown, why) for made in group]
        return found

    def _doubt(self, file: Found, why: str) -> None:
        self.doubts.append(Doubt(file.shown, why))


def choose(group: Sequence[Submission]) -> tuple[Submission | None, str]:
    """The submission that counts of one learner's for one lesson; or None, and why nobody can tell."""
    people = {made.owner.key: made for made in group}
    if len(people) > 1 and not all(made.sure for made in group):
        who = " and ".join(made.owner.shown for made in people.values())
        return None, f"Two learners would get the folder {group[0].student} ({who}): tell them apart with --roster."
    different = list({(made.data, tuple(sorted(made.others.items()))): made for made in group}.values())
    if len(different) == 1:
        return different[0], ""
    ranked = len({made.owner.platform for made in different}) == 1 and all(made.rank for made in different)
    order = sorted(different, key=lambda made: made.rank if ranked else (made.modified,))
    if (order[-1].rank == order[-2].rank) if ranked else (order[-1].modified == order[-2].modified):
        return None, "There are two different notebooks of this learner, and nothing says which is newer."
    note = f"{len(different)} notebooks; the newest counts, {order[-1].shown}"
    return replace(order[-1], notes=(*order[-1].notes, note)), ""


def _others(
    said: Label, notebook: Found, labels: Mapping[tuple[str, ...], Label], files: Iterable[Found]
) -> dict[str, bytes]:
    """The small files that were handed in beside a notebook: modules that it imports, data that it reads."""
    depth = len(said.inside) - 1
    found: dict[str, bytes] = {}
    for file in files:
        theirs = labels[file.parts]
        if (
            theirs.owner is None
            or theirs.owner != said.owner
            or theirs.ignore
            or theirs.inside[:depth] != said.inside[:depth]
            or file.name in (NOTE, METADATA)
            or file.name.lower().endswith(".ipynb")
            or len(file.data) > MAX_OTHER
            or len(found) == MAX_OTHER_FILES
        ):
            continue
        with contextlib.suppress(ValueError):
            inside = inner_parts("/".join(theirs.inside[depth:]))
            if not hidden(inside) and inside != ("timestamp.txt",):  # nbgrader's own, and none of theirs
                found["/".join(inside)] = file.data
    return found


def _submitters(
    file: Found, owner: Owner, about: Mapping[tuple[str, ...], Mapping[str, Any]]
) -> tuple[list[Owner], datetime | None]:
    """Who handed in a submission of Gradescope's, and when; the bare number where its notes are missing."""
    folder = f"submission_{owner.id}"
    entry = about.get(file.parts[: file.parts.index(folder)], {}).get(folder)
    if not isinstance(entry, Mapping):
        return [owner], None
    people = entry.get(":submitters")
    owners = []
    for person in people if isinstance(people, list) else []:
        if isinstance(person, Mapping):
            known = (person.get(f":{key}") for key in ("name", "sid", "email"))
            name, sid, email = (str(text).strip() if isinstance(text, str | int) else "" for text in known)
            owners.append(Owner(GRADESCOPE, name, owner.id, tuple(text for text in (sid, email) if text)))
    return owners or [owner], _moment(entry.get(":created_at"))


def _moment(value: object) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.replace(" UTC", "+00:00"))
        except ValueError:
            return None
    if isinstance(value, date) and not isinstance(value, datetime):
        return None
    if not isinstance(value, datetime):
        return None
    return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC)


class _Notes(yaml.SafeLoader):
    """Reads Ruby's YAML: a tag that Python does not know is left out, and what it stands on is kept."""


def _untagged(loader: yaml.SafeLoader, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    assert isinstance(node, yaml.ScalarNode)
    return loader.construct_scalar(node)


_Notes.add_constructor(None, _untagged)


def gradescope(data: bytes) -> Mapping[str, Any]:
    """What `submission_metadata.yml` says, per submission; nothing when it can't be read."""
    try:
        found = yaml.load(data, Loader=_Notes)
    except (yaml.YAMLError, ValueError, RecursionError, AttributeError, TypeError):
        return {}
    return found if isinstance(found, Mapping) else {}
