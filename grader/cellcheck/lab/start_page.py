"""The start page: the lessons, what each gives, how long it takes, and how far this learner is."""

from pathlib import Path
from urllib.parse import quote

from jupyter_server.auth.decorator import authorized
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.utils import url_path_join
from tornado import web

from cellcheck.errors import GraderError
from cellcheck.learning import again
from cellcheck.learning.assistants import greet
from cellcheck.learning.offers import lesson_called
from cellcheck.learning.reset import EARLIER, place, reset
from cellcheck.learning.standing import course_folder, next_up, own_notebook, passed_over, standings
from cellcheck.plain import template
from cellcheck.syllabus import syllabi

PATH = "/course"
LAB = "lab/tree"


def folder_below(root: Path) -> Path:
    """The folder of a learner's lessons, below what Jupyter shows; where there is none yet, all of that."""
    folder = course_folder(root)
    return folder if folder is not None and folder.is_relative_to(root) else root


class CoursePage(JupyterHandler):
    """Shows the page; its buttons put a notebook in place, or make one blank again."""

    auth_resource = "contents"

    @web.authenticated
    @authorized
    def get(self) -> None:
        """The page, with a word about the notebook that a button has just made blank."""
        self._show(copy=self._kept(self.get_query_argument("kept", "")))

    @web.authenticated
    @authorized
    def post(self) -> None:
        """A button was pressed: then the notebook opens, or the page says what was done."""
        folder = self._folder()
        try:
            lesson = lesson_called(self.get_body_argument("lesson"))
            own = own_notebook(folder, lesson)
            if self.get_body_argument("do") == "again":
                self.redirect(self._opens(again.begin(folder, lesson, self.get_body_argument("exercise"))), status=303)
            elif self.get_body_argument("do") == "reset" and own is not None:
                copy = reset(own).copy
                self.redirect(f"{self._address(PATH)}?kept={quote(self._below_root(copy))}", status=303)
            else:
                notebook = own or place(lesson, folder)
                greet(folder)
                self.redirect(self._opens(notebook), status=303)
        except GraderError as error:
            self._show(problem=str(error))

    def _show(self, copy: str = "", problem: str = "") -> None:
        folder = self._folder()
        # Whoever comes back from a notebook, by the browser's button too, is to see what they have just solved.
        self.set_header("Cache-Control", "no-store")
        lessons = standings(folder)
        here = next_up(lessons)
        self.finish(
            template("cellcheck.lab").render(
                title=" · ".join(syllabus.title for syllabus in syllabi()),
                tagline=syllabi()[0].tagline,
                preview=syllabi()[0].preview,
                standings=lessons,
                here=here,
                passed_over=passed_over(lessons, here) if here is not None else [],
                due=again.due(folder),
                tried=[each for each in again.solved(folder) if each.score is not None],
                folder=folder,
                opens=self._opens,
                views=self._views(),
                kept=copy,
                problem=problem,
                address=self._address(PATH),
                lab=self._address("lab"),
                token=self.xsrf_form_html(),
            )
        )

    def _root(self) -> Path:
        return Path(self.settings["server_root_dir"]).expanduser().resolve()

    def _folder(self) -> Path:
        return folder_below(self._root())

    def _views(self) -> dict[str, str]:
        """Where a notebook opens on wide and on narrow screens: JupyterLab's side bar leaves nothing of a telephone."""
        narrow = (
            {"narrow": "notebooks"} if self.serverapp and self.serverapp.jpserver_extensions.get("notebook") else {}
        )
        return {"wide": LAB} | narrow

    def _opens(self, notebook: Path, where: str = LAB) -> str:
        return self._address(where, quote(self._below_root(notebook)))

    def _below_root(self, path: Path) -> str:
        return path.relative_to(self._root()).as_posix()

    def _address(self, *parts: str) -> str:
        return url_path_join(self.base_url, *parts)

    def _kept(self, name: str) -> str:
        """The name of an old notebook, if it is one: the page repeats nothing that an address makes up."""
        try:
            path = (self._root() / name).resolve()
            is_ours = path.parent.name == EARLIER and path.is_relative_to(self._root()) and path.is_file()
        except (OSError, ValueError):
            return ""
        return self._below_root(path) if is_ours else ""
