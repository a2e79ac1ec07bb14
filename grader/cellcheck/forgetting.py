"""`cellcheck forget`: everything that the course's folder and the gradebook hold about one learner, deleted."""

import json
from collections.abc import Iterator
from pathlib import Path

from nbgrader.api import MissingEntry

from cellcheck.collecting.placing import RECORD, record
from cellcheck.errors import GraderError
from cellcheck.files import remove_folder, write_whole
from cellcheck.gradebook.course import Course


def kept_about(course: Course, student: str) -> list[Path]:
    """The folders that hold a learner's work, marks and pages.

    Raises:
        GraderError: for what is no learner's name.
    """
    if not student or student.startswith(".") or len(Path(student).parts) != 1:
        raise GraderError(f"{student!r} can't be a learner's name.")
    directory = course.directory
    steps = (directory.submitted_directory, directory.autograded_directory, directory.feedback_directory)
    places = [course.root / str(step) / student for step in steps]
    return [path for path in (*places, *_earlier(course, student)) if path.is_dir() or path.is_symlink()]


def forget(course: Course, student: str) -> list[str]:
    """Deletes what there is; says what that was, a phrase each.

    Raises:
        GraderError: for what is no learner's name, while somebody grades, and when something can't be deleted.
    """
    done = []
    with course.alone():
        try:
            for path in kept_about(course, student):
                path.unlink() if path.is_symlink() else remove_folder(path)
                done.append(str(path.relative_to(course.root)))
            done += _forget_in_record(course, student)
            done += _forget_in_journals(course, student)
        except OSError as error:
            raise GraderError(f"{error.filename} can't be deleted: {error.strerror}. Run this again.") from error
        file = course.database.file
        if file is None or file.exists():
            with course.gradebook() as gradebook:
                try:
                    gradebook.remove_student(student)
                    done.append("marks, comments and the name in the gradebook")
                except MissingEntry:
                    pass
    return done


def _earlier(course: Course, student: str) -> Iterator[Path]:
    """What a newer submission has replaced."""
    yield from course.submitted_folder().glob(f".earlier/*/{_literal(student)}")


def _literal(name: str) -> str:
    """A name as a pattern that fits only itself."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _forget_in_record(course: Course, student: str) -> Iterator[str]:
    folder = course.submitted_folder()
    entries = record(folder)
    left = {key: entry for key, entry in entries.items() if key.rpartition("/")[0] != student}
    if left != entries:
        write_whole(folder / RECORD, json.dumps(left, indent=1, ensure_ascii=False) + "\n")
        yield f"the lines in {(folder / RECORD).relative_to(course.root)}"


def _forget_in_journals(course: Course, student: str) -> Iterator[str]:
    for path in sorted((course.root / ".cellcheck").glob("*.jsonl")):
        lines = path.read_bytes().splitlines(keepends=True)
        left = [line for line in lines if not _is_about(line, student)]
        if left != lines:
            write_whole(path, b"".join(left))
            yield f"the lines in {path.relative_to(course.root)}"


def _is_about(line: bytes, student: str) -> bool:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):  # half a line, which a kill left: nobody can read it
        return True
    return isinstance(entry, dict) and entry.get("student") == student
