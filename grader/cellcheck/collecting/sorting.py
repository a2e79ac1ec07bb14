"""From files to submissions: whose, of which lesson, and who handed in nothing that can be graded."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from cellcheck.collecting.downloads import Doubt, Found
from cellcheck.collecting.file_names import MAYBE_NOTEBOOK, METADATA, hidden, inner_parts, is_notebook, is_zip
from cellcheck.collecting.gradescope_export import HandedInBy, submissions
from cellcheck.collecting.names import (
    BLACKBOARD,
    CANVAS,
    CLAIM,
    FILE,
    GRADESCOPE,
    LINKED,
    MOODLE,
    PLAIN,
    TYPED,
    Label,
    Owner,
    folder_name,
    label,
    looks_like_a_download,
    plain_label,
    without_teams,
)
from cellcheck.collecting.roster import Match, Roster
from cellcheck.errors import GraderError
from cellcheck.leaderboard.find_contest import entry_folders
from cellcheck.plain import counted, named, visible
from cellcheck.running import intake
from cellcheck.running.assignment import Assignment
from cellcheck.running.recognise import has_cells_of, is_blank, nothing_begun, title_of
from cellcheck.running.timestamp import TIMESTAMP, time_noted
from cellcheck.submitting.zip_file import NOTE, Note
from cellcheck.syllabus import lesson_names

MAX_OTHER_FILES = 200  # as many as are there when it is graded
MAX_NOTEBOOKS = 20
"""Of one owner in one download."""
MAX_DOUBTS = 3
"""So many lines about one owner; what else there is to say is counted."""
HAND_IN = (".7z", ".doc", ".docx", ".gz", ".htm", ".html", ".pdf", ".py", ".rar", ".tar", ".txt")
"""What a file is that lies alone, named after nobody knows whom, and yet was handed in."""


@dataclass(frozen=True)
class Origin:
    """Where in a download something was, and what its platform calls whoever handed it in."""

    platform: str
    place: str
    """With slashes."""
    name: str
    id: str
    """The platform's number of this learner; empty for a team's."""

    @classmethod
    def of(cls, owner: Owner, file: Found, *, person: bool) -> Origin:
        """That of a file and its owner."""
        return cls(owner.platform, "/".join(file.parts), owner.name, owner.id if person else "")


@dataclass(frozen=True)
class Submission:
    """A notebook that somebody handed in."""

    student: str
    sure: bool
    """Whether a roster told by a number, so that two of them can't be two people of one name."""
    owner: Owner
    lesson: str
    file: Found
    digest: str
    """Of all its files: the same for the same work."""
    blank: bool
    """Whether it is the lesson as it was given out, with nothing written in it."""
    rank: tuple[int, ...]
    download: int
    """Which of the downloads it came in."""
    time: datetime | None = None
    """When the platform, or the class list, says that it was handed in."""
    clock: datetime | None = None
    """When their own computer says so: `submit()` notes it."""
    late: bool | None = None
    """Whether the platform calls it late; None where it doesn't say."""
    person: bool = True
    """Whether its owner is this learner alone, and not a team."""
    others: Mapping[str, Found] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    title: str = ""
    """Which notebook of a plain assignment it is; that of a lesson is called like the lesson."""

    @property
    def shown(self) -> str:
        """Where it stood, for a person."""
        return self.file.shown

    @property
    def origin(self) -> Origin:
        """Where it came from."""
        return Origin.of(self.owner, self.file, person=self.person)

    @property
    def counts_as_handed_in(self) -> datetime | None:
        """The time that nbgrader goes by: a learner's own clock only where no platform was there to look at one."""
        return self.time or (self.clock if self.owner.platform in (PLAIN, CLAIM) else None)


Theirs = Sequence[tuple[Found, Label]]


@dataclass
class Sorter:
    """Sorts the files of downloads, one download after the other."""

    lesson: str | None = None
    roster: Roster | None = None
    plain: Assignment | None = None
    """Set where `lesson` isn't a lesson but a plain assignment."""
    doubts: list[Doubt] = field(default_factory=list)
    submissions: list[Submission] = field(default_factory=list)
    met: set[str] = field(default_factory=set)
    """Learners of the roster who handed in anything at all."""
    origins: dict[str, Origin] = field(default_factory=dict)
    """By learner: where what they handed in came from, usable or not."""
    _downloads: int = 0
    _noted: Mapping[tuple[str, ...], Path] = field(default_factory=dict)
    """By folder of the download: nbgrader's note of when what lies there was handed in."""

    def add(self, files: Sequence[Found]) -> None:
        """Sorts the files of one download."""
        self._downloads += 1
        about = {
            file.parts[:-1]: submissions(file.data)
            for file in files
            # One that a learner handed in says nothing.
            if file.name == METADATA and label(file.parts) is None and not any(map(is_zip, file.parts[:-1]))
        }
        self._noted = {file.parts[:-1]: file.path for file in files if file.name == TIMESTAMP and file.path is not None}
        files = [file for file in files if file.name != TIMESTAMP]
        names = lesson_names() if self.plain is None else [self.plain.name, *self.plain.notebooks]
        entries = entry_folders() if self.plain is None else frozenset()
        labels = [(file, label(file.parts) or plain_label(file.parts, file.holder, names, entries)) for file in files]
        of_moodle = {
            labelled.owner.name
            for _, labelled in labels
            if labelled.owner is not None and labelled.owner.platform == MOODLE
        }
        without = without_teams(sorted(of_moodle)) if self.roster is None else {}
        groups: dict[Owner | None, list[tuple[Found, Label]]] = {}
        for file, labelled in labels:
            owner = labelled.owner
            if owner is not None and owner.platform == MOODLE:
                owner = replace(owner, name=without.get(owner.name, owner.name))
            groups.setdefault(owner, []).append((file, replace(labelled, owner=owner)))
        for owner, theirs in groups.items():
            self._sort(owner, theirs, about)

    def _sort(
        self, owner: Owner | None, theirs: Theirs, about: Mapping[tuple[str, ...], Mapping[str, HandedInBy]]
    ) -> None:
        """Sorts what one owner handed in, and sees to it that something is said about them."""
        doubts: list[Doubt] = []
        graded: list[Submission] = []
        owners, handed_in = [owner] if owner is not None else [], None
        if owner is not None and owner.platform == GRADESCOPE:
            owners, handed_in = _submitters(theirs[0][0], owner, about)
        doubts += [Doubt(file.shown, file.problem) for file, _ in theirs if file.problem]
        packed = {file.parts[:-1]: file for file, _ in theirs if file.name == NOTE and not file.problem}
        notebooks = [(file, labelled) for file, labelled in theirs if labelled.kind == FILE and _may_be_graded(file)]
        if self.plain is not None:  # what earns no points is handed in beside what does
            notebooks = [(f, its) for f, its in notebooks if f.name.removesuffix(".ipynb") not in self.plain.ungraded]
        for file, labelled in notebooks[:MAX_NOTEBOOKS]:
            try:
                graded += self._notebook(file, labelled, owners, handed_in, theirs, packed.get(file.parts[:-1]))
            except GraderError as error:
                doubts.append(Doubt(file.shown, str(error)))
            except Exception as error:  # a fault of ours must not cost the others their marks
                why = f"The grader itself failed on it ({type(error).__name__}: {error}). Please report it."
                doubts.append(Doubt(file.shown, why))
        if len(notebooks) > MAX_NOTEBOOKS:
            more = f"There are {len(notebooks) - MAX_NOTEBOOKS:,} more notebooks of theirs, which were left out."
            doubts.append(Doubt(notebooks[MAX_NOTEBOOKS][0].shown, more))
        if owner is not None and owner.platform == GRADESCOPE:  # whose file names say nothing
            doubts = [replace(doubt, where=f"{_people(owners)}, {doubt.where}") for doubt in doubts]
        if owner is not None and not notebooks and not doubts and (why := _no_notebook(theirs)):
            doubts += [Doubt(each.shown, why) for each in owners]
        for each in owners:
            if self.roster is not None:
                self.met |= {match.student for match in self._matches(each)}
        students = {match.student: match for each in owners for match in self._found(each)}
        for each in owners:
            for match in self._found(each):
                origin = Origin.of(each, theirs[0][0], person=len(students) == 1 and not match.team)
                self.origins.setdefault(match.student, origin)
        if not graded:
            doubts = [replace(doubt, students=tuple(students)) for doubt in doubts]
        self.submissions += graded
        self.doubts += doubts[:MAX_DOUBTS] if owner is not None else doubts
        if owner is not None and len(doubts) > MAX_DOUBTS:
            self.doubts.append(Doubt(_people(owners), f"The same goes for {len(doubts) - MAX_DOUBTS:,} more files."))

    def _notebook(
        self,
        file: Found,
        labelled: Label,
        owners: Sequence[Owner],
        handed_in: datetime | None,
        theirs: Theirs,
        note_file: Found | None,
    ) -> list[Submission]:
        """The submissions that a notebook is: one, or one for each who handed it in.

        Raises:
            GraderError: when it can't be used; says why.
        """
        if looks_like_a_download(file.parts):
            raise GraderError("This zip file looks like a platform's download: collect it by its own name.")
        data = file.data
        lesson, title, blank = self._known(file, data)
        note = Note.read(note_file.data) if note_file is not None else None
        if note is not None and not note.fits(data):
            raise GraderError(
                "It is not the notebook that submit() packed: it was damaged or changed. Ask for it again."
            )
        clock = note.time if note is not None else None
        by = labelled.owner or Owner("", "")
        notes: list[str] = []
        rank = labelled.rank or ((int(clock.timestamp()),) if clock else ())
        if by.platform == GRADESCOPE:
            rank = (int(handed_in.timestamp()) if handed_in else 0, int(by.id[:18]))
        elif by.platform == BLACKBOARD:
            handed_in = _time_of(labelled)
        elif (beside := self._note_beside(file, by)) is not None:
            handed_in = time_noted(beside)
            if handed_in is None:
                notes.append(f"its {TIMESTAMP} holds no time")
            else:
                handed_in = handed_in.replace(tzinfo=UTC)
                rank = (int(handed_in.timestamp()),)
        elif by.platform == MOODLE:  # which puts what counts now into a zip file, with the time of the download
            rank = (int(file.modified),) if file.holder else ()
        if not owners and note is not None and note.name:
            owners = [Owner(CLAIM, note.name)]
        if not owners:
            raise GraderError("It doesn't say whose it is: put it into a folder with the learner's name.")
        others = _others(labelled, theirs, frozenset() if self.plain is None else self.plain.ungraded)
        if note is not None:  # in its zip file, or unpacked among others: only what it names
            others = _packed_with(note, others)
        if (more := len(others) - MAX_OTHER_FILES) > 0:
            notes.append(f"{counted(more, 'file')} beside it left out: at most {MAX_OTHER_FILES} are taken")
            others = dict(islice(others.items(), MAX_OTHER_FILES))
        digest = hashlib.sha256(data)
        for name, other in sorted(others.items()):
            digest.update(hashlib.sha256(name.encode()).digest() + hashlib.sha256(other.data).digest())
        graded = []
        for owner in owners:
            matches = self._who(owner)
            together = len(owners) if len(owners) > 1 else len(matches)
            graded += [
                Submission(
                    student=match.student,
                    sure=match.sure,
                    owner=owner,
                    lesson=lesson,
                    file=file,
                    digest=digest.hexdigest(),
                    blank=blank,
                    rank=rank,
                    download=self._downloads,
                    time=(self.roster.times.get(match.student) if self.roster is not None else None) or handed_in,
                    clock=clock,
                    late=labelled.late if by.platform == CANVAS else None,
                    person=together == 1 and not match.team,
                    others=others,
                    notes=(*notes, *([f"handed in by {together} together"] if together > 1 else [])),
                    title=title,
                )
                for match in matches
            ]
        return graded

    def _note_beside(self, file: Found, owner: Owner) -> Path | None:
        """nbgrader's own note beside a notebook, which may have been copied from another course of its.

        One in a learner's zip file is the learner's own, and one in no learner's folder is about nobody.
        """
        theirs = owner.platform == PLAIN and any(owner.name in part for part in file.parts[:-1])
        return self._noted.get(file.parts[:-1]) if theirs and not any(map(is_zip, file.parts)) else None

    def _known(self, file: Found, data: bytes) -> tuple[str, str, bool]:
        """The lesson or assignment that a notebook is of, which notebook of it, and whether it is blank.

        Raises:
            GraderError: when it is none that is wanted.
        """
        if self.plain is not None:
            title = title_of(data, file.name.removesuffix(".ipynb"), self.plain)
            blank = is_blank(data, self.plain, title)
            if not has_cells_of(data, self.plain, title):
                raise GraderError(f"It has none of the graded cells of {title}. Is it the right file?")
            return self.plain.name, title, blank
        read = intake.read_submission(data, self.lesson)
        if self.lesson is not None and read.lesson.name != self.lesson:
            raise GraderError(f"It is a notebook of lesson {read.lesson.name}, not of {self.lesson}.")
        return read.lesson.name, "", nothing_begun(read, data)

    def _found(self, owner: Owner) -> list[Match]:
        """As `_who`; nobody where that can't be said."""
        try:
            return self._who(owner)
        except GraderError:
            return []

    def _who(self, owner: Owner) -> list[Match]:
        if self.roster is not None:
            matches = self._matches(owner)
            if not matches:
                raise GraderError(f"{owner.shown} is not in the roster, or is there more than once.")
            return matches
        if owner.platform == MOODLE and not owner.id:
            raise GraderError(
                f"It is the work of everyone who is in no group ({owner.name}): say who they are with --roster and its "
                "column team."
            )
        # Gradescope's learners have a number and an address, which tell people of one name apart.
        name = next((text for text in (*owner.others, owner.name) if folder_name(text)), "")
        if not name:
            raise GraderError(f"{owner.shown or 'Its learner'} has a name that no folder can have: use --roster.")
        return [Match(folder_name(name), sure=bool(owner.others))]

    def _matches(self, owner: Owner) -> list[Match]:
        """The learners of the roster whom an owner stands for: a person, or a team."""
        assert self.roster is not None
        team = self.roster.team(owner) if owner.platform in (MOODLE, CANVAS, PLAIN) else []
        # Canvas gives a team's work the number of one member, so the team goes first there. A folder that somebody
        # named may be anybody's: there a person does.
        match = None if team and owner.platform != PLAIN else self.roster.find(owner)
        return [match] if match is not None else team


def _time_of(labelled: Label) -> datetime | None:
    """The time in one of Blackboard's names, which nbgrader takes for UTC, too; None where it isn't a time."""
    try:
        return datetime.strptime(str(labelled.rank[0]), "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    except ValueError:
        return None


def _people(owners: Sequence[Owner]) -> str:
    return named([owner.shown for owner in owners], 5)


def _may_be_graded(file: Found) -> bool:
    """Whether a file is a notebook, or JSON that is one by what it holds."""
    if file.problem or is_notebook(file.name):
        return not file.problem
    if not file.name.lower().endswith(MAYBE_NOTEBOOK) or file.name == NOTE:
        return False
    data = file.data
    return b'"cells"' in data and b'"nbformat"' in data


def _no_notebook(theirs: Theirs) -> str:
    """What an owner without a notebook handed in; "" when that is nothing that anybody would grade."""
    files = [
        file.name
        for file, labelled in theirs
        if labelled.kind == FILE and file.name != METADATA and labelled.inside[-1]
    ]
    if all(labelled.own_name for _, labelled in theirs):  # it may just lie about there
        alone = {file.name for file, labelled in theirs if not file.holder and file.name.lower().endswith(HAND_IN)}
        files = [name for name in files if name in alone]
    kinds = {labelled.kind for _, labelled in theirs}
    if files:
        return f"There is no notebook, only {named(files, 5)}. Ask for the .ipynb file."
    if TYPED in kinds:
        return "There is no notebook, only text typed into a box. Ask for the .ipynb file."
    return "There is no notebook, only a link. Ask for the .ipynb file." if LINKED in kinds else ""


def _others(labelled: Label, theirs: Theirs, ungraded: Collection[str]) -> dict[str, Found]:
    """What was handed in beside a notebook: modules that it imports, data that it reads, notebooks without points."""
    depth = len(labelled.inside) - 1
    others: dict[str, Found] = {}
    for file, its in theirs:
        if (
            file.problem
            or its.owner is None
            or its.kind != FILE
            or its.inside[:depth] != labelled.inside[:depth]
            or file.name in (NOTE, METADATA)
            or (is_notebook(file.name) and file.name.removesuffix(".ipynb") not in ungraded)
        ):
            continue
        with contextlib.suppress(ValueError):
            inside = inner_parts("/".join(its.inside[depth:]))
            if not hidden(inside) and inside != (TIMESTAMP,):  # nbgrader's own, and none of theirs
                others["/".join(inside)] = file
    return others


def _packed_with(note: Note, others: Mapping[str, Found]) -> dict[str, Found]:
    """What `submit()` packed with a notebook.

    Raises:
        GraderError: when it isn't all there as it was.
    """
    for path in note.files:
        if path not in others or not note.has(path, others[path].data):
            raise GraderError(
                f"{visible(path)} is not what submit() packed: it was damaged, changed or taken out. Ask for it again."
            )
    return {path: others[path] for path in note.files}


def _submitters(
    file: Found, owner: Owner, about: Mapping[tuple[str, ...], Mapping[str, HandedInBy]]
) -> tuple[list[Owner], datetime | None]:
    """Who handed in a submission of Gradescope's, and when; the bare number where its notes are missing."""
    folder = f"submission_{owner.id}"
    handed_in = about.get(file.parts[: file.parts.index(folder)], {}).get(folder)
    if handed_in is None:
        return [owner], None
    people = [
        Owner(GRADESCOPE, name, owner.id, tuple(text for text in (sid, email) if text))
        for name, sid, email in handed_in.people
    ]
    return people or [owner], handed_in.time
