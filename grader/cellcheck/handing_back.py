"""`cellcheck handback`: everybody's feedback page in one zip file, as the platform that they handed in on takes it.

Where that is written down:
- Moodle (`mod/assign/feedback/file/importziplib.php`, "Upload multiple feedback files in a zip"): a folder for each
  participant, called as in the download of the submissions. The number in its name tells who that is.
- Canvas (`Assignment#infer_comment_context_from_filename`, "Upload Submissions"): a file for each submission, whose
  name begins as the downloaded one did. The numbers in it are the learner's and the file's.
"""

import zipfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cellcheck.collecting.names import CANVAS, MOODLE, as_named
from cellcheck.collecting.placing import record
from cellcheck.errors import GraderError
from cellcheck.gradebook.course import Course

FOLDERS = "folders"
PLATFORMS = {"moodle": MOODLE, "canvas": CANVAS}
_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class HandedBack:
    """Whose pages are in the file, and for whom nobody knows where theirs would go."""

    students: tuple[str, ...]
    left: tuple[str, ...]


def hand_back(course: Course, lesson: str, to: str, target: Path) -> HandedBack:
    """Writes the zip file.

    Args:
        course: whose feedback.
        lesson: the assignment's full name.
        to: "moodle", "canvas" or "folders" (one for each learner).
        target: the zip file.

    Raises:
        GraderError: when there are no pages, or the file can't be written.
    """
    pages = feedback_pages(course, lesson)
    if not pages:
        raise GraderError(f"There are no feedback pages of {lesson} yet: run cellcheck autograde {lesson} first.")
    if to == FOLDERS:
        places = {student: f"{student}/{page.name}" for student, page in pages.items()}
    else:
        places = _places(course, lesson, PLATFORMS[to], pages)
    try:
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for student, place in places.items():
                entry = zipfile.ZipInfo(place, _TIME)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o100644 << 16
                archive.writestr(entry, pages[student].read_bytes())
    except OSError as error:
        raise GraderError(f"{error.filename or target} can't be used: {error.strerror}.") from error
    return HandedBack(tuple(places), tuple(student for student in pages if student not in places))


def feedback_pages(course: Course, lesson: str) -> dict[str, Path]:
    """Everybody's page, by learner. One with several notebooks has the whole page several times; the first is taken."""
    pages: dict[str, Path] = {}
    for path in sorted((course.root / str(course.directory.feedback_directory)).glob(f"[!.]*/{lesson}/*.html")):
        pages.setdefault(path.parents[1].name, path)
    return pages


def _places(course: Course, lesson: str, platform: str, pages: Mapping[str, Path]) -> dict[str, str]:
    """Where each page goes, for those who have a place of their own: a team's members share theirs."""
    entries = record(course.submitted_folder())
    named = {}
    for student in pages:
        entry = entries.get(f"{student}/{lesson}", {})
        if entry.get("platform") == platform and isinstance(entry.get("from"), str):
            named[student] = as_named(platform, entry["from"])
    shared = Counter(named.values())
    slash = "/" if platform == MOODLE else ""
    return {
        student: f"{name}{slash}{pages[student].name}" for student, name in named.items() if name and shared[name] == 1
    }
