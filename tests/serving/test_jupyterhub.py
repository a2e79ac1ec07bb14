"""A class on a real JupyterHub, in a real browser, whose notebooks go to the service.

The hub's proxy is `configurable-http-proxy` in its Python version, which pip installs; hubs usually have npm's.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("jupyterhub", reason="jupyterhub is not installed")
pytest.importorskip("configurable_http_proxy", reason="configurable-http-proxy is not installed")
pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

import httpx
import psutil
from playwright.sync_api import expect

from cellcheck.api import grade_notebook
from cellcheck.demo.learners import Learner
from cellcheck.serving import people
from cellcheck.serving.queue import seed_of
from cellcheck.serving.store import open_store
from cellcheck.serving.tables import LINK, TOKEN
from tests.browser.conftest import CONFIG, ROOT, SETTINGS, START_SECONDS, browser, free_port, surroundings
from tests.browser.driving import SECONDS, Notebook, new_page
from tests.nightly import later
from tests.serving.test_service import LESSON, RELEASED, Running, folder, start, stop

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["browser", "folder"]
NAMES = ("ada", "bob")
GUIDE = (ROOT / "docs" / "jupyterhub.md").read_text("utf-8")
PASSWORD = "a class"
HERE = """
import sys
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_port = {hub}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{api}"
c.ConfigurableHTTPProxy.pid_file = "{home}/proxy.pid"
c.JupyterHub.db_url = "sqlite:///{home}/hub.sqlite"
c.JupyterHub.cookie_secret_file = "{home}/cookie"
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = "{password}"
c.Authenticator.allow_all = True
c.JupyterHub.spawner_class = "simple"
c.SimpleLocalProcessSpawner.home_dir_template = "{home}/learners/{{username}}"
c.Spawner.cmd = [sys.executable, "-m", "jupyterhub.singleuser"]
c.Spawner.args = ["--allow-root", "--LabApp.extension_manager=readonly"]
c.Spawner.start_timeout = c.Spawner.http_timeout = 300
c.Spawner.environment |= {surroundings!r}
"""


@dataclass
class Hub:
    """A hub, and the homes of its learners."""

    address: str
    homes: Path
    process: int


def settings(service: str) -> str:
    """What the guide tells a hub's admin to write, for this service."""
    (text,) = re.findall(r"```python jupyterhub_config.py\n(.*?)```", GUIDE, re.DOTALL)
    assert "https://class.example" in text
    return textwrap.dedent(text).replace("https://class.example", service)


@pytest.fixture
def service(folder: Path) -> Iterator[Running]:
    running = start(folder)
    yield running
    stop(running)


@contextmanager
def hub_for(service: str, home: Path) -> Iterator[Hub]:
    """A hub whose learners hand in to this service."""
    port = free_port()
    around = surroundings(home)
    for name in NAMES:
        (home / "learners" / name).mkdir(parents=True)
    shutil.copytree(CONFIG, home / "config" / "jupyter_server_config.d")
    for name, content in SETTINGS.items():
        path = home / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    passed = ("OMP_NUM_THREADS", "PYTHONPATH", "JUPYTER_CONFIG_DIR", "JUPYTERLAB_SETTINGS_DIR")
    given = {name: around[name] for name in passed}
    configuration = home / "jupyterhub_config.py"
    configuration.write_text(
        "c = get_config()\n"
        + settings(service)
        + HERE.format(port=port, hub=free_port(), api=free_port(), home=home, password=PASSWORD, surroundings=given)
    )
    with (home / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyterhub", "--config", str(configuration)],
            cwd=home,
            env=around,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    address = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + START_SECONDS
        while not is_up(address):
            assert process.poll() is None, (home / "log").read_text()
            assert time.monotonic() < end, (home / "log").read_text()
            time.sleep(0.1)
        yield Hub(address, home / "learners", process.pid)
    finally:
        process.send_signal(signal.SIGTERM)  # its proxy and the learners' servers end with it
        try:
            process.wait(300)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def is_up(address: str) -> bool:
    """Whether the hub answers; until it does, its proxy says that there is nothing."""
    try:
        return httpx.get(f"{address}/hub/api").status_code == 200
    except httpx.TransportError:
        return False


def comes(browser: Browser, hub: Hub, name: str) -> Page:
    """Somebody signs in at the hub; their server starts, and shows the course."""
    page = new_page(browser)
    page.goto(hub.address)
    page.get_by_label("Username").fill(name)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{hub.address}/user/{name}/course*", timeout=300 * SECONDS)
    expect(page.locator(f'[id="{LESSON}"]')).to_be_visible(timeout=300 * SECONDS)
    return page


def opens(page: Page, hub: Hub, name: str) -> Notebook:
    """Starts a lesson from the start page."""
    lesson = page.locator(f'[id="{LESSON}"]')
    if not lesson.get_by_role("button", name="Start").is_visible():
        lesson.locator("summary").first.click()
    lesson.get_by_role("button", name="Start").click()
    page.wait_for_url(f"{hub.address}/user/{name}/lab/**", timeout=300 * SECONDS)
    assert list((hub.homes / name).rglob(f"{LESSON}.ipynb"))
    return Notebook.on(page)


def goes_back_by_the_menu(page: Page, hub: Hub, name: str) -> None:
    page.get_by_role("menubar").first.get_by_role("menuitem").filter(has_text="Course").click()
    with page.expect_popup() as opened:
        page.locator(".lm-Menu-item:visible", has_text="All lessons").click()
    expect(opened.value).to_have_title("Transformers, cell by cell")
    assert opened.value.url == f"{hub.address}/user/{name}/course"
    opened.value.close()


def solves(notebook: Notebook, learner: Learner) -> None:
    """Writes answers into their cells."""
    notebook.run("Set-up: run this cell first")
    for symbol, answer in learner._answers().items():
        notebook.write(f"def {symbol}(", answer)
    notebook.run("def build_vocabulary(")
    expect(notebook.run("check(build_vocabulary)").locator(".jp-OutputArea")).to_contain_text("build_vocabulary")


def hands_in(notebook: Notebook, token: str) -> str:
    """Runs the notebook's last cell, which asks for the token; the page that it names."""
    cell = notebook.write("submit()", "submit()")
    notebook.save()
    cell.locator(".cm-content").click()
    notebook.page.keyboard.press("Control+Enter")
    asks = notebook.page.locator("input.jp-Stdin-input")
    asks.fill(token)
    asks.press("Enter")
    output = cell.locator(".jp-OutputArea").first
    expect(output).to_contain_text(f"Handed in {LESSON}", timeout=300 * SECONDS)
    address = re.search(r"http://\S+/submissions/\d+", output.inner_text())
    assert address
    return address[0]


def keys(service: Running, name: str) -> tuple[str, str]:
    """A learner's sign-in link and token."""
    with open_store(service.folder / "class.db").writing() as session:
        person = people.named(session, name) or people.add(session, name)
        link, token = (people.make_key(session, person, kind) for kind in (LINK, TOKEN))
    return f"{service.address}/sign-in/{link}", token


def reads_the_feedback(page: Page, address: str) -> str:
    """The page of a submission, once it is graded; it is looked at in another tab of the same browser."""
    page.goto(address)
    expect(page.get_by_text("This attempt counts")).to_be_visible(timeout=600 * SECONDS)
    expect(page.frame_locator("iframe").get_by_text("Your code").first).to_be_attached(timeout=300 * SECONDS)
    return page.locator("p.big").inner_text()


def test_the_hub_shows_the_course_and_names_the_service(browser: Browser, tmp_path: Path) -> None:
    """The short form of the next one, without notebooks and a service."""
    with hub_for("https://service.example", tmp_path / "hub") as hub:
        page = comes(browser, hub, "ada")
        (server,) = [process for process in psutil.Process(hub.process).children() if "ada" in cwd_of(process)]
        assert server.environ()["CELLCHECK_SERVICE"] == "https://service.example"
        page.close()


def cwd_of(process: psutil.Process) -> str:
    return Path(process.cwd()).name


@later
def test_two_learners_open_solve_hand_in_and_read_their_feedback(
    service: Running, browser: Browser, tmp_path: Path
) -> None:
    learners = {"ada": Learner("ada", LESSON), "bob": Learner("bob", LESSON, begins=4)}
    pages, handed = {}, {}
    with hub_for(service.address, tmp_path / "hub") as hub:
        for name, learner in learners.items():
            link, token = keys(service, name)
            page = pages[name] = comes(browser, hub, name)
            notebook = opens(page, hub, name)
            goes_back_by_the_menu(page, hub, name)
            solves(notebook, learner)
            handed[name] = hands_in(notebook, token)
            page.goto(link)
            page.get_by_role("button", name="Sign in").click()
    with open_store(service.folder / "class.db").reading() as session:
        seed = seed_of(session, LESSON)
    for name, page in pages.items():
        shown = reads_the_feedback(page, handed[name])
        expected = grade_notebook(learners[name].hand_in(RELEASED).encode(), seed=seed)
        assert shown == f"{expected.score:g} of {expected.max_score:g} points"
        page.goto(handed["bob" if name == "ada" else "ada"])
        expect(page.get_by_text("There is nothing here")).to_be_visible()
        page.close()
