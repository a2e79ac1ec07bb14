"""What the build puts around every lesson: the badge on top, the set-up cell, and the place to hand it in.

The course's address, version and released commit stand in `pyproject.toml`; here they become links, and the lines that
fetch the course.
"""

from __future__ import annotations

import re

from grader.repository import Repository
from grader.syllabus import BINDING

# In Colab nothing but the released commit will do, and whatever has just been fetched must be it. On a machine of one's
# own, what its owner installed is right. Nothing of the course is imported before.
FETCHING = """\
# Set-up: run this cell first. In Colab it fetches the course, once.
class NotFetched(Exception):
    def _render_traceback_(self): return list(self.args)
def fetch(address):
    import json, os, subprocess, sys
    from importlib.metadata import PackageNotFoundError, distribution
    def commit():
        try: origin = distribution("{name}").read_text("direct_url.json")
        except PackageNotFoundError: return None
        return json.loads(origin or "{{}}").get("vcs_info", {{}}).get("commit_id", "unknown")
    if "COLAB_RELEASE_TAG" not in os.environ:
        try:
            import grader
            return grader.checks("{lesson}")
        except (ImportError, LookupError): pass
    if not commit() and subprocess.call([sys.executable, "-m", "pip", "install", "-qqq", {options}address]):
        raise NotFetched("The course could not be fetched. Is there a network? Then run this cell again.")
    if commit() != address.rpartition("@")[2]:
        raise NotFetched("Another version of the course is installed here than this notebook needs. In Colab, choose "
                         "Runtime > Disconnect and delete runtime, then run this cell again.")
fetch("git+{address}@{commit}")
import grader
check = grader.checks("{lesson}")
submit = grader.submit

{imports}"""

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

    It fetches the commit that was released, and checks that this is what came: a tag may be moved. Where the grader
    comes along, that is all: whatever Colab ships stays as it is. A course of its own says in its `pyproject.toml` that
    it needs the grader, and pip brings it.
    """
    if not _is_released(repository):
        return AT_HOME.format(imports=imports, lesson=lesson).rstrip()
    return FETCHING.format(
        name=repository.name,
        address=repository.address,
        commit=repository.released,
        options='"--no-deps", ' if repository.has_the_grader else "",
        imports=imports,
        lesson=lesson,
    ).rstrip()


def badge(repository: Repository, lesson: str, text: str) -> str:
    """The badge that opens a lesson in Colab, and the lessons that its text links to.

    In the text, links to lessons are relative: they open the learner's own copy in Jupyter. Colab has no folder for
    them to be relative to, so it gets its own. It opens what is on GitHub; a course that is elsewhere, or not released,
    has no badge.
    """
    if not (_is_released(repository) and (repository.address or "").startswith(_GITHUB)):
        return ""
    line = f"[![Open in Colab]({_BADGE})]({in_colab(repository, lesson)})"
    linked = sorted({found["lesson"] for found in _LINK.finditer(text)})
    if not linked:
        return line
    links = " · ".join(f"[{_number(name)}]({in_colab(repository, name)})" for name in linked)
    return f"{line}\n\nEarlier lessons, in Colab: {links}"


def _is_released(repository: Repository) -> bool:
    return repository.address is not None and repository.released is not None


def in_colab(repository: Repository, lesson: str) -> str:
    """Where Colab opens a learner's notebook, in the version that it belongs to."""
    path = (repository.address or "").removeprefix(_GITHUB).removesuffix("/").removesuffix(".git")
    notebook = repository.notebook(lesson).relative_to(repository.root).as_posix()
    return f"https://colab.research.google.com/github/{path}/blob/{repository.tag}/{notebook}"


def _number(lesson: str) -> str:
    return f"lesson {int(lesson.split('_')[0])}"
