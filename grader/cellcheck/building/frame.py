"""What the build writes of every lesson: what its head says, the badge, the set-up cell, and the place to hand it in.

The course's address, version and released commit stand in `pyproject.toml`; here they become links, and the lines that
fetch the course.
"""

import json
import re

from cellcheck.repository import BESIDE, Repository
from cellcheck.syllabus import BINDING

# In Colab nothing but the released commit will do, and whatever has just been fetched must be it. On a machine of one's
# own, what its owner installed is right. Nothing of the course is imported before.
FETCHING = """\
# Set-up: run this cell first. In Colab it fetches the course, once.
class NotFetched(Exception):
    def _render_traceback_(self): return list(self.args)
def fetch(parts, commit):
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
        except (ImportError, LookupError): pass
    sources = [f"git+{address}@{{commit}}{{part}}" for part in parts.values()]
    pip = [sys.executable, "-m", "pip", "install", "-qqq", {options}*sources]
    if not any(map(installed, parts)) and subprocess.call(pip):
        raise NotFetched("The course could not be fetched. Is there a network? Then run this cell again.")
    if any(installed(name) != commit for name in parts):
        raise NotFetched("Another version of the course is installed here than this notebook needs. In Colab, choose "
                         "Runtime > Disconnect and delete runtime, then run this cell again.")
fetch({parts}, "{commit}")
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
BADGE = re.compile(r"^\[!\[Open in Colab\].*\n\n(?:Earlier lessons, in Colab: .*\n\n)?", re.MULTILINE)
"""What stands below a lesson's title in a course that Colab can open: see `badge`."""
_GITHUB = "https://github.com/"
_BADGE = "https://colab.research.google.com/assets/colab-badge.svg"
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
    title = f"# {_number(lesson).capitalize()} · {head.title}"
    opens = badge(repository, lesson, text + foundations)
    breaks = {1: "", 2: " The place for the break is marked."}
    texts = (
        f"{title}\n\n{opens}" if opens else title,
        "\n".join(("**What you will be able to do**", "", *(f"- {line}" for line in head.gives))),
        f"**Time.** {head.time}.{breaks.get(len(head.sittings), ' The places for the breaks are marked.')}",
        f"This lesson builds on {foundations}." if foundations else "",
    )
    return dict(zip(WORDS, texts, strict=True))


def badge(repository: Repository, lesson: str, text: str) -> str:
    """The badge that opens a lesson in Colab, and the lessons that its text links to.

    In the text, links to lessons are relative: they open the learner's own copy in Jupyter. Colab has no folder for
    them to be relative to, so it gets its own. It opens what is on GitHub; a course that is elsewhere, or not released,
    has no badge.
    """
    if not (_is_released(repository) and (repository.address or "").startswith(_GITHUB)):
        return ""
    line = f"[![Open in Colab]({_BADGE})]({in_colab(repository, lesson)})"
    linked = sorted({match["lesson"] for match in _LINK.finditer(text)})
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
