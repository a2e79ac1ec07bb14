"""What the build puts around every lesson: the badge on top, the set-up cell, and the place to hand it in.

The course's address and version stand in `pyproject.toml`; here they become links and the line that fetches the course.
"""

from __future__ import annotations

import re

from grader.repository import Repository

SETUP = """\
# Set-up: run this cell first. In Colab it fetches the course, once.
try:
    import grader
except ModuleNotFoundError:
    import subprocess, sys
    class NotFetched(Exception):
        def _render_traceback_(self): return list(self.args)
    address = "git+{address}@{tag}"
    if subprocess.call([sys.executable, "-m", "pip", "install", "-qqq", "--no-deps", address]):
        raise NotFetched("The course could not be fetched. Is there a network? Then run this cell again.")
    import grader

{imports}

check = grader.checks("{lesson}")
submit = grader.submit"""

# As a comment, it does nothing when all cells are run: nobody hands in by accident, or a second time, too late.
SUBMIT = "# submit()"

HAND_IN = """\
## Hand it in

Save the notebook. Then take away the `#` below, and run the cell. It hands the notebook in, or makes the one file
to hand in and says where it is. You can do this again; the last one counts."""

_BADGE = "https://colab.research.google.com/assets/colab-badge.svg"
_LINK = re.compile(r"\]\(\.\./(?P<lesson>\w+)/(?P=lesson)\.ipynb\)")


def setup(repository: Repository, lesson: str, imports: str) -> str:
    """The set-up cell: fetches the course where it is missing, imports what the lesson needs, binds its functions.

    It fetches the version that the notebook belongs to, and nothing else: whatever Colab ships stays as it is.
    """
    return SETUP.format(address=repository.address, tag=repository.tag, imports=imports, lesson=lesson)


def badge(repository: Repository, lesson: str, text: str) -> str:
    """The badge that opens a lesson in Colab, and the lessons that its text links to.

    In the text, links to lessons are relative: they open the learner's own copy in Jupyter. Colab has no folder for
    them to be relative to, so it gets its own.
    """
    line = f"[![Open in Colab]({_BADGE})]({in_colab(repository, lesson)})"
    linked = sorted({found["lesson"] for found in _LINK.finditer(text)})
    if not linked:
        return line
    links = " · ".join(f"[{_number(name)}]({in_colab(repository, name)})" for name in linked)
    return f"{line}\n\nEarlier lessons, in Colab: {links}"


def in_colab(repository: Repository, lesson: str) -> str:
    """Where Colab opens a learner's notebook, in the version that its set-up cell fetches."""
    path = repository.address.removeprefix("https://github.com/")
    notebook = repository.notebook(lesson).relative_to(repository.root).as_posix()
    return f"https://colab.research.google.com/github/{path}/blob/{repository.tag}/{notebook}"


def _number(lesson: str) -> str:
    return f"lesson {int(lesson.split('_')[0])}"
