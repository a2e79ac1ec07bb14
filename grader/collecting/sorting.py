"""From files to submissions: whose, of which lesson, and who handed in nothing that can be graded."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from grader.collecting.entries import (
    MAYBE_NOTEBOOK,
    METADATA,
    hidden,
    inner_parts,
    is_notebook,
    is_zip,
)
from grader.collecting.gradescope import Handed, submissions
from grader.collecting.names import (
    CANVAS,
    CLAIM,
    FILE,
    GRADESCOPE,
    LINKED,
    MOODLE,
    TYPED,
    Label,
    Owner,
    folder_name,
    label,
    looks_like_a_download,
    plain_label,
    without_teams,
)
from grader.collecting.reading import Doubt, Found
from grader.collecting.roster import Match, Roster
from grader.errors import GraderError
from grader.leaderboard.contest import entry_folders
from grader.plain import named, visible
from grader.running import intake
from grader.running.assignment import Assignment
from grader.running.cells import Cell
from grader.running.handed_in import is_untouched, title_of
from grader.submitting.package import NOTE, Note
from grader.syllabus import lesson_names

MAX_OTHER_FILES = 50
MAX_NOTEBOOKS = 20
"""Of one owner in one download."""
MAX_DOUBTS = 3
"""So many lines about one owner; what else there is to say is counted."""
HAND_IN = (".7z", ".doc", ".docx", ".gz", ".htm", ".html", ".pdf", ".py", ".rar", ".tar", ".txt")
"""What a file is that lies alone, named after nobody knows whom, and yet was handed in."""
_ANSWER = b"YOUR ANSWER HERE"


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
    late: bool = False
    others: Mapping[str, Found] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    title: str = ""
    """Which notebook of a plain assignment it is; that of a lesson is called like the lesson."""

    @property
    def shown(self) -> str:
        """Where it stood, for a person."""
        return self.file.shown


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
    _downloads: int = 0

    def add(self, files: Sequence[Found]) -> None:
        """Sorts the files of one download."""
        self._downloads += 1
        about = {
            file.parts[:-1]: submissions(file.data)
            for file in files
            # One that a learner handed in says nothing.
            if file.name == METADATA and label(file.parts) is None and not any(map(is_zip, file.parts[:-1]))
        }
        known = lesson_names() if self.plain is None else [self.plain.name, *self.plain.notebooks]
        entries = entry_folders() if self.plain is None else frozenset()
        labels = [(file, label(file.parts) or plain_label(file.parts, file.holder, known, entries)) for file in files]
        of_moodle = {said.owner.name for _, said in labels if said.owner is not None and said.owner.platform == MOODLE}
        without = without_teams(sorted(of_moodle)) if self.roster is None else {}
        groups: dict[Owner | None, list[tuple[Found, Label]]] = {}
        for file, said in labels:
            owner = said.owner
            if owner is not None and owner.platform == MOODLE:
                owner = replace(owner, name=without.get(owner.name, owner.name))
            groups.setdefault(owner, []).append((file, replace(said, owner=owner)))
        for owner, theirs in groups.items():
            self._sort(owner, theirs, about)

    def _sort(self, owner: Owner | None, theirs: Theirs, about: Mapping[tuple[str, ...], Mapping[str, Handed]]) -> None:
        """Sorts what one owner handed in, and sees to it that something is said about them."""
        doubts: list[Doubt] = []
        made: list[Submission] = []
        owners, handed_in = [owner] if owner is not None else [], None
        if owner is not None and owner.platform == GRADESCOPE:
            owners, handed_in = _submitters(theirs[0][0], owner, about)
        doubts += [Doubt(file.shown, file.problem) for file, _ in theirs if file.problem]
        packed = {file.parts[:-1]: file for file, _ in theirs if file.name == NOTE and not file.problem}
        notebooks = [(file, said) for file, said in theirs if said.kind == FILE and _may_be_graded(file)]
        for file, said in notebooks[:MAX_NOTEBOOKS]:
            try:
                made += self._notebook(file, said, owners, handed_in, theirs, packed.get(file.parts[:-1]))
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
        self.submissions += made
        self.doubts += doubts[:MAX_DOUBTS] if owner is not None else doubts
        if owner is not None and len(doubts) > MAX_DOUBTS:
            self.doubts.append(Doubt(_people(owners), f"The same goes for {len(doubts) - MAX_DOUBTS:,} more files."))

    def _notebook(
        self,
        file: Found,
        said: Label,
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
        time = note.time if note is not None else None
        rank = said.rank or ((int(time.timestamp()),) if time else ())
        if said.owner is not None and said.owner.platform == GRADESCOPE:
            time = handed_in
            rank = (int(time.timestamp()) if time else 0, int(said.owner.id[:18]))
        if not owners and note is not None and note.name:
            owners = [Owner(CLAIM, note.name)]
        if not owners:
            raise GraderError("It doesn't say whose it is: put it into a folder with the learner's name.")
        others = _others(said, theirs)
        if note is not None:  # in its zip file, or unpacked among others: only what it names
            others = _packed_with(note, others)
        digest = hashlib.sha256(data)
        for name, other in sorted(others.items()):
            digest.update(hashlib.sha256(name.encode()).digest() + hashlib.sha256(other.data).digest())
        made = []
        for owner in owners:
            matches = self._who(owner)
            together = len(owners) if len(owners) > 1 else len(matches)
            made += [
                Submission(
                    match.student,
                    match.sure,
                    owner,
                    lesson,
                    file,
                    digest.hexdigest(),
                    blank,
                    rank,
                    self._downloads,
                    time,
                    said.late,
                    others,
                    (f"handed in by {together} together",) if together > 1 else (),
                    title,
                )
                for match in matches
            ]
        return made

    def _known(self, file: Found, data: bytes) -> tuple[str, str, bool]:
        """The lesson or assignment that a notebook is of, which notebook of it, and whether it is blank.

        Raises:
            GraderError: when it is none that is wanted.
        """
        if self.plain is not None:
            title = title_of(data, file.name.removesuffix(".ipynb"), self.plain)
            return self.plain.name, title, is_untouched(data, self.plain.notebooks[title])
        read = intake.read_submission(data, self.lesson)
        if self.lesson is not None and read.lesson.name != self.lesson:
            raise GraderError(f"It is a notebook of lesson {read.lesson.name}, not of {self.lesson}.")
        return read.lesson.name, "", _blank(read, data)

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
        known = next((text for text in (*owner.others, owner.name) if folder_name(text)), "")
        if not known:
            raise GraderError(f"{owner.shown or 'Its learner'} has a name that no folder can have: use --roster.")
        return [Match(folder_name(known), sure=bool(owner.others))]

    def _matches(self, owner: Owner) -> list[Match]:
        """The learners of the roster whom an owner stands for: a person, or a team."""
        assert self.roster is not None
        # Canvas gives a team's work the number of one member, so the team goes first.
        team = self.roster.team(owner) if owner.platform in (MOODLE, CANVAS) else []
        match = None if team else self.roster.find(owner)
        return [match] if match is not None else team


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


def is_blank(data: bytes, lesson: str) -> bool:
    """Whether a notebook is the lesson as it was given out.

    Raises:
        GraderError: when it is not a notebook.
    """
    return _blank(intake.read_submission(data, lesson), data)


def _blank(read: intake.Submission, data: bytes) -> bool:
    """Whether no exercise of a notebook was begun, neither in code nor in words."""
    symbols = {exercise.symbol for exercise in read.lesson.exercises}
    cells = [step for step in read.steps if isinstance(step, Cell)]
    answers = [cell for cell in cells if cell.grade_id in symbols or cell.defines & symbols]
    return bool(answers) and all(cell.blank for cell in answers) and _ANSWER in data


def _no_notebook(theirs: Theirs) -> str:
    """What an owner without a notebook handed in; "" when that is nothing that anybody would grade."""
    files = [file.name for file, said in theirs if said.kind == FILE and file.name != METADATA and said.inside[-1]]
    if all(said.own_name for _, said in theirs):  # it may just lie about there
        alone = {file.name for file, said in theirs if not file.holder and file.name.lower().endswith(HAND_IN)}
        files = [name for name in files if name in alone]
    kinds = {said.kind for _, said in theirs}
    if files:
        return f"There is no notebook, only {named(files, 5)}. Ask for the .ipynb file."
    if TYPED in kinds:
        return "There is no notebook, only text typed into a box. Ask for the .ipynb file."
    return "There is no notebook, only a link. Ask for the .ipynb file." if LINKED in kinds else ""


def _others(said: Label, theirs: Theirs) -> dict[str, Found]:
    """The small files that were handed in beside a notebook: modules that it imports, data that it reads."""
    depth = len(said.inside) - 1
    found: dict[str, Found] = {}
    for file, its in theirs:
        if (
            file.problem
            or its.owner is None
            or its.kind != FILE
            or its.inside[:depth] != said.inside[:depth]
            or file.name in (NOTE, METADATA)
            or is_notebook(file.name)
            or len(found) == MAX_OTHER_FILES
        ):
            continue
        with contextlib.suppress(ValueError):
            inside = inner_parts("/".join(its.inside[depth:]))
            if not hidden(inside) and inside != ("timestamp.txt",):  # nbgrader's own, and none of theirs
                found["/".join(inside)] = file
    return found


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
    file: Found, owner: Owner, about: Mapping[tuple[str, ...], Mapping[str, Handed]]
) -> tuple[list[Owner], datetime | None]:
    """Who handed in a submission of Gradescope's, and when; the bare number where its notes are missing."""
    folder = f"submission_{owner.id}"
    found = about.get(file.parts[: file.parts.index(folder)], {}).get(folder)
    if found is None:
        return [owner], None
    people = [
        Owner(GRADESCOPE, name, owner.id, tuple(text for text in (sid, email) if text))
        for name, sid, email in found.people
    ]
    return people or [owner], found.time
