"""`submit()`: finds the notebook, asks to save it when it must, and hands it in."""

from __future__ import annotations

import base64
import html
import importlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from cellcheck.files import write_whole
from cellcheck.plain import counted, named
from cellcheck.submitting import zip_file
from cellcheck.submitting.not_submitted import NotSubmitted
from cellcheck.submitting.service import ADDRESS, by_service
from cellcheck.submitting.where import notebook_path

_NO_WORDS = "YOUR ANSWER HERE"
"""What nbgrader puts where words are asked for."""
DOWNLOAD = "Choose File > Download > Download .ipynb, and hand in that file."

_asked_to_save: dict[Path, int] = {}
"""When each file had been saved when we asked for it: what is saved later is what its author wants to hand in."""


@dataclass(frozen=True)
class Receipt:
    """What was handed in, or is ready to be, and what to do next."""

    lines: tuple[str, ...]
    path: Path | None = None
    """The file to hand in; None when the exchange has it."""
    links: Mapping[str, str] = field(default_factory=dict)
    """What of the lines leads somewhere, and where that is, seen from the notebook."""

    def __repr__(self) -> str:
        return "\n".join(self.lines)

    def _repr_html_(self) -> str:
        text = "".join(f"<p>{html.escape(line)}</p>" for line in self.lines)
        for words, path in self.links.items():
            text = text.replace(html.escape(words), f'<a href="{quote(path)}">{html.escape(words)}</a>', 1)
        return f'<div role="status">{text}</div>'

    def and_then(self, notebook: Path, handed: NotebookToHandIn) -> Receipt:
        """The same with what is solved, and with the lesson that comes next, where the learner has it."""
        return replace(self, lines=(*self.lines, *_solved(notebook, handed)))._leading_on(notebook, handed.lesson)

    def _leading_on(self, notebook: Path, lesson: str) -> Receipt:
        after = _next_one(notebook, lesson)
        if after is None:
            return self
        links = {**self.links, after.name: f"../{after.parent.name}/{after.name}"}
        return replace(self, lines=(*self.lines, f"The next lesson: {after.name}"), links=links)


@dataclass(frozen=True)
class NotebookToHandIn:
    """The notebook to hand in."""

    data: bytes
    lesson: str
    exercises: int
    blank: tuple[str, ...]
    """The exercises that are still as they were released."""
    wordless: bool
    """Whether a question that asks for words is still as it was released."""
    path: Path | None
    """Its file; None in Colab, where it has none."""
    others: Mapping[str, bytes] = field(default_factory=dict)
    """What goes with it, by path: an entry to the lesson's contest."""
    about: str = ""
    """A sentence about that; empty where the lesson has no contest."""


def submit(
    lesson: str | None = None,
    *,
    path: str | Path | None = None,
    into: str | Path | None = None,
    name: str | None = None,
    to: str | None = None,
    token: str | None = None,
) -> Receipt:
    """Hands this notebook in.

    Where your class has a service, it goes there. In an nbgrader course with an exchange, it is submitted. Elsewhere
    one file is written beside the notebook, and you upload that where your class hands in its work. The notebook goes
    in as it was last saved. In a lesson with a contest, the entry beside the notebook goes with it.

    Args:
        lesson: the lesson you mean; a notebook of another one is not handed in.
        path: the notebook's file, where it can't be found by itself.
        into: the folder to write the file to. It is then written even where there is an exchange.
        name: your name, if your class wants it in the file; without it, none is in it.
        to: the address of your class's service; else the one in the variable CELLCHECK_SERVICE, if there is one.
        token: yours, from your page there; else the variable CELLCHECK_TOKEN, else you are asked for it.

    Returns:
        A receipt that says what was done, and what to do next.

    Raises:
        NotSubmitted: when nothing was handed in; the sentence says why.
    """
    if os.environ.get("NBGRADER_EXECUTION"):
        raise NotSubmitted("This notebook is being graded: nothing was handed in.")
    service = to or os.environ.get(ADDRESS)
    if path is None and "google.colab" in sys.modules:
        handed = _with_entry(_look_at(_from_colab(), lesson, None), Path.cwd())
        if service and into is None:
            return _by_service(handed, service, token)
        return _as_file(handed, Path(into or Path.cwd()), name)
    shell = _shell()
    notebook = Path(path).expanduser().absolute() if path is not None else _find(shell)
    data = _read(notebook)
    handed = _with_entry(_look_at(data, lesson, notebook), notebook.parent)
    _insist_on_saving(shell, notebook, data)
    if service and into is None:
        return _by_service(handed, service, token).and_then(notebook, handed)
    receipt, refused = _by_exchange(handed, notebook) if into is None else (None, "")
    if receipt is None:
        receipt = _as_file(handed, Path(into or notebook.parent).expanduser(), name, refused)
    return receipt.and_then(notebook, handed)


def _solved(notebook: Path, handed: NotebookToHandIn) -> list[str]:
    """How many of the exercises have had full marks in a check, as far as that was recorded; and what to do where the
    file doesn't hold them all: after a restart of the kernel, nothing else tells that it wasn't saved."""
    from cellcheck.learning import progress
    from cellcheck.syllabus import load_lesson

    best = progress.record(progress.folder_of(notebook, handed.lesson)).best.get(handed.lesson)
    if not best:
        return []
    exercises = load_lesson(handed.lesson).exercises
    left = [each.symbol for each in exercises if best.get(each.symbol, 0.0) < each.points - 1e-9]
    still = f"; still open: {named(left, limit=5)}" if left else ""
    solved = len(exercises) - len(left)
    are = "is" if solved == 1 else "are"
    sentences = [f"By your checks, {solved} of {len(exercises)} exercises {are} solved{still}."]
    lost = [each.symbol for each in exercises if each.symbol not in left and each.symbol in handed.blank]
    if lost:
        holds = "It doesn't hold your answer" if len(lost) == 1 else "It doesn't hold your answers"
        sentences.append(f"{holds} to {named(lost, limit=5)}: save the notebook, then run this cell again.")
    return sentences


def _next_one(notebook: Path, lesson: str) -> Path | None:
    """The learner's own notebook of the lesson after this one, in the folder beside it."""
    from cellcheck.syllabus import find_lesson

    names = find_lesson(lesson)[0].names()
    after = names[names.index(lesson) + 1 :][:1]
    paths = [notebook.parent.parent / name / f"{name}.ipynb" for name in after]
    return next((path for path in paths if notebook.parent.name == lesson and path.is_file()), None)


def _shell() -> Any:
    return sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None


def _find(shell: Any) -> Path:
    path = notebook_path(shell.user_ns if shell is not None else {})
    if path is None:
        raise NotSubmitted(
            "There is no way to tell from here which notebook this is: name its file, "
            "as in submit(path='my_notebook.ipynb')."
        )
    return path


def _read(path: Path) -> bytes:
    from cellcheck.running.intake import Unreadable, read_file

    try:
        return read_file(path)
    except Unreadable as error:
        raise NotSubmitted(f"{path}: {error}") from None
    except OSError as error:
        raise NotSubmitted(f"{path} can't be read: {error.strerror}.") from None


def _from_colab() -> bytes:
    """The notebook as it stands in the browser: Colab's kernel has no file of it."""
    try:
        message = importlib.import_module("google.colab._message")
        answer = message.blocking_request("get_ipynb", request="", timeout_sec=30)
        notebook = answer["ipynb"]
        return json.dumps(notebook, ensure_ascii=False, indent=1).encode("utf-8", errors="backslashreplace")
    except Exception:  # not an interface that Google promises; whatever fails in it, the menu works
        raise NotSubmitted(f"Colab did not hand over the notebook. {DOWNLOAD}") from None


def _look_at(data: bytes, lesson: str | None, path: Path | None) -> NotebookToHandIn:
    """What the grader will see in this notebook: its lesson, and how much is still blank."""
    from cellcheck.running.cells import Cell
    from cellcheck.running.intake import understood
    from cellcheck.running.plain_cells import Unreadable, cells_of, parse, source_of
    from cellcheck.syllabus import UnknownLesson, load_lesson

    try:
        meant = load_lesson(lesson).name if lesson is not None else None
        submission = understood(cells_of(data), meant)
    except (Unreadable, UnknownLesson) as error:
        raise NotSubmitted(str(error)) from None
    its_lesson = submission.lesson
    if meant not in (None, its_lesson.name):
        raise NotSubmitted(f"This is a notebook of lesson {its_lesson.name}, not of {meant}: nothing was handed in.")
    written = {name for step in submission.steps if isinstance(step, Cell) and not step.blank for name in step.defines}
    symbols = [exercise.symbol for exercise in its_lesson.exercises]
    blank = tuple(symbol for symbol in symbols if symbol not in written)
    wordless = any(isinstance(cell, dict) and source_of(cell).strip() == _NO_WORDS for cell in parse(data))
    return NotebookToHandIn(data, its_lesson.name, len(symbols), blank, wordless, path)


def _with_entry(handed: NotebookToHandIn, folder: Path) -> NotebookToHandIn:
    """The same with the entry to the lesson's contest that stands beside the notebook, if there are both."""
    from cellcheck.leaderboard.entry_files import EntryRefused, files_of
    from cellcheck.leaderboard.find_contest import contest_of

    contest = contest_of(handed.lesson)
    if contest is None:
        return handed
    place = folder / contest.folder
    if not place.exists():
        return replace(handed, about=f"No entry to the contest goes with it: there is no {contest.folder}/ beside it.")
    try:
        if place.is_symlink():
            raise EntryRefused("It is a link.")
        files = files_of(place, contest)
    except EntryRefused as error:
        raise NotSubmitted(
            f"Nothing was handed in: your entry in {contest.folder}/ can't be. {error} Correct it, or move it away."
        ) from None
    others = {f"{contest.folder}/{name}": data for name, data in files.items()}
    return replace(handed, others=others, about=f"Your entry to the contest goes with it: {', '.join(others)}.")


def _insist_on_saving(shell: Any, path: Path, data: bytes) -> None:
    """Asks to save when something that was run is not in the file; once, since the file may be meant to be so."""
    from cellcheck.submitting.unsaved import not_in_the_file

    if shell is None:
        return
    manager = getattr(shell, "history_manager", None)
    history = list(getattr(manager, "input_hist_raw", None) or shell.user_ns.get("In", []))
    missing = not_in_the_file(history, data)
    saved = path.stat().st_mtime_ns
    if not missing or _asked_to_save.get(path, saved) != saved:
        return
    _asked_to_save[path] = saved
    names = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
    raise NotSubmitted(
        f"Save the notebook first (Ctrl+S, or Cmd+S), then run this cell again: what you ran last ({names}) is not in "
        f"{path.name} yet."
    )


def _by_exchange(handed: NotebookToHandIn, path: Path) -> tuple[Receipt | None, str]:
    """A receipt when the exchange has it, or why not; ("" where there is no exchange)."""
    from cellcheck.submitting.exchange import ExchangeRefused, by_exchange

    try:
        sent = by_exchange(path, handed.lesson, handed.data, handed.others)
    except ExchangeRefused as error:
        return None, str(error)
    if sent is None:
        return None, ""
    if sent.already:
        return Receipt((f"You submitted this very notebook at {sent.time}: nothing was sent again.",)), ""
    lines = (
        f"Submitted {handed.lesson} to your class at {sent.time}, by nbgrader's exchange.",
        f"What is in it: {_state(handed)}.",
        *([handed.about] if handed.about else []),
        "You can submit again; the last one counts.",
    )
    return Receipt(lines), ""


def _by_service(handed: NotebookToHandIn, address: str, token: str | None) -> Receipt:
    """Sends it to the class's service."""
    sent = by_service(handed.lesson, handed.data, address, token)
    if not sent.new:
        return Receipt((f"This very notebook was there already: nothing was sent again. See {sent.page}",))
    waits = f" {sent.ahead} {'is' if sent.ahead == 1 else 'are'} before it in the queue." if sent.ahead else ""
    lines = (
        f"Handed in {handed.lesson}.{waits} What comes of it stands on {sent.page}",
        f"What is in it: {_state(handed)}.",
        *(["Your entry to the contest stays here: the service takes notebooks alone."] if handed.others else []),
        f"You can hand in {sent.left} more {'time' if sent.left == 1 else 'times'} today.",
    )
    return Receipt(lines)


def _as_file(handed: NotebookToHandIn, folder: Path, name: str | None, refused: str = "") -> Receipt:
    """Writes the file to hand in, unless it is there already."""
    path = folder.absolute() / f"{handed.lesson}{zip_file.SUFFIX}"
    note = zip_file.Note.of(handed.data, handed.lesson, name, handed.others)
    try:
        before = zip_file.made_before(path)
    except zip_file.Damaged:
        raise NotSubmitted(f"{path} is there already, and submit() did not write it: move it away first.") from None
    lines = [f"The exchange did not take it: {refused}. Here is a file to hand in instead."] if refused else []
    if before is not None and _what(before) == _what(note):
        lines.append(f"Nothing changed since {_clock(before.time)}: {path.name} is still the file to hand in.")
    else:
        try:
            write_whole(path, zip_file.pack(handed.data, note, handed.others))
        except OSError as error:
            raise NotSubmitted(
                f"{path} can't be written ({error.strerror}): name a folder of yours, as in submit(into='my_folder')."
            ) from None
        again = f" It replaces the one of {_clock(before.time)}; hand in this one." if before is not None else ""
        lines.append(f"Ready to hand in: {path.name}.{again}")
    lines.append(f"It is in {path.parent}, and holds the notebook {_state(handed)}.")
    if handed.about:
        lines.append(handed.about)
    if (handed.path is None and _downloads(path)) or _downloads_from_here(path):
        lines.append("Your browser is downloading it. Upload that file where your class hands in its work.")
    else:
        lines.append("Upload this file where your class hands in its work.")
    here = handed.path is not None and handed.path.parent == path.parent
    return Receipt(tuple(lines), path, {path.name: path.name} if here else {})


def _what(note: zip_file.Note) -> tuple[object, ...]:
    """What was packed, whenever that was."""
    return note.sha256, note.name, dict(note.files)


def _state(handed: NotebookToHandIn) -> str:
    saved = (
        f"as you saved it at {_clock(datetime.fromtimestamp(handed.path.stat().st_mtime))}"
        if handed.path
        else "as it is"
    )
    blank = len(handed.blank)
    is_blank = (
        f"{counted(blank, 'exercise')} {'is' if blank == 1 else 'are'} still blank ({named(handed.blank, limit=5)})"
    )
    missing = [is_blank] if blank else [f"all {handed.exercises} exercises are written"]
    missing += ["your answer in words is missing"] if handed.wordless else []
    return "; ".join((saved, *missing))


def _clock(time: datetime) -> str:
    """A time as the learner's clock shows it."""
    here = time.astimezone()
    return f"{here:%H:%M}" if here.date() == datetime.now().date() else f"{here:%H:%M on %d %B %Y}"


def _downloads_from_here(path: Path) -> bool:
    """Where Python itself runs in the browser, the page fetches the file from it."""
    if sys.platform == "emscripten":
        from IPython.display import Javascript, display

        content = base64.b64encode(path.read_bytes()).decode()
        link = {"href": f"data:application/zip;base64,{content}", "download": path.name}
        display(Javascript(f"Object.assign(document.createElement('a'), {json.dumps(link)}).click()"))
        return True
    return False


def _downloads(path: Path) -> bool:
    try:
        importlib.import_module("google.colab.files").download(str(path))
    except Exception:  # the file is there all the same
        return False
    return True
