"""What the build puts around every lesson: the badge on top, the set-up cell, and the place to hand it in.

The course's address and version stand in `pyproject.toml`; here they become links and the line that fetches the course.
"""

from __future__ import annotations

import re

from grader.repository import Repository
from grader.syllabus import BINDING

_FETCH = """\
    import subprocess, sys
    class NotFetched(Exception):
        def _render_traceback_(self): return list(self.args)
    address = "git+{address}@{tag}"
    if subprocess.call([sys.executable, "-m", "pip", "install", "-qqq", {options}address]):
        raise NotFetched("The course could not be fetched. Is there a network? Then run this cell again.")
"""

# In the repository that the grader comes from: what is fetched brings the grader along, and needs nothing else.
TOGETHER = f"""\
# Set-up: run this cell first. In Colab it fetches the course, once.
try:
    import grader
except ModuleNotFoundError:
{_FETCH}\
    import grader
check = grader.checks("{{lesson}}")
submit = grader.submit

{{imports}}"""

# A course of its own may be missing where the grader is there. `checks` finds it, so that the imports do.
APART = f"""\
# Set-up: run this cell first. In Colab it fetches the course, once.
try:
    import grader
    check = grader.checks("{{lesson}}")
except (ImportError, LookupError):
{_FETCH}\
    import grader
    check = grader.checks("{{lesson}}")
submit = grader.submit

{{imports}}"""

# A course that can't be fetched from anywhere.
AT_HOME = f"""\
# Set-up: run this cell first.
{BINDING}"""

# As a comment, it does nothing when all cells are run: nobody hands in by accident, or a second time, too late.
SUBMIT = "# submit()"

HAND_IN = """\
## Hand it in

Save the notebook. Then remove the `#` below, and run the cell. It hands the notebook in, or makes the one file
to hand in and says where it is. You can do this again; the last one counts."""

_GITHUB = "https://github.com/"
_BADGE = "https://colab.research.google.com/assets/colab-badge.svg"
_LINK = re.compile(r"\]\(\.\./(?P<lesson>\w+)/(?P=lesson)\.ipynb\)")


def setup(repository: Repository, lesson: str, imports: str) -> str:
    """The set-up cell: fetches the course where it is missing, imports what the lesson needs, binds its functions.

    It fetches the version that the notebook belongs to. Where the grader comes along, that is all: whatever Colab
    ships stays as it is. A course of its own says in its `pyproject.toml` that it needs the grader, and pip brings it.
    """
    if repository.address is None:
        return AT_HOME.format(imports=imports, lesson=lesson).rstrip()
    form, options = (TOGETHER, '"--no-deps", ') if repository.has_the_grader else (APART, "")
    return form.format(
        address=repository.address, tag=repository.tag, options=options, imports=imports, lesson=lesson
    ).rstrip()


def badge(repository: Repository, lesson: str, text: str) -> str:
    """The badge that opens a lesson in Colab, and the lessons that its text links to.

    In the text, links to lessons are relative: they open the learner's own copy in Jupyter. Colab has no folder for
    them to be relative to, so it gets its own. It opens what is on GitHub; a course that is elsewhere has no badge.
    """
    if not (repository.address or "").startswith(_GITHUB):
        return ""
    line = f"[![Open in Colab]({_BADGE})]({in_colab(repository, lesson)})"
    linked = sorted({found["lesson"] for found in _LINK.finditer(text)})
    if not linked:
        return line
    links = " · ".join(f"[{_number(name)}]({in_colab(repository, name)})" for name in linked)
    return f"{line}\n\nEarlier lessons, in Colab: {links}"


def in_colab(repository: Repository, lesson: str) -> str:
    """Where Colab opens a learner's notebook, in the version that its set-up cell fetches."""
    path = (repository.address or "").removeprefix(_GITHUB).removesuffix("/").removesuffix(".git")
    notebook = repository.notebook(lesson).relative_to(repository.root).as_posix()
    return f"https://colab.research.google.com/github/{path}/blob/{repository.tag}/{notebook}"


def _number(lesson: str) -> str:
    return f"lesson {int(lesson.split('_')[0])}"
