"""The start page as a server answers it, without a browser: on a JupyterHub, for strangers, for an empty folder."""

from __future__ import annotations

import http.cookiejar
import json
import re
import shutil
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cellcheck.learning import progress
from cellcheck.learning.offers import released

if TYPE_CHECKING:
    from tests.browser.conftest import Serve

LESSON = "01_pytorch_basics"
BASE = "/user/ada"


class Visitor:
    """Keeps cookies, as a browser does, and follows no proxy."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.cookies = http.cookiejar.CookieJar()
        self.opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(self.cookies)
        )

    def get(self, path: str = "/course") -> str:
        with self.opener.open(self.address + path, timeout=300) as answer:
            text: str = answer.read().decode()
            return text

    def post(self, **fields: str) -> str:
        """Sends a button's form; gives back what the page says then, or the address that it leads to."""
        data = urllib.parse.urlencode(fields).encode()
        try:
            with self.opener.open(self.address + "/course", data, timeout=300) as answer:
                return f"{answer.url}\n{answer.read().decode()}"
        except urllib.error.HTTPError as error:
            return str(error.code)

    def token(self) -> str:
        field = re.search(r'name="_xsrf" value="([^"]+)"', self.get())
        assert field
        return field[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def ada(serve: Serve, folder: Path) -> Iterator[Visitor]:
    with serve(folder, f"--ServerApp.base_url={BASE}/", token="secret", installed=True) as address:
        visitor = Visitor(address + BASE)
        visitor.get("/course?token=secret")  # a cookie keeps her logged in
        yield visitor


def test_an_empty_folder_is_said_in_plain_words(ada: Visitor, folder: Path) -> None:
    page = ada.get()
    assert f"There is no lesson in {folder} yet. Each Start below puts one there." in page
    assert page.count('value="start"') == len(released())
    assert list(folder.iterdir()) == []


def test_a_beginner_sees_what_the_finished_course_can_do(ada: Visitor) -> None:
    page = ada.get()
    assert "<caption>By lesson 5 you will have built a small Transformer that writes words backwards." in page
    assert re.search(r'<th scope="row">badge</th><td>ijjbadg</td>.*<td>egdab</td></tr>', page)


def test_a_stranger_has_to_log_in_first(ada: Visitor) -> None:
    page = Visitor(ada.address).get()
    assert "Transformers, cell by cell" not in page
    assert "Log in" in page


def test_a_form_from_another_site_is_refused(ada: Visitor, folder: Path) -> None:
    assert ada.post(lesson=LESSON, do="start") == "403"
    assert ada.post(lesson=LESSON, do="start", _xsrf="made up") == "403"
    assert list(folder.iterdir()) == []


def test_an_unknown_lesson_is_one_sentence(ada: Visitor) -> None:
    page = ada.post(lesson="../../etc", do="start", _xsrf=ada.token())
    assert "There is no lesson &#39;../../etc&#39;. These exist: 01_pytorch_basics, " in page


def test_links_stay_within_the_learners_own_server(ada: Visitor, folder: Path) -> None:
    assert ada.post(lesson=LESSON, do="start", _xsrf=ada.token()).startswith(f"{ada.address}/lab/tree/{LESSON}/")
    assert (folder / LESSON / f"{LESSON}.ipynb").is_file()
    addresses = re.findall(r'(?:href|action)="(/[^"]*)"', ada.get())
    assert f"{BASE}/lab/tree/{LESSON}/{LESSON}.ipynb" in addresses
    assert f"{BASE}/notebooks/{LESSON}/{LESSON}.ipynb" in addresses
    assert all(address.startswith(f"{BASE}/") for address in addresses)


def test_a_menu_leads_there_from_the_notebook(ada: Visitor) -> None:
    settings = json.loads(ada.get("/lab/api/settings/@jupyterlab/mainmenu-extension:plugin"))
    menu = settings["schema"]["jupyter.lab.menus"]["main"]
    menus = [*menu, *settings["schema"]["properties"]["menus"]["default"]]
    (course,) = [each for each in menus if each["label"] == "Course"]
    assert course["items"][0]["args"]["url"] == f"{BASE}/course"


def test_what_an_address_makes_up_is_not_repeated(ada: Visitor, folder: Path) -> None:
    (folder / "secret").write_text("")
    names = ("secret", "../../etc/passwd", "nothing", f"{LESSON}/earlier", "<script>", "a\0b", "x" * 5000)
    for name in (*names, "earlier/" + "x" * 300):
        page = ada.get("/course?" + urllib.parse.urlencode({"kept": name}))
        assert "is blank again" not in page
        assert "<script>" not in page


def test_lessons_in_a_folder_of_their_own_are_found(ada: Visitor, folder: Path) -> None:
    shutil.move(folder / LESSON, folder / "my course & more" / LESSON)
    try:
        assert f'href="{BASE}/lab/tree/my%20course%20%26%20more/{LESSON}/{LESSON}.ipynb"' in ada.get()
    finally:
        shutil.move(folder / "my course & more" / LESSON, folder / LESSON)


def test_a_folder_that_is_not_to_be_written_is_said(ada: Visitor, folder: Path) -> None:
    (folder / "05_causal_masks").write_text("a file in its place")
    page = ada.post(lesson="05", do="start", _xsrf=ada.token())
    assert "written (File exists): choose a folder that is yours." in page


def test_what_was_solved_a_week_ago_is_offered_again(ada: Visitor, folder: Path) -> None:
    files = {path: path.read_bytes() for path in folder.rglob("*.ipynb")}
    solved = (date.today() - timedelta(days=8)).isoformat()
    record = {"version": 1, "best": {LESSON: {"batched_dot": 2.0}}, "solved": {LESSON: {"batched_dot": solved}}}
    (folder / progress.FILE).write_text(json.dumps(record))
    page = ada.get()
    assert "Again, without help" in page
    assert 'name="exercise" value="batched_dot"' in page
    reply = ada.post(_xsrf=ada.token(), lesson=LESSON, exercise="batched_dot", do="again")
    assert "again/01_batched_dot.ipynb" in reply
    assert (folder / "again" / "01_batched_dot.ipynb").is_file()
    assert {path: path.read_bytes() for path in files} == files
    assert "There is no exercise ../x" in ada.post(_xsrf=ada.token(), lesson=LESSON, exercise="../x", do="again")
    assert sorted(path.name for path in (folder / "again").iterdir()) == ["01_batched_dot.ipynb"]
    record |= {"again": {LESSON: {"batched_dot": 2.0}}, "again_on": {LESSON: {"batched_dot": solved}}}
    (folder / progress.FILE).write_text(json.dumps(record))
    assert "Tried again so far: 1. Solved without help: 1." in ada.get()


def test_a_started_lesson_comes_with_a_word_to_the_assistant(ada: Visitor, folder: Path) -> None:
    target = folder / "AGENTS.md"
    target.unlink(missing_ok=True)
    shutil.rmtree(folder / "02_tokenizer", ignore_errors=True)
    assert ada.post(_xsrf=ada.token(), lesson="02_tokenizer", do="start")
    assert "Ask for a guess first" in target.read_text("utf-8")
    target.write_text("Our class has rules of its own.")
    shutil.rmtree(folder / "02_tokenizer")
    assert ada.post(_xsrf=ada.token(), lesson="02_tokenizer", do="start")
    assert target.read_text("utf-8") == "Our class has rules of its own."
