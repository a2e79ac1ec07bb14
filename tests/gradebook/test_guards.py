"""What could spoil marks: changed points, a second grader, a full disk, folders that are no learner's."""

import ctypes
import errno
import io
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import nbformat
import pytest
from rich.console import Console

from cellcheck import files as writing
from cellcheck.batch import Failure, Job, failure, take
from cellcheck.errors import GraderError
from cellcheck.gradebook import autograde
from cellcheck.gradebook.course import Course
from cellcheck.gradebook.folders import Halt
from tests.gradebook.small_class import (
    EXERCISES,
    FIRST,
    LESSON,
    REPOSITORY,
    STANDS,
    assert_same,
    command,
    content,
    copy_of,
    files,
    grade,
    hand_in,
    heard,
    marks,
    result,
)
from tests.warm import PATH, run


def everything(course: Course) -> tuple[Any, ...]:
    return content(course.root), files(course.root), (course.root / ".cellcheck" / f"{LESSON}.jsonl").read_bytes()


# --- points -------------------------------------------------------------------------------------------------------


def source(course: Course) -> Path:
    return course.root / "solutions" / LESSON / f"{LESSON}.ipynb"


def set_points(course: Course, name: str, points: float) -> None:
    notebook = nbformat.read(source(course), as_version=4)
    (cell,) = [cell for cell in notebook.cells if cell.metadata.nbgrader.grade_id == name]
    cell.metadata.nbgrader.points = points
    nbformat.write(notebook, source(course))


def without(course: Course, name: str) -> None:
    notebook = nbformat.read(source(course), as_version=4)
    notebook.cells = [cell for cell in notebook.cells if cell.metadata.nbgrader.grade_id != name]
    nbformat.write(notebook, source(course))


@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("points", [0.5, 40])
def test_points_that_are_not_the_lessons_are_reported_once_and_nothing_is_graded(
    course: Course,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    points: float,
    graded: bool,
) -> None:
    if graded:
        grade(course)
        before = everything(course)
    set_points(course, f"test_{FIRST}", points)
    assert command(course, monkeypatch) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert f"{FIRST} has {points:g} points, not {EXERCISES[0].points:g}" in err
    assert f"run cellcheck build {LESSON}, and nbgrader generate_assignment {LESSON}" in err
    if graded:
        assert everything(course) == before
    else:
        assert not (course.root / "autograded").exists()


def test_an_exercise_that_was_taken_out_is_reported(course: Course) -> None:
    without(course, f"test_{FIRST}")
    with pytest.raises(GraderError, match=f"{FIRST} has no test"):
        grade(course)


def by_hand(course: Course) -> str:
    """The cell that a person grades."""
    notebook = nbformat.read(source(course), as_version=4)
    names = {f"test_{exercise.symbol}" for exercise in EXERCISES}
    (name,) = {c.metadata.nbgrader.grade_id for c in notebook.cells if c.metadata.nbgrader.grade} - names
    return str(name)


def test_changed_points_are_taken_over_while_there_are_no_marks(course: Course) -> None:
    course.ensure_assignment(LESSON)
    set_points(course, by_hand(course), 3)
    grade(course)
    with course.gradebook() as gradebook:
        assert gradebook.find_grade_cell(by_hand(course), LESSON, LESSON).max_score == 3


def test_changed_points_wait_for_a_command_once_there_are_marks(course: Course) -> None:
    grade(course)
    before = everything(course)
    set_points(course, by_hand(course), 3)
    with pytest.raises(GraderError, match=rf"{by_hand(course)} \(0 points, now 3\)") as caught:
        grade(course)
    assert f"nbgrader generate_assignment {LESSON}" in str(caught.value)
    assert everything(course) == before
    assert run(["nbgrader", "generate_assignment", LESSON], course.root, PATH).code == 0
    assert grade(course, resume=True).keys() == STANDS.keys()
    assert marks(course) == {name: result(name).score for name in STANDS}


def test_a_cell_that_has_marks_and_is_gone_is_reported(course: Course) -> None:
    grade(course)
    before = everything(course)
    without(course, by_hand(course))
    with pytest.raises(GraderError, match=f"nbgrader db assignment remove {LESSON} --force"):
        grade(course)
    assert everything(course) == before


# --- two graders --------------------------------------------------------------------------------------------------


def test_a_second_grader_is_refused_whatever_its_lesson(
    course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    other = "import sys; from pathlib import Path; from cellcheck.gradebook.folders import alone\n"
    other += "with alone(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    lock = str(course.root / "gradebook.db.lock")
    with subprocess.Popen(
        [sys.executable, "-c", other, lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout.readline() == "held\n"
        assert command(course, monkeypatch) == 2
        err = capsys.readouterr().err
        assert (
            err == f"Another grader is writing to this gradebook (it holds {lock}). Run this again when it is done.\n"
        )
        assert not (course.root / "autograded").exists()
        holder.kill()  # the lock goes with its process
    assert command(course, monkeypatch) == 0


@pytest.mark.parametrize(
    ("url", "lock"),
    [
        ("", "gradebook.db.lock"),
        ("sqlite:////srv/marks/book.db", "/srv/marks/book.db.lock"),
        ("sqlite://", ".cellcheck/gradebook.lock"),
    ],
)
def test_where_the_lock_is(course: Course, url: str, lock: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if url:
        course.directory.db_url = url
    asked: list[Path] = []

    @contextmanager
    def taken(path: Path) -> Iterator[None]:
        asked.append(path)
        yield

    monkeypatch.setattr("cellcheck.gradebook.database.alone", taken)
    with course.alone():
        assert asked == [course.root / lock]


# --- a full disk --------------------------------------------------------------------------------------------------

FULL = os.strerror(errno.ENOSPC)


@contextmanager
def full(where: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No room for the second learner's `where`."""

    def no_room(path: Any) -> OSError:
        return OSError(errno.ENOSPC, FULL, str(path))

    with monkeypatch.context() as patch:
        if where == "gradebook":
            # SQLite's own limit, hit in earnest: it can't take another page.
            def limit(connection: Any, record: Any) -> None:
                connection.execute("PRAGMA max_page_count = 1")

            with heard(limit, "connect"):
                yield
            return
        write, keep = Path.open, writing.keep
        if where == "journal":

            def opened(self: Path, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
                if mode == "ab+" and b'"ada"' in self.read_bytes():
                    raise no_room(self)
                return write(self, mode, *args, **kwargs)

            patch.setattr(Path, "open", opened)
        else:

            def kept(file: int) -> None:
                path = os.readlink(f"/proc/self/fd/{file}")
                if f"/{where}/bea" in path:
                    raise no_room(path)
                keep(file)

            patch.setattr(writing, "keep", kept)
        yield


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks in /proc which file is written")
@pytest.mark.parametrize("where", ["autograded", "feedback", "journal", "gradebook"])
def test_a_full_disk_is_one_sentence_and_the_run_goes_on(
    where: str, course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    straight = copy_of(course, "straight")
    grade(straight)
    if where == "gradebook":  # with some marks in it, which have to stay
        hidden = [course.root / "submitted" / name for name in ("bea", "cy")]
        for folder in hidden:
            folder.rename(course.root / folder.name)
        grade(course)
        for folder in hidden:
            (course.root / folder.name).rename(folder)
        with closing(sqlite3.connect(course.root / "gradebook.db")) as database:
            database.execute("PRAGMA page_size = 512")  # a page soon is full
            database.execute("VACUUM")
    options = ["--seed", "7", "--resume"]
    with full(where, monkeypatch):
        assert command(course, monkeypatch, *options) == 1
    lines = [
        line
        for line in capsys.readouterr().err.splitlines()
        if line and "already" not in line and "no earlier" not in line
    ]
    assert len(lines) == 1, lines
    assert lines[0].endswith("What has been graded is kept: fix that, then continue with --resume.")
    assert (FULL if where != "gradebook" else "database or disk is full") in lines[0]
    assert marks(course)["ada"] == result("ada").score
    assert not list(course.root.rglob(".*.new"))  # what would not fit takes up no room
    assert command(course, monkeypatch, *options) == 0
    assert_same(course, straight)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_disk_that_is_really_full(course: Course) -> None:
    small = course.root.with_name("small")
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", small], capture_output=True).returncode:
        pytest.skip("this root may not mount a small disk")
    try:
        shutil.copytree(course.root, small / "course")
        there = Course.open(small / "course")
        there.ensure_assignment(LESSON)
        ballast = small / "ballast"
        messages = []
        for room in range(4, 400, 33):  # kB: it runs full at another place each time
            free = os.statvfs(small).f_bavail * os.statvfs(small).f_frsize
            ballast.write_bytes(b"x" * max(0, free - 1024 * room))
            try:
                grade(there, resume=True)
                break
            except GraderError as error:
                messages.append(str(error))
            finally:
                ballast.unlink()
        assert len(messages) > 3
        assert [line for line in messages if FULL not in line and "disk is full" not in line] == []
        grade(there, resume=True)
        grade(course)
        assert_same(there, course)
    finally:
        subprocess.run(["umount", small], check=True)


# --- other people's gradebooks and folders ------------------------------------------------------------------------


def test_what_a_person_entered_survives(course: Course) -> None:
    grade(course)
    with course.gradebook() as gradebook:
        for name, points in ((by_hand(course), 1.0), (f"test_{FIRST}", 0.75)):
            entry = gradebook.find_grade(name, LESSON, LESSON, "bea")
            entry.manual_score, entry.extra_credit = points, 0.5
        comment = gradebook.find_comment(by_hand(course), LESSON, LESSON, "bea")
        comment.manual_comment = "Well put."
        gradebook.update_or_create_student("bea", first_name="Bea", email="bea@x.org")
        gradebook.db.commit()
    before = content(course.root)
    for resume in (False, True):
        assert not isinstance(grade(course, resume=resume)["bea"], Failure)
        after = content(course.root)
        assert after["comment"] == before["comment"]
        assert after["student"] == before["student"]
        with course.gradebook() as gradebook:
            entry = gradebook.find_grade(f"test_{FIRST}", LESSON, LESSON, "bea")
            assert (entry.manual_score, entry.extra_credit, entry.score) == (0.75, 0.5, 1.25)


def test_folders_that_are_no_learners_and_names_that_no_gradebook_takes(course: Course) -> None:
    blank = REPOSITORY.notebook(LESSON).read_bytes()
    hand_in(course, ".earlier", blank)
    hand_in(course, os.fsdecode(b"m\xfcller"), blank)  # no UTF-8
    (hand_in(course, "dir", blank).parent / "x.ipynb").mkdir()
    outcomes = grade(course)
    assert ".earlier" not in outcomes
    assert isinstance(outcomes[os.fsdecode(b"m\xfcller")], Failure)
    assert set(marks(course)) == {*STANDS, "dir"}


def test_a_learner_whose_folder_is_gone_is_named_and_keeps_the_marks(course: Course) -> None:
    grade(course)
    (course.root / "submitted" / "bea").rename(course.root / "submitted" / "bea2")
    console = io.StringIO()
    outcomes = grade(course, resume=True, says=Console(file=console, width=200))
    assert set(outcomes) == {"ada", "bea2", "cy"}
    assert "marks of learners who are not in the submitted folder: bea.\n" in console.getvalue()
    assert marks(course)["bea"] == result("bea").score


def test_a_broken_second_submission_leaves_the_first_mark_and_says_so(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    grade(course)
    path = hand_in(course, "bea", b"")

    def refused(paths: Any, job: Any, others: Any) -> Any:
        assert list(paths) == [path.parent]
        yield [(path.parent, Failure(str(path), "The file is empty."))]

    monkeypatch.setattr("cellcheck.gradebook.autograde.grade_in_groups", refused)
    console = io.StringIO()
    grade(course, resume=True, says=Console(file=console, width=200))
    assert "bea: the gradebook still holds the marks of an earlier submission.\n" in console.getvalue()
    assert marks(course)["bea"] == result("bea").score


def test_a_fault_in_writing_costs_one_learner_only(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    from cellcheck.gradebook import writer

    page = writer.page

    def faulty(notebook: Any, student: str, *rest: Any) -> str:
        if student == "bea":
            raise RecursionError("too deep")
        return page(notebook, student, *rest)

    monkeypatch.setattr(writer, "page", faulty)
    outcomes = grade(course)
    assert "RecursionError: too deep" in outcomes["bea"].message
    assert not isinstance(outcomes["cy"], Failure)


@pytest.mark.parametrize("damage", [b"not a database", b""])
def test_a_gradebook_that_is_none_is_one_sentence(course: Course, damage: bytes) -> None:
    (course.root / "gradebook.db").write_bytes(damage * 100)
    if not damage:  # what SQLite leaves when a kill comes early
        grade(course)
        return
    with pytest.raises(GraderError, match="The gradebook can't be used: file is not a database"):
        grade(course)


def test_a_folder_that_can_not_be_written_to_is_one_sentence(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_only(path: Path, text: str) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    with monkeypatch.context() as patch:
        patch.setattr("cellcheck.gradebook.writer.write_whole", read_only)
        with pytest.raises(Halt, match="Read-only file system"):
            grade(course)
    assert marks(course) == {}
    assert set(grade(course, resume=True)) == set(STANDS)


@contextmanager
def rights_of_the_owner() -> Iterator[None]:
    """Root may do everything with every file. While this lasts, it may do what permissions allow the owner."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3, this thread
    sets = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; then those above 32
    assert libc.capget(header, sets) == 0
    before = sets[0]
    sets[0] &= ~0b110  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    assert libc.capset(header, sets) == 0
    try:
        yield
    finally:
        sets[0] = before
        assert libc.capset(header, sets) == 0


def read_at_once(paths: Iterable[Path], job: Job, others: Callable[..., Any]) -> Iterator[list[tuple[Path, Any]]]:
    """In place of `grade_in_groups`: what can be read is graded."""
    for path in paths:
        try:
            for data in take(path, job, others(path)).notebooks.values():
                if isinstance(data, Exception):
                    raise data
            yield [(path, result(path.parent.name, job.seed, str(path)))]
        except Exception as error:
            yield [(path, failure(str(path), error))]


BEA = f"bea/{LESSON}"


def command_without(
    path: Path, course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *options: str
) -> tuple[int, str]:
    """What the command says, and its exit code, where nobody has any rights to this path."""
    mode = path.stat().st_mode
    capsys.readouterr()
    path.chmod(0)
    try:
        with rights_of_the_owner():
            code = command(course, monkeypatch, *options)
    finally:
        path.chmod(mode)
    printed = capsys.readouterr()
    assert "Traceback" not in printed.out + printed.err
    assert "Please report" not in printed.out + printed.err
    return code, printed.err


only_linux = pytest.mark.skipif(sys.platform != "linux", reason="takes root its rights as Linux does")


@only_linux
@pytest.mark.parametrize("resume", [[], ["--resume"]])
@pytest.mark.parametrize(
    ("where", "who"),
    [
        ("submitted/bea", {"bea"}),
        (f"submitted/{BEA}", {"bea"}),
        (f"submitted/{BEA}/{LESSON}.ipynb", {"bea"}),
        (f"submitted/{BEA}/timestamp.txt", {"bea"}),
        ("autograded/bea", {"bea"}),
        (f"autograded/{BEA}", set()),  # a new folder takes its place
        ("autograded", {*STANDS}),
        ("feedback/bea", {"bea"}),
        (f"feedback/{BEA}", {"bea"}),
        ("feedback", {*STANDS}),
    ],
)
def test_a_folder_without_permissions_costs_whom_it_belongs_to(
    where: str,
    who: set[str],
    resume: list[str],
    course: Course,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One sentence for each of them, and the others go on."""
    monkeypatch.setattr(autograde, "grade_in_groups", read_at_once)
    grade(course)
    code, err = command_without(course.root / where, course, monkeypatch, capsys, *resume)
    assert code == (1 if who else 0), err
    for student in STANDS:
        lines = [line for line in err.splitlines() if line.startswith(f"{student}: ")]
        assert bool(lines) == (student in who), err
        assert all("Permission denied" in line for line in lines[:1])
    assert command(course, monkeypatch, "--resume") == 0
    assert not [*(course.root / "autograded").rglob(".*")]


@only_linux
@pytest.mark.parametrize("where", ["submitted", ".cellcheck", "gradebook.db", "solutions", "notebooks"])
def test_a_class_that_can_not_be_read_is_one_sentence(
    where: str, course: Course, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    grade(course)
    code, err = command_without(course.root / where, course, monkeypatch, capsys)
    assert code == 2, err
    assert len(err.strip().splitlines()) == 1


# --- git ----------------------------------------------------------------------------------------------------------


def test_git_ignores_what_holds_names_and_marks() -> None:
    names = [".cellcheck/x.jsonl", "students.csv", "downloads/moodle.zip", "marks.csv", "canvas.csv", "results.json"]
    names += ["gradebook.db", "gradebook.db.lock", "gradebook.db-journal"]
    names += ["submitted/a/b", "autograded/a/b", "feedback/a/b"]
    asked = subprocess.run(
        ["git", "check-ignore", "--no-index", *names], cwd=REPOSITORY.root, capture_output=True, text=True
    )
    if asked.returncode == 128:
        pytest.skip("not a git checkout")
    assert asked.stdout.split() == names
