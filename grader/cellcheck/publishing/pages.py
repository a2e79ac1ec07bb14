"""Everything on the site that is made from something else, written where Sphinx reads it. git ignores it there."""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat

from cellcheck.browser.parts import BrowserPart
from cellcheck.browser.site import of as in_browser
from cellcheck.building.frame import badge, in_colab
from cellcheck.learning.offers import offers
from cellcheck.publishing import mistakes, reference, shown
from cellcheck.publishing.exercises import Map
from cellcheck.publishing.figures import figures
from cellcheck.publishing.glossary import PAGE, glossary, words
from cellcheck.publishing.lesson_pages import Edition, LessonPages
from cellcheck.publishing.links import Links
from cellcheck.publishing.overview import exercises_page, lessons_page
from cellcheck.publishing.translations import FOLDER, Translation, translations, write_template
from cellcheck.repository import Repository
from cellcheck.syllabus import library_of, load_lesson

if TYPE_CHECKING:
    from sphinx.application import Sphinx

NOTEBOOKS = "notebooks"
"""Translated notebooks, to be downloaded: no pages."""
MADE = ("lessons", "guides", "api", mistakes.FOLDER, NOTEBOOKS)
"""The folders of what is made here."""
GUIDES = ("docs/*.md", "*/lessons/README.md")


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
    links = _links(repository, site)
    lessons = {name: load_lesson(name) for name in repository.names()}
    course_map = Map(lessons)
    offered = tuple(offers())
    pages = LessonPages(repository, offered, course_map, links, site, figures(app.config.figures))
    texts = {site / page: _text(notebook) for page, notebook in _lessons(pages, in_browser(app).lessons)}
    texts |= {site / page: text for page, text in _translated_notebooks(pages)}
    for path, page in links.pages.items():
        if path.suffix == ".md":
            text = (repository.root / path).read_text("utf-8")
            texts[site / page] = links.resolved(text, path, page)
    for package in sorted({name for lesson in lessons.values() for name in library_of(lesson)}):
        texts |= {site / "api" / page: text for page, text in reference.pages(package)}
    texts |= {site / mistakes.FOLDER / page: text for page, text in mistakes.pages(offered, lessons)}
    texts[site / "lessons" / "index.md"] = lessons_page(offered)
    texts[site / "lessons" / "exercises.md"] = exercises_page(offered, course_map)
    notebooks = [(offer, released(repository, offer.name)) for offer in offered]
    texts[site / f"{PAGE}.md"] = glossary(notebooks)
    app.glossary_words = words(notebooks)  # type: ignore[attr-defined]
    (site / shown.FOLDER).mkdir(parents=True, exist_ok=True)
    app.config.html_static_path.append(shown.FOLDER)
    for path, text in texts.items():
        _write(path, text)
    _sweep(site, texts)


def _links(repository: Repository, site: Path) -> Links:
    pages = {}
    for pattern in GUIDES:
        for file in sorted(repository.root.glob(pattern)):
            path = file.relative_to(repository.root)
            name = path.parent.name if path.stem == "README" else path.stem
            pages[path] = f"guides/{name}.md"
    for lesson in repository.names():
        pages[repository.notebook(lesson).relative_to(repository.root)] = f"lessons/{lesson}.ipynb"
    pages[repository.folder.relative_to(repository.root)] = f"{mistakes.FOLDER}/index.md"  # who wants all the NAME.md
    return Links(repository, pages, Path(os.path.relpath(site, repository.root)))


def _lessons(
    pages: LessonPages, run_here: Mapping[str, BrowserPart | None]
) -> Iterator[tuple[str, nbformat.NotebookNode]]:
    repository = pages.repository
    for name in (offer.name for offer in pages.offers):
        catalogues = translations(pages.site, name)
        english = released(repository, name)
        whole = [one for one in catalogues if one.is_whole(english)]
        names = ", ".join(f"[{one.language}]({one.code}/{name}.ipynb)" for one in whole)
        own = repository.notebook(name).relative_to(repository.root)
        yield from pages.pages(
            name,
            Edition(
                folder="lessons",
                notebook=f"../{own.as_posix()}",
                note=f"In other languages: {names}" if names else "",
                in_colab=in_colab(repository, name) if badge(repository, name, "") else "",
                in_browser=f"browser.html?open={name}" if name in run_here else "",
                in_browser_in_part=run_here.get(name) is not None,
            ),
        )
        for one in catalogues:
            note = f"[English](../{name}.ipynb). {one.so_far}"
            edition = Edition(f"lessons/{one.code}", _translated(one, name), one.text, note, language=one.code)
            for number, (path, page) in enumerate(pages.pages(name, edition)):
                # The search is in English, and search engines need no half translated page.
                page.metadata |= {"no-search": True, "unfinished": one not in whole}
                if number == 0:
                    page.metadata["orphan"] = True  # the English page leads there, and its own parts are below it
                yield path, page


def _translated_notebooks(pages: LessonPages) -> Iterator[tuple[str, str]]:
    for name in (offer.name for offer in pages.offers):
        for one in translations(pages.site, name):
            yield _translated(one, name), _text(one.notebook(released(pages.repository, name)))


def _translated(one: Translation, lesson: str) -> str:
    """Where a translated notebook stands, to be downloaded."""
    return f"{NOTEBOOKS}/{one.code}/{lesson}.ipynb"


def _text(notebook: nbformat.NotebookNode) -> str:
    return str(nbformat.writes(notebook))


def released(repository: Repository, lesson: str) -> nbformat.NotebookNode:
    """The learner's notebook."""
    return nbformat.read(repository.notebook(lesson), as_version=4)


def _write(path: Path, text: str) -> None:
    if path.is_file() and path.read_text("utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def _sweep(site: Path, written: Iterable[Path]) -> None:
    """Removes pages whose lesson, guide or module is gone."""
    current = set(written)
    for folder in MADE:
        for path in (site / folder).rglob("*"):
            if path.suffix in (".ipynb", ".md", ".rst") and path not in current:
                path.unlink()
