"""A real browser, and Jupyter servers for it to visit. Without a browser these tests skip; in CI that is a failure."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.warm import PATH

ROOT = Path(__file__).parents[2]
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
START_SECONDS = 300
CONFIG = ROOT / "grader" / "cellcheck" / "lab" / "config"
"""What pip puts among Jupyter's own settings when the course is installed; an editable install leaves it out."""
LEARNER = ROOT / "grader" / "cellcheck" / "lab" / "learner"
"""What `make lab` adds to Jupyter's settings: no tools for instructors, no news."""

SETTINGS = {
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
    "apputils-extension/themes": {"adaptive-theme": True},  # dark where the browser says so
    "docmanager-extension/plugin": {"autosave": False},
    "notebook-extension/tracker": {"windowingMode": "none"},  # a cell out of sight is there all the same
}

Serve = Callable[..., AbstractContextManager[str]]


def chromium() -> str:
    """The browser's path; skips where there is none, and fails in CI."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        why = "There is no Chromium here: apt-get install chromium."
        if os.environ.get("NOTHING_SKIPPED"):
            pytest.fail(why)
        pytest.skip(why)
    return path


# Not for the whole session: while it is there, Playwright's event loop runs, and nbclient's could not in other files.
@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(QUIET))
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Any) -> Iterator[object]:
    """A page for one test."""
    from tests.browser.driving import new_page

    opened = new_page(browser)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Serve:
    """`with serve(folder, *options) as address`: JupyterLab on a folder, with settings of its own and no news.

    `installed` as where pip installed the course; else as in a checkout. `learner` as `make lab` sets it up.
    """

    @contextmanager
    def serving(
        folder: Path, *options: str, token: str = "", installed: bool = False, learner: bool = False
    ) -> Iterator[str]:
        home = tmp_path_factory.mktemp("jupyter")
        if installed:
            shutil.copytree(CONFIG, home / "config" / "jupyter_server_config.d")
        for name, content in SETTINGS.items():
            path = home / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(content))
        if learner:  # the page's own settings must be enough
            (home / "settings" / "@jupyterlab" / "apputils-extension/notification.jupyterlab-settings").unlink()
        port = free_port()
        command = [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root"]
        command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0", "--ServerApp.ip=127.0.0.1"]
        with (home / "log").open("w") as log:
            server = subprocess.Popen(
                [*command, f"--IdentityProvider.token={token}", "--LabApp.extension_manager=readonly", *options],
                cwd=folder,
                env=surroundings(home) | ({"JUPYTER_CONFIG_PATH": str(LEARNER)} if learner else {}),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            address = f"http://127.0.0.1:{port}"
            wait_for(server, address, home / "log")
            yield address
        finally:
            server.terminate()  # its kernels end with it
            try:
                server.wait(15)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()

    return serving


def surroundings(home: Path) -> dict[str, str]:
    """The environment of a server that knows nothing of this machine's own Jupyter."""
    variables = {
        name: value for name, value in os.environ.items() if not name.startswith(("JUPYTER", "JPY_", "NBGRADER"))
    }
    return {
        **variables,
        **PATH,
        "PYTHONPATH": str(ROOT),
        "OMP_NUM_THREADS": "1",
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
    }


def free_port() -> int:
    """A port that nobody uses at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    """Waits until the server answers."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            break
        try:
            opener.open(f"{address}/api", timeout=2).close()
            return
        except urllib.error.HTTPError:  # it is up, and says no: its pages begin elsewhere
            return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"Jupyter did not start:\n{log.read_text()[-3000:]}")
