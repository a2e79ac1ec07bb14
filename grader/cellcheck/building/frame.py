"""What the build writes of every lesson: what its head says, the badge, the set-up cell, and the place to hand it in.

The course's address, version and released commit stand in `pyproject.toml`; here they become links, and the lines that
fetch the course.
"""

import json
import re

from cellcheck.repository import BESIDE, Repository
from cellcheck.syllabus import BINDING

# In Colab nothing but the released commit will do, and whatever has just been fetched must be it. On a machine of one's
# own, its owner installs: the cell says what is missing, and where. Nothing of the course is imported before.
FETCHING = """\
# @title Set-up: run this cell first. In Colab it fetches the course, once.
class NotReady(Exception):
    def _render_traceback_(self): return list(self.args)
def get_ready(address, parts, commit):
    import json, os, subprocess, sys
    from importlib.metadata import PackageNotFoundError, distribution
    def installed(name):
        try: origin = distribution(name).read_text("direct_url.json")
        except PackageNotFoundError: return None
        return json.loads(origin or "{{}}").get("vcs_info", {{}}).get("commit_id", "unknown")
    if "COLAB_RELEASE_TAG" not in os.environ:
        try:
            import cellcheck
            return cellcheck.checks("{lesson}")
        except LookupError as error:
            if type(error).__name__ != "UnknownLesson": raise
            missing = "cellcheck"
        except ModuleNotFoundError as error: missing = str(error.name).partition(".")[0]
        what, how = f"The package {{missing}}", f"{{sys.executable}} -m pip install {{missing}}"
        if missing == "cellcheck": what, how = "The course", address
        raise NotReady(f"{{what}} is missing in this Python, {{sys.executable}}. Choose the kernel of the Python that "
                       f"has the course (after make lab: the one in .venv), or install it in this one: {{how}}")
    sources = [f"git+{{address}}@{{commit}}{{part}}" for part in parts.values()]
    pip = [sys.executable, "-m", "pip", "install", "-qq", {options}*sources]
    if not any(map(installed, parts)):
        done = subprocess.run(pip, capture_output=True, text=True, errors="replace")
        reason = done.stderr.strip() or "pip says nothing"
        plain = {{"No module named pip": "pip is missing here", "find command 'git'": "git is missing here",
                 "externally-managed": "this Python belongs to its system, and pip may not install into it",
                 "unable to access": "is there a network?"}}
        why = [sentence for words, sentence in plain.items() if words in reason] or reason.splitlines()[-1:]
        if done.returncode:
            raise NotReady(f"The course could not be fetched: {{why[0]}} (When that is mended, run this cell again.)")
    if any(installed(name) != commit for name in parts):
        raise NotReady("Another version of the course is installed here than this notebook needs. In Colab, choose "
                       "Runtime > Disconnect and delete runtime, then run this cell again.")
get_ready("{address}", {parts}, "{commit}")
{binding}"""

# A course that can't be fetched from anywhere.
AT_HOME = "# Set-up: run this cell first."

# As a comment, it does nothing when all cells are run: nobody hands in by accident, or a second time, too late.
SUBMIT = "# submit()"

HAND_IN = """\
## Hand it in

Save the notebook. Then remove the `#` below, and run the cell. It hands the notebook in, or makes the one file
to hand in and says where it is. You can do this again; the last one counts."""

WORDS = ("TITLE", "GIVES", "SITTINGS", "BUILDS_ON")
"""Where one of these begins a line of the text, learners read what the head says under that key."""
BADGE = re.compile(r"^In Colab: \[open this lesson\].*\n\n", re.MULTILINE)
"""What stands above a lesson's time in a course that Colab can open: see `badge`."""
_GITHUB = "https://github.com/"
_LINK = re.compile(r"\]\(\.\./(?P<lesson>\w+)/(?P=lesson)\.ipynb\)")


def setup(repository: Repository, lesson: str, imports: str) -> str:
    """The set-up cell: fetches the course where it is missing, imports what the lesson needs, binds its functions.

    It fetches the commit that was released, and checks that this is what came: a tag may be moved. Where the grader
    comes along, that is all: whatever Colab ships stays as it is. A course of its own says in its `pyproject.toml` that
    it needs the grader, and pip brings it.
    """
    binding = BINDING.format(lesson=lesson, edition=repository.edition, imports=imports)
    if not _is_released(repository):
        return f"{AT_HOME}\n{binding}".rstrip()
    engine = {"cellcheck": f"#subdirectory={BESIDE}"} if repository.has_the_grader else {}
    return FETCHING.format(
        address=repository.address,
        binding=binding,
        commit=repository.released,
        lesson=lesson,
        options='"--no-deps", ' if engine else "",
        parts=json.dumps({**engine, repository.name: ""}),
    ).rstrip()


def words(repository: Repository, lesson: str, text: str) -> dict[str, str]:
    """What learners read of the lesson's head, by the word in capitals that stands for it in the text; may be empty."""
    head = repository.head(lesson)
    foundations = head.foundations(lambda name: f"[{_number(name)}](../{name}/{name}.ipynb)")
    opens = badge(repository, lesson, text + foundations)
    breaks = {1: "", 2: " The place for the break is marked."}
    texts = (
        f"# {_number(lesson).capitalize()} · {head.title}",
        "\n".join(("**What you will be able to do**", "", *(f"- {line}" for line in head.gives))),
        (f"{opens}\n\n" if opens else "")
        + f"**Time.** {head.time}.{breaks.get(len(head.sittings), ' The places for the breaks are marked.')}",
        f"This lesson builds on {foundations}." if foundations else "",
    )
    return dict(zip(WORDS, texts, strict=True))


def badge(repository: Repository, lesson: str, text: str) -> str:
    """The line that opens a lesson in Colab, and the lessons that its text links to. It needs no picture.

    In the text, links to lessons are relative: they open the learner's own copy in Jupyter. Colab has no folder for
    them to be relative to, so it gets its own. It opens what is on GitHub; a course that is elsewhere, or not released,
    has no such line.
    """
    if not (_is_released(repository) and (repository.address or "").startswith(_GITHUB)):
        return ""
    here = f"In Colab: [open this lesson]({in_colab(repository, lesson)})"
    linked = sorted({match["lesson"] for match in _LINK.finditer(text)})
    links = [f"[{_number(name)}]({in_colab(repository, name)})" for name in linked]
    return f"{here}; earlier ones: {' · '.join(links)}." if links else f"{here}."


def _is_released(repository: Repository) -> bool:
    return repository.address is not None and repository.released is not None


def in_colab(repository: Repository, lesson: str) -> str:
    """Where Colab opens a learner's notebook, in the version that it belongs to."""
    path = (repository.address or "").removeprefix(_GITHUB).removesuffix("/").removesuffix(".git")
    notebook = repository.notebook(lesson).relative_to(repository.root).as_posix()
    return f"https://colab.research.google.com/github/{path}/blob/{repository.tag}/{notebook}"


def _number(lesson: str) -> str:
    return f"lesson {int(lesson.split('_')[0])}"
