"""The service as it runs: pages and workers in processes of their own, some of which are killed."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from cellcheck import cli
from cellcheck.api import grade_notebook
from cellcheck.demo.learners import Learner
from cellcheck.repository import Repository
from cellcheck.serving.queue import seed_of
from cellcheck.serving.store import open_store
from cellcheck.submitting.not_submitted import NotSubmitted
from cellcheck.submitting.submit import submit
from tests.browser.conftest import free_port

LESSON = "02_tokenizer"
REPOSITORY = Repository.find(Path(__file__).parent)
RELEASED = REPOSITORY.notebook(LESSON).read_text("utf-8")
SECONDS = 300.0
CLASS = {
    "ada": Learner("ada", LESSON),
    "bob": Learner("bob", LESSON, begins=4),
    "cleo": Learner("cleo", LESSON, edits={"decode": (" - {0}", "")}),
}


@dataclass
class Running:
    """The service of a folder."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def workers(self) -> list[int]:
        """The processes that grade."""
        processes = subprocess.run(
            ["ps", "-o", "pid=,args=", "--ppid", str(self.process.pid)], capture_output=True, text=True, check=False
        ).stdout
        return [int(line.split()[0]) for line in processes.splitlines() if "cellcheck.serving.worker" in line]


def start(folder: Path) -> Running:
    port, log_file = free_port(), folder / "said"
    command = [sys.executable, "-m", "cellcheck", "serve", str(folder), "--port", str(port)]
    command += ["--address", f"http://127.0.0.1:{port}"]
    with log_file.open("ab") as log:
        process = subprocess.Popen(command, cwd=REPOSITORY.root, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    running = Running(folder, port, process, log_file)
    until(lambda: answers(running), running)
    return running


def answers(running: Running) -> bool:
    try:
        return httpx.get(f"{running.address}/alive").text == "ok"
    except httpx.TransportError:
        return False


def until(done: object, running: Running) -> None:
    """Waits for something, and not for ever."""
    end = time.monotonic() + SECONDS
    while not done():  # type: ignore[operator]
        assert time.monotonic() < end, running.log.read_text()
        assert running.process.poll() is None, running.log.read_text()
        time.sleep(0.1)


def stop(running: Running, how: int = signal.SIGTERM) -> None:
    running.process.send_signal(how)
    running.process.wait(180)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    runner = CliRunner()
    done = runner.invoke(cli.app, ["serve", str(tmp_path), "--new"])
    assert done.exit_code == 0, done.output
    settings = tmp_path / "class.toml"
    settings.write_text(settings.read_text("utf-8").replace("01_pytorch_basics", LESSON), "utf-8")
    return tmp_path


@pytest.fixture
def link(folder: Path) -> str:
    done = CliRunner().invoke(cli.app, ["serve", str(folder), "--add-instructor", "teacher"])
    assert done.exit_code == 0, done.output
    match = re.search(r"/sign-in/\S+", done.output)
    assert match
    return match[0]


@pytest.fixture
def running(folder: Path, link: str) -> Iterator[Running]:
    service = start(folder)
    yield service
    if service.process.poll() is None:
        stop(service)


def signed_in(running: Running, link: str) -> httpx.Client:
    client = httpx.Client(base_url=running.address, follow_redirects=True, timeout=300)
    assert client.post(link).status_code == 200
    return client


def csrf(page: str) -> str:
    match = re.search(r'name="csrf" value="(\w+)"', page)
    assert match
    return match[1]


def test_accepted_work_survives_whoever_is_killed_and_the_marks_are_those_of_the_grader(
    running: Running, link: str, folder: Path
) -> None:
    teacher = signed_in(running, link)
    page = teacher.get("/class").text
    page = teacher.post("/class/people", data={"csrf": csrf(page), "names": "\n".join(CLASS)}).text
    links = dict(re.findall(r'<th scope="row">(\w+)</th><td><code>http://[^/]+(/sign-in/[\w-]+)', page))
    clients = {name: signed_in(running, links[name]) for name in CLASS}
    notebooks = {name: learner.hand_in(RELEASED).encode() for name, learner in CLASS.items()}
    for name, client in clients.items():
        page = client.get(f"/assignments/{LESSON}").text
        answer = client.post(
            f"/assignments/{LESSON}", data={"csrf": csrf(page)}, files={"notebook": ("mine.ipynb", notebooks[name])}
        )
        assert "It can't be lost" in answer.text
    until(running.workers, running)
    os.kill(running.workers()[0], signal.SIGKILL)  # a worker, at whatever it is
    stop(running, signal.SIGKILL)  # then all of the service
    again = start(folder)
    try:
        cookies = {name: client.cookies for name, client in clients.items()}
        store = open_store(folder / "class.db")
        with store.reading() as session:
            seed = seed_of(session, LESSON)
        for name, number in zip(CLASS, (1, 2, 3), strict=True):
            client = httpx.Client(base_url=again.address, cookies=cookies[name], timeout=300)
            until(lambda c=client, n=number: "This attempt counts" in c.get(f"/submissions/{n}").text, again)
            page = client.get(f"/submissions/{number}").text
            result = grade_notebook(notebooks[name], seed=seed)
            assert f'<p class="big">{result.score:g} <small>of {result.max_score:g} points' in page
            feedback = client.get(f"/submissions/{number}/feedback").text
            assert f"Feedback for {name}" in feedback
            assert "Your code" in feedback
        assert "def decode" in feedback  # of cleo, who got it wrong
        _hands_in_from_a_notebook(again, client, notebooks["ada"], folder)
    finally:
        stop(again)
    assert again.process.returncode == 0
    assert link not in again.log.read_text()


def _hands_in_from_a_notebook(running: Running, client: httpx.Client, data: bytes, folder: Path) -> None:
    """cleo's `submit()`, with a token from her page."""
    page = client.post("/me/tokens", data={"csrf": csrf(client.get("/me").text)}).text
    match = re.search(r"shown this once: <code>([\w-]+)</code>", page)
    assert match
    notebook = folder / f"{LESSON}.ipynb"
    notebook.write_bytes(data)
    receipt = submit(path=notebook, to=running.address, token=match[1])
    assert f"Handed in {LESSON}. What comes of it stands on {running.address}/submissions/4" in repr(receipt)
    assert "You can hand in 18 more times today." in repr(receipt)
    assert "was there already" in repr(submit(path=notebook, to=running.address, token=match[1]))
    with pytest.raises(NotSubmitted, match="your token is not known"):
        submit(path=notebook, to=running.address, token="made up")
    with pytest.raises(NotSubmitted, match="That is no token") as refused:
        submit(path=notebook, to=running.address, token=f"{match[1]}\n{match[1]}")
    assert match[1] not in str(refused.value)
    with pytest.raises(NotSubmitted, match="should begin with https"):
        submit(path=notebook, to="http://example.org", token=match[1])
    with pytest.raises(NotSubmitted, match="does not answer as it should"):
        submit(path=notebook, to=f"http://127.0.0.1:{free_port()}", token=match[1])


def test_what_can_not_be_meant_is_one_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = CliRunner()
    for change, sentence in (
        (('counts = "best"', 'counts = "worst"'), "counts should be one of best, last, chosen, not 'worst'"),
        (("attempts_per_day = 20", "attempts_a_day = 20"), "Did you mean attempts_per_day?"),
        (("# due = 2026-12-01T23:59:00+01:00", "due = 2026-12-01"), "due should be a time with its zone"),
        (("title = ", "titel = "), "knows no 'titel'"),
        ((LESSON, "99_nothing"), "There is no lesson '99_nothing'"),
        (("[[assignments]]", "assignments ="), "is not TOML"),
        (("# grace_minutes = 15", "grace_minutes = -1"), "grace_minutes should be a whole number"),
        (("# penalty_per_day = 0.1", "penalty_per_day = 0.1"), "a penalty needs a due date"),
    ):
        text = (folder / "class.toml").read_text("utf-8")
        assert change[0] in text
        (folder / "class.toml").write_text(text.replace(*change), "utf-8")
        done = runner.invoke(cli.app, ["serve", str(folder)])
        assert done.exit_code != 0
        assert sentence in str(done.exception), (change, done.exception)
        (folder / "class.toml").write_text(text, "utf-8")
    for options, sentence in (
        (["--address", "http://example.org"], "by https"),
        (["--address", "http://localhost.example.org"], "by https"),
        (["--host", "0.0.0.0"], "by https"),
        (["--address", "https://example.org/class"], "a host alone"),
        (["--new"], "is there already"),
        (["--add-instructor", " "], "A name has 1 to"),
        (["--certificate", "x.pem"], "name both"),
        (["--add-instructor", "me", "--database", "nothing://x"], "is no address of a database"),
    ):
        done = runner.invoke(cli.app, ["serve", str(folder), *options])
        assert done.exit_code != 0
        assert sentence in str(done.exception), (options, done.exception)
    done = runner.invoke(cli.app, ["serve", str(folder / "elsewhere")])
    assert "cellcheck serve --new makes one" in str(done.exception)


def test_an_instructor_alone_comes_in_again(folder: Path, link: str) -> None:
    done = CliRunner().invoke(cli.app, ["serve", str(folder), "--add-instructor", "teacher", "--port", "8123"])
    assert done.exit_code == 0, done.output
    assert "http://127.0.0.1:8123/sign-in/" in done.output
    assert link not in done.output
