"""Everything on the site that is made from something else, written where Sphinx reads it. git ignores it there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat

from grader.building.frame import badge, in_colab
from grader.errors import GraderError
from grader.learning.lessons import Offer, offers
from grader.publishing import reference
from grader.publishing.exercises import Map, Place
from grader.publishing.glossary import glossary
from grader.publishing.lessons import Edition, LessonPages
from grader.publishing.links import Links
from grader.publishing.translations import FOLDER, translations, write_template
from grader.repository import Repository
from grader.syllabus import library_of, load_lesson

if TYPE_CHECKING:
    from sphinx.application import Sphinx

NOTEBOOKS = "notebooks"
"""Translated notebooks, to be downloaded: no pages."""
MADE = ("lessons", "guides", "api", NOTEBOOKS)
"""The folders of what is made here."""
GUIDES = ("docs/*.md", "lessons/README.md")
README = Path("README.md")
PARTS = {"For learners": "guides/learners.md", "For instructors": "guides/grading.md"}
"""What of the README is on the site, by its heading."""


def write_messages(app: Sphinx, failed: Exception | None) -> None:
    """What is to be translated of the lessons, where Sphinx has just written the same for the pages."""
    if app.builder.name != "gettext" or failed:
        return
    repository = Repository.find(Path(app.srcdir))
    for name in repository.names():
        write_template(Path(app.outdir) / FOLDER / f"{name}.pot", released(repository, name), app.config.project)


def write_pages(app: Sphinx) -> None:
    """Makes lessons, guides and the library's reference; a file that has not changed is left alone.

    Raises:
        GraderError: when a link in one of the texts leads nowhere.
    """
    site = Path(app.srcdir)
    repository = Repository.find(site)
    links = _links(repository)
    lessons = {name: load_lesson(name) for name in repository.names()}
    known = Map(lessons)
    offered = tuple(offers())
    pages = LessonPages(repository, offered, known, links, site)
    made = {site / page: text for page, text in _lessons(pages)}
    for path, page in links.pages.items():
        if path.suffix == ".md":
            text = (repository.root / path).read_text("utf-8")
            made[site / page] = links.resolved(text, path, page)
    for package in sorted({name for lesson in lessons.values() for name in library_of(lesson)}):
        made |= {site / "api" / page: text for page, text in reference.pages(package)}
    made[site / "lessons" / "index.md"] = _overview(pages, known)
    made[site / "lessons" / "glossary.md"] = glossary((offer, released(repository, offer.name)) for offer in offered)
    readme = (repository.root / README).read_text("utf-8")
    for heading, page in PARTS.items():
        made[site / page] = links.resolved(part(readme, heading), README, page)
    for path, text in made.items():
        _write(path, text)
    _sweep(site, made)


def _links(repository: Repository) -> Links:
    pages = {}
    for pattern in GUIDES:
        for file in sorted(repository.root.glob(pattern)):
            path = file.relative_to(repository.root)
            name = path.parent.name if path.stem == "README" else path.stem
            pages[path] = f"guides/{name}.md"
    for lesson in repository.names():
        pages[repository.notebook(lesson).relative_to(repository.root)] = f"lessons/{lesson}.ipynb"
    return Links(repository, pages)


def _lessons(pages: LessonPages) -> Iterator[tuple[str, str]]:
    repository = pages.repository
    for name in (offer.name for offer in pages.offers):
        catalogues = translations(pages.site, name)
        names = ", ".join(f"[{one.language}]({one.code}/{name}.ipynb)" for one in catalogues)
        own = repository.notebook(name).relative_to(repository.root)
        yield (
            f"lessons/{name}.ipynb",
            _text(
                pages.page(
                    name,
                    Edition(
                        folder="lessons",
                        notebook=f"../{own.as_posix()}",
                        note=f"In other languages: {names}" if names else "",
                        in_colab=in_colab(repository, name) if badge(repository, name, "") else "",
                    ),
                )
            ),
        )
        for one in catalogues:
            notebook = f"{NOTEBOOKS}/{one.code}/{name}.ipynb"
            yield notebook, _text(one.notebook(released(repository, name)))
            folder = f"lessons/{one.code}"
            page = pages.page(
                name,
                Edition(folder, notebook, one.text, f"[English](../{name}.ipynb). {one.so_far}", language=one.code),
            )
            page.metadata["orphan"] = True  # the English page leads there
            yield f"{folder}/{name}.ipynb", _text(page)


def _text(notebook: nbformat.NotebookNode) -> str:
    return str(nbformat.writes(notebook))


def _overview(pages: LessonPages, known: Map) -> str:
    """All lessons and exercises, with what each builds on."""
    parts = [
        "# All lessons and exercises",
        "Each lesson says what it builds on. For each exercise, the last column lists the earlier exercises that our "
        "own solution uses: these are its prerequisites. You may skip any of them: the library has every answer, and "
        "*Go on with ours*, below each exercise's hints, puts it into your notebook.",
        "```{toctree}\n:hidden:\n\n" + "\n".join(offer.name for offer in pages.offers) + "\n```",
    ]
    for offer in pages.offers:
        parts.append(f"## [Lesson {offer.number} · {offer.title}]({offer.name}.ipynb)")
        parts.append("\n".join(f"- {line}" for line in offer.gives))
        builds = f" It builds on {offer.builds_on}." if offer.builds_on else ""
        parts.append(f"**Time:** {offer.time}.{builds}")
        parts.append(_exercises(offer, known))
    return "\n\n".join(parts) + "\n"


def _exercises(offer: Offer, known: Map) -> str:
    rows = ["| exercise | what it does | kind | minutes | points | needs |", "|---|---|---|---|---|---|"]
    for exercise in offer.exercises:
        place = Place(offer.name, exercise.symbol)
        needs = ", ".join(need.link for need in known.needs(place)) or "nothing"
        does = known.does(place).replace("|", "\\|")
        rows.append(f"| {place.link} | {does} | {exercise.kind} | {exercise.minutes} | {exercise.points:g} | {needs} |")
    return "\n".join(rows)


def released(repository: Repository, lesson: str) -> nbformat.NotebookNode:
    """The learner's notebook."""
    return nbformat.read(repository.notebook(lesson), as_version=4)


def part(text: str, heading: str) -> str:
    """A section of a text that stands below a second-level heading, as a page of its own.

    >>> part("# Title\\n\\n## First\\n\\n### Below\\n\\n## Second\\n", "First")
    '# First\\n\\n## Below\\n'

    Raises:
        GraderError: when there is no such heading.
    """
    found = re.search(rf"^## {re.escape(heading)}\n.*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise GraderError(f"The README has no section called {heading!r}, which the site shows.")
    return re.sub(r"^#(#+ )", r"\1", found[0].rstrip() + "\n", flags=re.MULTILINE)


def _write(path: Path, text: str) -> None:
    if path.is_file() and path.read_text("utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def _sweep(site: Path, made: Iterable[Path]) -> None:
    """Removes pages whose lesson, guide or module is gone."""
    kept = set(made)
    for folder in MADE:
        for path in (site / folder).rglob("*"):
            if path.suffix in (".ipynb", ".md", ".rst") and path not in kept:
                path.unlink()
