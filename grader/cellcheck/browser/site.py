"""What is added to a site when its pages are done, and what its pages need to know of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from cellcheck.browser import lab
from cellcheck.browser.interpreter import LEFT_OUT, Interpreter, needs, wheels_of
from cellcheck.browser.lessons import running_without
from cellcheck.browser.parts import BrowserPart, part_of
from cellcheck.browser.wheels import Wheel
from cellcheck.repository import Repository

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SETTING = "cellcheck_interpreter"
"""The setting of `site/conf.py` that names the folder with Pyodide; empty for a site without."""


@dataclass(frozen=True)
class InBrowser:
    """What a site brings to the browser; nothing where no Pyodide was fetched for it."""

    source: Path
    """The folder that Sphinx reads: the course's repository is around it."""
    folder: str
    """Where Pyodide lies, or ""."""

    @property
    def repository(self) -> Repository:
        """The course."""
        return Repository.find(self.source)

    @property
    def interpreter(self) -> Interpreter:
        """Python."""
        return Interpreter(Path(self.folder))

    @property
    def wheels(self) -> list[Wheel]:
        """The grader's wheel, the course's, then those of what the course needs."""
        return _wheels(self) if self.folder else []

    @property
    def lessons(self) -> dict[str, BrowserPart | None]:
        """The lessons that open there, in order; with each that runs only in part, that part."""
        return _lessons(self) if self.folder else {}

    @property
    def files(self) -> list[tuple[str, int]]:
        """What a lesson loads before its first cell runs, with the sizes, the largest first."""
        sizes = {path.name: path.stat().st_size for path in self.interpreter.folder.iterdir() if path.suffix != ".mjs"}
        sizes |= {wheel.file_name: len(wheel.data) for wheel in self.wheels}
        return sorted(sizes.items(), key=lambda file: -file[1])

    def add_to(self, site: Path) -> None:
        """Puts Python, and JupyterLite with the notebooks, beside the pages."""
        if self.folder:
            self.interpreter.serve(site, self.wheels)
            lab.build(self.repository, site, self.lessons)


@cache
def _wheels(site: InBrowser) -> list[Wheel]:
    return wheels_of(site.repository, site.interpreter)


@cache
def _lessons(site: InBrowser) -> dict[str, BrowserPart | None]:
    """Those that need only what Pyodide brings, those of which the owner says that they run with an own wheel, and the
    parts that the owner names, of lessons that need more.
    """
    repository = site.repository
    had = (site.interpreter.packages | {wheel.name for wheel in site.wheels}) - set(site.interpreter.own)
    missing = set(needs(repository.project["dependencies"])) - had
    settings = repository.settings.get("tool", {}).get("cellcheck", {}).get("browser", {})
    whole = running_without(repository, missing)
    if site.interpreter.own:
        whole += settings.get("lessons", [])
    parts = [name for name in settings.get("parts", []) if name not in whole]
    return {
        name: part_of(repository, name, missing - LEFT_OUT) if name in parts else None
        for name in repository.names()
        if name in {*whole, *parts}
    }


def of(app: Sphinx) -> InBrowser:
    """What this site brings."""
    return InBrowser(Path(app.srcdir), str(getattr(app.config, SETTING)))


def add_python(app: Sphinx, failed: Exception | None) -> None:
    """Sphinx has written its pages."""
    if app.builder.name == "html" and not failed:
        of(app).add_to(Path(app.outdir))
