"""What the learner's process must know of a lesson: where to import what from. Names and folders; no answers."""

import inspect
import re
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

from cellcheck.syllabus import Syllabus, find_lesson, library_of, load_lesson, load_probes, modules_of
from cellcheck.syntax import syntax_tree
from cellcheck.travelling import SECRET, file_of, imported


@dataclass(frozen=True)
class Setting:
    """See the module's docstring. It crosses the border as JSON."""

    lesson: str
    root: str
    """The course's folder: the library and the lessons are imported from here."""
    lessons: str
    """The package of lessons. It is hidden once all that is needed of it is imported."""
    probes: tuple[str, ...]
    """The modules that say how symbols are called; none where all are plain functions."""
    companions: tuple[str, ...]
    """What the notebook's set-up cell imports of the lessons: experiments, say, but nothing that knows answers."""
    library: tuple[str, ...]
    """The packages that learners build."""
    blanked: tuple[str, ...]
    """The modules of the library in which this lesson's symbols are blank."""
    optimises: bool
    """Whether one of PyTorch's optimisers may be made. The first one imports as much as PyTorch itself does."""
    judging: bool = False
    """Whether the process is to judge, and holds the lesson whole. No learner's code runs there."""
    hidden: tuple[str, ...] = ()
    """What this run keeps to itself, beside the course and the working folder, which nobody ever sees."""

    def to_json(self) -> dict[str, Any]:
        """The order that makes a warm process one for this lesson."""
        return asdict(self)


PLAIN = Setting("", "", "", (), (), (), (), optimises=True)
"""That of notebooks that aren't a lesson's: what they import is beside them or installed."""


def setting_of(name: str | None, hidden: Iterable[str] = ()) -> Setting:
    """The setting of a lesson, or of plain notebooks, in a run that keeps some folders and files to itself.

    Raises:
        UnknownLesson: when there is none.
        GraderError: when its folder is at fault.
    """
    return replace(PLAIN if name is None else _setting(*find_lesson(name)), hidden=tuple(hidden))


def judging_of(name: str, hidden: Iterable[str] = ()) -> Setting:
    """The setting of the process that judges a lesson's answers.

    Raises:
        UnknownLesson: when there is none.
        GraderError: when its folder is at fault.
    """
    return replace(setting_of(name, hidden), probes=(), companions=(), blanked=(), judging=True)


@cache
def _setting(syllabus: Syllabus, full: str) -> Setting:
    lesson = load_lesson(full)
    load_probes(full)  # refuses those that bring an answer along
    probes = syllabus.travelling(full)
    blanked = tuple(modules_of([lesson]))
    return Setting(
        lesson=full,
        root=str(syllabus.root),
        lessons=syllabus.package,
        probes=probes,
        companions=_companions(syllabus, full),
        library=library_of(lesson),
        blanked=blanked,
        optimises=_optimises(blanked, probes),
    )


def _optimises(symbols: tuple[str, ...], probes: tuple[str, ...]) -> bool:
    """Whether a lesson's symbols or its probes speak of optimisers."""
    within = tuple(f"{name}." for name in probes)
    modules = [name for name in sys.modules if name in symbols or f"{name}.".startswith(within)]
    return any(re.search(r"\boptim\b", inspect.getsource(sys.modules[name])) for name in modules)


def _companions(syllabus: Syllabus, name: str) -> tuple[str, ...]:
    """The modules of the course's lessons that the set-up cell of a text imports."""
    modules = {
        module
        for module in imported(syntax_tree(syllabus.setup(name)))
        if module.startswith(f"{syllabus.package}.")
        and not SECRET & set(module.split("."))
        and file_of(module, syllabus.root) is not None
    }
    return tuple(sorted(modules))
