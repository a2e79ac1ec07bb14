"""A class to try the service on: an instructor and two learners, each with a browser of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from cellcheck.serving import people
from cellcheck.serving.app import create_app
from cellcheck.serving.queue import Queue
from cellcheck.serving.settings import Rules, Settings
from cellcheck.serving.store import Store, open_store
from cellcheck.serving.tables import INSTRUCTOR, LEARNER, LINK, SESSION, TOKEN, Person

LESSON, OTHER = "01_pytorch_basics", "02_tokenizer"
HOST = "https://class.example"


@dataclass
class Browser:
    """Somebody's browser, with their session in it."""

    client: TestClient
    person: int
    name: str
    session: str

    def get(self, path: str, status: int = 200) -> str:
        answer = self.client.get(path, follow_redirects=False)
        assert answer.status_code == status, (path, answer.status_code, answer.text[:300])
        return answer.text

    @property
    def csrf(self) -> str:
        return people.csrf(self.session)

    def post(self, path: str, status: int = 303, **fields: str) -> str:
        answer = self.client.post(path, data={"csrf": self.csrf, **fields}, follow_redirects=False)
        assert answer.status_code == status, (path, answer.status_code, answer.text[:300])
        return answer.headers.get("location", "") or answer.text

    def hand_in(self, data: bytes = b"{}", lesson: str = LESSON, status: int = 303) -> str:
        answer = self.client.post(
            f"/assignments/{lesson}",
            data={"csrf": self.csrf},
            files={"notebook": ("x.ipynb", data)},
            follow_redirects=False,
        )
        assert answer.status_code == status, answer.text[:500]
        return answer.headers.get("location", "") or answer.text


@dataclass
class Place:
    """The service, and what it keeps."""

    store: Store
    settings: Settings
    app: object

    def browser(self, name: str) -> Browser:
        """A browser in which this person has signed in; nobody's for an empty name."""
        client = TestClient(self.app, base_url=HOST, raise_server_exceptions=False)  # type: ignore[arg-type]
        if not name:
            return Browser(client, 0, "", "")
        with self.store.writing() as session:
            person = session.query(Person).filter_by(name=name).one()
            secret = people.make_key(session, person, SESSION)
        client.cookies.set("__Host-session", secret, domain="class.example", path="/")
        return Browser(client, person.id, name, secret)

    def key(self, name: str, kind: str = TOKEN) -> str:
        with self.store.writing() as session:
            return people.make_key(session, session.query(Person).filter_by(name=name).one(), kind)

    def grade(self, *scores: float, page: str = "<p>a page</p>") -> None:
        """Grades what waits, in order, with these scores."""
        queue = Queue(self.store)
        for score in scores:
            work = queue.take()
            assert work is not None
            assert queue.finish(work, score, 24.0, '{"exercises": []}', page)


Make = Callable[..., Place]


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    def made(*rules: Rules) -> Place:
        store = open_store(tmp_path / "class.db")
        with store.writing() as session:
            people.add(session, "teacher", INSTRUCTOR)
            for name in ("ada", "bob"):
                people.add(session, name, LEARNER)
        rules = rules or (Rules(LESSON, "Lesson 1: Points in"), Rules(OTHER, "Lesson 2: Text in"))
        settings = Settings("A class", {each.lesson: each for each in rules})
        return Place(store, settings, create_app(store, settings, HOST, tmp_path))

    return made


@pytest.fixture
def place(make: Make) -> Place:
    return make()


def link_in(page: str) -> str:
    """The sign-in link that a page shows."""
    match = re.search(r"https://class\.example(/sign-in/[\w-]+)", page)
    assert match, page[:2000]
    return match[1]


def whole_words(page: str) -> set[str]:
    """The words of a page: a random token may hold "ada", which is nobody's name there."""
    return {*re.findall(r"\w+", page)}


__all__ = ["HOST", "LESSON", "LINK", "OTHER", "Browser", "Make", "Place", "link_in", "make", "place", "whole_words"]
